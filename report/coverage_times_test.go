package report

import (
	"testing"

	"github.com/recon-batch/recon-batch/extract"
)

// TestEdgesOfTime: an interval without an end has none in the report, is drawn to the end, and
// is told in words.
func TestEdgesOfTime(t *testing.T) {
	local := func(text string) string { return text }
	const day = "2026-11-29T00:00:00Z"
	at, _ := seconds(day)
	for _, c := range []struct {
		from, until int64
		want        Gap // of which Reason is how it is told
	}{
		{extract.BeginningOfTime, extract.EndOfTime, Gap{"", "", "always"}},
		{extract.BeginningOfTime, at * 1e6, Gap{"", day, "until " + day}},
		{at * 1e6, extract.EndOfTime, Gap{day, "", "from " + day + " on"}},
		{at*1e6 - 1e6, at * 1e6, Gap{"2026-11-28T23:59:59Z", day, "2026-11-28T23:59:59Z until " + day}},
	} {
		got := coverage(extract.Interval{Withdrawn: []extract.Gap{{From: c.from, Until: c.until}}}).Gaps[0]
		got.Reason = StretchText(got.From, got.Until, local)
		if got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		if _, out := cutOut(0, 0, []Gap{got}, at-1, at+1); len(out) != 1 {
			t.Errorf("%+v is not drawn: %v", got, out)
		}
	}
	if _, _, ok := Span("", "no time"); ok {
		t.Error("what is no time is a span")
	}
}
