//go:build unix

package testpull

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

// Noon is a time of files that were not written just now.
var Noon = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

// Asked is a request of a test, with what was told.
type Asked struct {
	*fetch.Request
	mu    sync.Mutex
	notes []string
}

// Request asks for what a source names, as a job file does: path is YAML, keys are those of
// its kind. The folders of the request are fresh.
func Request(t testing.TB, kind, path string, keys ...string) *Asked {
	t.Helper()
	bound := bind(t, `
job: pulled
operations: {path: o.csv, fields: {operation_id: id}}
results:
  path: `+path+`
  format: csv
  `+kind+`: {`+strings.Join(keys, ", ")+`}
  fields: {operation_id: id}
match: [{pass: operation_id, on: [operation_id]}]
`, "2026-08-20")
	return Of(t, bound, rules.Results, t.TempDir())
}

// Of asks for the first input of a side. Secrets given by file begin in the folder base.
func Of(t testing.TB, job *rules.Bound, side rules.Side, base string) *Asked {
	a := &Asked{}
	a.Request = &fetch.Request{
		Job: job, Side: side, Input: &job.Inputs[side][0], Dir: t.TempDir(), BaseDir: base, Now: time.Now,
		Note: func(format string, args ...any) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.notes = append(a.notes, fmt.Sprintf(format, args...))
		},
		Progress: func(string, int64, int64) {},
	}
	return a
}

func bind(t testing.TB, text, date string) *rules.Bound {
	t.Helper()
	job, err := rules.Parse([]byte(text), "job.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	bound, err := job.Bind(date, nil)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// Guide binds the first job of a guide, which has to load as it stands, with what a test has
// to replace in it.
func Guide(t testing.TB, file, date string, replace ...string) *rules.Bound {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(doc)
	if m == nil {
		t.Fatal("the guide has no job")
	}
	if job, err := rules.Parse(m[1], "job.yaml"); err != nil || len(job.Warnings) > 0 {
		t.Fatal(err, job)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(m[1]), replace[i]) {
			t.Fatalf("the guide has no %q", replace[i])
		}
	}
	return bind(t, strings.NewReplacer(replace...).Replace(string(m[1])), date)
}

// Told is what the pull told people so far.
func (a *Asked) Told() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.notes, "\n")
}

// Pull pulls, and fails where that does.
func (a *Asked) Pull(t testing.TB, p fetch.Puller) *fetch.Snapshot {
	t.Helper()
	s, err := fetch.Pull(context.Background(), p, a.Request)
	if err != nil {
		t.Fatalf("%v; told %s", err, a.Told())
	}
	return s
}

// Whole compares the files of a snapshot with those that are to be there: name and content.
func (a *Asked) Whole(t testing.TB, s *fetch.Snapshot, want map[string][]byte) {
	t.Helper()
	if len(s.Files) != len(want) {
		t.Errorf("%d files, want %d", len(s.Files), len(want))
	}
	for _, f := range s.Files {
		got, err := os.ReadFile(filepath.Join(a.Dir, fetch.FilesDir, filepath.FromSlash(f.Name)))
		body, listed := want[f.Name]
		if err != nil || !listed || !bytes.Equal(got, body) {
			t.Errorf("%s: %v; listed %v; %d bytes, want %d", f.Name, err, listed, len(got), len(body))
		}
	}
	if _, err := os.Stat(filepath.Join(a.Dir, fetch.PartialDir)); err == nil {
		t.Error("the folder of what is partial stayed")
	}
}

// Nothing fails where a pull that was refused left a snapshot, or a file under its name that is
// not one of those that are whole.
func (a *Asked) Nothing(t testing.TB, whole map[string][]byte) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(a.Dir, fetch.SnapshotFile)); err == nil {
		t.Error("there is a snapshot")
	}
	files, err := os.ReadDir(filepath.Join(a.Dir, fetch.FilesDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(a.Dir, fetch.FilesDir, f.Name()))
		if err != nil || !bytes.Equal(got, whole[f.Name()]) {
			t.Errorf("%s has its name and is not whole", f.Name())
		}
	}
}

// Secret fails where a secret stands in what a pull that ended with an error wrote, told or
// gave back; more is what was said otherwise.
func (a *Asked) Secret(t testing.TB, canary string, err error, more ...any) {
	t.Helper()
	all := fmt.Sprintf("%+v\n%v\n%#v\n%s\n%+v", err, err, err, a.Told(), more)
	walked := filepath.WalkDir(a.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all += path + "\n" + string(text)
		return err
	})
	if walked != nil {
		t.Fatal(walked)
	}
	if strings.Contains(all, canary) {
		t.Errorf("the secret stands in what is written and said: %.500q", all)
	}
}

// SHA256 of bytes.
func SHA256(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] }

// Noise is content that no two parts of share.
func Noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 7})
	b := make([]byte, n)
	_, _ = r.Read(b) // ChaCha8 never fails
	return b
}

// Repeated is a file of some bytes that is made while it is read: one block, again and again.
func Repeated(size int64) *io.SectionReader { return io.NewSectionReader(repeated{size}, 0, size) }

type repeated struct{ size int64 }

var block = Noise(30, 1<<20)

func (m repeated) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < m.size {
		k := copy(p[n:min(int64(len(p)), int64(n)+m.size-off)], block[off%int64(len(block)):])
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
