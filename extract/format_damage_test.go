package extract

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/recon-batch/recon-batch/rules"
)

// damaged are whole files of every kind, with the source that reads them.
func damaged(t testing.TB) map[string]struct {
	src  *rules.Source
	data []byte
} {
	var ndjson, rows strings.Builder
	var csv strings.Builder
	csv.WriteString("a,b\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		fmt.Fprintf(&ndjson, `{"a":"k%d","b":%d.50,"c":{"d":"é\u00e9","e":[true,null,{"f":-1e5}]}}`+"\n", i, rng.IntN(1e6))
		fmt.Fprintf(&rows, `{"a":"k%d","b":"%d"},`, i, rng.IntN(1e6))
		fmt.Fprintf(&csv, "k%d,\"%d \"\"é\"\"\n\"\n", i, rng.IntN(1e6))
	}
	array := `{"more":false,"data":[` + strings.TrimSuffix(rows.String(), ",") + `],"n":1}`
	trailer := csvSource(func(c *rules.CSV) { c.Rows = &rules.RowKinds{Field: 1, Trailer: "T"} })
	type file = struct {
		src  *rules.Source
		data []byte
	}
	return map[string]file{
		"csv.gz":        {csvSource(), gzipped(csv.String()[:1000], csv.String()[1000:])},
		"csv.zst":       {csvSource(), zstandard(csv.String()[:1000], csv.String()[1000:])},
		"x.csv":         {csvSource(), []byte(csv.String())},
		"trailer.csv":   {trailer, []byte(csv.String() + "T,60\n")},
		"x.ndjson":      {ndjsonSource, []byte(ndjson.String())},
		"x.ndjson.gz":   {ndjsonSource, gzipped(ndjson.String())},
		"x.json":        {jsonSource("data"), []byte(array)},
		"x.parquet":     {parquetSource, writeParquet(t, schemaOf("a", arrow.BinaryTypes.String, "b", arrow.BinaryTypes.String), "["+strings.TrimSuffix(rows.String(), ",")+"]")},
		"x.parquet.zst": {parquetSource, zstandard(string(writeParquet(t, schemaOf("a", arrow.BinaryTypes.String), `[{"a":"1"},{"a":"2"}]`)))},
	}
}

// A cut file never passes for a whole one. Only a cut between two members of a
// gzip file, or behind a line of NDJSON, leaves something that is whole in itself:
// nothing but a control total can tell.
func TestCutFilesAreRefused(t *testing.T) {
	for name, file := range damaged(t) {
		t.Run(name, func(t *testing.T) {
			whole, r := readAll(file.src, textFields("a"), file.data, name)
			if strings.HasPrefix(whole[len(whole)-1], "error") {
				t.Fatalf("the whole file: %s", whole[len(whole)-1])
			}
			r.Close()
			step := 1
			if len(file.data) > 3000 {
				step = 17
			}
			for n := 0; n < len(file.data); n += step {
				if name == "x.ndjson" && (n == 0 || file.data[n-1] == '\n' || file.data[n] == '\n') {
					continue
				}
				if n > 0 && name == "csv.gz" && bytes.Equal(file.data[n:n+3], []byte{0x1F, 0x8B, 8}) ||
					n > 0 && name == "csv.zst" && bytes.Equal(file.data[n:n+4], []byte{0x28, 0xB5, 0x2F, 0xFD}) {
					continue
				}
				if name == "trailer.csv" && n >= len(file.data)-4 {
					continue // the trailer is there: the reconciliation of its numbers is another's
				}
				lines, r := readAll(file.src, textFields("a"), file.data[:n], name)
				if name == "x.csv" && r != nil && !strings.HasPrefix(append([]string{""}, lines...)[len(lines)], "error") {
					// Nothing in a CSV file says where it ends: the records before the cut are
					// as they were, and how many there have to be is for a control to say.
					lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "control ") })
					if kept := max(len(lines)-1, 0); !slices.Equal(lines[:kept], whole[:kept]) {
						t.Errorf("cut at byte %d: the records before the cut are others", n)
					}
					r.Close()
					continue
				}
				if last := append([]string{""}, lines...)[len(lines)]; !strings.HasPrefix(last, "error") {
					t.Errorf("cut at byte %d of %d: accepted, %s", n, len(file.data), last)
				}
				if r != nil {
					r.Close()
				}
			}
		})
	}
}

// One byte changed, at 1,000 places, never makes a reader panic or take memory that its
// file does not have, and in a compressed file it never passes unseen: its checksum
// covers every byte of the content.
func TestFlippedBytesNeverPanic(t *testing.T) {
	for name, file := range damaged(t) {
		t.Run(name, func(t *testing.T) {
			whole, r := readAll(file.src, textFields("a"), file.data, name)
			r.Close()
			rng := rand.New(rand.NewPCG(3, 4))
			var before, after runtime.MemStats
			most := uint64(0)
			for i := range 1000 {
				at, to := rng.IntN(len(file.data)), byte(1+rng.IntN(255))
				if i%2 == 0 {
					to = 1 << rng.IntN(8)
				}
				data := bytes.Clone(file.data)
				data[at] ^= to
				runtime.ReadMemStats(&before)
				lines, r := readAll(file.src, textFields("a"), data, name)
				if r != nil {
					r.Close()
				}
				runtime.ReadMemStats(&after)
				most = max(most, after.TotalAlloc-before.TotalAlloc)
				refused := len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "error")
				compressed := strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
				if compressed && !refused && strings.Join(lines, "\n") != strings.Join(whole, "\n") {
					t.Errorf("byte %d changed by %02x: other records, no error", at, to)
				}
			}
			if limit := uint64(8 * DefaultLimits.RecordBytes); most > limit {
				t.Errorf("%d bytes allocated for one file of %d, want at most %d", most, len(file.data), limit)
			}
		})
	}
}
