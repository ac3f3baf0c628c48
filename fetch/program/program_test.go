package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// script writes a program of the shell and a request for it.
func script(t *testing.T, text string, change func(*rules.Exec)) *fetch.Request {
	t.Helper()
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "export"), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := &rules.Exec{Command: []rules.Template{"./export", "{date}", "{file_date}"}, Name: "out.csv", Timeout: time.Minute, Most: 1 << 20, Env: map[string]rules.Secret{}}
	if change != nil {
		change(e)
	}
	src := &rules.Source{Name: "psp", Remote: &rules.Remote{Kind: rules.FromExec, Exec: e}, Dates: &rules.DateRange{}}
	return &fetch.Request{
		Job: &rules.Bound{Job: &rules.Job{Name: "shop"}, Date: "2026-11-29"}, Side: rules.Results,
		Input: &rules.Input{Source: src, Path: "out.csv", FileDate: "2026-11-28"}, Dir: t.TempDir(), BaseDir: base, Now: time.Now,
		Note: t.Logf, Progress: func(string, int64, int64) {},
	}
}

// pull pulls, and reads what was written; "" without a snapshot.
func pull(t *testing.T, r *fetch.Request) (string, *fetch.Snapshot, error) {
	t.Helper()
	s, err := fetch.Pull(t.Context(), Puller{}, r)
	text, readErr := os.ReadFile(filepath.Join(r.Dir, fetch.FilesDir, "out.csv"))
	if err != nil && (readErr == nil || !errors.Is(readErr, os.ErrNotExist)) {
		t.Errorf("a refused output is there: %q, %v", text, readErr)
	}
	return string(text), s, err
}

// TestOutput: standard output is the file; arguments, folder and environment are those
// that were declared, and nothing else is passed on.
func TestOutput(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "canary")
	t.Setenv("PSP_KEY", "k-123")
	r := script(t, `echo "$1,$2,$KEY,${SECRET_OF_OURS-none},$PWD"; echo talk >&2`, func(e *rules.Exec) {
		e.Env["KEY"] = rules.Secret{Env: "PSP_KEY"}
	})
	text, s, err := pull(t, r)
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(r.BaseDir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "2026-11-29,2026-11-28,k-123,none," + base + "\n"; text != want {
		t.Errorf("output %q, want %q", text, want)
	}
	if s.Address != "./export 2026-11-29 2026-11-28" || !strings.HasPrefix(s.Files[0].Version, "program sha256 ") || strings.Contains(fmt.Sprint(s), "k-123") {
		t.Errorf("the snapshot says %+v", s)
	}
	if _, digest, err := fetch.HashFile(filepath.Join(r.BaseDir, "export")); err != nil || !strings.Contains(s.Proof, digest) {
		t.Errorf("the proof, which the manifest has too, does not name the program: %s, %v", s.Proof, err)
	}
	other := script(t, `echo other`, nil)
	_, o, err := pull(t, other)
	if err != nil {
		t.Fatal(err)
	}
	if o.Request == s.Request {
		t.Error("another program gives the same digest of the request")
	}
}

// TestRefused: what is not known to be whole is not there at all.
func TestRefused(t *testing.T) {
	t.Setenv("PSP_KEY", "k-canary")
	key := func(e *rules.Exec) { e.Env["KEY"] = rules.Secret{Env: "PSP_KEY"} }
	t.Setenv("PSP_LINES", "-----BEGIN KEY-----\ncanary-of-line-two\n-----END KEY-----")
	lines := func(e *rules.Exec) { e.Env["KEY"] = rules.Secret{Env: "PSP_LINES"} }
	for name, c := range map[string]struct {
		text   string
		change func(*rules.Exec)
		class  fail.Class
		says   string
	}{
		"a status":             {"echo 1; echo 'no $KEY:' $KEY >&2; exit 3", key, fail.Input, `exit status 3: "no $KEY: …"`},
		"a line of a key":      {"echo \"bad key $(echo \"$KEY\" | sed -n 2p)\" >&2; exit 1", lines, fail.Input, `"bad key …"`},
		"nothing":              {":", nil, fail.Input, "wrote nothing"},
		"a pipe that failed":   {"./gone 2>/dev/null | cat", nil, fail.Input, "wrote nothing"},
		"a signal":             {"echo 1; kill -9 $$", nil, fail.Input, "signal: killed"},
		"too long":             {"echo 1; sleep 60 & wait", func(e *rules.Exec) { e.Timeout = 300 * time.Millisecond }, fail.Temporary, "did not end in time"},
		"too much":             {"yes", nil, fail.Input, "more than 1048576 bytes"},
		"no such program":      {"", func(e *rules.Exec) { e.Command[0] = "./gone" }, fail.Usage, "cannot be started"},
		"a secret is not set":  {"", func(e *rules.Exec) { e.Env["KEY"] = rules.Secret{Env: "NOT_SET_ANYWHERE"} }, fail.Usage, "NOT_SET_ANYWHERE"},
		"a folder of its own":  {"", func(e *rules.Exec) { e.Folder = "nowhere" }, fail.Usage, "cannot be started"},
		"not an executable":    {"", func(e *rules.Exec) { e.Command[0] = "." }, fail.Usage, "cannot be started"},
		"said over many lines": {"echo a >&2; printf '\\033[31mred\\n' >&2; exit 1", nil, fail.Input, `"[31mred"`},
	} {
		r := script(t, c.text, c.change)
		_, _, err := pull(t, r)
		if fail.ClassOf(err) != c.class || err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: class %d: %v", name, fail.ClassOf(err), err)
		}
		if checks := (Puller{}).Check(t.Context(), r); (len(checks) > 0) != (c.class == fail.Usage) {
			t.Errorf("%s: the check says %q", name, checks)
		}
	}
}

// TestNothingStays: what a program started ends with it, when it is stopped and when it
// ended by itself.
func TestNothingStays(t *testing.T) {
	for name, text := range map[string]string{
		"stopped": "sleep 300 & echo $! > child; wait",
		"ended":   "sleep 300 >/dev/null 2>&1 & echo $! > child; echo 1",
	} {
		r := script(t, text, func(e *rules.Exec) { e.Timeout = time.Second })
		_, _, err := pull(t, r)
		if (err != nil) != (name == "stopped") {
			t.Errorf("%s: %v", name, err)
		}
		pid := 0
		b, err := os.ReadFile(filepath.Join(r.BaseDir, "child"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(b), &pid); err != nil {
			t.Fatal(err)
		}
		gone := false
		for range 100 {
			if gone = ended(pid); gone {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !gone {
			t.Errorf("%s: the child %d still runs", name, pid)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
	}
}

// ended tells whether a process is gone, or only waits for its parent to look.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestStopped: a run that is stopped stops the program, and the cause is kept.
func TestStopped(t *testing.T) {
	r := script(t, "echo 1; exec sleep 60", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := fail.New(fail.Terminate, "stopped")
	time.AfterFunc(200*time.Millisecond, func() { cancel(stop) })
	if _, err := fetch.Pull(ctx, Puller{}, r); !errors.Is(err, stop) {
		t.Errorf("ended with %v", err)
	}
}

// TestFromHere: a path with a slash is never looked for in PATH, from wherever the job is
// read: there is another program of that name.
func TestFromHere(t *testing.T) {
	r := script(t, "echo declared", nil)
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "export"), []byte("#!/bin/sh\necho another\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	t.Chdir(r.BaseDir)
	r.BaseDir = "."
	text, _, err := pull(t, r)
	if err != nil || text != "declared\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFlatMemory: an output is written as it comes. Nightly five gigabytes.
func TestFlatMemory(t *testing.T) {
	size := int64(200 << 20)
	if os.Getenv("RECON_NIGHTLY") != "" {
		size = 5 << 30
	}
	r := script(t, fmt.Sprintf("head -c %d /dev/zero", size), func(e *rules.Exec) { e.Most, e.Timeout = size, time.Hour })
	var most uint64
	looks := 0
	r.Progress = func(string, int64, int64) {
		if looks++; looks%64 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
		}
	}
	s, err := fetch.Pull(t.Context(), Puller{}, r)
	if err != nil || s.Size() != size {
		t.Fatal(err)
	}
	t.Logf("%d MB of memory for %d MB", most>>20, size>>20)
	if most == 0 || most > 50<<20 {
		t.Errorf("%d MB of memory for %d MB", most>>20, size>>20)
	}
}
