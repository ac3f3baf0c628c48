package pipeline

import (
	"database/sql"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/report"
)

// sums prints a roll-forward: opening + new - cleared + changed = closing, items and
// amount, then since when.
func sums(o report.OpenItems) string {
	t := func(s report.OpenSum) string { return fmt.Sprintf("%d/%s", s.Items, s.Amount) }
	text := fmt.Sprintf("%s: %s + %s - %s + %s = %s", o.Currency, t(o.Opening), t(o.New), t(o.Cleared), t(o.Changed), t(o.Closing))
	for _, c := range o.Carried {
		text += fmt.Sprintf(" %s:%d/%s", c.Since[5:], c.Items, c.Amount)
	}
	return text
}

// everyDay lets a job read the files of all dates, so that what is open stays so.
func (n *nights) everyDay() *nights {
	n.job = strings.ReplaceAll(n.job, "ops_{date}.csv", "ops.csv")
	n.job = strings.ReplaceAll(n.job, "res_{date}.csv", "res.csv")
	return n
}

// state writes both files: id, amount of the operation and of the result ("" none).
func (n *nights) state(rows ...[3]string) {
	n.t.Helper()
	o, r := "id,key,kind,state,amount,currency,n,at\n", "id,key,remote,amount,currency,at\n"
	for _, x := range rows {
		o += fmt.Sprintf("%[1]s,k%[1]s,charge,awaiting_confirmation,%[2]s,EUR,1,2026-11-01T12:00:00Z\n", x[0], x[1])
		if x[2] != "" {
			r += fmt.Sprintf("%[1]s,k%[1]s,x%[1]s,%[2]s,EUR,2026-11-01T12:00:05Z\n", x[0], x[2])
		}
	}
	write(n.t, filepath.Join(n.dir, "ops.csv"), o)
	write(n.t, filepath.Join(n.dir, "res.csv"), r)
}

// Nights with known moves: items open, stay, change their class and amount, go, and
// carry the date on which they were first open; trend and changes tell the same.
func TestOpenItemsAreCarriedForward(t *testing.T) {
	n := newNights(t).everyDay()
	n.state([3]string{"a", "10.00", ""}, [3]string{"b", "20.00", "20.00"}, [3]string{"c", "5.00", "5.50"})
	first := n.run("2026-11-02", "", Allowed{})
	check := func(res *Result, open string, changes string) {
		t.Helper()
		var got []string
		for _, o := range res.Summary.Open {
			got = append(got, sums(o))
		}
		if text := strings.Join(got, "; "); text != open {
			t.Errorf("%s: open items\n%s, want\n%s", res.Manifest.BusinessDate, text, open)
		}
		text := "none"
		if c := res.Summary.Changes; c != nil {
			text = fmt.Sprintf("%s new %d gone %d changed %d older %d", c.BusinessDate[5:], c.New.Items, c.Gone.Items, c.Changed.Items, c.Older.Items)
		}
		if text != changes {
			t.Errorf("%s: changes %s, want %s", res.Manifest.BusinessDate, text, changes)
		}
		n.recount(res)
	}
	check(first, "EUR: 0/0.00 + 2/15.00 - 0/0.00 + 0/0.00 = 2/15.00 11-02:2/15.00", "none")

	// a is found; c stays as it was; d is new.
	n.state([3]string{"a", "10.00", "10.00"}, [3]string{"b", "20.00", "20.00"}, [3]string{"c", "5.00", "5.50"}, [3]string{"d", "7.00", ""})
	second := n.run("2026-11-03", "", Allowed{})
	check(second, "EUR: 2/15.00 + 1/7.00 - 1/10.00 + 0/0.00 = 2/12.00 11-02:1/5.00 11-03:1/7.00", "11-02 new 1 gone 1 changed 0 older 1")
	if s := second.Summary.Changes.Gone.Samples; len(s) != 1 || s[0].Amount != "10.00" || s[0].From == nil || s[0].From.Class != "absent" || s[0].To != nil {
		t.Errorf("gone: %+v", s)
	}

	// c is of another class and another amount: its result is gone. d is too old to be sent
	// again, and goes to a person.
	n.state([3]string{"b", "20.00", "20.00"}, [3]string{"c", "6.00", ""}, [3]string{"d", "7.00", ""})
	third := n.run("2026-11-04", "", Allowed{})
	check(third, "EUR: 2/12.00 + 0/0.00 - 0/0.00 + 0/1.00 = 2/13.00 11-02:1/6.00 11-03:1/7.00", "11-03 new 0 gone 0 changed 2 older 0")
	if s := third.Summary.Changes.Changed.Samples; len(s) != 2 || *s[0].From != (report.OpenState{Queue: "requeue", Class: "absent", Reason: "no_result"}) ||
		s[0].To.Queue != "review" || s[1].From.Class != "divergent" || s[1].To.Class != "absent" || s[1].Since != "2026-11-02" {
		t.Errorf("changed: %+v", s)
	}
	var trend []string
	for _, p := range third.Summary.Trend {
		trend = append(trend, fmt.Sprintf("%s %d/%d %s %d", p.BusinessDate[5:], p.Matched, p.Of, p.MatchRatio, p.Queues[0].Items))
	}
	if got := strings.Join(trend, ", "); got != "11-02 1/3 33.33 1, 11-03 2/4 50.00 2, 11-04 1/3 33.33 1" {
		t.Errorf("trend: %s", got)
	}
	if f := third.Manifest.Former; len(f) != 2 || !slices.Contains(f[0].For, forOpen) || slices.Contains(f[1].For, forOpen) || !slices.Contains(f[1].For, forTrend) {
		t.Errorf("read: %+v", f)
	}

	// What another former run says makes another run; the same one makes the same.
	if again := n.run("2026-11-04", "", Allowed{}); !again.NoOp || again.Manifest.RunID != third.Manifest.RunID {
		t.Error("the same night is another run")
	}
	n.state()
	n.run("2026-11-03", "    # again", Allowed{})
	n.state([3]string{"b", "20.00", "20.00"}, [3]string{"c", "6.00", ""}, [3]string{"d", "7.00", ""})
	if again := n.run("2026-11-04", "", Allowed{}); again.Manifest.RunID == third.Manifest.RunID {
		t.Error("a former run was revised, and the night is the same run")
	}

	// The comparison of two runs tells the same as the page of the later one.
	d, err := DiffRuns(t.Context(), n.folder(first), n.folder(third))
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Open; c == nil || c.New.Items != 1 || c.Gone.Items != 1 || c.Changed.Items != 1 || c.Older.Items != 0 || c.New.Amounts[0].Amount != "7.00" {
		t.Errorf("diff: %+v", c)
	}
}

// recount adds up open items, ages and account statements again from the Parquet files of
// the run, by queries of their own.
func (n *nights) recount(res *Result) {
	n.t.Helper()
	dir, s := n.folder(res), res.Summary
	db, err := duck.Open(n.t.Context(), duck.Options{Allowed: []string{dir}})
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	parquet := func(names ...string) string {
		var paths []string
		for _, x := range names {
			if _, err := os.Stat(filepath.Join(dir, x)); err == nil {
				paths = append(paths, duck.Literal(filepath.Join(dir, x)))
			}
		}
		return "read_parquet([" + strings.Join(paths, ", ") + "])"
	}
	want := func(what, query, got string) {
		n.t.Helper()
		var text sql.NullString
		if err := db.Scan(n.t.Context(), query, &text); err != nil {
			n.t.Fatal(err)
		}
		if text.String != got {
			n.t.Errorf("%s: %s: the files say %s, the report %s", s.BusinessDate, what, text.String, got)
		}
	}
	queues := parquet("queues/requeue.parquet", "queues/review.parquet", "queues/compensate.parquet", "queues/close.parquet")
	const sum = "coalesce(string_agg(c || ' ' || n || ' ' || a, ', ' ORDER BY c), '') FROM (SELECT coalesce(currency, '') AS c, count(*) AS n, sum(CAST(amount AS DECIMAL(38,2))) AS a FROM "
	var closing []string
	for _, o := range s.Open {
		if o.Closing.Items > 0 {
			closing = append(closing, fmt.Sprintf("%s %d %s", o.Currency, o.Closing.Items, o.Closing.Amount))
		}
	}
	want("closing by queues", "SELECT "+sum+queues+" GROUP BY 1)", strings.Join(closing, ", "))
	want("closing by open.parquet", "SELECT "+sum+parquet("open.parquet")+" GROUP BY 1)", strings.Join(closing, ", "))
	ages, items := new(big.Rat), int64(0)
	for _, b := range s.Ageing {
		items += b.Items
		for _, m := range b.Amounts {
			r, _ := new(big.Rat).SetString(m.Amount)
			ages.Add(ages, r)
		}
	}
	want("ages", "SELECT count(*) || ' ' || coalesce(sum(CAST(amount AS DECIMAL(38,2))), 0.00) FROM "+queues, fmt.Sprintf("%d %s", items, ages.FloatString(2)))
	rows := map[string]int64{}
	for _, a := range s.Accounts {
		for _, l := range a.Lines {
			rows[l.Class+"/"+l.Reason] += l.OperationRows + l.ResultRows
		}
	}
	var lines []string
	for _, k := range slices.Sorted(func(yield func(string) bool) {
		for k := range rows {
			if !yield(k) {
				return
			}
		}
	}) {
		lines = append(lines, fmt.Sprintf("%s %d", k, rows[k]))
	}
	want("account statements", "SELECT string_agg(v || ' ' || n, ', ' ORDER BY v) FROM (SELECT class || '/' || reason AS v, count(*) AS n FROM "+
		parquet("operations.parquet", "results.parquet")+" WHERE in_period GROUP BY 1)", strings.Join(lines, ", "))
}

// A former run of an older version wrote no open.parquet and said nothing of open items:
// its queues are read, and since when they were open is not known.
func TestOpenItemsOfAnOlderVersion(t *testing.T) {
	n := newNights(t).everyDay()
	n.state([3]string{"a", "10.00", ""}, [3]string{"c", "5.00", "5.50"})
	first := n.run("2026-11-02", "", Allowed{})
	n.older(first)
	n.state([3]string{"a", "10.00", ""}, [3]string{"d", "7.00", ""})
	second := n.run("2026-11-03", "", Allowed{})
	if got, want := sums(second.Summary.Open[0]), "EUR: 2/15.00 + 1/7.00 - 1/5.00 + 0/0.00 = 2/17.00 11-02:1/10.00 11-03:1/7.00"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if c := second.Summary.Open[0].Carried; !c[0].Before || c[1].Before {
		t.Errorf("carried: %+v", c)
	}
	if p := second.Summary.Trend; len(p) != 2 || p[0].Of != 2 {
		t.Errorf("trend: %+v", p)
	}
}

// older makes a published run one of a version that had no open items.
func (n *nights) older(res *Result) {
	n.t.Helper()
	dir := n.folder(res)
	if err := os.Remove(filepath.Join(dir, report.OpenFile)); err != nil {
		n.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, reportName))
	if err != nil {
		n.t.Fatal(err)
	}
	for _, field := range []string{"account_statements", "open_items", "since_former", "ageing", "trend"} {
		if !strings.Contains(string(text), `"`+field+`"`) {
			n.t.Fatalf("report.json has no %s", field)
		}
		text = []byte(strings.Replace(string(text), `"`+field+`"`, `"not_`+field+`"`, 1))
	}
	write(n.t, filepath.Join(dir, reportName), string(text))
	m, was, err := ReadManifest(dir)
	if err != nil {
		n.t.Fatal(err)
	}
	m.Outputs = slices.DeleteFunc(m.Outputs, func(o OutputDigest) bool { return o.Path == report.OpenFile })
	for i := range m.Outputs {
		if m.Outputs[i].Path == reportName {
			m.Outputs[i].Size, m.Outputs[i].SHA256 = int64(len(text)), sha256Hex(text)
		}
	}
	out, err := encode(m)
	if err != nil {
		n.t.Fatal(err)
	}
	write(n.t, filepath.Join(dir, manifestName), string(out))
	edit(n.t, filepath.Join(filepath.Dir(filepath.Dir(dir)), chainName), was, sha256Hex(out))
}

// A former run that is damaged stops nobody: the report says that it does not show it.
func TestDamagedFormerRun(t *testing.T) {
	n := newNights(t).everyDay()
	n.state([3]string{"a", "10.00", ""})
	first := n.run("2026-11-02", "", Allowed{})
	edit(t, filepath.Join(n.folder(first), reportName), `"10.00"`, `"11.00"`)
	second := n.run("2026-11-03", "", Allowed{})
	n.wantExit(second, second.ExitCode, "former_unreadable: a former run cannot be read")
	if s := second.Summary; s.Changes != nil || len(s.Trend) != 1 || s.Open[0].Opening.Items != 0 {
		t.Errorf("what is damaged was read: %+v", s.Open)
	}
	if f := second.Manifest.Former; len(f) != 1 || !slices.Equal(f[0].For, []string{forUnreadable}) {
		t.Errorf("recorded: %+v", f)
	}
}
