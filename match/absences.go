package match

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// AbsenceState says what the silence of an account means for operations of some time.
type AbsenceState string

// What can be concluded of an operation without a result.
const (
	AbsenceProved    AbsenceState = "proved"     // it is absent
	AbsenceNotDue    AbsenceState = "not_due"    // nothing yet: its result may still come (V25)
	AbsenceNotProved AbsenceState = "not_proved" // nothing: its result may stand in what was not seen (V26)
)

// Absence tells of which operations of one type the silence of one account proves the
// absence, by the time of their creation.
type Absence struct {
	Type    string // a name, or * for all that have no policy of their own; "" the job has no types
	Account string
	Knows   string        // which of them it should know, as the job says it; "" all
	Spans   []AbsenceSpan // from the first to the last time that was asked, without gap
}

// AbsenceSpan is a time in which one state holds: [From, Until) in microseconds.
type AbsenceSpan struct {
	From, Until int64
	State       AbsenceState
}

// Absences answers V25 and V26 beforehand, for operations created in [from, until) that
// every account should know and that nobody has tried again since: a later attempt is due
// later. What single operations are asked about (lookups) is not known here.
func Absences(job *rules.Bound, coverage []extract.Interval, from, until int64) []Absence {
	names := sortedTypes(job.Job)
	if !slices.ContainsFunc(job.Operations.Fields, func(f rules.Field) bool { return f.Name == "type" }) {
		names = slices.DeleteFunc(names, func(t string) bool { return t != "*" })
	}
	if len(names) == 0 {
		names = []string{""}
	}
	byAccount := map[string][]extract.Interval{}
	for _, iv := range coverage {
		byAccount[iv.Account] = append(byAccount[iv.Account], iv)
	}
	var out []Absence
	for _, t := range names {
		for _, account := range sortedKeys(byAccount) {
			if a := (absence{job: job, policy: job.Types[t]}); a.take(t, byAccount[account]) {
				out = append(out, Absence{Type: t, Account: account, Knows: strings.Join(a.knows, " or "), Spans: a.spans(from, until)})
			}
		}
	}
	return out
}

// absence is what one account proves of one type.
type absence struct {
	job    *rules.Bound
	policy rules.TypePolicy
	proofs []segment
	knows  []string // nil: some source should know all
}

// take collects what the account proves; false where it need not know the type.
func (a *absence) take(t string, intervals []extract.Interval) (knows bool) {
	all := false
	for _, iv := range intervals {
		if len(iv.Types) > 0 && t != "" && t != "*" && !slices.Contains(iv.Types, t) {
			continue
		}
		knows = true
		if iv.Knows == nil {
			all = true
		} else if !slices.Contains(a.knows, iv.Knows.Text) {
			a.knows = append(a.knows, iv.Knows.Text)
		}
		if len(iv.Types) > 0 && (t == "" || t == "*") {
			continue // of a type that is not named, it says nothing
		}
		if provesAbsence(iv) || iv.Proves == rules.SettledOnly && a.policy.EffectIs == "settlement" {
			a.proofs = append(a.proofs, segments(iv)...)
		}
	}
	if all {
		a.knows = nil
	}
	return knows
}

// due is the instant from which the absence of a result means something.
func (a *absence) due(created int64) int64 {
	if w, ok := DeadlineWindow(a.job.Job, a.policy); ok {
		return w.Due(time.UnixMicro(created)).UnixMicro()
	}
	return created + a.policy.Deadline.Microseconds()
}

func (a *absence) state(created int64) AbsenceState {
	due, skew := a.due(created), a.job.ClockSkew.Microseconds()
	if due > a.job.AsOfTime.UnixMicro() {
		return AbsenceNotDue
	}
	for _, p := range a.proofs {
		if p.complete || created-skew >= p.from && due+skew+p.lag <= p.until {
			return AbsenceProved
		}
	}
	return AbsenceNotProved
}

// spans cuts [from, until) where the state may change. What is due later was created
// later, so that each bound is found by halving.
func (a *absence) spans(from, until int64) []AbsenceSpan {
	skew := a.job.ClockSkew.Microseconds()
	firstDueAfter := func(at int64) int64 {
		return from + int64(sort.Search(int(until-from), func(i int) bool { return a.due(from+int64(i)) > at }))
	}
	cuts := []int64{from, until, firstDueAfter(a.job.AsOfTime.UnixMicro())}
	for _, p := range a.proofs {
		if !p.complete {
			cuts = append(cuts, p.from+skew, firstDueAfter(p.until-skew-p.lag))
		}
	}
	slices.Sort(cuts)
	var out []AbsenceSpan
	for i, c := range cuts[:len(cuts)-1] {
		next := cuts[i+1]
		if c < from || c >= next || c >= until {
			continue
		}
		next = min(next, until)
		state := a.state(c)
		if n := len(out); n > 0 && out[n-1].State == state {
			out[n-1].Until = next
			continue
		}
		out = append(out, AbsenceSpan{c, next, state})
	}
	return out
}
