//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/recon-batch/recon-batch/internal/testpg"
)

var (
	serverOnce sync.Once
	serverDSN  string
)

// shop is a register in a database of its own, with a provider that does not honour
// idempotency keys: every call makes an effect, so that a double shows.
type shop struct {
	t   *testing.T
	dsn string
	db  *pgxpool.Pool
}

func newShop(t *testing.T, dsn string) *shop {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("shop_%d", time.Now().UnixNano())
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	if err := admin.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, dsn: strings.Replace(dsn, "dbname=postgres", "dbname="+name, 1)}
	if s.db, err = pgxpool.New(t.Context(), s.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.db.Close)
	s.exec(schema)
	s.exec(`CREATE TABLE provider_call (operation_id text NOT NULL, idempotency_key text NOT NULL)`) // no unique key
	return s
}

func (s *shop) exec(q string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Exec(context.Background(), q, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) one(q string, args ...any) (out string) {
	s.t.Helper()
	if err := s.db.QueryRow(context.Background(), q, args...).Scan(&out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// stuck registers an operation whose worker died in the call: nobody knows what came of it.
func (s *shop) stuck(id string) {
	s.t.Helper()
	err := pgx.BeginFunc(context.Background(), s.db, func(tx pgx.Tx) error {
		return Register(context.Background(), tx, Operation{ID: id, IdempotencyKey: "key-" + id, Type: "charge", Entity: "order-" + id, Version: 1, Amount: "10.00", Currency: "EUR"})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.exec(`UPDATE operation SET state = 'processing', attempts = 1, first_attempt_at = now() - interval '1 day', last_attempt_at = now() - interval '1 day',
		lease_holder = 'dead', lease_until = now() - interval '23 hours' WHERE operation_id = $1`, id)
}

// Send is the provider: it makes the effect each time it is asked.
func (s *shop) Send(ctx context.Context, o Operation) (string, string, error) {
	var id string
	err := s.db.QueryRow(ctx, `WITH c AS (INSERT INTO provider_call VALUES ($1, $2) RETURNING 1)
		SELECT 'ch-' || $1 || '-' || (SELECT count(*) + 1 FROM provider_call WHERE operation_id = $1) FROM c`, o.ID, o.IdempotencyKey).Scan(&id)
	return id, "succeeded", err
}

// work sends everything that is due, with several workers at once.
func (s *shop) work() {
	s.t.Helper()
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			w := &Worker{DB: s.db, Provider: s, Name: fmt.Sprint("worker-", i), Lease: time.Minute}
			for {
				more, err := w.Next(context.Background())
				if err != nil {
					s.t.Error(err)
					return
				}
				if !more {
					return
				}
			}
		})
	}
	wg.Wait()
}

// sent asserts how often each operation was sent, one that is not named not at all.
func (s *shop) sent(want map[string]int) {
	s.t.Helper()
	rows, err := s.db.Query(context.Background(), `SELECT operation_id, count(*) FROM provider_call GROUP BY operation_id`)
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]int{}
	var id string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { got[id] = n; return nil }); err != nil {
		s.t.Fatal(err)
	}
	for id, n := range got {
		if n != want[id] {
			s.t.Errorf("%s was sent %d times, want %d", id, n, want[id])
		}
	}
	for id, n := range want {
		if got[id] != n {
			s.t.Errorf("%s was sent %d times, want %d", id, got[id], n)
		}
	}
}

// requeueOf is the item of a stuck operation. Due at once, it expires in an hour.
func requeueOf(id string) Item {
	next, end, one := time.Now().Add(-time.Minute), time.Now().Add(time.Hour), int64(1)
	return Item{SchemaVersion: 1, ItemID: "item-" + id, RunID: "run-1", Queue: "requeue", OperationID: id, IdempotencyKey: "key-" + id,
		Type: "charge", Entity: "order-" + id, Version: "1", Amount: "10.00", Currency: "EUR", ExpectedState: "processing", NextState: "retry_scheduled",
		Attempts: &one, NextAttemptAt: &next, ExpiresAt: &end, RecheckKey: "key-" + id}
}

func apply(t *testing.T, c *Consumer, it Item) Result {
	t.Helper()
	r, err := c.Apply(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// server is one PostgreSQL for all tests of the package, ended by TestMain.
func server(t *testing.T) string {
	t.Helper()
	serverOnce.Do(func() { serverDSN = testpg.Start(lasting{t}) })
	if serverDSN == "" {
		t.Skip("NOT TESTED: there is no PostgreSQL server")
	}
	return serverDSN
}

// lasting keeps what a test starts until the process ends.
type lasting struct{ *testing.T }

var atEnd []func()

func (lasting) Cleanup(f func()) { atEnd = append(atEnd, f) }
func (l lasting) Helper()        { l.T.Helper() }

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		victim()
		return
	}
	code := m.Run()
	for i := len(atEnd) - 1; i >= 0; i-- {
		atEnd[i]()
	}
	os.Exit(code)
}

// The plain way: the item moves the row, the worker sends it once, under its key.
func TestRequeue(t *testing.T) {
	s := newShop(t, server(t))
	s.stuck("a")
	s.stuck("untouched")
	c := &Consumer{DB: s.db}
	if r := apply(t, c, requeueOf("a")); r != (Result{Outcome: Applied}) {
		t.Fatalf("%+v", r)
	}
	if state := s.one(`SELECT state FROM operation WHERE operation_id = 'a'`); state != "retry_scheduled" {
		t.Errorf("state %s", state)
	}
	s.work()
	s.sent(map[string]int{"a": 1})
	if key := s.one(`SELECT idempotency_key FROM provider_call`); key != "key-a" {
		t.Errorf("sent under %s", key)
	}
	if state := s.one(`SELECT state FROM operation WHERE operation_id = 'untouched'`); state != "processing" {
		t.Errorf("state of another operation: %s", state)
	}
}

// Delivered again, before and after the worker has sent it: the stored answer.
func TestTwiceInARow(t *testing.T) {
	s := newShop(t, server(t))
	s.stuck("a")
	c := &Consumer{DB: s.db}
	apply(t, c, requeueOf("a"))
	if r := apply(t, c, requeueOf("a")); r != (Result{Outcome: Applied, Stored: true}) {
		t.Errorf("second delivery: %+v", r)
	}
	s.work()
	// Even where the row happens to be as the item saw it.
	s.exec(`UPDATE operation SET state = 'processing', attempts = 1`)
	s.exec(`DELETE FROM effect`)
	if r := apply(t, c, requeueOf("a")); r != (Result{Outcome: Applied, Stored: true}) {
		t.Errorf("third delivery: %+v", r)
	}
	s.work()
	s.sent(map[string]int{"a": 1})
	// In another run too: what was applied stays applied.
	again := requeueOf("a")
	again.RunID = "run-2"
	if r := apply(t, c, again); r != (Result{Outcome: Applied, Stored: true}) {
		t.Errorf("delivery by another run: %+v", r)
	}
	s.work()
	s.sent(map[string]int{"a": 1})
}

// Several consumers get the same items at the same moment, many times; workers run
// between. One of them applies each item, the others get its answer.
func TestConsumersAtOnce(t *testing.T) {
	s := newShop(t, server(t))
	const rounds, consumers = 60, 5
	want := map[string]int{}
	for n := range rounds {
		id := fmt.Sprint("op-", n)
		s.stuck(id)
		want[id] = 1
		var wg sync.WaitGroup
		results := make([]Result, consumers)
		start := make(chan struct{})
		for i := range consumers {
			wg.Go(func() {
				<-start
				var err error
				if results[i], err = (&Consumer{DB: s.db}).Apply(context.Background(), requeueOf(id)); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		fresh := 0
		for _, r := range results {
			if r.Outcome != Applied {
				t.Errorf("%s: %+v", id, r)
			}
			if !r.Stored {
				fresh++
			}
		}
		if fresh != 1 {
			t.Errorf("%s: %d consumers applied it", id, fresh)
		}
		s.work()
	}
	s.sent(want)
}

// Two items for one operation, of two runs, at the same moment: one wins, the other
// loses cleanly.
func TestTwoItemsForOneOperation(t *testing.T) {
	s := newShop(t, server(t))
	want := map[string]int{}
	for n := range 40 {
		id := fmt.Sprint("op-", n)
		s.stuck(id)
		want[id] = 1
		var wg sync.WaitGroup
		var results [2]Result
		for i := range results {
			wg.Go(func() {
				it := requeueOf(id)
				it.ItemID, it.RunID = fmt.Sprint(it.ItemID, "-", i), fmt.Sprint("run-", i)
				var err error
				if results[i], err = (&Consumer{DB: s.db}).Apply(context.Background(), it); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if a, b := results[0].Outcome, results[1].Outcome; a == b {
			t.Errorf("%s: both %s", id, a)
		}
		s.work()
	}
	s.sent(want)
}

// What has changed since the run refuses the item, stores why, and sends nothing.
func TestRefusals(t *testing.T) {
	dsn := server(t)
	for name, c := range map[string]struct {
		before string
		change func(*Item)
		want   string
	}{
		"late": {"", func(it *Item) {
			end := time.Now().Add(-time.Second)
			it.ExpiresAt = &end
			next := end.Add(-time.Hour)
			it.NextAttemptAt = &next
		}, "expired"},
		"proof ended":           {"", func(it *Item) { end := time.Now().Add(-time.Second); it.ProofValidUntil = &end }, "its proof ended"},
		"state changed":         {`UPDATE operation SET state = 'confirmed'`, nil, "its state is confirmed"},
		"version changed":       {`UPDATE operation SET version = 2`, nil, "its version is 2"},
		"attempted meanwhile":   {`UPDATE operation SET attempts = 2`, nil, "attempted 2 times"},
		"another key":           {`UPDATE operation SET idempotency_key = 'other'`, nil, "key is another one"},
		"a worker has it":       {`UPDATE operation SET lease_until = now() + interval '1 minute'`, nil, "a worker holds it"},
		"a result is known":     {`INSERT INTO effect VALUES ('ch-1', 'key-a', 'succeeded')`, nil, "a result is known"},
		"an old result":         {`INSERT INTO effect VALUES ('ch-1', 'key-a', 'pending', false, now() - interval '1 year')`, nil, "a result is known"},
		"withdrawn":             {`INSERT INTO withdrawn VALUES ('item-a', 'run-1')`, nil, "withdrew it"},
		"no such operation":     {`UPDATE operation SET operation_id = 'b'`, nil, "does not know the operation"},
		"no key":                {"", func(it *Item) { it.IdempotencyKey = "" }, "no idempotency key"},
		"to a final state":      {"", func(it *Item) { it.NextStateFinal = true }, "no next state from which it is sent"},
		"no expiry":             {"", func(it *Item) { it.ExpiresAt = nil }, "no expiry"},
		"no expected state":     {"", func(it *Item) { it.ExpectedState = "" }, "no expected state"},
		"refused by the guard":  {"", func(it *Item) { it.Refused = "lease" }, "lease"},
		"another queue":         {"", func(it *Item) { it.Queue = "send" }, "is not known"},
		"attempt after its end": {"", func(it *Item) { it.NextAttemptAt = it.ExpiresAt }, "not before its expiry"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, dsn)
			s.stuck("a")
			if c.before != "" {
				s.exec(c.before)
			}
			it := requeueOf("a")
			if c.change != nil {
				c.change(&it)
			}
			consumer := &Consumer{DB: s.db}
			r := apply(t, consumer, it)
			if r.Outcome != Refused || !strings.Contains(r.Why, c.want) {
				t.Fatalf("%+v, want refused: %s", r, c.want)
			}
			if it.broken() == "" {
				if again := apply(t, consumer, it); !again.Stored || again.Outcome != Refused || again.Why != r.Why {
					t.Errorf("second delivery: %+v, want the stored refusal", again)
				}
				if n := s.one(`SELECT count(*)::text FROM inbox WHERE outcome = 'refused' AND why <> ''`); n != "1" {
					t.Errorf("%s refusals are stored", n)
				}
			}
			s.work()
			s.sent(nil)
		})
	}
}

// A failed result under the key is no effect, and a refusal holds for its run alone.
func TestRefusedThenProposedAgain(t *testing.T) {
	s := newShop(t, server(t))
	s.stuck("a")
	s.exec(`INSERT INTO effect VALUES ('ch-0', 'key-a', 'failed')`)
	s.exec(`INSERT INTO withdrawn VALUES ('item-a', 'run-0')`)
	c := &Consumer{DB: s.db}
	late := requeueOf("a")
	end := time.Now().Add(-time.Second)
	next := end.Add(-time.Hour)
	late.ExpiresAt, late.NextAttemptAt = &end, &next
	if r := apply(t, c, late); r.Outcome != Refused {
		t.Fatalf("%+v", r)
	}
	again := requeueOf("a") // the same id, proven anew
	again.RunID = "run-2"
	if r := apply(t, c, again); r != (Result{Outcome: Applied}) {
		t.Fatalf("%+v", r)
	}
	s.work()
	s.sent(map[string]int{"a": 1})
}

// Items that are nobody's matter leave no trace, so that they can come again.
func TestLeftAlone(t *testing.T) {
	s := newShop(t, server(t))
	s.stuck("a")
	c := &Consumer{DB: s.db}
	for want, change := range map[string]func(*Item){
		"observed only": func(it *Item) { it.ObserveOnly = true }, "deferred": func(it *Item) { it.Deferred = true },
		"redacted": func(it *Item) { it.Hidden = true }, "not known": func(it *Item) { it.SchemaVersion = 2 }, "for a person": func(it *Item) { it.Queue = "review" },
	} {
		it := requeueOf("a")
		change(&it)
		if r := apply(t, c, it); r.Outcome != Left || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %+v", want, r)
		}
	}
	it := requeueOf("a")
	it.Approvals = 2
	if r := apply(t, c, it); r.Outcome != Waiting || !strings.Contains(r.Why, "2 approvals") {
		t.Errorf("%+v", r)
	}
	s.exec(`INSERT INTO approval VALUES ('item-a', 'ann')`)
	if r := apply(t, c, it); r.Outcome != Waiting {
		t.Errorf("one approval of two: %+v", r)
	}
	if n := s.one(`SELECT count(*)::text FROM inbox`); n != "0" {
		t.Errorf("%s rows in the inbox", n)
	}
	s.work()
	s.sent(nil)
	s.exec(`INSERT INTO approval VALUES ('item-a', 'bob')`)
	if r := apply(t, c, it); r.Outcome != Applied {
		t.Errorf("approved: %+v", r)
	}
	s.work()
	s.sent(map[string]int{"a": 1})
}

// Confirm, close and compensate.
func TestOtherQueues(t *testing.T) {
	s := newShop(t, server(t))
	for _, id := range []string{"a", "b", "c", "d"} {
		s.stuck(id)
	}
	c := &Consumer{DB: s.db}
	confirm := Item{SchemaVersion: 1, ItemID: "i-a", RunID: "run-1", Queue: "confirm", OperationID: "a", IdempotencyKey: "key-a", RemoteID: "ch-a", Version: "1", ExpectedState: "processing", NextState: "confirmed", NextStateFinal: true}
	closing := Item{SchemaVersion: 1, ItemID: "i-b", RunID: "run-1", Queue: "close", OperationID: "b", Version: "1", ExpectedState: "processing", NextState: "not_applicable", NextStateFinal: true, ClosingReason: "never_sent"}
	charge := "ch-c2"
	undo := Item{SchemaVersion: 1, ItemID: "i-c", RunID: "run-1", Queue: "compensate", OperationID: "c", RemoteID: "ch-c2", KeepRemoteID: "ch-c1", Entity: "order-c", Version: "1", Amount: "10.00", Currency: "EUR",
		ExpectedState: "processing", NextState: "compensated", NextStateFinal: true, BusinessOperation: "refund_charge", Parameters: map[string]*string{"charge": &charge}}
	for _, it := range []Item{confirm, closing, undo} {
		if r := apply(t, c, it); r != (Result{Outcome: Applied}) {
			t.Errorf("%s: %+v", it.Queue, r)
		}
		if r := apply(t, c, it); r != (Result{Outcome: Applied, Stored: true}) {
			t.Errorf("%s again: %+v", it.Queue, r)
		}
	}
	if got := s.one(`SELECT string_agg(concat_ws(' ', operation_id, state, remote_id, closing_reason), ', ' ORDER BY operation_id) FROM operation WHERE type = 'charge'`); got != "a confirmed ch-a, b not_applicable never_sent, c compensated undone by undo-i-c, d processing" {
		t.Error(got)
	}
	if got := s.one(`SELECT concat_ws(' ', type, entity, amount, currency, parameters, state) FROM operation WHERE operation_id = 'undo-i-c'`); got != `refund_charge order-c 10.00 EUR {"charge": "ch-c2"} pending` {
		t.Error(got)
	}
	s.exec(`INSERT INTO effect VALUES ('ch-d1', 'key-d', 'succeeded', true), ('ch-d2', 'key-d', 'succeeded', false), ('ch-d3', 'key-d', 'succeeded', true)`)
	for _, ids := range [][2]string{{"ch-d1", "ch-d2"}, {"ch-d2", "ch-d3"}, {"ch-d2", "ch-d2"}, {"", "ch-d2"}} {
		it := undo
		it.ItemID, it.OperationID, it.RemoteID, it.KeepRemoteID = "i-d-"+ids[0]+ids[1], "d", ids[0], ids[1]
		if r := apply(t, c, it); r.Outcome != Refused {
			t.Errorf("undo %q, keep %q: %+v", ids[0], ids[1], r)
		}
	}
	stray := undo // an effect of no operation moves no row
	stray.ItemID, stray.OperationID, stray.ExpectedState, stray.NextState, stray.KeepRemoteID, stray.RemoteID = "i-x", "", "", "", "", "ch-x"
	if r := apply(t, c, stray); r.Outcome != Applied {
		t.Errorf("an effect of no operation: %+v", r)
	}
	// The record at the provider changed, so that the item has another id: the effect is
	// undone once all the same. Nor is the one undone that the first item kept, or the other way round.
	for _, ids := range [][2]string{{"ch-x", ""}, {"ch-y", "ch-x"}, {"ch-c1", "ch-c2"}, {"ch-c2", "ch-c1"}} {
		again := stray
		again.ItemID, again.RunID, again.RemoteID, again.KeepRemoteID = "i-again-"+ids[0]+ids[1], "run-2", ids[0], ids[1]
		if r := apply(t, c, again); r.Outcome != Refused {
			t.Errorf("undo %q again, keep %q: %+v", ids[0], ids[1], r)
		}
	}
	// What is refused leaves nothing but its answer: there is no row to move.
	broken := stray
	broken.ItemID, broken.RemoteID, broken.ExpectedState, broken.NextState = "i-broken", "ch-z", "processing", "compensated"
	if r := apply(t, c, broken); r.Outcome != Refused {
		t.Errorf("no row to move: %+v", r)
	}
	broken.ItemID, broken.ExpectedState, broken.NextState = "i-z", "", ""
	if r := apply(t, c, broken); r.Outcome != Applied {
		t.Errorf("after a refusal: %+v", r)
	}
	s.work()
	s.sent(map[string]int{"undo-i-c": 1, "undo-i-x": 1, "undo-i-z": 1})
}

// Two items for one effect at the same moment ask once for it to be undone.
func TestUndoneOnce(t *testing.T) {
	s := newShop(t, server(t))
	c := &Consumer{DB: s.db}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			it := Item{SchemaVersion: 1, ItemID: fmt.Sprint("i-", i), RunID: "run-1", Queue: "compensate", RemoteID: "ch-1", Entity: "order-1", Amount: "10.00", Currency: "EUR", BusinessOperation: "refund_charge"}
			if _, err := c.Apply(context.Background(), it); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.one(`SELECT count(*)::text FROM operation`); n != "1" {
		t.Errorf("%s operations undo one effect", n)
	}
}

// Evidence and items at the same moment: whichever comes first, an operation whose
// result became known is not sent again.
func TestEvidenceMeanwhile(t *testing.T) {
	s := newShop(t, server(t))
	for n := range 60 {
		id := fmt.Sprint("op-", n)
		s.stuck(id)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := (&Consumer{DB: s.db}).Apply(context.Background(), requeueOf(id)); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := RecordEffect(context.Background(), s.db, "key-"+id, "late-"+id, "succeeded"); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if state := s.one(`SELECT state FROM operation WHERE operation_id = $1`, id); state != "awaiting_confirmation" {
			t.Errorf("%s has its effect, and its state is %s", id, state)
		}
	}
	s.work()
	s.sent(nil)
}

// A line that is no item stops the file, and says which.
func TestReadItems(t *testing.T) {
	n := 0
	err := ReadItems(strings.NewReader("{\"item_id\": \"a\", \"new_field\": 1}\n\n{\"item_id\": 7}\n"), func(Item) error { n++; return nil })
	if n != 1 || err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%d items, %v", n, err)
	}
	stop := errors.New("stop")
	if err := ReadItems(strings.NewReader(`{"item_id": "a"}`), func(Item) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}
