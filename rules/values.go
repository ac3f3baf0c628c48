package rules

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
)

var durationPart = regexp.MustCompile(`^([0-9]{1,9})(ms|s|m|h|d|w)`)

var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute,
	"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ParseDuration reads 10s, 5m, 6h, 2d, 1w, 1h30m. A day has 24 hours. At most 100
// years, so that sums of a few durations cannot overflow.
func ParseDuration(s string) (time.Duration, error) {
	const longest = 36525 * 24 * time.Hour
	var sum time.Duration
	rest := s
	for rest != "" {
		m := durationPart.FindStringSubmatch(rest)
		if m == nil {
			return 0, fmt.Errorf("%q is not a duration", s)
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		unit := durationUnits[m[2]]
		if err != nil || n > int64((longest-sum)/unit) {
			return 0, fmt.Errorf("%q is longer than 100 years", s)
		}
		sum += time.Duration(n) * unit
		rest = rest[len(m[0]):]
	}
	if s == "" {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	return sum, nil
}

// formatDuration is the inverse of ParseDuration: the largest units first, 0s
// for none.
func formatDuration(v time.Duration) string {
	if v == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []string{"d", "h", "m", "s", "ms"} {
		if n := v / durationUnits[u]; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u)
			v -= n * durationUnits[u]
		}
	}
	return b.String()
}

// maxDigits is how many digits a decimal may have, before and after its point
// together: the widest decimal of the engine.
const maxDigits = 38

var decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// parseDecimal reads digits with an optional point, exactly; no exponent, no
// grouping.
func parseDecimal(s string) (*apd.Decimal, error) {
	if !decimalText.MatchString(s) {
		return nil, fmt.Errorf("%q is not a decimal number", s)
	}
	if n := len(strings.Trim(strings.Replace(s, ".", "", 1), "-")); n > maxDigits {
		return nil, fmt.Errorf("%q has more than %d digits", s, maxDigits)
	}
	v, _, err := apd.NewFromString(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a decimal number", s)
	}
	return v, nil
}

// CanonicalDecimal is the one spelling of a decimal: ^-?(0|[1-9]\d*)(\.\d*[1-9])?$
// and never "-0".
func CanonicalDecimal(v *apd.Decimal) string {
	var r apd.Decimal
	r.Reduce(v)
	if r.IsZero() {
		return "0"
	}
	return r.Text('f')
}

// parsePercent reads "2%" or "0.5%" and returns the share: 0.02, 0.005. It is
// the share of a count, never of money.
func parsePercent(s string) (float64, error) {
	digits, ok := strings.CutSuffix(s, "%")
	if !ok || !decimalText.MatchString(digits) {
		return 0, fmt.Errorf("%q is not a percentage", s)
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(v, 0) || v < 0 || v > 100 {
		return 0, fmt.Errorf("%q is not a percentage from 0%% to 100%%", s)
	}
	return v / 100, nil
}

// formatPercent is the inverse of parsePercent.
func formatPercent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e10)/1e8, 'f', -1, 64) + "%"
}
