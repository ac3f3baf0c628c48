package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// guideJob has the fields that the examples of the guide are about.
const guideJob = `job: guide
timezone: Europe/Paris
operations:
  path: operations.csv
  coverage: complete
  fields:
    idempotency_key: idempotency_key
    entity: customer
    state: state
    version: {type: integer}
    amount: {type: decimal, scale: 2}
    currency: {type: currency}
    error_class: error_class
    created_at: {type: timestamp}
results:
  path: results.csv
  coverage: {complete: true, account: psp}
  fields:
    idempotency_key: idempotency_key
    remote_id: id
    version: {type: integer}
    amount: {type: decimal, scale: 2}
    currency: {type: currency}
    disputed: {type: boolean}
    iban: iban
    created_at: {type: timestamp}
match: [{pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount}, {field: currency}, {field: version}]
scope: [{rule: drafts, side: operations, when: "state = 'draft'", reason: draft}]
`

// registerFields are those that a recovery queue has under other names.
const registerFields = `operations: {fields: {operation_id: id, type: type, error_code: error_code, attempts: {type: integer}}}`

var fenced = regexp.MustCompile("(?s)(?:<!-- refused: ([^\n]*) -->\n)?```(yaml|text)\n(.*?)```")

// TestPolicyGuide: every example of docs/policy.md loads without a warning over one
// job, and what it says is refused is refused with those words.
func TestPolicyGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blocks := fenced.FindAllStringSubmatch(string(text), -1)
	file := regexp.MustCompile(`^# (policies/\S+)\n`)
	for _, b := range blocks {
		if m := file.FindStringSubmatch(b[3]); m != nil {
			path := filepath.Join(dir, filepath.FromSlash(m[1]))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b[3]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	tried, refused := 0, 0
	for _, b := range blocks {
		if file.MatchString(b[3]) {
			continue
		}
		n := overlay(exampleNode(t, guideJob), exampleNode(t, b[3]))
		if !strings.Contains(b[3], "recovery_queue") {
			n = overlay(exampleNode(t, registerFields), n)
		}
		src, err := yaml.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		if tryExample(t, src, filepath.Join(dir, "job.yaml"), b) {
			refused++
		}
	}
	if tried < 15 || refused < 2 {
		t.Errorf("only %d examples were tried, %d of them refused", tried, refused)
	}
}

// exampleNode reads the example of a guide.
func exampleNode(t *testing.T, text string) *yaml.Node {
	t.Helper()
	d := newDecoder([]byte(text), "job.yaml")
	n := d.root([]byte(text))
	if n == nil {
		t.Fatalf("%v\n%s", d.errs, text)
	}
	return n
}

// tryExample loads a job with the example b of a guide, as fenced finds it, and tells
// whether it had to be refused.
func tryExample(t *testing.T, src []byte, path string, b []string) (refused bool) {
	t.Helper()
	job, err := Parse(src, path)
	switch {
	case b[1] != "":
		if err == nil || !strings.Contains(err.Error(), b[1]) {
			t.Errorf("not refused with %q: %v\n%s", b[1], err, b[3])
		}
		return true
	case err != nil:
		t.Errorf("%v\n%s", err, b[3])
	case len(job.Warnings) > 0:
		t.Errorf("%v\n%s", job.Warnings, b[3])
	}
	return false
}
