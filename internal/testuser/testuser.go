// Package testuser lets servers that refuse to run as root run in tests that do.
package testuser

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// Own gives the folder to the first of the users that there is, and returns how a process
// is started as that user. Where the test does not run as root it returns nil: the server
// runs as whoever runs the test.
func Own(dir string, names ...string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, fmt.Errorf("the server does not run as root, and there is no user %s", strings.Join(names, " or "))
}

// Tester is what a server of a test needs of the test.
type Tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(func())
}

// Folder makes the folder of a server that ends with the test: short, since the path of a
// socket has at most 107 bytes. Where the server is missing the test is skipped, and says so;
// with CI=true it fails.
func Folder(t Tester, server, prefix string, missing error) string {
	t.Helper()
	if missing != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v", missing)
		}
		t.Skipf("NOT TESTED: %v", missing)
	}
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("the folder of %s cannot be removed: %v", server, err)
		}
	})
	return dir
}
