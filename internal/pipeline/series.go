package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Runs of a part of a job are a series of their own: another folder, current, chain and
// revisions, so that a pilot never supersedes a run of the whole job, nor withdraws an
// item of one (decision 0018).

// Series is the name of the folder of a job's runs: the job's, or JOB@PILOT.
func Series(job *rules.Job) string { return folderOf(job.Name, seriesOf(job)) }

// seriesOf is the name of the pilot, "" where the runs are of the whole job.
func seriesOf(job *rules.Job) string {
	if job.Mode != rules.PilotMode || job.Pilot == nil {
		return ""
	}
	if job.Pilot.Name == "" {
		return "pilot"
	}
	return job.Pilot.Name
}

func folderOf(job, series string) string {
	if series == "" {
		return job
	}
	return job + "@" + series
}

// FormerRun is a run of an earlier business date that a run read, and what for.
type FormerRun struct {
	Series string `json:"series,omitempty"` // "" the whole job
	RunRef
	For []string `json:"for"` // baseline, seen, keys, files, trend, open, unreadable; or that its keys are not known
}

// Of former runs, at most so many dates are looked through.
const formerDates = 120

// seenDates bounds how many runs of a job that went without stages are asked what they
// proposed.
const seenDates = 14

// published is a former run with its report.
type published struct {
	ref     FormerRun
	m       *Manifest
	summary *report.Summary
}

// past reads what the run has to know of former ones: those that limits are compared
// with, and which proposals were seen before. Only earlier business dates count, of each
// the current run. What was read is recorded in the manifest and is part of the run's
// identity.
func (r *run) past(m *Manifest) (report.Past, error) {
	p := report.Past{Baseline: []report.PastRun{}, Seen: []report.Seen{}}
	if r.again != nil && r.replaying == nil {
		m.Former = r.again.Former
		return p, nil
	}
	if err := r.baseline(m, &p); err != nil {
		return p, err
	}
	if err := r.seen(m, &p); err != nil {
		return p, err
	}
	r.knowers.record(m)
	r.registry.record(m)
	r.lately.enter(m, &p)
	m.Staged = p.Staged || r.Job.Mode == rules.PilotMode
	return p, nil
}

// read enters a run into the manifest.
func (m *Manifest) read(f FormerRun, what string) {
	i := slices.IndexFunc(m.Former, func(o FormerRun) bool { return o.RunRef == f.RunRef && o.Series == f.Series })
	if i < 0 {
		i = len(m.Former)
		m.Former = append(m.Former, FormerRun{Series: f.Series, RunRef: f.RunRef})
	}
	m.Former[i].For = append(m.Former[i].For, what)
}

// baseline reads the runs that limits are compared with. A run whose acting queues were
// withheld is none of them: what nobody let pass must not become usual.
func (r *run) baseline(m *Manifest, p *report.Past) error {
	n := 0
	for _, l := range r.Job.Limits.BlastRadius {
		if l.BaselineFactor > 0 {
			n = max(n, l.BaselineRuns)
		}
	}
	if n == 0 {
		return nil
	}
	return formerRuns(r.dir.out, r.Job.Name, seriesOf(r.Job), r.BusinessDate, func(f *published) (bool, error) {
		if f.m.Outcome.Withheld != "" {
			return true, nil
		}
		if err := f.readReport(r.dir.out); err != nil {
			return false, err
		}
		m.read(f.ref, "baseline")
		p.Baseline = append(p.Baseline, report.PastOf(f.summary))
		return len(p.Baseline) < n, nil
	})
}

// seen asks the last runs of every series of the job which proposals were published. A
// run that goes by stages knows those of the runs before it; of others, the last ones
// are asked one by one.
func (r *run) seen(m *Manifest, p *report.Past) error {
	declared := r.Job.Mode != rules.Enforce
	for _, t := range r.Job.Types {
		declared = declared || t.EnforceDeclared
	}
	series, err := seriesUnder(r.dir.out, r.Job.Name)
	if err != nil {
		return err
	}
	for _, s := range series { // a former run by stages binds those after it
		err := formerRuns(r.dir.out, r.Job.Name, s, r.BusinessDate, func(f *published) (bool, error) {
			p.Staged = p.Staged || f.staged()
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	if !declared && !p.Staged {
		return nil
	}
	for _, s := range series {
		n := 0
		err := formerRuns(r.dir.out, r.Job.Name, s, r.BusinessDate, func(f *published) (bool, error) {
			if err := f.readReport(r.dir.out); err != nil {
				return false, err
			}
			m.read(f.ref, "seen")
			p.Seen = report.MergeSeen(p.Seen, report.SeenAfter(f.summary))
			n++
			return !f.staged() && n < seenDates, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// staged tells whether a run knew what was seen before it.
func (p *published) staged() bool { return p.m.Staged || p.m.Mode != rules.Enforce }

// seriesUnder lists the series of a job that have a folder, the whole job first.
func seriesUnder(out, job string) ([]string, error) {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(out))
	}
	list := []string{""}
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), job+"@"); ok && e.IsDir() && jobName.MatchString(e.Name()) {
			list = append(list, name)
		}
	}
	return list, nil
}

// formerRuns calls f for the current runs of a series of earlier business dates, the
// latest first, until f has enough.
func formerRuns(out, job, series, before string, f func(*published) (more bool, err error)) error {
	folder := folderOf(job, series)
	entries, err := os.ReadDir(filepath.Join(out, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(filepath.Join(out, folder)))
	}
	looked := 0
	for _, e := range slices.Backward(entries) { // ReadDir sorts by name, dates sort as texts
		if !e.IsDir() || !dateName.MatchString(e.Name()) || e.Name() >= before {
			continue
		}
		if looked++; looked > formerDates {
			return nil
		}
		d, err := newOutDir(out, folder, e.Name())
		if err != nil {
			return err
		}
		id, err := d.currentID()
		if err != nil {
			return err
		}
		if id == "" || !pathExists(d.run(id)) { // a run that was put away says nothing, which lets nothing pass
			continue
		}
		m, sum, err := ReadManifest(d.run(id))
		if err != nil {
			return fail.Wrap(fail.Integrity, err, "the current run of %s cannot be read", e.Name()).
				WithHint("restore it from a backup, or remove the link current of that date")
		}
		p := &published{ref: FormerRun{Series: series, RunRef: RunRef{BusinessDate: e.Name(), RunID: id, ManifestSHA256: sum}}, m: m}
		if more, err := f(p); err != nil || !more {
			return err
		}
	}
	return nil
}

// readReport reads the report of a former run, which must be the one that its manifest
// names.
func (p *published) readReport(out string) error {
	dir := filepath.Join(out, folderOf(p.m.Job, p.ref.Series), p.ref.BusinessDate, p.ref.RunID)
	s, err := reportOf(dir, p.m)
	if err != nil {
		return err
	}
	p.summary = s
	return nil
}
