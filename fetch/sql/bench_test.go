package sql

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/recon-batch/recon-batch/fetch"
)

const benchRows = 500_000

// register makes a table as the registers of users are.
func (d *db) register(rows int) {
	d.t.Helper()
	d.exec(fmt.Sprintf(`CREATE TABLE register AS SELECT n::bigint AS id, 'op-' || md5(n::text) AS operation_id, 'charge' AS type, (n %% 100000 / 100.0)::numeric(20,2) AS amount,
 'EUR' AS currency, CASE n %% 5 WHEN 0 THEN 'failed' ELSE 'succeeded' END AS status, n %% 7 AS attempts,
 timestamptz '2026-08-20' + n * interval '37 milliseconds' AS created_at, date '2026-08-20' AS booked_on, n %% 3 = 0 AS test
 FROM generate_series(1, %d) AS n`, rows), "VACUUM ANALYZE register")
}

const registerQuery = "SELECT id, operation_id, type, amount, currency, status, attempts, created_at, booked_on, test FROM register"

// socket is a request that goes straight to the server.
func (d *db) socket(query, more string) *fetch.Request {
	d.host, d.port = pgSocket, "5432"
	return requests(d.t, d.source("psp", query, more))[0]
}

// BenchmarkPostgres compares a pull, which writes a compressed file, with what pgx alone
// takes to read the same rows: scanned into variables of their types, and untouched.
func BenchmarkPostgres(b *testing.B) {
	d := postgres(b)
	d.register(benchRows)
	ctx := context.Background()
	// The processor time is that of this process, so that other programs disturb it less.
	rate := func(b *testing.B, from time.Duration) {
		b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		b.ReportMetric((processor(b)-from).Seconds()*1e3/float64(b.N), "cpu-ms/op")
	}
	plain := func(b *testing.B, each func(rows pgx.Rows) error) {
		c, err := pgx.Connect(ctx, "host="+pgSocket+" user=postgres dbname="+d.name)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close(ctx)
		b.ReportAllocs()
		from := processor(b)
		for b.Loop() {
			rows, err := c.Query(ctx, registerQuery)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for rows.Next() {
				n++
				if err := each(rows); err != nil {
					b.Fatal(err)
				}
			}
			if rows.Err() != nil || n != benchRows {
				b.Fatalf("%d rows, %v", n, rows.Err())
			}
		}
		rate(b, from)
	}
	b.Run("pull", func(b *testing.B) {
		b.ReportAllocs()
		from := processor(b)
		for b.Loop() {
			r := d.socket(registerQuery, "")
			s, err := fetch.Pull(ctx, Puller{}, r)
			if err != nil || s.Files[0].Records != benchRows {
				b.Fatalf("%v %v", s, err)
			}
			os.RemoveAll(r.Dir)
		}
		rate(b, from)
	})
	b.Run("pgx/scanned", func(b *testing.B) {
		var id, attempts int64
		var operation, typ, currency, status string
		var amount pgtype.Numeric
		var created, booked time.Time
		var test bool
		plain(b, func(rows pgx.Rows) error {
			return rows.Scan(&id, &operation, &typ, &amount, &currency, &status, &attempts, &created, &booked, &test)
		})
	})
	b.Run("pgx/untouched", func(b *testing.B) { plain(b, func(rows pgx.Rows) error { rows.RawValues(); return nil }) })
}

// processor is the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestFlatMemory: memory does not grow with the rows. RECON_NIGHTLY pulls about 5 GB.
func TestFlatMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many rows")
	}
	rows := int64(400_000)
	if os.Getenv("RECON_NIGHTLY") != "" {
		rows = 20_000_000
	}
	var most uint64
	var mu sync.Mutex
	watch := func(r *fetch.Request) {
		r.Progress = func(_ string, _, n int64) {
			if n%(16*tellEvery) != 0 {
				return
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			mu.Lock()
			most = max(most, m.HeapSys+m.StackSys)
			mu.Unlock()
		}
	}
	t.Run("postgres", func(t *testing.T) {
		d := postgres(t)
		for _, keyset := range []string{"", "keyset: {columns: [id], rows: 100000}"} {
			rows := rows
			if keyset != "" {
				rows = 400_000 // there is no index, so that each slice sorts them all
			}
			r := d.socket(fmt.Sprintf("SELECT n AS id, repeat(md5(n::text), 7) AS note FROM generate_series(1, %d) AS n", rows), keyset)
			watch(r)
			s, err := fetch.Pull(t.Context(), Puller{}, r)
			if err != nil || s.Files[0].Records != rows {
				t.Fatalf("%v %v", s, err)
			}
			os.RemoveAll(r.Dir)
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		d := maria(t)
		r := requests(t, d.source("psp", fmt.Sprintf("SELECT seq AS id, REPEAT(MD5(seq), 7) AS note FROM seq_1_to_%d", rows), ""))[0]
		watch(r)
		s, err := fetch.Pull(t.Context(), Puller{}, r)
		if err != nil || s.Files[0].Records != rows {
			t.Fatalf("%v %v", s, err)
		}
		os.RemoveAll(filepath.Dir(r.Dir))
	})
	t.Logf("%d rows: at most %d MiB", rows, most>>20)
	if most == 0 || most > 150<<20 {
		t.Errorf("at most %d MiB, which should be more than 0 and less than 150", most>>20)
	}
}
