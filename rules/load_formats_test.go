package rules_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// sourceJob is a job whose results have the keys given, from line 4 on.
func sourceJob(keys string) []byte {
	return []byte("job: x\noperations: {path: o.csv, fields: {operation_id: id}}\nresults:\n  " +
		strings.ReplaceAll(strings.TrimSpace(keys), "\n", "\n  ") + "\n  fields: {operation_id: id}\nmatch: [{pass: operation_id, on: [operation_id]}]\n")
}

const goodKinds = "path: x.csv\nformat: typed\ntyped: {kinds: [{kind: H, as: header}, {kind: D, columns: [record_kind, id, amount]}, {kind: T, as: footer, count: 2}]}"

// TestFormatRefusals: what does not fit about a container or its record kinds is
// told at load, at its place.
func TestFormatRefusals(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"typed", goodKinds, ""},
		{"typed without kinds", "path: x.csv\nformat: typed", "4:9: the source is typed, but nothing says how it is read | add `typed:`, see the reference"},
		{"typed and header", goodKinds + "\ncsv: {header: none}", "7:17: csv.header says nothing about a record-typed file | say it in `typed`, whose kinds of lines tell headers, records and footers apart"},
		{"typed of csv", strings.Replace(goodKinds, "format: typed", "format: csv", 1), "6:10: the source is csv, `typed` says nothing about it | remove it, or declare `format: typed`"},
		{"kind twice", strings.Replace(goodKinds, "kind: T", "kind: D", 1), `6:96: the kind "D" is declared twice | give each kind a text of its own`},
		{"kind's place", strings.Replace(goodKinds, "[record_kind, id", "[kind, id", 1), "6:18: the columns of the kind \"D\" do not have \"record_kind\" in place 1 | name it there: the columns are all fields of the line, and `typed.column` names the one with the kind"},
		{"no record", strings.Replace(goodKinds, "{kind: D, ", "{kind: D, as: ignored, ", 1), ""},
		{"unknown column", strings.Replace(goodKinds, "id, amount", "idd, amount", 1), `7:26: the field operation_id takes the column "id", which typed.kinds of the source results does not name | did you mean "idd"?`},
		{"unknown since", strings.Replace(goodKinds, "count: 2", "since: X, count: 2", 1), `6:89: results.sources[0].typed.kinds[2] names the kind "X", which is not declared | known: H, D, T`},
		{"since a record", strings.Replace(goodKinds, "count: 2", "since: D, count: 2", 1), `6:89: the footer "T" begins at "D", which is no header | name the header whose records it sums up`},
		{"first", strings.Replace(goodKinds, "kinds:", "first: Q, kinds:", 1), "6:18: results.sources[0].typed.first names the kind \"Q\", which is not declared | known: H, D, T"},
		{"sums of a record", strings.Replace(goodKinds, "columns:", "sums: [{field: 2, column: id}], columns:", 1), "6:58: results.sources[0].typed.kinds[1].sums says nothing about lines that are record | add `as: footer`, or remove the key"},
		{"name of no column", strings.Replace(goodKinds, "count: 2", "count: total", 1), `6:89: the column "total" of the kind "T" cannot be found by name | give its position, or name the columns of the kind`},
		{"trailer", goodKinds + "\ncontrols: {count: trailer.2}", ""},
		{"trailer of no footer", strings.Replace(goodKinds, ", {kind: T, as: footer, count: 2}", "", 1) + "\ncontrols: {count: trailer.2}", "7:13: the controls stand in a trailer, but there is no footer of the whole file | declare a kind `as: footer` without `since` and `by`"},
		{"fixed", "path: x.txt\nformat: fixed\nfixed: {line_length: 9, columns: {id: 1-9}}", ""},
		{"fixed beyond", "path: x.txt\nformat: fixed\nfixed: {line_length: 9, columns: {id: 1-10}}", "6:10: the column id ends at byte 10 of lines of 9 bytes | correct the bytes, or `line_length`"},
		{"fixed backwards", "path: x.txt\nformat: fixed\nfixed: {line_length: 9, columns: {id: 5-3}}", `6:41: results.sources[0].fixed.columns.id: "5-3" ends before it begins | the first byte stands first`},
		{"fixed by words", "path: x.txt\nformat: fixed\nfixed: {line_length: 9, columns: {id: all}}", `6:41: results.sources[0].fixed.columns.id: "all" is no range of bytes | write 3-10, or 7 for one byte; bytes count from 1`},
		{"fixed without kind", "path: x.txt\nformat: fixed\nfixed: {line_length: 9, kinds: [{kind: D, columns: {id: 1-9}}]}", "6:34: nothing says where the kind of a line is | add `kind: 1-2`, the bytes with the text of the kind"},
		{"xlsx", "path: x.xlsx", ""},
		{"xlsx columns", "path: x.xlsx\nxlsx: {columns: [id]}", "5:19: names of columns are taken from the header row | add `header_row: 0`, or remove the names"},
		{"xlsx range", "path: x.xlsx\nxlsx: {range: A1-B2}", `5:17: results.sources[0].xlsx.range: "A1-B2" is no range of cells | write A1:F200, A3:F or A:F`},
		{"xml", "path: x.xml\nxml: {path: /a/b}", ""},
		{"xml path", "path: x.xml\nxml: {path: //a}", `5:15: results.sources[0].xml.path: "//a" is no path of elements | local names joined by a slash, such as Document/Stmt/Ntry`},
		{"xml attribute", "path: x.xml\nxml: {path: a/@b}", "5:15: results.sources[0].xml.path: an attribute is no record | name the element"},
		{"xml carry", "path: x.xml\nxml: {path: a/b, carry: {c: a/b/c}}", "5:27: a/b/c lies in the record itself | name the column of the field by its path below the record"},
		{"xml trailer", "path: x.xml\nxml: {path: a/b}\ncontrols: {count: trailer.1}", "6:13: the controls stand in a trailer, but xml.trailer names no path | add `xml: {trailer: [Document/Hdr/Count]}`"},
		{"zip", "path: x.csv.zip", ""},
		{"zip by its member", "path: x.zip\nzip: {member: \"*.csv\"}", ""},
		{"zip of csv", "path: x.csv\nzip: {member: a.csv}", "5:8: the source is no zip archive, `zip` says nothing about it | declare `compression: zip`"},
		{"zip pattern", "path: x.zip\nformat: csv\nzip: {member: \"a[\"}", `6:17: results.sources[0].zip.member: "a[" is no pattern | in brackets stand characters: [0-9]; a backslash takes the next character as it is`},
	} {
		_, err := rules.Parse(sourceJob(c.keys), "job.yaml")
		if c.name == "no record" {
			if err == nil || !strings.Contains(err.Error(), "declares no kind that is a record") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var got []string
		if es, ok := errors.AsType[rules.Errors](err); ok {
			for _, e := range es {
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%d:%d: %s | %s", e.Line, e.Column, e.Msg, e.Hint), " | "))
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, "\n     "), c.want)
		}
	}
}

// TestFormatsEffective: what a job says of containers is all in its effective form.
func TestFormatsEffective(t *testing.T) {
	for _, keys := range []string{goodKinds, "path: x.txt\nformat: fixed\nfixed: {line_length: 9, padding: \"9\", columns: {id: 1-9}}", "path: x.xlsx\nxlsx: {range: A1:B9}", "path: x.xml\nxml: {path: a/b}", "path: x.zip\nzip: {member: \"*.csv\", ignore: [b]}"} {
		job, err := rules.Parse(sourceJob(keys), "job.yaml")
		if err != nil {
			t.Fatal(err)
		}
		again, err := rules.Parse(job.Effective(), "effective.yaml")
		if err != nil {
			t.Fatalf("%v\n%s", err, job.Effective())
		}
		if again.Digest() != job.Digest() {
			t.Errorf("another digest:\n%s", job.Effective())
		}
		other, err := rules.Parse(sourceJob(strings.NewReplacer("count: 2", "count: 3", "padding: \"9\"", "padding: \"8\"", "B9", "B8", "a/b", "a/c", "ignore: [b]", "ignore: [c]").Replace(keys)), "job.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if other.Digest() == job.Digest() {
			t.Errorf("a change has no digest of its own: %s", keys)
		}
	}
}
