package rules

import "encoding/json"

// Schema is the JSON Schema of the job file, for editors. It has keywords of
// draft 7 only, which they all understand. It knows the same keys as the loader
// and their kinds; what concerns several keys only the loader checks.
func Schema() []byte {
	definitions := map[string]any{}
	for _, s := range shapes {
		if s != jobShape {
			definitions[s.name] = s.schema()
		}
	}
	root := jobShape.schema()
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "job of recon-batch"
	root["definitions"] = definitions
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("rules: the schema cannot be written: " + err.Error()) // it holds texts and numbers only
	}
	return append(text, '\n')
}

func (s *shape) schema() map[string]any {
	properties := map[string]any{}
	var required []string
	for _, k := range s.keys {
		properties[k.name] = k.schema()
		if k.required {
			required = append(required, k.name)
		}
	}
	out := map[string]any{"type": "object", "description": s.doc, "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// schema of one key. A reference stands in allOf: draft 7 ignores what is beside
// $ref, the description among it.
func (k *key) schema() map[string]any {
	out := map[string]any{"description": k.description()}
	if _, ok := k.value["$ref"]; ok {
		out["allOf"] = []any{k.value}
		return out
	}
	for word, v := range k.value {
		out[word] = v
	}
	return out
}

func (k *key) description() string {
	if k.def == "" {
		return k.doc
	}
	return k.doc + " Default: " + k.def + "."
}
