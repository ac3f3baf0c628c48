package classify

import (
	"cmp"
	"container/heap"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// turn is one requeue that waits for its place in the retry budget; times are
// microseconds since the epoch.
type turn struct {
	item   string
	next   int64 // its own next attempt
	expiry int64
	at     int64 // the place that it got; meaningful unless late
	late   bool  // it would expire before its place comes
}

const never = int64(1)<<62 - 1

// spread gives every requeue of one budget its place in time. While no more of them
// wait than the budget allows in one period, each keeps its own time. More of them are
// paced evenly, one every per/rows, so that no period of that length holds more than
// rows, nor all of them its first second: among those that may go already the one that
// expires first, and of equal ones the one with the lower item id. What would expire
// before its place is late, and takes none from others.
func spread(turns []turn, rows int64, per time.Duration) {
	if int64(len(turns)) <= rows || rows <= 0 {
		for i := range turns {
			turns[i].at = turns[i].next
			turns[i].late = turns[i].next >= turns[i].expiry
		}
		return
	}
	step := (per.Microseconds() + rows - 1) / rows
	order := make([]*turn, len(turns))
	for i := range turns {
		order[i] = &turns[i]
	}
	slices.SortFunc(order, func(a, b *turn) int { return cmp.Or(cmp.Compare(a.next, b.next), strings.Compare(a.item, b.item)) })
	var ready byExpiry
	for free := order[0].next; len(order) > 0 || len(ready) > 0; {
		if len(ready) == 0 {
			free = max(free, order[0].next)
		}
		for len(order) > 0 && order[0].next <= free {
			heap.Push(&ready, order[0])
			order = order[1:]
		}
		t := heap.Pop(&ready).(*turn)
		if t.late = free >= t.expiry; !t.late {
			t.at = free
			free += step
		}
	}
}

// byExpiry is a heap: the earliest expiry first.
type byExpiry []*turn

func (h byExpiry) Len() int { return len(h) }
func (h byExpiry) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].expiry, h[j].expiry), strings.Compare(h[i].item, h[j].item)) < 0
}
func (h byExpiry) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byExpiry) Push(x any)   { *h = append(*h, x.(*turn)) }
func (h *byExpiry) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// budgetOf is the budget of an account: its own, or the plain one, which all accounts
// without one share under the name "".
func budgetOf(l rules.Limits, account string) rules.RetryBudget {
	if account == "" {
		return rules.RetryBudget{Rows: l.RetryRows, Per: l.RetryPer}
	}
	return l.RetryBy[account]
}

// budgetAccount names the budget that an operation counts against: of the accounts with
// a budget of their own that should know it, the one with the lowest rate, since nobody
// can say which of several it will be sent to; ” where there is none.
func (c *classifier) budgetAccount() string {
	names := make([]string, 0, len(c.job.Limits.RetryBy))
	for n := range c.job.Limits.RetryBy {
		names = append(names, n)
	}
	step := func(n string) float64 {
		b := c.job.Limits.RetryBy[n]
		return float64(b.Per) / float64(max(b.Rows, 1))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(step(b), step(a)), strings.Compare(a, b)) })
	var b strings.Builder
	for _, n := range names {
		if k := match.Knows(c.o, c.res.Coverage, n); k != "" && k != "false" {
			fmt.Fprintf(&b, " WHEN %s THEN %s", k, duck.Literal(n))
		}
	}
	if b.Len() == 0 {
		return "''"
	}
	return "CASE" + b.String() + " ELSE '' END"
}

// budget spreads the requeues over time (V34). Those for observation only get places
// among themselves: they take none from what is acted on. It leaves the table
// budget_turns: item_id, account, observed, own_us, turn_us, late.
func (c *classifier) budget() error {
	l := c.job.Limits
	if l.RetryRows == 0 && len(l.RetryBy) == 0 {
		return nil
	}
	type budgetKey struct {
		account  string
		observed bool
	}
	groups := map[budgetKey][]turn{}
	rows, err := c.db.Query(c.ctx, duck.MustParse(sqlFiles, "sql/budget_items.sql").Render(duck.Slots{"account": c.budgetAccount()}))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k budgetKey
		var t turn
		var expiry sql.NullInt64
		if err := rows.Scan(&t.item, &t.next, &expiry, &k.observed, &k.account); err != nil {
			return err
		}
		if t.expiry = never; expiry.Valid {
			t.expiry = expiry.Int64
		}
		groups[k] = append(groups[k], t)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, turnSchema)
	defer b.Release()
	for k, turns := range groups {
		of := budgetOf(l, k.account)
		spread(turns, of.Rows, of.Per)
		for _, t := range turns {
			b.Field(0).(*array.StringBuilder).Append(t.item)
			b.Field(1).(*array.StringBuilder).Append(k.account)
			b.Field(2).(*array.BooleanBuilder).Append(k.observed)
			b.Field(3).(*array.Int64Builder).Append(t.next)
			b.Field(4).(*array.Int64Builder).Append(t.at)
			b.Field(5).(*array.BooleanBuilder).Append(t.late)
		}
	}
	if err := c.db.CopyBatch(c.ctx, b, "CREATE OR REPLACE TABLE budget_turns AS SELECT * FROM arrow_in"); err != nil {
		return err
	}
	return c.exec("budget", duck.Slots{"due": c.due(c.policy)})
}

var turnSchema = arrow.NewSchema([]arrow.Field{
	{Name: "item_id", Type: arrow.BinaryTypes.String}, {Name: "account", Type: arrow.BinaryTypes.String},
	{Name: "observed", Type: arrow.FixedWidthTypes.Boolean}, {Name: "own_us", Type: arrow.PrimitiveTypes.Int64},
	{Name: "turn_us", Type: arrow.PrimitiveTypes.Int64}, {Name: "late", Type: arrow.FixedWidthTypes.Boolean},
}, nil)
