package rules

// shape describes one mapping of the job file. The loader refuses what is not in
// it, and the JSON Schema and the test of the reference are made from it, so
// that the three cannot drift apart.
type shape struct {
	name  string // of the definition in the schema
	doc   string
	keys  []key
	later map[string]string // known keys that a later release brings → what to do until then
}

// key is one key of a mapping.
type key struct {
	name     string
	doc      string
	def      string // the default in words; "" where there is none
	required bool   // always, whatever the other keys say
	value    schema
}

// schema is a JSON Schema of draft 7.
type schema map[string]any

func (s *shape) key(name string) *key {
	for i := range s.keys {
		if s.keys[i].name == name {
			return &s.keys[i]
		}
	}
	return nil
}

func (s *shape) names() []string {
	out := make([]string, len(s.keys))
	for i, k := range s.keys {
		out[i] = k.name
	}
	return out
}

// The kinds of values.

func textValue() schema { return schema{"type": []any{"string", "number", "boolean"}} }

func patternValue(p string) schema { return schema{"type": "string", "pattern": p} }

func boolValue() schema { return schema{"type": "boolean"} }

func intValue(minimum int) schema { return schema{"type": "integer", "minimum": minimum} }

func enumValue[T ~string](options ...T) schema {
	out := make([]any, len(options))
	for i, o := range options {
		out[i] = string(o)
	}
	return schema{"enum": out}
}

func listValue(of schema) schema { return schema{"type": "array", "items": of} }

func mapValue(of schema) schema { return schema{"type": "object", "additionalProperties": of} }

func shapeValue(s *shape) schema { return schema{"$ref": "#/definitions/" + s.name} }

func anyValue(of ...schema) schema {
	out := make([]any, len(of))
	for i, o := range of {
		out[i] = o
	}
	return schema{"anyOf": out}
}

const (
	durationPattern = `^([0-9]+(ms|s|m|h|d|w))+$`
	percentPattern  = `^[0-9]+(\.[0-9]+)?%$`
	decimalPattern  = `^[0-9]+(\.[0-9]+)?$`
	namePattern     = `^[a-z][a-z0-9_]*$`
)

func durationValue() schema { return patternValue(durationPattern) }

func amountsValue() schema {
	return schema{
		"type":                 "object",
		"propertyNames":        schema{"pattern": `^[A-Z]{3}$`},
		"additionalProperties": anyValue(patternValue(decimalPattern), schema{"type": "number", "minimum": 0}),
	}
}
