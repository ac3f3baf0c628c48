package pipeline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// groupNights is a job by groups whose files of a day may come later.
const groupNights = `version: 1
job: payouts
timezone: UTC
period: {by: created_at, from: "{date}", until: "{date+1}"}
operations:
  sources:
    - name: shop
      path: "ops_{file_date}.csv"
      dates: {from: "{date-1}", until: "{date+1}"}
      need: late-ok
      coverage: {from: "{file_date}T00:00", until: "{file_date+1}T00:00"}
  fields: {operation_id: id, payout: payout, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency, created_at: {column: at, type: timestamp}}
results:
  sources:
    - name: psp
      path: "res_{file_date}.csv"
      dates: {from: "{date-1}", until: "{date+1}"}
      need: late-ok
      coverage: {account: psp, from: "{file_date}T00:00", until: "{file_date+1}T00:00"}
  fields: {remote_id: id, payout: payout, amount: {column: amount, type: decimal, scale: 2}, currency: currency, items: {column: items, type: integer}, created_at: {column: at, type: timestamp}}
match: [{pass: payout, group: [payout], same: [currency], sum: amount, count: {results: items}}]
compare: [{field: amount}, {field: currency}]
types: {"*": {window: {deadline: 20h}}}
outputs: {dir: out, formats: [parquet, ndjson, json]}
`

func (n *nights) ops(date string, rows ...string) {
	write(n.t, filepath.Join(n.dir, "ops_"+date+".csv"), "id,payout,state,amount,currency,at\n"+strings.Join(rows, "\n")+"\n")
}

func (n *nights) results(date string, rows ...string) {
	write(n.t, filepath.Join(n.dir, "res_"+date+".csv"), "id,payout,amount,currency,items,at\n"+strings.Join(rows, "\n")+"\n")
}

// verdicts tells class and reason of every row of a run by the id in its first column.
func (n *nights) verdicts(res *Result) map[string]string {
	n.t.Helper()
	db, err := duck.Open(n.t.Context(), duck.Options{Allowed: []string{n.folder(res)}})
	if err != nil {
		n.t.Fatal(err)
	}
	defer db.Close()
	out := map[string]string{}
	for _, side := range rules.Sides {
		path := filepath.Join(n.folder(res), string(side)+".parquet")
		rows, err := db.Query(n.t.Context(), "SELECT CAST(file AS VARCHAR), record, CAST(class AS VARCHAR) || '/' || CAST(reason AS VARCHAR) FROM read_parquet("+duck.Literal(path)+")")
		if err != nil {
			n.t.Fatal(err)
		}
		for rows.Next() {
			var file, verdict string
			var record int
			if err := rows.Scan(&file, &record, &verdict); err != nil {
				n.t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(n.dir, file))
			if err != nil {
				n.t.Fatal(err)
			}
			id, _, _ := strings.Cut(strings.Split(string(text), "\n")[record], ",")
			out[id] = verdict
		}
		if err := rows.Err(); err != nil {
			n.t.Fatal(err)
		}
		rows.Close()
	}
	return out
}

func (n *nights) wantVerdicts(res *Result, want string) {
	n.t.Helper()
	got := n.verdicts(res)
	for _, line := range strings.Split(want, "; ") {
		id, verdict, _ := strings.Cut(line, " ")
		if got[id] != verdict {
			n.t.Errorf("%s: %s is %s, want %s", res.Manifest.BusinessDate, id, got[id], verdict)
		}
	}
}

// TestGroupsOverTwoNights: a group that lacks a member is called incomplete only where
// the member would have been seen; its rows are carried forward until it is whole, by the
// day of its own operations and by that of the others (V16).
func TestGroupsOverTwoNights(t *testing.T) {
	n := &nights{t: t, dir: t.TempDir(), job: groupNights}
	// a waits for b of the next day. c has a fellow of the day before, whose file is late.
	// d lacks one that nothing accounts for. e's payout has another amount, and f is alone.
	n.ops("2031-03-04", "a,po-1,awaiting_confirmation,10.00,EUR,2031-03-04T12:00:00Z", "c,po-2,awaiting_confirmation,10.00,EUR,2031-03-04T02:00:00Z",
		"d,po-3,awaiting_confirmation,10.00,EUR,2031-03-04T12:00:00Z", "e,po-4,awaiting_confirmation,10.00,EUR,2031-03-04T12:00:00Z", "f,po-5,awaiting_confirmation,10.00,EUR,2031-03-04T01:00:00Z")
	n.results("2031-03-03")
	n.results("2031-03-04", "p2,po-2,30.00,EUR,2,2031-03-04T03:00:00Z", "p3,po-3,20.00,EUR,2,2031-03-04T21:00:00Z", "p4,po-4,9.50,EUR,1,2031-03-04T21:00:00Z")
	res := n.run("2031-03-04", "", Allowed{})
	n.wantVerdicts(res, "a not_due/within_window; c ambiguous/coverage_incomplete; p2 ambiguous/coverage_incomplete; "+
		"d divergent/incomplete_group; p3 divergent/incomplete_group; e divergent/amount_group_differs; p4 divergent/amount_group_differs; f absent/no_result")
	if got := n.ids(res, "review"); got != "c d e f" {
		t.Errorf("review: %s", got)
	}

	// The late file is there, and the next day.
	n.ops("2031-03-03", "g,po-2,awaiting_confirmation,20.00,EUR,2031-03-03T23:00:00Z")
	n.ops("2031-03-05", "b,po-1,awaiting_confirmation,20.00,EUR,2031-03-05T12:00:00Z")
	n.results("2031-03-05", "p1,po-1,30.00,EUR,2,2031-03-05T15:00:00Z")
	again := n.run("2031-03-04", "", Allowed{})
	n.wantVerdicts(again, "a correct/equal; b correct/equal; p1 correct/equal; c correct/equal; g correct/equal; p2 correct/equal; d divergent/incomplete_group; f absent/no_result")
	next := n.run("2031-03-05", "", Allowed{})
	n.wantVerdicts(next, "a correct/equal; b correct/equal; p1 correct/equal; c not_applicable/out_of_period; p2 not_applicable/out_of_period; d not_applicable/out_of_period")
	if got := n.ids(next, "review"); got != "" {
		t.Errorf("review of the next night: %s", got)
	}
}

// groupJob is a job by groups over two files, with lines for its passes and for more.
func groupJob(match, more string) string {
	return `version: 1
job: groups
timezone: UTC
operations:
  sources: [{name: shop, path: "ops*.csv", coverage: complete}]
  fields: {operation_id: id, payout: payout, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency}
results:
  sources: [{name: psp, path: "res*.csv", coverage: complete}]
  fields: {remote_id: id, payout: payout, amount: {column: amount, type: decimal, scale: 2}, fee: {column: fee, type: decimal, scale: 2}, currency: currency}
match:
  - ` + match + `
compare: [{field: amount}, {field: currency}]
outputs: {dir: out, formats: [parquet, ndjson, json]}
types: {"*": {owner: finance}}
` + more
}

const groupHead = "id,payout,state,amount,currency\n"

// TestGroupItems: one item a group says what its sums are, and which rows would close it;
// a correct group has one confirmation for each operation; hidden amounts stay hidden.
func TestGroupItems(t *testing.T) {
	n := &nights{t: t, dir: t.TempDir(), job: groupJob("{pass: payout, group: [payout], same: [currency], sum: amount}", "")}
	var ops, res string
	group := func(id string, result string, amounts ...string) {
		for i, a := range amounts {
			ops += fmt.Sprintf("%s%d,%s,awaiting_confirmation,%s,EUR\n", id, i+1, id, a)
		}
		res += fmt.Sprintf("r-%s,%s,%s,0.00,EUR\n", id, id, result)
	}
	group("one", "40.00", "10.00", "20.00", "30.00")     // without the second
	group("two", "9.00", "1.00", "2.00", "4.00", "8.00") // without the second and the third
	group("more", "19.00", "5.00", "7.00")               // with another of the second
	group("same", "5.00", "5.00", "5.00", "5.00")        // without two of three equal ones
	group("none", "5.00", "3.00", "3.33")                // nothing explains it
	group("good", "6.00", "1.00", "5.00")                // correct
	write(t, filepath.Join(n.dir, "ops.csv"), groupHead+ops)
	write(t, filepath.Join(n.dir, "res.csv"), "id,payout,amount,fee,currency\n"+res)
	out := n.run("2031-03-04", "", Allowed{})
	said := map[string]string{}
	for _, x := range n.items(out, "review") {
		id := fmt.Sprint(x["operation_id"])
		said[strings.TrimRight(id, "0123456789")] = fmt.Sprint(x["advice"])
		if x["reason"] == "amount_group_differs" {
			evidence, _ := x["evidence"].([]any)
			if want := strings.Count(ops, ","+strings.TrimRight(id, "0123456789")+",") + 1; len(evidence) != want {
				t.Errorf("%s: evidence of %d records, want %d", id, len(evidence), want)
			}
		}
	}
	for id, want := range map[string]string{
		"one":  "has 3 operations with the sum 60.00 and 1 result with the sum 40.00: a difference of -20.00. A hint, by which nothing is linked: without operations ops.csv record 2 the sums would agree.",
		"two":  "without operations ops.csv record 5 and operations ops.csv record 6 the sums would agree.",
		"more": "with another one like operations ops.csv record 9 the sums would agree.",
		"same": "the sums would agree, which is one of 3 such choices.",
		"none": "No row, and no two rows of one side, explain the difference.",
	} {
		if !strings.Contains(said[id], want) {
			t.Errorf("%s: %q, want %q", id, said[id], want)
		}
	}
	if len(said) != 5 || len(n.items(out, "review")) != 5 {
		t.Errorf("%d items for 5 groups", len(n.items(out, "review")))
	}
	for _, q := range out.Summary.Queues {
		if q.Queue == "confirm" && q.Items != 2 {
			t.Errorf("%d confirmations of a correct group of 2 operations", q.Items)
		}
	}
	if p := out.Summary.Passes[0]; p.Kind != report.GroupPass || p.Groups != 6 || p.Operations != 16 || p.Results != 6 {
		t.Errorf("the pass: %+v", p)
	}

	t.Setenv("GROUP_KEY", "0123456789abcdef0123456789abcdef")
	hidden := n.run("2031-03-05", "redact: {key: {env: GROUP_KEY}, fields: {amount: token}}", Allowed{})
	for _, x := range n.items(hidden, "review") {
		if text := fmt.Sprint(x["advice"]); strings.Contains(text, "sum ") || strings.Contains(text, "difference of") {
			t.Errorf("hidden amounts are told: %s", text)
		}
	}

	items := map[string]bool{}
	for _, id := range []string{"one1", "one2", "one3", "r-one"} {
		list := explained(t, n, "2031-03-04", id)
		if len(list) != 1 || list[0].Group == nil {
			t.Fatalf("%s: %+v", id, list)
		}
		e, g := list[0], list[0].Group
		if g.Item != "" {
			items[g.Item+" "+g.Queue] = true
		}
		for _, p := range e.Proposals {
			items[p.Item+" "+p.Queue] = true
		}
		if g.Operations != 3 || g.Results != 1 || len(g.Fellows)+len(e.Partners)+1 != 4 || !strings.Contains(g.Text, "without operations ops.csv record 2") ||
			!strings.Contains(e.Meaning, "(V16)") || !strings.Contains(e.Passes[0].Words, "groups of all rows") || len(e.Change) == 0 {
			t.Errorf("%s: %+v %+v", id, g, e)
		}
	}
	if len(items) != 1 {
		t.Errorf("the rows of one group name the items %v", items)
	}
}

// explained explains a row of the current run of a date.
func explained(t *testing.T, n *nights, date, id string) []Explanation {
	t.Helper()
	path := filepath.Join(n.dir, "job.yaml")
	write(t, path, n.job+"\n")
	job, err := rules.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	_, list, err := Explain(t.Context(), Options{Job: job, BusinessDate: date, Out: filepath.Join(n.dir, "out"), Threads: 1}, "", id)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// groupRow is a row of either side.
type groupRow struct {
	id, payout string
	cents      int64
	currency   string
}

// groupRows are random groups, with a trouble in some.
func groupRows(r *rand.Rand) (ops, res []groupRow) {
	for g := range 40 {
		payout, currency := fmt.Sprintf("po-%d", g), []string{"EUR", "USD"}[r.IntN(2)]
		total := int64(0)
		for i := range 1 + r.IntN(4) {
			cents := int64(r.IntN(9000)) - 1000
			total += cents
			ops = append(ops, groupRow{fmt.Sprintf("o%d-%d", g, i), payout, cents, currency})
		}
		results := 1 + r.IntN(2)
		for i := range results {
			cents := total
			if i < results-1 {
				cents = int64(r.IntN(3000))
			}
			total -= cents
			res = append(res, groupRow{fmt.Sprintf("r%d-%d", g, i), payout, cents, currency})
		}
		switch r.IntN(6) {
		case 0:
			res[len(res)-1].cents += int64(1 + r.IntN(5))
		case 1:
			res[len(res)-1].currency = "JPY"
		case 2:
			ops[len(ops)-1].payout = ""
		case 3:
			res = res[:len(res)-results]
		}
	}
	return ops, res
}

func groupCSV(head string, rows []groupRow, line func(groupRow) string) string {
	text := head
	for _, x := range rows {
		text += line(x) + "\n"
	}
	return text
}

func resLine(x groupRow) string {
	return fmt.Sprintf("%s,%s,%s,0.00,%s", x.id, x.payout, money(x.cents), x.currency)
}

func abs(n int64) int64 { return max(n, -n) }

func money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%d.%02d", sign, abs(cents)/100, abs(cents)%100)
}

// TestGroupsMetamorphic: the verdicts of groups do not depend on the order of rows, on
// how files are cut, on rows that have nothing to do with them, nor on the unit of the
// amounts; with the sides swapped a group keeps its verdict.
func TestGroupsMetamorphic(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1031))
	ops, res := groupRows(r)
	line := func(x groupRow) string {
		return fmt.Sprintf("%s,%s,s,%s,%s", x.id, x.payout, money(x.cents), x.currency)
	}
	resHead := "id,payout,amount,fee,currency\n"
	judge := func(ops, res []groupRow, cut bool) map[string]string {
		n := &nights{t: t, dir: t.TempDir(), job: groupJob("{pass: payout, group: [payout], same: [currency], sum: amount}", "may_be_empty: true\n")}
		half := len(ops)
		if cut {
			half /= 2
			write(t, filepath.Join(n.dir, "ops2.csv"), groupCSV(groupHead, ops[half:], line))
			write(t, filepath.Join(n.dir, "res2.csv"), groupCSV(resHead, res[len(res)/3:], resLine))
			res = res[:len(res)/3]
		}
		write(t, filepath.Join(n.dir, "ops1.csv"), groupCSV(groupHead, ops[:half], line))
		write(t, filepath.Join(n.dir, "res1.csv"), groupCSV(resHead, res, resLine))
		return n.verdicts(n.run("2031-03-04", "", Allowed{}))
	}
	want := judge(ops, res, false)
	seen := map[string]bool{}
	for _, v := range want {
		seen[v] = true
	}
	for _, v := range []string{"correct/equal", "divergent/amount_group_differs", "ambiguous/keys_disagree", "absent/no_result"} {
		if !seen[v] {
			t.Fatalf("the world shows no %s: %v", v, seen)
		}
	}
	same := func(what string, got map[string]string, f func(id, verdict string) string) {
		t.Helper()
		for id, v := range want {
			if w := f(id, v); got[id] != w {
				t.Errorf("%s: %s is %s, want %s", what, id, got[id], w)
			}
		}
	}
	as := func(_, v string) string { return v }
	shuffled := func(rows []groupRow) []groupRow {
		rows = slices.Clone(rows)
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}
	same("shuffled", judge(shuffled(ops), shuffled(res), false), as)
	same("cut into two files", judge(ops, res, true), as)
	scaled := func(rows []groupRow) []groupRow {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].cents *= 1000
		}
		return rows
	}
	same("a thousand times the amounts", judge(scaled(ops), scaled(res), false), as)
	more := func(rows []groupRow, id string) []groupRow {
		for i := range 20 {
			rows = append(slices.Clone(rows), groupRow{fmt.Sprintf("%s%d", id, i), fmt.Sprintf("other-%d", i/2), 100, "EUR"})
		}
		return rows
	}
	same("with unrelated rows", judge(more(ops, "xo"), more(res, "xr"), false), as)
	other := map[string]string{"absent/no_result": "unexpected/no_operation", "unexpected/no_operation": "absent/no_result"}
	same("with the sides swapped", judge(res, ops, false), func(_, v string) string {
		if o := other[v]; o != "" {
			return o
		}
		return v
	})
}

// TestGroupNetOfFees: an equation of each side; tolerances by currency and by share, the
// boundary included.
func TestGroupNetOfFees(t *testing.T) {
	for _, c := range []struct{ name, more, want string }{
		{"exact", "", "a correct/equal; b divergent/amount_group_differs; c divergent/amount_group_differs; d divergent/amount_group_differs"},
		{"by currency", `, tolerance: {absolute: {EUR: "0.05"}}`, "a correct/equal; b correct/within_tolerance; c divergent/amount_group_differs; d divergent/amount_group_differs"},
		{"by currency and share", `, tolerance: {absolute: {EUR: "0.05"}, relative: "1%"}`, "a correct/equal; b correct/within_tolerance; c divergent/amount_group_differs; d correct/within_tolerance"},
	} {
		n := &nights{t: t, dir: t.TempDir(), job: groupJob(`{pass: payout, group: [payout], same: [currency], equation: {operations: "sum(amount)", results: "sum(amount) + sum(fee)"}`+c.more+"}", "")}
		write(t, filepath.Join(n.dir, "ops.csv"), groupHead+"a,A,s,100.00,EUR\nb,B,s,100.00,EUR\nc,C,s,0.10,EUR\nd,D,s,100.00,USD\n")
		write(t, filepath.Join(n.dir, "res.csv"), "id,payout,amount,fee,currency\nra,A,95.20,4.80,EUR\nrb,B,95.15,4.80,EUR\nrc,C,0.04,0.00,EUR\nrd,D,99.00,0.00,USD\n")
		n.wantVerdicts(n.run("2031-03-04", "", Allowed{}), c.want)
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}
