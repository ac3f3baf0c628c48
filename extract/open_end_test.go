package extract

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// A file of delimited text that ends within a line may have been cut there: of a value that
// lost its end nothing shows it. It proves no absence, parsed or staged before, unless
// something states that it is whole, or the job says that it is, or that its last line never ends.
func TestFileThatEndsWithinALine(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	zipped := func(text string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		f, err := w.Create("x.csv")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	same := func(text string) string { return text }
	const ids = "operation_id: operation_id, amount: {type: decimal}"
	trailer := "csv: {header: none, columns: [k, operation_id, amount], rows: {field: 1, record: D, trailer: T}}\n"
	for _, c := range []struct {
		name, keys, text string
		file             string
		pack             func(string) string
		open             bool
	}{
		{"whole", "", "operation_id,amount\na1,1\na2,2\n", "x.csv", same, false},
		{"windows", "", "operation_id,amount\r\na1,1\r\na2,2\r\n", "x.csv", same, false},
		{"old mac", "", "operation_id,amount\ra1,1\ra2,2\r", "x.csv", same, false},
		{"cut", "", "operation_id,amount\na1,1\na2,2", "x.csv", same, true},
		{"cut, lines of windows", "", "operation_id,amount\r\na1,1\r\na2,2", "x.csv", same, true},
		{"cut behind a quote", "", "operation_id,amount\na1,1\n\"a2\",\"2\"", "x.csv", same, true},
		{"whole behind a quote", "", "operation_id,amount\n\"a\n1\",1\n\"a2\",\"2\"\n", "x.csv", same, false},
		{"cut before it was packed", "", "operation_id,amount\na1,1\na2,2", "x.csv.gz", packed, true},
		{"cut in an archive", "", "operation_id,amount\na1,1\na2,2", "x.csv.zip", zipped, true},
		{"never ended", "csv: {open_end: true}\n", "operation_id,amount\na1,1\na2,2", "x.csv", same, false},
		{"behind a trailer", trailer, "D,a1,1\nD,a2,2\nT,2,3", "x.csv", same, false},
	} {
		for _, complete := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, complete %t", c.name, complete), func(t *testing.T) {
				src := sourceWith(t, "format: csv\n"+c.keys, ids)
				w := newWorld(t)
				w.write(c.file, c.pack(c.text))
				idAndAmount(w, rules.Results)
				from, until := int64(0), int64(1_000_000)
				w.source(rules.Results, c.file, func(s *rules.Source, in *rules.Input) {
					s.Format, s.CSV = src.Format, src.CSV
					s.Coverage.Complete, s.Coverage.Declared = complete, true
					in.From, in.Until = &from, &until
				})
				for _, run := range []string{"parsed", "cached"} {
					rel, rows, err := w.load(rules.Results)
					if err != nil || len(rows) != 2 {
						t.Fatalf("%s: %v, %d rows", run, err, len(rows))
					}
					found, withdrawn := findings(rel, "last_line_open"), findings(rel, "coverage_withdrawn")
					if (len(found) == 1) != c.open || (len(withdrawn) == 1) != (c.open && !complete) {
						t.Errorf("%s: found %q, withdrawn %q", run, found, withdrawn)
					}
					if c.open && !strings.Contains(found[0], "open_end: true") {
						t.Errorf("%s: no remedy: %q", run, found)
					}
				}
			})
		}
	}
}
