package rules

import "time"

// Template is a text with placeholders for dates: {date}, {date-3}, {date+1},
// {file_date}, {file_date+1}, each optionally with a Go layout: {date:20060102}.
type Template string

// Bound is a job whose templates are resolved for one business date.
type Bound struct {
	*Job
	Date        string    // business date, 2006-01-02
	AsOfTime    time.Time // reference time of windows and ages
	PeriodFrom  int64     // microseconds since the epoch; meaningful where Job.Period is set
	PeriodUntil int64
	Inputs      map[Side][]Input
}

// Input is one path to read: a source has one, or one for each of its dates.
type Input struct {
	Source   *Source
	Path     string // pattern or exact path, dates filled in, relative to the job file's folder
	FileDate string // 2006-01-02, or ""
	From     *int64 // declared coverage of this input, microseconds; nil where not declared
	Until    *int64
}
