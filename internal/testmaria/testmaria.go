//go:build unix

// Package testmaria gives a test a MariaDB server of its own: fresh data, a socket in a
// folder that only the test has, no network. Only tests import it.
package testmaria

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/internal/testuser"
)

// tester is what Start needs of a test.
type tester interface {
	testuser.Tester
	Logf(format string, args ...any)
}

// Start initialises and starts a server that ends with the test, and returns the path of
// its socket. The user "root" may do everything and has no password; the database "test"
// is empty. Where MariaDB is not installed the test is skipped, and says so; with CI=true
// it fails.
func Start(t tester) (socket string) {
	t.Helper()
	server, install, missing := find()
	dir := testuser.Folder(t, "MariaDB", "recon-my-", missing)
	as, err := testuser.Own(dir, "mysql", "nobody")
	if err != nil {
		t.Fatalf("%v", err)
	}
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "sock")
	command := func(out *os.File, name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = dir, as, out, out
		cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "LC_ALL=C", "TZ=America/New_York", "HOME=" + dir}
		return cmd
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = out.Close() })
	said := func() []byte {
		text, _ := os.ReadFile(out.Name())
		return text[max(0, len(text)-4000):]
	}
	cmd := command(out, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", install, err, said())
	}
	if err := os.Mkdir(filepath.Join(data, "test"), 0o777); err != nil {
		t.Fatalf("%v", err)
	}
	if as != nil && as.Credential != nil {
		if err := os.Chown(filepath.Join(data, "test"), int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			t.Fatalf("%v", err)
		}
	}
	// Without syncs: a connection that breaks is what the tests are about, not a power cut.
	cmd = command(out, server, "--no-defaults", "--datadir="+data, "--socket="+socket, "--pid-file="+filepath.Join(dir, "pid"),
		"--skip-networking", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--max-connections=50",
		"--character-set-server=utf8mb4")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if greets(socket) {
			return socket
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("mariadbd ended: %v\n%s", err, said())
		default:
		}
		if time.Now().After(until) {
			t.Fatalf("mariadbd does not answer\n%s", said())
		}
	}
}

// greets tells whether the server sends its greeting, which it does once it is ready.
func greets(socket string) bool {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	b := make([]byte, 64)
	n, err := c.Read(b)
	return err == nil && bytes.Contains(b[:n], []byte("MariaDB"))
}

// find returns the server and what prepares its data; Debian keeps the server off PATH.
func find() (server, install string, err error) {
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if server, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err == nil {
		install, err = exec.LookPath("mariadb-install-db")
	}
	if err != nil {
		return "", "", errors.New("MariaDB is missing: scripts/install-mariadb, or as root on Debian apt-get install mariadb-server")
	}
	return server, install, nil
}
