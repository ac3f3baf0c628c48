package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// itemViews renders what the queue files are read from: report_item_more,
// report_items, and report_items_confirm, which is narrower.
func itemViews(in *Input, red *redactor) []string {
	job := in.Bound.Job
	v := itemView{in: in, red: red, job: job}
	remote := "CAST(NULL AS VARCHAR)"
	if job.Results.Field("remote_id") != nil {
		remote = red.expr("remote_id", "CAST(r.f_remote_id AS VARCHAR)")
	}
	all := v.slots()
	confirm := duck.Slots{}
	for _, name := range confirmSlots {
		confirm[name] = all[name]
	}
	all["joins"] = v.joins(len(job.Operations.LocalRef) > 0, v.anyParameters())
	confirm["joins"], confirm["remote_id"] = v.confirmJoins(confirm["remote_id"])
	return []string{sqlItemMore.Render(moreSlots(in, remote)), sqlItemsWide.Render(all), sqlItemsConfirm.Render(confirm)}
}

// confirmSlots are the parts that the confirm queue has in common with the others.
var confirmSlots = []string{"schema_version", "run_id", "operation_id", "idempotency_key", "remote_id", "type", "entity", "version", "amount",
	"currency", "state", "next_state", "closes_when", "next_state_final", "proof_valid_until", "hidden", "local_ref",
	"o_source", "o_file", "o_sha256", "r_source", "r_file", "r_sha256"}

// itemView renders the parts of the views of items.
type itemView struct {
	in  *Input
	red *redactor
	job *rules.Job
}

func (v itemView) slots() duck.Slots {
	s := duck.Slots{
		"schema_version": fmt.Sprintf("CAST(%d AS BIGINT)", QueueSchemaVersion),
		"run_id":         duck.Literal(v.in.RunID),
		"next_attempt":   instantText("next_attempt_us"),
		"expiry":         instantText("expiry_us"),
		"due":            instantText("due_us"),
		"other_actions":  v.otherActions(),
		"effect":         v.byType(func(p rules.TypePolicy) string { return optional(p.Describe.Effect) }),
		"truth":          v.byType(func(p rules.TypePolicy) string { return optional(p.Describe.Truth) }),
		"closes_when":    v.closesWhen(),
		"effects_seen":   effectsSeen,
		"effect_ids":     effectIDs,
		// The state that an item leads to is one of few.
		"next_state_final":  v.nextStateFinal(),
		"proof_valid_until": v.proofValidUntil(),
		"recheck_since":     instantText("recheck_since_us"),
		"next_state":        v.nextState(),
		"parameters":        v.parameters(),
		"hidden":            v.hidden(),
		"local_ref":         v.localRef(),
	}
	bothFileSlots(v.in, s)
	for _, c := range []struct{ column, field string }{
		{"operation_id", "operation_id"}, {"idempotency_key", "idempotency_key"}, {"remote_id", "remote_id"},
		{"keep_remote_id", "remote_id"}, {"type", "type"}, {"entity", "entity"}, {"version", "version"},
		{"recheck_key", "idempotency_key"},
		{"amount", "amount"}, {"currency", "currency"}, {"destination", "destination"}, {"state", "state"},
	} {
		s[c.column] = v.red.expr(c.field, "CAST(i."+c.column+" AS VARCHAR)")
	}
	return s
}

// optional is the literal of a text, NULL where it is empty.
func optional(s string) string {
	if s == "" {
		return "CAST(NULL AS VARCHAR)"
	}
	return duck.Literal(s)
}

// nextState is the state that the register row moves to; a register without states has
// nothing to move where an effect is undone.
func (v itemView) nextState() string {
	if v.job.Operations.Field("state") != nil {
		return "CAST(i.next_state AS VARCHAR)"
	}
	return "CAST(NULL AS VARCHAR)"
}

// nextStateFinal tells whether the state that an item leads to is final; null for none.
func (v itemView) nextStateFinal() string {
	final := "false"
	if list := v.job.States.Final; len(list) > 0 {
		final = "next_state IN (" + literalList(list) + ")"
	}
	return "CASE WHEN next_state IS NOT NULL THEN " + final + " END"
}

func literalList(list []string) string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = duck.Literal(x)
	}
	return strings.Join(texts, ", ")
}

// byType renders a value that depends on the type of the operation, which is in the
// column of_type; of a type without a policy it is that of the defaults.
func (v itemView) byType(value func(rules.TypePolicy) string) string {
	return v.byTypeOf("of_type", value)
}

func (v itemView) byTypeOf(column string, value func(rules.TypePolicy) string) string {
	rest := value(v.job.Types["*"])
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.job.Types)) {
		if x := value(v.job.Types[name]); name != "*" && x != rest {
			fmt.Fprintf(&b, " WHEN %s THEN %s", duck.Literal(name), x)
		}
	}
	if b.Len() == 0 {
		return rest
	}
	return "(CASE " + column + b.String() + " ELSE " + rest + " END)"
}

// effectsSeen is how many effects of the operation were seen; null where the data do
// not say, which is not none.
const effectsSeen = `CASE WHEN class = 'ambiguous' OR reason = 'conflicting_copies' THEN NULL
  WHEN o_rid IS NULL THEN CASE WHEN class = 'unexpected' THEN CAST(1 AS BIGINT) END
  WHEN class = 'correct' THEN CAST(1 AS BIGINT) ELSE effects END`

const effectIDs = `CASE WHEN o_rid IS NULL AND class = 'unexpected' THEN list_filter([remote_id], lambda x: x IS NOT NULL) ELSE coalesce(effect_ids, []) END`

// closings is what closes an item where the job does not say it, by queue.
var closings = []struct{ queue, text string }{
	{"confirm", "The register shows the operation in its next state."},
	{"requeue", "A result under the same idempotency key is linked to the operation."},
	{"compensate", "The provider shows the named surplus effect undone, and the one to keep as it was."},
	{"close", "The register shows the operation in its next state."},
	{"review", "A person has decided, and a later run no longer has this item."},
}

// ClosesWhen says what proof closes an item of a queue: in the words of the job, else in
// ours.
func ClosesWhen(p rules.TypePolicy, queue string) string {
	if p.Describe.ClosesWhen != "" {
		return p.Describe.ClosesWhen
	}
	for _, c := range closings {
		if c.queue == queue {
			return c.text
		}
	}
	return ""
}

func (v itemView) closesWhen() string {
	var b strings.Builder
	b.WriteString("CASE queue")
	for _, c := range closings {
		fmt.Fprintf(&b, " WHEN '%s' THEN %s", c.queue, duck.Literal(c.text))
	}
	b.WriteString(" END")
	rest := b.String()
	return v.byType(func(p rules.TypePolicy) string {
		if p.Describe.ClosesWhen == "" {
			return rest
		}
		return duck.Literal(p.Describe.ClosesWhen)
	})
}

// proofValidUntil is the end of proof_valid, for what may be acted upon.
func (v itemView) proofValidUntil() string {
	until := v.byType(func(p rules.TypePolicy) string {
		if p.ProofValid == 0 {
			return "CAST(NULL AS VARCHAR)"
		}
		return duck.Literal(instant(v.in.Bound.AsOfTime.Add(p.ProofValid).UnixMicro()))
	})
	return "CASE WHEN queue <> 'review' THEN " + until + " END"
}

// otherActions are what may be done instead of the proposal. Every acting item may be
// left to a person; nothing that the guard refused is offered.
func (v itemView) otherActions() string {
	return "CASE WHEN queue = 'review' THEN CAST([] AS VARCHAR[]) ELSE ['review'] END"
}

func (v itemView) anyParameters() bool {
	for _, p := range v.job.Types {
		if len(p.CompensateParameters) > 0 || p.Unexpected != nil && len(p.Unexpected.CompensateParameters) > 0 {
			return true
		}
	}
	return false
}

const noMap = "CAST(MAP {} AS MAP(VARCHAR, VARCHAR))"

// parameters of the business operation: fields of the effect to undo, or texts.
func (v itemView) parameters() string {
	if !v.anyParameters() {
		return noMap
	}
	of := func(list map[string]string) string {
		var keys, values []string
		for _, name := range slices.Sorted(maps.Keys(list)) {
			value := list[name]
			keys = append(keys, duck.Literal(name))
			if text, ok := strings.CutPrefix(value, "'"); ok {
				values = append(values, duck.Literal(strings.TrimSuffix(text, "'")))
				continue
			}
			values = append(values, v.field(rules.Results, "rr", value))
		}
		return textMap(keys, values)
	}
	surplus := v.byTypeOf("i.type", func(p rules.TypePolicy) string { return of(p.CompensateParameters) })
	stray := v.byTypeOf("i.type", func(p rules.TypePolicy) string {
		if p.Unexpected != nil && p.Unexpected.CompensateWith != "" {
			return of(p.Unexpected.CompensateParameters)
		}
		return of(p.CompensateParameters)
	})
	return "CASE WHEN i.queue <> 'compensate' THEN " + noMap + " WHEN i.class = 'unexpected' THEN " + stray + " ELSE " + surplus + " END"
}

// textMap renders an object of texts.
func textMap(keys, values []string) string {
	if len(keys) == 0 {
		return noMap
	}
	return "CAST(MAP([" + strings.Join(keys, ", ") + "], [" + strings.Join(values, ", ") + "]) AS MAP(VARCHAR, VARCHAR))"
}

// field is the text of a product field of a staged row, redacted as declared; NULL
// where the side does not declare it.
func (v itemView) field(side rules.Side, alias, name string) string {
	f := v.job.Spec(side).Field(name)
	if f == nil {
		return "CAST(NULL AS VARCHAR)"
	}
	return v.red.expr(name, fieldText(alias, *f))
}

// localRef is the object of the job's own columns.
func (v itemView) localRef() string {
	var keys, values []string
	for _, name := range v.job.Operations.LocalRef {
		if !v.red.dropped(name) {
			keys = append(keys, duck.Literal(name))
			values = append(values, v.field(rules.Operations, "oo", name))
		}
	}
	if len(keys) == 0 {
		return noMap
	}
	return "CASE WHEN i.o_rid IS NULL THEN " + noMap + " ELSE " + textMap(keys, values) + " END"
}

func (v itemView) joins(operation, result bool) string {
	out := ""
	if operation {
		out += "\n  LEFT JOIN operations oo ON oo.rid = i.o_rid"
	}
	if result {
		out += "\n  LEFT JOIN results rr ON rr.rid = i.r_rid"
	}
	return out
}

// confirmJoins: a register that keeps the provider's id is told the one that confirms
// the operation; classify names its operation alone.
func (v itemView) confirmJoins(remote string) (joins, id string) {
	joins = v.joins(len(v.job.Operations.LocalRef) > 0, false)
	if v.job.Operations.Field("remote_id") == nil || v.job.Results.Field("remote_id") == nil {
		return joins, remote
	}
	return joins + `
  LEFT JOIN (
    SELECT l.o_rid, any_value(CAST(r.f_remote_id AS VARCHAR)) AS remote
    FROM (SELECT o_rid, r_rid FROM plain_links UNION ALL SELECT o_rid, r_rid FROM pairs WHERE st <> 'failed') l JOIN results r ON r.rid = l.r_rid
    GROUP BY l.o_rid HAVING count(*) = 1) c ON c.o_rid = i.o_rid`, v.red.expr("remote_id", "c.remote")
}

// hidden tells whether a field that whoever acts needs is redacted: a token or a mask
// is no id, and acting under it would be acting on something else.
func (v itemView) hidden() string {
	any := func(fields ...string) bool { return slices.ContainsFunc(fields, v.red.redacted) }
	base := any("operation_id", "state", "version")
	return fmt.Sprintf("CASE queue WHEN 'review' THEN false WHEN 'requeue' THEN %t WHEN 'compensate' THEN %t ELSE %t END",
		base || any("idempotency_key"), base || any("remote_id"), base)
}

// moreSlots fills item_more: of a group its item shows the results as effects, and rests
// on every member.
func moreSlots(in *Input, remote string) duck.Slots {
	s := duck.Slots{"remote": remote, "group_results": "", "group_operations": ""}
	if classify.HasGroups(in.Bound.Job) {
		const members = "group_verdicts v JOIN group_rows m ON m.grp = v.grp AND m.side = "
		s["group_results"] = " UNION ALL SELECT v.first_o, m.rid FROM " + members + "'results'"
		s["group_operations"] = "  UNION SELECT i.item_id, 'operations', m.rid FROM i JOIN (SELECT v.first_o, m.rid FROM " + members + "'operations') m ON m.first_o = i.o_rid"
	}
	return s
}
