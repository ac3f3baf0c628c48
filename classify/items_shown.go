package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// itemTypes makes the types of what items have few values of: narrow rows stay
// narrow, sorts and dictionaries cheap.
func (c *classifier) itemTypes() error {
	rule := []string{"none"}
	c.ruleOf("rule_no", c.policy, func(name string) {
		if !slices.Contains(rule, name) {
			rule = append(rule, name)
		}
	})
	queues := make([]string, len(Queues))
	for i, q := range Queues {
		queues[i] = string(q)
	}
	for _, e := range []struct {
		name   string
		values []string
	}{{"item_queue", queues}, {"item_rule", rule}, {"item_state", c.stateNames()}, {"item_risk", riskTexts()}, {"item_recheck", recheckTexts()}} {
		if err := c.exec("enums", duck.Slots{"name": e.name, "values": literals(e.values)}); err != nil {
			return err
		}
	}
	return nil
}

// ruleOf renders the name of the rule behind an item: the rule of the job that fits, by
// its number, else the policy of its type. f is told every name.
func (c *classifier) ruleOf(no string, policy func(func(rules.TypePolicy) string, string) string, f func(name string)) string {
	byType := policy(func(p rules.TypePolicy) string {
		f("types." + p.Type)
		return duck.Literal("types." + p.Type)
	}, "'none'")
	return "CAST(" + c.byRule(no, func(r rules.PolicyRule) string {
		f(r.Name)
		return duck.Literal(r.Name)
	}, byType) + " AS item_rule)"
}

// owner renders who answers for an item: whom the rule names, else whom the policy of
// its type does.
func (c *classifier) owner(no string, policy func(func(rules.TypePolicy) string, string) string) string {
	return c.byRule(no, func(r rules.PolicyRule) string { return text(r.Owner) }, policy(func(p rules.TypePolicy) string {
		return orNull(text(p.Owner))
	}, "CAST(NULL AS VARCHAR)"))
}

// because is the sentence of the rule behind an item; NULL where no rule fits.
func (c *classifier) because(no string) string {
	return c.byRule(no, func(r rules.PolicyRule) string { return text(r.Because) }, "CAST(NULL AS VARCHAR)")
}

// text is a literal, "" for none.
func text(s string) string {
	if s == "" {
		return ""
	}
	return duck.Literal(s)
}

func orNull(literal string) string {
	if literal == "" {
		return "CAST(NULL AS VARCHAR)"
	}
	return literal
}

// shown are the columns that an item shows of its operation o.
func (c *classifier) shown() duck.Slots {
	text := func(f string) string { return "CAST(" + c.o.Raw(f, "VARCHAR") + " AS VARCHAR)" }
	return duck.Slots{
		"operation_id":    text("operation_id"),
		"idempotency_key": text("idempotency_key"),
		"type":            text("type"),
		"entity_o":        text("entity"),
		"version":         text("version"),
		"amount_o":        text("amount"),
		"state":           text("state"),
		"attempts":        "TRY_CAST(" + c.o.Raw("attempts", "BIGINT") + " AS BIGINT)",
	}
}

// itemViews puts the items of residual rows and of plain pairs together.
func (c *classifier) itemViews() error {
	s := c.shown()
	text := func(f string) string { return "CAST(" + c.r.Raw(f, "VARCHAR") + " AS VARCHAR)" }
	s["remote_id"], s["entity_r"], s["amount_r"], s["type_r"] = text("remote_id"), text("entity"), text("amount"), text("type")
	s["destination"] = "CAST(" + c.o.Raw("destination", "VARCHAR") + " AS VARCHAR)"
	s["risk"] = riskSQL("CASE WHEN i.deferred THEN 'requeue' ELSE CAST(i.queue AS VARCHAR) END", "CAST(i.class AS VARCHAR)")
	s["owner"], s["because"], s["next_state"] = c.ownerOfItem(), c.because("i.rule_no"), c.nextState("i.queue", "i.o_rid")
	s["recheck"], s["recheck_since"] = recheckSQL("i.queue"), fmt.Sprintf("%s - %d", c.o.Instant("created_at"), c.job.ClockSkew.Microseconds())
	s["business_operation"], s["parameters"] = c.businessOperation(), c.parameters()
	// What the policy says of a field is about one operation and its result, not of a group.
	s["advice"] = "CASE " + c.ofGroups("WHEN g.o_rid IS NOT NULL THEN g.text ") + "WHEN i.class = 'divergent' THEN " + c.advice() + " ELSE " + c.hint + " END"
	s["groups"] = c.ofGroups("\nLEFT JOIN group_texts g ON g.o_rid = i.o_rid AND i.class <> 'correct'") + c.hintJoin
	narrow := ""
	if s["plain"] = ""; c.plainWanted() {
		s["plain"] = "UNION ALL BY NAME SELECT * FROM plain_items"
		narrow = "UNION ALL BY NAME SELECT * EXCLUDE (operation_id, idempotency_key, type, entity, version, amount, state, attempts, owner, because, next_state, risk) FROM plain_items"
	}
	if err := c.exec("items_wide", s); err != nil {
		return err
	}
	return c.exec("items_view", duck.Slots{"plain": narrow})
}

type risk struct{ of, text string }

// The risks of the acting queues, and of what is for review by its class.
var (
	queueRisks = []risk{
		{string(Requeue), "The effect is proven not to exist. Sent again with the same idempotency key before the item expires, it can happen once only."},
		{string(Compensate), "The operation has this effect twice. Undo the one named here, never the one to keep; undone twice it would be lost."},
		{string(Confirm), "None: only the local state moves."},
		{string(Close), "None: only the local state moves, by a documented rule."},
	}
	classRisks = []risk{
		{string(Ambiguous), "Unknown: the effect may exist. Sending it again could make it happen twice."},
		{string(Absent), "The effect is proven not to exist, but a check or a rule of the job stands against sending it again."},
		{string(Duplicate), "The effect exists more than once, or its record does. Undoing the wrong one would lose it."},
		{string(Unexpected), "Nobody asked for this effect as far as the export shows."},
	}
)

const otherRisk = "The effect exists: sending it again would make it happen twice."

func riskTexts() []string {
	out := []string{otherRisk}
	for _, r := range slices.Concat(queueRisks, classRisks) {
		out = append(out, r.text)
	}
	return out
}

// riskSQL says in words what acting twice, or wrongly, would do.
func riskSQL(queue, class string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CASE %s", queue)
	for _, r := range queueRisks {
		fmt.Fprintf(&b, "\n    WHEN '%s' THEN %s", r.of, duck.Literal(r.text))
	}
	fmt.Fprintf(&b, "\n    ELSE CASE %s", class)
	for _, r := range classRisks {
		fmt.Fprintf(&b, "\n      WHEN '%s' THEN %s", r.of, duck.Literal(r.text))
	}
	return b.String() + "\n      ELSE " + duck.Literal(otherRisk) + " END END"
}
