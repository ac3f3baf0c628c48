package duck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/gofrs/flock"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// Options of the scratch database.
type Options struct {
	MemoryBytes int64    // memory_limit of the buffer manager; 0: DefaultMemory
	Threads     int      // 0: GOMAXPROCS
	SpillDir    string   // parent of this instance's private spill folder; "": the system's temporary folder
	SpillBytes  int64    // max_temp_directory_size; 0: the engine's default, 90 % of the free disk
	Allowed     []string // folders that the engine may read and write, and nothing else
}

// DefaultMemory is the memory limit where none is given, in bytes.
const DefaultMemory = 2 << 30

// DB is the scratch DuckDB of one run: in memory, spilling to a folder of its
// own, locked down before the first user expression. It is safe for concurrent
// use; every statement may run on another connection of the same database.
type DB struct {
	sql   *sql.DB
	spill string
	owner *flock.Flock
	views atomic.Int64

	mu    sync.Mutex
	log   []string
	rec   bool
	trace func(statement string, took time.Duration)
}

// Open starts a scratch database, locks it down and checks that the engine joins
// rightly (see selfTest). The caller closes it.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = DefaultMemory
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.SpillDir == "" {
		o.SpillDir = os.TempDir()
	}
	if err := os.MkdirAll(o.SpillDir, 0o700); err != nil {
		return nil, fail.Wrap(fail.Resources, err, "the spill folder cannot be made")
	}
	removeOrphans(o.SpillDir)
	spill, err := os.MkdirTemp(o.SpillDir, spillPrefix)
	if err != nil {
		return nil, fail.Wrap(fail.Resources, err, "the spill folder cannot be made")
	}
	owner := flock.New(filepath.Join(spill, ownerFile))
	if ok, err := owner.TryLock(); err != nil || !ok {
		return nil, fail.Wrap(fail.Resources, err, "the spill folder %s cannot be locked", spill)
	}
	db := &DB{spill: spill, owner: owner}
	var once sync.Once
	connector, err := duckdb.NewConnector("", func(conn driver.ExecerContext) error {
		var err error
		once.Do(func() {
			for _, s := range lockDown(o, spill) {
				if _, err = conn.ExecContext(ctx, s, nil); err != nil {
					err = fmt.Errorf("%s: %w", s, err)
					return
				}
			}
		})
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, splitSmallTables, nil)
		return err
	})
	if err != nil {
		return nil, errors.Join(fail.Wrap(fail.Internal, err, "the engine does not start"), db.release())
	}
	db.sql = sql.OpenDB(connector)
	// Connections share one database; idle ones are kept, since each new one costs.
	db.sql.SetMaxIdleConns(8)
	if err := db.selfTest(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// splitSmallTables lets every connection scan its tables by vectors of 2,048 rows
// instead of row groups of 122,880. Most relations of a run have some ten thousand
// rows, which without it one thread reads while the others wait. The engine's authors
// test their own joins and aggregates with it; it changes no result.
const splitSmallTables = "PRAGMA verify_parallelism"

// lockDown lists the settings of a fresh instance, in the order that works: after
// lock_configuration every later SET fails, TimeZone too, hence GLOBAL.
// common_subplan is off since 1.5.6 gives wrong counts with it (duckdb#24624).
func lockDown(o Options, spill string) []string {
	allowed := make([]string, len(o.Allowed))
	for i, d := range o.Allowed {
		allowed[i] = Literal(strings.TrimRight(d, "/") + "/")
	}
	s := []string{
		"SET GLOBAL TimeZone='UTC'",
		fmt.Sprintf("SET GLOBAL threads=%d", o.Threads),
		fmt.Sprintf("SET GLOBAL memory_limit='%d B'", o.MemoryBytes),
		"SET GLOBAL temp_directory=" + Literal(spill),
		"SET GLOBAL preserve_insertion_order=false",
		"SET GLOBAL disabled_optimizers='common_subplan'",
		"SET GLOBAL autoinstall_known_extensions=false",
		"SET GLOBAL autoload_known_extensions=false",
		"SET GLOBAL allow_community_extensions=false",
	}
	if o.SpillBytes > 0 {
		s = append(s, fmt.Sprintf("SET GLOBAL max_temp_directory_size='%d B'", o.SpillBytes))
	}
	return append(s,
		"SET GLOBAL allowed_directories=["+strings.Join(allowed, ", ")+"]",
		"SET GLOBAL enable_external_access=false",
		"SET GLOBAL lock_configuration=true")
}

// selfTest refuses an engine with a known silent fault in the kind of statement
// that we rely on: UNION ALL over two outer joins (duckdb#24624).
func (db *DB) selfTest(ctx context.Context) error {
	const q = `WITH a AS (SELECT 1 AS x), b AS (SELECT 2 AS x)
SELECT count(*) FILTER (WHERE n IS NULL) FROM (
  SELECT a.x, b.x AS n FROM a LEFT JOIN b ON a.x = b.x
  UNION ALL SELECT b.x, a.x FROM b LEFT JOIN a ON a.x = b.x)`
	var n int64
	if err := db.sql.QueryRowContext(ctx, q).Scan(&n); err != nil {
		return fail.Wrap(fail.Internal, err, "the engine does not start")
	}
	if n != 2 {
		return fail.New(fail.Integrity, "the engine fails its self-test: %d free rows instead of 2", n).
			WithHint("use the engine version that go.mod pins")
	}
	return nil
}

// Close ends the database and removes its spill folder.
func (db *DB) Close() error {
	return errors.Join(db.sql.Close(), db.release())
}

func (db *DB) release() error {
	return errors.Join(db.owner.Unlock(), os.RemoveAll(db.spill))
}

// Exec runs one statement.
func (db *DB) Exec(ctx context.Context, q string, args ...any) error {
	defer db.record(q)()
	if _, err := db.sql.ExecContext(ctx, q, args...); err != nil {
		return wrap(ctx, q, err)
	}
	return nil
}

// Query runs one statement that returns few rows: the driver holds the whole
// result in memory. Big results leave by COPY.
func (db *DB) Query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	defer db.record(q)()
	rows, err := db.sql.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, wrap(ctx, q, err)
	}
	return rows, nil
}

// Scan runs a statement that returns one row and scans it.
func (db *DB) Scan(ctx context.Context, q string, dest ...any) error {
	defer db.record(q)()
	if err := db.sql.QueryRowContext(ctx, q).Scan(dest...); err != nil {
		return wrap(ctx, q, err)
	}
	return nil
}

// Spill returns the bytes of memory and of spilled data that the engine holds now.
// It answers while other statements run.
func (db *DB) Spill(ctx context.Context) (memory, spilled int64, err error) {
	err = db.sql.QueryRowContext(ctx, `SELECT CAST(sum(memory_usage_bytes) AS BIGINT),
		CAST(sum(temporary_storage_bytes) AS BIGINT) FROM duckdb_memory()`).Scan(&memory, &spilled)
	return memory, spilled, err
}

// Version of the engine.
func (db *DB) Version(ctx context.Context) (string, error) {
	var v string
	err := db.sql.QueryRowContext(ctx, "SELECT library_version FROM pragma_version()").Scan(&v)
	return v, err
}

// Record starts to keep the text of every statement, for `plan --sql`.
func (db *DB) Record() { db.mu.Lock(); db.rec = true; db.mu.Unlock() }

// Log returns the statements since Record.
func (db *DB) Log() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return append([]string(nil), db.log...)
}

// Trace calls f after every statement with the time that it took; nil ends it.
func (db *DB) Trace(f func(statement string, took time.Duration)) {
	db.mu.Lock()
	db.trace = f
	db.mu.Unlock()
}

// record notes the statement; the function it returns is called when it has ended.
func (db *DB) record(q string) func() {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.rec {
		db.log = append(db.log, q)
	}
	f := db.trace
	if f == nil {
		return func() {}
	}
	start := time.Now()
	return func() { f(q, time.Since(start)) }
}

// wrap gives an engine error its class: out of memory or disk is a matter of
// resources, a cancelled context stays what it is, all else is a bug of ours.
func wrap(ctx context.Context, q string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var de *duckdb.Error
	if errors.As(err, &de) {
		switch {
		case de.Type == duckdb.ErrorTypeOutOfMemory && strings.Contains(de.Msg, "max_temp_directory_size"):
			return fail.Wrap(fail.Resources, err, "the spill folder is full").
				WithHint("free disk under the spill folder, or name a larger one with --stage-dir")
		case de.Type == duckdb.ErrorTypeOutOfMemory:
			return fail.Wrap(fail.Resources, err, "the memory limit is too low for this job").
				WithHint("raise --memory")
		case de.Type == duckdb.ErrorTypeIO && strings.Contains(de.Msg, "No space left"):
			return fail.Wrap(fail.Resources, err, "the disk is full").WithHint("free disk and run again")
		}
	}
	return fail.Wrap(fail.Internal, err, "statement fails (%s)", firstLine(q))
}

func firstLine(q string) string {
	for l := range strings.Lines(q) {
		if l = strings.TrimSpace(l); l != "" {
			if len(l) > 120 {
				l = l[:120] + "…"
			}
			return l
		}
	}
	return ""
}
