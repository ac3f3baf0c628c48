package extract

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// T1: nothing is sniffed. Files of few lines, and files whose first lines look like
// something else, are read by their declaration, and every line is counted.
func TestT1DialectIsDeclared(t *testing.T) {
	for _, c := range []struct {
		name, data string
		records    int64
		control    int64
	}{
		{"three lines", "id,amount\na,1\nb,2\n", 2, 1},
		{"a header and nothing else", "id,amount\n", 0, 1},
		{"numbers in the header's place would be a header", "id,amount\n1,2\n3,4\n", 2, 1},
		{"semicolons in the values", "id,amount\n\"a;b;c\",1\n\"d;e;f\",2\n", 2, 1},
		{"a quote late in the file", "id,amount\n" + strings.Repeat("a,1\n", 30_000) + "\"x\ny\",2\n", 30_001, 1},
	} {
		w := newWorld(t)
		w.write("a.csv", c.data)
		w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"}, decimalField("amount", 2))
		w.source(rules.Operations, "a.csv", nil)
		rel, _ := w.mustLoad(rules.Operations)
		if f := rel.Files[0]; f.Records != c.records || f.Control != c.control {
			t.Errorf("%s: %d records and %d control lines, want %d and %d", c.name, f.Records, f.Control, c.records, c.control)
		}
	}
}

// T2: a value far behind the first ones changes the reading of none.
func TestT2LateValuesStayTexts(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,amount\n")
	for i := range 25_000 {
		fmt.Fprintf(&b, "%d,%d\n", i+1, i%100)
	}
	b.WriteString("00042,12.75\n1e3,0.10\n")
	w := newWorld(t)
	w.write("a.csv", b.String())
	w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"}, decimalField("amount", 2))
	w.source(rules.Operations, "a.csv", nil)
	_, rows := w.mustLoad(rules.Operations)
	for i, want := range [][2]string{{"00042", "12.75"}, {"1e3", "0.10"}} {
		r := rows[25_000+i].V
		if r["f_operation_id"] != want[0] || fmt.Sprint(r["f_amount"]) != want[1] {
			t.Errorf("record %d: %v %v, want %v", 25_001+i, r["f_operation_id"], r["f_amount"], want)
		}
	}
}

// T3: columns are bound by their names; one that is needed and missing refuses the
// file, a new one is reported.
func TestT3ColumnsByName(t *testing.T) {
	w := newWorld(t)
	w.write("1.csv", "id,amount\na,1\n")
	w.write("2.csv", "amount,new,id\n2,x,b\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"}, decimalField("amount", 2))
	w.source(rules.Operations, "*.csv", nil)
	rel, rows := w.mustLoad(rules.Operations)
	if len(rows) != 2 || rows[1].V["f_operation_id"] != "b" || fmt.Sprint(rows[1].V["f_amount"]) != "2.00" {
		t.Errorf("%v", rows)
	}
	if len(rel.Findings) != 1 || rel.Findings[0].Code != "new_column" {
		t.Errorf("findings %v", rel.Findings)
	}
	w.write("3.csv", "Amount,id\n2,c\n")
	if _, _, err := w.load(rules.Operations); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "there is no column amount, which the field amount reads") {
		t.Errorf("a missing column: %v", err)
	}
}

// T3: a column that may be missing gives null, and only then.
func TestT3OptionalColumn(t *testing.T) {
	for data, want := range map[string]any{"id,fee\na,1\n": "1.00", "id\na\n": nil} {
		w := newWorld(t)
		w.write("a.csv", data)
		fee := decimalField("fee", 2)
		fee.Optional = true
		w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"}, fee)
		w.source(rules.Operations, "a.csv", nil)
		rel, rows := w.mustLoad(rules.Operations)
		if missing := len(rel.Findings) == 1 && rel.Findings[0].Code == "missing_column"; missing != (want == nil) {
			t.Errorf("%q: findings %v", data, rel.Findings)
		}
		got := rows[0].V["f_fee"]
		if got != nil {
			got = fmt.Sprint(got)
		}
		if got != want {
			t.Errorf("%q: fee %v, want %v", data, got, want)
		}
	}
}

// T4: two columns of one name are an error where one of them is needed.
func TestT4DoubledHeader(t *testing.T) {
	w := newWorld(t)
	w.write("a.csv", "id,amount,amount\na,1,2\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"}, decimalField("amount", 2))
	w.source(rules.Operations, "a.csv", nil)
	if _, _, err := w.load(rules.Operations); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "2 columns (amount, amount) answer to the name amount") {
		t.Errorf("%v", err)
	}
	byPlace := rules.Field{Name: "amount", Position: 3, Type: rules.Decimal, Scale: 2}
	w = newWorld(t)
	w.write("a.csv", "id,amount,amount\na,1,2\n")
	w.job.Spec(rules.Operations).Fields = []rules.Field{{Name: "operation_id", Column: "id", Type: rules.Text, Scale: -1}, byPlace}
	w.source(rules.Operations, "a.csv", nil)
	if _, rows := w.mustLoad(rules.Operations); fmt.Sprint(rows[0].V["f_amount"]) != "2.00" {
		t.Errorf("by position: %v", rows[0].V["f_amount"])
	}
}

// shortReader ends without an error before its file does, as a transfer with a
// packet size that the server does not keep to.
type shortReader struct {
	data []byte
	at   int
	stop int
}

func (s *shortReader) Read(b []byte) (int, error) {
	if s.at >= s.stop {
		return 0, io.EOF
	}
	n := copy(b, s.data[s.at:s.stop])
	s.at += n
	return n, nil
}

// T6: what was read is compared with the size of the file: its digest covers as many
// bytes as the file has, or the file is refused.
func TestT6ShortRead(t *testing.T) {
	data := []byte("id,amount\n" + strings.Repeat("a,1\n", 1000))
	src := &rules.Source{Format: rules.FormatCSV, CSV: rules.CSV{Delimiter: ',', Quote: '"', Encoding: "utf-8", Decimal: '.'}}
	r, err := openReader(src, []rules.Field{{Name: "operation_id", Column: "id"}}, &shortReader{data: data, stop: len(data)/4/4*4 + 2}, "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if err == io.EOF && r.Digests().Size == int64(len(data)) {
		t.Error("a quarter of the file has the size of the whole")
	}
	// A file that grows or shrinks while it is read is refused.
	w := newWorld(t)
	w.write("a.csv", string(data))
	w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"})
	w.source(rules.Operations, "a.csv", nil)
	path := filepath.Join(w.dir, "a.csv")
	first := true
	_, err = Load(t.Context(), w.db, w.job, rules.Operations, Options{StageDir: w.stage, BaseDir: w.dir, Progress: func(string, int64, int64, int64) {
		if first {
			first = false
			if err := os.WriteFile(path, append(bytes.Clone(data), "b,2\n"...), 0o600); err != nil {
				t.Error(err)
			}
		}
	}})
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "was written to while it was read") {
		t.Errorf("a file that changes: %v", err)
	}
}

// T22: numbers of JSON keep their digits; nothing goes through a float.
func TestT22NumbersKeepTheirDigits(t *testing.T) {
	w := newWorld(t)
	w.write("a.ndjson", `{"id":12345678901234567890,"amount":20000000000000000.01}
{"id":"b","amount":0.1}
{"id":"c","amount":1.50E+2}
{"id":"d","amount":1e-3}
`)
	amount := decimalField("amount", -1)
	w.fields(rules.Operations, rules.Field{Name: "operation_id", Column: "id"}, amount)
	w.source(rules.Operations, "a.ndjson", func(s *rules.Source, _ *rules.Input) { s.Format = rules.FormatNDJSON })
	_, rows := w.mustLoad(rules.Operations)
	for i, want := range [][2]string{{"12345678901234567890", "20000000000000000.01"}, {"b", "0.1"}, {"c", "150"}, {"d", "0.001"}} {
		if r := rows[i].V; r["f_operation_id"] != want[0] || fmt.Sprint(r["f_amount"]) != want[1] {
			t.Errorf("record %d: %v %v, want %v", i+1, r["f_operation_id"], r["f_amount"], want)
		}
	}
}

// T24: a key on two pages shows that the list moved while it was read: the snapshot
// proves nothing. A stated number of keys that is not reached refuses it.
func TestT24MovingSnapshot(t *testing.T) {
	load := func(data string, stated int64) (*Relation, error) {
		w := newWorld(t)
		w.write("a.ndjson", data)
		w.fields(rules.Results, rules.Field{Name: "operation_id", Column: "id"})
		w.source(rules.Results, "a.ndjson", func(s *rules.Source, _ *rules.Input) {
			s.Format = rules.FormatNDJSON
			s.Pages = &rules.Pages{Column: "page", OnOverlap: "withdraw"}
			if stated > 0 {
				s.StatedDistinct = map[string]int64{"distinct_keys": stated}
			}
		})
		w.job.Results.TransportColumns = []string{"page"}
		rel, _, err := w.load(rules.Results)
		return rel, err
	}
	still := "{\"id\":\"a\",\"page\":1}\n{\"id\":\"b\",\"page\":1}\n{\"id\":\"c\",\"page\":2}\n"
	moved := still + "{\"id\":\"b\",\"page\":2}\n"
	if rel, err := load(still, 3); err != nil || len(rel.Findings) != 0 || !rel.Coverage[0].Complete {
		t.Errorf("a list that stood still: %v, %+v", err, rel)
	}
	rel, err := load(moved, 0)
	if err != nil || len(rel.Findings) == 0 || rel.Findings[0].Code != "pages_overlap" || rel.Coverage[0].Complete {
		t.Errorf("a list that moved: %v, %+v", err, rel)
	}
	if _, err := load(still, 4); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "3 distinct operation_id read, the snapshot states 4") {
		t.Errorf("a list that is short: %v", err)
	}
}
