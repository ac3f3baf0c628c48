package bank

import (
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

// camtEntry is the entry that is being read.
type camtEntry struct {
	no       int64
	line     int64
	amount   decimal // unsigned
	currency string
	debit    bool
	hasSign  bool
	sum      total // signed transactions
	charges  total // signed, in the currency of the entry
	kept     bool  // it is one row, whatever it holds
	txs      int64
	returned int64  // transactions that came back
	details  int    // NtryDtls
	stated   int64  // transactions by Btch/NbOfTxs
	batches  int    // NtryDtls that state it
	first    camtTx // the first transaction waits for a second one
	base     camtTx // what the entry says itself
}

// camtTx is what an entry, a batch and a transaction can say alike.
type camtTx struct {
	entryRef, servicerRef           string
	endToEnd, instruction, tx, uetr string
	mandate, creditorRef            string
	msgID, pmtInfID                 string
	hasAmount                       bool
	instructed                      [4]statedAmount // Amt, TxAmt, CntrValAmt, InstdAmt
	debit, hasSign                  bool
	bookingDate, bookingTime, value string
	status                          string
	reversal                        bool
	reason, reasonInfo              string
	returned                        bool
	domain, family, subfamily, code string
	remittance, info                string
	debtor, creditor                party
	charges                         total
	line                            int64
	size                            int
}

type statedAmount struct {
	amount   decimal
	currency string
	stated   bool
}

type party struct{ name, account string }

func (c *camtReader) openEntry() error {
	no := c.entry.no + 1
	if no == 1 {
		if err := c.repeated(); err != nil {
			return err
		}
	}
	c.entry = camtEntry{no: no, line: c.line(), kept: c.opt.Batch == Keep}
	c.level = inEntry
	return nil
}

// repeated looks whether the file holds the statement twice: then the second one
// is skipped where it says that it is a copy, and the file is refused where not,
// since every entry of it would count twice.
func (c *camtReader) repeated() error {
	key := quote(c.st.Account) + quote(c.st.ID) + strconv.Itoa(c.st.Page)
	if c.st.ID == "" {
		return nil
	}
	if !c.seen[key] {
		c.seen[key] = true
		return nil
	}
	if c.st.Copy != "" {
		c.skip = true
		c.facts.Notes = append(c.facts.Notes, Note{Text: c.st.Name() + " is there twice; the second one says " + c.st.Copy + " and is skipped"})
		return nil
	}
	return c.bad("%s is there twice, and does not say that it is a copy: its entries would count twice", c.st.Name())
}

// entryChild handles a child of an entry, or its end.
func (c *camtReader) entryChild() error {
	name, ok, err := c.child()
	if err != nil {
		return err
	}
	if !ok {
		c.level = inStatement
		return c.closeEntry()
	}
	e, b := &c.entry, &c.entry.base
	if e.details > 0 && oneOf(name, "NtryRef|Amt|CdtDbtInd|RvslInd|Sts|BookgDt|ValDt|AcctSvcrRef|BkTxCd|Chrgs") {
		return c.bad("%s stands behind the details of its entry, which no version of the message allows", name)
	}
	switch name {
	case "NtryRef":
		b.entryRef, err = c.text()
	case "Amt":
		e.amount, e.currency, err = c.amount()
		b.hasAmount = true
	case "CdtDbtInd":
		e.debit, err = c.debit()
		e.hasSign = true
	case "RvslInd":
		var s string
		if s, err = c.text(); err == nil {
			b.reversal, err = c.boolean(s)
		}
	case "Sts":
		b.status, err = c.code()
	case "BookgDt":
		b.bookingDate, b.bookingTime, err = c.when()
	case "ValDt":
		b.value, _, err = c.when()
	case "AcctSvcrRef":
		b.servicerRef, err = c.text()
	case "BkTxCd":
		err = c.bankCode(b)
	case "AmtDtls":
		err = c.amountDetails(b)
	case "Chrgs":
		err = c.charged(b)
	case "AddtlNtryInf":
		b.info, err = c.text()
	case "NtryDtls":
		if !b.hasAmount || !e.hasSign || b.status == "" {
			return c.bad("the details of an entry come before its Amt, CdtDbtInd or Sts")
		}
		e.details++
		c.level = inDetails
	default:
		return c.xmlPull.skip()
	}
	return err
}

// code reads a text, or the code or proprietary code in it.
func (c *camtReader) code() (out string, err error) {
	for {
		t, err := c.token()
		if err != nil {
			return "", err
		}
		switch t.Kind {
		case xmlstream.Text:
			if out == "" {
				out = strings.TrimSpace(string(t.Text))
			}
		case xmlstream.Start:
			s, err := c.text()
			if err != nil {
				return "", err
			}
			if out == "" {
				out = s
			}
		default:
			return out, nil
		}
	}
}

// when reads a date, or a time with its date as written.
func (c *camtReader) when() (date, at string, err error) {
	err = c.each(func(name string) (known bool, err error) {
		switch name {
		case "Dt":
			date, err = c.text()
			if len(date) > 10 { // a time, or a date with its zone
				at = fraction(date)
				date = date[:10]
			}
		case "DtTm":
			if at, err = c.text(); date == "" {
				date = dateOf(at)
			}
			at = fraction(at)
		default:
			return false, nil
		}
		return true, err
	})
	return date, at, err
}

// fraction takes zeros from the end of a fraction of seconds beyond microseconds:
// they are written, not measured.
func fraction(s string) string {
	dot := strings.IndexByte(s, '.')
	if dot < 0 {
		return s
	}
	end := dot + 1
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	keep := end
	for keep > dot+7 && s[keep-1] == '0' {
		keep--
	}
	return s[:keep] + s[end:]
}

func (c *camtReader) bankCode(t *camtTx) error {
	return c.each(func(name string) (known bool, err error) {
		switch name {
		case "Domn":
			err = c.each(func(name string) (known bool, err error) {
				switch name {
				case "Cd":
					t.domain, err = c.text()
				case "Fmly":
					err = c.each(func(name string) (known bool, err error) {
						switch name {
						case "Cd":
							t.family, err = c.text()
						case "SubFmlyCd":
							t.subfamily, err = c.text()
						default:
							return false, nil
						}
						return true, err
					})
				default:
					return false, nil
				}
				return true, err
			})
		case "Prtry":
			t.code, err = c.at("Cd")
		default:
			return false, nil
		}
		return true, err
	})
}

// amountDetails reads the amounts behind the one of the entry or transaction.
func (c *camtReader) amountDetails(t *camtTx) error {
	return c.each(func(name string) (bool, error) {
		var i int
		switch name {
		case "TxAmt":
			i = 1
		case "CntrValAmt":
			i = 2
		case "InstdAmt":
			i = 3
		default:
			return false, nil
		}
		return true, c.each(func(name string) (bool, error) {
			if name != "Amt" {
				return false, nil
			}
			a := &t.instructed[i]
			var err error
			a.amount, a.currency, err = c.amount()
			a.stated = true
			return true, err
		})
	})
}

// charged adds up the charges of an entry or transaction, each with its sign; the
// form of .02 has one amount, later ones records. A charge without a sign is one
// that was taken.
func (c *camtReader) charged(t *camtTx) error {
	var d decimal
	var currency string
	stated, debit := false, true
	add := func() {
		if stated && currency == c.entry.currency {
			t.charges.add(d.negate(debit))
		}
		stated, debit = false, true
	}
	var records func(name string) (bool, error)
	records = func(name string) (known bool, err error) {
		switch name {
		case "Amt":
			d, currency, err = c.amount()
			stated = true
		case "CdtDbtInd":
			debit, err = c.debit()
		case "Rcrd":
			stated, debit = false, true
			err = c.each(records)
			add()
		default:
			return false, nil
		}
		return true, err
	}
	if err := c.each(records); err != nil {
		return err
	}
	add()
	return nil
}

// detailsChild handles a batch header or a transaction of an entry.
func (c *camtReader) detailsChild() error {
	name, ok, err := c.child()
	switch {
	case err != nil:
		return err
	case !ok:
		c.level = inEntry
		return nil
	case name == "Btch":
		c.facts.Control++
		b := &c.entry.base
		return c.each(func(name string) (known bool, err error) {
			switch name {
			case "MsgId":
				b.msgID, err = c.text()
			case "PmtInfId":
				b.pmtInfID, err = c.text()
			case "NbOfTxs":
				err = c.stated()
			default:
				return false, nil
			}
			return true, err
		})
	case name == "TxDtls":
		return c.transaction()
	default:
		return c.xmlPull.skip()
	}
}

// stated reads the number of transactions of a batch.
func (c *camtReader) stated() error {
	s, err := c.text()
	if err != nil {
		return err
	}
	d, ok := parseDecimal(s, '.')
	if !ok || d.scale > 0 {
		return c.bad("%s is no number of transactions", quote(s))
	}
	c.entry.stated += d.units
	c.entry.batches++
	return nil
}

// rowOf makes the row of an entry, a batch or a transaction.
func (c *camtReader) rowOf(kind string, t *camtTx, amount decimal, txNo int64) {
	e, b := &c.entry, &c.entry.base
	r := Row{Line: e.line}
	if t.line > 0 {
		r.Line = t.line
	}
	v := &r.Values
	debit := amount.units < 0 || amount.units == 0 && e.debit
	v[Message], v[ReportID] = c.facts.Message, c.reportID
	v[Account], v[AccountCurrency] = c.st.Account, c.st.Currency
	v[StatementID], v[StatementNo], v[Copy] = c.st.ID, c.st.Number, c.st.Copy
	if page := max(c.st.Page, c.page); page > 0 {
		v[Page] = strconv.Itoa(page)
	}
	v[Kind], v[EntryNo] = kind, itoa(e.no)
	if txNo > 0 {
		v[TxNo] = itoa(txNo)
	}
	v[EntryRef] = reference(b.entryRef)
	v[ServicerRef] = reference(first(t.servicerRef, b.servicerRef))
	v[RemoteID] = c.remoteID(t, debit, txNo)
	v[EndToEndID], v[InstructionID] = reference(t.endToEnd), reference(t.instruction)
	v[TxID], v[UETR], v[MandateID] = reference(t.tx), reference(t.uetr), reference(t.mandate)
	v[CreditorRef] = t.creditorRef
	v[MsgID], v[PmtInfID] = reference(first(t.msgID, b.msgID)), reference(first(t.pmtInfID, b.pmtInfID))
	setAmount(v, amount, e.currency, debit)
	for _, i := range []int{3, 1, 0} {
		if a := t.instructed[i]; a.stated {
			v[TxAmount], v[TxCurrency] = a.amount.String(), a.currency
			break
		}
	}
	v[BookingDate], v[BookingTime], v[ValueDate] = b.bookingDate, b.bookingTime, b.value
	c.statusOf(v, t)
	v[Reason], v[ReasonInfo] = t.reason, t.reasonInfo
	v[Reversal] = strconv.FormatBool(b.reversal)
	domain := t
	if t.domain == "" {
		domain = b
	}
	if domain.domain != "" {
		v[TypeCode] = domain.domain + "-" + domain.family + "-" + domain.subfamily
	}
	v[BankCode] = first(t.code, b.code)
	v[Remittance] = t.remittance
	if v[Info] = t.info; v[Info] == "" && txNo == 0 {
		v[Info] = b.info
	}
	other := t.creditor
	if !debit {
		other = t.debtor
	}
	v[Counterparty], v[CounterpartyAccount] = other.name, other.account
	if kind == "batch" {
		v[Count] = itoa(max(e.stated, e.txs))
	}
	c.ready = append(c.ready, r)
}

// remoteID tells the row from all others of the bank. The reference of an entry is
// that of all its transactions, and a reversal may repeat the one of what it takes
// back.
func (c *camtReader) remoteID(t *camtTx, debit bool, txNo int64) string {
	ref := reference(t.servicerRef)
	if ref == "" {
		if ref = reference(c.entry.base.servicerRef); ref == "" {
			return ""
		}
		if txNo > 0 {
			ref += "/" + itoa(txNo)
		}
	}
	return remoteID(c.st.Account, ref, debit, c.entry.base.reversal)
}

// remoteID joins account and reference with the mark of field 61: C, D, RC, RD.
func remoteID(account, ref string, debit, reversal bool) string {
	if ref == "" {
		return ""
	}
	mark := "C"
	if debit != reversal { // RC takes back a credit, and is a debit
		mark = "D"
	}
	if reversal {
		mark = "R" + mark
	}
	return account + "/" + ref + "/" + mark
}

// returns are the sub-families of bank transaction codes by which a payment comes
// back (ISO 20022 external code set): of a payment, of a direct debit, of a cheque.
var returns = map[string]bool{"RRTN": true, "UPDD": true, "UPCT": true, "UPCQ": true}

// reversals are those by which the bank takes back its own entry.
var reversals = map[string]bool{"RPCR": true, "PRDD": true}

// statusOf gives the outcome. A bank books the return of a payment as an entry like
// any other: only its code tells, and BOOK alone would pass for a payment.
func (c *camtReader) statusOf(v *[numColumns]string, t *camtTx) {
	e, b := &c.entry, &c.entry.base
	v[RawStatus], v[Status], v[Finality] = b.status, b.status, "1"
	sub := first(t.subfamily, b.subfamily)
	switch {
	case c.facts.Provisional != "":
		v[Status], v[Finality] = "PROV", "0"
	case b.status != "BOOK":
	case e.kept && e.returned > 0 && e.returned < e.txs:
		v[Status] = "MIXD"
	case t.returned, e.kept && e.returned > 0, returns[sub]:
		v[Status], v[Finality] = "RTRN", "2"
	case b.reversal, reversals[sub]:
		v[Status], v[Finality] = "RVSL", "2"
	default:
		v[Finality] = "2"
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
