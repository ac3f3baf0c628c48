package extract

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// Entries that were not used are removed, all of them; a use makes an entry young
// again; nothing that is not ours is touched; what was removed is parsed again
// with the same outcome.
func TestPrune(t *testing.T) {
	w := newWorld(t)
	w.write("left.csv", "operation_id\na1\na1\n")
	w.fields(rules.Operations, rules.Field{Name: "operation_id"})
	w.source(rules.Operations, "left.csv", nil)
	src := w.job.Inputs[rules.Operations][0].Source
	if MayBeStaged(w.stage, w.job.Job, rules.Operations, src, "left.csv", 19) {
		t.Error("nothing was staged yet")
	}
	first, rows := w.mustLoad(rules.Operations)
	if !MayBeStaged(w.stage, w.job.Job, rules.Operations, src, "left.csv", 19) || MayBeStaged(w.stage, w.job.Job, rules.Operations, src, "left.csv", 20) {
		t.Error("a file of 19 bytes was staged")
	}
	foreign := []string{"notes.txt", "0123.parquet", "seen/readme", "other/" + filepath.Base(first.Files[0].Staged)}
	write := func(name string) {
		t.Helper()
		path := filepath.Join(w.stage, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range foreign {
		write(name)
	}
	write(".part-123.parquet")
	list := func() (names []string) {
		t.Helper()
		err := filepath.WalkDir(w.stage, func(p string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				rel, _ := filepath.Rel(w.stage, p)
				names = append(names, rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	age := func() {
		t.Helper()
		long := time.Now().Add(-40 * 24 * time.Hour)
		for _, name := range list() {
			if err := os.Chtimes(filepath.Join(w.stage, name), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	month := func() time.Time { return time.Now().Add(-30 * 24 * time.Hour) }
	entries := len(list()) - len(foreign) // staged file, sidecar, marker, lists of two keys, part

	if p, err := Prune(w.stage, month()); err != nil || p != (Pruned{}) {
		t.Errorf("young entries: %+v, %v", p, err)
	}
	age()
	if again, _ := w.mustLoad(rules.Operations); !again.Files[0].Cached {
		t.Fatal("it was parsed again")
	}
	if p, err := Prune(w.stage, month()); err != nil || p.Files != 1 { // the part alone
		t.Errorf("used entries: %+v, %v", p, err)
	}
	age()
	if p, err := Prune(w.stage, month()); err != nil || p.Files != entries-1 || p.Bytes == 0 {
		t.Errorf("unused entries: %+v, %v; %d are there", p, err, entries-1)
	}
	left := list()
	slices.Sort(foreign)
	slices.Sort(left)
	if !slices.Equal(left, foreign) {
		t.Errorf("left: %v", left)
	}
	last, again := w.mustLoad(rules.Operations)
	if last.Files[0].Cached || last.Files[0].Staged != first.Files[0].Staged || len(again) != len(rows) {
		t.Errorf("%+v", last.Files[0])
	}
	if p, err := Prune(filepath.Join(w.stage, "none"), month()); err != nil || p.Files != 0 {
		t.Errorf("no folder: %+v, %v", p, err)
	}
}
