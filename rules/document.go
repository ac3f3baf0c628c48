package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Bounds of a job file. A hand-written one is far below all of them; what is
// above is refused before it costs memory.
const (
	maxJobBytes = 1 << 20
	maxNodes    = 50_000 // after aliases are filled in
	maxDepth    = 50
	maxErrors   = 100
)

// The kinds of files, as messages name them.
const (
	jobFile    = "job file"
	policyFile = "policy file"
)

// decoder walks the nodes of one job file and collects every fault.
type decoder struct {
	file      string
	what      string // the kind of file, in messages
	lines     []string
	fileLines map[string][]string // mark of a policy file → its lines
	errs      Errors
	warnings  []Warning
	places    map[string]place // path → where it is said; missing keys use the nearest one above
	given     map[string]place // path of a scalar or list in the file → where it stands
	used      map[string]bool  // "shape.key" that a loader looked at
	nodes     int
	alone     bool // no other file is read
}

func newDecoder(src []byte, file string) *decoder {
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	return &decoder{
		file:      file,
		what:      jobFile,
		fileLines: map[string][]string{},
		lines:     strings.Split(text, "\n"),
		places:    map[string]place{"": {line: 1, column: 1}},
		given:     map[string]place{},
		used:      map[string]bool{},
	}
}

// root parses the text into one mapping node with aliases and merge keys filled
// in; nil where that failed.
func (d *decoder) root(src []byte) *yaml.Node {
	if len(src) > maxJobBytes {
		d.failAt(place{}, "", "split the job", "the %s has %d bytes, at most %d are read", d.what, len(src), maxJobBytes)
		return nil
	}
	if !utf8.Valid(src) {
		d.failAt(d.badByte(src), "", "save the file as UTF-8", "the %s is not UTF-8", d.what)
		return nil
	}
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		d.syntax(err)
		return nil
	}
	n := &doc
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n.Kind == 0 || n.ShortTag() == "!!null" {
		hint := "`recon-batch init` writes a job file to start from"
		if d.what != jobFile {
			hint = "remove it from `extends:`"
		}
		d.failAt(place{}, "", hint, "the %s is empty", d.what)
		return nil
	}
	n = d.expand(n, 0, nil)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		hint := "a job file is a mapping: `job: name`, `operations:`, `results:`, `match:`"
		if d.what != jobFile {
			hint = "a policy file is a mapping: `types:`, `policy:`"
		}
		d.failAt(at(n), "", hint, "the %s is a %s", d.what, kindName(n))
		return nil
	}
	return n
}

func (d *decoder) badByte(src []byte) place {
	p := place{line: 1, column: 1}
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if r == utf8.RuneError && n == 1 {
			return p
		}
		p.column++
		if r == '\n' {
			p = place{line: p.line + 1, column: 1}
		}
		src = src[n:]
	}
	return p
}

// syntax turns what the YAML parser says into our form.
func (d *decoder) syntax(err error) {
	if p := d.secondDocument(); p.line > 0 && strings.Contains(err.Error(), "single document") {
		d.failAt(p, "", "remove what follows `---`", "a %s is one YAML document", d.what)
		return
	}
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		d.failAt(place{}, "", "", "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	msg := le.Message
	if le.ContextMsg != "" {
		msg = le.ContextMsg + ": " + msg
	}
	p := place{line: min(le.Mark.Line, len(d.lines)), column: max(le.Mark.Column, 1)}
	d.failAt(p, "", "", "not YAML: %s", msg)
}

// secondDocument is the place of the marker that begins a second document.
func (d *decoder) secondDocument() place {
	content := false
	for i, line := range d.lines {
		if content && strings.HasPrefix(line, "---") {
			return place{line: i + 1, column: 1}
		}
		text := strings.TrimSpace(line)
		content = content || text != "" && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "---")
	}
	return place{}
}

// object is one mapping of the file, checked against its shape.
type object struct {
	d      *decoder
	shape  *shape
	path   string
	values map[string]*yaml.Node
}

// object checks that the node is a mapping with keys of the shape; nil and a
// fault where it is none. Unknown and repeated keys are reported, and ignored.
func (d *decoder) object(n *yaml.Node, s *shape, path string) *object {
	if n.Kind != yaml.MappingNode {
		d.failAt(at(n), path, "write it as a mapping of keys: "+strings.Join(s.names(), ", "), "%s is a %s where a mapping is needed", d.described(path), kindName(n))
		return nil
	}
	if _, ok := d.places[path]; !ok {
		d.places[path] = at(n)
	}
	o := &object{d: d, shape: s, path: path, values: map[string]*yaml.Node{}}
	seen := map[string]place{}
	var unknown []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := k.Value
		p := join(path, name)
		if k.Kind != yaml.ScalarNode {
			d.failAt(at(k), path, "", "a key of %s is a %s", d.described(path), kindName(k))
			continue
		}
		if first, ok := seen[name]; ok {
			d.failAt(at(k), p, "keep one of the two", "the key %q is there twice, first in line %d", name, first.line)
			continue
		}
		seen[name] = at(k)
		if hint, ok := s.later[name]; ok {
			d.failAt(at(k), p, hint, "%s is not in this release", p)
			continue
		}
		if s.key(name) == nil {
			unknown = append(unknown, name)
			d.failAt(at(k), p, didYouMean(name, s.names()), "unknown key %q in %s", name, d.described(path))
			continue
		}
		d.record(p, k, v)
		if v.ShortTag() == "!!null" {
			d.failAt(at(k), p, "give a value, or leave the key out for its default", "%s has no value", p)
			continue
		}
		o.values[name] = v
	}
	for _, k := range s.keys {
		misspelt := slices.ContainsFunc(unknown, func(u string) bool { return nearest(u, s.names()) == k.name })
		if k.required && seen[k.name] == (place{}) && !misspelt {
			d.fail(path, fmt.Sprintf("add `%s:`: %s", k.name, k.doc), "%s has no %q", d.described(path), k.name)
		}
	}
	return o
}

// record notes where the value of a path stands. The key is the place of a value
// that begins on a later line.
func (d *decoder) record(path string, k, v *yaml.Node) {
	p := at(v)
	if k != nil && v.Line != k.Line {
		p = at(k)
	}
	d.places[path] = p
	if v.Kind != yaml.MappingNode {
		d.given[path] = at(v)
	}
}

// free reads a mapping whose keys are names of the user's own.
func (d *decoder) free(n *yaml.Node, path string, each func(name string, key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		d.failAt(at(n), path, "", "%s is a %s where a mapping is needed", d.described(path), kindName(n))
		return
	}
	seen := map[string]place{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		p := join(path, k.Value)
		if k.Kind != yaml.ScalarNode {
			d.failAt(at(k), path, "", "a key of %s is a %s", d.described(path), kindName(k))
			continue
		}
		if first, ok := seen[k.Value]; ok {
			d.failAt(at(k), p, "keep one of the two", "the key %q is there twice, first in line %d", k.Value, first.line)
			continue
		}
		seen[k.Value] = at(k)
		d.record(p, k, v)
		if v.ShortTag() == "!!null" {
			d.failAt(at(k), p, "give a value, or leave the key out", "%s has no value", p)
			continue
		}
		each(k.Value, k, v, p)
	}
}

// node returns the value of a key, or nil where the file does not have it.
func (o *object) node(name string) *yaml.Node {
	if o == nil {
		return nil
	}
	if o.shape.key(name) == nil {
		panic("rules: " + o.shape.name + " has no key " + name)
	}
	o.d.used[o.shape.name+"."+name] = true
	return o.values[name]
}

func (o *object) has(name string) bool { return o.node(name) != nil }

// sub returns the mapping under a key, or nil.
func (o *object) sub(name string, s *shape) *object {
	n := o.node(name)
	if n == nil {
		return nil
	}
	return o.d.object(n, s, o.at(name))
}

// text of a single value as written; the default where the key is missing.
func (o *object) text(name, def string) string {
	n := o.node(name)
	if n == nil {
		return def
	}
	s, ok := o.d.scalar(n, o.at(name))
	if !ok {
		return def
	}
	return s
}

// scalar is the text of a single value that is not empty.
func (d *decoder) scalar(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.failAt(at(n), path, "", "%s is a %s where a single value is needed", d.described(path), kindName(n))
		return "", false
	}
	switch n.ShortTag() {
	case "!!null":
		d.failAt(at(n), path, fmt.Sprintf("write %q in quotes where the text is meant", n.Value), "%s has no value", d.described(path))
		return "", false
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
	default:
		d.failAt(at(n), path, "remove the tag", "%s has the tag %s, which means nothing here", d.described(path), n.Tag)
		return "", false
	}
	if n.Value == "" {
		d.failAt(at(n), path, "", "%s is empty", d.described(path))
		return "", false
	}
	if strings.ContainsRune(n.Value, 0) {
		d.failAt(at(n), path, "remove it", "%s holds a NUL character", d.described(path))
		return "", false
	}
	return n.Value, true
}

func (o *object) boolean(name string, def bool) bool {
	n := o.node(name)
	if n == nil {
		return def
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		switch strings.ToLower(n.Value) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	o.fail(name, "write true or false", "%s is neither true nor false", o.at(name))
	return def
}

func (o *object) integer(name string, def, minimum, maximum int64) int64 {
	n := o.node(name)
	if n == nil {
		return def
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || v < minimum || v > maximum {
		o.fail(name, "", "%s is not a whole number from %d to %d", o.at(name), minimum, maximum)
		return def
	}
	return v
}

func (o *object) duration(name string, def time.Duration) time.Duration {
	n := o.node(name)
	if n == nil {
		return def
	}
	v, ok := o.d.duration(n, o.at(name))
	if !ok {
		return def
	}
	return v
}

func (d *decoder) duration(n *yaml.Node, path string) (time.Duration, bool) {
	s, ok := d.scalar(n, path)
	if !ok {
		return 0, false
	}
	v, err := ParseDuration(s)
	if err != nil {
		d.failAt(at(n), path, "durations: 10s, 5m, 6h, 2d, 1h30m", "%s: %s", path, err)
		return 0, false
	}
	return v, true
}

// choice is one of the options; the default where the key is missing or wrong.
func choice[T ~string](o *object, name string, def T, options ...T) T {
	n := o.node(name)
	if n == nil {
		return def
	}
	s, ok := o.d.scalar(n, o.at(name))
	if !ok {
		return def
	}
	if !oneOf(s, options) {
		o.fail(name, didYouMean(s, names(options)), "%s: %q is not known here", o.at(name), s)
		return def
	}
	return T(s)
}

// texts is a list of single values; one value alone is a list of one.
func (o *object) texts(name string) []string {
	n := o.node(name)
	if n == nil {
		return nil
	}
	return o.d.texts(n, o.at(name))
}

func (d *decoder) texts(n *yaml.Node, path string) []string {
	items := d.items(n, path)
	out := make([]string, 0, len(items))
	seen := map[string]bool{}
	for i, c := range items {
		s, ok := d.scalar(c, index(path, i))
		if !ok {
			continue
		}
		if seen[s] {
			d.failAt(at(c), index(path, i), "keep one of the two", "%s: %q is there twice", path, s)
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

// items are the members of a list; a value that is no list counts as a list of
// one. Their places are noted.
func (d *decoder) items(n *yaml.Node, path string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	for i, c := range n.Content {
		d.record(index(path, i), nil, c)
	}
	if len(n.Content) == 0 {
		d.failAt(at(n), path, "name at least one, or leave the key out", "%s is an empty list", d.described(path))
	}
	return n.Content
}

// list are the members of a list under a key that takes nothing but a list.
func (o *object) list(name string) []*yaml.Node {
	n := o.node(name)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.fail(name, "write it as a list: each entry after a dash", "%s is a %s where a list is needed", o.at(name), kindName(n))
		return nil
	}
	for i, c := range n.Content {
		o.d.record(index(o.at(name), i), nil, c)
	}
	return n.Content
}

// enums are a list of single values, each among the options.
func enums[T ~string](o *object, name string, options ...T) []T {
	var out []T
	for i, s := range o.texts(name) {
		if !oneOf(s, options) {
			p := o.at(name)
			if o.values[name].Kind == yaml.SequenceNode {
				p = index(p, i)
			}
			o.d.fail(p, didYouMean(s, names(options)), "%s: %q is not known here", o.at(name), s)
			continue
		}
		out = append(out, T(s))
	}
	return out
}
