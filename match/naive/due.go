package naive

import "github.com/recon-batch/recon-batch/rules"

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
	if !ok || created != late || w.unknown(o, "last_attempt_at") {
		return dueUnknown
	}
	if w.asOf() < w.windowEnd(o, p, created) {
		return dueLater
	}
	return dueNow
}

// windowEnd is max(created + deadline, last attempt + expected).
func (w *world) windowEnd(o *row, p rules.TypePolicy, created int64) int64 {
	end := w.deadlineEnd(p, created)
	if _, last, ok := w.span(o, "last_attempt_at"); ok {
		end = max(end, w.expectedEnd(p, last))
	}
	return end
}
