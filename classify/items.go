package classify

import (
	"fmt"
	"maps"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// items is section H: SQL computes which checks fail, Judge decides, and what is
// left is written as queue items.
func (c *classifier) items() error {
	for _, step := range []func() error{c.requeueFacts, c.surplusFacts, c.unexpectedFacts, c.overtaken, c.itemTypes, c.units, c.ruled, c.writeItems, c.plainItems, c.canaries, c.outages, c.budget, c.itemViews, c.countItems} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ok renders a check: it fails unless the condition is true, so that what is
// unknown is never favourable.
func ok(cond string, check Check) string {
	return fmt.Sprintf("(CASE WHEN %s THEN 0 ELSE %s END)", cond, bit(check))
}

func (c *classifier) policy(value func(rules.TypePolicy) string, none string) string {
	return match.PolicyCase(c.job.Job, c.o, value, none)
}

func literals(xs []string) string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = duck.Literal(x)
	}
	return strings.Join(out, ", ")
}

func (c *classifier) units() error {
	noItem := "true" // a job without states: nothing to move
	if c.o.Has("state") {
		noItem = "coalesce(" + c.final() + ", false)"
	}
	outOfPeriod := "false"
	if c.job.Period != nil {
		outOfPeriod = "NOT v.in_period"
	}
	return c.exec("units", duck.Slots{
		"confirm_failed": c.confirmFailed(),
		"close_failed":   "(" + ok(c.legal(Close), State) + " | " + ok(c.hasPolicy(), NoPolicy) + ")",
		"out_of_period":  outOfPeriod, "no_item": noItem,
		"of_group": c.ofGroups("\n  AND (v.class = 'correct' OR v.rid NOT IN (SELECT m.rid FROM group_rows m JOIN group_verdicts g ON g.grp = m.grp WHERE m.side = 'operations' AND m.rid <> g.first_o))")})
}

// confirmFailed are the checks of a confirmation.
func (c *classifier) confirmFailed() string {
	return "(" + ok(c.legal(Confirm), State) + " | " + ok(c.hasPolicy(), NoPolicy) + ")"
}

// itemSlots are the columns of every kind of item that follow from its operation.
func (c *classifier) itemSlots() duck.Slots {
	return duck.Slots{
		"job":        duck.Literal(c.job.Name),
		"currency_o": c.currency(c.o),
		"value_o":    c.value(c.o, rules.Operations),
		"since_o":    c.since(c.o, rules.Operations),
	}
}

// policyOf is policy for an item: by the type of its operation o, else by that of its
// result r.
func (c *classifier) policyOf(value func(rules.TypePolicy) string, none string) string {
	of := c.policy(value, none)
	if r := c.policyR(value, none); c.r.Has("type") && (of != r || of != none) {
		return "CASE WHEN o.rid IS NULL THEN " + r + " ELSE " + of + " END"
	}
	return of
}

func (c *classifier) currency(s match.ColumnSet) string {
	return "CAST(" + s.Raw("currency", "VARCHAR") + " AS VARCHAR)"
}

// value is the exact amount, by which queues are added up; NULL where the decimals of
// a side are not declared, since then no type holds every amount.
func (c *classifier) value(s match.ColumnSet, side rules.Side) string {
	fixed := c.hasAmount(side)
	for _, x := range rules.Sides {
		fixed = fixed && (!c.hasAmount(x) || c.job.Spec(x).Field("amount").Scale >= 0)
	}
	if !fixed {
		return fmt.Sprintf("CAST(NULL AS DECIMAL(38,%d))", c.scale)
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(38,%d))", s.Raw("amount", ""), c.scale)
}

// since is the instant that ages go by: of creation where it is declared, else the
// field of the period.
func (c *classifier) since(s match.ColumnSet, side rules.Side) string {
	names := []string{"created_at"}
	if c.job.Period != nil {
		names = append(names, c.job.Period.By)
	}
	for _, n := range names {
		if f := c.job.Spec(side).Field(n); f != nil && f.Type == rules.Timestamp {
			return s.Raw(n, "BIGINT")
		}
	}
	return "CAST(NULL AS BIGINT)"
}

func (c *classifier) due(policy func(func(rules.TypePolicy) string, string) string) string {
	return policy(func(p rules.TypePolicy) string {
		if p.ReplyBy == 0 {
			return "CAST(NULL AS BIGINT)"
		}
		return fmt.Sprint(c.job.AsOfTime.Add(p.ReplyBy).UnixMicro())
	}, "CAST(NULL AS BIGINT)")
}

func (c *classifier) writeItems() error {
	s := c.itemSlots()
	var err error
	if s["observe"], err = c.observed("u.queue", false); err != nil {
		return err
	}
	s["currency_r"] = c.currency(c.r)
	s["value_r"], s["since_r"] = c.value(c.r, rules.Results), c.since(c.r, rules.Results)
	s["due"] = "CASE WHEN u.queue IN ('review', 'compensate') THEN " + c.due(c.policyOf) + " END"
	if c.o.Has("error_class") || c.o.Has("error_code") {
		s["due"] = "CASE WHEN " + c.critical() + " THEN " + c.asOf() + " ELSE " + s["due"] + " END"
	}
	s["rule"] = c.ruleOf("u.rule_no", c.policyOf, func(string) {})
	s["refused"] = refusedSQL("u.failed")
	s["approvals"] = c.approvals()
	s["group_print"], s["groups"] = c.ofGroups(", g.print"), c.ofGroups("\nLEFT JOIN group_texts g ON g.o_rid = u.o_rid")
	if err := c.exec("items", s); err != nil {
		return err
	}
	if err := c.db.Exec(c.ctx, "DROP TABLE units; DROP TABLE ruled"); err != nil {
		return err
	}
	var copies int64
	if err := c.db.Scan(c.ctx, duck.MustParse(sqlFiles, "sql/item_copies.sql").Render(nil), &copies); err != nil || copies == 0 {
		return err
	}
	return c.exec("number_copies", nil)
}

// approvals needed by amount and currency: of a compensation by the effect that is
// undone, of a requeue by the operation, and of what a person decides by both; there a
// correct effect moves nothing but the register. A threshold for another currency says
// nothing, so an amount in a currency without one needs them as well, and so does an
// unresolved set or a group, of which the item shows one row alone. NULL for a review without.
func (c *classifier) approvals() string {
	over := func(s match.ColumnSet) func(rules.TypePolicy) string {
		return func(p rules.TypePolicy) string {
			if p.Approvals == nil {
				return "0"
			}
			var b strings.Builder
			for _, cur := range sortedNames(p.Approvals.Over) {
				fmt.Fprintf(&b, " WHEN %s = %s AND abs(%s) <= CAST('%s' AS DECIMAL(28,8)) THEN 0",
					s.Raw("currency", "VARCHAR"), duck.Literal(cur), s.Field("amount"), p.Approvals.Over[cur])
			}
			return fmt.Sprintf("CASE%s ELSE %d END", b.String(), p.Approvals.Approvers)
		}
	}
	most := c.policyOf(func(p rules.TypePolicy) string {
		if p.Approvals == nil {
			return "0"
		}
		return fmt.Sprint(p.Approvals.Approvers)
	}, "0")
	ours, theirs := c.policy(over(c.o), "0"), c.policyOf(over(c.r), "0")
	return "CASE WHEN u.queue = 'compensate' THEN " + theirs + " WHEN u.queue = 'requeue' THEN " + ours +
		" WHEN u.class = 'correct' THEN NULL WHEN u.set_id IS NOT NULL" + c.ofGroups(" OR "+c.ofGroup()) + " THEN nullif(" + most +
		", 0) ELSE nullif(greatest(CASE WHEN u.o_rid IS NULL THEN 0 ELSE " + ours + " END, CASE WHEN u.r_rid IS NULL THEN 0 ELSE " + theirs + " END), 0) END"
}

// plainWanted tells whether plain pairs may have items.
func (c *classifier) plainWanted() bool { return c.o.Has("state") && c.m.PlainPairs > 0 }

// plainItems makes the items of plain pairs: their operations may move to confirmed.
func (c *classifier) plainItems() error {
	if !c.plainWanted() {
		return nil
	}
	s := c.itemSlots()
	maps.Copy(s, c.shown())
	var err error
	if s["observe"], err = c.observed("CASE WHEN "+c.confirmFailed()+" = 0 THEN 'confirm' ELSE 'review' END", true); err != nil {
		return err
	}
	s["case_o"] = c.caseOfOperation()
	id := "md5(concat_ws('|', 'case', " + s["job"] + ", 'operations', coalesce(" + s["case_o"] + ", CAST(o.w1 AS VARCHAR))))"
	s["rule_no"] = c.ruleNo(RuleColumns{Class: "'correct'", Reason: "'equal'", Proposal: "'confirm'", CaseID: id})
	s["rule"], s["owner"] = c.ruleOf("rule_no", c.policy, func(string) {}), c.owner("rule_no", c.policy)
	s["confirm_failed"], s["final"], s["due"], s["results"] = c.confirmFailed(), c.final(), c.due(c.policy), ""
	if c.namesResults() {
		// The pairs of the first key stand in no table: each side has the key once.
		s["results"] = fmt.Sprintf(`
LEFT JOIN (
  SELECT o_rid, r_rid FROM plain_links
  UNION ALL SELECT a.rid, b.rid FROM operations a JOIN results b ON b.h%[1]d = a.h%[1]d WHERE a.rid NOT IN (SELECT o_rid FROM plain_links)
) l ON l.o_rid = o.rid LEFT JOIN results r ON r.rid = l.r_rid`, c.m.PlainPass)
	}
	if err := c.exec("plain_rows", s); err != nil {
		return err
	}
	clean := Judge(Situation{Wanted: Confirm, Class: Correct})
	refused := Judge(Situation{Wanted: Confirm, Class: Correct}.Failing(State, 0))
	judged := fmt.Sprintf("SELECT *, allowed_failed AS failed, CASE WHEN allowed_failed = 0 THEN '%s' ELSE '%s' END AS queue FROM plain_rows", clean, refused)
	if len(c.job.PolicyRules) > 0 {
		judged = duck.MustParse(sqlFiles, "sql/plain_judged.sql").Render(duck.Slots{
			"judge": judgeSQL(), "situation": situationSQL("failed", "0"), "class_bit": fmt.Sprint(WrongClass), "clean": string(clean), "refused_to": string(refused),
			"proposed": c.byRule("rule_no", func(r rules.PolicyRule) string { return duck.Literal(r.Propose) }, "'confirm'")})
	}
	return c.exec("plain_items", duck.Slots{"judged": judged, "refused": refusedSQL("failed"), "because": c.because("rule_no"), "next_state": c.nextState("queue", "o_rid")})
}

func (c *classifier) countItems() error {
	c.out.Items = map[Queue]int64{}
	rows, err := c.db.Query(c.ctx, "SELECT queue, count(*) FROM items GROUP BY queue")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var q string
		var n int64
		if err := rows.Scan(&q, &n); err != nil {
			return err
		}
		c.out.Items[Queue(q)] = n
	}
	return rows.Err()
}
