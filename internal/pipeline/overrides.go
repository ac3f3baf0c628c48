package pipeline

import (
	"slices"
	"strings"
	"unicode"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// Allowed is what a person lets pass for one run, with the reason. It is part of the
// run's identity, and stands in manifest and report.
type Allowed struct {
	Limits     []string // names of limits of the blast radius, such as requeue.rows
	Unobserved bool     // proposals that were never observed may be acted on
	Reason     string
}

// maxReason bounds the reason, in bytes.
const maxReason = 500

// check refuses what allows nothing, and what nobody answers for. A reason alone allows
// that proposals which were never observed are acted on.
func (a *Allowed) check(o Options) error {
	a.Limits = slices.Compact(slices.Sorted(slices.Values(a.Limits)))
	a.Reason = strings.TrimSpace(a.Reason)
	if a.Reason != "" && !strings.ContainsFunc(a.Reason, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return fail.New(fail.Usage, "--reason says nothing").WithHint("say why, in words: whoever reads the report will ask")
	}
	limits := o.Job.Limits.BlastRadius
	for _, name := range a.Limits {
		if report.KnownLimit(limits, name) {
			continue
		}
		e := fail.New(fail.Usage, "--allow-blast-radius %s: the job declares no limit of that name", name)
		if names := report.LimitNames(limits); len(names) > 0 {
			return e.WithHint("its limits are %s", strings.Join(names, ", "))
		}
		return e.WithHint("the job has no limits.blast_radius, so that nothing needs to be allowed")
	}
	switch {
	case a.Reason == "" && len(a.Limits) > 0:
		return fail.New(fail.Usage, "--allow-blast-radius needs --reason").WithHint("say why the limit does not hold today: --reason 'outage of 28 November made good'")
	case a.Reason == "" && a.Unobserved:
		return fail.New(fail.Usage, "--allow-unobserved needs --reason").WithHint("say why nothing has to be observed first: --reason TEXT")
	case len(a.Reason) > maxReason:
		return fail.New(fail.Usage, "--reason has %d bytes, at most %d are kept", len(a.Reason), maxReason)
	case strings.ContainsFunc(a.Reason, unicode.IsControl):
		return fail.New(fail.Usage, "--reason holds a control character").WithHint("write it on one line")
	}
	a.Unobserved = a.Unobserved || a.Reason != "" && len(a.Limits) == 0
	return nil
}

// overrides as manifest and report record them, in a fixed order.
func (a *Allowed) overrides() []string {
	var list []string
	for _, l := range a.Limits {
		list = append(list, report.OverrideLimit+l)
	}
	if a.Unobserved {
		list = append(list, report.OverrideUnobserved)
	}
	if a.Reason != "" {
		list = append(list, report.OverrideReason+a.Reason)
	}
	return list
}

// flags is the command line that says the same.
func (a *Allowed) flags() string {
	text := ""
	for _, l := range a.Limits {
		text += " --allow-blast-radius " + shellQuote(l)
	}
	if a.Unobserved && len(a.Limits) > 0 {
		text += " --allow-unobserved"
	}
	if a.Reason != "" {
		text += " --reason " + shellQuote(a.Reason)
	}
	return text
}
