package report

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// measured is a summary with 1000 operations in the period.
func measured() *Summary {
	old := int64(3 * 86400)
	return &Summary{
		Outcome: Outcome{Differences: 8},
		Sides: []Side{
			{Side: "operations", InPeriod: 1000, Rejected: 2, Counts: []Count{
				{Class: "correct", Reason: "equal", InPeriod: true, Rows: 993},
				{Class: "divergent", Reason: "field_differs", InPeriod: true, Rows: 6},
				{Class: "divergent", Reason: "version_behind", InPeriod: true, Rows: 1},
				{Class: "divergent", Reason: "field_differs", InPeriod: false, Rows: 500}}},
			{Side: "results", InPeriod: 994, Rejected: 1, Counts: []Count{
				{Class: "unexpected", Reason: "no_operation", InPeriod: true, Rows: 1},
				{Class: "divergent", Reason: "field_differs", InPeriod: true, Rows: 7}}},
		},
		Queues: []Queue{
			{Queue: "requeue", Items: 20, Amounts: []Money{{Currency: "EUR", Amount: "100.00", Items: 20}}},
			{Queue: "review", Items: 7, OldestSecs: &old, Reasons: []QueueReason{{Class: "divergent", Reason: "field_differs", Items: 7, OldestSecs: &old}}}},
	}
}

func TestGates(t *testing.T) {
	for _, c := range []struct {
		gate   rules.Gate
		value  string
		failed bool
	}{
		// 7 of 1000 is exactly 0.7 %, whatever the binary fraction of 0.7/100 is.
		{rules.Gate{Func: "share", Arg: "divergent", Op: ">", Value: 0.7 / 100}, "0.7 %", false},
		{rules.Gate{Func: "share", Arg: "divergent", Op: ">=", Value: 0.7 / 100}, "0.7 %", true},
		{rules.Gate{Func: "share", Arg: "divergent", Op: ">", Value: 0.0069}, "0.7 %", true},
		{rules.Gate{Func: "share", Arg: "divergent/version_behind", Op: ">", Value: 0}, "0.1 %", true},
		{rules.Gate{Func: "share", Arg: "unexpected", Op: ">", Value: 0.001}, "0.1 %", false},
		{rules.Gate{Func: "share", Arg: "requeue", Op: ">", Value: 0.01}, "2 %", true},
		{rules.Gate{Func: "count", Arg: "absent", Op: ">", Value: 0}, "0", false},
		{rules.Gate{Func: "count", Arg: "divergent", Op: ">=", Value: 7}, "7", true},
		{rules.Gate{Func: "count", Arg: "review", Op: ">", Value: 7}, "7", false},
		{rules.Gate{Func: "oldest", Arg: "review", Op: ">", Value: 3 * 86400}, "3 d", false},
		{rules.Gate{Func: "oldest", Arg: "review", Op: ">=", Value: 3 * 86400}, "3 d", true},
		{rules.Gate{Func: "oldest", Arg: "divergent", Op: ">", Value: 3600}, "3 d", true},
		{rules.Gate{Func: "oldest", Arg: "requeue", Op: ">", Value: 1}, "none", false},
		{rules.Gate{Func: "rejects", Op: ">", Value: 2}, "3", true},
		{rules.Gate{Func: "rejects", Op: ">", Value: 3}, "3", false},
		{rules.Gate{Func: "differences"}, "8", true},
	} {
		got, err := evaluateGates(measured(), []rules.Gate{c.gate})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Failed != c.failed || got[0].Value != c.value {
			t.Errorf("%s(%s) %s %v: value %s failed %t, want %s %t", c.gate.Func, c.gate.Arg, c.gate.Op, c.gate.Value, got[0].Value, got[0].Failed, c.value, c.failed)
		}
	}
}

// A gate that cannot be measured must never pass unseen.
func TestUnknownGates(t *testing.T) {
	for _, g := range []rules.Gate{{Func: "median", Arg: "review"}, {Func: "share", Arg: "lost"}, {Func: "oldest", Arg: "x"}, {Func: "rejects", Op: "<"}} {
		if _, err := evaluateGates(measured(), []rules.Gate{g}); fail.ClassOf(err) != fail.Usage {
			t.Errorf("%+v: got %v, want a usage error", g, err)
		}
	}
}

// A share over no operations: something is more than any share, nothing is none.
func TestShareOfNothing(t *testing.T) {
	s := measured()
	s.Sides[0].InPeriod = 0
	got, err := evaluateGates(s, []rules.Gate{{Func: "share", Arg: "review", Op: ">", Value: 0.99}, {Func: "share", Arg: "absent", Op: ">", Value: 0}})
	if err != nil {
		t.Fatal(err)
	}
	if !got[0].Failed || got[1].Failed {
		t.Errorf("got %+v", got)
	}
}

func TestBlastRadius(t *testing.T) {
	for _, c := range []struct {
		limit    rules.BlastLimit
		exceeded bool
	}{
		{rules.BlastLimit{Rows: 20}, false},
		{rules.BlastLimit{Rows: 19}, true},
		{rules.BlastLimit{Share: 0.02}, false},
		{rules.BlastLimit{Share: 0.0199}, true},
		{rules.BlastLimit{Amount: map[string]string{"EUR": "100.00"}}, false},
		{rules.BlastLimit{Amount: map[string]string{"EUR": "99.99"}}, true},
		{rules.BlastLimit{Amount: map[string]string{"USD": "0.00"}}, false},
	} {
		got, err := evaluateLimits(measured(), map[string]rules.BlastLimit{"requeue": c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Exceeded != c.exceeded {
			t.Errorf("%+v: got %+v, want exceeded %t", c.limit, got, c.exceeded)
		}
	}
}

// A share on the boundary never fails a gate with >, whatever n and d.
func TestBoundaryShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenths := rapid.IntRange(1, 1000).Draw(t, "tenths of a percent")
		k := rapid.Int64Range(1, 1_000_000).Draw(t, "thousands of rows")
		s := &Summary{Sides: []Side{{InPeriod: 1000 * k, Counts: []Count{{Class: "absent", Reason: "no_result", InPeriod: true, Rows: int64(tenths) * k}}}, {}}}
		g := rules.Gate{Func: "share", Arg: "absent", Op: ">", Value: float64(tenths) / 10 / 100}
		got, err := evaluateGates(s, []rules.Gate{g})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Failed {
			t.Fatalf("%d of %d is not more than %v", int64(tenths)*k, 1000*k, g.Value)
		}
		s.Sides[0].Counts[0].Rows++
		if got, _ = evaluateGates(s, []rules.Gate{g}); !got[0].Failed {
			t.Fatalf("one row more is more")
		}
	})
}

func TestExactText(t *testing.T) {
	for _, c := range []struct{ in, currency, want string }{
		{"12.5", "EUR", "12.50"}, {"12", "JPY", "12"}, {"12.345", "EUR", "12.345"}, {"-0.01", "USD", "-0.01"}, {"1", "KWD", "1.000"}, {"7.10", "", "7.1"},
		{"99999999999999999999999999.99", "EUR", "99999999999999999999999999.99"},
	} {
		r, err := parseExact(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := amountText(r, c.currency); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.in, c.currency, got, c.want)
		}
		if back, _ := parseExact(c.want); back.Cmp(r) != 0 {
			t.Errorf("%s is not %s", c.want, c.in)
		}
	}
	for _, bad := range []string{"", "1e3", "1/3", "0x10", ".5", "NaN", " 1", "1."} {
		if _, err := parseExact(bad); err == nil {
			t.Errorf("%q was read as a number", bad)
		}
	}
	if got := grouped("-1234567.50"); got != "-1,234,567.50" {
		t.Error(got)
	}
	if got := exactNumber(0.003); got.Cmp(big.NewRat(3, 1000)) != 0 {
		t.Error(got)
	}
}

// The money of a queue is exact, and a text that is no amount is not summed:
// neither rounded, nor read as an exponent.
func TestQueueAmounts(t *testing.T) {
	w := newWorld(t).load()
	w.exec("DELETE FROM items")
	for i, value := range []string{"0.10", "0.20", "-0.30", "9999999999999999999999999999.99", "NULL", "12"} {
		w.exec(fmt.Sprintf("INSERT INTO items (item_id, queue, o_rid, value, currency, class, reason, observe_only, deferred) VALUES ('%d', 'review', 5, %s, 'EUR', 'divergent', 'field_differs', FALSE, FALSE)", i, value))
	}
	want := []Money{{Currency: "EUR", Amount: "10000000000000000000000000011.99", Items: 5}}
	if got := w.build().queue("review").Amounts; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Without a declared number of decimals every one counts.
	w = newWorld(t)
	for _, spec := range []*rules.SideSpec{&w.in.Bound.Operations, &w.in.Bound.Results} {
		spec.Field("amount").Scale = -1
	}
	w.load()
	w.exec("UPDATE items SET amount = '0.00000000000000000000001' WHERE item_id = 'i-3'")
	if got := w.build().queue("review").Amounts[0].Amount; got != "4.23450000000000000000001" {
		t.Errorf("got %s", got)
	}
	w.exec("DELETE FROM items")
	for i, text := range []string{"0.10", "1.005", "1e3", " 1.00", "1.0.0", "", "0x10", "1_000", "-12", "0.10"} {
		w.exec(fmt.Sprintf("INSERT INTO items (item_id, queue, o_rid, amount, currency, class, reason, observe_only, deferred) VALUES ('%d', 'review', 5, '%s', 'EUR', 'divergent', 'field_differs', FALSE, FALSE)", i, text))
	}
	want = []Money{{Currency: "EUR", Amount: "-10.795", Items: 4}}
	if got := w.build().queue("review").Amounts; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
