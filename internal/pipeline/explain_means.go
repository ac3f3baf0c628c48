package pipeline

import (
	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/rules"
)

// means tells whoever reads a proposal what it is about, in one sentence: whether the
// effect is there, and what is to be done, and not to be done.
func (x *explainer) means(row Place, p Proposal) string {
	again, send, without := "do not send it again", "send it again", "without sending it again"
	if x.b.Operations.Profile == rules.RecoveryQueue {
		again, send, without = "do not replay it", "ready for replay", "without a replay"
	}
	state := ""
	if to := x.b.States.Targets[p.Queue]; to != "" {
		state = " (state " + to + ")"
	}
	class := classify.Class(row.Class)
	switch classify.Queue(p.Queue) {
	case classify.Confirm:
		return "the effect exists: complete the register" + state + ", and " + again
	case classify.Requeue:
		return "the effect is proven absent: " + send + " under the same idempotency key" + state
	case classify.Compensate:
		return "an effect too many: undo this one alone"
	case classify.Close:
		if class == classify.Absent {
			return "superseded: a newer version takes its place, so close it " + without + state
		}
		return "no effect is due and none is there: close it " + without + state
	}
	switch class {
	case classify.Absent:
		if p.Deferred {
			return "the effect is proven absent, but the item would expire before its turn in the retry budget: for a person, and the next run decides again"
		}
		if p.byRule() {
			return "the effect is proven absent, and a rule of the job leaves it to a person"
		}
		return "the effect is proven absent, but a check stands against sending it again: for a person"
	case classify.Ambiguous:
		return "undecidable: nothing proves that the effect exists, or that it does not; for a person, and until then " + again
	case classify.Divergent:
		return "what the provider says is not what was asked for: for a person, and until then " + again
	case classify.Unexpected:
		return "an effect that nobody asked for: for a person"
	case classify.Duplicate:
		return "more than one effect or record of the same thing: for a person"
	}
	if class == classify.Correct && p.byRule() {
		return "the effect exists, and a rule of the job leaves it to a person: " + again
	}
	return "the register cannot follow by itself: for a person"
}
