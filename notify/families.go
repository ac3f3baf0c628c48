package notify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// mediansOf is how many former runs medians are taken of, weekdaysOf how many of one weekday.
const (
	mediansOf   = 14
	weekdaysOf  = 8
	leastFormer = 3 // a median of fewer says nothing
)

// full tells whether the ending replaces everything that was delivered before.
func (e *Ending) full() bool { return e.Summary != nil && e.Newest }

// Families are the metrics of an ending in the order of report.MetricList: all of them
// of the newest published run, else only those that hold for any ending. With all, each
// metric of the list is there: one without series has the one series NaN, so that it
// takes the place of what was there before.
func (e *Ending) Families() []report.Family {
	at := map[string][]report.Sample{}
	one := func(name, value string, labels ...string) {
		at[name] = append(at[name], report.Sample{Labels: labels, Value: value})
	}
	now := strconv.FormatInt(e.Ended.Unix(), 10)
	one("last_run_timestamp_seconds", now)
	one("last_exit_code", fmt.Sprint(int(e.ExitCode)))
	if e.Summary != nil {
		if e.ExitCode == fail.OK {
			one("last_success_timestamp_seconds", now)
		}
		if day, err := time.Parse(time.DateOnly, e.Success); err == nil {
			one("last_success_business_date_seconds", strconv.FormatInt(day.Unix(), 10))
		}
	}
	if e.full() {
		for _, f := range report.Families(e.Summary) {
			at[f.Name] = f.Samples
		}
		e.measured(one)
		e.history(one)
	}
	var out []report.Family
	for _, m := range report.MetricList {
		samples, lasting := at[m.Name], slices.Contains(lasting, m.Name)
		if len(samples) == 0 && e.full() && !lasting {
			samples = []report.Sample{{Value: "NaN"}}
		}
		if len(samples) > 0 {
			out = append(out, report.Family{Name: m.Name, Samples: samples})
		}
	}
	return out
}

// lasting are the metrics that stay as they were where a run does not say them, and of
// which the later value holds.
var lasting = []string{"last_success_timestamp_seconds", "last_success_business_date_seconds"}

func (e *Ending) measured(one func(name, value string, labels ...string)) {
	m := e.Measured
	bytes := func(name string, v int64) {
		if v > 0 || name == "spill_bytes" {
			one(name, strconv.FormatInt(v, 10))
		}
	}
	if m.Duration > 0 {
		one("run_duration_seconds", decimal(m.Duration.Seconds()))
	}
	for _, s := range m.Stages {
		one("stage_duration_seconds", decimal(s.Seconds), "stage", s.Name)
		one("stage_rows", strconv.FormatInt(s.Rows, 10), "stage", s.Name)
	}
	bytes("spill_bytes", m.Spill)
	bytes("peak_rss_bytes", m.PeakRSS)
	bytes("disk_free_bytes", m.DiskFree)
	bytes("disk_size_bytes", m.DiskSize)
}

// decimal prints a number with nine places at most.
func decimal(v float64) string { return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64) }

// history compares with former runs. With fewer than three a median says nothing and is
// left out.
func (e *Ending) history(one func(name, value string, labels ...string)) {
	s := e.Summary
	var former []*report.Summary
	for _, f := range e.Former {
		if f.Summary != nil && len(former) < mediansOf {
			former = append(former, f.Summary)
		}
	}
	one("former_runs", strconv.Itoa(len(former)))
	for _, q := range s.Queues {
		one("open_cases_rises", strconv.Itoa(rises(q.Queue, s, former)), "queue", q.Queue)
		one("unconsumed_runs", strconv.Itoa(unconsumed(q.Queue, s, former)), "queue", q.Queue)
	}
	if len(former) >= leastFormer {
		var ratios []float64
		for _, f := range former {
			if v, err := strconv.ParseFloat(sampleOf(f, "match_ratio"), 64); err == nil && v == v {
				ratios = append(ratios, v)
			}
		}
		if len(ratios) >= leastFormer {
			one("match_ratio_median", decimal(median(ratios)))
		}
		e.reasons(one, former)
	}
	e.weekdays(one)
}

// reasons gives the medians of the reasons that this run has, so many as reason_rows has.
func (e *Ending) reasons(one func(name, value string, labels ...string), former []*report.Summary) {
	before := make([]map[[3]string]float64, len(former))
	for i, f := range former {
		before[i] = map[[3]string]float64{}
		for j := range f.Sides {
			for _, r := range report.ReasonRows(&f.Sides[j]) {
				before[i][[3]string{f.Sides[j].Side, r.Class, r.Reason}] = float64(r.Items)
			}
		}
	}
	for _, f := range report.Families(e.Summary) {
		if f.Name != "reason_rows" {
			continue
		}
		for _, x := range f.Samples {
			var rows []float64
			for i := range before {
				rows = append(rows, before[i][[3]string{x.Labels[1], x.Labels[3], x.Labels[5]}])
			}
			one("reason_rows_median", decimal(median(rows)), x.Labels...)
		}
	}
}

func (e *Ending) weekdays(one func(name, value string, labels ...string)) {
	day, err := time.Parse(time.DateOnly, e.BusinessDate)
	if err != nil {
		return
	}
	rows := map[[2]string][]float64{}
	n := 0
	for _, f := range e.Former {
		d, err := time.Parse(time.DateOnly, f.BusinessDate)
		if err != nil || d.Weekday() != day.Weekday() || n == weekdaysOf {
			continue
		}
		n++
		for k, v := range f.Sources {
			rows[k] = append(rows[k], float64(v))
		}
	}
	for _, f := range report.Families(e.Summary) {
		if f.Name != "source_rows" {
			continue
		}
		for _, x := range f.Samples {
			if list := rows[[2]string{x.Labels[1], x.Labels[3]}]; len(list) >= leastFormer {
				one("source_rows_weekday_median", decimal(median(list)), x.Labels...)
			}
		}
	}
}

func sampleOf(s *report.Summary, name string) string {
	for _, f := range report.Families(s) {
		if f.Name == name && len(f.Samples) > 0 {
			return f.Samples[0].Value
		}
	}
	return ""
}

// median of a list that is not empty: of an even number, the mean of the middle two.
func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

func queueOf(s *report.Summary, name string) *report.Queue {
	for i := range s.Queues {
		if s.Queues[i].Queue == name {
			return &s.Queues[i]
		}
	}
	return nil
}

// rises counts how many runs in a row, this one last, held more items than the one before.
func rises(queue string, s *report.Summary, former []*report.Summary) int {
	n := 0
	for _, f := range former {
		now, before := queueOf(s, queue), queueOf(f, queue)
		if now == nil || before == nil || now.Items <= before.Items {
			return n
		}
		n++
		s = f
	}
	return n
}

// unconsumed counts how many former runs in a row wrote the queue with the same oldest
// item: one that began at the same instant. Items of confirm have no age, and are told by
// that instant too: what was confirmed and is proposed again, nobody took in.
func unconsumed(queue string, s *report.Summary, former []*report.Summary) int {
	since, ok := oldestSince(queue, s)
	if !ok {
		return 0
	}
	n := 0
	for _, f := range former {
		before, ok := oldestSince(queue, f)
		if q := queueOf(f, queue); !ok || !q.Written || q.ObserveOnly == q.Items || !before.Equal(since) {
			return n
		}
		n++
	}
	return n
}

func oldestSince(queue string, s *report.Summary) (time.Time, bool) {
	q := queueOf(s, queue)
	if q != nil && q.OldestSince != "" {
		since, err := time.Parse(time.RFC3339Nano, q.OldestSince)
		return since, err == nil
	}
	// A run of an older version says the age alone.
	at, err := time.Parse(time.RFC3339Nano, s.AsOf)
	if q == nil || q.OldestSecs == nil || err != nil {
		return time.Time{}, false
	}
	// Ages are cut to whole seconds, and so the instants are to within one.
	return at.Truncate(time.Second).Add(-time.Duration(*q.OldestSecs) * time.Second), true
}
