package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// comparatorOf is the comparator of two fields of one type.
var comparatorOf = map[FieldType]Comparator{
	Text: AsText, Decimal: AsDecimal, Integer: AsInteger, Boolean: AsBoolean, Date: AsDate, Timestamp: AsInstant, Currency: AsCurrency,
}

// compares reads the compared fields; the fields of both sides are known.
func (d *decoder) compares(root *object, job *Job) []Compare {
	var out []Compare
	root.objects("compare", compareShape, func(_ int, o *object) {
		c, ok := d.compare(o, job)
		if !ok {
			return
		}
		if slices.ContainsFunc(out, func(x Compare) bool { return x.Name == c.Name }) {
			d.fail(o.path, "compare it once", "the field %s is compared twice", c.Name)
			return
		}
		out = append(out, c)
	})
	for i, c := range out {
		if c.OnlyIfEqual == "" {
			continue
		}
		p := join(index("compare", i), "only_if_equal")
		j := slices.IndexFunc(out, func(x Compare) bool { return x.Name == c.OnlyIfEqual })
		switch {
		case j < 0:
			d.fail(p, didYouMean(c.OnlyIfEqual, compareNames(out)), "%s: %q is no compared field", p, c.OnlyIfEqual)
		case j == i || out[j].OnlyIfEqual != "":
			d.fail(p, "name a field that is always compared", "%s: %q itself depends on a comparison", p, c.OnlyIfEqual)
		}
	}
	return out
}

func compareNames(cs []Compare) []string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = c.Name
	}
	return out
}

func (d *decoder) compare(o *object, job *Job) (Compare, bool) {
	field := o.text("field", "")
	c := Compare{Name: field, Operations: o.text("operations", field), Results: o.text("results", field), OnlyIfEqual: o.text("only_if_equal", "")}
	as := choice(o, "as", "", comparators...)
	if c.Name == "" {
		c.Name = c.Operations
	}
	if as == AsFingerprint {
		return d.fingerprint(o, job, c)
	}
	if c.Name == "" || c.Operations == "" || c.Results == "" {
		d.fail(o.path, "write `field: amount`, or `operations: x, results: y`", "%s names no field", o.path)
		return c, false
	}
	if o.has("fields") {
		o.fail("fields", "add `as: fingerprint`", "`fields` belongs to a fingerprint")
	}
	if status := d.statusField(job, c); as == AsStatus || o.has("expect") || as == "" && status && job.Operations.Field(c.Operations) == nil {
		c.As, c.Operations = AsStatus, ""
		c.Expect = choice(o, "expect", Succeeded, statuses...)
		if !status {
			if job.Results.Field(c.Results) == nil && c.Results != "status" {
				d.fieldOf(job, Results, c.Results, o.at("field"))
				return c, false
			}
			o.fail("expect", "add `map: {…}` to results.fields.status", "a status is compared by the field `status` of the results and its map, which are not declared")
			return c, false
		}
		d.refuse(o, c.As, "tolerance", "round", "normalise", "map", "scheme")
		return c, true
	}
	where := o.at("field")
	if c.Operations != field || c.Results != field {
		where = o.path
	}
	fo, fr, ok := d.fieldPair(job, c.Operations, c.Results, where)
	if !ok {
		return c, false
	}
	if fr.Map != nil {
		d.fail(o.path, "write `expect: succeeded`, or remove the map of the status to compare its text", "the status of the results has a map, so that it is no text to compare with the operations")
		return c, false
	}
	return d.comparator(o, c, as, fo, fr)
}

func (d *decoder) statusField(job *Job, c Compare) bool {
	f := job.Results.Field(c.Results)
	return f != nil && f.Map != nil
}

// comparator derives the comparator and checks that it fits the fields.
func (d *decoder) comparator(o *object, c Compare, as Comparator, fo, fr *Field) (Compare, bool) {
	same := fo.Type == fr.Type
	numbers := numeric(fo.Type) && numeric(fr.Type)
	if as == "" {
		switch {
		case o.has("map"):
			as = AsMapped
		case o.has("scheme"):
			as = AsVersion
		case same:
			as = comparatorOf[fo.Type]
		case numbers:
			as = AsDecimal
		}
	}
	fits := same && comparatorOf[fo.Type] == as
	switch as {
	case AsDecimal:
		fits = numbers
	case AsMapped:
		fits = same && fo.Type == Text
	case AsVersion:
		fits = same
	}
	if !fits {
		what := "cannot be compared"
		if as != "" {
			what += " as " + string(as)
		}
		d.fail(o.path, "declare the same `type` on both sides; `as` must fit it", "%s of the operations is %s and %s of the results is %s, which %s",
			fo.Name, fo.Type, fr.Name, fr.Type, what)
		return c, false
	}
	c.As = as
	switch as {
	case AsDecimal, AsInteger:
		d.tolerance(o, &c, true)
		if r := o.sub("round", roundShape); r != nil {
			c.Round = &Round{Places: int(r.integer("places", 0, 0, 28)), Halves: choice(r, "halves", "", "away_from_zero", "to_even")}
			if as == AsInteger {
				o.fail("round", "remove it", "whole numbers are not rounded")
			}
		}
		d.refuse(o, as, "normalise", "map", "scheme")
	case AsInstant:
		d.tolerance(o, &c, false)
		d.refuse(o, as, "round", "normalise", "map", "scheme")
	case AsText, AsCurrency:
		c.Normalise = d.normalise(o)
		d.refuse(o, as, "tolerance", "round", "map", "scheme")
	case AsMapped:
		c.Normalise = d.normalise(o)
		c.Map = d.textMap(o)
		d.refuse(o, as, "tolerance", "round", "scheme")
	case AsVersion:
		c.Scheme = d.scheme(o, fo)
		d.refuse(o, as, "tolerance", "round", "normalise", "map")
	default:
		d.refuse(o, as, "tolerance", "round", "normalise", "map", "scheme")
	}
	return c, true
}

func numeric(t FieldType) bool { return t == Decimal || t == Integer }

func (d *decoder) refuse(o *object, as Comparator, keys ...string) {
	for _, k := range keys {
		if o.has(k) {
			o.fail(k, "remove it, or compare by another comparator", "%q says nothing about a comparison as %s", k, as)
		}
	}
}

func (d *decoder) textMap(o *object) map[string]string {
	n := o.node("map")
	if n == nil {
		o.fail("as", "add `map: {…}`", "a mapped comparison needs its map")
		return nil
	}
	out := map[string]string{}
	d.free(n, o.at("map"), func(name string, _, v *yaml.Node, p string) {
		if text, ok := d.scalar(v, p); ok {
			out[name] = text
		}
	})
	if len(n.Content) == 0 {
		o.fail("map", "list the texts of the results and what they stand for", "%s is empty", o.at("map"))
	}
	return out
}

func (d *decoder) scheme(o *object, f *Field) VersionScheme {
	def := VersionOpaque
	switch f.Type {
	case Integer:
		def = VersionInteger
	case Timestamp:
		def = VersionTimestamp
	}
	s := choice(o, "scheme", def, schemes...)
	fits := map[VersionScheme]bool{
		VersionInteger:   f.Type == Integer,
		VersionTimestamp: f.Type == Timestamp,
		VersionSemantic:  f.Type == Text,
		VersionOpaque:    f.Type == Text || f.Type == Integer,
	}
	if !fits[s] {
		o.fail("scheme", "integer needs `type: integer`, timestamp needs `type: timestamp`, semantic and opaque need text", "versions of type %s have no %s order", f.Type, s)
	}
	return s
}

// tolerance reads a tolerance: decimals, or durations for instants, kept in
// microseconds. Nothing (0) stays "".
func (d *decoder) tolerance(o *object, c *Compare, numbers bool) {
	n := o.node("tolerance")
	if n == nil {
		return
	}
	absolute := func(n *yaml.Node, p string) string {
		text, ok := d.scalar(n, p)
		if !ok {
			return ""
		}
		if !numbers {
			if text == "0" {
				return ""
			}
			v, ok := d.duration(n, p)
			if !ok {
				return ""
			}
			return zeroIsNone(strconv.FormatInt(v.Microseconds(), 10))
		}
		return d.decimalText(n, p, text)
	}
	if n.Kind != yaml.MappingNode {
		c.Absolute = absolute(n, o.at("tolerance"))
		return
	}
	t := d.object(n, toleranceShape, o.at("tolerance"))
	if a := t.node("absolute"); a != nil {
		c.Absolute = absolute(a, t.at("absolute"))
	}
	if r := t.node("relative"); r != nil {
		if !numbers {
			t.fail("relative", "use a duration: `tolerance: 60s`", "times have no relative tolerance")
			return
		}
		text, _ := d.scalar(r, t.at("relative"))
		c.Relative = d.shareText(r, t.at("relative"), text)
	}
	if !t.has("absolute") && !t.has("relative") {
		d.fail(t.path, "add `absolute` or `relative`", "%s is empty", t.path)
	}
}

func zeroIsNone(canonical string) string {
	if canonical == "0" {
		return ""
	}
	return canonical
}

// shareText is a share, which may be written in percent, as decimalText gives it.
func (d *decoder) shareText(n *yaml.Node, path, text string) string {
	if p, ok := strings.CutSuffix(text, "%"); ok && decimalText.MatchString(p) {
		v, err := parseDecimal(p)
		if err == nil {
			v.Exponent -= 2
			text = CanonicalDecimal(v)
		}
	}
	return d.decimalText(n, path, text)
}

// decimalText is a decimal that is not negative, in canonical form; "" for zero.
func (d *decoder) decimalText(n *yaml.Node, path, text string) string {
	v, err := parseDecimal(text)
	if err != nil || v.Negative {
		d.failAt(at(n), path, `a decimal that is not negative, such as "0.01"`, "%s: %q is no such number", path, text)
		return ""
	}
	return zeroIsNone(CanonicalDecimal(v))
}

func (d *decoder) fingerprint(o *object, job *Job, c Compare) (Compare, bool) {
	c.As, c.Fields = AsFingerprint, o.texts("fields")
	if o.has("operations") || o.has("results") {
		d.fail(o.path, "list the fields under `fields`", "a fingerprint takes `fields`, declared under one name on both sides")
	}
	c.Operations, c.Results = "", ""
	if c.Name == "" {
		c.Name = "fingerprint"
	}
	if len(c.Fields) == 0 {
		d.fail(o.path, "add `fields: [a, b]`", "a fingerprint names no fields")
		return c, false
	}
	for i, name := range c.Fields {
		p := index(o.at("fields"), i)
		fo, fr, ok := d.fieldPair(job, name, name, p)
		if ok && fo.Type != fr.Type {
			d.fail(p, "declare the same type on both sides", "%s is %s in the operations and %s in the results", name, fo.Type, fr.Type)
		}
	}
	d.refuse(o, c.As, "tolerance", "round", "normalise", "map", "scheme", "expect")
	return c, true
}

// fieldOf looks up a declared field of a side, or reports its absence.
func (d *decoder) fieldOf(job *Job, s Side, name, path string) (*Field, bool) {
	f := job.Spec(s).Field(name)
	if d.faulty(join(join(string(s), "fields"), name)) {
		return nil, false
	}
	if f == nil {
		hint := cmpHint(didYouMean(name, fieldNames(job.Spec(s).Fields)), s, name)
		if ours := job.Spec(s).standardName(name); ours != "" {
			hint = "write `" + ours + "`: a recovery queue's " + name + " is read as the field " + ours
		}
		d.fail(path, hint, "the %s declare no field %q", s, name)
		return nil, false
	}
	return f, true
}

// fieldPair looks up a field of each side.
func (d *decoder) fieldPair(job *Job, operations, results, path string) (fo, fr *Field, ok bool) {
	if operations == results && job.Operations.Field(operations) == nil && job.Results.Field(results) == nil {
		known := append(fieldNames(job.Operations.Fields), fieldNames(job.Results.Fields)...)
		if !d.faulty("operations.fields."+operations) && !d.faulty("results.fields."+results) {
			hint := nearestHint(operations, known)
			if ours := job.Operations.standardName(operations); ours != "" {
				hint = "write `" + ours + "`: a recovery queue's " + operations + " is read as the field " + ours
			}
			d.fail(path, hint, "neither side declares the field %q", operations)
		}
		return nil, nil, false
	}
	fo, okO := d.fieldOf(job, Operations, operations, path)
	fr, okR := d.fieldOf(job, Results, results, path)
	return fo, fr, okO && okR
}

// nearestHint offers what was meant, or says where fields are declared.
func nearestHint(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "add `" + name + ": column` to the fields of both sides"
}

func cmpHint(meant string, s Side, name string) string {
	if strings.HasPrefix(meant, "did you mean") {
		return meant
	}
	return "add `" + name + ": column` to " + string(s) + ".fields"
}

func fieldNames(fs []Field) []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = f.Name
	}
	return out
}
