package latency

import (
	"context"
	"slices"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// Verdict on a declared window.
type Verdict string

// Verdicts. Only left fails the gate; what is not judged is said.
const (
	Within   Verdict = "within"
	Left     Verdict = "left"    // more than one in a hundred was confirmed after it was due
	TooFew   Verdict = "too_few" // links
	NoWindow Verdict = "undeclared"
)

// Judged is the window of a type against the links of it, or of one account.
type Judged struct {
	Group
	Window  *Window `json:"window"` // null where none is declared
	Late    int64   `json:"late"`   // confirmed after they were due
	Verdict Verdict `json:"verdict"`
}

// Report is what `windows check` says.
type Report struct {
	*Measured
	Least  int64    `json:"least"`
	Judged []Judged `json:"judged"`
	Left   []string `json:"left"` // the types whose window is left, by all accounts or by one
}

// Check judges the declared windows against the links of the last nights: of each type,
// and of each of its accounts. A window is left where the p99 of the time from when a
// link was due to its result is positive. That is the instant of V25, business days
// included, so that a late attempt counts from its own time.
func Check(ctx context.Context, o pipeline.Options, nights int, least int64) (*Report, error) {
	var r *Report
	err := measure(ctx, o, nights, func(m *Measured) error {
		r = &Report{Measured: m, Least: least, Judged: []Judged{}, Left: []string{}}
		late, err := m.late(ctx, 0, 0)
		if err != nil {
			return err
		}
		for _, g := range m.Groups {
			if g.Weekday != "" {
				continue
			}
			j := Judged{Group: g}
			if p, ok := m.job.Policy(g.Type); ok && p.HasWindow {
				j.Window = windowOf(p)
			}
			for k, l := range late {
				if k[0] == g.Type && (g.Account == "" || k[1] == g.Account) {
					j.Late += l.declared
				}
			}
			j.Verdict = judge(j, least)
			if j.Verdict == Left && !slices.Contains(r.Left, j.Type) {
				r.Left = append(r.Left, j.Type)
			}
			r.Judged = append(r.Judged, j)
		}
		return nil
	})
	return r, err
}

func judge(j Judged, least int64) Verdict {
	switch {
	case j.Window == nil:
		return NoWindow
	case j.excess.Links < least:
		return TooFew
	case j.excess.P99 > 0:
		return Left
	}
	return Within
}
