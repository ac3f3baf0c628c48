package bank

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// bai2Reader reads BAI2 (Cash Management Balance Reporting Specifications, version
// 2): file, groups, accounts and their transactions, line by line, with record 88
// continuing the one before. Amounts are integers in minor units; their sign is that
// of the type code.
//
// The totals and numbers of records of accounts (49), groups (98) and file (99) are
// checked always: the format has nothing else that shows a missing line.
type bai2Reader struct {
	name  string
	in    *lineReader
	opt   Options
	facts Facts
	row   Row
	ready bool
	err   error

	record  bai2Record
	ahead   []byte // the line behind the record
	aheadNo int64
	more    bool

	fileID         string
	level          int // 0 outside, 1 in file, 2 in group, 3 in account, 9 behind the file
	group          bai2Group
	st             Statement
	proof          proof
	cur            string // of the account
	scale          int
	file, grp, acc bai2Total
}

type bai2Group struct {
	status, currency, date, time, modifier string
}

// bai2Total is what a trailer states, and what was found.
type bai2Total struct {
	sum     total
	records int64 // physical ones, headers and trailers included
	parts   int64 // accounts of a group, groups of a file
}

// bai2Record is a logical record: its own line and those of the 88 behind it.
type bai2Record struct {
	code  string
	parts []bai2Part
	lines int64
	line  int64
	size  int
	at    int // part that is being read
}

// bai2Part is the text of one line behind its code; ended tells that a slash ended
// it, so that a text does not go on.
type bai2Part struct {
	text  string
	ended bool
	done  bool // every field of it was taken
}

func newBAI2(f io.Reader, name string, opt Options) (*bai2Reader, error) {
	in, err := newLineReader(f, name, opt.Encoding)
	if err != nil {
		return nil, err
	}
	b := &bai2Reader{name: name, in: in, opt: opt}
	b.facts.Message = "BAI2"
	return b, b.advance()
}

func (b *bai2Reader) Facts() *Facts { return &b.facts }

func (b *bai2Reader) Next() (*Row, error) {
	b.ready = false
	for !b.ready {
		if b.err != nil {
			return nil, b.err
		}
		b.err = b.step()
	}
	return &b.row, nil
}

// advance reads the next line that is not blank.
func (b *bai2Reader) advance() error {
	for {
		line, err := b.in.next()
		if err == io.EOF {
			b.more = false
			return nil
		}
		if err != nil {
			return err
		}
		if line = []byte(strings.TrimRight(string(line), " \t")); len(line) > 0 {
			b.ahead, b.aheadNo, b.more = line, b.in.no, true
			return nil
		}
	}
}

// next reads the next logical record.
func (b *bai2Reader) next() error {
	b.record = bai2Record{line: b.aheadNo, parts: b.record.parts[:0]}
	for b.more {
		code, text, _ := strings.Cut(string(b.ahead), ",")
		switch {
		case b.record.code == "":
			b.record.code = strings.TrimSuffix(code, "/")
		case code != "88":
			return nil
		}
		r := &b.record
		r.lines++
		if r.size += len(text); r.size > maxToken {
			return bad(b.name, r.line, "record %s has more than %d bytes, which is the limit", r.code, maxToken)
		}
		part := bai2Part{text: text}
		if t, ok := strings.CutSuffix(text, "/"); ok {
			part.text, part.ended = t, true
		}
		r.parts = append(r.parts, part)
		if err := b.advance(); err != nil {
			return err
		}
	}
	return nil
}

// field takes the next field of the record; false at its end.
func (r *bai2Record) field() (string, bool) {
	for r.at < len(r.parts) {
		p := &r.parts[r.at]
		if p.done {
			r.at++
			continue
		}
		text, rest, more := strings.Cut(p.text, ",")
		p.text, p.done = rest, !more
		return strings.TrimSpace(text), true
	}
	return "", false
}

// optional takes the next field, "" at the end of the record.
func (r *bai2Record) optional() string {
	s, _ := r.field()
	return s
}

// text takes everything that is left, its lines apart.
func (r *bai2Record) text() []string {
	var out []string
	for ; r.at < len(r.parts); r.at++ {
		if p := &r.parts[r.at]; !p.done && p.text != "" {
			out = append(out, p.text)
		}
	}
	return out
}

// step handles one record.
func (b *bai2Reader) step() error {
	if !b.more {
		switch {
		case b.level == 9:
			return io.EOF
		case b.level == 0:
			return cut(b.name, 0, "it holds no file header (01)")
		}
		return cut(b.name, b.in.no, "there is no file trailer (99)")
	}
	if err := b.next(); err != nil {
		return err
	}
	r := &b.record
	for _, t := range []*bai2Total{&b.file, &b.grp, &b.acc} {
		t.records += r.lines
	}
	if r.code != "16" {
		b.facts.Control += r.lines
	}
	needs := map[string]int{"01": 0, "02": 1, "03": 2, "16": 3, "49": 3, "98": 2, "99": 1}
	level, known := needs[r.code]
	switch {
	case !known:
		return bad(b.name, r.line, "%s is no record of BAI2", quote(r.code)).WithHint("a text that goes over several lines has record 88 in front of each")
	case b.level != level:
		return bad(b.name, r.line, "record %s does not belong here: %s is open", r.code, []string{"nothing", "the file", "a group", "an account"}[b.level%9%4])
	}
	switch r.code {
	case "01":
		return b.openFile()
	case "02":
		return b.openGroup()
	case "03":
		return b.openAccount()
	case "16":
		return b.transaction()
	case "49":
		return b.closeAccount()
	case "98":
		return b.closeGroup()
	default:
		return b.closeFile()
	}
}

func (b *bai2Reader) openFile() error {
	r := &b.record
	sender, receiver := r.optional(), r.optional()
	date, _ := r.optional(), r.optional()
	b.fileID = sender + "/" + receiver + "/" + date + "/" + r.optional()
	r.optional() // physical record length
	r.optional() // block size
	if v := r.optional(); v != "2" {
		return bad(b.name, r.line, "the file is of version %s, not 2 of BAI", quote(v))
	}
	b.level = 1
	b.file = bai2Total{records: r.lines}
	return nil
}

func (b *bai2Reader) openGroup() error {
	r := &b.record
	r.optional() // ultimate receiver
	r.optional() // originator
	g := bai2Group{status: r.optional()}
	date := r.optional()
	if len(date) != 6 || !digits(date) {
		return bad(b.name, r.line, "the group has no as-of date YYMMDD")
	}
	g.date, g.time = mtDate(date), r.optional()
	if g.currency = r.optional(); g.currency == "" {
		g.currency = "USD" // the default of the specification
	}
	g.modifier = r.optional()
	if g.modifier == "1" || g.modifier == "3" {
		b.facts.Provisional = "a group of the file holds interim data (as-of-date modifier " + g.modifier + "): its entries may still change"
	}
	switch g.status {
	case "2":
		b.facts.Provisional = "a group of the file deletes a former one (group status 2): its entries are not booked"
	case "4":
		b.facts.Provisional = "a group of the file is a test (group status 4): its entries are not booked"
	}
	b.group, b.level = g, 2
	b.grp = bai2Total{records: r.lines}
	b.file.parts++
	return nil
}

// openAccount reads the account with its summaries: type, amount, count and funds
// type, repeated.
func (b *bai2Reader) openAccount() error {
	r := &b.record
	b.st = Statement{First: true, Last: true, Line: r.line, Account: r.optional(), From: b.group.date, Until: b.group.date}
	if b.cur = r.optional(); b.cur == "" {
		b.cur = b.group.currency
	}
	b.st.Currency = b.cur
	b.acc, b.proof, b.level = bai2Total{records: r.lines}, proof{}, 3
	b.grp.parts++
	var ok bool
	if b.scale, ok = b.opt.Exponent(b.cur); !ok {
		return bad(b.name, r.line, "%s is no currency with a minor unit", quote(b.cur)).WithHint("declare its decimals: `bank: {exponents: {%s: 2}}`", b.cur)
	}
	for {
		code, more := r.field()
		if !more {
			return nil
		}
		text := r.optional()
		if code == "" && text == "" {
			r.optional()
			r.optional()
			continue
		}
		d, err := b.amount(text)
		if err != nil {
			return err
		}
		r.optional() // number of items
		if err := b.funds(r.optional(), nil); err != nil {
			return err
		}
		if text == "" {
			continue
		}
		b.acc.sum.add(d)
		d.scale = b.scale
		switch code {
		case "010":
			b.proof.opening = &balance{amount: d, currency: b.cur}
			b.st.Opening = d.String()
		case "015":
			b.proof.closing = &balance{amount: d, currency: b.cur}
			b.st.Closing = d.String()
		}
	}
}

// amount reads an integer with or without a sign, in minor units; an empty one is 0.
func (b *bai2Reader) amount(s string) (decimal, error) {
	if s == "" {
		return decimal{}, nil
	}
	unsigned := strings.TrimPrefix(s, "+")
	negative := unsigned != "" && unsigned[0] == '-'
	if negative {
		unsigned = unsigned[1:]
	}
	d, ok := parseDecimal(unsigned, 0)
	if !ok {
		return d, bad(b.name, b.record.line, "%s is no amount: digits, in the minor unit of the currency", quote(s))
	}
	return d.negate(negative), nil
}

// funds reads what follows a funds type: S has three amounts, V a date and a time, D
// a number of pairs. v takes the value date.
func (b *bai2Reader) funds(kind string, v *[numColumns]string) error {
	r := &b.record
	switch kind {
	case "", "0", "1", "2", "Z":
	case "S":
		for range 3 {
			if _, err := b.amount(r.optional()); err != nil {
				return err
			}
		}
	case "V":
		date := r.optional()
		r.optional() // time
		if v != nil && len(date) == 6 && digits(date) {
			v[ValueDate] = mtDate(date)
		}
	case "D":
		n, err := strconv.Atoi(r.optional())
		if err != nil || n < 0 || n > 999 {
			return bad(b.name, r.line, "funds type D without its number of distributions")
		}
		for range 2 * n {
			r.optional()
		}
	default:
		return bad(b.name, r.line, "%s is no funds type", quote(kind))
	}
	return nil
}

// transaction reads record 16.
func (b *bai2Reader) transaction() error {
	r := &b.record
	b.row = Row{Line: r.line}
	v := &b.row.Values
	code, text := r.optional(), r.optional()
	d, err := b.amount(text)
	if err != nil {
		return err
	}
	b.acc.sum.add(d)
	if err := b.funds(r.optional(), v); err != nil {
		return err
	}
	b.st.Entries++
	v[Message], v[ReportID] = "BAI2", b.fileID
	v[Account], v[AccountCurrency], v[EntryNo] = b.st.Account, b.cur, itoa(b.st.Entries)
	v[ServicerRef], v[CustomerRef] = reference(r.optional()), reference(r.optional())
	v[TypeCode], v[RawStatus] = code, b.group.modifier
	v[BookingDate], v[BookingTime] = b.group.date, b.group.time
	b.texts(v)
	debit, sign := b.sign(code)
	switch {
	case code == "890": // no money
	case text == "":
		return bad(b.name, r.line, "the transaction %s has no amount", code)
	case !sign:
		return bad(b.name, r.line, "the type code %s has no sign in the specification", quote(code)).
			WithHint("declare it: `bank: {debit_codes: [%q]}` or credit_codes", code)
	default:
		d.scale = b.scale
		d = d.negate(debit)
		b.proof.add(d, b.cur)
		setAmount(v, d, b.cur, d.units < 0 || d.units == 0 && debit)
	}
	b.status(v, code)
	v[RemoteID] = remoteID(b.st.Account, v[ServicerRef], v[Side] == "DBIT", v[Reversal] == "true")
	b.ready = true
	return nil
}

// texts reads the text of a transaction; lines such as "EREF: …" hold references.
func (b *bai2Reader) texts(v *[numColumns]string) {
	lines := b.record.text()
	for _, line := range lines {
		mark, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(mark) {
		case "EREF":
			v[EndToEndID] = reference(value)
		case "CREF":
			v[CreditorRef] = reference(value)
		}
	}
	v[Remittance] = strings.Join(lines, " ")
}

// trailer checks a control total and the numbers beside it.
func (b *bai2Reader) trailer(what string, t *bai2Total, parts string) error {
	r := &b.record
	stated, err := b.amount(r.optional())
	if err != nil {
		return err
	}
	fault := ""
	if !t.sum.is(stated) {
		fault = fmt.Sprintf("the control total of %s is %s, its amounts come to %s", what, stated, &t.sum)
	}
	if parts != "" {
		if n := r.optional(); fault == "" && n != itoa(t.parts) {
			fault = fmt.Sprintf("%s states %s %s, there are %d", what, quote(n), parts, t.parts)
		}
	}
	if n := r.optional(); fault == "" && n != itoa(t.records) {
		fault = fmt.Sprintf("%s states %s records, there are %d", what, quote(n), t.records)
	}
	return b.facts.unproved(b.opt, fmt.Sprintf("%s: line %d", b.name, r.line), fault)
}

func (b *bai2Reader) closeAccount() error {
	if err := b.trailer("account "+b.st.Account, &b.acc, ""); err != nil {
		return err
	}
	b.grp.sum.addTotal(&b.acc.sum)
	b.level = 2
	if len(b.facts.Statements) >= maxStatements {
		return bad(b.name, b.record.line, "more than %d accounts, which is the limit", maxStatements)
	}
	b.facts.Statements = append(b.facts.Statements, b.st)
	fault := b.proof.fault()
	if fault == "" && b.opt.Proof == Require && (b.proof.opening == nil || b.proof.closing == nil) {
		fault = "it states no opening and closing balance (010, 015), which the job requires"
	}
	return b.facts.unproved(b.opt, fmt.Sprintf("%s: account %s (line %d)", b.name, b.st.Account, b.st.Line), fault)
}

func (b *bai2Reader) closeGroup() error {
	if err := b.trailer("the group", &b.grp, "accounts"); err != nil {
		return err
	}
	b.file.sum.addTotal(&b.grp.sum)
	b.level = 1
	return nil
}

func (b *bai2Reader) closeFile() error {
	if err := b.trailer("the file", &b.file, "groups"); err != nil {
		return err
	}
	b.level = 9
	return nil
}
