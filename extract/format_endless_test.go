package extract

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recon-batch/recon-batch/rules"
)

// gigabyte gives a head and then one byte for ever; more than a gigabyte of it is
// a failure of the test by itself.
type gigabyte struct {
	head string
	read int64
}

func (g *gigabyte) Read(p []byte) (int, error) {
	if g.read > 1<<30 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, g.head)
	g.head = g.head[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	g.read += int64(len(p))
	return len(p), nil
}

// A cell of a gigabyte is refused with the default limits, after the bytes of one
// record, and in memory of that order.
func TestGigabyteCells(t *testing.T) {
	typed := sourceWith(t, "format: typed\ntyped: {first: H, last: T, kinds: [{kind: H, as: header}, {kind: D, columns: [record_kind, a]}, {kind: T, as: footer, count: 2}]}", "operation_id: a")
	fixed := sourceWith(t, "format: fixed\nfixed: {line_length: 9, kind: 1, last: T, kinds: [{kind: D, columns: {a: 2-9}}, {kind: T, as: footer, columns: {n: 2-9}, count: n}]}", "operation_id: a")
	for _, c := range []struct {
		name string
		src  *rules.Source
		head string
	}{
		{"plain.csv", csvSource(), "a,b\n1,"},
		{"quoted.csv", csvSource(), "a,b\n1,\""},
		{"header.csv", csvSource(), "a,"},
		{"text.ndjson", ndjsonSource, "{\"a\":\""},
		{"name.ndjson", ndjsonSource, "{\""},
		{"text.json", jsonSource("data"), "{\"data\":[{\"a\":\""},
		{"typed.csv", typed, "H\nD,"},
		{"fixed.txt", fixed, "D"},
		{"text.xml", sourceOf(t, "format: xml\nxml: {path: D/E}"), "<D><E><a>"},
		{"attribute.xml", sourceOf(t, "format: xml\nxml: {path: D/E}"), "<D><E a=\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &gigabyte{head: c.head}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := openReader(c.src, textFields("a"), f, c.name)
			for err == nil {
				_, err = r.Next()
			}
			runtime.ReadMemStats(&after)
			want := "which is the limit"
			if c.src == fixed {
				want = "9" // bytes, the declared length of a line
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; f.read > 4*int64(DefaultLimits.RecordBytes) || used > 8*uint64(DefaultLimits.RecordBytes) {
				t.Errorf("%d bytes read, %d allocated", f.read, used)
			}
			wantInputError(t, err, c.name)
		})
	}
}

// Formats that have to be whole before they are read: their large cells are packed to
// little, and refused by the limits of content and record.
func TestPackedLargeCells(t *testing.T) {
	lim := DefaultLimits
	lim.RecordBytes = 1 << 20
	large := strings.Repeat("x", 8<<20)
	for _, c := range []struct {
		name string
		src  *rules.Source
		data []byte
	}{
		{"inline.xlsx", sourceOf(t, "format: xlsx\nxlsx: {sheet: results}"), book(t, head+`<row r="2"><c t="inlineStr"><is><t>`+large+`</t></is></c></row>`)},
		{"shared.xlsx", sourceOf(t, "format: xlsx\nxlsx: {sheet: results}"), book(t, head+`<row r="2"><c t="s"><v>0</v></c></row>`, "xl/sharedStrings.xml", `<sst><si><t>`+large+`</t></si></sst>`)},
		{"comment.xlsx", sourceOf(t, "format: xlsx\nxlsx: {sheet: results}"), book(t, head+"<!--"+large+"-->")},
		{"page.parquet", parquetSource, writeParquet(t, schemaOf("id", arrow.BinaryTypes.String), `[{"id":"`+strings.Repeat(large, 5)+`"}]`)},
		{"x.parquet", parquetSource, writeParquet(t, schemaOf("id", arrow.BinaryTypes.String), `[{"id":"`+large+`"}]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := openReaderLimits(c.src, textFields("id"), bytes.NewReader(c.data), c.name, lim)
			for err == nil {
				_, err = r.Next()
			}
			if !strings.Contains(err.Error(), "which is the limit") {
				t.Errorf("%v", err)
			}
			wantInputError(t, err, c.name)
		})
	}
}
