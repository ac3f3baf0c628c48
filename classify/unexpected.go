package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// FormerKeys is the relation by which whoever read the former runs and the open cases
// of a job tells their identity keys: pass INTEGER (index of Job.Match), key VARCHAR
// (as staged). It is made before Run; an empty one says that nobody knew anything.
// Without it nobody has asked, and no effect that nobody asked for is undone (V31).
const FormerKeys = "former_keys"

// unexpectedFacts is V31 for effects that nobody asked for. Their policy goes by the
// type of the result.
func (c *classifier) unexpectedFacts() error {
	var n, former int64
	err := c.db.Scan(c.ctx, "SELECT (SELECT count(*) FROM verdicts_r WHERE class = 'unexpected'), (SELECT count(*) FROM duckdb_tables() WHERE table_name = "+duck.Literal(FormerKeys)+")", &n, &former)
	if err != nil {
		return err
	}
	if n == 0 {
		return c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE unexpected_facts (r_rid BIGINT, declared BOOLEAN, failed INTEGER)")
	}
	known := "false"
	if former > 0 {
		var or []string
		for _, i := range c.identity() {
			or = append(or, fmt.Sprintf("r.k%d IN (SELECT f.key FROM %s f WHERE f.pass = %d AND f.key IS NOT NULL)", i, FormerKeys, i))
		}
		// A row without a key is found in no former run, whoever looks.
		known = "NOT coalesce(" + strings.Join(append(or, "false"), " OR ") + ", false) AND NOT (" + c.noIdentity() + ")"
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
		ok(known, KnownBefore),
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
