package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/fetch/s3"
	"github.com/recon-batch/recon-batch/internal/fail"
	target "github.com/recon-batch/recon-batch/publish/s3"
	"github.com/recon-batch/recon-batch/rules"
)

// A bucket holds the runs of a job as its output folder does: <prefix>/<series>/<date>/<run>/,
// beside it current, which names the run of the date, and chain.json, the head. Decision
// 0027 says why there are both.
//
//   - The head says which run was published last, and so, by the manifests, all of them. It
//     is replaced on the condition that it is what was seen: of two machines that publish from
//     the same state one is refused. It also says which pointers move with it.
//   - A pointer is replaced after it. What an interruption leaves between both is made good
//     by whoever comes next.
//
// The chain here and the chain there are the same one, of which one may be behind. Before a
// run the folder is brought up to date (target_bring.go), after it the bucket (target_send.go).
// Chains that part are refused.

// head is chain.json of a series in a bucket.
type head struct {
	chain
	Pointers []movedPointer `json:"pointers"` // that move with it
}

// movedPointer is a pointer that a head moves.
type movedPointer struct {
	BusinessDate string `json:"business_date"`
	RunID        string `json:"run_id"`
}

// Pointer is the object `current` of a business date in a bucket.
type Pointer struct {
	SchemaVersion int    `json:"schema_version"`
	BusinessDate  string `json:"business_date"`
	RunID         string `json:"run_id"`
	Folder        string `json:"folder"` // address of the run's folder, with a slash at its end
}

// agreed is what the folder and the bucket last had in common: seenName in the folder of
// a series. Against it is told on which of both sides a pointer was moved.
type agreed struct {
	SchemaVersion int               `json:"schema_version"`
	Address       string            `json:"address"`
	Head          string            `json:"head"`    // version of the head
	Through       string            `json:"through"` // former runs up to this date are here as far as runs read them
	Pointers      map[string]string `json:"pointers"`
}

const seenName = ".bucket.json"

// remoteSeries is a series of a job in a bucket, beside its folder here.
type remoteSeries struct {
	*target.Target
	name    string
	dir     *outDir // of any date
	at      string  // address, for people
	head    head
	version string // of the head; "" there is none
	agreed  agreed
	listed  map[string]s3.Object // of the bucket, by name; nil: not asked for yet
	mended  []string             // dates whose pointer an interruption had left behind
	note    func(format string, args ...any)
}

// openTarget opens the bucket of a job; nil where it has none.
func openTarget(ctx context.Context, o Options, note func(format string, args ...any)) (*target.Target, error) {
	to := o.Job.Outputs.Target
	if to == nil {
		return nil, nil
	}
	return target.Open(ctx, s3.Place{Who: "outputs.publish", Address: to.Address, Keys: to.S3, BaseDir: o.baseDir(), Until: o.Until, Note: note})
}

// newRemoteSeries reads the head of a series, and what was last agreed with it. Pointers that an
// interruption left behind are moved.
func newRemoteSeries(ctx context.Context, t *target.Target, out, name string, note func(format string, args ...any)) (*remoteSeries, error) {
	dir, err := newOutDir(out, name, "2000-01-01")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir.job, 0o755); err != nil {
		return nil, diskError(err, "the output folder cannot be made")
	}
	s := &remoteSeries{Target: t, name: name, dir: dir, at: t.At(name) + "/", note: note}
	if err := s.readAgreed(); err != nil {
		return nil, err
	}
	return s, s.readHead(ctx)
}

func (s *remoteSeries) readHead(ctx context.Context) error {
	text, version, err := s.Read(ctx, s.name+"/"+chainName)
	if err != nil {
		return err
	}
	s.head, s.version = head{}, version
	if text == nil {
		if s.agreed.Head != "" {
			return s.Fail(fail.Conflict, "restore it from a version before; to begin anew there, remove "+shellQuote(displayPath(filepath.Join(s.dir.job, seenName))),
				"%s is gone, which was there when runs were last sent", s.At(s.name+"/"+chainName))
		}
		return s.neverPublished(ctx)
	}
	if err := json.Unmarshal(text, &s.head); err != nil || s.head.SchemaVersion > ManifestSchema || s.head.Last == nil {
		return s.Fail(fail.Integrity, "restore it from a version before, or use the version of the program that wrote it", "%s is damaged, or of a later version of the program", s.At(s.name+"/"+chainName))
	}
	if version == s.agreed.Head {
		return nil
	}
	for _, p := range s.head.Pointers {
		id, v, err := s.pointer(ctx, p.BusinessDate)
		if err != nil {
			return err
		}
		if id == p.RunID {
			continue
		}
		if _, err := s.move(ctx, p, v); err != nil {
			return err
		}
		s.mended = append(s.mended, p.BusinessDate)
	}
	return nil
}

func (s *remoteSeries) readAgreed() error {
	path := filepath.Join(s.dir.job, seenName)
	if err := refuseSpecial(path); err != nil {
		return err
	}
	fresh := agreed{SchemaVersion: ManifestSchema, Address: s.at, Pointers: map[string]string{}}
	s.agreed = fresh
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(path))
	}
	if err := json.Unmarshal(text, &s.agreed); err != nil || s.agreed.SchemaVersion > ManifestSchema || s.agreed.Pointers == nil {
		return fail.New(fail.Integrity, "%s is damaged", displayPath(path)).WithHint("remove it: what is here is then compared with all of the bucket")
	}
	if s.agreed.Address != s.at {
		s.agreed = fresh // another bucket: nothing was agreed with it
	}
	return nil
}

func (s *remoteSeries) writeAgreed() error {
	s.agreed.Head = s.version
	text, err := encode(s.agreed)
	if err != nil {
		return err
	}
	return diskError(renameio.WriteFile(filepath.Join(s.dir.job, seenName), text, 0o644), "what was sent cannot be noted")
}

// neverPublished refuses a bucket that has runs and no head: pointers are moved after the head
// was written. On an empty disk nobody else would miss it, and all that former runs have proposed
// would be forgotten.
func (s *remoteSeries) neverPublished(ctx context.Context) error {
	there, err := s.List(ctx, s.name+"/")
	if err != nil {
		return err
	}
	for name := range there {
		if strings.HasSuffix(name, "/"+currentName) {
			return s.Fail(fail.Conflict, "restore it from a version before; to begin anew, publish below another prefix", "%s is gone, and runs that were published are there", s.At(s.name+"/"+chainName))
		}
	}
	return nil
}

// targetLock runs f while nobody else on this machine brings or sends runs of the series.
func (d *outDir) targetLock(ctx context.Context, f func() error) error {
	path := filepath.Join(d.job, ".bucket.lock")
	if err := refuseSpecial(path); err != nil {
		return err
	}
	l := flock.New(path)
	if ok, err := l.TryLockContext(ctx, 100*time.Millisecond); err != nil || !ok {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return diskError(err, "the lock of the bucket cannot be taken")
	}
	defer l.Unlock()
	return f()
}

// date is the folder of a business date.
func (s *remoteSeries) date(date string) *outDir {
	return &outDir{out: s.dir.out, job: s.dir.job, date: filepath.Join(s.dir.job, date)}
}

// folder is the name of the folder of a run in the bucket.
func (s *remoteSeries) folder(r RunRef) string { return s.name + "/" + r.BusinessDate + "/" + r.RunID }

// pointer reads which run is current of a date; "" and "" where none is.
func (s *remoteSeries) pointer(ctx context.Context, date string) (id, version string, err error) {
	name := s.name + "/" + date + "/" + currentName
	text, version, err := s.Read(ctx, name)
	if err != nil || text == nil {
		return "", "", err
	}
	p := &Pointer{}
	if err := json.Unmarshal(text, p); err != nil || p.SchemaVersion != 1 || p.BusinessDate != date || !runIDForm.MatchString(p.RunID) {
		return "", "", s.Fail(fail.Integrity, "restore it from a version before", "%s is damaged, or of another version of the program", s.At(name))
	}
	return p.RunID, version, nil
}

// move lets a pointer name a run, in the place of a version that was read.
func (s *remoteSeries) move(ctx context.Context, p movedPointer, version string) (string, error) {
	text, err := json.Marshal(Pointer{1, p.BusinessDate, p.RunID, s.At(s.folder(RunRef{BusinessDate: p.BusinessDate, RunID: p.RunID})) + "/"})
	if err != nil {
		return "", err
	}
	return s.Swap(ctx, s.name+"/"+p.BusinessDate+"/"+currentName, append(text, '\n'), version)
}

// manifest reads the manifest of a run in the bucket; nil where there is none.
func (s *remoteSeries) manifest(ctx context.Context, folder string) (*Manifest, []byte, error) {
	text, _, err := s.Read(ctx, folder+"/"+manifestName)
	if err != nil || text == nil {
		return nil, nil, err
	}
	m, err := parseManifest(text)
	if err != nil || !strings.HasSuffix(folder, "/"+m.BusinessDate+"/"+m.RunID) {
		return nil, nil, s.Fail(fail.Integrity, "restore it from a version before", "%s is damaged", s.At(folder+"/"+manifestName))
	}
	return m, text, nil
}

// here tells whether the manifest of a run is in the folder.
func (s *remoteSeries) here(r RunRef) bool {
	m, sum, err := ReadManifest(s.date(r.BusinessDate).run(r.RunID))
	return err == nil && m.RunID == r.RunID && sum == r.ManifestSHA256
}

// remoteRun is a run that the bucket has.
type remoteRun struct {
	ref  RunRef
	m    *Manifest
	text []byte // of the manifest
}

// behind gives the runs that were published there since the last one that is here, oldest
// first. Chains that have parted are an error of class Conflict.
func (s *remoteSeries) behind(ctx context.Context, c *chain) ([]remoteRun, error) {
	var out []remoteRun
	at := s.head.Last
	if at == nil || sameRef(at, c.Last) || s.here(*at) {
		return nil, nil
	}
	known, err := s.manifests(ctx)
	if err != nil {
		return nil, err
	}
	for at != nil && !sameRef(at, c.Last) && !s.here(*at) {
		r, ok := known[s.folder(*at)]
		if !ok {
			at = nil // it was put away, and those before it
			break
		}
		if sum := sha256Hex(r.text); sum != at.ManifestSHA256 {
			return nil, s.Fail(fail.Integrity, "restore it from a version before", "%s is not the manifest that was published", s.At(s.folder(*at)+"/"+manifestName))
		}
		r.ref = *at
		out = append([]remoteRun{r}, out...)
		at = r.m.Previous
	}
	if c.Last == nil || sameRef(at, c.Last) {
		return out, nil
	}
	return nil, s.parted(*c.Last)
}

// parted is the error of chains of which none goes on from the other.
func (s *remoteSeries) parted(last RunRef) error {
	job := displayPath(s.dir.job)
	return s.Fail(fail.Conflict, "what the bucket has counts: move the folder of the job away (mv "+shellQuote(job)+" "+shellQuote(job+".parted")+") and run again, which brings the runs of the bucket",
		"the last run here, %s of %s, is not one of those that %s goes on from: it ends with run %s of %s, which another machine published", last.RunID, last.BusinessDate, s.at, s.head.Last.RunID, s.head.Last.BusinessDate)
}

// listing is what the bucket has of the series, as it was when it was first asked for.
func (s *remoteSeries) listing(ctx context.Context) (map[string]s3.Object, error) {
	if s.listed != nil {
		return s.listed, nil
	}
	var err error
	s.listed, err = s.List(ctx, s.name+"/")
	return s.listed, err
}

// atOnce bounds how many small objects are asked for at the same time.
const atOnce = 16

// manifests reads the manifests of all runs of the bucket that are not here, by their folders.
func (s *remoteSeries) manifests(ctx context.Context) (map[string]remoteRun, error) {
	list, err := s.listing(ctx)
	if err != nil {
		return nil, err
	}
	var folders []string
	for name := range list {
		folder, is := strings.CutSuffix(name, "/"+manifestName)
		part := strings.Split(folder, "/")
		if is && len(part) == 3 && dateName.MatchString(part[1]) && runIDForm.MatchString(part[2]) && !pathExists(filepath.Join(s.date(part[1]).run(part[2]), manifestName)) {
			folders = append(folders, folder)
		}
	}
	runs := make([]remoteRun, len(folders))
	g, some := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, folder := range folders {
		g.Go(func() (err error) {
			runs[i].m, runs[i].text, err = s.manifest(some, folder)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := map[string]remoteRun{}
	for i, folder := range folders {
		if runs[i].m != nil {
			out[folder] = runs[i]
		}
	}
	return out, nil
}

// connectTarget asks the bucket of a job for what publishing needs: listing, reading, and
// writing under a condition.
func connectTarget(ctx context.Context, o Options) (problem string, asked bool, err error) {
	o.Until = time.Time{} // whoever asks does not want to wait for long
	t, err := openTarget(ctx, o, func(string, ...any) {})
	if t == nil && err == nil {
		return "", false, nil
	}
	if err == nil {
		_, _, err = t.Read(ctx, Series(o.Job)+"/"+chainName)
	}
	if err == nil {
		_, err = t.List(ctx, Series(o.Job)+"/"+chainName)
	}
	if err == nil {
		err = t.Conditions(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		return "", true, cause
	}
	var f *fail.Error
	switch {
	case err == nil:
		return "", true, nil
	case errors.As(err, &f) && f.Hint != "":
		return f.Error() + "; " + f.Hint, true, nil
	}
	return err.Error(), true, nil
}

// seriesOfTarget are the series of a job that the bucket has, and the run's own, which is first.
func seriesOfTarget(ctx context.Context, t *target.Target, job *rules.Job) ([]string, error) {
	own := Series(job)
	names := []string{own}
	seen := map[string]bool{own: true}
	add := func(name string) {
		if !seen[name] && jobName.MatchString(name) {
			seen[name] = true
			names = append(names, name)
		}
	}
	add(job.Name)
	list, err := t.List(ctx, job.Name+"@")
	if err != nil {
		return nil, err
	}
	for name := range list {
		if first, _, ok := strings.Cut(name, "/"); ok && strings.HasSuffix(name, "/"+chainName) {
			add(first)
		}
	}
	return names, nil
}
