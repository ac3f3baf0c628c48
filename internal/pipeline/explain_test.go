package pipeline

import (
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/rules"
)

// Every reason of the closed list is explained in words.
func TestReasonWords(t *testing.T) {
	for class, reasons := range classify.Reasons {
		for _, r := range reasons {
			if _, ok := reasonWords[r]; !ok {
				t.Errorf("%s/%s has no words", class, r)
			}
		}
	}
}

// Every check of the guard has words for having passed and for what would lift it, and
// no others are kept.
func TestGuardWords(t *testing.T) {
	n := 0
	for bit := classify.Check(1); bit.Codes() != ""; bit <<= 1 {
		n++
		if w := guardWords[bit.Codes()]; w.passed == "" || w.remedy == "" {
			t.Errorf("%s has no words", bit.Codes())
		}
	}
	if n != len(guardWords) {
		t.Errorf("%d checks, words for %d", n, len(guardWords))
	}
}

const guardJob = `
job: guard
operations:
  sources: [{name: shop, path: ours.csv, coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, type: kind, state: state, attempts: {column: n, type: integer}, lease_until: {column: lease, type: timestamp}, created_at: {column: at, type: timestamp}}
results:
  sources: [{name: psp, path: theirs.csv, coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, remote_id: remote}
match: [{pass: operation_id, on: [operation_id], identity: true}]
types:
  charge: {window: {expected: 15m, deadline: 6h}, idempotent: true, idempotency_key_ttl: 72h, retry: {max_attempts: 5, max_duration: 60h}}
`

// Every check of the proposal that a verdict could lead to is listed, also where it
// passed; nothing but an absence is asked for a requeue, nothing but a surplus effect
// for a compensation; and what the job has nothing for is not called passed.
func TestGuardChecks(t *testing.T) {
	job, err := rules.Parse([]byte(guardJob), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b, err := job.Bind("2026-11-29", nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &explainer{b: b}
	typ := "charge"
	codes := func(row Place, refused ...string) (passed, failed, not string) {
		for _, k := range x.guardChecks(x.wantedOf(row, Proposal{refused: refused}), classify.Class(row.Class), refused, &typ) {
			switch {
			case k.Sentence == "":
				t.Errorf("%s says nothing", k.Code)
			case k.Refused:
				failed += k.Code + " "
			case k.Made:
				passed += k.Code + " "
			default:
				not += k.Code + " "
			}
		}
		return passed, failed, not
	}
	passed, failed, not := codes(Place{Class: "absent", Reason: "no_result"}, "attempts", "state")
	if failed != "attempts state " || passed != "not_idempotent no_key key_lifetime key_shared lease no_identity risk no_policy " ||
		not != "duration error_class stale_export newer_version sibling_effect on_hold payload proof_lifetime " {
		t.Errorf("absent: passed %s; refused %s; not asked %s", passed, failed, not)
	}
	passed, failed, _ = codes(Place{Class: "duplicate", Reason: "surplus_effect"}, "no_good_effect")
	if failed != "no_good_effect " || !strings.Contains(passed, "not_succeeded") || strings.Contains(passed, "lease") {
		t.Errorf("surplus effect: passed %s; refused %s", passed, failed)
	}
	for _, row := range []Place{{Class: "correct", Reason: "equal"}, {Class: "not_applicable", Reason: "cancelled"}} {
		if passed, failed, _ = codes(row); passed != "no_policy state " || failed != "" {
			t.Errorf("%s: passed %s; refused %s", row.Class, passed, failed)
		}
		if passed, failed, _ = codes(row, "state"); passed != "no_policy " || failed != "state " {
			t.Errorf("%s: passed %s; refused %s", row.Class, passed, failed)
		}
	}
	for _, row := range []Place{
		{Class: "unexpected", Reason: "no_operation"}, {Class: "duplicate", Reason: "conflicting_copies"},
		{Class: "divergent", Reason: "duplicate_effect"}, {Class: "ambiguous", Reason: "keys_disagree"},
	} {
		if passed, failed, not = codes(row); passed+failed+not != "" {
			t.Errorf("%s: passed %s; refused %s; not asked %s", row.Reason, passed, failed, not)
		}
	}
}

// A refused requeue says which checks would have to pass.
func TestRefusedChanges(t *testing.T) {
	list := refusedChanges([]Proposal{{Queue: "review", wanted: classify.Requeue, Checks: []GuardCheck{
		{Code: "no_key", Made: true}, {Code: "attempts", Made: true, Refused: true}, {Code: "state", Made: true, Refused: true},
	}}})
	if len(list) != 2 || !strings.Contains(list[0], "the refused check attempts: fewer attempts") || !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "state") }) {
		t.Errorf("%q", list)
	}
	same := Proposal{Queue: "review", wanted: classify.Review, Checks: []GuardCheck{{Code: "no_good_effect", Made: true, Refused: true}}}
	if list := refusedChanges([]Proposal{same, same}); len(list) != 1 || strings.Contains(list[0], "review instead of review") {
		t.Errorf("two items that lack the same: %q", list)
	}
}
