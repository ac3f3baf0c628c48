package compare

import (
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/rules"
)

func dec(s string) *apd.Decimal {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		panic(err)
	}
	return d
}

// TestEqual fixes what each comparator means, at its edges; that the SQL half
// means the same is another test.
func TestEqual(t *testing.T) {
	decimal := func(absolute, relative string) rules.Compare {
		return rules.Compare{As: rules.AsDecimal, Absolute: absolute, Relative: relative}
	}
	second := rules.Compare{As: rules.AsInstant, Absolute: "1000000"}
	exactly := rules.Compare{As: rules.AsInstant}
	text := rules.Compare{As: rules.AsText}
	expect := rules.Compare{As: rules.AsStatus, Expect: rules.Succeeded}
	for _, c := range []struct {
		name string
		o, r any
		c    rules.Compare
		want Result
	}{
		{"text", "a", "a", text, Equals},
		{"text, case matters", "a", "A", text, Differs},
		{"null equals null", nil, nil, text, Equals},
		{"null equals no value", nil, "", text, Differs},
		{"unreadable equals nothing, itself included", Bad{}, Bad{}, text, Unreadable},
		{"unreadable against null", nil, Bad{}, text, Unreadable},
		{"trailing zeros do not matter", dec("1.50"), "1.5", decimal("", ""), Equals},
		{"beyond what a float holds", dec("9007199254740993"), dec("9007199254740992"), decimal("", ""), Differs},
		{"absolute, the boundary", dec("1.00"), dec("1.02"), decimal("0.02", ""), Tolerance},
		{"absolute, one unit more", dec("1.00"), dec("1.0200000001"), decimal("0.02", ""), Differs},
		{"relative to the larger, from below", dec("400"), dec("404.04"), decimal("", "0.01"), Tolerance},
		{"relative to the larger, from above", dec("404.04"), dec("400"), decimal("", "0.01"), Tolerance},
		{"relative, beyond", dec("400"), dec("404.05"), decimal("", "0.01"), Differs},
		{"relative, negative amounts", dec("-400"), dec("-404"), decimal("", "0.01"), Tolerance},
		{"relative, other sign", dec("400"), dec("-400"), decimal("", "0.01"), Differs},
		{"relative, from zero", dec("0"), dec("0.01"), decimal("", "0.01"), Differs},
		{"one of two tolerances is enough", dec("0"), dec("0.01"), decimal("0.01", "0.01"), Tolerance},
		{"a tolerance does not bridge null", nil, dec("0"), decimal("1", "1"), Differs},
		{"instant, the boundary", int64(0), int64(1_000_000), second, Tolerance},
		{"instant, a microsecond more", int64(0), int64(-1_000_001), second, Differs},
		{"twice, one reading equal", Twice{0, 3600}, int64(3600), exactly, Ambiguous},
		{"twice, no reading equal", Twice{0, 3600}, int64(1), exactly, Differs},
		{"twice, all readings agree", Twice{0, 10}, int64(5), second, Tolerance},
		{"twice on both sides", Twice{0, 3600}, Twice{0, 3600}, exactly, Ambiguous},
		{"twice against null", Twice{0, 3600}, nil, exactly, Differs},
		{"never", Never{}, int64(0), exactly, Ambiguous},
		{"never against null", nil, Never{}, exactly, Ambiguous},
		{"never against unreadable", Bad{}, Never{}, exactly, Unreadable},
		{"status as expected", nil, "succeeded", expect, Equals},
		{"another status", nil, "pending", expect, Differs},
		{"versions without order", "a1", "a2", rules.Compare{As: rules.AsVersion, Scheme: rules.VersionOpaque}, Differs},
		{"versions by number", dec("10"), dec("10.0"), rules.Compare{As: rules.AsVersion, Scheme: rules.VersionInteger}, Equals},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Equal(c.o, c.r, c.c); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	by := func(s rules.VersionScheme) rules.Compare { return rules.Compare{As: rules.AsVersion, Scheme: s} }
	for _, c := range []struct {
		name    string
		o, r    any
		c       rules.Compare
		sign    int
		ordered bool
	}{
		{"the result is behind", dec("10"), dec("9"), by(rules.VersionInteger), -1, true},
		{"the result is ahead", dec("9"), dec("10"), by(rules.VersionInteger), 1, true},
		{"by instant", int64(5), int64(4), by(rules.VersionTimestamp), -1, true},
		{"by sortable text", "a", "b", by(rules.VersionSemantic), 1, true},
		{"opaque", "a", "b", by(rules.VersionOpaque), 0, false},
		{"missing", nil, dec("1"), by(rules.VersionInteger), 0, false},
		{"unreadable", Bad{}, dec("1"), by(rules.VersionInteger), 0, false},
		{"a time that exists twice", Twice{1, 2}, int64(3), by(rules.VersionTimestamp), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sign, ordered := Order(c.o, c.r, c.c)
			if ordered != c.ordered || sign != c.sign {
				t.Errorf("got %d %t, want %d %t", sign, ordered, c.sign, c.ordered)
			}
		})
	}
}
