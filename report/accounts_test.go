package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// accountsText prints the statements, a line each.
func accountsText(s *Summary) string {
	var b strings.Builder
	for _, a := range s.Accounts {
		fmt.Fprintf(&b, "%s|%s|%s|%s: %s", a.Account, a.Day, a.Span, a.Currency, a.Operations)
		for _, l := range a.Lines {
			fmt.Fprintf(&b, " %s/%s %d/%d %s", l.Name, l.Reason, l.OperationRows, l.ResultRows, l.Difference)
		}
		fmt.Fprintf(&b, " = %s (%s)\n", a.Results, a.Shifted)
	}
	return b.String()
}

func expression(t *testing.T, text string) *rules.Expr {
	t.Helper()
	e, err := rules.ParseExpr(text, map[string]rules.FieldType{"entity": rules.Text})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Two accounts that know different types; a day ends in the zone of the job; a pair over
// midnight stands on two days; a row without a time stands on none.
func TestAccountStatements(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Compare = []rules.Compare{{Name: "amount", Operations: "amount", Results: "amount"}}
	w.in.Results.Files = append(w.in.Results.Files[:1], extract.File{No: 1, Source: "bank", Name: "bank.csv", SHA256: strings.Repeat("44", 32), Status: extract.FileStaged})
	spec := &w.in.Bound.Results
	spec.Sources = append(spec.Sources, spec.Sources[0])
	spec.Sources[0].Coverage.Account, spec.Sources[1].Coverage.Account, spec.Sources[1].Name = "psp", "bank", "bank"
	w.in.Results.Coverage = []extract.Interval{
		{Account: "psp", Source: "psp", Knows: expression(t, "entity <> 'order-2'"), Complete: true},
		{Account: "bank", Source: "bank", Knows: expression(t, "entity = 'order-2'"), Complete: true},
	}
	for i := range w.rows[rules.Results] {
		switch r := &w.rows[rules.Results][i]; r.rec {
		case 2:
			r.file = 1
		case 3: // 23:59 and 00:01 in Paris
			r.created = day.Add(22*time.Hour + time.Minute)
			w.rows[rules.Operations][2].created = day.Add(22*time.Hour - time.Minute)
		}
	}
	w.rows[rules.Operations][0].created = day.AddDate(-1, 0, 0) // long ago, but in the period, says the verdict
	w.rows[rules.Results][0].created = day.AddDate(1, 0, 0)
	s := w.load().build()
	got := accountsText(s)
	for _, want := range []string{
		"bank|2026-08-20|day|EUR: 10.00 matched/equal 1/1 0.00 = 10.00 (0.00)\n",
		"psp|2026-06-20|before|EUR: 10.00 matched/equal 1/0 -10.00 = 0.00 (-10.00)\n",
		"psp|2026-08-21|day|EUR: 0.00 matched/equal 0/1 10.00 = 10.00 (10.00)\n",
		"psp|2026-08-24|after|EUR: 0.00 matched/equal 0/1 10.00 = 10.00 (10.00)\n",
		"psp|2026-08-20|day|EUR: 50.00 matched/equal 2/1 -10.00 divergent/",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Accounts that should know the same operations cannot be told apart: they have one name.
func TestAccountsThatKnowTheSame(t *testing.T) {
	w := newWorld(t)
	spec := &w.in.Bound.Results
	spec.Sources = append(spec.Sources, spec.Sources[0])
	spec.Sources[1].Name, spec.Sources[1].Coverage.Account = "ledger-export", "acquirer"
	w.in.Results.Coverage = []extract.Interval{{Account: "psp", Complete: true}, {Account: "acquirer", Complete: true}}
	for _, a := range w.load().build().Accounts {
		if a.Account != "psp, acquirer" {
			t.Errorf("account %q", a.Account)
		}
	}
}

// Every hour of the year in zones with whole, half and quarter hours, with clocks that
// change at midnight, and a day that begins late: the day is that of the calendar.
func TestStatementDays(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Paris", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut", "Pacific/Apia"} {
		z := zone(t, name)
		for _, date := range []string{"2026-04-10", "2026-10-20"} {
			days, grid, err := statementDays(&rules.Bound{Job: &rules.Job{Zone: z}, Date: date})
			if err != nil || days[0].span != "before" || days[len(days)-1].span != "after" || len(days) != daysBefore+daysAfter+3 {
				t.Fatalf("%s: %v %v", name, err, days)
			}
			at, _ := time.Parse(time.DateOnly, days[1].day)
			for i := -48; i < (daysBefore+daysAfter+4)*96; i++ {
				us := at.Add(time.Duration(i) * 15 * time.Minute).UnixMicro()
				cut := us - ((us-grid.origin)%grid.step+grid.step)%grid.step
				got := days[0]
				for _, d := range days {
					if cut >= d.from {
						got = d
					}
				}
				want := time.UnixMicro(us).In(z).Format(time.DateOnly)
				switch {
				case want < days[1].day:
					want = days[0].day
				case want > days[len(days)-1].day:
					want = days[len(days)-1].day
				}
				if got.day != want {
					t.Fatalf("%s: %s is on %s, want %s", name, time.UnixMicro(us).In(z), got.day, want)
				}
			}
		}
	}
}

// Whichever number of the account statements is moved by a cent or a row, it is found.
func TestAccountStatementsLeaveNoRemainder(t *testing.T) {
	s := newWorld(t).load().build()
	if err := tieAccounts(s.Accounts, s); err != nil {
		t.Fatal(err)
	}
	broken := func(what string) {
		t.Helper()
		if fail.ClassOf(tieAccounts(s.Accounts, s)) != fail.Integrity {
			t.Errorf("%s may be off", what)
		}
	}
	for i := range s.Accounts {
		a := &s.Accounts[i]
		texts := map[string]*string{"operations": &a.Operations, "results": &a.Results, "difference": &a.Difference}
		counts := map[string]*int64{"operation rows": &a.OperationRows, "result rows": &a.ResultRows, "rejected operations": &a.OperationsRejected,
			"rejected results": &a.ResultsRejected, "excluded operations": &a.OperationsExcluded, "excluded results": &a.ResultsExcluded}
		for j := range a.Lines {
			l := &a.Lines[j]
			texts[l.Reason+" operations"], texts[l.Reason+" results"], texts[l.Reason+" difference"] = &l.OperationAmount, &l.ResultAmount, &l.Difference
			counts[l.Reason+" operation rows"], counts[l.Reason+" result rows"] = &l.OperationRows, &l.ResultRows
		}
		for what, p := range texts {
			was := *p
			r, err := parseExact(was)
			if err != nil {
				t.Fatal(err)
			}
			*p = amountText(r.Add(r, big.NewRat(1, 100)), "EUR")
			broken(a.Currency + " " + what)
			*p = was
		}
		for what, p := range counts {
			*p++
			broken(a.Currency + " " + what)
			*p--
		}
	}
	all := s.Accounts
	for i := range all {
		s.Accounts = append(append([]AccountStatement{}, all[:i]...), all[i+1:]...)
		broken("a statement less")
	}
}

// The same for the roll-forward of the open items.
func TestOpenItemsLeaveNoRemainder(t *testing.T) {
	s := newWorld(t).load().build()
	former := &FormerOpen{RunID: "r", Closing: []OpenItems{}}
	for i := range s.Open {
		o := &s.Open[i]
		former.Closing = append(former.Closing, OpenItems{Currency: o.Currency, Closing: o.Opening})
	}
	if err := tieOpen(s.Open, former, s.Queues, false); err != nil {
		t.Fatal(err)
	}
	for i := range s.Open {
		o := &s.Open[i]
		for name, x := range map[string]*OpenSum{"opening": &o.Opening, "new": &o.New, "cleared": &o.Cleared, "changed": &o.Changed, "closing": &o.Closing, "former closing": &former.Closing[i].Closing} {
			was := *x
			r, err := parseExact(was.Amount)
			if err != nil {
				t.Fatal(err)
			}
			for _, off := range []OpenSum{{was.Items + 1, was.Amount}, {was.Items, amountText(r.Add(r, big.NewRat(1, 100)), o.Currency)}} {
				*x = off
				if fail.ClassOf(tieOpen(s.Open, former, s.Queues, false)) != fail.Integrity {
					t.Errorf("%s: %s may be %+v instead of %+v", o.Currency, name, off, was)
				}
			}
			*x = was
		}
		o.Carried[0].Items++
		if fail.ClassOf(tieOpen(s.Open, former, s.Queues, false)) != fail.Integrity {
			t.Error("the dates may have more items than are open")
		}
		o.Carried[0].Items--
	}
	for i := range s.Queues {
		if s.Queues[i].Queue != "confirm" {
			s.Queues[i].Items++
			if fail.ClassOf(tieOpen(s.Open, former, s.Queues, false)) != fail.Integrity {
				t.Error("the queues may hold more than is open")
			}
			s.Queues[i].Items--
		}
	}
}

// Ages at the edges of the buckets, items without a time, and those that wait for a source.
func TestAgeing(t *testing.T) {
	w := newWorld(t).load()
	asOf := w.in.Bound.AsOfTime
	set := func(id, at string) { w.exec("UPDATE items SET since_us = " + at + " WHERE item_id = '" + id + "'") }
	us := func(d time.Duration) string { return fmt.Sprint(asOf.Add(-d).UnixMicro()) }
	const day = 24 * time.Hour
	set("i-3", us(day))
	set("i-5", us(day-time.Microsecond))
	set("i-6", "NULL")
	set("i-7", us(30*day))
	set("i-2", us(7*day))
	w.exec("INSERT INTO outages VALUES ('i-4')")
	var got []string
	for _, b := range w.build().Ageing {
		if b.Items > 0 {
			got = append(got, fmt.Sprintf("%s %s %d %v", b.Queue, b.Bucket, b.Items, b.Amounts))
		}
	}
	want := "requeue 7-30d 1 [{USD 99.90 1}]; compensate waiting 1 [{EUR 5.00 1}]; review 0-1d 1 [{EUR 3.00 1}]; review 1-3d 1 [{EUR 12.00 1}]; review 30d+ 1 []; review unknown 1 [{USD 7.00 1}]"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// Fees are a line of their own: in the statement of their account, and on the page.
func TestFeesAreALine(t *testing.T) {
	w := newWorld(t)
	for i, reason := range []string{"fee_row", "payout_row"} {
		w.rows[rules.Results] = append(w.rows[rules.Results], row{rec: 13 + int64(i), remote: "fee-" + reason, entity: "order-f", amount: "-0.25", currency: "EUR", created: day.Add(9 * time.Hour),
			class: "not_applicable", reason: reason, pass: -1})
	}
	s := w.load().build()
	got := accountsText(s)
	for _, want := range []string{" fees/fee_row 0/1 -0.25", " scope/payout_row 0/1 -0.25"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	text := sectionTexts(t, mustHTML(t, s))["statement"]
	for _, want := range []string{"fees (not_applicable, fee_row)", "scope (not_applicable, payout_row)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	fees := 0
	for _, sheet := range []string{"Statement", "Accounts"} {
		for _, r := range openBook(t, w.workbook()).rows[sheet] {
			if slices.Contains(r, "fees") && slices.Contains(r, "fee_row") {
				fees++
			}
		}
	}
	if fees != 2 {
		t.Errorf("the workbook has %d lines of fees, want one by currency and one by account", fees)
	}
}
