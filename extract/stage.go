package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pages"
	"github.com/recon-batch/recon-batch/rules"
)

// stager stages the files of one side.
type stager struct {
	db      *duck.DB
	dir     string // stage folder
	layout  *Layout
	opt     Options
	keeping errgroup.Group // brings staged files to the disk
}

// staged is what became of one file that could be read whole.
type staged struct {
	sidecar
	key    string
	path   string // of the staged file
	cached bool
}

// file stages one file, or finds it staged. Errors are *fail.Error; those of class
// Input are faults of the file.
func (s *stager) file(ctx context.Context, f *foundFile) (*staged, error) {
	plan := newStagePlan(s.layout, f.source)
	if err := s.signed(plan, f); err != nil {
		return nil, err
	}
	digest := planDigest(plan, f.rel)
	if f.sha256 != "" {
		if done := s.kept(f, digest); done != nil {
			return done, nil
		}
	}
	in, err := f.open()
	if err != nil && f.sha256 != "" {
		return nil, f.gone(err)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if f.kept != "" {
		if err := f.checkKept(ctx, in); err != nil {
			return nil, err
		}
	}
	before, err := in.Stat()
	if err != nil {
		return nil, fail.Wrap(fail.Input, err, "%s cannot be read", f.rel)
	}
	if err := f.asJudged(before); err != nil {
		return nil, err
	}
	if _, err := os.Stat(markerPath(s.dir, digest, before.Size())); err == nil {
		raw, err := hashFile(ctx, in)
		if err != nil {
			return nil, inputError(f.rel, err)
		}
		key := stageKey(raw, digest)
		c := readSidecar(s.dir, key)
		if c != nil && f.sha256 != "" && c.SHA256 != f.sha256 {
			return nil, f.otherBytes(c.SHA256)
		}
		if c != nil && touch(stagedPath(s.dir, key), sidecarPath(s.dir, key), markerPath(s.dir, digest, before.Size())) {
			s.progress(f, before.Size(), before.Size(), c.Records)
			return &staged{sidecar: *c, key: key, path: stagedPath(s.dir, key), cached: true}, nil
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, inputError(f.rel, err)
		}
	}
	done, err := s.parse(ctx, f, in, before, plan, digest)
	if err == nil && f.sha256 != "" && done.SHA256 != f.sha256 {
		return nil, f.otherBytes(done.SHA256)
	}
	return done, err
}

// signed reads the keys of a source whose records are signed. What a former run checked
// and staged is read without them.
func (s *stager) signed(plan *stagePlan, f *foundFile) (err error) {
	g := f.source.Signature
	if g == nil {
		return nil
	}
	if plan.keys, err = signatureKeys(g, s.opt.Secret, f.source.Name); err == nil {
		plan.signedWith = keysName(plan.keys)
		return nil
	}
	if f.signedWith == "" {
		return err
	}
	plan.signedWith = f.signedWith
	if s.kept(f, planDigest(plan, f.rel)) == nil {
		return err
	}
	return nil
}

// parse reads the file once: it is hashed, cut, converted and written in one pass,
// so that what was hashed is what was staged. The staged file can be read at once,
// and is kept for later runs when keeping has ended.
func (s *stager) parse(ctx context.Context, f *foundFile, in *os.File, before os.FileInfo, plan *stagePlan, digest string) (*staged, error) {
	if f.source.Effects != nil {
		var err error
		if plan.effects, err = s.indexEffects(ctx, f, in, plan); err != nil {
			return nil, err
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, inputError(f.rel, err)
		}
	}
	var src io.Reader = in
	counted := &countingReader{f: in}
	if f.source.Format != rules.FormatParquet { // which needs random access
		src = counted
	}
	r, err := plan.reader(src, f.rel)
	if err != nil {
		return nil, inputError(f.rel, err)
	}
	defer r.Close()
	tmp, err := os.CreateTemp(s.dir, ".part-*.parquet")
	if err != nil {
		return nil, stageError(err)
	}
	defer os.Remove(tmp.Name()) // gone already where it was kept
	defer tmp.Close()
	out := pages.NewFile(tmp, StagedBy, stagedColumns(plan.schema))
	p := newPipe(ctx, plan, r, f.rel, runtime.GOMAXPROCS(0), func(records int64) {
		s.progress(f, counted.n.Load(), before.Size(), records)
	})
	counts, err := p.write(out)
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, stageError(err)
	}
	d := r.Digests()
	after, err := in.Stat()
	if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || d.Size != before.Size() {
		return nil, fail.New(fail.Input, "%s was written to while it was read", f.rel).
			WithHint("run again when the file is complete; have it delivered under another name and renamed")
	}
	if err := s.checkCount(ctx, f, tmp.Name(), counts.rows, p); err != nil {
		return nil, err
	}
	done, err := s.describe(tmp, plan, digest, d, counts, p, r)
	if err != nil {
		return nil, err
	}
	if readSidecar(s.dir, done.key) == nil { // or another run was faster, and what it kept stays
		if err := os.Rename(tmp.Name(), done.path); err != nil {
			return nil, stageError(err)
		}
	}
	s.keeping.Go(func() error { return stageError(s.keep(done, digest)) })
	return done, nil
}

// checkCount compares what the engine finds in the staged file with what was read:
// no row is lost on the way.
func (s *stager) checkCount(ctx context.Context, f *foundFile, path string, rows int64, p *pipe) error {
	var written int64
	if err := s.db.Scan(ctx, countSQL.Render(duck.Slots{"file": duck.Literal(path)}), &written); err != nil {
		return err
	}
	if written != rows || rows+int64(len(p.rejects)) != p.records {
		return fail.New(fail.Integrity, "%s: %d records read, %d rejected, %d rows converted, %d staged",
			f.rel, p.records, len(p.rejects), rows, written).
			WithHint("this is a fault of the program; please report it with the file's first lines")
	}
	return nil
}

// describe gives the written file its name and its sidecar.
func (s *stager) describe(tmp *os.File, plan *stagePlan, digest string, d Digests, counts *tally, p *pipe, r Reader) (*staged, error) {
	info, err := tmp.Stat()
	if err != nil {
		return nil, stageError(err)
	}
	key := stageKey(d.Raw, digest)
	out := &staged{key: key, path: stagedPath(s.dir, key), sidecar: sidecar{
		Semantics:    stageSemantics,
		SHA256:       hex.EncodeToString(d.Raw[:]),
		Content:      hex.EncodeToString(d.Content[:]),
		Size:         d.Size,
		ParquetBytes: info.Size(),
		Rows:         counts.rows,
		Records:      p.records,
		Control:      r.ControlLines(),
		Rejects:      p.rejects,
		Header:       p.header,
		Head:         slices.Clone(headOf(r)),
		Trailer:      slices.Clone(r.Trailer()),
		Trailers:     trailersOf(r),
		Controls:     make([]sidecarTotal, 0, len(counts.controls)),
		Keys:         counts.keys,
		Notes:        notesOf(r),
		Outside:      outsideOf(r),
		OpenEnd:      openEndOf(r),
		SignedWith:   plan.signedWith,
	}}
	for code, t := range counts.totals {
		out.Totals = append(out.Totals, t.sidecar(code))
	}
	slices.SortFunc(out.Totals, func(a, b sidecarTotal) int { return strings.Compare(a.Currency, b.Currency) })
	for i := range counts.controls {
		out.Controls = append(out.Controls, counts.controls[i].sidecar(""))
	}
	for key, g := range counts.groups {
		if out.Groups == nil {
			out.Groups = map[string]*sidecarGroup{}
		}
		sums := make([]sidecarTotal, len(g.sums))
		for i := range g.sums {
			sums[i] = g.sums[i].sidecar("")
		}
		out.Groups[key] = &sidecarGroup{Rows: g.rows, Sums: sums}
	}
	out.proofs(counts)
	return out, nil
}

// keep makes a staged file durable, then writes what makes later runs use it: the
// sidecar and the marker.
func (s *stager) keep(f *staged, digest string) error {
	for _, path := range []string{f.path, s.dir} {
		if err := syncFile(path); err != nil {
			return err
		}
	}
	if err := writeSidecar(s.dir, f.key, &f.sidecar); err != nil {
		return err
	}
	marker := markerPath(s.dir, digest, f.Size)
	if err := os.MkdirAll(filepath.Dir(marker), 0o700); err != nil {
		return err
	}
	return os.WriteFile(marker, nil, 0o600)
}

// proofs takes over what the proofs of the source counted.
func (s *sidecar) proofs(t *tally) {
	s.Ties = t.ties
	for i := range t.unknown {
		s.Unknown = append(s.Unknown, t.unknown[i].sorted())
	}
	for _, sums := range t.zero {
		var list []sidecarTotal
		for _, k := range slices.Sorted(maps.Keys(sums)) {
			list = append(list, sums[k].sidecar(""))
		}
		s.Zero = append(s.Zero, list)
	}
	s.Members = slices.Sorted(maps.Keys(t.members))
}

func (t *totalSum) sidecar(currency string) sidecarTotal {
	return sidecarTotal{Currency: currency, Rows: t.rows, Unreadable: t.unreadable, Sum: ratText(t.sum.rat())}
}

func (s *stager) progress(f *foundFile, bytes, total, records int64) {
	if s.opt.Progress != nil {
		s.opt.Progress(f.rel, bytes, total, records)
	}
}

// tempName names a file that no other run writes to.
func (s *stager) tempName() (string, error) {
	t, err := os.CreateTemp(s.dir, ".part-*.parquet")
	if err != nil {
		return "", stageError(err)
	}
	return t.Name(), t.Close()
}

func stageError(err error) error {
	if err == nil {
		return nil
	}
	return fail.Wrap(fail.Resources, err, "the stage folder cannot be written").
		WithHint("check the space and the rights of the folder, or name another with --stage-dir")
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// hashFile returns the SHA-256 of a file from its start.
func hashFile(ctx context.Context, f io.Reader) (sum [32]byte, err error) {
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return sum, context.Cause(ctx)
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			h.Sum(sum[:0])
			return sum, nil
		}
		if err != nil {
			return sum, fmt.Errorf("hash: %w", err)
		}
	}
}
