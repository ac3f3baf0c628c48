package pipeline

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

func statement() report.Statement {
	return report.Statement{
		Currency: "EUR", OperationsRead: "30.00", OperationsOutside: "5.00", Operations: "25.00",
		Lines: []report.StatementLine{
			{Class: "correct", Reason: "equal", OperationRows: 1, OperationAmount: "10.00", ResultRows: 1, ResultAmount: "10.00", Difference: "0.00"},
			{Class: "absent", Reason: "no_result", OperationRows: 1, OperationAmount: "15.00", ResultAmount: "0.00", Difference: "-15.00"},
		},
		Results: "10.00", ResultsOutside: "0.00", ResultsRead: "10.00", Difference: "-15.00", OperationRows: 2, ResultRows: 1,
	}
}

// Each tie of the statement, broken by one cent or one row.
func TestCheckStatement(t *testing.T) {
	if wrong := checkStatement(statement()); len(wrong) > 0 {
		t.Fatalf("a statement that ties: %v", wrong)
	}
	for _, tc := range []struct {
		name  string
		spoil func(s *report.Statement)
		want  string
	}{
		{"operations read", func(s *report.Statement) { s.OperationsRead = "30.01" }, "operations read less"},
		{"results outside", func(s *report.Statement) { s.ResultsOutside = "0.01" }, "results read less"},
		{"a line's difference", func(s *report.Statement) { s.Lines[1].Difference = "-14.99" }, "absent/no_result"},
		{"a line's operations", func(s *report.Statement) { s.Lines[0].OperationAmount = "10.01" }, "the lines' operations"},
		{"results", func(s *report.Statement) { s.Results = "10.01" }, "the lines' results"},
		{"difference", func(s *report.Statement) { s.Difference = "-15.01" }, "the lines' differences"},
		{"rows", func(s *report.Statement) { s.OperationRows = 3 }, "rows"},
		{"no amount", func(s *report.Statement) { s.Lines[0].ResultAmount = "ten" }, `"ten" is no amount`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := statement()
			tc.spoil(&s)
			if wrong := strings.Join(checkStatement(s), "\n"); !strings.Contains(wrong, tc.want) {
				t.Errorf("%q is not in %q", tc.want, wrong)
			}
		})
	}
}

func manifest() *Manifest {
	return &Manifest{
		SchemaVersion: ManifestSchema, RunID: "0123456789abcdef", Job: "job", BusinessDate: "2026-11-29",
		ReferenceTime: "2026-11-30T00:00:00Z", JobDigest: "aa", Overrides: []string{}, Versions: Versions{Semantics: Semantics},
		Inputs:        []Input{{Side: rules.Operations, Source: "s", Name: "a.csv", SHA256: "11", Status: "staged", Records: 2}},
		Counts:        []Count{{Side: rules.Operations, InPeriod: true, Class: "correct", Reason: "equal", Rows: 2}},
		ContentDigest: "cc",
	}
}

// Everything that makes a run another run changes its id; nothing else does.
func TestRunID(t *testing.T) {
	id := func(change func(m *Manifest)) string {
		m := manifest()
		change(m)
		text, err := identityOf(m).id()
		if err != nil || !runIDForm.MatchString(text) {
			t.Fatalf("%q %v", text, err)
		}
		return text
	}
	first := id(func(*Manifest) {})
	for name, change := range map[string]func(m *Manifest){
		"job":            func(m *Manifest) { m.Job = "jobs" },
		"date":           func(m *Manifest) { m.BusinessDate = "2026-11-28" },
		"job digest":     func(m *Manifest) { m.JobDigest = "ab" },
		"input":          func(m *Manifest) { m.Inputs[0].SHA256 = "12" },
		"input renamed":  func(m *Manifest) { m.Inputs[0].Name = "b.csv" },
		"input missing":  func(m *Manifest) { m.Inputs[0].Status = "missing" },
		"reference time": func(m *Manifest) { m.ReferenceTime = "2026-11-30T00:00:01Z" },
		"override":       func(m *Manifest) { m.Overrides = []string{"as-of=2026-11-30T00:00:00Z"} },
		"semantics":      func(m *Manifest) { m.Versions.Semantics++ },
	} {
		if id(change) == first {
			t.Errorf("another %s, the same run id", name)
		}
	}
	for name, change := range map[string]func(m *Manifest){
		"program": func(m *Manifest) { m.Versions.Program = "v9" },
		"engine":  func(m *Manifest) { m.Versions.DuckDB = "v9" },
		"folder":  func(m *Manifest) { m.Inputs[0].Path = "elsewhere/a.csv" },
		"outcome": func(m *Manifest) { m.Outcome.ExitCode = fail.Gate },
	} {
		if id(change) != first {
			t.Errorf("another %s, another run id", name)
		}
	}
}

func TestDiffManifests(t *testing.T) {
	if d := diffManifests(manifest(), manifest()); !d.Same || len(d.Made)+len(d.Inputs)+len(d.Counts) != 0 {
		t.Errorf("the same: %+v", d)
	}
	b := manifest()
	b.ContentDigest, b.ReferenceTime = "cd", "2026-12-01T00:00:00Z"
	b.Inputs = []Input{{Side: rules.Operations, Source: "s", Name: "a.csv", SHA256: "12"}, {Side: rules.Results, Source: "p", Name: "b.csv", SHA256: "13"}}
	b.Counts = []Count{{Side: rules.Operations, InPeriod: true, Class: "absent", Reason: "no_result", Rows: 2}}
	d := diffManifests(manifest(), b)
	if d.Same || len(d.Made) != 1 || len(d.Inputs) != 2 || len(d.Counts) != 2 {
		t.Fatalf("different: %+v", d)
	}
	if c := d.Counts[0]; c.Class != "absent" || c.Rows != 0 || c.Other != 2 {
		t.Errorf("counts: %+v", d.Counts)
	}
	if i := d.Inputs[1]; i.Name != "b.csv" || i.A != "" || i.B != "13" {
		t.Errorf("inputs: %+v", d.Inputs)
	}
}
