package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a commented job file to start from",
		ArgsUsage: "[FILE]",
		Description: `Writes FILE (job.yaml where none is named, '-' for stdout). A file that exists is
never overwritten.

EXAMPLE
   recon-batch init card-charges.yaml`,
		Action: s.initJob,
	}
}

func (s *session) initJob(c *cli.Context) error {
	args, err := s.positionals(c, "[FILE]")
	if err != nil {
		return err
	}
	path := args[0]
	if path == "" {
		path = "job.yaml"
	}
	if path == "-" {
		if _, err := s.stdout.Write(rules.InitTemplate()); err != nil {
			return fail.Wrap(fail.Resources, err, "stdout cannot be written")
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fail.New(fail.Usage, "%s exists already", path).WithHint("name another file, or remove it first")
	}
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", path)
	}
	_, err = f.Write(rules.InitTemplate())
	if err := errors.Join(err, f.Close()); err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", path)
	}
	s.notef("wrote %s\nnext: edit it, then recon-batch validate %s\n", path, path)
	return nil
}
