package bank

import (
	"strconv"
	"strings"
)

// mtEntry is a field 61, with the field 86 behind it.
type mtEntry struct {
	line                     int64
	no                       int64
	value, booking           string
	mark                     string // C, D, RC, RD
	amount                   decimal
	kind                     string // NTRF
	customer, bank, addition string
	info                     []string
}

// entry reads field 61: 070904 0904 RC R 204,88 NRTI NONREF//bank reference, and
// further text on the next line. Blanks may stand for the entry date.
func (m *mtReader) entry(f *mtField) error {
	s := f.lines0()
	wrong := func(what string) error {
		return bad(m.name, f.line, "field 61: %s in %s", what, quote(s)).
			WithHint("value date YYMMDD, entry date MMDD, C, D, RC or RD, amount with a comma, type, reference")
	}
	if !m.interim && m.proof.opening == nil {
		return bad(m.name, f.line, "an entry stands before the opening balance (field 60)")
	}
	if m.closed {
		return bad(m.name, f.line, "an entry stands behind the closing balance (field 62)")
	}
	if len(s) < 6 || !digits(s[:6]) {
		return wrong("no value date")
	}
	e := &mtEntry{line: f.line, value: mtDate(s[:6])}
	rest := s[6:]
	if len(rest) >= 4 && digits(rest[:4]) {
		e.booking = entryDate(e.value, rest[:4])
		rest = rest[4:]
	}
	rest = strings.TrimLeft(rest, " ")
	for _, mark := range []string{"RC", "RD", "C", "D"} {
		if strings.HasPrefix(rest, mark) {
			e.mark = mark
			break
		}
	}
	if e.mark == "" {
		return wrong("no mark C, D, RC or RD")
	}
	rest = rest[len(e.mark):]
	if rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' { // funds code: third letter of the currency
		rest = rest[1:]
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return r != ',' && (r < '0' || r > '9') })
	if n < 0 {
		n = len(rest)
	}
	var ok bool
	if e.amount, ok = parseDecimal(rest[:n], ','); !ok {
		return wrong("no amount")
	}
	rest = rest[n:]
	if len(rest) < 4 || rest[0] < 'A' || rest[0] > 'Z' || strings.ContainsAny(rest[1:4], ".,/ ") {
		return wrong("no type")
	}
	e.kind, rest = rest[:4], rest[4:]
	e.customer, e.bank, _ = strings.Cut(rest, "//")
	for _, line := range f.lines[1:] {
		e.addition = joined(e.addition, strings.TrimSpace(line))
	}
	m.count(e)
	m.pending = e
	return nil
}

// debit tells the sign: RC takes a credit back, and RD a debit. That is what the
// balances of real files prove (T12).
func (e *mtEntry) debit() bool { return e.mark == "D" || e.mark == "RC" }

func (m *mtReader) count(e *mtEntry) {
	m.st.Entries++
	e.no = m.st.Entries
	m.proof.add(e.amount.negate(e.debit()), m.cur)
	side := 0
	if e.debit() {
		side = 1
	}
	m.listed[side].count++
	m.listed[side].sum.add(e.amount)
}

// entryDate gives MMDD the year in which it lies nearest to the value date: an
// entry of 2 January may have the value of 31 December (T23).
func entryDate(value, monthDay string) string {
	year, _ := strconv.Atoi(value[:4])
	months := func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	}
	switch d := months(monthDay[:2], value[5:7]); {
	case d > 6:
		year--
	case d < -6:
		year++
	}
	return strconv.Itoa(year) + "-" + monthDay[:2] + "-" + monthDay[2:]
}

// flush makes the row of the entry that waits; false where none does.
func (m *mtReader) flush() bool {
	e := m.pending
	if e == nil {
		return false
	}
	m.pending = nil
	m.row = Row{Line: e.line}
	v := &m.row.Values
	v[Message], v[ReportID] = m.facts.Message, m.ref
	v[Account], v[AccountCurrency] = m.st.Account, m.st.Currency
	v[StatementNo] = m.st.Number
	if m.st.Page > 0 {
		v[Page] = strconv.Itoa(m.st.Page)
	}
	v[EntryNo], v[EntryRef] = itoa(e.no), reference(e.addition)
	v[ServicerRef] = reference(e.bank)
	if c := reference(e.customer); !strings.HasSuffix(c, "+") { // KREF+ says: see field 86
		v[CustomerRef] = c
	}
	setAmount(v, e.amount.negate(e.debit()), m.cur, e.debit())
	v[BookingDate], v[ValueDate] = e.booking, e.value
	if e.booking == "" {
		v[BookingDate] = e.value
	}
	if m.interim {
		v[BookingTime] = m.time
	}
	v[TypeCode], v[RawStatus] = e.kind, e.mark
	reversal := e.mark[0] == 'R'
	v[RemoteID] = remoteID(m.st.Account, v[ServicerRef], e.debit(), reversal)
	v[Reversal] = strconv.FormatBool(reversal)
	info := parseInfo(e.info)
	info.fill(v)
	v[Status], v[Finality] = "BOOK", "2"
	switch {
	case m.interim:
		v[Status], v[Finality] = "PROV", "0"
	case reversal:
		v[Status] = "RVSL"
	case strings.HasSuffix(e.kind, "RTI"), info.returned:
		v[Status] = "RTRN"
	}
	m.ready = true
	return true
}

// setAmount writes an amount in its three forms.
func setAmount(v *[numColumns]string, signed decimal, currency string, debit bool) {
	v[Amount], v[Currency], v[Side] = signed.String(), currency, "CRDT"
	v[UnsignedAmount] = v[Amount]
	if debit {
		v[Side] = "DBIT"
	}
	if signed.units < 0 {
		v[UnsignedAmount] = v[Amount][1:]
	}
}
