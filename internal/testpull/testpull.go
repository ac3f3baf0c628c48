//go:build unix

// Package testpull starts the program of a test again as one that pulls, so that a test can
// kill it, or see how much memory it takes. Only tests import it.
package testpull

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

const (
	variable = "RECON_TEST_PULL"      // is set for a program that pulls
	limit    = "RECON_TEST_PULL_MOST" // bytes that its files may have
)

// Main is for TestMain: it runs the tests, or, in a program that [Command] made, pull. That
// program ends with the status of the error, and says how much memory it took.
func Main(m *testing.M, pull func() error) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run())
	}
	if most, err := strconv.ParseUint(os.Getenv(limit), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			fmt.Println(err)
			os.Exit(int(fail.Internal))
		}
	}
	if err := pull(); err != nil {
		fmt.Println("error:", err)
		os.Exit(int(fail.ClassOf(err)))
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return // not on this system
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
}

// Command is the program of the test, to pull with more variables: name=value.
func Command(t testing.TB, env ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(append(os.Environ(), variable+"=1"), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Child is a test without a test, for helpers of tests that are used by a program that pulls.
type Child struct{ testing.TB }

// Helper does nothing.
func (Child) Helper() {}

// Cleanup does nothing: the program ends soon.
func (Child) Cleanup(func()) {}

// TempDir is a folder for what nobody looks at.
func (Child) TempDir() string { return os.TempDir() }

// Fatal ends the program.
func (Child) Fatal(args ...any) {
	fmt.Println(args...)
	os.Exit(int(fail.Internal))
}

// Fatalf ends the program.
func (c Child) Fatalf(format string, args ...any) { c.Fatal(fmt.Sprintf(format, args...)) }

// Stored tells how many bytes of its largest file an interrupted pull kept in its folder.
func Stored(t testing.TB, dir string) (end int64) {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join(dir, fetch.PartialDir, "*.list"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var n int64
			if _, err := fmt.Sscanf(line, "%d ", &n); err == nil && strings.HasSuffix(line, "\n") {
				end = max(end, n)
			}
		}
	}
	return end
}

// Kill starts a program that pulls into a folder, kills it when it has stored so many bytes,
// and tells how many it has.
func Kill(t testing.TB, cmd *exec.Cmd, dir string, after int64) (end int64) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for Stored(t, dir) < after {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	if names, err := os.ReadDir(filepath.Join(dir, fetch.FilesDir)); err != nil || len(names) > 0 {
		t.Fatalf("a killed pull left %v %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(dir, fetch.SnapshotFile)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a killed pull left a snapshot: %v", err)
	}
	return Stored(t, dir)
}

// Full runs a program that pulls where no file may have more than some bytes, as on a disk
// that is full, and fails where that ends otherwise. It tells how many bytes are stored.
func Full(t testing.TB, cmd *exec.Cmd, dir string, most int64) (end int64) {
	t.Helper()
	cmd.Env = append(cmd.Env, fmt.Sprint(limit, "=", most))
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != int(fail.Resources) || !strings.Contains(string(out), "cannot be written") {
		t.Fatalf("%v %s", err, out)
	}
	if names, err := os.ReadDir(filepath.Join(dir, fetch.FilesDir)); err != nil || len(names) > 0 {
		t.Fatalf("a pull without disk left %v %v", names, err)
	}
	return Stored(t, dir)
}

// Size of the file of a test of memory: 5 GB in a nightly run.
func Size() int64 {
	switch {
	case os.Getenv("RECON_NIGHTLY") != "":
		return 5 << 30
	case testing.Short():
		return 150 << 20
	}
	return 600 << 20
}

// Flat runs a program that pulls a file of so many bytes into a folder, and fails where that
// took more than 300 MB of memory.
func Flat(t testing.TB, cmd *exec.Cmd, file string, size int64) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() != size {
		t.Fatalf("%v %+v", err, info)
	}
	var kb int64
	if _, err := fmt.Sscanf(string(out), "VmHWM: %d kB", &kb); err != nil {
		t.Skipf("NOT TESTED: this system does not say how much memory was used: %q", out)
	}
	t.Logf("%d MB of memory for %d MB", kb>>10, size>>20)
	if kb > 300<<10 {
		t.Errorf("%d MB of memory for %d MB", kb>>10, size>>20)
	}
}
