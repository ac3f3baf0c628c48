package sftp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/internal/testsftp"
	"github.com/recon-batch/recon-batch/rules"
)

// world is an OpenSSH server with a proxy in front of it.
type world struct {
	*testsftp.Server
	t     testing.TB
	proxy *testproxy.TCP
}

func newWorld(t testing.TB, config ...string) *world {
	t.Helper()
	w := &world{t: t, Server: testsftp.Start(t, config...)}
	w.proxy = testproxy.NewTCP(t, "tcp", w.Addr)
	if err := os.Mkdir(filepath.Join(w.Root, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// noon is a time of files that were not written just now.
var noon = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

// put writes a file of the server, below its folder in.
func (w *world) put(name string, body []byte) {
	w.t.Helper()
	putAt(w.t, filepath.Join(w.Root, "in", name), body, noon)
}

func putAt(t testing.TB, path string, body []byte, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, body, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// at is the address of a path below the root, through the proxy.
func (w *world) at(path string) string { return "sftp://" + w.proxy.Addr + w.Root + "/" + path }

// asked is a request of the test, with what was told.
type asked struct {
	*fetch.Request
	mu    sync.Mutex
	notes []string
}

// request asks for what a path names, as a job file does; path is YAML, keys are those of sftp.
func request(t testing.TB, path string, keys ...string) *asked {
	t.Helper()
	text := `
job: sftp
operations: {path: o.csv, fields: {operation_id: id}}
results:
  path: ` + path + `
  format: csv
  sftp: {allow_private: true, ` + strings.Join(keys, ", ") + `}
  fields: {operation_id: id}
match: [{pass: operation_id, on: [operation_id]}]
`
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

// request asks the server as the one user that it lets in.
func (w *world) request(path string, keys ...string) *asked {
	w.t.Helper()
	return request(w.t, path, append([]string{"user: " + w.User, "private_key: {file: " + w.Key + "}", "host_keys: [" + fingerprint(w.t, w.HostKeys["ed25519"]) + "]"}, keys...)...)
}

func fingerprint(t testing.TB, line string) string {
	t.Helper()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return ssh.FingerprintSHA256(key)
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

// whole compares the files of a snapshot with those of the server: name and content.
func whole(t testing.TB, a *asked, s *fetch.Snapshot, want map[string][]byte) {
	t.Helper()
	if len(s.Files) != len(want) {
		t.Errorf("%d files, want %d", len(s.Files), len(want))
	}
	for _, f := range s.Files {
		got, err := os.ReadFile(filepath.Join(a.Dir, fetch.FilesDir, f.Name))
		body, listed := want[f.Name]
		if err != nil || !listed || !bytes.Equal(got, body) {
			t.Errorf("%s: %v; listed %v; %d bytes, want %d", f.Name, err, listed, len(got), len(body))
		}
	}
	if _, err := os.Stat(filepath.Join(a.Dir, fetch.PartialDir)); err == nil {
		t.Error("the folder of what is partial stayed")
	}
}

func digestOf(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] }

// noise is content that no two parts of share.
func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 7})
	b := make([]byte, n)
	_, _ = r.Read(b) // ChaCha8 never fails
	return b
}
