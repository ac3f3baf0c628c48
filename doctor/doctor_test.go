package doctor

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// write makes a file in a folder of its own and works there, so that reports name it
// by its base name.
func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLook(t testing.TB, path string, opt Options) *Report {
	t.Helper()
	r, err := Look(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readBack reads a file by the fragment of its report, as a run would: the job around
// it has to be valid.
func readBack(t testing.TB, r *Report) (header []string, rows [][]string, rejected int) {
	t.Helper()
	if r.Fragment == "" {
		t.Fatalf("no fragment: %s", r.Problem)
	}
	side := rules.Side(r.Side)
	job, err := rules.Parse([]byte(r.look.d.alone(side, r.Fragment)), "the job")
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Fragment)
	}
	f, err := os.Open(r.File)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src := &job.Spec(side).Sources[0]
	in, err := extract.Open(src, src.Fields, f, filepath.Base(r.File), extract.DefaultLimits)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Fragment)
	}
	defer in.Close()
	header = in.Header()
	for {
		rec, err := in.Next()
		if err == io.EOF {
			return header, rows, rejected
		}
		if _, bad := errors.AsType[*extract.RecordError](err); bad {
			rejected++
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, r.Fragment)
		}
		var row []string
		for _, c := range rec.Cells {
			row = append(row, string(c.Text))
		}
		rows = append(rows, row)
	}
}

func utf16LE(s string) []byte {
	out := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

func zipOf(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, err := z.Create(members[i])
		if err == nil {
			_, err = io.WriteString(w, members[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestKinds looks at a file of each kind: what is said of it, that the fragment reads
// as many records as the file has, and what ties.
func TestKinds(t *testing.T) {
	const mt940 = ":20:T1\r\n:25:12345678/0001234567\r\n:28C:1/1\r\n:60F:C261127EUR100,00\r\n:61:2611271127C20,00NTRFop-1//B1\r\n:86:x\r\n:62F:C261127EUR120,00\r\n-\r\n"
	for _, c := range []struct {
		name    string
		content string
		records int64
		remarks []string // "topic: text" with its beginning
		ties    []string // "where of"
		finds   []string // codes
		parts   []string // of the fragment
	}{
		{
			name:    "bank.csv",
			content: "Kontoauszug M\xfcller\nZeitraum;01.11.2026;30.11.2026\n\nBuchungstag;Referenz;Betrag;W\xe4hrung\n03.11.2026;R-1;1.234,50;EUR\n14.11.2026;R-2;-950,00;EUR\nSumme;;284,50;\n",
			records: 2,
			remarks: []string{"encoding: windows-1252", "form: CSV, fields end with a semicolon", "header: line 3, below 2 lines", "footer: the records end before the line that begins with Summe", "numbers: a comma before the decimals, a point between thousands"},
			ties:    []string{"total_line.3 Betrag"},
			parts:   []string{"amount:       {column: Betrag, type: decimal}", `layout: "02.01.2006"`, "controls: {sum: {amount: total_line.3}}"},
		},
		{
			name:    "trailer.csv",
			content: "rec;id;gross;currency\nD;a;10,00;EUR\nD;b;5,50;EUR\nT;2;15,50;\n",
			records: 2,
			remarks: []string{"footer: lines D are records, the line T is the trailer"},
			ties:    []string{"trailer.2 count", "trailer.3 gross"},
			parts:   []string{"controls: {count: trailer.2, sum: {amount: trailer.3}}"},
		},
		{
			name:    "short.csv",
			content: "rec;id;gross;currency\nD;a;10,00;EUR\nD;b;5,50;EUR\nT;3;15,60;\n",
			records: 2, remarks: []string{"footer: lines D"},
		},
		{name: "u16.csv", content: string(utf16LE("id,amount,currency\nop-ä,1.00,EUR\nop-2,2.00,USD\n")), records: 2, remarks: []string{"encoding: UTF-16"}, parts: []string{"encoding: utf-16"}},
		{name: "bom.csv", content: "\xEF\xBB\xBF\"id\",\"amount\"\n\"op-1\",1.00\n\"op-2\",2.00\n", records: 2, remarks: []string{"encoding: UTF-8 with a byte order mark", `quote: "`}, parts: []string{"operation_id: id"}},
		{name: "a.tsv", content: "id\tamount\nx\t1.5\ny\t2.25\n", records: 2, remarks: []string{"form: CSV, fields end with a tab"}, parts: []string{"delimiter: tab"}},
		{name: "comments.csv", content: "# made at night\n# version 2\nid|amount\nx|1.5\ny|2.25\n", records: 2, remarks: []string{"comments: lines that begin with \"# \"", "form: CSV, fields end with a bar"}, parts: []string{`skip_lines: {starts_with: "# "}`}},
		{name: "bare.csv", content: "op-1,10.00,2026-11-29\nop-2,11.00,2026-11-29\nop-3,12.50,2026-11-30\n", records: 3, remarks: []string{"header: none"}, parts: []string{"header: none, columns: [column_1, column_2, column_3]"}},
		{name: "x.ndjson", content: "{\"id\":\"a\",\"amount\":1.10,\"metadata\":{\"op_id\":\"op-1\"}}\n{\"id\":\"b\",\"amount\":2.20,\"metadata\":{\"op_id\":\"op-2\"}}\n", records: 2, remarks: []string{"form: NDJSON"}, parts: []string{"operation_id: metadata.op_id", "remote_id:    id"}},
		{name: "env.json", content: `{"object":"list","has_more":false,"body":{"data":[{"id":"ch_1","amount":1099,"status":"succeeded"},{"id":"ch_2","amount":500,"status":"failed"}]}}`, records: 2, remarks: []string{"form: JSON, records at body.data"}, parts: []string{"json: {path: body.data}", "map: {failed: failed, succeeded: succeeded}"}},
		{name: "top.json", content: "[{\"id\":\"a\"},\n {\"id\":\"b\"},{\"id\":\"c\"}]", records: 3, remarks: []string{"form: JSON, an array at the top"}},
		{name: "x.xml", content: "<?xml version=\"1.0\"?><r><h><n>2</n></h><t><id>a</id><amt>1.00</amt></t><t><id>b</id><amt>2.00</amt></t></r>", records: 2, remarks: []string{"form: XML, records are r/t"}, parts: []string{"xml: {path: r/t}"}},
		{name: "fixed.txt", content: "0001ALICE     00001099EUR\n0002BOB       00000500USD\n0003CHARLIE   00123456EUR\n", records: 3, remarks: []string{"form: lines of fixed width"}, parts: []string{"line_length: 25"}},
		{name: "typed.txt", content: "H,20261129,ACME\nD,op-1,10.00,EUR\nD,op-2,5.50,EUR\nT,2,15.50\n", records: 2, remarks: []string{"kinds: record-typed: H header ×1, D record ×2, T footer ×1"}, ties: []string{"trailer.2 count", "trailer.3 d_3"}},
		{name: "mt940.sta", content: mt940, records: 1, remarks: []string{"form: MT940"}, ties: []string{"the statement 1 page 1 of account 12345678/0001234567 opening + entries = closing"}, parts: []string{"format: mt940"}},
		{name: "mt940bad.sta", content: strings.Replace(mt940, "120,00", "121,00", 1), records: 1, remarks: []string{"form: MT940"}, finds: []string{"unproved"}, parts: []string{"bank: {proof: report}"}},
		{name: "mt942.sta", content: ":20:T1\r\n:25:12345678/0001234567\r\n:28C:1/1\r\n:34F:EUR0,\r\n:13D:2611271000+0100\r\n:61:2611271127C20,00NTRFop-1//B1\r\n:90D:0EUR0,\r\n:90C:1EUR20,00\r\n-\r\n", records: 1, remarks: []string{"form: MT942"}, finds: []string{"provisional"}, parts: []string{"coverage: {proves: presence-only}", "PROV: pending"}},
		{name: "pain002.xml", content: statusReport, records: 1, parts: []string{"coverage: {proves: presence-only}"}},
		{name: "members.zip", content: string(zipOf(t, "readme.txt", "hello", "data.csv", "id,amount\na,1.00\nb,2.00\n")), records: 2, remarks: []string{"container: zip with 2 members", "member: data.csv"}, parts: []string{"zip: {member: data.csv, ignore: [readme.txt]}"}},
		{name: "x.csv.gz", content: string(gzipOf(t, "id,amount\na,1.00\nb,2.00\n")), records: 2, remarks: []string{"container: gzip"}},
		{name: "unnamed.csv", content: string(gzipOf(t, "id,amount\na,1.00\nb,2.00\n")), records: 2, remarks: []string{"container: gzip"}, finds: []string{"misnamed"}, parts: []string{"compression: gzip"}},
		{name: "ragged.csv", content: "id,amount,amount\na,1,2\nb,3\nc,5,6,7\nd,8,9\n", records: 4, finds: []string{"ragged_rows", "duplicate_column"}},
		{name: "mixed.csv", content: "id,amount\r\na,1.00\nb,2.00\r\n", records: 2, finds: []string{"mixed_line_ends"}},
		{name: "ids.csv", content: "id,ref_no,charge_id,card_no\n1.23E+22,12345.0,123456789012345000,0012\n4.5E+21,12346.0,123456789012346000,0013\n9.1E+21,12347.0,123456789012347000,0014\n", records: 3, finds: []string{"scientific_id", "trailing_zero", "cut_digits"}},
		{name: "sides.csv", content: "Datum;Referenz;Soll;Haben;Saldo\n01.11.2026;R1;;10,00;10,00\n02.11.2026;R2;4,50;;5,50\n", records: 2, parts: []string{"amount:       {debit_credit: {debit: Soll, credit: Haben}, type: decimal}"}},
		{name: "marks.csv", content: "op_id,amount,dc\na,10.00,CR\nb,4.50,DR\n", records: 2, parts: []string{"amount:       {column: amount, type: decimal, sign_from: {column: dc, positive: [CR], negative: [DR]}}"}},
		{name: "signed.csv", content: "op_id,amount,dc\na,(10.00),CR\nb,4.50,DR\n", records: 2, parts: []string{"amount:       {column: amount, type: decimal, notation: [parentheses]}"}},
		{name: "days.csv", content: "id,date,amount\na,01/02/2026,1.00\nb,03/04/2026,2.00\n", records: 2, parts: []string{"GUESS, unsure: every day reads as MM/DD/YYYY as well"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustLook(t, writeFile(t, c.name, []byte(c.content)), Options{})
			if r.Problem != "" {
				t.Fatal(r.Problem)
			}
			if r.Records != c.records || !r.Whole {
				t.Errorf("%d records, whole %v, want %d", r.Records, r.Whole, c.records)
			}
			for _, want := range c.remarks {
				found := false
				for _, m := range r.Remarks {
					found = found || strings.HasPrefix(m.Topic+": "+m.Text, want)
				}
				if !found {
					t.Errorf("no remark %q in %+v", want, r.Remarks)
				}
			}
			var ties []string
			for _, x := range r.Controls {
				if x.Ties {
					ties = append(ties, x.Where+" "+x.Of)
				}
			}
			if strings.Join(ties, "; ") != strings.Join(c.ties, "; ") {
				t.Errorf("ties: %q, want %q", ties, c.ties)
			}
			for _, code := range c.finds {
				found := false
				for _, f := range r.Findings {
					found = found || f.Code == code
				}
				if !found {
					t.Errorf("no finding %q in %+v", code, r.Findings)
				}
			}
			for _, part := range c.parts {
				if !strings.Contains(r.Fragment, part) {
					t.Errorf("the fragment lacks %q:\n%s", part, r.Fragment)
				}
			}
			_, rows, rejected := readBack(t, r)
			if int64(len(rows)) != r.Records-r.Rejected || int64(rejected) != r.Rejected {
				t.Errorf("the fragment reads %d records and %d rejects, the report says %d and %d", len(rows), rejected, r.Records-r.Rejected, r.Rejected)
			}
		})
	}
}

// A total that does not tie says so, and is not declared.
func TestControlThatDoesNotTie(t *testing.T) {
	r := mustLook(t, writeFile(t, "short.csv", []byte("rec;id;gross;currency\nD;a;10,00;EUR\nD;b;5,50;EUR\nT;3;15,60;\n")), Options{})
	if strings.Contains(r.Fragment, "controls:") {
		t.Errorf("a control that does not tie is declared:\n%s", r.Fragment)
	}
	var b bytes.Buffer
	if err := Text(&b, r, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"trailer.2: 3: does not tie, if it is the number of records (2 were read)", "trailer.3: 15,60: does not tie, if it is the sum of gross (15.5 was read)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// TestSamples looks at real files, where they are beside the project.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("../../shared/samples/*/*")
	if err != nil || len(files) == 0 {
		t.Skip("no samples beside the project")
	}
	want := map[string]string{"camt053": "camt", "camt054": "camt", "pain002": "pain002", "mt940": "mt940", "mt942": "mt942", "bai2": "bai2", "nacha": "nacha", "csv-bank": "csv", "paired": "csv", "gocardless": "json", "ofx": ""}
	for _, path := range files {
		kind := filepath.Base(filepath.Dir(path))
		t.Run(kind+"/"+filepath.Base(path), func(t *testing.T) {
			r := mustLook(t, path, Options{})
			if r.look.d.format != want[kind] {
				t.Errorf("format %q, want %q", r.look.d.format, want[kind])
			}
			if r.Fragment == "" {
				if r.Problem == "" || r.Hint == "" {
					t.Errorf("neither fragment nor remedy: %q, %q", r.Problem, r.Hint)
				}
				return
			}
			if _, rows, _ := readBack(t, r); int64(len(rows)) != r.Records-r.Rejected {
				t.Errorf("%d records read back, the report says %d", len(rows), r.Records-r.Rejected)
			}
		})
	}
}
