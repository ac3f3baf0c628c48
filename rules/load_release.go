package rules

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// releases reads the recorded exceptions to the allowances of the guard.
func (d *decoder) releases(root *object, job *Job) []Release {
	var out []Release
	root.objects("releases", releaseShape, func(_ int, o *object) {
		r := Release{
			ID:         d.matching(o, "id", releaseIDPattern, "letters, digits, hyphens, underscores and points"),
			When:       d.expression(o, "when", job.Operations.Fields),
			Attempts:   int(o.integer("attempts", 0, 1, 1000)),
			Duration:   o.duration("duration", 0),
			Until:      d.instant(o, "until", job),
			By:         o.text("by", ""),
			ApprovedBy: o.text("approved_by", ""),
			Reason:     o.text("reason", ""),
		}
		if slices.ContainsFunc(out, func(x Release) bool { return x.ID == r.ID && r.ID != "" }) {
			o.fail("id", "give each release an id of its own", "two releases have the id %q", r.ID)
		}
		for _, w := range []struct{ name, text string }{{"by", r.By}, {"approved_by", r.ApprovedBy}, {"reason", r.Reason}} {
			if w.text != "" && words(w.text) == "" {
				o.fail(w.name, "write it in words", "%s says nothing", o.at(w.name))
			}
		}
		if words(r.By) != "" && words(r.By) == words(r.ApprovedBy) {
			o.fail("approved_by", "name another person", "the release %s is approved by the person who asks for it", r.ID)
		}
		if r.Attempts == 0 && r.Duration == 0 && !d.faulty(o.at("attempts")) && !d.faulty(o.at("duration")) {
			d.fail(o.path, "add `attempts: +2`, or `duration: 24h`", "the release %s lifts nothing", r.ID)
		}
		out = append(out, r)
	})
	return out
}

// words are the letters and digits of a text in one form, so that a name is the same one
// however it is written: case, spaces, marks that nobody sees, wide and composed letters.
func words(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(text))
}

// instant reads a fixed instant: a local time of the job, or one with its offset.
func (d *decoder) instant(o *object, name string, job *Job) time.Time {
	if !o.has(name) {
		return time.Time{}
	}
	text := o.text(name, "")
	x, err := parseInstantText(text)
	if err != nil {
		o.fail(name, `a day or a local time: "2026-12-05T00:00"; with an offset an instant anywhere: "2026-12-05T00:00Z"`, "%s: %q is no instant", o.at(name), text)
		return time.Time{}
	}
	zone := job.Zone
	if zone == nil {
		zone = time.UTC
	}
	t, err := x.instant(zone)
	if err != nil {
		o.fail(name, "write it with its offset, as "+text+"+01:00 or …Z", "%s: %s", o.at(name), err)
		return time.Time{}
	}
	return t.UTC()
}

// pilot reads who is acted on, and refuses a pilot without its mode and the mode
// without its pilot.
func (d *decoder) pilot(root *object, job *Job) *Pilot {
	o := root.sub("pilot", pilotShape)
	switch {
	case o == nil && !root.has("pilot") && job.Mode == PilotMode:
		root.fail("mode", "add `pilot: {types: […]}`, or a share: `pilot: {share: 10%}`", "a pilot does not say who is acted on")
	case root.has("pilot") && job.Mode != PilotMode && !d.faulty("mode"):
		root.fail("pilot", "write `mode: pilot`, or remove it", "the job has a pilot, but its mode is %s", job.Mode)
	}
	if o == nil {
		return nil
	}
	p := &Pilot{
		Name:  "pilot",
		Types: o.texts("types"),
		From:  d.instantTemplate(o, "from", "", false),
		Until: d.instantTemplate(o, "until", "", false),
		Share: d.share(o, "share"),
	}
	if o.has("name") {
		p.Name = d.matching(o, "name", jobNamePattern, "lower-case letters, digits and hyphens, at most 63")
	}
	if len(p.Types) == 0 && p.From == "" && p.Until == "" && !o.has("share") && !o.has("types") {
		d.fail(o.path, "add types, from, until or share", "the pilot %s has no condition, so that it would act on everything", p.Name)
	}
	return p
}

// canaries reads the planted operations.
func (d *decoder) canaries(root *object) []Canary {
	var out []Canary
	root.objects("canaries", canaryShape, func(_ int, o *object) {
		c := Canary{OperationID: o.text("operation_id", ""), Expect: choice(o, "expect", "", Classes...)}
		if slices.ContainsFunc(out, func(x Canary) bool { return x.OperationID == c.OperationID && c.OperationID != "" }) {
			o.fail("operation_id", "keep one of the two", "the canary %q is there twice", c.OperationID)
		}
		out = append(out, c)
	})
	return out
}
