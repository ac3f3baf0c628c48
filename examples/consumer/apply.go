package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Outcome of an item.
type Outcome string

// Outcomes. Applied and refused are stored; the others leave no trace, so that the item
// can be delivered again.
const (
	Applied Outcome = "applied"
	Refused Outcome = "refused"
	Left    Outcome = "left"    // not for this consumer
	Waiting Outcome = "waiting" // for approvals
)

// Result is the answer to one delivery of an item.
type Result struct {
	Outcome Outcome
	Why     string // for people; "" where applied
	Stored  bool   // decided at an earlier delivery
}

// Consumer applies items to the register. Any number of them may run at once.
type Consumer struct {
	DB *pgxpool.Pool
	// Now is the clock; nil is that of the database, which all consumers share.
	Now func() time.Time

	at func(point string) // called between two steps, by tests
}

// refusal ends the decision with a reason that is stored.
type refusal string

func (r refusal) Error() string { return string(r) }

// Apply decides on an item once. Inbox row, conditional update and answer are one
// transaction: a crash leaves all of them or none. An error means that nothing is
// known about the commit; deliver the item again, and the stored answer comes back.
func (c *Consumer) Apply(ctx context.Context, it Item) (Result, error) {
	if why := it.leave(); why != "" {
		return Result{Outcome: Left, Why: why}, nil
	}
	if why := it.broken(); why != "" {
		return Result{Outcome: Refused, Why: why}, nil // not stored: the id is not to be trusted either
	}
	tx, err := c.DB.Begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // a no-op after the commit
	if stored, err := claim(ctx, tx, it); err != nil || stored != nil {
		if err != nil {
			return Result{}, err
		}
		return *stored, nil
	}
	c.reach("claimed")
	now, err := c.now(ctx, tx)
	if err != nil {
		return Result{}, err
	}
	waiting, err := missingApprovals(ctx, tx, it)
	if err != nil {
		return Result{}, err
	}
	if waiting > 0 && it.late(now) == "" {
		return Result{Outcome: Waiting, Why: fmt.Sprintf("%d approvals are missing", waiting)}, nil
	}
	result := Result{Outcome: Applied}
	var no refusal
	switch err := c.attempt(ctx, tx, it, now); {
	case errors.As(err, &no):
		result = Result{Outcome: Refused, Why: string(no)}
	case err != nil:
		return Result{}, err
	}
	c.reach("acted")
	if _, err := tx.Exec(ctx, `UPDATE inbox SET outcome = $2, why = $3 WHERE item_id = $1`, it.ItemID, result.Outcome, result.Why); err != nil {
		return Result{}, err
	}
	if err := tx.Commit(ctx); err != nil {
		return Result{}, err
	}
	c.reach("committed")
	return result, nil
}

// claim makes the item ours, or returns the stored answer. The unique key makes a
// second consumer wait here until the first has committed. A refusal holds for its run
// alone: a later run that still proposes the item, under the same id with a new proof,
// is decided anew.
func claim(ctx context.Context, tx pgx.Tx, it Item) (*Result, error) {
	tag, err := tx.Exec(ctx, `
		INSERT INTO inbox (item_id, run_id, queue, operation_id, outcome) VALUES ($1, $2, $3, nullif($4, ''), 'refused')
		ON CONFLICT (item_id) DO UPDATE SET run_id = excluded.run_id, decided_at = now()
		WHERE inbox.outcome = 'refused' AND inbox.run_id <> excluded.run_id`,
		it.ItemID, it.RunID, it.Queue, it.OperationID)
	if err != nil || tag.RowsAffected() == 1 {
		return nil, err
	}
	r := Result{Stored: true}
	err = tx.QueryRow(ctx, `SELECT outcome, why FROM inbox WHERE item_id = $1`, it.ItemID).Scan(&r.Outcome, &r.Why)
	return &r, err
}

// attempt acts, and takes back what a refusal has left behind.
func (c *Consumer) attempt(ctx context.Context, tx pgx.Tx, it Item, now time.Time) error {
	inner, err := tx.Begin(ctx) // a savepoint
	if err != nil {
		return err
	}
	if err := c.act(ctx, inner, it, now); err != nil {
		return errors.Join(err, inner.Rollback(ctx))
	}
	return inner.Commit(ctx)
}

// act checks the condition of the item again and does what it says. The register row
// is locked first, and whoever records evidence locks it too (RecordEffect): no result
// becomes known between the check and the update.
func (c *Consumer) act(ctx context.Context, tx pgx.Tx, it Item, now time.Time) error {
	if why := it.late(now); why != "" {
		return refusal(why)
	}
	var withdrawn bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM withdrawn WHERE item_id = $1 AND run_id = $2)`, it.ItemID, it.RunID).Scan(&withdrawn); err != nil {
		return err
	}
	if withdrawn {
		return refusal("a later revision withdrew it")
	}
	if it.OperationID != "" {
		var key, state, version string
		var attempts int64
		var lease *time.Time
		err := tx.QueryRow(ctx, `SELECT idempotency_key, state, version::text, attempts, lease_until FROM operation WHERE operation_id = $1 FOR UPDATE`, it.OperationID).
			Scan(&key, &state, &version, &attempts, &lease)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return refusal("the register does not know the operation")
		case err != nil:
			return err
		case it.NextState != "" && state != it.ExpectedState:
			return refusal("its state is " + state + " by now, not " + it.ExpectedState)
		case it.Version != "" && version != it.Version:
			return refusal("its version is " + version + " by now, not " + it.Version)
		case it.Attempts != nil && attempts != *it.Attempts:
			return refusal(fmt.Sprintf("it was attempted %d times by now, not %d", attempts, *it.Attempts))
		case it.IdempotencyKey != "" && key != it.IdempotencyKey:
			return refusal("its idempotency key is another one")
		case lease != nil && now.Before(*lease):
			return refusal("a worker holds it")
		}
	}
	switch it.Queue {
	case "requeue":
		return requeue(ctx, tx, it)
	case "compensate":
		return compensate(ctx, tx, it)
	case "confirm":
		return move(ctx, tx, it, `remote_id = coalesce(nullif($5, ''), remote_id)`, it.RemoteID)
	}
	return move(ctx, tx, it, `closing_reason = $5`, it.ClosingReason)
}

// requeue hands the operation back to the workers: nothing is sent here. Any result
// under the key that did not fail refuses, however old.
func requeue(ctx context.Context, tx pgx.Tx, it Item) error {
	var known bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM effect WHERE idempotency_key IN ($1, $2) AND status <> 'failed')`, it.RecheckKey, it.IdempotencyKey).Scan(&known); err != nil {
		return err
	}
	if known {
		return refusal("a result is known under its key by now")
	}
	return move(ctx, tx, it, `next_attempt_at = $5, lease_holder = NULL, lease_until = NULL`, it.NextAttemptAt)
}

// compensate asks for the business operation that undoes the surplus effect: a row of
// the register like any other, under a key that follows from the item, so that it too
// is sent once and is reconciled. An effect is undone once, whichever item says so: the
// id of an item changes with the record that it rests on.
func compensate(ctx context.Context, tx pgx.Tx, it Item) error {
	id := "undo-" + it.ItemID
	if it.NextState != "" { // else an effect of no operation, or a register without states
		if err := move(ctx, tx, it, `closing_reason = $5`, "undone by "+id); err != nil {
			return err
		}
	}
	for _, e := range []struct{ id, gone string }{{it.RemoteID, "the effect to undo"}, {it.KeepRemoteID, "the effect to keep"}} {
		if e.id == "" {
			continue
		}
		var undone bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM effect WHERE remote_id = $1 AND undone) OR EXISTS (SELECT FROM undo WHERE remote_id = $1)`, e.id).Scan(&undone)
		if err != nil {
			return err
		}
		if undone {
			return refusal(e.gone + " is undone by now, or is about to be")
		}
	}
	// The unique key makes a second consumer wait until the first has committed.
	tag, err := tx.Exec(ctx, `INSERT INTO undo (remote_id, operation_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, it.RemoteID, id)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return refusal("the effect to undo is about to be undone")
	}
	parameters, err := json.Marshal(it.Parameters)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO operation (operation_id, idempotency_key, type, entity, amount, currency, parameters)
		VALUES ($1, $1, $2, $3, $4::text::numeric, $5, $6)`, id, it.BusinessOperation, it.Entity, it.Amount, it.Currency, parameters)
	return err
}

// move is the conditional update: only from the state and version that were seen.
func move(ctx context.Context, tx pgx.Tx, it Item, set string, value any) error {
	tag, err := tx.Exec(ctx, `UPDATE operation SET state = $4, `+set+`
		WHERE operation_id = $1 AND state = $2 AND ($3 = '' OR version::text = $3)`, it.OperationID, it.ExpectedState, it.Version, it.NextState, value)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != 1 {
		return refusal("the register row is not as it was seen")
	}
	return nil
}

// missingApprovals is how many more people have to approve the item.
func missingApprovals(ctx context.Context, tx pgx.Tx, it Item) (int, error) {
	var n int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM approval WHERE item_id = $1`, it.ItemID).Scan(&n)
	return it.Approvals - n, err
}

func (c *Consumer) now(ctx context.Context, tx pgx.Tx) (now time.Time, err error) {
	if c.Now != nil {
		return c.Now(), nil
	}
	err = tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now, err
}

func (c *Consumer) reach(point string) {
	if c.at != nil {
		c.at(point)
	}
}

// Withdraw notes that the item of that run holds no longer. Whoever has it still, or
// gets it late, is refused; a later run may propose the same item again.
func (c *Consumer) Withdraw(ctx context.Context, itemID, runID string) error {
	_, err := c.DB.Exec(ctx, `INSERT INTO withdrawn (item_id, run_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, itemID, runID)
	return err
}
