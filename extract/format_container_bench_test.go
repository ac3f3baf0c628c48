package extract

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// largeContainer is a file of n records of one format, written to w. The records
// have the columns id, amount, currency and created.
type largeContainer struct {
	name   string
	src    *rules.Source
	fields []rules.Field
	write  func(w io.Writer, n int)
}

func largeContainers(t testing.TB) []largeContainer {
	fields := textFields("id", "amount", "currency", "created")
	row := func(i int) (id, amount, created string) {
		return fmt.Sprintf("op_%012d", i), fmt.Sprintf("%d", i%500_000), fmt.Sprintf("2031-05-06T10:%02d:%02dZ", i/60%60, i%60)
	}
	sum := func(n int) (s int64) {
		for i := range n {
			s += int64(i % 500_000)
		}
		return s
	}
	return []largeContainer{
		{"typed.csv", sourceOf(t, "format: typed\ntyped: {first: H, last: T, kinds: [{kind: H, as: header, carry: {day: 2}}, {kind: D, columns: [record_kind, id, amount, currency, created]}, {kind: T, as: footer, count: 2, sums: [{field: 3, column: amount}]}]}"), fields,
			func(w io.Writer, n int) {
				fmt.Fprint(w, "H,2031-05-06\n")
				for i := range n {
					id, amount, created := row(i)
					fmt.Fprintf(w, "D,%s,%s,EUR,%s\n", id, amount, created)
				}
				fmt.Fprintf(w, "T,%d,%d\n", n, sum(n))
			}},
		{"fixed.txt", sourceOf(t, "format: fixed\nfixed: {line_length: 60, kind: 1, last: T, kinds: [{kind: D, columns: {id: 2-21, amount: 22-33, currency: 34-36, created: 37-56}}, {kind: T, as: footer, columns: {n: 2-13, s: 14-33}, count: n, sums: [{field: s, column: amount}]}]}"), fields,
			func(w io.Writer, n int) {
				for i := range n {
					id, amount, created := row(i)
					fmt.Fprintf(w, "D%-20s%12sEUR%-24s\n", id, amount, created)
				}
				fmt.Fprintf(w, "T%012d%020d%27s\n", n, sum(n), "")
			}},
		{"doc.xml", sourceOf(t, "format: xml\nxml: {path: D/E}"), fields,
			func(w io.Writer, n int) {
				fmt.Fprint(w, "<?xml version=\"1.0\"?>\n<D>\n")
				for i := range n {
					id, amount, created := row(i)
					fmt.Fprintf(w, "<E><id>%s</id><amount>%s</amount><currency>EUR</currency><created>%s</created></E>\n", id, amount, created)
				}
				fmt.Fprint(w, "</D>\n")
			}},
		{"a.zip", zipSource("*.csv"), fields, func(w io.Writer, n int) {
			var b bytes.Buffer
			fmt.Fprint(&b, "id,amount,currency,created\n")
			for i := range n {
				id, amount, created := row(i)
				fmt.Fprintf(&b, "%s,%s,EUR,%s\n", id, amount, created)
			}
			w.Write(zipped(t, "a.csv", b.String()))
		}},
		{"book.xlsx", sourceOf(t, "format: xlsx\nxlsx: {sheet: results}"), fields, func(w io.Writer, n int) {
			var b, texts strings.Builder
			b.WriteString(`<row r="1"><c t="inlineStr"><is><t>id</t></is></c><c t="inlineStr"><is><t>amount</t></is></c><c t="inlineStr"><is><t>currency</t></is></c><c t="inlineStr"><is><t>created</t></is></c></row>`)
			texts.WriteString("<sst><si><t>EUR</t></si>")
			for i := range n {
				id, amount, _ := row(i)
				fmt.Fprintf(&texts, "<si><t>%s</t></si>", id)
				fmt.Fprintf(&b, `<row r="%d"><c r="A%d" t="s"><v>%d</v></c><c r="B%d"><v>%s</v></c><c r="C%d" t="s"><v>0</v></c><c r="D%d" s="2"><v>47974.%d</v></c></row>`, i+2, i+2, i+1, i+2, amount, i+2, i+2, i%1000)
			}
			texts.WriteString("</sst>")
			w.Write(book(t, b.String(), "xl/sharedStrings.xml", texts.String()))
		}},
	}
}

func BenchmarkContainers(b *testing.B) {
	const rows = 100_000
	for _, c := range largeContainers(b) {
		b.Run(c.name, func(b *testing.B) {
			var file bytes.Buffer
			c.write(&file, rows)
			benchmarkFormat(b, c.src, file.Bytes(), c.fields, c.name, rows)
		})
	}
}

// Ten times the records cost no more memory. A workbook may have texts that all of
// it shares: those are held up to stringsInMemory.
func TestContainersMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	for _, c := range largeContainers(t) {
		t.Run(c.name, func(t *testing.T) {
			peak := func(n int) uint64 {
				var file bytes.Buffer
				c.write(&file, n)
				data := bytes.Clone(file.Bytes())
				file = bytes.Buffer{}
				runtime.GC()
				grown := watchHeap()
				if got := readThrough(t, c.src, c.fields, bytes.NewReader(data), c.name); got != int64(n) {
					t.Fatalf("%d records, want %d", got, n)
				}
				p := grown()
				runtime.KeepAlive(data)
				return p
			}
			few, many := peak(20_000), peak(200_000)
			t.Logf("%.1f MB for 20,000 records, %.1f MB for 200,000", float64(few)/1e6, float64(many)/1e6)
			allowed := few + 4<<20
			if c.name == "book.xlsx" {
				allowed += stringsInMemory
			}
			if many > allowed {
				t.Errorf("%d bytes of heap for 20,000 records, %d for 200,000", few, many)
			}
		})
	}
}

// Nothing is allocated for a record.
func TestContainersAllocateNothingPerRecord(t *testing.T) {
	for _, c := range largeContainers(t) {
		if c.name == "book.xlsx" {
			continue // its shared texts grow
		}
		allocations := func(n int) float64 {
			var file bytes.Buffer
			c.write(&file, n)
			return testing.AllocsPerRun(3, func() { readThrough(t, c.src, c.fields, bytes.NewReader(file.Bytes()), c.name) })
		}
		if few, many := allocations(1000), allocations(10_000); many > few+20 {
			t.Errorf("%s: %v allocations for 1,000 records, %v for 10,000", c.name, few, many)
		}
	}
}
