package rules

import (
	"go.yaml.in/yaml/v4"
)

// expand copies the tree with every alias replaced by what it stands for, and
// every merge key (<<) by the keys it brings; a key beside it wins. The copy is
// bounded in size and depth, so that nested aliases cannot exhaust memory.
func (d *decoder) expand(n *yaml.Node, depth int, via []*yaml.Node) *yaml.Node {
	d.nodes++
	if d.nodes > maxNodes || depth > maxDepth {
		if d.nodes < 2*maxNodes { // said once
			d.failAt(at(n), "", "write the parts out, or split the job", "the %s has more than %d values or %d levels after its aliases are filled in", d.what, maxNodes, maxDepth)
			d.nodes = 2 * maxNodes
		}
		return nil
	}
	if n.Kind == yaml.AliasNode {
		for _, v := range via {
			if v == n.Alias {
				d.failAt(at(n), "", "remove the alias", "the alias *%s contains itself", n.Value)
				return nil
			}
		}
		out := d.expand(n.Alias, depth+1, append(via, n.Alias))
		if out != nil {
			out.Line, out.Column = n.Line, n.Column
		}
		return out
	}
	out := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Line: n.Line, Column: n.Column}
	if n.Kind != yaml.MappingNode {
		for _, c := range n.Content {
			e := d.expand(c, depth+1, via)
			if e == nil {
				return nil
			}
			out.Content = append(out.Content, e)
		}
		return out
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := d.expand(n.Content[i], depth+1, via), d.expand(n.Content[i+1], depth+1, via)
		if k == nil || v == nil {
			return nil
		}
		if k.Value != "<<" || k.ShortTag() != "!!merge" {
			out.Content = append(out.Content, k, v)
			continue
		}
		sources := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			sources = v.Content
		}
		for _, s := range sources {
			if s.Kind != yaml.MappingNode {
				d.failAt(at(s), "", "`<<: *name` takes the alias of a mapping", "a merge key takes a mapping, this is a %s", kindName(s))
				return nil
			}
			merged = append(merged, s)
		}
	}
	for _, m := range merged {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if lookup(out, m.Content[i].Value) == nil {
				out.Content = append(out.Content, m.Content[i], m.Content[i+1])
			}
		}
	}
	return out
}

// lookup returns the value of a key of a mapping node, or nil.
func lookup(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// overlay merges two values: mappings key by key, the upper one wins; anything
// else is replaced. The nodes keep their places.
func overlay(base, over *yaml.Node) *yaml.Node {
	if base == nil || over == nil || base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode {
		if over == nil {
			return base
		}
		return over
	}
	out := *over
	out.Content = append([]*yaml.Node(nil), over.Content...)
	for i := 0; i+1 < len(base.Content); i += 2 {
		k, v := base.Content[i], base.Content[i+1]
		replaced := false
		for j := 0; j+1 < len(out.Content); j += 2 {
			if out.Content[j].Value == k.Value {
				out.Content[j+1] = overlay(v, out.Content[j+1])
				replaced = true
			}
		}
		if !replaced {
			out.Content = append(out.Content, k, v)
		}
	}
	return &out
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	default:
		if n.ShortTag() == "!!null" {
			return "key without a value"
		}
		return "single value"
	}
}
