package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "list, show and compare published runs",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the runs and refused attempts of a job", ArgsUsage: "JOB.yaml",
				Description: "EXAMPLE\n   recon-batch runs list --business-date 2026-11-29 job.yaml",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "business-date", Usage: "only this `DATE`, such as 2026-11-29, today or yesterday"},
					&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
					outputFlag(),
				},
				Action: s.runsList,
			},
			{
				Name: "show", Usage: "show one run: inputs, coverage, counts, outcome", ArgsUsage: "RUN",
				Description: "RUN is the folder of a run, or the link to it.\n\nEXAMPLE\n   recon-batch runs show out/card-charges/2026-11-29/current",
				Flags:       []cli.Flag{outputFlag()},
				Action:      s.runsShow,
			},
			{
				Name: "diff", Usage: "compare two runs; ends with 3 if they differ", ArgsUsage: "RUN RUN",
				Description: "EXAMPLE\n   recon-batch runs diff out/card-charges/2026-11-29/0123456789abcdef out/card-charges/2026-11-29/current",
				Flags:       []cli.Flag{outputFlag()},
				Action:      s.runsDiff,
			},
		},
	}
}

func (s *session) runsList(c *cli.Context) error {
	args, asJSON, err := s.call(c, "JOB.yaml")
	if err != nil {
		return err
	}
	job, err := rules.Load(args[0])
	if err != nil {
		return err
	}
	date := ""
	if c.String("business-date") != "" {
		if date, err = businessDate(c, job); err != nil {
			return err
		}
	}
	out := pipeline.Options{Job: job, Out: c.String("out")}.OutPath()
	list, err := pipeline.History(out, pipeline.Series(job), date)
	if err != nil {
		return err
	}
	if asJSON {
		if list == nil {
			list = []pipeline.RunInfo{}
		}
		return s.writeJSON(struct {
			SchemaVersion int                `json:"schema_version"`
			Job           string             `json:"job"`
			Runs          []pipeline.RunInfo `json:"runs"`
		}{1, job.Name, list})
	}
	if len(list) == 0 {
		s.notef("no runs of %s under %s\nnext: recon-batch run --business-date DATE %s\n", pipeline.Series(job), out, displayQuoted(args[0]))
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "DATE\tRUN\tEXIT\tOPERATIONS\tRESULTS\tNOTE")
	folder := "" // of every run
	for _, r := range list {
		if r.Attempt != "" {
			fmt.Fprintf(w, "%s\t-\t%d\t-\t-\t%s\n", r.BusinessDate, r.ExitCode, printable(refusedNote(r)))
			continue
		}
		note := "superseded"
		if r.Current {
			note = "current"
		}
		folder = filepath.Join(filepath.Dir(filepath.Dir(r.Folder)), "DATE", "RUN")
		switch {
		case r.Supersedes != "" && r.Current:
			note = "current, supersedes " + r.Supersedes
		case r.Supersedes != "":
			note = "supersedes " + r.Supersedes
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", r.BusinessDate, r.RunID, r.ExitCode, r.Operations, r.Results, note)
	}
	if err := flush(w); err != nil {
		return err
	}
	if folder != "" {
		s.notef("the folder of a run is %s\n", folder)
	}
	return nil
}

// refusedNote tells a refused attempt: open, or history since a run of the date ended well.
func refusedNote(r pipeline.RunInfo) string {
	note := "refused since " + r.Since
	if r.ResolvedBy != "" {
		note = "was refused at " + r.Since
	}
	if r.Times > 1 {
		note = fmt.Sprintf("%s, %d times", note, r.Times)
	}
	if r.ResolvedBy != "" {
		note += ", done since by " + r.ResolvedBy
	}
	return note + ": " + firstLine(r.Message)
}

func (s *session) runsShow(c *cli.Context) error {
	args, asJSON, err := s.call(c, "RUN")
	if err != nil {
		return err
	}
	dir, m, err := pipeline.FindRun(args[0])
	if err != nil {
		return err
	}
	if asJSON {
		return s.writeJSON(m)
	}
	s.printf("run %s of %s for %s\n", m.RunID, m.Job, m.BusinessDate)
	s.printf("  folder          %s\n", dir)
	s.printf("  reference time  %s\n", m.ReferenceTime)
	s.printf("  job digest      %s\n  content digest  %s\n", m.JobDigest, m.ContentDigest)
	if m.Mode != rules.Enforce || m.Series != "" {
		s.printf("  mode            %s %s\n", m.Mode, printable(m.Series))
	}
	for _, o := range m.Overrides {
		s.printf("  override        %s\n", o)
	}
	for _, f := range m.Former {
		s.printf("  read            %s/%s for %s\n", f.BusinessDate, f.RunID, strings.Join(f.For, ", "))
	}
	s.printf("  ended with      %d, %s\n", m.Outcome.ExitCode, endingText(m))
	if m.Supersedes != nil {
		s.printf("  supersedes      %s\n", m.Supersedes.RunID)
		if w := m.Withdrawn; w != nil {
			s.printf("  withdraws       %s of it\n", count(w.Items, "item"))
		}
	}
	if m.Previous != nil {
		s.printf("  published after %s/%s\n", m.Previous.BusinessDate, m.Previous.RunID)
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nSIDE\tSOURCE\tFILE\tSTATUS\tRECORDS\tREJECTED\tSHA-256")
	for _, in := range m.Inputs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%.12s\n", in.Side, printable(in.Source), printable(in.Path), in.Status, in.Records, in.Rejected, in.SHA256)
	}
	fmt.Fprintln(w, "\nSIDE\tCLASS\tREASON\tROWS\tPERIOD")
	for _, n := range m.Counts {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", n.Side, n.Class, n.Reason, n.Rows, inOut(n.InPeriod))
	}
	if err := flush(w); err != nil {
		return err
	}
	s.notef("next: recon-batch verify %s\n", displayQuoted(args[0]))
	return nil
}

func inOut(in bool) string {
	if in {
		return "in"
	}
	return "outside"
}

// diffDocument is what `runs diff --output json` prints.
type diffDocument struct {
	SchemaVersion int `json:"schema_version"`
	pipeline.Diff
	Error *errorObject `json:"error,omitempty"`
}

func (s *session) runsDiff(c *cli.Context) error {
	args, asJSON, err := s.call(c, "RUN", "RUN")
	if err != nil {
		return err
	}
	d, err := pipeline.DiffRuns(c.Context, args[0], args[1])
	if err != nil {
		return err
	}
	if !d.Same {
		s.ending = fail.Gate
	}
	if asJSON {
		doc := diffDocument{SchemaVersion: 1, Diff: *d}
		if !d.Same {
			doc.Error = &errorObject{Code: fail.Gate, Name: exitName(fail.Gate), Message: "the runs differ"}
		}
		return s.writeJSON(doc)
	}
	if d.Same {
		s.printf("same: every row has the same verdict in %s and %s\n", d.A.RunID, d.B.RunID)
	} else {
		s.printf("different: %s and %s\n", d.A.RunID, d.B.RunID)
	}
	for _, m := range d.Made {
		s.printf("  %s\n", m)
	}
	w := tabwriter.NewWriter(s.stdout, 2, 8, 2, ' ', 0)
	if len(d.Inputs) > 0 {
		fmt.Fprintln(w, "\nSIDE\tSOURCE\tFILE\tFIRST\tSECOND")
	}
	for _, in := range d.Inputs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.12s\t%.12s\n", in.Side, printable(in.Source), printable(in.Name), dash(in.A), dash(in.B))
	}
	if len(d.Counts) > 0 {
		fmt.Fprintln(w, "\nSIDE\tVERDICT\tPERIOD\tFIRST\tSECOND")
	}
	for _, n := range d.Counts {
		fmt.Fprintf(w, "%s\t%s/%s\t%s\t%d\t%d\n", n.Side, n.Class, n.Reason, inOut(n.InPeriod), n.Rows, n.Other)
	}
	if err := flush(w); err != nil {
		return err
	}
	return s.openChanges(d.Open)
}

// openChanges prints what became of the open items of the first run in the second.
func (s *session) openChanges(c *report.Changes) error {
	if c == nil {
		return nil
	}
	kinds := []struct {
		name string
		of   report.Change
	}{{"new", c.New}, {"gone", c.Gone}, {"changed class", c.Changed}, {"older", c.Older}}
	w := tabwriter.NewWriter(s.stdout, 2, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nOPEN ITEMS\tITEMS\tAMOUNTS")
	for _, k := range kinds {
		var money []string
		for _, m := range k.of.Amounts {
			money = append(money, strings.TrimSpace(printable(m.Currency)+" "+report.Grouped(m.Amount)))
		}
		fmt.Fprintf(w, "%s\t%d\t%s\n", k.name, k.of.Items, dash(strings.Join(money, ", ")))
	}
	if c.New.Items+c.Gone.Items+c.Changed.Items > 0 {
		fmt.Fprintln(w, "\nCHANGE\tCASE\tFIRST\tSECOND\tAMOUNT")
	}
	for _, k := range kinds[:3] {
		for _, x := range k.of.Samples {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.name, printable(x.CaseID), openState(x.From), openState(x.To), dash(strings.TrimSpace(printable(x.Currency)+" "+report.Grouped(x.Amount))))
		}
		if more := k.of.Items - k.of.Showing; more > 0 {
			fmt.Fprintf(w, "%s\tand %d more\t\t\t\n", k.name, more)
		}
	}
	return flush(w)
}

func openState(o *report.OpenState) string {
	if o == nil {
		return "-"
	}
	return o.Queue + " " + o.Class + "/" + o.Reason
}
