package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rehearsal"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) whatifCommand() *cli.Command {
	return &cli.Command{
		Name:      "whatif",
		Usage:     "judge stored runs under other rules, and show what would move",
		ArgsUsage: "JOB.yaml",
		Description: `Judges the last runs of JOB.yaml once more under another job file, with other rules,
windows or policy, and shows which rows, cases and money change class or proposal.
Nothing is published and nothing below the output folder is written.

The input files must still have the bytes of the run, or be staged under the same
declarations. A run that cannot be judged again is named, and the exit status is 4.
Relative paths in NEW.yaml begin in the folder of JOB.yaml.

EXAMPLE
   recon-batch whatif --rules new.yaml --runs 7 job.yaml`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "rules", Usage: "the other job file, `NEW.yaml` (required)"},
		}, historyFlags(7, false)...),
		Action: s.whatif,
	}
}

func (s *session) whatif(c *cli.Context) error {
	args, asJSON, err := s.call(c, "JOB.yaml")
	if err != nil {
		return err
	}
	file, err := required(c, "rules", "recon-batch whatif --rules new.yaml "+displayQuoted(args[0]))
	if err != nil {
		return err
	}
	stored, err := rules.Load(args[0])
	if err != nil {
		return err
	}
	o, err := s.historyOptions(c, file)
	if err != nil {
		return err
	}
	w, err := rehearsal.Other(c.Context, *o, stored, c.Int("runs"))
	if err != nil {
		return err
	}
	var failure error
	if w.Cannot > 0 {
		failure = fail.New(fail.Input, "%s cannot be judged again", count(int64(w.Cannot), "run")).
			WithHint("put the files of those days back, or ask for fewer nights with --runs")
	}
	if asJSON {
		doc := struct {
			SchemaVersion int `json:"schema_version"`
			*rehearsal.WhatIf
			Error *errorObject `json:"error,omitempty"`
		}{1, w, nil}
		if failure != nil {
			doc.Error = errorOf(failure)
		}
		return errors.Join(s.writeJSON(doc), failure)
	}
	if err := s.printWhatIf(w, file, args[0], outFlag(c)); err != nil {
		return err
	}
	return failure
}

func (s *session) printWhatIf(w *rehearsal.WhatIf, file, job, out string) error {
	s.printf("%s under %s: %s judged again, nothing published\n\n", w.Job, inline(file), count(int64(len(w.Nights)-w.Cannot), "run"))
	t := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "DATE\tRUN\tROWS\tMOVED\tCASES MOVED\tEXIT\tNOTE")
	for _, n := range w.Nights {
		if n.Cannot != "" {
			fmt.Fprintf(t, "%s\t%s\t-\t-\t-\t-\tcannot be judged again: %s\n", n.BusinessDate, n.RunID, inline(n.Cannot))
			continue
		}
		exit := fmt.Sprint(n.ExitFrom)
		if n.ExitTo != n.ExitFrom {
			exit = fmt.Sprintf("%d to %d", n.ExitFrom, n.ExitTo)
		}
		if n.Note != "" {
			exit += "\t" + inline(n.Note)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\n", n.BusinessDate, n.RunID, n.Rows, n.Moved, n.Cases, exit)
	}
	if err := flush(t); err != nil {
		return err
	}
	if len(w.Moves) == 0 && len(w.Cases) == 0 {
		if w.Cannot < len(w.Nights) {
			s.printf("\nno row and no case would move\n")
		}
		return nil
	}
	if len(w.Moves) > 0 {
		s.printf("\nROWS\n")
		fmt.Fprintln(t, "SIDE\tROWS\tAMOUNT\tFROM\tPROPOSED\tTO\tPROPOSED\tSUCH AS")
		for _, m := range w.Moves {
			var ids []string
			for _, e := range m.Examples {
				ids = append(ids, inline(e.ID))
			}
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Side, m.Rows, moneyText(m.Amounts), verdictText(m.From), m.From.Proposal,
				verdictText(m.To), m.To.Proposal, strings.Join(ids, ", "))
		}
		if err := flush(t); err != nil {
			return err
		}
	}
	if len(w.Cases) > 0 {
		s.printf("\nCASES\n")
		fmt.Fprintln(t, "CASES\tAMOUNT\tFROM\tTO")
		for _, m := range w.Cases {
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\n", m.Cases, moneyText(m.Amounts), m.From, m.To)
		}
		if err := flush(t); err != nil {
			return err
		}
	}
	for _, m := range w.Moves {
		if len(m.Examples) > 0 {
			e := m.Examples[0]
			s.notef("next: recon-batch explain --business-date %s %s%s %s\n", e.BusinessDate, out, displayQuoted(job), displayQuoted(e.ID))
			break
		}
	}
	return nil
}

func verdictText(v rehearsal.Standing) string {
	if v.Reason == "" {
		return v.Class
	}
	return v.Class + "/" + inline(v.Reason)
}

func moneyText(list []rehearsal.Money) string {
	if len(list) == 0 {
		return "-"
	}
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimSpace(inline(m.Currency)+" "+report.Grouped(m.Amount)))
	}
	return strings.Join(out, ", ")
}
