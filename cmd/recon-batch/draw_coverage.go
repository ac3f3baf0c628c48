package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/report"
)

// The drawing is 80 columns wide, in ASCII: it looks the same on every terminal, in a log
// and in a mail.
const (
	drawnLabel = 20
	drawnBar   = 58
)

// What a column of a bar stands for.
const (
	drawProved   = '='
	drawGap      = 'x'
	drawNothing  = '.'
	drawAbsent   = '='
	drawNotDue   = '~'
	drawUnproved = 'x'
)

// coverageDrawing draws what sources prove.
type coverageDrawing struct {
	e     *report.Evidenced
	zone  *time.Location
	color bool
	from  int64 // seconds since 1970: the ends of the bars
	until int64
	b     strings.Builder
}

func newCoverageDrawing(e *report.Evidenced, color bool) (*coverageDrawing, error) {
	zone, err := time.LoadLocation(e.Zone)
	if err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "the zone %q of the report is not known here", e.Zone)
	}
	return &coverageDrawing{e: e, zone: zone, color: color}, nil
}

func (d *coverageDrawing) line(format string, args ...any) {
	d.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (d *coverageDrawing) text() string {
	e := d.e
	d.line("%s on %s, as of %s (%s)", printable(e.Job), e.BusinessDate, d.at(e.AsOf), e.Zone)
	if e.RunID != "" {
		d.line("read by the published run %s", e.RunID)
	} else {
		d.line("as a run now would read it; nothing is judged")
	}
	var clipped bool
	d.from, d.until, clipped = e.Range()
	d.bars(clipped)
	d.absences()
	d.gaps()
	d.sources()
	for _, n := range e.Notes {
		d.wrapped("note: ", n)
	}
	return d.b.String()
}

// lane is one bar.
type lane struct {
	key      string
	label    string
	complete bool
	proved   [][2]int64
	gaps     [][2]int64
	words    string // what its silence means
}

// lanes joins the intervals of one account with one meaning.
func lanes(side report.EvidencedSide) []*lane {
	var out []*lane
	for _, c := range side.Coverage {
		key := fmt.Sprintf("%q %q %q %q %d", c.Account, c.Source, c.Types, c.Knows, c.LagSecs)
		i := slices.IndexFunc(out, func(l *lane) bool { return l.key == key })
		if i < 0 {
			i = len(out)
			out = append(out, &lane{key: key, label: laneName(c), words: meaningText(c)})
		}
		l := out[i]
		l.complete = l.complete || c.Complete
		if a, b, ok := report.Span(c.From, c.Until); ok && !c.ProvesNothing() {
			l.proved = append(l.proved, [2]int64{a, b})
		}
		for _, g := range c.Gaps {
			if a, b, ok := report.Span(g.From, g.Until); ok && !slices.Contains(l.gaps, [2]int64{a, b}) {
				l.gaps = append(l.gaps, [2]int64{a, b})
			}
		}
	}
	return out
}

// laneName names an account, by its sources where it has no name.
func laneName(c report.Coverage) string { return cmp.Or(c.Account, c.Source) }

// meaningText says what the silence of an account means.
func meaningText(c report.Coverage) string {
	text := c.Proves
	switch c.Proves {
	case "settled-only":
		text += ": an absence only of types whose effect is the settlement"
	case "failures-only", "presence-only":
		text += ": no absence"
	}
	if len(c.Types) > 0 {
		text += "; for " + strings.Join(c.Types, ", ")
	}
	if c.Knows != "" {
		text += "; where " + c.Knows
	}
	if c.LagSecs > 0 {
		text += "; results may be " + shortDuration(time.Duration(c.LagSecs)*time.Second) + " late"
	}
	return text
}

func shortDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

func (d *coverageDrawing) bars(clipped bool) {
	if d.from == d.until {
		d.line("\nno time is known: every source is declared to cover everything, or nothing")
	} else {
		d.line("")
		d.axis()
	}
	for _, side := range d.e.Sides {
		d.line("%s", side.Side)
		for _, l := range lanes(side) {
			d.bar("  "+l.label, d.cells(l))
			d.wrapped("    ", l.words)
		}
	}
	if d.from == d.until {
		return
	}
	d.line("%*s%s", drawnLabel+1, "", d.marked(d.e.AsOf))
	d.line("  %c proved   %c not proved, see below   %c nothing is declared   ^ as of", drawProved, drawGap, drawNothing)
	if clipped {
		d.line("  drawn is the time around the period")
	}
}

// axis writes the marks of the time above the bars, and the period.
func (d *coverageDrawing) axis() {
	labels, marks := []byte(strings.Repeat(" ", drawnBar)), []byte(strings.Repeat(" ", drawnBar))
	next := 0
	for _, m := range report.TimeMarks(d.from, d.until, d.zone) {
		at := min(int(m.At*drawnBar/10_000), drawnBar-1)
		marks[at] = '|'
		if at < next || at+len(m.Label) > drawnBar {
			continue
		}
		copy(labels[at:], m.Label)
		next = at + len(m.Label) + 1
	}
	d.line("%*s%s", drawnLabel+1, "", labels)
	d.line("%*s%s", drawnLabel+1, "", marks)
	if p := d.e.Period; p != nil {
		if a, b, ok := span(p.From, p.Until); ok {
			row := []byte(strings.Repeat(" ", drawnBar))
			first, last := d.column(a), d.column(b-1)
			for i := first; i <= last; i++ {
				row[i] = '-'
			}
			row[first], row[last] = '[', ')'
			d.bar("period", string(row))
		}
	}
}

// marked is a line with a mark at an instant, empty where that is not drawn.
func (d *coverageDrawing) marked(instant string) string {
	at, ok := secondsOf(instant)
	if !ok || at < d.from || at > d.until {
		return ""
	}
	return strings.Repeat(" ", d.column(at)) + "^"
}

// column is where an instant is drawn.
func (d *coverageDrawing) column(at int64) int {
	at = min(max(at, d.from), d.until)
	return min(int((at-d.from)*drawnBar/(d.until-d.from)), drawnBar-1)
}

// cells draws what an account proves: a gap is seen however short it is, and what is not
// proved for the greater part of a column is not drawn as proved.
func (d *coverageDrawing) cells(l *lane) string {
	if d.from == d.until {
		switch {
		case l.complete:
			return "everything"
		default:
			return "nothing"
		}
	}
	out := make([]byte, drawnBar)
	for i := range out {
		a := d.from + (d.until-d.from)*int64(i)/drawnBar
		b := max(d.from+(d.until-d.from)*int64(i+1)/drawnBar, a+1)
		switch {
		case overlap(l.gaps, a, b) > 0:
			out[i] = drawGap
		case l.complete || 2*overlap(l.proved, a, b) >= b-a:
			out[i] = drawProved
		default:
			out[i] = drawNothing
		}
	}
	return string(out)
}

func overlap(spans [][2]int64, a, b int64) int64 {
	var n int64
	for _, s := range spans {
		n += max(0, min(s[1], b)-max(s[0], a))
	}
	return n
}

// absences draws of which operations an absence could be concluded.
func (d *coverageDrawing) absences() {
	if len(d.e.Absences) == 0 {
		return
	}
	d.line("\noperations without a result, by the time of their creation")
	accounts := map[string]bool{}
	for _, a := range d.e.Absences {
		accounts[a.Account] = true
	}
	for _, a := range d.e.Absences {
		label := typeName(a.Type)
		if len(accounts) > 1 {
			label += " by " + cmp.Or(a.Account, "default")
		}
		by := map[string][][2]int64{}
		var words []string
		for _, s := range a.Spans {
			if x, y, ok := span(s.From, s.Until); ok {
				by[s.State] = append(by[s.State], [2]int64{x, y})
			}
			words = append(words, fmt.Sprintf("%s until %s: %s", d.at(s.From), d.at(s.Until), stateWords[s.State]))
		}
		if d.from < d.until {
			d.bar("  "+label, d.absenceCells(by))
		} else {
			d.line("  %s", label)
		}
		if a.Knows != "" {
			d.wrapped("    ", "where "+a.Knows)
		}
		for _, w := range words {
			d.wrapped("    ", w)
		}
	}
	d.line("  %c absent   %c not proved: ambiguous/coverage_incomplete   %c not due", drawAbsent, drawUnproved, drawNotDue)
}

var stateWords = map[string]string{
	string(match.AbsenceProved): "absent", string(match.AbsenceNotDue): "not due", string(match.AbsenceNotProved): "not proved",
}

// absenceCells draws a column as what cannot be concluded in any part of it.
func (d *coverageDrawing) absenceCells(by map[string][][2]int64) string {
	out := make([]byte, drawnBar)
	for i := range out {
		a := d.from + (d.until-d.from)*int64(i)/drawnBar
		b := max(d.from+(d.until-d.from)*int64(i+1)/drawnBar, a+1)
		switch {
		case overlap(by[string(match.AbsenceNotProved)], a, b) > 0:
			out[i] = drawUnproved
		case overlap(by[string(match.AbsenceNotDue)], a, b) > 0:
			out[i] = drawNotDue
		case overlap(by[string(match.AbsenceProved)], a, b) > 0:
			out[i] = drawAbsent
		default:
			out[i] = ' '
		}
	}
	return string(out)
}

func typeName(t string) string {
	switch t {
	case "":
		return "all"
	case "*":
		return "other types"
	}
	return t
}

// gaps tells why a time is not proved.
func (d *coverageDrawing) gaps() {
	said := map[string]bool{}
	for _, side := range d.e.Sides {
		for _, c := range side.Coverage {
			for _, g := range c.Gaps {
				text := fmt.Sprintf("%s %s: %s: %s", side.Side, laneName(c), report.StretchText(g.From, g.Until, d.at), g.Reason)
				if said[text] {
					continue
				}
				if len(said) == 0 {
					d.line("\nnot proved")
				}
				said[text] = true
				d.wrapped("  ", text)
			}
		}
	}
}

// sources lists the sources with what their being missing means, and what they state.
func (d *coverageDrawing) sources() {
	d.line("\nsources")
	for _, side := range d.e.Sides {
		for _, s := range side.Sources {
			d.wrapped("  ", fmt.Sprintf("%s/%s: %s; %s", side.Side, s.Name, count(s.Records, "record"), s.Effect))
			for _, f := range s.Files {
				if f.Status == "staged" && f.Rejected == 0 {
					continue
				}
				text := fmt.Sprintf("%s: %s", f.Name, f.Status)
				if f.Problem != "" {
					text += ": " + f.Problem
				}
				if f.Rejected > 0 {
					text = fmt.Sprintf("%s: %s", f.Name, count(f.Rejected, "record")+" rejected")
				}
				d.wrapped("    ", text)
			}
			for _, w := range s.Watermarks {
				d.wrapped("    ", fmt.Sprintf("the data reach to %s by their own word, declared until %s", d.at(w.Through), d.at(w.Until)))
			}
			for _, c := range s.Controls {
				d.wrapped("    ", controlText(c))
			}
		}
	}
}

func controlText(c report.Control) string {
	text := c.File + ": " + c.Total
	if c.Field != "" {
		text += " of " + c.Field
	}
	if c.Of != "" {
		text += ", " + c.Of
	}
	text += fmt.Sprintf(": stated %s, counted %s", c.Stated, c.Counted)
	if !c.Judged {
		text += ", not judged: records were rejected"
	}
	return text
}

// bar writes one bar behind its label, which is cut to its room.
func (d *coverageDrawing) bar(label, cells string) {
	label = printable(label)
	if utf8.RuneCountInString(label) > drawnLabel {
		label = string([]rune(label)[:drawnLabel-1]) + "~"
	}
	pad := strings.Repeat(" ", drawnLabel-utf8.RuneCountInString(label))
	d.line("%s%s %s", label, pad, d.painted(cells))
}

// painted colours what is proved and what is not, where colours are wanted.
func (d *coverageDrawing) painted(cells string) string {
	if !d.color {
		return cells
	}
	var b strings.Builder
	last := ""
	for _, c := range cells {
		code := map[rune]string{drawProved: "\x1b[32m", drawGap: "\x1b[31m", drawNotDue: "\x1b[33m"}[c]
		if code != last {
			b.WriteString("\x1b[0m" + code)
			last = code
		}
		b.WriteRune(c)
	}
	return b.String() + "\x1b[0m"
}

// wrapped writes a text of the files or the job behind an indent, in lines of 80 columns.
func (d *coverageDrawing) wrapped(indent, text string) {
	line := indent
	rest := strings.Repeat(" ", utf8.RuneCountInString(indent)+2)
	empty := true
	for _, word := range strings.Fields(printable(text)) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > drawnLabel+1+drawnBar {
			d.line("%s", line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	d.line("%s", line)
}

// at writes an instant in the zone of the job.
func (d *coverageDrawing) at(instant string) string {
	t, err := time.Parse(time.RFC3339Nano, instant)
	if err != nil {
		return "ever"
	}
	t = t.In(d.zone)
	if t.Second() != 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

func secondsOf(instant string) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, instant)
	return t.Unix(), err == nil
}

func span(from, until string) (a, b int64, ok bool) {
	a, okA := secondsOf(from)
	b, okB := secondsOf(until)
	return a, b, okA && okB && a < b
}

// printDrawn writes a drawing, in which texts from outside are printable already, and
// colours are not.
func (s *session) printDrawn(text string) {
	if _, err := fmt.Fprint(s.stdout, text); err != nil && s.broken == nil {
		s.broken = err
	}
}
