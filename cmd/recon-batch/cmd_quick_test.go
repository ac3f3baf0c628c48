package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fixtures/world"
	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// callJSON runs the program and reads the document that it prints.
func callJSON(t *testing.T, to any, status int, args ...string) {
	t.Helper()
	s, stdout, stderr := testSession(nil, args...)
	if got := do(s); got != status {
		t.Fatalf("%v: exit status %d, want %d\n%s%s", args, got, status, stdout, stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), to); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stdout)
	}
}

// TestQuickAgreesWithRun: on the files of the demo day, quick gives the verdicts that
// a run gives by the job that quick wrote, and it changes nothing in them.
func TestQuickAgreesWithRun(t *testing.T) {
	dir := t.TempDir()
	day := "2026-11-29"
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.Generate(dir, world.Shape{Seed: 1, Operations: 1000, Date: date}); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "exports", "operations_"+day+".csv")
	for _, right := range []string{"transactions_" + day + ".csv.gz", "snapshot_" + day + ".ndjson"} {
		t.Run(right, func(t *testing.T) {
			job := filepath.Join(t.TempDir(), "job.yaml")
			var quick quickDocument
			callJSON(t, &quick, 3, "quick", "--output", "json", "--job", job, "--business-date", day, left, filepath.Join(dir, "provider", right))
			var validated validation
			callJSON(t, &validated, 0, "validate", "--output", "json", job)
			var run runDocument
			callJSON(t, &run, 3, "run", "--output", "json", "--no-progress", "--business-date", day, job)
			if !reflect.DeepEqual(quick.Run.Counts, run.Counts) || !reflect.DeepEqual(quick.Run.Outcome, run.Outcome) {
				t.Errorf("quick says\n%+v\n%+v\nrun says\n%+v\n%+v", quick.Run.Counts, quick.Run.Outcome, run.Counts, run.Outcome)
			}
			if quick.Run.Published || !run.Published {
				t.Errorf("published: quick %v, run %v", quick.Run.Published, run.Published)
			}
			if len(quick.Assumed) < 4 || quick.Operations.Records == 0 || quick.Results.Records == 0 {
				t.Errorf("assumed %q, %d and %d records", quick.Assumed, quick.Operations.Records, quick.Results.Records)
			}
			if n := correct(quick.Run.Counts); right[0] == 't' && n < 500 {
				t.Errorf("%d operations are correct: the key was not found", n)
			}
		})
	}
}

func correct(counts []pipeline.Count) (n int64) {
	for _, c := range counts {
		if c.Side == "operations" && c.Class == "correct" {
			n += c.Rows
		}
	}
	return n
}

func TestFlagsFirst(t *testing.T) {
	s, _, _ := testSession(nil)
	for _, c := range []struct{ in, want []string }{
		{[]string{"p", "quick", "a", "b", "--key", "id", "--quiet"}, []string{"p", "quick", "--key", "id", "--quiet", "a", "b"}},
		{[]string{"p", "quick", "a", "--key=id", "b"}, []string{"p", "quick", "--key=id", "a", "b"}},
		{[]string{"p", "quick", "--quiet", "a", "b"}, []string{"p", "quick", "--quiet", "a", "b"}},
		{[]string{"p", "quick", "a", "--", "-b", "--key"}, []string{"p", "quick", "a", "--", "-b", "--key"}},
		{[]string{"p", "run", "a", "--quiet"}, []string{"p", "run", "a", "--quiet"}},
		{[]string{"p"}, []string{"p"}},
	} {
		if got := flagsFirst(c.in, s.quickCommand()); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}
