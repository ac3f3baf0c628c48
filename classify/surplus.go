package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// surplusFacts is V31 for surplus effects.
func (c *classifier) surplusFacts() error {
	var surplus int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM linked WHERE r_verdict = 'duplicate/surplus_effect'", &surplus); err != nil {
		return err
	}
	if surplus == 0 {
		return c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE surplus_facts (o_rid BIGINT, r_rid BIGINT, kept BIGINT, keep_remote_id VARCHAR, failed INTEGER)")
	}
	// The effect that stays must alone be what was asked for: amount, currency and
	// version. A job that compares no amount cannot say so.
	satisfies, amount := []string{}, false
	for i, cmp := range c.job.Compare {
		if cmp.Name == "amount" || cmp.Name == "currency" || cmp.As == rules.AsVersion {
			satisfies = append(satisfies, fmt.Sprintf("p.%s <= 1", code(i)))
			amount = amount || cmp.Name == "amount"
		}
	}
	if !amount {
		satisfies = []string{"false"}
	}
	partial := "false"
	if c.hasAmount(rules.Operations) && c.hasAmount(rules.Results) {
		partial = fmt.Sprintf("coalesce(abs(a.total) <= abs(CAST(%s AS DECIMAL(38,%d))), false)", c.o.Raw("amount", ""), c.scale)
	}
	total := "CAST(NULL AS DECIMAL(38,0))"
	if c.hasAmount(rules.Results) {
		total = fmt.Sprintf("CASE WHEN count(*) = count(r.f_amount) THEN sum(CAST(r.f_amount AS DECIMAL(38,%d))) END", c.scale)
	}
	unheld := c.unheld()
	if unheld == "" {
		unheld = "true"
	}
	return c.exec("surplus_facts", duck.Slots{
		"barred": strings.Join([]string{ok(unheld, OnHold), ok(c.hasPolicy(), NoPolicy), ok(c.undoable(), State)}, " | "),
		"given":  c.given(c.o, func(p rules.TypePolicy) map[string]string { return p.CompensateParameters }), "no_parameter": bit(NoParameter),
		"partial": partial, "total": total,
		"remote":    c.r.Raw("remote_id", "VARCHAR"),
		"satisfies": "(" + strings.Join(satisfies, " AND ") + ")",
		"undo": c.policy(func(p rules.TypePolicy) string {
			if p.CompensateWith == "" {
				return "CAST(NULL AS VARCHAR)"
			}
			return duck.Literal(p.CompensateWith)
		}, "CAST(NULL AS VARCHAR)"),
		"no_good": bit(NoGoodEffect), "differs": bit(GoodEffectDiffers),
		"not_succeeded": bit(NotSucceeded), "not_settled": bit(NotSettled),
		"no_remote": bit(NoRemoteID), "no_business": bit(NoBusinessOperation)})
}

// given is true where every parameter of the business operation has a value on the
// effect r; of is the side by whose type the policy goes.
func (c *classifier) given(of match.ColumnSet, parameters func(rules.TypePolicy) map[string]string) string {
	return match.PolicyCase(c.job.Job, of, func(p rules.TypePolicy) string {
		and := []string{"true"}
		for _, name := range sortedNames(parameters(p)) {
			and = append(and, "nullif("+c.parameter(parameters(p)[name])+", '') IS NOT NULL")
		}
		return "(" + strings.Join(and, " AND ") + ")"
	}, "true")
}

// parameter is the value of a parameter: a text in quotes, or a product field of the
// effect r as text.
func (c *classifier) parameter(of string) string {
	if n := len(of); n >= 2 && of[0] == '\'' && of[n-1] == '\'' {
		return duck.Literal(of[1 : n-1])
	}
	f := c.job.Results.Field(of)
	if f != nil && (f.Type == rules.Timestamp || f.Type == rules.Date) {
		// An instant is written with its offset; one that exists twice is no value.
		raw := "CASE WHEN NOT (" + c.r.Ambiguous(of) + ") THEN " + c.r.Raw(of, "") + " END"
		if f.Type == rules.Date {
			return "CAST(" + raw + " AS VARCHAR)"
		}
		return "strftime(make_timestamp(" + raw + "), '%Y-%m-%dT%H:%M:%S.%fZ')"
	}
	return "CAST(" + c.r.Raw(of, "VARCHAR") + " AS VARCHAR)"
}

// parametersJSON renders the parameters as the text of a JSON object, names in order,
// every value a text; NULL where the policy declares none.
func (c *classifier) parametersJSON(of match.ColumnSet, parameters func(rules.TypePolicy) map[string]string) string {
	none := "CAST(NULL AS VARCHAR)"
	return match.PolicyCase(c.job.Job, of, func(p rules.TypePolicy) string {
		if len(parameters(p)) == 0 {
			return none
		}
		var parts []string
		for _, name := range sortedNames(parameters(p)) {
			parts = append(parts, "to_json("+duck.Literal(name)+") || ':' || coalesce(CAST(to_json("+c.parameter(parameters(p)[name])+") AS VARCHAR), 'null')")
		}
		return "'{' || " + strings.Join(parts, " || ',' || ") + " || '}'"
	}, none)
}
