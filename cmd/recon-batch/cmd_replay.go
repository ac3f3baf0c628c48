package main

import (
	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// replayDocument is what `replay --output json` prints.
type replayDocument struct {
	SchemaVersion int `json:"schema_version"`
	*pipeline.Replayed
	Error *errorObject `json:"error,omitempty"`
}

func (s *session) replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "judge a published run again from its kept evidence, and compare every byte",
		ArgsUsage: "JOB.yaml",
		Description: `Takes the job that the run was made with and the bytes that it read: from where they
were, from the snapshots of remote sources, or from the archive (evidence: in the job
file). Nobody outside is asked and nothing is published. Ends with 3 where an output has
other bytes now, and says which, and what has changed since: the program, or the runs
before.

EXAMPLE
   recon-batch replay --business-date 2026-11-29 job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` of the run, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "run", Usage: "a run `ID` instead of the current one"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files and for spilling", DefaultText: "<out>/.stage"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE`, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			outputFlag(),
		},
		Action: s.replay,
	}
}

func (s *session) replay(c *cli.Context) error {
	_, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	p, err := pipeline.Replay(c.Context, *opt, c.String("run"))
	if err != nil {
		return err
	}
	var different *fail.Error
	if !p.Reproduced {
		s.ending = fail.Gate
		different = fail.New(fail.Gate, "%d of %d outputs of run %s come out otherwise", len(p.Outputs), len(p.Outputs)+p.Same, p.RunID)
	}
	if asJSON {
		doc := replayDocument{SchemaVersion: 1, Replayed: p}
		if different != nil {
			doc.Error = errorOf(different)
		}
		return s.writeJSON(doc)
	}
	if p.Reproduced {
		s.printf("run %s of %s: all %d outputs come out with the same bytes\n", p.RunID, p.BusinessDate, p.Same)
		return nil
	}
	s.printf("run %s of %s: %s\n", p.RunID, p.BusinessDate, different.Msg)
	if p.SameContent {
		s.printf("  rows, verdicts and links are those that were published\n")
	} else {
		s.printf("  rows, verdicts or links are others: content digest %.16s\n", p.ContentDigest)
	}
	for _, v := range p.Versions {
		s.printf("  %s was %s, and is %s\n", v.Name, v.Was, v.Now)
	}
	if p.History {
		s.printf("  the runs of earlier dates are no longer those that it read\n")
	}
	for _, f := range p.Outputs {
		switch {
		case f.Was == "":
			s.printf("  %s is new\n", f.Path)
		case f.Now == "":
			s.printf("  %s is not made any more\n", f.Path)
		default:
			s.printf("  %s differs\n", f.Path)
		}
	}
	return nil
}
