package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keep keeps a text, and enters it for a run of the job that is kept so long.
func keep(t *testing.T, a *Archive, job, text, long string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	sum := sha256.Sum256([]byte(text))
	digest := hex.EncodeToString(sum[:])
	must(t, a.Keep(path, digest))
	must(t, a.Enter(&Run{Job: job, BusinessDate: "2020-01-01", RunID: "0123456789abcdef", Keep: long, Inputs: []File{{SHA256: digest}}}))
	return digest
}

// TestReplaced: what lies under a digest and is not of it is made whole by the next run
// that has the bytes.
func TestReplaced(t *testing.T) {
	a := &Archive{Dir: t.TempDir()}
	object := a.Object(keep(t, a, "shop", "whole", ""))
	outside := filepath.Join(t.TempDir(), "outside")
	for name, plant := range map[string]func() error{
		"cut":     func() error { return os.WriteFile(object, []byte("who"), 0o400) },
		"changed": func() error { return os.WriteFile(object, []byte("other"), 0o400) },
		"a link": func() error {
			must(t, os.WriteFile(outside, []byte("whole"), 0o600))
			return os.Symlink(outside, object)
		},
		"gone": func() error { return nil },
	} {
		must(t, os.Remove(object))
		must(t, plant())
		keep(t, a, "shop", "whole", "")
		info, err := os.Lstat(object)
		must(t, err)
		if text, err := os.ReadFile(object); err != nil || string(text) != "whole" || !info.Mode().IsRegular() || info.Mode().Perm() != 0o400 {
			t.Errorf("%s: %q, %v, %v", name, text, info.Mode(), err)
		}
	}
}

// TestLinks: nothing is written through a link, and nothing is removed that an entry
// behind one may stand on.
func TestLinks(t *testing.T) {
	entry := "runs/other/2020-01-01.0123456789abcdef.json"
	for _, c := range []struct {
		path               string
		prune, keep, enter fail.Class
	}{
		{"sha256", fail.OK, fail.Integrity, fail.OK},
		{"runs", fail.Integrity, fail.OK, fail.Integrity},
		{"runs/other", fail.Integrity, fail.OK, fail.Integrity},
		{entry, fail.Integrity, fail.OK, fail.OK},
	} {
		a := &Archive{Dir: t.TempDir()}
		wanted := keep(t, a, "other", "of another job", "")
		keep(t, a, "shop", "old", "1d")
		path, moved := filepath.Join(a.Dir, c.path), filepath.Join(t.TempDir(), "moved")
		must(t, os.Rename(path, moved))
		must(t, os.Symlink(moved, path))
		if _, objects, err := a.Prune("shop", time.Now()); objects > 0 || fail.ClassOf(err) != c.prune {
			t.Errorf("%s: %d objects went, %v", c.path, objects, err)
		}
		if _, err := os.Stat(a.Object(wanted)); err != nil {
			t.Errorf("%s: what another job stands on is gone: %v", c.path, err)
		}
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, []byte("new"), 0o600))
		sum := sha256.Sum256([]byte("new"))
		if err := a.Keep(file, hex.EncodeToString(sum[:])); fail.ClassOf(err) != c.keep {
			t.Errorf("%s: kept: %v", c.path, err)
		}
		if err := a.Enter(&Run{Job: "other", BusinessDate: "2020-01-02", RunID: "0123456789abcdef"}); fail.ClassOf(err) != c.enter {
			t.Errorf("%s: entered: %v", c.path, err)
		}
	}
}

// TestPrune: an entry whose time is over goes, and what nobody stands on any more.
// The time of a run of a day long past begins when it was kept: what was just read for it
// is not taken away at once.
func TestKeptFromItsDay(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		date, entered string
		ended         bool
	}{
		{"2020-01-01", "2026-11-25", false},
		{"2020-01-01", "2026-11-01", true},
		{"2026-11-25", "2026-11-26", false},
		{"2020-01-01", "", true}, // of a version that did not note the day
	} {
		if got := ended(&Run{BusinessDate: c.date, Entered: c.entered, Keep: "10d"}, now); got != c.ended {
			t.Errorf("%+v: ended %v", c, got)
		}
	}
}

func TestPrune(t *testing.T) {
	a := &Archive{Dir: t.TempDir()}
	shared, old := keep(t, a, "other", "shared", ""), keep(t, a, "shop", "old", "1d")
	runs, objects, err := a.Prune("shop", time.Now())
	if runs != 1 || objects != 1 || err != nil {
		t.Errorf("%d runs, %d objects, %v", runs, objects, err)
	}
	if _, err := os.Stat(a.Object(old)); err == nil {
		t.Error("what nobody stands on is there")
	}
	if _, err := os.Stat(a.Object(shared)); err != nil {
		t.Error(err)
	}
}
