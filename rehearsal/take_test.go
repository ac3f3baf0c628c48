package rehearsal

import (
	"slices"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// A row that moves in several nights is counted in each, and is one example.
func TestExamplesOfSeveralNights(t *testing.T) {
	move := func(date string, ids ...string) found {
		m := Move{Side: rules.Results, Rows: int64(len(ids))}
		for _, id := range ids {
			m.Examples = append(m.Examples, Example{BusinessDate: date, ID: id})
		}
		return found{moves: []Move{m}}
	}
	c := comparison{out: &WhatIf{}}
	c.take(move("2026-11-28", "tx.csv:1", "tx.csv:2"))
	c.take(move("2026-11-29", "tx.csv:1", "tx.csv:3", "tx.csv:4"))
	want := []Example{{"2026-11-28", "tx.csv:1"}, {"2026-11-28", "tx.csv:2"}, {"2026-11-29", "tx.csv:3"}}
	if got := c.out.Moves[0]; got.Rows != 5 || !slices.Equal(got.Examples, want) {
		t.Errorf("%d rows, such as %v", got.Rows, got.Examples)
	}
}
