package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/kinds"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// TakeSnapshot pulls the remote sources of a business date and judges nothing, so that
// evidence can be taken now and judged later (Options.LastSnapshots). Sources of local
// files are no part of it.
func TakeSnapshot(ctx context.Context, o Options) (_ []Snapshot, err error) {
	r := &run{Options: o, started: time.Now(), stage: StageFetch, res: &Result{}, pullsOnly: true}
	if r.bound, err = o.Job.Bind(o.BusinessDate, o.AsOf); err != nil {
		return nil, err
	}
	if !remoteJob(r.bound, false) {
		return nil, fail.New(fail.Usage, "no source of the job %s is pulled; its files lie where the job reads them", o.Job.Name).
			WithHint("run it: recon-batch run --business-date %s %s", o.BusinessDate, shellQuote(o.Job.File))
	}
	if r.dir, err = newOutDir(r.OutPath(), Series(r.Job), r.BusinessDate); err != nil {
		return nil, err
	}
	if err := r.await(ctx); err != nil {
		return nil, err
	}
	if err := r.dir.make(); err != nil {
		return nil, err
	}
	lock, err := r.dir.lock(ctx, r.LockWait)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if err := r.judge(ctx); err != nil {
		return nil, err
	}
	r.bytesOf, r.rowsOf = map[string]int64{}, map[string]int64{}
	r.emit(Event{Stage: StageFetch, Kind: StageBegins})
	if err := r.fetch(ctx); err != nil {
		return nil, err
	}
	r.emit(Event{Stage: StageFetch, Kind: StageEnds, Elapsed: time.Since(r.started)})
	return r.snapshots, nil
}

// Connect looks whether every remote source can be reached and gives what the job
// expects, and whether runs can be sent to the bucket of the job. It returns one text for
// each problem, all places at once, and the number of places that were asked.
func Connect(ctx context.Context, o Options) (problems []string, asked int, err error) {
	bound, err := o.Job.Bind(o.BusinessDate, o.AsOf)
	if err != nil {
		return nil, 0, err
	}
	for _, side := range rules.Sides {
		for i := range bound.Inputs[side] {
			in := &bound.Inputs[side][i]
			if in.Source.Remote == nil {
				continue
			}
			asked++
			r := &fetch.Request{
				Job: bound, Side: side, Input: in, BaseDir: o.baseDir(), Until: o.Until, Now: time.Now,
				Note: (&run{Options: o, stage: StageFetch}).emitNote, Progress: func(string, int64, int64) {},
			}
			for _, p := range kinds.Of(in.Source.Remote.Kind).Check(ctx, r) {
				problems = append(problems, fmt.Sprintf("%s.%s: %s", side, in.Source.Name, p))
			}
			if err := context.Cause(ctx); err != nil {
				return nil, asked, err
			}
		}
	}
	problem, is, err := connectTarget(ctx, o)
	if problem != "" {
		problems = append(problems, problem)
	}
	if is {
		asked++
	}
	return problems, asked, err
}

// SnapshotFolder is where a snapshot of a job lies, for people.
func SnapshotFolder(o Options, s Snapshot) string {
	out, err := filepath.Abs(o.OutPath())
	if err != nil {
		out = o.OutPath()
	}
	return displayPath(filepath.Join(out, filepath.FromSlash(s.Path)))
}
