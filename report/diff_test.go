package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// compareRuns publishes two worlds side by side and compares them.
func compareRuns(t *testing.T, a, b *world) *Diff {
	t.Helper()
	root := t.TempDir()
	for name, w := range map[string]*world{"a": a, "b": b} {
		w.load()
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(w.deliver(w.build()))); err != nil {
			t.Fatal(err)
		}
	}
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir(), Allowed: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d, err := Compare(t.Context(), db, filepath.Join(root, "a"), filepath.Join(root, "b"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCompareSame(t *testing.T) {
	d := compareRuns(t, newWorld(t), newWorld(t))
	if !d.Same || len(d.Counts) != 0 || d.Rows.Of != 0 || len(d.NotCompared) != 0 {
		got, _ := json.Marshal(d)
		t.Errorf("%s", got)
	}
}

// A row that changed its verdict is found by file and record, although the file
// has another name now; a file with other bytes is not compared, and said.
func TestCompareChanged(t *testing.T) {
	b := newWorld(t)
	b.in.Operations.Files[0].Name = "renamed.csv"
	b.rows[rules.Operations][5].class, b.rows[rules.Operations][5].reason = "ambiguous", "coverage_incomplete"
	b.in.Results.Files[0].SHA256 = strings.Repeat("99", 32)
	d := compareRuns(t, newWorld(t), b)
	if d.Same || d.Rows.Of != 1 || d.Rows.Items[0] != (RowChange{"operations", "ledger", "operations.csv", 6, "absent", "no_result", "ambiguous", "coverage_incomplete"}) {
		t.Errorf("rows %+v", d.Rows)
	}
	want := []CountChange{{"operations", "absent", "no_result", 1, 0}, {"operations", "ambiguous", "coverage_incomplete", 0, 1}}
	if len(d.Counts) != 2 || d.Counts[0] != want[0] || d.Counts[1] != want[1] {
		t.Errorf("counts %+v", d.Counts)
	}
	if len(d.NotCompared) != 2 || !strings.Contains(d.NotCompared[0], "results, source psp, file psp.csv.gz") {
		t.Errorf("not compared %q", d.NotCompared)
	}
}

func TestCompareNoRun(t *testing.T) {
	if _, err := Compare(t.Context(), nil, t.TempDir(), t.TempDir()); fail.ClassOf(err) != fail.Usage {
		t.Errorf("got %v, want a usage error", err)
	}
}
