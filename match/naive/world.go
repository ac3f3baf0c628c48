package naive

import (
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match/compare"
	"github.com/recon-batch/recon-batch/rules"
)

// world is the state of one run: both sides, their links, and what is decided.
type world struct {
	in      Input
	job     *rules.Bound
	layout  map[rules.Side]*extract.Layout
	o, r    []*row
	links   []*link
	grouped []*group
	sets    int64 // unresolved sets so far

	surplus map[int64]Proposal          // of surplus effects, by row id
	ends    map[string]map[string]int64 // of business days, by calendar and date
}

// row is one record with what the rules said about it so far.
type row struct {
	Row
	side  rules.Side
	links []*link
	// decided holds the verdict once a rule gave one.
	decided *Verdict
	section byte   // section of verdicts.md that decided, 'B' to 'G'
	scope   string // results: reason of the scope rule that excludes the row
	group   *group // that a pass by groups put it into
	// strayOutside: a result that was free when the period set it apart (V27).
	strayOutside bool
}

// link joins one operation and one result.
type link struct {
	o, r    *row
	pass    int
	settled bool  // every identity key that both carry is equal (V12)
	keys    []int // identity passes whose keys differ
}

// Run judges every row. The job must be one that rules.Load accepts.
func Run(in Input) (*Outcome, error) {
	w := newWorld(in)
	w.setAside()
	w.excludeResults()
	w.runPasses()
	w.applyPeriod()
	w.markUnusable()
	w.judgeLinked()
	w.judgeGroups()
	w.judgeFree()
	w.proveOnce()
	return w.outcome()
}

func newWorld(in Input) *world {
	w := &world{in: in, job: in.Job, ends: map[string]map[string]int64{}, layout: map[rules.Side]*extract.Layout{
		rules.Operations: extract.NewLayout(in.Job.Job, rules.Operations),
		rules.Results:    extract.NewLayout(in.Job.Job, rules.Results),
	}}
	w.o = wrap(rules.Operations, in.Operations)
	w.r = wrap(rules.Results, in.Results)
	return w
}

// wrap orders the rows of a side by row id: by source, file, record.
func wrap(side rules.Side, in []Row) []*row {
	out := make([]*row, len(in))
	for i, r := range in {
		out[i] = &row{Row: r, side: side}
	}
	slices.SortFunc(out, func(a, b *row) int { return int(min(max(a.RID-b.RID, -1), 1)) })
	return out
}

func (w *world) side(s rules.Side) []*row {
	if s == rules.Operations {
		return w.o
	}
	return w.r
}

func (w *world) outcome() (*Outcome, error) {
	w.surplus = map[int64]Proposal{}
	out := &Outcome{
		Operations: map[int64]Verdict{}, Results: map[int64]Verdict{}, Proposals: map[int64]Proposal{}, Surplus: w.surplus,
	}
	for _, rows := range [][]*row{w.o, w.r} {
		for _, x := range rows {
			if x.decided == nil {
				return nil, fmt.Errorf("naive: no verdict for %s row %d", x.side, x.RID)
			}
		}
	}
	for _, o := range w.o {
		out.Operations[o.RID] = *o.decided
		out.Proposals[o.RID] = w.propose(o)
	}
	for _, r := range w.r {
		out.Results[r.RID] = *r.decided
		if p := w.proposeFree(r); p.Queue != None {
			w.surplus[r.RID] = p
		}
	}
	return out, nil
}

// decide gives the row its verdict by a rule of the section.
func (x *row) decide(section byte, c Class, reason string) *Verdict {
	x.decided = &Verdict{Class: c, Reason: reason, Pass: -1}
	x.section = section
	return x.decided
}

// is tells whether the row has that verdict.
func (x *row) is(c Class, reason string) bool {
	return x.decided != nil && x.decided.Class == c && x.decided.Reason == reason
}

// free rows take part in matching: not set aside, not excluded, not linked.
func (x *row) free() bool { return x.decided == nil && len(x.links) == 0 && x.group == nil }

// stands is false for a record that another one of its side stands for.
func (x *row) stands() bool {
	return !x.is(Duplicate, identicalCopy) && !x.is(Duplicate, supersededAttempt)
}

// key is the canonical key of pass i, "" where it is unusable (V2).
func (x *row) key(i int) (string, bool) { return x.text(fmt.Sprintf("k%d", i)) }

func (x *row) text(column string) (string, bool) {
	s, ok := x.V[column].(string)
	return s, ok
}

// field is the value of a product field, nil where it is empty or unreadable.
func (x *row) field(name string) any { return x.V["f_"+name] }

func (w *world) bit(x *row, mask, field string) bool {
	i := w.job.Spec(x.side).FieldIndex(field)
	if i < 0 {
		return false
	}
	m, _ := x.V[mask].(uint64)
	return m>>uint(i)&1 == 1
}

// moment is a time field as a value for the comparators: nil, int64
// microseconds, compare.Twice or compare.Never.
func (w *world) moment(x *row, field string) any {
	v := x.field(field)
	if !w.bit(x, "amb", field) {
		return v
	}
	early, ok := v.(int64)
	late, ok2 := x.V["late_"+field].(int64)
	if !ok || !ok2 {
		return compare.Never{}
	}
	return compare.Twice{Early: early, Late: late}
}

// span gives the first and the last reading of a time, false where it has none.
func (w *world) span(x *row, field string) (first, last int64, ok bool) {
	switch t := w.moment(x, field).(type) {
	case int64:
		if w.isDate(x, field) { // as rules.Bound counts days: from midnight in UTC
			t *= (24 * time.Hour).Microseconds()
		}
		return t, t, true
	case compare.Twice:
		return t.Early, t.Late, true
	}
	return 0, 0, false
}

// unknown tells whether the field holds something that gives no value: a text that
// is not of its type, or a local time that never is.
func (w *world) unknown(x *row, field string) bool {
	if w.bit(x, "bad", field) {
		return true
	}
	_, _, ok := w.span(x, field)
	return w.bit(x, "amb", field) && !ok
}

// status is the canonical status of a result; a side without one says succeeded (V19).
func (w *world) status(r *row) rules.Status {
	if !w.layout[rules.Results].HasStatus() {
		return rules.Succeeded
	}
	s, _ := r.text("st")
	return rules.Status(s)
}

func (w *world) failed(r *row) bool { return w.status(r) == rules.Failed }

// isNumber tells whether a staged value is numeric.
func isNumber(v any) bool {
	switch v.(type) {
	case int64, uint64, *apd.Decimal:
		return true
	}
	return false
}
