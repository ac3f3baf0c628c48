package notify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/report"
)

func valueOf(list []report.Family, name string, labels ...string) string {
	for _, f := range list {
		for _, x := range f.Samples {
			if f.Name == name && slices.Equal(x.Labels, labels) {
				return x.Value
			}
		}
	}
	return "none"
}

// TestFamiliesOfEndings: the newest published run says everything, others say only what
// holds whatever comes.
func TestFamiliesOfEndings(t *testing.T) {
	all := succeeded(t).Families()
	for _, m := range report.MetricList {
		if !slices.ContainsFunc(all, func(f report.Family) bool { return f.Name == m.Name && len(f.Samples) > 0 }) {
			t.Errorf("%s is not there", m.Name)
		}
	}
	if v := valueOf(all, "limit_exceeded"); v != "NaN" {
		t.Errorf("a metric without series is %s, want NaN: it has to take the place of what was there", v)
	}
	for name, want := range map[string]string{"last_run_timestamp_seconds": "1787285106", "last_success_timestamp_seconds": "1787285106",
		"last_success_business_date_seconds": "1787184000", "last_exit_code": "0", "run_duration_seconds": "12", "peak_rss_bytes": "1073741824"} {
		if v := valueOf(all, name); v != want {
			t.Errorf("%s is %s, want %s", name, v, want)
		}
	}
	if v := valueOf(all, "stage_duration_seconds", "stage", "extract"); v != "3.5" {
		t.Errorf("the stage took %s", v)
	}
	names := func(e *Ending) (list []string) {
		for _, f := range e.Families() {
			list = append(list, f.Name)
		}
		return list
	}
	if got := names(refused(t)); !slices.Equal(got, []string{"last_run_timestamp_seconds", "last_exit_code"}) {
		t.Errorf("a refused run says %q", got)
	}
	old := succeeded(t)
	old.Newest, old.Success = false, "2026-08-25"
	if got := names(old); !slices.Equal(got, []string{"last_run_timestamp_seconds", "last_success_timestamp_seconds", "last_success_business_date_seconds", "last_exit_code"}) {
		t.Errorf("a run of an earlier date says %q", got)
	}
	if got := names(ended(t)); slices.Contains(got, "last_success_timestamp_seconds") {
		t.Error("a run with a failed gate is a success")
	}
}

// formerOf is a former night with so many absent operations and items to requeue.
func formerOf(t *testing.T, days int, absent, items int64, age int64) Former {
	e := ended(t)
	s := e.Summary
	day := time.Date(2026, 8, 20, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -days)
	s.BusinessDate, s.AsOf = day.Format(time.DateOnly), day.Add(28*time.Hour).Format(time.RFC3339)
	s.Sides[0].Counts[1].Rows = absent
	s.Queues[1].Items, s.Queues[1].OldestSecs = items, &age
	return Former{BusinessDate: s.BusinessDate, Summary: s, Sources: map[[2]string]int64{{"operations", "ledger"}: 100 + int64(days)}}
}

// TestHistory compares with nights that are counted by hand.
func TestHistory(t *testing.T) {
	e := ended(t) // 3 absent of 10; 3 items, the oldest began at 02:00 of the 21st
	since := time.Date(2026, 8, 21, 2, 0, 0, 0, time.UTC)
	for i := 1; i <= 20; i++ {
		absent, items := int64(i), int64(3-i) // 2, 1, 0, -1: rises from run to run
		age := int64(time.Date(2026, 8, 20-i, 4, 0, 0, 0, time.UTC).AddDate(0, 0, 1).Sub(since) / time.Second)
		if i > 2 {
			items, age = 9, age+60
		}
		e.Former = append(e.Former, formerOf(t, i, absent, items, age))
	}
	got := e.Families()
	for _, c := range []struct {
		want, name string
		labels     []string
	}{
		{"14", "former_runs", nil},
		{"0.4833335", "match_ratio_median", nil}, // of 7/8 to 7/21
		{"7.5", "reason_rows_median", []string{"side", "operations", "class", "absent", "reason", "no_result"}}, // of 1 to 14
		{"2", "open_cases_rises", []string{"queue", "requeue"}},                                                 // 9, 1, 2, 3
		{"0", "open_cases_rises", []string{"queue", "review"}},
		{"2", "unconsumed_runs", []string{"queue", "requeue"}},
		{"none", "source_rows_weekday_median", []string{"side", "operations", "source", "ledger"}}, // two Thursdays only
	} {
		if v := valueOf(got, c.name, c.labels...); v != c.want {
			t.Errorf("%s %v is %s, want %s", c.name, c.labels, v, c.want)
		}
	}
	e.Former = append(e.Former, formerOf(t, 21, 1, 1, 1))
	if v := valueOf(e.Families(), "source_rows_weekday_median", "side", "operations", "source", "ledger"); v != "114" { // 107, 114, 121
		t.Errorf("the median of three Thursdays is %s", v)
	}
	// Confirmations have no age: what was proposed and is there again, nobody took in.
	confirm := func(s *report.Summary, at string) {
		s.Queues[0].Items, s.Queues[0].OldestSecs, s.Queues[0].OldestSince = 5, nil, at
	}
	confirm(e.Summary, "2026-08-18T02:00:00.5Z")
	for i, at := range []string{"2026-08-18T02:00:00.5Z", "2026-08-18T02:00:00.5Z", "2026-08-18T02:00:00.5Z", "2026-08-17T02:00:00Z"} {
		confirm(e.Former[i].Summary, at)
	}
	if v := valueOf(e.Families(), "unconsumed_runs", "queue", "confirm"); v != "3" {
		t.Errorf("confirmations that nobody took in: %s runs, want 3", v)
	}
	e.Former[1].Summary.Queues[0].Written = false
	if v := valueOf(e.Families(), "unconsumed_runs", "queue", "confirm"); v != "1" {
		t.Errorf("confirmations that were withheld could be taken in by nobody: %s", v)
	}
	e.Former[0].Summary.Queues[1].Written = false
	if v := valueOf(e.Families(), "unconsumed_runs", "queue", "requeue"); v != "0" {
		t.Errorf("a queue that was withheld could be consumed by nobody: %s", v)
	}
	e.Former = e.Former[:2]
	if v := valueOf(e.Families(), "match_ratio_median"); v != "NaN" {
		t.Errorf("a median of two runs is %s", v)
	}
	if v := valueOf(e.Families(), "reason_rows_median"); v != "NaN" {
		t.Errorf("a median of two runs is %s", v)
	}
}

func TestMedian(t *testing.T) {
	for want, list := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := median(list); got != want {
			t.Errorf("the median of %v is %v", list, got)
		}
	}
}

// TestMessage: what is told has the numbers and nothing of a row.
func TestMessage(t *testing.T) {
	e := ended(t)
	m := message(e, "https://reports.example.com/out/")
	for _, want := range []string{"card-charges 2026-08-20 does not close (exit 3: published, a gate failed)", "gate failed: nothing-absent",
		"operations: 7 correct, 3 absent", "EUR: operations 100.00, results 70.00, difference -30.00", "queues: 3 requeue", "run 0123456789abcdef in card-charges/2026-08-20/0123456789abcdef",
		"https://reports.example.com/out/card-charges/2026-08-20/0123456789abcdef/report.html"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("no %q in\n%s", want, m.Text)
		}
	}
	if text := message(refused(t), "https://x.example.com").Text; !strings.Contains(text, "was not published (exit 4: the input is not ready or incomplete)\nstage: extract") {
		t.Errorf("a refused run: %s", text)
	}
	told := fmt.Sprintf("%+v", m)
	body, err := otlpBody(e)
	if err != nil {
		t.Fatal(err)
	}
	told += string(body) + report.MetricsText(e.Series, e.Families())
	for _, p := range personal {
		if strings.Contains(told, p) {
			t.Errorf("%s is told", p)
		}
	}
}

func TestOccasions(t *testing.T) {
	withheld := succeeded(t)
	withheld.Summary.Outcome.Withheld, withheld.Summary.Outcome.Differences = true, 0
	for _, c := range []struct {
		e    *Ending
		want string
	}{{ended(t), "always gate_failed differences"}, {refused(t), "always failed"}, {withheld, "always withheld"}, {succeeded(t), "always differences"}} {
		if got := strings.Join(c.e.Occasions(), " "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
