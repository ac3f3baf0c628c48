package naive_test

import (
	"fmt"
	"slices"

	"github.com/recon-batch/recon-batch/match/naive"
)

// everyVerdict lists all classes and reasons of design.md §3, with the sides on which
// each occurs.
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
	"o divergent/amount_group_differs", "o divergent/incomplete_group", "r divergent/amount_group_differs", "r divergent/incomplete_group",
	"once not_proven",
}

// everyGroup lists what groups (V16) come out as, and their shapes.
var everyGroup = []string{
	"group correct/equal", "group correct/within_tolerance", "group divergent/amount_group_differs", "group divergent/incomplete_group",
	"group divergent/value_unreadable", "group divergent/status_conflict", "group ambiguous/unmapped_status", "group ambiguous/outcome_unknown",
	"group ambiguous/time_ambiguous", "group ambiguous/coverage_incomplete", "group not_due/within_window", "group not_due/in_progress",
	"group not_due/pending_at_provider", "group not_applicable/out_of_period",
	"group of 1 and 1", "group of n and 1", "group of 1 and n", "group of n and m",
	"group once not_proven", "group confirmed", "group net of fees", "group by the tolerance of its currency", "group with more than it states", "group across the period",
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
	reachedGroups(seen, l, out)
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

// reachedGroups notes what the oracle said about the groups of a world.
func reachedGroups(seen map[string]int, l loaded, out *naive.Outcome) {
	size := func(n int, many string) string {
		if n == 1 {
			return "1"
		}
		return many
	}
	for id, v := range out.Operations {
		if v.Pass < 0 || l.job.Match[v.Pass].Group == nil {
			continue
		}
		g := l.job.Match[v.Pass].Group
		fellows := out.Results[v.Partners[0]].Partners
		n, m := size(len(fellows), "n"), size(len(v.Partners), "n")
		if n == "n" && m == "n" {
			m = "m"
		}
		seen["group of "+n+" and "+m]++
		seen[fmt.Sprintf("group %s/%s", v.Class, v.Reason)]++
		if v.Class == naive.Correct {
			if !*v.Once {
				seen["group once not_proven"]++
			}
			if out.Proposals[id].Queue == naive.Confirm {
				seen["group confirmed"]++
			}
			if len(g.Fields()) > 1 {
				seen["group net of fees"]++
			}
			if g.AbsoluteBy != nil && v.Reason == "within_tolerance" {
				seen["group by the tolerance of its currency"]++
			}
			if l.job.Period != nil && !l.inPeriod(id) {
				seen["group across the period"]++
			}
		}
		if v.Reason == "incomplete_group" && g.Count.Results != "" && g.Count.Operations == "" && len(v.Partners) == 1 {
			if r := l.row(1, v.Partners[0]); r != nil && fmt.Sprint(r.V["f_items"]) < fmt.Sprint(len(fellows)) {
				seen["group with more than it states"]++
			}
		}
	}
}

// row is a staged row of a side, nil where there is none.
func (l loaded) row(side int, id int64) *naive.Row {
	rows := l.input.Operations
	if side == 1 {
		rows = l.input.Results
	}
	for i := range rows {
		if rows[i].RID == id {
			return &rows[i]
		}
	}
	return nil
}

// inPeriod tells whether an operation lies in the period by its own time.
func (l loaded) inPeriod(id int64) bool {
	at, ok := l.row(0, id).V["f_created_at"].(int64)
	return !ok || at >= l.job.PeriodFrom && at < l.job.PeriodUntil
}

// missing lists what was never reached.
func missing(seen map[string]int) []string {
	want := slices.Concat(everyVerdict, everyProposal, everyGroup)
	for _, a := range linking {
		for _, b := range linking {
			if a != b {
				want = append(want, a+" before "+b)
			}
		}
	}
	return slices.DeleteFunc(want, func(s string) bool { return seen[s] > 0 })
}
