package sftp

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/internal/testpull"
	"github.com/recon-batch/recon-batch/internal/testsftp"
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

type asked = testpull.Asked

// request asks for what a path names, as a job file does; keys are those of sftp.
func request(t testing.TB, path string, keys ...string) *asked {
	t.Helper()
	return testpull.Request(t, "sftp", path, append([]string{"allow_private: true"}, keys...)...)
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
	return a.Pull(t, quick)
}

var (
	noon     = testpull.Noon
	noise    = testpull.Noise
	digestOf = testpull.SHA256
)
