//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// The whole circle with the real program: the register is exported, reconciled against
// what the provider booked, the items are applied (twice, from the files), the workers
// send, and a later revision of the day finds the operation that was missing.
func TestCircle(t *testing.T) {
	s := newShop(t, server(t))
	day := time.Now().UTC().AddDate(0, 0, -1).Truncate(24 * time.Hour)
	date := day.Format(time.DateOnly)
	dir := t.TempDir()
	for _, d := range []string{"exports", "provider"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("job.yaml", text)
	// Confirmed by the provider: fine. Told nothing: gone is not there, there is, twice is there twice.
	// The provider's file lacks slow, until it is corrected.
	for _, id := range []string{"fine", "gone", "slow", "there", "twice"} {
		s.stuck(id)
	}
	s.exec(`UPDATE operation SET state = 'awaiting_confirmation', remote_id = 'ch-fine' WHERE operation_id = 'fine'`)
	s.exec(`UPDATE operation SET created_at = $1, first_attempt_at = $1, last_attempt_at = $1, lease_until = $1`, day.Add(8*time.Hour))
	booked := []string{"fine ch-fine", "there ch-there", "twice ch-t1", "twice ch-t2"}
	var late strings.Builder
	round := func() string {
		t.Helper()
		var export, results bytes.Buffer
		if err := Export(t.Context(), s.db, &export); err != nil {
			t.Fatal(err)
		}
		write("exports/register_"+date+".csv", export.Bytes())
		results.WriteString("operation_id,idempotency_key,charge_id,type,order_no,version,status,amount,currency,booked_at\n")
		for i, b := range booked {
			id, remote, _ := strings.Cut(b, " ")
			fmt.Fprintf(&results, "%[1]s,key-%[1]s,%[2]s,charge,order-%[1]s,1,settled,10.00,EUR,%[3]s\n", id, remote, day.Add(8*time.Hour+time.Duration(i)*time.Minute).Format(time.RFC3339))
		}
		write("provider/charges_"+date+".csv", results.Bytes())
		job, err := rules.Load(filepath.Join(dir, "job.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range job.Warnings {
			t.Errorf("warning: %v", w)
		}
		res, err := pipeline.Run(t.Context(), pipeline.Options{Job: job, BusinessDate: date})
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(res.Dir, "queues")
	}
	answers := func(queues string) string {
		t.Helper()
		var out strings.Builder
		files, err := filepath.Glob(filepath.Join(queues, "*.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), append([]string{"-dsn", s.dsn, "apply"}, files...), &out); err != nil {
			t.Fatal(err)
		}
		var short []string
		for line := range strings.Lines(out.String()) {
			if _, rest, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(rest, "review ") { // without the id
				short = append(short, rest)
			}
		}
		return strings.Join(short, "\n")
	}

	// Nobody has acted yet when the provider's file is corrected. The requeue of the first
	// run, delivered late, would charge a second time: the register knows nothing of it, and
	// the item has not expired. The list of the second run withdraws it.
	early := round()
	if text, err := os.ReadFile(filepath.Join(early, "requeue.ndjson")); err != nil || !strings.Contains(string(text), `"operation_id":"slow"`) {
		t.Fatalf("slow is not proposed: %s, %v", text, err)
	}
	booked = append(booked, "slow ch-slow")
	first := round()
	if err := run(t.Context(), []string{"-dsn", s.dsn, "apply", filepath.Join(early, "requeue.ndjson"), filepath.Join(first, "withdrawn.ndjson")}, &late); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(late.String(), "requeue slow: refused a later revision withdrew it") || !strings.Contains(late.String(), "requeue gone: applied") {
		t.Errorf("the items of the first run, late:\n%s", late.String())
	}
	if got, want := sorted(answers(first)), sorted("confirm fine: applied\nconfirm slow: applied\nconfirm there: applied\nrequeue gone: applied (before)\ncompensate twice: applied"); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := sorted(answers(first)), sorted("confirm fine: applied (before)\nconfirm slow: applied (before)\nconfirm there: applied (before)\nrequeue gone: applied (before)\ncompensate twice: applied (before)"); got != want {
		t.Errorf("again\n%s\nwant\n%s", got, want)
	}
	if got := s.one(`SELECT string_agg(operation_id || ' ' || state || coalesce(' ' || remote_id, ''), ', ' ORDER BY operation_id) FROM operation WHERE type = 'charge'`); got != "fine confirmed ch-fine, gone retry_scheduled, slow confirmed ch-slow, there confirmed ch-there, twice compensated" {
		t.Error(got)
	}
	if got := s.one(`SELECT type || ' ' || parameters::text FROM operation WHERE type <> 'charge'`); got != `refund_charge {"charge": "ch-t2", "reason": "duplicate"}` {
		t.Error(got)
	}
	s.exec(`UPDATE operation SET next_attempt_at = now()`) // time goes by
	s.work()
	undo := s.one(`SELECT operation_id FROM operation WHERE type = 'refund_charge'`)
	s.sent(map[string]int{"gone": 1, undo: 1})

	booked = append(booked, "gone "+s.one(`SELECT remote_id FROM effect WHERE idempotency_key = 'key-gone'`))
	second := round()
	if got := sorted(answers(second)); got != "confirm gone: applied" {
		t.Errorf("the next revision:\n%s", got)
	}
	s.work()
	s.sent(map[string]int{"gone": 1, undo: 1})
	var none strings.Builder
	if err := run(t.Context(), []string{"-dsn", s.dsn, "apply", filepath.Join(first, "requeue.ndjson")}, &none); err != nil || !strings.Contains(none.String(), "applied (before)") {
		t.Errorf("the first requeue once more: %q, %v", none.String(), err)
	}
	if err := run(t.Context(), []string{"-dsn", s.dsn, "nothing"}, io.Discard); err == nil {
		t.Error("an unknown command passes")
	}
}

func sorted(lines string) string {
	list := strings.Split(lines, "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}
