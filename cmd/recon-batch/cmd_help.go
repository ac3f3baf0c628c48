package main

import (
	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
)

func (s *session) helpCommand() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "explain a command, or the exit codes",
		ArgsUsage:   "[COMMAND | exit-codes]",
		Description: "EXAMPLE\n   recon-batch help exit-codes",
		Action:      s.help,
	}
}

func (s *session) help(c *cli.Context) error {
	if c.Args().Len() == 0 {
		return cli.ShowAppHelp(c)
	}
	topic, err := s.positionals(c, "[TOPIC]", "[COMMAND]")
	if err != nil {
		return err
	}
	if topic[0] == "exit-codes" && topic[1] == "" {
		for _, e := range exitCodes {
			s.printf("%3d  %-11s %s\n", e.class, e.name, e.meaning)
		}
		return nil
	}
	names := []string{"exit-codes"}
	list := c.App.Commands
	for i, name := range topic {
		if name == "" {
			break
		}
		var found *cli.Command
		for _, sub := range list {
			names = append(names, sub.Name)
			if sub.Name == name {
				found = sub
			}
		}
		if found == nil {
			err := fail.New(fail.Usage, "no help about %q", name)
			if near := closest(name, names); near != "" {
				return err.WithHint("did you mean `recon-batch help %s`?", near)
			}
			return err.WithHint("`recon-batch help` lists the commands")
		}
		if i+1 == len(topic) || topic[i+1] == "" {
			cli.HelpPrinter(c.App.Writer, commandHelp, found)
			return nil
		}
		list, names = found.Subcommands, nil
	}
	return nil
}
