package match_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Run links what the keys can prove: op-1 and op-2 by their id, op-3 by its order,
// where each of the two rows is the other's only candidate. What differs between
// linked rows is for classify to say.
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
	for i, pass := range job.Match {
		fmt.Println(pass.Name, outcome.LinksByPass[i])
	}
	rows, err := db.Query(ctx, `SELECT o.f_operation_id, r.f_remote_id FROM links l
		JOIN operations o ON o.rid = l.o_rid JOIN results r ON r.rid = l.r_rid ORDER BY ALL`)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var operation, result string
		if err := rows.Scan(&operation, &result); err != nil {
			log.Fatal(err)
		}
		fmt.Println(operation, result)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// operation_id 2
	// order 1
	// op-1 ch-1
	// op-2 ch-2
	// op-3 ch-4
}

// prepare writes a tiny day into a folder and loads both sides of it.
func prepare(ctx context.Context, dir string) (*extract.Scratch, *rules.Bound, *extract.Relation, *extract.Relation) {
	return prepareJob(ctx, dir, exampleJob,
		"id,order,amount,currency\nop-1,A1,10.00,EUR\nop-2,A2,20.00,EUR\nop-3,A3,30.00,EUR\n",
		"charge,id,order,amount,currency\nch-1,op-1,A1,10.00,EUR\nch-2,op-2,A2,25.00,EUR\nch-4,,A3,30.00,EUR\n")
}

const exampleJob = `
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
`

// prepareJob stages two CSV files under a job.
func prepareJob(ctx context.Context, dir, job, ours, theirs string) (*extract.Scratch, *rules.Bound, *extract.Relation, *extract.Relation) {
	for name, text := range map[string]string{"ours.csv": ours, "theirs.csv": theirs, "job.yaml": job} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	loaded, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	bound, err := loaded.Bind("2026-11-29", nil)
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
