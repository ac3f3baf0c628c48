package rules

import (
	"fmt"
	"regexp"
	"time"
)

var instantForm = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T([0-9]{2}:[0-9]{2})(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?)?$`)

// instantText is a day, a local time, or an instant with its offset.
type instantText struct {
	wall   time.Time // the date and time of day, in UTC for want of a zone
	offset bool      // wall is the instant itself
	day    bool      // no time of day was given, or midnight
}

func isDay(s string) bool {
	_, err := time.Parse(dateLayout, s)
	return err == nil
}

func parseInstantText(s string) (instantText, error) {
	m := instantForm.FindStringSubmatch(s)
	if m == nil {
		return instantText{}, fmt.Errorf("%q is no day or time", s)
	}
	layout, text := dateLayout, m[1]
	if m[2] != "" {
		seconds := m[3]
		if seconds == "" {
			seconds = ":00"
		}
		layout, text = "2006-01-02T15:04:05", m[1]+"T"+m[2]+seconds
		if m[4] != "" {
			layout, text = time.RFC3339, text+m[4]
		}
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return instantText{}, fmt.Errorf("%q is no day or time", s)
	}
	midnight := t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0
	return instantText{wall: t.UTC(), offset: m[4] != "", day: m[4] == "" && midnight}, nil
}

// instant resolves the text in a zone. Midnight is the start of the day: its
// first instant, also where the clocks skip or repeat midnight. Any other local
// time that exists twice or never is an error.
func (x instantText) instant(zone *time.Location) (time.Time, error) {
	if x.offset {
		return x.wall, nil
	}
	found := localInstants(x.wall, zone)
	switch {
	case len(found) == 1, len(found) > 1 && x.day:
		return found[0], nil
	case len(found) > 1:
		return time.Time{}, fmt.Errorf("the local time %s exists twice in %s", x.wall.Format("2006-01-02 15:04:05"), zone)
	case x.day:
		return afterSkippedMidnight(x.wall, zone), nil
	default:
		return time.Time{}, fmt.Errorf("the local time %s does not exist in %s", x.wall.Format("2006-01-02 15:04:05"), zone)
	}
}

// localInstants are the instants at which clocks in the zone show the wall time,
// in order: none, one or two. The offsets in force a day before and a day after
// are the only ones it can have, since zones do not change twice in two days.
func localInstants(wall time.Time, zone *time.Location) []time.Time {
	var out []time.Time
	for _, near := range []time.Time{wall.Add(-26 * time.Hour), wall.Add(26 * time.Hour)} {
		_, offset := near.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		if _, o := t.In(zone).Zone(); o != offset {
			continue
		}
		if len(out) == 0 || !out[0].Equal(t) {
			out = append(out, t)
		}
	}
	if len(out) == 2 && out[1].Before(out[0]) {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// afterSkippedMidnight is the first instant of a day whose midnight the clocks
// skip: where they jump to. By the offset of the day before, midnight is at or
// after the jump, at most an hour or two.
func afterSkippedMidnight(wall time.Time, zone *time.Location) time.Time {
	_, offset := wall.Add(-26 * time.Hour).In(zone).Zone()
	t := wall.Add(-time.Duration(offset) * time.Second)
	day := wall.Format(dateLayout)
	for t.Add(-time.Minute).In(zone).Format(dateLayout) >= day {
		t = t.Add(-time.Minute)
	}
	return t
}
