package naive

import (
	"fmt"

	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// Section B: records of one side that are the same thing.

func (w *world) setAside() {
	for _, side := range rules.Sides {
		w.copies(side)
		if side == rules.Results {
			w.lookupCopies()
		}
		w.fold(side)
	}
	w.counterparts()
}

// copies marks identical copies (V4): two records that share an identity key or
// the record id and are equal in every column. The lowest row id stands.
func (w *world) copies(side rules.Side) {
	rows := w.side(side)
	for i, x := range rows {
		for _, first := range rows[:i] {
			if first.decided == nil && sameRecord(first, x) && w.shareIdentity(first, x) {
				x.decide('B', Duplicate, identicalCopy)
				break
			}
		}
	}
}

func sameRecord(a, b *row) bool {
	return a.V["w1"] == b.V["w1"] && a.V["w2"] == b.V["w2"]
}

func (w *world) shareIdentity(a, b *row) bool {
	for _, column := range w.identityColumns() {
		if x, ok := a.text(column); ok {
			if y, ok := b.text(column); ok && x == y {
				return true
			}
		}
	}
	return false
}

// identityColumns are the columns that identify records: the record id, then the
// identity keys in pass order.
func (w *world) identityColumns() []string {
	columns := []string{"kx"}
	for i, p := range w.job.Match {
		if p.Identity {
			columns = append(columns, fmt.Sprintf("k%d", i))
		}
	}
	return columns
}

// fold looks at several records of one id with other content (V5).
//
// Reading: results are one thing by their remote id where it is declared, else
// by each identity key in pass order; operations by operation_id where declared,
// else by the first identity pass. A result without remote id, while one is
// declared, is an effect of its own.
func (w *world) fold(side rules.Side) {
	for _, column := range w.recordColumns(side) {
		for _, group := range w.groups(side, column) {
			if len(group) > 1 {
				w.foldGroup(side, group)
			}
		}
	}
}

// recordColumns are the columns by which records are one thing (V5).
func (w *world) recordColumns(side rules.Side) []string {
	columns := w.identityColumns()
	switch {
	case w.layout[side].RecordID() != "":
		columns = columns[:1]
	case side == rules.Operations:
		columns = columns[1:min(2, len(columns))]
	default:
		columns = columns[1:]
	}
	return columns
}

// groups collects the records of a side that nothing has set aside yet, by the
// text of a column; results of two accounts are never one thing (V5).
func (w *world) groups(side rules.Side, column string) [][]*row {
	index := map[[2]string]int{}
	var groups [][]*row
	for _, x := range w.side(side) {
		id, ok := x.text(column)
		if !ok || x.decided != nil {
			continue
		}
		key := [2]string{w.account(x), id}
		at, seen := index[key]
		if !seen {
			at = len(groups)
			index[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], x)
	}
	return groups
}

// account of the source that a result came from, "" where it is not known.
func (w *world) account(x *row) string {
	if s := w.in.ResultSources[x.FileNo]; s != nil && x.side == rules.Results {
		return s.Coverage.Account
	}
	return ""
}

// foldGroup keeps the record with the unique greatest value of the survivor
// rule's field; without a rule, or on a tie, all of them conflict. Null is the
// lowest value, and only nulls are a tie.
func (w *world) foldGroup(side rules.Side, group []*row) {
	if rule := w.job.Spec(side).Survivor; rule != nil {
		if best := w.latest(group, rule.Latest); best != nil {
			for _, x := range group {
				if x != best {
					x.decide('B', Duplicate, supersededAttempt)
				}
			}
			return
		}
	}
	set := w.newSet()
	for _, x := range group {
		x.decide('B', Duplicate, conflictingCopies).SetID = set
	}
}

// latest is the record with the unique greatest value, nil on a tie.
func (w *world) latest(group []*row, field string) *row {
	var best *row
	tie := false
	for _, x := range group {
		if x.field(field) == nil {
			continue
		}
		if best == nil {
			best = x
			continue
		}
		switch c := order(x.field(field), best.field(field)); {
		case c > 0:
			best, tie = x, false
		case c == 0:
			tie = true
		}
	}
	if tie {
		return nil
	}
	return best
}

// order compares two values of one field that are there.
func order(a, b any) int {
	scheme := rules.VersionSemantic // texts, by their bytes
	if isNumber(a) {
		scheme = rules.VersionInteger
	}
	c, ok := compare.Order(b, a, rules.Compare{As: rules.AsVersion, Scheme: scheme})
	if !ok {
		panic(fmt.Sprintf("naive: no order between %v and %v", a, b))
	}
	return c
}

// counterparts marks the rows that carry any identity key of a conflicting
// record of the other side (V5), unless they are duplicates themselves.
func (w *world) counterparts() {
	for _, side := range rules.Sides {
		for _, bad := range w.side(side) {
			if !bad.is(Duplicate, conflictingCopies) {
				continue
			}
			for _, x := range w.side(side.Other()) {
				if !w.carries(x, bad) {
					continue
				}
				if x.decided == nil {
					x.decide('B', AmbiguousC, counterpartNotUnique).SetID = bad.decided.SetID
				} else if x.decided.SetID != 0 {
					w.join(x.decided.SetID, bad.decided.SetID)
				}
			}
		}
	}
}

// carries tells whether two rows have an identity key in common.
func (w *world) carries(a, b *row) bool {
	for i, p := range w.job.Match {
		if !p.Identity {
			continue
		}
		x, ok := a.key(i)
		y, ok2 := b.key(i)
		if ok && ok2 && x == y {
			return true
		}
	}
	return false
}
