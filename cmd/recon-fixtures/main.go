// Command recon-fixtures writes test data for people: the seeded day of
// `make demo`, dates of the simulated shop, and the big tables of `make bench`. It is a tool of this
// repository and no part of the product.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fixtures/benchgen"
	"github.com/recon-batch/recon-batch/fixtures/world"
)

const usage = `usage: recon-fixtures world [flags] DIR    a business day with about forty kinds of orders, and its truth
       recon-fixtures sim [flags] DIR      business dates of the simulated shop, with job files and provable verdicts
       recon-fixtures bench [flags] DIR    operations and results of any size, with 0.3 % trouble
`

func main() { os.Exit(do(os.Args[1:], os.Stdout, os.Stderr)) }

// do returns the exit status: 0, 1 for a failure, 2 for wrong usage.
func do(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	var err error
	switch args[0] {
	case "world":
		err = makeWorld(args[1:], stdout, stderr)
	case "sim":
		err = makeSim(args[1:], stdout, stderr)
	case "bench":
		err = makeBench(args[1:], stdout, stderr)
	default:
		fmt.Fprint(stderr, usage)
		return 2
	}
	if errors.Is(err, errUsage) {
		return 2
	}
	if err != nil {
		fmt.Fprintln(stderr, "recon-fixtures:", err)
		return 1
	}
	return 0
}

// errUsage says that the flag set has told already what is wrong.
var errUsage = errors.New("usage")

// parse reads the flags and the one folder after them.
func parse(f *flag.FlagSet, args []string, stderr io.Writer) (dir string, err error) {
	f.SetOutput(stderr)
	if err := f.Parse(args); err != nil {
		return "", errUsage
	}
	if f.NArg() != 1 {
		fmt.Fprint(stderr, usage)
		return "", errUsage
	}
	return f.Arg(0), nil
}

func makeWorld(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("world", flag.ContinueOnError)
	operations := f.Int("operations", 200_000, "records of the operations export")
	date := f.String("date", "2026-11-29", "business `date`")
	seed := f.Uint64("seed", 1, "another seed gives another day")
	dir, err := parse(f, args, stderr)
	if err != nil {
		return err
	}
	day, err := time.Parse(time.DateOnly, *date)
	if err != nil {
		return fmt.Errorf("-date %s: write it as 2026-11-29", *date)
	}
	t, err := world.Generate(dir, world.Shape{Seed: *seed, Operations: *operations, Date: day})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d operations and %d results of %s, %d kinds of orders (%s says which)\n",
		dir, t.Operations, t.Results, t.BusinessDate, len(t.Kinds), filepath.Join(dir, "truth.json"))
	return nil
}

func makeBench(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	rows := f.Int64("rows", 1_000_000, "operations")
	trouble := f.Float64("trouble", 0.003, "share of the operations with trouble")
	groups := f.Int64("groups", 0, "entities of one currency each, of a few to about a thousand operations; 0: 5,000 of any")
	shared := f.Float64("shared-key", 0, "share of the operations, and of the results, under one operation id")
	differ := f.Bool("all-differ", false, "every result has another amount than its operation")
	seed := f.Uint64("seed", 1, "another seed gives other rows")
	formats := f.String("formats", "parquet,csv,csv5", "comma separated list of parquet, csv, csv5")
	dir, err := parse(f, args, stderr)
	if err != nil {
		return err
	}
	t, err := benchgen.Generate(dir, benchgen.Shape{
		Rows: *rows, Trouble: *trouble, SharedKey: *shared, Groups: *groups, AllDiffer: *differ, Seed: *seed, Formats: strings.Split(*formats, ","),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d operations, %d results\n", dir, t.Operations, t.Results)
	return nil
}
