package rules

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v4"
)

// matchingFields are those that the passes of the guide are about.
const matchingFields = `
operations: {fields: {operation_id: id, provider_ref: provider_ref, payout_id: payout, parts: {type: integer}, gross: {type: decimal, scale: 2}, fee: {type: decimal, scale: 2}}}
results: {fields: {operation_id: operation_id, entity: customer, payout_id: payout, items: {type: integer}, fee: {type: decimal, scale: 2}}}
`

// TestMatchingGuide: every example of docs/matching.md loads without a warning, and what
// it says is refused is refused with those words.
func TestMatchingGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/matching.md")
	if err != nil {
		t.Fatal(err)
	}
	tried, refused := 0, 0
	for _, b := range fenced.FindAllStringSubmatch(string(text), -1) {
		if b[2] != "yaml" {
			continue
		}
		src, err := yaml.Marshal(overlay(overlay(exampleNode(t, guideJob), exampleNode(t, matchingFields)), exampleNode(t, b[3])))
		if err != nil {
			t.Fatal(err)
		}
		tried++
		if tryExample(t, src, "job.yaml", b) {
			refused++
		}
	}
	if tried < 7 || refused < 2 {
		t.Errorf("only %d examples were tried, %d of them refused", tried, refused)
	}
}
