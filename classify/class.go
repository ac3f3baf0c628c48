package classify

import (
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// Class is the verdict's class, a closed list (design.md §3).
type Class string

// Classes.
const (
	Correct       Class = "correct"
	Divergent     Class = "divergent"
	Absent        Class = "absent"
	Ambiguous     Class = "ambiguous"
	NotApplicable Class = "not_applicable"
	NotDue        Class = "not_due"
	Duplicate     Class = "duplicate"
	Unexpected    Class = "unexpected"
)

// Classes in the order in which people read them.
var Classes = []Class{Correct, Divergent, Absent, Unexpected, Ambiguous, Duplicate, NotDue, NotApplicable}

// Reasons of each class. not_applicable has the reasons of the job's own scope
// rules besides.
var Reasons = map[Class][]string{
	Correct: {"equal", "within_tolerance"},
	Divergent: {"field_differs", "version_behind", "version_ahead", "same_version_other_content", "status_conflict",
		"duplicate_effect", "amount_group_differs", "incomplete_group", "value_unreadable"},
	Absent: {"no_result", "failed_at_provider"},
	Ambiguous: {"several_candidates", "keys_disagree", "counterpart_not_unique", "no_usable_key", "coverage_incomplete",
		"unattributed_result", "outcome_unknown", "unmapped_status", "time_ambiguous"},
	NotApplicable: {"out_of_period", "failed_attempt"},
	NotDue:        {"within_window", "in_progress", "pending_at_provider"},
	Duplicate:     {"identical_copy", "superseded_attempt", "conflicting_copies", "surplus_effect"},
	Unexpected:    {"no_operation"},
}

// Queue is where an item goes: what it proposes.
type Queue string

// Queues. All but Review are acting ones.
const (
	Confirm    Queue = "confirm"
	Requeue    Queue = "requeue"
	Compensate Queue = "compensate"
	Review     Queue = "review"
	Close      Queue = "close"
	// None is no queue: a rule of the job wants no item.
	None Queue = "none"
)

// Queues in the order of reports.
var Queues = []Queue{Requeue, Compensate, Confirm, Close, Review}

func classNames() []string {
	out := make([]string, len(Classes))
	for i, c := range Classes {
		out[i] = string(c)
	}
	return out
}

// reasonNames are the known reasons and those of the job's own rules, each once.
func reasonNames(job *rules.Job) []string {
	var out []string
	for _, c := range Classes {
		out = append(out, Reasons[c]...)
	}
	for _, r := range job.Scope {
		out = append(out, r.Reason)
	}
	if job.Period != nil {
		out = append(out, job.Period.Reason)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
