package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// Sections D and E: the passes in their order.

func (w *world) runPasses() {
	last := w.lastIdentity()
	for i, p := range w.job.Match {
		switch {
		case p.Suggest: // V15
		case p.Group != nil:
			w.groupPass(i)
		case p.Identity:
			w.identityPass(i)
		default:
			w.businessPass(i)
		}
		if i == last {
			w.settle()
		}
	}
}

// lastIdentity is the index of the last identity pass, -1 where there is none.
func (w *world) lastIdentity() int {
	last := -1
	for i, p := range w.job.Match {
		if p.Identity {
			last = i
		}
	}
	return last
}

// identityPass links free rows by one identity key (V9).
//
// Reading: one free operation takes every free result under its key, failed ones
// too. Several free operations and at least one free result under a key are all
// `several_candidates` (V11).
func (w *world) identityPass(i int) {
	for _, key := range w.keys(i) {
		os, rs := w.freeUnder(w.o, i, key), w.freeUnder(w.r, i, key)
		if len(os) == 0 || len(rs) == 0 {
			continue
		}
		if len(os) == 1 {
			for _, r := range rs {
				w.link(os[0], r, i)
			}
			continue
		}
		all := slices.Concat(os, rs)
		for _, x := range all {
			x.decide('D', AmbiguousC, severalCandidates)
		}
		w.together(all)
	}
}

// keys lists the usable keys of the operations under pass i, each once.
func (w *world) keys(i int) []string {
	seen := map[string]bool{}
	var keys []string
	for _, o := range w.o {
		if k, ok := o.key(i); ok && !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

func (w *world) freeUnder(rows []*row, i int, key string) []*row {
	var out []*row
	for _, x := range rows {
		if k, ok := x.key(i); ok && k == key && x.free() {
			out = append(out, x)
		}
	}
	return out
}

func (w *world) link(o, r *row, pass int) {
	l := &link{o: o, r: r, pass: pass, keys: w.contradictions(o, r)}
	l.settled = len(l.keys) == 0
	o.links = append(o.links, l)
	r.links = append(r.links, l)
	w.links = append(w.links, l)
}

// contradictions are the identity passes whose key both rows carry, with
// different values.
func (w *world) contradictions(o, r *row) []int {
	var out []int
	for i, p := range w.job.Match {
		if !p.Identity {
			continue
		}
		x, ok := o.key(i)
		y, ok2 := r.key(i)
		if ok && ok2 && x != y {
			out = append(out, i)
		}
	}
	return out
}

// drop takes a link back.
func (w *world) drop(l *link) {
	same := func(x *link) bool { return x == l }
	l.o.links = slices.DeleteFunc(l.o.links, same)
	l.r.links = slices.DeleteFunc(l.r.links, same)
}

// identityKeys are the identity passes for which the row has a usable key.
func (w *world) identityKeys(x *row) []int {
	var out []int
	for i, p := range w.job.Match {
		if _, ok := x.key(i); ok && p.Identity {
			out = append(out, i)
		}
	}
	return out
}

// markUnusable is V18, for rows that nothing has decided so far.
//
// Reading: it comes after scope and period, and before sections F and G. A pass
// that only suggests links nothing, so that its key alone is of no use.
func (w *world) markUnusable() {
	for _, rows := range [][]*row{w.o, w.r} {
		for _, x := range rows {
			if !x.free() || w.usable(x) {
				continue
			}
			if x.side == rules.Operations {
				if reason, ok := w.outOfScope(x); ok {
					x.decide('C', NotApplicable, reason)
					continue
				}
			}
			x.decide('E', AmbiguousC, noUsableKey)
		}
	}
}

func (w *world) usable(x *row) bool {
	for i, p := range w.job.Match {
		if _, ok := x.key(i); ok && !p.Suggest {
			return true
		}
	}
	return false
}

func sorted(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
