package rules_test

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// TestBankColumnRefusals: a column that the format of a bank does not have is told at
// its place.
func TestBankColumnRefusals(t *testing.T) {
	for _, c := range []struct{ format, field, want string }{
		{"camt", "amount: {column: unsigned_amount, type: decimal}", ""},
		{"camt", "amount: {column: unsined_amount, type: decimal}", `job.yaml:6:54: the field amount takes the column "unsined_amount", which the format camt does not have`},
		{"camt", "amount: {column: unsined_amount, type: decimal}", `did you mean "unsigned_amount"?`},
		{"camt", "amount: {column: unsigned_amount, type: decimal, sign_from: {column: sidee, positive: [DBIT], negative: [CRDT]}}", `did you mean "side"?`},
		{"camt", "note: {column: wholly_other, optional: true}", "its columns are message, report_id"},
		{"mt940", "note: pmt_inf_id", `job.yaml:6:43: the field note takes the column "pmt_inf_id", which the format mt940 does not have`},
		{"nacha", "note: {first_of: [trace_key, tracer]}", `the column "tracer"`},
	} {
		job := "job: x\noperations: {path: o.csv, fields: {operation_id: id}}\nresults:\n  path: r.dat\n  format: " + c.format +
			"\n  fields: {operation_id: remote_id, " + c.field + "}\nmatch: [{pass: operation_id, on: [operation_id]}]\n"
		_, err := rules.Parse([]byte(job), "job.yaml")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.format, c.field, err, c.want)
		}
	}
}
