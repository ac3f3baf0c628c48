package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

func (s *session) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "tell why a row has its verdict, and what would change it",
		ArgsUsage: "JOB.yaml ID",
		Description: `ID is an operation id, an idempotency key, a remote id, any other identity key, or
FILE:RECORD. The files of the day must still be there: the day is judged again,
and the verdicts must be those that were published.

EXAMPLES
   recon-batch explain --business-date 2026-11-29 job.yaml op-4711
   recon-batch explain --business-date 2026-11-29 job.yaml transactions.csv:4812`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` of the run, such as 2026-11-29, today or yesterday (required)"},
			&cli.StringFlag{Name: "run", Usage: "a run `ID` instead of the current one"},
			&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
			&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files and for spilling", DefaultText: "<out>/.stage"},
			&cli.StringFlag{Name: "memory", Usage: "memory `SIZE`, such as 2GiB", DefaultText: "cgroup limit or RAM"},
			outputFlag(),
		},
		Action: s.explain,
	}
}

// explainDocument is what `explain --output json` prints.
type explainDocument struct {
	SchemaVersion int                    `json:"schema_version"`
	RunID         string                 `json:"run_id"`
	ReferenceTime string                 `json:"reference_time"`
	Rows          []pipeline.Explanation `json:"rows"`
}

func (s *session) explain(c *cli.Context) error {
	args, asJSON, opt, err := s.jobCall(c, "JOB.yaml", "ID")
	if err != nil {
		return err
	}
	m, list, err := pipeline.Explain(c.Context, *opt, c.String("run"), args[1])
	if err != nil {
		return err
	}
	if asJSON {
		return s.writeJSON(explainDocument{SchemaVersion: 1, RunID: m.RunID, ReferenceTime: m.ReferenceTime, Rows: list})
	}
	for i, e := range list {
		if i > 0 {
			s.printf("\n")
		}
		if err := s.printExplanation(e); err != nil {
			return err
		}
	}
	return nil
}

func placeText(p pipeline.Place) string {
	return fmt.Sprintf("%s %s record %d: %s/%s", p.Side, inline(p.File), p.Record, p.Class, p.Reason)
}

func (s *session) printExplanation(e pipeline.Explanation) error {
	s.printf("%s\n  %s\n", placeText(e.Row), e.Meaning)
	if e.Pass != "" {
		s.printf("  linked by the pass %s\n", e.Pass)
	}
	if e.Once == "not_proven" {
		s.printf("  that it happened only once is not proven: its time is not completely covered (V23)\n")
	}
	if !e.InPeriod && !strings.HasSuffix(e.Meaning, "(V8)") {
		s.printf("  outside the period of this run (V8)\n")
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	for _, v := range e.Values {
		fmt.Fprintf(w, "  %s\t%s\n", v.Field, shown(v.Value))
	}
	if err := flush(w); err != nil {
		return err
	}
	s.printPasses(e.Passes)
	if e.Group != nil {
		s.printGroup(e)
	} else {
		for _, p := range e.Partners {
			s.printf("LINKED TO %s\n", placeText(p.Row))
			if err := s.printPartner(p, "  "); err != nil {
				return err
			}
		}
	}
	if e.Set != nil {
		if err := s.printSet(e.Set); err != nil {
			return err
		}
	}
	if e.Unnamed != nil {
		s.printf("COULD BE THE EFFECT OF %s (V27)\n", count(*e.Unnamed, "operation"))
	}
	if e.Hint != "" {
		s.section("HINT", []string{e.Hint})
	}
	s.section("WINDOW", e.Window)
	s.section("COVERAGE", e.Coverage)
	s.printProposals(e)
	s.section("WHAT WOULD CHANGE IT", e.Change)
	return nil
}

func (s *session) printPasses(list []pipeline.PassTrace) {
	s.printf("PASSES\n")
	for _, p := range list {
		if !p.Usable {
			s.printf("  %s: no usable key (%s)\n", p.Pass, inline(p.Key))
			continue
		}
		s.printf("  %s: %s; %d of its side, %s", p.Pass, inline(p.Key), p.Same, count(p.Candidates, "candidate"))
		if p.Tried && p.Free != p.Candidates {
			s.printf(", %d still free when the pass ran", p.Free)
		}
		if p.Outside > 0 {
			s.printf(", %d more outside the window", p.Outside)
		}
		if !p.Tried {
			s.printf("; not tried, the row was linked or decided before")
		}
		s.printf("\n")
		for _, r := range p.Rows {
			note := ""
			if p.Tried && r.Free != nil && !*r.Free {
				note = " (no longer free)"
			}
			s.printf("    %s%s\n", placeText(r), note)
		}
		s.more("    ", p.Candidates, len(p.Rows))
	}
}

// more says how many rows are not listed.
func (s *session) more(indent string, of int64, listed int) {
	if n := of - int64(listed); n > 0 {
		s.printf("%s… and %d more\n", indent, n)
	}
}

// printPartner lists what was compared with a row of the other side.
func (s *session) printPartner(p pipeline.Partner, indent string) error {
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	for _, f := range slices.Concat(p.Keys, p.Fields) {
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\n", indent, inline(f.Comparator), shown(f.Operations), shown(f.Results), f.Result)
	}
	return flush(w)
}

// printGroup lists the first members of a group, its own side last.
func (s *session) printGroup(e pipeline.Explanation) {
	g := e.Group
	s.printf("GROUP of %s and %s\n", count(g.Operations, "operation"), count(g.Results, "result"))
	for sentence := range strings.SplitSeq(g.Text, ". ") {
		s.printf("  %s\n", inline(strings.TrimSuffix(sentence, ".")))
	}
	for _, p := range e.Partners {
		s.printf("  %s\n", placeText(p.Row))
	}
	for _, p := range g.Fellows {
		s.printf("  %s\n", placeText(p))
	}
	s.more("  ", g.Operations+g.Results-1, len(e.Partners)+len(g.Fellows))
}

func (s *session) printSet(set *pipeline.Set) error {
	s.printf("UNRESOLVED TOGETHER: %s and %s", count(set.Operations, "operation"), count(set.Results, "result"))
	if set.Item != "" {
		s.printf(", one item in %s (%s)", set.Queue, set.Item)
	}
	s.printf("\n")
	for _, p := range set.Candidates {
		s.printf("  %s\n", placeText(p.Row))
		if err := s.printPartner(p, "    "); err != nil {
			return err
		}
	}
	for _, p := range set.Fellows {
		s.printf("  %s\n", placeText(p.Row))
		w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
		for _, f := range p.Fields {
			fmt.Fprintf(w, "    %s\t%s here\t%s there\n", inline(f.Field), shown(f.Own), shown(f.Other))
		}
		if err := flush(w); err != nil {
			return err
		}
	}
	s.more("  ", set.Operations+set.Results-1, len(set.Candidates)+len(set.Fellows))
	return nil
}

func (s *session) printProposals(e pipeline.Explanation) {
	switch {
	case len(e.Proposals) > 0:
	case e.Set != nil && e.Set.Item != "":
		s.printf("PROPOSAL\n  %s, with its set (item %s)\n", e.Set.Queue, e.Set.Item)
	case e.Group != nil && e.Group.Item != "":
		s.printf("PROPOSAL\n  %s, with its group (item %s)\n", e.Group.Queue, e.Group.Item)
	default:
		s.printf("PROPOSAL\n  none of its own\n")
	}
	for _, p := range e.Proposals {
		s.printf("PROPOSAL\n  %s (item %s)\n  %s\n", p.Queue, p.Item, inline(p.Means))
		switch p.Rule {
		case "":
		case "none":
			s.printf("  the job has no policy for its type\n")
		default:
			s.printf("  rule %s\n", inline(p.Rule))
		}
		for _, w := range p.Why {
			s.printf("  %s\n", inline(w))
		}
		for _, w := range []struct{ what, text string }{{"because", p.Because}, {"released by", p.Release}, {"closed as", p.ClosingReason}, {"advice:", p.Advice},
			{"the effect:", p.Effect}, {"the truth:", p.Truth}, {"closes when:", p.ClosesWhen}} {
			if w.text != "" && w.text != e.Hint {
				s.printf("  %s %s\n", w.what, inline(w.text))
			}
		}
		if p.Approvals > 0 {
			s.printf("  %s before anybody acts\n", count(p.Approvals, "approval"))
		}
		if p.ObserveOnly {
			s.printf("  to observe only: the job does not let anybody act yet\n")
		}
		if p.Deferred {
			s.printf("  deferred to the next run: the budget of this one is used up (V34)\n")
		}
		for _, k := range p.Checks {
			state := "passed "
			switch {
			case k.Refused:
				state = "REFUSED"
			case !k.Made:
				state = "-      "
			}
			s.printf("  %s %-21s %s\n", state, k.Code, k.Sentence)
		}
		if p.NextAttempt != "" {
			s.printf("  next attempt %s, expires %s\n", p.NextAttempt, p.Expiry)
			if p.Paced != "" {
				s.printf("  it could go at %s; the retry budget lets it go later (V34)\n", p.Paced)
			}
		}
	}
}

// count writes a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (s *session) section(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.printf("%s\n", title)
	for _, l := range lines {
		s.printf("  %s\n", inline(l))
	}
}

// shown writes a value for people, "-" for none.
func shown(v *string) string {
	if v == nil {
		return "-"
	}
	return inline(*v)
}

// inline writes a text of unknown origin for people: on one line, so that no value looks
// like a line of ours, and bounded.
func inline(text string) string { return cut(lineBreaks.Replace(printable(text))) }

var lineBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// cut bounds a text to 200 characters and says how long it was.
func cut(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return fmt.Sprintf("%s… (%d characters)", string(r[:most]), len(r))
	}
	return text
}
