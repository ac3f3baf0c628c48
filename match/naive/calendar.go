package naive

import (
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// Business calendars, by looking at the clock of the zone minute by minute. It
// knows nothing of offsets and their changes: what the clock shows decides.
//
// Reading: a cut-off that the clock shows twice bars what comes after it was first
// shown, and is due when it was shown last; one that the clock skips is at the jump.

// calendar is a calendar with its zone.
type calendar struct {
	rules.Calendar
	zone *time.Location
	ends map[string]int64 // of the days that were asked for
}

func (w *world) calendar(p rules.TypePolicy) calendar {
	if w.ends[p.Calendar] == nil {
		w.ends[p.Calendar] = map[string]int64{}
	}
	c := calendar{w.job.Calendars[p.Calendar], w.job.Zone, w.ends[p.Calendar]}
	if c.Zone != "" {
		zone, err := time.LoadLocation(c.Zone)
		if err != nil {
			panic(err) // the loader refuses it
		}
		c.zone = zone
	}
	return c
}

// deadlineEnd is when the deadline of an operation that began at us is over.
func (w *world) deadlineEnd(p rules.TypePolicy, us int64) int64 {
	if p.DeadlineDays > 0 {
		return w.calendar(p).after(us, p.DeadlineDays)
	}
	return us + p.Deadline.Microseconds()
}

// expectedEnd is when an attempt made at us should have shown its result.
func (w *world) expectedEnd(p rules.TypePolicy, us int64) int64 {
	if p.ExpectedDays > 0 {
		return w.calendar(p).after(us, p.ExpectedDays)
	}
	return us + p.Expected.Microseconds()
}

// opened is the first instant whose deadline by the policy is not over before us.
func (w *world) opened(p rules.TypePolicy, us int64) int64 {
	if p.DeadlineDays == 0 {
		return us - p.Deadline.Microseconds()
	}
	const day = int64(24 * time.Hour / time.Microsecond)
	early := us // the deadline of early is over before us, that of late is not
	for w.deadlineEnd(p, early) >= us {
		early -= day
	}
	late := us
	for late-early > 1 {
		if mid := early + (late-early)/2; w.deadlineEnd(p, mid) >= us {
			late = mid
		} else {
			early = mid
		}
	}
	return late
}

// after is the end of so many business days after an instant.
func (c calendar) after(us int64, days int) int64 {
	at := time.UnixMicro(us).In(c.zone)
	year, month, day := at.Date()
	if c.CutOff > 0 && c.late(at) {
		day++
	}
	date := c.businessDay(year, month, day)
	for range days {
		y, m, d := date.Date()
		date = c.businessDay(y, m, d+1)
	}
	return c.endOf(date)
}

// late tells whether the clock has shown the cut-off of that date before.
func (c calendar) late(at time.Time) bool {
	if clock(at) > c.CutOff {
		return true
	}
	if clock(at) < c.CutOff-4*time.Hour { // no clock goes back so far
		return false
	}
	for before := range 4 * 60 {
		earlier := at.Add(-time.Duration(before+1) * time.Minute)
		if earlier.YearDay() == at.YearDay() && clock(earlier) >= c.CutOff {
			return true
		}
	}
	return false
}

// clock is the time of day that a clock shows.
func clock(at time.Time) time.Duration {
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute +
		time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
}

// businessDay is noon of the first business day from a date on.
func (c calendar) businessDay(year int, month time.Month, day int) time.Time {
	weekend := c.Weekend
	if weekend == nil {
		weekend = []time.Weekday{time.Saturday, time.Sunday}
	}
	for ; ; day++ {
		name := time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Format(time.DateOnly)
		noon := time.Date(year, month, day, 12, 0, 0, 0, c.zone)
		there := noon.Format(time.DateOnly) == name // or the zone skips the date
		if there && !slices.Contains(weekend, noon.Weekday()) && !slices.Contains(c.Holidays, name) {
			return noon
		}
	}
}

// endOf is the cut-off of the day, or the end of the day: after the last minute at
// which the clock shows an earlier time.
func (c calendar) endOf(noon time.Time) int64 {
	day := noon.Format(time.DateOnly)
	if us, known := c.ends[day]; known {
		return us
	}
	end := day + " 24:00"
	if c.CutOff > 0 {
		midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		end = day + midnight.Add(c.CutOff).Format(" 15:04")
	}
	last := noon.Add(-16 * time.Hour)
	for at := last; at.Before(noon.Add(16 * time.Hour)); at = at.Add(time.Minute) {
		if at.Format("2006-01-02 15:04") < end {
			last = at.Add(time.Minute)
		}
	}
	c.ends[day] = last.UnixMicro()
	return c.ends[day]
}
