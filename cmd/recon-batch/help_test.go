package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestHelpWidth: the help of every command fits 80 columns, and says what it says
// without the breaks and without what the library adds to flags.
func TestHelpWidth(t *testing.T) {
	var calls [][]string
	var walk func(list []*cli.Command, path []string)
	walk = func(list []*cli.Command, path []string) {
		for _, c := range list {
			call := append(append([]string{}, path...), c.Name)
			calls = append(calls, call)
			walk(c.Subcommands, call)
		}
	}
	s, _, _ := testSession(nil)
	walk(commands(s), nil)
	for _, call := range append(calls, nil) {
		s, stdout, stderr := testSession(nil, append(call, "--help")...)
		if status := do(s); status != 0 || stdout.Len() == 0 {
			t.Errorf("%v --help: exit status %d\n%s", call, status, stderr)
		}
		for line := range strings.Lines(stdout.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%v --help: %d columns: %s", call, n, line)
			}
			if clutter.MatchString(line) {
				t.Errorf("%v --help says what nobody needs: %s", call, line)
			}
		}
	}
}

func TestWrapHelp(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"   --key K  one two three four\n", "   --key K  one two\n            three\n            four\n"},
		{"one two three four five six\n", "one two three four\nfive six\n"},
		{"   recon-batch run job.yaml --x\n", "   recon-batch run \\\n      job.yaml --x\n"},
		{"short\n\n   kept  as it is\n", "short\n\n   kept  as it is\n"},
	} {
		if got := wrapHelp(c.in, 20); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// TestMissingArgument: the message does not repeat the name of the program.
func TestMissingArgument(t *testing.T) {
	s, _, stderr := testSession(nil, "quick", "a.csv")
	if status := do(s); status != 2 || !strings.HasPrefix(stderr.String(), "recon-batch: quick needs RIGHT\n") {
		t.Errorf("exit status %d, %q", status, stderr)
	}
}
