package https

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/testpull"
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

type asked = testpull.Asked

// request asks for a file, as a job file does; keys are those of https.
func (w *world) request(name string, keys ...string) *asked {
	w.t.Helper()
	a := requestAt(w.t, w.URL+"/"+name, append([]string{"tls: {ca: {file: ca.pem}}"}, keys...)...)
	w.authority(a.BaseDir)
	return a
}

// authority writes the certificate of the server to a folder.
func (w *world) authority(dir string) {
	w.t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func requestAt(t testing.TB, path string, keys ...string) *asked {
	t.Helper()
	return testpull.Request(t, "https", path, append([]string{"allow_private: true", "requests: {rate: 100000/s, attempts: 4, timeout: 5s}"}, keys...)...)
}

// quick is a puller that waits for nobody.
var quick = Puller{pause: time.Millisecond}

func pulled(t testing.TB, a *asked) *fetch.Snapshot {
	t.Helper()
	return a.Pull(t, quick)
}

// whole compares the one file of a snapshot with what it is to be.
func whole(t testing.TB, a *asked, s *fetch.Snapshot, name string, body []byte) {
	t.Helper()
	a.Whole(t, s, map[string][]byte{name: body})
}

var (
	noon     = testpull.Noon
	noise    = testpull.Noise
	digestOf = testpull.SHA256
)
