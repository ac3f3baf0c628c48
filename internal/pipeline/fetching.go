package pipeline

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/kinds"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// evidenceName is the folder below the output folder in which snapshots lie:
//
//	<out>/.evidence/<job>/<side>.<source>/<business date>[.<file date>]/<0001>/
//
// Each pull has a folder of its own, and none is ever written again once it has its
// snapshot. They hold what providers sent: for the owner alone.
const evidenceName = ".evidence"

// Snapshot says in a manifest which pull a remote source was read from.
type Snapshot struct {
	Side     rules.Side `json:"side"`
	Source   string     `json:"source"`
	Date     string     `json:"date,omitempty"`
	Kind     string     `json:"kind"`
	Address  string     `json:"address"`
	Path     string     `json:"path"`   // of its folder, relative to the output folder, with slashes
	SHA256   string     `json:"sha256"` // of its snapshot.json
	Proof    string     `json:"proof"`
	Through  string     `json:"through,omitempty"`
	Requests int64      `json:"requests"`
}

// pullGoesOn is how old the folder of an interrupted pull may be to go on from. Beyond,
// what was stored and what is still to come would be of different days.
const pullGoesOn = 12 * time.Hour

// fetching pulls the remote sources of one run.
type fetching struct {
	job   *rules.Bound
	root  string // <out>/.evidence/<job>
	out   string // what paths in the manifest are relative to
	base  string
	note  func(format string, args ...any)
	tell  func(file string, bytes, records int64)
	until time.Time
	last  bool // the latest snapshot that is there is taken, and nothing is pulled

	dry       string                       // of a dry run with last: where it may write
	questions map[string]classify.Question // of lookups, by source: these are asked, and nothing else is pulled; nil: all but lookups are

	// asJudged holds what was pulled to what ready rules found before.
	asJudged func(side rules.Side, in *rules.Input, snap *fetch.Snapshot, dir string) error
}

// remoteJob tells whether any source is pulled; lookups, which are asked after the match,
// count where that is said.
func remoteJob(job *rules.Bound, lookups bool) bool {
	for _, side := range rules.Sides {
		for _, in := range job.Inputs[side] {
			if in.Source.Remote != nil && (lookups || !in.Source.IsLookup()) {
				return true
			}
		}
	}
	return false
}

// pulling is one remote input on its way.
type pulling struct {
	side  rules.Side
	input *rules.Input
	home  string   // folder of the pulls of the input and date
	pulls []string // that were there before
	dir   string   // of the snapshot
	snap  *fetch.Snapshot
	err   error
}

// pull pulls every remote input, and hands their files to the inputs of the job. What
// must show one state of a source is pulled together, everything else at the same time.
// Every pull is brought to its end, so that the error does not depend on which one fails
// first.
func (f *fetching) pull(ctx context.Context) ([]Snapshot, error) {
	var list []*pulling
	for _, side := range rules.Sides {
		f.job.Inputs[side] = slices.Clone(f.job.Inputs[side])
		for i := range f.job.Inputs[side] {
			in := &f.job.Inputs[side][i]
			switch {
			case in.Source.Remote == nil:
			case in.Judged != nil && in.Judged.Missing != "":
				in.Pulled = &rules.Pulled{}
			case f.last || in.Source.IsLookup() == (f.questions != nil):
				list = append(list, &pulling{side: side, input: in})
			}
		}
	}
	for _, p := range list {
		if err := f.place(p); err != nil {
			return nil, err
		}
	}
	pull := list
	if f.last {
		pull = nil
		for _, p := range list {
			if p.input.Source.IsLookup() && len(p.pulls) == 0 {
				// Nothing is stored, and without questions nobody is asked.
				if pull = append(pull, p); f.dry != "" {
					p.home = filepath.Join(f.dry, filepath.Base(filepath.Dir(p.home)))
					if err := os.MkdirAll(p.home, 0o700); err != nil {
						return nil, diskError(err, "a temporary folder cannot be made")
					}
				}
			} else {
				f.latest(p)
			}
		}
	}
	if err := f.pullAll(ctx, pull); err != nil {
		return nil, err
	}
	var out []Snapshot
	var errs []error
	for _, p := range list {
		ref, err := f.hand(p)
		if ref != nil {
			out = append(out, *ref)
		}
		errs = append(errs, err)
	}
	return out, cmp.Or(errs...)
}

// pullAll pulls the groups of the inputs.
func (f *fetching) pullAll(ctx context.Context, list []*pulling) error {
	of := map[*fetch.Request]*pulling{}
	var requests []*fetch.Request
	for _, p := range list {
		dir, release, err := f.folder(p.home, p.pulls, declaration(f.job, p.input))
		if err != nil {
			return err
		}
		defer release()
		name := p.input.Source.Name
		r := &fetch.Request{
			Job: f.job, Side: p.side, Input: p.input, Declared: f.job.AskedDigest(p.input), Dir: dir, BaseDir: f.base, Until: f.until, Now: time.Now, Note: f.note,
			Progress: func(file string, bytes, records int64) { f.tell(name+"/"+file, bytes, records) },
		}
		q := f.questions[name]
		r.Questions, r.LeftOut = q.Operations, q.LeftOut
		p.dir, of[r] = dir, p
		requests = append(requests, r)
	}
	groups, err := fetch.Groups(kinds.Of, requests)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, g := range groups {
		wg.Go(func() {
			snaps, err := fetch.PullGroup(ctx, kinds.Of(g[0].Source().Remote.Kind), g)
			for i, r := range g {
				p := of[r]
				if p.err = err; err == nil {
					p.snap = snaps[i]
					f.share(p)
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// hand gives an input its files. What a source that may be missing could not be asked for
// is missing (V35); what came and is not whole is refused, as a file would be.
func (f *fetching) hand(p *pulling) (*Snapshot, error) {
	in := p.input
	if p.err != nil {
		if !mayBeMissing(in.Source, p.err) {
			return nil, p.err
		}
		f.note("the source %s could not be pulled: %s; it proves nothing", in.Source.Name, p.err)
		in.Pulled = &rules.Pulled{}
		return nil, nil
	}
	in.Pulled = &rules.Pulled{Dir: filepath.Join(p.dir, fetch.FilesDir), Names: p.snap.Names(), Digests: p.snap.Digests()}
	if err := f.ready(p); err != nil {
		return nil, err
	}
	if err := limitCoverage(in, p.snap); err != nil {
		return nil, err
	}
	for _, n := range p.snap.Notes {
		f.note("%s: %s", in.Source.Name, n)
	}
	return f.ref(p)
}

// ready holds a snapshot to the ready rules of its source.
func (f *fetching) ready(p *pulling) error {
	if f.last {
		return f.readReady(p.dir, p.input)
	}
	if err := f.asJudged(p.side, p.input, p.snap, p.dir); err != nil {
		return err
	}
	return keepReady(p.dir, p.input)
}

// mayBeMissing tells whether the job lets the source be missing for this reason: one that
// is late-ok may not have come, and one that is optional may not even be whole.
func mayBeMissing(src *rules.Source, err error) bool {
	switch fail.ClassOf(err) {
	case fail.Temporary:
		return src.Need == rules.LateOK || src.Need == rules.Optional
	case fail.Input:
		return src.Need == rules.Optional
	}
	return false
}

// limitCoverage notes what the source says that its data reach to.
func limitCoverage(in *rules.Input, snap *fetch.Snapshot) error {
	if snap.Through == "" || in.Until == nil {
		return nil
	}
	t, err := time.Parse(time.RFC3339, snap.Through)
	if err != nil {
		return fail.Wrap(fail.Integrity, err, "the snapshot of the source %s is damaged", in.Source.Name)
	}
	us := t.UnixMicro()
	in.Through = &us
	return nil
}

// place finds where the snapshots of an input lie.
func (f *fetching) place(p *pulling) (err error) {
	p.home = filepath.Join(f.root, string(p.side)+"."+p.input.Source.Name, f.job.Date)
	if p.input.FileDate != "" {
		p.home += "." + p.input.FileDate
	}
	// Up to the folder of all evidence, which is above that of the job.
	for dir, top := p.home, filepath.Dir(f.root); len(dir) >= len(top); dir = filepath.Dir(dir) {
		if err := refuseLink(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		return diskError(err, "the folder of the evidence cannot be made")
	}
	p.pulls, err = pullsIn(p.home)
	return err
}

// latest takes the latest snapshot that is there, if it is what was pulled for the job.
func (f *fetching) latest(p *pulling) {
	for _, p.dir = range slices.Backward(p.pulls) {
		if p.snap, p.err = fetch.ReadSnapshot(p.dir); p.snap != nil && p.err == nil {
			p.err = p.snap.Stands(p.dir, f.job, p.side, p.input)
		}
		if p.snap != nil || p.err != nil {
			return
		}
	}
	p.err = fail.New(fail.Input, "the source %s has no snapshot of %s", p.input.Source.Name, f.job.Date).
		WithHint("pull it first: recon-batch snapshot --business-date %s %s", f.job.Date, shellQuote(f.job.File))
}

// ref is what the manifest says of a snapshot.
func (f *fetching) ref(p *pulling) (*Snapshot, error) {
	_, digest, err := fetch.HashFile(filepath.Join(p.dir, fetch.SnapshotFile))
	if err != nil {
		return nil, diskError(err, "the snapshot cannot be read")
	}
	rel, err := filepath.Rel(f.out, p.dir)
	if err != nil {
		return nil, err
	}
	return &Snapshot{
		Side: p.side, Source: p.input.Source.Name, Date: p.input.FileDate, Kind: p.snap.Kind, Address: p.snap.Address,
		Path: filepath.ToSlash(rel), SHA256: digest, Proof: p.snap.Proof, Through: p.snap.Through, Requests: p.snap.Requests,
	}, nil
}

// fetch pulls the remote sources of the run. One that is judged again reads what it read.
func (r *run) fetch(ctx context.Context) error {
	if r.again != nil {
		return pulledBefore(r.bound, r.again, r.OutPath())
	}
	var err error
	r.snapshots, err = r.fetching(ctx).pull(ctx)
	return err
}

func (r *run) fetching(ctx context.Context) *fetching {
	f := &fetching{
		job: r.bound, root: filepath.Join(r.dir.out, evidenceName, r.Job.Name), out: r.dir.out, base: r.baseDir(),
		note: func(format string, args ...any) { r.note(format, args...) }, tell: func(file string, bytes, records int64) { r.reading(file, bytes, 0, records) },
		until: r.Until, last: r.LastSnapshots,
		asJudged: func(side rules.Side, in *rules.Input, snap *fetch.Snapshot, dir string) error {
			return r.asPulled(ctx, side, in, snap, dir)
		},
	}
	if r.DryRun {
		f.dry = filepath.Join(r.tmp, "evidence") // gone with the outputs
		if !r.LastSnapshots {
			f.root = f.dry
		}
	}
	return f
}

// pulledBefore hands the files of the snapshots of a published run to the inputs of the
// job. Those that are gone may still be staged.
func pulledBefore(job *rules.Bound, m *Manifest, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return diskError(err, "the output folder cannot be found")
	}
	for _, side := range rules.Sides {
		job.Inputs[side] = slices.Clone(job.Inputs[side])
		for i := range job.Inputs[side] {
			in := &job.Inputs[side][i]
			if in.Source.Remote == nil {
				continue
			}
			in.Pulled = &rules.Pulled{}
			for _, s := range m.Snapshots {
				if s.Side != side || s.Source != in.Source.Name || s.Date != in.FileDate {
					continue
				}
				in.Pulled.Dir = filepath.Join(out, filepath.FromSlash(s.Path), fetch.FilesDir)
				if err := limitCoverage(in, &fetch.Snapshot{Through: s.Through}); err != nil {
					return err
				}
			}
			for _, x := range m.Inputs {
				if x.Side == side && x.Source == in.Source.Name && x.Date == in.FileDate && x.Status != "missing" {
					in.Pulled.Names = append(in.Pulled.Names, filepath.FromSlash(x.Path))
				}
			}
		}
	}
	return nil
}
