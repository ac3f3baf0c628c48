//go:build unix

// Package testpg gives a test a PostgreSQL server of its own: fresh data, a socket in
// a folder that only the test has, no network. Only tests import it.
package testpg

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/internal/testuser"
)

// tester is what Start needs of a test.
type tester interface {
	testuser.Tester
	Logf(format string, args ...any)
}

// Start initialises and starts a server that ends with the test, and returns the
// connection string of its superuser. Where PostgreSQL is not installed the test is
// skipped, and says so; with CI=true it fails.
func Start(t tester) (dsn string) {
	t.Helper()
	return start(t, func(run runner, data string) {
		run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
	})
}

// Standby starts a server that follows the one of the connection string, and may be read.
func Standby(t tester, of string) (dsn string) {
	t.Helper()
	return start(t, func(run runner, data string) {
		run("pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", of)
	})
}

// runner runs a program of PostgreSQL.
type runner func(name string, args ...string)

func start(t tester, prepare func(run runner, data string)) (dsn string) {
	t.Helper()
	bin, missing := find()
	dir := testuser.Folder(t, "PostgreSQL", "recon-pg-", missing)
	as, err := testuser.Own(dir, "postgres", "nobody")
	if err != nil {
		t.Fatalf("%v", err)
	}
	data, log := filepath.Join(dir, "data"), filepath.Join(dir, "log")
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, as
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
		// No pipe: the server would keep it open.
		out, err := os.Create(filepath.Join(dir, name+".out"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer func() { _ = out.Close() }()
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			text, _ := os.ReadFile(out.Name())
			more, _ := os.ReadFile(log)
			t.Fatalf("%s: %v\n%s\n%s", name, err, text, more)
		}
	}
	prepare(run, data)
	// Without fsync: a killed client is what the tests are about, not a power cut.
	run("pg_ctl", "-D", data, "-l", log, "-w", "-t", "60", "-o", "-F -c listen_addresses='' -c max_connections=50 -k "+dir, "start")
	t.Cleanup(func() { run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop") })
	return "host=" + dir + " user=postgres dbname=postgres"
}

// find returns the folder of initdb, pg_ctl, postgres and pg_basebackup; Debian keeps them off PATH.
func find() (string, error) {
	var folders []string
	if p, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(p))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(debian)
	for _, dir := range append(folders, debian...) {
		if !slices.ContainsFunc([]string{"initdb", "pg_ctl", "postgres", "pg_basebackup"}, func(name string) bool {
			info, err := os.Stat(filepath.Join(dir, name))
			return err != nil || info.IsDir()
		}) {
			return dir, nil
		}
	}
	return "", errors.New("PostgreSQL is missing: scripts/install-postgres, or as root on Debian apt-get install postgresql")
}
