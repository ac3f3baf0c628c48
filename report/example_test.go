package report_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/report"
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
outputs: {formats: [parquet, md]}
`

// Build ties the numbers and says what was found; Deliver writes it.
func ExampleBuild() {
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
	stage, out := filepath.Join(dir, "stage"), filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		log.Fatal(err)
	}
	db, err := duck.Open(ctx, duck.Options{SpillDir: dir, Allowed: []string{stage, out}})
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
	in := &report.Input{Bound: bound, Operations: sides[rules.Operations], Results: sides[rules.Results], RunID: "0123456789abcdef"}
	links, err := match.Run(ctx, db, bound, in.Operations, in.Results, match.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := classify.Run(ctx, db, bound, in.Operations, in.Results, links); err != nil {
		log.Fatal(err)
	}
	summary, err := report.Build(ctx, db, in)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range summary.Statement {
		fmt.Println(s.Currency, s.Operations, s.Results, s.Difference)
	}
	if err := report.Deliver(ctx, &report.Delivery{DB: db, In: in, Summary: summary, Dir: out}); err != nil {
		log.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Print(strings.TrimPrefix(f, out+"/"), " ")
	}
	// Output:
	// EUR 60.00 30.01 -29.99
	// exceptions.parquet links.parquet operations.parquet queues rejects.parquet report.json report.md results.parquet
}
