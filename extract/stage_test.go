package extract

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pages"
	"github.com/recon-batch/recon-batch/rules"
)

// prints returns a column of UBIGINT pairs by operation id.
func prints(rows []Row, first, second string) map[string][2]uint64 {
	out := map[string][2]uint64{}
	for _, r := range rows {
		a, _ := r.V[first].(uint64)
		b, _ := r.V[second].(uint64)
		out[r.V["f_operation_id"].(string)] = [2]uint64{a, b}
	}
	return out
}

// comparison declares one compared field of one name on both sides.
func comparison(name string, as rules.Comparator) rules.Compare {
	return rules.Compare{Name: name, Operations: name, Results: name, As: as}
}

// p1, p2 are equal on both sides exactly where every compared field is plainly equal.
func TestPlainEquality(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	text, dec := rules.Field{Name: "x"}, decimalField("x", -1)
	local := rules.Field{Name: "x", Type: rules.Timestamp, Zone: paris}
	utc := rules.Field{Name: "x", Type: rules.Timestamp}
	trim := rules.Field{Name: "x", Normalise: []rules.Normalise{rules.NormTrim}}
	status := rules.Field{Name: "status", Column: "x", Map: map[string]rules.Status{"settled": rules.Succeeded, "refused": rules.Failed}}
	for _, c := range []struct {
		name    string
		o, r    rules.Field
		compare rules.Compare
		ox, rx  string
		equal   bool
		oc, rc  any // c0, where it has a column of its own
		obad    uint64
	}{
		{"C23 text", text, text, comparison("x", rules.AsText), "1E5", "100000", false, nil, nil, 0},
		{"C23 case", text, text, comparison("x", rules.AsText), "true", "TRUE", false, nil, nil, 0},
		{"equal text", text, text, comparison("x", rules.AsText), "4E5", "4E5", true, nil, nil, 0},
		{"null is null", text, text, comparison("x", rules.AsText), "", "", true, nil, nil, 0},
		{"null is no value", dec, dec, comparison("x", rules.AsDecimal), "", "0", false, nil, nil, 0},
		{"C29 spelling", dec, dec, comparison("x", rules.AsDecimal), "1.50E+2", "150.00", true, nil, nil, 0},
		{"scale does not matter", decimalField("x", 2), decimalField("x", 3), comparison("x", rules.AsDecimal), "12.30", "12.3", true, nil, nil, 0},
		{"C28 nothing rounded", dec, dec, comparison("x", rules.AsDecimal), "1.0079999999999999", "1.008", false, nil, nil, 0},
		{"C28 rounded", dec, dec, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsDecimal, Round: &rules.Round{Places: 2, Halves: "away_from_zero"}},
			"1.005", "1.01", true, "1.01", "1.01", 0},
		{"unreadable equals nothing", dec, dec, comparison("x", rules.AsDecimal), "12,5", "12,5", false, nil, nil, 2},
		{"C39 ambiguous", local, utc, comparison("x", rules.AsInstant), "2031-10-26T02:30:00", "2031-10-26T00:30:00Z", false, nil, nil, 0},
		{"ambiguous on both sides", local, local, comparison("x", rules.AsInstant), "2031-10-26T02:30:00", "2031-10-26T02:30:00", false, nil, nil, 0},
		{"C25 instants", local, utc, comparison("x", rules.AsInstant), "2031-04-01T12:00:00", "2031-04-01 10:00:00+00:00", true, nil, nil, 0},
		{"trimmed", trim, trim, comparison("x", rules.AsText), " a", "a ", true, "a", "a", 0},
		{"trimmed by the comparison", text, text, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsText, Normalise: []rules.Normalise{rules.NormIgnoreCase}},
			"A", "a", true, "a", "a", 0},
		{"C86 mapped", text, text, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsMapped, Map: map[string]string{"accepted": "settled"}},
			"accepted", "settled", true, "settled", nil, 0},
		{"not in the map", text, text, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsMapped, Map: map[string]string{"accepted": "settled"}},
			"accepted", "accepted", false, "settled", nil, 0},
		{"currency", rules.Field{Name: "x", Type: rules.Currency}, rules.Field{Name: "x", Type: rules.Currency}, comparison("x", rules.AsCurrency), "usd", "USD", true, nil, nil, 0},
		{"status as expected", text, status, rules.Compare{Name: "status", Results: "status", As: rules.AsStatus, Expect: rules.Succeeded}, "", "settled", true, nil, nil, 0},
		{"status unexpected", text, status, rules.Compare{Name: "status", Results: "status", As: rules.AsStatus, Expect: rules.Succeeded}, "", "refused", false, nil, nil, 0},
		{"status unmapped", text, status, rules.Compare{Name: "status", Results: "status", As: rules.AsStatus, Expect: rules.Succeeded}, "", "Settled", false, nil, nil, 0},
		{"semantic version", text, text, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsVersion, Scheme: rules.VersionSemantic},
			"1.0.0+a", "1.0.0+b", true, "a11.a10.a10~", "a11.a10.a10~", 0},
		{"no semantic version", text, text, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsVersion, Scheme: rules.VersionSemantic},
			"one", "one", false, nil, nil, 2},
		{"only its guard decides", dec, dec, rules.Compare{Name: "x", Operations: "x", Results: "x", As: rules.AsDecimal, OnlyIfEqual: "y"}, "1", "1.0", true, nil, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.job.Compare = []rules.Compare{c.compare}
			for _, s := range []struct {
				side rules.Side
				f    rules.Field
				x    string
			}{{rules.Operations, c.o, c.ox}, {rules.Results, c.r, c.rx}} {
				w.write(string(s.side)+".csv", "operation_id,x\na,\""+s.x+"\"\n")
				w.fields(s.side, rules.Field{Name: "operation_id"}, s.f)
				w.source(s.side, string(s.side)+".csv", nil)
			}
			_, ops := w.mustLoad(rules.Operations)
			_, res := w.mustLoad(rules.Results)
			o, r := prints(ops, "p1", "p2")["a"], prints(res, "p1", "p2")["a"]
			if (o == r) != c.equal {
				t.Errorf("%q and %q: plainly equal %v, want %v", c.ox, c.rx, o == r, c.equal)
			}
			if ops[0].V["c0"] != c.oc || res[0].V["c0"] != c.rc {
				t.Errorf("c0 = %v and %v, want %v and %v", ops[0].V["c0"], res[0].V["c0"], c.oc, c.rc)
			}
			if got := ops[0].V["bad"]; got != c.obad {
				t.Errorf("bad = %v, want %v", got, c.obad)
			}
		})
	}
}

// A fingerprint over named fields is equal for equal values, whatever their
// spelling, and never for an unreadable one.
func TestFingerprintComparator(t *testing.T) {
	w := newWorld(t)
	w.job.Compare = []rules.Compare{{Name: "content", As: rules.AsFingerprint, Fields: []string{"a", "n"}}}
	rows := "a,x,1.0\nb,x,1\nc,x,?\nd,x1,\ne,,\n"
	for _, side := range rules.Sides {
		w.write(string(side)+".csv", "operation_id,a,n\n"+rows)
		w.fields(side, rules.Field{Name: "operation_id"}, rules.Field{Name: "a"}, decimalField("n", -1))
		w.source(side, string(side)+".csv", nil)
	}
	_, ops := w.mustLoad(rules.Operations)
	_, res := w.mustLoad(rules.Results)
	if ops[0].V["c0"] != res[1].V["c0"] || len(ops[0].V["c0"].(string)) != 64 {
		t.Errorf("1.0 and 1 differ: %v, %v", ops[0].V["c0"], res[1].V["c0"])
	}
	if ops[2].V["c0"] == res[2].V["c0"] {
		t.Error("unreadable values have one fingerprint")
	}
	if ops[3].V["c0"] == ops[1].V["c0"] || ops[4].V["c0"] != res[4].V["c0"] {
		t.Error("nulls are not told from values, or differ among themselves")
	}
}

// C39: what is staged of a local time that exists twice or never.
func TestAmbiguousTimes(t *testing.T) {
	w := newWorld(t)
	w.write("left.csv", "operation_id,created_at\nU1,2031-10-26T02:30:00\nU4,2031-03-30T02:30:00\nU3,2031-10-26T03:30:00\nU9,2031\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id"}, rules.Field{Name: "created_at", Type: rules.Timestamp, Zone: zone(t, "Europe/Paris")})
	w.source(rules.Operations, "left.csv", nil)
	_, rows := w.mustLoad(rules.Operations)
	us := func(text string) int64 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixMicro()
	}
	for i, want := range []map[string]any{
		{"f_created_at": us("2031-10-26T00:30:00Z"), "late_created_at": us("2031-10-26T01:30:00Z"), "amb": uint64(2), "bad": uint64(0), "raw_created_at": "2031-10-26T02:30:00"},
		{"f_created_at": nil, "late_created_at": nil, "amb": uint64(2), "bad": uint64(0), "raw_created_at": "2031-03-30T02:30:00"},
		{"f_created_at": us("2031-10-26T02:30:00Z"), "late_created_at": nil, "amb": uint64(0), "bad": uint64(0), "raw_created_at": nil},
		{"f_created_at": nil, "late_created_at": nil, "amb": uint64(0), "bad": uint64(2), "raw_created_at": "2031"},
	} {
		for column, v := range want {
			if got := rows[i].V[column]; got != v {
				t.Errorf("row %d, %s = %v, want %v", i+1, column, got, v)
			}
		}
	}
}

// C46: the same text in another encoding and dialect is the same record to both
// sides' keys and comparisons.
func TestEncodingsMeet(t *testing.T) {
	w := newWorld(t)
	w.job.Compare = []rules.Compare{comparison("ref", rules.AsText)}
	w.write("left.csv", "operation_id,ref\na,Zoë\n")
	var b []byte
	for _, r := range "\ufeffoperation_id\tref\r\na\tZoë\r\n" {
		b = append(b, byte(r), byte(r>>8))
	}
	w.write("right.csv", string(b))
	for _, side := range rules.Sides {
		w.fields(side, rules.Field{Name: "operation_id"}, rules.Field{Name: "ref"})
	}
	w.source(rules.Operations, "left.csv", nil)
	w.source(rules.Results, "right.csv", func(s *rules.Source, _ *rules.Input) { s.CSV.Delimiter, s.CSV.Encoding = '\t', "utf-16le" })
	_, ops := w.mustLoad(rules.Operations)
	_, res := w.mustLoad(rules.Results)
	for _, c := range []string{"h0", "g0", "p1", "p2", "w1", "w2"} {
		if ops[0].V[c] != res[0].V[c] {
			t.Errorf("%s differs", c)
		}
	}
}

// The fingerprint of a record does not depend on the order of its columns, on a
// column without a value, on transport columns, or on the file that it is in.
func TestRecordFingerprint(t *testing.T) {
	w := newWorld(t)
	w.write("a.csv", "operation_id,memo,amount,page\nx,hello,1.0,1\ny,,2.0,1\n")
	w.write("b.csv", "amount,page,operation_id,memo,extra\n1.0,2,x,hello,\n")
	w.write("c.csv", "operation_id,amount,page\ny,2.0,3\n")
	w.write("d.csv", "operation_id,memo,amount,page\nx,hello,1.00,1\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id"}, decimalField("amount", 2))
	w.job.Operations.TransportColumns = []string{"page"}
	w.source(rules.Operations, "?.csv", nil)
	rel, rows := w.mustLoad(rules.Operations)
	print := func(i int) [2]any { return [2]any{rows[i].V["w1"], rows[i].V["w2"]} }
	if print(0) != print(2) || print(1) != print(3) {
		t.Error("order of columns, a column without values or the file decide the fingerprint")
	}
	if print(0) == print(4) {
		t.Error("1.0 and 1.00 are one record: the fingerprint is of the record as found")
	}
	if !slices.ContainsFunc(rel.Findings, func(f Finding) bool { return f.Code == "new_column" && strings.Contains(f.Text, "extra") }) {
		t.Errorf("a new column is not reported: %v", rel.Findings)
	}
}

// Splitting a file over several, and shuffling its columns and records, changes
// where a row comes from and nothing else.
func TestSplitAndShuffle(t *testing.T) {
	columns := []string{"operation_id", "amount", "currency", "memo"}
	rng := rand.New(rand.NewPCG(7, 11))
	var records [][]string
	for i := range 40 {
		records = append(records, []string{fmt.Sprintf("op%d", i%37), fmt.Sprintf("%d.%d", i, i%10), []string{"EUR", "usd", ""}[i%3], "memo"})
	}
	build := func(parts int, shuffle bool) ([]Row, *Relation) {
		w := newWorld(t)
		w.job.Compare = []rules.Compare{comparison("amount", rules.AsDecimal)}
		order := []int{0, 1, 2, 3}
		list := slices.Clone(records)
		if shuffle {
			rng.Shuffle(4, func(i, j int) { order[i], order[j] = order[j], order[i] })
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		for p := range parts {
			var b strings.Builder
			line := func(r []string) {
				for n, i := range order {
					if n > 0 {
						b.WriteByte(',')
					}
					b.WriteString(r[i])
				}
				b.WriteByte('\n')
			}
			line(columns)
			for i, r := range list {
				if i%parts == p {
					line(r)
				}
			}
			w.write(fmt.Sprintf("part%d.csv", p), b.String())
		}
		w.fields(rules.Operations, rules.Field{Name: "operation_id"}, decimalField("amount", 2), rules.Field{Name: "currency", Type: rules.Currency})
		w.source(rules.Operations, "part*.csv", nil)
		rel, rows := w.mustLoad(rules.Operations)
		return rows, rel
	}
	content := func(rows []Row) []string {
		var out []string
		for _, r := range rows {
			out = append(out, fmt.Sprint(r.V["h0"], r.V["g0"], r.V["p1"], r.V["p2"], r.V["w1"], r.V["w2"], r.V["f_currency"]))
		}
		slices.Sort(out)
		return out
	}
	one, rel := build(1, false)
	for _, parts := range []int{1, 3, 5} {
		rows, split := build(parts, true)
		if !slices.Equal(content(one), content(rows)) {
			t.Errorf("%d shuffled parts give other rows", parts)
		}
		for i, total := range split.Totals {
			if total.Sum.Cmp(rel.Totals[i].Sum) != 0 || total.Rows != rel.Totals[i].Rows || total.Currency != rel.Totals[i].Currency {
				t.Errorf("%d parts: total %v, want %v", parts, total, rel.Totals[i])
			}
		}
	}
}

// The keys that repeat over all files of a side.
func TestRepeated(t *testing.T) {
	w := newWorld(t)
	w.write("a.csv", "operation_id\nx\ny\n")
	w.write("b.csv", "operation_id\nx\nz\n\"\"\n\"\"\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id"})
	w.source(rules.Operations, "?.csv", nil)
	rel, rows := w.mustLoad(rules.Operations)
	for _, column := range []string{"h0", "hx"} {
		var n int64
		var h uint64
		if err := w.db.Scan(t.Context(), "SELECT count(*), any_value(h) FROM read_parquet('"+rel.Repeated[column]+"')", &n, &h); err != nil {
			t.Fatal(err)
		}
		if n != 1 || h != rows[0].V[column] {
			t.Errorf("%s: %d repeated, %d", column, n, h)
		}
	}
}

// The list of repeated keys is that of grouping all rows, few or many of them, also
// where low bits collide.
func TestRepeatedLists(t *testing.T) {
	for _, c := range []struct{ keys, twice, thrice int }{
		{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {3000, 7, 2}, {40_000, 0, 0}, {40_000, 300, 40}, {maxRepeated + 5, maxRepeated, 0}, {maxRepeated + 5, maxRepeated + 1, 3},
	} {
		var a, b strings.Builder
		a.WriteString("operation_id\n")
		b.WriteString("operation_id\nz\n") // not the same file again
		for i := range c.keys {
			fmt.Fprintf(&a, "k%d\n", i)
			if i < c.twice {
				fmt.Fprintf(&b, "k%d\n", i)
			}
			if i < c.thrice {
				fmt.Fprintf(&b, "k%d\n", i)
			}
		}
		w := newWorld(t)
		w.write("a.csv", a.String())
		w.write("b.csv", b.String())
		w.fields(rules.Operations, rules.Field{Name: "operation_id"})
		w.source(rules.Operations, "?.csv", nil)
		rel, _ := w.mustLoad(rules.Operations)
		var paths []string
		for _, f := range rel.Files {
			if f.Staged != "" { // a file without records has none
				paths = append(paths, f.Staged)
			}
		}
		truth := "(SELECT CAST(NULL AS UBIGINT) AS h0)"
		if len(paths) > 0 {
			truth = parquetRows(paths)
		}
		var listed, missing int
		err := w.db.Scan(t.Context(), fmt.Sprintf(`WITH truth AS (SELECT h0 AS h FROM %s WHERE h0 IS NOT NULL GROUP BY h0 HAVING count(*) > 1), list AS (SELECT h FROM read_parquet('%s'))
			SELECT (SELECT count(*) FROM list), (SELECT count(*) FROM ((FROM truth EXCEPT FROM list) UNION ALL (FROM list EXCEPT FROM truth)))`,
			truth, rel.Repeated["h0"]), &listed, &missing)
		if err != nil {
			t.Fatal(err)
		}
		if listed != c.twice || missing != 0 {
			t.Errorf("%+v: %d listed, %d differ from the truth", c, listed, missing)
		}
	}
}

// Many records over several batches keep their numbers, each once.
func TestBatches(t *testing.T) {
	const n = 3*batchRecords + 17
	var b strings.Builder
	b.WriteString("operation_id,amount\n")
	for i := range n {
		fmt.Fprintf(&b, "op%d,%d.25\n", i, i)
	}
	w := newWorld(t)
	w.write("big.csv", b.String())
	w.fields(rules.Operations, rules.Field{Name: "operation_id"}, decimalField("amount", 2))
	w.source(rules.Operations, "big.csv", nil)
	rel, err := Load(t.Context(), w.db, w.job, rules.Operations, Options{StageDir: w.stage, BaseDir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	var rows, wrong int64
	var sum string
	q := "SELECT count(DISTINCT rec), count(*) FILTER (WHERE k0 <> 'op' || (rec - 1)), CAST(sum(f_amount) AS VARCHAR) FROM " + rel.Layout.Relation(rel.Files[0].Staged)
	if err := w.db.Scan(t.Context(), q, &rows, &wrong, &sum); err != nil {
		t.Fatal(err)
	}
	if rows != n || wrong != 0 || sum != rel.Totals[0].Sum.FloatString(2) {
		t.Errorf("%d rows, %d wrong, sum %s against %s", rows, wrong, sum, rel.Totals[0].Sum.FloatString(2))
	}
}

// What is staged is named by content and plan: another scale is another file, and
// damage beside the file means that it is parsed again.
func TestStageCache(t *testing.T) {
	w := newWorld(t)
	w.write("left.csv", "operation_id,amount\na,1.005\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id"}, decimalField("amount", 3))
	w.source(rules.Operations, "left.csv", nil)
	first, _ := w.mustLoad(rules.Operations)
	w.job.Operations.Fields[1].Scale = 2
	second, rows := w.mustLoad(rules.Operations)
	if second.Files[0].Cached || second.Files[0].Staged == first.Files[0].Staged || rows[0].V["bad"] != uint64(2) {
		t.Errorf("another declaration was served from the cache: %+v", second.Files[0])
	}
	w.write("left.csv", "operation_id,amount\nb,1.005\n") // same size
	third, rows := w.mustLoad(rules.Operations)
	if third.Files[0].Cached || rows[0].V["k0"] != "b" {
		t.Errorf("changed bytes were served from the cache: %v", rows[0].V["k0"])
	}
	if err := os.Truncate(third.Files[0].Staged, 10); err != nil {
		t.Fatal(err)
	}
	if fourth, _ := w.mustLoad(rules.Operations); fourth.Files[0].Cached {
		t.Error("a damaged staged file was used")
	}
	left, err := filepath.Glob(filepath.Join(w.stage, ".part-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// An engine that stops half way leaves no staged file, and the error is its own.
func TestStageFailure(t *testing.T) {
	w := newWorld(t)
	w.write("left.csv", "operation_id\na\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id"})
	w.source(rules.Operations, "left.csv", nil)
	w.stage = t.TempDir() // which the engine is not allowed to use
	_, _, err := w.load(rules.Operations)
	if err == nil || fail.ClassOf(err) == fail.Input {
		t.Fatalf("error %v", err)
	}
	left, err := filepath.Glob(filepath.Join(w.stage, "*.parquet"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// A member that the header does not name, a very wide record and a narrow one are
// printed alike: what counts is which names hold which values.
func TestRecordPrintWays(t *testing.T) {
	cell := func(text string) Cell { return Cell{Text: []byte(text), Kind: CellText} }
	narrow := newRecordPrint([]string{"b", "a", "page"}, []string{"page"})
	a1, a2 := narrow.of(&rawRecord{cells: []Cell{cell("2"), cell("1"), cell("9")}})
	withExtra := newRecordPrint([]string{"b", "z"}, []string{"page"})
	b1, b2 := withExtra.of(&rawRecord{
		cells: []Cell{cell("2"), {}},
		extra: []NamedCell{{Name: "a", Cell: cell("1")}, {Name: "page", Cell: cell("7")}, {Name: "x"}},
	})
	header, cells := []string{}, []Cell{}
	for i := range maxPrintColumns + 5 {
		header, cells = append(header, fmt.Sprintf("c%d", i)), append(cells, Cell{})
	}
	wide := newRecordPrint(append(header, "a", "b"), nil)
	c1, c2 := wide.of(&rawRecord{cells: append(cells, cell("1"), cell("2"))})
	if a1 != b1 || a2 != b2 || a1 != c1 || a2 != c2 {
		t.Error("three ways to one record give different fingerprints")
	}
	n1, _ := narrow.of(&rawRecord{cells: []Cell{cell("2"), {}, {}}})
	m1, _ := narrow.of(&rawRecord{cells: []Cell{{}, cell("2"), {}}})
	if n1 == m1 {
		t.Error("the same value under another name gives the same fingerprint")
	}
	if again, _ := narrow.of(&rawRecord{cells: []Cell{cell("2"), cell("1"), {}}}); again != a1 {
		t.Error("what came before decides the fingerprint")
	}
}

// The pages that we write are read back by an independent reader, the engine, with
// every type, null pattern and length.
func TestParquetPages(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("operation_id,n,d,f,i,w,b\n")
	const rows = batchRecords + 9 // the last page is short and its bitmap ends inside a byte
	for i := range rows {
		fmt.Fprintf(&b, "op%d", i)
		for j, text := range []string{fmt.Sprint(-i), fmt.Sprintf("%d.25", i), "2031-02-28", "2031-04-01T10:00:00Z", fmt.Sprintf("-%d%037d", 1+i%9, i), []string{"true", "false"}[i%2]} {
			b.WriteByte(',')
			if (i+j)%(j+2) != 0 {
				b.WriteString(text)
			}
		}
		b.WriteByte('\n')
	}
	w.write("left.csv", b.String())
	w.fields(rules.Operations, rules.Field{Name: "operation_id"}, rules.Field{Name: "n", Type: rules.Integer}, decimalField("d", 2),
		rules.Field{Name: "f", Type: rules.Date}, rules.Field{Name: "i", Type: rules.Timestamp}, rules.Field{Name: "w", Type: rules.Integer}, rules.Field{Name: "b", Type: rules.Boolean})
	w.source(rules.Operations, "left.csv", nil)
	rel, got := w.mustLoad(rules.Operations)
	if len(got) != rows {
		t.Fatalf("%d rows, want %d", len(got), rows)
	}
	for i, r := range got {
		want := map[string]string{
			"f_n": fmt.Sprint(-i), "f_d": fmt.Sprintf("%d.25", i), "f_f": "22338", "f_i": "1932804000000000",
			"f_w": fmt.Sprintf("-%d%037d", 1+i%9, i), "f_b": fmt.Sprint(i%2 == 0), "rec": fmt.Sprint(i + 1), "k0": fmt.Sprintf("op%d", i),
		}
		for j, f := range []string{"f_n", "f_d", "f_f", "f_i", "f_w", "f_b"} {
			if (i+j)%(j+2) == 0 {
				want[f] = "<nil>"
			}
		}
		for column, text := range want {
			if v := fmt.Sprint(r.V[column]); v != text {
				t.Fatalf("record %d, %s = %s, want %s", i+1, column, v, text)
			}
		}
	}
	var types string
	q := "SELECT string_agg(type || ' ' || coalesce(converted_type, ''), ', ') FROM parquet_schema('" + rel.Files[0].Staged + "') WHERE name IN ('rec', 'h0', 'f_d', 'f_w', 'f_f', 'f_b', 'f_operation_id')"
	if err := w.db.Scan(t.Context(), q, &types); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"INT64 INT_64", "INT64 UINT_64", "FIXED_LEN_BYTE_ARRAY DECIMAL", "INT32 DATE", "BOOLEAN", "BYTE_ARRAY UTF8"} {
		if !strings.Contains(types, want) {
			t.Errorf("types %s lack %s", types, want)
		}
	}
}

// A row group ends by its rows or by its bytes, and no row is lost between two.
func TestParquetGroups(t *testing.T) {
	job := &rules.Job{Operations: rules.SideSpec{Side: rules.Operations, Fields: []rules.Field{{Name: "operation_id", Column: "operation_id", Type: rules.Text}}}}
	plan := newStagePlan(NewLayout(job, rules.Operations), &rules.Source{})
	cols := stagedColumns(plan.schema)
	for _, limit := range []struct {
		rows          int64
		bytes, groups int
	}{{2, 1 << 20, 3}, {100, 1, 5}, {100, 1 << 20, 1}} {
		f, err := os.CreateTemp(scratch.dir, "*.parquet")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out := pages.NewFile(f, StagedBy, cols)
		out.Limit(limit.rows, limit.bytes)
		c, e := newConverter(plan, []string{"operation_id"}), pages.NewEncoder(cols)
		for i := range int64(5) {
			b := &rawBatch{}
			b.reset(1)
			b.add(&Record{No: i + 1, Cells: []Cell{{Text: []byte("x"), Kind: CellText}}})
			rec := c.batch(b)
			if err := out.Add(e.Encode(rec), rec.NumRows()); err != nil {
				t.Fatal(err)
			}
			rec.Release()
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		var n, sum int64
		var groups int
		q := "SELECT count(*), CAST(sum(rec) AS BIGINT), (SELECT count(DISTINCT row_group_id) FROM parquet_metadata('" + f.Name() + "')) FROM read_parquet('" + f.Name() + "')"
		if err := scratch.db.Scan(t.Context(), q, &n, &sum, &groups); err != nil {
			t.Fatal(err)
		}
		if n != 5 || sum != 15 || groups != limit.groups {
			t.Errorf("%+v: %d rows, sum %d, %d groups", limit, n, sum, groups)
		}
	}
}
