package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// ReadNow stages what a run of the business date would read now, under the job of o, and
// lets look ask it: DB, Bound, Rels and Scratch of the Reading are set. Of sources that
// are pulled the latest snapshots are read, and nobody is asked. Nothing is judged, and
// nothing is written below the output folder. Errors are those of a run that cannot begin
// to match, with their classes.
func ReadNow(ctx context.Context, o Options, look func(*Reading) error) error {
	bound, err := o.Job.Bind(o.BusinessDate, o.AsOf)
	if err != nil {
		return err
	}
	o.DryRun = true
	r := &run{Options: o, bound: bound}
	return r.staged(ctx, func(db *duck.DB, rels [2]*extract.Relation, scratch string) error {
		if err := match.Views(ctx, db, r.bound, rels[0], rels[1]); err != nil {
			return err
		}
		return look(&Reading{DB: db, Bound: r.bound, Rels: rels, Scratch: scratch})
	})
}

// staged stages the files of a run that judges nothing; look may ask them until it returns.
func (r *run) staged(ctx context.Context, look func(db *duck.DB, rels [2]*extract.Relation, scratch string) error) (err error) {
	r.LastSnapshots = true
	r.started, r.stage, r.res = time.Now(), StageExtract, &Result{}
	r.bytesOf, r.rowsOf = map[string]int64{}, map[string]int64{}
	if r.dir, err = newOutDir(r.OutPath(), Series(r.Job), r.BusinessDate); err != nil {
		return err
	}
	if r.budget, err = NewBudget(r.Memory); err != nil {
		return err
	}
	stage, cleanup, err := r.stageDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	scratch, err := os.MkdirTemp("", "recon-batch-staged-")
	if err != nil {
		return diskError(err, "a temporary folder cannot be made")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	files := filepath.Join(stage, "files")
	db, err := duck.Open(ctx, duck.Options{MemoryBytes: r.budget.DuckDB, Threads: r.threads(), SpillDir: scratch, Allowed: []string{files, scratch}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if r.registry, err = r.readRegistry(); err != nil {
		return err
	}
	if err := r.judge(ctx); err != nil {
		return err
	}
	if remoteJob(r.bound, true) {
		if err := r.fetch(ctx); err != nil {
			return err
		}
	}
	rels, err := r.load(ctx, db, r.bound, files)
	if err != nil {
		return err
	}
	return look(db, rels, scratch)
}

// Visible is the text of a staged value as people may see it: instants in UTC, hidden as
// the job declares, and free text looked through.
func Visible(job *rules.Job, f rules.Field, text string) string {
	if us, err := strconv.ParseInt(text, 10, 64); err == nil && f.Type == rules.Timestamp {
		text = instant(us)
	}
	if how := job.Redact.Fields[f.Name]; how != "" {
		return "(hidden: " + how + ")"
	} else if job.Redact.LooksThrough(f.Name) {
		return scan.Text(text)
	}
	return text
}
