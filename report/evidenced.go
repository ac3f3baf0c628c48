package report

import (
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// Control is a total that is stated beside the records of a source.
type Control struct {
	File    string `json:"file"` // that states it
	Date    string `json:"date,omitempty"`
	Total   string `json:"total"`           // count, sum, balance
	Field   string `json:"field,omitempty"` // of a sum and a balance
	Of      string `json:"of,omitempty"`    // what it is of, where totals are stated by a field, such as a currency
	Stated  string `json:"stated"`
	Counted string `json:"counted"` // of a balance: the opening one and the entries
	Judged  bool   `json:"judged"`  // false: records were rejected, which it may be about; else it ties
}

// Watermark is what a source says that its data reach to, before the end of what it was
// declared to cover.
type Watermark struct {
	Date    string `json:"date,omitempty"`
	Through string `json:"through"` // the first instant of which it says nothing
	Until   string `json:"until"`   // as declared
}

// Absence tells for operations of one type what the silence of one account means, by the
// time of their creation.
type Absence struct {
	Type    string        `json:"type"` // "*": all without a policy of their own; "" the job has no types
	Account string        `json:"account"`
	Knows   string        `json:"knows,omitempty"` // which of them it should know; "" all
	Spans   []AbsenceSpan `json:"spans"`
}

// AbsenceSpan is a time in which one answer holds. Half-open.
type AbsenceSpan struct {
	From  string `json:"from"`
	Until string `json:"until"`
	State string `json:"state"` // proved, not_due, not_proved
}

// NeedText says what happens to the coverage where a source is missing or bad.
func NeedText(n rules.Need) string {
	switch n {
	case rules.Optional:
		return "optional: missing or bad, it is left out and proves nothing for its time"
	case rules.LateOK:
		return "late-ok: missing, it proves nothing for its time; bad, nothing is published"
	default:
		return "required: missing or bad, nothing is published"
	}
}

// askedTime is the time of creation that absences are about: the period, or the business
// date where there is none. The days of a period by dates are days of the job's zone.
func askedTime(b *rules.Bound) (from, until int64) {
	zone := b.Zone
	if zone == nil {
		zone = time.UTC
	}
	day := func(t time.Time) int64 {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, zone).UnixMicro()
	}
	if p := b.Period; p != nil {
		if f := b.Operations.Field(p.By); f != nil && f.Type == rules.Date {
			return day(time.UnixMicro(b.PeriodFrom).UTC()), day(time.UnixMicro(b.PeriodUntil).UTC())
		}
		return b.PeriodFrom, b.PeriodUntil
	}
	d, err := time.Parse(time.DateOnly, b.Date)
	if err != nil {
		return 0, 0 // of a job that was not bound to a date
	}
	return day(d), day(d.AddDate(0, 0, 1))
}

func absences(b *rules.Bound, results *extract.Relation) []Absence {
	out := []Absence{}
	from, until := askedTime(b)
	if from >= until {
		return out
	}
	for _, a := range match.Absences(b, results.Coverage, from, until) {
		x := Absence{Type: a.Type, Account: a.Account, Knows: a.Knows, Spans: []AbsenceSpan{}}
		for _, s := range a.Spans {
			x.Spans = append(x.Spans, AbsenceSpan{From: instant(s.From), Until: instant(s.Until), State: string(s.State)})
		}
		out = append(out, x)
	}
	return out
}

// stated fills what a source states about itself.
func (x *Source) stated(rel *extract.Relation) {
	for _, c := range rel.Controls {
		if c.Source == x.Name {
			x.Controls = append(x.Controls, Control{File: c.File, Date: c.Date, Total: c.Total, Field: c.Field, Of: c.Of, Stated: c.Stated, Counted: c.Counted, Judged: c.Judged})
		}
	}
	for _, w := range rel.Watermarks {
		if w.Source == x.Name {
			x.Watermarks = append(x.Watermarks, Watermark{Date: w.Date, Through: instant(w.Through), Until: instant(w.Until)})
		}
	}
}

// Evidenced is what sources prove, whether a run was made or not.
type Evidenced struct {
	SchemaVersion int             `json:"schema_version"`
	Job           string          `json:"job"`
	BusinessDate  string          `json:"business_date"`
	RunID         string          `json:"run_id,omitempty"` // of the published run; "" nothing was judged
	AsOf          string          `json:"as_of"`
	Zone          string          `json:"zone"`
	Period        *Period         `json:"period,omitempty"`
	Sides         []EvidencedSide `json:"sides"`
	Absences      []Absence       `json:"absences"`
	Refused       []string        `json:"refused"` // why a run would end before anything is judged
	Notes         []string        `json:"notes"`

	Pull string `json:"-"` // the command that pulls what Refused lacks; "" where no pull is lacking
}

// EvidencedSide is what the sources of a side prove.
type EvidencedSide struct {
	Side     string            `json:"side"`
	Sources  []EvidencedSource `json:"sources"`
	Coverage []Coverage        `json:"coverage"`
}

// EvidencedSource is one source, with what its need means for the coverage.
type EvidencedSource struct {
	Source
	Effect string `json:"effect"`
}

// EvidenceOf takes it from the report of a published run.
func EvidenceOf(s *Summary) *Evidenced {
	e := &Evidenced{SchemaVersion: 1, Job: s.Job, BusinessDate: s.BusinessDate, RunID: s.RunID, AsOf: s.AsOf, Zone: s.Zone, Period: s.Period,
		Absences: s.Absences, Refused: []string{}, Notes: []string{}}
	for _, side := range s.Sides {
		x := EvidencedSide{Side: side.Side, Sources: []EvidencedSource{}, Coverage: side.Coverage}
		for _, src := range side.Sources {
			x.Sources = append(x.Sources, EvidencedSource{src, NeedText(rules.Need(src.Need))})
		}
		e.Sides = append(e.Sides, x)
	}
	return e
}

// Evidence tells it of what was read, before anything is judged. Records are counted, and
// none is classified.
func Evidence(in *Input) *Evidenced {
	b := in.Bound
	s := &Summary{Job: b.Name, BusinessDate: b.Date, AsOf: instant(b.AsOfTime.UnixMicro()), Zone: "UTC", Period: periodOf(b)}
	if b.Zone != nil {
		s.Zone = b.Zone.String()
	}
	for _, side := range rules.Sides {
		s.Sides = append(s.Sides, (&measures{}).side(in, side))
	}
	s.Absences = absences(b, in.Results)
	return EvidenceOf(s)
}

func periodOf(b *rules.Bound) *Period {
	if b.Period == nil {
		return nil
	}
	return &Period{By: b.Period.By, From: instant(b.PeriodFrom), Until: instant(b.PeriodUntil)}
}

// Range is the time that a drawing of it shows, in seconds since 1970: from the first to
// the last thing that is known, or around the period where that is much longer (clipped).
// Both ends are equal where no time is known.
func (e *Evidenced) Range() (from, until int64, clipped bool) {
	var at []int64
	note := func(texts ...string) {
		for _, x := range texts {
			if n, ok := seconds(x); ok {
				at = append(at, n)
			}
		}
	}
	for _, side := range e.Sides {
		for _, c := range side.Coverage {
			if !provesNothing(c) {
				note(c.From, c.Until)
			}
			for _, g := range c.Gaps {
				note(g.From, g.Until)
			}
		}
	}
	for _, a := range e.Absences {
		for _, x := range a.Spans {
			note(x.From, x.Until)
		}
	}
	note(e.AsOf)
	if e.Period != nil {
		note(e.Period.From, e.Period.Until)
	}
	if len(at) < 2 {
		return 0, 0, false
	}
	from, until = slices.Min(at), slices.Max(at)
	if e.Period == nil {
		return from, until, false
	}
	a, okA := seconds(e.Period.From)
	b, okB := seconds(e.Period.Until)
	now, _ := seconds(e.AsOf)
	if length := b - a; okA && okB && length > 0 && until-from > 10*length {
		lo, hi := max(from, a-3*length), min(until, max(b, now)+length)
		return lo, hi, lo > from || hi < until
	}
	return from, until, false
}

// ProvesNothing tells whether no time at all is proved.
func (c Coverage) ProvesNothing() bool { return provesNothing(c) }
