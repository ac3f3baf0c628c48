package extract

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

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
