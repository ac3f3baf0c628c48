package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Nights lists the current runs of the last n business dates of a series (see Series)
// that have one, oldest first.
func Nights(out, series string, n int) ([]RunInfo, error) {
	list, err := History(out, series, "")
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r RunInfo) bool { return !r.Current })
	if len(list) == 0 {
		return nil, fail.New(fail.Usage, "%s has no published run under %s", series, displayPath(out)).
			WithHint("run it first: recon-batch run --business-date DATE JOB.yaml")
	}
	slices.SortFunc(list, func(a, b RunInfo) int { return strings.Compare(a.BusinessDate, b.BusinessDate) })
	return list[max(len(list)-n, 0):], nil
}

// Reading is a published run whose staged rows can be asked again.
//
// # Relations
//
//	operations, results          views over the staged rows (package match)
//	run_files                    side VARCHAR, file_no BIGINT, source, file VARCHAR
//	was_operations, was_results  tables of the published verdicts: rid BIGINT as in the
//	    views, class, reason VARCHAR, link UBIGINT, in_period BOOLEAN
type Reading struct {
	DB       *duck.DB
	Bound    *rules.Bound
	Rels     [2]*extract.Relation // operations, results
	Manifest *Manifest
	Dir      string // of the run
	Scratch  string // folder that the engine may write, gone afterwards
}

// Reread stages what the run in dir read, from the same files or from what was staged
// of them, and lets look ask it beside the published verdicts. Nothing is judged.
// The job may have changed since; fields are those of the job of o. The error has
// class Input where bytes of the run are neither there nor staged.
func Reread(ctx context.Context, o Options, dir string, look func(*Reading) error) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return diskError(err, "the folder of the run cannot be found")
	}
	r := &Reading{Dir: dir}
	if r.Manifest, _, err = ReadManifest(dir); err != nil {
		return err
	}
	asOf, err := r.Manifest.asOf()
	if err != nil {
		return err
	}
	if r.Bound, err = o.Job.Bind(r.Manifest.BusinessDate, asOf); err != nil {
		return err
	}
	budget, err := NewBudget(o.Memory)
	if err != nil {
		return err
	}
	stage := o.StageDir
	if stage == "" {
		stage = filepath.Join(o.OutPath(), ".stage")
	}
	if stage, err = filepath.Abs(stage); err != nil {
		return diskError(err, "the stage folder cannot be found")
	}
	files := filepath.Join(stage, "files")
	if err := os.MkdirAll(files, 0o700); err != nil {
		return diskError(err, "the stage folder cannot be made")
	}
	if r.Scratch, err = os.MkdirTemp("", "recon-batch-reading-"); err != nil {
		return diskError(err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.Scratch)) }()
	r.DB, err = duck.Open(ctx, duck.Options{
		MemoryBytes: budget.DuckDB, Threads: o.threads(), SpillDir: filepath.Join(stage, "spill"), Allowed: []string{files, dir, r.Scratch},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.DB.Close()) }()
	if err := pulledBefore(r.Bound, r.Manifest, outOfRun(dir)); err != nil {
		return err
	}
	readyBefore(r.Bound, r.Manifest.Ready)
	earlier, err := knownFiles(outOfRun(dir), r.Manifest)
	if err != nil {
		return err
	}
	for i, side := range rules.Sides {
		opt := extract.Options{StageDir: files, BaseDir: o.baseDir(), Secret: o.secret, Pinned: pinnedOf(r.Manifest, side), Earlier: earlier}
		if r.Rels[i], err = extract.Load(ctx, r.DB, r.Bound, side, opt); err != nil {
			return cannot(r.Manifest, err)
		}
	}
	if err := sameBytes(r.Manifest, inputsOf(o.baseDir(), r.Rels[0], r.Rels[1])); err != nil {
		return cannot(r.Manifest, err)
	}
	if _, err := lookups(ctx, r.DB, r.Bound, r.Rels[1], r.Manifest, outOfRun(dir), nil); err != nil {
		return cannot(r.Manifest, err)
	}
	if err := r.relations(ctx); err != nil {
		return err
	}
	return look(r)
}

func againSQL(name string) *duck.Template {
	return duck.MustParse(sqlFiles, "sql/again_"+name+".sql")
}

// cannot says which run cannot be read or judged again.
func cannot(m *Manifest, cause error) error {
	if fail.ClassOf(cause) != fail.Input {
		return cause
	}
	e := fail.Wrap(fail.Input, cause, "run %s of %s cannot be judged again", m.RunID, m.BusinessDate)
	if inner, ok := errors.AsType[*fail.Error](cause); ok {
		e.Hint = inner.Hint
	}
	return e
}

func (r *Reading) relations(ctx context.Context) error {
	if err := match.Views(ctx, r.DB, r.Bound, r.Rels[0], r.Rels[1]); err != nil {
		return err
	}
	rows := []string{}
	for i, side := range rules.Sides {
		for _, f := range r.Rels[i].Files {
			rows = append(rows, fmt.Sprintf("(%s, %d, %s, %s)", duck.Literal(string(side)), f.No, duck.Literal(f.Source), duck.Literal(f.Name)))
		}
	}
	// A published run has files, if only missing ones.
	if err := r.DB.Exec(ctx, againSQL("files").Render(duck.Slots{"files": strings.Join(rows, ", ")})); err != nil {
		return err
	}
	for _, side := range rules.Sides {
		err := r.DB.Exec(ctx, againSQL("was").Render(duck.Slots{
			"table": "was_" + string(side), "side": duck.Literal(string(side)), "file": duck.Literal(filepath.Join(r.Dir, string(side)+".parquet")),
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// Rejudge judges the inputs of the published run in dir under the job of o, as a dry
// run of the same business date, and lets look ask the scratch database when all
// outputs are written and before they go. base is the folder where relative paths of
// the job begin. Nothing below the output folder is written: what was staged there is
// lent to a temporary stage folder. The engine may read dir.
func Rejudge(ctx context.Context, o Options, dir, base string, look func(ctx context.Context, db *duck.DB) error) (res *Result, err error) {
	m, _, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if o.AsOf, err = m.asOf(); err != nil {
		return nil, err
	}
	stage, err := os.MkdirTemp("", "recon-batch-again-")
	if err != nil {
		return nil, diskError(err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	from := o.StageDir
	if from == "" {
		from = filepath.Join(o.OutPath(), ".stage")
	}
	if err := lendStaged(filepath.Join(from, "files"), filepath.Join(stage, "files"), m); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, diskError(err, "the folder of the run cannot be found")
	}
	o.BusinessDate, o.DryRun, o.StageDir = m.BusinessDate, true, stage
	o.again, o.readable, o.base = m, []string{dir}, base
	o.Checkpoint = func(ctx context.Context, done Stage, db *duck.DB) error {
		if done != StageReport {
			return nil
		}
		return look(ctx, db)
	}
	res, err = Run(ctx, o)
	if err != nil {
		return nil, cannot(m, err)
	}
	return res, nil
}

// lendStaged links, or copies where that is not possible, what is staged of the
// inputs of a run into another stage folder. Staged files are only ever replaced by
// a rename, so that a link cannot change what is lent.
func lendStaged(from, to string, m *Manifest) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return diskError(err, "a temporary folder cannot be made")
	}
	wanted := map[string]bool{}
	for _, in := range m.Inputs {
		wanted[in.SHA256] = true
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil // nothing is staged: the inputs are parsed again
	}
	for _, e := range entries {
		key, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		var of struct{ SHA256 string }
		if err != nil || json.Unmarshal(text, &of) != nil || !wanted[of.SHA256] {
			continue
		}
		// What cannot be lent is parsed again.
		if lend(filepath.Join(from, key+".parquet"), filepath.Join(to, key+".parquet")) != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), text, 0o600); err != nil {
			return diskError(err, "the temporary folder cannot be written")
		}
	}
	return nil
}

func lend(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// pinnedOf are the files of one side that a run read; nil without a run.
func pinnedOf(m *Manifest, side rules.Side) []extract.Pinned {
	if m == nil {
		return nil
	}
	out := []extract.Pinned{}
	for _, in := range m.Inputs {
		if in.Side == side {
			out = append(out, extract.Pinned{
				Source: in.Source, Path: in.Path, Date: in.Date, SHA256: in.SHA256, Missing: in.Status == string(extract.FileMissing), Control: in.Status == controlFile, SignedWith: in.SignedWith,
			})
		}
	}
	return out
}

// asFound are the files of one side that a run read, by their paths alone: they are
// read as they are now.
func asFound(m *Manifest, side rules.Side) []extract.Pinned {
	list := pinnedOf(m, side)
	for i := range list {
		list[i].SHA256 = ""
	}
	return list
}

// sameBytes refuses inputs that are not byte for byte those of the run: a file of an
// optional source that is gone would else be left out, and what it proved with it.
func sameBytes(m *Manifest, now []Input) error {
	if m == nil {
		return nil
	}
	for _, in := range now {
		i := slices.IndexFunc(m.Inputs, func(was Input) bool {
			return was.Side == in.Side && was.Source == in.Source && was.Path == in.Path && was.Date == in.Date
		})
		if i < 0 || m.Inputs[i].SHA256 != in.SHA256 {
			why := in.Problem
			if why == "" {
				why = "it has other bytes"
			}
			return fail.New(fail.Input, "%s cannot be read as the run read it: %s", in.Path, why).
				WithHint("put the file of that day back")
		}
	}
	return nil
}

// asOf is the reference time that was given on the command line; nil where the job
// said it.
func (m *Manifest) asOf() (*time.Time, error) {
	for _, v := range m.Overrides {
		if text, ok := strings.CutPrefix(v, "as-of="); ok {
			t, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return nil, fail.Wrap(fail.Integrity, err, "the manifest of run %s is damaged", m.RunID)
			}
			return &t, nil
		}
	}
	return nil, nil
}
