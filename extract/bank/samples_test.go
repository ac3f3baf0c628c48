package bank

import (
	"strings"
	"testing"
)

// The real samples, which are not part of the project. Each ties, or the test says
// why it cannot.
func TestRealSamples(t *testing.T) {
	for _, c := range []struct {
		format     Format
		file       string
		rows       int
		statements int
		refused    string // words of the refusal
		why        string // why it cannot tie
	}{
		{Camt, "camt053/camt053.v2.multi.statement.xml", 2, 2, "", ""},
		{Camt, "camt053/camt53.only-Dt-with-DtTm.xml", 0, 1, "", ""},
		{Camt, "camt053/valid_example_v8.xml", 3, 1, "an entry is in EUR, the balances are in CHF",
			"its author changed the currency of an entry, and took out the entry that the closing balance needs"},
		{Camt, "camt053/valid_example_with_batch.xml", 3, 1, "opening 7329.80 + entries 2934.26 = 10264.06 EUR, but the closing balance is 23038.20",
			"its author took out 32 of the 35 entries that its summary counts"},
		{Camt, "camt054/200519_camt054-returns_p_ch2909000000250094239_1109800798_0_2019052023472022.xml", 1, 1, "", ""},
		{Pain002, "pain002/pain002-epo_p_0_0_0_2018032614401842.xml", 1, 0, "", ""},
		{Pain002, "pain002/pain002-epo_p_ch2909000000250094239_1109800799_0_2018032612092784.xml", 1, 0, "", ""},
		{MT940, "mt940/sepa_mt9401.sta", 97, 26, "", ""},
		{MT940, "mt940/postfinance.sta", 4, 2, "opening 229.2 + entries -69.8 = 159.4 CHF, but the closing balance is 159.6",
			"its author changed an amount of the second page"},
		{MT942, "mt942/mbank_mt942.sta", 3, 1, "", ""},
		{BAI2, "bai2/sample2.txt", 4, 5, "", ""},
		{BAI2, "bai2/sample4-continuations-newline-delimited.txt", 17, 5, "the control total of account 107049932 is -1260161341762, its amounts come to 7999960",
			"its author changed amounts and left the totals as they were"},
		{NACHA, "nacha/return-WEB.ach", 2, 0, "", ""},
	} {
		t.Run(strings.ReplaceAll(c.file, "/", "_"), func(t *testing.T) {
			data := sample(t, c.file)
			opt := Options{}
			if c.refused != "" {
				wantRefused(t, c.format, data, opt, c.refused)
				opt.Proof = Report
				t.Logf("read without its proof, since %s", c.why)
			}
			rows, facts := mustRead(t, c.format, data, opt)
			if len(rows) != c.rows || len(facts.Statements) != c.statements {
				t.Errorf("%d rows in %d statements, want %d in %d", len(rows), len(facts.Statements), c.rows, c.statements)
			}
			withdrawn := false
			for _, n := range facts.Notes {
				withdrawn = withdrawn || n.Withdraw
			}
			if withdrawn != (c.refused != "") {
				t.Errorf("proof withdrawn: %v; notes %v", withdrawn, facts.Notes)
			}
		})
	}
}

// What the real samples show beyond their totals.
func TestRealSampleRows(t *testing.T) {
	t.Run("camt.054 return", func(t *testing.T) {
		rows, _ := mustRead(t, Camt, sample(t, "camt054/200519_camt054-returns_p_ch2909000000250094239_1109800798_0_2019052023472022.xml"), Options{})
		wantCells(t, rows, "EndToEndId-004-01-01 | InstrId-004-01-01 | PmtInfId-004-01 | 400.00 | CHF | RTRN | BOOK | AC01 | Kontonummer falsch | 180327CH02P92DYD\n",
			EndToEndID, InstructionID, PmtInfID, Amount, Currency, Status, RawStatus, Reason, ReasonInfo, ServicerRef)
	})
	t.Run("batch without transactions", func(t *testing.T) {
		rows, _ := mustRead(t, Camt, sample(t, "camt053/valid_example_with_batch.xml"), Options{Proof: Report})
		wantCells(t, rows[:1], "batch | 3 | -4753.74 |  | 02453b1e17c11241073a777ad9c273b4149 | O0OpeAYTkhjerKu3eE9asw\n",
			Kind, Count, Amount, EndToEndID, MsgID, PmtInfID)
	})
	t.Run("nacha returns", func(t *testing.T) {
		rows, _ := mustRead(t, NACHA, sample(t, "nacha/return-WEB.ach"), Options{})
		wantCells(t, rows, `
RTRN | R01 | -123.54 | 091000017611242 | 091400600000001 | MjMxNDAwMjAtOGQ
RTRN | R03 | 45.65 | 021000029461242 | 091400600000003 | NmRjZTJmMzItMGN
`, Status, Reason, Amount, Trace, OriginalTrace, CustomerRef)
	})
	t.Run("mt942", func(t *testing.T) {
		rows, facts := mustRead(t, MT942, sample(t, "mt942/mbank_mt942.sta"), Options{})
		wantCells(t, rows[:1], "PROV | 0 | 0.01 | PLN | MB170119012058 | 2017-01-19T18:15:00+01:00\n", Status, Finality, Amount, Currency, ServicerRef, BookingTime)
		if facts.Provisional == "" {
			t.Error("an intraday report is not provisional")
		}
	})
	t.Run("page chain", func(t *testing.T) {
		_, facts := mustRead(t, MT940, sample(t, "mt940/postfinance.sta"), Options{Proof: Report})
		if gaps := Chain(placesOf(facts), true); len(gaps) != 0 {
			t.Errorf("gaps: %v", gaps)
		}
	})
}

// placesOf are the statements of one file.
func placesOf(f *Facts) []Place {
	var out []Place
	for i := range f.Statements {
		out = append(out, Place{Statement: &f.Statements[i]})
	}
	return out
}
