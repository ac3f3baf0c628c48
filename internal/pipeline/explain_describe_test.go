package pipeline

import (
	"path/filepath"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// Explain says what the effect is, whose records decide and what closes the case, as the
// policy of the type describes it, also where the type itself is not shown; and in our
// words where the policy says nothing.
func TestExplainDescribesTheEffect(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-r/2")
	const more = `extends: describe.yaml
redact: {fields: {type: mask}}`
	write(t, filepath.Join(n.dir, "describe.yaml"), "types:\n  charge: {describe: {effect: the card was charged, truth: psp, closes_when: a settled row}}\n")
	res := n.run("2026-11-01", more, Allowed{})
	job, err := rules.Load(filepath.Join(n.dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ id, effect, truth, closes string }{
		{"c1", "the card was charged", "psp", "a settled row"},
		{"c0", "the card was charged", "psp", "a settled row"},
		{"r2", "", "", "A result under the same idempotency key is linked to the operation."},
	} {
		_, list, err := Explain(t.Context(), Options{Job: job, Out: filepath.Join(n.dir, "out"), BusinessDate: "2026-11-01", Threads: 1}, res.Manifest.RunID, c.id)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 || len(list[0].Proposals) != 1 {
			t.Fatalf("%s: %+v", c.id, list)
		}
		if p := list[0].Proposals[0]; p.Effect != c.effect || p.Truth != c.truth || p.ClosesWhen != c.closes {
			t.Errorf("%s (%s): effect %q, truth %q, closes when %q", c.id, p.Queue, p.Effect, p.Truth, p.ClosesWhen)
		}
	}
}

// Explain says of what the retry budget moves when it could go, and of what would come
// too late that nothing but the budget stands against it.
func TestExplainSaysWhatTheBudgetDid(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", absent(3)...)
	const more = "limits: {retry_budget: {rows: 1, per: 35h}}"
	res := n.run("2026-11-01", more, Allowed{})
	job, err := rules.Load(filepath.Join(n.dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, id := range []string{"c1", "c2", "c3"} {
		_, list, err := Explain(t.Context(), Options{Job: job, Out: filepath.Join(n.dir, "out"), BusinessDate: "2026-11-01", Threads: 1}, res.Manifest.RunID, id)
		if err != nil {
			t.Fatal(err)
		}
		p := list[0].Proposals[0]
		switch {
		case p.Deferred:
			got["late"]++
			if p.Paced != "" || p.Means != "the effect is proven absent, but the item would expire before its turn in the retry budget: for a person, and the next run decides again" {
				t.Errorf("%s: paced %q; %s", id, p.Paced, p.Means)
			}
		case p.Paced != "":
			got["moved"]++
			if p.Paced != "2026-11-02T00:00:10Z" || p.NextAttempt != "2026-11-03T11:00:10Z" {
				t.Errorf("%s could go at %s, goes at %s", id, p.Paced, p.NextAttempt)
			}
		default:
			got["own time"]++
			if p.NextAttempt != "2026-11-02T00:00:10Z" {
				t.Errorf("%s goes at %s", id, p.NextAttempt)
			}
		}
	}
	if got["late"] != 1 || got["moved"] != 1 || got["own time"] != 1 {
		t.Errorf("%v, want one of each", got)
	}
}
