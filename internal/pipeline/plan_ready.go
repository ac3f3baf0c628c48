package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// PlanReady says of a source with ready rules whether it is ready now.
type PlanReady struct {
	Side   rules.Side `json:"side"`
	Source string     `json:"source"`
	Date   string     `json:"date,omitempty"`
	Need   rules.Need `json:"need"`
	Rules  string     `json:"rules"` // in words
	Ready  bool       `json:"ready"`
	Why    string     `json:"why"` // what is missing, or by what it is known to be whole
	Effect string     `json:"effect,omitempty"`
}

// planReady looks at every source with ready rules, once and, where a second look may find
// it ready at once, twice.
func planReady(ctx context.Context, r *run) ([]PlanReady, error) {
	list := r.watching(true)
	if err := lookAt(ctx, list); err != nil {
		return nil, err
	}
	var out []PlanReady
	for _, w := range list {
		p := PlanReady{Side: w.side, Source: w.input.Source.Name, Date: w.input.FileDate, Need: w.input.Source.Need, Rules: readyWords(w.input), Why: w.why()}
		switch {
		case p.Why == "":
			p.Ready, p.Why = true, w.last.Judged.Proof
			if gap := w.last.Judged.Gap; gap != "" {
				p.Effect = gap + ": its silence would prove nothing"
			}
		case w.mayBeLate():
			p.Effect = "a run now would go on without it, and its silence would prove nothing"
		default:
			p.Effect = "a run now would end with 4"
		}
		out = append(out, p)
	}
	return out, nil
}

// late is the error with which a run would end for want of a source that is ready.
func (p *Plan) late() error {
	var list []string
	for _, r := range p.Ready {
		if !r.Ready && r.Need == rules.Required {
			list = append(list, fmt.Sprintf("%s.%s is not ready: %s", r.Side, r.Source, r.Why))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fail.New(fail.Input, "%s", strings.Join(list, "; ")).
		WithHint("a run waits for it with --wait-for-inputs 2h; a source that may be missing is declared need: late-ok")
}

// readyWords are the rules of a source in words, those to trust most first.
func readyWords(in *rules.Input) string {
	r, p := in.Source.Ready, in.Ready
	var parts []string
	if m := r.Manifest; m != nil {
		parts = append(parts, "as the manifest "+p.Manifest+" lists it")
		if m.Previous != nil {
			parts = append(parts, "which follows another one")
		}
	}
	if r.Marker != nil {
		parts = append(parts, "with the marker "+p.Marker)
	}
	if r.Temporary != nil {
		parts = append(parts, "without a file named "+strings.Join(r.Temporary, ", "))
	}
	if r.Stable > 0 {
		parts = append(parts, "the same for "+durationText(r.Stable))
	}
	return strings.Join(parts, "; ")
}
