package extract

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// fuzzLimits are small, so that what goes past them is found soon.
var fuzzLimits = Limits{ContentBytes: 1 << 20, Ratio: 500, RecordBytes: 64 << 10, Columns: 100, Depth: 20}

// readProved reads a file of records with an amount and a trailer whose field at
// states their sum, and checks, where no error and no reject comes, that it is so.
func readProved(t *testing.T, src *rules.Source, data []byte, name string, at int) {
	lines, r := readAllLimits(src, textFields("a", "b"), data, name, fuzzLimits)
	if r == nil {
		return
	}
	defer r.Close()
	for _, l := range lines {
		if strings.HasPrefix(l, "error ") || strings.HasPrefix(l, "reject ") {
			return
		}
	}
	trailer := r.Trailer()
	if len(trailer) <= at {
		t.Fatalf("%q is accepted without its trailer", data)
	}
	form := decimalForm{mark: '.'}
	stated, ok := form.parse([]byte(strings.TrimSpace(trailer[at])))
	if !ok {
		t.Fatalf("%q is accepted, and its total is %q", data, trailer)
	}
	if got := sumOfLimits(t, src, data, name, "b"); got != ratText(stated.rat()) {
		t.Fatalf("%q is accepted: its records have the sum %s, it states %s", data, got, stated)
	}
}

func sumOfLimits(t *testing.T, src *rules.Source, data []byte, name, column string) string {
	r, err := openReaderLimits(src, textFields(column), bytes.NewReader(data), name, fuzzLimits)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	at := 0
	for i, h := range r.Header() {
		if h == column {
			at = i
		}
	}
	var sum decSum
	form := decimalForm{mark: '.'}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return ratText(sum.rat())
		}
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := form.parse(rec.Cells[at].Text); ok {
			sum.add(d)
		}
	}
}

// drainLimited reads a file through, within small limits, and checks what every
// reader keeps to.
func drainLimited(t *testing.T, src *rules.Source, fields []rules.Field, data []byte, name string) {
	if r, err := openReaderLimits(src, fields, bytes.NewReader(data), name, fuzzLimits); err == nil {
		drain(t, r)
	}
}

func FuzzTyped(f *testing.F) {
	src := containers(f)["x.csv"].src
	for _, s := range []string{"H;1\nD;a;1;x\nD;b;2.50;\"y\"\nT;2;3.5\n", "H;1\nT;0;0", "H;1\r\nD;a;;\r\nT;1;0\r\n", "H;1\nD;a;1e2;\nX;\nT;1;100\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { readProved(t, src, data, "x.csv", 2) })
}

func FuzzFixed(f *testing.F) {
	src := containers(f)["x.txt"].src
	for _, s := range []string{"Dk1      00000010\nT0000000100000010\n", "T0000000000000000", "Dk1           1.5\r\nDk2      00000001\r\nT00000002     2.5\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { readProved(t, src, data, "x.txt", 1) })
}

// FuzzTypedKinds reads files whose lines name columns and whose parts have totals.
func FuzzTypedKinds(f *testing.F) {
	src := typedSource(f, settlementKinds)
	f.Add([]byte(settlementFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		drainLimited(t, src, textFields("id"), data, "x.csv")
	})
}

func FuzzXML(f *testing.F) {
	src := xmlSource(f)
	for _, s := range []string{xmlFile, "<Document><Hdr Sum=''><Count>0</Count></Hdr><Stmt><Ntry/></Stmt></Document>", "<?xml version='1.0' encoding='ISO-8859-1'?><Document><Stmt><Ntry>\xE9</Ntry></Stmt></Document>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		drainLimited(t, src, textFields("Amt", "Ref"), data, "x.xml")
	})
}

// FuzzXLSX changes the sheet, the texts and the formats of a workbook.
func FuzzXLSX(f *testing.F) {
	src := xlsxSource(f, "")
	f.Add([]byte(head+`<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" s="1"><v>47974.5</v></c></row>`), []byte(`<sst><si><t>id</t></si><si><t>b</t></si></sst>`), []byte(`<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`))
	f.Add([]byte(head+`<row><c t="inlineStr"><is><r><t>x</t></r></is></c><c t="e"><v>#N/A</v></c></row>`), []byte(`<sst><si><r><t>id</t></r></si></sst>`), []byte(`<styleSheet/>`))
	f.Fuzz(func(t *testing.T, sheet, texts, styles []byte) {
		data := book(t, string(sheet), "xl/sharedStrings.xml", string(texts), "xl/styles.xml", string(styles))
		drainLimited(t, src, textFields("id"), data, "x.xlsx")
	})
}

func FuzzZip(f *testing.F) {
	src := zipSource("*.csv", "*.txt")
	f.Add(zipped(f, "a.csv", "a,b\n1,2\n", "read.txt", "me"))
	f.Add(containers(f)["x.xlsx"].data)
	f.Fuzz(func(t *testing.T, data []byte) {
		drainLimited(t, src, textFields("a"), data, "x.zip")
	})
}

// What a file of any format gives, written as CSV and read again, is the same.
func TestCanonical(t *testing.T) {
	all := containers(t)
	all["stl.csv"] = container{src: typedSource(t, settlementKinds), data: []byte(settlementFile)}
	for name, file := range damaged(t) {
		all["spine/"+name] = container{src: file.src, data: file.data}
	}
	banks, err := filepath.Glob("bank/testdata/files/*.*")
	if err != nil || len(banks) == 0 {
		t.Fatal(banks, err)
	}
	for _, path := range banks {
		if strings.HasSuffix(path, ".rows") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		format := rules.Format(strings.Split(filepath.Base(path), ".")[1])
		all[path] = container{src: &rules.Source{Name: "bank", Format: format, Bank: &rules.Bank{}}, data: data}
	}
	for name, c := range all {
		fields := textFields("a")
		switch {
		case name == "stl.csv":
			fields = textFields("id")
		case c.src.Format.Bank():
			fields = textFields("amount")
		}
		r, err := openReader(c.src, fields, bytes.NewReader(c.data), name)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Write(r.Header())
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var row []string
			line := fmt.Sprint(rec.No)
			for _, cell := range rec.Cells {
				row = append(row, string(cell.Text))
				line += "|" + strings.TrimLeft(cellText(cell), "#?")
			}
			want = append(want, line)
			w.Write(row)
		}
		w.Flush()
		again, err := openReader(csvSource(), fields, bytes.NewReader(b.Bytes()), "again.csv")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			rec, err := again.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprint(rec.No)
			for _, cell := range rec.Cells {
				line += "|" + cellText(cell)
			}
			got = append(got, line)
		}
		check(t, got, want)
	}
}
