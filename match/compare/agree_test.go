package compare_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// cell is one staged value with what the Go half takes for it.
type cell struct {
	sql  string // value column
	late string // timestamps: the second reading
	bad  bool
	amb  bool
	goV  any
}

func num(s string) cell {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		panic(err)
	}
	return cell{sql: s, goV: d}
}

func txt(s string) cell { return cell{sql: duck.Literal(s), goV: s} }

func ins(us int64) cell { return cell{sql: fmt.Sprint(us), goV: us} }

var (
	null       = cell{sql: "NULL"}
	unreadable = cell{sql: "NULL", bad: true, goV: compare.Bad{}}
	never      = cell{sql: "NULL", amb: true, goV: compare.Never{}}
)

func twice(a, b int64) cell {
	return cell{sql: fmt.Sprint(a), late: fmt.Sprint(b), amb: true, goV: compare.Twice{Early: a, Late: b}}
}

// comparators lists every comparator with the values around its edges: the two
// halves must give the same answer for every pair of them.
var comparators = []struct {
	name   string
	fields string // declaration of field x, on both sides
	cmp    string // entry of compare
	cells  []cell
}{
	{"text", "x", "{field: x}", []cell{null, txt(""), txt("a"), txt("A"), txt("a "), txt("é"), txt("e\u0301"), txt("'; DROP TABLE o; --")}},
	{"mapped", "x", "{field: x, map: {a: b}}", []cell{null, txt("a"), txt("b"), txt("c")}},
	{"currency", "{column: x, type: currency}", "{field: x}", []cell{null, txt("EUR"), txt("USD")}},
	{"boolean", "{column: x, type: boolean}", "{field: x}", []cell{null, unreadable, {sql: "true", goV: true}, {sql: "false", goV: false}}},
	{"integer", "{column: x, type: integer}", "{field: x}", []cell{null, unreadable, num("0"), num("-1"), num("18446744073709551615"), num("99999999999999999999999999999999999999")}},
	{"date", "{column: x, type: date}", "{field: x}", []cell{null, unreadable, {sql: "DATE '2031-02-28'", goV: int64(22338)}, {sql: "DATE '2031-03-01'", goV: int64(22339)}}},
	{"decimal exact", "{column: x, type: decimal, scale: 2}", "{field: x}", cents},
	{"decimal absolute", "{column: x, type: decimal, scale: 2}", "{field: x, tolerance: '0.01'}", cents},
	{"decimal relative", "{column: x, type: decimal, scale: 2}", "{field: x, tolerance: {relative: '0.01'}}", append(cents, num("404.00"), num("400.00"), num("404.04"), num("404.05"), num("-404.00"))},
	{"decimal both", "{column: x, type: decimal, scale: 2}", "{field: x, tolerance: {absolute: '0.01', relative: '0.0001'}}", cents},
	{"decimal free scale", "{column: x, type: decimal}", "{field: x, tolerance: '0.0000000000000001'}", []cell{null, unreadable,
		dec("1.0079999999999999"), dec("1.008"), dec("1.0079999999999998"), dec("-1.008"), dec("0"), dec("12345678901234567890.5")}},
	{"instant exact", "{column: x, type: timestamp}", "{field: x}", instants},
	{"instant tolerance", "{column: x, type: timestamp}", "{field: x, tolerance: 1s}", instants},
	{"version integer", "{column: x, type: integer}", "{field: x, as: version}", []cell{null, unreadable, num("9"), num("10"), num("18446744073709551616")}},
	{"version opaque", "x", "{field: x, as: version, scheme: opaque}", []cell{null, txt("9"), txt("10"), txt("abc")}},
	{"version timestamp", "{column: x, type: timestamp}", "{field: x, as: version, scheme: timestamp}", instants},
}

var cents = []cell{null, unreadable, num("0.00"), num("0.01"), num("-0.01"), num("80.25"), num("80.26"), num("80.24"), num("80.27"), num("-80.25"),
	num("99999999999999999999999999.99")}

// dec is a decimal without a declared scale: staged as canonical text.
func dec(s string) cell { c := num(s); c.sql = duck.Literal(s); return c }

var instants = []cell{null, unreadable, never, ins(0), ins(1), ins(999_999), ins(1_000_000), ins(1_000_001), ins(-1_000_000),
	ins(3_600_000_000), twice(0, 3_600_000_000), twice(0, 1_000_000), twice(1_000_000, 3_601_000_000)}

func TestSQLAndGoAgree(t *testing.T) {
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	seen := map[compare.Result]bool{}
	for _, k := range comparators {
		t.Run(k.name, func(t *testing.T) {
			job := parse(t, k.fields, k.cmp)
			sides := compare.Sides{Job: job, Operations: extract.NewLayout(job, rules.Operations), Results: extract.NewLayout(job, rules.Results), Scale: map[int]int{}}
			if compare.NeedsScale(job, 0) {
				sides.Scale[0] = 16
			}
			for _, s := range []struct {
				table string
				l     *extract.Layout
			}{{"o", sides.Operations}, {"r", sides.Results}} {
				if err := db.Exec(t.Context(), table(s.table, s.l, k.cells, job)); err != nil {
					t.Fatal(err)
				}
			}
			rows, err := db.Query(t.Context(), "SELECT o.n, r.n, "+sides.SQL(0, "")+", "+sides.OrderSQL(0)+" FROM o, r")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			pairs := 0
			for rows.Next() {
				var i, j, got int
				var order sql.NullInt64
				if err := rows.Scan(&i, &j, &got, &order); err != nil {
					t.Fatal(err)
				}
				pairs++
				c := job.Compare[0]
				want := compare.Equal(k.cells[i].goV, k.cells[j].goV, c)
				seen[want] = true
				if got != int(want) {
					t.Errorf("%v against %v: SQL says %v, Go says %v", k.cells[i].goV, k.cells[j].goV, compare.Result(got), want)
				}
				if c.As != rules.AsVersion {
					continue
				}
				cmp, ordered := compare.Order(k.cells[i].goV, k.cells[j].goV, c)
				if ordered != order.Valid || (ordered && sign(cmp) != int(order.Int64)) {
					t.Errorf("%v against %v: SQL orders %v, Go %d (%v)", k.cells[i].goV, k.cells[j].goV, order, cmp, ordered)
				}
			}
			if pairs != len(k.cells)*len(k.cells) {
				t.Errorf("%d pairs compared, want %d", pairs, len(k.cells)*len(k.cells))
			}
		})
	}
	for r := compare.Equals; r <= compare.Ambiguous; r++ {
		if !seen[r] {
			t.Errorf("the grid never gives %v", r)
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// TestStatus: the result alone decides, and an unmapped or missing one never
// passes for what was expected.
func TestStatus(t *testing.T) {
	c := rules.Compare{Name: "status", As: rules.AsStatus, Expect: rules.Succeeded}
	for st, want := range map[string]compare.Result{"succeeded": compare.Equals, "failed": compare.Differs, "unmapped": compare.Differs} {
		if got := compare.Equal(nil, st, c); got != want {
			t.Errorf("%s: %v, want %v", st, got, want)
		}
	}
}

func parse(t *testing.T, fields, cmp string) *rules.Job {
	t.Helper()
	job, err := rules.Parse([]byte(fmt.Sprintf(`version: 1
job: grid
timezone: UTC
operations: {sources: [{name: a, path: a.csv, coverage: complete}], fields: {id: id, x: %[1]s}}
results: {sources: [{name: b, path: b.csv, coverage: complete}], fields: {id: id, x: %[1]s}}
match: [{pass: id, on: [id], identity: true}]
compare: [%[2]s]
`, fields, cmp)), "grid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// table makes one side's staged columns for the cells.
func table(name string, l *extract.Layout, cells []cell, job *rules.Job) string {
	bit := job.Spec(l.Side).FieldIndex("x")
	var rows []string
	for n, c := range cells {
		late := c.late
		if late == "" {
			late = "NULL"
		}
		mask := func(b bool) int {
			if b {
				return 1 << bit
			}
			return 0
		}
		cols := []string{fmt.Sprint(n), fmt.Sprint(mask(c.bad)), fmt.Sprint(mask(c.amb))}
		for _, col := range l.Columns {
			switch col.Name {
			case "f_x", "c0":
				cols = append(cols, fmt.Sprintf("CAST(%s AS %s)", c.sql, col.Type))
			case "late_x":
				cols = append(cols, fmt.Sprintf("CAST(%s AS BIGINT)", late))
			}
		}
		rows = append(rows, "SELECT "+strings.Join(cols, ", "))
	}
	names := []string{"n", "bad", "amb"}
	for _, col := range l.Columns {
		if col.Name == "f_x" || col.Name == "c0" || col.Name == "late_x" {
			names = append(names, duck.Ident(col.Name))
		}
	}
	return "CREATE OR REPLACE TABLE " + name + " AS SELECT * FROM (" + strings.Join(rows, " UNION ALL ") + ") x (" + strings.Join(names, ", ") + ")"
}
