// Command recon-batch reconciles what a business intended with what providers
// say happened. It proposes; it never acts.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func main() {
	os.Exit(Do(os.Args, os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// Do runs the program with its arguments (args[0] is its name), streams and
// environment ("NAME=value"), and returns the exit status. Results go to stdout,
// everything else to stderr.
func Do(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	return do(newSession(args, stdin, stdout, stderr, env))
}

func do(s *session) (status int) {
	ctx, stop := withSignals(s.stderr)
	defer stop()
	// The runtime ends a panic with 2, which here means a wrong command line.
	defer func() {
		if p := recover(); p != nil {
			status = s.finish(ctx, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	for _, c := range []*cli.Command{s.quickCommand(), s.doctorCommand()} { // those that a person types first
		s.args = flagsFirst(s.args, c)
	}
	return s.finish(ctx, newApp(s).RunContext(ctx, s.args))
}
