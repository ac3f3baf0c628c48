package report_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Build says in one value what a run found; Deliver writes every output of the job
// into a folder that the caller publishes.
func ExampleBuild() {
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
	if _, err := classify.Run(ctx, db, job, operations, results, outcome); err != nil {
		log.Fatal(err)
	}

	in := &report.Input{Bound: job, Operations: operations, Results: results, RunID: "example", JobDigest: job.Digest()}
	summary, err := report.Build(ctx, db, in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Headline)
	for _, s := range summary.Statement {
		fmt.Println(s.Currency, s.Operations, "and", s.Difference, "are", s.Results)
	}
	for _, step := range summary.Next {
		fmt.Println(step.Command)
	}
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		log.Fatal(err)
	}
	if err := report.Deliver(ctx, &report.Delivery{DB: db, In: in, Summary: summary, Dir: out}); err != nil {
		log.Fatal(err)
	}
	files, err := os.ReadDir(out)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// The day does not close: 1 divergent; results − operations is EUR 5.00, every part of it named.
	// EUR 60.00 and 5.00 are 65.00
	// recon-batch explain op-2
	// exceptions.parquet
	// links.parquet
	// metrics.prom
	// open.parquet
	// operations.parquet
	// queues
	// rejects.parquet
	// report.html
	// report.json
	// report.md
	// results.parquet
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
