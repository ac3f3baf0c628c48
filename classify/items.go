package classify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// items is section H: SQL computes which checks fail, Judge decides, and what is
// left is written as queue items.
func (c *classifier) items() error {
	for _, step := range []func() error{c.requeueFacts, c.surplusFacts, c.itemTypes, c.units, c.writeItems, c.plainItems, c.canaries, c.outages, c.budget, c.itemViews, c.countItems} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ok renders a check: it fails unless the condition is true, so that what is
// unknown is never favourable.
func ok(cond string, check Check) string {
	return fmt.Sprintf("(CASE WHEN %s THEN 0 ELSE %d END)", cond, check)
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

// legal is true where the local state may move to the target; NULL or false where
// it is unknown.
func (c *classifier) legal(target string) string {
	from := c.job.States.Transitions[target]
	if len(from) == 0 {
		return "false"
	}
	return c.o.Raw("state", "VARCHAR") + " IN (" + literals(from) + ")"
}

func (c *classifier) final() string { return finalState(c.job.Job, c.o) }

func finalState(job *rules.Job, s match.ColumnSet) string {
	if len(job.States.Final) == 0 {
		return "false"
	}
	return s.Raw("state", "VARCHAR") + " IN (" + literals(job.States.Final) + ")"
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
		"confirm_failed": ok(c.legal("confirmed"), State),
		"close_failed":   ok(c.legal("not_applicable"), State),
		"out_of_period":  outOfPeriod, "no_item": noItem})
}

// judgeSQL renders Judge over what can occur: the function itself is asked for each
// wanted queue and class, once with no failed check and once with one.
func judgeSQL() string {
	var b strings.Builder
	for _, q := range Queues {
		for _, cl := range Classes {
			clean, refused := Judge(q, cl, 0), Judge(q, cl, State)
			if clean != Review {
				fmt.Fprintf(&b, " WHEN wanted = '%s' AND class = '%s' AND failed = 0 THEN '%s'", q, cl, clean)
			}
			if refused != Review {
				fmt.Fprintf(&b, " WHEN wanted = '%s' AND class = '%s' AND failed <> 0 THEN '%s'", q, cl, refused)
			}
		}
	}
	return b.String()
}

// itemSlots are the columns of every kind of item that follow from its operation.
func (c *classifier) itemSlots() duck.Slots {
	var caseO []string
	for _, i := range c.identity() {
		caseO = append(caseO, fmt.Sprintf("'%d:' || o.k%d", i, i))
	}
	if len(caseO) == 0 {
		caseO = []string{"CAST(NULL AS VARCHAR)"}
	}
	return duck.Slots{
		"job":        duck.Literal(c.job.Name),
		"case_o":     "coalesce(" + strings.Join(caseO, ", ") + ")",
		"currency_o": c.currency(c.o),
		"value_o":    c.value(c.o, rules.Operations),
		"since_o":    c.since(c.o, rules.Operations),
		"rule":       "CAST(" + c.ruleOf(func(string) {}) + " AS item_rule)",
	}
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

func (c *classifier) due() string {
	return c.policy(func(p rules.TypePolicy) string {
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
	caseR := "CAST(NULL AS VARCHAR)"
	if c.res.Layout.RecordID() != "" {
		caseR = "r.kx"
	}
	s["case_r"], s["currency_r"] = caseR, c.currency(c.r)
	s["value_r"], s["since_r"] = c.value(c.r, rules.Results), c.since(c.r, rules.Results)
	s["due"] = "CASE WHEN u.queue IN ('review', 'compensate') THEN " + c.due() + " END"
	s["judge"] = judgeSQL()
	s["refused"] = refusedSQL("u.failed")
	s["approvals"] = c.approvals()
	if err := c.exec("items", s); err != nil {
		return err
	}
	if err := c.db.Exec(c.ctx, "DROP TABLE units"); err != nil {
		return err
	}
	var copies int64
	if err := c.db.Scan(c.ctx, duck.MustParse(sqlFiles, "sql/item_copies.sql").Render(nil), &copies); err != nil || copies == 0 {
		return err
	}
	return c.exec("number_copies", nil)
}

// refusedSQL spells the codes of the failed checks, as Check.Codes does.
func refusedSQL(col string) string {
	var parts []string
	for i, n := range checkNames {
		parts = append(parts, fmt.Sprintf("CASE WHEN (%s >> %d) & 1 = 1 THEN '%s' END", col, i, n.Code))
	}
	return "nullif(concat_ws(';', " + strings.Join(parts, ", ") + "), '')"
}

// approvals needed by amount and currency; a threshold for another currency says
// nothing, so an amount in a currency without one needs them as well.
func (c *classifier) approvals() string {
	amount := c.o.Field("amount")
	return c.policy(func(p rules.TypePolicy) string {
		if p.Approvals == nil {
			return "0"
		}
		var b strings.Builder
		for _, cur := range sortedKeys(p.Approvals.Over) {
			fmt.Fprintf(&b, " WHEN %s = %s AND abs(%s) <= CAST('%s' AS DECIMAL(28,8)) THEN 0",
				c.o.Raw("currency", "VARCHAR"), duck.Literal(cur), amount, p.Approvals.Over[cur])
		}
		return fmt.Sprintf("CASE%s ELSE %d END", b.String(), p.Approvals.Approvers)
	}, "0")
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
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
	if s["observe"], err = c.observed("CASE WHEN coalesce("+c.legal("confirmed")+", false) THEN 'confirm' ELSE 'review' END", true); err != nil {
		return err
	}
	s["legal"], s["final"], s["due"] = c.legal("confirmed"), c.final(), c.due()
	if err := c.exec("plain_rows", s); err != nil {
		return err
	}
	return c.exec("plain_items", duck.Slots{"bit": fmt.Sprint(State)})
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
