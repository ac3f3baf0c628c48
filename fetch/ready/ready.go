// Package ready tells whether the files of a source are whole before anything of them is
// read, by the rules that a job declares (rules.Ready).
//
// # The idea
//
// A file that is found may still be on its way. Six months later nobody can tell whether
// an operation was absent or its record had not arrived when the file was read. So what
// says that a delivery is whole is asked first, and what was found is pinned: the files
// that are read afterwards are the very ones that were judged.
//
//  1. a [Watch] looks at one input, as often as it is asked. A look lists the files and
//     reads what is small: manifest and marker. Nothing is pulled.
//  2. all rules that are declared must hold; what does not is told, all at once, in texts
//     that do not depend on the time of the look.
//  3. [Watch.Pinned] compares what is in the place after a pull with what was judged.
//
// The clock decides how long a file is watched and nothing that is written down: whoever
// comes later finds the same files ready, or none.
package ready

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Watch looks at one input. It is for one goroutine.
type Watch struct {
	Input *rules.Input

	// Open opens the place of the files, and says what the path of the input means there.
	// It is asked again after an error.
	Open func(ctx context.Context) (s fetch.Store, pattern string, err error)

	// Skew is how far the clock of the place may differ from ours; 0 where it is ours.
	Skew time.Duration

	store   fetch.Store
	pattern string
	judged  []fetch.Entry // that the path named at the last look
	read    []fetch.Entry // of them, those that are read
	same    sameness
	digests map[digestOf]string // of local files, by what was listed of them
}

// Verdict is what one look found.
type Verdict struct {
	Judged *rules.Judged // what is read; of an input without rules its files alone
	Late   []string      // what is missing, in whole sentences without a full stop; none: it is ready
	Again  time.Duration // where nothing else stands in the way, a look after so long may find it ready; 0: no
}

// Ready tells whether nothing is missing.
func (v *Verdict) Ready() bool { return len(v.Late) == 0 }

// Close lets go of the place.
func (w *Watch) Close() error {
	if w.store == nil {
		return nil
	}
	s := w.store
	w.store = nil
	return s.Close()
}

// Look asks all rules once. now is by our clock. Errors are of class Temporary (the place
// does not answer) or Usage; what is wrong with a file is no error but late.
func (w *Watch) Look(ctx context.Context, now time.Time) (*Verdict, error) {
	v, err := w.look(ctx, now)
	if err != nil {
		w.judged, w.read = nil, nil
		if fail.ClassOf(err) == fail.Input {
			return &Verdict{Judged: &rules.Judged{}, Late: []string{err.Error()}}, nil
		}
		// What is open may be what is broken.
		w.Close()
		return nil, err
	}
	return v, nil
}

func (w *Watch) look(ctx context.Context, now time.Time) (*Verdict, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if w.store == nil {
		s, pattern, err := w.Open(ctx)
		if err != nil {
			return nil, err
		}
		w.store, w.pattern = s, pattern
	}
	l := &look{Watch: w, v: &Verdict{Judged: &rules.Judged{}}}
	// Manifest and marker are read before the files are listed: a file that comes in
	// between is one too many, and not one too few.
	if err := l.manifest(ctx); err != nil {
		return nil, err
	}
	if err := l.marker(ctx); err != nil {
		return nil, err
	}
	if err := l.temporary(ctx); err != nil {
		return nil, err
	}
	files, err := w.store.List(ctx, w.pattern, w.Input.Source.Literal)
	if err != nil {
		return nil, err
	}
	w.judged = files
	l.files = l.listedAlone(files)
	w.read = l.files
	if err := l.judge(ctx, now); err != nil {
		return nil, err
	}
	return l.v, nil
}

// Pinned tells whether the place still has what the last look judged, for what was read of
// it in between. The error of a place that has not is of class Input.
func (w *Watch) Pinned(ctx context.Context) error {
	if w.store == nil {
		s, pattern, err := w.Open(ctx)
		if err != nil {
			return err
		}
		w.store, w.pattern = s, pattern
	}
	now, err := w.store.List(ctx, w.pattern, w.Input.Source.Literal)
	if err != nil {
		return err
	}
	if name, what := changed(w.judged, now); name != "" {
		return fail.New(fail.Input, "%s %s after the files of the source %s were found to be ready", name, what, w.Input.Source.Name).
			WithHint("run again when the delivery is complete")
	}
	return nil
}

// Files are those of the last look that are read, in the order of Judged.Files.
func (w *Watch) Files() []fetch.Entry { return w.read }

// changed names the first file by which two listings differ, and how.
func changed(before, now []fetch.Entry) (name, what string) {
	was := map[string]fetch.Entry{}
	for _, e := range before {
		was[e.Name] = e
	}
	for _, e := range now {
		old, ok := was[e.Name]
		switch {
		case !ok:
			return e.Name, "came"
		case !old.Same(e):
			return e.Name, "was written to"
		}
		delete(was, e.Name)
	}
	for _, e := range before {
		if _, left := was[e.Name]; left {
			return e.Name, "went away"
		}
	}
	return "", ""
}

// look is one look under way.
type look struct {
	*Watch
	v      *Verdict
	proofs []string
	list   *manifest     // nil: none is declared, or it cannot be read yet
	text   string        // of the marker
	files  []fetch.Entry // that are read
}

func (l *look) late(format string, args ...any) {
	l.v.Late = append(l.v.Late, fmt.Sprintf(format, args...))
}

func (l *look) proof(format string, args ...any) {
	l.proofs = append(l.proofs, fmt.Sprintf(format, args...))
}

// one reads a small file of the place by its exact name; nil where it is not there.
func (l *look) one(ctx context.Context, name string, most int64) ([]byte, error) {
	es, err := l.store.List(ctx, name, true)
	if err != nil || len(es) == 0 {
		return nil, err
	}
	if es[0].Size > most {
		return nil, fail.New(fail.Input, "%s has %d bytes, more than the %d that are read of such a file", name, es[0].Size, most)
	}
	r, err := l.store.Open(ctx, es[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := readAll(ctx, r)
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// most is how much is read of a manifest, and of a marker.
const (
	mostManifest = 16 << 20
	mostMarker   = 64 << 10
)

func (l *look) marker(ctx context.Context) error {
	r := l.Input.Source.Ready
	if r == nil || r.Marker == nil {
		return nil
	}
	name := l.Input.Ready.Marker
	text, err := l.one(ctx, name, mostMarker)
	if err != nil {
		return err
	}
	if text == nil {
		l.late("the marker %s is not there", name)
		return nil
	}
	l.text = strings.TrimSpace(string(text))
	if want := l.Input.Ready.Content; want != "" && l.text != strings.TrimSpace(want) {
		l.late("the marker %s has another text than %q", name, want)
		return nil
	}
	l.proof("the marker %s is there", name)
	return nil
}

// judge asks what is asked of the files themselves.
func (l *look) judge(ctx context.Context, now time.Time) error {
	j, r := l.v.Judged, l.Input.Source.Ready
	for _, e := range l.files {
		f := rules.JudgedFile{Name: e.Name, Size: e.Size, Modified: e.Modified}
		if dir, rel, ok := e.Local(); ok {
			j.Dir, f.Name = dir, slash(rel)
		}
		j.Files = append(j.Files, f)
	}
	if err := l.asListed(ctx); err != nil {
		return err
	}
	if len(l.files) == 0 {
		l.late("there is no file %s", l.Input.Path)
	}
	if r == nil {
		return nil
	}
	if err := l.markerHolds(ctx); err != nil {
		return err
	}
	if len(l.v.Late) == 0 {
		l.stable(r.Stable, now)
	} else {
		l.same.see(l.files, now)
	}
	j.Proof = strings.Join(l.proofs, "; ")
	return nil
}

// markerHolds compares what the marker states.
func (l *look) markerHolds(ctx context.Context) error {
	m := l.Input.Source.Ready.Marker
	if m == nil || m.Holds == "" || l.text == "" && len(l.v.Late) > 0 {
		return nil
	}
	name := l.Input.Ready.Marker
	switch m.Holds {
	case rules.HoldsRecords:
		n, ok := count(l.text)
		if !ok {
			l.late("the marker %s should hold a number of records and does not", name)
			return nil
		}
		l.v.Judged.Records = &n
		l.proof("it states the number of records, %d", n)
	case rules.HoldsFiles:
		n, ok := count(l.text)
		switch {
		case !ok:
			l.late("the marker %s should hold a number of files and does not", name)
		case n != int64(len(l.files)):
			l.late("the marker %s states %d files, and %d are there", name, n, len(l.files))
		default:
			l.proof("it states their number, %d", n)
		}
	case rules.HoldsSHA256:
		digest := strings.ToLower(l.text)
		switch {
		case !isHex(digest, 64):
			l.late("the marker %s should hold a SHA-256 and does not", name)
		case len(l.files) > 1:
			l.late("the marker %s states one SHA-256, and there are %d files", name, len(l.files))
		case len(l.files) == 1:
			if err := l.digest(ctx, 0, "sha256", digest, "the marker "+name); err != nil {
				return err
			}
			l.proof("it states the SHA-256")
		}
	}
	return nil
}

// temporary looks for files of the source that are still being written.
func (l *look) temporary(ctx context.Context) error {
	r := l.Input.Source.Ready
	if r == nil || r.Temporary == nil {
		return nil
	}
	dir, base := path.Split(l.pattern)
	found := map[string]bool{}
	for _, name := range r.Temporary {
		es, err := l.store.List(ctx, dir+name, false)
		if err != nil {
			return err
		}
		for _, e := range es {
			if !found[e.Name] && belongs(path.Base(e.Name), name, base, l.Input.Source.Literal) {
				found[e.Name] = true
				l.late("%s is still being written: it has a temporary name", e.Name)
			}
		}
	}
	if len(found) == 0 {
		l.proof("no file has a temporary name")
	}
	return nil
}

// belongs tells whether a file with a temporary name becomes one of the source: what the
// star of the form stands for is the name that it will have, or that and more behind a
// point (a random ending), or, where the form has an ending of its own, that without its
// ending.
func belongs(name, form, base string, literal bool) bool {
	before, after, _ := strings.Cut(form, "*")
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return false
	}
	name = name[len(before) : len(name)-len(after)]
	ending := "" // that the temporary one may stand in the place of
	if after != "" {
		fixed := base
		if !literal {
			fixed = base[strings.LastIndexAny(base, `*?]`)+1:]
		}
		if i := strings.IndexByte(fixed, '.'); i >= 0 {
			ending = fixed[i:]
		}
	}
	fits := func(n string) bool {
		if literal {
			return n == base
		}
		ok, err := path.Match(base, n)
		return ok && err == nil
	}
	for at := len(name); at > 0; at = strings.LastIndexByte(name[:at], '.') {
		if fits(name[:at]) || ending != "" && fits(name[:at]+ending) {
			return true
		}
	}
	return false
}

// sameness is since when the files have looked the same.
type sameness struct {
	files []fetch.Entry
	since time.Time // by our clock; zero: they were not seen yet
	looks int
}

// see takes one look.
func (s *sameness) see(files []fetch.Entry, now time.Time) {
	if name, _ := changed(s.files, files); name != "" || s.looks == 0 {
		*s = sameness{files: files, since: now}
	}
	s.looks++
}

// apart is how long two looks are apart at least that tell that a file does not grow.
const apart = time.Second

// stable asks whether the files have been the same for long enough: by our clock from look
// to look, or since their time of change, which only counts with two looks as well. It is
// the other side that writes it, by a clock that may differ; and copies keep an old one.
func (l *look) stable(want time.Duration, now time.Time) {
	l.same.see(l.files, now)
	if want == 0 || len(l.files) == 0 {
		return
	}
	seen, rest := now.Sub(l.same.since), time.Duration(0)
	for _, e := range l.files {
		age := now.Sub(e.Modified) - l.Skew
		if e.Modified.IsZero() {
			age = 0
		}
		rest = max(rest, want-max(seen, age))
	}
	rest = max(rest, min(apart, want)-seen)
	if rest <= 0 && l.same.looks > 1 {
		l.proof("size and time of change have been the same for %s", want)
		return
	}
	l.late("it is not known yet that the files of %s do not change for %s", l.Input.Path, want)
	l.v.Again = max(rest, time.Millisecond)
}
