package main

import (
	"fmt"
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
			&cli.StringFlag{Name: "business-date", Usage: "the `DATE` of the run: 2006-01-02, today or yesterday (required)"},
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
	args, err := s.positionals(c, "JOB.yaml", "ID")
	if err != nil {
		return err
	}
	asJSON, err := outputMode(c)
	if err != nil {
		return err
	}
	opt, err := s.runOptions(c, args[0])
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
	return fmt.Sprintf("%s %s record %d: %s/%s", p.Side, p.File, p.Record, p.Class, p.Reason)
}

func (s *session) printExplanation(e pipeline.Explanation) error {
	s.printf("%s\n  %s\n", placeText(e.Row), e.Meaning)
	if e.Pass != "" {
		s.printf("  linked by the pass %s\n", e.Pass)
	}
	if e.Once == "not_proven" {
		s.printf("  that it happened only once is not proven: its time is not completely covered (V23)\n")
	}
	if !e.InPeriod {
		s.printf("  outside the period of this run (V8)\n")
	}
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	for _, v := range e.Values {
		fmt.Fprintf(w, "  %s\t%s\n", v.Field, shown(v.Value))
	}
	if err := flush(w); err != nil {
		return err
	}
	s.printf("PASSES\n")
	for _, p := range e.Passes {
		if !p.Usable {
			s.printf("  %s: no usable key (%s)\n", p.Pass, cut(p.Key))
			continue
		}
		s.printf("  %s: %s; %d of its side, %s", p.Pass, cut(p.Key), p.Same, candidates(p.Candidates))
		if p.Outside > 0 {
			s.printf(", %d more outside the window", p.Outside)
		}
		s.printf("\n")
		for _, r := range p.Rows {
			s.printf("    %s\n", placeText(r))
		}
	}
	for _, p := range e.Partners {
		s.printf("LINKED TO %s\n", placeText(p.Row))
		w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
		for _, f := range p.Fields {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", printable(f.Comparator), shown(f.Operations), shown(f.Results), f.Result)
		}
		if err := flush(w); err != nil {
			return err
		}
	}
	if len(e.Set) > 0 {
		s.printf("UNRESOLVED TOGETHER WITH\n")
		for _, p := range e.Set {
			s.printf("  %s\n", placeText(p))
		}
	}
	if e.Unnamed != nil {
		s.printf("COULD BE THE EFFECT OF, OR HAVE AS ITS EFFECT: %d rows (V27)\n", *e.Unnamed)
	}
	s.section("WINDOW", e.Window)
	s.section("COVERAGE", e.Coverage)
	if len(e.Proposals) == 0 {
		s.printf("PROPOSAL\n  none of its own\n")
	}
	for _, p := range e.Proposals {
		s.printf("PROPOSAL\n  %s (item %s)\n", p.Queue, p.Item)
		if p.Rule != "" {
			s.printf("  rule %s\n", p.Rule)
		}
		for _, k := range p.Checks {
			state := "passed "
			if k.Refused {
				state = "REFUSED"
			}
			s.printf("  %s\n", strings.TrimRight(fmt.Sprintf("%s %-22s %s", state, k.Code, refusal(k)), " "))
		}
		if p.NextAttempt != "" {
			s.printf("  next attempt %s, expires %s\n", p.NextAttempt, p.Expiry)
		}
	}
	s.section("WHAT WOULD CHANGE IT", e.Change)
	return nil
}

func candidates(n int64) string {
	if n == 1 {
		return "1 candidate"
	}
	return fmt.Sprintf("%d candidates", n)
}

// refusal explains a check that was not passed.
func refusal(k pipeline.GuardCheck) string {
	if !k.Refused {
		return ""
	}
	return k.Sentence
}

func (s *session) section(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.printf("%s\n", title)
	for _, l := range lines {
		s.printf("  %s\n", cut(l))
	}
}

// shown writes a value for people, "-" for none.
func shown(v *string) string {
	if v == nil {
		return "-"
	}
	return cut(printable(*v))
}

// cut bounds a text to 200 characters and says how long it was.
func cut(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return fmt.Sprintf("%s… (%d characters)", string(r[:most]), len(r))
	}
	return text
}
