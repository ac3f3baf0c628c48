package extract

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recon-batch/recon-batch/rules"
)

// stagePlan is everything that the conversion of one file follows from: the job,
// the source, and what the file's parts of effects add up to. It is immutable once
// records are converted.
type stagePlan struct {
	layout  *Layout
	src     *rules.Source
	schema  *arrow.Schema
	effects *effectIndex // of the file; nil where it has no parts of effects

	keys       [][]byte // of signed records
	signedWith string   // names the keys without telling them; "" none
}

func newStagePlan(layout *Layout, src *rules.Source) *stagePlan {
	return &stagePlan{layout: layout, src: src, schema: arrowSchema(layout)}
}

// sourceFields are the product fields as the source gives them.
func (p *stagePlan) sourceFields() []rules.Field {
	if len(p.src.Fields) == len(p.layout.spec.Fields) {
		return p.src.Fields
	}
	return p.layout.spec.Fields
}

func arrowSchema(l *Layout) *arrow.Schema {
	stored := l.Stored()
	fields := make([]arrow.Field, len(stored))
	for i, c := range stored {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(c.Type), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

func arrowType(t ColumnType) arrow.DataType {
	switch t {
	case ColText:
		return arrow.BinaryTypes.String
	case ColBigint:
		return arrow.PrimitiveTypes.Int64
	case ColHash:
		return arrow.PrimitiveTypes.Uint64
	case ColBoolean:
		return arrow.FixedWidthTypes.Boolean
	case ColDate:
		return arrow.FixedWidthTypes.Date32
	case ColInteger:
		return &arrow.Decimal128Type{Precision: maxDigits, Scale: 0}
	default: // DECIMAL(28,s)
		var precision, scale int32
		if _, err := fmt.Sscanf(string(t), "DECIMAL(%d,%d)", &precision, &scale); err != nil {
			panic(fmt.Sprintf("column type %s: %v", t, err)) // a fault of Layout, not of data
		}
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}
	}
}
