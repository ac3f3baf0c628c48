package main

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// validation is the document of `validate --output json`.
type validation struct {
	SchemaVersion int          `json:"schema_version"`
	Job           string       `json:"job,omitempty"`
	Digest        string       `json:"job_digest,omitempty"`
	Valid         bool         `json:"valid"`
	Problems      []problem    `json:"problems"`
	Warnings      []problem    `json:"warnings"`
	Error         *errorObject `json:"error,omitempty"`
}

// problem is one fault of a job file.
type problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (s *session) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check a job file; reads no data",
		ArgsUsage: "JOB.yaml",
		Description: `Prints every fault of the file at once, with file:line:column, and ends with 2 if
there is one. With --business-date the dates in it are resolved as well. With --connect
every remote source is asked whether it can be reached and gives what the job expects:
rights, columns, types. Nothing is pulled; all problems are told at once.

EXAMPLES
   recon-batch validate --business-date 2026-11-29 job.yaml
   recon-batch validate --connect --business-date 2026-11-29 job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "resolve the templates for this `DATE`, such as 2026-11-29, today or yesterday"},
			&cli.BoolFlag{Name: "connect", DisableDefaultText: true, Usage: "ask the remote sources as well; needs --business-date"},
			giveUpFlag(),
			outputFlag(),
		},
		Action: s.validate,
	}
}

func (s *session) validate(c *cli.Context) error {
	args, asJSON, err := s.call(c, "JOB.yaml")
	if err != nil {
		return err
	}
	doc := validation{SchemaVersion: 1, Problems: []problem{}, Warnings: []problem{}}
	job, err := rules.Load(args[0])
	if err == nil {
		doc.Job, doc.Digest, doc.Warnings = job.Name, job.Digest(), warnings(job)
		if c.String("business-date") != "" {
			var date string
			if date, err = businessDate(c, job); err == nil {
				_, err = job.Bind(date, nil)
			}
			if err == nil && c.Bool("connect") {
				err = s.connect(c, job, date)
			}
		} else if c.Bool("connect") {
			err = fail.New(fail.Usage, "--connect needs --business-date").WithHint("a date is part of what is asked for: --business-date yesterday")
		}
	}
	if asJSON {
		doc.Valid, doc.Problems = err == nil, append(doc.Problems, problems(err)...)
		if err != nil {
			doc.Error = errorOf(err)
		}
		if err := s.writeJSON(doc); err != nil {
			return err
		}
		return err
	}
	if err != nil {
		return err
	}
	for _, w := range job.Warnings {
		s.warn(w)
	}
	s.printf("%s: the job %q is valid (digest %s)\n", args[0], job.Name, doc.Digest[:16])
	return nil
}

// connect asks the remote sources of a job.
func (s *session) connect(c *cli.Context, job *rules.Job, date string) error {
	list, asked, err := pipeline.Connect(c.Context, pipeline.Options{Job: job, BusinessDate: date, Until: time.Now().Add(c.Duration("give-up-after")),
		Progress: func(e pipeline.Event) { s.notef("%s\n", e.Note) }})
	switch {
	case err != nil:
		return err
	case len(list) > 0:
		return fail.New(fail.Usage, "%d of %d places outside cannot be used as declared:\n  %s", len(list), asked, strings.Join(list, "\n  "))
	}
	if asked > 0 {
		s.notef("%s outside can be used as declared\n", count(int64(asked), "place"))
	}
	return nil
}

// problems lists the faults that rules found, one by one.
func problems(err error) []problem {
	list, _ := errors.AsType[rules.Errors](err)
	var out []problem
	for _, e := range list {
		out = append(out, problem{File: e.File, Line: e.Line, Column: e.Column, Path: e.Path, Message: e.Msg, Hint: e.Hint})
	}
	return out
}

func warnings(job *rules.Job) []problem {
	out := []problem{}
	for _, w := range job.Warnings {
		out = append(out, problem{File: w.File, Line: w.Line, Column: w.Column, Path: w.Path, Message: w.Msg, Hint: w.Hint})
	}
	return out
}

// warn prints a warning of the job file.
func (s *session) warn(w rules.Warning) {
	s.notef("%s\n", w)
	if w.Hint != "" {
		s.notef("    %s\n", w.Hint)
	}
}
