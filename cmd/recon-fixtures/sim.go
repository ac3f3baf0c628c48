package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/recon-batch/recon-batch/fixtures/sim"
)

// makeSim writes business dates of the simulated shop, on which nobody acts.
func makeSim(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("sim", flag.ContinueOnError)
	operations := f.Int("operations", 2_000, "operations of each date")
	days := f.Int("days", 3, "business dates")
	date := f.String("date", "2026-10-23", "the first business `date`")
	seed := f.Uint64("seed", 1, "another seed gives another shop")
	period := f.Bool("period", false, "each run totals its date alone")
	calm := f.Bool("calm", false, "no file is late, cut or broken")
	dir, err := parse(f, args, stderr)
	if err != nil {
		return err
	}
	day, err := time.Parse(time.DateOnly, *date)
	if err != nil {
		return fmt.Errorf("-date %s: write it as 2026-10-23", *date)
	}
	w, err := sim.New(sim.Shape{Seed: *seed, Start: day, PerDay: *operations, Period: *period, Calm: *calm})
	if err != nil {
		return err
	}
	for range *days {
		d, err := w.Write(dir)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, "expected_"+d.Date+".csv")
		if err := writeExpected(name, d.Rows); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %d records of %s (%s says what can be proved of each)\n", d.Job, len(d.Rows), d.Date, name)
	}
	return nil
}

func writeExpected(name string, rows []sim.Row) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	c := csv.NewWriter(f)
	table := [][]string{{"side", "file", "record", "class", "reason", "once", "story"}}
	for _, r := range rows {
		table = append(table, []string{r.Side, r.File, strconv.Itoa(r.Record), r.Class, r.Reason, r.Once, r.Story})
	}
	if err := c.WriteAll(table); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
