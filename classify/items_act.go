package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// recheck says in words what whoever acts has to look at again at the moment of
// acting, by queue. The words name columns of the item and hold no value, so that
// nothing personal shows in them.
var recheck = []struct {
	queue Queue
	text  string
}{
	{Requeue, "No result under recheck_key since recheck_since; the operation still in expected_state and version; before expires_at."},
	{Compensate, "The effect remote_id is still there and not undone, and so is the one to keep; the operation still in expected_state and version."},
	{Confirm, "The operation still in expected_state and version."},
	{Close, "The operation still in expected_state and version."},
}

func recheckTexts() []string {
	var out []string
	for _, r := range recheck[:3] { // a confirmation and a closing have the same
		out = append(out, r.text)
	}
	return out
}

func recheckSQL(queue string) string {
	s := "CASE " + queue
	for _, r := range recheck {
		s += fmt.Sprintf(" WHEN '%s' THEN %s", r.queue, duck.Literal(r.text))
	}
	return s + " END"
}

// ownerOfItem is owner over the rows of an item; who undoes an effect that nobody
// asked for is named apart.
func (c *classifier) ownerOfItem() string {
	unexpected := c.policyR(func(p rules.TypePolicy) string {
		if p.Unexpected == nil || p.Unexpected.Owner == "" {
			return orNull(text(p.Owner))
		}
		return duck.Literal(p.Unexpected.Owner)
	}, "CAST(NULL AS VARCHAR)")
	rest := c.owner("i.rule_no", c.policyOf)
	return c.byRule("i.rule_no", func(r rules.PolicyRule) string { return text(r.Owner) },
		"CASE WHEN i.class = 'unexpected' THEN "+unexpected+" ELSE "+rest+" END")
}

// businessOperation is the operation by which a compensation undoes the effect.
func (c *classifier) businessOperation() string {
	none := "CAST(NULL AS VARCHAR)"
	return "CASE WHEN i.class = 'unexpected' THEN " + c.policyR(func(p rules.TypePolicy) string { return orNull(text(undoes(p))) }, none) +
		" ELSE " + c.policy(func(p rules.TypePolicy) string { return orNull(text(p.CompensateWith)) }, none) + " END"
}

// parameters of the business operation, as JSON.
func (c *classifier) parameters() string {
	return "CASE WHEN i.class = 'unexpected' THEN " + c.parametersJSON(c.r, unexpectedParameters) +
		" ELSE " + c.parametersJSON(c.o, func(p rules.TypePolicy) map[string]string { return p.CompensateParameters }) + " END"
}

// advice says for each differing field of which the policy knows the side that is
// right what is to be done: to send it again, or to correct it locally. It never tells
// to send an older version over a newer one, nor what would move money twice.
func (c *classifier) advice() string {
	return c.policy(func(p rules.TypePolicy) string {
		var parts []string
		for _, f := range sortedNames(p.Authority) {
			text := duck.Literal(adviceText(f, p.Authority[f], p.Risk))
			if p.Authority[f] == rules.Operations {
				text = "CASE WHEN i.reason = 'version_ahead' THEN " + duck.Literal(f+": "+adviceAhead) + " ELSE " + text + " END"
			}
			parts = append(parts, fmt.Sprintf("CASE WHEN list_contains(string_split(i.fields, ';'), %s) THEN %s END", duck.Literal(f), text))
		}
		if len(parts) == 0 {
			return "CAST(NULL AS VARCHAR)"
		}
		return "nullif(concat_ws('; ', " + strings.Join(parts, ", ") + "), '')"
	}, "CAST(NULL AS VARCHAR)")
}

const adviceAhead = "the operation is right, but the result is newer: find out who changed it, and do not send the older version over it"

func adviceText(field string, right rules.Side, risk string) string {
	switch {
	case right != rules.Operations:
		return field + ": the result is right, correct it locally"
	case risk == "" || risk == "none" || risk == "customer-visible":
		return field + ": the operation is right, send it again"
	}
	return field + ": the operation is right, have the result corrected; sent again it would be a second effect"
}
