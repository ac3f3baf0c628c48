package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// unexpectedFacts is V31 for effects that nobody asked for. Their policy goes by the
// type of the result.
func (c *classifier) unexpectedFacts() error {
	var n int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM verdicts_r WHERE class = 'unexpected'", &n); err != nil {
		return err
	}
	if n == 0 {
		return c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE unexpected_facts (r_rid BIGINT, declared BOOLEAN, failed INTEGER)")
	}
	if err := c.askFormer(); err != nil {
		return err
	}
	unknown, err := c.unknownBefore()
	if err != nil {
		return err
	}
	text := func(b bool) string { return fmt.Sprint(b) }
	checks := []string{
		ok(c.status()+" = 'succeeded'", NotSucceeded),
		ok(c.r.Raw("remote_id", "VARCHAR")+" IS NOT NULL", NoRemoteID),
		ok(c.policyR(func(p rules.TypePolicy) string { return text(undoes(p) != "") }, "false"), NoBusinessOperation),
		ok(c.given(c.r, unexpectedParameters), NoParameter),
		ok(hasPolicy(c.job.Job, c.r), NoPolicy),
		ok(c.policyR(func(p rules.TypePolicy) string { return text(p.Unexpected != nil && p.Unexpected.Owner != "") }, "false"), NoOwner),
		ok(text(c.job.Operations.WholeRegister), PartialRegister),
		ok(unknown, KnownBefore),
	}
	return c.exec("unexpected_facts", duck.Slots{
		"declared": c.policyR(func(p rules.TypePolicy) string { return text(p.Unexpected != nil) }, "false"),
		"checks":   strings.Join(checks, " |\n  ")})
}

func (c *classifier) noIdentity() string {
	and := []string{"true"}
	for _, i := range c.identity() {
		and = append(and, fmt.Sprintf("r.k%d IS NULL", i))
	}
	return strings.Join(and, " AND ")
}

// policyR is policy by the type of the result.
func (c *classifier) policyR(value func(rules.TypePolicy) string, none string) string {
	return match.PolicyCase(c.job.Job, c.r, value, none)
}

// undoes is the business operation for an effect that nobody asked for: that of the
// block `unexpected`, else what undoes effects of the type, which a rule may ask for
// that names the case.
func undoes(p rules.TypePolicy) string {
	if p.Unexpected != nil && p.Unexpected.CompensateWith != "" {
		return p.Unexpected.CompensateWith
	}
	return p.CompensateWith
}

func unexpectedParameters(p rules.TypePolicy) map[string]string {
	if p.Unexpected != nil && p.Unexpected.CompensateWith != "" {
		return p.Unexpected.CompensateParameters
	}
	return p.CompensateParameters
}
