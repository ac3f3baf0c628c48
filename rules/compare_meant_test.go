package rules_test

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// TestExpectOfNoField: a misspelt status is told by its name, and what was meant.
func TestExpectOfNoField(t *testing.T) {
	job := "job: x\noperations: {path: o.csv, fields: {operation_id: id}}\nresults: {path: r.csv, fields: {operation_id: id, status: {map: {ok: succeeded}}}}\n" +
		"match: [{pass: operation_id, on: [operation_id]}]\ncompare: [{field: statuss, expect: succeeded}]\n"
	_, err := rules.Parse([]byte(job), "job.yaml")
	if err == nil || !strings.Contains(err.Error(), `job.yaml:5:19: the results declare no field "statuss"`) || !strings.Contains(err.Error(), `did you mean "status"?`) {
		t.Error(err)
	}
}
