package sql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

const manyRows = 60_000

// charges makes a table of many rows; each is about 100 bytes on the wire.
func (d *db) charges() {
	d.t.Helper()
	d.exec("CREATE TABLE charges (id bigint NOT NULL PRIMARY KEY, amount decimal(20,2) NOT NULL, note varchar(100) NOT NULL)")
	if d.engine == rules.MySQL {
		d.exec(fmt.Sprintf("INSERT INTO charges SELECT seq, seq / 100, REPEAT('x', 80) FROM seq_1_to_%d", manyRows))
		return
	}
	d.exec(fmt.Sprintf("INSERT INTO charges SELECT n, n / 100.0, repeat('x', 80) FROM generate_series(1, %d) AS n", manyRows))
}

const allCharges = "SELECT id, amount, note FROM charges ORDER BY id"

func raw(t *testing.T, r *fetch.Request) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, fetch.FilesDir, r.Input.Path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// again is a request of the same input into the same folder.
func again(r *fetch.Request) *fetch.Request { c := *r; return &c }

// TestConnectionDrops: a connection that is reset in the middle of the rows gives nothing;
// the pull that follows gives what an undisturbed one gives, byte for byte.
func TestConnectionDrops(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.charges()
		for _, keyset := range []string{"", "keyset: {columns: [id], rows: 7000}"} {
			source := func() string { return d.source("psp", allCharges, keyset) }
			first := requests(t, source())[0]
			whole, _ := pulled(t, first)
			if n := strings.Count(whole, "\n"); n != manyRows {
				t.Fatalf("%d rows", n)
			}
			t.Run("once "+keyset, func(t *testing.T) {
				r := requests(t, source())[0]
				d.proxy.Limit(func(n int) int64 { return map[bool]int64{true: 1_500_000}[n <= 2] })
				_, s := pulled(t, r)
				if !bytes.Equal(raw(t, r), raw(t, first)) {
					t.Error("the bytes differ from those of an undisturbed pull")
				}
				if s.Retries == 0 || d.proxy.Connections() < 2 {
					t.Errorf("nothing was disturbed: %d retries, %d connections", s.Retries, d.proxy.Connections())
				}
			})
			t.Run("always "+keyset, func(t *testing.T) {
				r := requests(t, source())[0]
				d.proxy.Limit(func(int) int64 { return 300_000 })
				refused(t, r, fail.Temporary, "the source psp ("+d.engine+"://")
				d.proxy.Limit(nil)
				r = again(r)
				pulled(t, r)
				if !bytes.Equal(raw(t, r), raw(t, first)) {
					t.Error("the bytes of the second pull differ from those of an undisturbed one")
				}
				if left, _ := os.ReadDir(r.Dir); len(left) != 2 {
					t.Errorf("the folder holds %v", left)
				}
			})
			// Wherever it is cut: a result is whole or not there.
			t.Run("anywhere "+keyset, func(t *testing.T) {
				for _, at := range []int64{1, 60, 400, 2_000, 100_000, 2_000_000} {
					r := requests(t, source())[0]
					d.proxy.Limit(func(int) int64 { return at })
					_, err := fetch.Pull(t.Context(), Puller{}, r)
					if err == nil {
						if !bytes.Equal(raw(t, r), raw(t, first)) {
							t.Errorf("cut after %d bytes: another result", at)
						}
						continue
					}
					if fail.ClassOf(err) != fail.Temporary {
						t.Errorf("cut after %d bytes: class %d: %v", at, fail.ClassOf(err), err)
					}
					nothing(t, r)
				}
				d.proxy.Limit(nil)
			})
		}
	})
}

// ended ends the sessions of the program at the server, in good order.
func (d *db) ended() {
	if d.engine == rules.MySQL {
		for id := range strings.FieldsSeq(d.scalar("SELECT COALESCE(GROUP_CONCAT(id SEPARATOR ' '), '') FROM information_schema.processlist WHERE db = '" + d.name + "' AND id <> CONNECTION_ID()")) {
			d.exec("KILL " + id)
		}
		return
	}
	d.scalar("SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity WHERE application_name = 'recon-batch' AND datname = current_database()")
}

// TestServerEndsSession: an administrator who ends the session in the middle of the rows
// leaves nothing half either.
func TestServerEndsSession(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.charges()
		whole, _ := pulled(t, requests(t, d.source("psp", allCharges, ""))[0])
		r := requests(t, d.source("psp", allCharges, ""))[0]
		var once sync.Once
		r.Progress = func(string, int64, int64) { once.Do(d.ended) }
		got, s := pulled(t, r)
		if got != whole || s.Retries != 1 {
			t.Errorf("%d bytes of %d, %d retries", len(got), len(whole), s.Retries)
		}
		r = requests(t, d.source("psp", allCharges, ""))[0]
		r.Progress = func(string, int64, int64) { d.ended() }
		refused(t, r, fail.Temporary, "psp")
	})
}

// TestInterrupted: a run that is ended in the middle says so at once and leaves nothing.
func TestInterrupted(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.charges()
		r := requests(t, d.source("psp", allCharges, ""))[0]
		stop := errors.New("the run was ended")
		ctx, cancel := context.WithCancelCause(t.Context())
		r.Progress = func(string, int64, int64) { cancel(stop) }
		if _, err := fetch.Pull(ctx, Puller{}, r); !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
		nothing(t, r)
	})
}

// TestDeadline: after the end of the run's time nothing is tried again.
func TestDeadline(t *testing.T) {
	d := postgres(t)
	d.proxy.Limit(func(int) int64 { return 1 })
	r := requests(t, d.source("psp", "SELECT 1 AS id", ""))[0]
	now := time.Now()
	r.Now, r.Until = func() time.Time { return now }, now.Add(time.Microsecond)
	refused(t, r, fail.Temporary, "cannot be reached")
	if n := d.proxy.Connections(); n > 2 { // one, and a second that asks without TLS or to cancel
		t.Errorf("%d connections", n)
	}
}

// TestTimes: a query that takes too long, or waits too long for a lock, is temporary.
func TestTimes(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.exec("CREATE TABLE a (id bigint PRIMARY KEY)", "INSERT INTO a VALUES (1)")
		slow := "SELECT 1 AS id FROM pg_sleep(20)"
		if d.engine == rules.MySQL {
			slow = "SELECT SLEEP(20) AS id"
		}
		refused(t, requests(t, d.source("psp", slow, "timeout: 200ms"))[0], fail.Temporary, "sql.timeout")
		if d.engine == rules.MySQL {
			d.exec("LOCK TABLES a WRITE")
			refused(t, requests(t, d.source("psp", "SELECT id FROM a", "lock_timeout: 1s"))[0], fail.Temporary, "sql.lock_timeout")
			d.exec("UNLOCK TABLES")
		} else {
			d.exec("BEGIN", "LOCK TABLE a")
			refused(t, requests(t, d.source("psp", "SELECT id FROM a", "lock_timeout: 100ms"))[0], fail.Temporary, "sql.lock_timeout")
			d.exec("ROLLBACK")
		}
		pulled(t, requests(t, d.source("psp", "SELECT id FROM a", ""))[0])
	})
}
