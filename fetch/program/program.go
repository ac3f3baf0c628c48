// Package program pulls a source by starting a declared program, whose standard output
// is the file.
package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// Puller starts the program of a source.
type Puller struct{}

const (
	mostSaid    = 2 << 10 // bytes that are kept of what the program says on its standard error
	leastOfLine = 8       // bytes of a line of a secret that are looked for alone

	grace = 5 * time.Second // between the request to end and the end
)

// passed are the variables that a program is given beside the declared ones.
var passed = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// start is what one pull starts.
type start struct {
	of      *rules.Exec
	path    string   // of the program
	args    []string // with the program itself
	dir     string
	env     []string
	secrets []string
}

// Pull implements fetch.Puller. The program's own digest is part of the address, so
// that another version of it is seen in the snapshot.
func (Puller) Pull(ctx context.Context, r *fetch.Request) (*fetch.Snapshot, error) {
	s, err := prepare(r)
	if err != nil {
		return nil, err
	}
	_, digest, err := fetch.HashFile(s.path)
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err, "the program of the source %s cannot be read", r.Source().Name)
	}
	name := r.Input.Path
	w, err := fetch.Create(r.Dir, name)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := s.run(ctx, r, w); err != nil {
		return nil, err
	}
	// A pipe whose first program fails ends with status 0 as well, and gives nothing: that is
	// no proof that there are no records.
	if w.Size() == 0 {
		return nil, fail.New(fail.Input, "the program of the source %s ended with status 0 and wrote nothing", r.Source().Name).
			WithHint("where there may be no records, let it say so: by a header line, an empty JSON array, or a compressed file that is empty; start it by hand: %s", s.address())
	}
	f, err := w.Commit()
	if err != nil {
		return nil, err
	}
	f.Address = s.address()
	f.Version = "program sha256 " + digest
	return &fetch.Snapshot{
		Kind: rules.FromExec, Address: s.address(), Request: s.digest(digest), Files: []fetch.File{f}, Requests: 1,
		Proof: "the program of SHA-256 " + digest + " ended with status 0 after its output was closed",
	}, nil
}

// Check implements fetch.Puller: the program is there and may be started, and the
// secrets are there. It is not started.
func (Puller) Check(_ context.Context, r *fetch.Request) []string {
	_, err := prepare(r)
	return fetch.Problems(err)
}

// prepare finds the program and resolves what it is given.
func prepare(r *fetch.Request) (*start, error) {
	of, name := r.Source().Remote.Exec, r.Source().Name
	s := &start{of: of, dir: filepath.Join(r.BaseDir, of.Folder)}
	if filepath.IsAbs(of.Folder) {
		s.dir = of.Folder
	}
	// A path that begins in the folder has to keep its slash: without one it would be
	// looked for in PATH.
	var err error
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return nil, err
	}
	for _, t := range of.Command {
		text, err := t.Fill(r.Job.Date, r.Input.FileDate)
		if err != nil {
			return nil, fail.Wrap(fail.Usage, err, "the command of the source %s", name)
		}
		s.args = append(s.args, text)
	}
	s.path = s.args[0]
	if strings.Contains(s.path, "/") && !filepath.IsAbs(s.path) {
		s.path = filepath.Join(s.dir, s.path)
	}
	found, err := exec.LookPath(s.path)
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err, "the program of the source %s cannot be started", name).
			WithHint("name an executable file, with a slash where it is not in PATH; it is looked for from %s", s.dir)
	}
	if s.path, err = filepath.Abs(found); err != nil {
		return nil, err
	}
	for _, v := range passed {
		if text, ok := os.LookupEnv(v); ok && !declared(of, v) {
			s.env = append(s.env, v+"="+text)
		}
	}
	for _, v := range names(of) {
		text, err := secret.Text(of.Env[v], r.BaseDir, "env."+v)
		if err != nil {
			return nil, fail.Wrap(fail.Usage, err, "the source %s", name).WithHint("set it, or correct the job file")
		}
		s.env = append(s.env, v+"="+text)
		s.secrets = append(s.secrets, text)
	}
	return s, nil
}

func declared(e *rules.Exec, name string) bool { _, ok := e.Env[name]; return ok }

func names(e *rules.Exec) []string {
	out := make([]string, 0, len(e.Env))
	for n := range e.Env {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// address is the command line for people. Its parts stand in the job file in the open.
func (s *start) address() string { return strings.Join(s.args, " ") }

// digest says what is asked for: program, arguments and the names of what it is given.
func (s *start) digest(program string) string {
	text, err := json.Marshal([]any{program, s.args[1:], names(s.of), s.of.Folder})
	if err != nil {
		panic(err) // texts only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// run starts the program and writes its output.
func (s *start) run(ctx context.Context, r *fetch.Request, w *fetch.Writer) error {
	until := r.Now().Add(s.of.Timeout)
	if !r.Until.IsZero() && r.Until.Before(until) {
		until = r.Until
	}
	limited, cancel := context.WithTimeoutCause(ctx, until.Sub(r.Now()), errTime)
	defer cancel()
	said := &tail{}
	out := &limit{w: w, left: s.of.Most, told: func(n int64) { r.Progress(r.Input.Path, n, 0) }}
	cmd := exec.CommandContext(limited, s.path, s.args[1:]...)
	cmd.Args[0] = s.args[0]
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, out, said
	// A group of its own: what the program started ends with it, and a signal for us is
	// passed on once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	out.over = cancel
	err := cmd.Run()
	if cmd.Process != nil {
		if kill := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); kill != nil && !errors.Is(kill, syscall.ESRCH) {
			r.Note("what the program of %s had started may still run: %s", r.Source().Name, kill)
		}
	}
	name := r.Source().Name
	switch {
	case out.failed != nil:
		return out.failed
	case out.tooMuch:
		return fail.New(fail.Input, "the program of the source %s wrote more than %d bytes", name, s.of.Most).
			WithHint("raise exec.max_bytes, or let it write less")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(limited), errTime):
		return fail.New(fail.Temporary, "the program of the source %s did not end in time (%s)%s", name, rules.FormatDuration(s.of.Timeout), said.text(s.secrets)).
			WithHint("raise exec.timeout, or see what it waits for")
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fail.New(fail.Input, "the program of the source %s ended with %s%s", name, exit.ProcessState, said.text(s.secrets)).
				WithHint("what it wrote is not used; start it by hand: %s", s.address())
		}
		return fail.Wrap(fail.Input, err, "the program of the source %s could not be read to its end", name).
			WithHint("it may have left a process behind that holds its output open")
	}
	return nil
}

var errTime = errors.New("the time of the program is over")

// limit passes on so many bytes and then ends the program.
type limit struct {
	w       io.Writer
	left, n int64
	told    func(int64)
	over    func()
	tooMuch bool
	failed  error // of the disk
}

func (l *limit) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		l.tooMuch = true
		l.over()
		return 0, errors.New("too much output")
	}
	n, err := l.w.Write(p)
	l.left -= int64(n)
	l.n += int64(n)
	l.told(l.n)
	if err != nil {
		l.failed = err
		l.over()
	}
	return n, err
}

// tail keeps the end of what a program says.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - mostSaid; over > 0 {
		t.b = slices.Delete(t.b, 0, over)
	}
	return len(p), nil
}

// text is the last line that was said, for an error: without the secrets that the
// program was given, and without control characters.
func (t *tail) text(secrets []string) string {
	b := t.b
	for _, s := range secrets {
		b = bytes.ReplaceAll(b, []byte(s), []byte("…"))
		// A key of several lines may be said line by line.
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= leastOfLine {
				b = bytes.ReplaceAll(b, []byte(line), []byte("…"))
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	last := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, lines[len(lines)-1])
	if last == "" {
		return ""
	}
	// The beginning of a long line may be the end of a secret that was cut.
	last = strings.ToValidUTF8(last[max(len(last)-300, 0):], "")
	return fmt.Sprintf(": %q", last)
}
