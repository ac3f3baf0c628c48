package extract

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Row is one staged row in Go, for the oracle and for explain. V holds the columns
// of Layout by name: nil where NULL, otherwise
//
//	VARCHAR            string, save f_<field> of a decimal field: *apd.Decimal
//	DECIMAL            *apd.Decimal
//	BIGINT             int64 (instants: microseconds since the epoch)
//	DATE               int64 (days since 1970-01-01)
//	BOOLEAN            bool
//	UBIGINT            uint64
type Row struct {
	RID    int64 // FileNo<<40 + Rec
	FileNo int
	Rec    int64 // record number in its file, from 1
	V      map[string]any
}

// RowID is the row id of a record.
func RowID(fileNo int, rec int64) int64 { return int64(fileNo)<<40 + rec }

// ReadRows reads every row of the relation into memory, ordered by row id. It is
// for small data: 200 rows are fine, a million are not.
func ReadRows(ctx context.Context, db *duck.DB, rel *Relation) ([]Row, error) {
	var out []Row
	for i := range rel.Files {
		if f := &rel.Files[i]; f.Status == FileStaged {
			rows, err := readFileRows(ctx, db, rel.Layout, f)
			if err != nil {
				return nil, err
			}
			out = append(out, rows...)
		}
	}
	return out, nil
}

func readFileRows(ctx context.Context, db *duck.DB, l *Layout, f *File) ([]Row, error) {
	exprs := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		exprs[i] = scanExpr(c)
	}
	q := rowsSQL.Render(duck.Slots{"columns": strings.Join(exprs, ", "), "rows": l.Relation(f.Staged)})
	rows, err := db.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Row
	for rows.Next() {
		cells := make([]any, len(l.Columns))
		dest := make([]any, len(cells))
		for i := range cells {
			dest[i] = &cells[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		row := Row{FileNo: f.No, V: make(map[string]any, len(cells))}
		for i, c := range l.Columns {
			if row.V[c.Name], err = l.goValue(c, cells[i]); err != nil {
				return nil, fmt.Errorf("column %s of %s: %w", c.Name, f.Name, err)
			}
		}
		row.Rec = row.V["rec"].(int64)
		row.RID = RowID(f.No, row.Rec)
		out = append(out, row)
	}
	return out, rows.Err()
}

// scanExpr renders a column so that the driver gives a value without loss.
func scanExpr(c Column) string {
	name := duck.Ident(c.Name)
	switch c.Type {
	case ColDate:
		return "CAST(" + name + " - DATE '1970-01-01' AS BIGINT)"
	case ColText, ColBigint, ColHash, ColBoolean:
		return name
	default: // DECIMAL
		return "CAST(" + name + " AS VARCHAR)"
	}
}

func (l *Layout) goValue(c Column, v any) (any, error) {
	if v == nil || !l.isNumber(c) {
		return v, nil
	}
	d, _, err := apd.NewFromString(v.(string))
	return d, err
}

// isNumber tells whether a column holds exact numbers: a DECIMAL, or the canonical
// text of a decimal without a declared scale.
func (l *Layout) isNumber(c Column) bool {
	if strings.HasPrefix(string(c.Type), "DECIMAL") {
		return true
	}
	name, ok := strings.CutPrefix(c.Name, "f_")
	if !ok {
		return false
	}
	f := l.spec.Field(name)
	return f != nil && f.Type == rules.Decimal
}
