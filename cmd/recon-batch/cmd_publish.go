package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// publishDocument is what `publish --output json` prints.
type publishDocument struct {
	SchemaVersion int            `json:"schema_version"`
	Job           string         `json:"job"`
	BusinessDate  string         `json:"business_date"`
	Sent          *pipeline.Sent `json:"sent"`
}

func (s *session) publishCommand() *cli.Command {
	return &cli.Command{
		Name:      "publish",
		Usage:     "send published runs to the bucket of the job, where that did not end",
		ArgsUsage: "JOB.yaml",
		Description: `A job with outputs.publish sends each run to its bucket when it is published in the
output folder. Where the bucket did not answer, this sends what it lacks: all runs since
the last one that is there, whole and in their order, then the pointers that readers
follow. It may be called again at any time.

EXAMPLES
   recon-batch publish --business-date 2026-11-29 job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` whose run is sent, with those before it, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			giveUpFlag(),
			outputFlag(),
			&cli.BoolFlag{Name: "quiet", DisableDefaultText: true, Usage: "nothing on stderr but errors"},
		},
		Action: s.publish,
	}
}

func (s *session) publish(c *cli.Context) error {
	_, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	sent, notes, err := pipeline.Publish(c.Context, *opt)
	for _, n := range notes {
		if !c.Bool("quiet") {
			s.notef("%s\n", n)
		}
	}
	if err != nil {
		return err
	}
	if asJSON {
		return s.writeJSON(publishDocument{SchemaVersion: 1, Job: opt.Job.Name, BusinessDate: opt.BusinessDate, Sent: sent})
	}
	s.printf("%s\n", sentText(sent))
	return nil
}

// sentText says what was sent, for people.
func sentText(sent *pipeline.Sent) string {
	if sent.Runs == 0 && len(sent.Pointers) == 0 {
		return fmt.Sprintf("%s: run %s, already there", sent.Current, sent.RunID)
	}
	return fmt.Sprintf("%s: run %s, %s sent (%s, %s)", sent.Current, sent.RunID, count(int64(sent.Runs), "run"), count(int64(sent.Files), "file"), count(sent.Bytes, "byte"))
}
