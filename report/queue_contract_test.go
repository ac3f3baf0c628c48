package report

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// An acting item that breaks its contract stops the run, and nothing is published.
func TestBrokenItemsAreNotPublished(t *testing.T) {
	for change, want := range map[string]string{
		"next_state = 'confirmed' WHERE queue = 'requeue'":                 "final state",
		"next_state = 'parked' WHERE queue = 'requeue'":                    "final state",
		"next_state = NULL WHERE queue = 'requeue'":                        "final state",
		"idempotency_key = NULL WHERE queue = 'requeue'":                   "no idempotency key",
		"idempotency_key = ' ' WHERE queue = 'requeue'":                    "no idempotency key",
		"expiry_us = next_attempt_us WHERE queue = 'requeue'":              "no expiry",
		"expiry_us = NULL WHERE queue = 'requeue'":                         "no expiry",
		"refused = 'lease' WHERE queue = 'requeue'":                        "was refused",
		"state = NULL WHERE queue = 'confirm'":                             "from which state",
		"state = '' WHERE queue = 'compensate'":                            "from which state",
		"remote_id = NULL WHERE queue = 'compensate'":                      "no effect to undo",
		"keep_remote_id = remote_id WHERE queue = 'compensate'":            "the effect to keep",
		"state = NULL, idempotency_key = NULL WHERE queue = 'review'":      "",
		"state = NULL, o_rid = NULL, r_rid = 8 WHERE queue = 'compensate'": "",
	} {
		w := newWorld(t)
		w.in.Bound.States.Final = []string{"parked"}
		withState(w)
		w.load()
		w.exec("UPDATE items SET " + change)
		_, err := Build(t.Context(), w.db, w.in)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", change, err)
		case want != "" && (fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want a breach: %s", change, err, want)
		}
	}
}

// A job without states has no row to move where an effect is undone; the schema says
// the same.
func TestCompensationWithoutStates(t *testing.T) {
	w := newWorld(t).load()
	w.exec("UPDATE items SET state = NULL WHERE queue = 'compensate'")
	w.build()
	var next *string
	if err := w.db.Scan(t.Context(), "SELECT next_state FROM report_items WHERE queue = 'compensate'", &next); err != nil || next != nil {
		t.Errorf("next state %v, %v", next, err)
	}
	w.exec("UPDATE items SET state = NULL WHERE queue = 'confirm'")
	if _, err := Build(t.Context(), w.db, w.in); fail.ClassOf(err) != fail.Integrity {
		t.Errorf("a confirmation without a state: %v", err)
	}
}
