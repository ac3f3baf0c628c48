package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

var clockForm = regexp.MustCompile(clockPattern)

func (d *decoder) calendars(root *object, job *Job) map[string]Calendar {
	n := root.node("calendars")
	if n == nil {
		return nil
	}
	out := map[string]Calendar{}
	d.free(n, root.at("calendars"), func(name string, k, v *yaml.Node, path string) {
		if !regexp.MustCompile(calendarNamePattern).MatchString(name) {
			d.failAt(at(k), path, "lower-case letters, digits, hyphens and underscores", "%q is no name of a calendar", name)
			return
		}
		if o := d.object(v, calendarShape, path); o != nil {
			out[name] = d.calendar(name, o, job)
		}
	})
	return out
}

func (d *decoder) calendar(name string, o *object, job *Job) Calendar {
	c := Calendar{Name: name, Weekend: []time.Weekday{time.Saturday, time.Sunday}}
	def := "UTC"
	if job.Zone != nil {
		def = job.Zone.String()
	}
	if z := d.zone(o, "zone", def); z != nil {
		c.Zone = z.String()
	}
	if n := o.node("weekend"); n != nil {
		c.Weekend = nil
		if n.Kind != yaml.ScalarNode || n.Value != "none" {
			for _, w := range enums(o, "weekend", weekdayNames...) {
				c.Weekend = append(c.Weekend, time.Weekday(slices.Index(weekdayNames, w)))
			}
		}
		if len(c.Weekend) == 7 {
			o.fail("weekend", "leave the business days out", "the calendar %s has no business day", name)
		}
	}
	slices.Sort(c.Weekend)
	if n := o.node("holidays"); n != nil {
		for i, text := range o.texts("holidays") {
			if !isDay(text) {
				p := o.at("holidays")
				if n.Kind == yaml.SequenceNode {
					p = index(p, i)
				}
				d.fail(p, `a date: "2026-12-25"`, "%s: %q is no date", o.at("holidays"), text)
				continue
			}
			c.Holidays = append(c.Holidays, text)
		}
	}
	if n := o.node("holidays_file"); n != nil {
		if text, ok := d.scalar(n, o.at("holidays_file")); ok {
			c.Holidays = append(c.Holidays, d.holidayFile(text, n, o.at("holidays_file"))...)
		}
	}
	slices.Sort(c.Holidays)
	c.Holidays = slices.Compact(c.Holidays)
	if o.has("cut_off") {
		text := o.text("cut_off", "")
		switch {
		case !clockForm.MatchString(text):
			o.fail("cut_off", `a time of day: "17:00"`, "%s: %q is no time of day", o.at("cut_off"), text)
		case text == "00:00":
			o.fail("cut_off", "leave it out for the end of the day", "a cut-off at 00:00 leaves no time of the day before it")
		default:
			t, _ := time.Parse("15:04", text)
			c.CutOff = time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
		}
	}
	return c
}

// holidayFile reads dates, one a line; what follows # is a comment.
func (d *decoder) holidayFile(name string, n *yaml.Node, path string) []string {
	f, ok := d.beside(name, n, path)
	if !ok {
		return nil
	}
	var out []string
	lines := strings.Split(strings.ReplaceAll(string(f.text), "\r\n", "\n"), "\n")
	for i, line := range lines {
		text, _, _ := strings.Cut(line, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !isDay(text) {
			d.fileLines[f.mark] = lines
			d.failAt(place{line: i + 1, column: 1, file: f.mark}, path, "one date a line: 2026-12-25", "%q is no date", text)
			return nil
		}
		out = append(out, text)
	}
	return out
}

// longest is how many days of the clock n business days take at most, holidays apart:
// what is created on a weekend, or after the cut-off, counts as of the next business
// day, and the last day counts to its cut-off or its end.
func (c Calendar) longest(n int) int {
	if len(c.Weekend) == 7 {
		return 0 // refused elsewhere
	}
	worst := 0
	for start := range 7 {
		days, left := 0, n
		weekend := func() bool { return slices.Contains(c.Weekend, time.Weekday((start+days)%7)) }
		for weekend() {
			days++
		}
		for left > 0 {
			if days++; !weekend() {
				left--
			}
		}
		worst = max(worst, days)
	}
	return worst + 1
}
