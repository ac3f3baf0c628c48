package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// unattributed lists the results that could be the effect of any operation which
// they do not contradict (V27): free, without an identity key, not finally
// failed, in a job with at least one identity pass.
//
// Reading: rows without any usable key are among them, and rows out of the period,
// since an effect may be booked just outside it; rows set aside or excluded are not.
func (w *world) unattributed() []*row {
	if w.lastIdentity() < 0 {
		return nil
	}
	var out []*row
	for _, r := range w.r {
		open := r.decided == nil || r.is(AmbiguousC, noUsableKey) || r.is(AmbiguousC, unattributedResult) || r.strayOutside
		if open && len(r.links) == 0 && len(w.identityKeys(r)) == 0 && !w.failed(r) {
			out = append(out, r)
		}
	}
	return out
}

// candidates counts the operations that an unattributed result could belong to.
func (w *world) candidates(r *row) int {
	n := 0
	for _, o := range w.o {
		if w.withoutEffectLink(o) && w.couldBe(r, o) {
			n++
		}
	}
	return n
}

// withoutEffectLink tells whether no effect is linked with the operation. What
// another record stands for is no operation of its own.
func (w *world) withoutEffectLink(o *row) bool {
	if !o.stands() {
		return false
	}
	effects, _ := w.split(o)
	return len(effects) == 0
}

// couldBe tells whether the result does not contradict the operation: only by
// type, entity, currency or time, and by what the job declares.
func (w *world) couldBe(r, o *row) bool {
	if t, ok := o.field("type").(string); ok {
		if own, ok := r.field("type").(string); ok {
			if own != t {
				return false
			}
		} else if s := w.in.ResultSources[r.FileNo]; s != nil && len(s.Coverage.Types) > 0 {
			if !slices.Contains(s.Coverage.Types, t) {
				return false
			}
		}
	}
	for _, name := range append([]string{"entity", "currency"}, w.job.Unattributed.Contradicts...) {
		if contradicts(o.field(name), r.field(name)) {
			return false
		}
	}
	return w.timeFits(r, o)
}

// contradicts tells whether both values are there and differ.
func contradicts(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	as := rules.AsText
	if isNumber(a) || isNumber(b) {
		as = rules.AsDecimal
	}
	return compare.Equal(a, b, rules.Compare{As: as}) == compare.Differs
}

// timeFits is false for a result from before the operation, less the skew, and
// where the job narrows it, for one that came too long after it.
func (w *world) timeFits(r, o *row) bool {
	_, booked, ok := w.span(r, "created_at")
	created, late, ok2 := w.span(o, "created_at")
	if !ok || !ok2 {
		return true
	}
	skew := w.job.ClockSkew.Microseconds()
	if booked < created-skew {
		return false
	}
	first, _, _ := w.span(r, "created_at")
	within := w.job.Unattributed.Within.Microseconds()
	return within == 0 || first <= late+within+skew
}
