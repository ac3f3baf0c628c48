package classify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

func minutes(n int64) int64 { return n * time.Minute.Microseconds() }

// Three thousand stuck operations and a budget of 500 in ten minutes: an hour, evenly,
// whoever expires first goes first.
func TestSpreadMakesNoStorm(t *testing.T) {
	const n, rows, per = 3000, 500, 10 * time.Minute
	turns := make([]turn, n)
	for i := range turns {
		turns[i] = turn{item: fmt.Sprintf("%04d", i), next: minutes(1), expiry: minutes(int64(10_000 - i))}
	}
	spread(turns, rows, per)
	var at []int64
	for i, x := range turns {
		if x.late {
			t.Fatalf("%s is late, and there is time for all", x.item)
		}
		if i > 0 && turns[i-1].at <= x.at {
			t.Fatalf("%s expires before %s and goes after it", x.item, turns[i-1].item)
		}
		at = append(at, x.at)
	}
	slices.Sort(at)
	for i := range at {
		if want := minutes(1) + int64(i)*per.Microseconds()/rows; at[i] != want {
			t.Fatalf("place %d is at %d, want %d", i, at[i], want)
		}
	}
}

// While the budget suffices nobody waits.
func TestSpreadWithinTheBudget(t *testing.T) {
	turns := []turn{{item: "a", next: minutes(3), expiry: never}, {item: "b", next: minutes(1), expiry: minutes(2)}, {item: "c", next: minutes(3), expiry: minutes(3)}}
	spread(turns, 3, time.Hour)
	if turns[0].at != minutes(3) || turns[1].at != minutes(1) || turns[0].late || turns[1].late || !turns[2].late {
		t.Errorf("got %+v", turns)
	}
}

// What would expire before its place takes none, and one that may go later does not
// hold up others.
func TestSpreadGivesNoPlaceToTheLate(t *testing.T) {
	turns := []turn{
		{item: "a", next: minutes(1), expiry: minutes(100)},
		{item: "b", next: minutes(1), expiry: minutes(5)},
		{item: "c", next: minutes(1), expiry: minutes(6)},
		{item: "d", next: minutes(50), expiry: minutes(51)},
	}
	spread(turns, 1, 10*time.Minute)
	want := []turn{
		{item: "a", next: minutes(1), expiry: minutes(100), at: minutes(11)},
		{item: "b", next: minutes(1), expiry: minutes(5), at: minutes(1)},
		{item: "c", next: minutes(1), expiry: minutes(6), late: true},
		{item: "d", next: minutes(50), expiry: minutes(51), at: minutes(50)},
	}
	if !slices.Equal(turns, want) {
		t.Errorf("got %+v", turns)
	}
}

// Whatever is asked for: no period of the budget's length holds more than its rows,
// nobody goes before his own time or after his expiry, and the order in which the items
// came decides nothing.
func TestSpreadKeepsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.Int64Range(1, 7).Draw(t, "rows")
		per := time.Duration(rapid.Int64Range(1, 90).Draw(t, "minutes")) * time.Minute
		turns := make([]turn, rapid.IntRange(1, 60).Draw(t, "items"))
		for i := range turns {
			next := minutes(rapid.Int64Range(0, 120).Draw(t, "next"))
			turns[i] = turn{item: fmt.Sprintf("%02d", i), next: next, expiry: next + minutes(rapid.Int64Range(1, 600).Draw(t, "lives"))}
		}
		other := slices.Clone(turns)
		rand.New(rand.NewPCG(1, uint64(len(turns)))).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		spread(turns, rows, per)
		spread(other, rows, per)
		slices.SortFunc(other, func(a, b turn) int { return compareText(a.item, b.item) })
		if !slices.Equal(turns, other) {
			t.Fatalf("another order, other places: %+v and %+v", turns, other)
		}
		var at []int64
		for _, x := range turns {
			if x.late {
				continue
			}
			if x.at < x.next || x.at >= x.expiry {
				t.Fatalf("%s goes at %d, outside %d to %d", x.item, x.at, x.next, x.expiry)
			}
			at = append(at, x.at)
		}
		slices.Sort(at)
		for i := int(rows); i < len(at); i++ {
			if at[i]-at[i-int(rows)] < per.Microseconds() {
				t.Fatalf("%d go within %s, the budget is %d", rows+1, per, rows)
			}
		}
	})
}

func compareText(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// An account with a budget of its own does not use that of the others.
func TestBudgetOfAccounts(t *testing.T) {
	l := rules.Limits{RetryRows: 500, RetryPer: time.Hour, RetryBy: map[string]rules.RetryBudget{"psp": {Rows: 7, Per: time.Minute}}}
	if b := budgetOf(l, "psp"); b.Rows != 7 || b.Per != time.Minute {
		t.Errorf("psp: %+v", b)
	}
	if b := budgetOf(l, ""); b.Rows != 500 || b.Per != time.Hour {
		t.Errorf("the others: %+v", b)
	}
}
