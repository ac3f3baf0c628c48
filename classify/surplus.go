package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
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
	return c.exec("surplus_facts", duck.Slots{
		"partial": partial, "total": total,
		"remote":    c.r.Raw("remote_id", "VARCHAR"),
		"satisfies": "(" + strings.Join(satisfies, " AND ") + ")",
		"undo": c.policy(func(p rules.TypePolicy) string {
			if p.CompensateWith == "" {
				return "CAST(NULL AS VARCHAR)"
			}
			return duck.Literal(p.CompensateWith)
		}, "CAST(NULL AS VARCHAR)"),
		"no_good": fmt.Sprint(NoGoodEffect), "differs": fmt.Sprint(GoodEffectDiffers),
		"not_succeeded": fmt.Sprint(NotSucceeded), "not_settled": fmt.Sprint(NotSettled),
		"no_remote": fmt.Sprint(NoRemoteID), "no_business": fmt.Sprint(NoBusinessOperation)})
}
