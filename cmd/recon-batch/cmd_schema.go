package main

import (
	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the JSON Schema of the job file, from which editors complete",
		Description: `EXAMPLE
   recon-batch schema > recon.schema.json

Put this line at the top of the job file:
   # yaml-language-server: $schema=./recon.schema.json`,
		Action: func(c *cli.Context) error {
			if _, err := s.positionals(c); err != nil {
				return err
			}
			s.document = true // the schema is the document
			if _, err := s.stdout.Write(rules.Schema()); err != nil {
				return fail.Wrap(fail.Resources, err, "stdout cannot be written")
			}
			return nil
		},
	}
}
