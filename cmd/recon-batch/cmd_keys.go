package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/keys"
)

func (s *session) keysCommand() *cli.Command {
	return &cli.Command{
		Name:  "keys",
		Usage: "measure what could link the rows of both sides",
		Subcommands: []*cli.Command{{
			Name: "report", Usage: "fill, uniqueness and overlap of each key, and what only one of them finds", ArgsUsage: "JOB.yaml",
			Description: `Reads the files as a run now would, judges nothing, and measures the declared passes,
the fields of one name, pairs of fields that look like ids, and keys of two or three
fields. LINKED counts pairs of rows whose key stands once on each side; AGREE, of
what other keys link too, the share to which they give the same result; ONLY, the
operations that no other key links. The order that it suggests is for you to judge.
Sources that are pulled are not asked: their latest snapshots are read.

EXAMPLES
   recon-batch keys report --business-date 2026-08-20 job.yaml
   recon-batch init --from orders.csv psp.csv job.yaml`,
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "business-date", Usage: "the `DATE` to look at, such as 2026-11-29, today or yesterday (required)"},
				&cli.StringFlag{Name: "out", Usage: "output folder `DIR` where snapshots are, instead of the job's outputs.dir"},
				&cli.StringFlag{Name: "memory", Usage: "memory `SIZE` of the whole program, such as 2GiB", DefaultText: "cgroup limit or RAM"},
				&cli.StringFlag{Name: "stage-dir", Usage: "keep parsed files in the folder `DIR`", DefaultText: "a temporary one"},
				&cli.IntFlag{Name: "threads", Usage: "`N` threads of the engine", DefaultText: "the CPUs of the process"},
				outputFlag(),
			},
			Action: s.keysReport,
		}},
	}
}

func (s *session) keysReport(c *cli.Context) error {
	_, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	r, err := keys.Measure(c.Context, *opt)
	if err != nil {
		return err
	}
	if asJSON {
		return s.writeJSON(struct {
			SchemaVersion int `json:"schema_version"`
			*keys.Report
		}{1, r})
	}
	s.printKeys(r)
	return nil
}

// Columns of the table of keys, 80 in all.
const keyRow = "%s %5s %5s %6s %5s %9s %9s %5s %7s\n"

const keyName = 21

func (s *session) printKeys(r *keys.Report) {
	s.printf("%s on %s: %s, %s; nothing is judged\n\n", inline(r.Job), r.BusinessDate, count(r.Operations, "operation"), count(r.Results, "result"))
	s.printf("%s %11s %12s %9s %9s %5s %7s\n", pad(""), "FILLED, %", "UNIQUE, %", "VALUES IN", "ROWS", "OTHER", "LINKED")
	s.printf(keyRow, pad("KEY"), "OPS", "RES", "OPS", "RES", "COMMON", "LINKED", "AGREE", "HERE")
	share := func(n, of int64) string { return strings.TrimSuffix(keys.Percent(n, of), "%") }
	for _, k := range r.Keys {
		agree, only := "-", "-"
		if k.Compared {
			agree, only = keys.Percent(k.Agree, k.Also), fmt.Sprint(k.Only)
		}
		linked := fmt.Sprint(k.Linked)
		if k.Group {
			linked = "groups"
		}
		s.printf(keyRow, pad(keyLabel(k)), share(k.Operations.Filled, k.Operations.Rows), share(k.Results.Filled, k.Results.Rows),
			share(k.Operations.Unique, k.Operations.Filled), share(k.Results.Unique, k.Results.Filled), fmt.Sprint(k.Common), linked, agree, only)
	}
	s.printf("* a declared pass. No compared key links %s one to one.\n", count(r.LinkedByNone, "operation"))
	s.printOnly(r)
	s.printSteps("THE PASSES AS DECLARED, ONE TO ONE", r.Declared, false)
	s.printSteps("AN ORDER TO THINK ABOUT", r.Suggested, true)
	if len(r.Disagreeing) > 0 {
		s.paragraph("  ", "left out, because other keys give the same rows other results: "+strings.Join(r.Disagreeing, ", "))
	}
	if len(r.Warnings) > 0 {
		s.printf("\nWARNINGS\n")
	}
	for _, w := range r.Warnings {
		s.paragraph("  ", fmt.Sprintf("%s, %s: %s", w.Key, w.Side, w.Text))
	}
	if len(r.Notes) > 0 {
		s.printf("\n")
	}
	for _, n := range r.Notes {
		s.paragraph("", "note: "+n)
	}
}

func keyLabel(k keys.Key) string {
	if k.Pass != "" {
		return "* " + k.Name
	}
	return k.Name
}

// pad gives a label its room.
func pad(label string) string {
	label = inline(label)
	if n := utf8.RuneCountInString(label); n <= keyName {
		return label + strings.Repeat(" ", keyName-n)
	}
	return string([]rune(label)[:keyName-1]) + "~"
}

func (s *session) printOnly(r *keys.Report) {
	title := "\nWHAT ONLY ONE OF THEM FINDS\n"
	for _, k := range r.Keys {
		if len(k.Examples) == 0 {
			continue
		}
		s.printf("%s", title)
		title = ""
		s.paragraph("  ", fmt.Sprintf("%s: %s", k.Name, count(k.Only, "operation")))
		for _, e := range k.Examples {
			s.paragraph("    ", keyPlace(e.Operation)+" -> "+keyPlace(e.Result))
		}
	}
}

func keyPlace(p keys.Place) string {
	at := fmt.Sprintf("%s:%d", inline(p.File), p.Record)
	if p.ID == "" {
		return at
	}
	return inline(p.ID) + " (" + at + ")"
}

func (s *session) printSteps(title string, list []keys.Step, why bool) {
	if len(list) == 0 {
		return
	}
	s.printf("\n%s\n", title)
	for i, step := range list {
		s.paragraph("  ", fmt.Sprintf("%d. %s", i+1, step.Pass))
		if why {
			s.paragraph("     ", step.Why)
		}
		s.paragraph("     ", fmt.Sprintf("%d linked, %s free", step.Linked, count(step.Free, "operation")))
	}
}

// paragraph writes a text in lines of 80 columns.
func (s *session) paragraph(indent, text string) {
	d := coverageDrawing{}
	d.wrapped(indent, text)
	s.printf("%s", d.b.String())
}
