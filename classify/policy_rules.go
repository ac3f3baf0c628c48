package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// RuleColumns says how the columns of a row are called for a rule of the policy.
type RuleColumns struct{ Class, Reason, Proposal, CaseID string }

// RuleSQL renders the condition of a rule over an operation o and a result r, which
// may be missing (their columns are NULL then), and the columns of the verdict. A
// product field of the operations comes before one of the results with r_ before it.
func RuleSQL(job *rules.Job, ops, res *extract.Layout, rule rules.PolicyRule, x RuleColumns) string {
	if rule.When == nil {
		return "true"
	}
	o, r := match.Columns(job, ops, "o"), match.Columns(job, res, "r")
	return "coalesce(" + rule.When.SQL(func(field string) string {
		switch field {
		case "class":
			return x.Class
		case "reason":
			return x.Reason
		case "proposal":
			return x.Proposal
		case "case_id":
			return x.CaseID
		}
		if name, ok := strings.CutPrefix(field, "r_"); ok && !o.Has(field) {
			return r.InExpr(name)
		}
		return o.InExpr(field)
	}) + ", false)"
}

// ruleNo is the number of the first rule that fits, from 1; NULL where none does.
func (c *classifier) ruleNo(x RuleColumns) string {
	var b strings.Builder
	for i, r := range c.job.PolicyRules {
		fmt.Fprintf(&b, " WHEN %s THEN %d", RuleSQL(c.job.Job, c.ops.Layout, c.res.Layout, r, x), i+1)
	}
	if b.Len() == 0 {
		return "CAST(NULL AS SMALLINT)"
	}
	return "CAST(CASE" + b.String() + " END AS SMALLINT)"
}

// byRule is one value of the rule of that number, rest where none fits or the rule
// says nothing.
func (c *classifier) byRule(no string, value func(rules.PolicyRule) string, rest string) string {
	var b strings.Builder
	for i, r := range c.job.PolicyRules {
		if v := value(r); v != "" {
			fmt.Fprintf(&b, " WHEN %d THEN %s", i+1, v)
		}
	}
	if b.Len() == 0 {
		return rest
	}
	return "CASE " + no + b.String() + " ELSE " + rest + " END"
}

// namesResults tells whether a rule looks at the results, whose rows plain items do
// not read otherwise.
func (c *classifier) namesResults() bool {
	for _, r := range c.job.PolicyRules {
		if r.When == nil {
			continue
		}
		for _, f := range r.When.Fields() {
			if strings.HasPrefix(f, "r_") && !c.o.Has(f) {
				return true
			}
		}
	}
	return false
}

// namesCase tells whether a rule holds for cases that it names, and for no other: with
// the id of any other case it is false, whatever the rest of the row says. Ids that
// begin with every three digits are tried, so that no pattern passes for a name.
func namesCase(r rules.PolicyRule) bool {
	if r.When == nil || !slices.Contains(r.When.Fields(), "case_id") {
		return false
	}
	for i := range 1<<12 + 1 {
		id := fmt.Sprintf("%03x%s", i, strings.Repeat("z", 29)) // no id of a case: those are hexadecimal
		if i == 1<<12 {
			id = ""
		}
		holds, unknown := r.When.Eval(func(field string) any {
			if field == "case_id" {
				return id
			}
			return nil
		})
		if holds || unknown {
			return false
		}
	}
	return true
}

// ruled decides what becomes of each unit: what its policy wants, else the first rule
// that fits; and the guard over both.
func (c *classifier) ruled() error {
	var named []string
	for i, r := range c.job.PolicyRules {
		if r.Propose == string(Compensate) && namesCase(r) {
			named = append(named, fmt.Sprint(i+1))
		}
	}
	pardon := "0"
	if len(named) > 0 {
		pardon = fmt.Sprintf("CASE WHEN class = 'unexpected' AND rule_no IN (%s) THEN %d ELSE 0 END", strings.Join(named, ", "), OfUnexpected)
	}
	caseID := c.caseID()
	return c.exec("ruled", duck.Slots{
		"case":     caseID,
		"rule_no":  c.ruleNo(RuleColumns{Class: "CAST(u.class AS VARCHAR)", Reason: "CAST(u.reason AS VARCHAR)", Proposal: "u.wanted", CaseID: caseID}),
		"proposed": c.byRule("rule_no", func(r rules.PolicyRule) string { return duck.Literal(r.Propose) }, "by_policy"),
		"judge":    judgeSQL(), "situation": situationSQL("failed", "lifted"), "pardon": pardon,
		"class_bit": fmt.Sprint(WrongClass), "newer_bit": fmt.Sprint(NewerVersion), "allowances": fmt.Sprint(Allowances)})
}

// caseID is the id of the case that a unit u with its rows o and r belongs to: stable
// across runs and without the class. It goes by the operation, that of a surplus effect
// and of a result without one by the result, that of a group by its key.
func (c *classifier) caseID() string {
	job, o, r := duck.Literal(c.job.Name), c.caseOfOperation(), c.caseOfResult()
	id := fmt.Sprintf(`md5(concat_ws('|', 'case', %s, CASE WHEN u.reason = 'surplus_effect' OR o.rid IS NULL THEN 'results' ELSE 'operations' END,
    CASE WHEN u.reason = 'surplus_effect' THEN coalesce(%s, CAST(r.w1 AS VARCHAR)) ELSE coalesce(%s, CAST(o.w1 AS VARCHAR), %[2]s, CAST(r.w1 AS VARCHAR)) END))`, job, r, o)
	if !c.hasGroups() {
		return id
	}
	key := c.byGroupPass(func(i int, g *rules.Group) string {
		same := "''"
		if len(g.Same) > 0 {
			same = fmt.Sprintf("o.s%d", i)
		}
		return fmt.Sprintf("concat_ws('|', %s, o.k%d, %s)", duck.Literal(c.job.Match[i].Name), i, same)
	})
	return "CASE WHEN " + c.ofGroup() + " THEN md5(concat_ws('|', 'case', " + job + ", 'group', CASE u.pass" + key + " END)) ELSE " + id + " END"
}

func (c *classifier) caseOfOperation() string {
	var keys []string
	for _, i := range c.identity() {
		keys = append(keys, fmt.Sprintf("'%d:' || o.k%d", i, i))
	}
	if len(keys) == 0 {
		return "CAST(NULL AS VARCHAR)"
	}
	return "coalesce(" + strings.Join(keys, ", ") + ")"
}

func (c *classifier) caseOfResult() string {
	if c.res.Layout.RecordID() != "" {
		return "r.kx"
	}
	return "CAST(NULL AS VARCHAR)"
}
