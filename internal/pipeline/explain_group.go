package pipeline

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// group tells of the group that a row belongs to, nil where it is in none.
func (x *explainer) group(side rules.Side, rid int64) (*Group, error) {
	if !classify.HasGroups(x.b.Job) {
		return nil, nil
	}
	var grp *int64
	member := duck.Slots{"rid": fmt.Sprint(rid), "side": duck.Literal(string(side))}
	if err := x.db.Scan(x.ctx, explainSQL("member").Render(member), &grp); err != nil || grp == nil {
		return nil, err
	}
	g := &Group{}
	var first int64
	err := x.db.Scan(x.ctx, explainSQL("group").Render(duck.Slots{"grp": fmt.Sprint(*grp)}), &g.Text, &g.Operations, &g.Results, &first)
	if err != nil {
		return nil, err
	}
	g.Fellows, err = x.others(side, fmt.Sprintf("s.rid <> %d AND s.rid IN (SELECT rid FROM group_rows WHERE grp = %d AND side = %s)", rid, *grp, duck.Literal(string(side))))
	if err != nil || first == rid && side == rules.Operations {
		return g, err
	}
	items, err := x.items(fmt.Sprintf("o_rid = %d AND class <> 'correct'", first))
	for _, i := range items {
		g.Item, g.Queue = i.Item, i.Queue
	}
	return g, err
}

// groupWords says what a reason means of a group, where that is something else than of a
// pair.
var groupWords = map[string]string{
	"equal":               "the sums of its group are equal, and its members are as many as stated (V16)",
	"within_tolerance":    "the sums of its group are equal, thanks to the tolerance of the pass (V16)",
	"value_unreadable":    "a value that its group adds up, or a number that it states, is not of its declared type (V20)",
	"status_conflict":     "the status of a result of its group is not the expected one (V19)",
	"outcome_unknown":     "the provider does not know the outcome of a result of its group, or it is still pending after the deadline (V19)",
	"unmapped_status":     "the status of a result of its group is not in the declared map (V19)",
	"pending_at_provider": "a result of its group is pending at the provider, and the deadline of an operation is not over (V19)",
	"within_window":       "the sums of its group are not equal yet, and an operation of it is still inside its window (V16, V25)",
	"in_progress":         "the sums of its group are not equal yet, and a worker holds a live lease on an operation of it (V16, V24)",
	"coverage_incomplete": "the sums or numbers of its group are not those stated, but the sources do not prove that no member is missing (V16, V26, V29)",
	"time_ambiguous":      "whether a member of its group is missing depends on a time that exists twice or never, is missing, or cannot be read (V16, V20)",
	"out_of_period":       "all operations of its group are outside the period that this run totals (V8, V16)",
}

// groupChange is the smallest change that would alter the verdict of a group, nil where it
// is that of a pair.
func groupChange(reason, names string) []string {
	switch reason {
	case "equal", "within_tolerance":
		return []string{"another amount of one member, or a member more or less, makes the group divergent"}
	case "amount_group_differs":
		return []string{"amounts of " + names + " whose sums agree on both sides make the group correct", "a tolerance of the pass that the difference is within"}
	case "incomplete_group":
		return []string{"as many members as its rows state, or rows that state as many as there are"}
	case "within_window", "in_progress", "coverage_incomplete", "time_ambiguous":
		return []string{"members whose sums agree, and as many as stated, make the group correct", "a time that is over, and proven by the sources, makes it divergent"}
	}
	return nil
}

// sameWords names what the rows of a group agree in beside its key.
func sameWords(p rules.Pass) string {
	var fields []string
	for _, k := range p.Group.Same {
		fields = append(fields, k.Operations)
	}
	if len(fields) == 0 {
		return "value of it"
	}
	return strings.Join(fields, ", ")
}

// groupPassWords says what a pass by groups does; parts are those of its key, in words.
func groupPassWords(p rules.Pass, parts []string) string {
	g := p.Group
	text := "groups of all rows that are free and equal in " + strings.Join(parts, ", ")
	for _, k := range g.Same {
		text += ", " + k.Operations
	}
	text += "; compared are their sums"
	if g.Tolerates() {
		text += ", with a tolerance"
	}
	if g.Count != (rules.Count{}) {
		text += ", and the number of members that their rows state"
	}
	return text
}
