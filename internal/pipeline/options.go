package pipeline

import (
	"context"
	"path/filepath"
	"runtime"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Options of one run.
type Options struct {
	Job           *rules.Job
	BusinessDate  string        // 2006-01-02
	AsOf          *time.Time    // nil: the job's
	Out           string        // "": the job's outputs.dir, relative to the job file
	StageDir      string        // "": <out>/.stage; parsed files and spilling
	Threads       int           // 0: GOMAXPROCS, which follows the CPUs of the control group
	Memory        int64         // bytes for the whole run; 0: what the machine allows
	Allowed       Allowed       // what a person lets pass for this run
	LockWait      time.Duration // for another run of this job and date
	WaitForInputs time.Duration // for sources that are not there or not ready, optional ones aside; 0: no
	DryRun        bool          // everything but publish
	LastSnapshots bool          // remote sources are not pulled: their latest snapshots of the date are read
	Until         time.Time     // no outside request is tried again after it; zero: no end
	Progress      func(Event)   // may be nil; called one at a time
	Checkpoint    Checkpoint    // may be nil

	// Of a published run that is judged again, dry (see Rejudge).
	replaying func(*Manifest) // is told what came out; the runs before are read as the run read them
	again     *Manifest       // its inputs are read, and no others
	readable  []string        // folders that the engine may read besides
	base      string          // where relative paths of the job begin; "": the folder of the job file
}

// A Checkpoint is called when a stage is done, before the next one begins; an
// error ends the run. Tests use it to stop a run at a place, and to break an
// invariant on purpose.
type Checkpoint func(ctx context.Context, done Stage, db *duck.DB) error

// Result of a run that was published, or would have been.
type Result struct {
	Manifest *Manifest
	Summary  *report.Summary // nil for a no-op
	ExitCode fail.Class      // OK, Gate or Policy
	NoOp     bool            // the same run was published before
	DryRun   bool
	Dir      string // the run's folder, for people; "" after a dry run
	Current  string // the link to it
	Sent     *Sent  // to the bucket of the job; nil where it has none
	Attempt  string // note of a refused run; the only member then, with Notes
	Since    string // first time that the same was missing, RFC 3339; with Attempt
	Notes    []string
	Elapsed  time.Duration
}

// OutPath is the declared output folder. What the job file says is relative to
// the job file, what the command line says to the working folder.
func (o Options) OutPath() string {
	if o.Out != "" {
		return o.Out
	}
	if o.Job.Outputs.Dir == "" || filepath.IsAbs(o.Job.Outputs.Dir) {
		return o.Job.Outputs.Dir
	}
	// Absolute, so that a job file named by way of `..` gives a plain path.
	base, err := filepath.Abs(o.baseDir())
	if err != nil {
		base = o.baseDir()
	}
	return filepath.Join(base, o.Job.Outputs.Dir)
}

// baseDir is the folder of the job file, where relative paths in it begin.
func (o Options) baseDir() string {
	if o.base != "" {
		return o.base
	}
	return filepath.Dir(o.Job.File)
}

// secret reads what the job file only refers to.
func (o Options) secret(s rules.Secret, what string) (string, error) {
	return secret.Text(s, o.baseDir(), what)
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// overrides names what the command line changed that changes outputs.
func (o Options) overrides() []string {
	list := []string{}
	if o.AsOf != nil {
		list = append(list, "as-of="+o.AsOf.UTC().Format(time.RFC3339Nano))
	}
	return append(list, o.Allowed.overrides()...)
}
