package extract

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// A range with a last row leaves out what the sheet grew by: the rows are counted,
// told with the first one, and no absence is concluded, from the parsed file and from
// the staged one. Below a total row that ends the records stands no record.
func TestRowsOutsideRange(t *testing.T) {
	row := func(no, id string) string {
		return `<row r="` + no + `"><c r="A` + no + `" t="inlineStr"><is><t>` + id + `</t></is></c><c r="B` + no + `"><v>1</v></c></row>`
	}
	header := `<row r="1"><c r="A1" t="inlineStr"><is><t>operation_id</t></is></c><c r="B1" t="inlineStr"><is><t>amount</t></is></c></row>`
	beside := `<row r="8"><c r="D8"><v>1</v></c></row>`
	for _, c := range []struct {
		name, keys, rows string
		finding          string
	}{
		{"two below", `range: "A1:B3"`, row("2", "a") + row("3", "b") + row("5", "c") + row("6", "d") + beside, "x.xlsx has 2 rows with values below its range A1:B3, first row 5"},
		{"one below", `range: "A1:B3"`, row("2", "a") + row("3", "b") + row("4", "c"), "x.xlsx has 1 row with values below its range A1:B3, first row 4"},
		{"none of its columns", `range: "A1:B3"`, row("2", "a") + row("3", "b") + beside, ""},
		{"open range", `range: "A1:B"`, row("2", "a") + row("3", "b"), ""},
		{"total row", `range: "A1:B4", ends_before: {first_field: Total}`, row("2", "a") + row("3", "b") + row("4", "Total") + row("6", "made by x"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := sourceWith(t, "format: xlsx\nxlsx: {"+c.keys+"}\n", "operation_id: operation_id, amount: {type: decimal}")
			w := newWorld(t)
			w.write("x.xlsx", string(book(t, header+c.rows)))
			idAndAmount(w, rules.Results)
			w.source(rules.Results, "x.xlsx", func(s *rules.Source, _ *rules.Input) {
				s.Format, s.XLSX, s.Coverage.Complete = src.Format, src.XLSX, true
			})
			for _, run := range []string{"parsed", "cached"} {
				rel, rows, err := w.load(rules.Results)
				if err != nil || len(rows) != 2 {
					t.Fatalf("%s: %v, %d rows", run, err, len(rows))
				}
				found := findings(rel, "rows_outside_range")
				if c.finding == "" {
					if len(found) != 0 || !rel.Coverage[0].Complete {
						t.Errorf("%s: %+v, coverage %+v", run, found, rel.Coverage)
					}
					continue
				}
				if len(found) != 1 || !strings.Contains(found[0], c.finding) || rel.Coverage[0].Complete || len(findings(rel, "coverage_withdrawn")) != 1 {
					t.Errorf("%s: %+v, coverage %+v", run, found, rel.Coverage)
				}
			}
		})
	}
}

// Totals that a container states over product fields are judged like those of CSV,
// from the parsed file and from the staged one.
func TestControlsOfContainers(t *testing.T) {
	as := func(yaml string) func(*rules.Source, *rules.Input) {
		src := sourceWith(t, yaml, "operation_id: operation_id, amount: {type: decimal}")
		return func(s *rules.Source, _ *rules.Input) {
			name, path, coverage, fields := s.Name, s.Path, s.Coverage, s.Fields
			*s = *src
			s.Name, s.Path, s.Coverage, s.Fields = name, path, coverage, fields
		}
	}
	sheet := func(total string) string {
		text := func(s string) string { return `<c t="inlineStr"><is><t>` + s + `</t></is></c>` }
		return string(book(t, `<row>`+text("operation_id")+text("amount")+`</row><row>`+text("a")+`<c><v>10</v></c></row><row>`+text("b")+`<c><v>5.5</v></c></row><row>`+text("Total")+`<c><v>`+total+`</v></c></row>`))
	}
	xml := func(total string) string {
		return "<D><R><E><operation_id>a</operation_id><amount>10.00</amount></E><E><operation_id>b</operation_id><amount>5.50</amount></E></R><N>2</N><S>" + total + "</S></D>"
	}
	for _, c := range []struct {
		name, keys, right, wrong, want string
	}{
		{"x.xml", "format: xml\nxml: {path: D/R/E, trailer: [D/N, D/S]}\ncontrols: {count: trailer.1, sum: {amount: trailer.2}}", xml("15.50"), xml("15.51"), "control sum of amount is 15.51 against 15.5 over the records read (field 2 of the trailer)"},
		{"x.xlsx", "format: xlsx\nxlsx: {ends_before: {first_field: Total}}\ncontrols: {sum: {amount: total_line.2}}", sheet("15.5"), sheet("15.25"), "control sum of amount is 15.25 against 15.5 over the records read (field 2 of the total line)"},
		{"x.csv", "format: typed\ntyped: {kinds: [{kind: D, columns: [record_kind, operation_id, amount]}, {kind: T, as: footer}]}\ncontrols: {count: trailer.2, sum: {amount: trailer.3}}",
			"D,a,10.00\nD,b,5.50\nT,2,15.5\n", "D,a,10.00\nD,b,5.50\nT,3,15.5\n", "control count 3 against 2 records read (field 2 of the trailer)"},
		{"x.txt", "format: fixed\nfixed: {line_length: 8, kind: 1, kinds: [{kind: D, columns: {operation_id: 2-2, amount: 3-8}}, {kind: T, as: footer, columns: {n: 2-2, s: 3-8}}]}\ncontrols: {count: trailer.1, sum: {amount: trailer.2}}",
			"Da 10.00\nDb  5.50\nT2 15.50\n", "Da 10.00\nDb  5.50\nT2 15.40\n", "control sum of amount is 15.4 against 15.5 over the records read (field 2 of the trailer)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, data := range []string{c.right, c.wrong} {
				w := newWorld(t)
				w.write(c.name, data)
				idAndAmount(w, rules.Results)
				w.source(rules.Results, c.name, as(c.keys))
				for _, run := range []string{"parsed", "cached"} {
					_, rows, err := w.load(rules.Results)
					switch {
					case data == c.right && (err != nil || len(rows) != 2):
						t.Errorf("%s: %v, %d rows", run, err, len(rows))
					case data == c.wrong && (fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), c.want)):
						t.Errorf("%s: %v, want %s", run, err, c.want)
					}
				}
			}
		})
	}
}
