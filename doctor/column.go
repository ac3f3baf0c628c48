package doctor

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

const (
	maxValues = 40   // texts of a column that are kept, where they are no more
	maxText   = 48   // bytes of a text that is kept
	settled   = 2000 // texts after which a form that failed too often is dropped
	maxMarks  = 2 << 20
)

// numberForms are the ways to write numbers that are tried, in the order of which
// is meant where several read everything.
var numberForms = []struct{ mark, group byte }{
	{'.', 0}, {',', 0}, {'.', ','}, {',', '.'}, {',', ' '}, {'.', ' '}, {'.', '\''},
}

// timeForms are the layouts that are tried. The first that reads everything is
// taken; one that reads the same texts as other days makes the guess unsure.
var timeForms = []struct {
	typ    rules.FieldType
	layout string
	rival  string // reads the same texts as other days
	short  bool   // a year of two digits: recognised, and not readable for a job
	named  bool   // only where the name of the column speaks of a time
}{
	{typ: rules.Timestamp},
	{typ: rules.Date},
	{typ: rules.Timestamp, layout: "02.01.2006 15:04:05"},
	{typ: rules.Timestamp, layout: "02.01.2006 15:04"},
	{typ: rules.Timestamp, layout: "02/01/2006 15:04:05", rival: "01/02/2006 15:04:05"},
	{typ: rules.Timestamp, layout: "01/02/2006 15:04:05", rival: "02/01/2006 15:04:05"},
	{typ: rules.Timestamp, layout: "02/01/2006 15:04", rival: "01/02/2006 15:04"},
	{typ: rules.Timestamp, layout: "01/02/2006 15:04", rival: "02/01/2006 15:04"},
	{typ: rules.Timestamp, layout: "01/02/2006 03:04:05 PM"},
	{typ: rules.Timestamp, layout: "2006/01/02 15:04:05"},
	{typ: rules.Timestamp, layout: "2006/01/02 15:04:05 -0700"},
	{typ: rules.Timestamp, layout: "2006-01-02 15:04:05 -0700"},
	{typ: rules.Timestamp, layout: "02-01-2006 15:04:05", rival: "01-02-2006 15:04:05"},
	{typ: rules.Timestamp, layout: "20060102150405"},
	{typ: rules.Date, layout: "02.01.2006"},
	{typ: rules.Date, layout: "2.1.2006"},
	{typ: rules.Date, layout: "02/01/2006", rival: "01/02/2006"},
	{typ: rules.Date, layout: "01/02/2006", rival: "02/01/2006"},
	{typ: rules.Date, layout: "02-01-2006", rival: "01-02-2006"},
	{typ: rules.Date, layout: "01-02-2006", rival: "02-01-2006"},
	{typ: rules.Date, layout: "2006/01/02"},
	{typ: rules.Date, layout: "2006.01.02"},
	{typ: rules.Date, layout: "2006.01.02."},
	{typ: rules.Date, layout: "02 Jan 2006"},
	{typ: rules.Date, layout: "Jan 2, 2006"},
	{typ: rules.Date, layout: "20060102", named: true},
	{typ: rules.Date, layout: "02.01.06", short: true},
	{typ: rules.Date, layout: "01/02/06", short: true},
	{typ: rules.Timestamp, layout: rules.LayoutUnix, named: true},
	{typ: rules.Timestamp, layout: rules.LayoutUnixMilli, named: true},
}

// column watches the texts of one column.
type column struct {
	name   string
	filled int64
	values map[string]int64 // nil: more than maxValues, or longer than maxText
	first  []string
	marks  map[uint64]struct{} // fingerprints of the texts seen; nil: no longer compared
	equal  int64               // texts that had been seen before
	seen   int64               // texts that were compared

	numbers []*numberTry
	times   []*timeTry
	dots    int64 // texts with a point or a comma, which tell the marks

	codes, booleans          int64 // currency codes; true, false, t, f
	scientific, zeros, point int64 // 1.23E+22; 00123; 123.0
	ended                    int64 // 15 digits and more that end in zeros, as a spreadsheet leaves them
	digits, long             int64 // digits alone; 15 of them and more
	padded, words            int64 // blanks around, and inside
	lengths                  [20]int64
	trailing, parens, minus  int64 // signs: 12.30-, (12.30) and -12.30
	euro                     int64 // a currency sign at a number
	jsonText                 int64
	typed                    bool // numbers of JSON, Parquet or a workbook
}

type numberTry struct {
	form  int
	sum   *extract.Decimals
	ok    int64
	scale int
}

type timeTry struct {
	form     int
	read     *extract.Times
	ok       int64
	from, to time.Time
	local    bool // without an offset
}

func newColumn(name string) *column {
	c := &column{name: name, values: map[string]int64{}, marks: map[uint64]struct{}{}}
	for i, f := range numberForms {
		field := rules.Field{DecimalMark: f.mark, GroupMark: f.group, Notation: []string{"parentheses", "trailing_minus"}}
		c.numbers = append(c.numbers, &numberTry{form: i, sum: extract.NewDecimals(field, nil)})
	}
	named := timeName(name)
	for i, f := range timeForms {
		if f.named && !named {
			continue
		}
		field := rules.Field{Type: f.typ, Zone: time.UTC}
		if f.layout != "" {
			field.Layouts = []string{f.layout}
		}
		c.times = append(c.times, &timeTry{form: i, read: extract.NewTimes(field)})
	}
	return c
}

// fingerprint is FNV-1a of 64 bits: the same in every run, so that what is said of a
// file is the same too.
func fingerprint(text []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// take watches one text. budget is the number of fingerprints that may still be kept.
func (c *column) take(text []byte, number bool, budget *int) {
	c.filled++
	c.typed = c.typed || number
	s := string(text)
	c.keep(s)
	c.compare(text, budget)
	if len(s) > 64 {
		if s[0] == '{' || s[0] == '[' {
			c.jsonText++
		}
		c.numbers, c.times = nil, nil // a longer text is neither
		return
	}
	c.look(s)
	for _, n := range c.numbers {
		if scale, ok := n.sum.Add(text); ok {
			n.ok++
			n.scale = max(n.scale, scale, decimals(s, numberForms[n.form].mark))
		}
	}
	for _, t := range c.times {
		when, ok := t.read.Read(text)
		if !ok {
			continue
		}
		if t.ok++; t.ok == 1 || when.Before(t.from) {
			t.from = when
		}
		if t.ok == 1 || when.After(t.to) {
			t.to = when
		}
		if timeForms[t.form].layout == "" && timeForms[t.form].typ == rules.Timestamp {
			t.local = t.local || !hasOffset(s)
		}
	}
	if c.filled == 50 || c.filled == settled {
		c.numbers = slices.DeleteFunc(c.numbers, func(n *numberTry) bool { return n.ok*10 < c.filled*9 })
		c.times = slices.DeleteFunc(c.times, func(t *timeTry) bool { return t.ok*10 < c.filled*9 })
	}
}

// decimals counts the digits behind the mark, as written.
func decimals(s string, mark byte) int {
	i := strings.LastIndexByte(s, mark)
	if i < 0 {
		return 0
	}
	n := 0
	for j := i + 1; j < len(s) && digit(s[j]); j++ {
		n++
	}
	return n
}

// hasOffset tells whether an ISO timestamp says its offset.
func hasOffset(s string) bool {
	if len(s) < 16 {
		return false
	}
	return strings.ContainsAny(s[16:], "Z+-z")
}

func (c *column) keep(s string) {
	if c.values != nil {
		if _, ok := c.values[s]; !ok && (len(c.values) == maxValues || len(s) > maxText) {
			c.values = nil
		} else {
			c.values[s]++
		}
	}
	if len(c.first) < 3 && !slices.Contains(c.first, s) {
		if len(s) > maxText {
			s = strings.ToValidUTF8(s[:maxText], "") + "…"
		}
		c.first = append(c.first, s)
	}
}

func (c *column) compare(text []byte, budget *int) {
	if c.marks == nil {
		return
	}
	mark := fingerprint(text)
	c.seen++
	if _, ok := c.marks[mark]; ok {
		c.equal++
	} else if *budget > 0 {
		c.marks[mark] = struct{}{}
		*budget--
	} else {
		c.seen--
		return
	}
	// A column that repeats itself is no key: what it holds is given to the others.
	if c.seen == 20_000 && c.equal*5 > c.seen*4 {
		*budget += len(c.marks)
		c.marks = nil
	}
}

// look counts what a text looks like, apart from numbers and times.
func (c *column) look(s string) {
	t := strings.TrimSpace(s)
	if t != s {
		c.padded++
	}
	if strings.ContainsRune(t, ' ') {
		c.words++
	}
	if len(t) == 0 {
		return
	}
	if len(t) == 3 && strings.ToUpper(t) != strings.ToLower(t) {
		if _, ok := extract.MinorUnit(strings.ToUpper(t)); ok {
			c.codes++
		}
	}
	switch strings.ToLower(t) {
	case "true", "false", "t", "f":
		c.booleans++
	}
	if t[0] == '{' || t[0] == '[' {
		c.jsonText++
	}
	if strings.ContainsAny(t, "€$£¥") {
		c.euro++
	}
	if strings.HasSuffix(t, "-") {
		c.trailing++
	}
	if t[0] == '-' {
		c.minus++
	}
	if strings.HasPrefix(t, "(") && strings.HasSuffix(t, ")") {
		c.parens++
	}
	digits, dots, other := 0, 0, 0
	for i := range len(t) {
		switch {
		case digit(t[i]):
			digits++
		case t[i] == '.' || t[i] == ',':
			dots++
		default:
			other++
		}
	}
	if dots > 0 {
		c.dots++
	}
	if digits > 0 && dots <= 1 && scientific(t) {
		c.scientific++
	}
	if dots == 0 && other == 0 {
		c.digits++
		c.lengths[min(len(t), len(c.lengths)-1)]++
		if t[0] == '0' && len(t) > 1 {
			c.zeros++
		}
		if len(t) >= 15 {
			if c.long++; len(t) > 15 && strings.HasSuffix(t, strings.Repeat("0", len(t)-15)) {
				c.ended++
			}
		}
	}
	if whole, ok := strings.CutSuffix(t, ".0"); ok && len(whole) > 2 && digits == len(whole)+1 {
		c.point++
	}
}

// scientific tells 1.23E+22: what a spreadsheet makes of a long number.
func scientific(s string) bool {
	i := strings.IndexAny(s, "eE")
	if i < 1 || i == len(s)-1 || !digit(s[0]) {
		return false
	}
	for j := range len(s) {
		if j != i && !digit(s[j]) && s[j] != '.' && s[j] != ',' && !(j == i+1 && (s[j] == '+' || s[j] == '-')) {
			return false
		}
	}
	return s[i+1] == '+' || s[i+1] == '-' || strings.ContainsAny(s[:i], ".,")
}

// bestNumber is the form that reads nearly every text, with the marks it shows, and
// those that read as many.
func (c *column) bestNumber() (best *numberTry, rivals []*numberTry) {
	for _, n := range c.numbers {
		if c.filled == 0 || n.ok*100 < c.filled*97 {
			continue
		}
		switch {
		case best == nil || n.ok > best.ok:
			best, rivals = n, nil
		case n.ok == best.ok && n.sum.Sum().Cmp(best.sum.Sum()) != 0:
			rivals = append(rivals, n)
		}
	}
	return best, rivals
}

// bestTime is the layout that reads nearly every text; rival reads them as other days.
func (c *column) bestTime() (best, rival *timeTry) {
	for _, t := range c.times {
		f := timeForms[t.form]
		if c.filled == 0 || t.ok*100 < c.filled*97 || f.named && !plausible(t) {
			continue
		}
		if best == nil || t.ok > best.ok {
			best, rival = t, nil
		} else if f.layout == timeForms[best.form].rival && t.ok == best.ok {
			rival = t
		}
	}
	return best, rival
}

// plausible: numbers read as times are of our days.
func plausible(t *timeTry) bool { return t.from.Year() >= 1995 && t.to.Year() <= 2100 }

func ratText(r *big.Rat) string { return extract.DecimalText(r) }
