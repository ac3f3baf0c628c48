package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/kinds"
	"github.com/recon-batch/recon-batch/fetch/ready"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/folder"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

// ReadySource says in a manifest by what the files of an input were known to be whole.
type ReadySource struct {
	Side   rules.Side `json:"side"`
	Source string     `json:"source"`
	Date   string     `json:"date,omitempty"`
	rules.Judged
}

// watched is one input that is looked at before anything of it is read.
type watched struct {
	side  rules.Side
	input *rules.Input // of the bound job as it was when the watch began
	at    int          // its place among the inputs of the side
	watch *ready.Watch

	last  *ready.Verdict // nil: it was not looked at, or could not be
	err   error          // why it could not
	since time.Time      // when it was first seen to be late; zero: it was not
}

// name of the source for people.
func (w *watched) name() string {
	name := string(w.side) + "." + w.input.Source.Name
	if w.input.FileDate != "" {
		name += " of " + w.input.FileDate
	}
	return name
}

// mayBeLate tells whether the job lets the source be missing.
func (w *watched) mayBeLate() bool {
	n := w.input.Source.Need
	return n == rules.Optional || n == rules.LateOK
}

// why says what is missing, in words that do not depend on the time; "" nothing.
func (w *watched) why() string {
	switch {
	case w.err != nil:
		return w.err.Error()
	case w.last == nil || w.last.Ready():
		return ""
	}
	return strings.Join(w.last.Late, "; ")
}

// look takes one look, and lets go of the place: a connection is not held while nothing
// is asked.
func (w *watched) look(ctx context.Context) {
	w.last, w.err = w.watch.Look(ctx, time.Now())
	if err := w.watch.Close(); err != nil && w.err == nil {
		w.last, w.err = nil, err
	}
	if w.why() != "" && w.since.IsZero() {
		w.since = time.Now()
	}
}

// lateSince is when the first of the sources that are late was seen to be so.
func (r *run) lateSince() time.Time {
	first := time.Now()
	for _, w := range r.watched {
		if w.why() != "" && w.since.Before(first) {
			first = w.since
		}
	}
	return first
}

// watching lists the inputs that can be looked at: with rules alone those that have ready
// rules, else all whose places can be listed. Those that are judged already are left out.
func (r *run) watching(rulesAlone bool) []*watched {
	var out []*watched
	for _, side := range rules.Sides {
		for i := range r.bound.Inputs[side] {
			in := &r.bound.Inputs[side][i]
			remote := in.Source.Remote
			switch {
			case rulesAlone && in.Ready == nil, in.Judged != nil:
				continue
			case remote == nil && r.pullsOnly, remote != nil && (r.LastSnapshots || !remote.Places()):
				continue
			}
			w := &watched{side: side, input: in, at: i, watch: &ready.Watch{Input: in}}
			if remote == nil {
				w.watch.Open = func(context.Context) (fetch.Store, string, error) {
					return fetch.Local{Base: r.baseDir()}, in.Path, nil
				}
			} else {
				w.watch.Skew = r.bound.ClockSkew
				w.watch.Open = func(ctx context.Context) (fetch.Store, string, error) { return r.place(ctx, side, in) }
			}
			out = append(out, w)
		}
	}
	return out
}

// place opens the place of a remote input.
func (r *run) place(ctx context.Context, side rules.Side, in *rules.Input) (fetch.Store, string, error) {
	s, ok := kinds.Of(in.Source.Remote.Kind).(fetch.Storer)
	if !ok {
		return nil, "", fail.New(fail.Internal, "the place of the source %s cannot be listed", in.Source.Name)
	}
	return s.Store(ctx, &fetch.Request{
		Job: r.bound, Side: side, Input: in, BaseDir: r.baseDir(), Until: r.Until, Now: time.Now,
		Note: func(string, ...any) {}, Progress: func(string, int64, int64) {},
	})
}

// judge finds out by the ready rules of the job which files are read. What was looked at
// while the run waited for its inputs is looked at once more: this is the look that counts.
// All sources that are late are told at once.
func (r *run) judge(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			r.stage = StageFetch // for the note of the attempt: it is about what is brought
		}
	}()
	if r.again != nil {
		readyBefore(r.bound, r.again.Ready)
		return nil
	}
	if r.watched == nil {
		r.watched = r.watching(true)
	}
	list := slices.DeleteFunc(slices.Clone(r.watched), func(w *watched) bool { return w.input.Ready == nil })
	if err := lookAt(ctx, list); err != nil {
		return err
	}
	var late []*watched
	for _, side := range rules.Sides {
		r.bound.Inputs[side] = slices.Clone(r.bound.Inputs[side])
	}
	for _, w := range list {
		in := &r.bound.Inputs[w.side][w.at]
		switch class := fail.ClassOf(w.err); {
		case w.err != nil && !(w.mayBeLate() && class == fail.Temporary):
			return w.err
		case w.why() == "":
			in.Judged = w.last.Judged
			continue
		}
		if !w.mayBeLate() {
			late = append(late, w)
			continue
		}
		in.Judged = &rules.Judged{Missing: scan.Text(w.why())}
		r.emitNote("the source %s is not ready: %s; it proves nothing", w.input.Source.Name, w.why())
	}
	if len(late) == 0 {
		return nil
	}
	var texts []string
	for _, w := range late {
		texts = append(texts, fmt.Sprintf("%s is not ready: %s", w.name(), w.why()))
	}
	command := r.command()
	if r.pullsOnly {
		command = strings.Replace(command, " run ", " snapshot ", 1)
	}
	hint := "wait for it: " + strings.Replace(command, " --business-date ", " --wait-for-inputs 2h --business-date ", 1)
	if r.WaitForInputs > 0 {
		hint = fmt.Sprintf("it was waited for for %s; ask whoever sends it, then: %s", durationText(r.WaitForInputs), command)
	}
	return fail.New(fail.Input, "%s", strings.Join(texts, "; ")).WithHint("%s", hint)
}

// lookAt looks at all, and once more at those that a second look may find ready.
func lookAt(ctx context.Context, list []*watched) error {
	again := time.Duration(0)
	for _, w := range list {
		w.look(ctx)
		if w.last != nil && w.last.Again <= shortLook {
			again = max(again, w.last.Again)
		}
	}
	if again > 0 {
		if err := pause(ctx, again); err != nil {
			return err
		}
		for _, w := range list {
			if w.last != nil && w.last.Again > 0 {
				w.look(ctx)
			}
		}
	}
	return context.Cause(ctx)
}

// shortLook is how long a run that does not wait for its inputs waits for a second look
// at files that lie there as they should.
const shortLook = 2 * time.Second

// pause waits, or ends with the reason for which the run is ended.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// emitNote tells people something at once.
func (r *run) emitNote(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emit(Event{Stage: r.stage, Kind: Note, Note: fmt.Sprintf(format, args...)})
}

// readySources lists what was judged, for the manifest.
func readySources(job *rules.Bound) []ReadySource {
	var out []ReadySource
	for _, side := range rules.Sides {
		for _, in := range job.Inputs[side] {
			if in.Judged != nil && in.Source.Ready != nil {
				out = append(out, ReadySource{Side: side, Source: in.Source.Name, Date: in.FileDate, Judged: *in.Judged})
			}
		}
	}
	return out
}

// readyBefore gives the inputs of a job what a published run had judged of them. An input
// that was not judged then is not judged now.
func readyBefore(job *rules.Bound, list []ReadySource) {
	for _, side := range rules.Sides {
		job.Inputs[side] = slices.Clone(job.Inputs[side])
		for i := range job.Inputs[side] {
			in := &job.Inputs[side][i]
			for _, s := range list {
				if s.Side == side && s.Source == in.Source.Name && s.Date == in.FileDate {
					in.Judged = &s.Judged
				}
			}
		}
	}
}

// asPulled holds what was pulled to what was judged: the place has not changed since, every
// file has come, and with the bytes that are stated. The files get the names that they have
// here.
func (r *run) asPulled(ctx context.Context, side rules.Side, in *rules.Input, snap *fetch.Snapshot, dir string) error {
	i := slices.IndexFunc(r.watched, func(w *watched) bool {
		return w.side == side && w.input.Source.Name == in.Source.Name && w.input.FileDate == in.FileDate
	})
	if i < 0 || in.Judged == nil {
		return nil
	}
	w := r.watched[i]
	err := w.watch.Pinned(ctx)
	if err := errors.Join(err, w.watch.Close()); err != nil {
		return err
	}
	judged := *in.Judged
	judged.Files = slices.Clone(judged.Files)
	var names []string
	for k, e := range w.watch.Files() {
		at := slices.IndexFunc(snap.Files, func(f fetch.File) bool {
			return !f.Raw && (e.Name == f.Name || strings.HasSuffix(e.Name, "/"+f.Name))
		})
		if at < 0 {
			return fail.New(fail.Input, "%s was found to be ready, and was not pulled", e.Name).WithHint("run again")
		}
		f, j := snap.Files[at], &judged.Files[k]
		if f.Size != e.Size {
			return fail.New(fail.Input, "%s had %d bytes when it was found to be ready, and %d were pulled", e.Name, e.Size, f.Size).WithHint("run again when the delivery is complete")
		}
		if j.SHA256 != "" && j.SHA256 != f.SHA256 {
			return fail.New(fail.Input, "%s has another SHA-256 (%.12s) than is stated of it (%.12s)", e.Name, f.SHA256, j.SHA256).
				WithHint("have the file sent again, with its manifest")
		}
		if err := sameMD5(ctx, filepath.Join(dir, fetch.FilesDir), f.Name, j.MD5); err != nil {
			return err
		}
		j.Name, j.Modified = f.Name, time.Time{}
		names = append(names, filepath.FromSlash(f.Name))
	}
	in.Judged, in.Pulled.Names = &judged, names
	return nil
}

// sameMD5 compares a file that was pulled with the MD5 that is stated of it; "" none is.
func sameMD5(ctx context.Context, dir, name, want string) error {
	if want == "" {
		return nil
	}
	f, err := folder.Open(dir, filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := ready.Digest(ctx, f, "md5")
	if err == nil && got != want {
		err = fail.New(fail.Input, "%s has another MD5 than is stated of it", name).WithHint("have the file sent again, with its manifest")
	}
	return err
}

// readyName is the file beside a snapshot that says by what its source was known to be
// ready, for those that judge it later.
const readyName = "ready.json"

type keptReady struct {
	Declared string        `json:"declared"` // digest of the rules
	Judged   *rules.Judged `json:"judged"`
}

// rulesDigest is that of the ready rules of an input, dates filled in.
func rulesDigest(in *rules.Input) (string, error) {
	text, err := json.Marshal([]any{in.Source.Ready, in.Ready})
	return sha256Hex(text), err
}

// keepReady writes it.
func keepReady(dir string, in *rules.Input) error {
	if in.Judged == nil || in.Source.Ready == nil {
		return nil
	}
	declared, err := rulesDigest(in)
	if err != nil {
		return err
	}
	text, err := encode(keptReady{declared, in.Judged})
	if err != nil {
		return err
	}
	return fetch.WriteFile(filepath.Join(dir, readyName), text)
}

// readReady reads it.
func (f *fetching) readReady(dir string, in *rules.Input) error {
	if in.Source.Ready == nil {
		return nil
	}
	declared, err := rulesDigest(in)
	if err != nil {
		return err
	}
	var kept keptReady
	text, err := os.ReadFile(filepath.Join(dir, readyName))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err == nil && kept.Declared != declared {
		err = errors.New("they are other ones now")
	}
	if err != nil {
		return fail.Wrap(fail.Input, err, "the snapshot of the source %s was not taken under its ready rules", in.Source.Name).
			WithHint("pull it again: recon-batch snapshot --business-date %s %s", f.job.Date, shellQuote(f.job.File))
	}
	in.Judged = kept.Judged
	return nil
}
