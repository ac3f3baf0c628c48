package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

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
}

// remote tells whether any source is pulled.
func remoteJob(job *rules.Bound) bool {
	for _, side := range rules.Sides {
		for _, in := range job.Inputs[side] {
			if in.Source.Remote != nil {
				return true
			}
		}
	}
	return false
}

// pull pulls every remote input, all of them at once, and hands their files to the
// inputs of the job. Every pull is brought to its end, so that the error does not depend
// on which one fails first.
func (f *fetching) pull(ctx context.Context) ([]Snapshot, error) {
	type pulled struct {
		side  rules.Side
		input *rules.Input
		snap  *Snapshot
		err   error
	}
	var list []*pulled
	for _, side := range rules.Sides {
		f.job.Inputs[side] = slices.Clone(f.job.Inputs[side])
		for i := range f.job.Inputs[side] {
			if in := &f.job.Inputs[side][i]; in.Source.Remote != nil {
				list = append(list, &pulled{side: side, input: in})
			}
		}
	}
	var wg sync.WaitGroup
	for _, p := range list {
		wg.Go(func() { p.snap, p.err = f.one(ctx, p.side, p.input) })
	}
	wg.Wait()
	var out []Snapshot
	var errs []error
	for _, p := range list {
		if p.err == nil && p.snap != nil {
			out = append(out, *p.snap)
		}
		errs = append(errs, p.err)
	}
	return out, cmp.Or(errs...)
}

// one pulls one input. What a source that may be missing could not be asked for is
// missing (V35); what came and is not whole is refused, as a file would be.
func (f *fetching) one(ctx context.Context, side rules.Side, in *rules.Input) (*Snapshot, error) {
	dir, snap, err := f.snapshot(ctx, side, in)
	if err != nil {
		if mayBeMissing(in.Source, err) {
			f.note("the source %s could not be pulled: %s; it proves nothing", in.Source.Name, err)
			in.Pulled = &rules.Pulled{}
			return nil, nil
		}
		return nil, err
	}
	in.Pulled = &rules.Pulled{Dir: filepath.Join(dir, fetch.FilesDir), Names: snap.Names()}
	if err := limitCoverage(in, snap); err != nil {
		return nil, err
	}
	for _, n := range snap.Notes {
		f.note("%s: %s", in.Source.Name, n)
	}
	return f.ref(side, in, dir, snap)
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

// limitCoverage takes back what the source says that it does not hold yet.
func limitCoverage(in *rules.Input, snap *fetch.Snapshot) error {
	if snap.Through == "" || in.Until == nil {
		return nil
	}
	t, err := time.Parse(time.RFC3339, snap.Through)
	if err != nil {
		return fail.Wrap(fail.Integrity, err, "the snapshot of the source %s is damaged", in.Source.Name)
	}
	if us := t.UnixMicro(); us < *in.Until {
		us = max(us, *in.From)
		in.Until = &us
	}
	return nil
}

// snapshot finds or makes the snapshot of an input.
func (f *fetching) snapshot(ctx context.Context, side rules.Side, in *rules.Input) (string, *fetch.Snapshot, error) {
	home := filepath.Join(f.root, string(side)+"."+in.Source.Name, f.job.Date)
	if in.FileDate != "" {
		home += "." + in.FileDate
	}
	for p := home; len(p) >= len(f.root); p = filepath.Dir(p) {
		if err := refuseLink(p); err != nil {
			return "", nil, err
		}
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", nil, diskError(err, "the folder of the evidence cannot be made")
	}
	pulls, err := pullsIn(home)
	if err != nil {
		return "", nil, err
	}
	if f.last {
		for i := len(pulls) - 1; i >= 0; i-- {
			if s, err := fetch.ReadSnapshot(pulls[i]); s != nil || err != nil {
				return pulls[i], s, err
			}
		}
		return "", nil, fail.New(fail.Input, "the source %s has no snapshot of %s", in.Source.Name, f.job.Date).
			WithHint("pull it first: recon-batch snapshot --business-date %s %s", f.job.Date, shellQuote(f.job.File))
	}
	declared := declaration(f.job, in)
	dir, err := f.folder(home, pulls, declared)
	if err != nil {
		return "", nil, err
	}
	s, err := fetch.Pull(ctx, kinds.Of(in.Source.Remote.Kind), &fetch.Request{
		Job: f.job, Side: side, Input: in, Dir: dir, BaseDir: f.base, Until: f.until, Now: time.Now, Note: f.note,
		Progress: func(name string, bytes, records int64) { f.tell(in.Source.Name+"/"+name, bytes, records) },
	})
	if err != nil {
		return "", nil, err
	}
	f.share(home, pulls, dir, s)
	return dir, s, nil
}

// pullsIn lists the folders of pulls, oldest first.
func pullsIn(home string) ([]string, error) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return nil, diskError(err, "the folder of the evidence cannot be read")
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == 4 {
			out = append(out, filepath.Join(home, e.Name()))
		}
	}
	return out, nil
}

// begunName says what a folder without a snapshot was begun for.
const begunName = "begun.json"

type begun struct {
	Declared string    `json:"declared"`
	At       time.Time `json:"at"`
}

// declaration is the digest of what the job says of a source, the date included.
func declaration(job *rules.Bound, in *rules.Input) string {
	text, err := json.Marshal([]any{job.Digest(), job.Date, in.Source.Name, in.FileDate, in.Path, in.From, in.Until})
	if err != nil {
		panic(err) // texts and numbers only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// folder is where a pull goes: the last one where it was cut short, is of the same
// declaration and not too old; else a new one.
func (f *fetching) folder(home string, pulls []string, declared string) (string, error) {
	n := 0
	if len(pulls) > 0 {
		last := pulls[len(pulls)-1]
		if _, err := fmt.Sscanf(filepath.Base(last), "%d", &n); err != nil {
			return "", fail.New(fail.Usage, "%s is no folder of a pull", displayPath(last)).WithHint("move it away")
		}
		var b begun
		text, err := os.ReadFile(filepath.Join(last, begunName))
		_, done := os.Lstat(filepath.Join(last, fetch.SnapshotFile))
		if err == nil && json.Unmarshal(text, &b) == nil && errors.Is(done, fs.ErrNotExist) {
			if b.Declared == declared && time.Since(b.At) < pullGoesOn {
				f.note("going on with the pull that was cut short: %s", displayPath(last))
				return last, nil
			}
			// Nothing reads it any more.
			if err := os.RemoveAll(last); err != nil {
				return "", diskError(err, "the folder of an interrupted pull cannot be removed")
			}
			n--
		}
	}
	if n >= 9999 {
		return "", fail.New(fail.Resources, "%s holds %d pulls", displayPath(home), n).WithHint("move it away")
	}
	dir := filepath.Join(home, fmt.Sprintf("%04d", n+1))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", diskError(err, "the folder of the pull cannot be made")
	}
	text, err := json.Marshal(begun{Declared: declared, At: time.Now().UTC()})
	if err != nil {
		return "", err
	}
	return dir, fetch.WriteFile(filepath.Join(dir, begunName), text)
}

// share keeps files that an earlier pull of the date brought byte for byte only once. A
// link that cannot be made costs room and nothing else.
func (f *fetching) share(home string, pulls []string, dir string, s *fetch.Snapshot) {
	if len(pulls) == 0 {
		return
	}
	former, err := fetch.ReadSnapshot(pulls[len(pulls)-1])
	if former == nil || err != nil {
		return
	}
	by := map[string]string{}
	for _, x := range former.Files {
		by[x.SHA256] = filepath.Join(pulls[len(pulls)-1], fetch.FilesDir, filepath.FromSlash(x.Name))
	}
	for _, x := range s.Files {
		old, ok := by[x.SHA256]
		if !ok {
			continue
		}
		// What lies there is believed by its bytes alone.
		if size, sum, err := fetch.HashFile(old); err != nil || size != x.Size || sum != x.SHA256 {
			continue
		}
		path := filepath.Join(dir, fetch.FilesDir, filepath.FromSlash(x.Name))
		if tmp := path + ".link"; os.Link(old, tmp) == nil && os.Rename(tmp, path) != nil {
			f.note("%s is left over", displayPath(tmp))
		}
	}
}

// ref is what the manifest says of a snapshot.
func (f *fetching) ref(side rules.Side, in *rules.Input, dir string, s *fetch.Snapshot) (*Snapshot, error) {
	_, digest, err := fetch.HashFile(filepath.Join(dir, fetch.SnapshotFile))
	if err != nil {
		return nil, diskError(err, "the snapshot cannot be read")
	}
	rel, err := filepath.Rel(f.out, dir)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Side: side, Source: in.Source.Name, Date: in.FileDate, Kind: s.Kind, Address: s.Address, Path: filepath.ToSlash(rel),
		SHA256: digest, Proof: s.Proof, Through: s.Through, Requests: s.Requests}, nil
}

// fetch pulls the remote sources of the run. One that is judged again reads what it read.
func (r *run) fetch(ctx context.Context) error {
	if r.again != nil {
		return pulledBefore(r.bound, r.again, r.OutPath())
	}
	f := &fetching{
		job: r.bound, root: filepath.Join(r.dir.out, evidenceName, r.Job.Name), out: r.dir.out, base: r.baseDir(),
		note: func(format string, args ...any) { r.note(format, args...) }, tell: func(file string, bytes, records int64) { r.reading(file, bytes, 0, records) },
		until: r.Until, last: r.LastSnapshots,
	}
	if r.DryRun && !r.LastSnapshots {
		f.root = filepath.Join(r.tmp, "evidence") // gone with the outputs
	}
	var err error
	r.snapshots, err = f.pull(ctx)
	return err
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
