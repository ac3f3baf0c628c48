// Command recon-batch reconciles what a business intended with what providers
// say happened. It proposes; it never acts.
package main

import (
	"io"
	"os"
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

func do(s *session) int {
	ctx, stop := withSignals(s.stderr)
	defer stop()
	return s.finish(ctx, newApp(s).RunContext(ctx, s.args))
}
