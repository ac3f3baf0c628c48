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
	if e.Group != nil && e.Row.Side == rules.Results {
		return []Proposal{}, nil // it is the operations that have items
	}
	out, err := x.items(fmt.Sprintf("%s = %d", column, e.Row.rid))
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].wanted = x.wantedOf(e.Row, out[i])
		out[i].Means = x.means(e.Row, out[i])
		if out[i].Why, err = x.ruleTrace(out[i].Item); err != nil {
			return nil, err
		}
		if out[i].byRule() {
			out[i].Checks = []GuardCheck{} // none was made
			continue
		}
		out[i].Checks = x.guardChecks(out[i].wanted, classify.Class(e.Row.Class), out[i].refused, valueOf(e.Values, "type"))
	}
	return out, nil
}

// byRule is true where a rule of the job leaves to a person what could have been acted
// on: then the guard was not asked, and none of its checks was passed or refused.
func (p Proposal) byRule() bool {
	return p.Queue == string(classify.Review) && p.wanted != classify.Review && len(p.refused) == 0
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
		if err := rows.Scan(&p.Item, &p.Queue, &refused, &p.Rule, &next, &expiry, &p.ObserveOnly, &p.Deferred, &p.Because, &p.Release, &p.ClosingReason, &p.Advice, &p.Approvals); err != nil {
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

// wantedOf is wanted for the item of a row: the policy may close an absent operation of
// which a newer version exists, and undo an effect that nobody asked for.
func (x *explainer) wantedOf(row Place, p Proposal) classify.Queue {
	switch class := classify.Class(row.Class); {
	case class == classify.Absent && p.Queue == string(classify.Close):
		return classify.Close
	case class == classify.Unexpected && (p.Queue == string(classify.Compensate) || len(p.refused) > 0):
		return classify.Compensate
	}
	return wanted(row)
}

// guardChecks lists every check of the proposal that the verdict could lead to, passed
// or refused, and those that were not made since the job declares nothing for them. A
// check that was not made is not called passed.
func (x *explainer) guardChecks(want classify.Queue, class classify.Class, refused []string, typ *string) []GuardCheck {
	out := []GuardCheck{}
	for bit := classify.Check(1); bit.Codes() != ""; bit <<= 1 {
		code := bit.Codes()
		failed := slices.Contains(refused, code)
		if !bit.Asked(want, class) && !failed {
			continue
		}
		k := GuardCheck{Code: code, Made: true, Refused: failed, Sentence: guardWords[code].passed}
		if failed {
			k.Sentence = classify.Sentence(code)
		} else if missing := x.notAsked(bit, want, typ); missing != "" {
			k.Made, k.Sentence = false, missing
		}
		out = append(out, k)
	}
	return out
}

// notAsked says why a check that was not refused could not refuse anything, "" where it
// was made.
func (x *explainer) notAsked(bit classify.Check, want classify.Queue, typ *string) string {
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
		if ops.Field("error_code") == nil {
			return field("error_class")
		}
	case classify.Lease:
		return field("lease_until")
	case classify.StaleExport:
		if policy.ExportAge == 0 {
			return "not asked: the policy has no export_age"
		}
	case classify.NewerVersion:
		return field("version", "entity")
	case classify.SiblingEffect:
		if len(policy.OncePer) == 0 && ops.Field("replaces") == nil {
			return "not asked: the policy has no once_per"
		}
	case classify.OnHold:
		return field("hold")
	case classify.Payload:
		if ops.Field("payload_expires_at") == nil {
			return field("payload_ref")
		}
	case classify.ProofLifetime:
		if policy.ProofValid == 0 {
			return "not asked: the policy has no proof_valid"
		}
	case classify.NoPolicy:
		if len(x.b.Types) == 0 {
			return "not asked: the job has no policies"
		}
	case classify.NoParameter:
		if len(policy.CompensateParameters) == 0 && policy.Unexpected == nil {
			return "not asked: the policy names no parameters"
		}
	case classify.State:
		if want == classify.Compensate {
			return field("state")
		}
	}
	return ""
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
