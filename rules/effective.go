package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Effective is the job as it holds: long forms, policies merged, every default
// written out, and beside each value where it comes from. It loads as a job file
// with the same digest.
func (j *Job) Effective() []byte {
	w := &effective{job: j, comments: true}
	var b bytes.Buffer
	b.WriteString("# The job " + j.Name + " as it holds. Values say where they come from.\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(w.root())
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		panic("rules: the effective job cannot be written: " + err.Error()) // a tree of texts
	}
	return b.Bytes()
}

// Digest is the SHA-256 of the effective job, in hexadecimal: independent of
// comments, of the order of keys and of the short forms. Lists keep their order.
func (j *Job) Digest() string {
	w := &effective{job: j}
	text, err := json.Marshal(plain(w.root())) // sorts the keys of mappings
	if err != nil {
		panic("rules: the effective job cannot be digested: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// plain is a tree of nodes as maps, lists and texts.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, c := range n.Content {
			l[i] = plain(c)
		}
		return l
	default:
		return n.Value
	}
}

// effective writes a job as nodes.
type effective struct {
	job      *Job
	comments bool
}

// tree is a mapping that is being written, and its path.
type tree struct {
	w    *effective
	path string
	node *yaml.Node
}

func (w *effective) tree(path string) *tree {
	return &tree{w, path, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
}

func (t *tree) set(key string, v *yaml.Node) {
	if v.Kind == yaml.MappingNode && len(v.Content) == 0 {
		return
	}
	k := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
	if t.w.comments && v.Kind != yaml.MappingNode && !hasMapping(v) {
		v.LineComment = t.w.origin(join(t.path, key))
	}
	t.node.Content = append(t.node.Content, k, v)
}

func hasMapping(n *yaml.Node) bool {
	for _, c := range n.Content {
		if c.Kind == yaml.MappingNode {
			return true
		}
	}
	return false
}

// shortForms are the keys whose value follows from a value that stands in the
// place of their mapping: `operation_id: id` is {column: id}.
var shortForms = map[string]bool{"column": true, "operations": true, "results": true, "complete": true, "absolute": true, "url": true}

// origin of a value: the line of the job file that states it or the short form
// that it follows from, else the default.
func (w *effective) origin(path string) string {
	for p := path; p != ""; p = parentPath(p) {
		if at, ok := w.job.given[p]; ok {
			return w.said(at)
		}
		if key := p[len(parentPath(p)):]; !shortForms[strings.TrimPrefix(key, ".")] && !strings.HasPrefix(key, "[") {
			break
		}
		// Both sides of a compared field or key part may be said by `field`.
		if at, ok := w.job.given[join(parentPath(p), "field")]; ok {
			return w.said(at)
		}
	}
	return "# default"
}

// said names a place: the job file, or the preset with its version, and the line.
func (w *effective) said(at place) string {
	file := strings.TrimPrefix(at.file, fileMark)
	if file == "" {
		file = filepath.Base(w.job.File)
	}
	return "# " + file + ":" + strconv.Itoa(at.line)
}

func textNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

func (t *tree) text(key, v string) {
	if v != "" {
		t.set(key, textNode(v))
	}
}

func (t *tree) boolean(key string, v bool) {
	t.set(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)})
}

func (t *tree) integer(key string, v int64) {
	t.set(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)})
}

// positive writes a number that is not declared where it is 0.
func (t *tree) positive(key string, v int64) {
	if v > 0 {
		t.integer(key, v)
	}
}

func (t *tree) number(key string, v float64) {
	t.set(key, &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v, 'f', -1, 64)})
}

func (t *tree) duration(key string, v time.Duration) { t.text(key, formatDuration(v)) }

func (t *tree) declared(key string, v time.Duration) {
	if v > 0 {
		t.duration(key, v)
	}
}

func (t *tree) texts(key string, v []string) {
	if len(v) > 0 {
		t.flow(key, v)
	}
}

// flow writes a list of texts, an empty one too.
func (t *tree) flow(key string, v []string) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, s := range v {
		n.Content = append(n.Content, textNode(s))
	}
	t.set(key, n)
}

// sub writes a mapping, left out where it stays empty.
func (t *tree) sub(key string, fill func(*tree)) {
	s := t.w.tree(join(t.path, key))
	fill(s)
	t.set(key, s.node)
}

// textMap writes a mapping of texts, its keys sorted.
func textMap[V ~string](t *tree, key string, m map[string]V) {
	t.sub(key, func(s *tree) {
		for _, k := range sortedKeys(m) {
			s.set(k, textNode(string(m[k])))
		}
	})
}

// list writes a list of mappings.
func (t *tree) list(key string, n int, fill func(i int, s *tree)) {
	if n == 0 {
		return
	}
	l := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range n {
		s := t.w.tree(index(join(t.path, key), i))
		fill(i, s)
		l.Content = append(l.Content, s.node)
	}
	t.set(key, l)
}

// AskedDigest is the SHA-256, in hexadecimal, of what the job says of where a remote
// input comes from: everything that decides what is asked for and how, the dates
// included, and nothing of how it is read or judged.
func (b *Bound) AskedDigest(in *Input) string {
	t := (&effective{job: b.Job}).tree("")
	t.remote(in.Source)
	text, err := json.Marshal([]any{in.Source.Remote.Kind, plain(t.node), string(in.Source.Path), b.Date, in.FileDate})
	if err != nil {
		panic("rules: a source cannot be digested: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
