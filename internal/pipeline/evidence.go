package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/archive"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// archiveOf is where the job keeps the bytes that runs read; nil where it keeps none. It
// is never inside the output folder: what lies there belongs to runs, their locks too.
func archiveOf(job *rules.Job, base, out string) (*archive.Archive, error) {
	if job.Evidence == nil {
		return nil, nil
	}
	dir := job.Evidence.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, diskError(err, "the archive cannot be found")
	}
	if err := refuseLink(dir); err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, diskError(err, "the output folder cannot be found")
	}
	if rel, err := filepath.Rel(realPath(out), realPath(dir)); err != nil || filepath.IsLocal(rel) {
		return nil, fail.New(fail.Usage, "evidence.dir, %s, lies in the output folder", displayPath(dir)).
			WithHint("name a folder beside it; several jobs may share one")
	}
	return &archive.Archive{Dir: dir}, nil
}

// realPath resolves the links of as much of an absolute path as is there.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
}

// keptOf gives the path of kept bytes, "" where they are not kept.
func keptOf(a *archive.Archive) func(digest string) string {
	if a == nil {
		return nil
	}
	return func(digest string) string {
		if len(digest) != 64 {
			return ""
		}
		path := a.Object(digest)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return ""
		}
		return path
	}
}

// lockArchive keeps others from removing what is being entered.
func lockArchive(ctx context.Context, a *archive.Archive) (func() error, error) {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return nil, diskError(err, "the archive cannot be made")
	}
	path := filepath.Join(a.Dir, ".lock")
	if err := refuseSpecial(path); err != nil {
		return nil, err
	}
	l := flock.New(path)
	if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, diskError(err, "the archive cannot be locked")
	}
	return l.Unlock, nil
}

// keepEvidence keeps the bytes of every file that the run read. It is done before the run
// is published: a run that says that its evidence is kept has it.
func (r *run) keepEvidence(ctx context.Context, m *Manifest, rels ...*extract.Relation) (err error) {
	a := r.kept
	if a == nil {
		return nil
	}
	unlock, err := lockArchive(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	entry := &archive.Run{Job: folderOf(m.Job, m.Series), BusinessDate: m.BusinessDate, RunID: m.RunID, Keep: r.Job.Evidence.Keep.String(),
		Entered: time.Now().UTC().Format(time.DateOnly)}
	for _, rel := range rels {
		for _, f := range rel.Files {
			if f.SHA256 == "" {
				continue
			}
			if err := a.Keep(filepath.Join(f.Dir, f.Path), f.SHA256); err != nil {
				return err
			}
			entry.Inputs = append(entry.Inputs, archive.File{Side: string(rel.Side), Source: f.Source, Name: f.Name, SHA256: f.SHA256, Size: f.Size})
		}
		for _, f := range rel.ControlFiles {
			if err := a.Keep(filepath.Join(f.Dir, f.Path), f.SHA256); err != nil {
				return err
			}
			entry.Inputs = append(entry.Inputs, archive.File{Side: string(rel.Side), Source: f.Source, Name: filepath.Base(f.Path), SHA256: f.SHA256, Size: f.Size})
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	asked, err := r.askedFiles()
	if err != nil {
		return err
	}
	for _, f := range asked {
		if err := a.Keep(f.path, f.SHA256); err != nil {
			return err
		}
		entry.Inputs = append(entry.Inputs, archive.File{Side: string(rules.Results), Source: f.source, Name: f.Name, SHA256: f.SHA256, Size: f.Size})
	}
	if err := a.Enter(entry); err != nil {
		return err
	}
	runs, objects, err := a.Prune(entry.Job, time.Now())
	if err != nil {
		r.note("evidence whose time is over could not be removed: %s", err)
	} else if runs > 0 {
		r.note("removed the evidence of %s whose time is over, %s", plural(int64(runs), "run", "runs"), plural(int64(objects), "file", "files"))
	}
	return nil
}

// Replayed is what judging a published run again has given.
type Replayed struct {
	RunID         string          `json:"run_id"`
	BusinessDate  string          `json:"business_date"`
	Reproduced    bool            `json:"reproduced"`     // every output has the bytes that were published
	ContentDigest string          `json:"content_digest"` // now
	SameContent   bool            `json:"same_content"`   // rows, verdicts and links are those that were published
	Outputs       []ReplayedFile  `json:"outputs"`        // that differ
	Same          int             `json:"same"`           // outputs with the same bytes
	Versions      []VersionChange `json:"versions"`       // that were others when the run was made
	History       bool            `json:"history"`        // the runs of earlier dates are no longer those that the run read
}

// ReplayedFile is an output that came out otherwise.
type ReplayedFile struct {
	Path string `json:"path"`
	Was  string `json:"was,omitempty"` // sha256; "" not published
	Now  string `json:"now,omitempty"` // "" not made
}

// VersionChange is something that made the run, and is another one now.
type VersionChange struct {
	Name string `json:"name"`
	Was  string `json:"was"`
	Now  string `json:"now"`
}

// Replay judges the inputs of a published run again, under the job that it ran with, and
// compares every output with what was published. The bytes come from where they were,
// from the snapshots of remote sources, from the archive, or from what is staged of them;
// nobody is asked. Nothing is written but what is staged. o.Job names the job file, whose
// folder is where relative paths begin; id is a run of the date, "" the current one. The
// error has class Input where bytes of the run are gone.
func Replay(ctx context.Context, o Options, id string) (*Replayed, error) {
	dir, err := newOutDir(o.OutPath(), Series(o.Job), o.BusinessDate)
	if err != nil {
		return nil, err
	}
	if id == "" {
		if id, err = dir.currentID(); err != nil {
			return nil, err
		}
	}
	if !runIDForm.MatchString(id) {
		return nil, fail.New(fail.Usage, "there is no published run of %s on %s", o.Job.Name, o.BusinessDate).
			WithHint("recon-batch runs list %s", shellQuote(o.Job.File))
	}
	folder := dir.run(id)
	m, _, err := ReadManifest(folder)
	if err != nil {
		return nil, err
	}
	_, digest, err := hashFile(filepath.Join(folder, effectiveName))
	if err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "the job that run %s was made with cannot be read", id)
	}
	job, err := rules.Load(filepath.Join(folder, effectiveName))
	if err != nil {
		return nil, fail.Wrap(fail.Integrity, err, "the job that run %s was made with cannot be read", id)
	}
	if job.Digest() != m.JobDigest || !slices.ContainsFunc(m.Outputs, func(o OutputDigest) bool { return o.Path == effectiveName && o.SHA256 == digest }) {
		return nil, fail.New(fail.Integrity, "%s in run %s is not the job that the run was made with", effectiveName, id).
			WithHint("restore it from a backup; recon-batch verify tells what else was changed")
	}
	job.File = o.Job.File
	out := &Replayed{RunID: id, BusinessDate: m.BusinessDate}
	o.Job, o.Out, o.replaying = job, dir.out, func(now *Manifest) { out.compare(m, now) }
	base := o.baseDir()
	if _, err := Rejudge(ctx, o, folder, base, func(context.Context, *duck.DB) error { return nil }); err != nil {
		return nil, err
	}
	return out, nil
}

// compare sets what came out against what was published.
func (p *Replayed) compare(was, now *Manifest) {
	p.ContentDigest = now.ContentDigest
	p.SameContent = was.ContentDigest == now.ContentDigest
	before := map[string]string{}
	for _, o := range was.Outputs {
		before[o.Path] = o.SHA256
	}
	now.Outputs = slices.Clone(now.Outputs)
	for i := range now.Outputs {
		// It is what is judged again by, and was compared by its digest: written out once
		// more, it names itself as the origin of its values.
		if o := &now.Outputs[i]; o.Path == effectiveName {
			o.SHA256 = before[effectiveName]
		}
	}
	for _, o := range now.Outputs {
		if before[o.Path] == o.SHA256 {
			p.Same++
		} else {
			p.Outputs = append(p.Outputs, ReplayedFile{Path: o.Path, Was: before[o.Path], Now: o.SHA256})
		}
		delete(before, o.Path)
	}
	for _, o := range was.Outputs {
		if before[o.Path] != "" {
			p.Outputs = append(p.Outputs, ReplayedFile{Path: o.Path, Was: o.SHA256})
		}
	}
	for _, v := range []VersionChange{
		{"recon-batch", was.Versions.Program, now.Versions.Program}, {"semantics", itoa(was.Versions.Semantics), itoa(now.Versions.Semantics)},
		{"DuckDB", was.Versions.DuckDB, now.Versions.DuckDB}, {"Go", was.Versions.Go, now.Versions.Go},
	} {
		if v.Was != v.Now {
			p.Versions = append(p.Versions, v)
		}
	}
	p.History = !sameFormer(was.Former, now.Former)
	p.Reproduced = p.SameContent && len(p.Outputs) == 0
}

func sameFormer(a, b []FormerRun) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].ManifestSHA256 != b[i].ManifestSHA256 {
			return false
		}
	}
	return true
}
