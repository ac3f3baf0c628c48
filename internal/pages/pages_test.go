package pages

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/duck"
)

const by = "test"

// The schema has every type that a file may hold.
var everyType = arrow.NewSchema([]arrow.Field{
	{Name: "rec", Type: arrow.PrimitiveTypes.Int64}, {Name: "id", Type: arrow.BinaryTypes.String},
	{Name: "few", Type: arrow.BinaryTypes.String}, {Name: "hash", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "bits", Type: arrow.PrimitiveTypes.Uint64}, {Name: "yes", Type: arrow.FixedWidthTypes.Boolean},
	{Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "money", Type: &arrow.Decimal128Type{Precision: 28, Scale: 2}},
	{Name: "big", Type: &arrow.Decimal128Type{Precision: 38, Scale: 0}}, {Name: "empty", Type: arrow.BinaryTypes.String},
}, nil)

// batch makes rows with so many nulls in a hundred; values repeat or do not by column.
func batch(r *rand.Rand, from, rows, nulls int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, everyType)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(from + i + 1))
		for c := 1; c < everyType.NumFields(); c++ {
			if c == everyType.NumFields()-1 || r.IntN(100) < nulls {
				b.Field(c).AppendNull()
				continue
			}
			switch f := b.Field(c).(type) {
			case *array.StringBuilder:
				if c == 1 {
					f.Append(fmt.Sprintf("id-%d-%s", from+i, strings.Repeat("x", r.IntN(20))))
				} else {
					f.Append([]string{"", "EUR", "a longer one", "USD"}[r.IntN(4)])
				}
			case *array.Uint64Builder:
				if c == 3 {
					f.Append(r.Uint64())
				} else {
					f.Append(uint64(r.IntN(3)))
				}
			case *array.BooleanBuilder:
				f.Append(r.IntN(2) == 0)
			case *array.Date32Builder:
				f.Append(arrow.Date32(r.IntN(40000) - 20000))
			case *array.Decimal128Builder:
				f.Append(decimal128.FromI64(r.Int64N(2_000_000) - 1_000_000))
			}
		}
	}
	return b.NewRecordBatch()
}

// write writes the batches and returns the file.
func write(t *testing.T, batches []arrow.RecordBatch, groupRows int64) []byte {
	t.Helper()
	var out bytes.Buffer
	cols := Columns(everyType, func(f arrow.Field) bool { return f.Name != "id" && f.Name != "hash" })
	f, e := NewFile(&out, by, cols), NewEncoder(cols)
	f.Limit(groupRows, 1<<20)
	for _, b := range batches {
		if err := f.Add(e.Encode(b), b.NumRows()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Rows that are picked are those that were written: of every type, with nulls or
// without, as places or plain, over the ends of pages and row groups.
func TestPick(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, nulls := range []int{0, 3, 60, 100} {
		var batches []arrow.RecordBatch
		rows := 0
		for _, n := range []int{1, 700, 64, 3000, 9, 777} {
			batches = append(batches, batch(r, rows, n, nulls))
			rows += n
		}
		file := write(t, batches, 2000)
		rd, err := Open(bytes.NewReader(file), int64(len(file)), by)
		if err != nil {
			t.Fatal(err)
		}
		if rd.Rows() != int64(rows) || rd.Groups() < 2 {
			t.Fatalf("%d rows in %d groups, want %d in several", rd.Rows(), rd.Groups(), rows)
		}
		var names []string
		for _, f := range everyType.Fields() {
			names = append(names, f.Name)
		}
		for _, share := range []float64{0.01, 0.3, 1} {
			p, err := rd.Picker(names)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Schema().Equal(arrow.NewSchema(nullable(everyType.Fields()), nil)) {
				t.Fatalf("schema %v", p.Schema())
			}
			first := 0
			for g := range rd.Groups() {
				var want []int32
				for i := range rd.GroupRows(g) {
					if r.Float64() < share {
						want = append(want, int32(i))
					}
				}
				got, err := p.Pick(g, want)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range want {
					if a, b := text(got, i), textOf(batches, first+int(row)); a != b {
						t.Fatalf("nulls %d %%, group %d, row %d:\n got %s\nwant %s", nulls, g, row, a, b)
					}
				}
				got.Release()
				first += rd.GroupRows(g)
			}
		}
	}
}

func nullable(in []arrow.Field) []arrow.Field {
	out := slices.Clone(in)
	for i := range out {
		out[i].Nullable = true
	}
	return out
}

func text(b arrow.RecordBatch, row int) string {
	var out []string
	for _, c := range b.Columns() {
		out = append(out, c.ValueStr(row))
	}
	return strings.Join(out, " | ")
}

func textOf(batches []arrow.RecordBatch, row int) string {
	for _, b := range batches {
		if row < int(b.NumRows()) {
			return text(b, row)
		}
		row -= int(b.NumRows())
	}
	return "no such row"
}

func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, nulls := range []int{0, 40, 100} {
		b := batch(r, 0, 1000, nulls)
		file := write(t, []arrow.RecordBatch{b}, GroupRows)
		rd, err := Open(bytes.NewReader(file), int64(len(file)), by)
		if err != nil {
			t.Fatal(err)
		}
		var buf []byte
		words, null, err := rd.Words(0, rd.Find("hash"), nil, nil, &buf)
		if err != nil {
			t.Fatal(err)
		}
		want := b.Column(3).(*array.Uint64)
		for i := range 1000 {
			if isNull := null != nil && null[i]; isNull != want.IsNull(i) || !isNull && words[i] != want.Value(i) {
				t.Fatalf("nulls %d %%, row %d: %d %t, want %s", nulls, i, words[i], isNull, want.ValueStr(i))
			}
		}
		if _, _, err := rd.Words(0, rd.Find("few"), nil, nil, &buf); err == nil {
			t.Error("a column of texts was read as words")
		}
	}
}

// A file that was made by somebody else, or is damaged, is an error and never a panic.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	file := write(t, []arrow.RecordBatch{batch(r, 0, 300, 10), batch(r, 300, 200, 0)}, 400)
	if _, err := Open(bytes.NewReader(file), int64(len(file)), "somebody else"); err == nil {
		t.Error("the file of somebody else is read")
	}
	all := make([]int32, 500)
	for i := range all {
		all[i] = int32(i)
	}
	read := func(b []byte) error {
		rd, err := Open(bytes.NewReader(b), int64(len(b)), by)
		if err != nil {
			return err
		}
		p, err := rd.Picker([]string{"rec", "id", "few", "yes", "money", "big"})
		if err != nil {
			return err
		}
		for g := range rd.Groups() {
			n := min(rd.GroupRows(g), len(all))
			got, err := p.Pick(g, all[:max(n, 0)])
			if err != nil {
				return err
			}
			got.Release()
		}
		return nil
	}
	if err := read(file); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(file); n += 7 {
		if read(file[:n]) == nil {
			t.Fatalf("a file cut after %d of %d bytes is read", n, len(file))
		}
	}
	for range 4000 {
		b := slices.Clone(file)
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		_ = read(b) // an error or other values, as it may be; what counts is that nothing panics
	}
}

// What is collected row by row is what the engine reads.
func TestCollected(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	dir := t.TempDir()
	db, err := duck.Open(t.Context(), duck.Options{Threads: 1, SpillDir: t.TempDir(), Allowed: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: arrow.BinaryTypes.String}, {Name: "a", Type: arrow.PrimitiveTypes.Int64},
		{Name: "w", Type: arrow.PrimitiveTypes.Uint64}, {Name: "f", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	steps := map[string]func(i int, last int64) int64{
		"by one":   func(i int, last int64) int64 { return last + 1 },
		"gaps":     func(i int, last int64) int64 { return last + 1 + int64(r.IntN(3)*r.IntN(50)) },
		"back":     func(i int, last int64) int64 { return last + int64(r.IntN(7)) - 3 },
		"anything": func(i int, last int64) int64 { return int64(r.Uint64()) },
		"extremes": func(i int, last int64) int64 { return []int64{math.MinInt64, math.MaxInt64, 0}[i%3] },
	}
	for name, step := range steps {
		for _, values := range []int{0, 1, 2, 300} { // texts
			for _, rows := range []int{0, 1, 31, 33, 128, 129, 1000, 4097} {
				path := filepath.Join(dir, fmt.Sprintf("%s-%d-%d.parquet", name, values, rows))
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				out := NewFile(f, by, Columns(schema, func(arrow.Field) bool { return false }))
				var texts Runs
				var asc Ascending
				var words Words
				var flags Flags
				var want strings.Builder
				var last int64
				done := 0
				for part := 0; part < 2; part++ { // the collectors are used again
					n := rows / 2
					if part == 1 {
						n = rows - n
					}
					for i := range n {
						last = step(i, last)
						asc.Add(last)
						tx := "NULL"
						if k := r.IntN(values + 1); k < values {
							tx = fmt.Sprint("text ", k)
							texts.Add(tx, 1)
						} else {
							texts.AddNull(1)
						}
						w := "NULL"
						if r.IntN(3) > 0 {
							x := r.Uint64()
							words.Add(x)
							w = fmt.Sprint(x)
						} else {
							words.AddNull(1)
						}
						yes := r.IntN(5) > 0
						flags.Add(yes, 1)
						done++
						fmt.Fprintf(&want, "%s %d %s %t\n", tx, last, w, yes)
					}
					if n > 0 {
						if err := out.Add([]Page{texts.Page(), asc.Page(), words.Page(), flags.Page()}, int64(n)); err != nil {
							t.Fatal(err)
						}
						out.flush()
					}
				}
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
				f.Close()
				if got := engineReads(t, db, path); got != want.String() {
					t.Fatalf("%s, %d texts, %d rows:\n got %.300s\nwant %.300s", name, values, rows, got, want.String())
				}
			}
		}
	}
}

func engineReads(t *testing.T, db *duck.DB, path string) string {
	t.Helper()
	rows, err := db.Query(t.Context(), "SELECT coalesce(t, 'NULL') || ' ' || a || ' ' || coalesce(CAST(w AS VARCHAR), 'NULL') || ' ' || f FROM (SELECT *, file_row_number FROM read_parquet("+duck.Literal(path)+", file_row_number = true)) ORDER BY file_row_number")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out strings.Builder
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out.WriteString(s + "\n")
	}
	return out.String()
}
