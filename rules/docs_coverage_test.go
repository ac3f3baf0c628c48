package rules

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v4"
)

// coverageJob has the fields that the examples of the guide are about.
const coverageJob = `job: guide
timezone: Europe/Paris
operations:
  path: operations.csv
  fields: {id: id, amount: {type: decimal}, currency: {type: currency}}
results:
  path: results.csv
  fields: {id: id, amount: {type: decimal}, currency: {type: currency}, at: {type: timestamp}}
match: [{pass: id, on: [id], identity: true}]
compare: [{field: amount}, {field: currency}]
`

// TestCoverageGuide: every example of docs/coverage.md loads over one job.
func TestCoverageGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, b := range fenced.FindAllStringSubmatch(string(text), -1) {
		d := newDecoder([]byte(b[3]), "job.yaml")
		base := newDecoder([]byte(coverageJob), "job.yaml")
		src, err := yaml.Marshal(overlay(base.root([]byte(coverageJob)), d.root([]byte(b[3]))))
		if err != nil {
			t.Fatal(err)
		}
		tried++
		if job, err := Parse(src, "job.yaml"); err != nil || len(job.Warnings) > 0 {
			t.Errorf("%v\n%s", err, b[3])
		}
	}
	if tried < 6 {
		t.Errorf("only %d examples were tried", tried)
	}
}
