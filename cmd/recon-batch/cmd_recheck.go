package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// recheckDocument is what `recheck --output json` prints.
type recheckDocument struct {
	SchemaVersion int `json:"schema_version"`
	*pipeline.Rechecked
	Error *errorObject `json:"error,omitempty"`
}

func (s *session) recheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "recheck",
		Usage:     "ask about the operation of an item again, just before somebody acts on it",
		ArgsUsage: "JOB.yaml ITEM",
		Description: `Asks the lookups of the job (lookup: in a source of the results) about one operation
now, and judges it once more. ITEM is an item_id of a queue, or an operation id. Nothing
is published and no queue changes; the answers are kept below <out>/.evidence/.

Ends with 0 where the item still stands, with 3 where something has changed, with 5 where
a service did not answer, and with 4 where it cannot be said for another reason. Only 0 is
a reason to act.

EXAMPLE
   recon-batch recheck --business-date 2026-11-29 job.yaml 5f2c9a01d3b74e6f8a90b1c2d3e4f506`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` of the run, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "run", Usage: "a run `ID` instead of the current one"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files and for spilling", DefaultText: "<out>/.stage"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE`, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			giveUpFlag(),
			outputFlag(),
		},
		Action: s.recheck,
	}
}

func (s *session) recheck(c *cli.Context) error {
	args, asJSON, opt, err := s.jobCall(c, "JOB.yaml", "ITEM")
	if err != nil {
		return err
	}
	r, err := pipeline.Recheck(c.Context, *opt, c.String("run"), args[1])
	if err != nil {
		return err
	}
	class := fail.OK
	switch {
	case r.Outcome == pipeline.Changed:
		class = fail.Gate
	case r.Outcome == pipeline.CannotSay && r.Temporary:
		class = fail.Temporary
	case r.Outcome == pipeline.CannotSay:
		class = fail.Input
	}
	s.ending = class
	if asJSON {
		doc := recheckDocument{SchemaVersion: 1, Rechecked: r}
		if class != fail.OK {
			doc.Error = errorOf(fail.New(class, "%s", r.Why))
		}
		return s.writeJSON(doc)
	}
	if r.DoNotSend {
		s.printf("DO NOT SEND IT AGAIN\n")
	}
	s.printf("%s: %s\n", strings.ReplaceAll(r.Outcome, "_", " "), inline(r.Why))
	s.printf("  was %s in run %s of %s\n", r.Was, r.RunID, r.BusinessDate)
	for _, a := range r.Answers {
		s.printf("  %s by %s: %s", inline(a.Source), a.By, a.Finding)
		if a.At != "" {
			s.printf(", asked at %s", a.At)
		}
		if a.Until != "" {
			s.printf(", its silence counts until %s", a.Until)
		}
		if a.Why != "" {
			s.printf(": %s", inline(a.Why))
		}
		s.printf("\n")
	}
	if r.Recheck != "" {
		s.printf("  look at this too: %s\n", inline(r.Recheck))
	}
	if r.Expires != "" {
		s.printf("  expires %s\n", r.Expires)
	}
	s.printf("  kept in %s\n", inline(pipeline.SnapshotFolder(*opt, pipeline.Snapshot{Path: r.Evidence})))
	return nil
}
