package bank

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/moov-io/ach"
)

// recordLength is the length of every record in characters.
const recordLength = 94

// nachaReader reads ACH files of Nacha: forward entries, returns, notifications of
// change, dishonoured and contested returns. The records are taken apart by
// moov-io/ach, which knows the layouts of all entry classes; its own readers either
// hold a batch whole or do not check its control, so that the order of the records,
// their counts, hashes and sums are checked here, over a stream.
type nachaReader struct {
	name  string
	in    *lineReader
	opt   Options
	facts Facts
	row   Row
	err   error
	rest  string // of a line that holds several records
	text  string // the record, and the same with ? for what is not ASCII
	plain string

	level    nachaLevel
	reportID string
	records  int64 // physical, padding included
	batch    nachaBatch
	file     nachaTotal
	batches  int64
	control  *nachaControl
	entry    *nachaEntry
	ready    bool
}

type nachaLevel uint8

const (
	nachaStart nachaLevel = iota
	nachaFile
	nachaInBatch
	nachaPadding
)

// nachaTotal is what a control states: entries and addenda, the sum of the first
// eight digits of the routing numbers, debits and credits in cents.
type nachaTotal struct {
	count, hash    int64
	debits, credit total
}

type nachaControl struct {
	count, hash   int64
	debit, credit decimal
}

type nachaBatch struct {
	total                  nachaTotal
	no, sec, company, odfi string
	description            string
	effective, settlement  string
	entries                int64
}

// nachaEntry is an entry whose addenda are still to come.
type nachaEntry struct {
	line                     int64
	code                     int
	cents                    int64
	account, id, name, trace string
	addenda                  bool
	seen                     int64
	kind                     string // SENT, PRNT, RTRN, NOCH, DISH, CNTS
	reason, reasonInfo       string
	original                 string
	remittance               string
}

func newNACHA(f io.Reader, name string, opt Options) (*nachaReader, error) {
	in, err := newLineReader(f, name, opt.Encoding)
	if err != nil {
		return nil, err
	}
	n := &nachaReader{name: name, in: in, opt: opt}
	n.facts.Message = "NACHA"
	return n, nil
}

func (n *nachaReader) Facts() *Facts { return &n.facts }

func (n *nachaReader) Next() (*Row, error) {
	n.ready = false
	for !n.ready {
		if n.err != nil {
			return nil, n.err
		}
		n.err = n.step()
	}
	return &n.row, nil
}

// next takes the next record. A line may hold several of them without a line end
// between, and may have lost its blanks at the end.
func (n *nachaReader) next() (bool, error) {
	for n.rest == "" {
		line, err := n.in.next()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if n.rest = string(line); strings.TrimSpace(n.rest) == "" {
			n.rest = ""
		}
	}
	end, count := len(n.rest), 0
	for i := range n.rest {
		if count == recordLength {
			end = i
			break
		}
		count++
	}
	n.text, n.rest = n.rest[:end], n.rest[end:]
	if strings.TrimSpace(n.rest) == "" {
		n.rest = ""
	}
	if count < recordLength {
		n.text += strings.Repeat(" ", recordLength-utf8.RuneCountInString(n.text))
	}
	n.plain = n.text
	if len(n.text) > recordLength {
		n.plain = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return '?'
			}
			return r
		}, n.text)
	}
	n.records++
	return true, nil
}

// number reads the digits at the places from to, counted from 1, both included, as
// the specification does.
func (n *nachaReader) number(what string, from, to int) (int64, error) {
	s := n.plain[from-1 : to]
	if !digits(s) {
		return 0, n.bad("%s (places %d to %d) is %s, no number", what, from, to, quote(s))
	}
	return strconv.ParseInt(s, 10, 64)
}

func (n *nachaReader) bad(format string, args ...any) error {
	return bad(n.name, n.in.no, format, args...)
}

// step handles one record.
func (n *nachaReader) step() error {
	ok, err := n.next()
	if err != nil {
		return err
	}
	if !ok {
		switch n.level {
		case nachaStart:
			return cut(n.name, 0, "it holds no file header (1)")
		case nachaPadding:
			return io.EOF
		}
		return cut(n.name, n.in.no, "there is no file control (9)")
	}
	kind := n.plain[0]
	if kind == '7' && n.level == nachaInBatch && n.entry != nil {
		return n.addenda()
	}
	if kind != '6' {
		n.facts.Control++
	}
	if err := n.flush(); err != nil {
		return err
	}
	switch {
	case kind == '1' && n.level == nachaStart:
		return n.header()
	case kind == '5' && n.level == nachaFile:
		return n.openBatch()
	case kind == '6' && n.level == nachaInBatch:
		return n.detail()
	case kind == '8' && n.level == nachaInBatch:
		return n.closeBatch()
	case kind == '9' && n.level == nachaFile:
		return n.fileControl()
	case kind == '9' && n.level == nachaPadding && strings.Trim(n.plain, "9") == "":
		return nil
	}
	return n.bad("a record of type %s does not belong here", quote(n.plain[:1]))
}

func (n *nachaReader) header() error {
	h := ach.NewFileHeader()
	h.Parse(n.text)
	n.reportID = strings.TrimSpace(h.ImmediateOrigin) + "/" + h.FileCreationDate + h.FileCreationTime + "/" + h.FileIDModifier
	n.level = nachaFile
	return nil
}

func (n *nachaReader) openBatch() error {
	b := &n.batch
	*b = nachaBatch{sec: n.plain[50:53], odfi: n.plain[79:87]}
	switch b.sec {
	case ach.ADV:
		return hint(n.bad("the batch holds accounting advices (ADV), which are not read"), "leave the batch out of the file")
	case ach.IAT:
		h := ach.NewIATBatchHeader()
		h.Parse(n.text)
		b.company, b.description = strings.TrimSpace(h.OriginatorIdentification), h.CompanyEntryDescription
		b.effective, b.settlement = h.EffectiveEntryDate, h.SettlementDate
	default:
		h := ach.NewBatchHeader()
		h.Parse(n.text)
		b.company, b.description = strings.TrimSpace(h.CompanyIdentification), h.CompanyEntryDescription
		b.effective, b.settlement = h.EffectiveEntryDate, h.SettlementDate
	}
	no, err := n.number("the batch number", 88, 94)
	b.no = itoa(no)
	n.level = nachaInBatch
	return err
}

// detail reads an entry; it waits for its addenda.
func (n *nachaReader) detail() error {
	e := &nachaEntry{line: n.in.no, kind: "SENT", addenda: n.plain[78] == '1'}
	code, err := n.number("the transaction code", 2, 3)
	if err != nil {
		return err
	}
	routing, err := n.number("the routing number", 4, 11)
	if err != nil {
		return err
	}
	if e.cents, err = n.number("the amount", 30, 39); err != nil {
		return err
	}
	if _, err = n.number("the trace number", 80, 94); err != nil {
		return err
	}
	e.code, e.trace = int(code), n.plain[79:94]
	if d := code % 10; code < 20 || code > 59 || d == 0 || d == 5 && code != 55 {
		return n.bad("the transaction code %d is not known", code)
	}
	if n.batch.sec == ach.IAT {
		x := ach.NewIATEntryDetail()
		x.Parse(n.text)
		e.account = strings.TrimSpace(x.DFIAccountNumber)
	} else {
		x := ach.NewEntryDetail()
		x.SetSECCode(n.batch.sec)
		x.Parse(n.text)
		e.account = strings.TrimSpace(x.DFIAccountNumber)
		e.id, e.name = strings.TrimSpace(x.IdentificationNumber), strings.TrimSpace(x.IndividualName)
		if n.batch.sec == ach.CTX || n.batch.sec == ach.ATX {
			e.name = strings.TrimSpace(x.CATXReceivingCompanyField())
		}
	}
	e.original = e.trace
	switch code % 10 {
	case 3, 8: // prenotification
		e.kind = "PRNT"
	}
	n.entry = e
	t := &n.batch.total
	t.count++
	t.hash += routing
	cents := decimal{units: e.cents}
	if e.credit() {
		t.credit.add(cents)
	} else {
		t.debits.add(cents)
	}
	n.batch.entries++
	return nil
}

// credit tells whether the receiver is credited, or a credit of him is returned.
func (e *nachaEntry) credit() bool { return e.code%10 <= 4 }

// addenda reads record 7. A return (99) and a notification of change (98) name the
// trace number of the forward entry: their own is one of the other bank.
func (n *nachaReader) addenda() error {
	e := n.entry
	if !e.addenda {
		return n.bad("addenda follow an entry that announces none")
	}
	e.seen++
	n.batch.total.count++
	code := strings.TrimSpace(n.plain[3:6])
	switch n.plain[1:3] {
	case "05":
		a := ach.NewAddenda05()
		a.Parse(n.text)
		e.remittance = joined(e.remittance, strings.TrimSpace(a.PaymentRelatedInformation))
		if len(e.remittance) > maxRow {
			return n.bad("an entry with more than %d bytes of addenda, which is the limit", maxRow)
		}
		return nil
	case "02", "10", "11", "12", "13", "14", "15", "16", "17", "18":
		return nil
	case "98":
		if e.cents != 0 || !strings.HasPrefix(code, "C") {
			return n.bad("a notification of change has the amount %d and the code %s", e.cents, quote(code))
		}
		e.kind, e.reason = "NOCH", code
		if c := ach.LookupChangeCode(code); c != nil {
			e.reasonInfo = c.Reason
		}
		return n.original(6, 21)
	case "99":
		e.reason = code
		if c := ach.LookupReturnCode(code); c != nil {
			e.reasonInfo = c.Reason
		}
		switch {
		case ach.IsDishonoredReturnCode(code):
			e.kind = "DISH"
		case ach.IsContestedReturnCode(code):
			e.kind = "CNTS"
		case strings.HasPrefix(code, "R"):
			e.kind = "RTRN"
		default:
			return n.bad("%s is no reason of a return", quote(code))
		}
		if e.kind != "RTRN" { // what tells them apart is one letter: they name the return as well
			if _, err := n.number("the trace number of the return", 39, 53); err != nil {
				return err
			}
		}
		return n.original(6, 21)
	}
	return n.bad("addenda of type %s are not known", quote(n.plain[1:3]))
}

// original takes the trace number of the forward entry, which all addenda 98 and 99
// have at one place.
func (n *nachaReader) original(from, to int) error {
	if _, err := n.number("the original trace number", from+1, to); err != nil {
		return err
	}
	n.entry.original = n.plain[from:to]
	return nil
}

// flush makes the row of the entry that waits.
func (n *nachaReader) flush() error {
	e := n.entry
	if e == nil {
		return nil
	}
	n.entry = nil
	if e.addenda && e.seen == 0 {
		return bad(n.name, e.line, "the entry announces addenda, and none follow")
	}
	if (e.kind == "SENT" || e.kind == "PRNT") && e.code%5 == 1 {
		return bad(n.name, e.line, "the transaction code %d is that of a return or notification, and no addenda say which", e.code)
	}
	n.row = Row{Line: e.line}
	v, b := &n.row.Values, &n.batch
	v[Message], v[ReportID], v[BatchNo], v[SEC], v[CompanyID] = "NACHA", n.reportID, b.no, b.sec, b.company
	v[Account], v[EntryNo], v[CustomerRef], v[Counterparty] = e.account, itoa(b.entries), reference(e.id), e.name
	debit := e.credit() // a credit of the receiver is our money going out
	if e.kind == "RTRN" || e.kind == "CNTS" {
		debit = !debit
	}
	d := decimal{units: e.cents, scale: 2}.negate(debit)
	setAmount(v, d, "USD", debit)
	if len(b.effective) == 6 && digits(b.effective) {
		v[BookingDate] = mtDate(b.effective)
	}
	reversal := strings.EqualFold(strings.TrimSpace(b.description), "REVERSAL")
	if reversal && e.kind == "SENT" {
		e.kind = "RVSL"
	}
	v[Status], v[Finality] = e.kind, "2"
	if e.kind == "SENT" || e.kind == "PRNT" {
		v[Finality] = "1"
	}
	v[Reason], v[ReasonInfo] = e.reason, e.reasonInfo
	v[Reversal] = strconv.FormatBool(reversal)
	v[TypeCode] = strconv.Itoa(e.code)
	v[Remittance] = e.remittance
	v[Trace], v[OriginalTrace] = e.trace, e.original
	v[RemoteID] = n.reportID + "/" + b.no + "/" + e.trace
	v[TraceKey] = e.original + "/" + b.effective + "/" + itoa(e.cents)
	n.ready = true
	return nil
}

// stated reads the totals of a control; counts and hash have other places in the
// control of a batch than in that of the file.
func (n *nachaReader) stated(count, hash, debit int) (c *nachaControl, err error) {
	c = &nachaControl{}
	if c.count, err = n.number("the number of entries and addenda", count, hash-1); err != nil {
		return nil, err
	}
	if c.hash, err = n.number("the entry hash", hash, hash+9); err != nil {
		return nil, err
	}
	if c.debit.units, err = n.number("the total of debits", debit, debit+11); err != nil {
		return nil, err
	}
	c.credit.units, err = n.number("the total of credits", debit+12, debit+23)
	return c, err
}

// hashDigits is what a control keeps of the entry hash.
const hashDigits = 10_000_000_000

// fault says which total does not tie.
func (t *nachaTotal) fault(what string, c *nachaControl) string {
	switch {
	case c.count != t.count:
		return fmt.Sprintf("%s states %d entries and addenda, there are %d", what, c.count, t.count)
	case c.hash != t.hash%hashDigits:
		return fmt.Sprintf("%s states the entry hash %d, it is %d", what, c.hash, t.hash%hashDigits)
	case !t.debits.is(c.debit):
		return fmt.Sprintf("%s states debits of %s cents, they come to %s", what, c.debit, &t.debits)
	case !t.credit.is(c.credit):
		return fmt.Sprintf("%s states credits of %s cents, they come to %s", what, c.credit, &t.credit)
	}
	return ""
}

func (n *nachaReader) closeBatch() error {
	b := &n.batch
	c, err := n.stated(5, 11, 21)
	if err != nil {
		return err
	}
	no, err := n.number("the batch number", 88, 94)
	if err != nil {
		return err
	}
	what := "the control of batch " + b.no
	fault := b.total.fault(what, c)
	if fault == "" && itoa(no) != b.no {
		fault = fmt.Sprintf("%s has the number %d", what, no)
	}
	n.file.count += b.total.count
	n.file.hash += b.total.hash
	n.file.debits.addTotal(&b.total.debits)
	n.file.credit.addTotal(&b.total.credit)
	n.batches++
	n.level = nachaFile
	return n.facts.unproved(n.opt, fmt.Sprintf("%s: line %d", n.name, n.in.no), fault)
}

func (n *nachaReader) fileControl() error {
	batches, err := n.number("the number of batches", 2, 7)
	if err != nil {
		return err
	}
	if n.control, err = n.stated(14, 22, 32); err != nil {
		return err
	}
	blocks, err := n.number("the number of blocks", 8, 13)
	if err != nil {
		return err
	}
	n.level = nachaPadding
	fault := n.file.fault("the file control", n.control)
	switch {
	case fault != "":
	case batches != n.batches:
		fault = fmt.Sprintf("the file control states %d batches, there are %d", batches, n.batches)
	case blocks != (n.records+9)/10:
		fault = fmt.Sprintf("the file control states %d blocks of ten records, there are %d", blocks, (n.records+9)/10)
	}
	return n.facts.unproved(n.opt, fmt.Sprintf("%s: line %d", n.name, n.in.no), fault)
}
