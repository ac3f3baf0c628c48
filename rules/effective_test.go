package rules

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestEffectiveLoads: the effective form of each job is the same job.
func TestEffectiveLoads(t *testing.T) {
	for name, src := range goodFiles(t) {
		job, err := Parse(src, name)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(job.Effective(), name)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, job.Effective())
			continue
		}
		if a, b := job.Digest(), again.Digest(); a != b {
			t.Errorf("%s: digest %s, of the effective form %s\n%s\n%s", name, a, b, job.Effective(), again.Effective())
		}
		for _, j := range []*Job{job, again} {
			j.File, j.Source, j.given, j.Warnings = "", nil, nil, nil
		}
		if !reflect.DeepEqual(job, again) {
			t.Errorf("%s: the effective form is another job\n%s", name, job.Effective())
		}
	}
}

// TestEffectiveSaysOrigins: every value says its line or that it is a default.
func TestEffectiveSaysOrigins(t *testing.T) {
	src := "job: tiny\noperations: {path: o.csv, fields: {operation_id: id}}\nresults:\n  path: r.csv\n  fields: {operation_id: id}\nmatch:\n  - {pass: operation_id, on: [operation_id]}\n"
	job, err := Parse([]byte(src), "dir/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(job.Effective())
	for _, want := range []string{
		"job: tiny # job.yaml:1\n", "timezone: UTC # default\n", "clock_skew: 5m # default\n", "path: r.csv # job.yaml:4\n", "need: required # default\n",
		"column: id # job.yaml:2\n", "column: id # job.yaml:5\n", "type: text # default\n", "formats: [parquet, ndjson, html, json, md, prom] # default\n",
		"operations: operation_id # job.yaml:7\n", "nullable: false # default\n", "as_of: '{date+1}T00:00' # default\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the effective job lacks %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasSuffix(line, ":") && !strings.Contains(line, "#") {
			t.Errorf("no origin: %q", line)
		}
	}
}

// TestDigestIgnoresSpelling: comments, key order and short forms do not count,
// and what the job says does.
func TestDigestIgnoresSpelling(t *testing.T) {
	base := "job: tiny\noperations: {path: o.csv, fields: {operation_id: id, type: kind, amount: {type: decimal}}}\nresults: {path: r.csv, fields: {operation_id: id, amount: {type: decimal}}}\nmatch: [{pass: operation_id, on: [operation_id]}]\ncompare: [{field: amount, tolerance: 0.010}]\ntypes: {'*': {idempotent: true}, a: {risk: none}}\n"
	same := `
# a comment
match:
  - identity: true
    pass: operation_id
    on: operation_id
results:
  fields: {amount: {column: amount, type: decimal}, operation_id: {column: id}}
  sources: [{name: results, path: r.csv, format: csv}]
operations:
  sources: [{path: o.csv, need: required}]
  fields: {amount: {column: amount, type: decimal}, type: {column: kind}, operation_id: id}
types: {a: {idempotent: true}, '*': {idempotent: true, risk: none}}
compare: [{field: amount, as: decimal, tolerance: {absolute: "0.01"}}]
timezone: UTC
job: tiny
`
	digest := func(src string) string {
		job, err := Parse([]byte(src), "job.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return job.Digest()
	}
	if a, b := digest(base), digest(same); a != b {
		t.Errorf("two spellings of one job have the digests %s and %s", a, b)
	}
	for _, change := range [][2]string{
		{"tolerance: 0.010", "tolerance: 0.011"}, {"job: tiny", "job: tiny2"}, {"path: o.csv", "path: p.csv"}, {"{operation_id: id,", "{operation_id: ID,"},
		{"idempotent: true", "idempotent: false"}, {"path: r.csv", "path: {exact: r.csv}"}, {"path: r.csv", "path: r.csv, coverage: complete"},
	} {
		if !strings.Contains(base, change[0]) {
			t.Fatal(change[0])
		}
		if digest(strings.Replace(base, change[0], change[1], 1)) == digest(base) {
			t.Errorf("%s and %s have one digest", change[0], change[1])
		}
	}
}

func TestInitTemplateLoads(t *testing.T) {
	job, err := Parse(InitTemplate(), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(job.Warnings) > 0 {
		t.Errorf("warnings: %v", job.Warnings)
	}
	if !bytes.Contains(InitTemplate(), []byte("yaml-language-server: $schema=")) {
		t.Error("no line that names the schema to editors")
	}
	var n yaml.Node
	if err := yaml.Unmarshal(InitTemplate(), &n); err != nil {
		t.Fatal(err)
	}
}
