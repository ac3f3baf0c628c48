package match_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

const exampleJob = `
job: example
operations:
  path: operations.csv
  fields: &fields {operation_id: op, entity: order, amount: {column: amount, type: decimal, scale: 2}}
results:
  path: results.csv
  fields: *fields
match:
  - {pass: operation_id, on: [operation_id], identity: true}
  - {pass: order, on: [entity, amount]}
`

// Run links what the keys can prove: first by the operation id, then, among what is
// still free, by order and amount. What no key links stays free.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"job.yaml":       exampleJob,
		"operations.csv": "op,order,amount\na,A1,10.00\nb,A2,20.00\nc,A3,30.00\n",
		"results.csv":    "op,order,amount\na,A1,10.00\n,A2,20.00\n",
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
	out, err := match.Run(ctx, db, bound, sides[rules.Operations], sides[rules.Results], match.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d operations, %d results\n", out.Operations, out.Results)
	for i, p := range bound.Match {
		fmt.Printf("%s: %d\n", p.Name, out.LinksByPass[i])
	}
	// Output:
	// 3 operations, 2 results
	// operation_id: 1
	// order: 1
}
