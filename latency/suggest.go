package latency

import (
	"context"
	"fmt"
	"time"

	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// DefaultLeast is the number of links from which a window is proposed, and judged:
// with fewer, p99.9 is no more than the longest time that happened to be seen.
const DefaultLeast = 1000

// Window of a type, in the two durations of the job file.
type Window struct {
	Expected time.Duration `json:"-"`
	Deadline time.Duration `json:"-"`
	Words    string        `json:"window"` // as the job file writes it
}

// Proposal is what the links say of the window of one type.
type Proposal struct {
	Type     string  `json:"type"`
	Links    int64   `json:"links"`
	Declared *Window `json:"declared"` // null where the job declares no window for the type
	Proposed *Window `json:"proposed"` // null where nothing is proposed; Why says so
	Why      string  `json:"why"`

	// Links that were confirmed after they were due: in a run between the two, their
	// absence would have been judged. Null where there is no such window.
	FalseDeclared *int64 `json:"false_alarms_declared"`
	FalseProposed *int64 `json:"false_alarms_proposed"`
}

// Suggestion is what `windows suggest` says.
type Suggestion struct {
	*Measured
	Least     int64      `json:"least"`
	Proposals []Proposal `json:"proposals"`
	Snippet   string     `json:"snippet"` // the proposals as a part of the job file; "" where there is none
}

// Suggest reads the links of the last nights of the job of o and proposes windows.
// A proposed time is the longest p99.9 of the type, of its accounts and of their
// weekdays, as far as they have at least `least` links, plus the clock skew of the
// job, rounded up.
func Suggest(ctx context.Context, o pipeline.Options, nights int, least int64) (*Suggestion, error) {
	var s *Suggestion
	err := measure(ctx, o, nights, func(m *Measured) error {
		s = &Suggestion{Measured: m, Least: least, Proposals: []Proposal{}}
		for _, g := range m.Groups {
			if g.Account != "" || g.Weekday != "" {
				continue
			}
			p, err := m.propose(ctx, g, least)
			if err != nil {
				return err
			}
			s.Proposals = append(s.Proposals, *p)
		}
		s.Snippet = snippet(s.Proposals)
		return nil
	})
	return s, err
}

func (m *Measured) propose(ctx context.Context, g Group, least int64) (*Proposal, error) {
	p := &Proposal{Type: g.Type, Links: g.SinceCreation.Links}
	policy, _ := m.job.Policy(g.Type)
	if policy.HasWindow {
		p.Declared = windowOf(policy)
	}
	var attempt, creation int64
	for _, of := range m.Groups {
		if of.Type != g.Type {
			continue
		}
		if of.SinceAttempt.Links >= least {
			attempt = max(attempt, of.SinceAttempt.P999)
		}
		if of.SinceCreation.Links >= least {
			creation = max(creation, of.SinceCreation.P999)
		}
	}
	w := &Window{Expected: RoundUp(micros(attempt) + m.ClockSkew), Deadline: RoundUp(micros(creation) + m.ClockSkew)}
	w.Deadline = max(w.Deadline, w.Expected)
	w.Words = words(w.Expected, w.Deadline)
	late, err := m.late(ctx, w.Expected, w.Deadline)
	if err != nil {
		return nil, err
	}
	var sum lateness
	for k, l := range late {
		if k[0] == g.Type {
			sum.judged, sum.declared, sum.other = sum.judged+l.judged, sum.declared+l.declared, sum.other+l.other
		}
	}
	if sum.judged > 0 {
		p.FalseDeclared = &sum.declared
	}
	switch {
	case p.Links < least:
		p.Why = fmt.Sprintf("%d links are fewer than %d", p.Links, least)
	case g.SinceAttempt.Links < least:
		p.Why = fmt.Sprintf("%d links with a usable last attempt are fewer than %d", g.SinceAttempt.Links, least)
	case g.Type == "" && m.job.Operations.Field("type") != nil:
		p.Why = "these operations have no type, and a policy is of a type"
	case policy.ExpectedDays > 0 || policy.DeadlineDays > 0:
		p.Why = "the window counts business days: shorten or lengthen it by hand"
	case policy.Idempotent && policy.KeyTTL > 0 && w.Deadline >= policy.KeyTTL:
		p.Why = fmt.Sprintf("a deadline of %s would not end before the idempotency key (%s), so that nothing could be requeued (V39)", Text(w.Deadline), Text(policy.KeyTTL))
	case p.Declared != nil && p.Declared.Expected == w.Expected && p.Declared.Deadline == w.Deadline:
		p.Why = "the declared window fits"
	default:
		p.Proposed, p.FalseProposed = w, &sum.other
	}
	return p, nil
}

func windowOf(p rules.TypePolicy) *Window {
	w := &Window{Expected: p.Expected, Deadline: p.Deadline}
	e, d := Text(p.Expected), Text(p.Deadline)
	if p.ExpectedDays > 0 {
		e = fmt.Sprintf("{business_days: %d}", p.ExpectedDays)
	}
	if p.DeadlineDays > 0 {
		d = fmt.Sprintf("{business_days: %d}", p.DeadlineDays)
	}
	w.Words = "{expected: " + e + ", deadline: " + d + "}"
	return w
}

func words(expected, deadline time.Duration) string {
	return "{expected: " + Text(expected) + ", deadline: " + Text(deadline) + "}"
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// steps are the units to which a proposed time is rounded up, each for times up to
// its bound.
var steps = []struct{ most, unit time.Duration }{
	{2 * time.Minute, 5 * time.Second},
	{10 * time.Minute, 30 * time.Second},
	{2 * time.Hour, 5 * time.Minute},
	{12 * time.Hour, 30 * time.Minute},
	{4 * 24 * time.Hour, 2 * time.Hour},
}

// RoundUp rounds a time up to a unit that people would write: never down.
func RoundUp(d time.Duration) time.Duration {
	if d <= 0 {
		return steps[0].unit
	}
	unit := 24 * time.Hour
	for _, s := range steps {
		if d <= s.most {
			unit = s.unit
			break
		}
	}
	return (d + unit - 1) / unit * unit
}

// Text writes a duration as the job file does: 1d2h, 15m, 90s as 1m30s.
func Text(d time.Duration) string { return rules.FormatDuration(d) }
