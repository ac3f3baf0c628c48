package rules

import (
	"fmt"
	"strings"
	"time"
)

// layoutNames are names for common layouts. iso stands for the ISO 8601 and
// RFC 3339 forms that a field without a layout takes.
var layoutNames = map[string]string{
	"iso": "", "iso8601": "", "rfc3339": time.RFC3339Nano, "date": dateLayout, "datetime": "2006-01-02 15:04:05",
	"rfc1123z": time.RFC1123Z,
	"unix":     LayoutUnix, "unix_ms": LayoutUnixMilli, "unix_float": LayoutUnixFloat, "iso_nano": LayoutISONano,
}

// Layouts of numbers that count from 1970-01-01T00:00:00Z, as they stand in
// Field.Layouts.
const (
	LayoutUnix      = "unix"       // seconds, a fraction of at most six digits allowed
	LayoutUnixMilli = "unix_ms"    // milliseconds
	LayoutUnixFloat = "unix_float" // seconds as programs print floats: what is finer than a microsecond is cut
)

// LayoutISONano stands for the ISO forms of texts that are finer than a microsecond,
// of which the rest is cut.
const LayoutISONano = "iso_nano"

func unixLayout(layout string) bool {
	return layout == LayoutUnix || layout == LayoutUnixMilli || layout == LayoutUnixFloat
}

// layoutLetters turns the letters of other tools into Go's, the longest first.
var layoutLetters = strings.NewReplacer(
	"YYYY", "2006", "yyyy", "2006", "YY", "06", "yy", "06",
	"MMM", "Jan", "MM", "01", "DD", "02", "dd", "02",
	"HH", "15", "hh", "03", "mm", "04", "ss", "05", "SSSSSS", "000000", "SSS", "000",
	"ZZ", "-0700", "Z", "Z07:00",
)

// parseLayout reads a Go layout, a name, or letters such as YYYY-MM-DD. It
// refuses a layout that does not give a whole day (and a time of day for
// timestamps), a year of two digits, whose century is a guess, and a zone by its
// letters, which time.Parse reads as UTC where it does not know them.
func parseLayout(text string, t FieldType) (string, error) {
	if l, ok := layoutNames[strings.ToLower(text)]; ok {
		if l == dateLayout && t == Timestamp {
			return "", fmt.Errorf("%q has no time of day", text)
		}
		if (unixLayout(l) || l == LayoutISONano) && t != Timestamp {
			return "", fmt.Errorf("%q is an instant, not a day", text)
		}
		return l, nil
	}
	l := text
	if strings.Contains(strings.ToUpper(text), "YY") {
		l = layoutLetters.Replace(text)
	}
	if strings.Contains(l, "MST") {
		return "", fmt.Errorf("%q has a zone by its letters, which name several zones", text)
	}
	// Two instants that differ in every part: a layout that loses one reads
	// something else back.
	for _, probe := range []time.Time{
		time.Date(2019, 11, 23, 16, 47, 38, 0, time.UTC),
		time.Date(1987, 4, 5, 3, 9, 6, 0, time.UTC),
	} {
		got, err := time.Parse(l, probe.Format(l))
		if err != nil {
			return "", fmt.Errorf("%q is no layout: it cannot read what it writes", text)
		}
		if !strings.Contains(l, "2006") && strings.Contains(l, "06") && got.Year()%100 == probe.Year()%100 {
			return "", fmt.Errorf("%q has a year of two digits, whose century is a guess", text)
		}
		if got.Year() != probe.Year() || got.YearDay() != probe.YearDay() {
			return "", fmt.Errorf("%q does not give year, month and day", text)
		}
		if t == Timestamp && (got.Hour() != probe.Hour() || got.Minute() != probe.Minute()) {
			return "", fmt.Errorf("%q has no hour (of 24, or with PM) and minute", text)
		}
	}
	return l, nil
}

// hasOffset tells whether texts of the layout carry their offset.
func hasOffset(layout string) bool {
	return layout == "" || layout == LayoutISONano || unixLayout(layout) || strings.Contains(layout, "Z07") || strings.Contains(layout, "-07") // the ISO forms may
}

// ambiguousLayouts returns two layouts that read one text as different days, as
// 02/01/2006 and 01/02/2006 do; "" where there are none.
func ambiguousLayouts(layouts []string) (string, string) {
	for i, a := range layouts {
		for _, b := range layouts[i+1:] {
			if unixLayout(a) || unixLayout(b) {
				if unixLayout(a) && unixLayout(b) {
					return a, b
				}
				continue
			}
			for month := time.January; month <= time.December; month++ {
				for day := 1; day <= 12; day++ {
					t := time.Date(2019, month, day, 16, 47, 38, 0, time.UTC)
					text := t.Format(orISO(a))
					x, errA := time.Parse(orISO(a), text)
					y, errB := time.Parse(orISO(b), text)
					if errA == nil && errB == nil && (x.Year() != y.Year() || x.YearDay() != y.YearDay()) {
						return a, b
					}
				}
			}
		}
	}
	return "", ""
}

func orISO(layout string) string {
	if layout == "" || layout == LayoutISONano {
		return time.RFC3339
	}
	return layout
}
