package match

import (
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// BusinessWindow is a window of so many business days by a calendar (docs/calendars.md).
type BusinessWindow struct {
	Calendar rules.Calendar
	Days     int // at least 1
	zone     *time.Location
	number   int // of the calendar among the sorted names
}

// DeadlineWindow is the deadline of the policy by the calendar, false where it is a
// duration.
func DeadlineWindow(job *rules.Job, p rules.TypePolicy) (BusinessWindow, bool) {
	return businessWindow(job, p, p.DeadlineDays)
}

// ExpectedWindow is the expected time of the policy by the calendar, false where it
// is a duration.
func ExpectedWindow(job *rules.Job, p rules.TypePolicy) (BusinessWindow, bool) {
	return businessWindow(job, p, p.ExpectedDays)
}

func businessWindow(job *rules.Job, p rules.TypePolicy, days int) (BusinessWindow, bool) {
	if days <= 0 {
		return BusinessWindow{}, false
	}
	w := BusinessWindow{Calendar: job.Calendars[p.Calendar], Days: days, zone: job.Zone,
		number: slices.Index(sortedKeys(job.Calendars), p.Calendar)}
	if w.Calendar.Zone != "" {
		// The loader has read the zone; without it no day would begin, and nothing be due.
		w.zone, _ = time.LoadLocation(w.Calendar.Zone)
	}
	return w, true
}

// Zone is that of the calendar.
func (w BusinessWindow) Zone() *time.Location { return w.zone }

// longestBreak is the number of days after which a calendar without a business day
// is given up.
const longestBreak = 1000

// check refuses a calendar in which nothing would ever be due.
func (w BusinessWindow) check() error {
	const hint = "declare the calendar under calendars:, with a zone of the time zone database and a weekend that leaves a day of the week"
	if w.number < 0 {
		return fail.New(fail.Usage, "a window in business days names no calendar of the job").WithHint(hint)
	}
	if w.zone == nil {
		return fail.New(fail.Usage, "calendar %q: the zone %q is not known here", w.Calendar.Name, w.Calendar.Zone).WithHint(hint)
	}
	week := map[time.Weekday]bool{}
	for _, d := range w.weekend() {
		week[d] = true
	}
	if len(week) == 7 {
		return fail.New(fail.Usage, "calendar %q has no business days", w.Calendar.Name).WithHint(hint)
	}
	return nil
}

func (w BusinessWindow) weekend() []time.Weekday {
	if w.Calendar.Weekend == nil {
		return []time.Weekday{time.Saturday, time.Sunday}
	}
	return w.Calendar.Weekend
}

// date is a day of the calendar: midnight in UTC of that date, for counting alone.
type date = time.Time

func dateOf(t time.Time) date {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// business tells whether the day is a business day. A date that the zone skips (an
// island that moves across the date line) is none.
func (w BusinessWindow) business(d date) bool {
	if slices.Contains(w.weekend(), d.Weekday()) {
		return false
	}
	if _, holiday := slices.BinarySearch(w.Calendar.Holidays, d.Format(time.DateOnly)); holiday {
		return false
	}
	return w.firstAt(d).Before(w.firstAt(d.AddDate(0, 0, 1)))
}

// next is the first business day after d; prior the last one before it.
func (w BusinessWindow) next(d date) date  { return w.step(d, 1) }
func (w BusinessWindow) prior(d date) date { return w.step(d, -1) }

func (w BusinessWindow) step(d date, by int) date {
	for range longestBreak {
		if d = d.AddDate(0, 0, by); w.business(d) {
			return d
		}
	}
	return d
}

// add is n business days after d.
func (w BusinessWindow) add(d date, n int) date {
	for range n {
		d = w.next(d)
	}
	return d
}

// limit is the first instant that no longer counts as of the business day d: just
// after its cut-off, or the start of the next date. Of a cut-off that the clock shows
// twice the first one counts: what comes later counts later.
func (w BusinessWindow) limit(d date) time.Time {
	if w.Calendar.CutOff > 0 {
		return w.firstAt(d.Add(w.Calendar.CutOff)).Add(time.Microsecond)
	}
	return w.firstAt(d.AddDate(0, 0, 1))
}

// end is the due instant of the business day d: its cut-off, or the end of the day.
// Of a cut-off that the clock shows twice the second one counts.
func (w BusinessWindow) end(d date) time.Time {
	if w.Calendar.CutOff > 0 {
		return w.lastBefore(d.Add(w.Calendar.CutOff))
	}
	return w.lastBefore(d.AddDate(0, 0, 1))
}

// offsets lists the periods of the zone around a clock time, each with its start and
// its distance from UTC. Three days hold every change that could concern it.
func (w BusinessWindow) offsets(clock time.Time) []offset {
	var out []offset
	at := clock.AddDate(0, 0, -2)
	for {
		name := at.In(w.zone)
		_, seconds := name.Zone()
		_, until := name.ZoneBounds()
		o := offset{from: at, until: until, east: time.Duration(seconds) * time.Second}
		if until.IsZero() || until.After(clock.AddDate(0, 0, 2)) {
			o.until = clock.AddDate(0, 0, 2)
			return append(out, o)
		}
		// ZoneBounds may end a period early (golang 1.26, last day of a year in a zone
		// with a rule); the same offset goes on then, and nothing is lost.
		if !until.After(at) {
			o.until = at.Add(time.Hour)
		}
		out = append(out, o)
		at = o.until
	}
}

type offset struct {
	from, until time.Time
	east        time.Duration
}

// firstAt is the first instant at which the clock of the zone shows the time or a
// later one; where the clock skips it, the instant of the change. clock is the local
// time, written as if it were UTC.
func (w BusinessWindow) firstAt(clock time.Time) time.Time {
	for _, o := range w.offsets(clock) {
		at := clock.Add(-o.east)
		if at.Before(o.from) {
			at = o.from
		}
		if at.Before(o.until) {
			return at.UTC()
		}
	}
	return clock // unreachable: the last period reaches two days further than any offset
}

// lastBefore is the instant from which on the clock of the zone never again shows an
// earlier time.
func (w BusinessWindow) lastBefore(clock time.Time) time.Time {
	list := w.offsets(clock)
	slices.Reverse(list)
	for _, o := range list {
		at := clock.Add(-o.east)
		if !at.Before(o.until) {
			return o.until.UTC()
		}
		if at.After(o.from) {
			return at.UTC()
		}
	}
	return clock
}

// Business tells whether the date of a local time is a business day.
func (w BusinessWindow) Business(local time.Time) bool { return w.business(dateOf(local)) }

// CountsAs is the business day as of which the instant counts, as midnight in UTC of
// that date.
func (w BusinessWindow) CountsAs(t time.Time) time.Time {
	d := dateOf(t.In(w.zone)).AddDate(0, 0, -2)
	for range longestBreak {
		if d = w.next(d); t.Before(w.limit(d)) {
			return d
		}
	}
	return d
}

// DueDay is the business day at the end of which the window that starts at t is over,
// as midnight in UTC of that date.
func (w BusinessWindow) DueDay(t time.Time) time.Time { return w.add(w.CountsAs(t), w.Days) }

// Due is the end of the window that starts at t.
func (w BusinessWindow) Due(t time.Time) time.Time { return w.end(w.DueDay(t)) }

// Earliest is the first instant whose window is not over before t: what began
// earlier was due earlier.
func (w BusinessWindow) Earliest(t time.Time) time.Time {
	d := w.CountsAs(t)
	for i := 0; i < longestBreak; i++ {
		before := w.prior(d)
		if w.end(w.add(before, w.Days)).Before(t) {
			return w.limit(before)
		}
		d = before
	}
	return w.limit(d)
}
