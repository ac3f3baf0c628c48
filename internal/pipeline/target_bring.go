package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/internal/fail"
	target "github.com/recon-batch/recon-batch/publish/s3"
	"github.com/recon-batch/recon-batch/report"
)

// bringFormer brings from the bucket what a run of the date may read of the runs before it,
// and is not here: of all series of the job, since they are asked what they proposed and
// what they knew.
//
// Of earlier dates these are the files that later runs read (readLater); the rows stay in the
// bucket. Runs of this date are brought whole, since the run may be one of them, or
// withdraw what one proposed. Of later dates the manifests alone are needed: the chain goes
// over them.
func (r *run) bringFormer(ctx context.Context) error {
	t, err := openTarget(ctx, r.Options, r.note)
	if t == nil || err != nil {
		return err
	}
	names, err := seriesOfTarget(ctx, t, r.Job)
	if err != nil {
		return err
	}
	for _, name := range names {
		s, err := r.broughtSeries(ctx, t, name)
		if err != nil {
			return err
		}
		if name == Series(r.Job) {
			r.target = s
		}
	}
	return nil
}

func (r *run) broughtSeries(ctx context.Context, t *target.Target, name string) (s *remoteSeries, err error) {
	dir, err := newOutDir(r.dir.out, name, r.BusinessDate)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir.job, 0o755); err != nil {
		return nil, diskError(err, "the output folder cannot be made")
	}
	err = dir.targetLock(ctx, func() error {
		if s, err = newRemoteSeries(ctx, t, r.dir.out, name, r.note); err != nil {
			return err
		}
		return s.bring(ctx, r.BusinessDate)
	})
	return s, err
}

// readLater tells whether runs of later dates read a file of a run. What is not known here
// is taken to be read.
func readLater(m *Manifest, path string) bool {
	switch roleOf(path) {
	case "report":
		return path == reportName
	case "queue for people", "acting queue":
		// Of runs that kept no list of open items the queues say what was open.
		return !slices.ContainsFunc(m.Outputs, func(o OutputDigest) bool { return o.Path == report.OpenFile })
	case "verdicts", "exceptions", "links", "rejects", "metrics", "withdrawn items", "queue as people read it", "checks":
		return false
	}
	return true
}

// brought counts what came.
type brought struct {
	runs, files int
	bytes       int64
}

// bring makes the folder of the series what a run of a date needs.
func (s *remoteSeries) bring(ctx context.Context, date string) error {
	if s.version == "" {
		return nil
	}
	same := s.version == s.agreed.Head && date <= s.agreed.Through
	var runs []remoteRun
	c, err := readChain(s.dir.job)
	if err != nil {
		return err
	}
	if !same {
		if runs, err = s.behind(ctx, c); err != nil {
			return err
		}
	}
	incomplete, err := s.incomplete(date, same)
	if err != nil {
		return err
	}
	var came brought
	for _, r := range append(runs, incomplete...) {
		if err := s.bringRun(ctx, r, date, &came); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.workFolder()); err != nil {
		return diskError(err, "the folder of what is brought cannot be removed")
	}
	if came.files > 0 {
		s.note("brought from %s: %s of %s, %d bytes", s.at, plural(int64(came.files), "file", "files"), plural(int64(came.runs), "run", "runs"), came.bytes)
	}
	if same {
		return nil
	}
	if err := s.enterChain(runs); err != nil {
		return err
	}
	if err := s.bringPointers(ctx, date); err != nil {
		return err
	}
	s.agreed.Through = max(s.agreed.Through, date)
	return s.writeAgreed()
}

// incomplete are the runs here that lack a file which a run of the date needs: of them only
// the manifest, or what later dates read, was needed before. With same those of earlier dates
// are known to be complete.
func (s *remoteSeries) incomplete(date string, same bool) ([]remoteRun, error) {
	local, err := publishedRuns(s.dir.job)
	if err != nil {
		return nil, err
	}
	var out []remoteRun
	for _, l := range local {
		if l.self.BusinessDate > date || same && l.self.BusinessDate < date {
			continue
		}
		m, _, err := ReadManifest(s.date(l.self.BusinessDate).run(l.self.RunID))
		if err != nil {
			return nil, err
		}
		if len(s.lacking(l.self, m, date)) > 0 {
			out = append(out, remoteRun{ref: l.self, m: m})
		}
	}
	return out, nil
}

// enterChain lets the chain here end where that of the bucket does, where runs came.
func (s *remoteSeries) enterChain(runs []remoteRun) error {
	if len(runs) == 0 {
		return nil
	}
	return s.dir.withChain(func(c *chain) error {
		c.Last, c.Runs = s.head.Last, s.head.Runs
		return c.write(s.dir.job)
	})
}

// workFolder is where what is brought lies until it is whole.
func (s *remoteSeries) workFolder() string { return filepath.Join(s.dir.out, ".brought", s.name) }

// lacking lists the files of a run that a run of a date needs and that are not here. Whether
// those that are here are what they were is not asked: that is for verify.
func (s *remoteSeries) lacking(ref RunRef, m *Manifest, date string) []target.File {
	var out []target.File
	for _, o := range m.Outputs {
		if ref.BusinessDate > date || ref.BusinessDate < date && !readLater(m, o.Path) {
			continue
		}
		if !pathExists(filepath.Join(s.date(ref.BusinessDate).run(ref.RunID), filepath.FromSlash(o.Path))) {
			out = append(out, target.File{Path: o.Path, Size: o.Size, SHA256: o.SHA256})
		}
	}
	return out
}

// bringRun brings what is lacking of a run. One that is not here appears in one step; of one
// that is here, what the bucket has not either is passed over.
func (s *remoteSeries) bringRun(ctx context.Context, r remoteRun, date string, came *brought) error {
	there, err := s.listing(ctx)
	if err != nil {
		return err
	}
	fresh, folder, d := r.text != nil, s.folder(r.ref), s.date(r.ref.BusinessDate)
	files := s.lacking(r.ref, r.m, date)
	if !fresh {
		files = slices.DeleteFunc(files, func(f target.File) bool { _, ok := there[folder+"/"+f.Path]; return !ok })
	}
	for _, f := range files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return s.Fail(fail.Integrity, "restore it from a version before", "the manifest of %s names a file %q, which cannot be", s.At(folder), f.Path)
		}
		came.bytes += f.Size
	}
	if !fresh && len(files) == 0 {
		return nil
	}
	work := filepath.Join(s.workFolder(), r.ref.BusinessDate, r.ref.RunID)
	if err := os.RemoveAll(work); err != nil { // of one that was cut short
		return diskError(err, "the folder of what is brought cannot be emptied")
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return diskError(err, "the folder of what is brought cannot be made")
	}
	if err := s.Bring(ctx, folder, work, files, there); err != nil {
		return err
	}
	came.runs, came.files = came.runs+1, came.files+len(files)
	if !fresh {
		return mergeInto(work, d.run(r.ref.RunID), files)
	}
	came.files, came.bytes = came.files+1, came.bytes+int64(len(r.text))
	if err := writeSynced(filepath.Join(work, manifestName), r.text); err != nil {
		return err
	}
	if err := d.make(); err != nil {
		return err
	}
	return d.publish(work, r.ref.RunID)
}

// mergeInto moves files into the folder of a run.
func mergeInto(work, dir string, files []target.File) error {
	for _, f := range files {
		to := filepath.Join(dir, filepath.FromSlash(f.Path))
		err := os.MkdirAll(filepath.Dir(to), 0o755)
		if err == nil {
			err = os.Rename(filepath.Join(work, filepath.FromSlash(f.Path)), to)
		}
		if err != nil {
			return diskError(err, "what was brought cannot be moved to its place")
		}
	}
	return diskError(syncTree(dir), "what was brought cannot be moved to its place")
}

// bringPointers lets current of the dates up to this one name what the bucket says, unless it
// was moved here. Moved on both sides it is an error of class Conflict.
func (s *remoteSeries) bringPointers(ctx context.Context, date string) error {
	there, err := s.listing(ctx)
	if err != nil {
		return err
	}
	var dates []string
	for name := range there {
		if d, is := strings.CutSuffix(strings.TrimPrefix(name, s.name+"/"), "/"+currentName); is && dateName.MatchString(d) && d <= date {
			dates = append(dates, d)
		}
	}
	slices.Sort(dates)
	ids := make([]string, len(dates))
	g, some := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, d := range dates {
		g.Go(func() (err error) {
			ids[i], _, err = s.pointer(some, d)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, d := range dates {
		day, id := s.date(d), ids[i]
		if err := day.make(); err != nil {
			return err
		}
		local, err := day.currentID()
		if err != nil {
			return err
		}
		was := s.agreed.Pointers[d]
		switch {
		case id == "" || local == id:
		case local == was: // "" both: nothing was here
			if err := day.switchCurrent(id); err != nil {
				return err
			}
		case id == was:
			continue // moved here, and not sent yet
		default:
			return s.Fail(fail.Conflict, "see which of both is right with recon-batch runs list, and remove the link "+shellQuote(displayPath(day.current()))+" to take what the bucket says",
				"run %s is current of %s here, and %s in the bucket: it was moved on both sides", local, d, id)
		}
		if id != "" {
			s.agreed.Pointers[d] = id
		}
	}
	return nil
}

// adopt takes a run of this date that the bucket has whole, although its head does not say so:
// it was sent by a run that was cut short before its last step, on a disk that is gone. The
// run that is under way would write the same.
func (s *remoteSeries) adopt(ctx context.Context, date, id string) error {
	if s == nil || pathExists(s.date(date).run(id)) {
		return nil
	}
	m, text, err := s.manifest(ctx, s.name+"/"+date+"/"+id)
	if m == nil || err != nil {
		return err
	}
	c, err := readChain(s.dir.job)
	if err != nil {
		return err
	}
	s.listed = nil // it may have come since
	if !sameRef(m.Previous, c.Last) {
		return nil // of a run that came too late; it is written anew
	}
	var came brought
	ref := RunRef{BusinessDate: date, RunID: id, ManifestSHA256: sha256Hex(text)}
	if err := s.bringRun(ctx, remoteRun{ref: ref, m: m, text: text}, date, &came); err != nil {
		return err
	}
	s.note("run %s was sent to %s before, and not published there: it is taken as it is", id, s.at)
	return nil
}
