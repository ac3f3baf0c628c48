package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// groups judges the groups that match has found (V16). A job without a pass by groups has
// none of the relations.
func (c *classifier) groups() error {
	if !c.hasGroups() {
		return nil
	}
	scale, err := c.groupScale()
	if err != nil {
		return err
	}
	var members []string
	for i, p := range c.job.Match {
		if p.Group != nil {
			members = append(members, c.groupMember(i, rules.Operations, scale), c.groupMember(i, rules.Results, scale))
		}
	}
	statusField := "NULL"
	if i := c.statusField(); i >= 0 {
		statusField = duck.Literal(c.job.Compare[i].Name)
	}
	for _, step := range []struct {
		name  string
		slots duck.Slots
	}{
		{"group_members", duck.Slots{"members": strings.Join(members, "\nUNION ALL\n")}},
		{"group_facts", duck.Slots{"as_of": c.asOf()}},
		{"group_verdicts", duck.Slots{"period_reason": c.periodReason(), "status_field": statusField,
			"summed":     c.byGroupPass(func(_ int, g *rules.Group) string { return duck.Literal(strings.Join(g.Fields(), ";")) }),
			"unreadable": c.byGroupPass(func(_ int, g *rules.Group) string { return c.unreadableOf(g) }),
			"within":     c.byGroupPass(func(_ int, g *rules.Group) string { return withinGroup(g) })}},
		{"group_links", nil},
		{"group_hints", nil},
		{"group_texts", c.groupTexts()},
	} {
		if err := c.exec(step.name, step.slots); err != nil {
			return err
		}
	}
	return nil
}

func (c *classifier) hasGroups() bool { return HasGroups(c.job.Job) }

// HasGroups tells whether a job has a pass by groups, and with it the relations of groups.
func HasGroups(job *rules.Job) bool {
	return slices.ContainsFunc(job.Match, func(p rules.Pass) bool { return p.Group != nil })
}

// ofGroups is the piece of a statement that a job with groups has.
func (c *classifier) ofGroups(sql string) string {
	if !c.hasGroups() {
		return ""
	}
	return sql
}

// byGroupPass renders the arms of a CASE over the number of a pass by groups.
func (c *classifier) byGroupPass(value func(i int, g *rules.Group) string) string {
	var b strings.Builder
	for i, p := range c.job.Match {
		if p.Group != nil {
			fmt.Fprintf(&b, " WHEN %d THEN %s", i, value(i, p.Group))
		}
	}
	return b.String()
}

// groupFields are the fields of a side that decide about a group: those of its sum, then
// the number that it states.
func groupFields(g *rules.Group, s rules.Side) []string {
	var out []string
	for _, t := range g.Terms(s) {
		out = append(out, t.Field)
	}
	if f := g.Stated(s); f != "" && !slices.Contains(out, f) {
		out = append(out, f)
	}
	return out
}

// groupMember selects the members of one side of the groups of a pass.
func (c *classifier) groupMember(i int, side rules.Side, scale int) string {
	g := c.job.Match[i].Group
	layout := c.relation(side).Layout
	status, covered := "CAST(NULL AS VARCHAR)", "true"
	if side == rules.Results {
		covered = match.CoveredResult(c.job, match.Columns(c.job.Job, layout, "x"), c.ops.Coverage)
		if layout.HasStatus() {
			status = fmt.Sprintf("nullif(x.st, %s)", duck.Literal(string(match.ExpectedStatus(c.job.Job))))
		}
	}
	x := match.Columns(c.job.Job, layout, "x")
	stated := "NULL"
	if f := g.Stated(side); f != "" {
		// A number beyond any file is none that is found, and the sum of many stays one. The
		// functions would take NULL for the other number.
		stated = fmt.Sprintf("CASE WHEN %[1]s IS NOT NULL THEN greatest(least(%[1]s, 1000000000000), -1000000000000) END", x.Raw(f, ""))
	}
	mask := uint64(0)
	for _, f := range groupFields(g, side) {
		mask |= 1 << c.job.Spec(side).FieldIndex(f)
	}
	return duck.MustParse(sqlFiles, "sql/group_member.sql").Render(duck.Slots{
		"value": groupValue(x, g.Terms(side), scale), "type": groupType(scale), "stated": stated, "mask": fmt.Sprintf("CAST(%d AS UBIGINT)", mask),
		"status": status, "covered": covered, "same": groupSame(i, g), "pass": fmt.Sprint(i), "residual": residual(side), "side": duck.Literal(string(side))})
}

// groupSame is the key of the parts in which the rows x of a group agree.
func groupSame(i int, g *rules.Group) string {
	if len(g.Same) == 0 {
		return "''"
	}
	return fmt.Sprintf("x.s%d", i)
}

func (c *classifier) relation(side rules.Side) *extract.Relation {
	if side == rules.Operations {
		return c.ops
	}
	return c.res
}

func residual(side rules.Side) string {
	if side == rules.Operations {
		return "res_o"
	}
	return "res_r"
}

func groupType(scale int) string { return fmt.Sprintf("DECIMAL(38,%d)", scale) }

// groupValue is what a row adds to the sum of its side, exactly; NULL where a field is
// empty or cannot be read.
func groupValue(x match.ColumnSet, terms []rules.Term, scale int) string {
	var b strings.Builder
	for _, t := range terms {
		sign := " + "
		if t.Minus {
			sign = " - "
		}
		if b.Len() == 0 {
			sign = strings.TrimSpace(strings.TrimPrefix(sign, " + "))
		}
		fmt.Fprintf(&b, "%sCAST(%s AS %s)", sign, x.Raw(t.Field, ""), groupType(scale))
	}
	return b.String()
}

// groupScale is the number of decimals that holds every amount of every group. Exact or
// nothing: what 38 digits do not hold is an input fault.
func (c *classifier) groupScale() (int, error) {
	scale, whole, rows := 0, 0, int64(0)
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM group_rows", &rows); err != nil || rows == 0 {
		return 0, err
	}
	var widest string
	for i, p := range c.job.Match {
		if p.Group == nil {
			continue
		}
		for _, side := range rules.Sides {
			for _, t := range p.Group.Terms(side) {
				n, d, err := c.digits(i, side, t.Field)
				if err != nil {
					return 0, err
				}
				if scale = max(scale, d); n > whole {
					whole, widest = n, t.Field
				}
			}
		}
	}
	if need := whole + scale + len(fmt.Sprint(rows)) + 1; need > 38 {
		return 0, fail.New(fail.Input, "field %s: amounts with %d digits before and %d after the mark cannot be added up exactly over %d rows in 38 digits", widest, whole, scale, rows).
			WithHint("correct the values, or declare a scale for the field")
	}
	return scale, nil
}

// digits are those before and after the mark that hold every value of a field among the
// members of one side of the groups of a pass.
func (c *classifier) digits(pass int, side rules.Side, field string) (whole, decimals int, err error) {
	f, col := c.job.Spec(side).Field(field), duck.Ident("f_"+field)
	widest, longest := fmt.Sprintf("length(split_part(CAST(max(abs(%s)) AS VARCHAR), '.', 1))", col), fmt.Sprint(max(f.Scale, 0))
	if f.Type == rules.Decimal && f.Scale < 0 { // staged as text
		widest, longest = fmt.Sprintf("max(length(split_part(ltrim(%s, '-'), '.', 1)))", col), fmt.Sprintf("max(length(split_part(%s, '.', 2)))", col)
	}
	err = c.db.Scan(c.ctx, fmt.Sprintf(`SELECT coalesce(%s, 0), coalesce(%s, 0) FROM %s WHERE rid IN (
		SELECT m.rid FROM group_rows m JOIN groups g ON g.grp = m.grp WHERE g.pass = %d AND m.side = %s)`,
		widest, longest, residual(side), pass, duck.Literal(string(side))), &whole, &decimals)
	return whole, decimals, err
}

// withinGroup is a boolean over a row of group_facts: its sums differ by no more than the
// pass tolerates.
func withinGroup(g *rules.Group) string {
	if len(g.AbsoluteBy) == 0 {
		if within := compare.WithinSQL(g.Absolute, g.Relative, "r_total", "o_total"); within != "" {
			return within
		}
		return "false"
	}
	var b strings.Builder
	for _, code := range sortedNames(g.AbsoluteBy) {
		if amount := g.AbsoluteBy[code]; amount != "" {
			fmt.Fprintf(&b, " WHEN %s THEN %s", duck.Literal(code), compare.WithinSQL(amount, g.Relative, "r_total", "o_total"))
		}
	}
	rest := compare.WithinSQL("", g.Relative, "r_total", "o_total")
	if rest == "" {
		rest = "false"
	}
	if b.Len() == 0 {
		return rest
	}
	return "(CASE same" + b.String() + " ELSE " + rest + " END)"
}

// unreadableOf lists the fields of a group that some member has no readable value in.
func (c *classifier) unreadableOf(g *rules.Group) string {
	bit := func(side rules.Side, column, field string) string {
		if !slices.Contains(groupFields(g, side), field) {
			return "false"
		}
		return fmt.Sprintf("(%s >> %d) & 1 = 1", column, c.job.Spec(side).FieldIndex(field))
	}
	var names, parts []string
	for _, f := range slices.Concat(g.Fields(), groupFields(g, rules.Operations), groupFields(g, rules.Results)) {
		if slices.Contains(names, f) {
			continue
		}
		names = append(names, f)
		parts = append(parts, fmt.Sprintf("CASE WHEN %s OR %s THEN %s END", bit(rules.Operations, "o_bad", f), bit(rules.Results, "r_bad", f), duck.Literal(f)))
	}
	return "concat_ws(';', " + strings.Join(parts, ", ") + ")"
}

// groupTexts fills what is said of groups. A sum is that of amounts: where one of them is
// hidden, so is the sum.
func (c *classifier) groupTexts() duck.Slots {
	seen := c.byGroupPass(func(_ int, g *rules.Group) string {
		return fmt.Sprint(!slices.ContainsFunc(g.Fields(), func(f string) bool { return c.job.Redact.Fields[f] != "" }))
	})
	shown := func(text string) string {
		return "CASE WHEN (CASE v.pass" + seen + " END) THEN " + text + " ELSE '' END"
	}
	sum := func(total string) string {
		return shown("coalesce(' with the sum ' || CAST(" + total + " AS VARCHAR), ' without a sum, since a value is empty or cannot be read')")
	}
	many := func(n, one string) string {
		return "v." + n + " || CASE v." + n + " WHEN 1 THEN ' " + one + "' ELSE ' " + one + "s' END"
	}
	return duck.Slots{
		"pass_name": "CASE v.pass" + c.byGroupPass(func(i int, _ *rules.Group) string { return duck.Literal(c.job.Match[i].Name) }) + " END",
		"many_o":    many("operations", "operation"), "many_r": many("results", "result"),
		"sum_o": sum("v.o_total"), "sum_r": sum("v.r_total"),
		"difference": shown("coalesce(': a difference of ' || CAST(v.r_total - v.o_total AS VARCHAR), '')"),
		"place":      c.placeSQL("h.side", "h.rid"), "other_place": c.placeSQL("h.side", "h.other"),
	}
}

// placeSQL names a row of a side in words.
func (c *classifier) placeSQL(side, rid string) string {
	file := func(of *extract.Relation) string {
		var b strings.Builder
		for _, f := range of.Files {
			fmt.Fprintf(&b, " WHEN %d THEN %s", f.No, duck.Literal(f.Name))
		}
		if b.Len() == 0 {
			return "''"
		}
		return "CASE " + rid + " >> 40" + b.String() + " END"
	}
	return fmt.Sprintf("%[1]s || ' ' || CASE %[1]s WHEN 'operations' THEN %[2]s ELSE %[3]s END || ' record ' || (%[4]s & 1099511627775)", side, file(c.ops), file(c.res), rid)
}

// ofGroup is true for a unit u that is the one item of a group which is not correct.
func (c *classifier) ofGroup() string {
	var passes []string
	for i, p := range c.job.Match {
		if p.Group != nil {
			passes = append(passes, fmt.Sprint(i))
		}
	}
	if len(passes) == 0 {
		return "false"
	}
	return "(u.set_id IS NULL AND u.class <> 'correct' AND u.pass IN (" + strings.Join(passes, ", ") + "))"
}

// groupMembers are the verdicts of the members of one side, as another branch of the
// verdicts of all rows; "" where there can be none.
func (c *classifier) groupMembers(side rules.Side) string {
	return c.ofGroups(fmt.Sprintf(`
  UNION ALL
  SELECT m.rid, g.verdict, g.pass, g.link, CASE WHEN g.verdict LIKE 'correct/%%' THEN NOT (g.uncovered OR g.unknown) END, g.fields, CAST(NULL AS BIGINT), g.in_period
  FROM group_rows m JOIN group_verdicts g ON g.grp = m.grp WHERE m.side = %s`, duck.Literal(string(side))))
}
