package rules

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// passes reads the key cascade.
func (d *decoder) passes(job *object) []Pass {
	var out []Pass
	if n := job.node("match"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		job.fail("match", "add a pass: `- {pass: operation_id, on: [operation_id], identity: true}`", "match is an empty list")
	}
	job.objects("match", passShape, func(i int, o *object) {
		p := Pass{
			Name:     d.matching(o, "pass", namePattern, "lower-case letters, digits and underscores: business_key"),
			Identity: o.boolean("identity", false),
			Suggest:  o.boolean("suggest", false),
		}
		if slices.ContainsFunc(out, func(x Pass) bool { return x.Name == p.Name && p.Name != "" }) {
			o.fail("pass", "give each pass a name of its own", "two passes are named %q", p.Name)
		}
		p.Group = d.group(o)
		switch {
		case p.Group != nil:
			p.On = d.keyParts(o, "group")
		case o.has("on"):
			p.On = d.keyParts(o, "on")
		default:
			d.fail(o.path, "add `on: [operation_id]`", "%s has no key", o.path)
		}
		if k := declaredIdentity(p.On); k != "" && !p.Identity && p.Group == nil {
			if o.has("identity") {
				o.fail("identity", "remove `identity: false`", "%s is an identity key, declared unique (V3)", k)
			}
			p.Identity = true
		}
		if n := o.node("within"); n != nil {
			d.free(n, o.at("within"), func(name string, _, v *yaml.Node, path string) {
				if m, ok := d.duration(v, path); ok {
					p.Within = append(p.Within, Within{Field: name, Max: m})
				}
			})
			if p.Identity && p.Group == nil {
				o.fail("within", "remove it; an identity key needs no window", "`within` belongs to a pass by business key")
			}
		}
		if p.Suggest && p.Identity && p.Group == nil {
			o.fail("suggest", "remove one of the two", "a pass by identity key links; it cannot only suggest")
		}
		out = append(out, p)
	})
	return out
}

// declaredIdentity names the field where the key is one of those that are
// identity keys by themselves (V3).
func declaredIdentity(on []KeyPart) string {
	if len(on) == 1 && on[0].Operations == on[0].Results {
		switch on[0].Operations {
		case "operation_id", "idempotency_key":
			return on[0].Operations
		}
	}
	return ""
}

func (d *decoder) keyParts(o *object, name string) []KeyPart {
	var out []KeyPart
	path := o.at(name)
	for i, n := range d.items(o.node(name), path) {
		p := index(path, i)
		var k KeyPart
		if n.Kind != yaml.MappingNode {
			f, ok := d.scalar(n, p)
			if !ok {
				continue
			}
			k = KeyPart{Operations: f, Results: f}
		} else {
			c := d.object(n, keyPartShape, p)
			if c == nil {
				continue
			}
			f := c.text("field", "")
			k = KeyPart{Operations: c.text("operations", f), Results: c.text("results", f), Nullable: c.boolean("nullable", false)}
			if c.has("field") == (c.has("operations") || c.has("results")) || k.Operations == "" || k.Results == "" {
				d.fail(p, "write `field: x`, or `operations: x, results: y`", "%s needs one field of each side", p)
				continue
			}
		}
		if slices.ContainsFunc(out, func(x KeyPart) bool { return x.Operations == k.Operations && x.Results == k.Results }) {
			d.fail(p, "keep one of the two", "%s: the part %s is there twice", path, k.Operations)
			continue
		}
		out = append(out, k)
	}
	return out
}
