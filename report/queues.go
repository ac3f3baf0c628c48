package report

import (
	"context"
	"database/sql"
	"math/big"
	"slices"
	"sort"
	"strconv"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// queues counts the items of each queue with their money and ages.
func queues(ctx context.Context, db *duck.DB, in *Input) ([]Queue, error) {
	out := make([]Queue, len(queueOrder))
	at := map[string]*Queue{}
	for i, n := range queueOrder {
		out[i] = Queue{Queue: n, Acting: acting(n), Written: true, Amounts: []Money{}, Reasons: []QueueReason{}, Refused: []CodeCount{}}
		at[n] = &out[i]
	}
	err := each(ctx, db, sqlQueueCounts.Render(nil), func(rows *sql.Rows) error {
		var q string
		var r QueueReason
		var observe, deferred int64
		if err := rows.Scan(&q, &r.Class, &r.Reason, &r.Items, &observe, &deferred); err != nil {
			return err
		}
		x := at[q]
		if x == nil {
			return breach("%d items are in the queue %q, which does not exist", r.Items, q)
		}
		x.Items += r.Items
		x.ObserveOnly += observe
		x.Deferred += deferred
		x.Reasons = append(x.Reasons, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := queueAmounts(ctx, db, in.Bound.Job, at); err != nil {
		return nil, err
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
	if err := queueAges(ctx, db, in, at); err != nil {
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

// queueAmounts adds up the amounts of the items, which are texts, exactly: in
// the engine where the job declares how many decimals there are, else in Go by
// distinct amount. A text that is no amount of that form is not summed.
func queueAmounts(ctx context.Context, db *duck.DB, job *rules.Job, at map[string]*Queue) error {
	scale, fixed := amountScale(job)
	q := sqlQueueDistinct.Render(nil)
	if fixed {
		// A text of no more characters than 18 digits leave before the mark fits 64 bits.
		q = sqlQueueAmounts.Render(duck.Slots{"scale": strconv.Itoa(scale), "short_scale": strconv.Itoa(min(scale, 18)), "short": strconv.Itoa(max(18-scale, 0))})
	}
	type key struct{ queue, currency string }
	sums, items := map[key]*big.Rat{}, map[key]int64{}
	err := each(ctx, db, q, func(rows *sql.Rows) error {
		var k key
		var text string
		var n int64
		if err := rows.Scan(&k.queue, &k.currency, &text, &n); err != nil {
			return err
		}
		r, err := parseExact(text)
		if err != nil {
			return err
		}
		if !fixed {
			r.Mul(r, new(big.Rat).SetInt64(n))
		}
		if sums[k] == nil {
			sums[k] = new(big.Rat)
		}
		sums[k].Add(sums[k], r)
		items[k] += n
		return nil
	})
	if err != nil {
		return err
	}
	for k, r := range sums {
		at[k.queue].Amounts = append(at[k.queue].Amounts, Money{Currency: k.currency, Amount: amountText(r, k.currency), Items: items[k]})
	}
	for _, x := range at {
		sort.Slice(x.Amounts, func(i, j int) bool { return x.Amounts[i].Currency < x.Amounts[j].Currency })
	}
	return nil
}

// ageField is the field that ages and periods go by: the instant of creation
// where it is declared, else the field of the period.
func ageField(job *rules.Job, side rules.Side) string {
	spec := job.Spec(side)
	names := []string{"created_at"}
	if job.Period != nil {
		names = append(names, job.Period.By)
	}
	for _, n := range names {
		if f := spec.Field(n); f != nil && f.Type == rules.Timestamp {
			return n
		}
	}
	return ""
}

// queueAges finds the oldest item of each queue and reason. The rows behind the
// items are residual as a rule; only if one is not are the staged columns of the
// whole side read.
func queueAges(ctx context.Context, db *duck.DB, in *Input, at map[string]*Queue) error {
	job := in.Bound.Job
	fo, fr := ageField(job, rules.Operations), ageField(job, rules.Results)
	if fo == "" && fr == "" {
		return nil
	}
	slots := duck.Slots{"operations": "res_o", "results": "res_r", "o_time": "CAST(NULL AS BIGINT)", "r_time": "CAST(NULL AS BIGINT)"}
	if fo != "" {
		slots["o_time"] = "o." + duck.Ident("f_"+fo)
	}
	if fr != "" {
		slots["r_time"] = "r." + duck.Ident("f_"+fr)
	}
	type oldest struct {
		queue, class, reason string
		us                   sql.NullInt64
	}
	read := func() (out []oldest, missing int64, err error) {
		err = each(ctx, db, sqlItemAges.Render(slots), func(rows *sql.Rows) error {
			var x oldest
			var n int64
			if err := rows.Scan(&x.queue, &x.class, &x.reason, &x.us, &n); err != nil {
				return err
			}
			out = append(out, x)
			missing += n
			return nil
		})
		return out, missing, err
	}
	found, missing, err := read()
	if err == nil && missing > 0 {
		slots["operations"], slots["results"] = "operations", "results"
		found, _, err = read()
	}
	if err != nil {
		return err
	}
	asOf := in.Bound.AsOfTime.UnixMicro()
	for _, o := range found {
		if !o.us.Valid {
			continue
		}
		age := (asOf - o.us.Int64) / 1_000_000
		x := at[o.queue]
		for i := range x.Reasons {
			if x.Reasons[i].Class == o.class && x.Reasons[i].Reason == o.reason {
				x.Reasons[i].OldestSecs = &age
			}
		}
		if x.OldestSecs == nil || age > *x.OldestSecs {
			x.OldestSecs = &age
		}
	}
	return nil
}
