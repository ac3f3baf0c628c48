package report

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Bounds of the samples that people see; the files have all rows.
const (
	sampleExceptions = 200
	sampleRejects    = 50
	sampleSets       = 50
)

// Build ties the numbers (see Tie), then makes the Summary. It leaves relations
// named report_… in the scratch database, from which the outputs are written.
// Errors: class Integrity for a breach of a tie, Usage for a gate that cannot be
// measured or a redaction without a key.
func Build(ctx context.Context, db *duck.DB, in *Input) (*Summary, error) {
	m, err := measure(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := m.tie(in); err != nil {
		return nil, err
	}
	red, err := newRedactor(ctx, db, in.Bound.Job, in.RedactKey)
	if err != nil {
		return nil, err
	}
	if err := makeRelations(ctx, db, in, red); err != nil {
		return nil, err
	}
	if err := checkItems(ctx, db, in.Bound.Job); err != nil {
		return nil, err
	}
	s := head(in, red)
	for _, side := range rules.Sides {
		s.Sides = append(s.Sides, m.side(in, side))
	}
	s.Absences = absences(in.Bound, in.Results)
	s.Statement = m.statements(in)
	if err := tieStatement(s.Statement); err != nil {
		return nil, err
	}
	s.Passes = m.passes(in.Bound.Job)
	for _, v := range m.verdicts[rules.Operations] {
		if v.once == "not_proven" && v.inPeriod {
			s.OnceNotProven += v.rows
		}
	}
	s.Findings = findings(in)
	s.Reopen, s.Revisions = append([]Reopen{}, in.Reopen...), RevisionsOf(slices.Concat(in.Operations.Revisions, in.Results.Revisions))
	s.Rejects = rejects(in)
	if err := m.ask(ctx, db, in, red, s); err != nil {
		return nil, err
	}
	if err := conclude(s, in.Bound.Job, m); err != nil {
		return nil, err
	}
	if err := history(ctx, db, in, s); err != nil {
		return nil, err
	}
	s.Findings = append(s.Findings, said(s, in.Bound)...)
	s.Next = append(next(s, in, red), lift(s, in)...)
	red.maskSummary(s)
	return s, nil
}

// ask fills what the relations say. What does not need each other is asked at the same
// time: a small day is mostly the planning of many statements.
func (m *measures) ask(ctx context.Context, db *duck.DB, in *Input, red *redactor, s *Summary) error {
	var err error
	if s.Exceptions, err = exceptions(ctx, db, in, red); err != nil {
		return err
	}
	err = sideBySide(ctx,
		func(ctx context.Context) (err error) { // the rows of the board are put together outside of the engine
			s.Board, err = board(ctx, db, in, red, s.Exceptions.Of)
			return err
		},
		func(ctx context.Context) (err error) {
			if s.Accounts, err = accountStatements(ctx, db, in, s); err != nil {
				return err
			}
			if s.Work, err = work(ctx, db, in, s.Sides[0].Classified); err != nil {
				return err
			}
			s.ContentDigest, err = m.contentDigest(ctx, db, in)
			return err
		},
		func(ctx context.Context) (err error) {
			if s.Queues, err = queues(ctx, db, in); err != nil {
				return err
			}
			if err := policyParts(ctx, db, in, s); err != nil {
				return err
			}
			s.Unresolved, err = unresolved(ctx, db, in)
			return err
		})
	if err != nil {
		return err
	}
	return sideBySide(ctx,
		func(ctx context.Context) error { return causes(ctx, db, in, red, s) },
		func(ctx context.Context) error { return courses(ctx, db, in, s) })
}

// sideBySide runs functions at the same time and returns the first error.
func sideBySide(ctx context.Context, f ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range f {
		g.Go(func() error { return f(ctx) })
	}
	return g.Wait()
}

// head fills what the job says.
func head(in *Input, red *redactor) *Summary {
	job := in.Bound
	s := &Summary{
		SchemaVersion: SchemaVersion, Job: job.Name, BusinessDate: job.Date, RunID: in.RunID, JobDigest: in.JobDigest,
		Mode: string(job.Mode), AsOf: instant(job.AsOfTime.UnixMicro()), Zone: "UTC",
		Series: in.Series, Overrides: append([]string{}, in.Overrides...), Staged: in.Past.Staged || job.Mode == rules.PilotMode,
		SeenBefore: MergeSeen(in.Past.Seen), Baseline: append([]PastRun{}, in.Past.Baseline...),
		Accounts: []AccountStatement{}, Open: []OpenItems{}, Ageing: []AgeBucket{}, Trend: []TrendPoint{},
		Redacted: red.list(), Versions: append([]Version{}, in.Versions...), Next: []Step{},
	}
	if s.Mode == "" {
		s.Mode = string(rules.Enforce)
	}
	if job.Zone != nil {
		s.Zone = job.Zone.String()
	}
	s.Period = periodOf(job)
	return s
}

// instant prints microseconds since the epoch as RFC 3339 in UTC, with a
// fraction only where there is one.
func instant(us int64) string {
	t := time.UnixMicro(us).UTC()
	if us%1_000_000 != 0 {
		return t.Format("2006-01-02T15:04:05.000000Z")
	}
	return t.Format("2006-01-02T15:04:05Z")
}

// side counts one side by source and file.
func (m *measures) side(in *Input, side rules.Side) Side {
	rel := in.relation(side)
	out := Side{Side: string(side), Sources: []Source{}, Coverage: []Coverage{}, Counts: []Count{}}
	classified := map[int]int64{}
	for _, v := range m.verdicts[side] {
		classified[v.file] += v.rows
		if v.inPeriod {
			out.InPeriod += v.rows
		}
	}
	for _, src := range in.Bound.Spec(side).Sources {
		x := Source{Name: src.Name, Account: src.Coverage.Account, Need: string(src.Need), Proves: string(src.Coverage.Proves),
			Types: append([]string{}, src.Coverage.Types...), Ready: readyOf(in, side, src.Name), Files: []File{}}
		x.stated(rel)
		for i := range rel.Lookups {
			if l := &rel.Lookups[i]; l.Source.Name == src.Name {
				c := l.Counts()
				x.Asked = &Asked{Operations: l.Operations, LeftOut: l.LeftOut, Found: c.Found, None: c.None, Unproven: c.Unproven, Unknown: c.Unknown}
			}
		}
		for _, f := range rel.Files {
			if f.Source != src.Name {
				continue
			}
			n := classified[f.No]
			x.Files = append(x.Files, File{Name: f.Name, Date: f.Date, Status: string(f.Status), Problem: f.Problem, Size: f.Size,
				SHA256: f.SHA256, ContentSHA256: f.ContentSHA256, Records: f.Records, Control: f.Control, Excluded: f.Excluded,
				Rejected: f.Rejected, Classified: n})
			if f.Status != extract.FileStaged {
				continue // its records are counted apart, on the file
			}
			x.Records += f.Records
			x.Control += f.Control
			x.Excluded += f.Excluded
			x.Rejected += f.Rejected
			x.Classified += n
		}
		out.Records += x.Records
		out.Control += x.Control
		out.Excluded += x.Excluded
		out.Rejected += x.Rejected
		out.Classified += x.Classified
		out.Sources = append(out.Sources, x)
	}
	for _, c := range rel.Coverage {
		out.Coverage = append(out.Coverage, coverage(c))
	}
	for _, t := range m.totals[side] {
		c := Count{Class: t.class, Reason: t.reason, Currency: t.currency, InPeriod: t.inPeriod, Rows: t.rows}
		if t.amount != nil && hasAmount(in.Bound.Job, side) {
			c.Amount = amountText(t.amount, t.currency)
		}
		out.Counts = append(out.Counts, c)
	}
	sort.SliceStable(out.Counts, func(i, j int) bool {
		a, b := out.Counts[i], out.Counts[j]
		if a.InPeriod != b.InPeriod {
			return a.InPeriod
		}
		if x, y := slices.Index(classOrder, a.Class), slices.Index(classOrder, b.Class); x != y {
			return x < y
		}
		if a.Reason != b.Reason {
			return a.Reason < b.Reason
		}
		return a.Currency < b.Currency
	})
	return out
}

func coverage(c extract.Interval) Coverage {
	out := Coverage{Account: c.Account, Source: c.Source, Proves: string(c.Proves), Types: append([]string{}, c.Types...),
		Complete: c.Complete, LagSecs: int64(c.Lag / time.Second), Gaps: []Gap{}}
	if c.Knows != nil {
		out.Knows = c.Knows.Text
	}
	if !c.Complete {
		out.From, out.Until = edge(c.From), edge(c.Until)
	}
	for _, g := range c.Withdrawn {
		out.Gaps = append(out.Gaps, Gap{From: edge(g.From), Until: edge(g.Until), Reason: g.Reason})
	}
	return out
}

// edge is an end of an interval; "" where it has none on that side.
func edge(us int64) string {
	if us <= extract.BeginningOfTime || us >= extract.EndOfTime {
		return ""
	}
	return instant(us)
}

func (m *measures) passes(job *rules.Job) []Pass {
	out := make([]Pass, 0, len(job.Match))
	for i, p := range job.Match {
		x := Pass{Name: p.Name, Kind: "business"}
		switch {
		case p.Suggest:
			x.Kind = "suggest"
		case p.Group != nil:
			x.Kind, x.Groups = GroupPass, m.groups[i]
		case p.Identity:
			x.Kind = "identity"
		}
		for _, v := range m.verdicts[rules.Operations] {
			if v.pass == p.Name {
				x.Operations += v.rows
			}
		}
		for _, v := range m.verdicts[rules.Results] {
			if v.pass == p.Name {
				x.Results += v.rows
			}
		}
		out = append(out, x)
	}
	return out
}

func findings(in *Input) []Finding {
	out := []Finding{}
	add := func(side string, list []extract.Finding) {
		for _, f := range list {
			out = append(out, Finding{Code: f.Code, Side: side, Source: f.Source, File: f.File, Text: f.Text})
		}
	}
	add(string(rules.Operations), in.Operations.Findings)
	add(string(rules.Results), in.Results.Findings)
	add("", in.Findings)
	if u := in.Bound.Unattributed; u.Within > 0 || len(u.Contradicts) > 0 {
		text := "the job narrows what a result without identity may be the effect of:"
		if u.Within > 0 {
			text += " within " + ageText(int64(u.Within/time.Second))
		}
		if len(u.Contradicts) > 0 {
			text += " contradicted by " + strings.Join(u.Contradicts, ", ")
		}
		out = append(out, Finding{Code: "unattributed_narrowed", Text: text + "; absences rest on this declaration (V27)"})
	}
	return out
}

func rejects(in *Input) Rejects {
	out := Rejects{Items: []Reject{}}
	for _, side := range rules.Sides {
		rel := in.relation(side)
		name := map[int]extract.File{}
		for _, f := range rel.Files {
			name[f.No] = f
		}
		for _, r := range rel.Rejects {
			out.Of++
			if out.Showing == sampleRejects {
				continue
			}
			out.Showing++
			f := name[r.File]
			out.Items = append(out.Items, Reject{Side: string(side), Source: f.Source, File: f.Name, Record: r.Record, Line: r.Line, Column: r.Column, Reason: r.Reason})
		}
	}
	return out
}

// conclude evaluates gates and limits, decides which acting queues are withheld, and
// says it all in one sentence.
func conclude(s *Summary, job *rules.Job, m *measures) error {
	s.Outcome.Closes, s.Outcome.Reasons = true, []string{}
	for i, side := range s.Sides {
		for _, c := range side.Counts {
			if !c.InPeriod {
				continue
			}
			if !settledClass(c.Class) {
				s.Outcome.Differences += c.Rows
			}
			if needsWork(c.Class, c.Reason) && i == 1 {
				s.Outcome.Closes = false
			}
		}
	}
	open := int64(0)
	for _, c := range s.Sides[0].Counts {
		if c.InPeriod && needsWork(c.Class, c.Reason) {
			open += c.Rows
		}
	}
	for _, a := range s.Aside { // planted: neither a difference nor work
		if !settledClass(a.Class) {
			s.Outcome.Differences -= a.Rows
		}
		if needsWork(a.Class, a.Reason) {
			open -= a.Rows
		}
	}
	s.Outcome.Closes = s.Outcome.Closes && open == 0
	var err error
	if s.Gates, err = evaluateGates(s, job.Gates); err != nil {
		return err
	}
	if s.Limits, err = evaluateLimits(s, job.Limits.BlastRadius); err != nil {
		return err
	}
	for _, g := range s.Gates {
		if g.Failed {
			s.Outcome.ExitCode = 3
			s.Outcome.Reasons = append(s.Outcome.Reasons, fmt.Sprintf("gate %s failed: %s (%s), it fails when %s", g.Name, g.Value, g.Basis, g.FailWhen))
		}
	}
	why := Withhold(s, job, vacuous(s, job, m))
	s.Outcome.WithheldQueues = why.Queues()
	if len(s.Outcome.WithheldQueues) > 0 {
		s.Outcome.ExitCode = 9
		s.Outcome.Withheld = true
		s.Outcome.Reasons = append(why.Reasons(), s.Outcome.Reasons...)
		for i := range s.Queues {
			s.Queues[i].Written = !slices.Contains(s.Outcome.WithheldQueues, s.Queues[i].Queue)
		}
	}
	s.Headline = headline(s)
	return nil
}

// vacuous says why a run has nothing to compare (V38), or "".
func vacuous(s *Summary, job *rules.Job, m *measures) string {
	if job.MayBeEmpty {
		return ""
	}
	for _, side := range s.Sides {
		if side.Classified == 0 {
			return fmt.Sprintf("the %s have no rows at all (V38)", side.Side)
		}
	}
	for _, v := range m.verdicts[rules.Operations] {
		if v.pass != "" {
			return ""
		}
	}
	return "both sides have rows, but not one operation is linked to a result (V38)"
}

// plainID is an id that needs no quoting in a shell and is no flag.
var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,79}$`)

// next lists the useful commands: explain the worst exception, by its id or by its
// record where the id is redacted or would need quoting; else look at the runs.
func next(s *Summary, in *Input, red *redactor) []Step {
	for _, e := range s.Exceptions.Items {
		id, field, at := "", "operation_id", e.Operation
		if at == nil {
			field, at = "remote_id", e.Result
		}
		for _, v := range e.Values {
			if v.Field != field {
				continue
			}
			if v.Operations != nil {
				id = *v.Operations
			} else if v.Results != nil {
				id = *v.Results
			}
		}
		if (red.redacted(field) || !plainID.MatchString(id) || red.people(field, id) != id) && at != nil {
			id = fmt.Sprintf("%s:%d", at.File, at.Record)
		}
		if plainID.MatchString(id) {
			return []Step{{Why: "why the largest exception has its verdict", Command: cmp.Or(in.Explain, "recon-batch explain") + " " + id}}
		}
	}
	return []Step{{Why: "all runs of this job", Command: cmp.Or(in.Runs, "recon-batch runs list")}}
}
