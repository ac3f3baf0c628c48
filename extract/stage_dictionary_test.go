package extract

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/pages"
	"github.com/recon-batch/recon-batch/rules"
)

// Columns of every number of values, with nulls or without, over batches that agree
// on the values or do not, are read back by the engine as they were, and those of
// few values as a dictionary.
func TestDictionaries(t *testing.T) {
	const rows = pages.GroupRows + batchRecords + 9 // two row groups, and a bitmap that ends inside a byte
	random := rand.New(rand.NewPCG(3, 4))
	columns := []struct {
		name       string
		values     int
		dictionary bool // in the first row group
		field      rules.Field
		text       func(i int) string // of row i; "" is null
	}{
		{"one", 1, true, rules.Field{}, func(int) string { return "charge" }},
		{"one_or_null", 1, true, rules.Field{}, func(i int) string { return []string{"", "EUR"}[i/3%2] }},
		{"two", 2, true, rules.Field{}, func(i int) string { return []string{"open", "settled long"}[i%2] }},
		{"runs", 3, true, rules.Field{}, func(i int) string { return fmt.Sprint("run", i/50_000) }},
		{"null", 0, false, rules.Field{}, func(int) string { return "" }},
		{"null_at_first", 1, true, rules.Field{}, func(i int) string { return []string{"", "late"}[min(1, i/batchRecords)] }},
		{"byte", 256, true, rules.Field{}, func(int) string { return fmt.Sprint("b", random.IntN(256)) }},
		{"wider", 300, true, rules.Field{}, func(int) string { return strings.Repeat("w", random.IntN(300)) }},
		{"other_in_each_batch", 3200, true, rules.Field{}, func(i int) string { return fmt.Sprint(i/batchRecords, "/", random.IntN(200)) }},
		{"too_many_at_last", 8000, false, rules.Field{}, func(i int) string { return fmt.Sprint(i/batchRecords, "/", random.IntN(500)) }},
		{"too_many_in_one", 9000, false, rules.Field{}, func(i int) string {
			if i/batchRecords == 7 {
				return fmt.Sprint(i)
			}
			return "few"
		}},
		{"unique", rows, false, rules.Field{}, func(i int) string { return fmt.Sprint("u", i) }},
		{"version", 12, true, rules.Field{Type: rules.Integer}, func(int) string { return fmt.Sprint(random.IntN(12) - 3) }},
		{"big", 2, true, rules.Field{Type: rules.Integer}, func(i int) string { return "-" + strings.Repeat("9", 37+i%2) }},
		{"fee", 40, true, decimalField("", 2), func(i int) string { return []string{"", fmt.Sprintf("-%d.25", random.IntN(40)+1)}[i%2] }},
		{"amount", rows, false, decimalField("", 2), func(i int) string { return fmt.Sprintf("%d.25", i) }},
		{"currency", 3, true, rules.Field{Type: rules.Currency}, func(int) string { return []string{"EUR", "USD", "JPY"}[random.IntN(3)] }},
	}
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("operation_id")
	fields := []rules.Field{{Name: "operation_id"}}
	for _, c := range columns {
		c.field.Name = c.name
		fields = append(fields, c.field)
		b.WriteString("," + c.name)
	}
	b.WriteByte('\n')
	want := make([][]string, rows)
	for i := range rows {
		fmt.Fprintf(&b, "op%d", i)
		for _, c := range columns {
			text := c.text(i)
			want[i] = append(want[i], text)
			b.WriteString("," + text)
		}
		b.WriteByte('\n')
	}
	w.write("left.csv", b.String())
	w.fields(rules.Operations, fields...)
	w.source(rules.Operations, "left.csv", nil)
	rel, err := Load(t.Context(), w.db, w.job, rules.Operations, Options{StageDir: w.stage, BaseDir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	staged := "'" + rel.Files[0].Staged + "'"
	var exprs []string
	for _, c := range columns {
		exprs = append(exprs, "coalesce(CAST(f_"+c.name+" AS VARCHAR), '')")
	}
	found, err := w.db.Query(t.Context(), "SELECT concat_ws(chr(31), "+strings.Join(exprs, ", ")+") FROM read_parquet("+staged+") ORDER BY rec")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	n := 0
	for ; found.Next(); n++ {
		var line string
		if err := found.Scan(&line); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(want[n], "\x1f"); line != text {
			t.Fatalf("record %d is %q, want %q", n+1, line, text)
		}
	}
	if err := found.Err(); err != nil || n != rows {
		t.Fatalf("%d rows, want %d (%v)", n, rows, err)
	}
	for _, c := range columns {
		var dictionary bool
		q := "SELECT dictionary_page_offset IS NOT NULL FROM parquet_metadata(" + staged + ") WHERE row_group_id = 0 AND path_in_schema = 'f_" + c.name + "'"
		if err := w.db.Scan(t.Context(), q, &dictionary); err != nil {
			t.Fatal(err)
		}
		if dictionary != c.dictionary {
			t.Errorf("%s, %d values: dictionary %v, want %v", c.name, c.values, dictionary, c.dictionary)
		}
	}
}

// The bytes of a staged file follow from the input alone: not from the number of
// threads, nor from which of them converts a batch.
func TestStagedBytes(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("operation_id,state,amount,note\n")
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 6*batchRecords + 11 {
		fmt.Fprintf(&b, "op%d,%s,%d.5,%d\n", i, []string{"", "open", "settled"}[random.IntN(3)], i, random.IntN(2000))
	}
	w.write("left.csv", b.String())
	w.fields(rules.Operations, rules.Field{Name: "operation_id"}, rules.Field{Name: "state"}, decimalField("amount", 2), rules.Field{Name: "note"})
	w.source(rules.Operations, "left.csv", nil)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	for _, threads := range []int{1, 4, 1, 3} {
		runtime.GOMAXPROCS(threads)
		if err := os.RemoveAll(w.stage); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(w.stage, 0o700); err != nil {
			t.Fatal(err)
		}
		rel, _ := w.mustLoad(rules.Operations)
		got, err := os.ReadFile(rel.Files[0].Staged)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !bytes.Equal(got, first) {
			t.Errorf("%d threads: another staged file", threads)
		}
	}
}
