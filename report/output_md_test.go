package report

import (
	"fmt"
	"strings"
	"testing"
)

// report.md says what changed since the former run, and nothing of it where there is none.
func TestMarkdownChanges(t *testing.T) {
	s := newWorld(t).load().build()
	if s.Changes != nil || strings.Contains(Markdown(s), "since the run") {
		t.Error("a first run has changes")
	}
	s.Changes = &Changes{BusinessDate: "2026-08-19", New: Change{Items: 1234}, Gone: Change{Items: 2}, Changed: Change{Items: 3}, Older: Change{Items: 4}}
	if want := "\nOpen items since the run of 2026-08-19: 1,234 new, 2 gone, 3 of another class, 4 older.\n"; !strings.Contains(Markdown(s), want) {
		t.Errorf("no %q in\n%s", want, Markdown(s))
	}
}

// However much there is to say, report.md fits a pull request or a chat, says how much it
// leaves out, and ends with the run.
func TestMarkdownFits(t *testing.T) {
	s := fullSummary(t, "")
	for i := range 300 {
		m := Money{Currency: fmt.Sprintf("K%02d", i), Amount: "1234567.89", Items: 1}
		s.Statement = append(s.Statement, Statement{Currency: m.Currency, Operations: m.Amount, Results: m.Amount, Difference: m.Amount})
		s.Queues[0].Amounts = append(s.Queues[0].Amounts, m)
		s.Outcome.Reasons = append(s.Outcome.Reasons, fmt.Sprintf("reason-%d", i))
		s.Holds = append(s.Holds, Hold{Code: "stray", What: strings.Repeat("w", 5000), Rows: 1, Amounts: s.Queues[0].Amounts, Clears: clearing["stray"]})
		s.Clusters = append(s.Clusters, Cluster{Sentence: strings.Repeat("s", 5000)})
		s.Findings = append(s.Findings, Finding{Code: "code", Text: strings.Repeat("f", 5000)})
		s.Exceptions.Items = append(s.Exceptions.Items, s.Exceptions.Items[0])
	}
	text := Markdown(s)
	if n := strings.Count(text, "\n"); n > maxMarkdownLines {
		t.Errorf("%d lines", n)
	}
	if len(text) > 32_000 { // half of what a comment may have
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{"more reasons", "more | | | |", "What holds the rest (showing ", " of 302)", "Run `" + s.RunID + "`"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
