package naive

import "github.com/recon-batch/recon-batch/rules"

// What the fields of a register leave open is unknown, and unknown is never favourable.

// withinDuration tells whether the next attempt comes before so long after the first
// failure.
//
// Reading: a failure without its time was at the creation at the earliest. Without any
// sign of a failure there was none, and no duration runs.
func (w *world) withinDuration(o *row, p rules.TypePolicy, length int64) bool {
	if _, _, ok := w.span(o, "first_failed_at"); ok {
		return w.before(o, "first_failed_at", length, p, false)
	}
	class, _ := o.field("error_class").(string)
	if w.filled(o, "error_class") && class != "none" || w.filled(o, "error_code") || w.filled(o, "last_failed_at") {
		return w.before(o, "created_at", length, p, false)
	}
	return true
}

// endlessLease tells whether somebody holds the operation and nothing says until when.
func (w *world) endlessLease(o *row) bool {
	_, _, ends := w.span(o, "lease_until")
	return !ends && w.filled(o, "lease_holder")
}

// filled tells whether the field holds anything, readable or not.
func (w *world) filled(o *row, field string) bool {
	v := o.field(field)
	return w.unknown(o, field) || v != nil && v != ""
}
