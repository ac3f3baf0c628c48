package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/recon-batch/recon-batch/internal/fail"
	target "github.com/recon-batch/recon-batch/publish/s3"
)

// Sent says what was sent to the bucket of a job.
type Sent struct {
	Address  string   `json:"address"`  // of the folder of the job's runs
	Current  string   `json:"current"`  // of the pointer of the business date
	RunID    string   `json:"run_id"`   // that it names
	Runs     int      `json:"runs"`     // that the bucket did not have
	Files    int      `json:"files"`    // of these runs
	Bytes    int64    `json:"bytes"`    // of these files
	Pointers []string `json:"pointers"` // dates whose pointer was moved
}

// Publish sends to the bucket of the job what it lacks of the published runs: those that
// were published here since the last one that is there, whole and in their order, and the
// pointers. It may be called again at any time.
func Publish(ctx context.Context, o Options) (*Sent, []string, error) {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if o.Job.Outputs.Target == nil {
		return nil, nil, fail.New(fail.Usage, "the job %s sends its runs nowhere", o.Job.Name).WithHint("name a bucket in the job file: outputs: {publish: \"s3://bucket/prefix\"}")
	}
	if _, _, err := CurrentRun(o.OutPath(), Series(o.Job), o.BusinessDate); err != nil {
		return nil, nil, err
	}
	t, err := openTarget(ctx, o, note)
	if err != nil {
		return nil, notes, err
	}
	sent, err := sendSeries(ctx, t, o, note)
	return sent, notes, err
}

func sendSeries(ctx context.Context, t *target.Target, o Options, note func(format string, args ...any)) (sent *Sent, err error) {
	dir, err := newOutDir(o.OutPath(), Series(o.Job), o.BusinessDate)
	if err != nil {
		return nil, err
	}
	err = dir.targetLock(ctx, func() error {
		s, err := newRemoteSeries(ctx, t, dir.out, Series(o.Job), note)
		if err != nil {
			return err
		}
		sent, err = s.send(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	sent.Current = t.At(Series(o.Job) + "/" + o.BusinessDate + "/" + currentName)
	sent.RunID, err = dir.currentID()
	return sent, err
}

// send brings the bucket to where the folder is: the files of the runs, then their
// manifests, then the head, then the pointers. A pointer that names a run therefore names a
// whole one.
func (s *remoteSeries) send(ctx context.Context) (*Sent, error) {
	sent := &Sent{Address: s.at, Pointers: append([]string{}, s.mended...)}
	c, err := readChain(s.dir.job)
	if err != nil {
		return nil, err
	}
	if err := s.unmoved(ctx, c); err != nil {
		return nil, err
	}
	runs, err := s.unsent(c)
	if err != nil {
		return nil, err
	}
	moved, versions, err := s.movedHere(ctx)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 && len(moved) == 0 {
		return sent, s.writeAgreed()
	}
	if err := s.Conditions(ctx); err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := s.sendRun(ctx, r, sent); err != nil {
			return nil, err
		}
	}
	text, err := encode(head{chain: chain{SchemaVersion: ManifestSchema, Runs: c.Runs, Last: c.Last}, Pointers: moved})
	if err != nil {
		return nil, err
	}
	if s.version, err = s.Swap(ctx, s.name+"/"+chainName, text, s.version); err != nil {
		return nil, err
	}
	for i, p := range moved {
		if _, err := s.move(ctx, p, versions[i]); err != nil {
			return nil, err
		}
		s.agreed.Pointers[p.BusinessDate] = p.RunID
		sent.Pointers = append(sent.Pointers, p.BusinessDate)
	}
	return sent, s.writeAgreed()
}

// unmoved refuses to go on where the bucket has runs that are not here.
func (s *remoteSeries) unmoved(ctx context.Context, c *chain) error {
	runs, err := s.behind(ctx, c)
	if err != nil || len(runs) == 0 {
		return err
	}
	last := runs[len(runs)-1].ref
	return s.Fail(fail.Conflict, "run the date again: what is there is brought first", "%s has run %s of %s, which is not here: another machine published it", s.at, last.RunID, last.BusinessDate)
}

// unsent are the runs that were published here since the last one of the bucket, oldest
// first. Where the bucket has none yet they begin after the last one that was put away here.
func (s *remoteSeries) unsent(c *chain) ([]remoteRun, error) {
	var out []remoteRun
	at := c.Last
	for at != nil && !sameRef(at, s.head.Last) {
		dir := s.date(at.BusinessDate).run(at.RunID)
		if s.head.Last == nil && !pathExists(dir) {
			break
		}
		m, sum, err := ReadManifest(dir)
		if err != nil || sum != at.ManifestSHA256 {
			return nil, fail.New(fail.Integrity, "%s is not the run that was published, and the bucket does not have it", displayPath(dir)).WithHint("restore it from a backup")
		}
		text, err := os.ReadFile(filepath.Join(dir, manifestName))
		if err != nil {
			return nil, fail.Wrap(fail.Integrity, err, "the manifest of %s cannot be read", dir)
		}
		out = append(out, remoteRun{ref: *at, m: m, text: text})
		at = m.Previous
	}
	if s.head.Last != nil && at == nil {
		return nil, s.parted(*c.Last)
	}
	slices.Reverse(out)
	return out, nil
}

// movedHere are the dates whose pointer was moved here since both sides agreed, and the
// versions of those that they replace.
func (s *remoteSeries) movedHere(ctx context.Context) (moved []movedPointer, versions []string, err error) {
	dates, err := os.ReadDir(s.dir.job)
	if err != nil {
		return nil, nil, fail.Wrap(fail.Resources, err, "%s cannot be read", displayPath(s.dir.job))
	}
	moved = []movedPointer{}
	for _, e := range dates {
		if !e.IsDir() || !dateName.MatchString(e.Name()) {
			continue
		}
		id, err := s.date(e.Name()).currentID()
		if err != nil {
			return nil, nil, err
		}
		was := s.agreed.Pointers[e.Name()]
		if id == "" || id == was || !pathExists(s.date(e.Name()).run(id)) {
			continue
		}
		there, version, err := s.pointer(ctx, e.Name())
		switch {
		case err != nil:
			return nil, nil, err
		case there == id:
			s.agreed.Pointers[e.Name()] = id
		case there != was:
			return nil, nil, s.Fail(fail.Conflict, "run the date again: what the bucket says is looked at first", "run %s is current of %s here, and %s in the bucket: it was moved on both sides", id, e.Name(), there)
		default:
			moved, versions = append(moved, movedPointer{BusinessDate: e.Name(), RunID: id}), append(versions, version)
		}
	}
	return moved, versions, nil
}

// sendRun sends one run: its outputs, and its manifest when they are there. timings.json says
// how long this machine took, and stays.
func (s *remoteSeries) sendRun(ctx context.Context, r remoteRun, sent *Sent) error {
	files := make([]target.File, 0, len(r.m.Outputs))
	for _, o := range r.m.Outputs {
		files = append(files, target.File{Path: o.Path, Size: o.Size, SHA256: o.SHA256})
		sent.Bytes += o.Size
	}
	if err := s.Send(ctx, s.date(r.ref.BusinessDate).run(r.ref.RunID), s.folder(r.ref), files); err != nil {
		return err
	}
	sent.Runs, sent.Files, sent.Bytes = sent.Runs+1, sent.Files+len(files)+1, sent.Bytes+int64(len(r.text))
	name := s.folder(r.ref) + "/" + manifestName
	there, version, err := s.Read(ctx, name)
	if err != nil || bytes.Equal(there, r.text) {
		return err
	}
	if there != nil && !s.dead(there) {
		return s.Fail(fail.Conflict, "where no other machine publishes it, remove "+s.At(s.folder(r.ref))+"/ and send it again", "%s is there with another content, and may be about to be published", s.At(name))
	}
	if _, err := s.Swap(ctx, name, r.text, version); err != nil {
		return err
	}
	there, _, err = s.Read(ctx, name)
	if err == nil && !bytes.Equal(there, r.text) {
		return s.Fail(fail.Conflict, "the folder of a run is written once: remove what is there, or publish elsewhere", "%s has another content than what was written", s.At(name))
	}
	return err
}

// dead tells whether a manifest that was sent can never be published any more: the chain of
// the bucket has gone on from the run that it would come after.
func (s *remoteSeries) dead(text []byte) bool {
	m, err := parseManifest(text)
	if err != nil {
		return false
	}
	for at := s.head.Last; at != nil; {
		published, _, err := ReadManifest(s.date(at.BusinessDate).run(at.RunID))
		if err != nil {
			return false
		}
		if at = published.Previous; sameRef(at, m.Previous) {
			return true
		}
	}
	return false
}

// send sends the run that was published, and what was not sent before.
func (r *run) send(ctx context.Context) error {
	if r.target == nil {
		return nil
	}
	sent, err := sendSeries(ctx, r.target.Target, r.Options, r.note)
	if err == nil {
		r.res.Sent = sent
		return nil
	}
	id := r.res.Manifest.RunID
	e := fail.Wrap(fail.ClassOf(err), err, "run %s is published in %s, and not in the bucket", id, r.res.Dir)
	command := "recon-batch publish --business-date " + r.BusinessDate
	if r.Out != "" {
		command += " --out " + shellQuote(r.Out)
	}
	command += " " + shellQuote(r.Job.File)
	var f *fail.Error
	if errors.As(err, &f) && f.Hint != "" {
		return e.WithHint("%s; send it: %s", f.Hint, command)
	}
	return e.WithHint("send it: %s", command)
}

// still refuses to publish here what could not be sent: the bucket has runs by now that were
// not there when this one began. Whether it answers is not the question yet.
func (s *remoteSeries) still(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.readHead(ctx)
	if err == nil {
		s.listed = nil
		var c *chain
		if c, err = readChain(s.dir.job); err == nil {
			err = s.unmoved(ctx, c)
		}
	}
	if fail.ClassOf(err) == fail.Temporary {
		return nil // said when it is sent
	}
	return err
}
