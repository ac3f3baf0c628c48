package pipeline

import (
	"fmt"
	"time"

	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// window tells the end of the window of an operation of the policy (V25), and the
// arithmetic in words.
func window(job *rules.Job, p rules.TypePolicy, created time.Time, last time.Time, hasLast bool) (due time.Time, words []string) {
	days, byCalendar := match.DeadlineWindow(job, p)
	due, words = windowPart("created", "deadline", created, p.Deadline, days, byCalendar)
	if !hasLast {
		return due, words
	}
	days, byCalendar = match.ExpectedWindow(job, p)
	end, more := windowPart("last attempt", "expected", last, p.Expected, days, byCalendar)
	if end.After(due) {
		due = end
	}
	return due, append(words, more...)
}

// windowPart is one part of the window: so long, or so many business days, after its
// start.
func windowPart(start, name string, at time.Time, length time.Duration, w match.BusinessWindow, byCalendar bool) (time.Time, []string) {
	if !byCalendar {
		end := at.Add(length)
		return end, []string{fmt.Sprintf("%s %s + %s %s = %s", start, clock(at), name, durationText(length), clock(end))}
	}
	local, end := at.In(w.Zone()), w.Due(at)
	counts := w.CountsAs(at)
	line := fmt.Sprintf("%s %s is %s in %s", start, clock(at), local.Format("Monday 2006-01-02 15:04:05"), w.Zone())
	if local.Format(time.DateOnly) == counts.Format(time.DateOnly) {
		line += fmt.Sprintf(", a business day of the calendar %s", w.Calendar.Name)
	} else {
		line += fmt.Sprintf(", %s: it counts as of %s", notThatDay(w, local), day(counts))
	}
	days := "business days"
	if w.Days == 1 {
		days = "business day"
	}
	until := "the end of " + day(w.DueDay(at))
	if w.Calendar.CutOff > 0 {
		until = "the cut-off of " + day(w.DueDay(at))
	}
	return end, []string{line, fmt.Sprintf("%s + %s %d %s = %s = %s", day(counts), name, w.Days, days, until, clock(end))}
}

// notThatDay says why an instant does not count as of its own date.
func notThatDay(w match.BusinessWindow, local time.Time) string {
	if !w.Business(local) {
		return "no business day of the calendar " + w.Calendar.Name
	}
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(w.Calendar.CutOff)
	return fmt.Sprintf("after the cut-off %s of the calendar %s", at.Format("15:04"), w.Calendar.Name)
}

func day(d time.Time) string { return d.Format("Monday 2006-01-02") }
