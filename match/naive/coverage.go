package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// times is a half-open time in microseconds.
type times struct{ from, until int64 }

// proof is what the sources say about the time that an absence needs.
type proof int

const (
	uncovered proof = iota
	covered
	unknowable // the operation lacks the time from which the need counts
)

// covered tells whether the sources of every account that should know the
// operation cover the time that its absence needs (V26).
//
// Reading: an account should know an operation where `knows` is true for it and
// `types` holds its type, whatever it proves; without any such account nothing
// is proved. Where sources of one account differ in lag, the longest counts.
func (w *world) covered(o *row) proof {
	return w.coveredWith(o, func(*row, string) bool { return false })
}

// coveredWith is covered, where an account covers an operation as well for which the other
// condition holds.
func (w *world) coveredWith(o *row, otherwise func(o *row, account string) bool) proof {
	accounts := w.knowing(o)
	if len(accounts) == 0 {
		return uncovered
	}
	answer := covered
	for _, account := range accounts {
		if otherwise(o, account) {
			continue
		}
		switch w.coveredBy(o, account) {
		case uncovered:
			return uncovered
		case unknowable:
			answer = unknowable
		}
	}
	return answer
}

// knowing lists the accounts of the results that should know the operation. A
// source whose files are all missing counts too: it covers nothing.
func (w *world) knowing(o *row) []string {
	var out []string
	for _, s := range w.job.Results.Sources {
		c := s.Coverage
		if w.shouldKnow(o, c.Types, c.Knows) && !slices.Contains(out, c.Account) {
			out = append(out, c.Account)
		}
	}
	for _, i := range w.in.ResultsCoverage {
		if w.shouldKnow(o, i.Types, i.Knows) && !slices.Contains(out, i.Account) {
			out = append(out, i.Account)
		}
	}
	return out
}

func (w *world) shouldKnow(o *row, types []string, knows *rules.Expr) bool {
	if len(types) > 0 {
		t, _ := o.field("type").(string)
		if !slices.Contains(types, t) {
			return false
		}
	}
	return knows == nil || w.holds(knows, o)
}

func (w *world) coveredBy(o *row, account string) proof {
	p := w.policy(o)
	var proofs []extract.Interval
	lag := int64(0)
	for _, i := range w.in.ResultsCoverage {
		proves := i.Proves == rules.FullLifecycle ||
			i.Proves == rules.SettledOnly && p.EffectIs == "settlement"
		if i.Account == account && proves && w.shouldKnow(o, i.Types, i.Knows) {
			proofs = append(proofs, i)
			lag = max(lag, i.Lag.Microseconds())
		}
	}
	if coversAll(proofs) {
		return covered
	}
	created, late, ok := w.span(o, "created_at")
	skew := w.job.ClockSkew.Microseconds()
	switch {
	case !slices.ContainsFunc(proofs, func(i extract.Interval) bool { return len(pieces(i)) > 0 }):
		return uncovered
	case !ok || w.lastUnknown(o):
		return unknowable
	case covers(proofs, times{created - skew, w.windowEnd(o, p, late) + skew + lag}):
		return covered
	}
	return uncovered
}

// coversAll tells whether a source covers everything.
func coversAll(proofs []extract.Interval) bool {
	return slices.ContainsFunc(proofs, func(i extract.Interval) bool {
		return i.Complete && len(i.Withdrawn) == 0
	})
}

// covers tells whether the intervals together hold the need without a gap.
func covers(proofs []extract.Interval, need times) bool {
	if coversAll(proofs) {
		return true
	}
	var parts []times
	for _, i := range proofs {
		parts = append(parts, pieces(i)...)
	}
	slices.SortFunc(parts, func(a, b times) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	at := need.from // everything from need.from to at is covered
	for _, p := range parts {
		if p.from <= at && p.until > at {
			at = p.until
		}
	}
	return at >= need.until && at > need.from
}

// pieces are what an interval covers once the withdrawn times are taken out.
func pieces(i extract.Interval) []times {
	const forever = int64(1) << 62
	var parts []times
	if i.From < i.Until {
		parts = []times{{i.From, i.Until}}
	}
	if i.Complete {
		parts = []times{{-forever, forever}}
	}
	for _, gap := range i.Withdrawn {
		var rest []times
		for _, p := range parts {
			for _, q := range []times{{p.from, min(p.until, gap.From)}, {max(p.from, gap.Until), p.until}} {
				if q.from < q.until {
					rest = append(rest, q)
				}
			}
		}
		parts = rest
	}
	return parts
}
