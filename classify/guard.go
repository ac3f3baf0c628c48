package classify

import "strings"

// Check is a reason why the guard refuses an acting proposal (V30 to V32). The
// numbers are bits: SQL computes for each row which checks fail, and Judge decides.
type Check uint32

// Checks of a requeue, in the order of V30. State, OnHold and NoPolicy are asked for
// other proposals as well (Check.Asked).
const (
	NotIdempotent Check = 1 << iota
	NoKey
	KeyLifetime
	KeyShared
	Attempts
	Duration
	ErrorClass
	Lease
	NoIdentity
	StaleExport
	NewerVersion
	SiblingEffect
	OnHold
	Payload
	Risk
	ProofLifetime
	NoPolicy
	State
	// WrongClass: a rule of the job proposes what the verdict does not allow.
	WrongClass
	// Checks of a compensation (V31).
	NoGoodEffect
	GoodEffectDiffers
	NotSucceeded
	NoBusinessOperation
	NotSettled
	NoRemoteID
	NoParameter
	NoOwner
	PartialRegister
	KnownBefore
)

// Allowances are the checks that a recorded release may lift for a named cohort. All
// others are safety: nothing lifts them.
const Allowances = Attempts | Duration

// OfUnexpected are the checks that only an effect which nobody asked for has to pass,
// unless a rule of the job names its case (V31).
const OfUnexpected = NoOwner | PartialRegister | KnownBefore

// checkNames are the codes, in the order of the bits, with the sentence that people
// read.
var checkNames = []struct{ Code, Sentence string }{
	{"not_idempotent", "the type is not declared idempotent: a second call may act twice"},
	{"no_key", "the operation has no idempotency key"},
	{"key_lifetime", "no next attempt fits before the provider forgets the idempotency key"},
	{"key_shared", "another operation carries the same idempotency key"},
	{"attempts", "the attempts are used up, or their number or limit is unknown"},
	{"duration", "no next attempt fits before the longest duration since the first failure"},
	{"error_class", "the last error is neither none nor transient, its code is not listed, or the refusal is not declared retryable"},
	{"lease", "a worker holds a live lease, or the end of its lease is not known"},
	{"no_identity", "the operation has no identity key that results carry, so silence proves nothing"},
	{"stale_export", "the operations export is older than the policy allows"},
	{"newer_version", "the operations hold a newer version of the same entity and type"},
	{"sibling_effect", "another operation for the same thing has an effect, is undecided, or could be sent as well"},
	{"on_hold", "the operation is on hold"},
	{"payload", "the payload is not there, or will be gone before the next attempt"},
	{"risk", "the type is irreversible or regulated: its first failure is for a person"},
	{"proof_lifetime", "no next attempt fits before the proof of the absence ends"},
	{"no_policy", "the job has no policy for the type of the operation"},
	{"state", "the local state is unknown, or nothing leads from it to the next one"},
	{"class", "a rule of the job proposes what the verdict does not allow"},
	{"no_good_effect", "no rule names the effect to keep, or it is a tie"},
	{"good_effect_differs", "the effect to keep is not alone what the operation asked for"},
	{"not_succeeded", "one of the effects has not succeeded"},
	{"no_business_operation", "the policy names no business operation that undoes the effect"},
	{"not_settled", "an identity key of one of the effects differs from the operation's"},
	{"no_remote_id", "the effect to undo has no id at the provider by which it could be named"},
	{"no_parameter", "a parameter of the business operation is empty on the effect"},
	{"no_owner", "the policy names nobody who answers for undoing effects that nobody asked for"},
	{"partial_register", "the operations export is not declared to be the whole register"},
	{"known_before", "a former run knows a key of the effect, or former runs could not be asked"},
}

// Codes returns the codes of the failed checks, joined by ';', in their fixed order.
func (c Check) Codes() string {
	var out []string
	for i, n := range checkNames {
		if c&(1<<i) != 0 {
			out = append(out, n.Code)
		}
	}
	return strings.Join(out, ";")
}

// Sentence explains the code of a check; "" for an unknown one.
func Sentence(code string) string {
	for _, n := range checkNames {
		if n.Code == code {
			return n.Sentence
		}
	}
	return ""
}

// Asked tells whether the check is asked before something of the class is proposed.
func (c Check) Asked(wanted Queue, class Class) bool {
	switch wanted {
	case Requeue:
		return c <= State
	case Compensate:
		if class == Unexpected {
			return c > GoodEffectDiffers && c != NotSettled
		}
		return c == OnHold || c == NoPolicy || c == State || c > WrongClass && c&OfUnexpected == 0
	case Confirm, Close:
		return c == State || c == NoPolicy
	}
	return false
}

// Kind tells apart rows of one class for which the guard allows different things.
type Kind uint8

// Kinds.
const (
	Ordinary  Kind = iota
	Surplus        // an effect beside the one that the operation should have
	Overtaken      // an absent operation that its policy closes, since a newer version takes its place
)

// Situation is everything that the guard looks at: a closed state without values, so
// that a test can go through all of it.
type Situation struct {
	Wanted Queue // what the policy or a rule proposes; None: a rule wants no item
	Class  Class
	Kind   Kind
	// Otherwise is what there would be without the rule; it counts for None alone.
	Otherwise Queue
	// Unsafe: a check that nothing lifts fails.
	Unsafe bool
	// The allowances, each as the policy has it and with what releases add to it.
	AttemptsUsed, MoreAttempts bool
	DurationOver, MoreDuration bool
}

// Failing fills in what follows from the failed checks, and from the allowances that
// releases lift. Whatever else a release claims to lift stays as it is.
func (s Situation) Failing(failed, lifted Check) Situation {
	s.Unsafe = failed&^Allowances != 0
	s.AttemptsUsed, s.MoreAttempts = failed&Attempts != 0, lifted&Attempts != 0
	s.DurationOver, s.MoreDuration = failed&Duration != 0, lifted&Duration != 0
	return s
}

// refused tells whether a check stands against the proposal.
func (s Situation) refused() bool {
	return s.Unsafe || s.AttemptsUsed && !s.MoreAttempts || s.DurationOver && !s.MoreDuration
}

// Judge is the guard: it has the last word on every proposal, and no rule switches
// it off. An acting proposal with a failed check goes to a person instead. Ambiguous
// is never requeued (design.md §3, rule 3), nor is anything but a proven absence. A
// rule may drop what would be for a person anyway, and nothing else.
func Judge(s Situation) Queue {
	allowed := false
	switch s.Wanted {
	case Requeue:
		allowed = s.Class == Absent && s.Kind == Ordinary
	case Compensate:
		allowed = s.Class == Duplicate && s.Kind == Surplus || s.Class == Unexpected && s.Kind == Ordinary
	case Confirm:
		allowed = s.Class == Correct && s.Kind == Ordinary
	case Close:
		allowed = s.Class == NotApplicable && s.Kind == Ordinary || s.Class == Absent && s.Kind == Overtaken
	case None:
		if s.Otherwise == Review && !s.refused() {
			return None
		}
	}
	if !allowed || s.refused() {
		return Review
	}
	return s.Wanted
}
