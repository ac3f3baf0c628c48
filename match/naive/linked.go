package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// Section F and V10: what the linked records say.

// judgeLinked judges every operation that has links, with its results.
func (w *world) judgeLinked() {
	for _, o := range w.o {
		if len(o.links) == 0 || o.decided != nil {
			continue
		}
		effects, failed := w.split(o)
		reason, excused := w.outOfScope(o)
		switch {
		case excused && len(effects) > 0:
			w.conflict(o, effects)
			w.besideEffect(failed)
		case excused:
			w.decideLinked(o, failed, 'C', NotApplicable, reason, nil)
			w.answered(failed)
		case len(effects) == 0 && w.heldConfirmed(o):
			w.conflict(o, failed)
		case len(effects) == 0:
			v := w.withoutEffect(o, true)
			v.Pass, v.Partners = w.linked(o, failed)
			w.answered(failed)
		case len(effects) == 1:
			w.judgePair(effects[0])
			w.besideEffect(failed)
		default:
			w.severalEffects(o, effects)
			w.besideEffect(failed)
		}
	}
}

// split tells effects from what finally failed.
func (w *world) split(o *row) (effects, failed []*link) {
	for _, l := range o.links {
		if w.failed(l.r) {
			failed = append(failed, l)
		} else {
			effects = append(effects, l)
		}
	}
	return effects, failed
}

// decideLinked gives the operation and, where it is their verdict too, the
// results of the links the same class, reason and fields.
func (w *world) decideLinked(o *row, links []*link, section byte, c Class, reason string, fields []string) {
	v := o.decide(section, c, reason)
	v.Pass, v.Partners = w.linked(o, links)
	v.Fields = fields
}

func (w *world) decideResult(l *link, section byte, c Class, reason string, fields []string) {
	v := l.r.decide(section, c, reason)
	v.Pass, v.Partners = l.pass, []int64{l.o.RID}
	v.Fields = fields
}

// answered marks failed attempts of an operation without an effect.
func (w *world) answered(failed []*link) {
	for _, l := range failed {
		w.decideResult(l, 'F', NotApplicable, failedAttempt, nil)
	}
}

// besideEffect marks failed attempts of an operation that has an effect: they
// are nobody's partner, and no pass shows for them.
func (w *world) besideEffect(failed []*link) {
	for _, l := range failed {
		l.r.decide('F', NotApplicable, failedAttempt)
	}
}

// conflict is divergent/status_conflict for an operation and its results. The
// operation lists the fields of all its pairs.
func (w *world) conflict(o *row, links []*link) {
	var all []string
	for _, l := range links {
		fields := w.withStatus(w.compare(o, l.r).fields)
		w.decideResult(l, 'F', Divergent, statusConflict, fields)
		all = append(all, fields...)
	}
	w.decideLinked(o, links, 'F', Divergent, statusConflict, w.inOrder(all))
}

// severalEffects is V10.
func (w *world) severalEffects(o *row, effects []*link) {
	w.decideLinked(o, effects, 'D', Divergent, duplicateEffect, nil)
	good := w.goodEffect(effects)
	for _, l := range effects {
		if l == good {
			w.decideResult(l, 'D', Divergent, duplicateEffect, nil)
		} else {
			w.decideResult(l, 'D', Duplicate, surplusEffect, nil)
		}
	}
}

// goodEffect is the one that the keep_effect rule names, nil without a rule or
// on a tie.
func (w *world) goodEffect(effects []*link) *link {
	rule := w.job.Results.KeepEffect
	switch {
	case rule == nil:
		return nil
	case rule.Earliest != "":
		return w.earliest(effects, rule.Earliest)
	}
	var good *link
	for _, l := range effects {
		agrees := true
		for _, name := range rule.Agrees {
			agrees = agrees && w.fieldAgrees(l.o, l.r, name)
		}
		if agrees && good != nil {
			return nil
		}
		if agrees {
			good = l
		}
	}
	return good
}

// earliest is the effect before all others, whichever way a time that exists twice is
// read; one without a value is never it.
func (w *world) earliest(effects []*link, field string) *link {
	for _, l := range effects {
		if l.r.field(field) != nil && !slices.ContainsFunc(effects, func(x *link) bool {
			return x != l && x.r.field(field) != nil && !w.surelyBefore(l.r, x.r, field)
		}) {
			return l
		}
	}
	return nil
}

// surelyBefore tells whether the value of a field is less on a than on b for sure.
func (w *world) surelyBefore(a, b *row, field string) bool {
	_, late, ok := w.span(a, field)
	early, _, both := w.span(b, field)
	if ok && both {
		return late < early
	}
	return order(a.field(field), b.field(field)) < 0
}

// judgePair gives both rows of an operation with one effect the same verdict.
func (w *world) judgePair(l *link) {
	class, reason, fields := w.pairVerdict(l)
	w.decideLinked(l.o, []*link{l}, 'F', class, reason, fields)
	w.decideResult(l, 'F', class, reason, fields)
}

// pairVerdict is V12(a) for a pair that was left linked, then V19 to V22.
func (w *world) pairVerdict(l *link) (Class, string, []string) {
	p := w.compare(l.o, l.r)
	if !l.settled {
		return Divergent, fieldDiffers, p.fields
	}
	if class, reason := w.statusVerdict(l); class != "" {
		return class, reason, w.withStatus(p.fields)
	}
	if p.has(compare.Unreadable) {
		return Divergent, valueUnreadable, p.fields
	}
	if p.has(compare.Ambiguous) {
		return AmbiguousC, timeAmbiguous, p.fields
	}
	if reason := w.versionVerdict(l, p); reason != "" {
		return Divergent, reason, p.fields
	}
	switch {
	case len(p.fields) > 0:
		return Divergent, fieldDiffers, p.fields
	case len(p.tolerated) > 0:
		return Correct, withinTolerance, p.tolerated
	}
	return Correct, equal, nil
}

func (p pair) has(x compare.Result) bool {
	for _, r := range p.results {
		if r == x {
			return true
		}
	}
	return false
}

// statusVerdict is V19 for an effect, "" where its status decides nothing.
//
// Reading: the status that a comparison expects decides nothing, whichever it is;
// any other outcome that is final is a conflict. Pending ends at the deadline as
// V25 counts it, and without the time that this needs the pair is time_ambiguous.
func (w *world) statusVerdict(l *link) (Class, string) {
	s := w.status(l.r)
	if s == w.expected() {
		return "", ""
	}
	switch s {
	case rules.Unmapped:
		return AmbiguousC, unmappedStatus
	case rules.Unknown:
		return AmbiguousC, outcomeUnknown
	case rules.Pending:
		switch w.due(l.o) {
		case dueUnknown:
			return AmbiguousC, timeAmbiguous
		case dueLater:
			return NotDue, pendingAtProvider
		}
		return AmbiguousC, outcomeUnknown
	}
	return Divergent, statusConflict
}

// expected is the status that a comparison expects; succeeded without one.
func (w *world) expected() rules.Status {
	for _, c := range w.job.Compare {
		if c.As == rules.AsStatus {
			return c.Expect
		}
	}
	return rules.Succeeded
}

// versionVerdict is V21, "" where the versions decide nothing.
func (w *world) versionVerdict(l *link, p pair) string {
	same := false
	for i, c := range w.job.Compare {
		x, compared := p.results[i]
		if c.As != rules.AsVersion || !compared {
			continue
		}
		o, r := w.value(l.o, i), w.value(l.r, i)
		if cmp, ordered := compare.Order(o, r, c); ordered && x == compare.Differs {
			if cmp < 0 {
				return versionBehind
			}
			return versionAhead
		}
		same = same || o != nil && r != nil && x == compare.Equals
	}
	if same && len(p.fields) > 0 {
		return sameVersionOtherContent
	}
	return ""
}
