package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/notify"
)

// How far back the comparisons of delivered metrics look: reports, and dates in all.
const (
	formerReports = 14
	formerNights  = 60
)

// deliver tells the places that the job names how the run ended. It comes after
// everything else: whatever fails is a note, and the run ends as it would have. A dry run
// and one that a signal stopped tell nobody.
func (r *run) deliver(ctx context.Context, cause error) {
	if r.DryRun || r.again != nil || r.dir == nil || !notify.Declared(r.Job) {
		return
	}
	class := fail.ClassOf(cause)
	if cause == nil {
		class = r.res.ExitCode
	}
	if class == fail.Interrupt || class == fail.Terminate {
		return
	}
	e := &notify.Ending{
		Job: r.Job, BaseDir: r.baseDir(), Series: Series(r.Job), BusinessDate: r.BusinessDate, ExitCode: class, Ended: time.Now(),
	}
	if cause != nil {
		e.Stage = string(r.stage)
	} else if err := r.ending(e); err != nil {
		// What is published cannot be read back: it is told as far as it is known.
		r.note("metrics and notifications lack what former runs say: %s", err)
	}
	for _, line := range notify.Deliver(ctx, e) {
		r.note("%s", line)
	}
}

// ending adds what is known of a published run and of those before it.
func (r *run) ending(e *notify.Ending) (err error) {
	m := r.res.Manifest
	e.RunID, e.Summary, e.Again = m.RunID, r.res.Summary, r.res.NoOp
	dir := r.dir.run(m.RunID)
	t := r.timings
	if r.res.NoOp {
		if e.Summary, err = reportOf(dir, m); err != nil {
			return err
		}
		t = Timings{} // of the run that was published
		text, err := os.ReadFile(filepath.Join(dir, timingsName))
		if err == nil {
			err = json.Unmarshal(text, &t)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil // of a run that another machine made
		}
		if err != nil {
			return err
		}
	} else {
		t.Seconds, t.PeakRSS = seconds(time.Since(r.started)), peakRSS()
	}
	e.Measured = notify.Measured{Duration: time.Duration(t.Seconds * float64(time.Second)), PeakRSS: t.PeakRSS, Spill: r.spilled}
	for _, s := range t.Stages {
		e.Measured.Stages = append(e.Measured.Stages, notify.Stage{Name: string(s.Stage), Seconds: s.Seconds, Rows: s.Rows})
	}
	var fs unix.Statfs_t
	if unix.Statfs(r.dir.out, &fs) == nil {
		e.Measured.DiskFree, e.Measured.DiskSize = int64(fs.Bavail)*fs.Bsize, int64(fs.Blocks)*fs.Bsize
	}
	if e.Newest, e.Success, err = r.dir.standing(); err != nil || !e.Newest {
		return err
	}
	return formerRuns(r.dir.out, r.Job.Name, seriesOf(r.Job), r.BusinessDate, func(p *published) (bool, error) {
		f := notify.Former{BusinessDate: p.ref.BusinessDate, Sources: map[[2]string]int64{}}
		for _, in := range p.m.Inputs {
			if in.Status == "staged" {
				f.Sources[[2]string{string(in.Side), in.Source}] += in.Records - in.Rejected
			}
		}
		if len(e.Former) < formerReports {
			if err := p.readReport(r.dir.out); err != nil {
				return false, err
			}
			f.Summary = p.summary
		}
		e.Former = append(e.Former, f)
		return len(e.Former) < formerNights, nil
	})
}

// standing tells whether no later date of the series is published, and the latest date
// that has a run, current or superseded, that ended with 0: "" where none has.
func (d *outDir) standing() (newest bool, success string, err error) {
	entries, err := os.ReadDir(d.job)
	if err != nil {
		return false, "", err
	}
	newest = true
	for _, e := range slices.Backward(entries) { // sorted by name, dates sort as texts
		if !e.IsDir() || !dateName.MatchString(e.Name()) {
			continue
		}
		day := outDir{out: d.out, job: d.job, date: filepath.Join(d.job, e.Name())}
		if e.Name() > filepath.Base(d.date) {
			id, err := day.currentID()
			if err != nil {
				return false, "", err
			}
			newest = newest && id == ""
		}
		if success == "" {
			ok, err := day.succeeded()
			if err != nil {
				return false, "", err
			}
			if ok {
				success = e.Name()
			}
		}
		if success != "" && e.Name() <= filepath.Base(d.date) {
			break
		}
	}
	return newest, success, nil
}

// succeeded tells whether a run of the date ended with 0.
func (d *outDir) succeeded() (bool, error) {
	entries, err := os.ReadDir(d.date)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !e.IsDir() || !runIDForm.MatchString(e.Name()) {
			continue
		}
		m, _, err := ReadManifest(d.run(e.Name()))
		if err != nil {
			return false, err
		}
		if m.Outcome.ExitCode == fail.OK {
			return true, nil
		}
	}
	return false, nil
}
