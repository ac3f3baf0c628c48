package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func joined(t *testing.T, left, right string, opt PairOptions) (*Pair, *rules.Job, string) {
	t.Helper()
	opt.Plain = true
	p, err := Join(t.Context(), left, right, opt)
	if err != nil {
		t.Fatal(err)
	}
	job, err := rules.Parse([]byte(p.Job), "job.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Job)
	}
	return p, job, strings.Join(p.Assumed, "\n")
}

// TestOneAmount: an amount that only one side is known to have is paired with the
// column that holds the same numbers, or declared on no side.
func TestOneAmount(t *testing.T) {
	left := writeFile(t, "left.csv", []byte("Nr;Betrag\nop-1;10,00\nop-2;1.005,50\nop-3;7,25\n"))
	same := writeFile(t, "same.csv", []byte("ref,Brutto,Kosten\nop-1,10.00,0.10\nop-2,1005.50,0.20\nop-3,7.20,0.30\n"))
	other := writeFile(t, "other.csv", []byte("ref,Kosten\nop-1,0.10\nop-2,0.20\nop-3,0.30\n"))
	column := func(job *rules.Job, side rules.Side) string {
		if f := job.Spec(side).Field("amount"); f != nil {
			return f.Column + " " + string(f.Type)
		}
		return ""
	}
	for _, c := range []struct {
		left, right string
		compare     []string
		l, r, says  string
	}{
		{left, same, nil, "Betrag decimal", "Brutto decimal", "in 2 of 3 records with one key"},
		{same, left, nil, "Brutto decimal", "Betrag decimal", "in 2 of 3 records with one key"},
		{left, other, nil, "", "", "--compare Betrag=COLUMN names it"},
		{other, left, nil, "", "", "--compare COLUMN=Betrag names it"},
		{left, same, []string{"Betrag=Brutto"}, "Betrag decimal", "Brutto decimal", "amount (Betrag = Brutto), as decimal"},
		{left, same, []string{"Betrag=Kosten"}, "Betrag decimal", "Kosten decimal", "amount (Betrag = Kosten), as decimal"},
	} {
		p, job, assumed := joined(t, c.left, c.right, PairOptions{Compare: c.compare})
		if l, r := column(job, rules.Operations), column(job, rules.Results); l != c.l || r != c.r || !strings.Contains(assumed, c.says) {
			t.Errorf("%s %s %v: amounts %q and %q, want %q and %q, and %q in\n%s\n%s", c.left, c.right, c.compare, l, r, c.l, c.r, c.says, assumed, p.Job)
		}
		if got := strings.Contains(p.Job, "- {field: amount}"); got != (c.l != "") {
			t.Errorf("amount compared: %v\n%s", got, p.Job)
		}
	}
}

const camtHead = `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-29T06:00:00Z</CreDtTm></GrpHdr><Stmt><Id>S1</Id><CreDtTm>2026-11-29T06:00:00Z</CreDtTm><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>`

func camtEntry(id, amount, mark string) string {
	return fmt.Sprintf(`<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-28</Dt></BookgDt><AcctSvcrRef>B%s</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>`, amount, mark, id, id)
}

// TestSigns: payouts that one side lists as positive meet the debits of a bank.
func TestSigns(t *testing.T) {
	left := writeFile(t, "pay.csv", []byte("op_id,amount,currency\nop-1,10.00,EUR\nop-2,5.50,EUR\n"))
	bank := func(second string) string {
		return writeFile(t, "st.xml", []byte(camtHead+camtEntry("op-1", "10.00", "DBIT")+camtEntry("op-2", "5.50", second)+"</Stmt></BkToCstmrStmt></Document>"))
	}
	p, job, assumed := joined(t, left, bank("DBIT"), PairOptions{})
	f := job.Results.Field("amount")
	if f == nil || f.Column != "unsigned_amount" || f.SignFrom == nil || f.SignFrom.Positive[0] != "DBIT" || !strings.Contains(assumed, "unsigned_amount") {
		t.Errorf("%+v\n%s\n%s", f, assumed, p.Job)
	}
	p, job, assumed = joined(t, left, bank("CRDT"), PairOptions{})
	if f := job.Results.Field("amount"); f == nil || f.Column != "amount" || strings.Contains(assumed, "unsigned_amount") {
		t.Errorf("one of the signs agrees: %+v\n%s\n%s", f, assumed, p.Job)
	}
}

// TestOwnFile: a table of operations is known by its attempts, in German too, and a
// message that was sent is no payment that succeeded.
func TestOwnFile(t *testing.T) {
	r := mustLook(t, writeFile(t, "ops.csv", []byte("Bestellnr;Art;Betrag;Währung;Status;Versuche;Angelegt\nB-1;payout;10,00;EUR;sent;1;2026-11-28T10:00:00Z\nB-2;payout;11,50;EUR;open;3;2026-11-28T11:00:00Z\n")), Options{})
	if r.Side != string(rules.Operations) || r.Column("Versuche").Field != "attempts" || r.Column("Status").Field != "state" || r.Column("Bestellnr").Field != "operation_id" {
		t.Errorf("side %s\n%s", r.Side, r.Fragment)
	}
	r = mustLook(t, writeFile(t, "res.csv", []byte("id,amount,status\nB-1,10.00,sent\nB-2,11.50,paid\n")), Options{Side: rules.Results})
	if strings.Contains(r.Fragment, "sent: succeeded") || !strings.Contains(r.Fragment, "until you say what they mean: sent") {
		t.Errorf("%s", r.Fragment)
	}
}

// TestTexts: a remark is said once, a bank's numbers are its standard's, and a file
// that is not there is told with a remedy.
func TestTexts(t *testing.T) {
	r := mustLook(t, writeFile(t, "days.csv", []byte("id,created_at\na,01/02/2026 10:00:00\nb,03/04/2026 11:00:00\n")), Options{})
	if strings.Contains(r.Fragment, "GUESS, unsure; GUESS") || strings.Count(r.Fragment, "as well; the texts do not say their zone") != 1 {
		t.Errorf("%s", r.Fragment)
	}
	r = mustLook(t, writeFile(t, "st.xml", []byte(camtHead+camtEntry("op-1", "10.00", "DBIT")+"</Stmt></BkToCstmrStmt></Document>")), Options{})
	for _, m := range r.Remarks {
		if m.Topic == "numbers" {
			t.Errorf("%+v", m)
		}
	}
	_, err := Look(t.Context(), "no_such_file.csv", Options{})
	if e, ok := errors.AsType[*fail.Error](err); !ok || e.Hint == "" {
		t.Errorf("%v", err)
	}
}
