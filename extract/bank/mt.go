package bank

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mtReader reads MT940 (customer statements) and MT942 (interim reports) of SWIFT,
// and the dialects that banks make of them: without envelope, without field 20,
// divided by a hyphen alone, with field 86 in one of three forms.
//
// One entry is kept at a time: field 61 waits for the field 86 behind it.
type mtReader struct {
	name    string
	in      *lineReader
	opt     Options
	interim bool // MT942
	facts   Facts
	row     Row
	ready   bool
	err     error

	line    []byte // the line behind the present field, nil at the end
	lineNo  int64
	atEnd   bool
	field   mtField
	st      Statement
	open    bool // a statement is open
	ref     string
	cur     string // currency
	time    string // of field 13D
	proof   proof
	floor   bool // entries below an amount are not listed
	stated  [2]statedTotal
	listed  [2]entryTotal // credits, debits
	pending *mtEntry
	closed  bool // a closing balance was read
	any     bool
}

// mtField is one field with its lines.
type mtField struct {
	tag   string // "" between messages
	lines []string
	line  int64
	size  int
}

func newMT(f io.Reader, name string, opt Options, interim bool) (*mtReader, error) {
	in, err := newLineReader(f, name, opt.Encoding)
	if err != nil {
		return nil, err
	}
	m := &mtReader{name: name, in: in, opt: opt, interim: interim}
	m.facts.Message = "MT940"
	if interim {
		m.facts.Message = "MT942"
		m.facts.Provisional = "an MT942 is an intraday report: its entries may still change"
	}
	return m, m.advance()
}

func (m *mtReader) Facts() *Facts { return &m.facts }

func (m *mtReader) Next() (*Row, error) {
	m.ready = false
	for !m.ready {
		if m.err != nil {
			return nil, m.err
		}
		m.err = m.step()
	}
	return &m.row, nil
}

// advance reads the next line ahead.
func (m *mtReader) advance() error {
	line, err := m.in.next()
	switch {
	case err == io.EOF:
		m.line, m.atEnd = nil, true
		return nil
	case err != nil:
		return err
	}
	m.line, m.lineNo = line, m.in.no
	return nil
}

// next reads the next field: the line with its tag and all lines up to the next
// one. A line that divides messages is a field without a tag.
func (m *mtReader) next() (bool, error) {
	for !m.atEnd {
		whole := string(m.line)
		line := strings.TrimRight(whole, framing)
		no := m.lineNo
		if err := m.advance(); err != nil {
			return false, err
		}
		if rest, ok := strings.CutPrefix(line, "{1:"); ok || strings.HasPrefix(line, "{4:") {
			if err := m.envelope(rest, no); err != nil {
				return false, err
			}
			m.field = mtField{line: no}
			return true, nil
		}
		switch {
		case strings.Trim(line, framing) == "":
			continue
		case line == "-" || line == "-}" || strings.HasPrefix(line, "-}{"):
			m.field = mtField{line: no}
			return true, nil
		}
		tag, rest, ok := mtTag(whole) // blanks at the end may belong to a text that goes on
		if !ok {
			return false, bad(m.name, no, "%s is neither a field nor a part of one", quote(line)).
				WithHint("the file is no %s, or text stands between its messages", m.facts.Message)
		}
		m.field = mtField{tag: tag, lines: append(m.field.lines[:0], rest), line: no, size: len(rest)}
		return true, m.continued()
	}
	return false, nil
}

// continued takes in the further lines of a field.
func (m *mtReader) continued() error {
	for !m.atEnd {
		line := string(m.line)
		trimmed := strings.TrimRight(line, framing)
		if _, _, ok := mtTag(trimmed); ok || trimmed == "-" || strings.HasPrefix(trimmed, "-}") || strings.HasPrefix(trimmed, "{1:") {
			return nil
		}
		if m.field.size += len(line); m.field.size > maxToken {
			return bad(m.name, m.field.line, "field %s has more than %d bytes, which is the limit", m.field.tag, maxToken)
		}
		m.field.lines = append(m.field.lines, line)
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

// framing are blanks, and the control characters that lines of communication put
// around a message.
const framing = " \t\x01\x02\x03\x04\x1a"

// mtTag takes :61: off the start of a line.
func mtTag(line string) (tag, rest string, ok bool) {
	if len(line) < 4 || line[0] != ':' {
		return "", "", false
	}
	end := strings.IndexByte(line[1:min(len(line), 5)], ':')
	if end < 2 {
		return "", "", false
	}
	tag = line[1 : 1+end]
	if tag != "NS" && (!digits(tag[:2]) || len(tag) == 3 && (tag[2] < 'A' || tag[2] > 'Z')) {
		return "", "", false
	}
	return tag, line[end+2:], true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// envelope checks the kind of message where block 2 states it.
func (m *mtReader) envelope(rest string, no int64) error {
	i := strings.Index(rest, "{2:")
	if i < 0 || len(rest) < i+7 {
		return nil
	}
	if kind := rest[i+4 : i+7]; "MT"+kind != m.facts.Message {
		return bad(m.name, no, "the message is an MT%s, not an %s", kind, m.facts.Message).
			WithHint("declare the format of the file: mt940 or mt942")
	}
	return nil
}

// step handles one field. An entry is complete when the field behind its 86 comes.
func (m *mtReader) step() error {
	ok, err := m.next()
	if err != nil {
		return err
	}
	if !ok {
		if m.flush() {
			m.atEnd = true
			return nil
		}
		if err := m.closeStatement(); err != nil {
			return err
		}
		if !m.any {
			return cut(m.name, 0, "it holds no statement")
		}
		return io.EOF
	}
	f := &m.field
	if f.tag == "86" {
		if m.pending != nil {
			m.pending.info = append(m.pending.info, f.lines...)
		}
		return nil
	}
	m.flush()
	return m.handle(f)
}

// handle reads a field that is no 86.
func (m *mtReader) handle(f *mtField) error {
	text := strings.TrimSpace(f.lines0())
	if f.tag != "61" {
		m.facts.Control++
	}
	starts := f.tag == "20" || (f.tag == "25" || f.tag == "25P") && (m.closed || !m.open || m.st.Account != "")
	if f.tag == "" || starts {
		if err := m.closeStatement(); err != nil {
			return err
		}
	}
	if f.tag == "" {
		return nil
	}
	if starts {
		m.openStatement(f)
	}
	if !m.open {
		return bad(m.name, f.line, "field %s stands outside of a message", f.tag)
	}
	switch f.tag {
	case "20":
		m.ref = text
	case "25", "25P":
		m.st.Account = text
	case "28C", "28":
		return m.number(f, text)
	case "60F", "60M", "62F", "62M":
		return m.balance(f, text)
	case "61":
		return m.entry(f)
	case "34F":
		m.floorLimit(text)
	case "13D":
		m.time = mtTime(text)
	case "90C", "90D":
		return m.statedTotal(f, text)
	}
	return nil
}

func (f *mtField) lines0() string {
	if len(f.lines) == 0 {
		return ""
	}
	return f.lines[0]
}

func (m *mtReader) openStatement(f *mtField) {
	m.st = Statement{First: true, Last: true, Line: f.line}
	m.open, m.closed, m.any = true, false, true
	m.proof, m.stated, m.listed, m.floor = proof{}, [2]statedTotal{}, [2]entryTotal{}, false
	m.cur, m.time = "", ""
	if f.tag != "20" {
		m.ref = ""
	}
}

// number reads 999/2: statement and page.
func (m *mtReader) number(f *mtField, text string) error {
	no, page, _ := strings.Cut(text, "/")
	m.st.Number = strings.TrimLeft(no, "0")
	if page != "" {
		n, err := strconv.Atoi(strings.TrimSpace(page))
		if err != nil || n < 0 {
			return bad(m.name, f.line, "%s is no number of a statement and its page", quote(text))
		}
		m.st.Page = n
	}
	return nil
}

// balance reads mark, date, currency and amount: C131130CHF0, (field 60, 62). Some
// banks leave the currency out of the closing one.
func (m *mtReader) balance(f *mtField, text string) error {
	wrong := func() error {
		return bad(m.name, f.line, "field %s: %s is no balance: mark, date, currency and amount", f.tag, quote(text))
	}
	if len(text) < 8 || text[0] != 'C' && text[0] != 'D' || !digits(text[1:7]) {
		return wrong()
	}
	b := balance{date: mtDate(text[1:7]), currency: m.cur}
	rest := text[7:]
	if len(rest) > 3 && letters(rest[:3]) {
		b.currency, rest = rest[:3], rest[3:]
	}
	d, ok := parseDecimal(rest, ',')
	if !ok {
		return wrong()
	}
	b.amount = d.negate(text[0] == 'D')
	p := &m.proof
	if f.tag[0:2] == "60" {
		if p.opening != nil || m.st.Entries > 0 {
			return bad(m.name, f.line, "the statement has a second opening balance").WithHint("the closing balance before it is missing: have the file sent again")
		}
		p.opening, m.cur = &b, b.currency
		m.st.First = f.tag == "60F"
		m.st.Opening, m.st.From = b.amount.String(), b.date
		m.st.Currency = b.currency
		return nil
	}
	if p.closing != nil {
		return bad(m.name, f.line, "the statement has a second closing balance")
	}
	p.closing = &b
	m.closed = true
	m.st.Last = f.tag == "62F"
	m.st.Closing, m.st.Until = b.amount.String(), b.date
	return nil
}

func letters(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// mtDate writes YYMMDD as a date; years from 80 on are those of the last century.
// The day is not judged: 30 February is kept as it was written (T23), and is then
// no date for the field that reads it.
func mtDate(s string) string {
	century := "20"
	if s[0] >= '8' {
		century = "19"
	}
	return century + s[:2] + "-" + s[2:4] + "-" + s[4:6]
}

// mtTime writes 1701191815+0100 as a time.
func mtTime(s string) string {
	if len(s) < 10 || !digits(s[:10]) {
		return s
	}
	out := mtDate(s[:6]) + "T" + s[6:8] + ":" + s[8:10] + ":00"
	if rest := s[10:]; len(rest) == 5 {
		out += rest[:3] + ":" + rest[3:]
	}
	return out
}

// floorLimit reads PLN0 or EURD100,00: the currency, and whether small entries are
// left out.
func (m *mtReader) floorLimit(text string) {
	if len(text) > 3 && letters(text[:3]) {
		m.cur = text[:3]
		if m.st.Currency == "" {
			m.st.Currency = m.cur
		}
		amount := strings.TrimLeft(text[3:], "CD ")
		if d, ok := parseDecimal(amount, ','); !ok || d.units != 0 {
			m.floor = true
		}
	}
}

// statedTotal reads 3PLN0,03: number and sum of the credits or debits.
func (m *mtReader) statedTotal(f *mtField, text string) error {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	count, err := strconv.ParseInt(text[:n], 10, 64)
	if err != nil || len(text) < n+4 || !letters(text[n:n+3]) {
		return bad(m.name, f.line, "field %s: %s is no number and sum of entries", f.tag, quote(text))
	}
	d, ok := parseDecimal(text[n+3:], ',')
	if !ok {
		return bad(m.name, f.line, "field %s: %s is no number and sum of entries", f.tag, quote(text))
	}
	side := 0
	if f.tag == "90D" {
		side = 1
	}
	m.stated[side] = statedTotal{count: count, sum: d, hasCount: true, hasSum: true}
	return nil
}

// closeStatement proves the statement, if one is open.
func (m *mtReader) closeStatement() error {
	if !m.open {
		return nil
	}
	m.open = false
	st, p := &m.st, &m.proof
	if !m.interim {
		switch {
		case p.opening == nil:
			return cut(m.name, st.Line, "%s has no opening balance (field 60)", st.Name())
		case p.closing == nil:
			return cut(m.name, st.Line, "%s has no closing balance (field 62)", st.Name())
		}
	}
	if len(m.facts.Statements) >= maxStatements {
		return bad(m.name, st.Line, "more than %d statements, which is the limit", maxStatements)
	}
	st.Booked = p.booked.String()
	m.facts.Statements = append(m.facts.Statements, *st)
	fault := p.fault()
	if fault == "" {
		fault = m.totalsFault()
	}
	return m.facts.unproved(m.opt, fmt.Sprintf("%s: %s (line %d)", m.name, st.Name(), st.Line), fault)
}

// totalsFault says which total of field 90 does not tie. Where entries below a
// floor are left out, the totals may count more than is listed, never less.
func (m *mtReader) totalsFault() string {
	for side, what := range []string{"credit", "debit"} {
		s, l := &m.stated[side], &m.listed[side]
		switch {
		case !s.hasCount:
		case m.floor && s.count >= l.count:
		case s.count != l.count:
			return fmt.Sprintf("it states %d %s entries, there are %d", s.count, what, l.count)
		case !l.sum.is(s.sum):
			return fmt.Sprintf("it states a sum of %s over the %s entries, they come to %s", s.sum, what, &l.sum)
		}
	}
	return ""
}
