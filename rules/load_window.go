package rules

import (
	"time"

	"go.yaml.in/yaml/v4"
)

// window reads when a result is expected and due, each by the clock or in business
// days.
func (d *decoder) window(name string, w *object, p *TypePolicy, job *Job) {
	if w == nil {
		return
	}
	p.HasWindow = true
	p.Expected, p.ExpectedDays = d.windowTime(w, "expected")
	p.Deadline, p.DeadlineDays = d.windowTime(w, "deadline")
	if w.has("calendar") {
		p.Calendar = w.text("calendar", "")
		if _, ok := job.Calendars[p.Calendar]; !ok && p.Calendar != "" && !d.faulty("calendars."+p.Calendar) {
			hint := didYouMean(p.Calendar, sortedKeys(job.Calendars))
			if hint == "" {
				hint = "add `calendars: {" + p.Calendar + ": {weekend: [saturday, sunday]}}`"
			}
			w.fail("calendar", hint, "%s: there is no calendar %q", w.at("calendar"), p.Calendar)
			return
		}
	}
	inDays := p.ExpectedDays > 0 || p.DeadlineDays > 0
	switch {
	case inDays && !w.has("calendar"):
		which := "expected"
		if p.DeadlineDays > 0 {
			which = "deadline"
		}
		w.fail(which, "add `calendar: name`, and declare it under `calendars:`", "%s counts business days, but the window names no calendar", w.at(which))
	case !inDays && w.has("calendar"):
		d.warn(w.at("calendar"), "write {business_days: n} where business days are meant", "the calendar %s changes nothing: the window of %s counts by the clock", p.Calendar, name)
	}
	if w.has("deadline") && deadlineBeforeExpected(p) {
		w.fail("deadline", "the deadline counts from the creation and is the longer of the two", "the deadline of %s is before a result is expected", name)
	}
}

// deadlineBeforeExpected tells whether the two contradict each other on ordinary
// days. n business days are n days of the clock then, and up to one more where they
// count to the end of the day; weekends only make them longer.
func deadlineBeforeExpected(p *TypePolicy) bool {
	switch {
	case p.ExpectedDays > 0 && p.DeadlineDays > 0:
		return p.DeadlineDays < p.ExpectedDays
	case p.ExpectedDays > 0:
		return p.Deadline < time.Duration(p.ExpectedDays)*day
	case p.DeadlineDays > 0:
		return p.Expected > time.Duration(p.DeadlineDays+1)*day
	}
	return p.Deadline < p.Expected
}

// windowTime is a duration, or so many business days.
func (d *decoder) windowTime(w *object, name string) (time.Duration, int) {
	n := w.node(name)
	if n == nil {
		return 0, 0
	}
	if n.Kind != yaml.MappingNode {
		return w.duration(name, 0), 0
	}
	b := d.object(n, businessDaysShape, w.at(name))
	if b == nil {
		return 0, 0
	}
	return 0, int(b.integer("business_days", 0, 1, maxBusinessDays))
}

// keyLifetime refuses policies that could never requeue safely (V39).
func (d *decoder) keyLifetime(name, path string, p TypePolicy, job *Job) {
	if p.KeyTTL == 0 || !p.Idempotent {
		return
	}
	deadline := join(join(path, "window"), "deadline")
	const late = "shorten the deadline: an absence must be known while the key still protects a requeue"
	c, known := job.Calendars[p.Calendar]
	switch shortest := time.Duration(p.DeadlineDays) * day; {
	case p.HasWindow && p.DeadlineDays == 0 && p.Deadline >= p.KeyTTL:
		d.fail(deadline, late, "the deadline of %s (%s) is not before the end of its idempotency key (%s), so that nothing could be requeued (V39)", name, formatDuration(p.Deadline), formatDuration(p.KeyTTL))
	case p.DeadlineDays > 0 && shortest >= p.KeyTTL:
		d.fail(deadline, late, "the deadline of %s (%d business days) is not before the end of its idempotency key (%s), so that nothing could be requeued (V39)", name, p.DeadlineDays, formatDuration(p.KeyTTL))
	case p.DeadlineDays > 0 && known && time.Duration(c.longest(p.DeadlineDays))*day >= p.KeyTTL:
		d.warn(deadline, "shorten the deadline, or accept that these go to review", "over a weekend %d business days are up to %d days, so that the idempotency key of %s (%s) may have ended before an absence is known", p.DeadlineDays, c.longest(p.DeadlineDays), name, formatDuration(p.KeyTTL))
	}
	if p.Backoff.Initial >= p.KeyTTL {
		d.fail(join(join(join(path, "retry"), "backoff"), "initial"), "shorten the first step: the attempt must lie within the lifetime of the key", "the first retry of %s (%s) is not before the end of its idempotency key (%s) (V39)", name, formatDuration(p.Backoff.Initial), formatDuration(p.KeyTTL))
	}
	if p.MaxDuration > p.KeyTTL {
		d.warn(join(join(path, "retry"), "max_duration"), "no attempt is proposed after the end of the key",
			"the longest duration of %s (%s) ends after its idempotency key (%s)", name, formatDuration(p.MaxDuration), formatDuration(p.KeyTTL))
	}
}
