package fetch

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// The local folder lists what a run would read, opens it as it was listed, and nothing else.
func TestLocalStore(t *testing.T) {
	base, outside := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(base, "in/a.csv"), "a")
	put(filepath.Join(base, "in/b[1].csv"), "bb")
	put(filepath.Join(base, "in/c.txt"), "c")
	put(filepath.Join(outside, "far.csv"), "far")
	s := Local{Base: base}
	beside, err := filepath.Rel(base, outside)
	if err != nil {
		t.Fatal(err)
	}
	far := filepath.ToSlash(filepath.Join(outside, "far.csv"))
	for _, c := range []struct {
		pattern string
		literal bool
		want    []string
	}{
		{"in/*.csv", false, []string{"in/a.csv", "in/b[1].csv"}},
		{"in/b[1].csv", true, []string{"in/b[1].csv"}},
		{"in/b[1].csv", false, nil},
		{"./in/a.csv", false, []string{"in/a.csv"}},
		{"in/none.csv", false, nil},
		{outside + "/*.csv", false, []string{far}},
		{beside + "/*.csv", false, []string{beside + "/far.csv"}},
	} {
		var names []string
		es, err := s.List(t.Context(), c.pattern, c.literal)
		if err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		for _, e := range es {
			names = append(names, e.Name)
			r, err := s.Open(t.Context(), e)
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			text, err := io.ReadAll(r)
			if err != nil || int64(len(text)) != e.Size {
				t.Errorf("%s: read %q, %v; it was listed with %d bytes", e.Name, text, err, e.Size)
			}
			r.Close()
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%s: %q, want %q", c.pattern, names, c.want)
		}
	}

	es, err := s.List(t.Context(), "in/a.csv", false)
	if err != nil || len(es) != 1 {
		t.Fatal(es, err)
	}
	r, err := s.Open(t.Context(), es[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(base, "in/a.csv"), time.Time{}, es[0].Modified.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "after it was looked at") {
		t.Errorf("a file that changed while it was read: %v", err)
	}
	r.Close()
	if _, err := s.Open(t.Context(), es[0]); fail.ClassOf(err) != fail.Input {
		t.Errorf("a file that changed since it was listed: %v", err)
	}

	if err := os.Symlink(filepath.Join(outside, "far.csv"), filepath.Join(base, "in/link.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), "in/*.csv", false); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "leaves its folder") {
		t.Errorf("a link that leaves the folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(base, "in/DONE"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), "in/DONE", true); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}
