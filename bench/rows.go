package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Names of the contenders.
const (
	floorName   = "floor"
	wideName    = "wide cascade"
	reconName   = "recon-batch"
	csvdiffName = "csvdiff"
	qsvName     = "qsv diff"
)

// run measures every row of the table, writes it, and prints it.
func (b *bench) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{b.threePass, b.small, b.oneKey, b.sharedKey, b.groups, b.allDiffer, b.reports, b.parsing} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return b.write()
}

// sizes are the base size and, on request, ten times that.
func (b *bench) sizes() []int64 {
	if b.full {
		return []int64{b.rows, 10 * b.rows}
	}
	return []int64{b.rows}
}

// staged parses the files of a job once, so that later runs find them staged.
func (b *bench) staged(ctx context.Context, data, job string, rows int64) (stage string, err error) {
	stage = filepath.Join(data, "stage")
	dir := filepath.Join(b.work, "out", "staging")
	if err := freshDir(dir); err != nil {
		return "", err
	}
	c := b.reconcile(ctx, "staging", data, job, stage, rows, 2)
	if _, err := timed(c.start(dir), c.allow...); err != nil {
		return "", err
	}
	return stage, c.check(dir)
}

func (b *bench) floorOf(ctx context.Context, name, mode, data string) contender {
	return contender{name: name, start: func(dir string) *exec.Cmd {
		return exec.CommandContext(ctx, b.floor, mode, filepath.Join(data, "operations.parquet"), filepath.Join(data, "results.parquet"), dir)
	}}
}

// threePass: the whole job from staged Parquet against the floor, and how both grow.
func (b *bench) threePass(ctx context.Context) error {
	walls := map[int64]time.Duration{}
	for _, rows := range b.sizes() {
		data, err := b.data(ctx, "d"+size(rows), rows)
		if err != nil {
			return err
		}
		stage, err := b.staged(ctx, data, "three-pass.yaml", rows)
		if err != nil {
			return err
		}
		m, err := b.compete("three passes, "+size(rows),
			b.floorOf(ctx, floorName, "differing", data),
			b.reconcile(ctx, reconName, data, "three-pass.yaml", stage, rows, 2))
		if err != nil {
			return err
		}
		walls[rows] = m[reconName].wall
		bar, aim := 5.0, 3.0
		if rows > b.rows {
			bar, aim = 3, 2
		}
		l := b.ratio("three passes from staged Parquet, a verdict for every row, "+size(rows)+" × "+size(rows), m, reconName, floorName, bar, aim)
		if rows > b.rows {
			l.bar += ", 3 GB"
			l.holds = l.holds && m[reconName].rss <= 3_000_000_000
		}
		b.lines = append(b.lines, l)
	}
	if b.full {
		e := exponent(walls[b.rows], walls[10*b.rows], 10)
		b.lines = append(b.lines, line{
			what: "growth from " + size(b.rows) + " to " + size(10*b.rows), measured: fmt.Sprintf("exponent %.2f", e),
			bar: "1.0", aim: "0.9", holds: e <= 1,
		})
	}
	return nil
}

// small: from start to published, nothing staged before.
func (b *bench) small(ctx context.Context) error {
	const rows = 100_000
	data, err := b.data(ctx, "d"+size(rows), rows)
	if err != nil {
		return err
	}
	m, err := b.compete("start to published, "+size(rows), b.reconcile(ctx, reconName, data, "three-pass.yaml", "", rows, 2))
	if err != nil {
		return err
	}
	b.lines = append(b.lines, line{
		what: "three passes, " + size(rows) + " × " + size(rows) + ", start to published, nothing staged", measured: seconds(m[reconName]),
		bar: "1 s", aim: "0.5 s", holds: m[reconName].wall <= time.Second,
	})
	return nil
}

// oneKey: the whole one-key job from five columns of CSV against the tools made for it.
func (b *bench) oneKey(ctx context.Context) error {
	for _, rows := range b.sizes() {
		data, err := b.data(ctx, "d"+size(rows), rows)
		if err != nil {
			return err
		}
		list := []contender{b.reconcile(ctx, reconName, data, "one-key.yaml", "", rows, 2)}
		peer := func(name, bin string, allow []int, args ...string) {
			if bin == "" {
				return
			}
			list = append(list, contender{name: name, allow: allow, start: func(dir string) *exec.Cmd {
				c := exec.CommandContext(ctx, bin, args...)
				if f, err := os.Create(filepath.Join(dir, "out")); err == nil {
					c.Stdout = f
				}
				return c
			}})
		}
		ops, res := filepath.Join(data, "operations5.csv"), filepath.Join(data, "results5.csv")
		peer(csvdiffName, b.csvdiff, nil, ops, res, "-p", "0", "-o", "json")
		peer(qsvName, b.qsv, nil, "diff", "--key", "0", ops, res)
		m, err := b.compete("one key from CSV, "+size(rows), list...)
		if err != nil {
			return err
		}
		for _, p := range []string{csvdiffName, qsvName} {
			what := "one key from five columns of CSV, " + size(rows) + ", beside " + p
			if _, ok := m[p]; !ok {
				b.lines = append(b.lines, line{what: what, measured: seconds(m[reconName]), reference: p + " is not on this machine", open: true})
				continue
			}
			bar, aim := 1.25, 1.0
			if rows > b.rows {
				bar, aim = 1, 0.5
			}
			b.lines = append(b.lines, b.ratio(what, m, reconName, p, bar, aim))
		}
	}
	return nil
}

// sharedKey: one key under 5 % of the rows of both sides against the plain case.
func (b *bench) sharedKey(ctx context.Context) error {
	plain, err := b.data(ctx, "d"+size(b.rows), b.rows)
	if err != nil {
		return err
	}
	skewed, err := b.data(ctx, "d"+size(b.rows)+"-shared", b.rows, "-shared-key", "0.05", "-formats", "parquet")
	if err != nil {
		return err
	}
	stages := map[string]string{}
	for _, d := range []string{plain, skewed} {
		if stages[d], err = b.staged(ctx, d, "three-pass.yaml", b.rows); err != nil {
			return err
		}
	}
	m, err := b.compete("one key shared by 5 %, "+size(b.rows),
		b.reconcile(ctx, "plain", plain, "three-pass.yaml", stages[plain], b.rows, 2),
		b.reconcile(ctx, "shared key", skewed, "three-pass.yaml", stages[skewed], b.rows, 2))
	if err != nil {
		return err
	}
	b.lines = append(b.lines, b.ratio("one key shared by 5 % of the rows, "+size(b.rows), m, "shared key", "plain", 2.5, 2))
	return nil
}

// groups: the rows of both sides in groups that add up, a tenth as many as rows, of a few
// to about a thousand members, against the plain case.
func (b *bench) groups(ctx context.Context) error {
	plain, err := b.data(ctx, "d"+size(b.rows), b.rows)
	if err != nil {
		return err
	}
	grouped, err := b.data(ctx, "d"+size(b.rows)+"-groups", b.rows, "-groups", fmt.Sprint(b.rows/10), "-trouble", "0.001", "-formats", "parquet")
	if err != nil {
		return err
	}
	plainStage, err := b.staged(ctx, plain, "three-pass.yaml", b.rows)
	if err != nil {
		return err
	}
	groupStage, err := b.staged(ctx, grouped, "groups.yaml", b.rows)
	if err != nil {
		return err
	}
	m, err := b.compete("groups that add up, "+size(b.rows),
		b.reconcile(ctx, "plain", plain, "three-pass.yaml", plainStage, b.rows, 2),
		b.reconcile(ctx, "groups", grouped, "groups.yaml", groupStage, b.rows, 2))
	if err != nil {
		return err
	}
	b.lines = append(b.lines, b.ratio(size(b.rows)+" × "+size(b.rows)+" rows in "+size(b.rows/10)+" groups", m, "groups", "plain", 2, 1.5))
	return nil
}

// allDiffer: every pair differs, against a cascade that writes every pair wide.
func (b *bench) allDiffer(ctx context.Context) error {
	data, err := b.data(ctx, "d"+size(b.rows)+"-differ", b.rows, "-all-differ", "-formats", "parquet")
	if err != nil {
		return err
	}
	stage, err := b.staged(ctx, data, "three-pass.yaml", b.rows)
	if err != nil {
		return err
	}
	m, err := b.compete("every pair differs, "+size(b.rows),
		b.floorOf(ctx, wideName, "wide", data),
		b.reconcile(ctx, reconName, data, "three-pass.yaml", stage, b.rows, 2))
	if err != nil {
		return err
	}
	b.lines = append(b.lines, b.ratio("100 % differences, "+size(b.rows), m, reconName, wideName, 2.5, 1.5))
	return nil
}

// reports: what page, JSON, Markdown and metrics add to a run with 0.5 % of exceptions,
// which are 50,000 at ten million rows.
func (b *bench) reports(ctx context.Context) error {
	sizes := b.sizes()
	rows := sizes[len(sizes)-1]
	data, err := b.data(ctx, "d"+size(rows)+"-half", rows, "-trouble", "0.005", "-formats", "parquet")
	if err != nil {
		return err
	}
	stage, err := b.staged(ctx, data, "reported.yaml", rows)
	if err != nil {
		return err
	}
	m, err := b.compete("with a report and without, "+size(rows),
		b.reconcile(ctx, "without", data, "unreported.yaml", stage, rows, 2),
		b.reconcile(ctx, "with", data, "reported.yaml", stage, rows, 2))
	if err != nil {
		return err
	}
	l := b.ratio("page, JSON, Markdown and metrics of "+size(rows)+" with 0.5 % of exceptions, beside the same run without", m, "with", "without", 1.1, 1.05)
	more := m["with"].rss - m["without"].rss
	l.bar += ", 300 MB"
	l.ratio += fmt.Sprintf(", %+d MB", more/1_000_000)
	l.holds = l.holds && more <= 300_000_000
	b.lines = append(b.lines, l)
	return nil
}

// parsing: megabytes of CSV a second on one core, parsed with types and staged.
func (b *bench) parsing(ctx context.Context) error {
	data, err := b.data(ctx, "d"+size(b.rows), b.rows)
	if err != nil {
		return err
	}
	var bytes int64
	for _, f := range []string{"operations.csv", "results.csv"} {
		info, err := os.Stat(filepath.Join(data, f))
		if err != nil {
			return err
		}
		bytes += info.Size()
	}
	var staging []sample
	c := b.reconcile(ctx, reconName, data, "three-pass-csv.yaml", "", b.rows, 1)
	whole := c.check
	c.check = func(dir string) error {
		if err := whole(dir); err != nil {
			return err
		}
		d, err := stageSeconds(dir)
		staging = append(staging, sample{wall: d})
		return err
	}
	if _, err := b.compete("parse and stage CSV, "+size(b.rows), c); err != nil {
		return err
	}
	rate := float64(bytes) / 1e6 / median(staging).wall.Seconds()
	b.lines = append(b.lines, line{
		what: "CSV parsed and staged on one core, typed, with decimals and instants", measured: fmt.Sprintf("%.0f MB/s", rate),
		bar: "100 MB/s", aim: "200 MB/s", holds: rate >= 100,
	})
	return nil
}
