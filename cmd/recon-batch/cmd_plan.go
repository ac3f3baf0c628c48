package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

func (s *session) planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "show what a run would read, do and write; reads no data",
		ArgsUsage: "JOB.yaml",
		Description: `Lists the files with their sizes, what each source is declared to prove, the passes
in words and the folder that would be written. Ends with 4 if a required file is
missing, or not ready by the rules of its source, which are asked. STAGED says "no" of a file that would be parsed, and "maybe" where one of
this size was parsed before: a run hashes it, and parses it only if it has changed.

EXAMPLES
   recon-batch plan --business-date 2026-11-29 job.yaml
   recon-batch plan --business-date 2026-11-29 --sql job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` to plan, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "as-of", Usage: "reference `TIME` of windows and ages, instead of the job's"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE` of the whole run, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files", DefaultText: "<out>/.stage"},
			&cli.BoolFlag{Name: "sql", DisableDefaultText: true, Usage: "print the statements of the engine as well"},
			outputFlag(),
		},
		Action: s.plan,
	}
}

// planDocument is what `plan --output json` prints.
type planDocument struct {
	SchemaVersion int `json:"schema_version"`
	*pipeline.Plan
	Error *errorObject `json:"error,omitempty"`
}

func (s *session) plan(c *cli.Context) error {
	_, asJSON, opt, err := s.jobCall(c, "JOB.yaml")
	if err != nil {
		return err
	}
	p, err := pipeline.MakePlan(c.Context, *opt, c.Bool("sql"))
	if err != nil {
		return err
	}
	missing := p.Missing()
	if asJSON {
		doc := planDocument{SchemaVersion: 1, Plan: p}
		if missing != nil {
			doc.Error = errorOf(missing)
		}
		if err := s.writeJSON(doc); err != nil {
			return err
		}
		return missing
	}
	s.printf("%s for %s, judged as of %s\n", p.Job, p.BusinessDate, p.ReferenceTime)
	if p.Period != "" {
		s.printf("period    %s\n", p.Period)
	}
	s.printf("machine   %s; %d threads; about %s of disk\n", p.Memory, p.Threads, p.Disk)
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nSIDE\tSOURCE\tFILE\tBYTES\tNEED\tSTAGED")
	for _, f := range p.Files {
		size := fmt.Sprint(f.Size)
		switch {
		case f.Missing:
			size = "MISSING"
		case f.Remote != "":
			size = "by " + f.Remote
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Side, printable(f.Source), printable(f.Path), size, f.Need, dash(string(f.Staged)))
	}
	if err := flush(w); err != nil {
		return err
	}
	if len(p.Ready) > 0 {
		s.printf("\nREADY\n")
	}
	for _, r := range p.Ready {
		state := "ready"
		if !r.Ready {
			state = "NOT READY"
		}
		s.printf("  %s/%s (%s): %s: %s\n", r.Side, printable(join(r.Source, r.Date)), r.Need, state, printable(r.Why))
		s.printf("    asked: %s\n", printable(r.Rules))
		if r.Effect != "" {
			s.printf("    effect: %s\n", printable(r.Effect))
		}
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"COVERAGE", p.Coverage}, {"PASSES", p.Passes}, {"COMPARED", p.Compared}, {"WRITES", p.Writes}} {
		s.printf("\n%s\n", part.title)
		for _, l := range part.lines {
			s.printf("  %s\n", l)
		}
	}
	if c.Bool("sql") {
		s.printf("\nSQL\n")
		for _, q := range p.SQL {
			s.printf("%s;\n\n", q)
		}
	}
	return missing
}
