package match

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// NumberSets makes the relation set_of (node, set_id) from the relation edges: the
// unresolved sets are its connected components. Nodes are rows (operations 2*rid,
// results 2*rid+1) and keys (negative); the number of a set is its least row, so it
// is the same in every run. Later stages may add edges before they call it.
func NumberSets(ctx context.Context, db *duck.DB) error {
	if err := db.Exec(ctx, "CREATE OR REPLACE TABLE set_of (node BIGINT, set_id BIGINT)"); err != nil {
		return err
	}
	rows, err := db.Query(ctx, "SELECT DISTINCT a, b FROM edges")
	if err != nil {
		return err
	}
	defer rows.Close()
	f := forest{}
	for rows.Next() {
		var a, b int64
		if err := rows.Scan(&a, &b); err != nil {
			return err
		}
		f.union(a, b)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(f) == 0 {
		return nil
	}
	return db.CopyBatch(ctx, f.members(), "INSERT INTO set_of SELECT * FROM arrow_in")
}

// forest is a union-find over nodes: rows are not negative, keys are.
type forest map[int64]int64

func (f forest) root(x int64) int64 {
	p, ok := f[x]
	if !ok {
		f[x] = x
		return x
	}
	for p != f[p] {
		f[p] = f[f[p]]
		p = f[p]
	}
	f[x] = p
	return p
}

// union keeps the least row as root; a key is root only among keys.
func (f forest) union(a, b int64) {
	a, b = f.root(a), f.root(b)
	if a == b {
		return
	}
	if b >= 0 && (a < 0 || b < a) {
		a, b = b, a
	}
	f[b] = a
}

var setSchema = arrow.NewSchema([]arrow.Field{
	{Name: "node", Type: arrow.PrimitiveTypes.Int64}, {Name: "set_id", Type: arrow.PrimitiveTypes.Int64}}, nil)

// members are the rows with their sets.
func (f forest) members() *array.RecordBuilder {
	b := array.NewRecordBuilder(memory.DefaultAllocator, setSchema)
	for x := range f {
		if x >= 0 {
			b.Field(0).(*array.Int64Builder).Append(x)
			b.Field(1).(*array.Int64Builder).Append(f.root(x))
		}
	}
	return b
}

var pairSchema = arrow.NewSchema([]arrow.Field{
	{Name: "o_rid", Type: arrow.PrimitiveTypes.Int64}, {Name: "r_rid", Type: arrow.PrimitiveTypes.Int64},
	{Name: "contradicted", Type: arrow.FixedWidthTypes.Boolean}}, nil)

// pairs collects candidates for the engine.
type pairs struct{ b *array.RecordBuilder }

func newPairs() *pairs { return &pairs{array.NewRecordBuilder(memory.DefaultAllocator, pairSchema)} }

func (p *pairs) add(o, r int64, contradicted bool) {
	p.b.Field(0).(*array.Int64Builder).Append(o)
	p.b.Field(1).(*array.Int64Builder).Append(r)
	p.b.Field(2).(*array.BooleanBuilder).Append(contradicted)
}
