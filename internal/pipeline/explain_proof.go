package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// proof tells the window of an operation and what the sources prove about the row.
func (x *explainer) proof(e *Explanation) error {
	if e.Row.Side == rules.Results {
		return x.resultProof(e)
	}
	created, hasCreated := x.time(e.Values, "created_at")
	last, hasLast := x.time(e.Values, "last_attempt_at")
	var policy rules.TypePolicy
	if t := valueOf(e.Values, "type"); t != nil {
		policy, _ = x.b.Policy(*t)
	} else {
		policy, _ = x.b.Policy("")
	}
	due := created
	switch {
	case !policy.HasWindow:
		e.Window = append(e.Window, "no window is declared for its type: it is due at once")
	case !hasCreated:
		e.Window = append(e.Window, "a window is declared, but the operation has no readable created_at")
	default:
		var words []string
		due, words = window(x.b.Job, policy, created, last, hasLast)
		e.Window = append(e.Window, words...)
		state := "due since " + clock(due)
		if x.b.AsOfTime.Before(due) {
			state = "not due until " + clock(due)
		}
		e.Window = append(e.Window, fmt.Sprintf("%s; the reference time is %s", state, clock(x.b.AsOfTime)))
	}
	covered, err := x.holds(rules.Operations, e.Row.rid, match.Proved(x.b, match.Columns(x.b.Job, x.rels[0].Layout, "o"), x.rels[1]))
	if err != nil {
		return err
	}
	if hasCreated {
		from, until := created.Add(-x.b.ClockSkew), due.Add(x.b.ClockSkew)
		e.Coverage = append(e.Coverage, fmt.Sprintf("needed of every account that should know it: %s until %s, and its lag on top", clock(from), clock(until)))
	}
	e.Coverage = append(e.Coverage, intervalWords(x.rels[1].Coverage)...)
	e.Coverage = append(e.Coverage, lookupWords(x.rels[1].Lookups, e.Values)...)
	e.Coverage = append(e.Coverage, provesText(e, covered, "an absence"))
	return nil
}

// lookupWords tell what services said about an operation: when, by which key, and how far
// their silence speaks (V26).
func lookupWords(list []extract.Lookup, values []Value) []string {
	var out []string
	for _, l := range list {
		asked := false
		for _, field := range l.Source.Remote.Lookup.By {
			key := valueOf(values, field)
			if key == nil {
				continue
			}
			i := slices.IndexFunc(l.Answers, func(a extract.LookupAnswer) bool { return a.Key == *key })
			if i < 0 {
				continue
			}
			asked = true
			a := l.Answers[i]
			text := fmt.Sprintf("the lookup %s, asked by %s", l.Source.Name, field)
			if !a.At.IsZero() {
				text += " at " + clock(a.At)
			}
			switch {
			case a.Found:
				text += ": found"
			case a.Until != nil:
				text += ": nothing there; its silence covers the operation until " + instant(*a.Until)
			case !a.Unknown:
				text += ": nothing there, which proves nothing: " + scan.Text(a.Why)
			default:
				text += ": unknown: " + scan.Text(a.Why)
			}
			out = append(out, text)
		}
		if !asked {
			out = append(out, fmt.Sprintf("the lookup %s was not asked about it", l.Source.Name))
		}
	}
	return out
}

// resultProof tells whether the operations export would have shown the operation
// of a result (V29).
func (x *explainer) resultProof(e *Explanation) error {
	covered, err := x.holds(rules.Results, e.Row.rid, match.CoveredResult(x.b, match.Columns(x.b.Job, x.rels[1].Layout, "o"), x.rels[0].Coverage))
	if err != nil {
		return err
	}
	if booked, ok := x.time(e.Values, "created_at"); ok {
		from := match.LongestBack(x.b, booked)
		e.Coverage = append(e.Coverage, fmt.Sprintf("needed of the operations export: %s until %s", clock(from), clock(booked)))
	}
	e.Coverage = append(e.Coverage, intervalWords(x.rels[0].Coverage)...)
	e.Coverage = append(e.Coverage, provesText(e, covered, "that nobody asked for it"))
	return nil
}

// provesText says what the silence of the other side's sources proves. There is no
// silence about a row that is linked, save by a failed attempt alone, which is no
// effect (V19).
func provesText(e *Explanation, covered bool, what string) string {
	linked := slices.ContainsFunc(e.Partners, func(p Partner) bool { return p.Row.Reason != "failed_attempt" })
	switch {
	case linked && covered:
		return "it is linked; without the link they would prove " + what
	case linked:
		return "it is linked; without the link they would not prove " + what
	case covered:
		return "together they prove " + what
	}
	return "together they do not prove " + what
}

func (x *explainer) holds(side rules.Side, rid int64, cond string) (is bool, err error) {
	err = x.db.Scan(x.ctx, explainSQL("true").Render(duck.Slots{"side": string(side), "condition": cond, "rid": fmt.Sprint(rid)}), &is)
	return is, err
}

func (x *explainer) time(values []Value, field string) (time.Time, bool) {
	v := valueOf(values, field)
	if v == nil {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, *v)
	return t, err == nil
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func intervalWords(list []extract.Interval) []string {
	var out []string
	for _, i := range list {
		name := i.Source
		if i.Account != "" {
			name = i.Account + " (" + i.Source + ")"
		}
		text := fmt.Sprintf("%s covers %s until %s", name, instant(i.From), instant(i.Until))
		switch {
		case i.Complete:
			text = name + " covers everything"
		case i.From == i.Until:
			text = name + " covers nothing"
		}
		if i.Lag > 0 {
			text += ", lag " + durationText(i.Lag)
		}
		out = append(out, text+provesWords(rules.Coverage{Proves: i.Proves, Types: i.Types}))
		for _, g := range i.Withdrawn {
			out = append(out, fmt.Sprintf("  but not %s until %s: %s", instant(g.From), instant(g.Until), scan.Text(g.Reason)))
		}
	}
	if len(out) == 0 {
		out = append(out, "no source declares what it covers")
	}
	return out
}
