package report

import (
	"regexp"
	"testing"
)

// The axis of times to confirmation has a length whatever the times are.
func TestLatencyAxis(t *testing.T) {
	place := regexp.MustCompile(`^(100|[0-9]{1,2})\.[0-9]{2}%$`)
	for _, us := range []int64{0, -5, 1, 1_000_000, 1 << 62} {
		v := latencyOf(&Summary{Latency: []LatencyRow{{Type: "charge", Account: "psp", Count: 3, P50: us, P95: us, P99: us, Max: us}}})
		if v == nil || len(v.Rows) != 1 || len(v.Ticks) < 2 {
			t.Fatalf("%d µs: %+v", us, v)
		}
		r := v.Rows[0]
		for _, x := range []string{r.P50X, r.P95X, r.P99X, r.MaxX, r.From, r.Length, v.Ticks[0].X, v.Ticks[1].X} {
			if !place.MatchString(x) {
				t.Errorf("%d µs stands at %q", us, x)
			}
		}
	}
}
