package doctor

import (
	"cmp"
	"slices"
	"strings"
)

// compared says which fields are compared.
func (p *Pair) compared() error {
	if p.opt.Compare == nil {
		if err := p.oneAmount(); err != nil {
			return err
		}
	}
	l, r := p.Left.fieldColumns(), p.Right.fieldColumns()
	var what []string
	defer func() {
		if len(what) > 0 {
			p.assume("compared: %s", strings.Join(what, "; "))
		} else {
			p.assume("nothing is compared but presence: name columns by --compare")
		}
	}()
	if p.opt.Compare == nil {
		for _, name := range []string{"amount", "currency"} {
			if l[name] != "" && r[name] != "" {
				p.compare = append(p.compare, line{"- {field: " + name + "}", "GUESS, likely"})
				what = append(what, compareText(name, p.Left.Column(l[name]), p.Right.Column(r[name])))
			}
		}
		if p.Right.look.d.preset == nil && r["status"] != "" && p.mapped() {
			p.compare = append(p.compare, line{"- {field: status, expect: succeeded}", "by the map of the results"})
			what = append(what, "status of the results, by what its texts seem to mean")
		}
		if p.Right.look.d.preset != nil {
			p.presetCompare()
			what = append(what, "what the preset gives")
		}
		return nil
	}
	for i, spec := range p.opt.Compare {
		a, b, err := p.columns(spec, "--compare")
		if err != nil {
			return err
		}
		name := fieldName(cmp.Or(sameField(a, b), a.Name), i)
		switch {
		case name == "status" || a.Field == "state" && b.Field == "status":
			p.statusText(a, b)
			name = "status"
		case p.amountPair(a, b):
			p.bindAmount(a, b)
			name = "amount"
		case a.Field != name || b.Field != name:
			p.define(name, a, b)
		}
		if slices.ContainsFunc(p.compare, func(l line) bool { return l.text == "- {field: "+name+"}" }) {
			continue
		}
		p.compare = append(p.compare, line{"- {field: " + name + "}", "as named"})
		what = append(what, compareText(name, a, b)+", as "+p.typeOf(name))
	}
	if err := p.oneAmount(); err != nil {
		return err
	}
	// Amounts compare only in one currency (V22).
	named := func(name string) bool {
		return slices.ContainsFunc(p.compare, func(l line) bool { return l.text == "- {field: "+name+"}" })
	}
	if named("amount") && !named("currency") && l["currency"] != "" && r["currency"] != "" {
		p.compare = append(p.compare, line{"- {field: currency}", "amounts compare only in one currency"})
		what = append(what, "currency, since amounts compare only in one currency")
	}
	return nil
}

// compareText names what is compared: the field, and the columns where they are
// called otherwise.
func compareText(name string, l, r *Column) string {
	if l.Name == name && r.Name == name {
		return name
	}
	return name + " (" + keyText(l, r) + ")"
}

func sameField(a, b *Column) string {
	if a.Field == b.Field {
		return a.Field
	}
	return ""
}

// statusText compares two texts as they are.
func (p *Pair) statusText(a, b *Column) {
	for _, x := range []struct {
		l *look
		c *Column
	}{{p.Left.look, a}, {p.Right.look, b}} {
		x.l.d.fields = slices.DeleteFunc(x.l.d.fields, func(f field) bool { return f.name == "status" })
		x.l.d.fields = append(x.l.d.fields, field{"status", x.c.Name, "compared as text"})
	}
}

// typeOf is the type of a field of the operations.
func (p *Pair) typeOf(name string) string {
	for _, f := range p.Left.look.d.fields {
		if v, ok := f.value.(pairs); ok && f.name == name {
			if t, ok := v.get("type"); ok {
				return t.(string)
			}
		}
	}
	return "text"
}

// mapped tells whether the status of the results has a map.
func (p *Pair) mapped() bool {
	return slices.ContainsFunc(p.Right.look.d.fields, func(f field) bool {
		v, ok := f.value.(pairs)
		if !ok || f.name != "status" {
			return false
		}
		_, has := v.get("map")
		return has
	})
}

// presetCompare compares what a preset of the results gives.
func (p *Pair) presetCompare() {
	for _, name := range []string{"amount", "currency"} {
		text := "- {field: " + name + "}"
		if p.Left.look.gives(name) && p.Right.look.gives(name) && !slices.ContainsFunc(p.compare, func(l line) bool { return l.text == text }) {
			p.compare = append(p.compare, line{text, ""})
		}
	}
	if p.Right.look.gives("status") {
		p.compare = append(p.compare, line{"- {field: status, expect: succeeded}", "by the map of the preset"})
	}
}
