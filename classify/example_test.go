package classify_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

const exampleJob = `
job: example
operations:
  sources: [{name: shop, path: operations.csv, coverage: complete}]
  fields: &fields {operation_id: op, amount: {column: amount, type: decimal, scale: 2}, currency: cur}
results:
  sources: [{name: psp, path: results.csv, coverage: complete}]
  fields: *fields
match:
  - {pass: operation_id, on: [operation_id], identity: true}
compare: [{field: amount}, {field: currency}]
`

// Run gives every row its verdict and every verdict its proposal; Promises asserts
// what must hold on any data.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"job.yaml":       exampleJob,
		"operations.csv": "op,amount,cur\na,10.00,EUR\nb,20.00,EUR\nc,30.00,EUR\n",
		"results.csv":    "op,amount,cur\na,10.00,EUR\nb,20.01,EUR\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	bound, err := job.Bind("2031-04-01", nil)
	if err != nil {
		log.Fatal(err)
	}
	stage := filepath.Join(dir, "stage")
	db, err := duck.Open(ctx, duck.Options{SpillDir: dir, Allowed: []string{stage}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	sides := map[rules.Side]*extract.Relation{}
	for _, side := range rules.Sides {
		if sides[side], err = extract.Load(ctx, db, bound, side, extract.Options{StageDir: stage, BaseDir: dir}); err != nil {
			log.Fatal(err)
		}
	}
	ops, res := sides[rules.Operations], sides[rules.Results]
	links, err := match.Run(ctx, db, bound, ops, res, match.Options{})
	if err != nil {
		log.Fatal(err)
	}
	verdicts, err := classify.Run(ctx, db, bound, ops, res, links)
	if err != nil {
		log.Fatal(err)
	}
	if err := classify.Promises(ctx, db, bound, ops, res); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT rec, CAST(class AS VARCHAR), CAST(reason AS VARCHAR) FROM rows_operations ORDER BY rid")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var record int64
		var class, reason string
		if err := rows.Scan(&record, &class, &reason); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("record %d: %s/%s\n", record, class, reason)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("to review: %d, to send again: %d\n", verdicts.Items[classify.Review], verdicts.Items[classify.Requeue])
	// Output:
	// record 1: correct/equal
	// record 2: divergent/field_differs
	// record 3: absent/no_result
	// to review: 2, to send again: 0
}
