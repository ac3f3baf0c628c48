package report

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// value finds the one sample of a family with exactly these labels.
func value(t *testing.T, list []Family, name string, labels ...string) string {
	t.Helper()
	for _, f := range list {
		if f.Name != name {
			continue
		}
		for _, x := range f.Samples {
			if slices.Equal(x.Labels, labels) {
				return x.Value
			}
		}
	}
	return "none"
}

func workWorld(t *testing.T) *world {
	w := newWorld(t)
	text := func(name string) rules.Field { return rules.Field{Name: name, Column: name, Type: rules.Text} }
	at := func(name string) rules.Field {
		return rules.Field{Name: name, Column: name, Type: rules.Timestamp}
	}
	w.in.Bound.Operations = sideSpec(rules.Operations, rules.Field{Name: "attempts", Column: "n", Type: rules.Integer},
		text("type"), text("step"), text("error_class"), text("error_code"), at("first_failed_at"), at("last_failed_at"), at("resolved_at"), at("replayed_at"))
	return w
}

// TestWork sets what the register says by hand and counts it by hand.
func TestWork(t *testing.T) {
	w := workWorld(t).load()
	us := func(h int) int64 { return day.Add(time.Duration(h) * time.Hour).UnixMicro() }
	set := func(rec int, what string) { w.exec(fmt.Sprintf("UPDATE staged_o SET %s WHERE rec = %d", what, rec)) }
	w.exec("ALTER TABLE staged_o ALTER f_attempts TYPE DECIMAL(38,0)") // as whole numbers are staged
	w.exec("UPDATE staged_o SET f_attempts = 1, f_type = 'charge'")
	set(1, "f_attempts = 3, f_error_class = 'timeout'")                                                // correct after two retries
	set(4, "f_attempts = 2, f_type = 'refund', f_error_code = 'E9'")                                   // correct at last: no failure
	set(2, "f_attempts = 2")                                                                           // correct, no cause stated
	set(5, "f_attempts = 4, f_error_code = 'E42', f_step = 'capture'")                                 // divergent
	set(6, "f_attempts = 2, f_error_class = 'timeout', f_error_code = 'E1'")                           // absent: the class wins
	set(7, "f_attempts = 99999999999999999999, f_error_code = 'ada called about 4111 1111 1111 1111'") // no code, and no number of attempts
	set(9, "f_attempts = 90, f_error_class = 'elsewhere'")                                             // outside the period
	set(8, "f_error_code = '4111111111111111'")                                                        // looks like a card
	set(2, fmt.Sprintf("f_first_failed_at = %d, f_resolved_at = %d", us(1), us(3)))                    // 2 h
	set(3, fmt.Sprintf("f_first_failed_at = %d, f_resolved_at = %d", us(1), us(6)))                    // 5 h
	set(10, fmt.Sprintf("f_first_failed_at = %d, f_resolved_at = %d", us(1), us(10)))                  // 9 h
	set(5, fmt.Sprintf("f_replayed_at = %d, f_last_failed_at = %d", us(2), us(3)))                     // failed again
	set(6, fmt.Sprintf("f_replayed_at = %d, f_last_failed_at = %d", us(4), us(3)))                     // not heard of since
	set(1, fmt.Sprintf("f_replayed_at = %d, f_last_failed_at = %d", us(2), us(3)))                     // correct after all
	set(9, fmt.Sprintf("f_replayed_at = %d, f_last_failed_at = %d", us(2), us(3)))                     // outside
	w.exec("UPDATE staged_r SET f_created_at = f_created_at + rec * 60000000 WHERE rec < 5")           // 1, 2, 3 and 4 minutes later
	for _, side := range rules.Sides {
		w.residual(side)
	}
	s := w.build()
	got := s.Work
	i := func(v int64) *int64 { return &v }
	want := &Work{
		OldestPendingSecs: i(23 * 3600), // op-5, made at 05:00, at 04:00 of the next day
		Attempted:         8, Attempts: 3 + 2 + 1 + 2 + 4 + 2 + 1 + 1, Retried: 5, RetriedCorrect: 3,
		Causes:   []RetryCause{{"E42", 1, 3}, {"timeout", 2, 3}, {"E9", 1, 1}, {"not_stated", 1, 1}},
		Failures: []Failure{{"charge", "", "other", 2}, {"charge", "", "timeout", 1}, {"charge", "capture", "E42", 1}},
		Resolved: 3, ResolutionMedian: i(5 * 3600e6), ResolutionLongest: i(9 * 3600e6), ReplaysFailed: i(1),
		Confirmation:   []Confirmation{{"charge", 3, 120e6, 180e6, 180e6}, {"refund", 1, 240e6, 240e6, 240e6}},
		ConfirmationOf: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	m := Families(s)
	for _, c := range []struct {
		want, name string
		labels     []string
	}{
		{"82800", "oldest_pending_age_seconds", nil},
		{"2.000000", "attempts_mean", nil},
		{"0.600000", "retry_success_ratio", nil},
		{"3", "retries", []string{"cause", "timeout"}},
		{"1", "failures", []string{"workflow", "charge", "step", "capture", "reason", "E42"}},
		{"180", "confirmation_seconds", []string{"type", "charge", "percentile", "95"}},
		{"18000", "resolution_median_seconds", nil},
		{"32400", "resolution_longest_seconds", nil},
		{"1", "manual_replays_failed", nil},
		{"4", "manual_review_items", nil},
		{"2", "duplicate_rows", []string{"side", "results"}},
		{"1", "duplicate_rows", []string{"side", "operations"}},
		{"0.333333", "divergence_ratio", nil},
		{"72000", "coverage_seconds", []string{"side", "results", "account", "psp"}},
		{"14400", "coverage_gap_seconds", []string{"side", "results", "account", "psp"}},
		{"1", "reason_rows", []string{"side", "operations", "class", "divergent", "reason", "field_differs"}},
		{"1", "missing_files", []string{"side", "results"}},
	} {
		if v := value(t, m, c.name, c.labels...); v != c.want {
			t.Errorf("%s %v is %s, want %s", c.name, c.labels, v, c.want)
		}
	}
	if text := Metrics(s); strings.Contains(text, "4111 1") || strings.Contains(text, "41111") || strings.Contains(text, "ada called") {
		t.Error("a label holds what a person typed, or a card number")
	}
}

// TestWorkRedacted: a redacted field is no label, and what is not declared is not known.
func TestWorkRedacted(t *testing.T) {
	w := workWorld(t)
	w.in.Bound.Redact = rules.Redact{Fields: map[string]string{"type": "mask", "error_class": "token", "step": "drop"}}
	w.load()
	w.exec("UPDATE staged_o SET f_attempts = 2, f_type = 'SECRET', f_step = 'SECRET', f_error_class = 'SECRET', f_error_code = 'E1'")
	s := w.build()
	if s.Work.Causes[0].Cause != "E1" || s.Work.Confirmation[0].Type != "" {
		t.Errorf("got %+v", s.Work)
	}
	if strings.Contains(Metrics(s), "SECRET") {
		t.Error("a redacted field is a label")
	}
	plain := Families(newWorld(t).load().build())
	for _, name := range []string{"attempts_mean", "retry_success_ratio", "resolution_median_seconds", "manual_replays_failed"} {
		if v := value(t, plain, name); v != "NaN" {
			t.Errorf("%s is %s where nothing is declared", name, v)
		}
	}
}

// TestWorkBounds: past the fiftieth, causes are one.
func TestWorkBounds(t *testing.T) {
	w := workWorld(t)
	for i := int64(0); i < 60; i++ {
		w.rows[rules.Operations] = append(w.rows[rules.Operations], row{rec: 100 + i, id: fmt.Sprint("x-", i), amount: "1.00", currency: "EUR", created: day.Add(time.Hour), class: "absent", reason: "no_result", pass: -1})
	}
	w.load()
	for _, table := range []string{"staged_o", "res_o"} {
		w.exec("UPDATE " + table + " SET f_attempts = 2, f_error_code = 'E-' || (rid & 1099511627775) WHERE (rid & 1099511627775) >= 100")
	}
	s := w.build()
	if n := len(s.Work.Causes); n != 51 || s.Work.Causes[0] != (RetryCause{"other", 10, 10}) {
		t.Errorf("%d causes, %+v first", n, s.Work.Causes[0])
	}
	if n := len(s.Work.Failures); n != 51 || s.Work.Failures[0] != (Failure{"other", "other", "other", 10}) {
		t.Errorf("%d failures, %+v first", n, s.Work.Failures[0])
	}
}

// TestMetricList: what is printed is described, with the labels that the list says, in
// its order; and what is described for a run is there.
func TestMetricList(t *testing.T) {
	list := Families(newWorld(t).load().build())
	at := -1
	for _, f := range list {
		i := slices.IndexFunc(MetricList, func(m Metric) bool { return m.Name == f.Name })
		if i <= at {
			t.Errorf("%s is not in the list, or not at its place", f.Name)
			continue
		}
		at = i
		if MetricList[i].Delivery {
			t.Errorf("%s needs the clock and is in the run", f.Name)
		}
		for _, x := range f.Samples {
			var names []string
			for j := 0; j < len(x.Labels); j += 2 {
				names = append(names, x.Labels[j])
			}
			if !slices.Equal(names, MetricList[i].Labels) {
				t.Errorf("%s has the labels %q, the list says %q", f.Name, names, MetricList[i].Labels)
			}
		}
	}
	for _, m := range MetricList {
		if !m.Delivery && !slices.ContainsFunc(list, func(f Family) bool { return f.Name == m.Name }) {
			t.Errorf("%s is in the list, and no run has it", m.Name)
		}
		if !strings.HasSuffix(m.Help, ".") || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(m.Name) {
			t.Errorf("%s: %q is no description", m.Name, m.Help)
		}
	}
}

// TestSeriesAreCapped: however many gates, sources and accounts there are, the series
// are bounded, and what was left out is counted.
func TestSeriesAreCapped(t *testing.T) {
	s := newWorld(t).load().build()
	before := len(Families(s)) // families
	for i := range 3000 {
		name := fmt.Sprintf("n-%04d", i)
		s.Gates = append(s.Gates, Gate{Name: name})
		s.Limits = append(s.Limits, Limit{Name: name})
		s.Sides[0].Sources = append(s.Sides[0].Sources, Source{Name: name})
		s.Sides[1].Coverage = append(s.Sides[1].Coverage, Coverage{Account: name})
		s.Versions = append(s.Versions, Version{Name: name})
		s.Work.Causes = append(s.Work.Causes, RetryCause{Cause: name})
		s.Work.Failures = append(s.Work.Failures, Failure{Type: name})
		s.Work.Confirmation = append(s.Work.Confirmation, Confirmation{Type: name})
		s.Sides[0].Counts = append(s.Sides[0].Counts, Count{Class: "absent", Reason: name, InPeriod: true, Rows: 1, Amount: "1", Currency: fmt.Sprintf("%03d", i%900)})
	}
	list := Families(s)
	n, dropped := 0, value(t, list, "series_dropped")
	for _, f := range list {
		if len(f.Samples) > maxSeriesOfMetric {
			t.Errorf("%s has %d series", f.Name, len(f.Samples))
		}
		n += len(f.Samples)
	}
	// 200 of 3001 gates, and so on; 50 of 901 currencies of absent operations.
	if n > maxSeries+1 || len(list) != before || dropped == "0" || dropped == "none" {
		t.Errorf("%d series in %d families, %s dropped", n, len(list), dropped)
	}
	total := 0
	s2 := *s
	for _, f := range Families(&s2) {
		total += len(f.Samples)
	}
	if total != n {
		t.Error("what is dropped depends on the call")
	}
}

// TestPilotIsAJobOfItsOwn, so that it never hides the whole job; a complete account
// covers more than any time.
func TestPilotIsAJobOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.in.Series = "first"
	w.in.Results.Coverage = append(w.in.Results.Coverage, extract.Interval{Account: "all", Complete: true})
	text := Metrics(w.load().build())
	for _, want := range []string{`recon_batch_exit_code{recon_job="card-charges@first"} 0`, `recon_batch_coverage_seconds{recon_job="card-charges@first",side="results",account="all"} +Inf`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestLabels(t *testing.T) {
	got := MetricsText("j", []Family{{"exit_code", []Sample{{[]string{"a", "x\"y\\z\n\u202e"}, "1"}}}, {"canaries", nil}})
	want := "# HELP recon_batch_exit_code Exit status of the run.\n# TYPE recon_batch_exit_code gauge\n" +
		`recon_batch_exit_code{recon_job="j",a="x\"y\\z\\n\\u{202E}"} 1` + "\n"
	if got != want {
		t.Errorf("got %s want %s", got, want)
	}
}
