package main

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// runDocument is what `run --output json` prints.
type runDocument struct {
	SchemaVersion int                 `json:"schema_version"`
	Job           string              `json:"job"`
	Series        string              `json:"series,omitempty"` // of a part of the job, such as a pilot
	BusinessDate  string              `json:"business_date"`
	RunID         string              `json:"run_id"`
	NoOp          bool                `json:"no_op"` // the same run was published before
	DryRun        bool                `json:"dry_run"`
	Published     bool                `json:"published"`
	Folder        string              `json:"folder,omitempty"`
	Current       string              `json:"current,omitempty"`
	Sent          *pipeline.Sent      `json:"sent,omitempty"` // to the bucket of the job
	Supersedes    *pipeline.RunRef    `json:"supersedes,omitempty"`
	Withdrawn     *pipeline.Withdrawn `json:"withdrawn,omitempty"` // items of the superseded run that no longer hold
	Overrides     []string            `json:"overrides"`
	ContentDigest string              `json:"content_digest"`
	Counts        []pipeline.Count    `json:"counts"`
	Outcome       pipeline.Outcome    `json:"outcome"`
	Attempt       string              `json:"attempt,omitempty"`
	Error         *errorObject        `json:"error,omitempty"`
}

func (s *session) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "reconcile one business date and publish verdicts, queues and report",
		ArgsUsage: "JOB.yaml",
		Description: `Reads the files of both sides, gives every row its one verdict, and publishes
<out>/<job>/<date>/<run id>/ in one step; 'current' then points to it. The same
run again does nothing and says so. Flags go before JOB.yaml.

With --wait-for-inputs a source that is not there, or not ready by its rules, is looked
at again and again until it is, or the time is over; the run ends with 4 then, unless
the source is late-ok.

Parsed files are kept in the stage folder, so that an unchanged file is not parsed
again; those that no run used for 30 days are removed at the end of a run.

A run that exceeds a limit of the blast radius publishes report and review queue, and
no acting queue (9). --allow-blast-radius lifts one limit for this run; --reason alone
lets proposals be acted on that were never observed. Both are recorded.

EXAMPLES
   recon-batch run --business-date 2026-11-29 job.yaml
   recon-batch run --business-date yesterday --output json job.yaml
   recon-batch run --business-date 2026-11-29 --dry-run job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` to reconcile, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "as-of", Usage: "reference `TIME` of windows and ages, instead of the job's"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			&cli.StringSliceFlag{Name: "allow-blast-radius", Usage: "lift this `LIMIT` for this run, such as requeue.rows; may be given several times; needs --reason"},
			&cli.BoolFlag{Name: "allow-unobserved", DisableDefaultText: true, Usage: "act on what was never observed; needs --reason"},
			&cli.StringFlag{Name: "reason", Usage: "why, as `TEXT` for manifest and report"},
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "do everything but publish"},
			&cli.BoolFlag{Name: "last-snapshots", DisableDefaultText: true, Usage: "pull nothing: read the latest snapshots of the date"},
			waitFlag(),
			giveUpFlag(),
			outputFlag(),
			&cli.IntFlag{Name: "threads", Usage: "`N` threads of the engine", DefaultText: "the CPUs of the process"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE` of the whole run, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files and for spilling", DefaultText: "<out>/.stage"},
			&cli.DurationFlag{Name: "lock-wait", Usage: "wait for another run of this job and date for at most this `TIME`, such as 10m", DefaultText: "do not wait"},
			&cli.BoolFlag{Name: "no-progress", DisableDefaultText: true, Usage: "no progress on stderr"},
			&cli.BoolFlag{Name: "quiet", DisableDefaultText: true, Usage: "nothing on stderr but errors"},
		},
		Action: s.run,
	}
}

func (s *session) run(c *cli.Context) error {
	args, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	progress := s.newProgress(c.Bool("quiet"), c.Bool("no-progress"))
	opt.Progress = progress.event
	res, err := pipeline.Run(c.Context, *opt)
	progress.close()
	if res != nil {
		for _, n := range res.Notes {
			if !c.Bool("quiet") {
				s.notef("%s\n", n)
			}
		}
	}
	if err != nil {
		if res != nil && res.Attempt != "" {
			s.notef("noted in %s, the same since %s\n", res.Attempt, res.Since)
		}
		return err
	}
	s.ending = res.ExitCode
	if asJSON {
		return s.writeJSON(documentOf(res))
	}
	return s.printRun(res, args[0], c.String("out"))
}

// call reads what nearly all commands have in common: the arguments, of which names are the
// names, and the form of the output.
func (s *session) call(c *cli.Context, names ...string) (args []string, asJSON bool, err error) {
	if args, err = s.positionals(c, names...); err != nil {
		return nil, false, err
	}
	asJSON, err = outputMode(c)
	return args, asJSON, err
}

// jobCall reads in addition the options of a run over the job file, the first argument.
func (s *session) jobCall(c *cli.Context, names ...string) (args []string, asJSON bool, opt *pipeline.Options, err error) {
	if args, asJSON, err = s.call(c, names...); err != nil {
		return nil, false, nil, err
	}
	opt, err = s.runOptions(c, args[0])
	return args, asJSON, opt, err
}

// runOptions reads the flags that run and plan share.
func (s *session) runOptions(c *cli.Context, jobFile string) (*pipeline.Options, error) {
	job, err := rules.Load(jobFile)
	if err != nil {
		return nil, err
	}
	opt := &pipeline.Options{
		Job: job, Out: c.String("out"), StageDir: c.String("stage-dir"), DryRun: c.Bool("dry-run"),
		LastSnapshots: c.Bool("last-snapshots"), Threads: c.Int("threads"), LockWait: c.Duration("lock-wait"), Checkpoint: s.checkpoint,
	}
	if opt.BusinessDate, err = businessDate(c, job); err != nil {
		return nil, err
	}
	if wait := c.Duration("give-up-after"); wait > 0 {
		opt.Until = time.Now().Add(wait)
	}
	if opt.WaitForInputs = c.Duration("wait-for-inputs"); opt.WaitForInputs < 0 {
		return nil, fail.New(fail.Usage, "--wait-for-inputs %s is no time to wait", opt.WaitForInputs).WithHint("write it as 90s, 30m or 2h")
	}
	if opt.AsOf, err = asOf(c, job); err != nil {
		return nil, err
	}
	if err := checkThreads(opt.Threads); err != nil {
		return nil, err
	}
	if text := c.String("memory"); text != "" {
		if opt.Memory, err = pipeline.ParseSize(text); err != nil {
			return nil, err
		}
	}
	opt.Allowed = pipeline.Allowed{Limits: c.StringSlice("allow-blast-radius"), Unobserved: c.Bool("allow-unobserved"), Reason: c.String("reason")}
	if c.IsSet("reason") && strings.TrimSpace(opt.Allowed.Reason) == "" {
		return nil, fail.New(fail.Usage, "--reason is empty").WithHint("say why, in words: whoever reads the report will ask")
	}
	if !c.Bool("quiet") {
		for _, w := range job.Warnings {
			s.warn(w)
		}
	}
	return opt, nil
}

func documentOf(res *pipeline.Result) runDocument {
	m := res.Manifest
	d := runDocument{
		SchemaVersion: 1, Job: m.Job, Series: m.Series, Overrides: m.Overrides, Withdrawn: m.Withdrawn, BusinessDate: m.BusinessDate, RunID: m.RunID, NoOp: res.NoOp, DryRun: res.DryRun,
		Published: res.Dir != "", Folder: res.Dir, Current: res.Current, Sent: res.Sent, Supersedes: m.Supersedes,
		ContentDigest: m.ContentDigest, Counts: m.Counts, Outcome: m.Outcome,
	}
	if res.ExitCode != fail.OK {
		d.Error = &errorObject{Code: res.ExitCode, Name: exitName(res.ExitCode), Message: endingText(m)}
	}
	return d
}

// endingText says why a published run did not end with 0.
func endingText(m *pipeline.Manifest) string {
	if m.Outcome.Withheld != "" {
		if len(m.Outcome.Queues) == 1 {
			return "published without the " + m.Outcome.Queues[0] + " queue: " + m.Outcome.Withheld
		}
		return "published without acting queues: " + m.Outcome.Withheld
	}
	for _, g := range m.Outcome.Gates {
		if !g.Passed {
			return "the gate " + g.Name + " failed: " + g.Rule + " (" + g.Measured + ")"
		}
	}
	return "published"
}

// nextHere gives the commands of the report as they work in the present folder. The
// report itself names the job file without its folder: it must not depend on where
// the run was started.
func nextHere(steps []report.Step, job, out string) []string {
	where := " " + displayQuoted(job)
	if out != "" {
		where = " --out " + displayQuoted(out) + where
	}
	var list []string
	for _, n := range steps {
		list = append(list, strings.Replace(n.Command, " "+displayQuoted(filepath.Base(job)), where, 1))
	}
	return list
}

func (s *session) printRun(res *pipeline.Result, job, out string) error {
	m := res.Manifest
	if res.NoOp {
		s.printf("already complete: %s %s, run %s (ended with %d)\n", m.Job, m.BusinessDate, m.RunID, m.Outcome.ExitCode)
		s.printf("  folder  %s\n  report  %s\n", res.Dir, filepath.Join(res.Dir, report.ToOpen(res.Dir)))
		if res.Sent != nil {
			s.printf("  bucket  %s\n", sentText(res.Sent))
		}
		return nil
	}
	place := report.Place{}
	if !res.DryRun {
		place.Dir, place.Report = res.Dir, report.ToOpen(res.Dir)
		place.Next = nextHere(res.Summary.Next, job, out)
	}
	if err := report.Text(s.stdout, res.Summary, place, s.color(s.stdout)); err != nil {
		return fail.Wrap(fail.Resources, err, "stdout cannot be written")
	}
	if res.DryRun {
		s.printf("dry run: nothing was published\n")
		return nil
	}
	s.printf("folder  %s\n", res.Dir)
	if res.Sent != nil {
		s.printf("bucket  %s\n", sentText(res.Sent))
	}
	if m.Supersedes != nil {
		s.printf("        supersedes run %s\n", m.Supersedes.RunID)
	}
	if w := m.Withdrawn; w != nil && w.Items > 0 {
		s.printf("        withdraws %s of it: queues/withdrawn.parquet\n", count(w.Items, "item"))
	}
	s.printf("took    %s\n", res.Elapsed.Round(10*time.Millisecond))
	return nil
}

// maxThreads bounds the threads of the engine: a system that gives no more of them
// ends the process in the middle.
const maxThreads = 256

func checkThreads(n int) error {
	switch {
	case n < 0:
		return fail.New(fail.Usage, "--threads %d is less than one", n)
	case n > maxThreads:
		return fail.New(fail.Usage, "--threads %d is more than %d, which is the limit", n, maxThreads).
			WithHint("more threads than CPUs make no run faster; leave --threads out to take those of the process")
	}
	return nil
}
