package notify

import (
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Ending is how a run ended. The pipeline fills it; nothing in it is a value of a row.
type Ending struct {
	Job          *rules.Job
	BaseDir      string // where relative paths of the job begin
	Series       string // name of the run's folder: JOB, or JOB@PILOT; the label recon_job
	BusinessDate string // 2006-01-02
	RunID        string // "" not published
	Stage        string // where it failed; "" published
	ExitCode     fail.Class
	Ended        time.Time

	Summary  *report.Summary // nil: not published
	Again    bool            // the same run was published before: nobody is told twice
	Newest   bool            // no later business date is published
	Success  string          // latest business date with a run that ended with 0; "" none
	Former   []Former        // of earlier business dates, the latest first
	Measured Measured
}

// Former is a former run: the current one of an earlier business date.
type Former struct {
	BusinessDate string
	Sources      map[[2]string]int64 // side and source → rows
	Summary      *report.Summary     // nil beyond the last 14
}

// Measured is what the machine says of the run; zero values are not known.
type Measured struct {
	Duration           time.Duration
	Stages             []Stage
	Spill, PeakRSS     int64 // bytes
	DiskFree, DiskSize int64 // bytes
}

// Stage of the run.
type Stage struct {
	Name    string
	Seconds float64
	Rows    int64
}

// Occasions are those on which this ending is one, always among them.
func (e *Ending) Occasions() []string {
	list := []string{rules.OnAlways}
	s := e.Summary
	if s == nil {
		return append(list, rules.OnFailed)
	}
	if slices.ContainsFunc(s.Gates, func(g report.Gate) bool { return g.Failed }) {
		list = append(list, rules.OnGateFailed)
	}
	if s.Outcome.Withheld {
		list = append(list, rules.OnWithheld)
	}
	if s.Outcome.Differences > 0 {
		list = append(list, rules.OnDifferences)
	}
	return list
}

// Wanted tells whether a notification is for this ending.
func (e *Ending) Wanted(n *rules.Notification) bool {
	return slices.ContainsFunc(e.Occasions(), func(o string) bool { return slices.Contains(n.When, o) })
}
