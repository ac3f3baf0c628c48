package rules

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxFields is how many fields a side may have: one bit each in the masks of
// unreadable and ambiguous values.
const maxFields = 64

// side reads one side. operations are the fields of the operations, for the
// expressions over them in the coverage of results.
func (d *decoder) side(job *object, s Side, operations []Field) SideSpec {
	spec := SideSpec{Side: s}
	if s == Operations {
		spec.Profile = Register
	}
	sh := operationsShape
	if s == Results {
		sh = resultsShape
	}
	o := job.sub(string(s), sh)
	if o == nil {
		return spec
	}
	base := o.node("fields")
	if base != nil {
		spec.Fields = d.fields(base, o.at("fields"), s)
	} else if n := job.values[string(s)]; !d.presetFields(n) && !misspelt(n, "fields", sh.names()) {
		d.fail(o.path, "add `fields:`: "+sh.key("fields").doc, "%s has no %q", o.path, "fields")
	}
	spec.TransportColumns = o.texts("transport_columns")

	nodes, paths := d.sourceNodes(o)
	overrides := make([]*yaml.Node, len(nodes))
	for i, n := range nodes {
		c := d.object(n, sourceShape, paths[i])
		if c == nil {
			continue
		}
		overrides[i] = c.node("fields")
		src := d.source(c, s, operations)
		if src.Name == "" {
			src.Name = string(s)
			if len(nodes) > 1 && !c.has("name") {
				d.fail(paths[i], "add `name:`", "a source of several needs a name")
			}
		}
		if j := slices.IndexFunc(spec.Sources, func(x Source) bool { return x.Name == src.Name }); j >= 0 && c.has("name") {
			c.fail("name", "give each source of a side a name of its own", "the %s have two sources named %q", s, src.Name)
		}
		spec.Sources = append(spec.Sources, src)
	}
	if len(spec.Sources) == len(nodes) {
		d.sourceFields(&spec, base, overrides, paths)
	}
	if len(spec.Fields) > maxFields {
		o.fail("fields", "leave out fields that nothing uses", "the %s have %d fields, at most %d are possible", s, len(spec.Fields), maxFields)
	}
	d.coverageOfSide(&spec, paths)
	d.checkProvisional(&spec, paths)
	if c := o.sub("survivor", survivorShape); c != nil {
		spec.Survivor = &Survivor{By: c.text("by", ""), Latest: c.text("latest", "")}
	}
	d.checkOverlap(&spec, paths)
	if s == Operations {
		spec.Profile = choice(o, "profile", Register, Register, RecoveryQueue)
		spec.WholeRegister = o.boolean("whole_register", false)
		spec.LocalRef = o.texts("local_ref")
	}
	if s == Results {
		spec.KeepEffect = d.keepEffect(o.sub("keep_effect", keepEffectShape))
	}
	return spec
}

// presetFields tells whether a source of the side has the fields of a preset.
func (d *decoder) presetFields(side *yaml.Node) bool {
	list := lookup(side, "sources")
	return list != nil && slices.ContainsFunc(list.Content, func(n *yaml.Node) bool {
		return n.Kind == yaml.MappingNode && lookup(n, "preset") != nil && lookup(n, "fields") != nil
	})
}

// misspelt tells whether a mapping has an unknown key that is likely meant to be
// this one.
func misspelt(n *yaml.Node, name string, known []string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i].Value; !slices.Contains(known, k) && nearest(k, known) == name {
			return true
		}
	}
	return false
}

// sourceNodes are the sources of a side: the list, or the keys of the side
// itself where it has one source.
func (d *decoder) sourceNodes(o *object) (nodes []*yaml.Node, paths []string) {
	inline := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	first := ""
	for _, k := range sourceKeys {
		if n := o.node(k.name); n != nil {
			if first == "" {
				first = k.name
			}
			p := d.place(o.at(k.name))
			inline.Content = append(inline.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k.name, Line: p.line, Column: p.column, LineComment: p.file}, n)
		}
	}
	nodes = append(nodes, o.list("sources")...)
	switch {
	case o.has("sources") && first != "":
		o.fail(first, "move it into the source that it belongs to", "%s has both `sources` and `%s`, a key of a source", o.path, first)
	case o.has("sources") && len(nodes) == 0 && o.node("sources").Kind == yaml.SequenceNode:
		o.fail("sources", "add a source: `- path: file.csv`", "%s is an empty list", o.at("sources"))
	case !o.has("sources") && first == "":
		d.fail(o.path, "add `path: file.csv`, or `sources:`", "%s has no source", o.path)
	case !o.has("sources"):
		nodes = append(nodes, inline)
		d.places[index(o.at("sources"), 0)] = d.place(o.at(first))
	}
	for i := range nodes {
		paths = append(paths, index(o.at("sources"), i))
	}
	return nodes, paths
}

// sourceFields gives each source the fields of the side with its overrides, and
// the side those that only sources declare.
func (d *decoder) sourceFields(spec *SideSpec, base *yaml.Node, overrides []*yaml.Node, paths []string) {
	own := map[string]Field{} // declared by sources only
	for i, n := range overrides {
		if n == nil {
			continue
		}
		path := join(paths[i], "fields")
		d.free(n, path, func(name string, k, v *yaml.Node, p string) {
			if spec.FieldIndex(name) >= 0 || own[name].Name != "" {
				return
			}
			if absent(v) {
				d.failAt(at(k), p, "", "no other place declares the field %q, so that it cannot be absent here", name)
				return
			}
			if f, ok := d.field(name, k, v, p, spec.Side); ok {
				own[name] = f
				spec.own = append(spec.own, name)
				spec.Fields = append(spec.Fields, f)
			}
		})
	}
	for i := range spec.Sources {
		fields := slices.Clone(spec.Fields)
		for j, f := range fields {
			path := join(join(paths[i], "fields"), f.Name)
			var over *yaml.Node
			if overrides[i] != nil && overrides[i].Kind == yaml.MappingNode {
				over = lookup(overrides[i], f.Name)
			}
			switch {
			case over == nil && own[f.Name].Name != "", over != nil && absent(over):
				fields[j] = Field{Name: f.Name, Type: f.Type, Scale: f.Scale, Normalise: f.Normalise, Map: f.Map}
			case over == nil:
			case own[f.Name].Name == "":
				merged := overlayField(lookup(base, f.Name), over)
				g, ok := d.field(f.Name, over, merged, path, spec.Side)
				if ok {
					fields[j] = g
					d.sameType(f, g, path)
				}
			default:
				if g, ok := d.field(f.Name, over, over, path, spec.Side); ok {
					fields[j] = g
					d.sameType(f, g, path)
				}
			}
		}
		spec.Sources[i].Fields = fields
		d.fieldsOfSource(&spec.Sources[i], paths[i])
	}
}

// sameType refuses an override that would change what a field is: it has one
// type, one scale and one normalisation in all sources.
func (d *decoder) sameType(side, source Field, path string) {
	if side.Type != source.Type || side.Scale != source.Scale {
		d.fail(path, "give the other a field name of its own", "the field %s is %s in one place and %s in another", side.Name, typeText(side), typeText(source))
	}
	if !slices.Equal(side.Normalise, source.Normalise) {
		d.fail(path, "normalise it in one way for all sources", "the field %s has two different normalisations", side.Name)
	}
}

func absent(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	v := lookup(n, "absent")
	return v != nil && strings.EqualFold(v.Value, "true")
}

// longField is the long form of a field: {column: …}.
func longField(n *yaml.Node) *yaml.Node {
	if n == nil || n.Kind != yaml.ScalarNode {
		return n
	}
	k := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "column", Line: n.Line, Column: n.Column}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column, Content: []*yaml.Node{k, n}}
}

// fieldsOfSource checks the columns of a source's fields against its header and
// format.
func (d *decoder) fieldsOfSource(src *Source, path string) {
	names := src.fixedColumns()
	what := map[Format]string{FormatCSV: "csv.columns", FormatXLSX: "xlsx.columns", FormatTyped: "typed.kinds", FormatFixed: "fixed"}[src.Format]
	byPlace := src.Format == FormatCSV || src.Format == FormatXLSX
	place := func(f Field) string {
		p := join(join(path, "fields"), f.Name)
		if _, ok := d.places[p]; !ok { // said for the side
			p = join(join(parentPath(parentPath(path)), "fields"), f.Name)
		}
		return p
	}
	if src.Format.Bank() {
		d.bankFields(src, place)
	}
	for _, f := range src.Fields {
		p := place(f)
		switch {
		case f.Absent():
		case !byPlace && f.Position > 0:
			d.fail(p, "name the column", "the field %s is bound by position, but the source %s is %s", f.Name, src.Name, src.Format)
		case src.Format == FormatCSV && src.CSV.Header.None && len(names) == 0 && len(f.columns()) > 0:
			d.fail(p, "add `csv: {columns: […]}`, or bind the field by position: `column: 3`", "the source %s has no header, so the column %q cannot be found by name", src.Name, f.columns()[0])
		case len(names) > 0 && f.Position > len(names):
			d.fail(p, "", "the field %s is column %d, but %s of the source %s names %d", f.Name, f.Position, what, src.Name, len(names))
		case len(names) > 0 && !f.Optional:
			for _, c := range f.columns() {
				if !slices.Contains(names, c) {
					d.fail(p, didYouMean(c, names), "the field %s takes the column %q, which %s of the source %s does not name", f.Name, c, what, src.Name)
				}
			}
		}
	}
}

// coverageOfSide: without any declaration a side counts as complete; with one,
// every source must say what it covers.
func (d *decoder) coverageOfSide(spec *SideSpec, paths []string) {
	declared := slices.ContainsFunc(spec.Sources, func(s Source) bool { return s.Coverage.Declared && !s.IsLookup() })
	for i := range spec.Sources {
		c := &spec.Sources[i].Coverage
		if spec.Sources[i].IsLookup() {
			continue
		}
		if !declared {
			c.Complete = true
		} else if silent := spec.Side == Results && spec.Sources[i].Format == FormatPain002; !c.Declared && i < len(paths) && !silent { // statusCoverage has said more
			d.fail(paths[i], "add `coverage: {from: …, until: …}`, or `coverage: complete`", "the source %s declares no coverage, but another source of the %s does", spec.Sources[i].Name, spec.Side)
		}
	}
}

func (d *decoder) keepEffect(o *object) *KeepEffect {
	if o == nil {
		return nil
	}
	k := &KeepEffect{Earliest: o.text("earliest", ""), Agrees: o.texts("agrees")}
	if (k.Earliest == "") == (len(k.Agrees) == 0) {
		d.fail(o.path, "write one of `earliest: created_at` and `agrees: [amount]`", "%s needs exactly one rule", o.path)
	}
	return k
}

// sameField tells whether two declarations of a field are equal.
func sameField(a, b Field) bool { return reflect.DeepEqual(a, b) }

func typeText(f Field) string {
	if f.Type == Decimal && f.Scale >= 0 {
		return "decimal with scale " + itoa(f.Scale)
	}
	return string(f.Type)
}
