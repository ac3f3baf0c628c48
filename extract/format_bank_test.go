package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// bankStatement is a proved statement of one entry, with invented values.
func bankStatement(message, id, number, day, opening, amount, closing string) string {
	return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:` + message + `.001.08"><BkToCstmrStmt><Stmt><Id>` + id + `</Id><ElctrncSeqNb>` + number + `</ElctrncSeqNb><Acct><Id><IBAN>DE02</IBAN></Id></Acct>` +
		`<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + opening + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>` + day + `</Dt></Dt></Bal>` +
		`<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + closing + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>` + day + `</Dt></Dt></Bal>` +
		`<Ntry><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>` + day + `</Dt></BookgDt><AcctSvcrRef>B` + number + `</AcctSvcrRef>` +
		`<NtryDtls><TxDtls><Refs><EndToEndId>op-` + number + `</EndToEndId></Refs></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`
}

func intraday(s string) string {
	return strings.NewReplacer("BkToCstmrStmt", "BkToCstmrAcctRpt", "Stmt>", "Rpt>").Replace(s)
}

var bankStatus = rules.Field{Name: "status", Map: map[string]rules.Status{"BOOK": rules.Succeeded, "PROV": rules.Pending}}

// bankWorld has the fields of a bank's results.
func bankWorld(t *testing.T, status ...rules.Field) *world {
	w := newWorld(t)
	w.fields(rules.Results, append([]rules.Field{
		{Name: "operation_id", Column: "end_to_end_id"},
		{Name: "amount", Type: rules.Decimal, Scale: 2},
		{Name: "currency", Type: rules.Currency},
	}, status...)...)
	return w
}

// bank adds a source of a bank; days, where set, are its covered time in seconds.
func (w *world) bank(path string, format rules.Format, change func(*rules.Source, *rules.Input), days ...int64) {
	w.source(rules.Results, path, func(s *rules.Source, in *rules.Input) {
		s.Format, s.Bank, s.CSV = format, &rules.Bank{}, rules.CSV{}
		s.Fields = w.job.Results.Fields
		if len(days) == 2 {
			from, until := days[0]*1_000_000, days[1]*1_000_000
			s.Coverage.Complete, in.From, in.Until = false, &from, &until
		}
		if change != nil {
			change(s, in)
		}
	})
}

// covered writes the proved times of a relation in seconds.
func covered(rel *Relation) string {
	var out []string
	for _, i := range rel.Coverage {
		out = append(out, fmt.Sprintf("%d-%d", i.From/1_000_000, i.Until/1_000_000))
	}
	return strings.Join(out, " ")
}

func findings(rel *Relation, code string) (out []string) {
	for _, f := range rel.Findings {
		if f.Code == code {
			out = append(out, f.Text)
		}
	}
	return out
}

func TestBankRows(t *testing.T) {
	w := bankWorld(t, bankStatus)
	w.write("a.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10.00", "2.50", "12.50"))
	w.bank("a.xml", rules.FormatCamt, nil)
	for _, cached := range []bool{false, true} {
		rel, rows, err := w.load(rules.Results)
		if err != nil {
			t.Fatal(err)
		}
		v := rows[0].V
		if len(rows) != 1 || v["f_operation_id"] != "op-1" || fmt.Sprint(v["f_amount"]) != "2.50" || v["f_currency"] != "EUR" {
			t.Errorf("row %v", v)
		}
		f := rel.Files[0]
		if f.Cached != cached || f.Records != 1 || f.Control != 2 || len(rel.Totals) != 1 || rel.Totals[0].Sum.FloatString(2) != "2.50" {
			t.Errorf("file %+v, totals %+v", f, rel.Totals)
		}
	}
}

func TestBankColumnIsMissing(t *testing.T) {
	w := newWorld(t)
	w.fields(rules.Results, rules.Field{Name: "operation_id", Column: "end_to_end"})
	w.write("a.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10", "2.50", "12.50"))
	w.bank("a.xml", rules.FormatCamt, nil)
	_, _, err := w.load(rules.Results)
	wantInputError(t, err, "a.xml", "there is no column end_to_end")
}

func TestBankFileIsRefused(t *testing.T) {
	w := bankWorld(t, bankStatus)
	w.write("a.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10.00", "2.50", "12.51"))
	w.bank("a.xml", rules.FormatCamt, nil)
	_, _, err := w.load(rules.Results)
	wantInputError(t, err, "a.xml", "the statement 1 of account DE02", "opening 10.00 + entries 2.50 = 12.50 EUR, but the closing balance is 12.51")
}

// What does not tie and is read all the same proves no absence, also where the file
// was staged before.
func TestBankReportWithdrawsCoverage(t *testing.T) {
	w := bankWorld(t, bankStatus)
	w.write("a.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10.00", "2.50", "12.51"))
	w.bank("a.xml", rules.FormatCamt, func(s *rules.Source, _ *rules.Input) { s.Bank.Proof = "report" }, 0, 10)
	for range 2 {
		rel, rows, err := w.load(rules.Results)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 || covered(rel) != "0-0" || len(findings(rel, "bank_note")) != 1 || len(findings(rel, "coverage_withdrawn")) != 1 {
			t.Errorf("%d rows, covered %s, findings %+v", len(rows), covered(rel), rel.Findings)
		}
	}
}

// A statement that is missing between two files withdraws the time of both; the
// others stand.
func TestBankGapWithdrawsCoverage(t *testing.T) {
	for _, c := range []struct {
		name    string
		third   string
		ignore  bool
		want    string
		finding string
	}{
		{"whole", bankStatement("camt.053", "S3", "3", "2026-11-29", "13", "1", "14"), false, "0-30", ""},
		{"a number is missing", bankStatement("camt.053", "S4", "4", "2026-11-30", "13", "1", "14"), false, "0-10", "the numbers between are missing"},
		{"numbers say nothing", bankStatement("camt.053", "S4", "4", "2026-11-30", "13", "1", "14"), true, "0-30", ""},
		{"a balance does not go on", bankStatement("camt.053", "S3", "3", "2026-11-29", "15", "1", "16"), true, "0-10", "opens with 15"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := bankWorld(t, bankStatus)
			w.write("1.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10", "2", "12"))
			w.write("2.xml", bankStatement("camt.053", "S2", "2", "2026-11-28", "12", "1", "13"))
			w.write("3.xml", c.third)
			w.bank("1.xml", rules.FormatCamt, nil, 0, 10)
			src := w.job.Inputs[rules.Results][0].Source
			if c.ignore {
				src.Bank.Sequence = "ignore"
			}
			for i, path := range []string{"2.xml", "3.xml"} {
				from, until := int64(i+1)*10_000_000, int64(i+2)*10_000_000
				w.job.Inputs[rules.Results] = append(w.job.Inputs[rules.Results], rules.Input{Source: src, Path: path, From: &from, Until: &until})
			}
			rel, _, err := w.load(rules.Results)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(findings(rel, "statement_gap"), " "); covered(rel) != c.want || !strings.Contains(got, c.finding) || (got == "") != (c.finding == "") {
				t.Errorf("covered %s, want %s; gaps %q", covered(rel), c.want, got)
			}
		})
	}
}

// Two messages of one file that are the same count twice as well.
func TestT16StatementTwiceInOneFile(t *testing.T) {
	w := bankWorld(t, bankStatus)
	message := ":20:R\n:25:ACC\n:28C:1\n:60F:C261127EUR1,\n:61:261127C2,NTRFx\n:62F:C261127EUR3,\n-\n"
	w.write("a.sta", message+message)
	w.bank("a.sta", rules.FormatMT940, nil)
	_, _, err := w.load(rules.Results)
	wantInputError(t, err, "a.sta holds the statement 1 of account ACC twice")
}

// Notifications and statements of one account are numbered apart.
func TestBankKindsAreNumberedApart(t *testing.T) {
	w := bankWorld(t, bankStatus)
	w.write("1.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10", "2", "12"))
	w.write("2.xml", strings.NewReplacer("BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn", "Stmt>", "Ntfctn>").Replace(bankStatement("camt.054", "N9", "9", "2026-11-27", "10", "2", "12")))
	w.bank("*.xml", rules.FormatCamt, nil, 0, 10)
	rel, _, err := w.load(rules.Results)
	if err != nil {
		t.Fatal(err)
	}
	if covered(rel) != "0-10" {
		t.Errorf("covered %s, %+v", covered(rel), rel.Findings)
	}
}

func TestT16StatementInTwoFiles(t *testing.T) {
	w := bankWorld(t, bankStatus)
	s := bankStatement("camt.053", "S1", "1", "2026-11-27", "10", "2", "12")
	w.write("1.xml", s)
	w.write("2.xml", strings.Replace(s, "<Stmt><Id>", "<!-- sent again --><Stmt><Id>", 1))
	w.bank("*.xml", rules.FormatCamt, nil)
	_, _, err := w.load(rules.Results)
	wantInputError(t, err, "1.xml and 2.xml both hold the statement 1 of account DE02: its entries would count twice")
}

// Intraday rows never count as final: without a status that says so their file is
// refused, and their silence proves nothing, while that of the statement does.
func TestBankProvisional(t *testing.T) {
	report := intraday(bankStatement("camt.052", "R1", "1", "2026-11-27", "10", "2", "12"))
	for _, c := range []struct {
		name   string
		status []rules.Field
		words  string
	}{
		{"no status", nil, "its rows have no mapped status, and would count as succeeded"},
		{"a status without a map", []rules.Field{{Name: "status"}}, "its rows have no mapped status"},
		{"another column", []rules.Field{{Name: "status", Column: "raw_status", Map: map[string]rules.Status{"BOOK": rules.Succeeded}}}, "not that of the column `status`"},
		{"mapped as succeeded", []rules.Field{{Name: "status", Map: map[string]rules.Status{"PROV": rules.Succeeded}}}, "says that PROV is succeeded"},
		{"mapped as failed", []rules.Field{{Name: "status", Map: map[string]rules.Status{"PROV": rules.Failed}}}, "says that PROV is failed"},
		{"test mapped as failed", []rules.Field{{Name: "status", Map: map[string]rules.Status{"PROV": rules.Pending, "TEST": rules.Failed}}}, "says that TEST is failed"},
		{"not mapped", []rules.Field{{Name: "status", Map: map[string]rules.Status{"BOOK": rules.Succeeded}}}, ""},
		{"pending", []rules.Field{bankStatus}, ""},
	} {
		w := bankWorld(t, c.status...)
		w.write("r.xml", report)
		w.bank("r.xml", rules.FormatCamt, nil, 0, 10)
		rel, rows, err := w.load(rules.Results)
		if c.words != "" {
			wantInputError(t, err, "r.xml: a camt.052 is an intraday report", c.words)
			if e, _ := err.(*fail.Error); e == nil || !strings.Contains(e.Hint, ": pending") {
				t.Errorf("%s: hint of %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 || covered(rel) != "0-0" {
			t.Errorf("%s: %d rows, covered %s", c.name, len(rows), covered(rel))
		}
	}

	w := bankWorld(t, bankStatus)
	w.write("r.xml", report)
	w.write("s.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10", "2", "12"))
	for i, path := range []string{"r.xml", "s.xml"} {
		w.bank(path, rules.FormatCamt, func(s *rules.Source, _ *rules.Input) {
			s.Coverage.Account = "bank"
			if i == 0 {
				s.Coverage.Proves = rules.PresenceOnly
			}
		}, 0, 10)
	}
	rel, _, err := w.load(rules.Results)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range rel.Coverage {
		if i.Proves == rules.FullLifecycle && (i.From != 0 || i.Until != 10_000_000) {
			t.Errorf("the statement does not prove its time: %+v", i)
		}
	}
}

// The rows of a status that reaches operations follow from their list: another list
// gives other rows, although the file is the same.
func TestT19BankReach(t *testing.T) {
	w := newWorld(t)
	w.fields(rules.Results, rules.Field{Name: "operation_id", Column: "end_to_end_id"}, rules.Field{Name: "status", Map: map[string]rules.Status{"RJCT": rules.Failed}})
	w.write("a.xml", `<Document><CstmrPmtStsRpt><OrgnlGrpInfAndSts><OrgnlMsgId>M1</OrgnlMsgId><GrpSts>RJCT</GrpSts></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>`)
	w.bank("a.xml", rules.FormatPain002, func(s *rules.Source, in *rules.Input) {
		s.Bank.Reach = &rules.BankReach{Path: "sent.csv", MsgID: "message", EndToEndID: "id"}
		in.Reach = "sent.csv"
	})
	load := func() string {
		t.Helper()
		_, rows, err := w.load(rules.Results)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range rows {
			ids = append(ids, fmt.Sprint(r.V["f_operation_id"]))
		}
		return strings.Join(ids, " ")
	}
	_, _, err := w.load(rules.Results)
	wantInputError(t, err, "the operations of bank.reach (sent.csv) cannot be read")
	w.write("sent.csv", "id,message\nop-1,M1\nop-2,M2\nop-3,M1\n")
	if got := load(); got != "op-1 op-3" {
		t.Errorf("reached %s", got)
	}
	w.write("sent.csv", "id,message\nop-1,M1\nop-4,M1\n")
	if got := load(); got != "op-1 op-4" {
		t.Errorf("reached %s after the list changed", got)
	}
	if got := load(); got != "op-1 op-4" {
		t.Errorf("reached %s from the staged file", got)
	}
	w.write("sent.csv", "id,messages\nop-1,M1\n")
	_, _, err = w.load(rules.Results)
	wantInputError(t, err, "sent.csv", "there is no column message, which bank.reach reads")
	w.write("sent.csv", "id,message\n"+strings.Repeat("x", 2<<20))
	_, _, err = w.load(rules.Results)
	wantInputError(t, err, "sent.csv", "bytes in one line, which is the limit")
	w.write("sent.csv", "id,message\nop-1\n")
	_, _, err = w.load(rules.Results)
	wantInputError(t, err, "sent.csv: the operations of bank.reach")
}
