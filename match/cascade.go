package match

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// begin makes the tables that the steps fill.
func (c *cascade) begin() error {
	for _, n := range both {
		if err := c.exec("marks", duck.Slots{"table": n.marks}); err != nil {
			return err
		}
	}
	for _, table := range []string{"links", "groups", "group_rows", "edges"} {
		if err := c.exec(table, nil); err != nil {
			return err
		}
	}
	return nil
}

// recordKeys lists the key columns that tell records of one side apart (V5):
// the record id where declared; else each identity key of the results, or the
// first one of the operations.
func (c *cascade) recordKeys(n names) []string {
	if c.relation(n.side).Layout.RecordID() != "" {
		return []string{"kx"}
	}
	var out []string
	for _, i := range c.identity() {
		out = append(out, key(i))
		if n.side == rules.Operations {
			break
		}
	}
	return out
}

// records is section B: copies, and several records of one record id.
func (c *cascade) records() error {
	for _, n := range both {
		if n, err := c.repeats(n); err != nil || n == 0 {
			if err != nil {
				return err
			}
			continue // no identity occurs twice: no copies, no conflicts
		}
		keys := c.recordKeys(n)
		var ids []string
		for _, i := range c.identity() {
			ids = append(ids, key(i))
		}
		if c.relation(n.side).Layout.RecordID() != "" {
			ids = append(ids, "kx")
		}
		if len(ids) == 0 {
			continue // rows without any identity are never copies of each other
		}
		has := "coalesce(" + strings.Join(ids, ", ") + ") IS NOT NULL"
		hasX := "coalesce(x." + strings.Join(ids, ", x.") + ") IS NOT NULL"
		if err := c.exec("copies", duck.Slots{"marks": n.marks, "contested": n.contested, "has_identity": has, "has_identity_x": hasX}); err != nil {
			return err
		}
		if err := c.lookupCopies(n, keys); err != nil {
			return err
		}
		for _, k := range keys {
			if err := c.exec("conflicts", duck.Slots{"marks": n.marks, "contested": n.contested, "key": recordColumn(k), "latest": c.latest(n)}); err != nil {
				return err
			}
			if err := c.exec("conflict_edges", duck.Slots{"bit": n.bit, "key": recordColumn(k), "marks": n.marks, "contested": n.contested}); err != nil {
				return err
			}
		}
	}
	// Only now: a row that is a duplicate itself stays one.
	for _, n := range both {
		o := other(n)
		if conflicts, err := c.count(n.marks + " WHERE reason = 'conflicting_copies'"); err != nil {
			return err
		} else if conflicts == 0 {
			continue
		}
		for _, record := range c.recordKeys(n) {
			for _, i := range c.identity() {
				s := duck.Slots{"table": "found", "bit": n.bit, "other": o.contested, "k": key(i), "record": recordColumn(record),
					"contested": n.contested, "marks": n.marks, "marks_other": o.marks}
				if err := c.exec("counterparts", s); err != nil {
					return err
				}
				if err := c.exec("counterpart_marks", duck.Slots{"marks": o.marks, "found": "found"}); err != nil {
					return err
				}
				if err := c.exec("counterpart_edges", duck.Slots{"bit": o.bit, "found": "found"}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// latest is the order of the survivor rule; NULL where there is none, so that
// nothing survives.
func (c *cascade) latest(n names) string {
	s := c.job.Spec(n.side).Survivor
	if s == nil {
		return "CAST(NULL AS BIGINT)"
	}
	return Columns(c.job.Job, c.relation(n.side).Layout, "").Field(s.Latest)
}

// scope is section C for the results.
func (c *cascade) scope() error {
	reason := ScopeReason(c.job.Job, Columns(c.job.Job, c.res.Layout, ""), rules.Results)
	if reason == "" {
		return nil
	}
	return c.exec("scope_results", duck.Slots{"reason": reason})
}

// ScopeReason is the reason of the first scope rule of the side that holds, NULL
// if none; "" where the job has none for the side.
func ScopeReason(job *rules.Job, s ColumnSet, side rules.Side) string {
	var b strings.Builder
	for _, r := range job.Scope {
		if r.Side == side {
			fmt.Fprintf(&b, " WHEN %s THEN %s", r.When.SQL(s.InExpr), duck.Literal(r.Reason))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "CASE" + b.String() + " END"
}

// passes runs the cascade (sections D and E). V12 follows the last identity pass.
func (c *cascade) passes() error {
	id := c.identity()
	for i, p := range c.job.Match {
		var err error
		switch {
		case p.Suggest:
		case p.Group != nil:
			err = c.groupPass(i)
		case p.Identity:
			err = c.identityPass(i)
			if err == nil && i == id[len(id)-1] {
				err = c.settle(id)
			}
		default:
			err = c.businessPass(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// free makes the tables of the rows that nothing has claimed yet.
func (c *cascade) free(columns string) error {
	for _, n := range both {
		if err := c.exec("free", duck.Slots{"table": n.free, "columns": columns, "contested": n.contested, "marks": n.marks, "link_rid": n.link}); err != nil {
			return err
		}
	}
	return nil
}

func (c *cascade) identityPass(i int) error {
	k, pass := key(i), fmt.Sprint(i)
	if err := c.free(", " + k); err != nil {
		return err
	}
	if err := c.exec("identity_pass", duck.Slots{"k": k}); err != nil {
		return err
	}
	if err := c.exec("identity_links", duck.Slots{"pass": pass}); err != nil {
		return err
	}
	var several int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM hits WHERE n > 1", &several); err != nil || several == 0 {
		return err
	}
	if err := c.exec("identity_several_r", duck.Slots{"pass": pass}); err != nil {
		return err
	}
	if err := c.exec("identity_several_o", duck.Slots{"pass": pass, "k": k}); err != nil {
		return err
	}
	return c.exec("identity_several_edges", duck.Slots{"pass": pass, "k": k})
}

// settle is V12, once, after the last identity pass.
func (c *cascade) settle(id []int) error {
	var settled, differing []string
	for _, i := range id {
		k := key(i)
		settled = append(settled, fmt.Sprintf("coalesce(o.%s = r.%s, true)", k, k))
		differing = append(differing, fmt.Sprintf("CASE WHEN o.%s <> r.%s THEN %s END", k, k, duck.Literal(c.job.Match[i].Name)))
	}
	err := c.exec("settle", duck.Slots{
		"settled":   strings.Join(settled, " AND "),
		"differing": "concat_ws(';', " + strings.Join(differing, ", ") + ")"})
	if err != nil {
		return err
	}
	if err := c.carriers(left, id); err != nil {
		return err
	}
	unsettled, err := c.count("judged WHERE NOT settled")
	if err != nil {
		return err
	}
	steps := []string{"relink"}
	if unsettled > 0 {
		if err := c.elsewhere(id); err != nil {
			return err
		}
		steps = append(steps, "disagree_r", "disagree_o", "disagree_edges")
	}
	for _, name := range steps {
		if err := c.exec(name, nil); err != nil {
			return err
		}
	}
	if err := c.pointing(id); err != nil {
		return err
	}
	return c.claimedElsewhere(id)
}

// carriers finds who carries which key on a side.
func (c *cascade) carriers(n names, id []int) error {
	for _, i := range id {
		if err := c.exec("carriers", duck.Slots{"table": carriers(n, i), "k": key(i), "contested": n.contested, "marks": n.marks}); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere finds the unsettled pairs of which a value belongs to another row: the
// value of the result to another operation, or the other way round.
func (c *cascade) elsewhere(id []int) error {
	if err := c.carriers(right, id); err != nil {
		return err
	}
	var elsewhere []string
	var joins strings.Builder
	for _, i := range id {
		k := key(i)
		elsewhere = append(elsewhere, fmt.Sprintf("coalesce(o.%s <> r.%s, false) AND (co%d.lo IS NOT NULL OR cr%d.lo IS NOT NULL)", k, k, i, i))
		fmt.Fprintf(&joins, "\n  LEFT JOIN %s co%d ON co%d.k = r.%s LEFT JOIN %s cr%d ON cr%d.k = o.%s",
			carriers(left, i), i, i, k, carriers(right, i), i, i, k)
	}
	return c.exec("settle_elsewhere", duck.Slots{"joins": joins.String(), "elsewhere": "(" + strings.Join(elsewhere, ") OR (") + ")"})
}

func carriers(n names, pass int) string { return fmt.Sprintf("carriers_%s%d", n.free[5:], pass) }

// pointing is V12 (b).
func (c *cascade) pointing(id []int) error {
	var cols, joins strings.Builder
	var keys, known, standing, lows, highs, first []string
	for _, i := range id {
		k := key(i)
		cols.WriteString(", " + k)
		keys = append(keys, fmt.Sprintf("CASE WHEN r.%s IS NULL THEN 0 ELSE 1 END", k))
		known = append(known, fmt.Sprintf("CASE WHEN c%d.k IS NULL THEN 0 ELSE 1 END", i))
		standing = append(standing, fmt.Sprintf("CASE WHEN c%d.lo IS NULL THEN 0 ELSE 1 END", i))
		lows = append(lows, fmt.Sprintf("c%d.lo", i))
		highs = append(highs, fmt.Sprintf("c%d.hi", i))
		first = append(first, fmt.Sprintf("WHEN c%d.k IS NOT NULL THEN %d", i, i))
		fmt.Fprintf(&joins, "\n  LEFT JOIN %s c%d ON c%d.k = r.%s", carriers(left, i), i, i, k)
	}
	if err := c.free(cols.String()); err != nil {
		return err
	}
	err := c.exec("pointing", duck.Slots{
		"keys": strings.Join(keys, " + "), "known": strings.Join(known, " + "), "standing": strings.Join(standing, " + "),
		"lows": strings.Join(lows, ", "), "highs": strings.Join(highs, ", "),
		"first": "CASE " + strings.Join(first, " ") + " END", "joins": joins.String()})
	if err != nil {
		return err
	}
	if err := c.exec("further_effects", nil); err != nil {
		return err
	}
	return c.exec("pointing_disagree", nil)
}

// claimedElsewhere is V12 (c), and the sets of the rows that disagree. A record that another
// one stands for claims nothing where a scope rule set aside a result under a key of the
// operation: what it stood for is judged by V28.
func (c *cascade) claimedElsewhere(id []int) error {
	var cols strings.Builder
	var counts, superseded, excluded []string
	for _, i := range id {
		k := key(i)
		cols.WriteString(", " + k)
		if err := c.exec("claimants", duck.Slots{"table": fmt.Sprintf("claimants_%d", i), "k": k}); err != nil {
			return err
		}
		for what, list := range map[string]*[]string{"counts": &counts, "superseded": &superseded, "excluded": &excluded} {
			*list = append(*list, fmt.Sprintf("coalesce(o.%s IN (SELECT k FROM claimants_%d WHERE %s), false)", k, i, what))
		}
	}
	if err := c.free(cols.String()); err != nil {
		return err
	}
	carried := fmt.Sprintf("%s OR (%s) AND NOT (%s)", strings.Join(counts, " OR "), strings.Join(superseded, " OR "), strings.Join(excluded, " OR "))
	if err := c.exec("claimed_elsewhere", duck.Slots{"carried": carried}); err != nil {
		return err
	}
	disagree, err := c.count("(SELECT reason FROM marks_o UNION ALL SELECT reason FROM marks_r) WHERE reason = 'keys_disagree'")
	if err != nil || disagree == 0 {
		return err
	}
	for _, i := range id {
		if err := c.exec("claimed_edges", duck.Slots{"pass": fmt.Sprint(i), "k": key(i)}); err != nil {
			return err
		}
	}
	return nil
}

// businessPass is V13 and V14.
func (c *cascade) businessPass(i int) error {
	k, pass := key(i), fmt.Sprint(i)
	filled := []string{"CAST(0 AS INTEGER)"}
	var later []int
	cols, differ := "", ""
	for n, j := range c.identity() {
		if j < i {
			filled = append(filled, fmt.Sprintf("CASE WHEN %s IS NULL THEN 0 ELSE %d END", key(j), 1<<n))
			continue
		}
		later = append(later, j)
		cols += ", " + key(j)
		differ += fmt.Sprintf(" OR coalesce(o.%s <> r.%s, false)", key(j), key(j))
	}
	cols += fmt.Sprintf(", %s, %s AS filled", k, strings.Join(filled, " + "))
	within := "true"
	for _, w := range c.job.Match[i].Within {
		col := duck.Ident("f_" + w.Field)
		cols += ", " + col
		within = and(within, withinSQL(c.job.Job, w))
	}
	if err := c.free(cols); err != nil {
		return err
	}
	if err := c.exec("key_groups", duck.Slots{"k": k}); err != nil {
		return err
	}
	if groups, err := c.count("key_groups"); err != nil || groups == 0 {
		return err // no key on both sides
	}
	if err := c.exec("candidates", duck.Slots{"k": k, "within": within, "later": differ}); err != nil {
		return err
	}
	if err := c.hotGroups(i, later, false, "candidates"); err != nil {
		return err
	}
	if err := c.exec("candidate_links", duck.Slots{"pass": pass}); err != nil {
		return err
	}
	for _, n := range both {
		if err := c.exec("candidate_several", duck.Slots{"marks": n.marks, "rid": n.link, "pass": pass}); err != nil {
			return err
		}
	}
	if err := c.exec("candidate_edges", nil); err != nil {
		return err
	}
	if err := c.exec("contradicted", nil); err != nil {
		return err
	}
	if err := c.hotGroups(i, later, true, "contradicted"); err != nil {
		return err
	}
	for _, n := range both {
		if err := c.exec("contradicted_marks", duck.Slots{"marks": n.marks, "rid": n.link, "pass": pass}); err != nil {
			return err
		}
	}
	return c.exec("contradicted_edges", nil)
}

// withinSQL: the boundary belongs to the window; a missing time is no candidate.
func withinSQL(job *rules.Job, w rules.Within) string {
	col := duck.Ident("f_" + w.Field)
	if f := job.Operations.Field(w.Field); f != nil && f.Type == rules.Date {
		return fmt.Sprintf("abs(date_diff('day', o.%s, r.%s)) <= %d", col, col, int64(w.Max.Hours()/24))
	}
	return fmt.Sprintf("abs(o.%s - r.%s) <= %d", col, col, w.Max.Microseconds())
}

// findings is V12 (d): identity keys that repeat among settled pairs.
func (c *cascade) findings() error {
	for _, i := range c.identity() {
		k := key(i)
		var n int64
		err := c.db.Scan(c.ctx, fmt.Sprintf(`SELECT count(*) FROM (
			SELECT r.%s FROM links l JOIN contested_r r ON r.rid = l.r_rid
			WHERE l.settled AND r.%s IS NOT NULL GROUP BY r.%s HAVING min(l.o_rid) < max(l.o_rid))`, k, k, k), &n)
		if err != nil {
			return err
		}
		if n > 0 {
			c.findingN = append(c.findingN, KeyFinding{c.job.Match[i].Name, n})
		}
	}
	return nil
}
