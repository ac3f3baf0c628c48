package rules

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

func (d *decoder) limits(o *object, job *Job) Limits {
	l := Limits{BlastRadius: map[string]BlastLimit{}}
	if o == nil {
		return l
	}
	if b := o.sub("retry_budget", retryBudgetShape); b != nil {
		r := d.rate(b)
		l.RetryRows, l.RetryPer = r.Rows, r.Per
		l.RetryBy = d.rates(b, job)
	}
	if n := o.node("blast_radius"); n != nil {
		d.free(n, o.at("blast_radius"), func(queue string, k, v *yaml.Node, p string) {
			if !slices.Contains(actingQueues, queue) {
				d.failAt(at(k), p, didYouMean(queue, actingQueues), "%q is no acting queue", queue)
				return
			}
			b := d.object(v, blastShape, p)
			if b == nil {
				return
			}
			x := BlastLimit{Rows: b.integer("rows", 0, 1, 1<<40), Amount: d.amounts(b, "amount"), Share: d.share(b, "share")}
			if c := b.sub("baseline", baselineShape); c != nil {
				x.BaselineRuns = int(c.integer("runs", 0, 1, 1000))
				x.BaselineFactor = c.number("factor", 0, 1, 1000)
			}
			l.BlastRadius[queue] = x
		})
	}
	return l
}

// share reads a percentage that is more than nothing; 0 where it is not declared.
func (d *decoder) share(o *object, name string) float64 {
	if !o.has(name) {
		return 0
	}
	text := o.text(name, "")
	v, err := parsePercent(text)
	if err != nil || v == 0 {
		o.fail(name, "a percentage from 0% to 100%, such as 2%", "%s: %q is no share", o.at(name), text)
	}
	return v
}

// rate reads so many rows in a time.
func (d *decoder) rate(o *object) RetryBudget {
	r := RetryBudget{Rows: o.integer("rows", 0, 1, 1<<40), Per: o.duration("per", 0)}
	if o.has("per") && r.Per == 0 && !d.faulty(o.at("per")) {
		o.fail("per", "a time such as 10m", "%s is no time at all", o.at("per"))
	}
	return r
}

// rates reads the rates of accounts.
func (d *decoder) rates(o *object, job *Job) map[string]RetryBudget {
	n := o.node("by")
	if n == nil {
		return nil
	}
	var accounts []string
	for _, s := range job.Results.Sources {
		if a := s.Coverage.Account; a != "" && !slices.Contains(accounts, a) {
			accounts = append(accounts, a)
		}
	}
	out := map[string]RetryBudget{}
	d.free(n, o.at("by"), func(account string, k, v *yaml.Node, p string) {
		if !slices.Contains(accounts, account) && !d.faulty("results") {
			hint := didYouMean(account, accounts)
			if hint == "" {
				hint = "add `coverage: {account: " + account + "}` to the sources of the provider"
			}
			d.failAt(at(k), p, hint, "%s: no source of the results has the account %q", o.at("by"), account)
			return
		}
		if r := d.object(v, retryRateShape, p); r != nil {
			out[account] = d.rate(r)
		}
	})
	return out
}
