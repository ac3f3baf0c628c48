package match

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Day is the calendar day of an instant in the job's zone, 2006-01-02.
func Day(job *rules.Bound, us int64) string {
	return time.UnixMicro(us).In(job.Zone).Format(time.DateOnly)
}

func sortedTypes(job *rules.Job) []string {
	out := make([]string, 0, len(job.Types))
	for t := range job.Types {
		out = append(out, t)
	}
	sort.Strings(out)
	return out
}

// HasWindow is a boolean over the operation: its type declares a window.
func HasWindow(job *rules.Job, s ColumnSet) string {
	return PolicyCase(job, s, func(p rules.TypePolicy) string { return fmt.Sprint(p.HasWindow) }, "false")
}

// Due is the instant (microseconds) from which the absence of a result means
// something (V25): max(created + deadline, last attempt + expected). The later
// reading of an ambiguous time counts. A window in business days ends as its calendar
// says (docs/calendars.md). NULL where the creation or the last attempt is unknown.
func Due(job *rules.Job, s ColumnSet) string {
	created, last := s.Late("created_at"), s.Late("last_attempt_at")
	deadline := windowEnd(job, s, created, DeadlineWindow, func(p rules.TypePolicy) time.Duration { return p.Deadline })
	if !s.Has("last_attempt_at") {
		return "(" + deadline + ")"
	}
	expected := windowEnd(job, s, last, ExpectedWindow, func(p rules.TypePolicy) time.Duration { return p.Expected })
	return fmt.Sprintf("CASE WHEN %s IS NULL OR %s THEN NULL ELSE greatest(%s, %s) END",
		created, lastUnknown(job, s), deadline, expected)
}

// lastUnknown is true where the time of the last attempt is there and cannot be read,
// or is not there although there was an attempt: the attempt may be a minute old, so
// that its result is not due.
func lastUnknown(job *rules.Job, s ColumnSet) string {
	unknown := s.Unknown("last_attempt_at")
	if !s.Has("attempts") {
		return unknown
	}
	waits := PolicyCase(job, s, func(p rules.TypePolicy) string { return fmt.Sprint(p.Expected > 0 || p.ExpectedDays > 0) }, "false")
	if waits == "false" {
		return unknown
	}
	return fmt.Sprintf("(%s OR (%s) AND %s IS NULL AND (%s OR coalesce(%s > 0, false)))",
		unknown, waits, s.Raw("last_attempt_at", "BIGINT"), s.Unknown("attempts"), s.Raw("attempts", "BIGINT"))
}

// segment is a covered time of an account after withdrawn gaps were cut out.
type segment struct {
	complete    bool
	from, until int64
	lag         int64
}

// segments cuts the withdrawn gaps out of an interval. A source that covers no time
// has none: no time of an operation could change that.
func segments(iv extract.Interval) []segment {
	lag := iv.Lag.Microseconds()
	if !iv.Complete && iv.From >= iv.Until {
		return nil
	}
	if len(iv.Withdrawn) == 0 {
		return []segment{{iv.Complete, iv.From, iv.Until, lag}}
	}
	if iv.Complete {
		return nil // a file that covers everything has no time of its own: the whole proof is withdrawn
	}
	gaps := slices.Clone(iv.Withdrawn)
	sort.Slice(gaps, func(a, b int) bool { return gaps[a].From < gaps[b].From })
	var out []segment
	from := iv.From
	for _, g := range gaps {
		if g.From > from {
			out = append(out, segment{false, from, min(g.From, iv.Until), lag})
		}
		from = max(from, g.Until)
	}
	if from < iv.Until {
		out = append(out, segment{false, from, iv.Until, lag})
	}
	return out
}

// Covered is a boolean over the operation (V26): each account that should know it
// covers, without gap and whole, the time from created − skew to Due + skew + lag.
// NULL where the operation has no creation time and the coverage needs one.
func Covered(job *rules.Bound, s ColumnSet, coverage []extract.Interval) string {
	return coveredOr(job, s, coverage, func(string) string { return "false" })
}

// coveredOr is Covered, where an account covers an operation as well for which the other condition holds.
func coveredOr(job *rules.Bound, s ColumnSet, coverage []extract.Interval, otherwise func(account string) string) string {
	accounts := map[string][]extract.Interval{}
	for _, iv := range coverage {
		accounts[iv.Account] = append(accounts[iv.Account], iv)
	}
	var all, any []string
	skew := job.ClockSkew.Microseconds()
	for _, name := range sortedKeys(accounts) {
		var ks, cs []string
		for _, iv := range accounts[name] {
			ks = append(ks, shouldKnow(s, iv, true))
			if !provesAbsence(iv) && iv.Proves != rules.SettledOnly {
				continue
			}
			guard := shouldKnow(s, iv, false)
			if iv.Proves == rules.SettledOnly {
				guard = and(guard, settlementIsEffect(job.Job, s))
			}
			for _, seg := range segments(iv) {
				if seg.complete {
					cs = append(cs, guard)
					continue
				}
				cs = append(cs, and(guard, fmt.Sprintf("(%s - %d >= %d AND %s + %d <= %d)",
					s.Instant("created_at"), skew, seg.from, Due(job.Job, s), skew+seg.lag, seg.until)))
			}
		}
		knows, covers := or(ks), or(append(cs, otherwise(name)))
		all = append(all, or([]string{not(knows), covers}))
		any = append(any, knows)
	}
	if len(accounts) == 0 {
		return "false"
	}
	return and(or(any), and(all...))
}

// provesAbsence tells whether the silence of the source proves an absence of any
// type; settled-only does for types whose declared effect is the settlement.
func provesAbsence(iv extract.Interval) bool {
	return iv.Proves == rules.FullLifecycle || iv.Proves == ""
}

func settlementIsEffect(job *rules.Job, s ColumnSet) string {
	return PolicyCase(job, s, func(p rules.TypePolicy) string { return fmt.Sprint(p.EffectIs == "settlement") }, "false")
}

// Knows is a boolean over the operation: some source of the account should know it.
func Knows(s ColumnSet, coverage []extract.Interval, account string) string {
	var ks []string
	for _, iv := range coverage {
		if iv.Account == account {
			ks = append(ks, shouldKnow(s, iv, true))
		}
	}
	return or(ks)
}

// shouldKnow is a boolean over the operation: the source's `types` and `knows` hold
// for it. unknown is the answer where the operation lacks what they ask for: true
// when the question is who must be heard, false when it is whose silence counts.
func shouldKnow(s ColumnSet, iv extract.Interval, unknown bool) string {
	cond := "true"
	if len(iv.Types) > 0 && s.Has("type") {
		lits := make([]string, len(iv.Types))
		for i, t := range iv.Types {
			lits[i] = duck.Literal(t)
		}
		cond = fmt.Sprintf("coalesce(%s IN (%s), %t)", s.Raw("type", "VARCHAR"), strings.Join(lits, ", "), unknown)
	}
	if iv.Knows != nil {
		cond = and(cond, fmt.Sprintf("coalesce(%s, %t)", iv.Knows.SQL(s.InExpr), unknown))
	}
	return cond
}

// CoveredResult is a boolean over a result (V29): the operations export covers the
// time from booked − longest deadline − skew to booked; by a calendar, from the first
// instant whose deadline is not over before booked − skew. NULL where the result has
// no time and the coverage needs one.
func CoveredResult(job *rules.Bound, s ColumnSet, coverage []extract.Interval) string {
	back := opened(job, s.Instant("created_at"))
	var cs []string
	for _, iv := range coverage {
		for _, seg := range segments(iv) {
			if seg.complete {
				return "true"
			}
			cs = append(cs, fmt.Sprintf("(%s >= %d AND %s < %d)", back, seg.from, s.Late("created_at"), seg.until))
		}
	}
	return or(cs)
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// and, or, not simplify as they build, so that a job whose coverage is complete
// costs nothing at ten million rows.
func and(xs ...string) string {
	var keep []string
	for _, x := range xs {
		switch x {
		case "true":
		case "false":
			return "false"
		default:
			keep = append(keep, x)
		}
	}
	switch len(keep) {
	case 0:
		return "true"
	case 1:
		return keep[0]
	}
	return "(" + strings.Join(keep, " AND ") + ")"
}

func or(xs []string) string {
	var keep []string
	for _, x := range xs {
		switch x {
		case "false":
		case "true":
			return "true"
		default:
			keep = append(keep, x)
		}
	}
	switch len(keep) {
	case 0:
		return "false"
	case 1:
		return keep[0]
	}
	return "(" + strings.Join(keep, " OR ") + ")"
}

func not(x string) string {
	switch x {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	return "NOT " + x
}
