package classify

import "strings"

// Check is a reason why the guard refuses an acting proposal (V30 to V32). The
// numbers are bits: SQL computes for each row which checks fail, and Judge decides.
type Check uint32

// Checks of a requeue, in the order of V30.
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
	State
	// Checks of a compensation (V31).
	NoGoodEffect
	GoodEffectDiffers
	NotSucceeded
	NoBusinessOperation
	NotSettled
	NoRemoteID
)

// checkNames are the codes, in the order of the bits, with the sentence that people
// read.
var checkNames = []struct{ Code, Sentence string }{
	{"not_idempotent", "the type is not declared idempotent: a second call may act twice"},
	{"no_key", "the operation has no idempotency key"},
	{"key_lifetime", "no next attempt fits before the provider forgets the idempotency key"},
	{"key_shared", "another operation carries the same idempotency key"},
	{"attempts", "the attempts are used up, or their number or limit is unknown"},
	{"duration", "no next attempt fits before the longest duration since the first failure"},
	{"error_class", "the last error is neither none nor transient, or the refusal is not declared retryable"},
	{"lease", "a worker holds a live lease"},
	{"no_identity", "the operation has no identity key that results carry, so silence proves nothing"},
	{"stale_export", "the operations export is older than the policy allows"},
	{"newer_version", "the operations hold a newer version of the same entity and type"},
	{"sibling_effect", "another operation for the same thing has an effect or is undecided"},
	{"on_hold", "the operation is on hold"},
	{"state", "the local state is unknown, or nothing leads from it to the next one"},
	{"no_good_effect", "no rule names the effect to keep, or it is a tie"},
	{"good_effect_differs", "the effect to keep is not alone what the operation asked for"},
	{"not_succeeded", "one of the effects has not succeeded"},
	{"no_business_operation", "the policy names no business operation that undoes the effect"},
	{"not_settled", "an identity key of one of the effects differs from the operation's"},
	{"no_remote_id", "the surplus effect has no id at the provider by which it could be named"},
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

// Judge is the guard: it has the last word on every proposal, and no rule switches
// it off. An acting proposal with a failed check goes to a person instead. Ambiguous
// is never requeued (design.md §3, rule 3), nor is anything but a proven absence.
func Judge(wanted Queue, class Class, failed Check) Queue {
	switch wanted {
	case Requeue:
		if class != Absent || failed != 0 {
			return Review
		}
	case Compensate:
		if class != Duplicate || failed != 0 {
			return Review
		}
	case Confirm:
		if class != Correct || failed != 0 {
			return Review
		}
	case Close:
		if class != NotApplicable || failed != 0 {
			return Review
		}
	}
	return wanted
}
