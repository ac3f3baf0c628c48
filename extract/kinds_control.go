package extract

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// kindControl is the totals that one kind of header or footer states, and what was
// counted of the records in its scope: from the line of the header kind that it
// belongs to, or from the start of the file.
type kindControl struct {
	kind    *lineKind
	opener  *lineKind // header whose lines begin the scope; nil: the file
	active  bool
	line    int64 // where the scope began
	began   int64 // lines of the file before the scope
	stated  bool  // the footer has come (without By)
	unclear bool  // a line of unknown kind was rejected: it may be a record
	rejects bool
	groups  map[string]*kindTally // by the text of By.Column; "" without By
	all     *kindTally            // the group "" of a control without By
	expect  []statedTotal         // of a header, to be judged at the end of the scope
}

// kindTally is what was counted for one line of totals.
type kindTally struct {
	rows   int64
	sums   []decSum
	broken []int64 // line of the first value that is no number, by sum; 0 none
	stated bool
}

// statedTotal is a total that a line states: sum is the index in Sums, -1 a count.
type statedTotal struct {
	sum   int
	field int
	value dec
	line  int64
}

// contribution is what the records of one kind give to one control.
type contribution struct {
	control *kindControl
	key     int // field of By.Column; -1 without
	counts  bool
	sums    []sumPart
}

type sumPart struct {
	sum   int // index in Sums
	field int
	where []fieldText
	minus []fieldText
}

type fieldText struct {
	field int
	text  []byte
}

// maxControlGroups bounds the values that the records of one scope may have in the
// column of a footer's key.
const maxControlGroups = 10_000

func (k *kindReader) compileControls() {
	for _, kind := range k.order {
		if kind.Count == nil && len(kind.Sums) == 0 {
			continue
		}
		c := &kindControl{kind: kind}
		switch {
		case kind.As == rules.RoleHeader:
			c.opener = kind
		case kind.Since != "":
			c.opener = k.kinds[kind.Since]
		default:
			c.open(0, 0)
		}
		k.controls = append(k.controls, c)
	}
	for _, kind := range k.order {
		if kind.columns != nil {
			k.compileAdds(kind)
		}
	}
}

// open begins a scope.
func (c *kindControl) open(line, before int64) {
	c.active, c.line, c.began = true, line, before
	c.stated, c.unclear, c.rejects = false, false, false
	c.groups, c.all, c.expect = map[string]*kindTally{}, nil, c.expect[:0]
	if c.kind.By == nil {
		c.all = c.group("")
	}
}

func (c *kindControl) group(key string) *kindTally {
	t := c.groups[key]
	if t == nil {
		t = &kindTally{sums: make([]decSum, len(c.kind.Sums)), broken: make([]int64, len(c.kind.Sums))}
		c.groups[key] = t
	}
	return t
}

// compileAdds finds what the records of a kind, whose columns are known now, give
// to the controls. A record without the column of a footer's key belongs to none
// of its lines; one without a summed column adds nothing.
func (k *kindReader) compileAdds(kind *lineKind) {
	kind.adds = nil
	if kind.As != rules.RoleRecord {
		return
	}
	find := func(column string) int {
		return slices.IndexFunc(kind.columns, func(c string) bool { return headerName(c, k.rule) == headerName(column, k.rule) })
	}
	texts := func(m map[string]string) (out []fieldText, ok bool) {
		for column, text := range m {
			i := find(column)
			if i < 0 {
				return nil, false
			}
			out = append(out, fieldText{i, []byte(text)})
		}
		return out, true
	}
	for _, c := range k.controls {
		add := &contribution{control: c, key: -1}
		if by := c.kind.By; by != nil {
			if add.key = find(by.Column); add.key < 0 {
				continue
			}
		}
		if n := c.kind.Count; n == nil || !n.Lines {
			add.counts = n == nil || len(n.Of) == 0 || slices.Contains(n.Of, kind.Kind)
		}
		for i := range c.kind.Sums {
			s := &c.kind.Sums[i]
			part := sumPart{sum: i, field: find(s.Column)}
			var all bool
			part.where, all = texts(s.Where)
			if part.field < 0 || !all || len(s.Of) > 0 && !slices.Contains(s.Of, kind.Kind) {
				continue
			}
			if len(s.Minus) > 0 {
				part.minus, _ = texts(s.Minus)
			}
			add.sums = append(add.sums, part)
		}
		kind.adds = append(kind.adds, add)
	}
}

// addUp counts a record in every scope that it lies in.
func (k *kindReader) addUp(kind *lineKind, fields []lineField) error {
	for _, add := range kind.adds {
		c := add.control
		if !c.active {
			if c.kind.As == rules.RoleHeader {
				return badFile(k.name, "line %d is a record, and the line of the kind %s that states the total of its part does not stand above it", k.lines.at(), quoteName(c.kind.Kind)).
					WithHint("a line is missing: have the file sent again whole")
			}
			continue
		}
		if c.stated {
			return k.behindFooter(c)
		}
		t := c.all
		if add.key >= 0 {
			key := fields[add.key].text
			if t = c.groups[string(key)]; t == nil {
				if len(c.groups) >= maxControlGroups {
					return overLimit(k.name, "values of the column "+quoteName(c.kind.By.Column)+" between two lines of the kind "+quoteName(c.kind.Kind), maxControlGroups)
				}
				t = c.group(string(key))
			}
			if t.stated {
				return k.behindFooter(c)
			}
		}
		if add.counts {
			t.rows++
		}
		for i := range add.sums {
			p := &add.sums[i]
			text := fields[p.field].text
			if len(text) == 0 || fields[p.field].null || !fits(fields, p.where) {
				continue
			}
			d, _, ok := k.form.quick(text)
			if !ok {
				if d, ok = k.form.parse(text); !ok {
					if t.broken[p.sum] == 0 {
						t.broken[p.sum] = k.lines.at()
					}
					continue
				}
			}
			if p.minus != nil && fits(fields, p.minus) && !d.isZero() {
				d.neg = !d.neg
			}
			t.sums[p.sum].add(d)
		}
	}
	return nil
}

func fits(fields []lineField, want []fieldText) bool {
	for _, w := range want {
		if !bytes.Equal(fields[w.field].text, w.text) {
			return false
		}
	}
	return true
}

func (k *kindReader) behindFooter(c *kindControl) error {
	return badFile(k.name, "line %d is a record, and the line of the kind %s that states the total of its part stands above it", k.lines.at(), quoteName(c.kind.Kind)).
		WithHint("two files may have been joined, or a line between them is missing: have the file sent again whole")
}

// countReject notes a line that could not be read as a record.
func (k *kindReader) countReject(kind *lineKind) {
	for _, c := range k.controls {
		if !c.active {
			continue
		}
		c.rejects = true
		n := c.kind.Count
		switch {
		case kind == nil || c.all == nil:
			c.unclear = true
		case n != nil && !n.Lines && (len(n.Of) == 0 || slices.Contains(n.Of, kind.Kind)):
			c.all.rows++
		}
	}
}

// openScope takes a header line: scopes of this level and below end, and new ones
// begin.
func (k *kindReader) openScope(kind *lineKind, fields []lineField) error {
	for _, c := range k.controls {
		if c.opener == nil || c.opener.level < kind.level {
			continue
		}
		if err := k.closeScope(c); err != nil {
			return err
		}
		if c.opener != kind {
			continue
		}
		c.open(k.lines.at(), k.count-1)
		if c.kind == kind {
			var err error
			if c.expect, err = k.readStated(kind, fields, c.expect); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeFooter judges the totals that a footer line states.
func (k *kindReader) takeFooter(kind *lineKind, fields []lineField) error {
	if kind.Since != "" && !k.scopeOpen(kind) {
		return badFile(k.name, "line %d, of the kind %s, belongs to a line of the kind %s, and there is none above it", k.lines.at(), quoteName(kind.Kind), quoteName(kind.Since)).
			WithHint("the beginning is missing, or the report was sent in several files: have it sent again whole")
	}
	for _, c := range k.controls {
		if c.kind != kind {
			continue
		}
		stated, err := k.readStated(kind, fields, nil)
		if err != nil {
			return err
		}
		t, what := c.all, ""
		if by := kind.By; by != nil {
			f, _, err := k.refOf(kind, fields, by.At)
			if err != nil {
				return err
			}
			if c.groups[string(f.text)] == nil && len(c.groups) >= maxControlGroups {
				return overLimit(k.name, "lines of the kind "+quoteName(kind.Kind), maxControlGroups)
			}
			t, what = c.group(string(f.text)), " with "+by.Column+" "+quoteCell(string(f.text), k.hide)
		}
		if t.stated {
			return badFile(k.name, "line %d is a second line of the kind %s%s for the same records", k.lines.at(), quoteName(kind.Kind), what).
				WithHint("two files may have been joined; have it sent again")
		}
		t.stated = true
		c.stated = c.kind.By == nil
		if err := k.judge(c, t, stated, what); err != nil {
			return err
		}
	}
	return nil
}

// scopeOpen tells whether a header that a footer belongs to has come. Without
// totals nothing is kept of it, and nothing depends on it.
func (k *kindReader) scopeOpen(kind *lineKind) bool {
	for _, c := range k.controls {
		if c.kind == kind {
			return c.active
		}
	}
	return true
}

// readStated reads the totals on a line.
func (k *kindReader) readStated(kind *lineKind, fields []lineField, out []statedTotal) ([]statedTotal, error) {
	read := func(sum int, ref rules.FieldRef) error {
		f, at, err := k.refOf(kind, fields, ref)
		if err != nil {
			return err
		}
		d, ok := k.form.parse(bytes.TrimSpace(f.text))
		if !ok || sum < 0 && (d.scale != 0 || d.neg) {
			return badFile(k.name, "line %d: field %d of the kind %s should hold a total and is no number", k.lines.at(), at+1, quoteName(kind.Kind)).
				WithHint("correct the kind in the job file, or have the file sent again whole")
		}
		out = append(out, statedTotal{sum: sum, field: at + 1, value: d, line: k.lines.at()})
		return nil
	}
	if kind.Count != nil {
		if err := read(-1, kind.Count.At); err != nil {
			return nil, err
		}
	}
	for i := range kind.Sums {
		if err := read(i, kind.Sums[i].At); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// judge compares stated totals with what was counted. Sums are not judged where
// records were rejected, since the rejected ones are in them (V36).
func (k *kindReader) judge(c *kindControl, t *kindTally, stated []statedTotal, what string) error {
	for _, s := range stated {
		if s.sum < 0 {
			rows := t.rows
			noun := "records"
			if c.kind.Count.Lines {
				rows, noun = k.count-c.began, "lines"
			}
			if c.unclear && !c.kind.Count.Lines {
				continue
			}
			if s.value.rat().Cmp(new(big.Rat).SetInt64(rows)) != 0 {
				return k.mismatch(c, s, what, "count", s.value.String(), plural(int(rows), strings.TrimSuffix(noun, "s"))+" read")
			}
			continue
		}
		if c.rejects {
			continue
		}
		rule := &c.kind.Sums[s.sum]
		if line := t.broken[s.sum]; line > 0 {
			return badFile(k.name, "line %d: the column %s, which the kind %s adds up, is no number", line, quoteName(rule.Column), quoteName(c.kind.Kind)).
				WithHint("correct the decimal marks in the job file, or have the file sent again whole")
		}
		got := t.sums[s.sum].rat()
		difference := new(big.Rat).Sub(s.value.rat(), got)
		if rule.Tolerance != "" {
			if limit, ok := new(big.Rat).SetString(rule.Tolerance); ok && difference.Abs(difference).Cmp(limit) <= 0 {
				continue
			}
		}
		if difference.Sign() != 0 {
			return k.mismatch(c, s, what, "sum of "+quoteName(rule.Column), s.value.String(), ratText(got)+" over the records read")
		}
	}
	return nil
}

func (k *kindReader) mismatch(c *kindControl, s statedTotal, what, total, stated, got string) *fail.Error {
	since := ""
	if c.opener != nil {
		since = " since line " + itoa(int(c.line))
	}
	return badFile(k.name, "control %s %s%s against %s%s (line %d, field %d of the kind %s)", total, stated, what, got, since, s.line, s.field, quoteName(c.kind.Kind)).
		WithHint("the file is not whole, or not the one that its totals speak of: have it sent again")
}

// closeScope judges what is left at the end of a scope.
func (k *kindReader) closeScope(c *kindControl) error {
	if !c.active {
		return nil
	}
	c.active = false
	if c.kind.As == rules.RoleHeader {
		return k.judge(c, c.all, c.expect, "")
	}
	where := "the file"
	if c.opener != nil {
		where = "the part that begins on line " + itoa(int(c.line))
	}
	for _, key := range sortedGroups(c.groups) {
		t := c.groups[key]
		if t.stated {
			continue
		}
		if c.kind.By != nil {
			return cutFile(k.name, "%s has no line of the kind %s for the records with %s %s", where, quoteName(c.kind.Kind), c.kind.By.Column, quoteCell(key, k.hide))
		}
		return cutFile(k.name, "%s has no line of the kind %s, which states its totals", where, quoteName(c.kind.Kind))
	}
	return nil
}

func sortedGroups(m map[string]*kindTally) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// closeAll ends every scope at the end of the file.
func (k *kindReader) closeAll() error {
	for _, c := range k.controls {
		if err := k.closeScope(c); err != nil {
			return err
		}
	}
	return nil
}
