package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
)

func TestMain(m *testing.M) {
	run := func(args []string) int {
		s := newSession(args, os.Stdin, os.Stdout, os.Stderr, os.Environ())
		s.checkpoint = disturb
		return do(s)
	}
	testscript.Main(m, map[string]func(){
		"recon-batch": func() { os.Exit(run(os.Args)) },
		// with-status FILE args… writes its process id to FILE.pid and the exit status of
		// recon-batch args… to FILE, for commands in the background.
		"with-status": func() {
			if err := os.WriteFile(os.Args[1]+".pid", []byte(fmt.Sprint(os.Getpid())), 0o644); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			code := run(append([]string{"recon-batch"}, os.Args[2:]...))
			if err := os.WriteFile(os.Args[1], []byte(fmt.Sprintln(code)), 0o644); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			os.Exit(code)
		},
	})
}

// disturb lets a script interfere with a run after the stage $DISTURB_AFTER:
//
//	$DISTURB_HOLD   writes this file and waits until the run is stopped
//	$DISTURB_SQL    runs this statement in the scratch database
//	$DISTURB_FAIL   ends the run with this class
func disturb(ctx context.Context, done pipeline.Stage, db *duck.DB) error {
	if os.Getenv("DISTURB_AFTER") != string(done) {
		return nil
	}
	if q := os.Getenv("DISTURB_SQL"); q != "" {
		return db.Exec(ctx, q)
	}
	if class := os.Getenv("DISTURB_FAIL"); class != "" {
		var c fail.Class
		if _, err := fmt.Sscan(class, &c); err != nil {
			return err
		}
		return fail.New(c, "disturbed on purpose").WithHint("it is a test")
	}
	held := os.Getenv("DISTURB_HOLD")
	if err := os.WriteFile(held, nil, 0o644); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Minute):
		return fail.New(fail.Internal, "nobody stopped the run")
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("NO_COLOR", "")
			e.Setenv("NL", "\n")
			return os.CopyFS(e.WorkDir, os.DirFS("testdata/world"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"waitfor":   cmdWaitFor,
			"nothing":   cmdNothing,
			"edit":      cmdEdit,
			"sametree":  cmdSameTree,
			"terminate": cmdTerminate,
			"keep":      cmdKeep,
			"serve":     cmdServe,
		},
	})
}

// cmdExits runs recon-batch and checks its exit status:
//
//	exits CODE args…
//
// stdout and stderr are checked as after exec.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE args…")
	}
	err := ts.Exec("recon-batch", args[1:]...)
	code := 0
	if e, ok := err.(*exec.ExitError); ok {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit status %d, want %s", code, args[0])
	}
}

// cmdWaitFor waits until a file exists.
func cmdWaitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 600 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}

// cmdNothing checks that no file of a run lies below the folders: no run, no
// queue, no report, no temporary folder. Locks, notes of attempts and staged
// files may be there.
func cmdNothing(ts *testscript.TestScript, neg bool, args []string) {
	for _, dir := range args {
		for _, p := range tree(ts, dir) {
			if strings.HasPrefix(p, ".stage/") || strings.Contains(p, "/attempts/") || strings.HasSuffix(p, "/.lock") {
				continue
			}
			if neg {
				return
			}
			ts.Fatalf("%s/%s was left behind", dir, p)
		}
	}
	if neg {
		ts.Fatalf("nothing was left behind")
	}
}

// cmdTerminate sends SIGTERM to the process that with-status FILE started:
// terminate FILE. (The script language's own kill knows SIGINT and SIGKILL.)
func cmdTerminate(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(ts.ReadFile(args[0] + ".pid"))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGTERM))
}

// cmdEdit replaces a text in a file: edit FILE OLD NEW.
func cmdEdit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// cmdKeep copies a folder, links kept: keep FROM TO.
func cmdKeep(ts *testscript.TestScript, _ bool, args []string) {
	from, to := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	ts.Check(filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	}))
}

// cmdSameTree checks that two folders hold the same files with the same bytes,
// measured values and locks aside: sametree A B.
func cmdSameTree(ts *testscript.TestScript, neg bool, args []string) {
	ignore := func(p string) bool {
		return strings.HasPrefix(p, ".stage/") || filepath.Base(p) == "timings.json" || filepath.Base(p) == ".lock" || strings.Contains(p, "attempts/")
	}
	contents := func(dir string) map[string]string {
		m := map[string]string{}
		for _, p := range tree(ts, dir) {
			if ignore(p) {
				continue
			}
			full := filepath.Join(ts.MkAbs(dir), p)
			if link, err := os.Readlink(full); err == nil {
				m[p] = "-> " + link
				continue
			}
			text, err := os.ReadFile(full)
			ts.Check(err)
			m[p] = string(text)
		}
		return m
	}
	a, b := contents(args[0]), contents(args[1])
	var wrong []string
	for p := range a {
		if other, ok := b[p]; !ok || other != a[p] {
			wrong = append(wrong, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			wrong = append(wrong, p)
		}
	}
	if neg && len(wrong) == 0 {
		ts.Fatalf("%s and %s are the same", args[0], args[1])
	}
	if !neg && (len(wrong) > 0 || len(a) == 0) {
		ts.Fatalf("%s and %s differ in %d files: %v", args[0], args[1], len(wrong), wrong)
	}
}

// tree lists the files and links below a folder; none where it does not exist.
func tree(ts *testscript.TestScript, dir string) []string {
	root := ts.MkAbs(dir)
	var out []string
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, p)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	ts.Check(err)
	return out
}
