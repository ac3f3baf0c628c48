package naive

import (
	"slices"

	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// pair is what comparing two linked rows field by field gives.
type pair struct {
	// results by index of Job.Compare; skipped comparisons are absent.
	results map[int]compare.Result
	// fields that differ, cannot be read or cannot be decided: the passes of
	// differing identity keys first (V12), then fields in declared order.
	fields    []string
	tolerated []string
}

// compare looks at every declared field of a pair.
func (w *world) compare(o, r *row) pair {
	p := pair{results: map[int]compare.Result{}}
	for _, i := range w.contradictions(o, r) {
		p.fields = append(p.fields, w.job.Match[i].Name)
	}
	for i, c := range w.job.Compare {
		if c.OnlyIfEqual != "" && !w.fieldAgrees(o, r, c.OnlyIfEqual) {
			continue
		}
		x := w.compareField(o, r, i)
		p.results[i] = x
		switch {
		case x == compare.Tolerance:
			p.tolerated = append(p.tolerated, c.Name)
		case x != compare.Equals:
			p.fields = append(p.fields, c.Name)
		}
	}
	return p
}

// fieldAgrees tells whether the compared field of that name is equal.
func (w *world) fieldAgrees(o, r *row, name string) bool {
	i := w.compared(name)
	return i >= 0 && w.compareField(o, r, i).Agrees()
}

// compared is the index of the comparison of that name, -1 where there is none.
func (w *world) compared(name string) int {
	return slices.IndexFunc(w.job.Compare, func(c rules.Compare) bool { return c.Name == name })
}

func (w *world) compareField(o, r *row, i int) compare.Result {
	return compare.Equal(w.value(o, i), w.value(r, i), w.job.Compare[i])
}

// value is the comparable value of comparison i, with the marks for what is
// unreadable or a local time without one reading.
func (w *world) value(x *row, i int) any {
	c := w.job.Compare[i]
	column := w.layout[x.side].CompareColumn(i)
	if column == "" {
		return nil
	}
	if c.As == rules.AsStatus {
		return x.V[column]
	}
	for _, name := range w.comparedFields(x.side, c) {
		if w.bit(x, "bad", name) {
			return compare.Bad{}
		}
		if w.bit(x, "amb", name) {
			return w.moment(x, name)
		}
	}
	return x.V[column]
}

// comparedFields are the product fields that a comparison reads on one side.
func (w *world) comparedFields(side rules.Side, c rules.Compare) []string {
	switch {
	case c.As == rules.AsFingerprint:
		return c.Fields
	case side == rules.Operations:
		return []string{c.Operations}
	default:
		return []string{c.Results}
	}
}

// statusField is the name under which verdicts about the status list it: the
// status comparison, else a comparison named status or state, else none.
func (w *world) statusField() string {
	for _, c := range w.job.Compare {
		if c.As == rules.AsStatus {
			return c.Name
		}
	}
	for _, name := range []string{"status", "state"} {
		if w.compared(name) >= 0 {
			return name
		}
	}
	return ""
}

// withStatus adds the status field to the fields, in its declared place.
func (w *world) withStatus(fields []string) []string {
	if s := w.statusField(); s != "" {
		fields = append(slices.Clone(fields), s)
	}
	return w.inOrder(fields)
}

// inOrder sorts names as verdicts list them: passes first, then fields as declared.
func (w *world) inOrder(fields []string) []string {
	var out []string
	for _, p := range w.job.Match {
		if p.Identity && slices.Contains(fields, p.Name) && w.isKeyField(p.Name, fields) {
			out = append(out, p.Name)
		}
	}
	for _, c := range w.job.Compare {
		if slices.Contains(fields, c.Name) && !slices.Contains(out, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
}

// isKeyField is false for a pass that is only named like a compared field which
// is listed behind the keys.
func (w *world) isKeyField(pass string, fields []string) bool {
	if w.compared(pass) < 0 {
		return true
	}
	for _, f := range fields { // keys come before every compared field
		if f == pass {
			return true
		}
		if w.compared(f) >= 0 {
			return false
		}
	}
	return false
}
