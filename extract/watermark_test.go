package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// spansOf writes what a side proves.
func spansOf(rel *Relation) string {
	var out []string
	for _, i := range rel.Coverage {
		line := "nothing"
		if i.From < i.Until {
			line = describeSpan(&i.From, &i.Until)
		}
		for _, g := range i.Withdrawn {
			line += "; not " + describeSpan(&g.From, &g.Until) + ": " + g.Reason
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// What a source says that its data reach to shortens what it proves, and never lengthens it.
func TestWatermark(t *testing.T) {
	const (
		plain = "id,amount,currency,at\na,1.00,EUR,2026-08-20T08:00:00Z\nb,1.00,EUR,2026-08-20T15:30:00Z\n"
		whole = "2026-08-19T22:00:00Z to 2026-08-20T22:00:00Z" // the day in Paris
		until = "2026-08-19T22:00:00Z to "
		rest  = "; not 2026-08-20T15:30:00Z to 2026-08-20T22:00:00Z: its data end here, by its own word"
		short = until + "2026-08-20T15:30:00Z" + rest
	)
	for _, c := range []struct {
		name, through, file, text, control string
		want                               string // or the error
	}{
		{"trailer", "trailer.3", "psp.csv", "D|a|1.00|EUR\nT|1|2026-08-20T17:30\n", "", short},
		{"header with offset", "header.2", "psp.csv", "H|2026-08-20T15:30:00Z\nD|a|1.00|EUR\n", "", short},
		{"as long as declared", "trailer.3", "psp.csv", "D|a|1.00|EUR\nT|1|2026-08-21T00:00\n", "", whole},
		{"longer than declared", "trailer.3", "psp.csv", "D|a|1.00|EUR\nT|1|2026-08-25T00:00\n", "", whole},
		{"before it begins", "trailer.3", "psp.csv", "D|a|1.00|EUR\nT|1|2026-08-01T00:00\n", "",
			"nothing; not " + whole + ": its data end here, by its own word"},
		{"no time", "trailer.3", "psp.csv", "D|a|1.00|EUR\nT|1|soon\n", "", "psp.csv: field 3 of the trailer, which should say what the data reach to, is no time as declared"},
		{"no field", "trailer.3", "psp.csv", "D|a|1.00|EUR\nT|1\n", "", "psp.csv: the trailer has no field 3, which should say what the data reach to"},
		{"zone of its own", "{at: trailer.3, layout: YYYYMMDDHHmm, zone: America/New_York}", "psp.csv", "D|a|1.00|EUR\nT|1|202608201130\n", "", short},
		{"day included", "{at: trailer.3, layout: YYYYMMDD, day: included}", "psp.csv", "D|a|1.00|EUR\nT|1|20260820\n", "", whole},
		{"day excluded", "{at: trailer.3, layout: YYYYMMDD, day: excluded}", "psp.csv", "D|a|1.00|EUR\nT|1|20260820\n", "",
			"nothing; not " + whole + ": its data end here, by its own word"},
		{"name", `{name: '_until_(?P<through>\d{12})\.csv$', layout: "200601021504"}`, "psp_until_202608201730.csv", plain, "", short},
		{"another name", `{name: '_until_(?P<through>\d{12})\.csv$', layout: "200601021504"}`, "psp.csv", plain, "", "psp.csv: the name does not say what the data reach to"},
		{"no day", `{name: '_until_(?P<through>\d{12})\.csv$', layout: "200601021504"}`, "psp_until_202613201730.csv", plain, "", "what its name says that the data reach to, is no time as declared"},
		{"latest record", "{latest: created_at}", "psp.csv", plain, "", short},
		{"no record", "{latest: created_at}", "psp.csv", "id,amount,currency,at\n", "", "nothing; not " + whole + ": its data end here, by its own word"},
		{"control file", "file.to", "psp.csv", plain, "to=2026-08-20T15:30Z\n", short},
		{"control file without", "file.to", "psp.csv", plain, "from=2026-08-20T15:30Z\n", `psp.ctl: the control file has no field to, which should say what the data reach to`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(c.file, c.text)
			source := "name: psp\npath: \"psp*.csv\"\n"
			if !strings.HasPrefix(c.text, "id,") {
				source += "csv: {delimiter: \"|\", header: none, columns: [kind, id, amount, currency], rows: {field: 1, header: H, record: D, trailer: T}}\n"
			}
			if strings.Contains(c.text, "H|") {
				source = strings.Replace(source, ", trailer: T", "", 1)
			}
			if c.control != "" {
				w.write("psp.ctl", c.control)
				source += "controls: {file: psp.ctl}\n"
			}
			declared(t, w, source+"coverage: {from: \"{date}T00:00\", until: \"{date+1}T00:00\", through: "+c.through+"}\n")
			rel, _, err := w.load(rules.Results)
			switch {
			case err != nil && (fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			case err == nil && spansOf(rel) != c.want:
				t.Errorf("%s\nwant\n%s", spansOf(rel), c.want)
			case err == nil && (strings.Contains(c.want, "; not ") != (len(rel.Watermarks) == 1) || (len(rel.Watermarks) == 1) != hasFinding(rel, "coverage_shortened")):
				t.Errorf("watermarks %+v, findings %+v", rel.Watermarks, rel.Findings)
			}
		})
	}
}

func hasFinding(rel *Relation, code string) bool {
	for _, f := range rel.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// The time that a source says not to hold yet is proved by another one only where both are
// of one named account, and by other files of its own.
func TestTail(t *testing.T) {
	day := int64(24 * time.Hour / time.Microsecond)
	for _, c := range []struct {
		name, account, other string
		until                int64
	}{
		{"another source without an account", "", "y", 5 * day},
		{"another source of the account", "a", "y", 20 * day},
		{"the same source", "", "x", 20 * day},
	} {
		at := 5 * day
		x, y := proof("x", 0, 10*day, "", ""), proof(c.other, 4*day, 20*day, "", "")
		x.through = &at
		x.source.Coverage.Account, y.source.Coverage.Account = c.account, c.account
		got := coverageOf([]evidence{x, y})
		if got[0].From != 0 || got[0].Until != c.until {
			t.Errorf("%s: %+v, want it proved until %d", c.name, got, c.until)
		}
		y.spoiled = "cut"
		if got := coverageOf([]evidence{x, y}); got[0].Until != 4*day {
			t.Errorf("%s, spoiled: %+v", c.name, got)
		}
	}
}
