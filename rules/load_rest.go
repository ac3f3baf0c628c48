package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

func (d *decoder) period(o *object) *Period {
	if o == nil {
		return nil
	}
	return &Period{
		By:     o.text("by", ""),
		From:   d.instantTemplate(o, "from", "", false),
		Until:  d.instantTemplate(o, "until", "", false),
		Reason: d.reason(o, "out_of_period"),
	}
}

// instantTemplate reads a template that gives a day or an instant.
func (d *decoder) instantTemplate(o *object, name, def string, fileDate bool) Template {
	t := Template(o.text(name, def))
	if t == "" || !d.template(t, o.at(name), fileDate) {
		return t
	}
	text, err := t.fill(probeDate, probeDate)
	if err == nil {
		_, err = parseInstantText(text)
	}
	if err != nil {
		o.fail(name, "a day or a local time: 2026-08-20, {date+1}T04:00; with an offset an instant anywhere: 2026-08-20T04:00Z", "%s: %q is no instant", o.at(name), string(t))
	}
	return t
}

// takenReasons are the reasons of verdicts.md that a rule's reason would be
// mistaken for.
var takenReasons = []string{
	"equal", "within_tolerance", "field_differs", "version_behind", "version_ahead", "same_version_other_content", "status_conflict",
	"duplicate_effect", "amount_group_differs", "incomplete_group", "value_unreadable", "no_result", "failed_at_provider",
	"several_candidates", "keys_disagree", "counterpart_not_unique", "no_usable_key", "coverage_incomplete", "unattributed_result",
	"outcome_unknown", "unmapped_status", "time_ambiguous", "within_window", "in_progress", "pending_at_provider", "identical_copy",
	"superseded_attempt", "conflicting_copies", "surplus_effect", "no_operation", "failed_attempt",
}

func (d *decoder) reason(o *object, def string) string {
	if !o.has("reason") {
		return def
	}
	r := d.matching(o, "reason", namePattern, "lower-case letters, digits and underscores: fee_row")
	if slices.Contains(takenReasons, r) {
		o.fail("reason", "choose a reason of your own", "%s: %q is a reason of another verdict", o.at("reason"), r)
	}
	return r
}

func (d *decoder) scopes(root *object, job *Job) []ScopeRule {
	var out []ScopeRule
	root.objects("scope", scopeShape, func(_ int, o *object) {
		r := ScopeRule{
			Name:   d.matching(o, "rule", ruleNamePattern, "lower-case letters, digits, hyphens and underscores"),
			Side:   choice(o, "side", "", Operations, Results),
			Reason: d.reason(o, ""),
		}
		if slices.ContainsFunc(out, func(x ScopeRule) bool { return x.Name == r.Name && r.Name != "" }) {
			o.fail("rule", "give each rule a name of its own", "two scope rules are named %q", r.Name)
		}
		if r.Side != "" {
			r.When = d.expression(o, "when", job.Spec(r.Side).Fields)
		}
		out = append(out, r)
	})
	return out
}

// expression reads an expression over the fields.
func (d *decoder) expression(o *object, name string, fields []Field) *Expr {
	return d.expressionOf(o, name, fields, nil)
}

// expressionOf reads an expression in which some fields have no other texts than
// those of the options.
func (d *decoder) expressionOf(o *object, name string, fields []Field, options map[string][]string) *Expr {
	n := o.node(name)
	if n == nil {
		return nil
	}
	text, ok := d.scalar(n, o.at(name))
	if !ok {
		return nil
	}
	e, err := parseExprWith(text, fields, options)
	if err != nil {
		if ours := deadLetterFields[err.field]; ours != "" && slices.ContainsFunc(fields, func(f Field) bool { return f.Name == ours }) {
			err.Hint = "write " + ours + ": a recovery queue's " + err.field + " is read as the field " + ours
		}
		p := d.place(o.at(name))
		if line, ok := d.line(p); ok && n.Line == p.line && strings.Contains(line, text) {
			p.column = n.Column + err.Offset
			if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
				p.column++
			}
		}
		d.failAt(p, o.at(name), err.Hint, "%s: %s", o.at(name), err.Msg)
		return nil
	}
	return e
}

func (d *decoder) gates(root *object) []Gate {
	var out []Gate
	root.objects("gates", gateShape, func(_ int, o *object) {
		name := d.matching(o, "gate", ruleNamePattern, "lower-case letters, digits, hyphens and underscores")
		if slices.ContainsFunc(out, func(x Gate) bool { return x.Name == name && name != "" }) {
			o.fail("gate", "give each gate a name of its own", "two gates are named %q", name)
		}
		if !o.has("fail_when") {
			return
		}
		g, hint, err := parseGate(o.text("fail_when", ""))
		if err != nil {
			o.fail("fail_when", hint, "%s: %s", o.at("fail_when"), err)
			return
		}
		g.Name = name
		out = append(out, g)
	})
	return out
}

func (d *decoder) unattributed(o *object) Unattributed {
	if o == nil {
		return Unattributed{}
	}
	return Unattributed{Within: o.duration("within", 0), Contradicts: o.texts("contradicts")}
}

func (d *decoder) redact(o *object) Redact {
	r := Redact{Fields: map[string]string{}}
	if o == nil {
		return r
	}
	r.Key = d.secret(o, "key")
	if n := o.node("fields"); n != nil {
		d.free(n, o.at("fields"), func(name string, _, v *yaml.Node, p string) {
			how, ok := d.scalar(v, p)
			if !ok {
				return
			}
			if !slices.Contains(redactWays, how) {
				d.failAt(at(v), p, didYouMean(how, redactWays), "%s: %q is no way to redact", p, how)
				return
			}
			if how == "hash" {
				how = "token"
			}
			if how == "token" && !o.has("key") {
				d.failAt(at(v), p, "add `key: {file: redact.key}`", "%s: a token needs a key", p)
			}
			r.Fields[name] = how
		})
	}
	r.FreeTextOff = choice(o, "free_text", "on", "on", "off") == "off"
	if r.Exempt = o.texts("exempt"); len(r.Exempt) > 0 && r.FreeTextOff {
		o.fail("exempt", "keep one of the two", "%s exempts fields from what free_text: off leaves out altogether", o.at("exempt"))
	}
	return r
}

var defaultFormats = []string{"parquet", "ndjson", "html", "json", "md", "prom"}

func (d *decoder) outputs(o *object) Outputs {
	x := Outputs{Dir: "out", Formats: slices.Clone(defaultFormats), Rows: "narrow"}
	if o == nil {
		return x
	}
	x.Dir = o.text("dir", "out")
	if leaves(x.Dir) {
		o.fail("dir", "name a folder below the job file, or an absolute path", "%s: %q leaves the folder of the job", o.at("dir"), x.Dir)
	}
	if o.has("formats") {
		x.Formats = enums(o, "formats", outputFormats...)
	}
	x.Rows = choice(o, "rows", "narrow", "narrow", "wide")
	x.ConfirmNDJSON = o.boolean("confirm_ndjson", false)
	x.Metrics = d.metricsSinks(o.sub("metrics", metricsShape))
	x.Target = d.target(o)
	return x
}

// leaves tells whether a path holds "..", or a backslash that is one to others.
func leaves(p string) bool {
	return slices.Contains(strings.Split(strings.ReplaceAll(p, `\`, "/"), "/"), "..") || path.Clean(p) == ".."
}
