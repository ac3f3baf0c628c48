package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Operation is a row of the register.
type Operation struct {
	ID, IdempotencyKey, Type, Entity string
	Version                          int64
	Amount, Currency                 string
}

// Provider is the other side. Send asks for the effect once; it returns the id and the
// status (succeeded or failed) that the provider gave, or an error where neither is
// known: a time-out is not a failure.
type Provider interface {
	Send(ctx context.Context, o Operation) (remoteID, status string, err error)
}

// Register writes the operation down before anybody calls the provider, in the
// transaction of the business change that wants it: there is no change without an
// operation, and no call without a row. The key is decided here, once.
func Register(ctx context.Context, tx pgx.Tx, o Operation) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO operation (operation_id, idempotency_key, type, entity, version, amount, currency)
		VALUES ($1, $2, $3, $4, $5, $6::text::numeric, $7)`, o.ID, o.IdempotencyKey, o.Type, o.Entity, o.Version, o.Amount, o.Currency)
	return err
}

// Worker sends operations.
type Worker struct {
	DB       *pgxpool.Pool
	Provider Provider
	Name     string
	Lease    time.Duration // longer than a call may take
}

// Next sends one operation that is due; false where there is none. The row says
// processing, with a lease, before the call: a worker that dies in it leaves an operation
// that nobody sends again until recon-batch has proved that there was no effect.
func (w *Worker) Next(ctx context.Context) (bool, error) {
	var o Operation
	err := w.DB.QueryRow(ctx, `
		UPDATE operation SET state = 'processing', attempts = attempts + 1, last_attempt_at = now(),
		  first_attempt_at = coalesce(first_attempt_at, now()), lease_holder = $1, lease_until = now() + $2::interval
		WHERE operation_id = (
		  SELECT operation_id FROM operation
		  WHERE state = 'pending' OR (state = 'retry_scheduled' AND next_attempt_at <= now())
		  ORDER BY created_at, operation_id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING operation_id, idempotency_key, type, entity, version, amount::text, currency`, w.Name, w.Lease).
		Scan(&o.ID, &o.IdempotencyKey, &o.Type, &o.Entity, &o.Version, &o.Amount, &o.Currency)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	remoteID, status, err := w.Provider.Send(ctx, o)
	if err != nil {
		// Nothing is known: the row stays in processing, and says what the attempt left.
		_, err := w.DB.Exec(ctx, `
			UPDATE operation SET first_failed_at = coalesce(first_failed_at, now()), error_class = 'transient', lease_holder = NULL, lease_until = NULL
			WHERE operation_id = $1 AND lease_holder = $2`, o.ID, w.Name)
		return true, err
	}
	return true, RecordEffect(ctx, w.DB, o.IdempotencyKey, remoteID, status)
}

// RecordEffect stores evidence, from a response as from a webhook or a report. It locks
// the register row first, so that no item is applied between it and the state.
func RecordEffect(ctx context.Context, db *pgxpool.Pool, key, remoteID, status string) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM operation WHERE idempotency_key = $1 FOR UPDATE`, key); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO effect (remote_id, idempotency_key, status) VALUES ($1, $2, $3)
			ON CONFLICT (remote_id) DO UPDATE SET status = excluded.status`, remoteID, key, status); err != nil {
			return err
		}
		if status == "failed" {
			// A refusal: whether it may be tried again is for recon-batch and the policy to say.
			_, err := tx.Exec(ctx, `
				UPDATE operation SET first_failed_at = coalesce(first_failed_at, now()), lease_holder = NULL, lease_until = NULL
				WHERE idempotency_key = $1 AND state = 'processing'`, key)
			return err
		}
		// Also where it is to be sent again: it has its effect, and nobody sends it now.
		_, err := tx.Exec(ctx, `
			UPDATE operation SET state = 'awaiting_confirmation', remote_id = $2, lease_holder = NULL, lease_until = NULL
			WHERE idempotency_key = $1 AND state IN ('pending', 'processing', 'retry_scheduled')`, key, remoteID)
		return err
	})
}

// exportSQL is the whole register, as examples/consumer/job.yaml reads it.
const exportSQL = `
	SELECT operation_id, idempotency_key, type, entity, version, amount, currency, state, attempts, error_class, remote_id,
	  to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at,
	  to_char(first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_attempt_at,
	  to_char(last_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_attempt_at,
	  to_char(first_failed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_failed_at,
	  to_char(lease_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS lease_until
	FROM operation ORDER BY operation.created_at, operation_id`

// Export writes the register for recon-batch, as CSV with a header. One statement is
// one snapshot: no operation is missing that another row speaks of.
func Export(ctx context.Context, db *pgxpool.Pool, w io.Writer) error {
	c, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	_, err = c.Conn().PgConn().CopyTo(ctx, w, `COPY (`+exportSQL+`) TO STDOUT (FORMAT csv, HEADER)`)
	return err
}
