package report

import (
	"fmt"
	"strings"
	"time"
)

// Charts are SVG without a view box: places across are percentages, so that a chart is
// as wide as the screen and its texts keep their size; places down are pixels.

// across is a place across, part of whole, cut to 0 and 100: "12.34%".
func across(part, whole int64) string {
	if whole <= 0 || part <= 0 {
		return "0%"
	}
	part = min(part, whole)
	for whole > 1<<48 { // keeps the product below in range
		part, whole = part>>1, whole>>1
	}
	return hundredths(part * 10_000 / whole)
}

// hundredths is a number of hundredths of a percent as a place.
func hundredths(n int64) string { return fmt.Sprintf("%d.%02d%%", n/100, n%100) }

// stretch is a part of the width.
type stretch struct{ X, Width string }

// stretchOf is the part from a to b of the width that shows from until until.
func stretchOf(a, b, from, until int64) stretch {
	a, b = min(max(a, from), until), min(max(b, from), until)
	return stretch{X: across(a-from, until-from), Width: across(max(b-a, (until-from)/400), until-from)}
}

// stacked cuts a width of so many of `of` among numbers: what is not 0 has at least a
// visible sliver, for which the widest one makes room. Parts that are 0 have no width.
func stacked(parts []int64, of int64) []stretch {
	const whole, sliver = 10_000, 40
	widths := make([]int64, len(parts))
	widest, used, all := 0, int64(0), int64(0)
	for i, n := range parts {
		if n > 0 && of > 0 {
			all += n
			widths[i] = max(scaled(n, of, whole), sliver)
		}
		used += widths[i]
		if widths[i] > widths[widest] {
			widest = i
		}
	}
	if used > 0 {
		widths[widest] += max(scaled(all, of, whole), sliver) - used
	}
	out := make([]stretch, len(parts))
	x := int64(0)
	for i, w := range widths {
		out[i] = stretch{X: hundredths(x), Width: hundredths(max(w, 0))}
		x += max(w, 0)
	}
	return out
}

// scaled is n of whole, of length. Whole is not 0.
func scaled(n, whole, length int64) int64 {
	for whole > 1<<40 {
		n, whole = n>>1, whole>>1
	}
	return n * length / whole
}

// tick is a mark on an axis.
type tick struct {
	X, Label string
	Anchor   string // start, middle or end: a label at an edge stays inside
}

// anchored puts a label beside a place in hundredths of a percent.
func anchored(at int64, label string) tick {
	t := tick{X: hundredths(at), Label: label, Anchor: "middle"}
	switch {
	case at < 800:
		t.Anchor = "start"
	case at > 9200:
		t.Anchor = "end"
	}
	return t
}

// timeTicks are the marks of a time axis.
func timeTicks(from, until int64, zone *time.Location) []tick {
	marks := TimeMarks(from, until, zone)
	if marks == nil {
		return nil
	}
	out := []tick{}
	for _, m := range marks {
		out = append(out, anchored(m.At, m.Label))
	}
	return out
}

// TimeMark is a mark on a time axis: its place in 10,000ths of the length.
type TimeMark struct {
	At    int64
	Label string
}

// TimeMarks marks hours, days or months between two instants in seconds, at most seven.
func TimeMarks(from, until int64, zone *time.Location) []TimeMark {
	const most = 6
	length := until - from
	if length <= 0 {
		return nil
	}
	hours := []int64{1, 2, 3, 6, 12}
	days := []int64{1, 2, 7, 14, 30, 91, 365, 3650, 36500}
	start := time.Unix(from, 0).In(zone)
	y, m, d := start.Date()
	out := []TimeMark{}
	add := func(t time.Time, layout string) {
		if at := t.Unix(); at >= from && at <= until {
			out = append(out, TimeMark{scaled(at-from, length, 10_000), t.Format(layout)})
		}
	}
	for _, h := range hours {
		if length/(h*3600) > most {
			continue
		}
		for i := int64(0); i <= length/(h*3600)+24/h+1; i++ {
			t := time.Date(y, m, d, int(i*h), 0, 0, 0, zone)
			if t.Hour() == 0 {
				add(t, "2 Jan")
			} else {
				add(t, "15:04")
			}
		}
		return out
	}
	for _, n := range days {
		if length/(n*daySecs) > most {
			continue
		}
		for i := int64(0); i <= length/(n*daySecs)+1; i++ {
			add(time.Date(y, m, d+int(i*n), 0, 0, 0, 0, zone), map[bool]string{true: "Jan 2006", false: "2 Jan"}[n > 30])
		}
		return out
	}
	return out
}

// durationText is a time in microseconds for people.
func durationText(us int64) string {
	switch {
	case us < 0:
		return "-" + durationText(-max(us, -1<<62))
	case us < 1_000:
		return fmt.Sprintf("%d µs", us)
	case us < 1_000_000:
		return trimmed(us/1_000, us%1_000) + " ms"
	case us < 60_000_000:
		return trimmed(us/1_000_000, us%1_000_000/1_000) + " s"
	case us < 3_600_000_000 && us%60_000_000 >= 1_000_000:
		return fmt.Sprintf("%d min %d s", us/60_000_000, us%60_000_000/1_000_000)
	}
	return ageText(us / 1_000_000)
}

// trimmed is a number with thousandths, without zeros at its end.
func trimmed(whole, thousandths int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", whole, thousandths), "0"), ".")
}

// seconds is an instant of the summary in seconds; false where it is none.
func seconds(text string) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t.Unix(), err == nil
}
