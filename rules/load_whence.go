package rules

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// whence reads where the value of a field stands, other than in one column, and the
// way to it inside that column.
func (d *decoder) whence(o *object, f *Field) {
	var said []string
	for _, k := range []string{"column", "constant", "first_of", "cases", "join", "debit_credit", "sum_of_parts"} {
		if o.has(k) {
			said = append(said, k)
		}
	}
	if len(said) > 1 {
		o.fail(said[1], "keep one of the two", "%s says by %s and by %s where its values are", o.path, said[0], said[1])
	}
	f.Optional = o.boolean("optional", false)
	f.JSONPath = d.jsonPath(o)
	f.Where = d.where(o)
	o.objects("cases", caseShape, func(_ int, c *object) {
		f.Cases = append(f.Cases, FieldCase{Column: c.text("column", ""), Where: d.where(c)})
	})
	f.Constant = o.text("constant", "")
	f.FirstOf, f.Join = o.texts("first_of"), o.texts("join")
	if f.Join != nil && f.Type != Text {
		o.fail("join", "declare it as text", "%s joins texts, and is %s", o.at("join"), f.Type)
	}
	f.SumOfParts = o.boolean("sum_of_parts", false)
	if c := o.sub("debit_credit", debitCreditShape); c != nil {
		f.DebitCredit = &DebitCredit{Debit: c.text("debit", ""), Credit: c.text("credit", "")}
		if f.DebitCredit.Debit == f.DebitCredit.Credit && f.DebitCredit.Debit != "" {
			c.fail("credit", "name two columns; for one column with a mark beside it write sign_from", "%s: debit and credit are one column", c.path)
		}
	}
	if len(said) == 0 || said[0] == "column" {
		return
	}
	f.Column, f.Position = "", 0
	switch {
	case f.JSONPath != nil:
		o.fail("json_path", "name the one column that holds JSON", "%s: json_path goes into a column, which %s is not", o.path, said[0])
	case f.SumOfParts && f.Type != Decimal:
		o.fail("sum_of_parts", "add `type: decimal`", "%s: only decimals are added up", o.path)
	case (f.Constant != "" || f.SumOfParts) && f.Optional:
		o.fail("optional", "remove it", "%s is the same in every record, whatever columns a file has", o.path)
	}
	if o.has("sign_from") && f.DebitCredit != nil {
		o.fail("sign_from", "keep one of the two", "the sign of %s is said by debit_credit and by sign_from", o.path)
	}
}

// where reads which records are meant.
func (d *decoder) where(o *object) (out []Where) {
	if n := o.node("where"); n != nil {
		d.free(n, o.at("where"), func(column string, _, v *yaml.Node, p string) {
			out = append(out, Where{Column: column, In: d.texts(v, p)})
		})
		slices.SortFunc(out, func(a, b Where) int { return strings.Compare(a.Column, b.Column) })
	}
	return out
}

// maxJSONSteps bounds a way into a JSON text.
const maxJSONSteps = 16

func (d *decoder) jsonPath(o *object) []JSONStep {
	n := o.node("json_path")
	if n == nil {
		return nil
	}
	path := o.at("json_path")
	var steps []JSONStep
	for i, c := range d.items(n, path) {
		p := path
		if n.Kind == yaml.SequenceNode {
			p = index(path, i)
		}
		text, ok := d.scalar(c, p)
		if !ok {
			continue
		}
		step := JSONStep{Member: text}
		if c.ShortTag() == "!!int" && c.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
			nth, err := strconv.Atoi(text)
			if err != nil || nth == 0 || nth < -9999 || nth > 9999 {
				d.failAt(at(c), p, `elements count from 1, or from the end by -1; a member named by digits is written in quotes: "0"`, "%s: %s is no element", path, text)
				continue
			}
			step = JSONStep{Index: nth}
		}
		steps = append(steps, step)
	}
	if len(steps) > maxJSONSteps {
		o.fail("json_path", "", "%s has more than %d steps", path, maxJSONSteps)
	}
	return steps
}

// units reads unit and decimals of an amount.
func (d *decoder) units(o *object, f *Field) {
	f.MinorUnitsOf, f.MajorUnitsOf = o.text("minor_units_of", ""), o.text("major_units_of", "")
	if f.MinorUnitsOf != "" && f.MajorUnitsOf != "" {
		o.fail("major_units_of", "keep the one that the source writes", "%s is in minor and in major units", o.path)
	}
	f.ExtraDecimals = int(o.integer("extra_decimals", 0, 0, 8))
	if n := o.node("exponents"); n != nil {
		f.Exponents = map[string]int{}
		d.free(n, o.at("exponents"), func(code string, k, v *yaml.Node, p string) {
			digits, err := strconv.Atoi(v.Value)
			switch {
			case !currencyCode.MatchString(code):
				d.failAt(at(k), p, "three capital letters: ISK", "%s: %q is no currency", o.at("exponents"), code)
			case v.Kind != yaml.ScalarNode || err != nil || digits < 0 || digits > 8:
				d.failAt(at(v), p, "0 for yen, 2 for euro, 3 for dinars", "%s is not a whole number from 0 to 8", p)
			default:
				f.Exponents[code] = digits
			}
		})
	}
	if f.MinorUnitsOf != "" || f.MajorUnitsOf != "" {
		return
	}
	for _, k := range []string{"exponents", "extra_decimals"} {
		if o.has(k) {
			o.fail(k, "add `minor_units_of: currency`, or `major_units_of: currency`", "%s: the field does not say whose decimals these are", o.at(k))
		}
	}
}

func (d *decoder) zoneFrom(o *object) *ZoneFrom {
	c := o.sub("zone_from", zoneFromShape)
	if c == nil {
		return nil
	}
	if o.has("zone") {
		o.fail("zone_from", "keep one of the two", "%s has one zone, and a zone for each record", o.path)
	}
	z := &ZoneFrom{Column: c.text("column", ""), Zones: map[string]string{}}
	if n := c.node("zones"); n != nil {
		d.free(n, c.at("zones"), func(mark string, _, v *yaml.Node, p string) {
			if text, ok := d.scalar(v, p); ok {
				z.Zones[mark] = d.zoneNamed(text, p).String()
			}
		})
		if len(n.Content) == 0 {
			c.fail("zones", "list each text of the column with its zone", "%s is empty", c.at("zones"))
		}
	}
	return z
}

// columns are the source columns that the field reads by their names.
func (f *Field) columns() []string {
	var out []string
	if f.Column != "" {
		out = append(out, f.Column)
	}
	out = append(append(out, f.FirstOf...), f.Join...)
	if c := f.DebitCredit; c != nil {
		out = append(out, c.Debit, c.Credit)
	}
	for _, w := range f.Where {
		out = append(out, w.Column)
	}
	for _, c := range f.Cases {
		out = append(out, c.Column)
		for _, w := range c.Where {
			out = append(out, w.Column)
		}
	}
	if s := f.SignFrom; s != nil {
		out = append(out, s.Column)
	}
	if z := f.ZoneFrom; z != nil {
		out = append(out, z.Column)
	}
	return slices.DeleteFunc(out, func(c string) bool { return c == "" })
}

// whence writes where the value of a field stands.
func (t *tree) whence(f Field) {
	if f.Position > 0 {
		t.integer("column", int64(f.Position))
	} else {
		t.text("column", f.Column)
	}
	t.text("constant", f.Constant)
	t.texts("first_of", f.FirstOf)
	t.texts("join", f.Join)
	if c := f.DebitCredit; c != nil {
		t.sub("debit_credit", func(t *tree) {
			t.text("debit", c.Debit)
			t.text("credit", c.Credit)
		})
	}
	if len(f.JSONPath) > 0 {
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, s := range f.JSONPath {
			step := textNode(s.Member)
			if s.Index != 0 {
				step = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(s.Index)}
			}
			n.Content = append(n.Content, step)
		}
		t.set("json_path", n)
	}
	t.where(f.Where)
	t.list("cases", len(f.Cases), func(i int, t *tree) {
		t.text("column", f.Cases[i].Column)
		t.where(f.Cases[i].Where)
	})
	if f.SumOfParts {
		t.boolean("sum_of_parts", true)
	}
	if f.Optional {
		t.boolean("optional", true)
	}
}

func (t *tree) where(list []Where) {
	t.sub("where", func(t *tree) {
		for _, w := range list {
			t.texts(w.Column, w.In)
		}
	})
}

// units writes unit and decimals of an amount.
func (t *tree) units(f Field) {
	t.text("minor_units_of", f.MinorUnitsOf)
	t.text("major_units_of", f.MajorUnitsOf)
	t.sub("exponents", func(t *tree) {
		for _, c := range sortedKeys(f.Exponents) {
			t.integer(c, int64(f.Exponents[c]))
		}
	})
	if f.ExtraDecimals > 0 {
		t.integer("extra_decimals", int64(f.ExtraDecimals))
	}
}
