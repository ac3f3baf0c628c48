package naive

import (
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// Section H: what is proposed for an operation, and what refuses it.

// propose is V32, with V30 and V31 for the two queues that move money: what the policy
// wants for an operation, then what the rules of the job make of it.
func (w *world) propose(o *row) Proposal {
	v := o.decided
	if o.group != nil && v.Class != Correct && v.Class != NotDue && v.Class != NotApplicable {
		return w.ofGroup(o.group)
	}
	u := unit{o: o, r: w.partner(o), class: v.Class, reason: v.Reason, wanted: Review}
	switch v.Class {
	case Correct:
		if !w.hasState() || w.final(o) {
			return Proposal{Queue: None}
		}
		u.wants(Confirm, w.moveChecks(o, Confirm))
	case Absent:
		refused, release := w.requeueChecks(o)
		u.wants(Requeue, refused)
		u.release = release
		if w.closes(o) {
			u.wanted, u.overtaken = Close, true
			u.closing = w.moveChecks(o, Close)
		}
	case Divergent:
		if v.Reason == duplicateEffect {
			return w.compensate(o)
		}
	case NotApplicable:
		// the period is no scope rule, and asks for nothing
		if _, documented := w.outOfScope(o); !documented || w.isOutOfPeriod(o) || !w.hasState() || w.final(o) {
			return Proposal{Queue: None}
		}
		u.wants(Close, w.moveChecks(o, Close))
	case NotDue:
		return Proposal{Queue: None}
	case Duplicate:
		if !o.stands() {
			return Proposal{Queue: None}
		}
	}
	if v.SetID != 0 && (v.Class == AmbiguousC || v.Class == Duplicate) {
		return w.ofSet(v.SetID)
	}
	return w.ruled(u)
}

func (w *world) isOutOfPeriod(o *row) bool {
	return w.job.Period != nil && o.is(NotApplicable, w.job.Period.Reason) && w.outside(o)
}

func (w *world) hasState() bool { return w.job.Operations.Field("state") != nil }

func (w *world) final(o *row) bool {
	s, ok := o.field("state").(string)
	return ok && (w.heldConfirmed(o) || slices.Contains(w.job.States.Final, s))
}

// heldConfirmed tells whether our own record says that the effect is there.
func (w *world) heldConfirmed(o *row) bool {
	s, ok := o.field("state").(string)
	if !ok {
		return false
	}
	of := w.job.States.Map[s]
	return s == w.target(Confirm) || of == "confirmed" || of == "succeeded"
}

// target is the state that a proposal leads to, "" where the job's states have none.
func (w *world) target(q Queue) string {
	if w.job.States.Targets != nil {
		return w.job.States.Targets[string(q)]
	}
	return map[Queue]string{Confirm: "confirmed", Requeue: "retry_scheduled", Close: "not_applicable", Compensate: "compensated"}[q]
}

// illegal refuses a move from an unknown state, or from one that does not lead to the
// target of the proposal; and another attempt of what would have ended with it.
func (w *world) illegal(o *row, q Queue) bool {
	to := w.target(q)
	s, ok := o.field("state").(string)
	legal := ok && to != "" && slices.Contains(w.job.States.All, s) && slices.Contains(w.job.States.Transitions[to], s)
	return !legal || q == Requeue && slices.Contains(w.job.States.Final, to)
}

// moveChecks are the checks of what only moves the local state.
func (w *world) moveChecks(o *row, q Queue) []string {
	var out []string
	if w.withoutPolicy(o) {
		out = append(out, "no_policy")
	}
	if w.illegal(o, q) {
		out = append(out, "state")
	}
	return out
}

// withoutPolicy tells whether the job lists types and the row is of none of them.
func (w *world) withoutPolicy(x *row) bool {
	if _, rest := w.job.Types["*"]; rest || len(w.job.Types) == 0 {
		return false
	}
	t, ok := x.field("type").(string)
	_, listed := w.job.Types[t]
	return !ok || !listed
}

// requeueChecks lists every check of V30 that refuses the requeue, and the releases
// without which more would.
func (w *world) requeueChecks(o *row) (refused []string, release string) {
	refused, release = w.ownChecks(o)
	if !slices.Contains(refused, "sibling_effect") && len(refused) == 0 && w.rival(o) {
		refused = append(refused, "sibling_effect")
	}
	return refused, release
}

// rival tells whether another operation for the same thing could be sent as well.
//
// Reading: an absent sibling is decided, but two that were both sent would be two
// effects, and nobody says which one is meant.
func (w *world) rival(o *row) bool {
	related, _ := w.related(o)
	for _, x := range w.o {
		if x == o || !x.stands() || x.decided.Class != Absent {
			continue
		}
		if !slices.Contains(related, x) && !w.sameOnce(o, x) {
			continue
		}
		if refused, _ := w.ownChecks(x); len(refused) == 0 {
			return true
		}
	}
	return false
}

func (w *world) ownChecks(o *row) (out []string, release string) {
	p := w.policy(o)
	refuse := func(code string, when bool) {
		if when {
			out = append(out, code)
		}
	}
	_, hasKey := w.idempotencyKey(o)
	refuse("not_idempotent", !p.Idempotent)
	refuse("no_key", !hasKey)
	refuse("key_lifetime", p.Idempotent && !w.keyLives(o, p))
	refuse("key_shared", w.keyShared(o))
	more := w.releases(o, p)
	used := false
	if !w.attemptsLeft(o, p, 0) {
		lifted := w.attemptsLeft(o, p, more.attempts)
		refuse("attempts", !lifted)
		used = used || lifted
	}
	if w.unknown(o, "first_failed_at") {
		refuse("duration", true)
	} else if p.MaxDuration > 0 && !w.withinDuration(o, p, p.MaxDuration.Microseconds()) {
		lifted := w.withinDuration(o, p, p.MaxDuration.Microseconds()+more.duration)
		refuse("duration", !lifted)
		used = used || lifted
	}
	if used {
		release = more.ids
	}
	refuse("error_class", !w.retryable(o, p))
	_, lease, leased := w.span(o, "lease_until")
	refuse("lease", w.unknown(o, "lease_until") || leased && lease > w.asOf() || w.endlessLease(o))
	refuse("on_hold", w.held(o))
	refuse("newer_version", w.overtaken(o))
	refuse("sibling_effect", w.siblingEffect(o) || w.replacedOrUndecided(o))
	refuse("no_identity", !w.recognisable(o))
	refuse("stale_export", w.staleExport(p))
	refuse("payload", !w.payload(o, p))
	refuse("risk", p.Risk == "irreversible" || p.Risk == "regulated")
	refuse("proof_lifetime", p.ProofValid > 0 && w.latestAttempt(o, p) >= w.asOf()+p.ProofValid.Microseconds())
	refuse("no_policy", w.withoutPolicy(o))
	refuse("state", w.illegal(o, Requeue))
	return out, release
}

// payload tells whether what would be sent is there, and will be at the next attempt.
// A reference that states no end has none.
func (w *world) payload(o *row, p rules.TypePolicy) bool {
	ops := w.job.Operations
	if ops.Field("payload_ref") != nil {
		if ref, ok := o.field("payload_ref").(string); !ok || ref == "" {
			return false
		}
	}
	end, _, stated := w.span(o, "payload_expires_at")
	return !w.unknown(o, "payload_expires_at") && (!stated || w.latestAttempt(o, p) < end)
}

// idempotencyKey is the canonical key, from the pass that uses it where there is
// one.
func (w *world) idempotencyKey(o *row) (string, bool) {
	for i, p := range w.job.Match {
		if len(p.On) == 1 && p.On[0].Operations == "idempotency_key" {
			return o.key(i)
		}
	}
	return o.text("f_idempotency_key")
}

// keyLives tells whether the next attempt comes before the provider forgets the
// key, counted from its first use, with a second to spare: the item ends before it. An undeclared lifetime proves nothing.
func (w *world) keyLives(o *row, p rules.TypePolicy) bool {
	if p.KeyTTL == 0 {
		return false
	}
	first := "first_attempt_at"
	if o.field(first) == nil {
		first = "created_at"
	}
	return w.before(o, first, (p.KeyTTL - time.Second).Microseconds(), p, false)
}

// before tells whether even the latest next attempt (the reference time and the
// longest step of the schedule, jitter included) lies before field + length.
// missing is the answer where the operation has no such time.
func (w *world) before(o *row, field string, length int64, p rules.TypePolicy, missing bool) bool {
	start, _, ok := w.span(o, field)
	if !ok {
		return missing
	}
	return w.latestAttempt(o, p) < start+length
}

// latestAttempt is the time of the latest next attempt: by the schedule, and not before the
// time that the register has set for it; no time is late enough where that cannot be read.
func (w *world) latestAttempt(o *row, p rules.TypePolicy) int64 {
	if w.unknown(o, "next_attempt_at") {
		return math.MaxInt64
	}
	_, planned, _ := w.span(o, "next_attempt_at")
	return max(planned, w.asOf()+int64(float64(p.Backoff.Max.Microseconds())*(1+p.Backoff.Jitter)))
}

// keyShared tells whether another operation carries the idempotency key; a
// record that another one stands for is none.
func (w *world) keyShared(o *row) bool {
	key, ok := w.idempotencyKey(o)
	if !ok {
		return false
	}
	for _, x := range w.o {
		if k, ok := w.idempotencyKey(x); ok && k == key && x != o && x.stands() {
			return true
		}
	}
	return false
}

// attemptsLeft is true where both the number of attempts and its limit are known,
// and the limit, with what a release adds to it, is not reached.
func (w *world) attemptsLeft(o *row, p rules.TypePolicy, more int) bool {
	v := o.field("attempts")
	if v == nil || p.MaxAttempts == 0 {
		return false
	}
	n, _ := new(big.Rat).SetString(plain(v))
	return n.Sign() >= 0 && n.Cmp(big.NewRat(int64(p.MaxAttempts+more), 1)) < 0
}

// retryable looks at the error of our side, and for an operation that failed at
// the provider at every refusal: each must be one that the job maps as retryable.
func (w *world) retryable(o *row, p rules.TypePolicy) bool {
	if w.unknown(o, "error_class") {
		return false
	}
	e, _ := o.field("error_class").(string)
	if code, _ := o.field("error_code").(string); e == "" && code != "" {
		if e = string(p.Errors[code]); e == "" {
			return false // a code that is not listed is ambiguous
		}
	}
	if e != "" && e != "transient" && e != "none" {
		return false
	}
	if !o.is(Absent, failedAtProvider) {
		return true
	}
	for _, l := range o.links {
		refusal, _ := l.r.text("f_status")
		if !slices.Contains(p.Retryable, refusal) {
			return false
		}
	}
	return true
}

// held tells whether the operation is on hold: a boolean that is true, any other
// field that is filled, and either where it cannot be read.
func (w *world) held(o *row) bool {
	f := w.job.Operations.Field("hold")
	if f == nil {
		return false
	}
	v := o.field("hold")
	return w.unknown(o, "hold") || v == true || v != nil && f.Type != rules.Boolean
}

// siblingEffect tells whether another operation of the same type that agrees in
// all fields of `once_per` has an effect or is undecided. What is unknown may be equal.
//
// Reading: decided are only a proven absence and a documented rule. A period is none: one
// outside of it whose result was not read may have its effect.
func (w *world) siblingEffect(o *row) bool {
	for _, x := range w.o {
		if x == o || !x.stands() || !w.sameOnce(o, x) {
			continue
		}
		effects, _ := w.split(x)
		if len(effects) > 0 || w.undecided(x) {
			return true
		}
	}
	return false
}

// undecided tells whether nothing proves that the operation has no effect.
func (w *world) undecided(x *row) bool {
	return x.decided.Class != Absent && x.decided.Class != NotApplicable || w.job.Period != nil && w.outside(x)
}

// sameOnce tells whether two operations are for the same thing by `once_per`.
func (w *world) sameOnce(o, x *row) bool {
	p := w.policy(o)
	return len(p.OncePer) > 0 && sameIn(x, o, append([]string{"type"}, p.OncePer...))
}

func sameIn(a, b *row, fields []string) bool {
	for _, f := range fields {
		x, y := a.field(f), b.field(f)
		if x != nil && x != "" && y != nil && y != "" && contradicts(x, y) {
			return false
		}
	}
	return true
}

// recognisable tells whether the operation has an identity key that results of
// an account which should know it carry at all: without one, nobody would see
// that a second attempt succeeded.
func (w *world) recognisable(o *row) bool {
	accounts := w.knowing(o)
	for _, i := range w.identityKeys(o) {
		for _, r := range w.r {
			if _, ok := r.key(i); ok && (w.in.ResultSources == nil || slices.Contains(accounts, w.account(r))) {
				return true
			}
		}
	}
	return false
}

// staleExport tells whether the export of the operations ends too long before
// the reference time. One that covers everything is as old as the run.
//
// Reading: of several accounts each must be fresh, since keys, versions and
// siblings are looked for in all of them.
func (w *world) staleExport(p rules.TypePolicy) bool {
	if p.ExportAge == 0 {
		return false
	}
	fresh := func(i extract.Interval) bool { return i.Complete || w.asOf()-i.Until <= p.ExportAge.Microseconds() }
	for _, i := range w.in.OperationsCoverage {
		if !slices.ContainsFunc(w.in.OperationsCoverage, func(x extract.Interval) bool { return x.Account == i.Account && fresh(x) }) {
			return true
		}
	}
	return len(w.in.OperationsCoverage) == 0
}

// compensate is V31 for the surplus effects of an operation: each has a proposal
// of its own. The operation's is to compensate where one of them may be undone;
// otherwise it lists what stands against all of them.
func (w *world) compensate(o *row) Proposal {
	effects, _ := w.split(o)
	good := w.goodEffect(effects)
	all := Proposal{Queue: Review}
	for _, l := range effects {
		if l == good {
			continue
		}
		u := unit{o: o, r: l.r, class: Duplicate, reason: surplusEffect}
		u.wants(Compensate, w.compensateChecks(l, good, effects))
		p := w.ruled(u)
		if p.Queue == Compensate {
			p.Parameters = w.parameters(l.r, w.policy(o).CompensateParameters)
		}
		w.surplus[l.r.RID] = p
		if p.Queue == Compensate {
			all.Queue = Compensate
		}
		for _, code := range p.Refused {
			if !slices.Contains(all.Refused, code) {
				all.Refused = append(all.Refused, code)
			}
		}
	}
	if all.Queue == Compensate {
		all.Refused = nil
	}
	return all
}

// compensateChecks lists every check of V31 that keeps a surplus effect from being
// undone. The effect must have an id at the provider by which it can be named.
func (w *world) compensateChecks(l, good *link, effects []*link) []string {
	var out []string
	refuse := func(code string, when bool) {
		if when {
			out = append(out, code)
		}
	}
	refuse("no_good_effect", good == nil)
	refuse("good_effect_differs", good != nil && (!w.satisfies(good) || w.partial(l.o, effects)))
	refuse("not_succeeded", w.status(l.r) != rules.Succeeded || good != nil && w.status(good.r) != rules.Succeeded)
	refuse("not_settled", !l.settled || good != nil && !good.settled)
	refuse("no_remote_id", l.r.field("remote_id") == nil)
	p := w.policy(l.o)
	refuse("no_business_operation", p.CompensateWith == "")
	refuse("no_parameter", !w.given(l.r, p.CompensateParameters))
	refuse("on_hold", w.held(l.o))
	refuse("no_policy", w.withoutPolicy(l.o))
	refuse("state", w.hasState() && w.illegal(l.o, Compensate))
	return out
}

// satisfies tells whether an effect alone is what the operation asked for, in
// amount, currency and version. A job that compares no amount cannot say so.
func (w *world) satisfies(l *link) bool {
	for i, c := range w.job.Compare {
		asked := c.Name == "amount" || c.Name == "currency" || c.As == rules.AsVersion
		if asked && !w.compareField(l.o, l.r, i).Agrees() {
			return false
		}
	}
	return w.compared("amount") >= 0
}

// partial tells whether the effects add up to no more than the operation.
func (w *world) partial(o *row, effects []*link) bool {
	asked := o.field("amount")
	if asked == nil {
		return false
	}
	sum := new(big.Rat)
	for _, l := range effects {
		v := l.r.field("amount")
		if v == nil {
			return false
		}
		x, _ := new(big.Rat).SetString(plain(v))
		sum.Add(sum, x)
	}
	limit, _ := new(big.Rat).SetString(plain(asked))
	return sum.Abs(sum).Cmp(limit.Abs(limit)) <= 0
}
