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
		UsageText: "recon-batch init [FILE]\n   recon-batch init --from LEFT RIGHT [FILE]",
		Description: `Writes FILE (job.yaml where none is named, '-' for stdout). A file that exists is
never overwritten.

With --from it looks at two files and writes their job: LEFT is what you intended,
RIGHT what happened. Everything that it guessed is marked.

EXAMPLES
   recon-batch init card-charges.yaml
   recon-batch init --from orders.csv transactions.csv.gz card-charges.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "the file `LEFT`, whose operations are to be found in the file that follows"},
		},
		Action: s.initJob,
	}
}

func (s *session) initJob(c *cli.Context) error {
	if left := c.String("from"); left != "" {
		args, err := s.positionals(c, "RIGHT", "[FILE]")
		if err != nil {
			return err
		}
		return s.initFrom(c, left, args[0], args[1])
	}
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
