package pipeline

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// ruleTrace says of the rules of the policy which one fits an item, and why those
// before it do not: their condition, and what stands in the fields that it names.
func (x *explainer) ruleTrace(item string) ([]string, error) {
	list := x.b.PolicyRules
	if len(list) == 0 {
		return nil, nil
	}
	proposal, err := x.proposalByPolicy(item)
	if err != nil {
		return nil, err
	}
	var fits strings.Builder
	for _, r := range list {
		fits.WriteString(", " + classify.RuleSQL(x.b.Job, x.rels[0].Layout, x.rels[1].Layout, r,
			classify.RuleColumns{Class: "i.class", Reason: "i.reason", Proposal: duck.Literal(proposal), CaseID: "i.case_id"}))
	}
	var o, r sql.NullInt64
	yes := make([]bool, len(list))
	dest := []any{&o, &r}
	for i := range yes {
		dest = append(dest, &yes[i])
	}
	if err := x.db.Scan(x.ctx, explainSQL("rules").Render(duck.Slots{"fits": fits.String(), "item": duck.Literal(item)}), dest...); err != nil {
		return nil, err
	}
	var values [2][]Value
	for i, rid := range []sql.NullInt64{o, r} {
		if rid.Valid {
			if values[i], err = x.values(rules.Sides[i], rid.Int64); err != nil {
				return nil, err
			}
		}
	}
	var out []string
	for i, rule := range list {
		if yes[i] {
			return append(out, "the rule "+rule.Name+" fits"+condition(rule)), nil
		}
		out = append(out, "the rule "+rule.Name+" does not fit"+condition(rule)+x.found(rule, values))
	}
	return append(out, "no rule fits, so that the policy of its type decides"), nil
}

func condition(r rules.PolicyRule) string {
	if r.When == nil {
		return ": it holds always"
	}
	return ": " + r.When.Text
}

// found lists what stands in the product fields that a rule names.
func (x *explainer) found(rule rules.PolicyRule, values [2][]Value) string {
	var out []string
	for _, name := range rule.When.Fields() {
		switch name {
		case "class", "reason", "proposal", "case_id":
			continue // they are shown already
		}
		v := valueOf(values[0], name)
		if of, ok := strings.CutPrefix(name, "r_"); ok && x.b.Operations.Field(name) == nil {
			v = valueOf(values[1], of)
		}
		if v == nil {
			out = append(out, name+" is empty")
		} else {
			out = append(out, fmt.Sprintf("%s is %s", name, *v))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; here " + strings.Join(out, ", ")
}

// proposalByPolicy is what the policy of the type wants for the row of an item.
func (x *explainer) proposalByPolicy(item string) (string, error) {
	var p Place
	var overtaken, declared bool
	err := x.db.Scan(x.ctx, explainSQL("wanted").Render(duck.Slots{"item": duck.Literal(item)}), &p.Class, &p.Reason, &overtaken, &declared)
	if err != nil {
		return "", err
	}
	switch {
	case overtaken:
		return string(classify.Close), nil
	case declared:
		return string(classify.Compensate), nil
	}
	return string(wanted(p)), nil
}
