package naive

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// group is all rows of both sides that a pass by groups has put together (V16).
type group struct {
	pass int
	o, r []*row
}

// groupPass is V16 over free rows.
//
// Reading: rows under one key that agree in all further parts (the currency) are one
// group where both sides have some. What finally failed is no effect, and an operation
// that a scope rule excuses should have none: neither is added up. V14 holds for groups
// as for pairs: where a row of one side carries another value of an identity key than a
// row of the other, all are `keys_disagree`. So are rows whose key stands on the other
// side, though with no row that they could be added up with: nothing says that they are
// absent.
func (w *world) groupPass(i int) {
	for _, key := range w.keys(i) {
		os := slices.DeleteFunc(w.freeUnder(w.o, i, key), func(o *row) bool { _, excused := w.outOfScope(o); return excused })
		rs := slices.DeleteFunc(w.freeUnder(w.r, i, key), w.failed)
		if len(os) == 0 || len(rs) == 0 {
			continue
		}
		var apart []*row
		for len(os)+len(rs) > 0 {
			first := slices.Concat(os, rs)[0]
			alike := func(x *row) bool { return w.same(first, i) != "" && w.same(x, i) == w.same(first, i) || x == first }
			g := &group{pass: i}
			g.o, os = part(os, alike)
			g.r, rs = part(rs, alike)
			if len(g.o) == 0 || len(g.r) == 0 || w.contradictory(g) {
				apart = append(apart, g.members()...)
				continue
			}
			for _, x := range g.members() {
				x.group = g
			}
			w.grouped = append(w.grouped, g)
		}
		for _, x := range apart {
			x.decide('E', AmbiguousC, keysDisagree)
		}
		if len(apart) > 0 {
			w.together(apart)
		}
	}
}

// part divides rows into those that satisfy the condition and the others.
func part(rows []*row, yes func(*row) bool) (in, out []*row) {
	for _, x := range rows {
		if yes(x) {
			in = append(in, x)
		} else {
			out = append(out, x)
		}
	}
	return in, out
}

// same is what the rows of one group agree in beside their key, "" where a part of it is
// empty.
func (w *world) same(x *row, i int) string {
	if len(w.job.Match[i].Group.Same) == 0 {
		return "all"
	}
	s, ok := x.text(fmt.Sprintf("s%d", i))
	if !ok {
		return ""
	}
	return "=" + s
}

func (g *group) members() []*row { return slices.Concat(g.o, g.r) }

// contradictory tells whether identity keys of two of its rows contradict (V14).
func (w *world) contradictory(g *group) bool {
	for _, o := range g.o {
		for _, r := range g.r {
			if len(w.contradictions(o, r)) > 0 {
				return true
			}
		}
	}
	return false
}

// outsideGroup tells whether a group lies outside the period: all of its operations do (V8).
func (w *world) outsideGroup(g *group) bool {
	return !slices.ContainsFunc(g.o, func(o *row) bool { return !w.outside(o) })
}

// judgeGroups gives every member the verdict of its group.
func (w *world) judgeGroups() {
	for _, g := range w.grouped {
		class, reason, fields := w.groupVerdict(g)
		section := byte('E')
		if class == NotApplicable {
			section = 'C'
		}
		proven := !slices.ContainsFunc(g.o, func(o *row) bool { return w.covered(o) != covered })
		for _, x := range g.members() {
			v := x.decide(section, class, reason)
			v.Pass, v.Fields = g.pass, fields
			others := g.o
			if x.side == rules.Operations {
				others = g.r
			}
			for _, y := range others {
				v.Partners = append(v.Partners, y.RID)
			}
			if class == Correct {
				v.Once = &proven
			}
		}
	}
}

// groupVerdict is V16, after what the statuses of its results say (V19) and what cannot
// be read (V20).
//
// Reading: the first status of V19 that any result has decides. A group is closed where
// its sums agree and every stated number of members is the one found. One that is not
// closed may still get members: as a stated number says, or on both sides where none is
// stated. Results may come while an operation of it is leased or not due, or where the
// time of one is not covered (V24 to V26); operations where the export need not show
// those of a result (V29). A stated number that was found excuses nothing.
func (w *world) groupVerdict(g *group) (Class, string, []string) {
	if w.job.Period != nil && w.outsideGroup(g) {
		return NotApplicable, w.job.Period.Reason, nil
	}
	if class, reason := w.groupStatus(g); class != "" {
		if f := w.statusField(); f != "" {
			return class, reason, []string{f}
		}
		return class, reason, nil
	}
	decl := w.job.Match[g.pass].Group
	if bad := w.unreadableIn(g); len(bad) > 0 {
		return Divergent, valueUnreadable, bad
	}
	closeness := compare.Differs
	o, known := w.sum(g.o, decl.Operations)
	r, known2 := w.sum(g.r, decl.Results)
	if known && known2 {
		closeness = compare.Equal(o, r, rules.Compare{As: rules.AsDecimal, Absolute: w.tolerated(g), Relative: decl.Relative})
	}
	ops, opsStated := w.stated(g.r, decl.Count.Results)
	res, resStated := w.stated(g.o, decl.Count.Operations)
	n, m := apd.New(int64(len(g.o)), 0), apd.New(int64(len(g.r)), 0)
	counted := (!opsStated || ops.Cmp(n) == 0) && (!resStated || res.Cmp(m) == 0)
	switch {
	case counted && closeness == compare.Equals:
		return Correct, equal, nil
	case counted && closeness == compare.Tolerance:
		return Correct, withinTolerance, decl.Fields()
	}
	silent := !opsStated && !resStated
	awaitsResults := silent || resStated && res.Cmp(m) > 0 || opsStated && ops.Cmp(n) < 0
	awaitsOperations := silent || opsStated && ops.Cmp(n) > 0 || resStated && res.Cmp(m) < 0
	if awaitsResults {
		if class, reason := w.resultsMayCome(g); class != "" {
			return class, reason, nil
		}
	}
	for _, want := range []struct {
		answer proof
		reason string
	}{{unknowable, timeAmbiguous}, {uncovered, coverageIncomplete}} {
		for _, x := range g.o {
			if awaitsResults && w.covered(x) == want.answer {
				return AmbiguousC, want.reason, nil
			}
		}
		for _, x := range g.r {
			if awaitsOperations && w.exportShows(x) == want.answer {
				return AmbiguousC, want.reason, nil
			}
		}
	}
	if !counted {
		return Divergent, incompleteGroup, nil
	}
	return Divergent, amountGroupDiffers, decl.Fields()
}

// groupStatus is V19 over the results of a group, "" where none says anything but what is
// expected.
func (w *world) groupStatus(g *group) (Class, string) {
	has := func(s rules.Status) bool {
		return s != w.expected() && slices.ContainsFunc(g.r, func(r *row) bool { return w.status(r) == s })
	}
	switch {
	case has(rules.Unmapped):
		return AmbiguousC, unmappedStatus
	case has(rules.Unknown):
		return AmbiguousC, outcomeUnknown
	case has(rules.Pending):
		switch w.groupDue(g) {
		case dueUnknown:
			return AmbiguousC, timeAmbiguous
		case dueLater:
			return NotDue, pendingAtProvider
		}
		return AmbiguousC, outcomeUnknown
	case slices.ContainsFunc(g.r, func(r *row) bool { return w.status(r) != w.expected() }):
		return Divergent, statusConflict
	}
	return "", ""
}

// groupDue tells whether all operations are due (V25): unknown where it is of one, else
// later where one is not due.
func (w *world) groupDue(g *group) due {
	answer := dueNow
	for _, o := range g.o {
		switch w.due(o) {
		case dueUnknown:
			return dueUnknown
		case dueLater:
			answer = dueLater
		}
	}
	return answer
}

// resultsMayCome is V24 and V25 for a group that may lack results.
func (w *world) resultsMayCome(g *group) (Class, string) {
	for _, o := range g.o {
		if _, lease, ok := w.span(o, "lease_until"); ok && lease > w.asOf() {
			return NotDue, inProgress
		}
	}
	switch w.groupDue(g) {
	case dueUnknown:
		return AmbiguousC, timeAmbiguous
	case dueLater:
		return NotDue, withinWindow
	}
	return "", ""
}

// unreadableIn lists the fields of the equation, then those of the stated numbers, that
// some member has no readable value in.
func (w *world) unreadableIn(g *group) []string {
	decl := w.job.Match[g.pass].Group
	bad := map[string]bool{}
	for _, side := range []struct {
		rows  []*row
		terms []rules.Term
		count string
	}{{g.o, decl.Operations, decl.Count.Operations}, {g.r, decl.Results, decl.Count.Results}} {
		for _, x := range side.rows {
			for _, t := range side.terms {
				bad[t.Field] = bad[t.Field] || w.bit(x, "bad", t.Field)
			}
			if side.count != "" {
				bad[side.count] = bad[side.count] || w.bit(x, "bad", side.count)
			}
		}
	}
	var out []string
	for _, f := range append(decl.Fields(), decl.Count.Operations, decl.Count.Results) {
		if bad[f] && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// exactly adds decimals of any length.
var exactly = apd.BaseContext.WithPrecision(200)

// sum adds up the terms over the rows; false where a value is not there.
func (w *world) sum(rows []*row, terms []rules.Term) (*apd.Decimal, bool) {
	total := apd.New(0, 0)
	for _, x := range rows {
		for _, t := range terms {
			v, ok := x.field(t.Field).(*apd.Decimal)
			if !ok {
				return nil, false
			}
			add := exactly.Add
			if t.Minus {
				add = exactly.Sub
			}
			if _, err := add(total, total, v); err != nil {
				return nil, false
			}
		}
	}
	return total, true
}

// stated is the number of rows that the rows state together; false where the field is not
// declared, or one of them states nothing.
func (w *world) stated(rows []*row, field string) (*apd.Decimal, bool) {
	if field == "" {
		return nil, false
	}
	return w.sum(rows, []rules.Term{{Field: field}})
}

// tolerated is the absolute tolerance of a group: of its currency where one is declared
// by currency.
func (w *world) tolerated(g *group) string {
	decl := w.job.Match[g.pass].Group
	if decl.AbsoluteBy == nil {
		return decl.Absolute
	}
	currency, _ := g.o[0].text(fmt.Sprintf("s%d", g.pass))
	return decl.AbsoluteBy[currency]
}

// ofGroup is the one proposal of a group that is not correct, shown by its operation and
// its result with the least fingerprints.
func (w *world) ofGroup(g *group) Proposal {
	first := leastPrint(g.o)
	return w.ruled(unit{o: first, r: leastPrint(g.r), class: first.decided.Class, reason: first.decided.Reason, wanted: Review})
}

func leastPrint(rows []*row) *row {
	out := rows[0]
	for _, x := range rows[1:] {
		if print64(x) < print64(out) {
			out = x
		}
	}
	return out
}
