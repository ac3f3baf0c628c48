package extract

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// pin gives the files of a relation as a later reading of the run would name them.
func pin(rel *Relation) []Pinned {
	var out []Pinned
	for _, f := range rel.Files {
		out = append(out, Pinned{Source: f.Source, Path: filepath.ToSlash(f.Path), Date: f.Date, SHA256: f.SHA256, Missing: f.Status == FileMissing})
	}
	return out
}

func (w *world) again(list []Pinned) (*Relation, error) {
	return Load(context.Background(), w.db, w.job, rules.Operations, Options{StageDir: w.stage, BaseDir: w.dir, Pinned: list})
}

func TestPinnedFilesAreThoseOfTheRun(t *testing.T) {
	w := newWorld(t)
	w.fields(rules.Operations, rules.Field{Name: "operation_id"})
	w.source(rules.Operations, "ops-*.csv", nil)
	w.source(rules.Operations, "more.csv", func(s *rules.Source, _ *rules.Input) { s.Need = rules.LateOK })
	w.write("ops-1.csv", "operation_id\na1\n")
	w.write("ops-2.csv", "operation_id\nb1\n")
	first, err := w.again(nil)
	if err != nil {
		t.Fatal(err)
	}
	list := pin(first)
	same := func(what string, wantCached int) {
		t.Helper()
		rel, err := w.again(list)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		cached := 0
		for i, f := range rel.Files {
			if f.Cached {
				cached++
			}
			f.Cached, f.Staged = first.Files[i].Cached, first.Files[i].Staged
			if len(rel.Files) != len(first.Files) || f != first.Files[i] {
				t.Errorf("%s: %+v, want %+v", what, f, first.Files[i])
			}
		}
		if rel.Records != first.Records || cached != wantCached {
			t.Errorf("%s: %d records and %d from what is staged, want %d and %d", what, rel.Records, cached, first.Records, wantCached)
		}
	}
	// Files that came since are not seen, of a pattern as little as of a name.
	w.write("ops-0.csv", "operation_id\nz1\n")
	w.write("more.csv", "operation_id\nm1\n")
	same("with more files", 2)

	// What is gone or replaced is taken from what is staged.
	remove := func(path string) {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	remove(filepath.Join(w.dir, "ops-1.csv"))
	w.write("ops-2.csv", "operation_id\nx9\n")
	same("with one gone and one replaced", 2)

	// Without it, the file that is gone is named, and the one that was replaced is refused
	// by its bytes: parsed, or staged under another reading.
	kept := w.stage
	w.stage = filepath.Join(filepath.Dir(kept), filepath.Base(kept)+"-empty")
	refused := func(want string) {
		t.Helper()
		if _, err := w.again(list); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused("ops-1.csv is gone")
	w.write("ops-1.csv", "operation_id\na1\n")
	refused("ops-2.csv has other bytes than the run read")
	refused("ops-2.csv has other bytes than the run read") // which are staged now
	if _, err := w.again(nil); err != nil {
		t.Errorf("unpinned: %v", err)
	}

	// A source that the run did not have has no files of it.
	w.source(rules.Operations, "ops-0.csv", nil)
	refused("the run read no file for the source source3")
}
