package match

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

const absencesJob = `
job: shop
timezone: Europe/Paris
as_of: "{date+1}T12:00"
clock_skew: 5m
operations:
  path: ours.csv
  fields: {operation_id: id, type: kind, amount: {type: decimal}, currency: {type: currency}, created_at: {type: timestamp}, idempotency_key: key}
results:
  path: theirs.csv
  fields: {operation_id: id, amount: {type: decimal}, currency: {type: currency}, created_at: {type: timestamp}}
match: [{pass: operation_id, on: [operation_id]}]
types:
  charge: {window: {deadline: 6h}}
  refund: {window: {deadline: 30h}}
  payout: {window: {deadline: 2h}, effect_is: settlement}
`

func absencesOf(t *testing.T, text string) *rules.Bound {
	t.Helper()
	job, err := rules.Parse([]byte(text), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func us(text string) int64 {
	at, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		panic(err)
	}
	return at.UnixMicro()
}

// What is said beforehand is what the statements say of each operation, for every kind of
// source: at each minute of two days, by V25 and V26.
func TestAbsencesAreWhatIsJudged(t *testing.T) {
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	job := absencesOf(t, absencesJob)
	layout := extract.NewLayout(job.Job, rules.Operations)
	from, until := us("2026-08-19T12:00"), us("2026-08-21T12:00")
	iv := func(a, b string, change ...func(*extract.Interval)) extract.Interval {
		i := extract.Interval{Account: "psp", Proves: rules.FullLifecycle, From: us(a), Until: us(b)}
		for _, f := range change {
			f(&i)
		}
		return i
	}
	settled := func(i *extract.Interval) { i.Proves = rules.SettledOnly }
	some := func(i *extract.Interval) { i.Types = []string{"charge"} }
	for name, coverage := range map[string][]extract.Interval{
		"one":          {iv("2026-08-19T22:00", "2026-08-21T08:00")},
		"with a lag":   {iv("2026-08-19T22:00", "2026-08-21T08:00", func(i *extract.Interval) { i.Lag = 3 * time.Hour })},
		"in two parts": {iv("2026-08-19T12:00", "2026-08-20T10:00"), iv("2026-08-20T11:00", "2026-08-21T08:00")},
		"withdrawn": {iv("2026-08-19T12:00", "2026-08-21T08:00", func(i *extract.Interval) {
			i.Withdrawn = []extract.Gap{{From: us("2026-08-20T03:00"), Until: us("2026-08-20T04:00")}}
		})},
		"settlements":   {iv("2026-08-19T12:00", "2026-08-21T08:00", settled)},
		"failures":      {iv("2026-08-19T12:00", "2026-08-21T08:00", func(i *extract.Interval) { i.Proves = rules.FailuresOnly })},
		"presence":      {iv("2026-08-19T12:00", "2026-08-21T08:00", func(i *extract.Interval) { i.Proves = rules.PresenceOnly })},
		"some types":    {iv("2026-08-19T12:00", "2026-08-21T08:00", some)},
		"both":          {iv("2026-08-19T12:00", "2026-08-20T18:00", some), iv("2026-08-20T02:00", "2026-08-21T08:00", settled)},
		"everything":    {iv("2026-08-19T12:00", "2026-08-21T08:00", func(i *extract.Interval) { i.Complete = true })},
		"nothing":       {iv("2026-08-19T12:00", "2026-08-19T12:00")},
		"two accounts":  {iv("2026-08-19T12:00", "2026-08-21T08:00"), iv("2026-08-19T12:00", "2026-08-20T20:00", func(i *extract.Interval) { i.Account = "bank" })},
		"types of each": {iv("2026-08-19T12:00", "2026-08-21T08:00", some), iv("2026-08-19T12:00", "2026-08-20T20:00", func(i *extract.Interval) { i.Account = "bank"; i.Types = []string{"refund"} })},
	} {
		said := Absences(job, coverage, from, until)
		for _, kind := range []string{"charge", "refund", "payout"} {
			rows, err := db.Query(t.Context(), fmt.Sprintf(`SELECT f_created_at, coalesce(%s, false), %s > %d FROM (
				SELECT range AS f_created_at, range AS late_created_at, '%s' AS f_type, CAST(0 AS UBIGINT) AS bad, CAST(0 AS UBIGINT) AS amb FROM range(%d, %d, 60000000))`,
				Covered(job, Columns(job.Job, layout, ""), coverage), Due(job.Job, Columns(job.Job, layout, "")), job.AsOfTime.UnixMicro(), kind, from, until))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for rows.Next() {
				var at int64
				var covered, notDue bool
				if err := rows.Scan(&at, &covered, &notDue); err != nil {
					t.Fatal(err)
				}
				want := AbsenceNotProved
				switch {
				case notDue:
					want = AbsenceNotDue
				case covered:
					want = AbsenceProved
				}
				got, known := AbsenceProved, false
				for _, a := range said {
					if a.Type != kind {
						continue
					}
					known = true
					for _, s := range a.Spans {
						if s.From <= at && at < s.Until && s.State != AbsenceProved {
							got = s.State
						}
					}
				}
				if !known {
					got = AbsenceNotProved // no account should know it: nobody speaks for it
					if notDue {
						got = AbsenceNotDue
					}
				}
				if n++; got != want {
					t.Fatalf("%s, %s created %s: said %s, judged %s\n%+v", name, kind, time.UnixMicro(at).UTC(), got, want, said)
				}
			}
			if err := rows.Err(); err != nil || n != 48*60 {
				t.Fatal(n, err)
			}
			rows.Close()
		}
	}
}

// Spans are whole, in order and short of nothing, by a calendar too; a job without types
// has one line.
func TestAbsenceSpans(t *testing.T) {
	calendar := strings.Replace(absencesJob, "charge: {window: {deadline: 6h}}", "charge: {window: {deadline: {business_days: 1}, calendar: work}}", 1) +
		"calendars: {work: {cut_off: \"18:00\"}}\n"
	plain := absencesJob[:strings.Index(absencesJob, "types:")]
	from, until := us("2026-08-19T00:00"), us("2026-08-22T00:00")
	for name, text := range map[string]string{"calendar": calendar, "no types": plain} {
		job := absencesOf(t, text)
		coverage := []extract.Interval{{Account: "psp", Proves: rules.FullLifecycle, From: us("2026-08-19T06:00"), Until: us("2026-08-21T06:00")}}
		list := Absences(job, coverage, from, until)
		if want := map[string]int{"calendar": 3, "no types": 1}[name]; len(list) != want {
			t.Fatalf("%s: %+v", name, list)
		}
		for _, l := range list {
			at := from
			a := absence{job: job, policy: job.Types[l.Type], proofs: segments(coverage[0])}
			for i, s := range l.Spans {
				if s.From != at || s.Until <= s.From || i > 0 && s.State == l.Spans[i-1].State || a.state(s.From) != s.State || a.state(s.Until-1) != s.State {
					t.Errorf("%s, %s: %+v", name, l.Type, l.Spans)
				}
				at = s.Until
			}
			if at != until {
				t.Errorf("%s, %s: %+v", name, l.Type, l.Spans)
			}
		}
		if l := list[0]; name == "calendar" && (len(l.Spans) != 3 || l.Spans[1].State != AbsenceProved) {
			t.Errorf("by a calendar: %+v", l)
		}
	}
}
