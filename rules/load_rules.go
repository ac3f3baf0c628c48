package rules

import (
	"slices"
	"strings"
)

// RuleFields are the fields that the rules under `policy:` see: those of the
// operations, then class, reason, proposal (what the policy of the type would
// propose) and case_id as text, then those of the results under r_ and their name.
// Where two have one name, the first of pseudo fields, operations and results is
// meant.
func (j *Job) RuleFields() []Field {
	var out []Field
	add := func(f Field) {
		if !slices.ContainsFunc(out, func(x Field) bool { return x.Name == f.Name }) {
			out = append(out, f)
		}
	}
	for _, name := range pseudoFields {
		add(Field{Name: name, Type: Text, Scale: -1})
	}
	for _, f := range j.Operations.Fields {
		add(f)
	}
	for _, f := range j.Results.Fields {
		f.Name = resultPrefix + f.Name
		add(f)
	}
	return out
}

var pseudoFields = []string{"class", "reason", "proposal", "case_id"}

const resultPrefix = "r_"

// policyRules reads the rules in order.
func (d *decoder) policyRules(root *object, job *Job) []PolicyRule {
	var out []PolicyRule
	fields := job.RuleFields()
	options := map[string][]string{"class": Classes, "reason": d.reasons(job), "proposal": ruleProposals}
	always := ""                // the first rule that fits always
	seen := map[string]string{} // rendered condition → the first rule that has it
	root.objects("policy", policyRuleShape, func(i int, o *object) {
		r := PolicyRule{
			Name:    d.matching(o, "rule", ruleNamePattern, "lower-case letters, digits, hyphens and underscores"),
			Propose: choice(o, "propose", "", ruleProposals...),
			Owner:   o.text("owner", ""),
			Because: o.text("because", ""),
		}
		if slices.ContainsFunc(out, func(x PolicyRule) bool { return x.Name == r.Name && r.Name != "" }) {
			o.fail("rule", "give each rule a name of its own", "two policy rules are named %q", r.Name)
		}
		fits := !o.has("when")
		switch text := strings.TrimSpace(o.text("when", "true")); {
		case strings.EqualFold(text, "true"):
			fits = true
		case strings.EqualFold(text, "false"):
			o.fail("when", "remove the rule", "the rule %s never fits", r.Name)
		default:
			if r.When = d.expressionOf(o, "when", fields, options); r.When != nil {
				d.shadowed(o, r.When, job)
			}
		}
		condition := ""
		if r.When != nil {
			condition = r.When.SQL(func(f string) string { return f })
		}
		switch first := seen[condition]; {
		case always != "":
			d.warn(o.path, "move it above the other, or remove it", "the rule %s is never reached: %s fits always", r.Name, always)
		case condition != "" && first != "":
			d.warn(o.path, "move it above the other, or remove it", "the rule %s is never reached: %s has the same condition", r.Name, first)
		case r.When != nil:
			for _, x := range out {
				if x.When != nil && implies(r.When.root, x.When.root) {
					d.warn(o.path, "move it above the other, or remove it", "the rule %s is never reached: %s fits whatever it fits", r.Name, x.Name)
					break
				}
			}
		}
		if fits && always == "" {
			always = r.Name
		}
		if condition != "" && seen[condition] == "" {
			seen[condition] = r.Name
		}
		out = append(out, r)
	})
	return out
}

// shadowed warns of a field of the operations that a rule cannot see, since its name
// means something else there.
func (d *decoder) shadowed(o *object, e *Expr, job *Job) {
	for _, name := range e.Fields() {
		if slices.Contains(pseudoFields, name) && job.Operations.Field(name) != nil {
			d.warn(o.at("when"), "give the field of the operations another name where it is meant", "%s is what the run found, not the field %s of the operations", name, name)
		}
	}
}

// reasons are all that a row can have: those of the classes, and those of the job's
// own rules.
func (d *decoder) reasons(job *Job) []string {
	out := slices.Clone(takenReasons)
	if job.Period != nil {
		out = append(out, job.Period.Reason)
	}
	for _, r := range job.Scope {
		out = append(out, r.Reason)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
