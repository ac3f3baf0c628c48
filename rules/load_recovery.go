package rules

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// deadLetterFields are the well-known names of a dead-letter store, and the product
// fields that they stand for in the profile recovery_queue.
var deadLetterFields = map[string]string{
	"error_id":           "operation_id",
	"workflow":           "type",
	"reason_code":        "error_code",
	"attempt_count":      "attempts",
	"payload_reference":  "payload_ref",
	"external_reference": "remote_id",
}

// deadLetterNames renames the fields of a recovery queue, so that the rest of the
// program sees the standard ones. A name stays where the standard field is declared
// as well: both an error id and the id of the operation that failed.
func deadLetterNames(root *yaml.Node) *yaml.Node {
	side := lookup(root, string(Operations))
	if side == nil || side.Kind != yaml.MappingNode {
		return root
	}
	if p := lookup(side, "profile"); p == nil || p.Value != string(RecoveryQueue) {
		return root
	}
	root, side = shallow(root), shallow(side)
	setKey(root, string(Operations), side)
	maps := []*yaml.Node{lookup(side, "fields")}
	list := lookup(side, "sources")
	if list != nil && list.Kind == yaml.SequenceNode {
		list = shallow(list)
		setKey(side, "sources", list)
		for i, src := range list.Content {
			if src.Kind == yaml.MappingNode {
				list.Content[i] = shallow(src)
				maps = append(maps, lookup(src, "fields"))
			}
		}
	}
	declared := func(name string) bool {
		return slices.ContainsFunc(maps, func(m *yaml.Node) bool {
			return m != nil && m.Kind == yaml.MappingNode && lookup(m, name) != nil
		})
	}
	standard := map[string]string{}
	for theirs, ours := range deadLetterFields {
		if !declared(ours) {
			standard[theirs] = ours
		}
	}
	if maps[0] != nil {
		setKey(side, "fields", renamed(maps[0], nil, standard))
	}
	if list != nil {
		for _, src := range list.Content {
			if f := lookup(src, "fields"); src.Kind == yaml.MappingNode && f != nil {
				setKey(src, "fields", renamed(f, maps[0], standard))
			}
		}
	}
	return root
}

// renamed copies a mapping of fields under their standard names. A field that names
// no column, nor overrides one that the side names, keeps the one that it was named
// after.
func renamed(fields, side *yaml.Node, standard map[string]string) *yaml.Node {
	if fields.Kind != yaml.MappingNode {
		return fields
	}
	out := shallow(fields)
	for i := 0; i+1 < len(out.Content); i += 2 {
		k, v := out.Content[i], out.Content[i+1]
		ours, ok := standard[k.Value]
		if !ok {
			continue
		}
		overrides := side != nil && side.Kind == yaml.MappingNode && lookup(side, k.Value) != nil
		if v.Kind == yaml.MappingNode && !overrides && !slices.ContainsFunc(fieldAlternatives[0], func(place string) bool { return lookup(v, place) != nil }) {
			v = shallow(v)
			setKey(v, "column", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k.Value, Line: k.Line, Column: k.Column, LineComment: k.LineComment})
		}
		name := *k
		name.Value = ours
		out.Content[i], out.Content[i+1] = &name, v
	}
	return out
}

// standardName is the product field that a name of a dead-letter store stands for in
// this side; "" where it stands for none.
func (s *SideSpec) standardName(name string) string {
	if ours := deadLetterFields[name]; s.Profile == RecoveryQueue && s.Field(ours) != nil {
		return ours
	}
	return ""
}
