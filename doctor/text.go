package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printer writes for a terminal. Every text goes through safe, since most of them
// come from files; colour is added outside of it, and says nothing that the words
// do not say.
type printer struct {
	b     strings.Builder
	color bool
}

func (p *printer) paint(code, text string) string {
	if !p.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// head begins a part.
func (p *printer) head(text string) {
	p.line("")
	p.line("%s", p.paint("1", text))
}

// safe spells out what is not a visible character.
func safe(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case r != ' ' && (!unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Zs, unicode.Variation_Selector)):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cut shortens a text for a column of a table.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// rows writes a table; the last column is not padded. Cells are safe already.
func (p *printer) rows(rows [][]string, right map[int]bool) {
	var width []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			switch {
			case right[i]:
				c = pad + c
			case i < len(row)-1:
				c += pad
			}
			b.WriteString("  " + c)
		}
		line := strings.TrimRight(b.String(), " ")
		if n == 0 {
			line = p.paint("2", line)
		}
		p.line("%s", line)
	}
}

// sureText says of a guess that it is one.
func (p *printer) sureText(s Sure, why string) string {
	text := ""
	switch s {
	case Likely:
		text = p.paint("36", "guess, likely")
	case Unsure:
		text = p.paint("33", "guess, unsure")
	}
	if why == "" {
		return text
	}
	if text == "" {
		return p.paint("2", safe(why))
	}
	return text + p.paint("2", ": "+safe(why))
}

// Text writes the report for people.
func Text(w io.Writer, r *Report, color bool) error {
	p := &printer{color: color}
	p.line("%s  %s", p.paint("1", safe(r.File)), sizeText(r.Size))
	topic, text := 9, 0
	for _, m := range r.Remarks {
		topic = max(topic, utf8.RuneCountInString(m.Topic))
		if n := utf8.RuneCountInString(safe(m.Text)); n <= 60 {
			text = max(text, n)
		}
	}
	for _, m := range r.Remarks {
		shown := safe(m.Text)
		sure := p.sureText(m.Sure, m.Why)
		if sure != "" {
			shown += strings.Repeat(" ", max(0, text-utf8.RuneCountInString(shown))) + "  " + sure
		}
		p.line("  %-*s  %s", topic, m.Topic, shown)
	}
	if r.Records > 0 || r.Whole {
		line := plural(r.Records, "record")
		if r.Rejected > 0 {
			line += p.paint("31", fmt.Sprintf(", %s of them not readable", grouped(r.Rejected)))
		}
		if r.ControlLines > 0 {
			line += fmt.Sprintf("; %s (header, totals, preamble)", plural(r.ControlLines, "other line"))
		}
		if !r.Whole {
			line += ", up to where the file could be read"
		}
		p.line("  %-*s  %s", topic, "records", line)
	}
	if r.Problem != "" {
		p.head(p.paint("31", "This file cannot be used as it is"))
		p.line("  %s", safe(r.Problem))
		if r.Hint != "" {
			p.line("  hint: %s", safe(r.Hint))
		}
	}
	p.findings(r)
	p.columns(r)
	p.controls(r)
	p.presets(r)
	p.fragment(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) findings(r *Report) {
	if len(r.Findings) == 0 {
		return
	}
	p.head("Look at this first")
	for _, f := range r.Findings {
		p.line("  %s %s", p.paint("33", "!"), safe(f.Text))
	}
}

const maxColumns = 60 // that a terminal is shown

func (p *printer) columns(r *Report) {
	if len(r.Columns) == 0 || r.Records == 0 {
		return
	}
	p.head("Columns")
	rows := [][]string{{"name", "filled", "different", "looks like", "for example"}}
	var empty []string
	more := 0
	for _, c := range r.Columns {
		if c.Filled == 0 {
			empty = append(empty, safe(quoted(c.Name)))
			continue
		}
		if len(rows) > maxColumns {
			more++
			continue
		}
		different := grouped(c.Distinct)
		switch {
		case c.Compared < c.Filled:
			different = "repeats"
			if c.Unique() {
				different = "all so far"
			}
		case c.Unique():
			different = "all"
		}
		looks := c.Looks
		if c.Sure == Unsure {
			looks += " (unsure)"
		}
		if c.Detail != "" {
			looks += ", " + c.Detail
		}
		example := strings.Join(c.Examples, " · ")
		if c.From != "" && c.From != c.Until {
			example = c.From + " to " + c.Until
		} else if n := len(c.Values); n > 0 && n <= 6 && c.Looks == "text" {
			example = strings.Join(c.Values, " · ")
		}
		rows = append(rows, []string{cut(safe(c.Name), 36), share(c.Filled, r.Records-r.Rejected), different, cut(safe(looks), 52), cut(safe(example), 48)})
	}
	p.rows(rows, map[int]bool{1: true, 2: true})
	if more > 0 {
		p.line("  and %s; --output json has all", plural(int64(more), "column"))
	}
	if len(empty) > 0 {
		p.line("  empty: %s", list(empty, 12))
	}
}

func share(n, of int64) string {
	switch {
	case of == 0:
		return "-"
	case n >= of:
		return "100%"
	case n*100 < of:
		return "<1%"
	default:
		return fmt.Sprintf("%d%%", n*100/of)
	}
}

func (p *printer) controls(r *Report) {
	if len(r.Controls) == 0 {
		return
	}
	p.head("What the file states about itself")
	for _, c := range r.Controls {
		text := fmt.Sprintf("%s: %s", safe(c.Where), safe(c.Stated))
		switch {
		case c.Ties && c.Of == "count":
			text += ", the number of records: " + p.paint("32", "ties")
		case c.Ties && c.Sure == Fact:
			text += ", " + safe(c.Of) + ": " + p.paint("32", "ties")
		case c.Ties:
			text += ", the sum of " + safe(quoted(c.Of)) + ": " + p.paint("32", "ties")
		case c.Of == "" && c.Sure == Fact:
			text += ": one of the balances is not stated, nothing is proved by them"
		case c.Of == "":
			text += ": ties to no count and no sum of the file"
		case c.Sure == Fact:
			text += ", " + safe(c.Of) + ": " + p.paint("31", "does not tie")
		case c.Of == "count":
			text += ": " + p.paint("31", "does not tie") + fmt.Sprintf(", if it is the number of records (%s were read)", safe(c.Found))
		default:
			text += ": " + p.paint("31", "does not tie") + fmt.Sprintf(", if it is the sum of %s (%s was read)", safe(quoted(c.Of)), safe(c.Found))
		}
		p.line("  %s", text)
	}
}

func (p *printer) presets(r *Report) {
	if len(r.Presets) == 0 {
		return
	}
	p.head("Presets")
	shown, others, fit := 0, 0, false
	for _, f := range r.Presets {
		switch {
		case f.Fits && f.Best:
			fit = true
			p.line("  %s %s", p.paint("32", f.Preset+" fits:"), safe(f.Why))
		case f.Fits:
			p.line("  %s reads it too: %s", f.Preset, safe(f.Why))
		case f.Matched > len(f.Missing) && f.Matched > 2 && shown < 3:
			shown++
			p.line("  %s does not fit: %s", f.Preset, safe(f.Why))
		default:
			others++
		}
	}
	switch {
	case others > 0 && (fit || shown > 0):
		p.line("  %s", p.paint("2", "the others do not fit; --output json says why of each"))
	case others > 0:
		p.line("  none fits; --output json says why of each")
	}
}

func (p *printer) fragment(r *Report) {
	if r.Fragment == "" {
		return
	}
	p.head("For a job file")
	p.line("%s", p.paint("2", "  Each GUESS is for you to confirm; a run takes what is written and guesses nothing."))
	p.line("")
	for line := range strings.Lines(strings.TrimRight(r.Fragment, "\n")) {
		p.line("%s", strings.TrimRight(line, "\n"))
	}
}
