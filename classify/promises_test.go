package classify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// What the guard promises of its proposals, broken on purpose in the relations that it
// left: each breach stops the run, by its words. Unbroken, the same days pass.
func TestPromisesNoticeBreaches(t *testing.T) {
	const (
		asOf    = "epoch_us(TIMESTAMP '2026-11-30 04:00:00')"
		propose = "UPDATE residual_items SET queue = 'requeue', refused_bits = 0, refused = NULL, next_attempt_us = " + asOf + " + 1, expiry_us = " + asOf + " + 2 WHERE class = 'absent'"
		again   = "INSERT INTO residual_items SELECT * REPLACE ('other' AS item_id) FROM residual_items WHERE class = 'absent'"
	)
	held := strings.Replace(absent, ",p,,,", ",p,,dispute,", 1)
	keyless := strings.Replace(absent, ",k-1,", ",,", 1)
	pair := "op-1,k-1,charge,o-1,confirmed,1,500.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	twice := "ch-1,op-1,k-1,charge,1,500.00,EUR,2026-11-29T12:00:01Z\nch-2,op-1,k-1,charge,1,500.00,EUR,2026-11-29T12:00:09Z\n"
	newer := strings.NewReplacer("op-1", "op-2", "k-1", "k-2", ",pending,1,", ",pending,2,").Replace(absent)
	for name, tc := range map[string]struct {
		more, operations, results string
		breach                    string // a statement
		job                       func(*rules.Bound)
		want                      string
	}{
		"a refused check":        {"", held, "", "UPDATE residual_items SET queue = 'requeue' WHERE class = 'absent'", nil, "or on a refused check"},
		"another class":          {"", absent, "", "UPDATE residual_items SET queue = 'confirm' WHERE class = 'absent'", nil, "stand on another class"},
		"twice":                  {"", absent, "", again, nil, "acted on more than once"},
		"no key":                 {"", keyless, "", propose, nil, "under no idempotency key"},
		"no time":                {"", absent, "", "UPDATE residual_items SET next_attempt_us = NULL WHERE queue = 'requeue'", nil, "without a time"},
		"a time that has passed": {"", absent, "", "UPDATE residual_items SET next_attempt_us = " + asOf + " WHERE queue = 'requeue'", nil, "without a time"},
		"after its expiry":       {"", absent, "", "UPDATE residual_items SET expiry_us = next_attempt_us WHERE queue = 'requeue'", nil, "without a time"},
		"when the key has ended": {"", absent, "", "UPDATE residual_items SET expiry_us = epoch_us(TIMESTAMP '2026-12-01 12:00:00') WHERE queue = 'requeue'", nil, "without a time"},
		"a final state": {"", absent, "", "", func(b *rules.Bound) { b.States.Final = append(slices.Clone(b.States.Final), "retry_scheduled") },
			"would send again what has ended then"},
		"on hold":           {"", held, "", propose, nil, "what is on hold"},
		"the good effect":   {undo, pair, twice, "UPDATE effects SET kept = (SELECT r_rid FROM residual_items WHERE queue = 'compensate')", nil, "left without an effect, or without the one to keep"},
		"the only effect":   {undo, pair, twice, "DELETE FROM links WHERE r_rid NOT IN (SELECT r_rid FROM residual_items WHERE queue = 'compensate')", nil, "left without an effect, or without the one to keep"},
		"no newer version":  {"", absent, "", "UPDATE residual_items SET queue = 'close', closing_reason = 'newer_version' WHERE class = 'absent'", nil, "closed as overtaken without a newer version"},
		"the newest itself": {"    when_overtaken: close\n", absent + newer, "", "UPDATE residual_items SET queue = 'close', closing_reason = 'newer_version', refused_bits = 0, refused = NULL WHERE class = 'absent'", nil, "1 operations are closed as overtaken without a newer version"},
		"a lost absence":    {"", absent, "", "DELETE FROM residual_items WHERE class = 'absent'", nil, "absent operations have no item"},
		"the same id":       {"", held, "", "INSERT INTO residual_items SELECT * FROM residual_items WHERE class = 'absent'", nil, "share their id"},
	} {
		t.Run(name, func(t *testing.T) {
			d := classified(t, tc.more, tc.operations, tc.results)
			if tc.breach != "" {
				d.exec(t, tc.breach)
			}
			if tc.job != nil {
				tc.job(d.job)
			}
			err := d.promises(t)
			if fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
