package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// latencyView draws times to confirmation on a logarithmic axis.
type latencyView struct {
	Rows   []latencyRow
	Ticks  []tick
	Table  []LatencyRow
	Of     int
	ByType []Confirmation // where some type has several accounts
}

// latencyRow is one type and account with the places of its percentiles.
type latencyRow struct {
	LatencyRow
	P50X, P95X, P99X, MaxX string
	From, Length           string // of the line from the median to the longest
	Says                   string
}

// The chart draws those with the most links; the table has more.
const (
	latencyDrawn = 16
	latencyRows  = 200
)

// latencyTicks are the marks that an axis may have, in microseconds.
var latencyTicks = []int64{1_000, 10_000, 100_000, 1_000_000, 10_000_000, 60_000_000, 600_000_000, 3_600_000_000, 6 * 3_600_000_000,
	daySecs * 1_000_000, 7 * daySecs * 1_000_000, 30 * daySecs * 1_000_000, 365 * daySecs * 1_000_000}

// latencyOf draws the rows; nil where nothing was measured.
func latencyOf(s *Summary) *latencyView {
	if len(s.Latency) == 0 {
		return nil
	}
	most := slices.Clone(s.Latency)
	slices.SortStableFunc(most, func(a, b LatencyRow) int {
		switch {
		case a.Count > b.Count:
			return -1
		case a.Count < b.Count:
			return 1
		}
		return 0
	})
	out := &latencyView{Table: s.Latency[:min(len(s.Latency), latencyRows)], Of: len(s.Latency)}
	if out.Of > latencyRows {
		out.Table = most[:latencyRows]
	}
	same := func(c Confirmation, l LatencyRow) bool { return c.Type == l.Type && c.Links == l.Count }
	if s.Work != nil && !slices.EqualFunc(s.Work.Confirmation, s.Latency, same) {
		out.ByType = s.Work.Confirmation[:min(len(s.Work.Confirmation), latencyRows)]
	}
	most = most[:min(len(most), latencyDrawn)]
	low, high := int64(math.MaxInt64), int64(0)
	for _, l := range most {
		high = max(high, l.Max)
		if l.P50 > 0 { // what is not has no place on the axis
			low = min(low, l.P50)
		}
	}
	from, until := latencyTicks[0], latencyTicks[len(latencyTicks)-1]
	if low == math.MaxInt64 { // every time is 0
		low = from
	}
	for _, t := range latencyTicks[:len(latencyTicks)-1] { // the axis has a length
		if t <= low {
			from = t
		}
	}
	for _, t := range slices.Backward(latencyTicks) {
		if t >= high && t > from {
			until = t
		}
	}
	place := func(us int64) int64 {
		us = min(max(us, from), until)
		// Whole hundredths of a percent: the last bit of a logarithm does not show.
		return int64(math.Round(math.Log(float64(us)/float64(from)) / math.Log(float64(until)/float64(from)) * 10_000))
	}
	for _, t := range latencyTicks {
		if t >= from && t <= until {
			out.Ticks = append(out.Ticks, anchored(place(t), durationText(t)))
		}
	}
	for len(out.Ticks) > 7 { // both ends and every other one
		var fewer []tick
		for i, t := range out.Ticks {
			if i%2 == 0 || i == len(out.Ticks)-1 {
				fewer = append(fewer, t)
			}
		}
		out.Ticks = fewer
	}
	for _, l := range most {
		r := latencyRow{LatencyRow: l, P50X: hundredths(place(l.P50)), P95X: hundredths(place(l.P95)), P99X: hundredths(place(l.P99)), MaxX: hundredths(place(l.Max))}
		r.From, r.Length = r.P50X, hundredths(max(place(l.Max)-place(l.P50), 0))
		r.Says = fmt.Sprintf("%s, account %s: half within %s, 95 %% within %s, 99 %% within %s, the longest %s", typeName(l.Type), orDefault(shown(l.Account)),
			durationText(l.P50), durationText(l.P95), durationText(l.P99), durationText(l.Max))
		out.Rows = append(out.Rows, r)
	}
	return out
}

// typeName names operations without a type.
func typeName(typ string) string {
	if typ == "" {
		return "no type"
	}
	return shown(typ)
}

// retryRow is a cause with the operations that came through and those that did not.
type retryRow struct {
	RetryOutcome
	Cause       string
	Came, Stuck stretch
	Says        string
}

// retriesDrawn is how many causes the chart has; the table has all.
const retriesDrawn = 16

// retryRows draws the causes with the most attempts.
func retryRows(s *Summary) []retryRow {
	most := int64(0)
	list := s.Retries[:min(len(s.Retries), retriesDrawn)]
	for _, r := range list {
		most = max(most, r.Operations)
	}
	var out []retryRow
	for _, r := range list {
		parts := stacked([]int64{r.Confirmed, r.Operations - r.Confirmed}, most)
		out = append(out, retryRow{RetryOutcome: r, Cause: causeName(r), Came: parts[0], Stuck: parts[1],
			Says: fmt.Sprintf("%s: %s of %s confirmed, %s %%", causeName(r), grouped(strconv.FormatInt(r.Confirmed, 10)), count(r.Operations, "operation"), shareText(r.Share))})
	}
	return out
}

// causeName is the class and code of an error, as far as they are known.
func causeName(r RetryOutcome) string {
	switch {
	case r.ErrorClass == "" && r.ErrorCode == "":
		return "no error stated"
	case r.ErrorCode == "":
		return shown(r.ErrorClass)
	case r.ErrorClass == "":
		return shown(r.ErrorCode)
	}
	return shown(r.ErrorClass) + ", " + shown(r.ErrorCode)
}

// shareText is a share with six decimals in percent with two; what is cut off is cut.
func shareText(share string) string {
	if len(share) != 8 || !decimalText.MatchString(share) {
		return share
	}
	digits := share[:1] + share[2:]
	n, err := strconv.ParseInt(digits[:5], 10, 64)
	if err != nil {
		return share
	}
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

// fact is a number with its name.
type fact struct{ Name, Value, Note string }

// workFacts are what the register says of its own work.
func workFacts(s *Summary) []fact {
	w := s.Work
	if w == nil {
		return nil
	}
	num := func(n int64) string { return grouped(strconv.FormatInt(n, 10)) }
	known := func(us *int64) string {
		if us == nil {
			return "not known"
		}
		return durationText(*us)
	}
	oldest := "not known"
	if w.OldestPendingSecs != nil {
		oldest = ageText(*w.OldestPendingSecs)
	}
	out := []fact{
		{"oldest operation that is not settled", oldest, "age at the reference time, in the period or not"},
		{"operations with an attempt stated", num(w.Attempted), num(w.Attempts) + " attempts in all"},
		{"of them with more than one", num(w.Retried), num(w.RetriedCorrect) + " of these are correct"},
		{"operations that failed first and were resolved", num(w.Resolved), ""},
		{"median time to resolution", known(w.ResolutionMedian), "the longest: " + known(w.ResolutionLongest)},
	}
	if w.ReplaysFailed != nil {
		out = append(out, fact{"replays by hand that failed", num(*w.ReplaysFailed), ""})
	}
	return out
}
