package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var kindForm = regexp.MustCompile(`^[A-Z0-9]{1,4}$`)

// lineKind is what is known of the lines with one text in their first field.
type lineKind struct {
	text        string
	count       int
	width       int
	steady      bool // all of one width
	first, last int  // lines
	sample      []cell
	names       bool
}

// kindsOf tells whether the first field of every line is one of few short texts.
func (l *look) kindsOf(d dialect) bool { return len(lineKinds(d.lines)) > 1 }

func lineKinds(lines [][]cell) []*lineKind {
	var out []*lineKind
	for i, row := range lines {
		text := row[0].text
		if !kindForm.MatchString(text) {
			return nil
		}
		at := slices.IndexFunc(out, func(k *lineKind) bool { return k.text == text })
		if at < 0 {
			if len(out) == 16 {
				return nil
			}
			at = len(out)
			out = append(out, &lineKind{text: text, width: len(row), steady: true, first: i, sample: row})
		}
		k := out[at]
		k.count++
		k.last = i
		k.steady = k.steady && len(row) == k.width
	}
	return out
}

// kinds recognises a record-typed file: header, records and trailer have their kind
// in the first field, and differ in width. True: it was declared.
func (l *look) kinds(d dialect) bool {
	if len(d.lines) < 3 {
		return false
	}
	list := lineKinds(d.lines)
	widths := map[int]bool{}
	for _, k := range list {
		widths[k.width] = true
		if !k.steady {
			return false
		}
	}
	if len(list) < 2 || len(list)*2 > len(d.lines)+2 || len(widths) < 2 && list[0].count > 1 {
		return false
	}
	if len(list) == 2 && list[1].count == 1 && list[1].last == len(d.lines)-1 && list[0].first == 0 {
		return false // records and a trailer: rows says it
	}
	for i, k := range list {
		k.names = len(k.sample) > 2 && !slices.ContainsFunc(k.sample[1:], func(c cell) bool { return !nameLike(c.text) || numberLike(c.text) }) &&
			i+1 < len(list) && list[i+1].width == k.width && list[i+1].count >= k.count
	}
	records := slices.MaxFunc(list, func(a, b *lineKind) int { return a.count - b.count })
	var kinds []pairs
	var said []string
	for _, k := range list {
		p := pairs{{"kind", k.text}}
		role := ""
		switch {
		case k.names:
			role = "names"
		case k == records:
			role = "record"
		case k.count > 1 && k.first > records.first && k.width == records.width:
			role = "record"
		case k.first < records.first:
			role = "header"
		case k.first > records.first && k.last >= records.last:
			role = "footer"
		default:
			role = "ignored"
		}
		if role != "record" {
			p.set("as", role)
		}
		if k.names {
			p.set("of", []string{list[slices.Index(list, k)+1].text})
		}
		if !k.names && (role != "record" || !namesFor(list, k)) {
			columns := make([]string, k.width)
			for i := range columns {
				columns[i] = fmt.Sprintf("%s_%d", strings.ToLower(k.text), i+1)
			}
			columns[0] = "record_kind"
			if role == "record" || role == "ignored" {
				p.set("columns", columns)
			}
		}
		kinds = append(kinds, p)
		said = append(said, fmt.Sprintf("%s %s ×%d", k.text, role, k.count))
	}
	typed := pairs{}
	if list[0].count == 1 {
		typed.set("first", list[0].text)
	}
	if end := d.lines[len(d.lines)-1][0].text; l.whole && slices.ContainsFunc(list, func(k *lineKind) bool { return k.text == end && k.count == 1 }) {
		typed.set("last", end)
	}
	typed.set("kinds", kinds)
	l.d.format = "typed"
	l.d.parts.set("typed", typed)
	l.d.controlLine = "trailer"
	sure := Likely
	if !slices.ContainsFunc(list, func(k *lineKind) bool { return k.names }) {
		sure = Unsure
	}
	l.r.remark("kinds", sure, "the first field of each line is one of "+plural(int64(len(list)), "short text"), "record-typed: %s", strings.Join(said, ", "))
	return true
}

func namesFor(list []*lineKind, k *lineKind) bool {
	at := slices.Index(list, k)
	return at > 0 && list[at-1].names && list[at-1].width == k.width
}

// fixedWidth recognises lines of one length, and guesses where columns begin.
func (l *look) fixedWidth() bool {
	var lines []string
	for line := range strings.Lines(l.text) {
		if !l.whole && !strings.HasSuffix(line, "\n") {
			break
		}
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			lines = append(lines, line)
		}
		if len(lines) == maxLines {
			break
		}
	}
	if len(lines) < 3 || len(lines[0]) < 12 {
		return false
	}
	for _, line := range lines {
		if len(line) != len(lines[0]) {
			return false
		}
	}
	length := len(lines[0])
	columns := pairs{}
	from := 0
	for i := 1; i <= length; i++ {
		if i == length || boundary(lines, i) {
			columns.set(fmt.Sprintf("c%d", len(columns)+1), fmt.Sprintf("%d-%d", from+1, i))
			from = i
		}
	}
	l.d.format = "fixed"
	l.d.parts.set("fixed", pairs{{"line_length", length}, {"columns", columns}})
	l.r.remark("form", Likely, fmt.Sprintf("all %s have %d characters, and no delimiter", plural(int64(len(lines)), "line"), length), "lines of fixed width")
	l.r.remark("columns", Unsure, "where blanks end and digits meet letters in every line", "%s; take the places from the specification of the file", plural(int64(len(columns)), "column"))
	return true
}

// boundary tells whether a column seems to begin at byte i.
func boundary(lines []string, i int) bool {
	blanks, classes := 0, true
	for _, s := range lines {
		if s[i] == ' ' {
			return false
		}
		if s[i-1] == ' ' {
			blanks++
		}
		classes = classes && digit(s[i]) != digit(s[i-1]) && s[i-1] != ' '
	}
	return blanks*3 > len(lines) || classes
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
