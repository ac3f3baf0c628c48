package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/internal/fail"
)

func open(t *testing.T, allowed ...string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{SpillDir: t.TempDir(), Allowed: allowed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Every way out of the allowed folder, and every way to loosen the lock.
func TestLockDown(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	secret := filepath.Join(out, "secret.csv")
	if err := os.WriteFile(secret, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(in, "link.csv")); err != nil {
		t.Fatal(err)
	}
	db := open(t, in)
	for _, q := range []string{
		"SELECT * FROM read_csv(" + Literal(secret) + ")",
		"SELECT * FROM read_text(" + Literal(secret) + ")",
		"SELECT * FROM " + Ident(secret),
		"SELECT * FROM read_csv(" + Literal(in+"/../"+filepath.Base(out)+"/secret.csv") + ")",
		"SELECT * FROM read_csv(" + Literal(filepath.Join(in, "link.csv")) + ")",
		"SELECT * FROM glob('/etc/*')",
		"COPY (SELECT 1) TO " + Literal(filepath.Join(out, "x.csv")),
		"ATTACH " + Literal(filepath.Join(out, "x.db")),
		"INSTALL httpfs",
		"LOAD httpfs",
		"SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
		"SET enable_external_access=true",
		"SET GLOBAL lock_configuration=false",
		"RESET allowed_directories",
		"PRAGMA threads=8",
		"SET TimeZone='Europe/Paris'",
	} {
		rows, err := db.Query(t.Context(), q)
		if err == nil {
			err = rows.Close()
			t.Errorf("not refused (%v): %s", err, q)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "x.csv")); err == nil {
		t.Error("a file was written outside the allowed folder")
	}
	if err := db.Exec(t.Context(), "COPY (SELECT 1 AS a) TO "+Literal(filepath.Join(in, "ok.parquet"))+" (FORMAT parquet)"); err != nil {
		t.Error(err)
	}
}

func TestQuotes(t *testing.T) {
	db := open(t)
	name := "a\"; DROP TABLE x; --\n'\\"
	var got string
	if err := db.Scan(t.Context(), "SELECT "+Ident(name)+" FROM (SELECT "+Literal(name)+" AS "+Ident(name)+")", &got); err != nil {
		t.Fatal(err)
	}
	if got != name {
		t.Errorf("got %q, want %q", got, name)
	}
}

type failing struct {
	array.RecordReader
	after int
	err   error
}

func (f *failing) Next() bool {
	if f.after == 0 {
		return false
	}
	f.after--
	return f.RecordReader.Next()
}

func (f *failing) Err() error {
	if f.after == 0 {
		return f.err
	}
	return nil
}

func batches(n int) (*arrow.Schema, []arrow.RecordBatch) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)
	var recs []arrow.RecordBatch
	for i := range n {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for j := range 1000 {
			b.Field(0).(*array.Int64Builder).Append(int64(i*1000 + j))
		}
		recs = append(recs, b.NewRecordBatch())
	}
	return schema, recs
}

func TestCopyArrow(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	schema, recs := batches(5)
	rr, err := array.NewRecordReader(schema, recs)
	if err != nil {
		t.Fatal(err)
	}
	file := Literal(filepath.Join(dir, "x.parquet"))
	if err := db.CopyArrow(t.Context(), rr, "COPY (SELECT * FROM arrow_in) TO "+file+" (FORMAT parquet)"); err != nil {
		t.Fatal(err)
	}
	var n, sum int64
	if err := db.Scan(t.Context(), "SELECT count(*), CAST(sum(x) AS BIGINT) FROM read_parquet("+file+")", &n, &sum); err != nil {
		t.Fatal(err)
	}
	if n != 5000 || sum != 4999*5000/2 {
		t.Errorf("rows %d, sum %d", n, sum)
	}
}

// A reader that fails must fail the statement with its own error: a short file
// that looks whole is the worst that can happen here.
func TestCopyArrowReaderFails(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	schema, recs := batches(5)
	rr, err := array.NewRecordReader(schema, recs)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("cut")
	err = db.CopyArrow(t.Context(), &failing{rr, 2, cause},
		"COPY (SELECT * FROM arrow_in) TO "+Literal(filepath.Join(dir, "y.parquet"))+" (FORMAT parquet)")
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestCancel(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	cancel(cause)
	if err := db.Exec(ctx, "SELECT count(*) FROM range(100000000000)"); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryLimitIsResources(t *testing.T) {
	db, err := Open(t.Context(), Options{SpillDir: t.TempDir(), MemoryBytes: 20 << 20, SpillBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Exec(t.Context(), "CREATE TABLE t AS SELECT range AS a, repeat('x', 100) || range AS b FROM range(3000000) ORDER BY b")
	if fail.ClassOf(err) != fail.Resources {
		t.Errorf("class %d: %v", fail.ClassOf(err), err)
	}
}

func TestOrphansAreRemoved(t *testing.T) {
	dir := t.TempDir()
	dead := filepath.Join(dir, spillPrefix+"dead")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, ownerFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	live, err := Open(t.Context(), Options{SpillDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	other, err := Open(t.Context(), Options{SpillDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := os.Stat(dead); err == nil {
		t.Error("the folder of a dead instance is still there")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d folders instead of the two of live instances", len(entries))
	}
}

func TestTemplateSlots(t *testing.T) {
	tmpl := &Template{name: "x", text: "SELECT /*$cols*/ FROM t", slots: []string{"cols"}}
	if got := tmpl.Render(Slots{"cols": "a"}); got != "SELECT a FROM t" {
		t.Error(got)
	}
	for _, s := range []Slots{{}, {"cols": "a", "more": "b"}} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(r.(string), "slot") {
					t.Errorf("%v: no complaint", s)
				}
			}()
			tmpl.Render(s)
		}()
	}
}
