package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds of `extends`: a file may be reached by several ways, and is read each time.
const maxPolicyFiles = 64

// fileMark begins the mark of nodes that come from a policy file; what follows is its
// path. Nodes of presets carry the preset's name.
const fileMark = "file:"

// besideFile is a file that a job or one of its policy files names.
type besideFile struct {
	mark string // of its nodes: fileMark, and the path relative to the folder of the job, or absolute
	open string // the path to open
	text []byte
}

// resolve gives the path of a file that the node names, relative to the file in which
// the node stands.
func (d *decoder) resolve(name string, n *yaml.Node) (besideFile, error) {
	root, in := filepath.Dir(d.file), "."
	if from, ok := strings.CutPrefix(n.LineComment, fileMark); ok {
		if in = path.Dir(from); path.IsAbs(from) {
			root, in = in, "."
		}
	}
	slashed := filepath.ToSlash(name)
	if path.IsAbs(slashed) || filepath.IsAbs(name) {
		clean := path.Clean(slashed)
		return besideFile{mark: fileMark + clean, open: filepath.FromSlash(clean)}, nil
	}
	rel := path.Join(in, strings.ReplaceAll(slashed, `\`, "/"))
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return besideFile{}, fmt.Errorf("%q leaves the folder of the job", name)
	}
	mark := rel
	if from, ok := strings.CutPrefix(n.LineComment, fileMark); ok && path.IsAbs(from) {
		mark = path.Join(path.Dir(from), rel)
	}
	return besideFile{mark: fileMark + mark, open: filepath.Join(root, filepath.FromSlash(rel))}, nil
}

// beside reads a small file that the node at the path names. false: it was refused.
func (d *decoder) beside(name string, n *yaml.Node, where string) (besideFile, bool) {
	if d.alone {
		d.failAt(at(n), where, "write out what the file says", "%s names a file, but an effective job stands alone", where)
		return besideFile{}, false
	}
	f, err := d.resolve(name, n)
	if err != nil {
		d.failAt(at(n), where, "name a file in the folder of the job or below, or write an absolute path", "%s: %s", where, err)
		return f, false
	}
	if f.text, err = readSmall(f.open); err != nil {
		d.failAt(at(n), where, "paths are relative to the file that names them", "%s cannot be read: %s", strings.TrimPrefix(f.mark, fileMark), err)
		return f, false
	}
	return f, true
}

// readSmall reads a plain file of at most maxJobBytes. The error does not name it.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, plainError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, plainError(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJobBytes+1))
	if err != nil {
		return nil, plainError(err)
	}
	if len(text) > maxJobBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxJobBytes)
	}
	return text, nil
}

// plainError is the error of the system without the path, which depends on where the
// program was started.
func plainError(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// policyLists are the lists of which those of the upper file come first.
var policyLists = []string{"policy", "releases"}

// extends puts the policy files that a job names under its own keys. It returns the
// merged job and what was read.
func (d *decoder) extends(root *yaml.Node) (*yaml.Node, []PolicyFile) {
	x := &extension{d: d, chain: []string{filepath.ToSlash(filepath.Base(d.file))}}
	root = x.under(root, "extends")
	return root, x.files
}

type extension struct {
	d     *decoder
	chain []string // the files that led here, by their paths
	read  int
	files []PolicyFile
}

// under merges what the node extends under it. The key itself stays, for its shape to
// be checked.
func (x *extension) under(n *yaml.Node, where string) *yaml.Node {
	list := lookup(n, "extends")
	if list == nil || n.Kind != yaml.MappingNode {
		return n
	}
	entries := []*yaml.Node{list}
	if list.Kind == yaml.SequenceNode {
		entries = list.Content
	}
	var base *yaml.Node
	for i, e := range entries {
		p := where
		if list.Kind == yaml.SequenceNode {
			p = index(where, i)
		}
		if f := x.file(e, p); f != nil {
			base = overPolicy(base, f)
		}
	}
	if base == nil {
		return n
	}
	return overPolicy(base, n)
}

// file reads one policy file with all that it extends; nil where it was refused, or is
// written out already.
func (x *extension) file(e *yaml.Node, where string) *yaml.Node {
	d := x.d
	name, stated := e, (*yaml.Node)(nil)
	if e.Kind == yaml.MappingNode {
		name, stated = lookup(e, "file"), lookup(e, "sha256")
		w := lookup(e, "written_out")
		if name == nil || name.Kind != yaml.ScalarNode {
			return nil // said where the key is read
		}
		if w != nil && w.Value == "true" {
			if stated == nil {
				d.failAt(at(w), where, "leave written_out away: the file is then read", "%s: a file whose keys are written out is named with its sha256", where)
				return nil
			}
			x.files = append(x.files, PolicyFile{Path: name.Value, SHA256: stated.Value})
			return nil
		}
	}
	if name.Kind != yaml.ScalarNode || name.Value == "" || name.ShortTag() == "!!null" {
		d.failAt(at(e), where, "write the path of a policy file: policies/payments.yaml", "%s names no file", where)
		return nil
	}
	f, err := d.resolve(name.Value, name)
	shown := strings.TrimPrefix(f.mark, fileMark)
	if err == nil && slices.Contains(x.chain, shown) {
		d.failAt(at(name), where, "take one of them out", "policy files extend each other in a circle: %s", strings.Join(append(slices.Clone(x.chain), shown), " → "))
		return nil
	}
	if x.read++; x.read > maxPolicyFiles {
		if x.read == maxPolicyFiles+1 {
			d.failAt(at(name), where, "put files together", "more than %d policy files are read", maxPolicyFiles)
		}
		return nil
	}
	f, ok := d.beside(name.Value, name, where)
	if !ok {
		return nil
	}
	sum := sha256.Sum256(f.text)
	digest := hex.EncodeToString(sum[:])
	if stated != nil && stated.Value != digest {
		d.failAt(at(stated), where, "its sha256 is "+digest, "the policy file %s is not the one that is named", shown)
		return nil
	}
	n := x.parse(&f, shown)
	if n == nil {
		return nil
	}
	x.chain = append(x.chain, shown)
	n = x.under(n, where)
	x.chain = x.chain[:len(x.chain)-1]
	if !slices.ContainsFunc(x.files, func(p PolicyFile) bool { return p.Path == shown }) {
		x.files = append(x.files, PolicyFile{Path: shown, SHA256: digest})
	}
	return n
}

// parse reads the text of a policy file into nodes that carry its mark.
func (x *extension) parse(f *besideFile, shown string) *yaml.Node {
	d := x.d
	sub := newDecoder(f.text, shown)
	sub.used, sub.nodes, sub.what = d.used, d.nodes, policyFile
	d.fileLines[f.mark] = sub.lines
	n := sub.root(f.text)
	d.nodes = sub.nodes
	if n != nil {
		sub.doubled(n, "")
		o := sub.object(n, policyFileShape, "")
		if o != nil {
			for _, k := range policyFileShape.keys {
				o.node(k.name) // each is read where the job is
			}
		}
	}
	for _, e := range sub.errs {
		e.File = filepath.ToSlash(filepath.Join(filepath.Dir(d.file), filepath.FromSlash(shown)))
		if path.IsAbs(shown) {
			e.File = shown
		}
		d.errs = append(d.errs, e)
	}
	if n == nil || len(sub.errs) > 0 {
		return nil
	}
	return marked(n, f.mark)
}

// doubled refuses keys that stand twice in one mapping below the given one: merged with
// other files, one of the two would win unseen. The mapping itself is read as an object.
func (d *decoder) doubled(n *yaml.Node, where string) {
	seen := map[string]place{}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode {
			d.doubled(c, index(where, i))
			continue
		}
		if i%2 == 1 {
			continue
		}
		p := join(where, c.Value)
		if first, ok := seen[c.Value]; ok && where != "" {
			d.failAt(at(c), p, "keep one of the two", "the key %q is there twice, first in line %d", c.Value, first.line)
		}
		seen[c.Value] = at(c)
		d.doubled(n.Content[i+1], p)
	}
}

// overPolicy merges two policies: mappings key by key, the upper one wins; the rules
// and releases of the upper one come first.
func overPolicy(base, over *yaml.Node) *yaml.Node {
	if base == nil {
		return over
	}
	out := overlay(without(base, "extends"), over)
	for _, key := range policyLists {
		b, o := lookup(base, key), lookup(over, key)
		if b == nil || o == nil || b.Kind != yaml.SequenceNode || o.Kind != yaml.SequenceNode {
			continue
		}
		both := shallow(o)
		both.Content = append(both.Content, b.Content...)
		setKey(out, key, both)
	}
	return out
}

// without copies a mapping and leaves a key out.
func without(n *yaml.Node, key string) *yaml.Node {
	out := *n
	out.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			out.Content = append(out.Content, n.Content[i], n.Content[i+1])
		}
	}
	return &out
}

var sha256Form = regexp.MustCompile(sha256Pattern)

// extended checks the key extends, which has been followed already.
func (d *decoder) extended(o *object) {
	n := o.node("extends")
	if n == nil {
		return
	}
	for i, e := range d.items(n, o.at("extends")) {
		p := o.at("extends")
		if n.Kind == yaml.SequenceNode {
			p = index(p, i)
		}
		if e.Kind != yaml.MappingNode {
			continue
		}
		if c := d.object(e, extendsShape, p); c != nil {
			c.text("file", "")
			c.boolean("written_out", false)
			if s := c.text("sha256", ""); s != "" && !sha256Form.MatchString(s) {
				c.fail("sha256", "64 hexadecimal digits", "%s: %q is no SHA-256", c.at("sha256"), s)
			}
		}
	}
}
