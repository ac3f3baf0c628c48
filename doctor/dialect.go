package doctor

import (
	"fmt"
	"slices"
	"strings"
)

const maxLines = 5000 // of a sample that dialects are tried on

var delimiters = []rune{',', ';', '\t', '|', '^', '~', '\x1f'}

// dialect is one way to cut a sample into lines.
type dialect struct {
	delimiter rune
	quote     byte
	lines     [][]cell
	faults    int
	width     int     // the number of fields that most lines have
	share     float64 // of the lines that have it
	clean     float64 // share of fields that are names, numbers, times, or words
	score     float64
}

// try judges one dialect: most lines have as many fields as each other, and the
// fields look like fields.
func try(text string, whole bool, delimiter rune, quote byte) dialect {
	d := dialect{delimiter: delimiter, quote: quote}
	d.lines, d.faults = cutLines(text, delimiter, quote, whole, maxLines)
	d.lines = slices.DeleteFunc(d.lines, blank)
	count := map[int]int{}
	for _, row := range d.lines {
		if len(row) > 1 {
			count[len(row)]++
		}
	}
	for w, n := range count {
		if n > count[d.width] || n == count[d.width] && w > d.width {
			d.width = w
		}
	}
	if d.width == 0 {
		return d
	}
	fields, clean := 0, 0
	for _, row := range d.lines {
		if len(row) != d.width {
			continue
		}
		for _, c := range row {
			if fields++; c.quoted || cleanField(c.text) {
				clean++
			}
		}
	}
	d.share = float64(count[d.width]) / float64(len(d.lines))
	d.clean = float64(clean) / float64(fields)
	d.score = d.share * d.clean * d.clean * (1 - 1/float64(d.width+1))
	if d.faults > 0 {
		d.score *= 0.5
	}
	return d
}

// cleanField tells a text that no delimiter of another dialect goes through.
func cleanField(s string) bool {
	return !strings.ContainsAny(s, ";\t|^~\x1f\"") && (!strings.Contains(s, ",") || numberLike(s))
}

// delimited finds the dialect of a file of lines.
func (l *look) delimited() {
	text := l.text
	var all []dialect
	for _, delimiter := range delimiters {
		if !strings.ContainsRune(text, delimiter) {
			continue
		}
		double := try(text, l.whole, delimiter, '"')
		best := double
		if double.faults > 0 {
			if bare := try(text, l.whole, delimiter, 0); bare.score > best.score {
				best = bare
			}
		}
		if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
			single := try(text, l.whole, delimiter, '\'')
			if n, m := quotedFields(single.lines); single.faults == 0 && (n*10 > m && single.score >= best.score || n > 0 && single.share > best.share) {
				best = single
			}
		}
		all = append(all, best)
	}
	slices.SortStableFunc(all, func(a, b dialect) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	if len(all) == 0 || all[0].score < 0.2 || all[0].share < 0.34 && !l.kindsOf(all[0]) {
		if l.fixedWidth() {
			return
		}
		l.oneColumn()
		return
	}
	d := all[0]
	l.d.format = "csv"
	sure, why := Likely, fmt.Sprintf("%.0f%% of %s have %s", 100*d.share, plural(int64(len(d.lines)), "line"), plural(int64(d.width), "field"))
	if len(all) > 1 && all[1].score > 0.7*d.score {
		sure, why = Unsure, why+"; "+delimiterName(all[1].delimiter)+" is nearly as good"
	}
	if len(d.lines) < 3 {
		sure, why = Unsure, "the file has "+plural(int64(len(d.lines)), "line")
	}
	l.r.remark("form", sure, why, "CSV, fields end with %s", delimiterName(d.delimiter))
	if d.delimiter != ',' {
		name := string(d.delimiter)
		if d.delimiter == '\t' {
			name = "tab"
		}
		l.d.csv.set("delimiter", name)
	}
	switch {
	case d.quote == 0:
		l.d.csv.set("quote", "none")
		l.r.remark("quote", Likely, `" stands in the middle of fields`, "none")
	case d.quote == '\'':
		l.d.csv.set("quote", "'")
		l.r.remark("quote", Likely, "fields stand between them", "'")
	default:
		if n, _ := quotedFields(d.lines); n > 0 {
			l.r.remark("quote", Likely, plural(int64(n), "field")+" of the sample in it", `"`)
		}
	}
	if l.kinds(d) {
		return
	}
	l.headerAndEnds(d)
}

func quotedFields(lines [][]cell) (n, all int) {
	for _, row := range lines {
		for _, c := range row {
			if all++; c.quoted {
				n++
			}
		}
	}
	return n, all
}

func delimiterName(r rune) string {
	switch r {
	case ',':
		return "a comma"
	case ';':
		return "a semicolon"
	case '\t':
		return "a tab"
	case '|':
		return "a bar |"
	default:
		return fmt.Sprintf("%q", r)
	}
}

// headerAndEnds finds what stands above the records and below them.
func (l *look) headerAndEnds(d dialect) {
	first := max(0, slices.IndexFunc(d.lines, func(row []cell) bool { return len(row) == d.width && !separatorLine(row) }))
	if comment := commentMark(d.lines[:first]); comment != "" {
		l.d.csv.set("skip_lines", pairs{{"starts_with", comment}})
		l.r.remark("comments", Likely, "", "lines that begin with %s are no records", quoted(comment))
		rest := slices.DeleteFunc(slices.Clone(d.lines), func(row []cell) bool { return strings.HasPrefix(row[0].text, comment) })
		if len(rest) == 0 {
			rest = [][]cell{make([]cell, d.width)}
		}
		d.lines = rest
		first = max(0, slices.IndexFunc(d.lines, func(row []cell) bool { return len(row) == d.width }))
	}
	header, rest := d.lines[first], d.lines[first+1:]
	sure, why, is := headerLike(header, rest)
	switch {
	case !is:
		l.d.csv.set("header", "none")
		names := make([]string, d.width)
		for i := range names {
			names[i] = fmt.Sprintf("column_%d", i+1)
		}
		l.d.csv.set("columns", names)
		l.r.remark("header", sure, why, "none: the names of the columns are made up, write better ones")
		rest = d.lines[first:]
		if first > 0 {
			l.r.find("preamble", "", "%s above the records, and no line with names by which their start could be declared", plural(int64(first), "line"))
		}
	case first == 0:
		l.r.remark("header", sure, why, "the first line")
	default:
		name := header[0].text
		l.r.remark("header", sure, why, "line %d, below %s that are no records", first+1, plural(int64(first), "line"))
		if name == "" || slices.ContainsFunc(d.lines[:first], func(row []cell) bool { return row[0].text == name }) {
			l.r.find("preamble", "", "the header cannot be told from the lines above it by its first field: cut them off before, or have the file sent without them")
		} else {
			l.d.csv.set("header", pairs{{"first_field", name}})
		}
	}
	l.footer(d, rest)
}

// separatorLine is the line of Excel that says the delimiter.
func separatorLine(row []cell) bool { return strings.HasPrefix(strings.ToLower(row[0].text), "sep=") }

// commentMark is how the first lines begin, where they are comments.
func commentMark(lines [][]cell) string {
	for _, mark := range []string{"# ", "#", "//", "--"} {
		n := 0
		for _, row := range lines {
			if strings.HasPrefix(row[0].text, mark) && !row[0].quoted {
				n++
			}
		}
		if n > 0 && n == len(lines) {
			return mark
		}
	}
	return ""
}

// headerLike tells whether a line has names, by what is below it.
func headerLike(header []cell, rest [][]cell) (Sure, string, bool) {
	names, data := 0, 0
	for _, c := range header {
		switch {
		case nameLike(c.text):
			names++
		case c.text != "":
			data++
		}
	}
	if data > 0 && data*4 > names {
		return Likely, "the first line has numbers or times", false
	}
	differ := 0
	for i := range header {
		n, like := 0, 0
		for _, row := range rest[:min(len(rest), 200)] {
			if i < len(row) && row[i].text != "" {
				if n++; numberLike(row[i].text) || dateLike(row[i].text) {
					like++
				}
			}
		}
		if n > 0 && like*10 > n*8 {
			differ++
		}
	}
	switch {
	case len(rest) == 0:
		return Unsure, "there is no other line", true
	case differ > 0 && data == 0:
		return Likely, plural(int64(names), "name") + ", and numbers or times below", true
	}
	// All texts: names are no values of their columns, and look like words of a program.
	for i, c := range header {
		for _, row := range rest {
			if i < len(row) && row[i].text == c.text && c.text != "" {
				return Unsure, "a text of the first line is there again below it", false
			}
		}
	}
	known := 0
	for _, c := range header {
		if fieldOfName(c.text) != "" {
			known++
		}
	}
	if known > 0 {
		return Likely, "names that are usual for columns", true
	}
	return Unsure, "nothing but texts, above and below", true
}

// footer finds totals below the records.
func (l *look) footer(d dialect, rows [][]cell) {
	if len(rows) == 0 {
		return
	}
	tail := rows
	if !l.whole {
		tail, _ = cutLines(l.tail, d.delimiter, d.quote, true, 1<<20)
		tail = slices.DeleteFunc(tail, blank)
	}
	last := len(tail)
	for last > 0 && len(tail)-last < 20 {
		row := tail[last-1]
		total := totalWord(row[0].text) || l.trailerKind(rows, row)
		if !total && (len(row) == d.width || len(row) > d.width || len(row)*2 > d.width && len(row) > 1) {
			break
		}
		last--
	}
	if last == len(tail) || last == 0 || len(tail)-last >= 20 {
		return
	}
	row := tail[last]
	mark := row[0].text
	body := rows[:max(0, len(rows)-(len(tail)-last))]
	if !l.whole {
		body = append(slices.Clone(rows), tail[:last]...)
	}
	if slices.ContainsFunc(body, func(r []cell) bool { return r[0].text == mark }) || mark == "" {
		l.r.find("footer", "", "the last lines are no records, and their first field (%s) does not tell them apart", quoted(mark))
		return
	}
	if kind, one := oneKind(body); len(tail)-last == 1 && one {
		l.d.csv.set("rows", pairs{{"field", 1}, {"record", kind}, {"trailer", mark}})
		l.r.remark("footer", Likely, "the first field of each line", "lines %s are records, the line %s is the trailer", quoted(kind), quoted(mark))
		l.d.controlLine = "trailer"
		return
	}
	sure, why := Likely, "a word for totals"
	if !totalWord(mark) {
		sure, why = Unsure, fmt.Sprintf("%s, the records have %d", plural(int64(len(row)), "field"), d.width)
	}
	if strings.ContainsAny(mark, "0123456789") {
		sure, why = Unsure, why+"; its text has a number, which may change from day to day"
	}
	l.r.remark("footer", sure, why, "the records end before the line that begins with %s", quoted(mark))
	l.d.csv.set("ends_before", pairs{{"first_field", mark}})
	l.d.controlLine = "total_line"
}

// oneKind tells whether all lines begin with one short text, as record kinds do.
func oneKind(rows [][]cell) (string, bool) {
	if len(rows) == 0 {
		return "", false
	}
	kind := rows[0][0].text
	return kind, kind != "" && len(kind) <= 3 && !slices.ContainsFunc(rows, func(r []cell) bool { return r[0].text != kind })
}

// trailerKind tells a last line of full width by its kind, which no other line has.
func (l *look) trailerKind(rows [][]cell, row []cell) bool {
	if len(rows) < 2 {
		return false
	}
	kind := rows[0][0].text
	return kind != "" && len(kind) <= 3 && len(row[0].text) <= 3 && row[0].text != kind &&
		slices.ContainsFunc([]string{"T", "TR", "TT", "Z", "F", "FF", "E", "9", "99", "TRL"}, func(s string) bool { return s == row[0].text }) &&
		rows[1][0].text == kind
}

// oneColumn is the last resort.
func (l *look) oneColumn() {
	l.d.format = "csv"
	l.r.remark("form", Unsure, "no delimiter cuts its lines into as many fields each", "lines of one field")
	rows, _ := cutLines(l.text, '\x00', '"', l.whole, maxLines)
	if rows = slices.DeleteFunc(rows, blank); len(rows) > 1 && !strings.ContainsRune(rows[0][0].text, ',') {
		if sure, why, is := headerLike(rows[0], rows[1:]); is {
			l.r.remark("header", sure, why, "the first line")
			return
		}
	}
	l.d.csv.set("header", "none")
	l.d.csv.set("columns", []string{"line"})
	if strings.ContainsRune(l.text, ',') {
		l.d.csv.set("delimiter", "\x1f")
		l.d.csv.set("quote", "none")
	}
}
