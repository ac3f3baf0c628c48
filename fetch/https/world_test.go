package https

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

// world is a server of files over TLS, which spoils some of its answers.
type world struct {
	*httptest.Server
	t    testing.TB
	dir  string
	etag bool // it states ETags; else times alone

	mu    sync.Mutex
	fault fault
	seen  []seen
}

// seen is a request that came.
type seen struct{ method, path, span, by, auth string }

// fault answers a request in place of the server, and tells whether it did. n counts the
// requests of this method for this path from 0.
type fault func(w http.ResponseWriter, r *http.Request, n int, files http.Handler) bool

// noon is a time of files that were not written just now.
var noon = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.Server = httptest.NewTLSServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	n := 0
	for _, s := range w.seen {
		if s.method == r.Method && s.path == r.URL.Path {
			n++
		}
	}
	w.seen = append(w.seen, seen{r.Method, r.URL.Path, r.Header.Get("Range"), r.Header.Get("If-Range"), r.Header.Get("Authorization")})
	f := w.fault
	w.mu.Unlock()
	if f == nil || !f(rw, r, n, http.HandlerFunc(w.files)) {
		w.files(rw, r)
	}
}

// files is the server of files of the standard library, which knows ranges and conditions.
func (w *world) files(rw http.ResponseWriter, r *http.Request) {
	if w.etag {
		if text, err := os.ReadFile(filepath.Join(w.dir, r.URL.Path)); err == nil {
			rw.Header().Set("Etag", fmt.Sprintf(`"%x"`, digestOf(text)[:8]))
		}
	}
	http.FileServer(http.Dir(w.dir)).ServeHTTP(rw, r)
}

// put writes a file of the server.
func (w *world) put(name string, body []byte) { w.putAt(name, body, noon) }

func (w *world) putAt(name string, body []byte, at time.Time) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, body, 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}

// spoil sets the fault, and forgets what was seen.
func (w *world) spoil(f fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault, w.seen = f, nil
}

// requests are those of a method since the last spoil.
func (w *world) requests(method string) []seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []seen
	for _, s := range w.seen {
		if s.method == method {
			out = append(out, s)
		}
	}
	return out
}

// asked is a request of the test, with what was told.
type asked struct {
	*fetch.Request
	mu    sync.Mutex
	notes []string
}

// request asks for a file, as a job file does; keys are those of https.
func (w *world) request(name string, keys ...string) *asked {
	w.t.Helper()
	a := requestAt(w.t, w.URL+"/"+name, append([]string{"tls: {ca: {file: ca.pem}}"}, keys...)...)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(a.BaseDir, "ca.pem"), ca, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return a
}

func requestAt(t testing.TB, path string, keys ...string) *asked {
	t.Helper()
	text := `
job: https
operations: {path: o.csv, fields: {operation_id: id}}
results:
  path: ` + path + `
  format: csv
  https: {allow_private: true, ` + strings.Join(keys, ", ") + `}
  fields: {operation_id: id}
match: [{pass: operation_id, on: [operation_id]}]
`
	if !strings.Contains(text, "requests:") {
		text = strings.Replace(text, "allow_private: true,", "allow_private: true, requests: {rate: 100000/s, attempts: 4, timeout: 5s},", 1)
	}
	job, err := rules.Parse([]byte(text), "job.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{}
	a.Request = &fetch.Request{
		Job: bound, Side: rules.Results, Input: &bound.Inputs[rules.Results][0], Dir: t.TempDir(), BaseDir: t.TempDir(), Now: time.Now,
		Note: func(format string, args ...any) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.notes = append(a.notes, fmt.Sprintf(format, args...))
		},
		Progress: func(string, int64, int64) {},
	}
	return a
}

// quick is a puller that waits for nobody.
var quick = Puller{pause: time.Millisecond}

func pulled(t testing.TB, a *asked) *fetch.Snapshot {
	t.Helper()
	s, err := fetch.Pull(context.Background(), quick, a.Request)
	if err != nil {
		t.Fatalf("%v; notes %q", err, a.notes)
	}
	return s
}

// whole compares the one file of a snapshot with what it is to be.
func whole(t testing.TB, a *asked, s *fetch.Snapshot, name string, body []byte) {
	t.Helper()
	if len(s.Files) != 1 || s.Files[0].Name != name {
		t.Fatalf("files %+v", s.Files)
	}
	got, err := os.ReadFile(filepath.Join(a.Dir, fetch.FilesDir, name))
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("%s: %v; %d bytes, want %d", name, err, len(got), len(body))
	}
	if _, err := os.Stat(filepath.Join(a.Dir, fetch.PartialDir)); err == nil {
		t.Error("the folder of what is partial stayed")
	}
}

// noise is content that no two parts of share.
func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 7})
	b := make([]byte, n)
	_, _ = r.Read(b) // ChaCha8 never fails
	return b
}
