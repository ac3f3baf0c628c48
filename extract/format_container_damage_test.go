package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/recon-batch/recon-batch/rules"
)

// container is a whole file of a container format. Every one has the columns a, b
// and proves itself: by stated totals, or by checksums.
type container struct {
	src    *rules.Source
	data   []byte
	amount string // column whose sum the file states; "" where a checksum proves it
	total  string
}

func containers(t testing.TB) map[string]container {
	const rows = 40
	rng := rand.New(rand.NewPCG(7, 8))
	var typed, fixed, xml, csv, sheet strings.Builder
	xml.WriteString(`<?xml version="1.0" encoding="ISO-8859-1"?>` + "\n<D><R>\n")
	typed.WriteString("H;2031-05-06\n")
	csv.WriteString("a,b\n")
	sheet.WriteString(`<row r="1"><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>`)
	sum := int64(0)
	for i := range rows {
		n := int64(rng.IntN(1e6))
		sum += n
		fmt.Fprintf(&typed, "D;k%d;%d;\"x \"\"é\"\"\"\n", i, n)
		fmt.Fprintf(&fixed, "D%-8s%08d\n", fmt.Sprint("k", i), n)
		fmt.Fprintf(&xml, "<E i='%d'><a>k%d &amp; \xE9</a><b>%d</b></E>\n", i, i, n)
		fmt.Fprintf(&csv, "k%d,%d\n", i, n)
		fmt.Fprintf(&sheet, `<row r="%d"><c t="s"><v>%d</v></c><c><v>%d</v></c></row>`, i+2, i%4, n)
	}
	fmt.Fprintf(&typed, "T;%d;%d\n", rows, sum)
	fmt.Fprintf(&fixed, "T%08d%08d\n", rows, sum)
	fmt.Fprintf(&xml, "</R><N>%d</N><S>%d</S></D>", rows, sum)
	kinds := "{field: 1, first: H, last: T, kinds: [{kind: H, as: header, carry: {day: 2}}, {kind: D, columns: [record_kind, a, b, c]}, {kind: T, as: footer, count: 2, sums: [{field: 3, column: b}]}]}"
	xmlSource := sourceOf(t, "format: xml\nxml: {path: D/R/E, trailer: [D/N, D/S]}\ncontrols: {count: trailer.1}\n")
	return map[string]container{
		"x.csv":  {sourceWith(t, "format: typed\ncsv: {delimiter: \";\"}\ntyped: "+kinds, "operation_id: a"), []byte(typed.String()), "b", fmt.Sprint(sum)},
		"x.txt":  {sourceWith(t, "format: fixed\nfixed: {line_length: 17, kind: 1, last: T, kinds: [{kind: D, columns: {a: 2-9, b: 10-17}}, {kind: T, as: footer, columns: {n: 2-9, s: 10-17}, count: n, sums: [{field: s, column: b}]}]}", "operation_id: a"), []byte(fixed.String()), "b", fmt.Sprint(sum)},
		"x.xml":  {xmlSource, []byte(xml.String()), "", ""},
		"x.zip":  {zipSource("*.csv", "*.txt"), zipped(t, "a.csv", csv.String(), "b.csv", "a,b\n1,2\n", "read.txt", "me"), "", ""},
		"x.xlsx": {sourceOf(t, "format: xlsx\nxlsx: {sheet: results}"), book(t, sheet.String()), "", ""},
	}
}

func TestContainersWhole(t *testing.T) {
	for name, c := range containers(t) {
		lines, r := readAll(c.src, textFields("a"), c.data, name)
		if last := lines[len(lines)-1]; strings.HasPrefix(last, "error") || strings.Contains(strings.Join(lines, "\n"), "reject") {
			t.Fatalf("%s: %s", name, last)
		}
		r.Close()
		// however the bytes come, the records are the same
		p, err := openReader(c.src, textFields("a"), iotest.OneByteReader(bytes.NewReader(c.data)), name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			if _, err := p.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < 40 || n > 41 {
			t.Errorf("%s: %d records byte by byte", name, n)
		}
		if d, e := p.Digests(), r.Digests(); d != e {
			t.Errorf("%s: the digests depend on how the bytes come", name)
		}
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A file that is cut never passes for a whole one.
func TestContainersCut(t *testing.T) {
	for name, c := range containers(t) {
		for n := 0; n < len(c.data); n++ {
			if n%50 != 0 && n < len(c.data)-60 {
				continue
			}
			if text := string(c.data[n:]); strings.TrimRight(text, "\n") == "" {
				continue // nothing but the last line end is missing
			}
			lines, r := readAll(c.src, textFields("a"), c.data[:n], name)
			if last := append([]string{""}, lines...)[len(lines)]; !strings.HasPrefix(last, "error") {
				t.Errorf("%s: cut at byte %d of %d: accepted, %s", name, n, len(c.data), last)
			}
			if r != nil {
				r.Close()
			}
		}
	}
}

// One byte changed, at 1,000 places: never a panic, and never another total than the
// file states, or, where checksums prove the content, other records.
func TestContainersFlipped(t *testing.T) {
	for name, c := range containers(t) {
		whole, r := readAll(c.src, textFields("a"), c.data, name)
		r.Close()
		rng := rand.New(rand.NewPCG(9, 10))
		accepted := 0
		for range 1000 {
			at, to := rng.IntN(len(c.data)), byte(rng.IntN(256))
			data := bytes.Clone(c.data)
			data[at] = to
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			lines, r := readAll(c.src, textFields("a", "b"), data, name)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
				t.Errorf("%s: byte %d set to %02X: %d MiB allocated for %d bytes", name, at, to, used>>20, len(data))
			}
			text := strings.Join(lines, "\n")
			if r != nil {
				r.Close()
			}
			if strings.Contains(text, "error ") || strings.Contains(text, "reject ") {
				continue
			}
			accepted++
			switch {
			case name == "x.xml":
				// proved by controls of the source, when they are judged
			case c.amount == "" && text != strings.Join(whole, "\n"):
				t.Errorf("%s: byte %d set to %02X: other records, no error", name, at, to)
			case c.amount != "":
				if got := sumOf(t, c.src, data, name, c.amount); got != c.total {
					t.Errorf("%s: byte %d set to %02X: accepted with the sum %s, the file states %s", name, at, to, got, c.total)
				}
			}
		}
		t.Logf("%s: %d of 1,000 changes do not matter", name, accepted)
	}
}

// sumOf adds a column up by itself.
func sumOf(t *testing.T, src *rules.Source, data []byte, name, column string) string {
	t.Helper()
	r, err := openReader(src, textFields(column), bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	at := -1
	for i, h := range r.Header() {
		if h == column {
			at = i
		}
	}
	sum := new(big.Rat)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return ratText(sum)
		}
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := new(big.Rat).SetString(string(rec.Cells[at].Text)); ok {
			sum.Add(sum, v)
		}
	}
}

// A disk or network that fails in the middle is an error of the file.
func TestContainersReadError(t *testing.T) {
	for name, c := range containers(t) {
		wantReadError(t, c.src, c.data, name)
	}
}
