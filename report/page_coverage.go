package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// timeline shows for each account which time its sources prove.
type timeline struct {
	Rows    []timelineRow
	Absent  []absenceLane // what can be concluded of operations, by the time of their creation
	Of      int           // accounts in all: those with gaps are shown first
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

// absenceLane is what the silence of one account means for operations of one type.
type absenceLane struct {
	Type, Account, Knows      string
	Proved, NotDue, NotProved []stretch
	Says                      string
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
	from, until, clipped := EvidenceOf(s).Range()
	if len(list) == 0 || from == until {
		return nil
	}
	out := &timeline{Of: len(list), Clipped: clipped}
	now, known := seconds(s.AsOf)
	if s.Period != nil {
		a, okA := seconds(s.Period.From)
		b, okB := seconds(s.Period.Until)
		if okA && okB && a < b {
			p := stretchOf(a, b, from, until)
			out.Period = &p
		}
	}
	if known && now >= from && now <= until {
		out.Now = across(now-from, until-from)
	}
	out.Ticks = timeTicks(from, until, zone)
	for _, c := range list[:min(len(list), timelineRows)] {
		r := timelineRow{Side: c.Side, Account: c.Account, Source: c.Source, Proves: c.Proves, Says: coverageText(c, local)}
		a, b, ok := Span(c.From, c.Until)
		switch {
		case c.Complete:
			r.Proved = []stretch{{"0%", "100%"}}
		case ok && !provesNothing(c.Coverage):
			r.Proved, r.Gaps = cutOut(a, b, c.Gaps, from, until)
		default:
			_, r.Gaps = cutOut(until, until, c.Gaps, from, until)
		}
		out.Rows = append(out.Rows, r)
	}
	for _, a := range s.Absences[:min(len(s.Absences), timelineRows)] {
		out.Absent = append(out.Absent, laneOf(a, from, until, local))
	}
	return out
}

// laneOf draws what can be concluded of operations of one type.
func laneOf(a Absence, from, until int64, local func(string) string) absenceLane {
	l := absenceLane{Type: a.Type, Account: a.Account, Knows: a.Knows}
	var words []string
	for _, x := range a.Spans {
		f, okF := seconds(x.From)
		u, okU := seconds(x.Until)
		if !okF || !okU {
			continue
		}
		to := map[string]*[]stretch{string(match.AbsenceProved): &l.Proved, string(match.AbsenceNotDue): &l.NotDue, string(match.AbsenceNotProved): &l.NotProved}[x.State]
		if to != nil && f < until && u > from {
			*to = append(*to, stretchOf(f, u, from, until))
		}
		words = append(words, fmt.Sprintf("created from %s until %s: %s", local(x.From), local(x.Until), absenceText(x.State)))
	}
	where := ""
	if a.Knows != "" {
		where = ", where " + shown(a.Knows)
	}
	l.Says = fmt.Sprintf("%s, account %s%s: %s", ofTypeText(a.Type), orDefault(shown(a.Account)), where, strings.Join(words, "; "))
	return l
}

// absenceText is a state in words.
func absenceText(state string) string {
	switch match.AbsenceState(state) {
	case match.AbsenceProved:
		return "absent, where there is no result"
	case match.AbsenceNotDue:
		return "not due"
	case match.AbsenceNotProved:
		return "not proved"
	}
	return state
}

// ofTypeText names operations of a type.
func ofTypeText(t string) string {
	switch t {
	case "":
		return "operations"
	case "*":
		return "other types"
	}
	return shown(t)
}

// cutOut is the time from a to b without the gaps, and the gaps.
func cutOut(a, b int64, gaps []Gap, from, until int64) (proved, out []stretch) {
	type piece struct{ from, until int64 }
	left := []piece{{a, b}}
	for _, g := range gaps {
		x, y, ok := Span(g.From, g.Until)
		if !ok {
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
		text += "proved " + StretchText(c.From, c.Until, local)
	}
	var gaps []string
	for i, g := range c.Gaps {
		if i == 5 {
			gaps = append(gaps, fmt.Sprintf("and %d more", len(c.Gaps)-i))
			break
		}
		gaps = append(gaps, StretchText(g.From, g.Until, local)+", "+shown(g.Reason))
	}
	if len(gaps) > 0 {
		text += "; not proved: " + strings.Join(gaps, "; ")
	}
	return text
}

// Span is an interval of a coverage in seconds since 1970, wide where it has no end; ok
// where it can be read and is not empty.
func Span(from, until string) (a, b int64, ok bool) {
	const wide = int64(1) << 60
	a, okA := seconds(from)
	if from == "" {
		a, okA = -wide, true
	}
	b, okB := seconds(until)
	if until == "" {
		b, okB = wide, true
	}
	return a, b, okA && okB && a < b
}

// StretchText says when an interval of a coverage is.
func StretchText(from, until string, local func(string) string) string {
	switch {
	case from == "" && until == "":
		return "always"
	case from == "":
		return "until " + local(until)
	case until == "":
		return "from " + local(from) + " on"
	}
	return local(from) + " until " + local(until)
}

// provesNothing tells whether no time at all is proved.
func provesNothing(c Coverage) bool { return !c.Complete && c.From == c.Until }

// orDefault names the account that has no name.
func orDefault(account string) string { return cmp.Or(account, "default") }

// needsOf says which sources of an account may be missing; "" where all are required.
func needsOf(s *Summary, side, account string) string {
	var out []string
	for _, x := range s.Sides {
		for _, src := range x.Sources {
			if x.Side == side && src.Account == account && src.Need != string(rules.Required) {
				out = append(out, shown(src.Name)+" is "+src.Need)
			}
		}
	}
	return strings.Join(out, ", ")
}

// statesAny tells whether any of the sources states totals.
func statesAny(list []Source) bool {
	return slices.ContainsFunc(list, func(s Source) bool { return len(s.Controls) > 0 })
}
