package naive

import (
	"slices"
	"strconv"
	"time"

	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// candidate is a pair that satisfies every part and window of a business pass.
type candidate struct{ o, r *row }

// businessPass links free rows by a key that is not unique by nature (V13, V14).
//
// Reading: pairs whose identity keys contradict are set apart first. Of the rest,
// two rows that are each other's only candidate are linked, and every other row
// with a candidate is `several_candidates`. Then rows that are still free and
// have a contradicted candidate that is still free are `keys_disagree`.
func (w *world) businessPass(i int) {
	var good, contradicted []candidate
	for _, o := range w.o {
		for _, r := range w.r {
			if !o.free() || !r.free() || !w.fits(o, r, i) {
				continue
			}
			if len(w.contradictions(o, r)) > 0 {
				contradicted = append(contradicted, candidate{o, r})
			} else {
				good = append(good, candidate{o, r})
			}
		}
	}
	count := map[*row]int{}
	for _, c := range good {
		count[c.o]++
		count[c.r]++
	}
	var open []candidate
	for _, c := range good {
		if count[c.o] == 1 && count[c.r] == 1 {
			w.link(c.o, c.r, i)
		} else {
			open = append(open, c)
		}
	}
	w.unresolved(open, severalCandidates)
	contradicted = slices.DeleteFunc(contradicted, func(c candidate) bool { return !c.o.free() || !c.r.free() })
	w.unresolved(contradicted, keysDisagree)
}

// unresolved makes all rows of the pairs ambiguous, and each connected component
// one set.
func (w *world) unresolved(pairs []candidate, reason string) {
	for _, c := range pairs {
		for _, x := range []*row{c.o, c.r} {
			if x.decided == nil {
				x.decide('E', AmbiguousC, reason)
			}
		}
		w.together([]*row{c.o, c.r})
	}
}

// fits tells whether the pair satisfies every part and every window of pass i.
// The boundary of a window belongs to it; a missing time is no candidate.
func (w *world) fits(o, r *row, i int) bool {
	x, ok := o.key(i)
	y, ok2 := r.key(i)
	if !ok || !ok2 || x != y {
		return false
	}
	for _, within := range w.job.Match[i].Within {
		if !w.near(o, r, within) {
			return false
		}
	}
	return true
}

// near compares the field of both rows with the window: dates by whole days,
// instants by their distance. A local time that exists twice counts only where
// both readings give the same answer.
func (w *world) near(o, r *row, within rules.Within) bool {
	a, b := w.moment(o, within.Field), w.moment(r, within.Field)
	if a == nil || b == nil {
		return false
	}
	window := within.Max.Microseconds()
	if w.isDate(o, within.Field) {
		window = int64(within.Max / (24 * time.Hour))
	}
	return compare.Equal(a, b, rules.Compare{As: rules.AsInstant, Absolute: strconv.FormatInt(window, 10)}).Agrees()
}

// isDate tells whether the field is a date: days since 1970-01-01.
func (w *world) isDate(x *row, field string) bool {
	f := w.job.Spec(x.side).Field(field)
	return f != nil && f.Type == rules.Date
}
