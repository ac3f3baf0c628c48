// Command testsum reads the events of `go test -json` from its standard input,
// prints what failed as it was written, one line for each package, and at the
// end how many tests passed, failed and were skipped. Its exit status is 1
// where a test, a package or a build failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of `go test -json` (go doc test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

func main() {
	if !sum(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// sum tells whether everything passed.
func sum(in io.Reader, out io.Writer) bool {
	var passed, failed, skipped int
	ok := true
	output := map[string]*strings.Builder{} // by package and test
	keep := func(key, text string) {
		if output[key] == nil {
			output[key] = &strings.Builder{}
		}
		output[key].WriteString(text)
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				fmt.Fprint(out, line) // not an event: a message of the go command itself
				ok = ok && !strings.HasPrefix(line, "FAIL")
			}
			key := e.Package + " " + e.Test
			switch e.Action {
			case "build-output":
				fmt.Fprint(out, e.Output)
			case "build-fail":
				ok = false
			case "output":
				keep(key, e.Output)
				// What a test says aloud, such as the pending cases, is for everybody.
				if text := strings.TrimSpace(e.Output); strings.HasPrefix(text, "note: ") {
					fmt.Fprintln(out, text)
				}
			case "pass":
				if e.Test != "" {
					passed++
				} else {
					fmt.Fprintf(out, "ok    %s  %.1fs\n", e.Package, e.Elapsed)
				}
				delete(output, key)
			case "skip":
				if e.Test != "" {
					skipped++
					fmt.Fprint(out, output[key])
				}
				delete(output, key)
			case "fail":
				ok = false
				if e.Test != "" {
					failed++
				}
				if output[key] != nil {
					fmt.Fprint(out, output[key])
				}
				if e.Test == "" {
					fmt.Fprintf(out, "FAIL  %s  %.1fs\n", e.Package, e.Elapsed)
				}
				delete(output, key)
			}
		}
		if err != nil {
			break
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return ok && failed == 0 && passed > 0
}
