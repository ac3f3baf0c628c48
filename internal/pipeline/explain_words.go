package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// reasonWords says what a reason means, with the rule of verdicts.md that gives it.
var reasonWords = map[string]string{
	"equal":                      "linked, and every compared field is equal (V22)",
	"within_tolerance":           "linked, and every compared field is equal, some only by tolerance (V22)",
	"field_differs":              "linked, but compared fields differ (V22)",
	"version_behind":             "linked, but the result is older than the operation expects (V21)",
	"version_ahead":              "linked, but the result is newer than the operation expects (V21)",
	"same_version_other_content": "linked, same version, but other content (V21)",
	"status_conflict":            "linked, but what the provider says contradicts what we hold (V7, V19)",
	"duplicate_effect":           "several effects of one operation (V10)",
	"amount_group_differs":       "the sums of its group differ (V16)",
	"incomplete_group":           "its group has another number of members than its rows state (V16)",
	"value_unreadable":           "linked, but a compared value is not of its declared type (V20)",
	"no_result":                  "due, completely covered, and no result carries any of its identity keys (V28)",
	"failed_at_provider":         "it finally failed at the provider, and nothing else could be its effect (V19)",
	"several_candidates":         "more than one row fits, or a row that fits has others that fit, and order does not choose (V13)",
	"keys_disagree":              "its identity keys, or those of its counterpart, point to different rows (V12)",
	"counterpart_not_unique":     "the other side has conflicting records under its key (V5)",
	"no_usable_key":              "it has no usable key in any pass (V18)",
	"coverage_incomplete":        "nothing that counts is linked, but the sources do not prove that there is nothing (V26)",
	"unattributed_result":        "nothing that counts is linked, but a result without identity could be the effect (V27)",
	"outcome_unknown":            "the provider does not know the outcome (V19), or a row out of scope carries its key (V28)",
	"unmapped_status":            "linked, but the status is not in the declared map (V19)",
	"time_ambiguous":             "a time that decides exists twice or never, is missing, or cannot be read (V20, V26)",
	"within_window":              "still inside its window (V25)",
	"in_progress":                "a worker holds a live lease (V24)",
	"pending_at_provider":        "pending at the provider, and the deadline is not over (V19)",
	"out_of_period":              "outside the period that this run totals (V8)",
	"failed_attempt":             "an attempt that finally failed is no effect (V10)",
	"identical_copy":             "a copy of another record of its side (V4)",
	"superseded_attempt":         "an earlier record of the same thing, folded by the survivor rule (V5)",
	"conflicting_copies":         "several records of one thing with other content, and no rule decides (V5)",
	"surplus_effect":             "an effect beside the one that the operation should have (V10)",
	"no_operation":               "nobody asked for it, and the operations export would show who did (V29)",
}

// meaning says in words what the verdict of a row is, with the rule that gave it.
func (x *explainer) meaning(e *Explanation) (string, error) {
	w, ok := reasonWords[e.Row.Reason]
	if !ok {
		var names []string
		for _, r := range x.b.Scope {
			if r.Reason == e.Row.Reason && r.Side == e.Row.Side {
				names = append(names, r.Name)
			}
		}
		return "out of scope by the rule " + strings.Join(names, " or ") + " of the job (V7)", nil
	}
	if e.Group != nil {
		if said, ok := groupWords[e.Row.Reason]; ok {
			return said, nil
		}
	}
	linked := len(e.Partners) > 0
	pass, err := x.markedIn(e.Row)
	if err != nil {
		return "", err
	}
	switch e.Row.Reason {
	case "field_differs":
		for _, p := range e.Partners {
			for _, k := range p.Keys {
				if k.Result == "differs" {
					return "linked, but the key " + k.Field + " differs, and its value belongs to nobody else (V12)", nil
				}
			}
		}
	case "status_conflict":
		if e.scope != "" {
			return "the scope rule " + e.scope + " says that it should have no effect, and it has one (V7)", nil
		}
		return "linked, but the status of the result is not the expected one (V19)", nil
	case "outcome_unknown":
		if linked {
			return "linked, but the provider does not know the outcome, or it is still pending after the deadline (V19)", nil
		}
		return "nothing that counts is linked, but a result that a scope rule sets aside carries its key (V28)", nil
	case "identical_copy", "superseded_attempt":
		stands, err := x.standsFor(e.Row)
		if err != nil || stands == nil {
			return w, err
		}
		return fmt.Sprintf("%s; %s record %d stands for it", w, stands.File, stands.Record), nil
	case "coverage_incomplete":
		if e.Row.Side == rules.Results {
			return "no operation carries its key, but the operations export does not prove that there is none (V29)", nil
		}
	case "several_candidates":
		if pass >= 0 && x.b.Match[pass].Identity {
			return "several operations under one identity key: order does not choose (V11)", nil
		}
	case "keys_disagree":
		if pass >= 0 && x.b.Match[pass].Group != nil {
			return "rows of the other side carry its key of the pass " + x.b.Match[pass].Name + ", but another identity key (V14) or another " + sameWords(x.b.Match[pass]), nil
		}
		if pass >= 0 {
			return "the only row that fits by the pass " + x.b.Match[pass].Name + " carries another identity key (V14)", nil
		}
	}
	return w, nil
}

// standsFor finds the record that stands for a copy or a former record, nil where that
// is no single one.
func (x *explainer) standsFor(p Place) (*Place, error) {
	key := "k0"
	if x.rels[sideIndex(p.Side)].Layout.RecordID() != "" {
		key = "kx"
	}
	same := fmt.Sprintf("s.%[1]s = (SELECT %[1]s FROM %[2]s WHERE rid = %[3]d)", key, p.Side, p.rid)
	if p.Reason == "identical_copy" {
		same = fmt.Sprintf("(s.w1, s.w2) = (SELECT (w1, w2) FROM %s WHERE rid = %d)", p.Side, p.rid)
	}
	list, err := x.others(p.Side, fmt.Sprintf("%s AND s.rid NOT IN (SELECT rid FROM marks_%s WHERE reason = %s)", same, letter(p.Side), duck.Literal(p.Reason)))
	if err != nil || len(list) != 1 {
		return nil, err
	}
	return &list[0], nil
}

// markedIn is the index of the pass that marked a row, -1 where none did.
func (x *explainer) markedIn(p Place) (int, error) {
	var pass *int
	err := x.db.Scan(x.ctx, explainSQL("mark").Render(duck.Slots{"marks": "marks_" + letter(p.Side), "rid": fmt.Sprint(p.rid)}), &pass)
	if err != nil || pass == nil {
		return -1, err
	}
	return *pass, nil
}

// setAside lists the results under the row's identity keys that a scope rule sets aside.
func (x *explainer) setAside(e *Explanation) []Place {
	var out []Place
	for i, t := range e.Passes {
		if !x.b.Match[i].Identity {
			continue
		}
		for _, r := range t.Rows {
			if r.Class == "not_applicable" && r.at < 0 && !slices.ContainsFunc(out, func(p Place) bool { return p.rid == r.rid }) {
				out = append(out, r)
			}
		}
	}
	return out
}

// change names the smallest change that would alter the verdict, then what would alter
// the proposal.
func (x *explainer) change(e *Explanation, fields string) []string {
	return append(x.verdictChange(e, fields), refusedChanges(e.Proposals)...)
}

func (x *explainer) verdictChange(e *Explanation, fields string) []string {
	names := strings.ReplaceAll(fields, ";", ", ")
	key := ""
	for _, p := range e.Passes {
		if p.Usable {
			key = p.Key
			break
		}
	}
	other := "operation"
	if e.Row.Side == rules.Operations {
		other = "result"
	}
	if e.Group != nil {
		if change := groupChange(e.Row.Reason, names); change != nil {
			return change
		}
	}
	switch e.Row.Reason {
	case "equal", "within_tolerance":
		out := []string{"one compared field with another value makes the pair divergent"}
		if e.Row.Reason == "within_tolerance" {
			out[0] = "a smaller tolerance of " + names + " makes the pair divergent/field_differs"
		}
		return append(out, "a second "+other+" under "+key+" makes it several effects, or ambiguous")
	case "value_unreadable":
		return []string{"values of " + names + " that are what the job declares, or a declaration that fits their texts: type, scale, layout and zone of the field, decimal and group of the source"}
	case "field_differs", "same_version_other_content", "version_behind", "version_ahead":
		return []string{"equal values of " + names + " on both sides make the pair correct"}
	case "unmapped_status":
		return []string{"an entry for its text in the map of the status field", "a status of the result that the job maps to the expected one"}
	case "pending_at_provider":
		return []string{"a status of the result that the job maps to the expected one", "a reference time at or after the end of the window makes it ambiguous/outcome_unknown"}
	case "outcome_unknown":
		if len(e.Partners) > 0 {
			return []string{"a status of the result that the job maps to the expected one, or to failed"}
		}
		var out []string
		for _, p := range x.setAside(e) {
			out = append(out, fmt.Sprintf("%s record %d, which the scope rule %s sets aside: in scope it would be linked; without the operation's key on it the operation would be judged absent", p.File, p.Record, p.Reason))
		}
		return append(out, "a result in scope under "+key+" links it")
	case "status_conflict":
		out := []string{"a status of the result that the job maps to the expected one"}
		if e.scope != "" {
			out = []string{"no effect: then the scope rule " + e.scope + " would set the operation aside (V7)", "an operation to which that rule does not apply would be compared"}
		}
		return out
	case "no_result":
		return []string{
			"one result under " + key + " links it",
			"a gap in the coverage makes it ambiguous/coverage_incomplete",
			"a result without identity keys that does not contradict it makes it ambiguous/unattributed_result",
		}
	case "failed_at_provider":
		return []string{"a result under " + key + " that has not failed is its effect"}
	case "no_operation":
		return []string{"one operation under " + key + " links it", "a gap in the coverage of the operations makes it ambiguous/coverage_incomplete"}
	case "coverage_incomplete":
		class := "absent"
		if e.Row.Side == rules.Results {
			class = "unexpected"
		}
		return []string{"the missing coverage, see above, makes it " + class, "one " + other + " under " + key + " links it"}
	case "unattributed_result":
		return []string{
			"an identity key on the results that carry none, or a type, entity, currency or time by which they contradict it",
			"a scope rule for those results, where they are no effects at all (fees, payouts)",
		}
	case "within_window":
		return []string{"a reference time at or after the end of the window, see above", "one result under " + key + " links it"}
	case "in_progress":
		return []string{"a reference time at or after the end of the lease"}
	case "several_candidates":
		return []string{"an identity key, or another part of the key, that tells the rows of its set apart"}
	case "keys_disagree":
		return []string{"identity keys that all point to the same row"}
	case "no_usable_key":
		return []string{"a value in every part of one key"}
	case "conflicting_copies", "counterpart_not_unique":
		return []string{"a survivor rule with a field that tells the records apart, or one record less"}
	case "duplicate_effect", "surplus_effect":
		return []string{"a keep_effect rule that names the good effect", "one effect less"}
	case "identical_copy", "superseded_attempt":
		return []string{"without the record that stands for it, it would be judged itself"}
	case "time_ambiguous":
		return []string{"a time with its offset, or a layout and zone of the field that fit its text"}
	case "out_of_period":
		return []string{"a period that holds the operation's time"}
	case "failed_attempt":
		return []string{"a status that the job does not map to failed makes it an effect"}
	}
	for _, r := range x.b.Scope {
		if r.Reason == e.Row.Reason && r.Side == e.Row.Side {
			return []string{"values for which the scope rule " + r.Name + " does not hold: " + r.When.Text}
		}
	}
	return []string{"another rule of the job under `scope`"}
}
