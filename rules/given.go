package rules

import "time"

// FormatDuration writes a duration as a job file does: 2d, 6h, 1h30m. Parts of less
// than a millisecond are left out.
func FormatDuration(v time.Duration) string { return formatDuration(v) }

// Given tells where the job says a value, by its path such as
// types.charge.window.expected: the line and column of the value, from 1. file is "" for
// the job file itself, else the preset or policy file. ok is false for a default.
func (j *Job) Given(path string) (line, column int, file string, ok bool) {
	at, ok := j.given[path]
	return at.line, at.column, at.file, ok
}
