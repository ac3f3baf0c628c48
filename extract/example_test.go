package extract_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// Load stages the operations of a job and tells what they add up to. A second call
// finds the file staged.
func ExampleLoad() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	write("operations.csv", "op,amount,cur\na,12.30,EUR\nb,+7,eur\nc,\"1,5\",EUR\n")
	write("results.csv", "op,amount,cur\na,12.3,EUR\n")
	write("job.yaml", `
version: 1
job: example
operations:
  sources: [{name: local, path: operations.csv}]
  fields: &fields
    operation_id: op
    amount: {column: amount, type: decimal, scale: 2}
    currency: {column: cur, type: currency}
results:
  sources: [{name: provider, path: results.csv}]
  fields: *fields
match:
  - {pass: operation_id, on: [operation_id], identity: true}
`)
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	bound, err := job.Bind("2031-04-01", nil)
	if err != nil {
		log.Fatal(err)
	}
	stage := filepath.Join(dir, "stage")
	db, err := extract.OpenScratch(ctx, extract.ScratchOptions{SpillDir: dir, Allowed: []string{stage}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for range 2 {
		rel, err := extract.Load(ctx, db, bound, rules.Operations, extract.Options{StageDir: stage, BaseDir: dir})
		if err != nil {
			log.Fatal(err)
		}
		f, total := rel.Files[0], rel.Totals[0]
		fmt.Printf("%s: %d records, cached %v; %s %s, %d unreadable\n",
			f.Name, f.Records, f.Cached, total.Sum.FloatString(2), total.Currency, total.Unreadable)
	}
	// Output:
	// operations.csv: 3 records, cached false; 19.30 EUR, 1 unreadable
	// operations.csv: 3 records, cached true; 19.30 EUR, 1 unreadable
}
