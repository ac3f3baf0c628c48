package report

import (
	"context"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/hole"
	"github.com/recon-batch/recon-batch/rules"
)

// checkItems refuses to publish an acting item on which nobody could act safely: the
// promises of docs/queues.md, asked of the values before any is redacted. The schema
// refuses the same.
func checkItems(ctx context.Context, db *duck.DB, job *rules.Job) error {
	if hole.Bare() { // a test wants to see what would come without any net
		return nil
	}
	final := slices.Clone(finalStates)
	for _, s := range job.States.Final {
		if !slices.Contains(final, s) {
			final = append(final, s)
		}
	}
	moves := "queue <> 'review' AND o_rid IS NOT NULL"
	if job.Operations.Field("state") == nil { // then an effect may be undone, and no row moves
		moves = "queue IN ('confirm', 'requeue', 'close')"
	}
	for _, c := range []struct{ what, broken string }{
		{"requeues lead to a final state, or to none", "queue = 'requeue' AND coalesce(CAST(next_state AS VARCHAR) IN (" + literalList(final) + "), true)"},
		{"requeues have no idempotency key", "queue = 'requeue' AND coalesce(trim(idempotency_key), '') = ''"},
		{"requeues have no next attempt, or no expiry after it", "queue = 'requeue' AND NOT coalesce(next_attempt_us < expiry_us, false)"},
		{"requeues passed a check of the guard that was refused", "queue = 'requeue' AND refused IS NOT NULL AND CAST(refused AS VARCHAR) <> ''"},
		{"items that change the register do not say from which state, or to which", moves + " AND (coalesce(trim(state), '') = '' OR next_state IS NULL)"},
		{"compensations name no effect to undo", "queue = 'compensate' AND coalesce(trim(remote_id), '') = ''"},
		{"compensations name the effect to keep as the one to undo", "queue = 'compensate' AND remote_id = keep_remote_id"},
	} {
		var n int64
		var item *string
		if err := db.Scan(ctx, "SELECT count(*), min(item_id) FROM items_wide WHERE "+c.broken, &n, &item); err != nil {
			return err
		}
		if n > 0 {
			return breach("%d %s: item %s", n, c.what, *item)
		}
	}
	return nil
}
