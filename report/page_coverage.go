package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// timeline shows for each account which time its sources prove.
type timeline struct {
	Rows    []timelineRow
	Of      int // accounts in all: those with gaps are shown first
	Ticks   []tick
	Period  *stretch // nil: none is declared, or it lies outside
	Now     string   // place of the reference time; "" outside
	Clipped bool     // some of what is proved, or not, lies outside what is drawn
}

// timelineRow is one account.
type timelineRow struct {
	Side, Account, Source, Proves string
	Proved                        []stretch
	Gaps                          []stretch
	Says                          string // all of it in words
}

// The timeline draws so many accounts; the table beside it has more.
const (
	timelineRows = 24
	coverageRows = 200
)

// coverageRow is an account with its side.
type coverageRow struct {
	Side string
	Coverage
}

// coverageOf lists the accounts of both sides, those with gaps first where there are too
// many to show them all.
func coverageOf(s *Summary) []coverageRow {
	var out []coverageRow
	for _, side := range s.Sides {
		for _, c := range side.Coverage {
			out = append(out, coverageRow{side.Side, c})
		}
	}
	if len(out) > timelineRows {
		slices.SortStableFunc(out, func(a, b coverageRow) int { return cmp.Compare(min(len(b.Gaps), 1), min(len(a.Gaps), 1)) })
	}
	return out
}

// timelineOf draws the accounts over the time from the first to the last thing that is
// known, or around the period where that is much longer. Nil where no time is known.
func timelineOf(s *Summary, list []coverageRow, zone *time.Location, local func(string) string) *timeline {
	var at []int64
	note := func(texts ...string) {
		for _, x := range texts {
			if n, ok := seconds(x); ok {
				at = append(at, n)
			}
		}
	}
	for _, c := range list {
		if !provesNothing(c.Coverage) {
			note(c.From, c.Until)
		}
		for _, g := range c.Gaps {
			note(g.From, g.Until)
		}
	}
	note(s.AsOf)
	if s.Period != nil {
		note(s.Period.From, s.Period.Until)
	}
	if len(list) == 0 || len(at) < 2 {
		return nil
	}
	from, until := slices.Min(at), slices.Max(at)
	out := &timeline{Of: len(list)}
	now, known := seconds(s.AsOf)
	if s.Period != nil {
		a, okA := seconds(s.Period.From)
		b, okB := seconds(s.Period.Until)
		if length := b - a; okA && okB && length > 0 {
			if until-from > 10*length {
				lo, hi := max(from, a-3*length), min(until, max(b, now)+length)
				out.Clipped = lo > from || hi < until
				from, until = lo, hi
			}
			p := stretchOf(a, b, from, until)
			out.Period = &p
		}
	}
	if from == until {
		return nil
	}
	if known && now >= from && now <= until {
		out.Now = across(now-from, until-from)
	}
	out.Ticks = timeTicks(from, until, zone)
	for _, c := range list[:min(len(list), timelineRows)] {
		r := timelineRow{Side: c.Side, Account: c.Account, Source: c.Source, Proves: c.Proves, Says: coverageText(c, local)}
		a, okA := seconds(c.From)
		b, okB := seconds(c.Until)
		switch {
		case c.Complete:
			r.Proved = []stretch{{"0%", "100%"}}
		case okA && okB && !provesNothing(c.Coverage):
			r.Proved, r.Gaps = cutOut(a, b, c.Gaps, from, until)
		default:
			_, r.Gaps = cutOut(until, until, c.Gaps, from, until)
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// cutOut is the time from a to b without the gaps, and the gaps.
func cutOut(a, b int64, gaps []Gap, from, until int64) (proved, out []stretch) {
	type piece struct{ from, until int64 }
	left := []piece{{a, b}}
	for _, g := range gaps {
		x, okX := seconds(g.From)
		y, okY := seconds(g.Until)
		if !okX || !okY {
			continue
		}
		if x < until && y > from {
			out = append(out, stretchOf(x, y, from, until))
		}
		var next []piece
		for _, p := range left {
			if p.from < min(p.until, x) {
				next = append(next, piece{p.from, min(p.until, x)})
			}
			if max(p.from, y) < p.until {
				next = append(next, piece{max(p.from, y), p.until})
			}
		}
		left = next
	}
	for _, p := range left {
		if p.from < p.until && p.from < until && p.until > from {
			proved = append(proved, stretchOf(p.from, p.until, from, until))
		}
	}
	return proved, out
}

// coverageText says in words what a row of the timeline shows.
func coverageText(c coverageRow, local func(string) string) string {
	text := fmt.Sprintf("%s, account %s: ", c.Side, orDefault(shown(c.Account)))
	switch {
	case c.Complete:
		return text + "everything is proved"
	case provesNothing(c.Coverage):
		text += "nothing is proved"
	default:
		text += fmt.Sprintf("proved from %s until %s", local(c.From), local(c.Until))
	}
	var gaps []string
	for i, g := range c.Gaps {
		if i == 5 {
			gaps = append(gaps, fmt.Sprintf("and %d more", len(c.Gaps)-i))
			break
		}
		gaps = append(gaps, fmt.Sprintf("%s to %s, %s", local(g.From), local(g.Until), shown(g.Reason)))
	}
	if len(gaps) > 0 {
		text += "; not proved: " + strings.Join(gaps, "; ")
	}
	return text
}

// provesNothing tells whether no time at all is proved.
func provesNothing(c Coverage) bool { return !c.Complete && c.From == c.Until }

// orDefault names the account that has no name.
func orDefault(account string) string { return cmp.Or(account, "default") }
