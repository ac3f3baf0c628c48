package near

import "time"

// DateKind is how two days that differ come near each other.
type DateKind int

// Kinds of near misses of days.
const (
	DateFar  DateKind = iota
	MonthOff          // the same day of the month before or after; or the last days of both
	DayMonth          // day and month are swapped
)

const secondsOfDay = 24 * 60 * 60

// dateKind tells how two days come near each other, both in days since 1970-01-01.
func dateKind(a, b int64) DateKind {
	found := DateFar
	eachDay(a, func(kind DateKind, day int64) {
		if found == DateFar && day == b {
			found = kind
		}
	})
	return found
}

// eachDay calls f for every day that is near another one.
func eachDay(day int64, f func(DateKind, int64)) {
	y, m, d := time.Unix(day*secondsOfDay, 0).UTC().Date()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	days := func(t time.Time) int64 { return t.Unix() / secondsOfDay }
	last := at(y, m+1, 0).Day() == d
	for _, by := range []time.Month{-1, 1} {
		end := at(y, m+by+1, 0)
		if d <= end.Day() {
			f(MonthOff, days(at(y, m+by, d)))
		}
		if last && d != end.Day() {
			f(MonthOff, days(end))
		}
	}
	if d <= 12 && d != int(m) {
		f(DayMonth, days(at(y, time.Month(d), int(m))))
	}
}
