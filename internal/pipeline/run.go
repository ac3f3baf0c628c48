package pipeline

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/archive"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// run is one run under way.
type run struct {
	Options
	bound     *rules.Bound
	dir       *outDir
	budget    Budget
	started   time.Time
	timings   Timings
	res       *Result
	tmp       string // temporary folder of the outputs
	former    *superseding
	lately    *lately
	snapshots []Snapshot
	watched   []*watched       // inputs that were looked at before anything was read
	pullsOnly bool             // local files are no part of it: a snapshot
	kept      *archive.Archive // nil: the bytes of the inputs are not kept
	knowers   *knowers         // nil: no effect that nobody asked for is undone
	target    *remoteSeries    // nil: the run is sent nowhere
	registry  *registry

	mu       sync.Mutex // of what follows, and of Progress
	stage    Stage
	begun    time.Time
	rows     int64
	bytesOf  map[string]int64
	rowsOf   map[string]int64
	allBytes int64
	spilled  int64 // most that the engine was seen to hold on disk
}

// Run reconciles one business date: it extracts both sides, matches, classifies,
// reports and publishes. A run that ends with a failed gate or withheld queues is
// published and has no error; its ExitCode says so.
//
// Every error leaves the former published run untouched, no folder of this run,
// and, once the job and date were locked, a note of the attempt, whose path is in
// the Result that comes with the error.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &run{Options: o, started: time.Now(), stage: StageRules, res: &Result{DryRun: o.DryRun}}
	err := r.prepare()
	if err == nil {
		err = r.await(ctx)
	}
	if err == nil {
		err = r.locked(ctx)
	}
	r.res.Elapsed = time.Since(r.started)
	r.deliver(ctx, err)
	if err != nil {
		return &Result{Attempt: r.res.Attempt, Since: r.res.Since, Notes: r.res.Notes, Elapsed: r.res.Elapsed}, err
	}
	return r.res, nil
}

// prepare does what needs neither lock nor data.
func (r *run) prepare() error {
	bound, err := r.Job.Bind(r.BusinessDate, r.AsOf)
	if err != nil {
		return err
	}
	r.bound = bound
	if r.dir, err = newOutDir(r.OutPath(), Series(r.Job), r.BusinessDate); err != nil {
		return err
	}
	if err := r.Allowed.check(r.Options); err != nil {
		return err
	}
	if r.kept, err = archiveOf(r.Job, r.baseDir(), r.OutPath()); err != nil {
		return err
	}
	if r.budget, err = NewBudget(r.Memory); err != nil {
		return err
	}
	r.budget.apply()
	r.emit(Event{Stage: StageRules, Kind: Note, Note: r.budget.String()})
	return r.room()
}

// room counts the files that are there, and refuses where their run has none.
func (r *run) room() error {
	found := find(r.bound, r.baseDir())
	r.allBytes = 0
	for _, f := range found {
		r.allBytes += f.Size
	}
	return checkDisk(r.dir.out, inputBytes(found))
}

// locked takes the lock of the date and runs under it. A dry run writes nothing
// and locks nothing.
func (r *run) locked(ctx context.Context) (err error) {
	if r.DryRun {
		if to := r.Job.Outputs.Target; to != nil {
			r.note("a dry run brings no former runs from %s: it is judged beside those that are here", to.Address)
		}
		return r.engine(ctx)
	}
	if err := r.dir.make(); err != nil {
		return err
	}
	lock, err := r.dir.lock(ctx, r.LockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	n, err := r.dir.removeLeftOvers()
	if err != nil {
		return err
	}
	if n > 0 {
		r.note("removed what %s left behind", plural(int64(n), "run that was cut short", "runs that were cut short"))
	}
	if err := r.bringFormer(ctx); err != nil {
		return r.refused(err)
	}
	if err := r.engine(ctx); err != nil {
		return r.refused(err)
	}
	return r.send(ctx)
}

// refused removes the temporary folder and leaves the note of the attempt. A run
// that was stopped by a signal leaves none: nothing was missing.
func (r *run) refused(cause error) error {
	if r.tmp != "" {
		if err := os.RemoveAll(r.tmp); err != nil {
			r.note("the temporary folder %s could not be removed: %s", r.tmp, err)
		}
	}
	switch fail.ClassOf(cause) {
	case fail.Interrupt, fail.Terminate:
		return cause
	}
	path, since, err := r.dir.noteAttempt(r.bound, string(r.stage), r.command(), cause, r.lateSince(), time.Now())
	if err != nil {
		r.note("the note of this attempt could not be written: %s", err)
		return cause
	}
	r.res.Attempt, r.res.Since = displayPath(path), since
	return cause
}

// command is the command line that repeats the run.
func (r *run) command() string {
	c := "recon-batch run --business-date " + r.BusinessDate
	if r.AsOf != nil {
		c += " --as-of " + r.AsOf.UTC().Format(time.RFC3339Nano)
	}
	if r.Out != "" {
		c += " --out " + shellQuote(r.Out)
	}
	return c + r.Allowed.flags() + " " + shellQuote(r.Job.File)
}

// engine opens the scratch database and runs the stages in it.
func (r *run) engine(ctx context.Context) (err error) {
	if err := r.judge(ctx); err != nil {
		return err
	}
	stage, cleanup, err := r.stageDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	if err := r.outputFolder(stage); err != nil {
		return err
	}
	allowed := append([]string{filepath.Join(stage, "files"), r.tmp}, r.readable...)
	if r.former, err = r.supersedes(); err != nil {
		return err
	}
	if r.former != nil {
		allowed = append(allowed, filepath.Join(r.former.dir, "queues"))
	}
	if r.knowers, err = r.formerKnowers(); err != nil {
		return err
	}
	allowed = append(allowed, r.knowers.dirs()...)
	if r.registry, err = r.readRegistry(); err != nil {
		return err
	}
	if r.lately, err = r.readLately(); err != nil {
		return err
	}
	allowed = append(allowed, r.lately.dirs()...)
	db, err := duck.Open(ctx, duck.Options{
		MemoryBytes: r.budget.DuckDB, Threads: r.threads(), SpillDir: filepath.Join(stage, "spill"), Allowed: allowed,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	defer r.watch(ctx, db, watchEvery)()
	if remoteJob(r.bound, r.again != nil || r.LastSnapshots) {
		if err := r.do(ctx, db, StageFetch, func() error { return r.fetch(ctx) }); err != nil {
			return err
		}
	}
	if len(r.Job.Lookups()) > 0 {
		if err := r.do(ctx, db, StageLookup, func() error { return r.lookUp(ctx, stage, allowed) }); err != nil {
			return err
		}
	}
	files := filepath.Join(stage, "files")
	if err := r.stages(ctx, db, files); err != nil {
		return err
	}
	if !r.DryRun {
		r.prune(files)
	}
	return nil
}

// stageDir is the folder of parsed files and of spilling. A dry run without one
// takes a temporary folder, so that it leaves nothing.
func (r *run) stageDir() (dir string, cleanup func() error, err error) {
	keep := func() error { return nil }
	switch {
	case r.StageDir != "":
		dir, err = filepath.Abs(r.StageDir)
	case r.DryRun:
		dir, err = os.MkdirTemp("", "recon-batch-dry-run-")
		keep = func() error { return os.RemoveAll(dir) }
	default:
		dir = filepath.Join(r.dir.out, ".stage")
		err = refuseLink(dir)
	}
	if err != nil {
		return "", nil, err
	}
	for _, below := range []string{"files", filepath.Join("files", "seen"), "spill"} {
		if err := refuseLink(filepath.Join(dir, below)); err != nil {
			return "", nil, err
		}
	}
	// The parsed files hold what the inputs hold: for the owner alone.
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
		return "", nil, diskError(err, "the stage folder cannot be made")
	}
	return dir, keep, nil
}

// outputFolder makes the temporary folder into which the outputs are written,
// beside the final one so that the rename is one step. Its name cannot hold the
// run id, which the inputs decide; a name of this form belongs to us all the same.
func (r *run) outputFolder(stage string) error {
	if r.DryRun {
		dir, err := os.MkdirTemp(stage, "dry-run-")
		if err != nil {
			return diskError(err, "the temporary folder cannot be made")
		}
		r.tmp = dir
		return nil
	}
	r.tmp = filepath.Join(r.dir.date, tmpName(r.bound.Digest()[:16]))
	return diskError(os.Mkdir(r.tmp, 0o755), "the temporary folder cannot be made")
}

// stages runs the straight line.
func (r *run) stages(ctx context.Context, db *duck.DB, files string) error {
	var rels [2]*extract.Relation
	err := r.do(ctx, db, StageExtract, func() error {
		var err error
		rels, err = r.load(ctx, db, r.bound, files)
		return err
	})
	if err != nil {
		return err
	}
	ops, res := rels[0], rels[1]
	asked, err := lookups(ctx, db, r.bound, res, r.again, r.dir.out, keptOf(r.kept))
	if err != nil {
		return err
	}
	for _, a := range asked {
		r.note("%s", a.words())
	}
	inputs := inputsOf(r.baseDir(), ops, res)
	if err := sameBytes(r.again, inputs); err != nil {
		return err
	}
	for _, rel := range rels {
		for _, f := range rel.Files {
			if f.Cached {
				r.timings.Cached++
			} else if f.Status == extract.FileStaged {
				r.timings.Staged++
			}
		}
	}
	m := r.newManifest(inputs, coverageOf(ops, res))
	m.Snapshots, m.Ready, m.Lookups = r.snapshots, readySources(r.bound), asked
	r.enterFiles(m, rels[:]...)
	if err := r.reopen(ctx, m); err != nil {
		return err
	}
	past, err := r.past(m)
	if err != nil {
		return err
	}
	if m.RunID, err = identityOf(m).id(); err != nil {
		return err
	}
	if err := r.target.adopt(ctx, r.BusinessDate, m.RunID); err != nil {
		return err
	}
	if done, err := r.published(m.RunID); done || err != nil {
		return err
	}

	var outcome *match.Outcome
	if err := r.do(ctx, db, StageMatch, func() (err error) {
		outcome, err = match.Run(ctx, db, r.bound, ops, res, match.Options{})
		return err
	}); err != nil {
		return err
	}
	if err := r.do(ctx, db, StageClass, func() error {
		_, err := classify.Run(ctx, db, r.bound, ops, res, outcome, r.knowers.former()...)
		return err
	}); err != nil {
		return err
	}
	if m.Versions.DuckDB, err = db.Version(ctx); err != nil {
		return err
	}
	var summary *report.Summary
	if err := r.do(ctx, db, StageReport, func() (err error) {
		summary, err = r.report(ctx, db, m, past, ops, res, outcome)
		return err
	}); err != nil {
		return err
	}
	m.conclude(summary)
	r.res.Manifest, r.res.Summary, r.res.ExitCode = m, summary, m.Outcome.ExitCode
	if r.replaying != nil {
		if m.Outputs, err = seal(r.tmp, roleOf); err != nil {
			return err
		}
		r.replaying(m)
	}
	if r.DryRun {
		return os.RemoveAll(r.tmp)
	}
	return r.do(ctx, db, StagePublish, func() error {
		err := sideBySide(func() error {
			return report.Reproduce(ctx, &report.Delivery{DB: db, In: &report.Input{Bound: r.bound}, Summary: summary, Dir: r.tmp})
		}, func() (err error) {
			m.Outputs, err = seal(r.tmp, roleOf)
			return err
		})
		if err != nil {
			return err
		}
		if err := r.keepEvidence(ctx, m, ops, res); err != nil {
			return err
		}
		return r.publish(ctx, m)
	})
}

// load reads both sides at once. Each is read to its end, so that the error of a run does
// not depend on which side fails first.
func (r *run) load(ctx context.Context, db *duck.DB, job *rules.Bound, files string) (rels [2]*extract.Relation, err error) {
	var errs [2]error
	var wg sync.WaitGroup
	for i, side := range rules.Sides {
		wg.Go(func() {
			rels[i], errs[i] = extract.Load(ctx, db, job, side, extract.Options{
				StageDir: files, BaseDir: r.baseDir(), Secret: r.secret, Progress: r.reading, Pinned: pinnedOf(r.again, side), Kept: keptOf(r.kept),
				Earlier: r.registry.earlier, Former: r.registry.former,
			})
		})
	}
	wg.Wait()
	return rels, cmp.Or(errs[0], errs[1])
}

// sideBySide runs two steps at the same time and waits for both; the error of the
// first one comes first, so that it does not depend on which was faster.
func sideBySide(first, second func() error) error {
	done := make(chan error, 1)
	go func() { done <- first() }()
	err := second()
	if err := <-done; err != nil {
		return err
	}
	return err
}

// do runs one stage between its events, then the checkpoint.
func (r *run) do(ctx context.Context, db *duck.DB, stage Stage, f func() error) error {
	r.mu.Lock()
	r.stage, r.begun, r.rows = stage, time.Now(), 0
	r.bytesOf, r.rowsOf = map[string]int64{}, map[string]int64{}
	r.emit(Event{Stage: stage, Kind: StageBegins, Total: r.allBytes})
	r.mu.Unlock()
	if err := f(); err != nil {
		return err
	}
	r.mu.Lock()
	elapsed := time.Since(r.begun)
	r.timings.Stages = append(r.timings.Stages, StageTiming{Stage: stage, Seconds: seconds(elapsed), Rows: r.rows})
	r.emit(Event{Stage: stage, Kind: StageEnds, Rows: r.rows, Elapsed: elapsed})
	r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if r.Checkpoint == nil {
		return nil
	}
	return r.Checkpoint(ctx, stage, db)
}

// reading takes the progress of extract, which may read several files at a time.
func (r *run) reading(file string, bytes, _ int64, records int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytesOf[file], r.rowsOf[file] = bytes, records
	e := Event{Stage: r.stage, Kind: StageAdvances, File: filepath.Base(file), Total: r.allBytes}
	for f := range r.bytesOf {
		e.Bytes += r.bytesOf[f]
		e.Rows += r.rowsOf[f]
	}
	r.rows = e.Rows
	r.emit(e)
}

// emit passes an event on. The caller holds mu.
func (r *run) emit(e Event) {
	if r.Progress != nil {
		r.Progress(e)
	}
}
