package naive_test

import (
	"fmt"
	"slices"

	"github.com/recon-batch/recon-batch/match/naive"
)

// everyVerdict lists all classes and reasons of design.md §3, groups (V16, V17)
// aside, with the sides on which each occurs.
var everyVerdict = []string{
	"o correct/equal", "o correct/within_tolerance", "r correct/equal", "r correct/within_tolerance",
	"o divergent/field_differs", "o divergent/version_behind", "o divergent/version_ahead", "o divergent/same_version_other_content",
	"o divergent/status_conflict", "o divergent/duplicate_effect", "o divergent/value_unreadable",
	"r divergent/field_differs", "r divergent/version_behind", "r divergent/version_ahead", "r divergent/same_version_other_content",
	"r divergent/status_conflict", "r divergent/duplicate_effect", "r divergent/value_unreadable",
	"o absent/no_result", "o absent/failed_at_provider",
	"o ambiguous/several_candidates", "o ambiguous/keys_disagree", "o ambiguous/counterpart_not_unique", "o ambiguous/no_usable_key",
	"o ambiguous/coverage_incomplete", "o ambiguous/unattributed_result", "o ambiguous/outcome_unknown", "o ambiguous/unmapped_status",
	"o ambiguous/time_ambiguous",
	"r ambiguous/several_candidates", "r ambiguous/keys_disagree", "r ambiguous/counterpart_not_unique", "r ambiguous/no_usable_key",
	"r ambiguous/coverage_incomplete", "r ambiguous/unattributed_result", "r ambiguous/outcome_unknown", "r ambiguous/unmapped_status",
	"r ambiguous/time_ambiguous",
	"o not_applicable/cancelled", "o not_applicable/not_sent", "o not_applicable/out_of_period",
	"r not_applicable/fee_row", "r not_applicable/out_of_period", "r not_applicable/failed_attempt",
	"o not_due/within_window", "o not_due/in_progress", "o not_due/pending_at_provider", "r not_due/pending_at_provider",
	"o duplicate/identical_copy", "o duplicate/superseded_attempt", "o duplicate/conflicting_copies",
	"r duplicate/identical_copy", "r duplicate/superseded_attempt", "r duplicate/conflicting_copies", "r duplicate/surplus_effect",
	"r unexpected/no_operation",
	"once not_proven",
}

// everyProposal lists the queues, and the checks that refuse an acting one.
var everyProposal = []string{
	"none", "confirm", "requeue", "compensate", "review", "close",
	"not_idempotent", "no_key", "key_lifetime", "key_shared", "attempts", "duration", "error_class", "newer_version", "sibling_effect",
	"no_identity", "stale_export", "lease", "on_hold", "state", "no_good_effect", "good_effect_differs", "not_succeeded", "not_settled", "no_remote_id", "no_business_operation",
	"payload", "risk", "proof_lifetime", "no_policy", "class", "no_parameter", "no_owner", "partial_register", "known_before",
	"a release", "a rule", "an overtaken version closed", "an unexpected effect undone",
}

// linking are the passes that link rows, in no order.
var linking = []string{"operation_id", "idempotency_key", "provider_id", "business_key", "reference"}

// reached notes what the oracle said about a world.
func reached(seen map[string]int, l loaded, out *naive.Outcome) {
	for side, rows := range map[string]map[int64]naive.Verdict{"o": out.Operations, "r": out.Results} {
		for _, v := range rows {
			seen[fmt.Sprintf("%s %s/%s", side, v.Class, v.Reason)]++
			if v.Once != nil && !*v.Once {
				seen["once not_proven"]++
			}
		}
	}
	note := func(p naive.Proposal) {
		seen[string(p.Queue)]++
		for _, code := range p.Refused {
			seen[code]++
		}
		if p.Release != "" {
			seen["a release"]++
		}
		if p.Rule != "" && p.Queue != naive.Review {
			seen["a rule"]++
		}
	}
	for id, p := range out.Proposals {
		note(p)
		if p.Queue == naive.Close && out.Operations[id].Class == naive.Absent {
			seen["an overtaken version closed"]++
		}
	}
	for id, p := range out.Surplus {
		note(p)
		if p.Queue == naive.Compensate && out.Results[id].Class == naive.Unexpected {
			seen["an unexpected effect undone"]++
		}
	}
	var passes []int
	for _, v := range out.Operations {
		if v.Pass >= 0 {
			passes = append(passes, v.Pass)
		}
	}
	slices.Sort(passes)
	passes = slices.Compact(passes)
	for i, a := range passes {
		for _, b := range passes[i+1:] {
			seen[l.job.Match[a].Name+" before "+l.job.Match[b].Name]++
		}
	}
}

// missing lists what was never reached.
func missing(seen map[string]int) []string {
	want := slices.Concat(everyVerdict, everyProposal)
	for _, a := range linking {
		for _, b := range linking {
			if a != b {
				want = append(want, a+" before "+b)
			}
		}
	}
	return slices.DeleteFunc(want, func(s string) bool { return seen[s] > 0 })
}
