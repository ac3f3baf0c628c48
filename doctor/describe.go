package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// describe turns what was watched into what people read, and decides the marks of
// the source's numbers.
func (l *look) describe() {
	l.r.Columns = l.r.Columns[:0]
	votes := map[int]int64{}
	for _, c := range l.columns {
		d := c.describe()
		if d.Looks == "decimal" && c.dots > 0 && !c.typed {
			best, _ := c.bestNumber()
			votes[best.form] += c.dots
		}
		l.r.Columns = append(l.r.Columns, d)
	}
	l.marks(votes)
}

// marks chooses decimal and grouping mark of the source: those of most numbers.
func (l *look) marks(votes map[int]int64) {
	l.d.decimal, l.d.group = '.', 0
	// The numbers of a bank's format are written as its standard says, whatever the
	// reader makes of them.
	if len(votes) == 0 || l.d.format == "xlsx" || rules.Format(l.d.format).Bank() {
		return
	}
	forms := slices.Sorted(maps.Keys(votes))
	best := forms[0]
	for _, f := range forms {
		if votes[f] > votes[best] {
			best = f
		}
	}
	l.d.decimal, l.d.group = numberForms[best].mark, numberForms[best].group
	sure, why := Likely, plural(votes[best], "number")
	for _, c := range l.columns {
		if _, rivals := c.bestNumber(); len(rivals) > 0 && c.dots > 0 && !c.typed {
			// Another column may show what this one leaves open.
			if !l.shown(best) {
				sure, why = Unsure, why+fmt.Sprintf("; %s could be read with %s as well", quoted(c.name), marksText(rivals[0].form))
			}
			break
		}
	}
	l.r.remark("numbers", sure, why, "%s", marksText(best))
	for i, c := range l.columns {
		if n, _ := c.bestNumber(); n != nil && n.form != best && c.dots > 0 && l.r.Columns[i].Looks == "decimal" {
			l.r.Columns[i].Detail = marksText(n.form) + ", " + l.r.Columns[i].Detail
		}
	}
}

// shown tells whether some column can only be read with these marks.
func (l *look) shown(form int) bool {
	return slices.ContainsFunc(l.columns, func(c *column) bool {
		best, rivals := c.bestNumber()
		return best != nil && best.form == form && len(rivals) == 0 && c.dots > 0
	})
}

func marksText(form int) string {
	f := numberForms[form]
	names := map[byte]string{'.': "a point", ',': "a comma", ' ': "a blank", '\'': "an apostrophe"}
	text := names[f.mark] + " before the decimals"
	if f.group != 0 {
		text += ", " + names[f.group] + " between thousands"
	}
	return text
}

// describe says what the column looks like.
func (c *column) describe() Column {
	d := Column{Name: c.name, Filled: c.filled, Looks: "text", Sure: Fact, Values: []string{}, Examples: []string{}, Compared: c.seen, Distinct: c.seen - c.equal}
	if c.values != nil {
		d.Values = slices.Sorted(maps.Keys(c.values))
	}
	d.Examples = append(d.Examples, c.first...)
	most := func(n int64) bool { return c.filled > 0 && n*100 >= c.filled*97 }
	number, rivals := c.bestNumber()
	when, rival := c.bestTime()
	switch {
	case c.filled == 0:
		d.Looks = "empty"
	case most(c.codes) && (fieldOfName(c.name) == "currency" || len(d.Values) < 8 && len(d.Values) > 0):
		d.Looks, d.Sure = "currency", Likely
	case c.booleans == c.filled:
		d.Looks, d.Sure = "boolean", Likely
	case when != nil:
		c.describeTime(&d, when, rival)
	case c.scientific > 0 && (idName(c.name) || c.scientific*2 > c.filled):
		d.Detail = "numbers in scientific notation"
	case most(c.point) && idName(c.name) && fieldOfName(c.name) != "amount":
		d.Detail = "numbers that end in .0"
	case most(c.digits) && (c.zeros > 0 || c.long*2 > c.filled || idName(c.name) && fieldOfName(c.name) != "amount"):
		d.Detail = "digits, kept as text"
	case most(c.digits):
		d.Looks, d.Sure = "integer", Likely
		if number != nil {
			d.Sum = ratText(number.sum.Sum())
		}
	case number != nil && (c.dots > 0 || fieldOfName(c.name) == "amount" || c.typed || c.trailing+c.parens > 0):
		d.Looks, d.Sure = "decimal", Likely
		d.Detail = plural(int64(number.scale), "decimal")
		if len(rivals) > 0 && c.dots > 0 {
			d.Sure = Unsure
		}
		if c.trailing > 0 {
			d.Detail += ", a minus behind"
		}
		if c.parens > 0 {
			d.Detail += ", parentheses for minus"
		}
		d.Sum = ratText(number.sum.Sum())
		if bad := c.filled - number.ok; bad > 0 {
			d.Detail += "; " + plural(bad, "text") + " cannot be read so"
		}
	case c.euro*10 > c.filled*9 && c.digits == 0:
		d.Detail = "amounts with a currency sign, which no field reads as a number"
	case c.jsonText*10 > c.filled*9:
		d.Detail = "JSON: json_path takes values from it"
	}
	return d
}

func (c *column) describeTime(d *Column, t, rival *timeTry) {
	f := timeForms[t.form]
	d.Looks, d.Sure = string(f.typ), Likely
	switch {
	case f.layout == "" && f.typ == rules.Timestamp && t.local:
		d.Detail = "ISO 8601 without an offset: the job says the zone"
	case f.layout == "":
		d.Detail = "ISO 8601"
	case f.layout == rules.LayoutUnix:
		d.Detail = "seconds since 1970"
	case f.layout == rules.LayoutUnixMilli:
		d.Detail = "milliseconds since 1970"
	default:
		d.Detail = letters(f.layout)
	}
	if f.short {
		d.Looks, d.Detail = "text", d.Detail+": the century of such years is a guess, so that no field reads them"
	}
	if rival != nil {
		d.Sure = Unsure
		d.Detail += " or " + letters(timeForms[rival.form].layout)
	}
	d.From, d.Until = timeText(t.from, f.typ), timeText(t.to, f.typ)
}

// letters writes a layout as people do.
func letters(layout string) string {
	return strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "Jan", "MMM", "15", "HH", "03", "hh", "04", "mm", "05", "ss", "06", "YY", "2", "D", "1", "M", "-0700", "ZZ").Replace(layout)
}

// suspicious finds what spoils ids and columns.
func (l *look) suspicious() {
	r := l.r
	seen := map[string]int{}
	for _, c := range r.Columns {
		seen[c.Name]++
	}
	for i, c := range l.columns {
		switch {
		case seen[c.name] > 1:
			r.find("duplicate_column", c.name, "%d columns have the name %s: a field takes one of them by its place, column: N", seen[c.name], quoted(c.name))
			seen[c.name] = 0
		case strings.TrimSpace(c.name) == "" && c.filled > 0:
			r.find("unnamed_column", c.name, "column %d has no name, and holds %s", i+1, plural(c.filled, "text"))
		case strings.TrimSpace(c.name) != c.name:
			r.find("padded_name", c.name, "the column name %q has blanks around: write it so, or header_names: trim", c.name)
		}
		l.suspiciousIDs(c, &r.Columns[i])
	}
	if n := l.bytes; l.d.format != "" && !l.d.binary() && !strings.HasPrefix(l.d.encoding, "utf-16") {
		kinds := []string{}
		for _, k := range []struct {
			n    int64
			name string
		}{{n.lf, "LF"}, {n.crlf, "CRLF"}, {n.cr, "CR"}} {
			if k.n > 0 {
				kinds = append(kinds, fmt.Sprintf("%s %s", grouped(k.n), k.name))
			}
		}
		if len(kinds) > 1 {
			r.find("mixed_line_ends", "", "line ends are mixed: %s; a lone CR spoils its record, unless the first line ends with CR CR LF and it belongs to such a line end", strings.Join(kinds, ", "))
		}
	}
}

func (l *look) suspiciousIDs(c *column, d *Column) {
	r := l.r
	if d.Looks == "decimal" && !c.typed || d.Looks == "timestamp" || d.Looks == "date" {
		return
	}
	if c.scientific > 0 && (idName(c.name) || d.Looks == "text") {
		r.find("scientific_id", c.name, "%s in %s of the form 1.23E+22: the file went through a spreadsheet, and digits are lost; have it sent as its system wrote it", plural(c.scientific, "text"), quoted(c.name))
	}
	if c.point > 0 && c.point*10 > c.filled*9 && idName(c.name) {
		r.find("trailing_zero", c.name, "the numbers in %s end in .0: a program read ids as numbers", quoted(c.name))
	}
	if c.long > 2 && c.ended*10 > c.long*9 {
		r.find("cut_digits", c.name, "%s in %s have 15 digits and more that end in zeros: a spreadsheet keeps 15, the rest is lost", plural(c.ended, "number"), quoted(c.name))
	} else if c.long > 0 && c.typed && (l.d.format == "xlsx" || l.d.format == "json" || l.d.format == "ndjson") {
		r.find("long_numbers", c.name, "%s in %s have 15 digits and more and are stored as numbers: programs that read them as floats change them", plural(c.long, "number"), quoted(c.name))
	}
	if c.digits*100 > c.filled*97 && c.filled > 20 && c.zeros == 0 && idName(c.name) {
		most := 0
		for n := range c.lengths {
			if c.lengths[n] > c.lengths[most] {
				most = n
			}
		}
		var short int64
		for n := range most {
			short += c.lengths[n]
		}
		if most > 4 && c.lengths[most]*10 > c.filled*8 && short > 0 && short*5 < c.filled {
			r.find("lost_zeros", c.name, "%s in %s are shorter than the %d digits of the others, and none begins with a zero: leading zeros may be lost", plural(short, "number"), quoted(c.name), most)
		}
	}
	if c.padded > 0 && idName(c.name) {
		r.find("padded_ids", c.name, "%s in %s have blanks around: normalise: [trim] makes them meet", plural(c.padded, "text"), quoted(c.name))
	}
}
