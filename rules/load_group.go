package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// groupKeys belong to a pass by groups alone.
var groupKeys = []string{"same", "sum", "equation", "count", "tolerance"}

// group reads what makes a pass one by groups; nil where it is none.
func (d *decoder) group(o *object) *Group {
	if !o.has("group") {
		for _, k := range groupKeys {
			if o.has(k) {
				o.fail(k, "add `group: [payout_id]`, or remove it", "`%s` belongs to a pass by groups", k)
			}
		}
		return nil
	}
	for _, k := range []string{"on", "identity", "within", "suggest"} {
		if o.has(k) {
			o.fail(k, "remove it; the key of a group is `group`", "a pass by groups has no `%s`", k)
		}
	}
	g := &Group{}
	if o.has("same") {
		g.Same = d.keyParts(o, "same")
	}
	switch {
	case o.has("sum") && o.has("equation"):
		o.fail("equation", "keep one of the two", "`sum` is an equation already")
	case o.has("sum"):
		g.Operations = []Term{{Field: o.text("sum", "")}}
		g.Results = slices.Clone(g.Operations)
	case o.has("equation"):
		if e := o.sub("equation", equationShape); e != nil {
			g.Operations, g.Results = d.terms(e, "operations"), d.terms(e, "results")
		}
	default:
		d.fail(o.path, "add `sum: amount`, or `equation: {operations: …, results: …}`", "%s does not say what its groups add up", o.path)
	}
	if c := o.sub("count", groupCountShape); c != nil {
		g.Count = Count{Operations: c.text("operations", ""), Results: c.text("results", "")}
		if g.Count == (Count{}) {
			o.fail("count", "name the field that states it: `count: {results: items}`", "%s names no field", o.at("count"))
		}
	}
	d.groupTolerance(o, g)
	return g
}

var termForm = regexp.MustCompile(`^\s*([+-]?)\s*sum\s*\(\s*([a-z][a-z0-9_]*)\s*\)`)

// terms reads sum(gross) - sum(fee).
func (d *decoder) terms(o *object, key string) []Term {
	text := o.text(key, "")
	if text == "" {
		return nil // said already
	}
	var out []Term
	for rest := text; strings.TrimSpace(rest) != ""; {
		m := termForm.FindStringSubmatch(rest)
		if m == nil || m[1] == "" && len(out) > 0 {
			o.fail(key, "sums of fields, added and taken away: sum(gross) - sum(fee)", "%q is no sum of sums", text)
			return nil
		}
		t := Term{Field: m[2], Minus: m[1] == "-"}
		if slices.ContainsFunc(out, func(x Term) bool { return x.Field == t.Field }) {
			o.fail(key, "name it once", "%q adds up %s twice", text, t.Field)
		}
		out = append(out, t)
		rest = rest[len(m[0]):]
	}
	return out
}

// groupTolerance reads a decimal, or absolute (of each currency) and relative ones.
func (d *decoder) groupTolerance(o *object, g *Group) {
	n := o.node("tolerance")
	if n == nil {
		return
	}
	decimal := func(n *yaml.Node, p string) string {
		text, ok := d.scalar(n, p)
		if !ok {
			return ""
		}
		return d.decimalText(n, p, text)
	}
	if n.Kind != yaml.MappingNode {
		g.Absolute = decimal(n, o.at("tolerance"))
		return
	}
	t := d.object(n, groupToleranceShape, o.at("tolerance"))
	if a := t.node("absolute"); a != nil && a.Kind != yaml.MappingNode {
		g.Absolute = decimal(a, t.at("absolute"))
	} else if a != nil {
		g.AbsoluteBy = map[string]string{}
		d.free(a, t.at("absolute"), func(code string, _, v *yaml.Node, p string) {
			if text := decimal(v, p); text != "" {
				g.AbsoluteBy[code] = text
			}
			if code != strings.ToUpper(code) {
				d.fail(p, "write it as "+strings.ToUpper(code), "%q is no code of a currency", code)
			}
		})
	}
	if r := t.node("relative"); r != nil {
		if text, ok := d.scalar(r, t.at("relative")); ok {
			g.Relative = d.shareText(r, t.at("relative"), text)
		}
	}
}

// checkGroup: the sums can be added up, in one currency, and no identity key comes after
// them.
func (d *decoder) checkGroup(job *Job, i int) {
	p := &job.Match[i]
	g, path := p.Group, index("match", i)
	first := !slices.ContainsFunc(job.Match[:i], func(p Pass) bool { return p.Group != nil })
	if later := slices.IndexFunc(job.Match[i:], func(p Pass) bool { return p.Identity }); first && later > 0 {
		d.fail(path, "let it come after the last pass by identity key", "the pass %s by identity key comes after the groups of %s, which would hold its rows already", job.Match[i+later].Name, p.Name)
	}
	d.checkParts(job, g.Same, join(path, "same"))
	whence := "equation"
	if _, ok := d.places[join(path, "sum")]; ok {
		whence = "sum"
	}
	for _, s := range Sides {
		for _, t := range g.Terms(s) {
			at := join(path, whence)
			if whence == "equation" {
				at = join(at, string(s))
			}
			f, ok := d.fieldOf(job, s, t.Field, at)
			if !ok {
				continue
			}
			if !numeric(f.Type) {
				d.fail(at, "declare `type: decimal`", "the field %s of the %s is %s, it has no sum", f.Name, s, f.Type)
			}
			d.checkSumCurrency(job, s, f, g, path)
		}
		if name := g.Stated(s); name != "" {
			at := join(join(path, "count"), string(s))
			if f, ok := d.fieldOf(job, s, name, at); ok && f.Type != Integer {
				d.fail(at, "declare `type: integer`", "the field %s of the %s is %s, it states no number of rows", f.Name, s, f.Type)
			}
		}
	}
	if len(g.AbsoluteBy) > 0 && (len(g.Same) != 1 || !holdsCurrency(job, g.Same[0])) {
		d.fail(join(path, "tolerance.absolute"), "write `same: [currency]`, or one tolerance for all", "a tolerance by currency needs groups that agree in the currency, and in nothing else")
	}
}

func holdsCurrency(job *Job, k KeyPart) bool {
	f := job.Operations.Field(k.Operations)
	return f != nil && (f.Type == Currency || f.Name == "currency")
}

// checkSumCurrency: what is added up is of one currency (V16).
func (d *decoder) checkSumCurrency(job *Job, s Side, f *Field, g *Group, path string) {
	currency := cmp.Or(f.MinorUnitsOf, f.MajorUnitsOf, "currency")
	if job.Spec(s).Field(currency) == nil || slices.ContainsFunc(g.Same, func(k KeyPart) bool { return k.field(s) == currency }) {
		return
	}
	d.fail(path, "add `same: ["+currency+"]`; a side whose rows are of one currency has the field as well", "%s of the %s is added up over all currencies: sums are of one (V16)", f.Name, s)
}
