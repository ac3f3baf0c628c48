package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// What the engine holds is told while a statement runs, and not after the end.
func TestWatch(t *testing.T) {
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	events := make(chan Event, 1000)
	r := &run{Options: Options{Progress: func(e Event) {
		select {
		case events <- e:
		default:
		}
	}}, stage: StageMatch}
	stop := r.watch(t.Context(), db, time.Millisecond)
	if err := db.Exec(t.Context(), "CREATE TABLE t AS SELECT i, hash(i) AS h FROM range(1000000) r(i)"); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(20 * time.Second)
	for held := int64(0); held == 0; {
		select {
		case e := <-events:
			if e.Kind != EngineHolds || e.Stage != StageMatch || e.Spilled != 0 {
				t.Fatalf("%+v", e)
			}
			held = e.Memory
		case <-deadline:
			t.Fatal("nothing was told")
		}
	}
	stop()
	for len(events) > 0 {
		<-events
	}
	time.Sleep(5 * time.Millisecond)
	if len(events) > 0 {
		t.Error("told after the end")
	}
}

func TestHeldText(t *testing.T) {
	for want, e := range map[string]Event{
		"":                              {},
		"memory 1.5 GiB":                {Memory: 3 << 29},
		"memory 1 GiB, spilled 2.5 GiB": {Memory: 1 << 30, Spilled: 5 << 29},
		"memory 0 B, spilled 1000 B":    {Spilled: 1000},
	} {
		if got := e.Held(); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}

// Old entries go and are told; a folder that cannot be cleaned is told too.
func TestPruneNotes(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, strings.Repeat("ab", 32)+".parquet")
	write(t, name, "x")
	long := time.Now().Add(-stageUnused - time.Hour)
	if err := os.Chtimes(name, long, long); err != nil {
		t.Fatal(err)
	}
	r := &run{res: &Result{}, started: time.Now()}
	r.prune(dir)
	if len(r.res.Notes) != 1 || !strings.Contains(r.res.Notes[0], "removed 1 staged files") || pathExists(name) {
		t.Errorf("%v", r.res.Notes)
	}
	r.prune(dir)
	if len(r.res.Notes) != 1 {
		t.Errorf("nothing was old: %v", r.res.Notes)
	}
}
