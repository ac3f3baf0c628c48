package extract

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// FuzzJSON: never a panic; records are numbered without a gap; what is read to its end
// without a reject is a document that encoding/json accepts too.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"more":false,"data":[{"a":"1","b":2.50},{"a":null,"c":{"d":[true,-1e5]}}],"n":1}`, `{"data":[]}`, `{"data":{}}`, `{"data":[{"a":1},2,"x"]}`,
		`{"data":[{"a":1}]`, `{"data":[{"a":1}],"data":[{"a":2}]}`, "\xEF\xBB\xBF{\"data\":[{\"a\":\"\\ud83d\\ude00\"}]} ", `[{"a":1}]`, `{"data":[{"a":1}]}{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := jsonSource("data")
		drainLimited(t, src, textFields("a"), data, "x.json")
		lines, r := readAllLimits(src, textFields("a"), data, "x.json", fuzzLimits)
		if r == nil {
			return
		}
		defer r.Close()
		for _, l := range lines {
			if strings.HasPrefix(l, "error ") || strings.HasPrefix(l, "reject ") {
				return
			}
		}
		if !json.Valid(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))) {
			t.Fatalf("accepted, and no JSON: %q", data)
		}
	})
}

// FuzzParquet: whatever footer and pages say, never a panic, and never more records
// than the footer states.
func FuzzParquet(f *testing.F) {
	f.Add(writeParquet(f, schemaOf("a", arrow.BinaryTypes.String), `[{"a":"1"},{"a":null},{"a":"3"},{"a":"4"}]`))
	f.Add(writeParquet(f, schemaOf("a", arrow.BinaryTypes.String, "b", &arrow.Decimal128Type{Precision: 9, Scale: 2}, "c", arrow.ListOf(arrow.PrimitiveTypes.Int32)), `[{"a":"1","b":"2.50","c":[1,2]},{"a":"x","b":null,"c":null}]`))
	f.Add(writeParquet(f, schemaOf("a", arrow.FixedWidthTypes.Date32, "s", arrow.StructOf(arrow.Field{Name: "id", Type: arrow.BinaryTypes.String})), `[{"a":"2031-05-06","s":{"id":"1"}}]`))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) { drainLimited(t, parquetSource, textFields("a"), data, "x.parquet") })
}

// FuzzDecompress: a compressed file is read to its end only where its checksums hold,
// and then it has the same digest when it is read again.
func FuzzDecompress(f *testing.F) {
	text := "a,b\n1,2\n" + strings.Repeat("3,4\n", 50)
	for i, s := range [][]byte{gzipped(text), gzipped(text[:8], text[8:]), zstandard(text), zstandard(text[:8], text[8:]), {0x1F, 0x8B, 8}, {0x28, 0xB5, 0x2F, 0xFD}} {
		f.Add(s, i%4 >= 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, zstd bool) {
		name := "x.csv.gz"
		if zstd {
			name = "x.csv.zst"
		}
		var sums [2]Digests
		for i := range sums {
			r, err := openReaderLimits(csvSource(), textFields("a"), bytes.NewReader(data), name, fuzzLimits)
			if err != nil {
				return
			}
			if _, whole := drain(t, r); !whole {
				return
			}
			sums[i] = r.Digests()
		}
		if sums[0] != sums[1] || sums[0].Size != int64(len(data)) {
			t.Fatalf("%x, then %x for %d bytes", sums[0], sums[1], len(data))
		}
	})
}
