package sftp

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testsftp"
)

// hint is the remedy of an error.
func hint(err error) string {
	e, _ := errors.AsType[*fail.Error](err)
	if e == nil {
		return ""
	}
	return e.Hint
}

// silent asks a server that takes connections and says nothing.
func silent(t *testing.T, w *world) *asked {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // the kernel takes the connections
	a := w.request(w.at("in/*.csv"))
	a.Input.Path = "sftp://" + l.Addr().String() + "/in/*.csv"
	return a
}

// TestHostKeys: the server is known by a fingerprint, a key or a file of keys, whichever of its
// keys they are of, and by nothing else; a stranger learns nothing about us.
func TestHostKeys(t *testing.T) {
	w := newWorld(t)
	w.put("a.csv", noise(20, 100))
	ed, rsa := w.HostKeys["ed25519"], w.HostKeys["rsa"]
	line := func(host, key string) string { return host + " " + strings.Join(strings.Fields(key)[:2], " ") + "\n" }
	host, port, err := net.SplitHostPort(w.proxy.Addr)
	if err != nil {
		t.Fatal(err)
	}
	named := "[" + host + "]:" + port
	stranger := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(newKey(t).PublicKey())))
	hashed := func(text string) string {
		file := filepath.Join(t.TempDir(), "known")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("ssh-keygen", "-q", "-H", "-f", file).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		out, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(out), host) {
			t.Fatal(err, string(out))
		}
		return string(out)
	}
	for name, c := range map[string]struct {
		keys  []string // of the job
		file  string   // known_hosts
		fails string   // "" the server is known
	}{
		"fingerprint":              {[]string{fingerprint(t, ed)}, "", ""},
		"fingerprint of the other": {[]string{fingerprint(t, rsa)}, "", ""},
		"key":                      {[]string{ed}, "", ""},
		"key of the other":         {[]string{rsa}, "", ""},
		"one of several":           {[]string{fingerprint(t, stranger), stranger, fingerprint(t, rsa)}, "", ""},
		"known hosts":              {nil, line(named, ed), ""},
		"known hosts of the other": {nil, line(named, rsa), ""},
		"hashed":                   {nil, hashed(line(named, rsa)), ""},
		"stranger":                 {[]string{fingerprint(t, stranger)}, "", "not known by: ssh-ed25519 " + fingerprint(t, ed) + ", ssh-rsa " + fingerprint(t, rsa) + "; it is known by " + fingerprint(t, stranger)},
		"key of a stranger":        {[]string{stranger}, "", "not known by: ssh-ed25519 " + fingerprint(t, ed)},
		"another one was known":    {nil, line(named, stranger), "it is known by " + fingerprint(t, stranger)},
		"another host was known":   {nil, line("elsewhere", ed), "it is known by none"},
		"the port was another":     {nil, line(host, ed), "it is known by none"},
		"revoked":                  {nil, "@revoked " + line("*", ed) + line(named, ed), "which known_hosts calls revoked"},
		"a file that is none":      {nil, "what is this\n", "known_hosts: keys cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(w.Log(t))
			a := w.request(w.at("in/*.csv"))
			a.Source().Remote.SFTP.HostKeys = c.keys
			if c.file != "" {
				a.Source().Remote.SFTP.KnownHosts = "keys"
				if err := os.WriteFile(filepath.Join(a.BaseDir, "keys"), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := fetch.Pull(context.Background(), quick, a.Request)
			if c.fails == "" {
				if err != nil {
					t.Fatal(err)
				}
				a.Whole(t, s, map[string][]byte{"a.csv": noise(20, 100)})
				return
			}
			if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), c.fails) || hint(err) == "" {
				t.Errorf("%v | %s", err, hint(err))
			}
			// Of the one before it may still say that its session ends.
			if said := w.Log(t)[before:]; strings.Contains(said, "authenticating user") || strings.Contains(said, "Accepted") || strings.Contains(said, "Failed") {
				t.Errorf("the stranger learned who we are: %s", said)
			}
		})
	}
	a := w.request(w.at("in/*.csv"))
	a.Source().Remote.SFTP.HostKeys, a.Source().Remote.SFTP.KnownHosts = nil, "nothing"
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "known_hosts: nothing cannot be read") {
		t.Error(err)
	}
}

// TestHostKeyChanges: a server that shows another key in mid-pull is not asked any more.
func TestHostKeyChanges(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	s.put("a.csv", noise(21, 3<<20), noon)
	old := s.key
	s.spoil(func(op, _ string, n int) error {
		if op == "read" && n == 70 {
			s.mu.Lock()
			s.key = newKey(t)
			s.mu.Unlock()
			s.reset()
		}
		return nil
	})
	a := s.request("a.csv")
	_, err := fetch.Pull(context.Background(), quick, a.Request)
	if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "not known by: ssh-ed25519 "+ssh.FingerprintSHA256(s.key.PublicKey())) || s.tried() != 1 {
		t.Errorf("%d logins: %v", s.tried(), err)
	}
	s.mu.Lock()
	s.key = old
	s.mu.Unlock()
	a.Whole(t, pulled(t, a), map[string][]byte{"a.csv": noise(21, 3<<20)})
}

// TestKeys: private keys with and without a passphrase; one that the server does not know, or
// that cannot be read, is a fault of the job.
func TestKeys(t *testing.T) {
	w := newWorld(t)
	w.put("a.csv", noise(22, 100))
	t.Setenv("SFTP_TEST_PHRASE", testsftp.Passphrase)
	t.Setenv("SFTP_TEST_WRONG", "wrong-passphrase")
	unknown := filepath.Join(t.TempDir(), "unknown")
	dsa := filepath.Join(t.TempDir(), "text")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", unknown).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if err := os.WriteFile(dsa, []byte("no key at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ keys, fails string }{
		"plain":           {"private_key: {file: " + w.Key + "}", ""},
		"locked":          {"private_key: {file: " + w.LockedKey + "}, passphrase: {env: SFTP_TEST_PHRASE}", ""},
		"rsa":             {"private_key: {file: " + w.RSAKey + "}", ""},
		"no passphrase":   {"private_key: {file: " + w.LockedKey + "}", "the private key has a passphrase"},
		"wrong":           {"private_key: {file: " + w.LockedKey + "}, passphrase: {env: SFTP_TEST_WRONG}", "cannot be read with this passphrase"},
		"not known":       {"private_key: {file: " + unknown + "}", "does not let the user " + w.User + " in"},
		"no key":          {"private_key: {file: " + dsa + "}", "the private key cannot be read"},
		"a password only": {"password: {env: SFTP_TEST_WRONG}", "does not let the user " + w.User + " in"},
		"not there":       {"private_key: {file: nowhere}", "the file nowhere cannot be read"},
	} {
		before := len(w.Log(t))
		a := request(t, w.at("in/*.csv"), "user: "+w.User, "host_keys: ["+fingerprint(t, w.HostKeys["ed25519"])+"]", c.keys)
		s, err := fetch.Pull(context.Background(), quick, a.Request)
		if c.fails == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			a.Whole(t, s, map[string][]byte{"a.csv": noise(22, 100)})
			continue
		}
		if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), c.fails) || hint(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(w.Log(t)[before:], "Connection from"); n > 1 {
			t.Errorf("%s: tried %d times", name, n)
		}
	}
}

// TestPassword: by either of the ways in which servers ask for one, and once.
func TestPassword(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	s := newServer(t)
	s.put("a.csv", noise(23, 100), noon)
	pulled(t, s.request("a.csv"))
	plain := s.config
	ask := func(questions ...string) *ssh.ServerConfig {
		return &ssh.ServerConfig{KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, client ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			s.mu.Lock()
			s.logins++
			s.mu.Unlock()
			answers, err := client("", "", questions, make([]bool, len(questions)))
			if err != nil || len(answers) != len(questions) || answers[0] != password {
				return nil, errors.New("no")
			}
			return nil, nil
		}}
	}
	s.set(func() { s.config = ask("Password: ") })
	pulled(t, s.request("a.csv"))
	refused := func(name string, config *ssh.ServerConfig, says string) {
		t.Helper()
		s.set(func() { s.config, s.logins = config, 0 })
		_, err := fetch.Pull(context.Background(), quick, s.request("a.csv").Request)
		if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), says) || s.tried() > 1 {
			t.Errorf("%s: %d logins: %v", name, s.tried(), err)
		}
	}
	refused("a code as well", ask("Password: ", "Code: "), "asks for more than a password")
	t.Setenv("SFTP_TEST_PASSWORD", "another-password")
	refused("wrong", plain, "does not let the user reader in")
}

// TestAlgorithms: what is broken is not spoken, whatever the server offers.
func TestAlgorithms(t *testing.T) {
	t.Setenv("SFTP_TEST_PASSWORD", password)
	weak, a := ssh.InsecureAlgorithms(), algorithms()
	for name, c := range map[string]struct {
		change func(*ssh.ServerConfig)
		of     string
	}{
		"kex":     {func(c *ssh.ServerConfig) { c.KeyExchanges = []string{ssh.InsecureKeyExchangeDH14SHA1} }, "key exchange"},
		"cipher":  {func(c *ssh.ServerConfig) { c.Ciphers = weak.Ciphers }, "client to server cipher"},
		"mac":     {func(c *ssh.ServerConfig) { c.Ciphers, c.MACs = []string{ssh.CipherAES128CTR}, []string{ssh.HMACSHA1} }, "client to server MAC"},
		"all new": {func(c *ssh.ServerConfig) { c.KeyExchanges, c.Ciphers, c.MACs = a.KeyExchanges, a.Ciphers, a.MACs }, ""},
	} {
		s := newServer(t)
		s.put("a.csv", noise(24, 100), noon)
		s.set(func() { c.change(s.config) })
		_, err := fetch.Pull(context.Background(), quick, s.request("a.csv").Request)
		if c.of == "" && err != nil || c.of != "" && (fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "no common algorithm for "+c.of) || s.tried() > 0) {
			t.Errorf("%s: %d logins: %v", name, s.tried(), err)
		}
	}
	// Signatures by SHA-1 of a key that is not broken by itself.
	w := newWorld(t, "HostKeyAlgorithms ssh-rsa")
	r := w.request(w.at("in/*.csv"))
	r.Source().Remote.SFTP.HostKeys = []string{fingerprint(t, w.HostKeys["rsa"])}
	if _, err := fetch.Pull(context.Background(), quick, r.Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "the server has no key of the kinds that it is known by") {
		t.Error(err)
	}
}

// TestSecrets: what a server says of the secrets, and it may say them all, reaches no file, no
// note and no error.
func TestSecrets(t *testing.T) {
	const canary = "canary-of-sftp/77+x"
	t.Setenv("SFTP_TEST_PASSWORD", canary)
	s := newServer(t)
	s.set(func() {
		s.config.PasswordCallback = func(_ ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
			if string(given) != canary {
				t.Errorf("another password came: %q", given)
			}
			return nil, nil
		}
	})
	s.put("a.csv", noise(25, 3<<20), noon)
	for _, op := range []string{"list", "open", "stat", "read"} {
		s.spoil(func(o, _ string, _ int) error {
			if o == op {
				return errors.New("no " + canary)
			}
			return nil
		})
		a := s.request("*.csv")
		_, err := fetch.Pull(context.Background(), quick, a.Request)
		if err == nil || s.counted(op, "a.csv")+s.counted(op, "in") == 0 {
			t.Fatalf("%s: it went well", op)
		}
		a.Secret(t, canary, err, hint(err), quick.Check(context.Background(), a.Request))
	}
}
