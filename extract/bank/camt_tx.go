package bank

import (
	"strings"
)

// transaction reads a TxDtls. The first one of an entry waits: alone it makes one
// row with its entry, with others each makes a row of its own.
func (c *camtReader) transaction() error {
	e := &c.entry
	t := camtTx{line: c.line()}
	err := c.each(func(name string) (bool, error) { return c.txChild(&t, name) })
	if err != nil {
		return err
	}
	if t.size > maxRow {
		return c.bad("a transaction with more than %d bytes of text, which is the limit", maxRow)
	}
	t.msgID, t.pmtInfID = first(t.msgID, e.base.msgID), first(t.pmtInfID, e.base.pmtInfID)
	if t.returned {
		e.returned++
	}
	e.txs++
	if e.txs == 1 {
		e.first = t
		return nil
	}
	if e.txs == 2 {
		if err := c.part(&e.first, 1); err != nil {
			return err
		}
		e.first = camtTx{}
	}
	return c.part(&t, e.txs)
}

// part adds one of several transactions to the sum of its entry, and gives its row.
func (c *camtReader) part(t *camtTx, no int64) error {
	e := &c.entry
	d, ok := c.partAmount(t)
	if !ok {
		if e.kept {
			return nil
		}
		e := c.bad("%s: transaction %d of entry %d states no amount in %s: the entry cannot be split", c.st.Name(), no, c.entry.no, c.entry.currency)
		return hint(e, "`bank: {batch: keep}` makes one row of such an entry")
	}
	debit := e.debit
	if t.hasSign {
		debit = t.debit
	}
	d = d.negate(debit)
	e.sum.add(d)
	e.charges.addTotal(&t.charges)
	if !e.kept && !c.skip {
		c.rowOf("tx", t, d, no)
	}
	return nil
}

// partAmount is the amount of a transaction in the currency of its entry: its Amt,
// which .02 does not have, else the first of its details in that currency.
func (c *camtReader) partAmount(t *camtTx) (decimal, bool) {
	for _, a := range t.instructed {
		if a.stated && a.currency == c.entry.currency {
			return a.amount, true
		}
	}
	return decimal{}, false
}

// closeEntry checks the sum of the transactions, counts the entry, and gives its
// row where it has not been split.
func (c *camtReader) closeEntry() error {
	e, b := &c.entry, &c.entry.base
	if !b.hasAmount || !e.hasSign || b.status == "" {
		return c.bad("entry %d of %s has no Amt, no CdtDbtInd or no Sts", e.no, c.st.Name())
	}
	signed := e.amount.negate(e.debit)
	c.st.Entries++
	if c.skip {
		c.facts.Skipped++
		return nil
	}
	booked := b.status == "BOOK"
	c.sum.add(e.amount, e.debit, booked)
	if booked {
		c.proof.add(signed, e.currency)
	}
	if e.details == e.batches && e.txs > 0 && e.stated != e.txs {
		err := c.bad("entry %d of %s states %d transactions and holds %d", e.no, c.st.Name(), e.stated, e.txs)
		if !e.kept {
			return hint(err, "have the file sent again whole; `bank: {batch: keep}` makes one row of each entry")
		}
		c.err = nil
		c.note(err.Error())
	}
	switch {
	case e.txs > 1:
		return c.closeBatch(signed)
	case e.txs == 1 && e.stated <= 1:
		c.rowOf("entry", &e.first, signed, 0)
	case e.stated > 1:
		c.rowOf("batch", &camtTx{}, signed, 0)
	default:
		c.rowOf("entry", &camtTx{}, signed, 0)
	}
	return nil
}

// closeBatch proves that the transactions of a batch come to its entry, or to its
// entry with the charges that were kept of it, which then make a row of their own.
func (c *camtReader) closeBatch(signed decimal) error {
	e := &c.entry
	e.charges.addTotal(&e.base.charges)
	if err := c.batchSum(signed); err != nil {
		return err
	}
	if e.kept {
		c.rowOf("batch", &camtTx{}, signed, 0)
	}
	return nil
}

// batchSum checks the sum of a batch.
func (c *camtReader) batchSum(signed decimal) error {
	e := &c.entry
	if e.sum.is(signed) {
		return nil
	}
	var with total
	with.addTotal(&e.sum)
	with.addTotal(&e.charges)
	kept, ok := e.charges.decimal()
	if ok && with.is(signed) {
		if !e.kept {
			c.rowOf("charges", &camtTx{}, kept, e.txs+1)
		}
		return nil
	}
	err := c.bad("entry %d of %s is %s, but its %d transactions come to %s", e.no, c.st.Name(), signed, e.txs, &e.sum)
	if !e.kept {
		return hint(err, "have the file sent again; `bank: {batch: keep}` makes one row of each entry")
	}
	c.err = nil
	c.note(err.Error())
	return nil
}

// txChild reads a child of a transaction.
func (c *camtReader) txChild(t *camtTx, name string) (known bool, err error) {
	switch name {
	case "Refs":
		err = c.each(func(name string) (bool, error) { return c.ref(t, name) })
	case "Amt":
		a := &t.instructed[0]
		a.amount, a.currency, err = c.amount()
		a.stated = true
	case "CdtDbtInd":
		t.debit, err = c.debit()
		t.hasSign = true
	case "AmtDtls":
		err = c.amountDetails(t)
	case "Chrgs":
		err = c.charged(t)
	case "BkTxCd":
		err = c.bankCode(t)
	case "RltdPties":
		err = c.parties(t)
	case "RmtInf":
		err = c.remittance(t)
	case "RtrInf":
		t.returned = true
		t.reason, t.reasonInfo, err = c.reasonOf()
	case "AddtlTxInf":
		t.info, err = c.text()
		t.size += len(t.info)
	default:
		return false, nil
	}
	return true, err
}

// ref reads a reference of a transaction. The payment block of some banks stands in
// a proprietary reference; only those of the standard are read.
func (c *camtReader) ref(t *camtTx, name string) (bool, error) {
	var to *string
	switch name {
	case "MsgId":
		to = &t.msgID
	case "AcctSvcrRef":
		to = &t.servicerRef
	case "PmtInfId":
		to = &t.pmtInfID
	case "InstrId":
		to = &t.instruction
	case "EndToEndId":
		to = &t.endToEnd
	case "TxId":
		to = &t.tx
	case "UETR":
		to = &t.uetr
	case "MndtId":
		to = &t.mandate
	default:
		return false, nil
	}
	var err error
	*to, err = c.text()
	return true, err
}

// reasonOf reads the reason of a return or rejection: code or proprietary, and the
// words beside it.
func (p *xmlPull) reasonOf() (code, info string, err error) {
	err = p.each(func(name string) (known bool, err error) {
		switch name {
		case "Rsn":
			var s string
			if s, err = p.at("Cd|Prtry"); code == "" {
				code = s
			}
		case "AddtlInf":
			var s string
			s, err = p.text()
			info = joined(info, s)
		default:
			return false, nil
		}
		return true, err
	})
	return code, info, err
}

// joined appends a text behind a blank; beyond maxRow nothing more is taken in, and
// the row is refused by its size.
func joined(a, b string) string {
	switch {
	case a == "" || len(a) > maxRow:
		return a + b[:min(len(b), maxRow)]
	case b == "":
		return a
	}
	return a + " " + b
}

func (c *camtReader) remittance(t *camtTx) error {
	var parts []string
	err := c.each(func(name string) (known bool, err error) {
		switch name {
		case "Ustrd":
			var s string
			s, err = c.text()
			if t.size += len(s); t.size > maxRow {
				return true, c.bad("a transaction with more than %d bytes of text, which is the limit", maxRow)
			}
			if s != "" {
				parts = append(parts, s)
			}
		case "Strd":
			err = c.each(func(name string) (known bool, err error) {
				if name != "CdtrRefInf" {
					return false, nil
				}
				s, err := c.at("Ref")
				if t.creditorRef == "" {
					t.creditorRef = s
				}
				return true, err
			})
		default:
			return false, nil
		}
		return true, err
	})
	t.remittance = strings.Join(parts, " ")
	return err
}

// parties reads names and accounts of debtor and creditor; from .08 on the name
// stands in Pty.
func (c *camtReader) parties(t *camtTx) error {
	return c.each(func(name string) (known bool, err error) {
		switch name {
		case "Dbtr":
			t.debtor.name, err = c.partyName()
		case "Cdtr":
			t.creditor.name, err = c.partyName()
		case "DbtrAcct":
			t.debtor.account, err = c.partyAccount()
		case "CdtrAcct":
			t.creditor.account, err = c.partyAccount()
		default:
			return false, nil
		}
		return true, err
	})
}

func (c *camtReader) partyName() (out string, err error) {
	err = c.each(func(name string) (known bool, err error) {
		switch name {
		case "Nm":
			out, err = c.text()
		case "Pty":
			out, err = c.at("Nm")
		default:
			return false, nil
		}
		return true, err
	})
	return out, err
}

func (c *camtReader) partyAccount() (out string, err error) {
	err = c.each(func(name string) (known bool, err error) {
		if name != "Id" {
			return false, nil
		}
		out, err = c.accountID()
		return true, err
	})
	return out, err
}
