package pipeline

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/recon-batch/recon-batch/report"
)

// fitsSchema asserts that the report of a night, which has something of everything, is what
// the published schema says; and that the schema refuses another one.
func fitsSchema(t *testing.T, r *recounting) {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", text); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(r.doc); err != nil {
		t.Error(err)
	}
	doc := r.doc.(map[string]any)
	holds := doc["holds"]
	delete(doc, "holds")
	if schema.Validate(doc) == nil {
		t.Error("a report without holds fits the schema")
	}
	doc["holds"] = holds
}
