package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) presetsCommand() *cli.Command {
	return &cli.Command{
		Name:  "presets",
		Usage: "list or print what is known of the files of providers and job systems",
		Subcommands: []*cli.Command{{
			Name:  "list",
			Usage: "name every preset",
			Description: `EXAMPLE
   recon-batch presets list`,
			Flags:  []cli.Flag{outputFlag()},
			Action: s.presetsList,
		}, {
			Name:      "show",
			Usage:     "print one preset: its keys, what it leaves out, and its limits",
			ArgsUsage: "NAME",
			Description: `A source of a job that says ` + "`preset: NAME`" + ` has these keys; each key of the
job stands over them. ` + "`recon-batch config show --effective JOB.yaml`" + ` says of every
value where it comes from.

EXAMPLE
   recon-batch presets show stripe-itemised`,
			Action: s.presetsShow,
		}},
	}
}

func (s *session) presetsList(c *cli.Context) error {
	if _, err := s.positionals(c); err != nil {
		return err
	}
	asJSON, err := outputMode(c)
	if err != nil {
		return err
	}
	if asJSON {
		s.document = true
		type entry struct {
			Name      string   `json:"name"`
			Version   int      `json:"version"`
			Side      string   `json:"side"`
			Title     string   `json:"title"`
			Digest    string   `json:"digest"`
			Documents []string `json:"documents"`
			Limits    []string `json:"limits"`
		}
		list := []entry{}
		for _, p := range rules.Presets() {
			list = append(list, entry{p.Name, p.Version, string(p.Side), p.Title, p.Digest, p.Documents, p.Limits})
		}
		e := json.NewEncoder(s.stdout)
		e.SetIndent("", "  ")
		return printed(e.Encode(list))
	}
	return printed(writePresets(s.stdout))
}

func writePresets(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tSIDE\tFILE")
	for _, p := range rules.Presets() {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", p.Name, p.Version, p.Side, p.Title)
	}
	return w.Flush()
}

func (s *session) presetsShow(c *cli.Context) error {
	args, err := s.positionals(c, "NAME")
	if err != nil {
		return err
	}
	p := rules.PresetNamed(args[0])
	if p == nil {
		var names []string
		for _, q := range rules.Presets() {
			names = append(names, q.Name)
		}
		e := fail.New(fail.Usage, "there is no preset %q", args[0])
		if near := closest(args[0], names); near != "" {
			return e.WithHint("did you mean `recon-batch presets show %s`?", near)
		}
		return e.WithHint("`recon-batch presets list` names them")
	}
	_, err = s.stdout.Write(p.Text)
	return printed(err)
}

func printed(err error) error {
	if err != nil {
		return fail.Wrap(fail.Resources, err, "stdout cannot be written")
	}
	return nil
}
