package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Place says where a run was published, for people at a terminal. It is no part
// of the summary: the summary must not depend on the folder.
type Place struct {
	Dir    string   // "" where nothing was published (--dry-run)
	Report string   // name in Dir of the report to open, see ToOpen; "" is report.html
	Next   []string // commands of the next steps as they work from here; nil: as the summary has them
}

// ToOpen names the report in the folder of a run that a person opens first: a job may
// leave out any form but report.json (outputs.formats).
func ToOpen(dir string) string {
	for _, name := range []string{"report.html", "report.md", "report.xlsx"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return name
		}
	}
	return "report.json"
}

// Text prints the summary for a terminal: calm, aligned, without a control
// character of any value. With color, failures and what needs work stand out;
// nothing is said by color alone.
func Text(w io.Writer, s *Summary, place Place, color bool) error {
	p := &printer{color: color}
	p.line("%s  %s  run %s", p.strong(shown(s.Job)), s.BusinessDate, s.RunID)
	switch {
	case s.Outcome.ExitCode != 0:
		p.line("%s", p.paint("31", visible(s.Headline)))
	case s.Outcome.Closes:
		p.line("%s", p.paint("32", visible(s.Headline)))
	default:
		p.line("%s", p.paint("33", visible(s.Headline)))
	}
	for _, r := range s.Outcome.Reasons {
		p.line("  - %s", visible(r))
	}
	for _, text := range []string{withheldText(s), modeText(s), visible(reopenText(s))} {
		if text != "" {
			p.line("  - %s", text)
		}
	}
	p.line("")
	width := 0
	for _, side := range s.Sides {
		width = max(width, len(side.Side))
	}
	for _, side := range s.Sides {
		name, rest, _ := strings.Cut(equation(side), ":")
		p.line("%-*s%s", width+1, name+":", rest)
		if side.Rejected > 0 {
			p.line("%-*s %s could not be read", width+1, "", count(side.Rejected, "record"))
		}
	}
	if s.OnceNotProven > 0 {
		p.line("%s correct, but a second effect is not ruled out by the coverage", count(s.OnceNotProven, "operation"))
	}
	if table := statementTable(s); len(table) > 1 {
		p.line("")
		p.table(table, "lrrr")
	}
	p.line("")
	rows := [][]string{{"queue", "items", "amounts", "oldest", ""}}
	for _, q := range s.Queues {
		note := ""
		if !q.Written {
			note = "withheld"
		} else if q.Deferred > 0 {
			note = fmt.Sprintf("%d deferred to the next run", q.Deferred)
		} else if q.ObserveOnly > 0 && q.Acting && s.Mode != "observe" {
			note = fmt.Sprintf("%s to observe only", grouped(fmt.Sprint(q.ObserveOnly)))
		}
		rows = append(rows, []string{q.Queue, grouped(fmt.Sprint(q.Items)), shown(moneyText(q.Amounts, 3)), oldestText(q.OldestSecs), note})
	}
	p.table(rows, "lrlll")
	if len(s.Gates) > 0 {
		p.line("")
		rows = [][]string{{"gate", "value", "fails when", ""}}
		for _, g := range s.Gates {
			state := "pass"
			if g.Failed {
				state = "FAIL"
			}
			rows = append(rows, []string{shown(g.Name), g.Value, shown(g.FailWhen), state})
		}
		p.table(rows, "llll")
	}
	for i, f := range s.Findings {
		if i == 0 {
			p.line("")
		}
		if i == 10 {
			p.line("  … and %d more findings in the report", len(s.Findings)-i)
			break
		}
		p.line("  ! %s", visible(findingText(f)))
	}
	p.line("")
	if place.Dir != "" {
		p.line("report  %s/%s", visible(place.Dir), cmp.Or(place.Report, "report.html"))
		p.line("queues  %s/queues/", visible(place.Dir))
	}
	if place.Dir != "" {
		commands := place.Next
		if commands == nil {
			for _, n := range s.Next {
				commands = append(commands, n.Command)
			}
		}
		for _, c := range commands {
			p.line("next    %s", visible(c))
		}
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func statementTable(s *Summary) [][]string {
	rows := [][]string{{"currency", "operations", "results", "difference"}}
	for i, t := range s.Statement {
		if t.Operations == "" {
			continue
		}
		if i == 12 {
			return append(rows, []string{fmt.Sprintf("… %d more", len(s.Statement)-i), "", "", ""})
		}
		rows = append(rows, []string{orNone(shown(t.Currency)), grouped(t.Operations), grouped(t.Results), grouped(t.Difference)})
	}
	return rows
}

type printer struct {
	b     strings.Builder
	color bool
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.b.WriteByte('\n')
}

func (p *printer) paint(code, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *printer) strong(text string) string { return p.paint("1", text) }

// table aligns columns: l left, r right.
func (p *printer) table(rows [][]string, align string) {
	width := make([]int, len(align))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if align[i] == 'r' {
				cells[i] = pad + c
			} else {
				cells[i] = c + pad
			}
		}
		p.line("%s", strings.Join(cells, "  "))
	}
}
