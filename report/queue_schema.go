package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// queueSchemaFile is the published schema, the same bytes as QueueSchema(nil).
//
//go:embed queue.schema.json
var queueSchemaFile []byte

// finalStates are the final states of the default sets. No requeue leads to a state of
// such a name, whatever a job declares.
var finalStates = []string{"confirmed", "compensated", "not_applicable", "cancelled", "superseded", "succeeded", "ignored"}

// QueueSchema is the JSON Schema (draft 7) of a queue item. With a job it names the
// final states of that job as well, which no requeue may lead to.
//
// The keyword x-distinct is ours: the fields that it names must differ. A validator that
// does not know it tells the same by undo_keep, whose entries are unique.
func QueueSchema(job *rules.Job) []byte {
	if job == nil && len(queueSchemaFile) > 0 {
		return slices.Clone(queueSchemaFile)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(queueSchema(job)); err != nil {
		panic(err) // maps of texts and numbers
	}
	return b.Bytes()
}

type object = map[string]any

func queueSchema(job *rules.Job) object {
	properties := object{}
	var narrow, all []string
	for _, f := range QueueFields {
		properties[f.Name] = f.schema()
		all = append(all, f.Name)
		if f.Confirm {
			narrow = append(narrow, f.Name)
		}
	}
	return object{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       "item of a queue of recon-batch",
		"description": "One line of queues/*.ndjson. Meaning of the fields: docs/queues.md. Fields are added without notice; schema_version grows when one changes its meaning or goes away.",
		"type":        "object",
		"properties":  properties,
		"required":    narrow,
		"allOf":       queueConditions(job, all),
	}
}

// queueConditions are what an item of each queue needs so that acting on it is safe.
func queueConditions(job *rules.Job, all []string) []any {
	final := slices.Clone(finalStates)
	if job != nil {
		for _, s := range job.States.Final {
			if !slices.Contains(final, s) {
				final = append(final, s)
			}
		}
	}
	text := object{"type": "string", "pattern": `\S`}
	is := func(queue ...string) object { return object{"queue": object{"enum": queue}} }
	when := func(cond, then object) any {
		return object{"if": object{"properties": cond, "required": keys(cond)}, "then": object{"properties": then, "required": keys(then)}}
	}
	with := func(a object, name string, v any) object {
		out := object{name: v}
		for k, x := range a {
			out[k] = x
		}
		return out
	}
	shown := func(queue ...string) object { return with(is(queue...), "hidden", object{"const": false}) }
	return []any{
		object{"if": object{"properties": object{"queue": object{"not": object{"const": "confirm"}}}}, "then": object{"required": all}},
		when(is("confirm"), object{"class": object{"const": "correct"}}),
		when(is("requeue"), object{"class": object{"const": "absent"}, "refused": object{"type": "null"}, "effects_seen": object{"const": 0},
			"next_state": object{"type": "string", "pattern": `\S`, "not": object{"enum": final}}, "next_state_final": object{"const": false},
			"next_attempt_at": object{"type": "string"}, "expires_at": object{"type": "string"}, "deferred": object{"const": false}}),
		when(shown("requeue"), object{"idempotency_key": text, "recheck_key": text, "recheck_since": object{"type": "string"}}),
		when(shown("confirm", "requeue", "close"), object{"expected_state": text, "next_state": text}),
		when(with(shown(actingQueues()...), "next_state", object{"type": "string"}), object{"expected_state": text}),
		when(is("compensate"), object{"class": object{"enum": []string{"duplicate", "unexpected"}}, "refused": object{"type": "null"}, "business_operation": text}),
		object{
			"if":         object{"properties": shown("compensate"), "required": keys(shown("compensate"))},
			"then":       object{"properties": object{"remote_id": text, "undo_keep": object{"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true}}},
			"x-distinct": []string{"remote_id", "keep_remote_id"},
		},
		when(with(shown("compensate"), "class", object{"const": "duplicate"}), object{"keep_remote_id": text, "undo_keep": object{"type": "array", "minItems": 2}}),
		when(is("close"), object{"class": object{"const": "not_applicable"}}),
		when(is("review"), object{"next_state": object{"type": "null"}}),
	}
}

func keys(o object) []string {
	out := make([]string, 0, len(o))
	for k := range o {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// actingQueues are the queues that change something.
func actingQueues() []string {
	return slices.DeleteFunc(slices.Clone(queueOrder), func(q string) bool { return !acting(q) })
}

// schema of one field.
func (f QueueField) schema() object {
	s := object{"type": "string"}
	switch f.Kind {
	case kindWhole:
		s = object{"type": "integer", "minimum": 0}
	case kindBool:
		s = object{"type": "boolean"}
	case kindInstant:
		s["pattern"] = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z$`
	case kindQueue:
		s["enum"] = queueOrder
	case kindClass:
		s["enum"] = classOrder
	case kindDigest:
		s["pattern"] = `^[0-9a-f]{64}$`
	case kindTexts:
		s = object{"type": "array", "items": object{"type": "string"}}
	case kindObject:
		s = object{"type": "object", "additionalProperties": object{"type": []string{"string", "null"}}}
	case kindEvidence:
		s = object{"type": "array", "minItems": 1, "items": object{"type": "object",
			"required": []string{"side", "source", "file", "record", "sha256"},
			"properties": object{"side": object{"enum": []string{string(rules.Operations), string(rules.Results)}},
				"source": object{"type": "string"}, "file": object{"type": "string"},
				"record": object{"type": "integer", "minimum": 1}, "sha256": object{"type": "string", "pattern": `^[0-9a-f]{64}$`}}}}
	}
	switch f.Name {
	case "schema_version":
		s = object{"const": QueueSchemaVersion}
	case "item_id", "case_id":
		s["pattern"] = `^[0-9a-f]{32}$`
	}
	s["description"] = f.Doc
	if !f.Always {
		s["type"] = []string{s["type"].(string), "null"}
	}
	return s
}
