package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// Withholding says why acting queues are not written: all of them, or those that are
// named.
type Withholding struct {
	All   []string            // reasons that stand against every acting queue
	Queue map[string][]string // acting queue → reasons
}

// Queues lists what is withheld, in the order of queues.
func (w Withholding) Queues() []string {
	out := []string{}
	for _, q := range queueOrder {
		if acting(q) && (len(w.All) > 0 || len(w.Queue[q]) > 0) {
			out = append(out, q)
		}
	}
	return out
}

// Reasons lists all reasons.
func (w Withholding) Reasons() []string {
	out := slices.Clone(w.All)
	for _, q := range queueOrder {
		out = append(out, w.Queue[q]...)
	}
	return out
}

// Withhold derives from a summary whose limits, canaries and proposals are known what
// is withheld. vacuous is why the run has nothing to compare (V38), or "".
func Withhold(s *Summary, job *rules.Job, vacuous string) Withholding {
	w := Withholding{Queue: map[string][]string{}}
	if vacuous != "" {
		w.All = append(w.All, vacuous)
	}
	for _, c := range s.Canaries {
		if !c.OK {
			w.All = append(w.All, fmt.Sprintf("the canary %s should come out as %s, and %s: no proposal of this run is to be trusted", c.OperationID, c.Expect, c.came()))
		}
	}
	for _, l := range s.Limits {
		if !l.Exceeded || l.Lifted {
			continue
		}
		of := l.Kind
		if l.Currency != "" {
			of += " in " + l.Currency
		}
		text := fmt.Sprintf("the %s queue exceeds its limit of %s: %s, the limit is %s", l.Queue, of, l.Value, l.Limit)
		if l.Note != "" {
			text += " (" + l.Note + ")"
		}
		w.All = append(w.All, fmt.Sprintf("%s; to lift it for this run alone: --allow-blast-radius %s --reason TEXT", text, l.Name))
	}
	if slices.Contains(s.Overrides, OverrideUnobserved) {
		return w
	}
	byQueue := map[string][]string{}
	for _, u := range Unobserved(s, job) {
		byQueue[u.Queue] = append(byQueue[u.Queue], typeText(u.Type))
	}
	for q, types := range byQueue {
		w.Queue[q] = append(w.Queue[q], fmt.Sprintf("%s was never observed for %s, and would be acted on; observe it first, or say why not: --allow-unobserved --reason TEXT", q, strings.Join(types, ", ")))
	}
	return w
}

// lift is the command that lets pass what a person may let pass, where nothing else
// stands against the run.
func lift(s *Summary, in *Input) []Step {
	flags := ""
	for _, l := range s.Limits {
		if l.Exceeded && !l.Lifted {
			flags += " --allow-blast-radius " + l.Name
		}
	}
	if !slices.Contains(s.Overrides, OverrideUnobserved) && len(Unobserved(s, in.Bound.Job)) > 0 {
		flags += " --allow-unobserved"
	}
	failed := slices.ContainsFunc(s.Canaries, func(c Canary) bool { return !c.OK })
	if flags == "" || failed || in.Run == "" {
		return nil
	}
	return []Step{{Why: "let pass what is withheld, for this run alone, once a person has looked", Command: fmt.Sprintf(in.Run, flags+" --reason TEXT")}}
}

// typeText names a type of operation; "" is none.
func typeText(t string) string {
	if t == "" {
		return "items without a type"
	}
	return t
}
