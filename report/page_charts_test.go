package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// number reads a place of a chart.
func number(t *testing.T, place string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimSuffix(place, "%"), 64)
	if err != nil || !strings.HasSuffix(place, "%") {
		t.Fatalf("%q is no place", place)
	}
	return x
}

// ends are the begins and ends of parts of the width, in whole percents.
func ends(t *testing.T, list []stretch) (out []int) {
	t.Helper()
	for _, s := range list {
		x := number(t, s.X)
		out = append(out, int(math.Round(x)), int(math.Round(x+number(t, s.Width))))
	}
	return out
}

func hour(h int) string { return day.Add(time.Duration(h) * time.Hour).Format(time.RFC3339) }

func timelineFor(s *Summary) *timeline {
	p := newPage(s)
	return p.Timeline
}

// What is proved, and what is not, stands where it belongs.
func TestTimeline(t *testing.T) {
	s := &Summary{Zone: "UTC", AsOf: hour(100), Period: &Period{By: "created_at", From: hour(25), Until: hour(50)}, Sides: []Side{
		{Side: "operations", Coverage: []Coverage{{Account: "register", Complete: true}}},
		{Side: "results", Coverage: []Coverage{
			{Account: "psp", From: hour(0), Until: hour(75), Gaps: []Gap{{From: hour(30), Until: hour(40), Reason: "the file is missing"}}},
			{Account: "none", From: "1970-01-01T00:00:00Z", Until: "1970-01-01T00:00:00Z", Gaps: []Gap{{From: hour(25), Until: hour(50), Reason: "no file"}}}}}}}
	l := timelineFor(s)
	if l == nil || len(l.Rows) != 3 || l.Now != "100.00%" || l.Clipped || l.Of != 3 {
		t.Fatalf("%+v", l)
	}
	if got := ends(t, []stretch{*l.Period}); !slices.Equal(got, []int{25, 50}) {
		t.Errorf("the period is drawn at %d", got)
	}
	for i, want := range [][2][]int{{{0, 100}, nil}, {{0, 30, 40, 75}, {30, 40}}, {nil, {25, 50}}} {
		if proved, gaps := ends(t, l.Rows[i].Proved), ends(t, l.Rows[i].Gaps); !slices.Equal(proved, want[0]) || !slices.Equal(gaps, want[1]) {
			t.Errorf("account %d: proved %d and gaps %d, want %d and %d", i, proved, gaps, want[0], want[1])
		}
	}
	for i, want := range []string{"everything is proved", "proved 2026-08-20 00:00:00 until 2026-08-23 03:00:00; not proved: 2026-08-21 06:00:00 until 2026-08-21 16:00:00, the file is missing", "nothing is proved; not proved: "} {
		if !strings.Contains(l.Rows[i].Says, want) {
			t.Errorf("account %d says %q, want %q", i, l.Rows[i].Says, want)
		}
	}
	// A source that knows years is drawn around the period.
	s.Sides[1].Coverage[0].From = hour(-24 * 1000)
	l = timelineFor(s)
	if !l.Clipped || number(t, l.Period.Width) < 10 {
		t.Errorf("clipped %t, period %+v", l.Clipped, l.Period)
	}
	if got := ends(t, l.Rows[1].Proved); got[0] != 0 {
		t.Errorf("what is proved begins at %d", got[0])
	}
	// Nothing is known but an account.
	if l = timelineFor(&Summary{Zone: "UTC", AsOf: hour(1), Sides: []Side{{Coverage: []Coverage{{Complete: true}}}}}); l != nil {
		t.Errorf("drawn without a time: %+v", l)
	}
}

// Many accounts: those with gaps are drawn, and it is said that there are more.
func TestTimelineOfManyAccounts(t *testing.T) {
	var list []Coverage
	for i := range 300 {
		c := Coverage{Account: fmt.Sprintf("account-%03d", i), From: hour(0), Until: hour(24), Gaps: []Gap{}}
		if i >= 290 {
			c.Gaps = []Gap{{From: hour(1), Until: hour(2), Reason: "cut"}}
		}
		list = append(list, c)
	}
	s := &Summary{Zone: "UTC", AsOf: hour(30), Sides: []Side{{Side: "results", Coverage: list}}}
	texts := sectionTexts(t, mustHTML(t, s))
	for _, want := range []string{"Drawn are 24 of 300 accounts, those with gaps first.", "Showing 200 of 300, those with gaps first", "account-290", "account-299", "account-000"} {
		if !strings.Contains(texts["coverage"], want) {
			t.Errorf("coverage does not say %q", want)
		}
	}
	if l := timelineFor(s); l.Rows[0].Account != "account-290" || len(l.Rows) != 24 {
		t.Errorf("%d accounts from %s", len(l.Rows), l.Rows[0].Account)
	}
}

func TestTimeTicks(t *testing.T) {
	for _, x := range []struct {
		hours int
		want  string
	}{
		{4, "20 Aug 01:00 02:00 03:00 04:00"}, {24, "20 Aug 06:00 12:00 18:00 21 Aug"}, {28, "20 Aug 06:00 12:00 18:00 21 Aug"},
		{24 * 6, "20 Aug 21 Aug 22 Aug 23 Aug 24 Aug 25 Aug 26 Aug"}, {24 * 30, "20 Aug 27 Aug 3 Sep 10 Sep 17 Sep"}, {24 * 700, "Aug 2026 Aug 2027"},
	} {
		var got []string
		last := -1.0
		for _, k := range timeTicks(day.Unix(), day.Add(time.Duration(x.hours)*time.Hour).Unix(), time.UTC) {
			got = append(got, k.Label)
			if at := number(t, k.X); at <= last {
				t.Errorf("%d hours: the mark %s stands at %g after one at %g", x.hours, k.Label, at, last)
			} else {
				last = at
			}
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%d hours: %q, want %q", x.hours, strings.Join(got, " "), x.want)
		}
	}
	// A day of 25 hours has its midnights where the clocks say.
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 10, 25, 0, 0, 0, 0, zone)
	ticks := timeTicks(from.Unix(), from.AddDate(0, 0, 1).Unix(), zone)
	if last := ticks[len(ticks)-1]; last.Label != "26 Oct" || last.X != "100.00%" || ticks[1].Label != "06:00" || ticks[1].X != "28.00%" {
		t.Errorf("%+v", ticks)
	}
}

// Parts of a bar are as wide as their numbers, and nothing that is there is invisible.
func TestStacked(t *testing.T) {
	for _, x := range []struct {
		parts []int64
		of    int64
		want  []int
	}{
		{[]int64{1, 3}, 4, []int{0, 25, 25, 100}}, {[]int64{1, 0, 1}, 4, []int{0, 25, 25, 25, 25, 50}}, {[]int64{0, 0}, 0, []int{0, 0, 0, 0}}, {[]int64{math.MaxInt64 / 2, math.MaxInt64 / 2}, math.MaxInt64 - 1, []int{0, 50, 50, 100}},
	} {
		if got := ends(t, stacked(x.parts, x.of)); !slices.Equal(got, x.want) {
			t.Errorf("%d of %d: %d, want %d", x.parts, x.of, got, x.want)
		}
	}
	tiny := stacked([]int64{1_000_000, 1}, 1_000_001)
	if number(t, tiny[1].Width) < 0.3 || number(t, tiny[1].X)+number(t, tiny[1].Width) > 100.001 {
		t.Errorf("%+v", tiny)
	}
	if alone := stacked([]int64{0, 1}, 1_000_000); number(t, alone[1].Width) < 0.3 {
		t.Errorf("%+v", alone)
	}
}

func TestAgeBars(t *testing.T) {
	bucket := func(queue, name string, n int64) AgeBucket { return AgeBucket{Queue: queue, Bucket: name, Items: n} }
	bars := ageBars(&Summary{Ageing: []AgeBucket{bucket("requeue", "0-1d", 25), bucket("requeue", "1-3d", 25), bucket("review", "0-1d", 0), bucket("review", "30d+", 100), bucket("close", "0-1d", 0)}})
	if len(bars) != 3 || bars[0].Items != 50 || bars[1].Items != 100 || bars[2].Items != 0 || len(bars[2].Parts) != 0 {
		t.Fatalf("%+v", bars)
	}
	if got := ends(t, []stretch{bars[0].Parts[0].stretch, bars[0].Parts[1].stretch, bars[1].Parts[0].stretch}); !slices.Equal(got, []int{0, 25, 25, 50, 0, 100}) {
		t.Errorf("drawn at %d", got)
	}
	if bars[0].Parts[1].Kind != "a-2" || bars[1].Parts[0].Kind != "a-5" || bars[1].Parts[0].Says != "review, 30 days and more: 100 items" {
		t.Errorf("%+v", bars)
	}
}

func TestTrendDrawn(t *testing.T) {
	point := func(date string, review, absent int64, ratio string, closes bool) TrendPoint {
		return TrendPoint{BusinessDate: date, Closes: closes, MatchRatio: ratio, Queues: []TrendQueue{{"confirm", 9000}, {"requeue", review}, {"review", review}},
			Rows: []TrendRows{{Class: "correct", OperationRows: 1 << 40}, {Class: "absent", OperationRows: absent}, {Class: "unexpected", ResultRows: absent}}}
	}
	s := &Summary{Trend: []TrendPoint{point("2026-08-18", 0, 10, "99.50", true), point("2026-08-19", 50, 20, "", false), point("2026-08-20", 25, 5, "97.25", false), point("2026-08-21", 25, 5, "100.00", true)}}
	v := trendOf(s)
	queues, rows := v.Charts[0], v.Charts[1]
	if queues.Top != 100 || rows.Top != 40 {
		t.Fatalf("the columns stand for %d and %d", queues.Top, rows.Top)
	}
	if len(queues.Columns[0].Parts) != 0 || len(queues.Columns[1].Parts) != 2 {
		t.Fatalf("%+v", queues.Columns)
	}
	if p := queues.Columns[1].Parts; p[0].Y != 55 || p[0].Height != 55 || p[1].Y != 0 || p[1].Height != 55 || p[0].Kind != "q-requeue" || p[1].Kind != "q-review" || p[1].Says != "2026-08-19: 50 review" {
		t.Errorf("%+v", p)
	}
	if p := rows.Columns[0].Parts; len(p) != 2 || p[0].Kind != "c-absent" || p[1].Kind != "c-unexpected" || p[0].Height != 28 || p[1].Height != 27 {
		t.Errorf("%+v", p)
	}
	if !strings.HasSuffix(queues.Says, "Last: 25 requeue, 0 compensate, 25 review, 0 close.") {
		t.Errorf("says %q", queues.Says)
	}
	if v.Lowest != "97" || len(v.Dots) != 3 || len(v.Lines) != 1 { // one run has no share, so that no line leads over it
		t.Fatalf("lowest %s, %d dots, %d lines", v.Lowest, len(v.Dots), len(v.Lines))
	}
	if d := v.Dots[0]; d.X != "12.50%" || d.Y != 6+98/6 || !d.Closes || d.Says != "2026-08-18: 99.50 %, the day closes" {
		t.Errorf("%+v", d)
	}
	if d := v.Dots[1]; d.X != "62.50%" || d.Closes || d.Y <= v.Dots[0].Y {
		t.Errorf("%+v", d)
	}
	if d := v.Dots[2]; d.Y != 6 {
		t.Errorf("%+v", d)
	}
	if trendOf(&Summary{Trend: s.Trend[:1]}) != nil {
		t.Error("one run is a trend")
	}
}

func TestHeights(t *testing.T) {
	for _, x := range []struct {
		values []int64
		top    int64
		want   []int64
	}{
		{[]int64{100}, 100, []int64{110}}, {[]int64{50, 0, 50}, 100, []int64{55, 0, 55}}, {[]int64{1, 99_997, 1, 1}, 100_000, []int64{2, 104, 2, 2}},
		{[]int64{1, 0, 1}, 100_000, []int64{2, 0, 2}}, {[]int64{0, 0}, 0, []int64{0, 0}},
	} {
		if got := heights(x.values, x.top); !slices.Equal(got, x.want) {
			t.Errorf("%d of %d: %d, want %d", x.values, x.top, got, x.want)
		}
	}
}

func TestLatencyDrawn(t *testing.T) {
	const second = 1_000_000
	s := &Summary{Latency: []LatencyRow{{"charge", "psp", 10, 20 * second, 50 * second, 60 * second, 3600 * second}, {"refund", "", 20, -5 * second, -1, 0, second}}, Work: &Work{Confirmation: []Confirmation{{"charge", 10, 1, 2, 3}, {"refund", 20, 1, 2, 3}}}}
	v := latencyOf(s)
	if len(v.Rows) != 2 || v.Rows[0].Type != "refund" || v.Rows[1].Type != "charge" || len(v.ByType) != 0 {
		t.Fatalf("%+v", v)
	}
	at := func(i int) []float64 {
		r := v.Rows[i]
		return []float64{number(t, r.P50X), number(t, r.P95X), number(t, r.P99X), number(t, r.MaxX)}
	}
	if got := at(1); !slices.IsSorted(got) || got[0] <= 0 || got[3] != 100 || got[0] == got[1] {
		t.Errorf("charge stands at %g", got)
	}
	if got := at(0); got[0] != 0 || got[3] != 0 {
		t.Errorf("what is negative stands at %g", got)
	}
	if first, last := v.Ticks[0], v.Ticks[len(v.Ticks)-1]; first.Label != "10 s" || first.X != "0.00%" || last.Label != "1 h" || last.X != "100.00%" {
		t.Errorf("%+v", v.Ticks)
	}
	if want := "charge, account psp: half within 20 s, 95 % within 50 s, 99 % within 1 min, the longest 1 h"; v.Rows[1].Says != want {
		t.Errorf("says %q, want %q", v.Rows[1].Says, want)
	}
	s.Work.Confirmation = []Confirmation{{"charge", 30, 1, 2, 3}}
	if v = latencyOf(s); len(v.ByType) != 1 {
		t.Error("times by type over all accounts are left out")
	}
	s.Latency = nil
	for i := range 500 {
		s.Latency = append(s.Latency, LatencyRow{Type: fmt.Sprintf("type-%03d", i), Count: int64(i), P50: 1, P95: 1, P99: 1, Max: 1})
	}
	if v = latencyOf(s); len(v.Rows) != latencyDrawn || len(v.Table) != latencyRows || v.Of != 500 || v.Table[0].Type != "type-499" || v.Rows[0].Type != "type-499" {
		t.Errorf("%d drawn, %d in the table", len(v.Rows), len(v.Table))
	}
}

func TestDurationText(t *testing.T) {
	for us, want := range map[int64]string{0: "0 µs", 999: "999 µs", 1_500: "1.5 ms", 27_000_000: "27 s", 27_050_900: "27.05 s", 60_000_000: "1 min", 202_000_000: "3 min 22 s", 3_600_000_000: "1 h",
		19_432_000_000: "5 h 23 min", 90_000_000_000: "1 d 1 h", -38_000_000: "-38 s", math.MinInt64: "-" + durationText(1<<62)} {
		if got := durationText(us); got != want {
			t.Errorf("%d: %q, want %q", us, got, want)
		}
	}
}

func TestShareText(t *testing.T) {
	for share, want := range map[string]string{"0.959507": "95.95", "1.000000": "100.00", "0.000000": "0.00", "0.000199": "0.01", "": "", "many": "many"} {
		if got := shareText(share); got != want {
			t.Errorf("%s: %q, want %q", share, got, want)
		}
	}
}
