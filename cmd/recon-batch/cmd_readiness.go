package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rehearsal"
)

func (s *session) readinessCommand() *cli.Command {
	return &cli.Command{
		Name:      "readiness",
		Usage:     "a gate before enforcing: what later nights say of proposed requeues",
		ArgsUsage: "JOB.yaml",
		Description: `Reads the last nights of the job and looks, for every absence of the type that was
proposed for requeue, at what later nights found of the operation. Ends with 3 if one
of them is contradicted: its effect was there, came without a new attempt, or came
twice. The upper bound on the share is exact and one-sided at 95 %.

The files of the nights, or what is staged of them, must still be there.

EXAMPLES
   recon-batch readiness --type charge job.yaml
   recon-batch readiness --type charge --runs 60 --at-most 0.1 job.yaml`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "type", Usage: "`TYPE` of the operations, or '*' for all (required)"},
			&cli.Float64Flag{Name: "at-most", Usage: "end with 3 as well if the upper bound is above `PERCENT`", DefaultText: "not asked"},
		}, historyFlags(14, false)...),
		Action: s.readiness,
	}
}

func (s *session) readiness(c *cli.Context) error {
	args, asJSON, err := s.call(c, "JOB.yaml")
	if err != nil {
		return err
	}
	typ, err := required(c, "type", "recon-batch readiness --type charge "+displayQuoted(args[0]))
	if err != nil {
		return err
	}
	most := c.Float64("at-most")
	if c.IsSet("at-most") && !(most > 0 && most <= 100) {
		return fail.New(fail.Usage, "--at-most %g is no share", most).WithHint("a percentage above 0, such as 0.1")
	}
	o, err := s.historyOptions(c, args[0])
	if err != nil {
		return err
	}
	r, err := rehearsal.Ready(c.Context, *o, typ, c.Int("runs"))
	if err != nil {
		return err
	}
	failure := ""
	switch {
	case r.Contradicted > 0:
		failure = "later evidence contradicts " + count(r.Contradicted, "absence")
	case c.IsSet("at-most") && r.UpperBound*100 > most:
		failure = fmt.Sprintf("the upper bound %s is above %g %%", percent(r.UpperBound), most)
	}
	var object *errorObject
	if failure != "" {
		s.ending = fail.Gate
		object = &errorObject{Code: fail.Gate, Name: exitName(fail.Gate), Message: failure}
	}
	if asJSON {
		return s.writeJSON(struct {
			SchemaVersion int `json:"schema_version"`
			*rehearsal.Readiness
			Error *errorObject `json:"error,omitempty"`
		}{1, r, object})
	}
	if err := s.printReadiness(r); err != nil {
		return err
	}
	if failure != "" {
		s.notef("%s\n", failure)
	}
	if len(r.Against) > 0 {
		a := r.Against[0]
		id := a.Operation
		if o.Job.Redact.Fields["operation_id"] != "" || id == "" {
			id = fmt.Sprintf("%s:%d", a.File, a.Record)
		}
		s.notef("next: recon-batch explain --business-date %s %s%s %s\n", a.BusinessDate, outFlag(c), displayQuoted(args[0]), displayQuoted(id))
	}
	return nil
}

// outFlag repeats --out for a command to type next, with a blank after it.
func outFlag(c *cli.Context) string {
	if c.String("out") == "" {
		return ""
	}
	return "--out " + displayQuoted(c.String("out")) + " "
}

// mostListed bounds what a list for people shows.
const mostListed = 20

var howWords = map[rehearsal.How]string{
	rehearsal.Existed: "its effect was there", rehearsal.Late: "came without a new attempt", rehearsal.Several: "has several effects",
}

func (s *session) printReadiness(r *rehearsal.Readiness) error {
	first, last := r.Nights[0].BusinessDate, r.Nights[len(r.Nights)-1].BusinessDate
	s.printf("%s, type %s: %s observed, %s to %s\n\n", r.Job, inline(r.Type), count(int64(len(r.Nights)), "night"), first, last)
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "proposed for requeue\t%d\t%s\n", r.Operations, count(r.Proposed, "item"))
	fmt.Fprintf(w, "  looked at again\t%d\t%d of them sent again, with effect\n", r.Observed, r.SentAgain)
	fmt.Fprintf(w, "  contradicted\t%d\t%s\n", r.Contradicted, shareText(r))
	fmt.Fprintf(w, "  unclear\t%d\tnot counted: the files do not tell which attempt a result belongs to\n", r.Unclear)
	fmt.Fprintf(w, "  not seen again\t%d\tnot counted: no later night has the operation or a result of it\n", r.NotSeen)
	if err := flush(w); err != nil {
		return err
	}
	if len(r.Against) > 0 {
		s.printf("\nCONTRADICTED\n")
		fmt.Fprintln(w, "ABSENT IN\tOPERATION\tAS OF\tHOW\tEVIDENCE\tDATED\tOF NIGHT")
		for _, a := range r.Against[:min(len(r.Against), mostListed)] {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s:%d\t%s\t%s\n", a.BusinessDate, dash(inline(a.Operation)), a.ReferenceTime, howWords[a.How],
				inline(a.Evidence.File), a.Evidence.Record, dash(a.Evidence.Time), a.Evidence.BusinessDate)
		}
		if err := flush(w); err != nil {
			return err
		}
		s.more("", int64(len(r.Against)), min(len(r.Against), mostListed))
	}
	withheld := 0
	for _, n := range r.Nights {
		if n.Withheld != "" {
			withheld++
		}
	}
	if withheld > 0 {
		s.printf("\n%s held the acting queues back and proposed nothing\n", count(int64(withheld), "night"))
	}
	return nil
}

func shareText(r *rehearsal.Readiness) string {
	if r.Share == nil {
		return "nothing was observed, so that nothing is known"
	}
	return fmt.Sprintf("%s; with %.0f %% confidence at most %s", percent(*r.Share), 100*r.Confidence, percent(r.UpperBound))
}

// percent writes a share for people with three digits that count.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
