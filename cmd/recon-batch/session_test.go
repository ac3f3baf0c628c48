package main

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
)

func testSession(env []string, args ...string) (s *session, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return newSession(append([]string{"recon-batch"}, args...), nil, stdout, stderr, env), stdout, stderr
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tand\nlines": "plain\tand\nlines",
		"\x1b[31mred":       `\u001b[31mred`,
		"a\x00b\rc\x7f":     `a\u0000b\u000dc\u007f`,
		"\u009b31m":         `\u009b31m`,
		"abc\u202egpj.exe":  `abc\u202egpj.exe`,
		"größer 10 € 漢字":    "größer 10 € 漢字",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestColor(t *testing.T) {
	for _, tc := range []struct {
		env  []string
		want bool
	}{
		{nil, false}, // no terminal
		{[]string{"FORCE_COLOR=1"}, true},
		{[]string{"FORCE_COLOR=0"}, false},
		{[]string{"FORCE_COLOR=1", "NO_COLOR=1"}, false},
		{[]string{"FORCE_COLOR=1", "NO_COLOR="}, true}, // an empty one says nothing
		{[]string{"TERM=dumb"}, false},
	} {
		s, out, _ := testSession(tc.env)
		if got := s.color(out); got != tc.want {
			t.Errorf("%v: %v", tc.env, got)
		}
	}
}

func TestWantsJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"run --output json": true, "run --output=json x": true, "run -output json": true, "run --output text": false,
		"run": false, "run -- --output json": false, "run --output": false,
	} {
		s, _, _ := testSession(nil, strings.Fields(args)...)
		if got := s.wantsJSON(); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

// One switch: message, hint, status, and the JSON object where it is asked for.
func TestFinish(t *testing.T) {
	stopped, cancel := context.WithCancelCause(context.Background())
	cancel(fail.New(fail.Terminate, "terminated"))
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		args   []string
		err    error
		code   int
		stderr string
		stdout string
	}{
		{"expected", context.Background(), nil, fail.New(fail.Input, "x is cut").WithHint("get it again"), 4, "recon-batch: x is cut\nhint: get it again\n", ""},
		{"a bug", context.Background(), nil, errors.New("index out of range"), 1, "please report", ""},
		{"stopped", stopped, nil, errors.New("INTERRUPT Error"), 143, "recon-batch: terminated\n", ""},
		{"json", context.Background(), []string{"run", "--output", "json"}, fail.New(fail.Conflict, "held"), 6, "held", `"name": "conflict"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, stdout, stderr := testSession(nil, tc.args...)
			if code := s.finish(tc.ctx, tc.err); code != tc.code {
				t.Errorf("status %d", code)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || !strings.Contains(stdout.String(), tc.stdout) {
				t.Errorf("stderr %q, stdout %q", stderr, stdout)
			}
			if tc.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout %q", stdout)
			}
		})
	}
}

func TestClosest(t *testing.T) {
	names := []string{"run", "runs", "verify", "business-date", "help"}
	for word, want := range map[string]string{
		"rnu": "run", "verifi": "verify", "bussines-date": "business-date", "xyz": "", "r": "", "q": "",
	} {
		if got := closest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

// A run without a terminal says that it lives.
func TestHeartbeat(t *testing.T) {
	s, stdout, stderr := testSession(nil)
	l := newLines(s, 10*time.Millisecond)
	l.event(pipeline.Event{Stage: pipeline.StageMatch, Kind: pipeline.StageBegins})
	time.Sleep(50 * time.Millisecond)
	l.event(pipeline.Event{Stage: pipeline.StageMatch, Kind: pipeline.StageEnds, Elapsed: time.Second, Rows: 5000})
	l.close()
	if !strings.Contains(stderr.String(), "match     still at work after") || !strings.Contains(stderr.String(), "match     1s, 5000 rows, 5000 rows/s\n") {
		t.Errorf("stderr %q", stderr)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout %q", stdout)
	}
}

func TestProgressChoice(t *testing.T) {
	s, _, _ := testSession(nil)
	if _, ok := s.newProgress(true, false).(silent); !ok {
		t.Error("--quiet has progress")
	}
	if _, ok := s.newProgress(false, true).(silent); !ok {
		t.Error("--no-progress has progress")
	}
	p := s.newProgress(false, false)
	if _, ok := p.(*lines); !ok {
		t.Errorf("no terminal, but %T", p)
	}
	p.close()
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A result that could not be written is no success.
func TestFullStdout(t *testing.T) {
	s := newSession([]string{"recon-batch", "help", "exit-codes"}, nil, fullDisk{}, new(bytes.Buffer), nil)
	if code := do(s); code != int(fail.Resources) {
		t.Errorf("status %d", code)
	}
}

// A bug ends with 1, not with the runtime's 2.
func TestPanic(t *testing.T) {
	s, _, stderr := testSession(nil, "version")
	s.stdout = nil
	if code := do(s); code != int(fail.Internal) || !strings.Contains(stderr.String(), "this is a bug") {
		t.Errorf("status %d, stderr %q", code, stderr)
	}
}

// Every command's help names the command as it is typed, with all it says in
// place: no name twice, no blank at the end of a line, no default twice.
func TestHelpOfEveryCommand(t *testing.T) {
	var walk func(list []*cli.Command, path []string)
	walk = func(list []*cli.Command, path []string) {
		for _, c := range list {
			if c.Name == "help" { // its own help is that of the program
				continue
			}
			words := append(slices.Clone(path), c.Name)
			name := strings.Join(append([]string{"recon-batch"}, words...), " ")
			for _, args := range [][]string{append(slices.Clone(words), "--help"), append([]string{"help"}, words...)} {
				s, out, _ := testSession(nil, args...)
				if code := do(s); code != 0 {
					t.Errorf("%v: %d", args, code)
				}
				head, _, _ := strings.Cut(out.String(), "\n\n")
				if strings.ReplaceAll(head, "\n", " ") != name+": "+c.Usage || !regexp.MustCompile(`\nUSAGE\n   `+name+`[ \n]`).MatchString(out.String()) {
					t.Errorf("%v begins\n%.200s", args, out)
				}
				for line := range strings.Lines(out.String()) {
					line = strings.TrimSuffix(line, "\n")
					if strings.TrimRight(line, " ") != line || strings.Contains(line, "recon-batch recon-batch") || strings.Count(line, "(default:") > 1 {
						t.Errorf("%v has the line %q", args, line)
					}
				}
			}
			if c.Action != nil && len(c.Subcommands) == 0 && strings.HasPrefix(c.ArgsUsage, "J") {
				s, _, errs := testSession(nil, words...)
				if do(s) != int(fail.Usage) || !strings.Contains(errs.String(), "hint: usage: "+name+" [flags] "+c.ArgsUsage+"\n") {
					t.Errorf("%v without arguments says\n%s", words, errs)
				}
			}
			walk(c.Subcommands, words)
		}
	}
	s, _, _ := testSession(nil)
	walk(commands(s), nil)
}
