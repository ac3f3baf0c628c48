package exprtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
	"github.com/recon-batch/recon-batch/rules/exprtest"
	"pgregory.net/rapid"
)

// TestExpressionAgrees: the SQL of an expression and its evaluation in Go give
// the same outcome, true, false or null, on every row.
func TestExpressionAgrees(t *testing.T) {
	ctx := context.Background()
	db, err := duck.Open(ctx, duck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	const batch = 12 // expressions, and rows, of one statement
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		var texts, selects []string
		var exprs []*rules.Expr
		col := func(f string) string { return "c_" + f }
		for i := range batch {
			text := exprtest.Expression(t)
			e, err := rules.ParseExprOver(text, exprtest.Fields)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			texts, exprs = append(texts, text), append(exprs, e)
			selects = append(selects, fmt.Sprintf("%s AS e%d", e.SQL(col), i))
		}
		var rows []map[string]any
		var values, columns []string
		for _, f := range exprtest.Fields {
			columns = append(columns, col(f.Name))
		}
		for range batch {
			row := exprtest.Row(t)
			cells := make([]string, len(exprtest.Fields))
			for i, f := range exprtest.Fields {
				cells[i] = exprtest.SQLValue(f, row[f.Name])
				if row[f.Name] == nil {
					cells[i] = "CAST(NULL AS " + sqlType(f) + ")"
				}
			}
			rows = append(rows, row)
			values = append(values, fmt.Sprintf("(%d, %s)", len(rows)-1, strings.Join(cells, ", ")))
		}
		query := fmt.Sprintf("SELECT %s FROM (VALUES %s) AS v(n, %s) ORDER BY n",
			strings.Join(selects, ", "), strings.Join(values, ", "), strings.Join(columns, ", "))
		result, err := db.Query(ctx, query)
		if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(texts, "\n"))
		}
		defer result.Close()
		for n := 0; result.Next(); n++ {
			got := make([]sql.NullBool, batch)
			dest := make([]any, batch)
			for i := range got {
				dest[i] = &got[i]
			}
			if err := result.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			for i, e := range exprs {
				result, null := e.Eval(func(f string) any { return rows[n][f] })
				if null == got[i].Valid || !null && result != got[i].Bool {
					t.Fatalf("%s\nrow %v\nSQL %v, Go %v (null %t)\n%s", texts[i], rows[n], got[i], result, null, e.SQL(col))
				}
				outcomes[fmt.Sprintf("%t %t", result, null)]++
			}
		}
		if err := result.Err(); err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(texts, "\n"))
		}
	})
	if len(outcomes) != 3 && !t.Failed() {
		t.Errorf("only these outcomes were reached: %v", outcomes)
	}
}

func sqlType(f rules.Field) string {
	switch f.Type {
	case rules.Decimal:
		if f.Scale >= 0 {
			return fmt.Sprintf("DECIMAL(28,%d)", f.Scale)
		}
	case rules.Integer:
		return "DECIMAL(38,0)"
	case rules.Boolean:
		return "BOOLEAN"
	case rules.Date:
		return "DATE"
	case rules.Timestamp:
		return "BIGINT"
	}
	return "VARCHAR"
}
