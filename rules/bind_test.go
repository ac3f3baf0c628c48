package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func parse(t *testing.T, src string) *rules.Job {
	t.Helper()
	job, err := rules.Parse([]byte(src), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// small is a job with a few lines more; head goes first, source into the results.
func small(head, source string) string {
	if source == "" {
		source = "path: r.csv"
	}
	return "job: x\n" + head + `
operations:
  path: o_{date:20060102}.csv
  fields: {operation_id: id, created_at: {type: timestamp}, booked: {type: date}}
results:
  sources: [{` + source + `}]
  fields: {operation_id: id, created_at: {type: timestamp}, booked: {type: date}}
match: [{pass: operation_id, on: [operation_id]}]
`
}

func TestBind(t *testing.T) {
	job := parse(t, small(`timezone: Europe/Paris
as_of: "{date+1}T04:00"
period: {by: created_at, from: "{date-1}", until: "{date}"}`,
		`name: psp, path: "r_{file_date}.csv", dates: {from: "{date-2}", until: "{date}"}, coverage: {from: "{file_date}", until: "{file_date+1}"}`))
	b, err := job.Bind("2026-03-30", nil) // the clocks went forward on the 29th
	if err != nil {
		t.Fatal(err)
	}
	if got := b.AsOfTime.Format(time.RFC3339); got != "2026-03-31T02:00:00Z" {
		t.Errorf("as of %s", got)
	}
	if b.PeriodUntil-b.PeriodFrom != (23 * time.Hour).Microseconds() {
		t.Errorf("the period of the short day has %d µs", b.PeriodUntil-b.PeriodFrom)
	}
	if in := b.Inputs[rules.Operations]; len(in) != 1 || in[0].Path != "o_20260330.csv" || in[0].From != nil {
		t.Errorf("operations: %+v", in)
	}
	in := b.Inputs[rules.Results]
	if len(in) != 3 {
		t.Fatalf("results: %+v", in)
	}
	for i, day := range []string{"2026-03-28", "2026-03-29", "2026-03-30"} {
		if in[i].FileDate != day || in[i].Path != "r_"+day+".csv" || in[i].Source != &job.Results.Sources[0] {
			t.Errorf("input %d: %+v", i, in[i])
		}
		if i > 0 && *in[i].From != *in[i-1].Until {
			t.Errorf("a gap before %s", day)
		}
	}
	if *in[1].Until-*in[1].From != (23 * time.Hour).Microseconds() {
		t.Error("the short day does not have 23 hours")
	}
	other := time.Date(2027, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	if b, err = job.Bind("2026-03-30", &other); err != nil || !b.AsOfTime.Equal(other) || b.AsOfTime.Location() != time.UTC {
		t.Errorf("%v %v", b.AsOfTime, err)
	}
}

// TestBindDefaults: without as_of the end of the business date; a period by a
// date counts days, whatever the zone.
func TestBindDefaults(t *testing.T) {
	job := parse(t, small("timezone: Pacific/Auckland\nperiod: {by: booked, from: \"{date}\", until: \"{date+1}\"}", ""))
	b, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.AsOfTime.Format(time.RFC3339); got != "2026-08-20T12:00:00Z" {
		t.Errorf("as of %s", got)
	}
	const day = 86_400_000_000
	want := time.Date(2026, 8, 20, 0, 0, 0, 0, time.UTC).UnixMicro()
	if b.PeriodFrom != want || b.PeriodUntil != want+day {
		t.Errorf("period %d to %d", b.PeriodFrom, b.PeriodUntil)
	}
}

// TestLocalTimes: a local time that exists twice or never is refused; the start
// of a day always exists, also where the clocks skip or repeat midnight.
func TestLocalTimes(t *testing.T) {
	for _, c := range []struct{ zone, asOf, want string }{
		{"Europe/Paris", "2026-10-25T02:30", "exists twice"},
		{"Europe/Paris", "2026-10-25T03:00", "2026-10-25T02:00:00Z"},
		{"Europe/Paris", "2026-10-25T01:59:59", "2026-10-24T23:59:59Z"},
		{"Europe/Paris", "2026-03-29T02:00", "does not exist"},
		{"Europe/Paris", "2026-03-29T02:59:59", "does not exist"},
		{"Europe/Paris", "2026-03-29T03:00", "2026-03-29T01:00:00Z"},
		{"Europe/Paris", "2026-10-25T02:30+02:00", "2026-10-25T00:30:00Z"},
		{"Europe/Paris", "2026-10-25T02:30Z", "2026-10-25T02:30:00Z"},
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"},         // midnight is skipped, the day starts at 01:00
		{"Africa/Cairo", "2026-04-24T00:30", "does not exist"},         //
		{"America/Havana", "2026-11-01T00:00", "2026-11-01T04:00:00Z"}, // midnight to one occurs twice, the day starts once
		{"America/Havana", "2026-11-01T00:30", "exists twice"},
		{"Australia/Lord_Howe", "2026-10-04T02:15", "does not exist"}, // half an hour
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},        // the day itself was skipped
		{"UTC", "2026-02-29", "no day or time"},
	} {
		src := small("timezone: "+c.zone+"\nas_of: \""+c.asOf+"\"", "")
		job, err := rules.Parse([]byte(src), "job.yaml")
		got := ""
		if err == nil {
			var b *rules.Bound
			if b, err = job.Bind("2026-08-20", nil); err == nil {
				got = b.AsOfTime.Format(time.RFC3339)
			}
		}
		if err != nil {
			got = err.Error()
			if fail.ClassOf(err) != fail.Usage {
				t.Errorf("%s: class %d", c.asOf, fail.ClassOf(err))
			}
		}
		if !strings.Contains(got, c.want) && !(c.want == "no day or time" && strings.Contains(got, "is no instant")) {
			t.Errorf("%s in %s: %s, want %s", c.asOf, c.zone, got, c.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	for _, c := range []struct{ head, source, date, want string }{
		{"", "", "2026-8-20", "no business date"},
		{"", "", "2026-02-30", "no business date"},
		{`period: {by: created_at, from: "{date}", until: "{date}"}`, "", "2026-08-20", "is empty"},
		{"", `path: r.csv, coverage: {from: "{date}", until: "2026-08-01"}`, "2026-08-20", "covers no time"},
		{"", `path: "r_{file_date:2006-01}.csv", dates: {from: "{date-2}", until: "{date}"}`, "2026-08-20", "the same path on 2026-08-18 and 2026-08-19"},
		{"", `path: "r_{file_date}.csv", dates: {from: "{date}", until: "2026-08-01"}`, "2026-08-20", "end (2026-08-01) before they begin"},
		{"", `path: "r_{file_date}.csv", dates: {from: "1999-01-01", until: "{date}"}`, "2026-08-20", "more than 3660 days"},
		{"", `path: "r_{date-9999}.csv"`, "0001-01-01", "outside the years"},
	} {
		_, err := parse(t, small(c.head, c.source)).Bind(c.date, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || fail.ClassOf(err) != fail.Usage {
			t.Errorf("%s %s: %v, want %q", c.head, c.source, err, c.want)
		}
	}
}

func TestTemplateBraces(t *testing.T) {
	b, err := parse(t, small("", `path: "a{{{date+1:02.01.2006}}}.csv"`)).Bind("2026-12-31", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Inputs[rules.Results][0].Path; got != "a{01.01.2027}.csv" {
		t.Error(got)
	}
}
