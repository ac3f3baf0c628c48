package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden files and schema.json anew")

// enums are the closed lists of report.json, by Go type and JSON name.
var enums = map[string][]string{
	"Summary.mode": {"enforce", "observe", "pilot"}, "Side.side": {"operations", "results"}, "Queue.queue": queueOrder,
	"StatementLine.class": classOrder, "Count.class": classOrder, "QueueReason.class": classOrder, "RowRef.class": classOrder,
	"File.status": {"staged", "skipped", "superseded", "missing", "refused"}, "Limit.kind": {"rows", "share", "amount", "baseline"},
	"AccountStatement.span": {"day", "before", "after"}, "AccountLine.class": classOrder, "BoardCause.class": classOrder, "AgeBucket.queue": queueOrder, "TrendQueue.queue": queueOrder,
	"TrendRows.class": classOrder, "AgeBucket.bucket": {"0-1d", "1-3d", "3-7d", "7-30d", "30d+", "unknown", "waiting"},
	"Pass.kind": {"identity", "business", "group", "suggest"}, "Redacted.how": {"token", "mask", "drop"},
}

// amounts are the fields that hold an exact decimal text, or nothing.
var amounts = map[string]bool{"operations_read": true, "operations_outside": true, "operations": true, "results": true, "results_outside": true,
	"results_read": true, "shifted": true, "difference": true, "operation_amount": true, "result_amount": true, "amount": true, "former_amount": true}

// schemaOf describes a Go type as JSON Schema. Unknown properties are allowed:
// the schema grows by addition.
func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		inner := schemaOf(t.Elem(), defs)
		return map[string]any{"anyOf": []any{inner, map[string]any{"type": "null"}}}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), defs)}
	case reflect.Struct:
		ref := map[string]any{"$ref": "#/definitions/" + t.Name()}
		if defs[t.Name()] != nil {
			return ref
		}
		props, required := map[string]any{}, []string{}
		defs[t.Name()] = map[string]any{"type": "object", "properties": props}
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				panic(t.Name() + "." + f.Name + " has no JSON name")
			}
			s := schemaOf(f.Type, defs)
			if e := enums[t.Name()+"."+name]; e != nil {
				s["enum"] = e
			}
			if f.Type.Kind() == reflect.String && amounts[name] {
				s["pattern"] = `^(-?[0-9]+(\.[0-9]+)?)?$`
			}
			props[name] = s
			if options != "omitempty" {
				required = append(required, name)
			}
		}
		defs[t.Name()].(map[string]any)["required"] = required
		return ref
	}
	panic("no schema for " + t.String())
}

// The published schema is that of the types, so that neither moves alone.
func TestSchemaIsOfTheTypes(t *testing.T) {
	defs := map[string]any{}
	root := schemaOf(reflect.TypeFor[Summary](), defs)
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "report.json of recon-batch"
	root["description"] = "What one run found. Meaning of the fields: report/SCHEMA.md. Fields are added without notice; schema_version grows when one changes its meaning or goes away."
	root["definitions"] = defs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), Schema) {
		t.Error("schema.json is not that of the types; run the test with -update, and describe the change in SCHEMA.md")
	}
}

// A real report is valid, and SCHEMA.md names every field.
func TestReportFitsItsSchema(t *testing.T) {
	w := newWorld(t).load()
	data, err := json.Marshal(w.build())
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile("SCHEMA.md")
	if err != nil {
		t.Fatal(err)
	}
	defs := map[string]any{}
	schemaOf(reflect.TypeFor[Summary](), defs)
	for name, d := range defs {
		for field := range d.(map[string]any)["properties"].(map[string]any) {
			if !bytes.Contains(text, []byte("`"+field+"`")) {
				t.Errorf("SCHEMA.md does not describe %s of %s", field, name)
			}
		}
	}
}
