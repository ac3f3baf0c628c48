package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// lateDocument is what `files --late --output json` prints.
type lateDocument struct {
	SchemaVersion int             `json:"schema_version"`
	Job           string          `json:"job"`
	Late          []pipeline.Late `json:"late"`
	Error         *errorObject    `json:"error,omitempty"`
}

func (s *session) filesCommand() *cli.Command {
	return &cli.Command{
		Name:      "files",
		Usage:     "list the files that published runs read, or those that came late",
		ArgsUsage: "JOB.yaml",
		Description: `Lists every file that a published run of the job read, with its identity, its digests
and the first run that read it; all of it is taken from the manifests of the runs.

With --late the files of the published business dates are looked at again: dates whose
run lacked a file that is there now, or read other bytes of it, are to be run again.
Ends with 3 where there are any.

EXAMPLES
   recon-batch files --source psp job.yaml
   recon-batch files --late job.yaml`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "source", Usage: "only the files of this `SOURCE`"},
			&cli.BoolFlag{Name: "late", Usage: "list the business dates that are to be run again, and why"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			outputFlag(),
		},
		Action: s.files,
	}
}

func (s *session) files(c *cli.Context) error {
	args, asJSON, err := s.call(c, "JOB.yaml")
	if err != nil {
		return err
	}
	job, err := rules.Load(args[0])
	if err != nil {
		return err
	}
	opt := pipeline.Options{Job: job, Out: c.String("out")}
	if c.Bool("late") {
		return s.lateFiles(c.Context, opt, c.String("source"), asJSON, args[0])
	}
	list, err := pipeline.KnownFiles(opt.OutPath(), job, c.String("source"))
	if err != nil {
		return err
	}
	if asJSON {
		return s.writeJSON(struct {
			SchemaVersion int `json:"schema_version"`
			*pipeline.Files
		}{1, list})
	}
	if len(list.Files) == 0 {
		s.notef("no published run of %s has read a file\n", job.Name)
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SIDE\tSOURCE\tFILE\tIDENTITY\tREVISION\tSHA-256\tCONTENT\tFIRST READ\tRUN\tSTATUS")
	for _, f := range list.Files {
		status := f.Status
		switch {
		case strings.HasPrefix(f.Note, status):
			status = f.Note
		case f.Note != "":
			status += ": " + f.Note
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.12s\t%.12s\t%s\t%s\t%s\n", f.Side, printable(f.Source), printable(f.Name), dash(printable(f.Key)), dash(printable(f.Revision)),
			f.SHA256, f.ContentSHA256, f.FirstDate, f.FirstRun, printable(status))
	}
	return flush(w)
}

// lateFiles lists the dates that are to be run again.
func (s *session) lateFiles(ctx context.Context, opt pipeline.Options, source string, asJSON bool, file string) error {
	list, err := pipeline.LateFiles(ctx, opt, source)
	if err != nil {
		return err
	}
	var late *fail.Error
	dates := []string{}
	for _, l := range list {
		if n := len(dates); n == 0 || dates[n-1] != l.BusinessDate {
			dates = append(dates, l.BusinessDate)
		}
	}
	if len(dates) > 0 {
		s.ending = fail.Gate
		late = fail.New(fail.Gate, "%s to be run again", count(int64(len(dates)), "business date"))
	}
	if asJSON {
		doc := lateDocument{SchemaVersion: 1, Job: opt.Job.Name, Late: list}
		if late != nil {
			doc.Error = errorOf(late)
		}
		return s.writeJSON(doc)
	}
	if late == nil {
		s.notef("no published business date of %s is to be run again\n", opt.Job.Name)
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "DATE\tSIDE\tSOURCE\tWHY")
	for _, l := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.BusinessDate, l.Side, printable(l.Source), printable(l.Text()))
	}
	if err := flush(w); err != nil {
		return err
	}
	for i := len(dates) - 1; i >= 0; i-- { // the earliest first: later dates go on from it
		s.notef("next: recon-batch run --business-date %s %s\n", dates[i], displayQuoted(file))
	}
	return nil
}
