package main

import (
	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "show what a job file comes to",
		Subcommands: []*cli.Command{{
			Name:      "show",
			Usage:     "print the job, or with --effective every value with its origin",
			ArgsUsage: "JOB.yaml",
			Description: `EXAMPLE
   recon-batch config show --effective job.yaml`,
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "effective", DisableDefaultText: true, Usage: "policies, presets and defaults resolved, each value with its origin"},
			},
			Action: s.configShow,
		}},
	}
}

func (s *session) configShow(c *cli.Context) error {
	args, err := s.positionals(c, "JOB.yaml")
	if err != nil {
		return err
	}
	job, err := rules.Load(args[0])
	if err != nil {
		return err
	}
	text := job.Source
	if c.Bool("effective") {
		text = job.Effective()
	}
	if _, err := s.stdout.Write(text); err != nil {
		return fail.Wrap(fail.Resources, err, "stdout cannot be written")
	}
	return nil
}
