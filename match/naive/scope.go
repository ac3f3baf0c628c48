package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// Section C: scope rules and the period.

// excludeResults applies the scope rules of the results, before anything is
// linked (V7). What section B set aside stays as it is.
func (w *world) excludeResults() {
	for _, r := range w.r {
		if r.decided != nil {
			continue
		}
		if reason, ok := w.outOfScope(r); ok {
			r.decide('C', NotApplicable, reason)
			r.scope = reason
		}
	}
}

// outOfScope gives the reason of the first scope rule that is true for the row.
func (w *world) outOfScope(x *row) (string, bool) {
	for _, rule := range w.job.Scope {
		if rule.Side == x.side && w.holds(rule.When, x) {
			return rule.Reason, true
		}
	}
	return "", false
}

// applyPeriod marks what lies outside the period (V8).
//
// Reading: the period comes before scope rules of operations and before what
// sections D and E left open. A linked result takes the period of its operation,
// any other row its own time; a row without that time is in the period.
func (w *world) applyPeriod() {
	if w.job.Period == nil {
		return
	}
	for _, o := range w.o {
		if o.section == 'B' || o.group != nil || !w.outside(o) {
			continue
		}
		shown := w.shown(o)
		pass, partners := w.linked(o, shown)
		v := w.outOfPeriod(o)
		v.Pass, v.Partners = pass, partners
		for _, l := range o.links {
			v := w.outOfPeriod(l.r)
			if slices.Contains(shown, l) {
				v.Pass, v.Partners = l.pass, []int64{o.RID}
			}
		}
	}
	for _, r := range w.r {
		if r.section != 'B' && r.scope == "" && len(r.links) == 0 && r.group == nil && w.outside(r) {
			r.strayOutside = r.decided == nil
			w.outOfPeriod(r)
		}
	}
}

func (w *world) outOfPeriod(x *row) *Verdict {
	return x.decide('C', NotApplicable, w.job.Period.Reason)
}

// shown are the links that a verdict shows as partners: the effects, or the failed
// attempts of an operation that has no effect.
func (w *world) shown(o *row) []*link {
	effects, failed := w.split(o)
	if len(effects) > 0 {
		return effects
	}
	return failed
}

// outside tells whether every reading of the row's time lies outside the period.
func (w *world) outside(x *row) bool {
	first, last, ok := w.span(x, w.job.Period.By)
	if !ok {
		return false
	}
	in := func(t int64) bool { return t >= w.job.PeriodFrom && t < w.job.PeriodUntil }
	return !in(first) && !in(last)
}

// linked gives the first pass and the partners of a row under the links.
func (w *world) linked(x *row, links []*link) (int, []int64) {
	pass := -1
	var partners []int64
	for _, l := range links {
		if pass < 0 || l.pass < pass {
			pass = l.pass
		}
		other := l.o
		if x.side == rules.Operations {
			other = l.r
		}
		partners = append(partners, other.RID)
	}
	return pass, sorted(partners)
}
