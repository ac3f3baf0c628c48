package match

import (
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

func window(zone string, days int, cutOff time.Duration, holidays ...string) BusinessWindow {
	job := &rules.Job{Zone: time.UTC, Calendars: map[string]rules.Calendar{"c": {Name: "c", Zone: zone, CutOff: cutOff, Holidays: holidays}}}
	w, _ := businessWindow(job, rules.TypePolicy{Calendar: "c"}, days)
	return w
}

// weekend sets the days of the weekend; none is none, not the default.
func weekend(w BusinessWindow, days ...time.Weekday) BusinessWindow {
	w.Calendar.Weekend = append([]time.Weekday{}, days...)
	return w
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	x, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestDue: each line was counted by hand with a paper calendar.
func TestDue(t *testing.T) {
	const paris, five = "Europe/Paris", 17 * time.Hour
	newYear := []string{"2026-12-25", "2026-12-31", "2027-01-01"}
	for _, c := range []struct {
		name       string
		w          BusinessWindow
		start, due string
	}{
		{"one day", window(paris, 1, 0), "2026-11-24T09:00:00Z", "2026-11-25T23:00:00Z"},
		{"the local date counts, not that of UTC", window(paris, 1, 0), "2026-11-24T23:30:00Z", "2026-11-26T23:00:00Z"},
		{"the last microsecond of the day", window(paris, 1, 0), "2026-11-24T22:59:59.999999Z", "2026-11-25T23:00:00Z"},
		{"midnight is the next day", window(paris, 1, 0), "2026-11-24T23:00:00Z", "2026-11-26T23:00:00Z"},
		{"over a weekend", window(paris, 1, 0), "2026-11-27T09:00:00Z", "2026-11-30T23:00:00Z"},
		{"on a Saturday it counts as of Monday", window(paris, 1, 0), "2026-11-28T09:00:00Z", "2026-12-01T23:00:00Z"},
		{"before the cut-off", window(paris, 1, five), "2026-11-24T15:59:59.999999Z", "2026-11-25T16:00:00Z"},
		{"at the cut-off it is in time", window(paris, 1, five), "2026-11-24T16:00:00Z", "2026-11-25T16:00:00Z"},
		{"a microsecond after the cut-off it is not", window(paris, 1, five), "2026-11-24T16:00:00.000001Z", "2026-11-26T16:00:00Z"},
		{"a minute after", window(paris, 1, five), "2026-11-24T16:01:00Z", "2026-11-26T16:00:00Z"},
		{"after the cut-off of Friday it counts as of Monday", window(paris, 1, five), "2026-11-27T16:01:00Z", "2026-12-01T16:00:00Z"},
		{"after the cut-off of a Saturday: Monday just so", window(paris, 1, five), "2026-11-28T18:00:00Z", "2026-12-01T16:00:00Z"},
		{"the examples of docs/calendars.md: in time", window(paris, 2, five, newYear...), "2026-11-24T16:00:00Z", "2026-11-26T16:00:00Z"},
		{"a minute later", window(paris, 2, five, newYear...), "2026-11-24T16:01:00Z", "2026-11-27T16:00:00Z"},
		{"on a Friday evening", window(paris, 2, five, newYear...), "2026-11-27T17:30:00Z", "2026-12-02T16:00:00Z"},
		{"before Christmas", window(paris, 2, five, newYear...), "2026-12-24T09:00:00Z", "2026-12-29T16:00:00Z"},
		{"holidays in a chain over new year", window(paris, 2, five, newYear...), "2026-12-29T10:00:00Z", "2027-01-04T16:00:00Z"},
		{"after the cut-off before the chain", window(paris, 2, five, newYear...), "2026-12-30T16:30:00Z", "2027-01-06T16:00:00Z"},
		{"Christmas on a Friday", window(paris, 1, 0, newYear...), "2026-12-24T10:00:00Z", "2026-12-28T23:00:00Z"},
		{"a holiday is no business day to count from", window(paris, 1, 0, newYear...), "2026-12-25T10:00:00Z", "2026-12-29T23:00:00Z"},
		{"leap day", window(paris, 1, 0), "2028-02-28T10:00:00Z", "2028-02-29T23:00:00Z"},
		{"from the leap day", window(paris, 1, 0), "2028-02-29T10:00:00Z", "2028-03-01T23:00:00Z"},
		{"over the leap day", window(paris, 3, 0), "2028-02-28T10:00:00Z", "2028-03-02T23:00:00Z"},
		{"no leap day", window(paris, 1, 0), "2027-02-26T10:00:00Z", "2027-03-01T23:00:00Z"},
		{"clocks go forward: the offset of the due day counts", window(paris, 1, 0), "2027-03-26T10:00:00Z", "2027-03-29T22:00:00Z"},
		{"clocks go back", window(paris, 1, 0), "2026-10-23T10:00:00Z", "2026-10-26T23:00:00Z"},
		{"the end of a day of 23 hours", weekend(window(paris, 1, 0), time.Friday), "2027-03-27T10:00:00Z", "2027-03-28T22:00:00Z"},
		{"the end of a day of 25 hours", weekend(window(paris, 1, 0), time.Friday), "2026-10-24T10:00:00Z", "2026-10-25T23:00:00Z"},
		{"a cut-off that the clock skips: the change", weekend(window(paris, 1, 150*time.Minute), time.Friday), "2027-03-27T01:00:00Z", "2027-03-28T01:00:00Z"},
		{"after a cut-off that the clock skips", weekend(window(paris, 1, 150*time.Minute), time.Friday), "2027-03-28T01:00:00.000001Z", "2027-03-30T00:30:00Z"},
		{"a cut-off that is there twice: due at the second", weekend(window(paris, 1, 150*time.Minute), time.Friday), "2026-10-24T00:00:00Z", "2026-10-25T01:30:00Z"},
		{"a cut-off that is there twice: late after the first", weekend(window(paris, 1, 150*time.Minute), time.Friday), "2026-10-25T00:40:00Z", "2026-10-27T01:30:00Z"},
		{"between its two readings too", weekend(window(paris, 1, 150*time.Minute), time.Friday), "2026-10-25T01:10:00Z", "2026-10-27T01:30:00Z"},
		{"weekend of Friday and Saturday", weekend(window("Asia/Riyadh", 1, 0), time.Friday, time.Saturday), "2026-11-26T10:00:00Z", "2026-11-29T21:00:00Z"},
		{"Sunday is a business day there", weekend(window("Asia/Riyadh", 1, 0), time.Friday, time.Saturday), "2026-11-29T10:00:00Z", "2026-11-30T21:00:00Z"},
		{"no weekend at all", weekend(window(paris, 1, 0)), "2026-11-27T10:00:00Z", "2026-11-28T23:00:00Z"},
		{"zone of the job", window("", 1, 0), "2026-11-24T23:30:00Z", "2026-11-26T00:00:00Z"},
		{"midnight that the clock skips", window("Africa/Cairo", 1, 0), "2026-04-22T10:00:00Z", "2026-04-23T22:00:00Z"},
		{"midnight that is there twice ends the day at once", weekend(window("America/Havana", 1, 0), time.Friday), "2026-10-29T10:00:00Z", "2026-11-01T04:00:00Z"},
		{"clocks that go back over midnight: the day ends the second time", weekend(window("America/Santiago", 1, 0), time.Monday), "2026-04-03T15:00:00Z", "2026-04-05T04:00:00Z"},
		{"a date that the zone skips is none", weekend(window("Pacific/Apia", 1, 0), time.Monday), "2011-12-29T20:00:00Z", "2011-12-31T10:00:00Z"},
	} {
		if got := c.w.Due(at(t, c.start)); !got.Equal(at(t, c.due)) {
			t.Errorf("%s: %s is due %s, want %s", c.name, c.start, got.Format(time.RFC3339Nano), c.due)
		}
	}
}

// TestStepsAreTheFunction: what SQL compares is what Due and Earliest say, at every
// change and a microsecond beside it, and the two are each other's inverse.
func TestStepsAreTheFunction(t *testing.T) {
	within := [2]time.Time{at(t, "2026-10-20T13:00:00Z"), at(t, "2027-04-02T11:00:00Z")}
	for _, w := range []BusinessWindow{
		window("Europe/Paris", 1, 0), window("Europe/Paris", 3, 17*time.Hour, "2026-12-25", "2026-12-31", "2027-01-01"),
		weekend(window("Asia/Riyadh", 2, 30*time.Minute), time.Friday, time.Saturday),
		weekend(window("America/Santiago", 1, 0), time.Monday),
		weekend(window("Europe/Paris", 1, 150*time.Minute), time.Wednesday),
	} {
		due, earliest := w.dueSteps(within), w.earliestSteps(within)
		if len(due.at) < 90 || len(due.values) != len(due.at)+1 || len(earliest.values) != len(earliest.at)+1 {
			t.Fatalf("%d and %d steps", len(due.at), len(earliest.at))
		}
		for i := range due.at[:len(due.at)-1] {
			for by := int64(-1); by <= 1; by++ {
				u := time.UnixMicro(due.at[i] + by)
				if u.Before(within[0]) || u.After(within[1]) {
					continue
				}
				if got, want := due.of(u.UnixMicro()), w.Due(u).UnixMicro(); got != want {
					t.Errorf("%+v: due of %s: %d, want %d", w.Calendar, u, got, want)
				}
			}
		}
		for i := range earliest.at[:len(earliest.at)-1] {
			for by := int64(-1); by <= 1; by++ {
				u := time.UnixMicro(earliest.at[i] + by)
				if u.Before(within[0]) || u.After(within[1]) {
					continue
				}
				first := earliest.of(u.UnixMicro())
				if want := w.Earliest(u).UnixMicro(); first != want {
					t.Errorf("%+v: earliest of %s: %d, want %d", w.Calendar, u, first, want)
				}
				if w.Due(time.UnixMicro(first)).Before(u) || !w.Due(time.UnixMicro(first-1)).Before(u) {
					t.Errorf("%+v: %d is not the first start that is open at %s", w.Calendar, first, u)
				}
			}
		}
		if due.of(within[1].AddDate(0, 1, 0).UnixMicro()) != neverDue {
			t.Error("past the range something is due")
		}
		if got, want := due.of(within[0].AddDate(0, -1, 0).UnixMicro()), w.Due(within[0]).UnixMicro(); got != want {
			t.Errorf("before the range: due %d, want %d", got, want)
		}
		if earliest.of(within[0].AddDate(0, -1, 0).UnixMicro()) != alwaysOpen {
			t.Error("before the range something is known to be closed")
		}
	}
}

// of evaluates the steps one after the other.
func (s steps) of(us int64) int64 {
	for i, a := range s.at {
		if us < a {
			return s.values[i]
		}
	}
	return s.values[len(s.values)-1]
}

func TestCalendarWithoutDays(t *testing.T) {
	week := []time.Weekday{0, 1, 2, 3, 4, 5, 6}
	if err := weekend(window("UTC", 1, 0), week...).check(); err == nil {
		t.Error("a calendar without business days")
	}
	if err := window("Nowhere/City", 1, 0).check(); err == nil {
		t.Error("a calendar without a zone")
	}
	job := &rules.Job{Zone: time.UTC}
	if w, _ := businessWindow(job, rules.TypePolicy{Calendar: "none"}, 1); w.check() == nil {
		t.Error("a calendar that is not declared")
	}
	if err := window("Europe/Paris", 1, 0).check(); err != nil {
		t.Error(err)
	}
}
