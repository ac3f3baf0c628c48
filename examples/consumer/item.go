package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Item is what the consumer reads of a line of queues/*.ndjson (docs/queues.md). It
// leaves fields that it does not know alone: they are added without notice.
type Item struct {
	SchemaVersion  int    `json:"schema_version"`
	ItemID         string `json:"item_id"`
	RunID          string `json:"run_id"`
	Queue          string `json:"queue"`
	OperationID    string `json:"operation_id"`
	IdempotencyKey string `json:"idempotency_key"`
	RemoteID       string `json:"remote_id"`
	KeepRemoteID   string `json:"keep_remote_id"`
	Type           string `json:"type"`
	Entity         string `json:"entity"`
	Version        string `json:"version"`
	Amount         string `json:"amount"`
	Currency       string `json:"currency"`
	Refused        string `json:"refused"`

	ExpectedState  string `json:"expected_state"`
	NextState      string `json:"next_state"`
	NextStateFinal bool   `json:"next_state_final"`
	Attempts       *int64 `json:"attempts"`

	NextAttemptAt   *time.Time `json:"next_attempt_at"`
	ExpiresAt       *time.Time `json:"expires_at"`
	ProofValidUntil *time.Time `json:"proof_valid_until"`
	RecheckKey      string     `json:"recheck_key"`

	BusinessOperation string             `json:"business_operation"`
	Parameters        map[string]*string `json:"parameters"`
	ClosingReason     string             `json:"closing_reason"`
	Approvals         int                `json:"approvals"`
	ObserveOnly       bool               `json:"observe_only"`
	Deferred          bool               `json:"deferred"`
	Hidden            bool               `json:"hidden"`
}

// maxLine bounds the memory of one item.
const maxLine = 16 << 20

// Withdrawal is a line of queues/withdrawn.ndjson: the item of that run holds no longer.
type Withdrawal struct {
	ItemID string `json:"item_id"`
	RunID  string `json:"run_id"`
}

// ReadItems calls f for each item of an NDJSON file, in its order. A line that cannot
// be read stops it with the number of the line: an unknown item is never guessed at.
func ReadItems(r io.Reader, f func(Item) error) error { return readLines(r, f) }

func readLines[T any](r io.Reader, f func(T) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var x T
		if err := json.Unmarshal(line, &x); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := f(x); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// leave says why an item is no matter of this consumer at all; "" where it is.
func (it Item) leave() string {
	switch {
	case it.SchemaVersion != 1:
		return fmt.Sprintf("schema version %d is not known", it.SchemaVersion)
	case it.ObserveOnly:
		return "observed only"
	case it.Deferred:
		return "deferred to the next run"
	case it.Hidden:
		return "its ids are redacted"
	case it.Queue == "review":
		return "for a person"
	}
	return ""
}

// broken says why an item is not to be trusted whatever the register says: what the
// schema forbids, checked again since the schema does not reach this far. "" for none.
func (it Item) broken() string {
	switch {
	case it.ItemID == "" || it.RunID == "":
		return "no item id or run id"
	case it.Refused != "":
		return "a check of the guard refused it: " + it.Refused
	case it.NextState != "" && it.ExpectedState == "":
		return "no expected state"
	}
	switch it.Queue {
	case "confirm", "close":
		if it.OperationID == "" || it.NextState == "" {
			return "no operation or no next state"
		}
	case "requeue":
		switch {
		case it.OperationID == "" || it.NextState == "" || it.NextStateFinal:
			return "no operation, or no next state from which it is sent"
		case it.IdempotencyKey == "" || it.RecheckKey == "":
			return "no idempotency key"
		case it.ExpiresAt == nil || it.NextAttemptAt == nil:
			return "no next attempt or no expiry"
		case !it.NextAttemptAt.Before(*it.ExpiresAt):
			return "its next attempt is not before its expiry"
		}
	case "compensate":
		switch {
		case it.RemoteID == "" || it.BusinessOperation == "":
			return "no effect to undo, or no business operation"
		case it.RemoteID == it.KeepRemoteID:
			return "the effect to undo is the one to keep"
		}
	default:
		return fmt.Sprintf("the queue %q is not known", it.Queue)
	}
	return ""
}

// late says which end the item has reached; "" where it may still be acted upon.
func (it Item) late(now time.Time) string {
	if it.ExpiresAt != nil && !now.Before(*it.ExpiresAt) {
		return "expired at " + it.ExpiresAt.UTC().Format(time.RFC3339)
	}
	if it.ProofValidUntil != nil && !now.Before(*it.ProofValidUntil) {
		return "its proof ended at " + it.ProofValidUntil.UTC().Format(time.RFC3339)
	}
	return ""
}
