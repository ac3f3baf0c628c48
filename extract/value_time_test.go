package extract

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestParseInstant(t *testing.T) {
	paris := zone(t, "Europe/Paris")
	iso := newTimeForm(rules.Field{})
	local := newTimeForm(rules.Field{Zone: paris})
	layouts := newTimeForm(rules.Field{Layouts: []string{"2006-01-02 15:04:05", "02.01.2006 15:04"}, Zone: paris})
	offset := newTimeForm(rules.Field{Layouts: []string{"2006/01/02 15:04:05 -0700"}})
	named := newTimeForm(rules.Field{Layouts: []string{"2006-01-02 15:04:05 MST"}, Zone: paris})
	const unreadable, never = "", "never"
	for _, c := range []struct {
		form *timeForm
		text string
		want string // RFC 3339, two of them with a blank for a time that exists twice
	}{
		// C25: several spellings in one column
		{&iso, "2031-04-01T10:00:00Z", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01 10:00:00+00:00", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01T12:00:00.000+02:00", "2031-04-01T10:00:00Z"},
		{&iso, "03/04/2031 10:00", unreadable},
		{&iso, "2031-04-01T12:00:00+0200", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01T12:00:00+02", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01t10:00:00z", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01T10:00Z", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01T06:30:00-03:30", "2031-04-01T10:00:00Z"},
		{&iso, "2031-04-01T10:00:00.123456Z", "2031-04-01T10:00:00.123456Z"},
		{&iso, "2031-04-01T10:00:00.1Z", "2031-04-01T10:00:00.1Z"},
		{&iso, "2031-04-01T10:00:00.123456000Z", "2031-04-01T10:00:00.123456Z"},
		{&iso, "2031-04-01T10:00:00.1234561Z", unreadable}, // finer than microseconds
		{&iso, "2031-04-01T10:00:00", unreadable},          // no offset, no zone declared
		{&iso, "2031-04-01", unreadable}, {&iso, "2031-02-30T10:00:00Z", unreadable}, {&iso, "2031-04-01T24:00:00Z", unreadable},
		{&iso, "2031-04-01T10:60:00Z", unreadable}, {&iso, "2016-12-31T23:59:60Z", unreadable}, {&iso, "2031-04-01T10:00:00.Z", unreadable},
		{&iso, "2031-04-01T10:00:00X", unreadable}, {&iso, "2031-04-01T10:00:00+2", unreadable}, {&iso, "2031-04-01T10:00:00+02:0", unreadable},
		{&iso, "0000-04-01T10:00:00Z", unreadable}, {&iso, "2031-04-01T10:00:00ZZ", unreadable}, {&iso, " 2031-04-01T10:00:00Z", unreadable},
		{&iso, "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"},
		// C39: the hour that happens twice and the hour that does not exist
		{&local, "2031-10-26T02:30:00", "2031-10-26T00:30:00Z 2031-10-26T01:30:00Z"},
		{&local, "2031-10-26T03:30:00", "2031-10-26T02:30:00Z"},
		{&local, "2031-03-30T02:30:00", never},
		{&local, "2031-10-26T01:59:59", "2031-10-25T23:59:59Z"},
		{&local, "2031-10-26T02:00:00", "2031-10-26T00:00:00Z 2031-10-26T01:00:00Z"},
		{&local, "2031-10-26T03:00:00", "2031-10-26T02:00:00Z"},
		{&local, "2031-03-30T02:00:00", never}, {&local, "2031-03-30T03:00:00", "2031-03-30T01:00:00Z"},
		{&local, "2031-03-30T01:59:59.999999", "2031-03-30T00:59:59.999999Z"},
		{&local, "2031-10-26T02:30:00+01:00", "2031-10-26T01:30:00Z"}, // an offset leaves no doubt
		// declared layouts
		{&layouts, "2031-04-01 12:00:00", "2031-04-01T10:00:00Z"}, {&layouts, "01.04.2031 12:00", "2031-04-01T10:00:00Z"},
		{&layouts, "2031-10-26 02:30:00", "2031-10-26T00:30:00Z 2031-10-26T01:30:00Z"}, {&layouts, "2031-04-01T12:00:00", unreadable},
		{&layouts, "2031-04-01 12:00:00Z", unreadable}, {&layouts, "30.02.2031 12:00", unreadable},
		{&layouts, "2031-04-01 12:00:00.0000000001", unreadable},
		{&offset, "2026/01/06 00:00:30 -0800", "2026-01-06T08:00:30Z"},
		{&named, "2031-10-26 02:30:00 CET", "2031-10-26T01:30:00Z"}, {&named, "2031-10-26 02:30:00 CEST", "2031-10-26T00:30:00Z"},
		{&named, "2031-04-01 12:00:00 UTC", "2031-04-01T12:00:00Z"}, {&named, "2031-04-01 12:00:00 PST", unreadable},
	} {
		v := c.form.parse([]byte(c.text))
		got := unreadable
		switch {
		case v.never:
			got = never
		case v.twice:
			got = string(appendInstant(nil, v.us)) + " " + string(appendInstant(nil, v.late))
		case v.present:
			got = string(appendInstant(nil, v.us))
		}
		if got != c.want {
			t.Errorf("%q = %q, want %q", c.text, got, c.want)
		}
	}
}

// Every reading of a local time shows that local time, and none is left out: an
// instant's own local time has the instant among its readings.
func TestZoneReadings(t *testing.T) {
	for _, name := range []string{"Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "UTC", "America/Sao_Paulo"} {
		z := &zoneResolver{zone: zone(t, name)}
		rapid.Check(t, func(t *rapid.T) {
			at := time.Unix(rapid.Int64Range(-2e9, 4e9).Draw(t, "unix"), 0).In(z.zone)
			if rapid.Bool().Draw(t, "near a change") {
				if _, end := at.ZoneBounds(); !end.IsZero() {
					at = end.Add(time.Duration(rapid.Int64Range(-7200, 7200).Draw(t, "seconds")) * time.Second)
				}
			}
			_, offset := at.Zone()
			local := at.Unix() + int64(offset)
			first, last, n := z.readings(local)
			if n == 0 || at.Unix() != first && at.Unix() != last {
				t.Fatalf("%s: %v is not among its readings %d, %d (%d)", name, at, first, last, n)
			}
			for _, u := range []int64{first, last} {
				if _, off := time.Unix(u, 0).In(z.zone).Zone(); u+int64(off) != local {
					t.Fatalf("%s: %d does not show the local time %d", name, u, local)
				}
			}
		})
	}
}

// The last day of a leap year after 2037 has readings like any other.
func TestZoneReadingsAtTheEndOfLeapYears(t *testing.T) {
	for _, name := range []string{"Europe/Paris", "America/New_York", "Australia/Lord_Howe", "America/Santiago"} {
		for _, year := range []int{2040, 2044, 2096} {
			at := time.Date(year, 12, 29, 0, 30, 0, 0, zone(t, name))
			for range 5 * 24 {
				_, offset := at.Zone()
				z := &zoneResolver{zone: at.Location()}
				if first, last, n := z.readings(at.Unix() + int64(offset)); n != 1 || first != at.Unix() || last != first {
					t.Errorf("%v has the readings %d, %d (%d)", at, first, last, n)
				}
				at = at.Add(time.Hour)
			}
		}
	}
}

func TestParseISOAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.UnixMicro(rapid.Int64Range(-62e15, 250e15).Draw(t, "us")).
			In(time.FixedZone("", rapid.IntRange(-14*60, 14*60).Draw(t, "offset")*60))
		if want.Year() < 1 || want.Year() > 9999 {
			return
		}
		text := want.Format("2006-01-02T15:04:05.999999Z07:00")
		sec, us, offset, has, ok := parseISO([]byte(text))
		if got := (sec-int64(offset))*usPerSecond + us; !ok || !has || got != want.UnixMicro() {
			t.Fatalf("%s = %d, want %d", text, got, want.UnixMicro())
		}
	})
}

func TestParseDate(t *testing.T) {
	for _, c := range []struct {
		text    string
		layouts []string
		want    string
	}{
		{"2031-02-28", nil, "2031-02-28"}, {"2031-02-30", nil, ""}, {"2032-02-29", nil, "2032-02-29"}, {"2100-02-29", nil, ""},
		{"2031-2-3", nil, ""}, {"20310203", nil, ""}, {"2031-13-01", nil, ""}, {"2031-02-00", nil, ""}, {"2031-02-28T00:00:00Z", nil, ""},
		{"03/04/2031", []string{"02/01/2006"}, "2031-04-03"}, {"30/02/2031", []string{"02/01/2006"}, ""},
		{"20310403", []string{"02/01/2006", "20060102"}, "2031-04-03"}, {"1969-12-31", nil, "1969-12-31"}, {"0001-01-01", nil, "0001-01-01"},
	} {
		days, ok := parseDay([]byte(c.text))
		if c.layouts != nil {
			days, ok = parseDateLayouts(c.layouts, []byte(c.text))
		}
		if ok != (c.want != "") || ok && string(appendDate(nil, days)) != c.want {
			t.Errorf("%q = %s (%v), want %q", c.text, appendDate(nil, days), ok, c.want)
		}
	}
}
