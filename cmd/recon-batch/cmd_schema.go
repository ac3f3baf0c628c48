package main

import (
	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of the job file, from which editors complete",
		ArgsUsage: "[job | queue] [JOB.yaml]",
		Description: `schema queue prints the JSON Schema of the items in queues/*.ndjson; with a job
file it knows the final states of that job, to which nothing is sent again.

EXAMPLE
   recon-batch schema > recon.schema.json
   recon-batch schema queue job.yaml > item.schema.json

Put this line at the top of the job file:
   # yaml-language-server: $schema=./recon.schema.json`,
		Action: s.schema,
	}
}

func (s *session) schema(c *cli.Context) error {
	args, err := s.positionals(c, "[job | queue]", "[JOB.yaml]")
	if err != nil {
		return err
	}
	text := rules.Schema()
	switch {
	case args[0] == "queue":
		var job *rules.Job
		if args[1] != "" {
			if job, err = rules.Load(args[1]); err != nil {
				return err
			}
		}
		text = report.QueueSchema(job)
	case args[0] != "" && args[0] != "job":
		return fail.New(fail.Usage, "there is no schema of %q", args[0]).WithHint("use recon-batch schema, or recon-batch schema queue [JOB.yaml]")
	case args[1] != "":
		return fail.New(fail.Usage, "the schema of the job file is the same for every job").WithHint("use recon-batch schema")
	}
	s.document = true // the schema is the document
	if _, err := s.stdout.Write(text); err != nil {
		return fail.Wrap(fail.Resources, err, "stdout cannot be written")
	}
	return nil
}
