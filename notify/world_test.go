package notify

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// personal are texts of rows, files and errors that the summary of these tests holds and
// that nobody outside may be told.
var personal = []string{"ada@example.org", "op-ada", "order-ada", "rejected-ada", "finding-ada"}

// ended is a published run with a failed gate and everything that is personal in it.
func ended(t testing.TB) *Ending {
	age := int64(7200)
	s := &report.Summary{
		Job: "card-charges", BusinessDate: "2026-08-20", RunID: "0123456789abcdef", AsOf: "2026-08-21T04:00:00Z",
		Headline: "ada@example.org", Outcome: report.Outcome{ExitCode: 3, Differences: 3, WithheldQueues: []string{}, Reasons: []string{"the canary op-ada"}},
		Sides: []report.Side{
			{Side: "operations", InPeriod: 10, Sources: []report.Source{{Name: "ledger", Classified: 10, Files: []report.File{{Name: "ada@example.org.csv"}}}},
				Counts: []report.Count{{Class: "correct", Reason: "equal", Currency: "EUR", InPeriod: true, Rows: 7, Amount: "70.00"},
					{Class: "absent", Reason: "no_result", Currency: "EUR", InPeriod: true, Rows: 3, Amount: "30.00"},
					{Class: "absent", Reason: "no_result", Currency: "ada@example.org", InPeriod: true, Amount: "1.00"}}},
			{Side: "results", InPeriod: 7, Sources: []report.Source{{Name: "psp", Classified: 7}},
				Counts: []report.Count{{Class: "correct", Reason: "equal", Currency: "EUR", InPeriod: true, Rows: 7, Amount: "70.00"}}},
		},
		Statement: []report.Statement{{Currency: "EUR", Operations: "100.00", Results: "70.00", Difference: "-30.00"}, {Currency: "ada@example.org", Operations: "1", Results: "1", Difference: "0"}},
		Queues: []report.Queue{{Queue: "confirm", Written: true}, {Queue: "requeue", Written: true, Items: 3, OldestSecs: &age},
			{Queue: "compensate", Written: true}, {Queue: "review", Written: true}, {Queue: "close", Written: true}},
		Gates:      []report.Gate{{Name: "nothing-absent", Failed: true, Value: "3"}, {Name: "rejects"}},
		Findings:   []report.Finding{{Code: "file_missing", Text: "finding-ada"}},
		Rejects:    report.Rejects{Items: []report.Reject{{Reason: "rejected-ada"}}},
		Exceptions: report.Exceptions{Items: []report.Exception{{Values: []report.Value{{Field: "entity", Operations: ptr("order-ada")}}}}},
		Canaries:   []report.Canary{{OperationID: "op-ada"}},
		Versions:   []report.Version{{Name: "recon-batch", Version: "0.1.0"}},
	}
	return &Ending{
		Job: &rules.Job{Name: "card-charges"}, BaseDir: t.TempDir(), Series: "card-charges", BusinessDate: s.BusinessDate, RunID: s.RunID,
		ExitCode: fail.Gate, Ended: time.Date(2026, 8, 21, 4, 5, 6, 0, time.UTC), Summary: s, Newest: true, Success: "2026-08-19",
		Measured: Measured{Duration: 12 * time.Second, Stages: []Stage{{"extract", 3.5, 17}}, PeakRSS: 1 << 30, DiskFree: 1 << 40, DiskSize: 1 << 41},
	}
}

func ptr[T any](v T) *T { return &v }

// succeeded makes the ending one with exit status 0.
func succeeded(t testing.TB) *Ending {
	e := ended(t)
	e.ExitCode, e.Success = fail.OK, e.BusinessDate
	e.Summary.Outcome.ExitCode = 0
	e.Summary.Gates[0].Failed = false
	return e
}

// refused is a run that was not published.
func refused(t testing.TB) *Ending {
	e := ended(t)
	e.ExitCode, e.Summary, e.RunID, e.Newest, e.Success, e.Stage, e.Measured = fail.Input, nil, "", false, "", "extract", Measured{}
	return e
}

func secretFile(t testing.TB, e *Ending, name, text string) rules.Secret {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.BaseDir, name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return rules.Secret{File: name}
}
