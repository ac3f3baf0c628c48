package match

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Windows by a calendar in SQL. The end of such a window is a function of its start
// that changes once a business day. It is written as a tree of comparisons with the
// instants at which it changes, over the range of times that the rows hold: as many
// comparisons a row as the logarithm of the number of days. Due and CoveredResult
// call it by the name of a macro, which a run makes before any row is judged. A job
// without calendars has none of it.

// calendarYears bounds the range around the reference time. Before it a window counts
// as if it had started at its beginning, which asks for more coverage and never for
// less; after it nothing is due.
const calendarYears = 5

// Ends that no time of a row reaches (years 9999 and 1).
const (
	neverDue   = int64(253402300799999999)
	alwaysOpen = int64(-62135596800000000)
)

// businessWindows lists the windows by a calendar that the job declares, each once.
func businessWindows(job *rules.Job) []BusinessWindow {
	var out []BusinessWindow
	seen := map[string]bool{}
	for _, t := range sortedTypes(job) {
		for _, of := range []func(*rules.Job, rules.TypePolicy) (BusinessWindow, bool){DeadlineWindow, ExpectedWindow} {
			if w, ok := of(job, job.Types[t]); ok && !seen[w.macro("due")] {
				seen[w.macro("due")] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// macro names a function of the window: due (its end, by its start) or earliest (the
// first start whose end is not before an instant).
func (w BusinessWindow) macro(what string) string {
	return fmt.Sprintf("%s_after_%d_by_calendar_%d", what, w.Days, w.number)
}

// calendars makes the macros, for the times that the rows hold.
func (c *cascade) calendars() error {
	windows := businessWindows(c.job.Job)
	if len(windows) == 0 {
		return nil
	}
	starts, err := c.timeRange(left, "created_at", "last_attempt_at")
	if err != nil {
		return err
	}
	booked, err := c.timeRange(right, "created_at")
	if err != nil {
		return err
	}
	skew := c.job.ClockSkew
	booked = [2]time.Time{booked[0].Add(-skew), booked[1].Add(skew)}
	for _, w := range windows {
		if err := w.check(); err != nil {
			return err
		}
		if err := c.exec("calendar", duck.Slots{"name": w.macro("due"), "tree": w.dueSteps(starts).sql()}); err != nil {
			return err
		}
		if err := c.exec("calendar", duck.Slots{"name": w.macro("earliest"), "tree": w.earliestSteps(booked).sql()}); err != nil {
			return err
		}
	}
	return nil
}

// timeRange is the first and the last time of some fields of a side, within the
// bound around the reference time; where there is none, that time.
func (c *cascade) timeRange(n names, fields ...string) ([2]time.Time, error) {
	cols := Columns(c.job.Job, c.relation(n.side).Layout, "")
	at := c.job.AsOfTime
	lo, hi := at, at
	for _, f := range fields {
		var first, last sql.NullInt64
		q := fmt.Sprintf("SELECT min(%s), max(%s) FROM %s", cols.Instant(f), cols.Late(f), n.view)
		if err := c.db.Scan(c.ctx, q, &first, &last); err != nil {
			return [2]time.Time{}, err
		}
		if first.Valid && last.Valid {
			lo, hi = earlier(lo, time.UnixMicro(first.Int64)), later(hi, time.UnixMicro(last.Int64))
		}
	}
	return [2]time.Time{later(lo, at.AddDate(-calendarYears, 0, 0)), earlier(hi, at.AddDate(calendarYears, 0, 0))}, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// steps is a function of an instant in microseconds: values[i] from at[i-1] until
// before at[i]; at rises, and there is one value more.
type steps struct{ at, values []int64 }

// add ends the present value at an instant, where the next one begins.
func (s *steps) add(value int64, until time.Time) {
	s.values, s.at = append(s.values, value), append(s.at, until.UnixMicro())
}

// dueSteps is the end of the window by its start.
func (w BusinessWindow) dueSteps(within [2]time.Time) steps {
	var s steps
	d := w.CountsAs(within[0])
	end := w.add(d, w.Days)
	for {
		s.add(w.end(end).UnixMicro(), w.limit(d))
		if w.limit(d).After(within[1]) {
			break
		}
		d, end = w.next(d), w.next(end)
	}
	s.values = append(s.values, neverDue)
	return s
}

// earliestSteps is the first start whose window is not over before an instant.
func (w BusinessWindow) earliestSteps(within [2]time.Time) steps {
	d := w.CountsAs(w.Earliest(within[0]))
	end := w.add(d, w.Days)
	before := w.prior(d)
	// Before the range nothing is known of what may still have been open.
	s := steps{}
	s.add(alwaysOpen, w.end(w.add(before, w.Days)).Add(time.Microsecond))
	for {
		s.add(w.limit(before).UnixMicro(), w.end(end).Add(time.Microsecond))
		if w.end(end).After(within[1]) {
			break
		}
		before, d, end = d, w.next(d), w.next(end)
	}
	s.values = append(s.values, s.values[len(s.values)-1])
	return s
}

// sql writes the function over t as a balanced tree; NULL gives NULL.
func (s steps) sql() string {
	var b strings.Builder
	b.WriteString("CASE WHEN t IS NULL THEN NULL ELSE ")
	s.tree(&b, 0, len(s.at))
	b.WriteString(" END")
	return b.String()
}

// tree writes the values from lo to hi, both included.
func (s steps) tree(b *strings.Builder, lo, hi int) {
	if lo == hi {
		fmt.Fprint(b, s.values[lo])
		return
	}
	mid := (lo + hi) / 2
	fmt.Fprintf(b, "CASE WHEN t < %d THEN ", s.at[mid])
	s.tree(b, lo, mid)
	b.WriteString(" ELSE ")
	s.tree(b, mid+1, hi)
	b.WriteString(" END")
}

// windowEnd is the end of a window that starts at an instant, both SQL: by the
// calendar, or so long after it.
func windowEnd(job *rules.Job, s ColumnSet, start string, by func(*rules.Job, rules.TypePolicy) (BusinessWindow, bool), length func(rules.TypePolicy) time.Duration) string {
	plain := true
	for _, p := range job.Types {
		if _, ok := by(job, p); ok {
			plain = false
		}
	}
	us := func(p rules.TypePolicy) string { return fmt.Sprint(length(p).Microseconds()) }
	if plain {
		return start + " + " + PolicyCase(job, s, us, "0")
	}
	return PolicyCase(job, s, func(p rules.TypePolicy) string {
		if w, ok := by(job, p); ok {
			return w.macro("due") + "(" + start + ")"
		}
		return start + " + " + us(p)
	}, start)
}

// opened is the time back to which the operations export must reach for a result of
// that time (V29): to the first operation that could still have been open.
func opened(job *rules.Bound, booked string) string {
	var longest time.Duration
	var calls []string
	seen := map[string]bool{}
	skew := job.ClockSkew.Microseconds()
	for _, t := range sortedTypes(job.Job) {
		p := job.Types[t]
		w, ok := DeadlineWindow(job.Job, p)
		if !ok {
			longest = max(longest, p.Deadline)
			continue
		}
		if call := fmt.Sprintf("%s(%s - %d)", w.macro("earliest"), booked, skew); !seen[call] {
			seen[call] = true
			calls = append(calls, call)
		}
	}
	plain := fmt.Sprintf("%s - %d", booked, longest.Microseconds()+skew)
	if len(calls) == 0 {
		return plain
	}
	return "least(" + plain + ", " + strings.Join(calls, ", ") + ")"
}

// LongestBack is the time back to which the operations export must reach for a
// result booked at t (V29), for those who explain it.
func LongestBack(job *rules.Bound, t time.Time) time.Time {
	at := t.Add(-job.ClockSkew)
	back := at
	for _, p := range job.Types {
		if w, ok := DeadlineWindow(job.Job, p); ok {
			back = earlier(back, w.Earliest(at))
		} else {
			back = earlier(back, at.Add(-p.Deadline))
		}
	}
	return back
}
