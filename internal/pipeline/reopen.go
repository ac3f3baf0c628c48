package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/ready"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/folder"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Why a business date is to be run again.
const (
	lateArrived = "arrived" // a file that the run lacked is there
	lateRevised = "revised" // a file that it read has other bytes
	lateFilled  = "filled"  // what was missing before its files was read by a run of an earlier date
)

// alwaysRead is of how many dates a run reads the files of sources with an identity anew, to
// see whether they are still the same. Of others it sees what came, and what has another
// size; recon-batch files --late reads all.
const alwaysRead = 7

// Late is a file for which an earlier business date is to be run again.
type Late struct {
	BusinessDate string     `json:"business_date"`
	RunID        string     `json:"run_id"` // of the current run, which did not have it
	Side         rules.Side `json:"side"`
	Source       string     `json:"source"`
	File         string     `json:"file"` // path, relative to the job file
	Why          string     `json:"why"`  // arrived, revised or filled
	SHA256       string     `json:"sha256,omitempty"`
}

// Text says why the date is to be run again.
func (l *Late) Text() string {
	switch l.Why {
	case lateArrived:
		return l.File + " is there now, which run " + l.RunID + " lacked"
	case lateRevised:
		return l.File + " has other bytes than run " + l.RunID + " read"
	}
	return "what was missing before " + l.File + " has been read since by an earlier date"
}

// lateFiles looks what has become of the files of the published runs of a series of business
// dates before one, or of all where it is "". all reads every file again. Only files of
// folders are looked at, of sources that have an identity or may be missing, and a date in
// their path: of no other is it known which date a file belongs to. The latest date comes
// first.
func lateFiles(ctx context.Context, job *rules.Job, out, base, before string, all bool) ([]Late, error) {
	if !slices.ContainsFunc(rules.Sides[:], func(s rules.Side) bool { return slices.ContainsFunc(job.Spec(s).Sources, mayComeLate) }) {
		return nil, nil
	}
	if before == "" {
		before = "9999-99-99"
	}
	var list []Late
	var known []*Manifest // of later dates first
	err := formerRuns(out, job.Name, seriesOf(job), before, func(f *published) (bool, error) {
		known = append(known, f.m)
		found, err := lateOf(ctx, job, f.m, base, len(known) <= alwaysRead, all)
		list = append(list, found...)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	for i, m := range known {
		list = append(list, filled(m, known[i+1:])...)
	}
	slices.SortStableFunc(list, func(a, b Late) int { return strings.Compare(b.BusinessDate, a.BusinessDate) })
	return list, nil
}

// mayComeLate tells whether the files of a source are looked at for earlier dates.
func mayComeLate(s rules.Source) bool {
	return s.Remote == nil && (s.Identity != nil || s.Need != rules.Required) && (s.Path.Uses("date") || s.Path.Uses("file_date"))
}

// lateNames are the files of an input that a run would read, as far as they are ready, and
// the folder that they lie below. Ready rules may read whole files, and are asked for recent
// dates alone.
func lateNames(ctx context.Context, base string, in *rules.Input, recent bool) (names []string, dir string, err error) {
	names, dir, err = folder.Names(base, in.Path, in.Source.Literal)
	if in.Ready == nil || err != nil {
		return names, dir, err
	}
	if !recent {
		return nil, dir, nil
	}
	w := &ready.Watch{Input: in, Open: func(context.Context) (fetch.Store, string, error) { return fetch.Local{Base: base}, in.Path, nil }}
	v, err := w.Look(ctx, time.Now())
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, dir, err
	}
	if !v.Ready() && v.Again == 0 {
		return nil, dir, nil
	}
	// Ready, or all that is not known is that the files are at rest.
	return slices.DeleteFunc(names, func(n string) bool {
		n = filepath.ToSlash(n)
		return !slices.ContainsFunc(w.Files(), func(e fetch.Entry) bool { return e.Name == n || strings.HasSuffix(e.Name, "/"+n) })
	}), dir, nil
}

// lateOf looks at the files of one published run.
func lateOf(ctx context.Context, job *rules.Job, m *Manifest, base string, recent, all bool) (list []Late, err error) {
	asOf, err := m.asOf()
	if err != nil {
		return nil, err
	}
	bound, err := job.Bind(m.BusinessDate, asOf)
	if err != nil {
		return nil, nil // the job has changed, and cannot be run for that date any more
	}
	for _, side := range rules.Sides {
		for i := range bound.Inputs[side] {
			in := &bound.Inputs[side][i]
			src := in.Source
			if !mayComeLate(*src) {
				continue
			}
			was := slices.DeleteFunc(slices.Clone(m.Inputs), func(x Input) bool { return x.Side != side || x.Source != src.Name || x.Date != in.FileDate })
			if len(was) == 0 {
				continue // the source is new in the job
			}
			names, dir, err := lateNames(ctx, base, in, recent || all)
			if err != nil {
				continue // a run says so, and this is none
			}
			for _, name := range names {
				late, err := lateFile(was, dir, name, all || recent && src.Identity != nil)
				if err != nil {
					return nil, err
				}
				if late != nil {
					late.BusinessDate, late.RunID, late.Side, late.Source = m.BusinessDate, m.RunID, side, src.Name
					list = append(list, *late)
				}
			}
		}
	}
	return list, nil
}

// lateFile compares one file with those that a run read of its input; nil where it is one
// of them, or a copy of one.
func lateFile(was []Input, dir, name string, read bool) (*Late, error) {
	path := filepath.ToSlash(name)
	in, err := folder.Open(dir, name)
	if err != nil {
		return nil, nil // no run could read it either
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", name)
	}
	i := slices.IndexFunc(was, func(x Input) bool { return x.Path == path && x.Status != string(extract.FileMissing) })
	if i >= 0 && was[i].Size == info.Size() && was[i].SHA256 != "" && !read {
		return nil, nil
	}
	_, sum, err := hashOf(in)
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", name)
	}
	switch {
	case i >= 0 && was[i].SHA256 != sum:
		return &Late{File: path, Why: lateRevised, SHA256: sum}, nil
	case i < 0 && !slices.ContainsFunc(was, func(x Input) bool { return x.SHA256 == sum || x.ContentSHA256 == sum }):
		return &Late{File: path, Why: lateArrived, SHA256: sum}, nil
	}
	return nil, nil
}

// filled finds the numbers that a run missed before its files, and that runs of earlier
// dates have read since.
func filled(m *Manifest, earlier []*Manifest) (list []Late) {
	for _, x := range m.Missing {
		if x.What != extract.MissingSequence {
			continue
		}
		there := slices.ContainsFunc(earlier, func(e *Manifest) bool {
			return slices.ContainsFunc(arrivedOf(e, extract.FileStaged), func(a extract.Arrived) bool {
				return a.Side == x.Side && a.Source == x.Source && a.Arrival.Sequence != nil && a.Arrival.Series == x.Of && *a.Arrival.Sequence >= x.From && *a.Arrival.Sequence <= x.Until
			})
		})
		if there {
			list = append(list, Late{BusinessDate: m.BusinessDate, RunID: m.RunID, Side: x.Side, Source: x.Source, File: x.Before, Why: lateFilled})
		}
	}
	return list
}

// reopen finds the earlier dates that are to be run again. They are part of what the run
// says, and so of its identity; a run that is judged again says what it said.
func (r *run) reopen(ctx context.Context, m *Manifest) (err error) {
	if r.again != nil {
		m.Reopen = r.again.Reopen
		return nil
	}
	m.Reopen, err = lateFiles(ctx, r.Job, r.dir.out, r.baseDir(), r.BusinessDate, false)
	if fail.ClassOf(err) == fail.Integrity {
		return nil // a former run cannot be read, which the report says; nothing is decided by this list
	}
	return err
}

// reopened is what the report says of the dates that are to be run again.
func (r *run) reopened(m *Manifest) (list []report.Reopen, findings []extract.Finding) {
	list = []report.Reopen{}
	for i := range m.Reopen {
		l := &m.Reopen[i]
		command := fmt.Sprintf("recon-batch run --business-date %s %s", l.BusinessDate, shellQuote(filepath.Base(r.Job.File)))
		list = append(list, report.Reopen{BusinessDate: l.BusinessDate, Side: string(l.Side), Source: l.Source, File: l.File, Why: l.Text(), Command: command})
		findings = append(findings, extract.Finding{Code: "file_reopened", Source: l.Source, File: l.File,
			Text: fmt.Sprintf("the business date %s is to be run again: %s; `%s`", l.BusinessDate, l.Text(), command)})
	}
	return list, findings
}

// LateFiles lists the files for which published business dates are to be run again. Every
// file is read. source "" looks at all sources.
func LateFiles(ctx context.Context, o Options, source string) ([]Late, error) {
	if err := knownSource(o.Job, source); err != nil {
		return nil, err
	}
	out, err := filepath.Abs(o.OutPath())
	if err != nil {
		return nil, diskError(err, "the output folder cannot be found")
	}
	list, err := lateFiles(ctx, o.Job, out, o.baseDir(), "", true)
	list = slices.DeleteFunc(append([]Late{}, list...), func(l Late) bool { return source != "" && l.Source != source })
	return list, err
}
