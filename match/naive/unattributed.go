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
		if open && len(r.links) == 0 && r.group == nil && len(w.identityKeys(r)) == 0 && !w.failed(r) {
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
	if !o.stands() || o.group != nil {
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

// straySets makes unresolved sets of the operations that stay undecided for an
// unattributed result, and of those results.
//
// Reading: rows that fill the same fields and agree in those which the other side fills
// too are looked at as one, so that one item shows them, whatever the time of each: a
// result belongs to the set of an operation where it could be the effect of one like it,
// and where one like the result could be that of the operation.
func (w *world) straySets() {
	var strays []stray
	for _, r := range w.unattributed() {
		for _, t := range w.strayTypes(r) {
			strays = append(strays, stray{r, w.contradicting(r, t)})
		}
	}
	var free []stray
	for _, o := range w.o {
		if w.withoutEffectLink(o) {
			free = append(free, stray{o, w.contradicting(o, o.field("type"))})
		}
	}
	like := func(all []stray, x, other stray, fits func(stray) bool) bool {
		return slices.ContainsFunc(all, func(y stray) bool { return alike(y, x, other) && fits(y) })
	}
	for _, s := range strays {
		var set []*row
		for _, o := range free {
			if o.row.is(AmbiguousC, unattributedResult) && agree(o, s) &&
				like(free, o, s, func(x stray) bool { return w.timeFits(s.row, x.row) }) &&
				like(strays, s, o, func(x stray) bool { return w.timeFits(x.row, o.row) }) {
				set = append(set, o.row)
			}
		}
		// A result out of the period stands against operations and has its own verdict.
		if s.row.is(AmbiguousC, unattributedResult) || s.row.is(AmbiguousC, noUsableKey) {
			if len(set) > 0 {
				set = append(set, s.row)
			}
		}
		w.together(set)
	}
}

// stray is a row with the values by which it may contradict one of the other side.
type stray struct {
	row    *row
	values []any
}

// strayTypes are the types that a result may be of: its own, else those of its source.
func (w *world) strayTypes(r *row) []any {
	if t := r.field("type"); t != nil {
		return []any{t}
	}
	if s := w.in.ResultSources[r.FileNo]; s != nil && len(s.Coverage.Types) > 0 {
		var out []any
		for _, t := range s.Coverage.Types {
			out = append(out, t)
		}
		return out
	}
	return []any{nil}
}

func (w *world) contradicting(x *row, typ any) []any {
	out := []any{typ}
	for _, name := range append([]string{"entity", "currency"}, w.job.Unattributed.Contradicts...) {
		out = append(out, x.field(name))
	}
	return out
}

// agree tells whether nothing that both fill differs.
func agree(a, b stray) bool {
	for i := range a.values {
		if contradicts(a.values[i], b.values[i]) {
			return false
		}
	}
	return true
}

// alike tells whether two rows of one side fill the same fields, and agree in those
// that a row of the other side fills too.
func alike(a, b, other stray) bool {
	for i := range a.values {
		if (a.values[i] == nil) != (b.values[i] == nil) || other.values[i] != nil && contradicts(a.values[i], b.values[i]) {
			return false
		}
	}
	return true
}
