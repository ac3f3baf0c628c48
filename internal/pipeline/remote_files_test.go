package pipeline

import (
	"encoding/pem"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testsftp"
	"github.com/recon-batch/recon-batch/rules"
)

// filesDay reads the operations of a date from an SFTP server and the results from a server
// over HTTP.
const filesDay = `
job: files
operations:
  path: sftp://SERVER/~/ops_{date}*.csv
  sftp:
    user: USER
    private_key: {file: KEY}
    passphrase: {env: FILES_TEST_PASSPHRASE}
    host_keys: ["HOST"]
    allow_private: true
  coverage: complete
  fields:
    operation_id: id
    type: kind
    amount: {type: decimal, scale: 2}
    created_at: {type: timestamp}
results:
  path: URL/settled_{date}.csv
  https:
    allow_private: true
    auth: {bearer: {env: FILES_TEST_TOKEN}}
    tls: {ca: {file: ca.pem}}
    checksum: {suffix: .sha256}
  coverage: {from: "{date}T00:00", until: "{date+1}T00:00"}
  fields:
    operation_id: reference
    amount: {type: decimal, scale: 2}
    created_at: {column: booked, type: timestamp}
` + remoteJudged

// TestRunFromFiles: a run reads one side over SFTP and the other over HTTPS; a delivery that is
// not there, is not whole or comes from a stranger ends it as what it is; and without both
// servers the run comes out of the snapshots again. No secret is in what it leaves.
func TestRunFromFiles(t *testing.T) {
	server := testsftp.Start(t)
	const token = "canary-token-of-the-files"
	t.Setenv("FILES_TEST_TOKEN", token)
	t.Setenv("FILES_TEST_PASSPHRASE", testsftp.Passphrase)
	web := t.TempDir()
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.FileServer(http.Dir(web)).ServeHTTP(w, r)
	}))
	defer site.Close()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(server.HostKeys["ed25519"]))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw})))
	job := filepath.Join(dir, "job.yaml")
	write(t, job, strings.NewReplacer("SERVER", server.Addr, "USER", server.User, "KEY", server.LockedKey, "HOST", ssh.FingerprintSHA256(key), "URL", site.URL).Replace(filesDay))
	load := func(change func(*rules.SFTP)) Options {
		t.Helper()
		j, err := rules.Load(job)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(j.Operations.Sources[0].Remote.SFTP)
		}
		return Options{Job: j, BusinessDate: "2020-01-01", Until: time.Now().Add(time.Minute)}
	}
	refused := func(what string, o Options, class fail.Class, says string) {
		t.Helper()
		if _, err := Run(t.Context(), o); fail.ClassOf(err) != class || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	put := func(folder, name, text string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2020, 1, 2, 3, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	const head, settled = "id,kind,amount,created_at\n", "reference,amount,booked\nop-1,10.00,2020-01-01T10:00:00Z\nop-3,30.01,2020-01-01T11:00:00Z\nop-9,90.00,2020-01-01T10:00:00Z\n"
	put(server.Root, "ops_2020-01-01_1.csv", head+"op-1,card,10.00,2020-01-01T10:00:00Z\nop-2,card,20.00,2020-01-01T10:00:00Z\n")
	put(server.Root, "ops_2020-01-01_2.csv.part", head+"op-x,card,1.00,2020-01-01T10:00:00Z\n")
	refused("nothing settled", load(nil), fail.Input, "settled_2020-01-01.csv")
	put(server.Root, "ops_2020-01-01_2.csv", head+"op-3,card,30.00,2020-01-01T10:00:00Z\n")
	put(web, "settled_2020-01-01.csv", settled[:len(settled)-9])
	put(web, "settled_2020-01-01.csv.sha256", "46ed1b4b5e8a3a4b9ab6d5b3a8f4c7c4b5a0d2a4c4b7ce2d2f1de1a5fbd0e3aa  settled_2020-01-01.csv\n")
	refused("a file that is cut", load(nil), fail.Input, "was read twice and does not fit its checksum")
	refused("a stranger", load(func(s *rules.SFTP) { s.HostKeys = []string{"SHA256:" + strings.Repeat("A", 43)} }), fail.Usage, ssh.FingerprintSHA256(key))
	put(web, "settled_2020-01-01.csv", settled)
	put(web, "settled_2020-01-01.csv.sha256", sha256Hex([]byte(settled))+"\n")
	if problems, n, err := Connect(t.Context(), load(nil)); err != nil || n != 2 || len(problems) > 0 {
		t.Fatalf("%d asked, %q, %v", n, problems, err)
	}
	res, err := Run(t.Context(), load(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(res); got != "operations correct 1, operations divergent 1, operations absent 1, results correct 1, results divergent 1, results unexpected 1" {
		t.Errorf("the day comes out as %s", got)
	}
	if len(res.Manifest.Snapshots) != 2 {
		t.Errorf("snapshots %+v", res.Manifest.Snapshots)
	}
	again, err := Run(t.Context(), load(nil))
	if err != nil || !again.NoOp || again.Manifest.RunID != res.Manifest.RunID {
		t.Errorf("the same files again: %v %+v", err, again)
	}
	site.Close()
	gone := load(func(s *rules.SFTP) { s.HostKeys = nil })
	gone.LastSnapshots = true
	refused("another declaration", gone, fail.Usage, "under another declaration")
	gone = load(nil)
	gone.LastSnapshots = true
	same, err := Run(t.Context(), gone)
	if err != nil || !same.NoOp || same.Manifest.RunID != res.Manifest.RunID {
		t.Errorf("from the snapshots: %v", err)
	}
	private, err := os.ReadFile(server.LockedKey)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Split(string(private), "\n")[2]
	seen := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{token, testsftp.Passphrase, line} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds a secret", path)
			}
		}
		seen++
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d files: %v", seen, err)
	}
}
