package bank

import (
	"io"
	"strconv"
	"strings"
)

// camtReader reads camt.053 (statements), camt.054 (notifications) and camt.052
// (intraday reports) of ISO 20022, versions .02 to .13. They differ in little that
// matters here, so that elements are known by their local names: Sts is a text in
// .02 and holds Cd from .08 on, a statement is Stmt, Ntfctn or Rpt.
//
// It goes down the document level by level, and keeps one transaction at a time:
// memory does not depend on the size of the file, nor on that of an entry.
type camtReader struct {
	*xmlPull
	opt   Options
	facts Facts
	level camtLevel
	row   Row
	ready []Row // rows that wait; at most two

	reportID string
	page     int // of the message
	lastPage bool

	st     Statement
	proof  proof
	seen   map[string]bool // ids of statements
	skip   bool            // the statement is one that was read already
	sum    summary
	entry  camtEntry
	statNo int
}

type camtLevel uint8

const (
	atStart camtLevel = iota
	inMessage
	inStatement
	inEntry
	inDetails
	atEnd
)

// camtMessages are the elements of the messages that are read.
var camtMessages = map[string]string{
	"BkToCstmrStmt": "camt.053", "BkToCstmrStmtV01": "camt.053", "BkToCstmrDbtCdtNtfctn": "camt.054", "BkToCstmrAcctRpt": "camt.052",
}

func newCamt(f io.Reader, name string, opt Options) *camtReader {
	return &camtReader{xmlPull: newXMLPull(f, name), opt: opt, seen: map[string]bool{}}
}

func (c *camtReader) Facts() *Facts { return &c.facts }

func (c *camtReader) Next() (*Row, error) {
	if c.err != nil {
		return nil, c.err // a row of an entry that is at fault may still wait
	}
	for len(c.ready) == 0 {
		if err := c.step(); err != nil {
			c.err = err
			return nil, err
		}
	}
	c.row = c.ready[0]
	c.ready = c.ready[:copy(c.ready, c.ready[1:])]
	return &c.row, nil
}

// step handles one child of the present level.
func (c *camtReader) step() error {
	switch c.level {
	case atStart:
		return c.start()
	case inMessage:
		return c.message()
	case inStatement:
		return c.statement()
	case inEntry:
		return c.entryChild()
	case inDetails:
		return c.detailsChild()
	default:
		return c.end()
	}
}

func (c *camtReader) end() error {
	if err := c.xmlPull.end(); err != nil {
		return err
	}
	places := make([]Place, len(c.facts.Statements))
	for i := range places {
		places[i].Statement = &c.facts.Statements[i]
	}
	if c.facts.Provisional == "" {
		if _, fault := Joined(places); fault != "" {
			if err := c.facts.unproved(c.opt, c.name, fault); err != nil {
				return err
			}
		}
	}
	return io.EOF
}

func (c *camtReader) start() error {
	message, err := c.document()
	if err != nil {
		return err
	}
	kind := camtMessages[message]
	if kind == "" {
		return c.bad("the message is a %s, no camt.052, camt.053 or camt.054", quote(message))
	}
	if c.facts.Message = kind; strings.HasPrefix(c.version, kind) {
		c.facts.Message = c.version
	}
	if kind == "camt.052" {
		c.facts.Provisional = "a camt.052 is an intraday report: its entries may still change"
	}
	c.lastPage, c.level = true, inMessage
	return nil
}

// message handles a child of the message: header, statements, the rest.
func (c *camtReader) message() error {
	name, ok, err := c.child()
	switch {
	case err != nil:
		return err
	case !ok:
		c.level = atEnd
		if c.statNo == 0 {
			return c.bad("the message holds no statement")
		}
		return nil
	case name == "GrpHdr":
		c.facts.Control++
		return c.header()
	case oneOf(name, "Stmt|Ntfctn|Rpt"):
		c.statNo++
		if c.statNo > maxStatements {
			return c.bad("more than %d statements, which is the limit", maxStatements)
		}
		c.st = Statement{First: true, Last: true, Line: c.line()}
		c.proof, c.sum, c.skip = proof{}, summary{}, false
		c.entry = camtEntry{}
		c.level = inStatement
		return nil
	default:
		return c.xmlPull.skip()
	}
}

func (c *camtReader) header() error {
	return c.each(func(name string) (known bool, err error) {
		switch name {
		case "MsgId":
			c.reportID, err = c.text()
		case "MsgPgntn":
			c.page, c.lastPage, err = c.pagination()
		default:
			return false, nil
		}
		return true, err
	})
}

func (c *camtReader) pagination() (page int, last bool, err error) {
	last = true
	err = c.each(func(name string) (known bool, err error) {
		var s string
		switch name {
		case "PgNb":
			if s, err = c.text(); err == nil {
				if page, err = strconv.Atoi(s); err != nil || page < 1 {
					err = c.bad("%s is no number of a page", quote(s))
				}
			}
		case "LastPgInd":
			if s, err = c.text(); err == nil {
				last, err = c.boolean(s)
			}
		default:
			return false, nil
		}
		return true, err
	})
	return page, last, err
}

// boolean reads an xs:boolean.
func (c *camtReader) boolean(s string) (bool, error) {
	switch s {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, c.bad("%s is neither true nor false", quote(s))
}

// statement handles a child of a statement, or its end.
func (c *camtReader) statement() error {
	name, ok, err := c.child()
	if err != nil {
		return err
	}
	if !ok {
		c.level = inMessage
		return c.closeStatement()
	}
	if c.entry.no > 0 && oneOf(name, "Id|Acct|CpyDplctInd|ElctrncSeqNb|LglSeqNb|StmtPgntn|RptPgntn|NtfctnPgntn") {
		return c.bad("%s stands behind the entries of its statement, which no version of the message allows", name)
	}
	switch name {
	case "Id":
		c.st.ID, err = c.text()
	case "ElctrncSeqNb":
		c.st.Number, err = c.text()
	case "LglSeqNb":
		var s string
		if s, err = c.text(); c.st.Number == "" {
			c.st.Number = s
		}
	case "StmtPgntn", "RptPgntn", "NtfctnPgntn":
		c.st.Page, c.st.Last, err = c.pagination()
		c.st.First = c.st.Page <= 1
	case "FrToDt":
		err = c.reported()
	case "CpyDplctInd":
		c.st.Copy, err = c.text()
	case "Acct":
		err = c.account()
	case "Bal":
		c.facts.Control++
		err = c.balance()
	case "TxsSummry":
		c.facts.Control++
		err = c.summary()
	case "Ntry":
		return c.openEntry()
	default:
		return c.xmlPull.skip()
	}
	return err
}

func (c *camtReader) reported() error {
	return c.each(func(name string) (known bool, err error) {
		var s string
		switch {
		case oneOf(name, "FrDtTm|FrDt"):
			s, err = c.text()
			c.st.From = dateOf(s)
		case oneOf(name, "ToDtTm|ToDt"):
			s, err = c.text()
			c.st.Until = dateOf(s)
		default:
			return false, nil
		}
		return true, err
	})
}

// dateOf is the date of a date or a time as written: a bank's local day.
func dateOf(s string) string {
	if len(s) > 10 && s[10] == 'T' {
		return s[:10]
	}
	return s
}

func (c *camtReader) account() error {
	return c.each(func(name string) (known bool, err error) {
		switch name {
		case "Id":
			c.st.Account, err = c.accountID()
		case "Ccy":
			c.st.Currency, err = c.text()
		default:
			return false, nil
		}
		return true, err
	})
}

// accountID reads an IBAN, or the id of another scheme.
func (c *camtReader) accountID() (out string, err error) {
	err = c.each(func(name string) (known bool, err error) {
		switch name {
		case "IBAN":
			out, err = c.text()
		case "Othr", "PrtryAcct":
			var s string
			if s, err = c.at("Id"); out == "" {
				out = s
			}
		default:
			return false, nil
		}
		return true, err
	})
	return out, err
}

// balance reads one balance. Only those that open and close the booked account
// prove something; OPBD wins over PRCD, which is the closing balance of the day
// before; of interim ones the first opens and the last closes.
func (c *camtReader) balance() error {
	var b balance
	var kind string
	var debit bool
	err := c.each(func(name string) (known bool, err error) {
		switch name {
		case "Tp":
			kind, err = c.at("CdOrPrtry|Cd", "Cd|Prtry")
		case "Amt":
			b.amount, b.currency, err = c.amount()
		case "CdtDbtInd":
			debit, err = c.debit()
		case "Dt":
			var s string
			s, err = c.at("Dt|DtTm")
			b.date = dateOf(s)
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	b.amount = b.amount.negate(debit)
	p := &c.proof
	switch kind {
	case "OPBD":
		if p.opening == nil || p.opening.rank != 2 {
			p.opening = &b
			b.rank = 2
		}
	case "PRCD":
		if p.opening == nil || p.opening.rank == 0 {
			p.opening = &b
			b.rank = 1
		}
	case "CLBD":
		b.rank = 2
		p.closing = &b
	case "ITBD":
		if p.opening == nil {
			p.opening = &b
		} else if p.closing == nil || p.closing.rank == 0 {
			p.closing = &b
		}
	}
	return nil
}

// amount reads an amount with its currency; the sign stands elsewhere.
func (c *camtReader) amount() (decimal, string, error) {
	currency := c.attr("Ccy")
	s, err := c.text()
	if err != nil {
		return decimal{}, "", err
	}
	d, ok := parseDecimal(strings.TrimPrefix(s, "+"), '.')
	if !ok {
		return d, "", c.bad("%s is no amount: digits with a point, at most %d of them, without a sign", quote(s), maxDigits)
	}
	return d, currency, nil
}

func (c *camtReader) debit() (bool, error) {
	switch s, err := c.text(); {
	case err != nil:
		return false, err
	case s == "CRDT":
		return false, nil
	case s == "DBIT":
		return true, nil
	default:
		return false, c.bad("%s is neither CRDT nor DBIT", quote(s))
	}
}

// closeStatement proves the statement.
func (c *camtReader) closeStatement() error {
	st, p := &c.st, &c.proof
	if st.Page == 0 && (c.page > 0 || !c.lastPage) { // the pages of the message are its own
		st.Page, st.First, st.Last = c.page, c.page <= 1, c.lastPage
	}
	if o := p.opening; o != nil {
		st.Opening, st.From = o.amount.String(), o.date
		if st.Currency == "" {
			st.Currency = o.currency
		}
	}
	if cl := p.closing; cl != nil {
		st.Closing, st.Until = cl.amount.String(), cl.date
		st.Currency, st.From = first(st.Currency, cl.currency), first(st.From, cl.date)
	}
	if c.skip { // it stands there already
		return nil
	}
	st.Booked = p.booked.String()
	c.facts.Statements = append(c.facts.Statements, *st)
	fault := c.sum.fault()
	if c.facts.Provisional == "" {
		if f := p.fault(); f != "" {
			fault = f
		}
		if fault == "" && c.opt.Proof == Require && (p.opening == nil || p.closing == nil) {
			fault = "it states no opening and closing balance (OPBD, CLBD), which the job requires"
		}
	}
	return c.facts.unproved(c.opt, c.name+": "+st.Name(), fault)
}

// note keeps what does not tie, and withdraws the proof of the file.
func (c *camtReader) note(text string) {
	c.facts.Notes = append(c.facts.Notes, Note{Text: text, Withdraw: true})
}
