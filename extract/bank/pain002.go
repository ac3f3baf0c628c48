package bank

import (
	"io"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Operation is one operation of a message that was sent, by the ids that pain.002
// refers to.
type Operation struct {
	MsgID, PmtInfID, EndToEndID, InstructionID string
}

// Operations are read from start to end, once for each file.
type Operations interface {
	Next() (*Operation, error) // io.EOF after the last one
	Close() error
}

// maxListed bounds the transactions of one file that are remembered, so that a
// status of their group does not reach them.
const maxListed = 2_000_000

// painReader reads pain.002 of ISO 20022, versions .02 to .14, by local names: banks
// use namespaces of their own. The status of a transaction stands for itself; one
// of a payment block or of the whole message stands for every transaction in it that
// is not listed.
type painReader struct {
	*xmlPull
	opt      Options
	facts    Facts
	level    painLevel
	row      Row
	ready    bool
	reportID string
	group    painStatus
	payment  painStatus
	// of the message:
	listed   int64 // transactions that are listed, or reached by a payment
	payments int   // payment blocks with a status
	open     bool  // a payment of unknown size has a row: the group reaches no more
	wide     []painStatus
	place    map[[2]string]int // message and payment → index of wide
	explicit map[string]bool   // listed transactions, where operations are reached
	reached  Operations
	found    []bool // by wide: an operation was reached
	rest     int
}

type painLevel uint8

const (
	painStart painLevel = iota
	painReport
	painPayment
	painReach
	painRest
	painEnd
)

// painStatus is a status with what it was given for.
type painStatus struct {
	level                string
	msgID, pmtInfID      string
	status, reason, info string
	count                int64 // stated number of transactions, -1 unknown
	listed               int64
	line                 int64
	time                 string
}

func newPain002(f io.Reader, name string, opt Options) *painReader {
	return &painReader{xmlPull: newXMLPull(f, name), opt: opt, explicit: map[string]bool{}}
}

func (p *painReader) Facts() *Facts { return &p.facts }

func (p *painReader) Next() (*Row, error) {
	if p.err != nil {
		return nil, p.err
	}
	p.ready = false
	for !p.ready {
		if err := p.step(); err != nil {
			p.err = err
			if p.reached != nil {
				p.reached.Close()
				p.reached = nil
			}
			return nil, p.err
		}
	}
	return &p.row, nil
}

func (p *painReader) step() error {
	switch p.level {
	case painStart:
		return p.start()
	case painReport:
		return p.report()
	case painPayment:
		return p.block()
	case painReach:
		return p.reach()
	case painRest:
		return p.unreached()
	default:
		return io.EOF
	}
}

func (p *painReader) start() error {
	message, err := p.document()
	if err != nil {
		return err
	}
	if !oneOf(message, "CstmrPmtStsRpt|PmtStsRpt|pain.002.001.02") {
		return p.bad("the message is a %s, no pain.002", quote(message))
	}
	p.facts.Message = "pain.002"
	if strings.HasPrefix(p.version, "pain.002") {
		p.facts.Message = p.version
	}
	p.group.count = -1
	p.level = painReport
	return nil
}

// report handles a child of the message.
func (p *painReader) report() error {
	name, ok, err := p.child()
	switch {
	case err != nil:
		return err
	case !ok:
		return p.closeReport()
	case name == "GrpHdr":
		p.facts.Control++
		p.reportID, err = p.at("MsgId")
		return err
	case name == "OrgnlGrpInfAndSts":
		p.facts.Control++
		p.group = painStatus{level: "group", count: -1, line: p.line()}
		return p.each(func(name string) (bool, error) { return p.groupChild(&p.group, name) })
	case name == "OrgnlPmtInfAndSts":
		p.facts.Control++
		p.payment = painStatus{level: "payment", msgID: p.group.msgID, count: -1, line: p.line()}
		p.level = painPayment
		return nil
	case name == "TxInfAndSts":
		return p.transaction(&painStatus{msgID: p.group.msgID})
	default:
		return p.skip()
	}
}

func (p *painReader) groupChild(s *painStatus, name string) (known bool, err error) {
	switch name {
	case "OrgnlMsgId":
		s.msgID, err = p.text()
	case "OrgnlPmtInfId":
		s.pmtInfID, err = p.text()
	case "GrpSts", "PmtInfSts":
		s.status, err = p.text()
	case "OrgnlNbOfTxs":
		var text string
		if text, err = p.text(); err == nil {
			if s.count, err = strconv.ParseInt(text, 10, 64); err != nil {
				err = p.bad("%s is no number of transactions", quote(text))
			}
		}
	case "StsRsnInf":
		err = p.statusReason(s)
	default:
		return false, nil
	}
	return true, err
}

// statusReason reads one of several reasons; the first code stands, the words are
// joined.
func (p *painReader) statusReason(s *painStatus) error {
	code, info, err := p.reasonOf()
	s.reason = first(s.reason, code)
	s.info = joined(s.info, info)
	if len(s.info) > maxRow {
		return p.bad("a status with more than %d bytes of text, which is the limit", maxRow)
	}
	return err
}

// block handles a child of a payment block, or its end.
func (p *painReader) block() error {
	name, ok, err := p.child()
	switch {
	case err != nil:
		return err
	case !ok:
		p.level = painReport
		return p.closeBlock()
	case name == "TxInfAndSts":
		return p.transaction(&p.payment)
	default:
		known, err := p.groupChild(&p.payment, name)
		if err == nil && !known {
			err = p.skip()
		}
		return err
	}
}

// transaction reads the status of one transaction, which goes before that of its
// block and message; without one of its own it has theirs.
func (p *painReader) transaction(block *painStatus) error {
	p.row = Row{Line: p.line()}
	v := &p.row.Values
	s := painStatus{msgID: block.msgID}
	err := p.each(func(name string) (known bool, err error) {
		switch name {
		case "OrgnlGrpInf":
			var id string
			id, err = p.at("OrgnlMsgId")
			s.msgID = first(id, s.msgID)
		case "OrgnlInstrId":
			v[InstructionID], err = p.reference()
		case "OrgnlEndToEndId":
			v[EndToEndID], err = p.reference()
		case "OrgnlTxId":
			v[TxID], err = p.reference()
		case "OrgnlUETR":
			v[UETR], err = p.reference()
		case "AcctSvcrRef":
			v[ServicerRef], err = p.reference()
		case "TxSts":
			s.status, err = p.text()
		case "StsRsnInf":
			err = p.statusReason(&s)
		case "AccptncDtTm":
			s.time, err = p.text()
		case "OrgnlTxRef":
			err = p.instructed(v)
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if s.status == "" {
		from := block
		if from.status == "" {
			from = &p.group
		}
		s.status, s.reason, s.info = from.status, first(s.reason, from.reason), first(s.info, from.info)
	}
	p.listed++
	block.listed++
	s.level, s.pmtInfID = "transaction", block.pmtInfID
	p.fill(&s)
	p.ready = true
	return p.list(v)
}

func (p *painReader) reference() (string, error) {
	s, err := p.text()
	return reference(s), err
}

func (p *painReader) instructed(v *[numColumns]string) error {
	return p.each(func(name string) (bool, error) {
		if name != "Amt" {
			return false, nil
		}
		return true, p.each(func(name string) (bool, error) {
			if name != "InstdAmt" {
				return false, nil
			}
			v[Currency] = p.attr("Ccy")
			s, err := p.text()
			if err != nil {
				return true, err
			}
			d, ok := parseDecimal(s, '.')
			if !ok {
				return true, p.bad("%s is no amount", quote(s))
			}
			v[Amount] = d.String()
			return true, nil
		})
	})
}

// list remembers a transaction, so that no status of its group reaches it.
func (p *painReader) list(v *[numColumns]string) error {
	if p.opt.Reach == nil {
		return nil
	}
	if len(p.explicit) >= maxListed {
		return p.bad("more than %d transactions, which is the limit where `bank.reach` is declared", maxListed)
	}
	for _, k := range operationKeys(v[EndToEndID], v[InstructionID]) {
		p.explicit[k] = true
	}
	return nil
}

// operationKeys are the ids of a transaction that are filled, each marked by its kind.
func operationKeys(endToEnd, instruction string) []string {
	var out []string
	if endToEnd != "" {
		out = append(out, "e"+endToEnd)
	}
	if instruction != "" {
		out = append(out, "i"+instruction)
	}
	return out
}

// fill writes what all rows have.
func (p *painReader) fill(s *painStatus) {
	v := &p.row.Values
	v[Message], v[ReportID], v[Level] = p.facts.Message, p.reportID, s.level
	v[MsgID], v[PmtInfID] = reference(s.msgID), reference(s.pmtInfID)
	v[Status], v[Reason], v[ReasonInfo], v[BookingTime] = s.status, s.reason, s.info, fraction(s.time)
	if s.count >= 0 && s.level != "transaction" && s.level != "reach" {
		v[Count] = itoa(s.count)
	}
	switch s.status {
	case "ACSC", "ACCC", "RJCT", "CANC", "BLCK":
		v[Finality] = "2"
	default:
		v[Finality] = "1"
	}
}

// closeBlock decides whether the status of a payment block reaches transactions
// that it does not list. One that is accepted in part says nothing about them.
func (p *painReader) closeBlock() error {
	b := &p.payment
	if b.status == "" || b.status == "PART" && b.listed > 0 {
		return nil
	}
	p.payments++
	if b.listed > 0 && b.count <= b.listed {
		return nil
	}
	if b.count < 0 {
		p.open = true
	}
	p.listed += max(b.count-b.listed, 0)
	return p.widen(b)
}

// widen gives the row of a status that stands for several operations, or keeps it
// until the operations are read.
func (p *painReader) widen(s *painStatus) error {
	if p.opt.Reach != nil {
		if len(p.wide) >= maxListed {
			return p.bad("more than %d payment blocks, which is the limit where `bank.reach` is declared", maxListed)
		}
		p.wide = append(p.wide, *s)
		return nil
	}
	p.row = Row{Line: s.line}
	p.fill(s)
	p.ready = true
	return nil
}

// closeReport decides whether the status of the message reaches more than what
// stands below it.
func (p *painReader) closeReport() error {
	if err := p.end(); err != nil && err != io.EOF {
		return err
	}
	p.err, p.level = nil, painReach // the end of the file was seen; operations may follow
	g := &p.group
	below := p.listed > 0 || p.payments > 0
	switch {
	case g.status == "":
		if !below {
			return p.bad("the report states no status")
		}
		return nil
	case below && (g.status == "PART" || p.open || g.count <= p.listed):
		return nil
	}
	return p.widen(g)
}

// reach gives one row for each operation of the declared list that a status of a
// payment or message stands for: the one of its payment, else of its message.
func (p *painReader) reach() error {
	if len(p.wide) == 0 {
		p.level = painEnd
		return nil
	}
	if p.reached == nil {
		var err error
		if p.reached, err = p.opt.Reach(); err != nil {
			return err
		}
		p.found = make([]bool, len(p.wide))
	}
	op, err := p.reached.Next()
	if err == io.EOF {
		p.level = painRest
		return nil
	}
	if err != nil {
		return err
	}
	for _, k := range operationKeys(reference(op.EndToEndID), reference(op.InstructionID)) {
		if p.explicit[k] {
			return nil
		}
	}
	at := p.reaches(op)
	if at < 0 {
		return nil
	}
	p.found[at] = true
	s := p.wide[at]
	s.level, s.pmtInfID = "reach", first(op.PmtInfID, s.pmtInfID)
	p.row = Row{Line: s.line}
	p.fill(&s)
	v := &p.row.Values
	v[EndToEndID], v[InstructionID] = reference(op.EndToEndID), reference(op.InstructionID)
	p.ready = true
	return nil
}

// reaches finds the status that stands for an operation, -1 none.
func (p *painReader) reaches(op *Operation) int {
	if p.place == nil {
		p.place = map[[2]string]int{}
		for i := range p.wide {
			p.place[[2]string{p.wide[i].msgID, p.wide[i].pmtInfID}] = i
		}
	}
	if op.MsgID == "" {
		return -1
	}
	if i, ok := p.place[[2]string{op.MsgID, op.PmtInfID}]; ok {
		return i
	}
	if i, ok := p.place[[2]string{op.MsgID, ""}]; ok {
		return i
	}
	return -1
}

// unreached gives the rows of statuses that met no operation: nothing of the file
// is lost, and a note says so.
func (p *painReader) unreached() error {
	for ; p.rest < len(p.wide); p.rest++ {
		if p.found[p.rest] {
			continue
		}
		s := p.wide[p.rest]
		p.rest++
		p.facts.Notes = append(p.facts.Notes, Note{Text: "the status " + s.status + " of the " + s.level + " " + first(s.pmtInfID, s.msgID) + " meets no operation of `bank.reach`"})
		p.row = Row{Line: s.line}
		p.fill(&s)
		p.ready = true
		return nil
	}
	if p.reached != nil {
		err := p.reached.Close()
		p.reached = nil
		if err != nil {
			return fail.Wrap(fail.Input, err, "%s: the operations of bank.reach", p.name)
		}
	}
	p.level = painEnd
	return nil
}
