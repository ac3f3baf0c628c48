package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

var fieldName = regexp.MustCompile(namePattern)

// Absent tells that a source does not have the field: its value is null there.
func (f Field) Absent() bool {
	return f.Column == "" && f.Position == 0 && f.Constant == "" && len(f.FirstOf) == 0 && len(f.Join) == 0 && len(f.Cases) == 0 && f.DebitCredit == nil && !f.SumOfParts
}

// fields reads the fields of a side in their declared order.
func (d *decoder) fields(n *yaml.Node, path string, side Side) []Field {
	var out []Field
	d.free(n, path, func(name string, k, v *yaml.Node, p string) {
		if absent(v) {
			d.failAt(at(k), p, "leave the field out, or move `absent` into a source", "the field %s is absent in every source", name)
			return
		}
		if f, ok := d.field(name, k, v, p, side); ok {
			out = append(out, f)
		}
	})
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		d.failAt(at(n), path, "add the fields of the keys: `operation_id: column`", "%s is empty", path)
	}
	return out
}

// field reads one field: a column, or the long form.
func (d *decoder) field(name string, k, n *yaml.Node, path string, side Side) (Field, bool) {
	f := Field{Name: name, Column: name, Type: Text, Scale: -1}
	if !fieldName.MatchString(name) || len(name) > 63 {
		d.failAt(at(k), path, "lower-case letters, digits and underscores, a letter first, at most 63: order_no", "%q is no name for a field", name)
		return f, false
	}
	if n.Kind == yaml.ScalarNode {
		d.column(n, path, &f)
		return f, true
	}
	o := d.object(n, fieldShape, path)
	if o == nil {
		return f, false
	}
	if c := o.node("column"); c != nil {
		d.column(c, o.at("column"), &f)
	}
	o.boolean("absent", false)
	f.Type = choice(o, "type", Text, fieldTypes...)
	d.whence(o, &f)
	f.Normalise = d.normalise(o)
	f.Placeholders = o.texts("placeholders")
	if c := o.sub("numeric_cells", numericCellsShape); c != nil && choice(c, "from_15_digits", "unusable", "unusable", "usable") == "usable" {
		f.NumericCells = NumericUsable
	}
	d.number(o, &f)
	d.times(o, &f)
	d.statusMap(o, &f, side)
	return f, true
}

func (d *decoder) column(n *yaml.Node, path string, f *Field) {
	text, ok := d.scalar(n, path)
	if !ok {
		return
	}
	f.Column = text
	if n.ShortTag() == "!!int" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		p := 0
		for _, c := range text {
			if c < '0' || c > '9' || p > 9999 {
				p = 0
				break
			}
			p = p*10 + int(c-'0')
		}
		if p < 1 || p > 9999 {
			d.failAt(at(n), path, `positions count from 1; a column named by digits is written in quotes: "0012"`, "%s: %s is no position", path, text)
			return
		}
		f.Column, f.Position = "", p
	}
}

// only refuses keys of a field that mean nothing for its type.
func (o *object) only(f *Field, types []FieldType, keys ...string) bool {
	fits := slices.Contains(types, f.Type)
	for _, k := range keys {
		if o.has(k) && !fits && !o.d.faulty(o.at("type")) {
			o.fail(k, "add `type: "+string(types[0])+"`, or remove the key", "%s says nothing about a field of type %s", o.at(k), f.Type)
		}
	}
	return fits
}

func (d *decoder) number(o *object, f *Field) {
	o.only(f, []FieldType{Decimal}, "scale", "minor_units_of", "major_units_of", "exponents", "extra_decimals", "debit_credit")
	if !o.only(f, []FieldType{Decimal, Integer}, "decimal", "group", "notation", "sign_from") {
		return
	}
	if f.Type == Decimal {
		f.Scale = int(o.integer("scale", -1, 0, 28))
		d.units(o, f)
	}
	f.DecimalMark, f.GroupMark = d.marks(o, 0, 0, false)
	for _, s := range enums(o, "notation", "parentheses", "trailing_minus") {
		f.Notation = append(f.Notation, string(s))
	}
	if c := o.sub("sign_from", signFromShape); c != nil {
		s := &SignFrom{Column: c.text("column", ""), Positive: c.texts("positive"), Negative: c.texts("negative")}
		for _, m := range s.Positive {
			if slices.Contains(s.Negative, m) {
				d.fail(c.path, "list each mark once", "%s: the mark %q is positive and negative", c.path, m)
			}
		}
		f.SignFrom = s
	}
}

func (d *decoder) times(o *object, f *Field) {
	o.only(f, []FieldType{Timestamp}, "zone", "zone_from")
	if !o.only(f, []FieldType{Date, Timestamp}, "layout") {
		return
	}
	if o.has("zone") && f.Type == Timestamp {
		f.Zone = d.zone(o, "zone", "")
	}
	if f.Type == Timestamp {
		f.ZoneFrom = d.zoneFrom(o)
	}
	for _, text := range o.texts("layout") {
		l, err := parseLayout(text, f.Type)
		if err != nil {
			o.fail("layout", "a Go layout such as 2006-01-02 15:04:05, YYYY-MM-DD HH:mm:ss, or iso", "%s: %s", o.at("layout"), err)
			continue
		}
		f.Layouts = append(f.Layouts, l)
	}
	if a, b := ambiguousLayouts(f.Layouts); a != "" {
		o.fail("layout", "declare the one that the source uses", "%s: %q and %q read the same text as different days", o.at("layout"), a, b)
	}
	if f.Type == Timestamp && f.Zone == nil && f.ZoneFrom == nil && len(f.Layouts) > 0 && !slices.ContainsFunc(f.Layouts, hasOffset) {
		o.fail("layout", "add `zone: Europe/Paris`, the zone that the source writes in", "the layout has no offset and the field no zone, so that no value could be read")
	}
	if slices.Equal(f.Layouts, []string{""}) {
		f.Layouts = nil
	}
}

func (d *decoder) statusMap(o *object, f *Field, side Side) {
	n := o.node("map")
	if n == nil {
		return
	}
	if f.Name != "status" || side != Results || f.Type != Text {
		o.fail("map", "compare other fields by `compare: [{field: "+f.Name+", map: {…}}]`", "only the text field `status` of the results has a map of what its texts mean")
		return
	}
	f.Map = map[string]Status{}
	d.free(n, o.at("map"), func(name string, k, v *yaml.Node, p string) {
		text, ok := d.scalar(v, p)
		if !ok {
			return
		}
		if !oneOf(text, statuses) {
			d.failAt(at(v), p, didYouMean(text, names(statuses)), "%s: %q is no outcome", p, text)
			return
		}
		f.Map[name] = Status(text)
	})
	if len(n.Content) == 0 {
		o.fail("map", "list each text of the provider and what it means", "%s is empty", o.at("map"))
	}
}

// normalise reads the steps of a field or comparison.
func (d *decoder) normalise(o *object) []Normalise {
	n := o.node("normalise")
	if n == nil {
		return nil
	}
	var out []Normalise
	path := o.at("normalise")
	for i, c := range d.items(n, path) {
		p := index(path, i)
		var step Normalise
		if c.Kind == yaml.MappingNode {
			if v := d.object(c, prefixShape, p); v != nil {
				step = Normalise("strip_prefix:" + v.text("strip_prefix", ""))
			}
		} else if text, ok := d.scalar(c, p); ok {
			if !oneOf(text, normaliseSteps) {
				d.failAt(at(c), p, didYouMean(text, append(names(normaliseSteps), "strip_prefix")), "%s: the step %q is not known", path, text)
				continue
			}
			step = Normalise(text)
		}
		if step == "" {
			continue
		}
		if slices.Contains(out, step) {
			d.failAt(at(c), p, "keep one of the two", "%s: the step %q is there twice", path, step)
			continue
		}
		out = append(out, step)
	}
	return out
}

// zone reads an IANA zone. "Local" would follow the machine, and is refused.
func (d *decoder) zone(o *object, name, def string) *time.Location {
	text := o.text(name, def)
	if text == "" {
		return nil
	}
	return d.zoneNamed(text, o.at(name))
}

func (d *decoder) zoneNamed(text, path string) *time.Location {
	z, err := time.LoadLocation(text)
	if err != nil || strings.EqualFold(text, "local") {
		d.fail(path, "an IANA name such as Europe/Paris or UTC", "%s: the time zone %q is not known", path, text)
		return time.UTC
	}
	return z
}

// matching is a text that fits a pattern; rule says it in words.
func (d *decoder) matching(o *object, name, pattern, rule string) string {
	text := o.text(name, "")
	if text != "" && !regexp.MustCompile(pattern).MatchString(text) {
		o.fail(name, rule, "%s: %q is no name", o.at(name), text)
	}
	return text
}
