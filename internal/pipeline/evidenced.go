package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Evidenced tells what the sources of a business date prove, and judges nothing. Files are
// read as a run now would read them; of sources that are pulled the latest snapshots are,
// and nobody is asked. What a run would be refused for is told and taken for missing.
//
// With id, "current" or a run's, it is what the published run read instead.
//
// Errors have class Usage where there is no such run, and Integrity or Resources where the
// reading cannot go on. A file that is missing, cut or broken is no error here.
func Evidenced(ctx context.Context, o Options, id string) (*report.Evidenced, error) {
	if id != "" {
		return publishedEvidence(o, id)
	}
	bound, err := o.Job.Bind(o.BusinessDate, o.AsOf)
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, bound: lenient(bound)}
	var e *report.Evidenced
	err = r.staged(ctx, func(_ *duck.DB, rels [2]*extract.Relation, _ string) error {
		unpulled := r.notPulled(rels[:])
		e = report.Evidence(&report.Input{Bound: bound, Operations: rels[0], Results: rels[1]})
		e.Refused = refusedFor(o.Job, rels[:])
		if unpulled && len(e.Refused) > 0 {
			e.Pull = strings.Replace(r.command(), " run ", " snapshot ", 1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, n := range r.res.Notes {
		e.Notes = append(e.Notes, scan.Text(n))
	}
	if n := len(o.Job.Lookups()); n > 0 {
		e.Notes = append(e.Notes, plural(int64(n), "lookup is", "lookups are")+" asked about single operations after the match: what their answers prove is not known before")
	}
	return e, nil
}

// lenient is the bound job with every source optional, so that what is missing or broken
// is told and not an error.
func lenient(b *rules.Bound) *rules.Bound {
	out := *b
	out.Inputs = map[rules.Side][]rules.Input{}
	for _, side := range rules.Sides {
		copies := map[*rules.Source]*rules.Source{}
		for _, in := range b.Inputs[side] {
			c := copies[in.Source]
			if c == nil {
				s := *in.Source
				s.Need = rules.Optional
				c = &s
				copies[in.Source] = c
			}
			in.Source = c
			out.Inputs[side] = append(out.Inputs[side], in)
		}
	}
	return &out
}

// notPulled says so of the files that a run would pull and no snapshot has, and tells
// whether there are any.
func (r *run) notPulled(rels []*extract.Relation) bool {
	found := false
	for _, rel := range rels {
		for i := range rel.Files {
			f := &rel.Files[i]
			if f.Status == extract.FileMissing && slices.ContainsFunc(r.bound.Inputs[rel.Side], func(in rules.Input) bool {
				return in.Source.Name == f.Source && in.FileDate == f.Date && in.Pulled != nil && in.Pulled.Dir == "" && in.Judged == nil
			}) {
				f.Problem, found = "there is no snapshot of it", true
			}
		}
	}
	return found
}

// refusedFor lists why a run would end before anything is judged (V35).
func refusedFor(job *rules.Job, rels []*extract.Relation) []string {
	out := []string{}
	for _, rel := range rels {
		spec := job.Spec(rel.Side)
		for _, f := range rel.Files {
			i := slices.IndexFunc(spec.Sources, func(s rules.Source) bool { return s.Name == f.Source })
			if i < 0 {
				continue
			}
			need := spec.Sources[i].Need
			switch {
			case f.Status == extract.FileMissing && need != rules.Optional && need != rules.LateOK:
				out = append(out, scan.Text(fmt.Sprintf("%s/%s is required: %s: %s", rel.Side, f.Source, filepath.ToSlash(f.Path), f.Problem)))
			case f.Status == extract.FileRefused && need != rules.Optional:
				out = append(out, scan.Text(fmt.Sprintf("%s/%s is %s: %s", rel.Side, f.Source, need, f.Problem)))
			}
		}
	}
	return out
}

// publishedEvidence is what a published run read.
func publishedEvidence(o Options, id string) (*report.Evidenced, error) {
	dir, err := newOutDir(o.OutPath(), Series(o.Job), o.BusinessDate)
	if err != nil {
		return nil, err
	}
	if id == "current" {
		if id, err = dir.currentID(); err != nil {
			return nil, err
		}
	}
	if !runIDForm.MatchString(id) {
		return nil, fail.New(fail.Usage, "there is no such published run of %s on %s", o.Job.Name, o.BusinessDate).
			WithHint("recon-batch runs list %s", shellQuote(o.Job.File))
	}
	m, _, err := ReadManifest(dir.run(id))
	if err != nil {
		return nil, err
	}
	s, err := reportOf(dir.run(id), m)
	if err != nil {
		return nil, err
	}
	return report.EvidenceOf(s), nil
}
