package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// AgeBucket counts the open items (see OpenItems) of one queue by their age at the
// reference time. All buckets of a queue together are its items. Every queue but confirm
// has every bucket, in the order of time.
type AgeBucket struct {
	Queue     string  `json:"queue"`
	Bucket    string  `json:"bucket"`        // 0-1d, 1-3d, 3-7d, 7-30d, 30d+; unknown: no time; waiting: a source proves nothing for their time, their age counts nowhere
	FromSecs  *int64  `json:"from_seconds"`  // half-open; null: none
	UntilSecs *int64  `json:"until_seconds"` // null: none
	Items     int64   `json:"items"`
	Amounts   []Money `json:"amounts"` // by currency
}

// ageBuckets are the buckets with their end in days; 0: none.
var ageBuckets = []struct {
	name        string
	from, until int64
}{{"0-1d", 0, 1}, {"1-3d", 1, 3}, {"3-7d", 3, 7}, {"7-30d", 7, 30}, {"30d+", 30, 0}, {"unknown", 0, 0}, {"waiting", 0, 0}}

const daySecs = 24 * 60 * 60

// ageCases are the branches of a CASE that names the bucket of an instant in microseconds.
func ageCases(asOf int64, since string) string {
	var cases strings.Builder
	for _, b := range ageBuckets {
		switch {
		case b.until > 0:
			fmt.Fprintf(&cases, " WHEN %s > %d THEN '%s'", since, asOf-b.until*daySecs*1_000_000, b.name)
		case b.from > 0:
			fmt.Fprintf(&cases, " ELSE '%s'", b.name)
		}
	}
	return cases.String()
}

// ageing counts the open items by age. What lies after the reference time has no age yet.
func (o *opened) ageing(ctx context.Context, in *Input) ([]AgeBucket, error) {
	groups, err := o.groups(ctx, sqlOpenAges, duck.Slots{"buckets": ageCases(in.Bound.AsOfTime.UnixMicro(), "since_us")})
	if err != nil {
		return nil, err
	}
	out := []AgeBucket{}
	for _, q := range queueOrder {
		if q == "confirm" {
			continue
		}
		for _, b := range ageBuckets {
			x := AgeBucket{Queue: q, Bucket: b.name, Amounts: []Money{}}
			if from, until := b.from*daySecs, b.until*daySecs; b.from > 0 || b.until > 0 {
				x.FromSecs = &from
				if b.until > 0 {
					x.UntilSecs = &until
				}
			}
			for _, g := range groups {
				if g.a != q || g.c != b.name {
					continue
				}
				x.Items += g.items
				if g.valued > 0 {
					x.Amounts = append(x.Amounts, Money{Currency: g.b, Amount: amountText(g.sum, g.b), Items: g.valued})
				}
			}
			out = append(out, x)
		}
	}
	return out, nil
}
