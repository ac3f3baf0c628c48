package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// declared binds a job whose results have one source, as a job file declares it, for
// 2026-08-20. Its fields are operation_id, amount and currency.
func declared(t *testing.T, w *world, source string) {
	t.Helper()
	job, err := rules.Parse([]byte(`job: shop
timezone: Europe/Paris
as_of: "{date+3}T00:00"
operations:
  path: ops.csv
  fields: {operation_id: id, amount: {type: decimal, scale: 2}, currency: {type: currency}}
results:
  fields: {operation_id: id, amount: {type: decimal, scale: 2}, currency: {type: currency}, created_at: {column: at, type: timestamp, optional: true}}
  sources:
`+listItem(source)+`
match:
  - {pass: operation_id, on: [operation_id]}
compare: [{field: amount}, {field: currency}]
`), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if w.job, err = job.Bind("2026-08-20", nil); err != nil {
		t.Fatal(err)
	}
}

func listItem(text string) string {
	return "    - " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ")
}

// totals writes the controls of a relation for comparison.
func totals(rel *Relation) string {
	var out []string
	for _, c := range rel.Controls {
		line := fmt.Sprintf("%s: %s %s %s %s=%s", c.File, c.Total, c.Field, c.Of, c.Stated, c.Counted)
		if !c.Judged {
			line += " not judged"
		}
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}

const (
	trailers = `name: psp
path: psp.csv
csv: {header: none, columns: [kind, id, amount, currency], rows: {field: 1, header: H, record: D, trailer: T}}
`
	byCurrency = trailers + "controls: {by: {currency: trailer.2}, count: trailer.3, sum: {amount: trailer.4}}\n"
	balanced   = trailers + "controls: {count: trailer.2, balance: {opening: header.2, closing: trailer.3}}\n"
	kinds      = `name: psp
path: psp.txt
format: typed
typed:
  kinds:
    - {kind: H, as: header, columns: [record_kind, day, opening, closing]}
    - {kind: D, columns: [record_kind, id, amount, currency]}
    - {kind: T, as: footer, columns: [record_kind, records, total]}
controls: {count: trailer.2, sum: {amount: trailer.3}, balance: {opening: header.3, closing: header.4}}
`
	document = `name: psp
path: psp.json
json: {path: data.rows, trailer: [meta.count, data.totals.gross, opening, closing]}
controls: {count: trailer.1, sum: {amount: trailer.2}, balance: {opening: trailer.3, closing: trailer.4}}
`
	xmlDocument = `name: psp
path: psp.xml
xml: {path: Doc/Row, trailer: [Doc/Hdr/Count, Doc/Hdr/Sum, Doc/Hdr/Open, Doc/Hdr/Close]}
controls: {count: trailer.1, sum: {amount: trailer.2}, balance: {opening: trailer.3, closing: trailer.4}}
`
)

// Totals tie for every form of file that can state them, wherever they stand; a breach
// names file, both figures, the currency where it is known, and the difference.
func TestStatedTotals(t *testing.T) {
	for _, c := range []struct {
		name, source, file, text string
		want                     string // the totals, or the error
	}{
		{"by currency", byCurrency, "psp.csv", "D|a|1.00|EUR\nD|b|2.50|USD\nD|c|3.00|EUR\nT|EUR|2|4.00\nT|USD|1|2.50\n",
			"psp.csv: count EUR 2=2\npsp.csv: sum amount EUR 4=4\npsp.csv: count USD 1=1\npsp.csv: sum amount USD 2.5=2.5"},
		{"a currency without records", byCurrency, "psp.csv", "D|a|1.00|EUR\nT|EUR|1|1.00\nT|USD|0|0.00\n",
			"psp.csv: count EUR 1=1\npsp.csv: sum amount EUR 1=1\npsp.csv: count USD 0=0\npsp.csv: sum amount USD 0=0"},
		{"sum of one currency", byCurrency, "psp.csv", "D|a|1.00|EUR\nD|b|2.50|USD\nT|EUR|1|1.00\nT|USD|1|2.60\n",
			`psp.csv: control sum of amount of currency USD is 2.6 against 2.5 over the records read (field 4 of the trailer); the difference is 0.1`},
		{"a currency without totals", byCurrency, "psp.csv", "D|a|1.00|EUR\nD|b|2.50|USD\nT|EUR|1|1.00\n",
			`psp.csv: no totals are stated of the 1 record with currency USD`},
		{"a currency twice", byCurrency, "psp.csv", "D|a|1.00|EUR\nT|EUR|1|1.00\nT|EUR|1|1.00\n", `psp.csv: the totals of currency EUR are stated twice`},
		{"a record behind a trailer", byCurrency, "psp.csv", "D|a|1.00|EUR\nT|EUR|1|1.00\nD|b|2.50|USD\n", "line 3 follows the trailer"},
		{"balance", balanced, "psp.csv", "H|100.00|x|x\nD|a|1.00|EUR\nD|b|-2.50|EUR\nT|2|98.50|x\n", "psp.csv: count 2=2\npsp.csv: balance amount 98.5=98.5"},
		{"broken balance", balanced, "psp.csv", "H|100.00|x|x\nD|a|1.00|EUR\nD|b|-2.50|EUR\nT|2|98.00|x\n",
			"psp.csv: the closing balance is 98, but the opening one of 100 and entries of -1.5 come to 98.5 (field 3 of the trailer); the difference is -0.5"},
		{"no header", balanced, "psp.csv", "D|a|1.00|EUR\nT|1|1.00|x\n", "psp.csv: the header has no field 2, which should hold a control"},
		{"kinds", kinds, "psp.txt", "H,2026-08-20,10,14.00\nD,a,1.00,EUR\nD,b,3.00,EUR\nT,2,4.00\n", "psp.txt: count 2=2\npsp.txt: sum amount 4=4\npsp.txt: balance amount 14=14"},
		{"kinds, broken", kinds, "psp.txt", "H,2026-08-20,10,15.00\nD,a,1.00,EUR\nD,b,3.00,EUR\nT,2,4.00\n", "the closing balance is 15"},
		{"document", document, "psp.json", `{"meta":{"count":2,"more":{"x":[1]}},"opening":"1.5","data":{"rows":[{"id":"a","amount":"1.00","currency":"EUR"},{"id":"b","amount":"2.00","currency":"EUR"}],"totals":{"gross":3.0}},"closing":4.5}`,
			"psp.json: count 2=2\npsp.json: sum amount 3=3\npsp.json: balance amount 4.5=4.5"},
		{"document, count", document, "psp.json", `{"meta":{"count":3},"opening":0,"data":{"rows":[{"id":"a","amount":"1.00","currency":"EUR"}],"totals":{"gross":1}},"closing":1}`,
			"psp.json: control count 3 against 1 records read (field 1 of the trailer); the difference is 2"},
		{"document without totals", document, "psp.json", `{"meta":{},"opening":0,"data":{"rows":[{"id":"a","amount":"1.00","currency":"EUR"}],"totals":{"gross":1}},"closing":1}`,
			`there is no member meta.count, which trailer.1 of the controls reads`},
		{"document with two", document, "psp.json", `{"meta":{"count":1,"count":2},"opening":0,"data":{"rows":[{"id":"a","amount":"1.00","currency":"EUR"}],"totals":{"gross":1}},"closing":1}`,
			`the member meta.count occurs twice`},
		{"xml", xmlDocument, "psp.xml", `<Doc><Hdr><Count>1</Count><Sum>1.00</Sum><Open>5</Open><Close>6.00</Close></Hdr><Row><id>a</id><amount>1.00</amount><currency>EUR</currency></Row></Doc>`,
			"psp.xml: count 1=1\npsp.xml: sum amount 1=1\npsp.xml: balance amount 6=6"},
		{"xml, broken", xmlDocument, "psp.xml", `<Doc><Hdr><Count>1</Count><Sum>1.10</Sum><Open>5</Open><Close>6.00</Close></Hdr><Row><id>a</id><amount>1.00</amount><currency>EUR</currency></Row></Doc>`,
			"psp.xml: control sum of amount is 1.1 against 1 over the records read (field 2 of the trailer); the difference is 0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			source := c.source
			if strings.Contains(source, "csv:") {
				source = strings.Replace(source, "csv: {", "csv: {delimiter: \"|\", ", 1)
			}
			w.write(c.file, c.text)
			declared(t, w, source)
			for _, run := range []string{"parsed", "cached"} {
				rel, _, err := w.load(rules.Results)
				switch {
				case err == nil && totals(rel) != c.want:
					t.Errorf("%s:\n%s\nwant\n%s", run, totals(rel), c.want)
				case err != nil && (fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), c.want)):
					t.Errorf("%s: error %v, want %q", run, err, c.want)
				}
			}
		})
	}
}

// A header line that stands above the names of the columns states something as well.
func TestHeaderAboveNames(t *testing.T) {
	w := newWorld(t)
	w.write("psp.csv", "H,2026-08-20,10.00\nid,amount,currency\na,1.00,EUR\nT,1,11.00\n")
	declared(t, w, `name: psp
path: psp.csv
csv: {header: {first_field: id}, rows: {field: 1, header: H, trailer: T}}
controls: {count: trailer.2, balance: {opening: header.3, closing: trailer.3}}
`)
	rel, _ := w.mustLoad(rules.Results)
	if got := totals(rel); got != "psp.csv: count 1=1\npsp.csv: balance amount 11=11" || rel.Files[0].Control != 3 {
		t.Errorf("%s, %+v", got, rel.Files[0])
	}
}

// V36: where records were rejected and kept, what they may be in is not judged, and said so.
func TestTotalsBesideRejects(t *testing.T) {
	w := newWorld(t)
	w.write("psp.csv", "D|a|1.00|EUR\nD|b|2.50\nT|EUR|2|3.50\n")
	declared(t, w, strings.Replace(byCurrency, "csv: {", "on_reject: keep\ncsv: {delimiter: \"|\", ", 1))
	rel, _ := w.mustLoad(rules.Results)
	if got := totals(rel); got != "psp.csv: count EUR 2=1 not judged\npsp.csv: sum amount EUR 3.5=1 not judged" {
		t.Error(got)
	}
}

// The totals of a control file are those of all files of the input together.
func TestControlFile(t *testing.T) {
	const source = `name: psp
path: "in/psp_*.csv"
need: NEED
controls:
  file: {path: "in/totals.EXT", form: FORM, where: {file: "{date}"}}
  BY
  count: file.n
  sum: {amount: file.total}
`
	two := map[string]string{"in/psp_1.csv": "id,amount,currency\na,1.00,EUR\nb,2.00,USD\n", "in/psp_2.csv": "id,amount,currency\nc,0.50,EUR\n"}
	for _, c := range []struct {
		name, form, by, text string
		want                 string
	}{
		{"csv", "csv", "", "file,n,total\n2026-08-19,9,9\n2026-08-20,3,3.50\n", "in/totals.csv: count 3=3\nin/totals.csv: sum amount 3.5=3.5"},
		{"json", "json", "", `[{"file":"2026-08-20","n":3,"total":"3.50"},{"file":"2026-08-19","n":1,"total":1}]`, "in/totals.json: count 3=3\nin/totals.json: sum amount 3.5=3.5"},
		{"properties", "properties", "", "# totals\nfile = 2026-08-20\nn: 3\ntotal=3.50\n", "in/totals.properties: count 3=3\nin/totals.properties: sum amount 3.5=3.5"},
		{"by currency", "csv", "by: {currency: file.ccy}", "file,ccy,n,total\n2026-08-20,EUR,2,1.50\n2026-08-20,USD,1,2.00\n",
			"in/totals.csv: count EUR 2=2\nin/totals.csv: sum amount EUR 1.5=1.5\nin/totals.csv: count USD 1=1\nin/totals.csv: sum amount USD 2=2"},
		{"sum", "csv", "", "file,n,total\n2026-08-20,3,3.60\n", `in/totals.csv: control sum of amount is 3.6 against 3.5 over the records read (field total of the control file) of in/psp_1.csv, in/psp_2.csv; the difference is 0.1`},
		{"currency", "csv", "by: {currency: file.ccy}", "file,ccy,n,total\n2026-08-20,EUR,2,1.50\n", `in/totals.csv: no totals are stated of the 1 record with currency USD`},
		{"no row", "csv", "", "file,n,total\n2026-08-19,3,3.50\n", "in/totals.csv: 0 rows state totals, one should"},
		{"two rows", "csv", "", "file,n,total\n2026-08-20,3,3.50\n2026-08-20,3,3.50\n", "in/totals.csv: 2 rows state totals, one should"},
		{"no column", "csv", "", "file,n\n2026-08-20,3\n", `in/totals.csv: the control file has no field total, which should hold a control`},
		{"ragged", "csv", "", "file,n,total\n2026-08-20,3\n", "in/totals.csv: record on line 2: wrong number of fields"},
		{"no json", "json", "", `{"file":`, "in/totals.json: unexpected EOF"},
		{"not there", "csv", "", "", "there is no control file in/totals.csv beside the files of the source psp"},
	} {
		for _, need := range []string{"required", "optional"} {
			t.Run(c.name+", "+need, func(t *testing.T) {
				w := newWorld(t)
				for name, text := range two {
					w.write(name, text)
				}
				if c.text != "" {
					w.write("in/totals."+c.form, c.text)
				}
				declared(t, w, strings.NewReplacer("NEED", need, "EXT", c.form, "FORM", c.form, "BY\n", c.by+"\n").Replace(source))
				rel, _, err := w.load(rules.Results)
				right := strings.HasPrefix(c.want, "in/totals."+c.form+": count")
				switch {
				case right && err == nil && totals(rel) == c.want && len(rel.ControlFiles) == 1 && len(rel.ControlFiles[0].SHA256) == 64:
				case !right && need == "required" && fail.ClassOf(err) == fail.Input && strings.Contains(err.Error(), c.want):
				case !right && need == "optional" && err == nil && rel.Records == 0 && rel.Files[0].Status == FileRefused && strings.Contains(rel.Files[1].Problem, c.want):
				case err != nil:
					t.Errorf("error %v, want %q", err, c.want)
				default:
					t.Errorf("%s\nwant\n%s\n%+v", totals(rel), c.want, rel.Files)
				}
			})
		}
	}
}
