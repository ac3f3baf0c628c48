package pipeline

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// The registry of files is what the manifests of published runs say that they read. It has
// no file of its own, which could say something else: it is read anew by every run of a job
// with a source that has an identity.

// forFiles says of a former run in a manifest that its files were known.
const forFiles = "files"

// registry is what a run knows of the files of others.
type registry struct {
	runs    []FormerRun       // of earlier business dates, the latest first
	earlier []extract.Arrived // what they read, oldest first
	former  []extract.Arrived // what former runs of this date read, the latest run first
}

// identified tells whether any source of the job has an identity.
func identified(job *rules.Job) bool {
	for _, side := range rules.Sides {
		if slices.ContainsFunc(job.Spec(side).Sources, func(s rules.Source) bool { return s.Identity != nil }) {
			return true
		}
	}
	return false
}

// readRegistry reads what the run knows of others: of the current runs of earlier business
// dates of its series, and of the runs of its date that came before. A run that is judged
// again knows what it knew.
func (r *run) readRegistry() (*registry, error) {
	g := &registry{}
	if !identified(r.Job) {
		return g, nil
	}
	if r.again != nil {
		var err error
		g.earlier, err = knownFiles(r.dir.out, r.again)
		return g, err
	}
	var manifests []*Manifest
	err := formerRuns(r.dir.out, r.Job.Name, seriesOf(r.Job), r.BusinessDate, func(f *published) (bool, error) {
		g.runs = append(g.runs, f.ref)
		manifests = append(manifests, f.m)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if err := g.believe(r, manifests); err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(manifests) {
		g.earlier = append(g.earlier, arrivedOf(m, extract.FileStaged, extract.FileSuperseded)...)
	}
	for _, m := range r.revisionsOf() {
		g.former = append(g.former, arrivedOf(m, extract.FileStaged)...)
	}
	return g, nil
}

// believe compares the runs of earlier dates with what chain.json and the others of them say
// of them. A run that was removed or changed would hide that a number of a sequence is missing,
// and its silence would prove an absence. Runs before all that are there may have been put away.
func (g *registry) believe(r *run, manifests []*Manifest) error {
	c, err := writtenChain(r.dir.job)
	if err != nil {
		return err
	}
	var said []*RunRef
	if c.Last != nil && c.Last.BusinessDate < r.BusinessDate {
		said = append(said, c.Last)
	}
	if r.former != nil {
		manifests = append(slices.Clone(manifests), r.former.m)
	}
	for _, m := range manifests {
		said = append(said, m.Previous, m.Supersedes)
		for i := range m.Former {
			if m.Former[i].Series == seriesOf(r.Job) {
				said = append(said, &m.Former[i].RunRef)
			}
		}
	}
	is := map[string]string{}
	for _, f := range g.runs {
		is[f.RunID] = f.ManifestSHA256
	}
	for _, s := range said {
		switch {
		case s == nil:
		case is[s.RunID] != "" && is[s.RunID] != s.ManifestSHA256:
			return fail.New(fail.Integrity, "the run %s of %s is not as it was published: its manifest was changed", s.RunID, s.BusinessDate).
				WithHint("restore its folder from a backup: by it a run sees which files are missing and which came before")
		case s == c.Last && (len(g.runs) == 0 || g.runs[0].BusinessDate < s.BusinessDate):
			return fail.New(fail.Integrity, "the last run of the job, %s of %s, is not there any more", s.RunID, s.BusinessDate).
				WithHint("restore its folder, and the link current of its date, from a backup: by it a run sees which files are missing and which came before")
		}
	}
	return nil
}

// revisionsOf are the runs of the date that the one under way supersedes, directly or not,
// the latest first. One that was put away ends the list.
func (r *run) revisionsOf() (out []*Manifest) {
	if r.former == nil {
		return nil
	}
	seen := map[string]bool{}
	for m := r.former.m; !seen[m.RunID]; {
		seen[m.RunID] = true
		out = append(out, m)
		if m.Supersedes == nil || !runIDForm.MatchString(m.Supersedes.RunID) {
			break
		}
		next, sum, err := ReadManifest(r.dir.run(m.Supersedes.RunID))
		if err != nil || sum != m.Supersedes.ManifestSHA256 {
			break // it is not there as it was published, which verify says
		}
		m = next
	}
	return out
}

// record enters the runs of earlier dates into the manifest, and so into the run's identity.
func (g *registry) record(m *Manifest) {
	for _, f := range g.runs {
		m.read(f, forFiles)
	}
}

// knownFiles are the files that a published run knew of runs before it. They have to be
// what they were: the run can not be judged again otherwise.
func knownFiles(out string, m *Manifest) (list []extract.Arrived, err error) {
	for _, f := range slices.Backward(m.Former) {
		if !slices.Contains(f.For, forFiles) {
			continue
		}
		place := filepath.Join(folderOf(m.Job, f.Series), f.BusinessDate, f.RunID)
		if !filepath.IsLocal(place) {
			return nil, fail.New(fail.Integrity, "the manifest of run %s of %s names a run outside of the output folder", m.RunID, m.BusinessDate)
		}
		former, sum, err := ReadManifest(filepath.Join(out, place))
		if err != nil || sum != f.ManifestSHA256 {
			return nil, fail.New(fail.Input, "run %s of %s, whose files run %s of %s knew, is not beside it as it was published", f.RunID, f.BusinessDate, m.RunID, m.BusinessDate).
				WithHint("restore its folder from a backup")
		}
		list = append(list, arrivedOf(former, extract.FileStaged, extract.FileSuperseded)...)
	}
	slices.SortStableFunc(list, func(a, b extract.Arrived) int { return strings.Compare(a.BusinessDate, b.BusinessDate) })
	return list, nil
}

// arrivedOf are the files with an identity that a run read whole, and what became of them.
func arrivedOf(m *Manifest, status ...extract.FileStatus) (out []extract.Arrived) {
	for _, in := range m.Inputs {
		if in.Arrival == nil || !slices.Contains(status, extract.FileStatus(in.Status)) {
			continue
		}
		out = append(out, extract.Arrived{Side: in.Side, Source: in.Source, Path: in.Path, Date: in.Date, BusinessDate: m.BusinessDate, RunID: m.RunID,
			SHA256: in.SHA256, Content: in.ContentSHA256, Records: in.Records, Arrival: in.Arrival})
	}
	return out
}

// enterFiles enters what came of the identities of the files into the manifest. What a run
// that is judged again said of revisions stands: the former bytes may be gone since.
func (r *run) enterFiles(m *Manifest, rels ...*extract.Relation) {
	for _, rel := range rels {
		m.Missing = append(m.Missing, rel.Missing...)
		if r.again != nil {
			rel.Revisions = slices.DeleteFunc(slices.Clone(r.again.Revisions), func(x extract.Revision) bool { return x.Side != rel.Side })
		}
		m.Revisions = append(m.Revisions, rel.Revisions...)
		for i := range rel.Revisions {
			x := &rel.Revisions[i]
			rel.Findings = append(rel.Findings, extract.Finding{Code: "file_revised", Source: x.Source, File: x.File, Text: x.Says()})
		}
	}
}

// fileIdentity are the files of others that a run's outputs rest on, one a text.
func fileIdentity(m *Manifest) (out []string) {
	for _, x := range m.Revisions {
		if x.FormerRun != "" {
			out = append(out, fmt.Sprintf("revision %s %q %q %q %s", x.Side, x.Source, x.File, x.Former, x.FormerSHA256))
		}
	}
	for _, x := range m.Reopen {
		out = append(out, fmt.Sprintf("reopen %s %s %s %q %q %s %s", x.BusinessDate, x.RunID, x.Side, x.Source, x.File, x.Why, x.SHA256))
	}
	return out
}

// sameFiles compares what the report says of revised and late files with the manifest.
func sameFiles(s *report.Summary, m *Manifest) (wrong []string) {
	if !reflect.DeepEqual(append([]report.Revision{}, s.Revisions...), report.RevisionsOf(m.Revisions)) {
		wrong = append(wrong, "report and manifest say different things of the files that were revised")
	}
	if !slices.EqualFunc(s.Reopen, m.Reopen, func(a report.Reopen, b Late) bool {
		return a.BusinessDate == b.BusinessDate && a.Side == string(b.Side) && a.Source == b.Source && a.File == b.File && a.Why == b.Text()
	}) {
		wrong = append(wrong, "report and manifest say different things of the dates that are to be run again")
	}
	return wrong
}
