package extract

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recon-batch/recon-batch/rules"
)

// benchCSV is a file of ten columns without quotes, or with one quoted text.
func benchCSV(rows int, quoted bool) []byte {
	var b bytes.Buffer
	b.WriteString("op_id,idem_key,kind,order_no,state,version,amount,currency,attempts,created_at\n")
	for i := range rows {
		state := "confirmed"
		if quoted {
			state = `"confirmed, by ""psp"""`
		}
		fmt.Fprintf(&b, "op_%012d,idem-%08x,charge,order-%07d,%s,%d,%d.%02d,EUR,1,2026-08-20T10:%02d:%02dZ\n",
			i, i*7919, i/2, state, i%9, i%5000, i%100, i/60%60, i%60)
	}
	return b.Bytes()
}

func benchNDJSON(rows int) []byte {
	var b bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&b, `{"op_id":"op_%012d","idem_key":"idem-%08x","kind":"charge","order_no":"order-%07d","status":"settled","version":%d,"amount":"%d.%02d","currency":"EUR","source":{"metadata":{"page":%d}},"created_at":"2026-08-20T10:%02d:%02dZ"}`+"\n",
			i, i*7919, i/2, i%9, i%5000, i%100, i/500, i/60%60, i%60)
	}
	return b.Bytes()
}

var benchFields = textFields("op_id", "idem_key", "kind", "order_no", "version", "amount", "currency", "created_at")

// readThrough reads a file to its end and returns the number of records.
func readThrough(tb testing.TB, src *rules.Source, fields []rules.Field, f io.Reader, name string) int64 {
	r, err := openReader(src, fields, f, name)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	var n int64
	for {
		switch _, err := r.Next(); err {
		case nil:
			n++
		case io.EOF:
			return n
		default:
			tb.Fatal(err)
		}
	}
}

func BenchmarkCSV(b *testing.B) {
	benchmarkFormat(b, csvSource(), benchCSV(100_000, false), benchFields, "x.csv", 100_000)
}

func BenchmarkCSVQuoted(b *testing.B) {
	benchmarkFormat(b, csvSource(), benchCSV(100_000, true), benchFields, "x.csv", 100_000)
}

func BenchmarkCSVLatin1(b *testing.B) {
	latin1 := csvSource(func(c *rules.CSV) { c.Encoding = "latin-1" })
	benchmarkFormat(b, latin1, benchCSV(100_000, false), benchFields, "x.csv", 100_000)
}

// BenchmarkCompressed counts the bytes as found, not those of the content.
func BenchmarkCompressed(b *testing.B) {
	text := string(benchCSV(100_000, false))
	b.Run("gzip", func(b *testing.B) {
		benchmarkFormat(b, csvSource(), gzipped(text), benchFields, "x.csv.gz", 100_000)
	})
	b.Run("zstd", func(b *testing.B) {
		benchmarkFormat(b, csvSource(), zstandard(text), benchFields, "x.csv.zst", 100_000)
	})
}

func BenchmarkNDJSON(b *testing.B) {
	benchmarkFormat(b, ndjsonSource, benchNDJSON(50_000), benchFields, "x.ndjson", 50_000)
}

// benchRowsJSON are the records of benchNDJSON as one array.
func benchRowsJSON(rows int) []byte {
	lines := bytes.TrimSpace(benchNDJSON(rows))
	return slices.Concat([]byte("["), bytes.ReplaceAll(lines, []byte("\n"), []byte(",\n")), []byte("]"))
}

func BenchmarkJSON(b *testing.B) {
	data := slices.Concat([]byte(`{"more":false,"data":`), benchRowsJSON(50_000), []byte("}"))
	benchmarkFormat(b, jsonSource("data"), data, benchFields, "x.json", 50_000)
}

// benchParquet has row groups of 10,000 rows, with dictionaries and Snappy.
func benchParquet(t testing.TB, rows int) []byte {
	var types []any
	for _, f := range benchFields {
		var typ arrow.DataType = arrow.BinaryTypes.String
		switch f.Name {
		case "version":
			typ = arrow.PrimitiveTypes.Int64
		case "amount":
			typ = &arrow.Decimal128Type{Precision: 12, Scale: 2}
		}
		types = append(types, f.Name, typ)
	}
	return writeParquetGroups(t, schemaOf(types...), string(benchRowsJSON(rows)), 10_000)
}

func BenchmarkParquet(b *testing.B) {
	benchmarkFormat(b, parquetSource, benchParquet(b, 50_000), benchFields, "x.parquet", 50_000)
}

// Five times the records cost no more memory, also where one document holds them all,
// or row groups have to be unpacked.
func TestDocumentsMemoryIsFlat(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // what is held, with little garbage
	for name, file := range map[string]func(rows int) (*rules.Source, []byte){
		"x.json":    func(rows int) (*rules.Source, []byte) { return jsonSource(""), benchRowsJSON(rows) },
		"x.parquet": func(rows int) (*rules.Source, []byte) { return parquetSource, benchParquet(t, rows) },
	} {
		peak := func(rows int) uint64 {
			src, data := file(rows)
			runtime.GC()
			grown := watchHeap()
			if n := readThrough(t, src, benchFields, bytes.NewReader(data), name); n != int64(rows) {
				t.Fatalf("%s: %d records, want %d", name, n, rows)
			}
			p := grown()
			runtime.KeepAlive(data)
			return p
		}
		few, many := peak(20_000), peak(100_000)
		t.Logf("%s: %.1f MB for 20,000 records, %.1f MB for 100,000", name, float64(few)/1e6, float64(many)/1e6)
		if many > few+16<<20 {
			t.Errorf("%s: %d bytes of heap for 20,000 records, %d for 100,000", name, few, many)
		}
	}
}

// A million records cost no more memory than a thousand: nothing is allocated for
// a record or a cell.
func TestCSVAllocatesNothingPerRecord(t *testing.T) {
	for _, quoted := range []bool{false, true} {
		allocations := func(rows int) float64 {
			data := benchCSV(rows, quoted)
			return testing.AllocsPerRun(3, func() {
				if n := readThrough(t, csvSource(), benchFields, bytes.NewReader(data), "x.csv"); n != int64(rows) {
					t.Fatalf("%d records, want %d", n, rows)
				}
			})
		}
		if few, many := allocations(1000), allocations(20_000); many > few+3 {
			t.Errorf("quoted %v: %v allocations for 1,000 records, %v for 20,000", quoted, few, many)
		}
	}
}

// NDJSON allocates for names once, never for values.
func TestNDJSONAllocatesNothingPerRecord(t *testing.T) {
	allocations := func(rows int) float64 {
		data := benchNDJSON(rows)
		return testing.AllocsPerRun(3, func() { readThrough(t, ndjsonSource, benchFields, bytes.NewReader(data), "x") })
	}
	if few, many := allocations(1000), allocations(10_000); many > few+3 {
		t.Errorf("%v allocations for 1,000 records, %v for 10,000", few, many)
	}
}
