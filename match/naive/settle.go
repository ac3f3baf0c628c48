package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// settle is V12: after the last identity pass, what is not settled and what is
// free is checked once against all rows.
func (w *world) settle() {
	w.unsettledLinks()
	w.freeResults()
	w.freeOperations()
	w.oneKeyOneSet()
}

// oneKeyOneSet: rows whose keys disagree and that have a key in common are one
// unresolved set, on whichever side they stand.
func (w *world) oneKeyOneSet() {
	var rows []*row
	for _, x := range slices.Concat(w.o, w.r) {
		if x.is(AmbiguousC, keysDisagree) { // by an earlier business pass (V14), too
			rows = append(rows, x)
		}
	}
	for i, x := range rows {
		for _, y := range rows[i+1:] {
			if w.carries(x, y) {
				w.together([]*row{x, y})
			}
		}
	}
}

// unsettledLinks is V12(a): a link whose other identity key differs is taken
// back where that key leads to another row as well.
//
// Reading: what a copy or a superseded record carries leads nowhere else. The
// operation keeps its verdict where it has a settled link too; otherwise none of
// its links is left, since nothing says which of its keys to believe.
func (w *world) unsettledLinks() {
	var torn []*link
	for _, l := range w.links {
		for _, i := range l.keys {
			if w.elsewhere(l.r, i, l.o) || w.elsewhere(l.o, i, l.r) {
				torn = append(torn, l)
				break
			}
		}
	}
	undecided := map[*row]bool{}
	for _, l := range torn {
		w.drop(l)
		w.disagree(l.r)
		if !hasSettled(l.o) {
			undecided[l.o] = true
		}
	}
	for _, o := range w.o {
		if !undecided[o] {
			continue
		}
		for len(o.links) > 0 {
			l := o.links[0]
			torn = append(torn, l)
			w.drop(l)
			w.disagree(l.r)
		}
		w.disagree(o)
	}
	w.tornSets(torn)
}

// elsewhere tells whether the key of x under pass i occurs on a row of the other
// side besides its partner.
func (w *world) elsewhere(x *row, i int, partner *row) bool {
	key, _ := x.key(i)
	for _, y := range w.side(x.side.Other()) {
		if k, ok := y.key(i); ok && k == key && y != partner && y.stands() {
			return true
		}
	}
	return false
}

func hasSettled(o *row) bool {
	for _, l := range o.links {
		if l.settled {
			return true
		}
	}
	return false
}

func (w *world) disagree(x *row) {
	if x.decided == nil {
		x.decide('D', AmbiguousC, keysDisagree)
	}
}

// tornSets puts rows into one set that torn links connect, directly or by a key
// in common.
func (w *world) tornSets(torn []*link) {
	for _, l := range torn {
		rows := []*row{l.r}
		for _, o := range w.o {
			if o.section == 'D' && (o == l.o || w.carries(o, l.r)) {
				rows = append(rows, o)
			}
		}
		w.together(rows)
	}
}

// freeResults is V12(b): a free result all of whose identity keys point to one
// linked operation is a further effect of it; where they point to several, to an
// operation that is not linked, or one of them nowhere, the keys disagree.
func (w *world) freeResults() {
	type further struct {
		o, r *row
		pass int
	}
	var effects []further
	for _, r := range w.r {
		keys := w.identityKeys(r)
		if !r.free() || len(keys) == 0 {
			continue
		}
		known := false
		single := true
		var target *row
		for _, i := range keys {
			any, at := w.pointsTo(r, i)
			known = known || any
			if at == nil || target != nil && at != target {
				single = false
			}
			target = at
		}
		switch {
		case !known: // nothing on our side knows it
		case single && len(target.links) > 0:
			effects = append(effects, further{target, r, keys[0]})
		default:
			w.disagree(r)
			w.together([]*row{r})
		}
	}
	for _, e := range effects {
		w.link(e.o, e.r, e.pass)
	}
}

// pointsTo tells whether any operation carries the result's key of pass i, and
// which one, where exactly one record stands for it.
func (w *world) pointsTo(r *row, i int) (known bool, at *row) {
	key, _ := r.key(i)
	several := false
	for _, o := range w.o {
		if k, ok := o.key(i); !ok || k != key {
			continue
		}
		known = true
		if o.stands() {
			several = at != nil
			at = o
			if several {
				return true, nil
			}
		}
	}
	return known, at
}

// freeOperations is V12(c): a free operation one of whose identity keys occurs
// on a linked result is never absent.
//
// Reading: the same holds where the key occurs only on results that were set
// aside as ambiguous or as duplicates. Results excluded by a scope rule, and what
// they stand for, are judged by V28.
func (w *world) freeOperations() {
	for _, o := range w.o {
		if !o.free() {
			continue
		}
		var set []*row
		hit, excluded, superseded := false, false, false
		for _, r := range w.r {
			if !w.carries(r, o) {
				continue
			}
			switch {
			case r.scope != "":
				excluded = true
			case !r.stands():
				superseded = true
			default:
				hit = true
				if r.section == 'D' && r.decided.Class == AmbiguousC {
					set = append(set, r)
				}
			}
		}
		if hit || superseded && !excluded {
			w.disagree(o)
			w.together(append(set, o))
		}
	}
}

// bearers are the results that carry an identity key of the operation.
func (w *world) bearers(o *row) []*row {
	var out []*row
	for _, r := range w.side(rules.Results) {
		if w.carries(r, o) {
			out = append(out, r)
		}
	}
	return out
}
