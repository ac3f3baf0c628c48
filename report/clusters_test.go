package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// crowd is a world with many exceptions; add appends a pair with both amounts.
type crowd struct {
	*world
	n int64
}

func newCrowd(t *testing.T) *crowd {
	w := newWorld(t)
	w.rows, w.link, w.item = map[rules.Side][]row{}, nil, nil
	w.in.Bound.Compare = []rules.Compare{{Name: "amount", Operations: "amount", Results: "amount"}, {Name: "email", Operations: "email", Results: "email"}, {Name: "entity", Operations: "entity", Results: "entity"}}
	return &crowd{world: w}
}

// pair adds a divergent pair; fields differ.
func (c *crowd) pair(at time.Time, fields, oAmount, rAmount, oEntity, rEntity, oEmail, rEmail string) {
	c.n++
	o := row{rec: c.n, id: fmt.Sprint("op-", c.n), key: fmt.Sprint("k-", c.n), entity: oEntity, email: oEmail, amount: oAmount, currency: "EUR", created: at,
		class: "divergent", reason: "field_differs", link: uint64(c.n), fields: fields}
	r := o
	r.remote, r.amount, r.entity, r.email = fmt.Sprint("ch-", c.n), rAmount, rEntity, rEmail
	if fields == "" {
		o.class, o.reason, r.class, r.reason, o.once, r.once = "correct", "equal", "correct", "equal", "proven", "proven"
	}
	c.rows[rules.Operations] = append(c.rows[rules.Operations], o)
	c.rows[rules.Results] = append(c.rows[rules.Results], r)
	c.link = append(c.link, [5]any{o.rid(), r.rid(), 0, true, c.n})
}

// alone adds a free row.
func (c *crowd) alone(side rules.Side, at time.Time, class, reason, key, amount string) {
	c.n++
	c.rows[side] = append(c.rows[side], row{rec: c.n, id: fmt.Sprint("op-", c.n), key: key, remote: fmt.Sprint("ch-", c.n), entity: fmt.Sprint("e-", c.n),
		amount: amount, currency: "EUR", created: at, class: class, reason: reason, pass: -1})
}

func clusterTexts(s *Summary) (out []string) {
	for _, c := range s.Clusters {
		line := c.Cause + ": " + c.Sentence
		for _, m := range c.Amounts {
			line += " | " + m.Amount + " " + m.Currency
		}
		for _, m := range c.Differences {
			line += " (" + m.Amount + ")"
		}
		out = append(out, line)
	}
	return out
}

func wantClusters(t *testing.T, s *Summary, want ...string) {
	t.Helper()
	if got := clusterTexts(s); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every cause that is planted is found with its counts and its money, and each row counts
// in one cluster alone, the one that says most.
func TestClusters(t *testing.T) {
	c := newCrowd(t)
	at := func(i int) time.Time { return day.Add(time.Duration(i) * 7 * time.Minute) }
	for i := range 100 { // a good start of the file
		c.pair(at(i), "", "10.00", "10.00", "a", "a", "x", "x")
	}
	for i := range 41 {
		amount := fmt.Sprintf("%d.00", 10+i)
		c.pair(at(i), "amount", amount, fmt.Sprintf("%d00.00", 10+i), "a", "a", "x", "x")
	}
	for i := range 20 {
		c.pair(at(i), "entity", "10.00", "10.00", "order|<1>", "=order", "x", "x")
	}
	for i := range 15 {
		c.pair(at(i), "amount", fmt.Sprintf("%d.00", 500+100*i), fmt.Sprintf("%d.30", 500+100*i), "a", "a", "x", "x")
	}
	for i := range 12 {
		c.pair(at(i), "amount", fmt.Sprintf("%d.00", 20+i), fmt.Sprintf("-%d.00", 20+i), "a", "a", "x", "x")
	}
	for i := range 9 { // too few to be named
		c.pair(at(i), "entity", "10.00", "10.00", "few", "less", "x", "x")
	}
	for i := range 30 {
		c.alone(rules.Operations, at(i), "absent", "no_result", "", "3.00")
	}
	s := c.load().build()
	if md := Markdown(s); !strings.Contains(md, "Likely common causes") || strings.Contains(md, "<1>") {
		t.Errorf("report.md shows\n%s", md)
	}
	wantClusters(t, s,
		`amount_ratio: 41 of 97 divergences: amount × 100, all from psp.csv.gz after record 100 | 123000.00 EUR (121770.00)`,
		`amount_difference: 15 of 97 divergences: amount differs by +0.30 EUR, all from psp.csv.gz after record 161 | 18004.50 EUR (4.50)`,
		`amount_ratio: 12 of 97 divergences: amount with the sign flipped, all from psp.csv.gz after record 176 | 306.00 EUR (-612.00)`,
		`value_pair: 20 of 97 divergences: entity "order|<1>" against "=order", all from psp.csv.gz after record 141 | 200.00 EUR (0.00)`,
		`missing_key: 30 of 30 absences: operations without idempotency_key, all from operations.csv after record 197 | 90.00 EUR (-90.00)`)
}

// From a record on almost everything in a file is wrong, each in its own way.
func TestClusterOfAFile(t *testing.T) {
	c := newCrowd(t)
	at := func(i int) time.Time { return day.Add(time.Duration(i) * 7 * time.Minute) }
	c.pair(at(0), "amount", "10.00", "10.11", "a", "a", "x", "x") // an early one is none of them
	for i := range 60 {
		c.pair(at(i), "", "10.00", "10.00", "a", "a", "x", "x")
	}
	for i := range 40 {
		if i%5 == 4 {
			c.pair(at(i), "", "10.00", "10.00", "a", "a", "x", "x")
			continue
		}
		c.pair(at(i), "entity", "10.00", "10.00", fmt.Sprint("a", i), fmt.Sprint("b", i), "x", "x")
	}
	wantClusters(t, c.load().build(), `file: 32 of 33 divergences: all from psp.csv.gz after record 61 | 320.00 EUR (0.00)`)
}

// Absences of one minute in which hardly anything arrived, and the same where so many
// arrived that the minute says nothing.
func TestClusterOfAMinute(t *testing.T) {
	for _, arrived := range []int{0, 100} {
		c := newCrowd(t)
		for i := range 5 {
			c.alone(rules.Operations, day.Add(time.Duration(i)*time.Hour), "absent", "no_result", "k", "1.00")
		}
		for i := range 20 {
			c.alone(rules.Operations, day.Add(9*time.Hour+time.Duration(i)*time.Second), "absent", "no_result", "k", "2.00")
		}
		for i := range arrived {
			c.pair(day.Add(9*time.Hour+time.Duration(i%60)*time.Second), "", "10.00", "10.00", "a", "a", "x", "x")
		}
		for i := range 60 {
			c.pair(day.Add(time.Duration(i)*10*time.Minute), "", "10.00", "10.00", "a", "a", "x", "x")
		}
		if arrived > 0 {
			wantClusters(t, c.load().build())
			continue
		}
		wantClusters(t, c.load().build(), `minute: 20 of 25 absences: all in the minute 2026-08-20T09:00Z, all from operations.csv after record 5 | 40.00 EUR (-40.00)`)
	}
}

// Both values of a redacted field are one cause, and are not shown.
func TestClustersAreRedacted(t *testing.T) {
	for _, how := range []string{redactToken, redactMask, redactDrop} {
		c := newCrowd(t)
		c.in.Bound.Redact = rules.Redact{Fields: map[string]string{"email": how}}
		for i := range 20 {
			c.pair(day.Add(time.Duration(i)*time.Minute), "email", "10.00", "10.00", "a", "a", "ada@example.org", "grace@example.org")
		}
		for i := range 20 {
			c.pair(day.Add(time.Duration(i)*time.Minute), "email", "10.00", "10.00", "a", "a", "ada@example.org", fmt.Sprint(i, "@example.org"))
		}
		wantClusters(t, c.load().build(), `value_pair: 20 of 40 divergences: email with the same two values, all from psp.csv.gz | 200.00 EUR (0.00)`,
			`file: 20 of 40 divergences: all from psp.csv.gz after record 20 | 200.00 EUR (0.00)`)
	}
}
