package report

import (
	"context"
	"fmt"
	"strings"
)

// maxMarkdownLines is what fits a pull request or a chat.
const maxMarkdownLines = 60

// writeMarkdown writes the summary for chat and pull requests.
func writeMarkdown(_ context.Context, d *Delivery) error {
	return d.write("report.md", []byte(Markdown(d.Summary)))
}

// Markdown prints the summary in at most 60 lines of GitHub-flavoured Markdown.
// Parts that are cut say how much is left.
func Markdown(s *Summary) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("# %s, %s", markdownText(s.Job), s.BusinessDate)
	add("")
	add("**%s**", markdownEscape(visible(s.Headline)))
	add("")
	for i, r := range s.Outcome.Reasons {
		if i == 4 {
			add("- … and %d more reasons", len(s.Outcome.Reasons)-i)
			break
		}
		add("- %s", markdownEscape(visible(r)))
	}
	if text := withheldText(s); text != "" {
		add("- %s", strings.Replace(text, "not written", "**not written**", 1))
	}
	if text := modeText(s); text != "" {
		add("- %s", strings.Replace(markdownText(text), markdownText("observe_only"), "`observe_only`", 1))
	}
	if text := reopenText(s); text != "" {
		add("- **%s**", markdownText(text))
	}
	for _, side := range s.Sides {
		add("- %s", equation(side))
	}
	add("")
	add("| currency | operations | results | difference |")
	add("|---|--:|--:|--:|")
	for i, t := range s.Statement {
		if i == 6 {
			add("| … %d more | | | |", len(s.Statement)-i)
			break
		}
		add("| %s | %s | %s | %s |", orNone(markdownText(t.Currency)), grouped(t.Operations), grouped(t.Results), grouped(t.Difference))
	}
	add("")
	add("| queue | items | amounts | oldest |")
	add("|---|--:|---|---|")
	for _, q := range s.Queues {
		name := q.Queue
		if !q.Written {
			name += " (withheld)"
		}
		add("| %s | %s | %s | %s |", name, grouped(fmt.Sprint(q.Items)), markdownText(moneyText(q.Amounts, 3)), oldestText(q.OldestSecs))
	}
	if c := s.Changes; c != nil {
		n := func(x Change) string { return grouped(fmt.Sprint(x.Items)) }
		add("")
		add("Open items since the run of %s: %s new, %s gone, %s of another class, %s older.", c.BusinessDate, n(c.New), n(c.Gone), n(c.Changed), n(c.Older))
	}
	tail := []string{"", fmt.Sprintf("Run `%s`, as of %s, content digest `%s`.", s.RunID, s.AsOf, short16(s.ContentDigest))}
	for _, n := range s.Next {
		tail = append(tail, fmt.Sprintf("Next, in the folder of the job file: `%s` (%s)", n.Command, n.Why))
	}
	most := 5
	block := func(title string, rows []string, of int64) {
		room := maxMarkdownLines - len(lines) - len(tail) - 4
		if len(rows) == 0 || room < 1 {
			return
		}
		shownRows := min(len(rows), room, most)
		add("")
		add("%s (showing %d of %d):", title, shownRows, of)
		add("")
		lines = append(lines, rows[:shownRows]...)
	}
	block("What holds the rest", holdLines(s), int64(len(s.Holds)))
	block("Likely common causes", clusterLines(s), int64(len(s.Clusters)))
	most = 8
	var rows []string
	for _, f := range s.Findings {
		rows = append(rows, "- "+markdownText(findingText(f)))
	}
	block("Findings", rows, int64(len(rows)))
	rows = nil
	for _, x := range s.Described {
		rows = append(rows, "- "+markdownText(describedText(x)))
	}
	block("What closes the work", rows, int64(len(rows)))
	rows = nil
	for _, e := range s.Exceptions.Items {
		rows = append(rows, "- "+markdownText(exceptionText(e)))
	}
	block("Largest exceptions", rows, s.Exceptions.Of)
	return strings.Join(append(lines, tail...), "\n") + "\n"
}

// orNone names an empty text.
func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// short16 shows the start of a digest.
func short16(digest string) string {
	if len(digest) > 16 {
		return digest[:16]
	}
	return digest
}

// moneyText lists amounts, at most n of them.
func moneyText(list []Money, n int) string {
	parts := []string{}
	for i, m := range list {
		if i == n {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		parts = append(parts, strings.TrimSpace(m.Currency+" "+grouped(m.Amount)))
	}
	return strings.Join(parts, ", ")
}

func oldestText(secs *int64) string {
	if secs == nil {
		return ""
	}
	return ageText(*secs)
}

// findingText is a finding in one line.
func findingText(f Finding) string {
	where := []string{}
	for _, p := range []string{f.Side, f.Source, f.File} {
		if p != "" {
			where = append(where, shown(p))
		}
	}
	if len(where) == 0 {
		return f.Code + ": " + f.Text
	}
	return f.Code + " (" + strings.Join(where, ", ") + "): " + f.Text
}

// verdictOf is the verdict that names an exception: the operation's, or the
// result's where it stands alone or its own verdict says more (a surplus effect).
func verdictOf(e Exception) (class, reason string) {
	if e.Operation != nil && (e.Result == nil || needsWork(e.Operation.Class, e.Operation.Reason)) && (e.Result == nil || e.Result.Class != "duplicate") {
		return e.Operation.Class, e.Operation.Reason
	}
	return e.Result.Class, e.Result.Reason
}

// idOf is what people call an exception by: its first identity that is known.
func idOf(e Exception) string {
	for _, field := range []string{"operation_id", "idempotency_key", "remote_id", "entity"} {
		for _, v := range e.Values {
			if v.Field != field {
				continue
			}
			if v.Operations != nil {
				return *v.Operations
			}
			if v.Results != nil {
				return *v.Results
			}
		}
	}
	return ""
}

// exceptionText is an exception in one line: verdict, identity, money, place.
func exceptionText(e Exception) string {
	class, reason := verdictOf(e)
	parts := []string{class + "/" + reason}
	if e.Differs != "" {
		parts[0] += " (" + strings.ReplaceAll(e.Differs, ";", ", ") + ")"
	}
	if id := idOf(e); id != "" {
		parts = append(parts, id)
	}
	switch {
	case e.OperationAmount != "" && e.ResultAmount != "" && e.OperationAmount != e.ResultAmount:
		parts = append(parts, fmt.Sprintf("%s %s against %s", e.Currency, grouped(e.OperationAmount), grouped(e.ResultAmount)))
	case e.OperationAmount != "":
		parts = append(parts, strings.TrimSpace(e.Currency+" "+grouped(e.OperationAmount)))
	case e.ResultAmount != "":
		parts = append(parts, strings.TrimSpace(e.Currency+" "+grouped(e.ResultAmount)))
	}
	if e.Operation != nil {
		parts = append(parts, fmt.Sprintf("%s record %d", e.Operation.File, e.Operation.Record))
	}
	if e.Result != nil {
		parts = append(parts, fmt.Sprintf("%s record %d", e.Result.File, e.Result.Record))
	}
	return strings.Join(parts, ", ")
}
