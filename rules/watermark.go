package rules

import (
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// Watermark is what a source says that its data reach to: the first instant of which it
// says nothing (data_available_until). It shortens the declared coverage and never
// lengthens it. Exactly one of At, Name and Latest is set.
type Watermark struct {
	At     Position
	Name   string // regular expression over the name of the file; its group `through` is the text
	Latest string // product field of the records: the greatest value there is
	Layout string // as in Field.Layouts; "" the ISO forms
	Zone   *time.Location
	Days   bool // the text is a day …
	Last   bool // … that the data include to its end
}

// Pattern is Name, compiled.
func (w *Watermark) Pattern() *regexp.Regexp { return regexp.MustCompile(w.Name) }

var watermarkShape = &shape{
	name: "watermark", doc: "What the source says that its data reach to. It shortens the coverage, never lengthens it.",
	keys: []key{
		{name: "at", doc: "Where it stands: trailer.N, header.N, total_line.N or file.NAME, as in controls.", value: positionValue()},
		{name: "name", doc: "Regular expression over the name of the file; its group (?P<through>…) is the time.", value: schema{"type": "string"}},
		{name: "latest", doc: "Timestamp field of the records: the data reach to its greatest value. A file without one covers nothing.", value: patternValue(namePattern)},
		{name: "layout", doc: "How the time is written.", def: "iso", value: textValue()},
		{name: "zone", doc: "Zone of a text without an offset.", def: "that of the job", value: schema{"type": "string"}},
		{name: "day", doc: "Of a layout without a time of day: whether the data include that day. It has to be said.", value: enumValue("included", "excluded")},
	},
}

// through reads the watermark of a source.
func (d *decoder) through(o *object, s *Source) *Watermark {
	n := o.node("through")
	if n == nil {
		return nil
	}
	w := &Watermark{}
	if n.Kind != yaml.MappingNode {
		w.At = d.positionOf(o, "through")
		return w
	}
	c := o.sub("through", watermarkShape)
	if c == nil {
		return nil
	}
	w.At, w.Latest = d.positionOf(c, "at"), c.text("latest", "")
	if c.has("name") {
		w.Name = c.text("name", "")
		re, err := regexp.Compile(w.Name)
		if err != nil || !slices.Contains(re.SubexpNames(), "through") {
			c.fail("name", `'_until_(?P<through>\d{8})\.csv$'`, "%s: it is no regular expression with a group `through`", c.at("name"))
			w.Name = ""
		}
	}
	said := 0
	for _, key := range []string{"at", "name", "latest"} {
		if c.has(key) {
			said++
		}
	}
	if said != 1 {
		d.fail(c.path, "write one of `at: trailer.4`, `name: '…(?P<through>…)'` and `latest: created_at`", "%s says %d places, it needs one", c.path, said)
	}
	if text := c.text("layout", ""); text != "" {
		l, err := parseLayout(text, Timestamp)
		if err != nil {
			l, err = parseLayout(text, Date)
			w.Days = err == nil
		}
		if err != nil {
			c.fail("layout", "a Go layout such as 2006-01-02 15:04:05, YYYYMMDDHHmm, YYYY-MM-DD, or iso", "%s: %s", c.at("layout"), err)
		}
		w.Layout = l
	}
	if c.has("zone") {
		w.Zone = d.zone(c, "zone", "")
	}
	switch day := choice(c, "day", "", "included", "excluded"); {
	case w.Days && day == "":
		c.fail("layout", "add `day: included` where the data hold that day to its end, `day: excluded` where they end before it", "the layout has no time of day, and nothing says whether the day is included")
	case !w.Days && c.has("day"):
		c.fail("day", "remove it", "the layout has a time of day")
	default:
		w.Last = day == "included"
	}
	if c.has("latest") && (c.has("layout") || c.has("zone") || c.has("day")) {
		c.fail("latest", "remove layout, zone and day: the field has its own", "%s: the field says how its times are written", c.at("latest"))
	}
	return w
}

// throughFits checks that the source has the place of its watermark, and a time to shorten.
func (d *decoder) throughFits(o *object, s *Source) {
	w := s.Coverage.Through
	if w == nil {
		return
	}
	p := join(o.at("coverage"), "through")
	if s.Coverage.Until == "" {
		d.fail(p, "declare `from` and `until` as well: the watermark shortens that time", "the source has a watermark, and no time that it could shorten")
	}
	if w.At.Stated() {
		d.lineOf(p, s, w.At.In, "the watermark is to")
	}
}

// checkThrough: the field of the latest record is a timestamp.
func (d *decoder) checkThrough(job *Job, s Side, src *Source, path string) {
	if w := src.Coverage.Through; w != nil && w.Latest != "" {
		p := join(join(path, "coverage"), "through")
		if f, ok := d.fieldOf(job, s, w.Latest, p); ok && f.Type != Timestamp {
			d.fail(p, "declare `type: timestamp`", "the field %s is %s, it is no instant", f.Name, f.Type)
		}
	}
}

func (t *tree) watermark(w *Watermark) {
	if w == nil {
		return
	}
	t.sub("through", func(t *tree) {
		t.text("at", w.At.String())
		t.text("name", w.Name)
		t.text("latest", w.Latest)
		t.text("layout", w.Layout)
		if w.Zone != nil {
			t.text("zone", w.Zone.String())
		}
		switch {
		case w.Last:
			t.text("day", "included")
		case w.Days:
			t.text("day", "excluded")
		}
	})
}
