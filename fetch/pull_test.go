package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// told is a puller that does what a test says.
type told func(r *Request) (*Snapshot, error)

func (t told) Pull(_ context.Context, r *Request) (*Snapshot, error) { return t(r) }
func (t told) Check(context.Context, *Request) []string              { return nil }

func request(t *testing.T) *Request {
	t.Helper()
	src := &rules.Source{Name: "psp", Remote: &rules.Remote{Kind: rules.FromExec}}
	return &Request{
		Job: &rules.Bound{Job: &rules.Job{Name: "shop"}, Date: "2026-11-29"}, Side: rules.Results, Input: &rules.Input{Source: src},
		Dir: t.TempDir(), Now: time.Now, Note: func(string, ...any) {}, Progress: func(string, int64, int64) {},
	}
}

func put(t *testing.T, r *Request, name, text string) File {
	t.Helper()
	w, err := Create(r.Dir, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	f, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPull: what a puller wrote is in the snapshot, which is written last and read back.
func TestPull(t *testing.T) {
	r := request(t)
	s, err := Pull(t.Context(), told(func(r *Request) (*Snapshot, error) {
		if _, err := os.Stat(filepath.Join(r.Dir, SnapshotFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the snapshot is there before the files are: %v", err)
		}
		return &Snapshot{Kind: "exec", Proof: "whole", Files: []File{put(t, r, "b.csv", "id\n1\n"), put(t, r, "sub/a.csv", "")}}, nil
	}), r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadSnapshot(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if back.Job != "shop" || back.BusinessDate != "2026-11-29" || back.Side != "results" || back.Source != "psp" || back.Begun == "" || back.Ended < back.Begun {
		t.Errorf("the snapshot says %+v", back)
	}
	// printf 'id\n1\n' | sha256sum
	if f := back.Files[0]; f.Name != "b.csv" || f.Size != 5 || f.SHA256 != "7cde7fb64fd82bd152710cf238e017b9ab46c0592483edc067ba4f6c75fac108" {
		t.Errorf("the file is %+v", f)
	}
	if s.Size() != 5 || strings.Join(s.Names(), " ") != "b.csv "+filepath.Join("sub", "a.csv") {
		t.Errorf("names %v, size %d", s.Names(), s.Size())
	}
	if info, err := os.Stat(filepath.Join(r.Dir, FilesDir, "b.csv")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is for others as well: %v %v", info.Mode(), err)
	}
}

// TestPullBelievesNothing: files and what is said of them must be the same, else there is
// no snapshot.
func TestPullBelievesNothing(t *testing.T) {
	for name, p := range map[string]told{
		"a file that is not spoken of": func(r *Request) (*Snapshot, error) {
			put(t, r, "a.csv", "1")
			return &Snapshot{}, nil
		},
		"a file that is not there": func(r *Request) (*Snapshot, error) {
			return &Snapshot{Files: []File{put(t, r, "a.csv", "1"), {Name: "b.csv"}}}, nil
		},
		"another size": func(r *Request) (*Snapshot, error) {
			f := put(t, r, "a.csv", "1")
			f.Size++
			return &Snapshot{Files: []File{f}}, nil
		},
		"the same name twice": func(r *Request) (*Snapshot, error) {
			f := put(t, r, "a.csv", "1")
			return &Snapshot{Files: []File{f, f}}, nil
		},
		"a name that leaves the folder": func(*Request) (*Snapshot, error) {
			return &Snapshot{Files: []File{{Name: "../a.csv"}}}, nil
		},
		"a link": func(r *Request) (*Snapshot, error) {
			if err := os.Symlink("/etc/hosts", filepath.Join(r.Dir, FilesDir, "a.csv")); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(filepath.Join(r.Dir, FilesDir, "a.csv"))
			if err != nil {
				t.Fatal(err)
			}
			return &Snapshot{Files: []File{{Name: "a.csv", Size: info.Size()}}}, nil
		},
	} {
		r := request(t)
		if _, err := Pull(t.Context(), p, r); fail.ClassOf(err) != fail.Integrity {
			t.Errorf("%s: %v", name, err)
		}
		if s, err := ReadSnapshot(r.Dir); s != nil || err != nil {
			t.Errorf("%s: there is a snapshot: %v, %v", name, s, err)
		}
	}
}

// TestWriter: what is not committed leaves nothing, and no name leads out of the folder.
func TestWriter(t *testing.T) {
	r := request(t)
	w, err := Create(r.Dir, "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if w.Size() != 4 {
		t.Errorf("size %d", w.Size())
	}
	w.Abort()
	var left []string
	err = filepath.WalkDir(r.Dir, func(path string, e os.DirEntry, err error) error {
		if !e.IsDir() {
			left = append(left, path)
		}
		return err
	})
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	for _, name := range []string{"../x", "/x", "a/../../x", ""} {
		if _, err := Create(r.Dir, name); err == nil {
			t.Errorf("%q is taken as a name", name)
		}
	}
}

// TestReadSnapshotDamaged: a snapshot that cannot be understood is not taken for none.
func TestReadSnapshotDamaged(t *testing.T) {
	dir := t.TempDir()
	if s, err := ReadSnapshot(dir); s != nil || err != nil {
		t.Errorf("of an empty folder: %v, %v", s, err)
	}
	for _, text := range []string{"", "{", `{"schema_version": 99}`} {
		if err := os.WriteFile(filepath.Join(dir, SnapshotFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSnapshot(dir); fail.ClassOf(err) != fail.Input {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPullTakesAwayWhatWasBegun: what a pull that was killed was writing is gone before the
// next one begins, also in a folder whose name holds a pattern.
func TestPullTakesAwayWhatWasBegun(t *testing.T) {
	r := request(t)
	r.Dir = filepath.Join(r.Dir, "[a]*")
	if err := os.Mkdir(r.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := Create(r.Dir, "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.f.Close(); err != nil { // as when the program is killed: neither committed nor taken away
		t.Fatal(err)
	}
	if _, err := Pull(t.Context(), told(func(*Request) (*Snapshot, error) { return &Snapshot{}, nil }), r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.f.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", w.f.Name(), err)
	}
}
