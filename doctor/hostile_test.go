package doctor

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/extract"
)

// shownText is everything that people are shown of a report.
func shownText(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkShown fails for what could steer a terminal.
func checkShown(t testing.TB, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("bytes that are no UTF-8 are shown: %q", text)
	}
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Fatalf("the character %U is shown in %q", r, text)
		}
	}
}

// TestHostile looks at files that are made to do harm.
func TestHostile(t *testing.T) {
	limits := extract.DefaultLimits
	limits.ContentBytes = 64 << 20
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 1 << 10 {
		if _, err := w.Write(make([]byte, 1<<17)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content string
		problem string
	}{
		"empty.csv":     {"", "the file is empty"},
		"blank.csv":     {" \n\n\t\n", "nothing but blanks"},
		"bomb.csv.gz":   {bomb.String(), "which is the limit"},
		"cut.csv.gz":    {string(gzipOf(t, strings.Repeat("a,b\n1,2\n", 1000))[:40]), ""},
		"zeros.csv":     {strings.Repeat("\x00", 5000), "no text"},
		"escape.csv":    {"id,na\x1b[31mme\x07,\u202eamount\nop\x1b]0;pwned\x07,x\x9b31m,1.00\nop-2,\u2066y,2.00\n", ""},
		"crlf.csv":      {"a\"b,c\n\"unclosed,1\n2,3\n", ""},
		"deep.json":     {strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), ""},
		"deep.xml":      {strings.Repeat("<a>", 5000), ""},
		"entity.xml":    {`<!DOCTYPE a [<!ENTITY b "c">]><a><t><x>&b;</x></t><t><x>1</x></t></a>`, ""},
		"leave.zip":     {string(zipOf(t, "../../etc/passwd", "a,b\n1,2\n")), "leaves the folder"},
		"nested.zip":    {string(zipOf(t, "inner.zip", string(zipOf(t, "a.csv", "a,b\n1,2\n")))), ""},
		"notes.pdf":     {"%PDF-1.7\n...", "PDF"},
		"old.xls":       {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 rest", "old form"},
		"bad.parquet":   {"PAR1 this is none PAR1", "cut or corrupt"},
		"half.xlsx":     {string(zipOf(t, "xl/workbook.xml", "<workbook>")), ""},
		"wide.csv":      {strings.Repeat("c,", 20_000) + "c\n" + strings.Repeat("1,", 20_000) + "1\n", ""},
		"line.csv":      {strings.Repeat("x", 3<<20), ""},
		"yaml\n#x.csv":  {"id,amount\na,1.00\nb,2.00\n", ""},
		"a{date}b*.csv": {"id,amount\na,1.00\nb,2.00\n", ""},
	} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			path := writeFile(t, name, []byte(c.content))
			r := mustLook(t, path, Options{Limits: limits, Name: name})
			checkShown(t, strings.ReplaceAll(shownText(t, r), path, ""))
			checkShown(t, r.Fragment)
			if c.problem != "" && !strings.Contains(r.Problem, c.problem) {
				t.Errorf("problem %q, want %q", r.Problem, c.problem)
			}
			if r.Fragment != "" {
				if _, rows, rejected := readBack(t, r); int64(len(rows)+rejected) != r.Records {
					t.Errorf("%d records read back, the report says %d", len(rows)+rejected, r.Records)
				}
			} else if r.Problem == "" {
				t.Error("neither a fragment nor a problem")
			}
		})
	}
}

// TestDamaged flips bytes and cuts files: whatever is left, there is a report, and a
// fragment reads as many records as it says.
func TestDamaged(t *testing.T) {
	whole := []string{
		"id;amount;currency;created\na;1.234,50;EUR;29.11.2026\nb;-3,00;USD;30.11.2026\nTotal;1.231,50;;\n",
		`{"data":[{"id":"a","amount":1.5},{"id":"b","amount":2}]}`,
		string(gzipOf(t, "H,1\nD,a,1.00\nD,b,2.00\nT,2,3.00\n")),
		string(zipOf(t, "a.csv", "id,amount\na,1.00\nb,2.00\n")),
		"<r><t><id>a</id></t><t><id>b</id></t></r>",
	}
	names := []string{"a.csv", "a.json", "a.csv.gz", "a.zip", "a.xml"}
	rng := rand.New(rand.NewPCG(7, 11))
	for n := range 300 {
		i := n % len(whole)
		data := []byte(whole[i])
		if n%3 == 0 {
			data = data[:rng.IntN(len(data)+1)]
		} else {
			for range 1 + rng.IntN(3) {
				data[rng.IntN(len(data))] = byte(rng.IntN(256))
			}
		}
		r := mustLook(t, writeFile(t, names[i], data), Options{Name: names[i]})
		checkShown(t, shownText(t, r))
		if r.Fragment == "" {
			continue
		}
		if _, rows, rejected := readBack(t, r); int64(len(rows)+rejected) != r.Records {
			t.Fatalf("%q: %d records read back, the report says %d\n%s", data, len(rows)+rejected, r.Records, r.Fragment)
		}
	}
}
