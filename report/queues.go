package report

import (
	"cmp"
	"context"
	"database/sql"
	"math/big"
	"slices"
	"sort"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// queues counts the items of each queue with their money and ages.
func queues(ctx context.Context, db *duck.DB, in *Input) ([]Queue, error) {
	out := make([]Queue, len(queueOrder))
	at := map[string]*Queue{}
	for i, n := range queueOrder {
		out[i] = Queue{Queue: n, Acting: acting(n), Written: true, Amounts: []Money{}, Observed: []Money{}, Reasons: []QueueReason{}, Refused: []CodeCount{}}
		at[n] = &out[i]
	}
	sums, observedSums := moneySums{}, moneySums{}
	oldestOf := map[string]int64{} // microseconds since the epoch
	asOf := in.Bound.AsOfTime.UnixMicro()
	oldest := "min(since_us)"
	if hasGaps(in) {
		oldest = "min(since_us) FILTER (WHERE item_id NOT IN (SELECT item_id FROM outages))"
	}
	err := each(ctx, db, sqlQueueCounts.Render(duck.Slots{"oldest": oldest}), func(rows *sql.Rows) error {
		var q, code string
		var r QueueReason
		var observe, deferred, valued int64
		var sum sql.NullString
		var since sql.NullInt64
		if err := rows.Scan(&q, &r.Class, &r.Reason, &code, &r.Items, &observe, &deferred, &sum, &valued, &since); err != nil {
			return err
		}
		x := at[q]
		if x == nil {
			return breach("%d items are in the queue %q, which does not exist", r.Items, q)
		}
		x.Items += r.Items
		x.ObserveOnly += observe
		x.Deferred += deferred
		if since.Valid {
			oldestOf[q] = min(cmp.Or(oldestOf[q], since.Int64), since.Int64)
		}
		if since.Valid && q != "confirm" { // nobody waits for a confirmation
			age := (asOf - since.Int64) / 1_000_000
			r.OldestSecs = &age
			x.OldestSecs = older(x.OldestSecs, &age)
		}
		x.addReason(r)
		if !sum.Valid {
			return nil
		}
		if observe > 0 { // all of the group
			if err := observedSums.add(q, code, sum.String, 1, valued); err != nil {
				return err
			}
		}
		return sums.add(q, code, sum.String, 1, valued)
	})
	if err != nil {
		return nil, err
	}
	for q, us := range oldestOf {
		at[q].OldestSince = instant(us)
	}
	if _, fixed := amountScale(in.Bound.Job); !fixed {
		if err := sums.addDistinct(ctx, db, observedSums); err != nil {
			return nil, err
		}
	}
	sums.into(at, func(q *Queue) *[]Money { return &q.Amounts })
	observedSums.into(at, func(q *Queue) *[]Money { return &q.Observed })
	if hasGaps(in) {
		if err := outages(ctx, db, at); err != nil {
			return nil, err
		}
	}
	err = each(ctx, db, sqlQueueRefused.Render(nil), func(rows *sql.Rows) error {
		var q string
		var c CodeCount
		if err := rows.Scan(&q, &c.Code, &c.Items); err != nil {
			return err
		}
		at[q].Refused = append(at[q].Refused, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		r := out[i].Reasons
		sort.Slice(r, func(a, b int) bool {
			x, y := slices.Index(classOrder, r[a].Class), slices.Index(classOrder, r[b].Class)
			if x != y {
				return x < y
			}
			return r[a].Reason < r[b].Reason
		})
	}
	return out, nil
}

// addReason adds the items of one currency to those of the same class and reason.
func (q *Queue) addReason(r QueueReason) {
	for i := range q.Reasons {
		if x := &q.Reasons[i]; x.Class == r.Class && x.Reason == r.Reason {
			x.Items += r.Items
			x.OldestSecs = older(x.OldestSecs, r.OldestSecs)
			return
		}
	}
	q.Reasons = append(q.Reasons, r)
}

// older is the greater of two ages; nil is none.
func older(a, b *int64) *int64 {
	if a == nil || (b != nil && *b > *a) {
		return b
	}
	return a
}

// moneySums adds up the amounts of the items exactly, by queue and currency.
type moneySums map[[2]string]*moneySum

type moneySum struct {
	amount big.Rat
	items  int64
}

// add adds a decimal text so many times, for so many items.
func (m moneySums) add(queue, code, text string, times, items int64) error {
	r, err := parseExact(text)
	if err != nil {
		return err
	}
	s := m[[2]string{queue, code}]
	if s == nil {
		s = &moneySum{}
		m[[2]string{queue, code}] = s
	}
	s.amount.Add(&s.amount, r.Mul(r, new(big.Rat).SetInt64(times)))
	s.items += items
	return nil
}

// addDistinct adds the texts of amounts, where the job does not declare how many
// decimals there are and no type of the engine holds them all. A text that is no
// amount is not summed. observed takes those of items for observation only besides.
func (m moneySums) addDistinct(ctx context.Context, db *duck.DB, observed moneySums) error {
	return each(ctx, db, sqlQueueDistinct.Render(nil), func(rows *sql.Rows) error {
		var queue, code, text string
		var only bool
		var n int64
		if err := rows.Scan(&queue, &code, &text, &only, &n); err != nil {
			return err
		}
		if only {
			if err := observed.add(queue, code, text, n, n); err != nil {
				return err
			}
		}
		return m.add(queue, code, text, n, n)
	})
}

func (m moneySums) into(at map[string]*Queue, list func(*Queue) *[]Money) {
	for k, s := range m {
		x := list(at[k[0]])
		*x = append(*x, Money{Currency: k[1], Amount: amountText(&s.amount, k[1]), Items: s.items})
	}
	for _, q := range at {
		x := *list(q)
		sort.Slice(x, func(i, j int) bool { return x[i].Currency < x[j].Currency })
	}
}
