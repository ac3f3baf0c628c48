package report

import (
	"math/big"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Each tie is broken on purpose, and found: design §3, rule 1.
func TestBreachesAreFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		break_ func(w *world)
		want   string
	}{
		{"a row lost after staging", func(w *world) { w.exec("DELETE FROM judged_o WHERE rec = 2") },
			"operations, source ledger, file operations.csv: 10 records were read (beside 0 control and 0 excluded ones), but 0 are rejected and 9 classified"},
		{"a row counted twice", func(w *world) { w.exec("INSERT INTO judged_r SELECT * FROM judged_r WHERE rec = 3") },
			"results, source psp, file psp.csv.gz: 12 records were read (beside 2 control and 0 excluded ones), but 1 are rejected and 12 classified"},
		{"a reject that is not listed", func(w *world) { w.in.Results.Rejects = nil },
			"1 records are rejected, but 0 are listed"},
		{"rows of a file that was not read", func(w *world) {
			w.exec("UPDATE judged_r SET file_no = 1 WHERE rec = 3")
			w.in.Results.Files[0].Records--
		},
			"file late.csv.gz: 1 rows are classified, but the file is missing"},
		{"rows of no file", func(w *world) {
			w.exec("UPDATE judged_r SET file_no = 7 WHERE rec = 3")
			w.in.Results.Files[0].Records--
		},
			"1 rows belong to file number 7"},
		{"staged rows disagree", func(w *world) { w.in.Operations.Records++ }, "11 rows were staged, but 10 are classified"},
		{"a row without a verdict", func(w *world) { w.exec("UPDATE judged_o SET class = NULL WHERE rec = 1") }, "have no verdict of the closed list"},
		{"a row without a reason", func(w *world) { w.exec("UPDATE judged_o SET reason = NULL WHERE rec = 1") }, "have no verdict of the closed list"},
		{"a row with two verdicts", func(w *world) { w.exec("INSERT INTO verdicts_o SELECT * FROM verdicts_o WHERE rid = 6") }, "operations: 1 rows have more than one verdict"},
		{"a residual row that was not judged", func(w *world) { w.exec("DELETE FROM verdicts_r WHERE rid = 8") }, "results: 8 rows are to be judged one by one, but 7 verdicts were given"},
		{"totals lose rows", func(w *world) { w.exec("UPDATE totals SET rows = rows - 1 WHERE class = 'absent'") }, "rows and totals disagree: absent/no_result (in the period: true) by 1"},
		{"totals forget the period", func(w *world) { w.exec("UPDATE totals SET in_period = TRUE") }, "rows and totals disagree"},
		{"a cent lost in the engine", func(w *world) {
			w.exec("UPDATE totals SET amount = amount - 0.01 WHERE class = 'correct' AND side = 'results'")
		},
			`results, currency "EUR": extraction added up 1000076.73, the engine 1000076.72`},
		{"a cent lost while parsing", func(w *world) {
			w.in.Operations.Totals[1].Sum.Add(w.in.Operations.Totals[1].Sum, big.NewRat(1, 100))
		}, `operations, currency "USD": extraction added up 99.91, the engine 99.90`},
		{"a currency that only extraction saw", func(w *world) {
			w.in.Operations.Totals = append(w.in.Operations.Totals, extract.Total{Currency: "XXX", Rows: 1, Sum: new(big.Rat)})
		}, `operations, currency "XXX": extraction counted 1 rows, the engine 0`},
		{"an item in no queue", func(w *world) { w.exec("UPDATE items SET queue = 'charge_again' WHERE item_id = 'i-2'") }, `the queue "charge_again", which does not exist`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t).load()
			c.break_(w)
			_, err := Build(t.Context(), w.db, w.in)
			if fail.ClassOf(err) != fail.Integrity {
				t.Fatalf("got %v, want an integrity error", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want %q", err, c.want)
			}
		})
	}
}

// The statement's own texts are asserted: whichever number is moved by a cent.
func TestStatementLeavesNoRemainder(t *testing.T) {
	s := newWorld(t).load().build()
	if err := tieStatement(s.Statement); err != nil {
		t.Fatal(err)
	}
	nudge := func(p *string) {
		r, err := parseExact(*p)
		if err != nil {
			t.Fatal(err)
		}
		*p = amountText(r.Add(r, big.NewRat(1, 100)), "EUR")
	}
	for i := range s.Statement {
		fields := []*string{&s.Statement[i].OperationsRead, &s.Statement[i].OperationsOutside, &s.Statement[i].Operations,
			&s.Statement[i].Results, &s.Statement[i].ResultsOutside, &s.Statement[i].ResultsRead, &s.Statement[i].Difference}
		for j := range s.Statement[i].Lines {
			l := &s.Statement[i].Lines[j]
			fields = append(fields, &l.OperationAmount, &l.ResultAmount, &l.Difference)
		}
		for n, p := range fields {
			was := *p
			nudge(p)
			if fail.ClassOf(tieStatement(s.Statement)) != fail.Integrity {
				t.Errorf("%s: field %d may be a cent off", s.Statement[i].Currency, n)
			}
			*p = was
		}
	}
}

// The statement is recomputed from the rows by a query of its own.
func TestStatementAgainstTheRows(t *testing.T) {
	w := newWorld(t).load()
	s := w.build()
	for _, st := range s.Statement {
		for i, side := range rules.Sides {
			var want string
			q := "SELECT CAST(coalesce(sum(s.f_amount), 0) AS VARCHAR) FROM staged_" + short(side) + " s JOIN judged_" + short(side) + " j USING (rid) WHERE j.in_period AND s.f_currency = '" + st.Currency + "'"
			if err := w.db.Scan(t.Context(), q, &want); err != nil {
				t.Fatal(err)
			}
			if got := []string{st.Operations, st.Results}[i]; got != want {
				t.Errorf("%s %s: %s, the rows add up to %s", st.Currency, side, got, want)
			}
		}
	}
}
