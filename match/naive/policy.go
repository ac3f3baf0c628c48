package naive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// unit is what may need something: an operation with the result that it shows, a
// surplus effect, a result without an operation, an unresolved set.
type unit struct {
	o, r          *row
	class         Class
	reason        string
	wanted        Queue    // what the policy wants
	allowed       Queue    // the acting proposal that the verdict allows, "" none
	refused       []string // the checks that stand against it
	release       string
	overtaken     bool     // the policy closes it, since a newer version takes its place
	closing       []string // the checks that stand against that
	parameters    string
	withoutAnyone bool // no operation whose state would move
}

// wants sets the acting proposal that the verdict allows and the policy wants.
func (u *unit) wants(q Queue, refused []string) {
	u.wanted, u.allowed, u.refused = q, q, refused
}

// ruled is what becomes of a unit: what the policy wants, or what the first rule of
// the job that fits proposes; but nothing that the verdict does not allow or a check
// refuses, and no rule drops what would be acted on.
func (w *world) ruled(u unit) Proposal {
	otherwise := w.judged(u, u.wanted)
	rule := w.firstRule(u)
	if rule == nil {
		return otherwise
	}
	p := Proposal{Queue: Review}
	switch q := Queue(rule.Propose); {
	case q == None && otherwise.Queue == Review:
		return Proposal{Queue: None}
	case q == Review:
	case q == Close && u.overtaken, q == u.allowed && q != "":
		p = w.judged(u, q)
	default:
		p.Refused = []string{"class"}
	}
	p.Rule = rule.Name
	return p
}

// judged is an acting proposal where nothing refuses it, else a review.
func (w *world) judged(u unit, q Queue) Proposal {
	refused := u.refused
	switch {
	case q == Review:
		return Proposal{Queue: Review}
	case q == Close && u.overtaken:
		if refused = u.closing; len(refused) > 0 {
			refused = append(slices.Clone(refused), "newer_version")
		}
	}
	if len(refused) > 0 {
		return Proposal{Queue: Review, Refused: refused}
	}
	p := Proposal{Queue: q, Parameters: u.parameters}
	if !u.withoutAnyone {
		p.Next = w.target(q)
	}
	if q == Requeue {
		p.Release = u.release
	}
	return p
}

// firstRule is the first rule of the job that is true for the unit. The id of a case is
// the engine's own, so that a rule which names one fits nothing here.
func (w *world) firstRule(u unit) *rules.PolicyRule {
	value := func(field string) any {
		switch field {
		case "class":
			return string(u.class)
		case "reason":
			return u.reason
		case "proposal":
			return string(u.wanted)
		case "case_id":
			return nil
		}
		x := u.o
		if name, ok := strings.CutPrefix(field, "r_"); ok && w.job.Operations.Field(field) == nil {
			x, field = u.r, name
		}
		if x == nil {
			return nil
		}
		return x.field(field)
	}
	for i, r := range w.job.PolicyRules {
		if r.When == nil {
			return &w.job.PolicyRules[i]
		}
		if fits, _ := r.When.Eval(value); fits {
			return &w.job.PolicyRules[i]
		}
	}
	return nil
}

// partner is the result that an item shows beside its operation: of several the one
// with the least fingerprint.
func (w *world) partner(o *row) *row {
	if o.group != nil {
		return leastPrint(o.group.r)
	}
	var out *row
	for _, l := range w.shown(o) {
		if out == nil || print64(l.r) < print64(out) {
			out = l.r
		}
	}
	return out
}

func print64(x *row) uint64 {
	n, _ := x.V["w1"].(uint64)
	return n
}

// ofSet is the one proposal of an unresolved set, shown by its operation and its result
// with the least fingerprints.
func (w *world) ofSet(id int64) Proposal {
	least := func(rows []*row) *row {
		var out *row
		for _, x := range rows {
			in := x.decided.SetID == id && (x.decided.Class == AmbiguousC || x.decided.Class == Duplicate)
			if in && (out == nil || print64(x) < print64(out)) {
				out = x
			}
		}
		return out
	}
	u := unit{o: least(w.o), r: least(w.r), wanted: Review}
	first := u.o
	if first == nil {
		first = u.r
	}
	u.class, u.reason = first.decided.Class, first.decided.Reason
	return w.ruled(u)
}

// proposeFree is the proposal for an effect that nobody asked for.
func (w *world) proposeFree(r *row) Proposal {
	v := r.decided
	if v.Class != Unexpected {
		return Proposal{Queue: None}
	}
	p := w.policy(r)
	u := unit{r: r, class: v.Class, reason: v.Reason, wanted: Review, withoutAnyone: true, allowed: Compensate, refused: w.unexpectedChecks(r, p)}
	if p.Unexpected != nil {
		u.wanted = Compensate
	}
	_, parameters := undoing(p)
	u.parameters = w.parameters(r, parameters)
	return w.ruled(u)
}

// undoing is what undoes an effect that nobody asked for.
func undoing(p rules.TypePolicy) (operation string, parameters map[string]string) {
	if x := p.Unexpected; x != nil && x.CompensateWith != "" {
		return x.CompensateWith, x.CompensateParameters
	}
	return p.CompensateWith, p.CompensateParameters
}

// unexpectedChecks lists every check of V31 that keeps an effect which nobody asked for
// from being undone.
func (w *world) unexpectedChecks(r *row, p rules.TypePolicy) []string {
	var out []string
	refuse := func(code string, when bool) {
		if when {
			out = append(out, code)
		}
	}
	operation, parameters := undoing(p)
	refuse("not_succeeded", w.status(r) != rules.Succeeded)
	refuse("no_remote_id", r.field("remote_id") == nil)
	refuse("no_business_operation", operation == "")
	refuse("no_parameter", !w.given(r, parameters))
	refuse("no_policy", w.withoutPolicy(r))
	refuse("no_owner", p.Unexpected == nil || p.Unexpected.Owner == "")
	refuse("partial_register", !w.job.Operations.WholeRegister)
	known := w.in.FormerKeys == nil
	keys := w.identityKeys(r)
	for _, i := range keys {
		k, _ := r.key(i)
		known = known || slices.Contains(w.in.FormerKeys[i], k)
	}
	refuse("known_before", known || len(keys) == 0)
	return out
}

// given tells whether every parameter of the business operation has a value.
func (w *world) given(r *row, parameters map[string]string) bool {
	for _, of := range parameters {
		if text, ok := w.parameter(r, of); !ok || text == "" {
			return false
		}
	}
	return true
}

// parameter is a text in quotes, or the value of a product field of the effect.
func (w *world) parameter(r *row, of string) (string, bool) {
	if n := len(of); n >= 2 && of[0] == '\'' && of[n-1] == '\'' {
		return of[1 : n-1], true
	}
	v := r.field(of)
	if v == nil {
		return "", false
	}
	return plain(v), true
}

// parameters are written as a JSON object, names in order.
func (w *world) parameters(r *row, of map[string]string) string {
	if len(of) == 0 {
		return ""
	}
	text := func(s string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			panic(err) // a text always can be
		}
		return strings.TrimSpace(b.String())
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		v, _ := w.parameter(r, of[name])
		parts = append(parts, text(name)+":"+text(v))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// more is what releases add to the allowances of an operation.
type more struct {
	attempts int
	duration int64
	ids      string
}

// releases are those that hold for the operation at the reference time: of several the
// most of each. They lift nothing for an attempt that comes after the first of them ends.
func (w *world) releases(o *row, p rules.TypePolicy) more {
	var m more
	var ids []string
	for _, r := range w.job.Releases {
		if !w.job.AsOfTime.Before(r.Until) || r.When != nil && !w.holds(r.When, o) {
			continue
		}
		if w.latestAttempt(o, p) >= r.Until.UnixMicro() {
			return more{}
		}
		m.attempts, m.duration = max(m.attempts, r.Attempts), max(m.duration, r.Duration.Microseconds())
		ids = append(ids, r.ID)
	}
	m.ids = strings.Join(ids, ";")
	return m
}

// closes tells whether the policy closes an absent operation, since a newer version of
// the same entity and type takes its place: one that is there alone as the newest and
// still meant to have its effect, and with send_newest one that can be sent itself.
func (w *world) closes(o *row) bool {
	p := w.policy(o)
	if p.WhenOvertaken != "close" && p.WhenOvertaken != "send_newest" {
		return false
	}
	if !w.versioned() || w.unknown(o, "version") || o.field("version") == nil || o.field("entity") == nil {
		return false
	}
	var same []*row
	for _, x := range w.o {
		if x.field("entity") == o.field("entity") && x.field("type") == o.field("type") {
			if w.unknown(x, "version") {
				return false
			}
			if x.field("version") != nil {
				same = append(same, x)
			}
		}
	}
	var newest []*row
	for _, x := range same {
		if slices.ContainsFunc(same, func(y *row) bool { return w.newer(y, x) }) {
			continue
		}
		if c := x.decided.Class; c != NotApplicable && c != Duplicate {
			newest = append(newest, x)
		}
	}
	if len(newest) != 1 || !w.newer(newest[0], o) {
		return false
	}
	if p.WhenOvertaken == "close" {
		return true
	}
	if newest[0].decided.Class != Absent {
		return false
	}
	refused, _ := w.requeueChecks(newest[0])
	return len(refused) == 0
}

// related are the operations that replace this one or are replaced by it, directly or
// through others; unknown where one of them is not among the operations.
func (w *world) related(o *row) (others []*row, unknown bool) {
	if w.job.Operations.Field("replaces") == nil {
		return nil, false
	}
	near := map[string]bool{}
	steps := func(of string) (out []string) {
		for _, x := range w.o {
			old, own := replaces(x), nameOf(x)
			switch {
			case !x.stands() || old == "" || old == own:
			case own == of:
				out = append(out, old)
			case old == of:
				out = append(out, own)
			}
		}
		return out
	}
	for next := []string{nameOf(o)}; len(next) > 0; next = next[1:] {
		if !near[next[0]] {
			near[next[0]] = true
			next = append(next, steps(next[0])...)
		}
	}
	delete(near, nameOf(o))
	for name := range near {
		found := false
		for _, x := range w.o {
			if x.stands() && nameOf(x) == name {
				others, found = append(others, x), true
			}
		}
		unknown = unknown || !found
	}
	return others, unknown
}

// nameOf is the operation id, else a name that nobody else has.
func nameOf(o *row) string {
	if id, ok := o.field("operation_id").(string); ok && id != "" {
		return "i" + id
	}
	return fmt.Sprintf("r%d", o.RID)
}

func replaces(o *row) string {
	if id, ok := o.field("replaces").(string); ok && id != "" {
		return "i" + id
	}
	return ""
}

// replacedOrUndecided tells whether another operation takes the place of this one, or
// one that is related to it has an effect, is undecided, or is not there to be asked.
func (w *world) replacedOrUndecided(o *row) bool {
	others, unknown := w.related(o)
	if unknown {
		return true
	}
	for _, x := range others {
		effects, _ := w.split(x)
		if replaces(x) == nameOf(o) || len(effects) > 0 || w.undecided(x) {
			return true
		}
	}
	return false
}
