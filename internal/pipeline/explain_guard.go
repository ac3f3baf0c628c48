package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// proposals lists the queue items of the row with every check that the guard made.
func (x *explainer) proposals(e *Explanation) ([]Proposal, error) {
	column := "o_rid"
	if e.Row.Side == rules.Results {
		column = "r_rid"
	}
	out, err := x.items(fmt.Sprintf("%s = %d", column, e.Row.rid))
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].wanted = wanted(e.Row)
		out[i].Checks = x.guardChecks(out[i].wanted, out[i].refused, valueOf(e.Values, "type"))
	}
	return out, nil
}

// items reads queue items.
func (x *explainer) items(cond string) ([]Proposal, error) {
	rows, err := x.db.Query(x.ctx, explainSQL("item").Render(duck.Slots{"condition": cond}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Proposal{}
	for rows.Next() {
		var p Proposal
		var refused string
		var next, expiry *int64
		if err := rows.Scan(&p.Item, &p.Queue, &refused, &p.Rule, &next, &expiry, &p.ObserveOnly, &p.Deferred); err != nil {
			return nil, err
		}
		if refused != "" {
			p.refused = strings.Split(refused, ";")
		}
		if next != nil {
			p.NextAttempt = instant(*next)
		}
		if expiry != nil {
			p.Expiry = instant(*expiry)
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// wanted is what the verdict of a row could lead to, review where to nothing else.
func wanted(row Place) classify.Queue {
	switch classify.Class(row.Class) {
	case classify.Absent:
		return classify.Requeue
	case classify.Correct:
		return classify.Confirm
	case classify.NotApplicable:
		return classify.Close
	case classify.Duplicate:
		if row.Reason == "surplus_effect" {
			return classify.Compensate
		}
	}
	return classify.Review
}

// guardChecks lists every check of the proposal that the verdict could lead to, passed
// or refused, and those that were not made since the job declares nothing for them. A
// check that was not made is not called passed.
func (x *explainer) guardChecks(want classify.Queue, refused []string, typ *string) []GuardCheck {
	out := []GuardCheck{}
	for bit := classify.Check(1); bit.Codes() != ""; bit <<= 1 {
		code := bit.Codes()
		failed := slices.Contains(refused, code)
		var asked bool
		switch want {
		case classify.Requeue:
			asked = bit < classify.NoGoodEffect
		case classify.Compensate:
			asked = bit >= classify.NoGoodEffect
		case classify.Confirm, classify.Close:
			asked = bit == classify.State
		}
		if !asked && !failed {
			continue
		}
		k := GuardCheck{Code: code, Made: true, Refused: failed, Sentence: guardWords[code].passed}
		if failed {
			k.Sentence = classify.Sentence(code)
		} else if missing := x.notAsked(bit, typ); missing != "" {
			k.Made, k.Sentence = false, missing
		}
		out = append(out, k)
	}
	return out
}

// notAsked says why a check that was not refused could not refuse anything, "" where it
// was made.
func (x *explainer) notAsked(bit classify.Check, typ *string) string {
	ops := &x.b.Operations
	field := func(names ...string) string {
		for _, n := range names {
			if ops.Field(n) == nil {
				return "not asked: the operations have no field " + n
			}
		}
		return ""
	}
	name := ""
	if typ != nil {
		name = *typ
	}
	policy, _ := x.b.Policy(name)
	switch bit {
	case classify.KeyShared:
		return field("idempotency_key")
	case classify.Duration:
		if policy.MaxDuration == 0 {
			return "not asked: the policy has no max_duration"
		}
		return field("first_failed_at")
	case classify.ErrorClass:
		return field("error_class")
	case classify.Lease:
		return field("lease_until")
	case classify.StaleExport:
		if policy.ExportAge == 0 {
			return "not asked: the policy has no export_age"
		}
	case classify.NewerVersion:
		return field("version", "entity")
	case classify.SiblingEffect:
		if len(policy.OncePer) == 0 {
			return "not asked: the policy has no once_per"
		}
	case classify.OnHold:
		return field("hold")
	}
	return ""
}

// guardWords says for each check what it means that it passed, and the smallest change
// by which a refused one would pass.
var guardWords = map[string]struct{ passed, remedy string }{
	"not_idempotent":        {"its type is declared idempotent", "`idempotent: true` for its type, if a second call under the same key really acts once"},
	"no_key":                {"it has an idempotency key", "an idempotency key on the operation"},
	"key_lifetime":          {"the next attempt fits into the lifetime of the key", "a reference time so early that the next attempt comes before the end of idempotency_key_ttl"},
	"key_shared":            {"no other operation carries its key", "an idempotency key that no other operation carries"},
	"attempts":              {"attempts are left", "fewer attempts than max_attempts, or a higher max_attempts of its type"},
	"duration":              {"the next attempt fits before max_duration", "a reference time so early that the next attempt comes within max_duration of the first failure"},
	"error_class":           {"its last error is none or transient", "an error class that is empty, none or transient; for a refusal by the provider its status under `retryable`"},
	"lease":                 {"no worker holds it", "a lease that has ended at the reference time"},
	"no_identity":           {"results of an account that should know it carry keys of its kind", "an identity key of the operation that results of such an account carry"},
	"stale_export":          {"the operations export is fresh", "an operations export not older than export_age at the reference time"},
	"newer_version":         {"there is no newer version of its entity and type", "no operation of the same entity and type with a newer version"},
	"sibling_effect":        {"no other operation for the same thing has an effect or is undecided", "no other operation under once_per with an effect, or undecided"},
	"on_hold":               {"it is not on hold", "the hold taken off"},
	"state":                 {"a transition leads from its local state there", "a local state from which the declared transitions lead there"},
	"no_good_effect":        {"a rule names the effect to keep", "a keep_effect rule that names one effect, and no tie"},
	"good_effect_differs":   {"the effect to keep is what was asked for", "an effect to keep that alone has the operation's amount, currency and version"},
	"not_succeeded":         {"both effects have succeeded", "both effects with a status that is mapped to succeeded"},
	"no_business_operation": {"the policy names the operation that undoes it", "`compensate_with` for its type"},
	"not_settled":           {"the identity keys of both effects are the operation's", "identity keys on both effects that equal the operation's"},
	"no_remote_id":          {"the effect has an id at the provider", "a remote id on the surplus effect"},
}

// refusedChanges names for each proposal that a check refused what would have to change,
// once where several proposals lack the same.
func refusedChanges(list []Proposal) []string {
	var out []string
	for _, p := range list {
		for _, k := range p.Checks {
			if !k.Refused {
				continue
			}
			s := fmt.Sprintf("the refused check %s: %s", k.Code, guardWords[k.Code].remedy)
			if string(p.wanted) != p.Queue { // else it is the item of another row, of a surplus effect
				s = fmt.Sprintf("for %s instead of review, %s", p.wanted, s)
			}
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}
