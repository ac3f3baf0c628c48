package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Classes are the verdict classes (design.md, section 3).
var Classes = []string{"correct", "divergent", "absent", "ambiguous", "not_applicable", "not_due", "duplicate", "unexpected"}

// Proposals are the queues.
var Proposals = []string{"confirm", "requeue", "compensate", "review", "close"}

// FindingCodes are the codes of what a run finds about files, columns, keys and former runs.
var FindingCodes = []string{
	"bank_note", "coverage_shortened", "coverage_withdrawn", "covers_nothing", "e_notation", "file_missing", "file_refused", "file_reopened", "file_revised", "file_skipped", "file_superseded", "file_unlisted", "former_keys_unknown", "former_unreadable", "key_coverage", "key_repeats", "last_line_open",
	"long_numbers", "lookup_incomplete", "missing_column", "new_column", "pages_overlap", "part_missing", "provisional", "rows_outside_range", "sequence_gap", "source_empty", "statement_gap", "unknown_column", "unknown_kind", "value_unreadable",
}

var gateForm = regexp.MustCompile(`^\s*([a-z_]+)\s*(?:\(\s*([a-z_]+)(?:/([a-z0-9_]+))?\s*\))?\s*(>=|>)\s*(\S+)\s*$`)

const gateForms = "forms: share(divergent) > 1%, count(absent) > 0, count(absent/no_result) >= 5, oldest(review) > 3d, findings(unknown_kind) > 0, rejects > 0, differences > 0"

// parseGate reads the condition of a gate.
func parseGate(text string) (g Gate, hint string, err error) {
	m := gateForm.FindStringSubmatch(text)
	if m == nil {
		return g, gateForms, fmt.Errorf("%q is no condition of a gate", text)
	}
	g = Gate{FailWhen: strings.TrimSpace(text), Func: m[1], Arg: m[2], Op: m[4]}
	value := m[5]
	funcs := []string{"share", "count", "oldest", "findings", "rejects", "differences"}
	if !slices.Contains(funcs, g.Func) {
		return g, didYouMean(g.Func, funcs), fmt.Errorf("%q is no measure", g.Func)
	}
	if withArg := g.Func == "share" || g.Func == "count" || g.Func == "oldest" || g.Func == "findings"; withArg != (g.Arg != "") {
		return g, gateForms, fmt.Errorf("%q is no condition of a gate", text)
	}
	switch {
	case g.Func == "oldest" && g.Arg == "confirm":
		return g, "ask for the age of another queue, or for the number: count(confirm) > 1000", errors.New("nobody waits for a confirmation: its items have no age, and the gate could never fail")
	case g.Func == "findings" && (m[3] != "" || !slices.Contains(FindingCodes, g.Arg)):
		return g, didYouMean(g.Arg, FindingCodes), fmt.Errorf("%q is no code of a finding", g.Arg)
	case g.Func != "findings" && g.Arg != "":
		known := append(slices.Clone(Classes), Proposals...)
		if !slices.Contains(known, g.Arg) {
			return g, didYouMean(g.Arg, known), fmt.Errorf("%q is neither a class nor a queue", g.Arg)
		}
	}
	if reason := m[3]; reason != "" {
		if !slices.Contains(Classes, g.Arg) {
			return g, "write class/reason", fmt.Errorf("%q is no class, it has no reasons", g.Arg)
		}
		if known := classReasons[g.Arg]; known != nil && !slices.Contains(known, reason) {
			return g, didYouMean(reason, known), fmt.Errorf("%q is no reason of %s", reason, g.Arg)
		}
		g.Arg += "/" + reason
	}
	switch g.Func {
	case "share":
		g.Value, err = parsePercent(value)
		return g, "a share is a percentage: 1%", err
	case "oldest":
		age, err := ParseDuration(value)
		g.Value = age.Seconds()
		return g, "an age is a duration: 3d", err
	default:
		n, err := strconv.ParseUint(value, 10, 53) // a whole number that Value holds exactly
		if err != nil {
			err = fmt.Errorf("%q is not a whole number", value)
		}
		g.Value = float64(n)
		return g, "a count is a whole number: 5", err
	}
}

// classReasons are the reasons of each class; nil where rules bring their own.
var classReasons = map[string][]string{
	"correct":    {"equal", "within_tolerance"},
	"divergent":  {"field_differs", "version_behind", "version_ahead", "same_version_other_content", "status_conflict", "duplicate_effect", "amount_group_differs", "incomplete_group", "value_unreadable"},
	"absent":     {"no_result", "failed_at_provider"},
	"ambiguous":  {"several_candidates", "keys_disagree", "counterpart_not_unique", "no_usable_key", "coverage_incomplete", "unattributed_result", "outcome_unknown", "unmapped_status", "time_ambiguous"},
	"not_due":    {"within_window", "in_progress", "pending_at_provider"},
	"duplicate":  {"identical_copy", "superseded_attempt", "conflicting_copies", "surplus_effect"},
	"unexpected": {"no_operation"},
}
