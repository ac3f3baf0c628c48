package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

const dateLayout = "2006-01-02"

// businessDate reads --business-date: a date, or today or yesterday in the job's
// zone. The clock is asked only where the user says so; there is no default.
func businessDate(c *cli.Context, job *rules.Job) (string, error) {
	text, err := required(c, "business-date", commandPath(c)+" --business-date 2026-11-29 "+c.Args().First())
	if err != nil {
		return "", err
	}
	switch text {
	case "today":
		return time.Now().In(job.Zone).Format(dateLayout), nil
	case "yesterday":
		return time.Now().In(job.Zone).AddDate(0, 0, -1).Format(dateLayout), nil
	}
	if _, err := time.Parse(dateLayout, text); err != nil {
		return "", fail.New(fail.Usage, "--business-date %q is no date", text).
			WithHint("write it as 2026-11-29, or say today or yesterday")
	}
	return text, nil
}

// asOf reads --as-of, nil where it was not given. A time without an offset is a
// time of the job's zone.
func asOf(c *cli.Context, job *rules.Job) (*time.Time, error) {
	text := strings.TrimSpace(c.String("as-of"))
	if text == "" {
		return nil, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return &t, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", dateLayout} {
		t, err := time.ParseInLocation(layout, text, job.Zone)
		if err != nil {
			continue
		}
		// A local time that the clocks skip is read as another one, and one that comes
		// twice as one of the two: both are refused.
		if t.Format(layout) != text || twice(t) {
			return nil, fail.New(fail.Usage, "--as-of %s does not exist or exists twice in %s", text, job.Zone).
				WithHint("give the offset: %s", t.Format(time.RFC3339))
		}
		return &t, nil
	}
	return nil, fail.New(fail.Usage, "--as-of %q is no time", text).
		WithHint("write 2026-11-30T04:00 (in the zone of the job) or 2026-11-30T04:00:00Z")
}

// twice tells whether the local time of t comes twice: an hour is the usual step
// of a clock change, half an hour that of Lord Howe Island (IANA tz database).
func twice(t time.Time) bool {
	const layout = "2006-01-02T15:04:05"
	for _, step := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		for _, u := range []time.Time{t.Add(step), t.Add(-step)} {
			if u.Format(layout) == t.Format(layout) {
				return true
			}
		}
	}
	return false
}
