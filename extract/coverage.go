package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// The ends of time for intervals without a beginning or an end, in microseconds.
// They lie 146,000 years away and leave room to add a window without overflow.
const (
	BeginningOfTime = -int64(1) << 62
	EndOfTime       = int64(1) << 62
)

// evidence is what one input of a source came to.
type evidence struct {
	source   *rules.Source
	complete bool
	from     *int64
	until    *int64
	through  *int64 // what it says itself that it reaches to, before until; nil: nothing
	proved   bool   // at least one file was staged whole
	missing  string // why nothing is known of its time; "" where proved
	noFile   bool   // it is missing because there is no file, not because it is a copy
	spoiled  string // why its time is not proved, whatever other files say; "" none

	blemishes []blemish // its files that take proof away
	bySource  bool      // spoiled by a check of the whole source
}

// coverageGroup collects the inputs that continue each other: of one account, with
// the same meaning of their silence.
type coverageGroup struct {
	Interval
	sources  []string
	complete bool
	spans    []Gap // proved
	missing  []Gap
	spoiled  []Gap
	foreign  []Gap // spoiled by other groups of the account
}

// coverageOf merges what the inputs prove into intervals (V26). Every account has
// at least one interval, an empty one where nothing is proved, since an account
// that should know an operation and proves nothing is what stands against an
// absence.
//
// A spoiled input withdraws its time from all of its account, whatever lag or types
// its neighbours declare: an effect could stand in what was not read. One that is
// missing leaves its time to the other sources of an account that the job names,
// since they continue each other; sources without a declared account may well be
// several providers, and none of them speaks for another.
func coverageOf(inputs []evidence) []Interval {
	var groups []*coverageGroup
	byKey := map[string]*coverageGroup{}
	for _, e := range inputs {
		c := e.source.Coverage
		knows := ""
		if c.Knows != nil {
			knows = c.Knows.Text
		}
		types := slices.Sorted(slices.Values(c.Types))
		key := fmt.Sprintf("%q %q %q %q %d", c.Account, c.Proves, types, knows, c.Lag)
		g := byKey[key]
		if g == nil {
			g = &coverageGroup{Interval: Interval{
				Account: c.Account, Proves: c.Proves, Types: c.Types, Knows: c.Knows, Lag: c.Lag,
			}}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.add(e, tail(e, inputs))
	}
	var out []Interval
	for _, g := range groups {
		for _, other := range groups {
			if other != g && other.speaksTo(g) {
				g.foreign = append(g.foreign, other.spoiled...)
			}
		}
		out = append(out, g.intervals()...)
	}
	return out
}

// speaksTo tells whether what is spoiled in this group could hold an effect of an
// operation that the other group should know.
func (g *coverageGroup) speaksTo(other *coverageGroup) bool {
	switch {
	case g.Account != other.Account, g.Proves == rules.FailuresOnly:
		return false
	case len(g.Types) == 0, len(other.Types) == 0:
		return true
	}
	return slices.ContainsFunc(g.Types, func(t string) bool { return slices.Contains(other.Types, t) })
}

// tail is the time at the end of what an input declares that it says itself not to hold
// yet, but for what other inputs of its source hold.
func tail(e evidence, inputs []evidence) []Gap {
	if e.through == nil {
		return nil
	}
	var own []Gap
	for _, o := range inputs {
		if o.source.Name != e.source.Name || !o.proved || o.spoiled != "" || o.from == nil || o.until == nil {
			continue
		}
		until := *o.until
		if o.through != nil {
			until = min(until, *o.through)
		}
		own = append(own, Gap{From: *o.from, Until: until})
	}
	return subtract([]Gap{{From: *e.through, Until: *e.until, Reason: "its data end here, by its own word"}}, own)
}

// add takes an input with the time that it says not to hold yet.
func (g *coverageGroup) add(e evidence, tail []Gap) {
	if !slices.Contains(g.sources, e.source.Name) {
		g.sources = append(g.sources, e.source.Name)
	}
	span := Gap{From: BeginningOfTime, Until: EndOfTime}
	switch {
	case e.complete:
	case e.from != nil && e.until != nil && *e.from < *e.until:
		span.From, span.Until = *e.from, *e.until
	default:
		return // nothing declared: covers nothing
	}
	switch {
	case e.spoiled != "":
		span.Reason = e.spoiled
		g.spoiled = append(g.spoiled, span)
	case e.proved:
		if e.through != nil {
			span.Until = *e.through
			g.missing = append(g.missing, tail...)
			if e.source.Coverage.Account == "" {
				g.spoiled = append(g.spoiled, tail...) // no other source can stand for it
			}
		}
		g.spans = append(g.spans, span)
		g.complete = g.complete || e.complete
	default:
		span.Reason = e.missing
		g.missing = append(g.missing, span)
		if e.complete || e.noFile && e.source.Coverage.Account == "" {
			// A source that should be everything and is not there leaves no time proved;
			// nor does one for which no other can stand.
			g.spoiled = append(g.spoiled, span)
		}
	}
}

// intervals gives the proved times of the group, merged, without the spoiled ones.
func (g *coverageGroup) intervals() []Interval {
	proved := mergeSpans(g.spans)
	var gaps []Gap
	for _, m := range g.missing {
		for _, rest := range subtract([]Gap{m}, proved) {
			rest.Reason = m.Reason
			gaps = append(gaps, rest)
		}
	}
	for _, s := range slices.Concat(g.spoiled, g.foreign) {
		proved = subtract(proved, []Gap{s})
		if !slices.Contains(gaps, s) {
			gaps = append(gaps, s)
		}
	}
	slices.SortStableFunc(gaps, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	g.Source = strings.Join(g.sources, ", ")
	g.Withdrawn = gaps
	if len(proved) == 0 {
		return []Interval{g.Interval}
	}
	out := make([]Interval, len(proved))
	for i, p := range proved {
		out[i] = g.Interval
		out[i].From, out[i].Until = p.From, p.Until
		out[i].Complete = p.From == BeginningOfTime && p.Until == EndOfTime
	}
	return out
}

// mergeSpans joins spans that touch or overlap, in order.
func mergeSpans(spans []Gap) []Gap {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	var out []Gap
	for _, s := range sorted {
		if n := len(out); n > 0 && s.From <= out[n-1].Until {
			out[n-1].Until = max(out[n-1].Until, s.Until)
			continue
		}
		out = append(out, Gap{From: s.From, Until: s.Until})
	}
	return out
}

// subtract takes the times of b out of the spans of a.
func subtract(a, b []Gap) []Gap {
	for _, cut := range b {
		var next []Gap
		for _, s := range a {
			if cut.Until <= s.From || s.Until <= cut.From {
				next = append(next, s)
				continue
			}
			if s.From < cut.From {
				next = append(next, Gap{From: s.From, Until: cut.From, Reason: s.Reason})
			}
			if cut.Until < s.Until {
				next = append(next, Gap{From: cut.Until, Until: s.Until, Reason: s.Reason})
			}
		}
		a = next
	}
	return a
}

// describeSpan writes a covered time for people, in UTC.
func describeSpan(from, until *int64) string {
	if from == nil || until == nil {
		return "its whole time"
	}
	return describeInstant(*from) + " to " + describeInstant(*until)
}

// describeInstant writes an instant for people, in UTC.
func describeInstant(us int64) string {
	return time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05Z")
}
