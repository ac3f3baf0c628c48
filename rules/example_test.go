package rules_test

import (
	"fmt"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// A job of a few lines is read, checked and bound to a business date.
func Example() {
	job, err := rules.Parse([]byte(`
job: charges
timezone: Europe/Paris
operations:
  path: operations_{date:20060102}.csv
  fields: {operation_id: id, amount: {type: decimal, scale: 2}}
results:
  path: provider_{date:20060102}.csv.gz
  fields: {operation_id: reference, amount: {column: gross, type: decimal, scale: 2}}
match:
  - {pass: operation_id, on: [operation_id]}
compare:
  - {field: amount, tolerance: "0.01"}
`), "job.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bound.Inputs[rules.Results][0].Path)
	fmt.Println(bound.AsOfTime.Format(time.RFC3339))
	fmt.Println(job.Compare[0].As, job.Compare[0].Absolute)
	// Output:
	// provider_20260820.csv.gz
	// 2026-08-20T22:00:00Z
	// decimal 0.01
}

// A fault says where it is and what to do.
func ExampleParse_faults() {
	_, err := rules.Parse([]byte(`job: charges
operations: {path: ours.csv, fields: {operation_id: id}}
results: {path: theirs.csv, fields: {operation_id: reference}}
match:
  - {pass: operation_id, on: [operation_ip]}
`), "job.yaml")
	fmt.Println(err)
	// Output:
	// the job file job.yaml cannot be used (1 fault): job.yaml:5:31: neither side declares the field "operation_ip"
	//       - {pass: operation_id, on: [operation_ip]}
	//                                   ^
	//     did you mean "operation_id"?
}

// An expression is rendered to SQL, and evaluated in Go to the same outcome.
func ExampleParseExpr() {
	e, err := rules.ParseExpr("state = 'cancelled' AND attempts = 0", map[string]rules.FieldType{"state": rules.Text, "attempts": rules.Integer})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.SQL(func(field string) string { return "f_" + field }))
	result, null := e.Eval(func(string) any { return nil })
	fmt.Println(result, null)
	// Output:
	// ((f_state = 'cancelled') AND (f_attempts = CAST('0' AS DECIMAL(38,0))))
	// false true
}
