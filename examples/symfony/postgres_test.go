package symfony

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// postgres starts a server of its own on a socket in a folder of the test, and
// returns the folder. PostgreSQL does not run as root: the user postgres runs it then.
func postgres(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
	if len(found) == 0 || exec.Command("php", "-r", "exit(extension_loaded('pdo_pgsql') ? 0 : 1);").Run() != nil {
		text := "the PHP example is not tested with PostgreSQL: there is no /usr/lib/postgresql/*/bin/pg_ctl, or no php-pgsql (scripts/install-php)"
		if os.Getenv("CI") == "true" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "recon-pg-") // short: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	run := func(name string, args ...string) error {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		if os.Geteuid() == 0 {
			u, err := user.Lookup("postgres")
			if err != nil {
				t.Fatal(err)
			}
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			if err := os.Chown(dir, uid, gid); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
		return cmd.Run()
	}
	data, log := filepath.Join(dir, "data"), filepath.Join(dir, "log")
	if err := run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"); err != nil {
		t.Fatalf("initdb: %v", err)
	}
	if err := run("pg_ctl", "-D", data, "-l", log, "-w", "-o", "-F -c listen_addresses= -k "+dir, "start"); err != nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("PostgreSQL does not start: %v\n%s", err, text)
	}
	t.Cleanup(func() {
		if err := run("pg_ctl", "-D", data, "-m", "immediate", "stop"); err != nil {
			t.Errorf("PostgreSQL does not stop: %v", err)
		}
	})
	return dir
}
