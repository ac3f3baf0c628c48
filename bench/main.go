// Command bench measures recon-batch beside what its users would run instead, on
// the same machine, the same files and in turns, and writes the table
// bench/RESULTS.md. It is a tool of this repository and never a timed test.
//
//	bench -recon bin/recon-batch -fixtures bin/recon-fixtures -floor bin/floor -work DIR
//
// Settings come as flags; bench/run.sh sets them from the environment.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

func main() {
	b := &bench{out: os.Stdout}
	flag.StringVar(&b.recon, "recon", "bin/recon-batch", "the program")
	flag.StringVar(&b.fixtures, "fixtures", "bin/recon-fixtures", "the generator")
	flag.StringVar(&b.floor, "floor", "bin/floor", "the floor")
	flag.StringVar(&b.csvdiff, "csvdiff", "", "csvdiff, left out where empty")
	flag.StringVar(&b.qsv, "qsv", "", "qsv, left out where empty")
	flag.StringVar(&b.work, "work", "bench-work", "folder for data and outputs")
	flag.StringVar(&b.jobs, "jobs", "bench/jobs", "folder of the job files")
	flag.StringVar(&b.results, "results", "bench/RESULTS.md", "the table to write")
	flag.Int64Var(&b.rows, "rows", 1_000_000, "operations of the base size")
	flag.BoolVar(&b.full, "full", false, "add ten times the base size")
	flag.IntVar(&b.n, "n", 5, "rounds; medians are reported")
	flag.Parse()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench holds the programs and the place of one measurement.
type bench struct {
	recon, fixtures, floor, csvdiff, qsv string
	work, jobs, results                  string
	rows                                 int64
	full                                 bool
	n                                    int
	out                                  io.Writer
	lines                                []line
}

// contender is one program in a comparison. start makes the child process that
// writes into dir, which is new and empty.
type contender struct {
	name  string
	start func(dir string) *exec.Cmd
	allow []int              // exit statuses beside 0 that are success
	check func(string) error // looks at what the child left; may be nil
}

// compete runs the contenders in turns and returns the median of each.
func (b *bench) compete(what string, list ...contender) (map[string]sample, error) {
	samples := map[string][]sample{}
	for round := range b.n {
		for _, c := range list {
			dir := filepath.Join(b.work, "out", c.name)
			if err := freshDir(dir); err != nil {
				return nil, err
			}
			s, err := timed(c.start(dir), c.allow...)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", what, c.name, err)
			}
			if c.check != nil {
				if err := c.check(dir); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", what, c.name, err)
				}
			}
			fmt.Fprintf(b.out, "%s  round %d of %d  %-18s %8.2f s  %5d MiB\n", what, round+1, b.n, c.name, s.wall.Seconds(), s.rss>>20)
			samples[c.name] = append(samples[c.name], s)
		}
	}
	medians := map[string]sample{}
	for name, list := range samples {
		medians[name] = median(list)
	}
	return medians, nil
}

// data makes a data set once and puts the job files beside it.
func (b *bench) data(ctx context.Context, name string, rows int64, flags ...string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(b.work, name))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "done")); err != nil {
		if err := freshDir(dir); err != nil {
			return "", err
		}
		args := append([]string{"bench", "-rows", strconv.FormatInt(rows, 10)}, flags...)
		if _, err := timed(exec.CommandContext(ctx, b.fixtures, append(args, dir)...)); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, "done"), nil, 0o666); err != nil {
			return "", err
		}
	}
	jobs, err := filepath.Glob(filepath.Join(b.jobs, "*.yaml"))
	if err != nil {
		return "", err
	}
	for _, j := range jobs {
		text, err := os.ReadFile(j)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(j)), text, 0o666); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// reconcile is recon-batch on a job of a data set. With a stage folder the files
// are parsed already; without one they are parsed again each time.
func (b *bench) reconcile(ctx context.Context, name, data, job, stage string, rows int64, threads int) contender {
	return contender{
		name: name,
		start: func(dir string) *exec.Cmd {
			into := stage
			if into == "" {
				into = filepath.Join(dir, "stage")
			}
			c := exec.CommandContext(ctx, b.recon, "run", "--quiet", "--business-date", "2026-03-10",
				"--threads", strconv.Itoa(threads), "--out", filepath.Join(dir, "runs"), "--stage-dir", into, filepath.Join(data, job))
			if threads == 1 {
				c.Env = append(os.Environ(), "GOMAXPROCS=1")
			}
			return c
		},
		check: func(dir string) error { return checkRun(dir, rows) },
	}
}

// checkRun: the run was published and has a verdict for every operation.
func checkRun(dir string, rows int64) error {
	report, err := one(filepath.Join(dir, "runs", "*", "*", "current", "report.json"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	var s struct {
		Sides []struct {
			Side       string `json:"side"`
			Classified int64  `json:"classified"`
		} `json:"sides"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", report, err)
	}
	for _, side := range s.Sides {
		if side.Side == "operations" && side.Classified == rows {
			return nil
		}
	}
	return fmt.Errorf("%s does not count %d operations: %v", report, rows, s.Sides)
}

// one returns the one path that fits a pattern.
func one(pattern string) (string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d files fit %s, want one", len(found), pattern)
	}
	return found[0], nil
}

// stageSeconds reads how long extraction took in a run.
func stageSeconds(dir string) (time.Duration, error) {
	path, err := one(filepath.Join(dir, "runs", "*", "*", "current", "timings.json"))
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var t struct {
		Stages []struct {
			Stage   string  `json:"stage"`
			Seconds float64 `json:"seconds"`
		} `json:"stages"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range t.Stages {
		if s.Stage == "extract" {
			return time.Duration(s.Seconds * float64(time.Second)), nil
		}
	}
	return 0, fmt.Errorf("%s names no stage extract", path)
}
