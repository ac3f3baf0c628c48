package naive

import (
	"slices"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// proved tells whether the absence of an operation is proved: by the coverage of its time,
// or by the silence of services that were asked about it (V26).
//
// Reading: what a service found under a key of the operation stands against its absence, as long
// as it is linked to nothing.
func (w *world) proved(o *row) proof {
	if w.heard(o) && len(o.links) == 0 {
		return uncovered
	}
	return w.coveredWith(o, w.silent)
}

// heard tells whether some service found something under a key of the operation.
func (w *world) heard(o *row) bool {
	return slices.ContainsFunc(w.in.Lookups, func(l extract.Lookup) bool {
		return slices.ContainsFunc(l.Source.Remote.Lookup.By, func(f string) bool {
			a := answerTo(o, l, f)
			return a != nil && a.Found
		})
	})
}

// answerTo is what a service said about the text of a field of the operation, nil nothing.
func answerTo(o *row, l extract.Lookup, field string) *extract.LookupAnswer {
	key, ok := o.field(field).(string)
	i := slices.IndexFunc(l.Answers, func(a extract.LookupAnswer) bool { return ok && a.Key == key })
	if i < 0 {
		return nil
	}
	return &l.Answers[i]
}

// silent tells whether the services of an account, asked about the operation, know nothing of
// it: under every identity key that it has, or under a sufficient one, up to the end of its
// window and the skew.
//
// Reading: silence counts from the beginning of time, so that it need not touch what files
// cover; and it ends at one instant for all keys, each of which has to reach the need.
func (w *world) silent(o *row, account string) bool {
	p := w.policy(o)
	_, late, ok := w.span(o, "created_at")
	if !ok || w.lastUnknown(o) || w.heard(o) {
		return false
	}
	need := w.windowEnd(o, p, late) + w.job.ClockSkew.Microseconds()
	under := func(l extract.Lookup, f string) bool {
		c := l.Source.Coverage
		proves := c.Proves == rules.FullLifecycle || c.Proves == rules.SettledOnly && p.EffectIs == "settlement"
		if c.Account != account || !proves || !w.shouldKnow(o, c.Types, c.Knows) || !w.askable(o, f) {
			return false
		}
		a := answerTo(o, l, f)
		return a != nil && a.Until != nil && *a.Until >= need
	}
	for _, l := range w.in.Lookups {
		if slices.ContainsFunc(l.Source.Remote.Lookup.Sufficient, func(f string) bool { return under(l, f) }) {
			return true
		}
	}
	keys := 0
	for i, pass := range w.job.Match {
		if _, carries := o.key(i); !pass.Identity || !carries {
			continue
		}
		keys++
		asked := slices.ContainsFunc(pass.On, func(k rules.KeyPart) bool {
			return slices.ContainsFunc(w.in.Lookups, func(l extract.Lookup) bool {
				return slices.Contains(l.Source.Remote.Lookup.By, k.Operations) && under(l, k.Operations)
			})
		})
		if !asked {
			return false
		}
	}
	return keys > 0
}

// askable tells whether a text is part of an identity key that the operation has.
func (w *world) askable(o *row, field string) bool {
	for i, p := range w.job.Match {
		_, carries := o.key(i)
		if carries && p.Identity && slices.ContainsFunc(p.On, func(k rules.KeyPart) bool { return k.Operations == field }) {
			text, _ := o.field(field).(string)
			return text != ""
		}
	}
	return false
}

// lookupCopies marks records of lookups that say what another record says, in all that
// decides (V4).
func (w *world) lookupCopies() {
	columns := w.layout[rules.Results].Deciding()
	asked := func(x *row) bool { s := w.in.ResultSources[x.FileNo]; return s != nil && s.IsLookup() }
	for _, column := range w.recordColumns(rules.Results) {
		for _, group := range w.groups(rules.Results, column) {
			var copies []*row
			for _, x := range group {
				if asked(x) && slices.ContainsFunc(group, func(y *row) bool {
					return x != y && (!asked(y) || y.RID < x.RID) && repeats(columns, x, y)
				}) {
					copies = append(copies, x)
				}
			}
			for _, x := range copies {
				x.decide('B', Duplicate, identicalCopy)
			}
		}
	}
}

// repeats tells whether two rows have equal values in all these columns.
func repeats(columns []string, a, b *row) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !sameValue(a.V[c], b.V[c]) })
}

func sameValue(a, b any) bool {
	x, ok := a.(*apd.Decimal)
	y, both := b.(*apd.Decimal)
	if ok && both {
		return x.Cmp(y) == 0
	}
	return a == b
}
