package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// items is section H: SQL computes which checks fail, Judge decides, and what is
// left is written as queue items.
func (c *classifier) items() error {
	for _, step := range []func() error{c.requeueFacts, c.surplusFacts, c.units, c.writeItems, c.plainItems, c.budget, c.countItems} {
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

// itemSlots are the columns that every kind of item shows of its operation.
func (c *classifier) itemSlots() duck.Slots {
	text := func(s match.ColumnSet, f string) string { return "CAST(" + s.Raw(f, "VARCHAR") + " AS VARCHAR)" }
	var caseO []string
	for _, i := range c.identity() {
		caseO = append(caseO, fmt.Sprintf("'%d:' || o.k%d", i, i))
	}
	if len(caseO) == 0 {
		caseO = []string{"CAST(NULL AS VARCHAR)"}
	}
	return duck.Slots{
		"job":             duck.Literal(c.job.Name),
		"case_o":          "coalesce(" + strings.Join(caseO, ", ") + ")",
		"operation_id":    text(c.o, "operation_id"),
		"idempotency_key": text(c.o, "idempotency_key"),
		"type":            text(c.o, "type"),
		"entity_o":        text(c.o, "entity"),
		"version":         text(c.o, "version"),
		"amount_o":        text(c.o, "amount"),
		"currency_o":      text(c.o, "currency"),
		"state":           text(c.o, "state"),
		"attempts":        "CAST(" + c.o.Raw("attempts", "BIGINT") + " AS BIGINT)",
		"rule":            c.policy(func(p rules.TypePolicy) string { return duck.Literal("types." + p.Type) }, "'none'"),
		"owner": c.policy(func(p rules.TypePolicy) string {
			if p.Owner == "" {
				return "CAST(NULL AS VARCHAR)"
			}
			return duck.Literal(p.Owner)
		}, "CAST(NULL AS VARCHAR)"),
		"observe": fmt.Sprint(c.job.Mode == rules.Observe),
	}
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
	text := func(f string) string { return "CAST(" + c.r.Raw(f, "VARCHAR") + " AS VARCHAR)" }
	caseR := "CAST(NULL AS VARCHAR)"
	if c.res.Layout.RecordID() != "" {
		caseR = "r.kx"
	}
	s["case_r"], s["remote_id"] = caseR, text("remote_id")
	s["entity_r"], s["amount_r"], s["currency_r"] = text("entity"), text("amount"), text("currency")
	s["destination"] = "CAST(" + c.o.Raw("destination", "VARCHAR") + " AS VARCHAR)"
	s["due"] = "CASE WHEN u.queue IN ('review', 'compensate') THEN " + c.due() + " END"
	s["judge"] = judgeSQL()
	s["refused"] = refusedSQL("u.failed")
	s["risk"] = riskSQL("u.")
	s["approvals"] = c.approvals()
	return c.exec("items", s)
}

// refusedSQL spells the codes of the failed checks, as Check.Codes does.
func refusedSQL(col string) string {
	var parts []string
	for i, n := range checkNames {
		parts = append(parts, fmt.Sprintf("CASE WHEN (%s >> %d) & 1 = 1 THEN '%s' END", col, i, n.Code))
	}
	return "nullif(concat_ws(';', " + strings.Join(parts, ", ") + "), '')"
}

// riskSQL says in words what acting twice, or wrongly, would do.
func riskSQL(p string) string {
	return `CASE ` + p + `queue
    WHEN 'requeue' THEN 'The effect is proven not to exist. Sent again with the same idempotency key before the item expires, it can happen once only.'
    WHEN 'compensate' THEN 'The operation has this effect twice. Undo the one named here, never the one to keep; undone twice it would be lost.'
    WHEN 'confirm' THEN 'None: only the local state moves.'
    WHEN 'close' THEN 'None: only the local state moves, by a documented rule.'
    ELSE CASE
      WHEN ` + p + `class = 'ambiguous' THEN 'Unknown: the effect may exist. Sending it again could make it happen twice.'
      WHEN ` + p + `class = 'absent' THEN 'The effect is proven not to exist, but a check refuses to send it again.'
      WHEN ` + p + `class = 'duplicate' THEN 'The effect exists more than once, or its record does. Undoing the wrong one would lose it.'
      WHEN ` + p + `class = 'unexpected' THEN 'Nobody asked for this effect as far as the export shows.'
      ELSE 'The effect exists: sending it again would make it happen twice.' END END`
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

// plainItems adds the items of plain pairs: their operations may move to confirmed.
func (c *classifier) plainItems() error {
	if !c.o.Has("state") || c.m.PlainPairs == 0 {
		return nil
	}
	s := c.itemSlots()
	s["legal"], s["final"] = c.legal("confirmed"), c.final()
	s["bit"], s["due"] = fmt.Sprint(State), c.due()
	return c.exec("plain_items", s)
}

func (c *classifier) budget() error {
	l := c.job.Limits
	if l.RetryRows == 0 || l.RetryPer == 0 {
		return nil
	}
	return c.exec("budget", duck.Slots{"rows": fmt.Sprint(l.RetryRows), "per": fmt.Sprint(l.RetryPer.Microseconds())})
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
