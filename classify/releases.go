package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// releases are those that hold at the reference time, in the order of the job.
func releases(job *rules.Bound) []rules.Release {
	var out []rules.Release
	for _, r := range job.Releases {
		if job.AsOfTime.Before(r.Until) {
			out = append(out, r)
		}
	}
	return out
}

// releaseSlots render what releases add to the allowances of an operation: of several
// that name it the most of each, until the first of them ends.
func (c *classifier) releaseSlots() duck.Slots {
	attempts, length, until, ids := []string{"0"}, []string{"0"}, []string{"CAST(NULL AS BIGINT)"}, []string{}
	for _, r := range releases(c.job) {
		fits := "true"
		if r.When != nil {
			fits = r.When.SQL(c.o.InExpr)
		}
		when := func(value string) string { return "CASE WHEN " + fits + " THEN " + value + " END" }
		attempts = append(attempts, when(fmt.Sprint(r.Attempts)))
		length = append(length, when(fmt.Sprint(r.Duration.Microseconds())))
		until = append(until, when(fmt.Sprint(r.Until.UnixMicro())))
		ids = append(ids, when(duck.Literal(r.ID)))
	}
	list := "CAST(NULL AS VARCHAR)"
	if len(ids) > 0 {
		list = "nullif(concat_ws(';', " + strings.Join(ids, ", ") + "), '')"
	}
	return duck.Slots{
		"more_attempts": "greatest(" + strings.Join(attempts, ", ") + ")",
		"more_duration": "CAST(greatest(" + strings.Join(length, ", ") + ") AS BIGINT)",
		"release_end":   "CAST(least(" + strings.Join(until, ", ") + ") AS BIGINT)",
		"release":       list,
	}
}

// lifted are the allowances that a release lifts. What is unknown it does not lift:
// not the attempts where their number or limit is, nor the duration where the first
// failure cannot be read. The next attempt comes before the release ends.
func (c *classifier) lifted(limit string) string {
	if len(releases(c.job)) == 0 {
		return "0"
	}
	attempts := c.attempts() + " < " + limit + " + t.more_attempts"
	length := "NOT " + c.o.Unknown("first_failed_at") + " AND t.next_us < t.duration_end_us + t.more_duration"
	return fmt.Sprintf("(CASE WHEN t.next_us < t.release_end_us AND %s THEN %d ELSE 0 END | CASE WHEN t.next_us < t.release_end_us AND %s THEN %d ELSE 0 END)",
		attempts, Attempts, length, Duration)
}
