package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/doctor"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// quickDocument is what `quick --output json` prints.
type quickDocument struct {
	SchemaVersion int            `json:"schema_version"`
	Assumed       []string       `json:"assumed"`
	Operations    *doctor.Report `json:"operations"`
	Results       *doctor.Report `json:"results"`
	JobFile       string         `json:"job_file"`
	Run           *runDocument   `json:"run"`
	Error         *errorObject   `json:"error,omitempty"`
}

func (s *session) quickCommand() *cli.Command {
	return &cli.Command{
		Name:      "quick",
		Usage:     "a first verdict on two files without a job file",
		ArgsUsage: "LEFT RIGHT",
		Description: `Guesses how the two files are to be read, says what it assumed, and runs the job that
says so. LEFT is what you intended, RIGHT what happened. Nothing is published, unless
--out names a folder; the job is printed, or written by --job to be edited and run.

EXAMPLES
   recon-batch quick orders.csv transactions.csv --key id
   recon-batch quick orders.csv transactions.csv --key op_id=reference --compare amount=gross,currency
   recon-batch quick orders.csv transactions.csv --job job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "the `COLUMN` that both files have, or left=right; several, with commas, are one key together", DefaultText: "the columns with most texts in common"},
			&cli.StringFlag{Name: "compare", Usage: "`COLUMNS` to compare, with commas, each as column or left=right", DefaultText: "amount, currency and status, where both files have them"},
			&cli.StringFlag{Name: "job", Usage: "write the job file to `FILE` instead of printing it"},
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` of the run", DefaultText: "the newest day in the files"},
			&cli.StringFlag{Name: "out", Usage: "publish the run below the folder `DIR`", DefaultText: "nothing is published"},
			outputFlag(),
			&cli.IntFlag{Name: "threads", Usage: "`N` threads of the engine", DefaultText: "the CPUs of the process"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE` of the whole run, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			&cli.BoolFlag{Name: "no-progress", Usage: "no progress on stderr"},
			&cli.BoolFlag{Name: "quiet", Usage: "nothing on stderr but errors"},
		},
		Action: s.quick,
	}
}

func (s *session) quick(c *cli.Context) error {
	args, asJSON, err := s.call(c, "LEFT", "RIGHT")
	if err != nil {
		return err
	}
	jobFile := c.String("job")
	if jobFile != "" {
		if _, err := os.Lstat(jobFile); err == nil {
			return fail.New(fail.Usage, "%s exists already", jobFile).WithHint("name another file, or remove it first")
		}
	} else {
		jobFile = "quick.yaml" // of no file: paths in it begin in the working folder
	}
	pair, err := doctor.Join(c.Context, args[0], args[1], doctor.PairOptions{
		Left: doctor.Options{Name: seenFrom(jobFile, args[0])}, Right: doctor.Options{Name: seenFrom(jobFile, args[1])},
		Key: words(c.String("key")), Compare: words(c.String("compare")), Plain: true,
	})
	if err != nil {
		return err
	}
	if c.String("job") != "" {
		if err := s.writeNew(jobFile, pair.Job); err != nil {
			return err
		}
	}
	opt, err := s.quickOptions(c, pair, jobFile, args[0])
	if err != nil {
		return err
	}
	if !asJSON {
		s.printf("A first verdict on two files without a job. It assumes that\n")
		for _, a := range pair.Assumed {
			s.printf("  - %s\n", a)
		}
		s.printf("\n")
	}
	progress := s.newProgress(c.Bool("quiet"), c.Bool("no-progress") || asJSON)
	opt.Progress = progress.event
	res, err := pipeline.Run(c.Context, *opt)
	progress.close()
	if err != nil {
		return err
	}
	s.ending = res.ExitCode
	if asJSON {
		run := documentOf(res)
		return s.writeJSON(quickDocument{SchemaVersion: 1, Assumed: pair.Assumed, Operations: pair.Left, Results: pair.Right, JobFile: pair.Job, Run: &run, Error: run.Error})
	}
	return s.printQuick(c, pair, res, opt)
}

// quickOptions are those of the run.
func (s *session) quickOptions(c *cli.Context, pair *doctor.Pair, jobFile, left string) (*pipeline.Options, error) {
	job, err := rules.Parse([]byte(pair.Job), jobFile)
	if err != nil {
		return nil, err
	}
	opt := &pipeline.Options{Job: job, BusinessDate: pair.Day, Out: c.String("out"), DryRun: c.String("out") == "", Threads: c.Int("threads"), Checkpoint: s.checkpoint}
	if c.String("business-date") != "" {
		if opt.BusinessDate, err = businessDate(c, job); err != nil {
			return nil, err
		}
	}
	if opt.BusinessDate == "" { // files without a time: the day that the file was written
		info, err := os.Stat(left)
		if err != nil {
			return nil, fail.Wrap(fail.Input, err, "%s cannot be read", left)
		}
		opt.BusinessDate = info.ModTime().UTC().Format(time.DateOnly)
	}
	if err := checkThreads(opt.Threads); err != nil {
		return nil, err
	}
	if text := c.String("memory"); text != "" {
		if opt.Memory, err = pipeline.ParseSize(text); err != nil {
			return nil, err
		}
	}
	return opt, nil
}

func (s *session) printQuick(c *cli.Context, pair *doctor.Pair, res *pipeline.Result, opt *pipeline.Options) error {
	place := report.Place{Dir: res.Dir, Next: []string{}}
	switch {
	case res.NoOp:
		s.printf("already complete: %s %s, run %s\n", res.Manifest.Job, res.Manifest.BusinessDate, res.Manifest.RunID)
		s.printf("report  %s\n", filepath.Join(res.Dir, "report.html"))
	default:
		if err := report.Text(s.stdout, res.Summary, place, s.color(s.stdout)); err != nil {
			return printed(err)
		}
	}
	if c.String("job") == "" {
		s.printf("The job file that says all this (--job FILE writes it):\n\n")
		for line := range strings.Lines(pair.Job) {
			s.printf("%s", line)
		}
		return nil
	}
	name := displayQuoted(c.String("job"))
	s.printf("next    edit %s: each GUESS is yours to confirm, coverage and types above all\n", name)
	s.printf("next    recon-batch run --business-date %s %s\n", opt.BusinessDate, name)
	return nil
}

// words cuts a list with commas.
func words(text string) []string {
	if text == "" {
		return nil
	}
	var out []string
	for w := range strings.SplitSeq(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// seenFrom names a file by its path from the folder of a job file.
func seenFrom(jobFile, path string) string {
	dir := filepath.Dir(jobFile)
	if dir == "." || filepath.IsAbs(path) {
		return path
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return path
	}
	target, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(absolute, target); err == nil {
		return rel
	}
	return target
}

// flagsFirst moves the flags of a command before its arguments: the library takes
// what follows the first argument for arguments.
func flagsFirst(args []string, command *cli.Command) []string {
	if len(args) < 2 || args[1] != command.Name {
		return args
	}
	single := map[string]bool{"help": true, "h": true}
	for _, f := range command.Flags {
		if _, ok := f.(*cli.BoolFlag); ok {
			for _, n := range f.Names() {
				single[n] = true
			}
		}
	}
	var flags, rest []string
	for i := 2; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			rest = append(rest, a)
			continue
		}
		flags = append(flags, a)
		name := strings.TrimLeft(a, "-")
		if !strings.Contains(name, "=") && !single[name] && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	return slices.Concat(args[:2], flags, rest)
}

// initFrom writes the job of two files.
func (s *session) initFrom(c *cli.Context, left, right, path string) error {
	if path == "" {
		path = "job.yaml"
	}
	pair, err := doctor.Join(c.Context, left, right, doctor.PairOptions{
		Left: doctor.Options{Name: seenFrom(path, left)}, Right: doctor.Options{Name: seenFrom(path, right)},
	})
	if err != nil {
		return err
	}
	if path == "-" {
		_, err := bytes.NewBufferString(pair.Job).WriteTo(s.stdout)
		return printed(err)
	}
	if err := s.writeNew(path, pair.Job); err != nil {
		return err
	}
	for _, a := range pair.Assumed {
		s.notef("  - %s\n", a)
	}
	day := pair.Day
	if day == "" {
		day = "yesterday"
	}
	s.notef("next: confirm each GUESS in it, then\n   recon-batch validate %s\n   recon-batch run --business-date %s %s\n", displayQuoted(path), day, displayQuoted(path))
	return nil
}
