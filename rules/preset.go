package rules

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// Preset is what is known of one kind of file of one provider or system, as data:
// the keys of a source, those of its side, and rules of the job that go with them.
// A source that names it has these keys, and each key of the job stands over them.
type Preset struct {
	Name      string
	Version   int // raised with every change of the file
	Title     string
	Side      Side
	Documents []string // public specifications that it follows
	Limits    []string // what it cannot do or prove, in words
	Text      []byte   // the file
	Digest    string   // SHA-256 of the file, in hexadecimal

	source, side, job *yaml.Node
}

// PresetUse is the preset that a source was made from.
type PresetUse struct {
	Name    string
	Version int
	Digest  string
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// Presets are all presets, by name.
func Presets() []*Preset { return slices.Clone(embeddedPresets()) }

// PresetNamed returns a preset, or nil.
func PresetNamed(name string) *Preset {
	for _, p := range embeddedPresets() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

var embeddedPresets = sync.OnceValue(func() []*Preset {
	files, err := fs.Glob(presetFiles, "presets/*.yaml")
	if err != nil {
		panic("rules: " + err.Error()) // the pattern is ours
	}
	var out []*Preset
	for _, f := range files {
		text, err := presetFiles.ReadFile(f)
		if err != nil {
			panic("rules: " + err.Error())
		}
		p, err := parsePreset(text, f)
		if err != nil {
			panic("rules: " + err.Error()) // every embedded preset is read by a test
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Preset) int { return strings.Compare(a.Name, b.Name) })
	return out
})

// presetFileShape describes a preset file. Its parts are checked where a job uses them.
var presetFileShape = &shape{
	name: "preset_file", doc: "A preset.",
	keys: []key{
		{name: "preset", doc: "Its name.", required: true},
		{name: "version", doc: "Raised with every change.", required: true},
		{name: "title", doc: "The file, in words.", required: true},
		{name: "side", doc: "operations or results.", required: true},
		{name: "documents", doc: "The specifications that it follows."},
		{name: "limits", doc: "What it cannot do or prove."},
		{name: "source", doc: "Keys of the source.", required: true},
		{name: "side_keys", doc: "Keys of the side."},
		{name: "job", doc: "Scope rules and gates."},
	},
}

func parsePreset(text []byte, name string) (*Preset, error) {
	d := newDecoder(text, name)
	p := &Preset{Text: text}
	if n := d.root(text); n != nil {
		o := d.object(n, presetFileShape, "")
		p.Name = d.matching(o, "preset", jobNamePattern, "lower-case letters, digits and hyphens")
		p.Version = int(o.integer("version", 0, 1, 1<<20))
		p.Title = o.text("title", "")
		p.Side = choice(o, "side", Results, Operations, Results)
		p.Documents, p.Limits = o.texts("documents"), o.texts("limits")
		mark := p.Name + "@" + strconv.Itoa(p.Version)
		p.source, p.side, p.job = marked(o.node("source"), mark), marked(o.node("side_keys"), mark), marked(o.node("job"), mark)
	}
	sum := sha256.Sum256(text)
	p.Digest = hex.EncodeToString(sum[:])
	if len(d.errs) > 0 {
		return nil, d.errs
	}
	return p, nil
}

// marked copies a tree, each node with the preset that it comes from. Nodes of a job
// file carry no comments (see expand), so that the mark cannot be taken for one.
func marked(n *yaml.Node, mark string) *yaml.Node {
	if n == nil {
		return nil
	}
	out := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Line: n.Line, Column: n.Column, LineComment: mark}
	for _, c := range n.Content {
		out.Content = append(out.Content, marked(c, mark))
	}
	return out
}

// presets puts the keys of the presets that a job names under its own.
func (d *decoder) presets(root *yaml.Node) *yaml.Node {
	root = shallow(root)
	for _, side := range Sides {
		n := lookup(root, string(side))
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		n = shallow(n)
		setKey(root, string(side), n)
		if list := lookup(n, "sources"); list == nil {
			d.presetOfSide(root, n, side)
		} else if list.Kind == yaml.SequenceNode {
			list = shallow(list)
			setKey(n, "sources", list)
			for i, src := range list.Content {
				if src.Kind == yaml.MappingNode {
					list.Content[i] = d.presetOfSource(root, n, src, side, index(join(string(side), "sources"), i))
				}
			}
		}
	}
	return root
}

// presetOfSide: a side that carries the keys of its one source.
func (d *decoder) presetOfSide(root, n *yaml.Node, side Side) {
	p := d.presetNamed(lookup(n, "preset"), side, join(string(side), "preset"))
	if p == nil {
		return
	}
	own := lookup(n, "fields")
	merged := overlay(ofFormat(p.source, n), n)
	if own != nil {
		setKey(merged, "fields", overlayFields(lookup(p.source, "fields"), own))
	}
	*n = *merged
	d.beyondSource(root, n, p)
}

// presetOfSource: what the side says of a field stands over the preset, and what the
// source says over both.
func (d *decoder) presetOfSource(root, side, src *yaml.Node, s Side, path string) *yaml.Node {
	p := d.presetNamed(lookup(src, "preset"), s, join(path, "preset"))
	if p == nil {
		return src
	}
	fields := lookup(p.source, "fields")
	if shared := lookup(side, "fields"); shared != nil && shared.Kind == yaml.MappingNode && fields != nil {
		of := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for i := 0; i+1 < len(shared.Content); i += 2 {
			if lookup(fields, shared.Content[i].Value) != nil {
				of.Content = append(of.Content, shared.Content[i], shared.Content[i+1])
			}
		}
		fields = overlayFields(fields, of)
	}
	merged := overlay(ofFormat(p.source, src), src)
	if fields != nil {
		setKey(merged, "fields", overlayFields(fields, lookup(src, "fields")))
	}
	d.beyondSource(root, side, p)
	return merged
}

// ofFormat leaves out what a preset says of its own format, where the job says
// another one.
func ofFormat(preset, job *yaml.Node) *yaml.Node {
	mine, its := lookup(job, "format"), lookup(preset, "format")
	if mine == nil || its != nil && its.Value == mine.Value {
		return preset
	}
	out := *preset
	out.Content = nil
	for i := 0; i+1 < len(preset.Content); i += 2 {
		if !slices.Contains([]string{"csv", "json", "typed", "fixed", "xlsx", "xml", "bank"}, preset.Content[i].Value) {
			out.Content = append(out.Content, preset.Content[i], preset.Content[i+1])
		}
	}
	return &out
}

// beyondSource adds what a preset says of the side and of the job, where they are
// silent: scope rules and gates by their names.
func (d *decoder) beyondSource(root, side *yaml.Node, p *Preset) {
	if p.side != nil {
		*side = *overlay(p.side, side)
	}
	if p.job == nil {
		return
	}
	for _, list := range []struct{ key, name string }{{"scope", "rule"}, {"gates", "gate"}} {
		add := lookup(p.job, list.key)
		if add == nil {
			continue
		}
		have := lookup(root, list.key)
		if have == nil {
			have = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: add.Line, Column: add.Column, LineComment: add.LineComment}
		} else if have.Kind != yaml.SequenceNode {
			continue // said where the list is read
		}
		have = shallow(have)
		for _, entry := range add.Content {
			name := lookup(entry, list.name)
			if !slices.ContainsFunc(have.Content, func(n *yaml.Node) bool {
				other := lookup(n, list.name)
				return other != nil && other.Value == name.Value
			}) {
				have.Content = append(have.Content, entry)
			}
		}
		setKey(root, list.key, have)
	}
}

// presetNamed finds the preset of a source; nil where it names none, or none that
// fits, or where its keys are written out already.
func (d *decoder) presetNamed(n *yaml.Node, side Side, path string) *Preset {
	if n == nil {
		return nil
	}
	name, version := n, (*yaml.Node)(nil)
	if n.Kind == yaml.MappingNode {
		if w := lookup(n, "written_out"); w != nil && w.Value == "true" {
			return nil
		}
		name, version = lookup(n, "name"), lookup(n, "version")
	}
	if name == nil || name.Kind != yaml.ScalarNode || name.Value == "" {
		return nil // said where the key is read
	}
	p := PresetNamed(name.Value)
	switch {
	case p == nil:
		var known []string
		for _, q := range embeddedPresets() {
			known = append(known, q.Name)
		}
		d.failAt(at(name), path, didYouMean(name.Value, known), "%s: there is no preset %q", path, name.Value)
	case p.Side != side:
		d.failAt(at(name), path, "name it at a source of the "+string(p.Side), "the preset %s is for %s, not for %s", p.Name, p.Side, side)
	case version != nil && version.Value != strconv.Itoa(p.Version):
		d.failAt(at(version), path, "read what changed by `recon-batch presets show "+p.Name+"`, then pin version "+strconv.Itoa(p.Version)+"; or write the keys out, as `recon-batch config show --effective` of the former release does",
			"the preset %s has version %d in this release, the job asks for version %s", p.Name, p.Version, version.Value)
	default:
		return p
	}
	return nil
}

// presetUse reads the key preset of a source.
func (d *decoder) presetUse(o *object) *PresetUse {
	n := o.node("preset")
	if n == nil {
		return nil
	}
	u := &PresetUse{}
	out := false
	if n.Kind == yaml.MappingNode {
		c := d.object(n, presetShape, o.at("preset"))
		if c == nil {
			return nil
		}
		u.Name = c.text("name", "")
		u.Version = int(c.integer("version", 0, 1, 1<<20))
		u.Digest = c.text("digest", "")
		if out = c.boolean("written_out", false); out && (u.Version == 0 || u.Digest == "") {
			c.fail("written_out", "leave written_out away: the preset's keys are then taken from it", "%s: keys that are written out name the version and the digest of their preset", c.path)
		}
	} else {
		u.Name, _ = d.scalar(n, o.at("preset"))
	}
	p := PresetNamed(u.Name)
	if out || p == nil {
		return u
	}
	if u.Digest != "" && u.Digest != p.Digest {
		o.fail("preset", "the digest of this release is "+p.Digest, "%s: the preset %s is not the one that the job names", o.at("preset"), u.Name)
	}
	return &PresetUse{Name: p.Name, Version: p.Version, Digest: p.Digest}
}

// Places of a field's value exclude each other, and so do its units and its zones:
// one that is said stands for the others as well.
var fieldAlternatives = [][]string{
	{"column", "constant", "first_of", "cases", "join", "debit_credit", "sum_of_parts", "absent"},
	{"minor_units_of", "major_units_of"},
	{"zone", "zone_from"},
}

// overlayFields merges the fields of two mappings, field by field.
func overlayFields(base, over *yaml.Node) *yaml.Node {
	if base == nil || over == nil || base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode {
		return overlay(base, over)
	}
	out := shallow(over)
	for i := 0; i+1 < len(base.Content); i += 2 {
		k, v := base.Content[i], base.Content[i+1]
		if mine := lookup(over, k.Value); mine != nil {
			setKey(out, k.Value, overlayField(v, mine))
		} else {
			out.Content = append(out.Content, k, v)
		}
	}
	return out
}

// overlayField merges two declarations of one field in their long forms.
func overlayField(base, over *yaml.Node) *yaml.Node {
	base, over = longField(base), longField(over)
	if base == nil || over == nil || base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode {
		return overlay(base, over)
	}
	var drop []string
	for i, set := range fieldAlternatives {
		if slices.ContainsFunc(set, func(k string) bool { return lookup(over, k) != nil }) {
			drop = append(drop, set...)
			if i == 0 {
				drop = append(drop, "json_path") // it is the way inside the former column
			}
		}
	}
	rest := &yaml.Node{Kind: base.Kind, Style: base.Style, Tag: base.Tag, Line: base.Line, Column: base.Column, LineComment: base.LineComment}
	for i := 0; i+1 < len(base.Content); i += 2 {
		if !slices.Contains(drop, base.Content[i].Value) {
			rest.Content = append(rest.Content, base.Content[i], base.Content[i+1])
		}
	}
	return overlay(rest, over)
}

// shallow copies a node, so that its list of members can be changed.
func shallow(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = slices.Clone(n.Content)
	return &out
}

// setKey replaces the value of a key of a mapping, or adds it.
func setKey(n *yaml.Node, name string, v *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = v
			return
		}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: v.Line, Column: v.Column, LineComment: v.LineComment}, v)
}

// presetUse writes which preset a source was made from. Its keys are written out.
func (t *tree) presetUse(u *PresetUse) {
	t.sub("preset", func(t *tree) {
		t.text("name", u.Name)
		t.integer("version", int64(u.Version))
		t.text("digest", u.Digest)
		t.boolean("written_out", true)
		for i := 1; t.w.comments && i < len(t.node.Content); i += 2 {
			if at, ok := t.w.job.given[t.path]; ok { // the short form: a name alone
				t.node.Content[i].LineComment = t.w.said(at)
			}
		}
	})
}
