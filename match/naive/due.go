package naive

import (
	"math/big"

	"github.com/recon-batch/recon-batch/rules"
)

// due tells where the reference time stands in an operation's window (V25).
type due int

const (
	dueNow     due = iota // the window is over, or none is declared
	dueLater              // still inside
	dueUnknown            // the operation lacks the time that its window needs
)

// policy of the operation's type, else that of "*".
func (w *world) policy(o *row) rules.TypePolicy {
	if t, ok := o.field("type").(string); ok {
		if p, ok := w.job.Types[t]; ok {
			return p
		}
	}
	return w.job.Types["*"]
}

func (w *world) asOf() int64 { return w.job.AsOfTime.UnixMicro() }

// due is V25: the boundary is due, and no skew enters, since both times are ours.
func (w *world) due(o *row) due {
	p := w.policy(o)
	if !p.HasWindow {
		return dueNow
	}
	created, late, ok := w.span(o, "created_at")
	if !ok || created != late || w.lastUnknown(o) {
		return dueUnknown
	}
	if w.asOf() < w.windowEnd(o, p, created) {
		return dueLater
	}
	return dueNow
}

// lastUnknown: the last attempt cannot be placed in time, though its window needs it.
// One that was made and has no time may be a moment old.
func (w *world) lastUnknown(o *row) bool {
	if w.unknown(o, "last_attempt_at") {
		return true
	}
	if w.job.Operations.Field("last_attempt_at") == nil || o.field("last_attempt_at") != nil {
		return false
	}
	p := w.policy(o)
	if p.Expected == 0 && p.ExpectedDays == 0 {
		return false
	}
	if w.unknown(o, "attempts") {
		return true
	}
	made := o.field("attempts")
	if made == nil {
		return false
	}
	n, ok := new(big.Rat).SetString(plain(made))
	return ok && n.Sign() > 0
}

// windowEnd is max(created + deadline, last attempt + expected).
func (w *world) windowEnd(o *row, p rules.TypePolicy, created int64) int64 {
	end := w.deadlineEnd(p, created)
	if _, last, ok := w.span(o, "last_attempt_at"); ok {
		end = max(end, w.expectedEnd(p, last))
	}
	return end
}
