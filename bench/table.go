package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// line is one row of the table.
type line struct {
	what, measured, reference, ratio, bar, aim string
	holds                                      bool
	open                                       bool // nothing to compare with: neither holds nor fails
}

// ratio compares two contenders.
func (b *bench) ratio(what string, m map[string]sample, ours, theirs string, bar, aim float64) line {
	r := m[ours].wall.Seconds() / m[theirs].wall.Seconds()
	return line{
		what: what, measured: seconds(m[ours]), reference: theirs + " " + seconds(m[theirs]),
		ratio: fmt.Sprintf("%.2f ×", r), bar: fmt.Sprintf("%g ×", bar), aim: fmt.Sprintf("%g ×", aim), holds: r <= bar,
	}
}

// seconds writes time and peak memory.
func seconds(s sample) string {
	return fmt.Sprintf("%.2f s, %d MiB", s.wall.Seconds(), s.rss>>20)
}

// size writes a number of rows.
func size(rows int64) string {
	switch {
	case rows >= 1_000_000 && rows%1_000_000 == 0:
		return fmt.Sprintf("%dM", rows/1_000_000)
	case rows >= 1000 && rows%1000 == 0:
		return fmt.Sprintf("%dk", rows/1000)
	default:
		return fmt.Sprint(rows)
	}
}

// write leaves the table in the results file and prints it.
func (b *bench) write() error {
	var t strings.Builder
	fmt.Fprintf(&t, "# Results of `make bench`\n\nMedians of %d rounds, all contenders in turns in one invocation, two threads each, on %s/%s with %d CPUs%s, %s.\n"+
		"Times are those of whole processes, start-up included; the memory is the peak of the process.\n"+
		"Compare ratios, not seconds: the machine may have been busy.\n\n", b.n, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpuModel(), runtime.Version())
	t.WriteString("| case | recon-batch | reference | ratio | bar | aim | |\n|---|---|---|---|---|---|---|\n")
	for _, l := range b.lines {
		verdict := "misses the bar"
		switch {
		case l.open:
			verdict = "not compared"
		case l.holds:
			verdict = "holds"
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s | %s | %s |\n", l.what, l.measured, l.reference, l.ratio, l.bar, l.aim, verdict)
	}
	t.WriteString("\nThe floor is one statement of the same engine: FULL JOIN on one key of the same two Parquet files, four fields\n" +
		"compared, only the differing rows written. The wide cascade is three passes by hand that write every pair with all\n" +
		"columns. `bench/floor` has both; `fixtures/benchgen` makes the data: ten columns a side, 0.3 % trouble, 5 % of the\n" +
		"results without operation id and a third of those without idempotency key.\n")
	fmt.Fprint(b.out, "\n", t.String())
	return os.WriteFile(b.results, []byte(t.String()), 0o666)
}

// cpuModel names the processor where Linux does.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			_, name, _ = strings.Cut(name, ":")
			return " (" + strings.TrimSpace(name) + ")"
		}
	}
	return ""
}
