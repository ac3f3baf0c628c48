package pipeline

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/report"
)

// report writes every output but the manifest into the temporary folder.
func (r *run) report(ctx context.Context, db *duck.DB, m *Manifest, past report.Past, ops, res *extract.Relation, outcome *match.Outcome) (*report.Summary, error) {
	key, err := redactKey(r.Job, r.baseDir())
	if err != nil {
		return nil, err
	}
	in := &report.Input{
		Bound: r.bound, Operations: ops, Results: res, RunID: m.RunID, JobDigest: m.JobDigest, RedactKey: key,
		Versions: []report.Version{
			{Name: "recon-batch", Version: Program},
			{Name: "semantics", Version: itoa(Semantics)},
			{Name: "DuckDB", Version: m.Versions.DuckDB},
			{Name: "Go", Version: runtime.Version()},
		},
		Findings: append(keyFindings(outcome), r.knowers.finding("recon-batch run --business-date %d "+shellQuote(filepath.Base(r.Job.File)))...), Past: past, Series: m.Series, Overrides: m.Overrides,
		// A command in an output must not depend on the folder of the run, or the same
		// run elsewhere would have other bytes.
		Explain: "recon-batch explain --business-date " + r.BusinessDate + " " + shellQuote(filepath.Base(r.Job.File)),
		Run:     "recon-batch run --business-date " + r.BusinessDate + "%s " + strings.ReplaceAll(shellQuote(filepath.Base(r.Job.File)), "%", "%%"),
		Runs:    "recon-batch runs list " + shellQuote(filepath.Base(r.Job.File)),
	}
	in.Findings = append(in.Findings, r.lately.findings...)
	reopen, findings := r.reopened(m)
	in.Reopen, in.Findings = reopen, append(findings, in.Findings...)
	var summary *report.Summary
	err = sideBySide(func() error { return classify.Promises(ctx, db, r.bound, ops, res) }, func() (err error) {
		summary, err = report.Build(ctx, db, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := report.Deliver(ctx, &report.Delivery{DB: db, In: in, Summary: summary, Dir: r.tmp}); err != nil {
		return nil, diskError(err, "the outputs cannot be written")
	}
	if err := r.writeKeys(ctx, db, m); err != nil {
		return nil, err
	}
	if err := r.withdraw(ctx, db, m, summary); err != nil {
		return nil, err
	}
	return summary, writeSynced(filepath.Join(r.tmp, effectiveName), r.bound.Effective())
}
