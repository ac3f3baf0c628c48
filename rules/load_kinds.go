package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

func (d *decoder) typed(o *object, s *Source) {
	if o == nil {
		return
	}
	for _, k := range []string{"header", "columns", "rows", "ends_before"} {
		p := join(join(parentPath(o.path), "csv"), k)
		if _, ok := d.places[p]; ok {
			d.fail(p, "say it in `typed`, whose kinds of lines tell headers, records and footers apart", "csv.%s says nothing about a record-typed file", k)
		}
	}
	t := &Typed{
		Field: int(o.integer("field", 1, 1, 10_000)), Column: o.text("column", "record_kind"),
		First: o.text("first", ""), Last: o.text("last", ""),
	}
	d.kinds(o, t, kindShape)
	s.Typed = t
	for _, k := range t.Kinds {
		if len(k.Columns) > 0 && (len(k.Columns) < t.Field || k.Columns[t.Field-1] != t.Column) {
			o.fail("kinds", "name it there: the columns are all fields of the line, and `typed.column` names the one with the kind",
				"the columns of the kind %q do not have %q in place %d", k.Kind, t.Column, t.Field)
		}
	}
	d.kindsFit(o, t)
}

func (d *decoder) fixed(o *object, s *Source) {
	if o == nil {
		return
	}
	f := &Fixed{
		LineLength: int(o.integer("line_length", 0, 1, 1<<20)), LineEnd: choice(o, "line_end", "any", "any", "none"),
		Encoding: d.encodingOf(o, fixedEncodings), Trim: choice(o, "trim", "both", "both", "left", "right", "none"),
	}
	s.CSV.Decimal, s.CSV.Group = d.marks(o, '.', 0, true)
	if n := o.node("kind"); n != nil {
		f.KindAt = d.bytes(n, o.at("kind"), f.LineLength)
	}
	if o.has("padding") {
		f.Padding = string(d.character(o, "padding", 0, nil))
	}
	t := &Typed{Column: o.text("column", "record_kind"), First: o.text("first", ""), Last: o.text("last", "")}
	columns := o.node("columns")
	switch {
	case o.has("kinds") && columns != nil:
		o.fail("columns", "move them into the kinds of lines", "%s has both `columns` and `kinds`", o.path)
	case o.has("kinds") && !o.has("kind"):
		o.fail("kinds", "add `kind: 1-2`, the bytes with the text of the kind", "nothing says where the kind of a line is")
	case o.has("kinds"):
		d.kinds(o, t, fixedKindShape)
		d.kindsFit(o, t)
	case o.has("kind") || o.has("first") || o.has("last"):
		d.fail(o.path, "add `kinds:`", "%s says where kinds are, and names none", o.path)
	case columns == nil:
		d.fail(o.path, "add `columns: {id: 1-10}`, or `kind` and `kinds`", "%s has no columns", o.path)
	default:
		k := RecordKind{As: RoleRecord}
		k.Columns, k.Ranges = d.ranges(columns, o.at("columns"))
		t.Kinds = []RecordKind{k}
	}
	for i := range t.Kinds {
		for j, r := range t.Kinds[i].Ranges {
			if f.LineLength > 0 && r.To > f.LineLength {
				d.fail(o.path, "correct the bytes, or `line_length`", "the column %s ends at byte %d of lines of %d bytes", t.Kinds[i].Columns[j], r.To, f.LineLength)
			}
		}
	}
	s.Fixed, s.Typed = f, t
}

// encodingOf is the encoding among those that fit the format.
func (d *decoder) encodingOf(o *object, known []string) string {
	s := strings.ToLower(o.text("encoding", "utf-8"))
	if c, ok := encodingNames[s]; ok {
		s = c
	}
	if !oneOf(s, known) {
		o.fail("encoding", didYouMean(s, known), "%s: the encoding %q is not known here", o.at("encoding"), s)
		return "utf-8"
	}
	return s
}

var bytesText = regexp.MustCompile(bytesPattern)

// bytes reads a range of bytes, 3-10 or 7.
func (d *decoder) bytes(n *yaml.Node, p string, length int) Bytes {
	text, ok := d.scalar(n, p)
	if !ok {
		return Bytes{}
	}
	if !bytesText.MatchString(text) {
		d.fail(p, "write 3-10, or 7 for one byte; bytes count from 1", "%s: %q is no range of bytes", p, text)
		return Bytes{}
	}
	a, b, two := strings.Cut(text, "-")
	r := Bytes{}
	r.From, _ = strconv.Atoi(a)
	if r.To = r.From; two {
		r.To, _ = strconv.Atoi(b)
	}
	if r.To < r.From {
		d.fail(p, "the first byte stands first", "%s: %q ends before it begins", p, text)
		return Bytes{}
	}
	if length > 0 && r.To > length {
		d.fail(p, "correct the bytes, or `line_length`", "%s: byte %d is outside lines of %d bytes", p, r.To, length)
	}
	return r
}

// ranges reads columns by their bytes, and orders them by place.
func (d *decoder) ranges(n *yaml.Node, p string) ([]string, []Bytes) {
	type column struct {
		name string
		at   Bytes
	}
	var all []column
	d.free(n, p, func(name string, _, v *yaml.Node, p string) {
		if r := d.bytes(v, p, 0); r.From > 0 {
			all = append(all, column{name, r})
		}
	})
	slices.SortStableFunc(all, func(a, b column) int {
		if a.at.From != b.at.From {
			return a.at.From - b.at.From
		}
		if a.at.To != b.at.To {
			return a.at.To - b.at.To
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	var at []Bytes
	for _, c := range all {
		names, at = append(names, c.name), append(at, c.at)
	}
	return names, at
}

// kinds reads the kinds of lines.
func (d *decoder) kinds(o *object, t *Typed, sh *shape) {
	for i, n := range o.list("kinds") {
		p := index(o.at("kinds"), i)
		c := d.object(n, sh, p)
		if c == nil {
			continue
		}
		k := RecordKind{
			Kind: c.text("kind", ""), As: choice(c, "as", RoleRecord, RoleRecord, RoleHeader, RoleNames, RoleFooter, RoleIgnored),
			Of: c.texts("of"), Since: c.text("since", ""),
		}
		if t.Kind(k.Kind) != nil {
			c.fail("kind", "give each kind a text of its own", "the kind %q is declared twice", k.Kind)
		}
		if sh == fixedKindShape {
			if cols := c.node("columns"); cols != nil {
				k.Columns, k.Ranges = d.ranges(cols, c.at("columns"))
			}
		} else {
			k.Columns = c.texts("columns")
		}
		if n := c.node("carry"); n != nil {
			d.free(n, c.at("carry"), func(name string, _, v *yaml.Node, p string) {
				k.Carry = append(k.Carry, Carry{Column: name, From: d.fieldRef(v, p)})
			})
			slices.SortFunc(k.Carry, func(a, b Carry) int { return strings.Compare(a.Column, b.Column) })
		}
		if b := c.sub("by", kindKeyShape); b != nil {
			k.By = &KindKey{At: b.fieldRef("field"), Column: b.text("column", "")}
		}
		d.kindControls(c, &k)
		d.roleFits(c, &k)
		t.Kinds = append(t.Kinds, k)
	}
}

// kindControls reads the totals that a line of the kind states.
func (d *decoder) kindControls(c *object, k *RecordKind) {
	if n := c.node("count"); n != nil {
		if n.Kind != yaml.MappingNode {
			k.Count = &KindCount{At: d.fieldRef(n, c.at("count"))}
		} else if v := c.sub("count", kindCountShape); v != nil {
			k.Count = &KindCount{At: v.fieldRef("field"), Of: v.texts("of"), Lines: v.boolean("lines", false)}
			if k.Count.Lines && len(k.Count.Of) > 0 {
				v.fail("of", "keep one of the two", "%s counts every line, and lines of some kinds as well", v.path)
			}
		}
	}
	for i, n := range c.list("sums") {
		v := d.object(n, kindSumShape, index(c.at("sums"), i))
		if v == nil {
			continue
		}
		s := KindSum{At: v.fieldRef("field"), Column: v.text("column", ""), Of: v.texts("of"),
			Where: d.textPairs(v, "where"), Minus: d.textPairs(v, "minus"), Tolerance: v.text("tolerance", "")}
		if s.Tolerance != "" && !regexp.MustCompile(decimalPattern).MatchString(s.Tolerance) {
			v.fail("tolerance", `a decimal such as "0.01"`, "%s: %q is no amount", v.at("tolerance"), s.Tolerance)
		}
		k.Sums = append(k.Sums, s)
	}
}

// roleFits refuses keys that mean nothing for what the kind is.
func (d *decoder) roleFits(c *object, k *RecordKind) {
	for _, m := range []struct {
		key   string
		roles []KindRole
	}{
		{"of", []KindRole{RoleNames}}, {"carry", []KindRole{RoleHeader}}, {"since", []KindRole{RoleFooter}},
		{"by", []KindRole{RoleFooter}}, {"count", []KindRole{RoleFooter, RoleHeader}}, {"sums", []KindRole{RoleFooter, RoleHeader}},
		{"columns", []KindRole{RoleRecord, RoleHeader, RoleFooter}},
	} {
		if c.has(m.key) && !slices.Contains(m.roles, k.As) {
			c.fail(m.key, "add `as: "+string(m.roles[0])+"`, or remove the key", "%s says nothing about lines that are %s", c.at(m.key), k.As)
		}
	}
	if k.By != nil && k.Count == nil && len(k.Sums) == 0 {
		c.fail("by", "add `count` or `sums`, or remove it", "the footer %q states nothing", k.Kind)
	}
}

func (d *decoder) textPairs(o *object, name string) map[string]string {
	n := o.node(name)
	if n == nil {
		return nil
	}
	out := map[string]string{}
	d.free(n, o.at(name), func(column string, _, v *yaml.Node, p string) {
		if text, ok := d.scalar(v, p); ok {
			out[column] = text
		}
	})
	return out
}

// fieldRef is a field by its position, or by the name of its column.
func (d *decoder) fieldRef(n *yaml.Node, p string) FieldRef {
	f := Field{}
	d.column(n, p, &f)
	return FieldRef{Position: f.Position, Name: f.Column}
}

func (o *object) fieldRef(name string) FieldRef {
	n := o.node(name)
	if n == nil {
		return FieldRef{}
	}
	return o.d.fieldRef(n, o.at(name))
}

// kindsFit checks the kinds of lines against each other.
func (d *decoder) kindsFit(o *object, t *Typed) {
	records := 0
	known := func(p string, kinds ...string) {
		var all []string
		for _, k := range t.Kinds {
			all = append(all, k.Kind)
		}
		for _, text := range kinds {
			if text != "" && t.Kind(text) == nil {
				d.fail(p, didYouMean(text, all), "%s names the kind %q, which is not declared", p, text)
			}
		}
	}
	known(o.at("first"), t.First)
	known(o.at("last"), t.Last)
	for i := range t.Kinds {
		k := &t.Kinds[i]
		p := index(o.at("kinds"), i)
		known(p, k.Of...)
		known(p, k.Since)
		if k.Since != "" && t.Kind(k.Since) != nil && t.Kind(k.Since).As != RoleHeader {
			d.fail(p, "name the header whose records it sums up", "the footer %q begins at %q, which is no header", k.Kind, k.Since)
		}
		if k.Count != nil {
			known(p, k.Count.Of...)
		}
		for _, s := range k.Sums {
			known(p, s.Of...)
		}
		if k.As == RoleRecord {
			records++
		}
		named := slices.ContainsFunc(t.Kinds, func(n RecordKind) bool {
			return n.As == RoleNames && (len(n.Of) == 0 || slices.Contains(n.Of, k.Kind))
		})
		if k.As == RoleRecord && len(k.Columns) == 0 && !named {
			d.fail(p, "add `columns`, or a kind `as: names` whose lines name them", "nothing names the columns of the kind %q", k.Kind)
		}
		for _, r := range refsOf(k) {
			if r.Name != "" && len(k.Columns) > 0 && !slices.Contains(k.Columns, r.Name) {
				d.fail(p, didYouMean(r.Name, k.Columns), "the kind %q has no column %q", k.Kind, r.Name)
			}
			if r.Name != "" && len(k.Columns) == 0 && !named {
				d.fail(p, "give its position, or name the columns of the kind", "the column %q of the kind %q cannot be found by name", r.Name, k.Kind)
			}
			if r.Position > 0 && len(k.Columns) > 0 && r.Position > len(k.Columns) {
				d.fail(p, "", "the kind %q has %d columns, field %d is none of them", k.Kind, len(k.Columns), r.Position)
			}
		}
	}
	if records == 0 {
		o.fail("kinds", "leave out `as` where lines are records", "%s declares no kind that is a record", o.path)
	}
}

// refsOf lists the fields of its own line that a kind refers to.
func refsOf(k *RecordKind) []FieldRef {
	var refs []FieldRef
	for _, c := range k.Carry {
		refs = append(refs, c.From)
	}
	if k.By != nil {
		refs = append(refs, k.By.At)
	}
	if k.Count != nil {
		refs = append(refs, k.Count.At)
	}
	for _, s := range k.Sums {
		refs = append(refs, s.At)
	}
	return refs
}
