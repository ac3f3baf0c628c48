package sftp

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestPull: the files that an address names come whole, and nothing else does.
func TestPull(t *testing.T) {
	w := newWorld(t)
	all := map[string][]byte{
		"a.csv": noise(1, 100), "b.csv": noise(2, 7<<20+13), "c.csv": {}, "[x].csv": noise(3, 10), "a.csv.part": {1}, "a.csv.filepart": {1},
		".a.csv": {1}, "b.csv~": {1}, "d.CSV": {1},
	}
	for name, body := range all {
		w.put(name, body)
	}
	in := filepath.Join(w.Root, "in")
	if err := os.Mkdir(filepath.Join(in, "e.csv"), 0o755); err != nil {
		t.Fatal(err)
	}
	putAt(t, filepath.Join(in, "e.csv", "f.csv"), []byte{1}, noon)
	putAt(t, filepath.Join(w.Root, "elsewhere"), noise(4, 50), noon)
	for name, to := range map[string]string{"link.csv": "../elsewhere", "folder.csv": "e.csv", "hidden": ".a.csv"} {
		if err := os.Symlink(to, filepath.Join(in, name)); err != nil {
			t.Fatal(err)
		}
	}
	all["link.csv"] = noise(4, 50)
	home := "sftp://" + w.proxy.Addr + "/~/in/"
	for path, want := range map[string]string{
		w.at("in/*.csv"):                        "[x].csv a.csv b.csv c.csv link.csv",
		home + "*.csv":                          "[x].csv a.csv b.csv c.csv link.csv",
		w.at("in/?.csv"):                        "a.csv b.csv c.csv",
		w.at("in/[ab].csv"):                     "a.csv b.csv",
		w.at("in/a*"):                           "a.csv",
		w.at("in/a*.part"):                      "a.csv.part",
		w.at("in/.a*"):                          ".a.csv",
		w.at("in/b.csv"):                        "b.csv",
		home + "b.csv":                          "b.csv",
		w.at("in/.a.csv"):                       ".a.csv",
		`{exact: "` + w.at("in/[x].csv") + `"}`: "[x].csv",
		`{exact: "` + w.at("in/*.csv") + `"}`:   "",
		w.at("in/none*"):                        "",
		w.at("in/none.csv"):                     "",
		w.at("none/*.csv"):                      "",
		w.at("none/a.csv"):                      "",
	} {
		a := w.request(path)
		s := pulled(t, a)
		expected := map[string][]byte{}
		for _, name := range strings.Fields(want) {
			expected[name] = all[name]
		}
		a.Whole(t, s, expected)
		if got := strings.Join(s.Names(), " "); got != want {
			t.Errorf("%s gives %s, want %s", path, got, want)
		}
		for _, f := range s.Files {
			if f.SHA256 != hex.EncodeToString(digestOf(all[f.Name])) || f.Modified != "2026-08-20T12:00:00Z" || !strings.HasSuffix(f.Address, "/in/"+f.Name) {
				t.Errorf("%+v", f)
			}
		}
		if s.Proof == "" || s.Retries != 0 {
			t.Errorf("%s: %+v", path, s)
		}
	}
	// A link to nothing is a delivery that is not there; a folder is no file.
	if err := os.Symlink("nowhere", filepath.Join(in, "z.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Pull(context.Background(), quick, w.request(w.at("in/z*")).Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "z.csv is a link to a file that is not there") {
		t.Error(err)
	}
	if _, err := fetch.Pull(context.Background(), quick, w.request(w.at("in/e.csv")).Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "e.csv is no file") {
		t.Error(err)
	}
	for _, e := range []string{"a.csv", "a.csv.part", ".a.csv", "link.csv", "z.csv", "e.csv/f.csv"} {
		if _, err := os.Lstat(filepath.Join(in, e)); err != nil {
			t.Errorf("%s was taken away: %v", e, err)
		}
	}
}

// TestForbidden: what the user may not read is told as that.
func TestForbidden(t *testing.T) {
	w := newWorld(t)
	w.put("a.csv", noise(5, 100))
	if err := os.Chmod(filepath.Join(w.Root, "in", "a.csv"), 0o200); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Pull(context.Background(), quick, w.request(w.at("in/*.csv")).Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "in/a.csv may not be read") {
		t.Error(err)
	}
}

// TestNetwork: connections that are reset, once and again, are no matter; a server that cannot
// be reached is a temporary failure.
func TestNetwork(t *testing.T) {
	w := newWorld(t)
	want := map[string][]byte{"a.csv": noise(6, 9<<20), "b.csv": noise(7, 3<<20)}
	for name, body := range want {
		w.put(name, body)
	}
	for name, limit := range map[string]func(n int) int64{
		"once":             func(n int) int64 { return map[int]int64{1: 2 << 20}[n] },
		"in the handshake": func(n int) int64 { return map[int]int64{1: 50, 2: 1500}[n] },
		"again and again":  func(n int) int64 { return 2 << 20 },
	} {
		w.proxy.Limit(limit)
		a := w.request(w.at("in/*.csv"))
		s := pulled(t, a)
		a.Whole(t, s, want)
		if s.Retries == 0 || w.proxy.Connections() < 2 {
			t.Errorf("%s: %d attempts more, %d connections", name, s.Retries, w.proxy.Connections())
		}
	}
	w.proxy.Limit(func(int) int64 { return 100 })
	a := w.request(w.at("in/*.csv"))
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Temporary {
		t.Error(err)
	}
	w.proxy.Limit(nil)
	a.Whole(t, pulled(t, a), want)
	gone := request(t, "sftp://127.0.0.1:1/in/*.csv", "user: u", "password: {env: PATH}", "host_keys: ["+fingerprint(t, w.HostKeys["rsa"])+"]")
	if _, err := fetch.Pull(context.Background(), quick, gone.Request); fail.ClassOf(err) != fail.Temporary {
		t.Error(err)
	}
}

// TestAddresses: this machine is dialled only where the job says so, what gives credentials never.
func TestAddresses(t *testing.T) {
	w := newWorld(t)
	a := w.request(w.at("in/*.csv"))
	a.Source().Remote.SFTP.AllowPrivate = false
	w.proxy.Limit(nil)
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(hint(err), "sftp: {allow_private: true}") || w.proxy.Connections() > 0 {
		t.Error(err, hint(err))
	}
	a = request(t, "sftp://169.254.169.254/in/*.csv", "user: u", "password: {env: PATH}", "host_keys: ["+fingerprint(t, w.HostKeys["rsa"])+"]")
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "never asked") {
		t.Error(err)
	}
}

// TestCheck: reachability, host key, rights and the folder are told before a night depends on them.
func TestCheck(t *testing.T) {
	w := newWorld(t)
	check := func(a *asked, problem, note string) {
		t.Helper()
		p := quick.Check(context.Background(), a.Request)
		if (problem == "") != (p == nil) || p != nil && (len(p) != 1 || !strings.Contains(p[0], problem)) || !strings.Contains(a.Told(), note) {
			t.Errorf("%q %q", p, a.Told())
		}
		if left, err := os.ReadDir(a.Dir); err != nil || len(left) > 0 {
			t.Errorf("a check leaves %v %v", left, err)
		}
	}
	check(w.request(w.at("in/*.csv")), "", "names no file now")
	check(w.request(w.at("none/*.csv")), "there is no folder sftp://"+w.proxy.Addr+w.Root+"/none", "")
	check(w.request(w.at("{date}/*.csv")), "", "names no file now")
	w.put("a.csv", noise(8, 100))
	w.put("b.csv", nil)
	check(w.request(w.at("in/*.csv")), "", "names 2 files of 100 bytes now, the first is a.csv")
	if err := os.Chmod(filepath.Join(w.Root, "in", "a.csv"), 0o200); err != nil {
		t.Fatal(err)
	}
	check(w.request(w.at("in/*.csv")), "a.csv may not be read; ask the owner", "")
	a := w.request(w.at("in/*.csv"))
	a.Source().Remote.SFTP.User = "somebody"
	check(a, "does not let the user somebody in", "")
	a = w.request(w.at("in/*.csv"))
	a.Source().Remote.SFTP.HostKeys = []string{"SHA256:" + strings.Repeat("A", 43)}
	check(a, "the server shows a key that it is not known by: ssh-ed25519 "+fingerprint(t, w.HostKeys["ed25519"])+", ssh-rsa "+fingerprint(t, w.HostKeys["rsa"]), "")
}

// TestTooMuch: what is more than the job takes is refused before it is asked for.
func TestTooMuch(t *testing.T) {
	w := newWorld(t)
	w.put("a.csv", noise(9, 600))
	w.put("b.csv", noise(9, 600))
	if _, err := fetch.Pull(context.Background(), quick, w.request(w.at("in/*.csv"), "max_bytes: 1199").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "1200 bytes in 2 files") {
		t.Error(err)
	}
	pulled(t, w.request(w.at("in/*.csv"), "max_bytes: 1200"))
	// A file with holes is as large as it says.
	hollow := filepath.Join(w.Root, "in", "c.csv")
	if err := os.WriteFile(hollow, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(hollow, 8<<40); err != nil {
		t.Skipf("NOT TESTED: this file system has no holes so large: %v", err)
	}
	if _, err := fetch.Pull(context.Background(), quick, w.request(w.at("in/*.csv"), "max_bytes: 100000000000000").Request); fail.ClassOf(err) != fail.Resources {
		t.Error(err)
	}
}

// TestRequestDigest: the digest of the request tells requests apart, and says nothing of when
// they were made.
func TestRequestDigest(t *testing.T) {
	w := newWorld(t)
	w.put("a.csv", noise(9, 600))
	w.put("a.csv.sha256", []byte(hex.EncodeToString(digestOf(noise(9, 600)))))
	one := pulled(t, w.request(w.at("in/*.csv")))
	if two := pulled(t, w.request(w.at("in/*.csv"), "parallel: 2", "timeout: 10s")); one.Request != two.Request {
		t.Error("the same request has two digests")
	}
	for _, a := range []*asked{w.request(w.at("in/a*.csv")), w.request(w.at("in/*.csv"), "checksum: {suffix: .sha256}")} {
		if s := pulled(t, a); s.Request == one.Request {
			t.Errorf("%s has the digest of another request", a.Input.Path)
		}
	}
}

// TestSlowLogin: a server that says nothing does not hold a pull up.
func TestSlowLogin(t *testing.T) {
	w := newWorld(t)
	a := silent(t, w)
	if _, err := fetch.Pull(context.Background(), Puller{pause: time.Millisecond, idle: 20 * time.Millisecond}, a.Request); fail.ClassOf(err) != fail.Temporary {
		t.Error(err)
	}
}
