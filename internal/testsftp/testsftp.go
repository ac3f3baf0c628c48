//go:build unix

// Package testsftp gives a test an SFTP server of its own: OpenSSH, with fresh keys and a
// folder, on a port of this machine. Only tests import it.
package testsftp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/testuser"
)

// tester is what Start needs of a test.
type tester interface {
	testuser.Tester
}

// Server is an SSH server that gives nothing but SFTP.
type Server struct {
	Addr      string // host:port
	User      string
	Root      string            // folder of its files, which the server may read; logins begin there
	HostKeys  map[string]string // public keys by kind (ed25519, rsa), as lines of a file of public keys
	Key       string            // file of the private key of the user
	LockedKey string            // another one, with the passphrase [Passphrase]
	RSAKey    string            // another one, of the kind RSA
	log       string
}

// Passphrase of [Server.LockedKey].
const Passphrase = "passphrase-of-the-test"

// Start makes keys and starts a server that ends with the test. More lines of its
// configuration come before ours, which they override. Where OpenSSH is not installed the
// test is skipped, and says so; with CI=true it fails.
func Start(t tester, config ...string) *Server {
	t.Helper()
	sshd, keygen, missing := find()
	dir := testuser.Folder(t, "sshd", "recon-ssh-", missing)
	// The server lets in no other user than the one that it runs as. Not nobody: systemd
	// says of that account that it is locked.
	as, err := testuser.Own(dir, "sshd")
	if err != nil {
		t.Fatalf("%v", err)
	}
	name := "sshd"
	if as == nil {
		u, err := user.Current()
		if err != nil {
			t.Fatalf("%v", err)
		}
		name = u.Username
	}
	s := &Server{User: name, Root: filepath.Join(dir, "files"), HostKeys: map[string]string{}, Key: filepath.Join(dir, "user"), LockedKey: filepath.Join(dir, "locked"), RSAKey: filepath.Join(dir, "rsa"), log: filepath.Join(dir, "log")}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = dir, as
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + dir}
		return cmd
	}
	for file, args := range map[string][]string{"ed25519": {"-t", "ed25519"}, "rsa": {"-t", "rsa", "-b", "2048"}, "user": {"-t", "ed25519"}, "locked": {"-t", "ecdsa"}} {
		phrase := ""
		if file == "locked" {
			phrase = Passphrase
		}
		if out, err := command(keygen, append(args, "-q", "-N", phrase, "-C", "test", "-f", filepath.Join(dir, file))...).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v %s", err, out)
		}
	}
	public := func(file string) string {
		text, err := os.ReadFile(filepath.Join(dir, file+".pub"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		return strings.TrimSpace(string(text))
	}
	s.HostKeys["ed25519"], s.HostKeys["rsa"] = public("ed25519"), public("rsa")
	if err := os.Mkdir(s.Root, 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "authorized"), []byte(public("user")+"\n"+public("locked")+"\n"+public("rsa")+"\n"), 0o644); err != nil {
		t.Fatalf("%v", err)
	}
	for try := 0; ; try++ {
		if s.run(t, command, sshd, dir, config) {
			return s
		}
		if try == 5 {
			text, _ := os.ReadFile(s.log)
			t.Fatalf("sshd does not answer\n%s", text)
		}
	}
}

// run starts the server on a port that is free now; false where somebody else took it.
func (s *Server) run(t tester, command func(string, ...string) *exec.Cmd, sshd, dir string, config []string) bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.Addr = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	text := strings.Join(config, "\n") + fmt.Sprintf(`
ListenAddress %s
HostKey %s/ed25519
HostKey %s/rsa
PidFile none
UsePAM no
StrictModes no
AuthorizedKeysFile %s/authorized
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
MaxSessions 100
LogLevel VERBOSE
Subsystem sftp internal-sftp
ForceCommand internal-sftp -d %s
`, s.Addr, dir, dir, dir, s.Root)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o644); err != nil {
		t.Fatalf("%v", err)
	}
	cmd := command(sshd, "-D", "-f", filepath.Join(dir, "config"), "-E", s.log)
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if greets(s.Addr) {
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // it may have ended
				<-ended
			})
			return true
		}
		select {
		case <-ended:
			return false
		default:
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	return false
}

// greets tells whether an SSH server answers.
func greets(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	b := make([]byte, 8)
	n, err := c.Read(b)
	return err == nil && strings.HasPrefix(string(b[:n]), "SSH-2.0")
}

// Log is what the server said so far.
func (s *Server) Log(t tester) string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(text)
}

// find returns the server and what makes keys; Debian keeps the server off PATH, and it
// wants to be started by its whole path.
func find() (sshd, keygen string, err error) {
	for _, name := range []string{"sshd", "/usr/sbin/sshd"} {
		if sshd, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err == nil {
		sshd, err = filepath.Abs(sshd)
	}
	if err == nil {
		keygen, err = exec.LookPath("ssh-keygen")
	}
	if err != nil {
		return "", "", errors.New("OpenSSH is missing: scripts/install-sshd, or as root on Debian apt-get install openssh-server")
	}
	return sshd, keygen, nil
}
