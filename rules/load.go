package rules

import (
	"os"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Load reads the job file at path and checks it whole. The error has class
// fail.Usage and, for faults of the text, wraps Errors: all of them at once.
func Load(path string) (*Job, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err, "the job file %s cannot be read", path).
			WithHint("`recon-batch init` writes a job file to start from")
	}
	job, err := Parse(src, path)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// Parse reads a job from its text; name stands for the file in messages, and its
// folder is that of the policy files. Errors are those of Load.
func Parse(src []byte, name string) (*Job, error) { return newDecoder(src, name).parse(src) }

// ParseEffective reads an effective job, in which everything is written out, as
// Parse does. It refuses one that names a policy file to read: the text may come
// from anywhere, and says nothing of the files of this machine.
func ParseEffective(src []byte, name string) (*Job, error) {
	d := newDecoder(src, name)
	d.alone = true
	return d.parse(src)
}

func (d *decoder) parse(src []byte) (*Job, error) {
	name := d.file
	job := d.job(src)
	if len(d.errs) > 0 {
		d.errs.sort()
		return nil, fail.Wrap(fail.Usage, d.errs, "the job file %s cannot be used (%s)", name, faults(len(d.errs)))
	}
	job.File, job.Source, job.Warnings = name, src, d.warnings
	job.given = d.given
	return job, nil
}

// defaultClockSkew is how far clocks that are kept by NTP may be apart in
// practice, with a margin for rounded and delayed times.
const defaultClockSkew = 5 * time.Minute

// job decodes, then checks what concerns several parts. The checks run only on
// what could be decoded, so that one fault does not bring others.
func (d *decoder) job(src []byte) *Job {
	n := d.root(src)
	if n == nil {
		return nil
	}
	job := &Job{Version: 1, ClockSkew: defaultClockSkew}
	n, job.Extends = d.extends(n)
	if n = d.presets(n); len(d.errs) > 0 {
		return nil // without the keys of a preset or a policy file, everything else would be said to lack
	}
	n = deadLetterNames(n)
	o := d.object(n, jobShape, "")
	d.extended(o)
	if o.has("version") {
		if v := o.text("version", "1"); v != "1" {
			o.fail("version", "write `version: 1`", "version %s of the job file is not known to this release", v)
		}
	}
	job.Name = d.matching(o, "job", jobNamePattern, "lower-case letters, digits and hyphens, at most 63")
	job.Zone = d.zone(o, "timezone", "UTC")
	job.AsOf = d.instantTemplate(o, "as_of", "{date+1}T00:00", false)
	job.ClockSkew = o.duration("clock_skew", defaultClockSkew)
	job.Mode = choice(o, "mode", Enforce, Enforce, Observe, PilotMode)
	job.MayBeEmpty = o.boolean("may_be_empty", false)
	job.HintsOff = choice(o, "hints", "on", "on", "off") == "off"
	job.Operations = d.side(o, Operations, nil)
	job.Results = d.side(o, Results, job.Operations.Fields)
	job.Period = d.period(o.sub("period", periodShape))
	job.Match = d.passes(o)
	job.Compare = d.compares(o, job)
	job.Scope = d.scopes(o, job)
	job.Calendars = d.calendars(o, job)
	job.Types = d.types(o, job)
	job.PolicyRules = d.policyRules(o, job)
	job.States = d.states(o.sub("states", statesShape), job.Operations.Profile)
	job.Limits = d.limits(o.sub("limits", limitsShape), job)
	job.Releases = d.releases(o, job)
	job.Pilot = d.pilot(o, job)
	job.Canaries = d.canaries(o)
	job.Gates = d.gates(o)
	job.Unattributed = d.unattributed(o.sub("unattributed", unattributedShape))
	job.Redact = d.redact(o.sub("redact", redactShape))
	for _, side := range []*SideSpec{&job.Operations, &job.Results} {
		for i := range side.Sources {
			side.Sources[i].HideCells = len(job.Redact.Fields) > 0
		}
	}
	job.Outputs = d.outputs(o.sub("outputs", outputsShape))
	job.Evidence = d.evidence(o.sub("evidence", evidenceShape))
	job.Notify = d.notifications(o)
	d.check(job)
	return job
}

// objects calls each for every mapping of a list.
func (o *object) objects(name string, s *shape, each func(i int, o *object)) {
	for i, n := range o.list(name) {
		if c := o.d.object(n, s, index(o.at(name), i)); c != nil {
			each(i, c)
		}
	}
}

func faults(n int) string {
	if n == 1 {
		return "1 fault"
	}
	return itoa(n) + " faults"
}
