package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/latency"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) windowsCommand() *cli.Command {
	return &cli.Command{
		Name:  "windows",
		Usage: "set the declared windows against how long operations took",
		Subcommands: []*cli.Command{
			{
				Name: "suggest", Usage: "propose windows from the links of former runs", ArgsUsage: "JOB.yaml",
				Description: `Measures the time to confirmation by type, account and weekday, and proposes
expected and deadline: never shorter than p99.9 seen plus the clock skew. Percentiles
are by nearest rank. The files of the nights, or what is staged of them, must still
be there.

EXAMPLES
   recon-batch windows suggest --runs 30 job.yaml
   recon-batch windows suggest --patch windows.patch job.yaml && patch -p0 < windows.patch`,
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "patch", Usage: "write the proposals as a unified diff of JOB.yaml to this `FILE`"},
				}, historyFlags(14, true)...),
				Action: s.windowsSuggest,
			},
			{
				Name: "check", Usage: "a gate: ends with 3 if the observed p99 leaves a declared window", ArgsUsage: "JOB.yaml",
				Description: `A window is left where more than one link in a hundred of the type, or of one of its
accounts, was confirmed after it was due. With too few links nothing is judged, and
that is said.

EXAMPLE
   recon-batch windows check --runs 30 job.yaml`,
				Flags:  historyFlags(14, true),
				Action: s.windowsCheck,
			},
		},
	}
}

// historyFlags are those of commands that read the last nights of a job.
func historyFlags(nights int, least bool) []cli.Flag {
	flags := []cli.Flag{
		&cli.IntFlag{Name: "runs", Value: nights, Usage: "the last `N` business dates that have a run"},
		&cli.StringFlag{Name: "out", Usage: "output folder `DIR`, instead of the job's outputs.dir"},
		&cli.StringFlag{Name: "stage-dir", Usage: "folder `DIR` for parsed files and for spilling", DefaultText: "<out>/.stage"},
		&cli.StringFlag{Name: "memory", Usage: "memory `SIZE`, such as 2GiB", DefaultText: "cgroup limit or RAM"},
		outputFlag(),
	}
	if least {
		flags = append(flags, &cli.Int64Flag{Name: "least", Value: latency.DefaultLeast, Usage: "judge nothing with fewer than `N` links"})
	}
	return flags
}

// historyOptions reads the flags of commands that read the last nights of a job. rulesFile
// is the job file that they are read under.
func (s *session) historyOptions(c *cli.Context, rulesFile string) (*pipeline.Options, error) {
	job, err := rules.Load(rulesFile)
	if err != nil {
		return nil, err
	}
	o := &pipeline.Options{Job: job, Out: c.String("out"), StageDir: c.String("stage-dir")}
	if n := c.Int("runs"); n < 1 {
		return nil, fail.New(fail.Usage, "--runs %d is less than one", n)
	}
	if text := c.String("memory"); text != "" {
		if o.Memory, err = pipeline.ParseSize(text); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (s *session) windowsStart(c *cli.Context) (job string, asJSON bool, o *pipeline.Options, err error) {
	args, err := s.positionals(c, "JOB.yaml")
	if err != nil {
		return "", false, nil, err
	}
	if asJSON, err = outputMode(c); err != nil {
		return "", false, nil, err
	}
	if n := c.Int64("least"); n < 1 {
		return "", false, nil, fail.New(fail.Usage, "--least %d is less than one", n)
	}
	o, err = s.historyOptions(c, args[0])
	return args[0], asJSON, o, err
}

func (s *session) windowsSuggest(c *cli.Context) error {
	job, asJSON, o, err := s.windowsStart(c)
	if err != nil {
		return err
	}
	list, err := latency.Suggest(c.Context, *o, c.Int("runs"), c.Int64("least"))
	if err != nil {
		return err
	}
	file := c.String("patch")
	patched := false
	if file != "" {
		if patched, err = s.writePatch(list, file); err != nil {
			return err
		}
	}
	if asJSON {
		return s.writeJSON(struct {
			SchemaVersion int `json:"schema_version"`
			*latency.Suggestion
			Patch string `json:"patch,omitempty"`
		}{1, list, map[bool]string{true: file}[patched]})
	}
	s.printMeasured(list.Measured)
	if err := s.printPercentiles(list.Measured); err != nil {
		return err
	}
	if err := s.printLeases(list.Measured); err != nil {
		return err
	}
	if err := s.printProposed(list); err != nil {
		return err
	}
	switch {
	case list.Snippet == "":
		s.notef("nothing is proposed\n")
	case patched:
		s.notef("next: patch -p0 < %s && recon-batch validate %s\n", displayQuoted(file), displayQuoted(job))
	case file == "":
		s.notef("next: recon-batch windows suggest --patch windows.patch %s\n", displayQuoted(job))
	}
	return nil
}

// writePatch writes the diff, if there is one, and says what is not in it.
func (s *session) writePatch(list *latency.Suggestion, file string) (bool, error) {
	diff, left, err := latency.Patch(list)
	if err != nil {
		return false, err
	}
	for _, t := range left {
		s.notef("%s is not in the patch: its window does not stand in the job file as two plain values of its own\n", t)
	}
	if diff == "" {
		return false, nil
	}
	if err := os.WriteFile(file, []byte(diff), 0o644); err != nil {
		return false, fail.Wrap(fail.Resources, err, "the patch cannot be written")
	}
	return true, nil
}

func (s *session) printMeasured(m *latency.Measured) {
	first, last := m.Nights[0].BusinessDate, m.Nights[len(m.Nights)-1].BusinessDate
	s.printf("%s: %s of %s, %s to %s; clock skew %s, weekdays in %s\n",
		m.Job, count(m.Links, "link"), count(int64(len(m.Nights)), "night"), first, last, latency.Text(m.ClockSkew), m.Zone)
}

// timeText writes a measured time for people, to the millisecond.
func timeText(us int64) string {
	if us < 0 {
		return "-" + latency.Text(time.Duration(-us)*time.Microsecond)
	}
	return latency.Text(time.Duration(us) * time.Microsecond)
}

func (s *session) printPercentiles(m *latency.Measured) error {
	single := oneAccount(m)
	for _, of := range []struct {
		title string
		get   func(latency.Group) latency.Percentiles
	}{
		{"SINCE THE LAST ATTEMPT (what expected counts from)", func(g latency.Group) latency.Percentiles { return g.SinceAttempt }},
		{"SINCE THE CREATION (what deadline counts from)", func(g latency.Group) latency.Percentiles { return g.SinceCreation }},
	} {
		s.printf("\n%s\n", of.title)
		w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "TYPE\tACCOUNT\tWEEKDAY\tLINKS\tP50\tP95\tP99\tP99.9")
		for _, g := range m.Groups {
			p := of.get(g)
			if p.Links == 0 || g.Account == "" && single[g.Type] {
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", typeText(g.Type), all(g.Account), all(g.Weekday), p.Links,
				timeText(p.P50), timeText(p.P95), timeText(p.P99), timeText(p.P999))
		}
		if err := flush(w); err != nil {
			return err
		}
	}
	return nil
}

// oneAccount names the types with one account: the line of it is that of the type.
func oneAccount(m *latency.Measured) map[string]bool {
	n := map[string]int{}
	for _, g := range m.Groups {
		if g.Account != "" && g.Weekday == "" {
			n[g.Type]++
		}
	}
	out := map[string]bool{}
	for t := range n {
		out[t] = n[t] == 1
	}
	return out
}

func typeText(t string) string {
	if t == "" {
		return "(none)"
	}
	return inline(t)
}

func all(name string) string {
	if name == "" {
		return "all"
	}
	return inline(name)
}

func (s *session) printLeases(m *latency.Measured) error {
	if len(m.Leases) == 0 {
		return nil
	}
	s.printf("\nATTEMPTS AGAINST THEIR LEASE\n")
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TYPE\tACCOUNT\tATTEMPTS\tP50\tP99\tLONGEST\tLEASE\tOUTLIVED IT")
	for _, l := range m.Leases {
		lease := timeText(l.Lease.P50)
		if l.Lease.P50 != l.Lease.Max {
			lease += " to " + timeText(l.Lease.Max)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d\n", typeText(l.Type), all(l.Account), l.Duration.Links,
			timeText(l.Duration.P50), timeText(l.Duration.P99), timeText(l.Duration.Max), lease, l.Outlived)
	}
	return flush(w)
}

func (s *session) printProposed(list *latency.Suggestion) error {
	s.printf("\nWINDOWS\n")
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TYPE\tDECLARED\tFALSE ALARMS\tPROPOSED\tFALSE ALARMS")
	window := func(v *latency.Window) string {
		if v == nil {
			return "-"
		}
		return v.Words
	}
	alarms := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	for _, p := range list.Proposals {
		proposed := window(p.Proposed)
		if p.Proposed == nil {
			proposed = "none: " + p.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", typeText(p.Type), window(p.Declared), alarms(p.FalseDeclared), proposed, alarms(p.FalseProposed))
	}
	if err := flush(w); err != nil {
		return err
	}
	if list.Snippet != "" {
		s.printf("\n%s", list.Snippet)
	}
	return nil
}

var verdictWords = map[latency.Verdict]string{
	latency.Within: "within", latency.Left: "LEFT", latency.NoWindow: "no window is declared",
}

func (s *session) windowsCheck(c *cli.Context) error {
	job, asJSON, o, err := s.windowsStart(c)
	if err != nil {
		return err
	}
	r, err := latency.Check(c.Context, *o, c.Int("runs"), c.Int64("least"))
	if err != nil {
		return err
	}
	var failure *errorObject
	if len(r.Left) > 0 {
		s.ending = fail.Gate
		failure = &errorObject{Code: fail.Gate, Name: exitName(fail.Gate), Message: "the observed p99 leaves the declared window of " + inline(strings.Join(r.Left, ", ")),
			Hint: "recon-batch windows suggest " + displayQuoted(job)}
	}
	if asJSON {
		return s.writeJSON(struct {
			SchemaVersion int `json:"schema_version"`
			*latency.Report
			Error *errorObject `json:"error,omitempty"`
		}{1, r, failure})
	}
	s.printMeasured(r.Measured)
	s.printf("\n")
	w := tabwriter.NewWriter(s.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TYPE\tACCOUNT\tLINKS\tP99 SINCE ATTEMPT\tP99 SINCE CREATION\tWINDOW\tLATE\tP99")
	judged, single := false, oneAccount(r.Measured)
	for _, j := range r.Judged {
		judged = judged || j.Verdict == latency.Within || j.Verdict == latency.Left
		if j.Account == "" && single[j.Type] {
			continue
		}
		window, late := "-", "-"
		if j.Window != nil {
			window, late = j.Window.Words, fmt.Sprint(j.Late)
		}
		word := verdictWords[j.Verdict]
		if j.Verdict == latency.TooFew {
			word = fmt.Sprintf("not judged: fewer than %s", count(r.Least, "link"))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", typeText(j.Type), all(j.Account), j.SinceCreation.Links,
			timeText(j.SinceAttempt.P99), timeText(j.SinceCreation.P99), window, late, word)
	}
	if err := flush(w); err != nil {
		return err
	}
	switch {
	case failure != nil:
		s.notef("%s\nnext: %s\n", failure.Message, failure.Hint)
	case !judged:
		s.notef("no window was judged\n")
	}
	return nil
}
