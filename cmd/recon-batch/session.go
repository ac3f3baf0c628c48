package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/internal/scan"
)

// session is one call of the program: its streams, environment and ending.
type session struct {
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    map[string]string

	checkpoint pipeline.Checkpoint // of tests; nil otherwise

	broken   error      // first failure to write a result
	ending   fail.Class // of a command that did its work; an error overrides it
	document bool       // a JSON document was written to stdout
}

func newSession(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) *session {
	s := &session{args: args, stdin: stdin, stdout: stdout, stderr: stderr, env: map[string]string{}}
	for _, e := range env {
		if k, v, ok := strings.Cut(e, "="); ok {
			s.env[k] = v
		}
	}
	return s
}

// isTerminal tells whether a stream is one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// color tells whether text on the stream may be coloured: NO_COLOR (non-empty)
// forbids it, FORCE_COLOR demands it, TERM=dumb cannot, otherwise on terminals.
func (s *session) color(stream any) bool {
	switch {
	case s.env["NO_COLOR"] != "":
		return false
	case s.env["FORCE_COLOR"] != "" && s.env["FORCE_COLOR"] != "0":
		return true
	case s.env["TERM"] == "dumb":
		return false
	}
	return isTerminal(stream)
}

// wantsJSON tells whether the arguments ask for JSON. It reads them itself, since
// it must know even where they cannot be parsed.
func (s *session) wantsJSON() bool {
	for i, a := range s.args {
		if a == "--" {
			break
		}
		name, value, eq := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || name != "output" {
			continue
		}
		if !eq && i+1 < len(s.args) {
			value = s.args[i+1]
		}
		if value == "json" {
			return true
		}
	}
	return false
}

// writeJSON writes the one document of the command to stdout.
func (s *session) writeJSON(v any) error {
	s.document = true
	e := json.NewEncoder(s.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fail.Wrap(fail.Resources, err, "stdout cannot be written")
	}
	return nil
}

// printf writes a part of the result to stdout. A result that could not be
// written is found by finish.
func (s *session) printf(format string, args ...any) {
	if _, err := fmt.Fprint(s.stdout, printable(fmt.Sprintf(format, args...))); err != nil && s.broken == nil {
		s.broken = err
	}
}

// notef writes a message to stderr.
func (s *session) notef(format string, args ...any) {
	fmt.Fprint(s.stderr, printable(scan.Text(fmt.Sprintf(format, args...))))
}

// printable makes control characters visible: text from files and job files must
// not steer the terminal. Line ends and tabs stay.
func printable(text string) string {
	clean := func(r rune) bool {
		return (r >= 0x20 && r != 0x7f && (r < 0x80 || r > 0x9f) && !bidi(r)) || r == '\n' || r == '\t'
	}
	if !slices.ContainsFunc([]rune(text), func(r rune) bool { return !clean(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if clean(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// bidi are the marks that reorder a line (Unicode UAX #9), which can make a text
// read as another one.
func bidi(r rune) bool {
	return r == 0x200e || r == 0x200f || r == 0x061c || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069)
}
