package naive

import (
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// overtaken tells whether the operations hold a newer version of the same entity
// and type. Versions without an order overtake nothing; an operation without a
// version is overtaken by any other that has one, and one with a version may be
// overtaken by any other that has none.
func (w *world) overtaken(o *row) bool {
	entity := o.field("entity")
	if entity == nil {
		return false
	}
	for _, x := range w.o {
		same := x.field("entity") == entity && x.field("type") == o.field("type")
		if !same {
			continue
		}
		if w.newer(x, o) || w.versioned() && (w.unknown(x, "version") || w.versionless(x) && !w.versionless(o)) {
			return true
		}
	}
	return false
}

// versioned tells whether the versions of operations have an order.
func (w *world) versioned() bool {
	for _, c := range w.job.Compare {
		if c.As == rules.AsVersion && c.Operations == "version" {
			return c.Scheme != rules.VersionOpaque
		}
	}
	f := w.job.Operations.Field("version")
	return f != nil && (f.Type == rules.Integer || f.Type == rules.Timestamp)
}

// versionless tells whether the operation says no version.
func (w *world) versionless(x *row) bool {
	for i, c := range w.job.Compare {
		if c.As == rules.AsVersion && c.Operations == "version" {
			return w.value(x, i) == nil
		}
	}
	return !isNumber(x.field("version"))
}

// newer compares the versions of two operations as the job compares versions.
func (w *world) newer(x, o *row) bool {
	for i, c := range w.job.Compare {
		if c.As == rules.AsVersion && c.Operations == "version" {
			v, than := w.value(x, i), w.value(o, i)
			cmp, ordered := compare.Order(than, v, c)
			return ordered && cmp > 0 || than == nil && v != nil && c.Scheme != rules.VersionOpaque
		}
	}
	v, than := x.field("version"), o.field("version")
	return isNumber(v) && (than == nil || order(v, than) > 0)
}
