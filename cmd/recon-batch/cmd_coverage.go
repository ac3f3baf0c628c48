package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/report"
)

func (s *session) coverageCommand() *cli.Command {
	return &cli.Command{
		Name:      "coverage",
		Usage:     "draw what the sources of a business date prove, and what they do not",
		ArgsUsage: "JOB.yaml",
		Description: `Reads the files as a run now would, judges nothing, and draws for each account which
time its silence proves, why not the rest, and of which operations an absence could be
concluded. Sources that are pulled are not asked: their latest snapshots are read.
Ends with 4 where a run would be refused for want of a file. --run draws what a
published run read instead.

EXAMPLES
   recon-batch coverage --business-date 2026-11-29 job.yaml
   recon-batch coverage --business-date 2026-11-29 --run current job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` to look at, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "run", Usage: "what the published run `ID` read, or current"},
			&cli.StringFlag{Name: "as-of", Usage: "reference `TIME` of windows and ages, instead of the job's"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE` of the whole program, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files", DefaultText: "<out>/.stage"},
			outputFlag(),
		},
		Action: s.coverage,
	}
}

// coverageDocument is what `coverage --output json` prints.
type coverageDocument struct {
	*report.Evidenced
	Error *errorObject `json:"error,omitempty"`
}

func (s *session) coverage(c *cli.Context) error {
	_, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	e, err := pipeline.Evidenced(c.Context, *opt, c.String("run"))
	if err != nil {
		return err
	}
	var refused error
	if len(e.Refused) > 0 {
		what, hint := "a run would be refused", "wait for the file, or have it sent again whole; a source that may be missing is declared need: late-ok"
		if e.Pull != "" {
			what, hint = "a run that pulls nothing would be refused", "pull it first: "+e.Pull
		}
		refused = fail.New(fail.Input, "%s: %s", what, strings.Join(e.Refused, "; ")).WithHint("%s", hint)
	}
	if asJSON {
		doc := coverageDocument{Evidenced: e}
		if refused != nil {
			doc.Error = errorOf(refused)
		}
		if err := s.writeJSON(doc); err != nil {
			return err
		}
		return refused
	}
	d, err := newCoverageDrawing(e, s.color(s.stdout))
	if err != nil {
		return err
	}
	s.printDrawn(d.text())
	return refused
}
