package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// trendView draws the last runs: two charts of columns, one of dots.
type trendView struct {
	Charts      []trendChart
	Dots        []trendDot
	Lines       []trendLine
	Lowest      string // share at the foot of the dots
	First, Last string // dates
	Points      []TrendPoint
}

// trendChart is a column a run.
type trendChart struct {
	Title, Says string
	Top         int64 // what the height stands for
	Keys        []chartKey
	Columns     []trendColumn
}

// chartKey explains a colour. Kind is the style class of its shapes.
type chartKey struct{ Kind, Name string }

type trendColumn struct {
	X, Width string
	Parts    []trendPart
}

// trendPart is a part of a column, in pixels from the top of the chart.
type trendPart struct {
	Kind      string
	Y, Height int64
	Says      string
}

// trendDot is the share of one run that is confirmed; filled where its day closes.
type trendDot struct {
	X      string
	Y      int64
	Closes bool
	Says   string
}

type trendLine struct {
	X1, X2 string
	Y1, Y2 int64
}

const trendHeight = 110 // pixels of a column that stands for Top

// trendOf draws at least two runs. Nil where there are fewer.
func trendOf(s *Summary) *trendView {
	n := len(s.Trend)
	if n < 2 {
		return nil
	}
	out := &trendView{Points: s.Trend, First: s.Trend[0].BusinessDate, Last: s.Trend[n-1].BusinessDate}
	var queues, classes []chartKey
	for _, q := range queueOrder {
		if q != "confirm" {
			queues = append(queues, chartKey{"q-" + q, q})
		}
	}
	for _, c := range classOrder {
		if !settledClass(c) {
			classes = append(classes, chartKey{"c-" + c, c})
		}
	}
	out.Charts = []trendChart{
		columns(s, "Items in queues, confirm aside", queues, func(p TrendPoint, name string) int64 {
			for _, q := range p.Queues {
				if q.Queue == name {
					return q.Items
				}
			}
			return 0
		}),
		columns(s, "Rows by class, what is settled aside", classes, func(p TrendPoint, name string) int64 {
			for _, r := range p.Rows {
				if r.Class == name {
					return rowsOf(r)
				}
			}
			return 0
		}),
	}
	out.dots(s)
	return out
}

// rowsOf are the operations of a class, or its results where it has no operations.
func rowsOf(r TrendRows) int64 {
	if r.OperationRows > 0 {
		return r.OperationRows
	}
	return r.ResultRows
}

// columns draws one chart.
func columns(s *Summary, title string, keys []chartKey, value func(TrendPoint, string) int64) trendChart {
	out := trendChart{Title: title, Keys: keys}
	n := int64(len(s.Trend))
	for _, p := range s.Trend {
		all := int64(0)
		for _, k := range keys {
			all += value(p, k.Name)
		}
		out.Top = max(out.Top, all)
	}
	var last []string
	for i, p := range s.Trend {
		c := trendColumn{X: hundredths((10*int64(i) + 1) * 1000 / n), Width: hundredths(8000 / n)}
		var values []int64
		for _, k := range keys {
			values = append(values, value(p, k.Name))
		}
		y := int64(trendHeight)
		for j, h := range heights(values, out.Top) {
			k, v := keys[j], values[j]
			if i == len(s.Trend)-1 {
				last = append(last, fmt.Sprintf("%s %s", grouped(strconv.FormatInt(v, 10)), k.Name))
			}
			if v == 0 {
				continue
			}
			y -= h
			c.Parts = append(c.Parts, trendPart{Kind: k.Kind, Y: y, Height: h, Says: fmt.Sprintf("%s: %s %s", p.BusinessDate, grouped(strconv.FormatInt(v, 10)), k.Name)})
		}
		out.Columns = append(out.Columns, c)
	}
	out.Says = fmt.Sprintf("%s, %s until %s. Last: %s.", title, s.Trend[0].BusinessDate, s.Trend[n-1].BusinessDate, strings.Join(last, ", "))
	return out
}

// heights are those of the parts of a column: what is not 0 can be seen, for which the
// tallest part makes room.
func heights(values []int64, top int64) []int64 {
	out := make([]int64, len(values))
	all, used, tallest := int64(0), int64(0), 0
	for i, v := range values {
		if v > 0 {
			all += v
			out[i] = max(scaled(v, top, trendHeight), 2)
			used += out[i]
		}
		if out[i] > out[tallest] {
			tallest = i
		}
	}
	if all > 0 && out[tallest] > 2 {
		out[tallest] = max(out[tallest]+scaled(all, top, trendHeight)-used, 2)
	}
	return out
}

// dots places the share of confirmed operations between the whole percent below the
// lowest one and 100.
func (v *trendView) dots(s *Summary) {
	n := int64(len(s.Trend))
	ratio := make([]int64, n)
	low := int64(99_00)
	for i, p := range s.Trend {
		ratio[i] = -1
		if whole, frac, ok := strings.Cut(p.MatchRatio, "."); ok && len(frac) == 2 {
			if x, err := strconv.ParseInt(whole+frac, 10, 64); err == nil && x <= 100_00 {
				ratio[i] = x
				low = min(low, x/100*100)
			}
		}
	}
	v.Lowest = strconv.FormatInt(low/100, 10)
	place := func(i int64) (string, int64) {
		return hundredths((2*i + 1) * 5000 / n), 6 + scaled(100_00-ratio[i], 100_00-low, trendHeight-12)
	}
	for i := range n {
		if ratio[i] < 0 {
			continue
		}
		x, y := place(i)
		closes := "does not close"
		if s.Trend[i].Closes {
			closes = "closes"
		}
		v.Dots = append(v.Dots, trendDot{X: x, Y: y, Closes: s.Trend[i].Closes, Says: fmt.Sprintf("%s: %s %%, the day %s", s.Trend[i].BusinessDate, s.Trend[i].MatchRatio, closes)})
		if i > 0 && ratio[i-1] >= 0 {
			x1, y1 := place(i - 1)
			v.Lines = append(v.Lines, trendLine{X1: x1, Y1: y1, X2: x, Y2: y})
		}
	}
}

// ageBar is a queue with the ages of its items.
type ageBar struct {
	Queue   string
	Items   int64
	Buckets []AgeBucket // of the queue, those with items
	Parts   []agePart
}

type agePart struct {
	stretch
	Kind, Says string
}

// ageNames say a bucket in words.
var ageNames = map[string]string{"0-1d": "less than 1 day", "1-3d": "1 to 3 days", "3-7d": "3 to 7 days", "7-30d": "7 to 30 days", "30d+": "30 days and more",
	"unknown": "no time is known", "waiting": "waiting for a source"}

// ageName is a bucket in words.
func ageName(bucket string) string {
	if name := ageNames[bucket]; name != "" {
		return name
	}
	return bucket
}

// ageKind is the style class of a bucket.
func ageKind(bucket string) string {
	for i, b := range ageBuckets {
		if b.name == bucket {
			return "a-" + strconv.Itoa(i+1)
		}
	}
	return "a-0"
}

// ageKeys explain the colours of the buckets.
func ageKeys() []chartKey {
	var out []chartKey
	for _, b := range ageBuckets {
		out = append(out, chartKey{ageKind(b.name), ageName(b.name)})
	}
	return out
}

// ageBars draws the queues on one scale.
func ageBars(s *Summary) []ageBar {
	var out []ageBar
	most := int64(0)
	for _, b := range s.Ageing {
		if len(out) == 0 || out[len(out)-1].Queue != b.Queue {
			out = append(out, ageBar{Queue: b.Queue})
		}
		x := &out[len(out)-1]
		x.Items += b.Items
		most = max(most, x.Items)
		if b.Items > 0 {
			x.Buckets = append(x.Buckets, b)
		}
	}
	for i := range out {
		x := &out[i]
		var parts []int64
		for _, b := range x.Buckets {
			parts = append(parts, b.Items)
		}
		for j, p := range stacked(parts, most) {
			b := x.Buckets[j]
			x.Parts = append(x.Parts, agePart{stretch: p, Kind: ageKind(b.Bucket), Says: fmt.Sprintf("%s, %s: %s", x.Queue, ageName(b.Bucket), count(b.Items, "item"))})
		}
	}
	return out
}

// carriedRow are the open items of one currency and origin date.
type carriedRow struct {
	Currency string
	Carried
	Former bool // carried over from an earlier business date
}

// carriedRows lists where the open items come from.
func carriedRows(s *Summary) []carriedRow {
	var out []carriedRow
	for _, o := range s.Open {
		for _, c := range o.Carried {
			out = append(out, carriedRow{o.Currency, c, c.Before || c.Since < s.BusinessDate})
		}
	}
	return out
}

// changeRow is one kind of change since the former run.
type changeRow struct {
	Name, Means, ID string
	Change
}

// changeRows lists the kinds of changes; none where there is no former run.
func changeRows(s *Summary) []changeRow {
	if s.Changes == nil {
		return nil
	}
	return []changeRow{
		{"new", "open now, not then", "new", s.Changes.New},
		{"gone", "open then, not now", "gone", s.Changes.Gone},
		{"changed", "open in both, with another queue, class or reason", "changed", s.Changes.Changed},
		{"older", "open in both, the same", "older", s.Changes.Older},
	}
}

// zoneOf is the calendar of the job; UTC where it is not known here.
func zoneOf(s *Summary) *time.Location {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}
