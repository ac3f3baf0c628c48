package classify_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Run gives every row of both sides its one verdict.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, job, operations, results := prepare(ctx, dir)
	defer db.Close()

	outcome, err := match.Run(ctx, db, job, operations, results, match.Options{})
	if err != nil {
		log.Fatal(err)
	}
	verdicts, err := classify.Run(ctx, db, job, operations, results, outcome)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdicts.Operations, "operations,", verdicts.Results, "results")
	rows, err := db.Query(ctx, `SELECT o.f_operation_id, v.class || '/' || v.reason, v.pass
		FROM rows_operations v JOIN operations o ON o.rid = v.rid ORDER BY ALL`)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var operation, verdict, pass string
		if err := rows.Scan(&operation, &verdict, &pass); err != nil {
			log.Fatal(err)
		}
		fmt.Println(operation, verdict, pass)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdicts.Items[classify.Review], "for review")
	// Output:
	// 3 operations, 3 results
	// op-1 correct/equal operation_id
	// op-2 divergent/field_differs operation_id
	// op-3 correct/equal order
	// 1 for review
}

// prepare writes a tiny day into a folder and loads both sides of it.
func prepare(ctx context.Context, dir string) (*extract.Scratch, *rules.Bound, *extract.Relation, *extract.Relation) {
	for name, text := range map[string]string{
		"ours.csv": "id,order,amount,currency\n" +
			"op-1,A1,10.00,EUR\nop-2,A2,20.00,EUR\nop-3,A3,30.00,EUR\n",
		"theirs.csv": "charge,id,order,amount,currency\n" +
			"ch-1,op-1,A1,10.00,EUR\nch-2,op-2,A2,25.00,EUR\nch-4,,A3,30.00,EUR\n",
		"job.yaml": `
job: example
operations:
  path: ours.csv
  fields:
    operation_id: id
    entity: order
    amount: {type: decimal, scale: 2}
    currency: currency
results:
  path: theirs.csv
  fields:
    remote_id: charge
    operation_id: id
    entity: order
    amount: {type: decimal, scale: 2}
    currency: currency
match:
  - {pass: operation_id, on: [operation_id]}
  - {pass: order, on: [entity, currency, amount]}
compare: [{field: amount}, {field: currency}]
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	bound, err := job.Bind("2026-11-29", nil)
	if err != nil {
		log.Fatal(err)
	}
	db, err := extract.OpenScratch(ctx, extract.ScratchOptions{SpillDir: dir, Allowed: []string{dir}})
	if err != nil {
		log.Fatal(err)
	}
	var sides [2]*extract.Relation
	for i, side := range rules.Sides {
		sides[i], err = extract.Load(ctx, db, bound, side, extract.Options{StageDir: filepath.Join(dir, "stage"), BaseDir: dir})
		if err != nil {
			log.Fatal(err)
		}
	}
	return db, bound, sides[0], sides[1]
}
