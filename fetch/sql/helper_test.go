package sql

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testmaria"
	"github.com/recon-batch/recon-batch/internal/testpg"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/rules"
)

// The servers are shared by the tests of the package: to start one takes seconds. Each
// test has a schema or database of its own.
var (
	servers       sync.Mutex
	pgSocket      string
	mariaSocket   string
	pgCleanup     []func()
	schemaCounter int
)

// shared lets a server outlive the test that needed it first.
type shared struct{ testing.TB }

func (s shared) Cleanup(f func()) { pgCleanup = append(pgCleanup, f) }

func TestMain(m *testing.M) {
	pause, longestPause = 10*time.Millisecond, 50*time.Millisecond
	code := m.Run()
	for i := len(pgCleanup) - 1; i >= 0; i-- {
		pgCleanup[i]()
	}
	os.Exit(code)
}

// db is a server of a test: how it is declared, and a way to change what is in it.
type db struct {
	t      testing.TB
	engine string
	proxy  *testproxy.TCP
	host   string // as a job names it
	port   string
	name   string // of the database
	exec   func(statements ...string)
	scalar func(query string) string
}

// postgres gives a database of its own, and a proxy in front of it.
func postgres(t testing.TB) *db {
	t.Helper()
	servers.Lock()
	if pgSocket == "" {
		dsn := testpg.Start(shared{t})
		pgSocket, _, _ = strings.Cut(strings.TrimPrefix(dsn, "host="), " ")
	}
	schemaCounter++
	name := fmt.Sprintf("t%d", schemaCounter)
	servers.Unlock()
	conn := func(name string) *pgx.Conn {
		c, err := pgx.Connect(context.Background(), "host="+pgSocket+" user=postgres dbname="+name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	admin := conn("postgres")
	if _, err := admin.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	admin.Close(context.Background())
	c := conn(name)
	t.Cleanup(func() { c.Close(context.Background()) })
	d := &db{t: t, engine: rules.Postgres, name: name, proxy: testproxy.NewTCP(t, "unix", pgSocket+"/.s.PGSQL.5432")}
	d.host, d.port, _ = strings.Cut(d.proxy.Addr, ":")
	var mu sync.Mutex
	d.exec = func(statements ...string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		for _, s := range statements {
			if _, err := c.Exec(context.Background(), s); err != nil {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
	d.scalar = func(query string) string {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		var out string
		if err := c.QueryRow(context.Background(), query).Scan(&out); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return out
	}
	return d
}

// maria is postgres with MariaDB.
func maria(t testing.TB) *db {
	t.Helper()
	servers.Lock()
	if mariaSocket == "" {
		mariaSocket = testmaria.Start(shared{t})
	}
	schemaCounter++
	name := fmt.Sprintf("t%d", schemaCounter)
	servers.Unlock()
	c, err := sql.Open("mysql", "root@unix("+mariaSocket+")/")
	if err != nil {
		t.Fatal(err)
	}
	c.SetMaxOpenConns(1)
	t.Cleanup(func() { c.Close() })
	d := &db{t: t, engine: rules.MySQL, name: name, proxy: testproxy.NewTCP(t, "unix", mariaSocket)}
	d.host, d.port, _ = strings.Cut(d.proxy.Addr, ":")
	d.exec = func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			// A session that is to be ended may have ended by itself.
			if _, err := c.Exec(s); err != nil && !strings.Contains(err.Error(), "Unknown thread id") {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
	d.scalar = func(query string) string {
		t.Helper()
		var out string
		if err := c.QueryRow(query).Scan(&out); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return out
	}
	d.exec("CREATE DATABASE "+name, "USE "+name)
	return d
}

func both(t *testing.T, f func(t *testing.T, d *db)) {
	t.Run("postgres", func(t *testing.T) { f(t, postgres(t)) })
	t.Run("mariadb", func(t *testing.T) { f(t, maria(t)) })
}

// source declares one in a job file. more has further keys of sql.
func (d *db) source(name, query, more string) string {
	user := "postgres"
	if d.engine == rules.MySQL {
		user = "root"
	}
	return fmt.Sprintf(`
    - name: %s
      sql:
        engine: %s
        host: %s
        port: %s
        database: %s
        user: %s
        query: |
          %s
        %s
`, name, d.engine, d.host, d.port, d.name, user, strings.ReplaceAll(query, "\n", "\n          "), more)
}

const wholeDay = `      coverage: {from: "{date}T00:00", until: "{date+1}T00:00"}` + "\n"

// requests parses a job with the sources on the side of the results, and gives a request
// for each of its inputs.
func requests(t testing.TB, sources ...string) []*fetch.Request {
	t.Helper()
	for i, src := range sources {
		if !strings.Contains(src, "coverage:") {
			sources[i] = strings.TrimRight(src, " \n") + "\n      coverage: complete\n"
		}
	}
	text := `job: shop
timezone: Europe/Paris
operations: {path: ours.csv, coverage: complete, fields: {operation_id: id}}
results:
  sources:` + strings.Join(sources, "") + `
  fields: {operation_id: id}
match: [{pass: operation_id, on: [operation_id], identity: true}]
`
	dir := t.TempDir()
	job, err := rules.Parse([]byte(text), filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []*fetch.Request
	for i := range bound.Inputs[rules.Results] {
		out = append(out, &fetch.Request{
			Job: bound, Side: rules.Results, Input: &bound.Inputs[rules.Results][i], Dir: filepath.Join(t.TempDir(), "0001"), BaseDir: dir,
			Now: time.Now, Note: func(f string, a ...any) { t.Logf(f, a...) }, Progress: func(string, int64, int64) {},
		})
	}
	return out
}

// pulled pulls a request that must succeed and returns the text of its file.
func pulled(t testing.TB, r *fetch.Request) (string, *fetch.Snapshot) {
	t.Helper()
	s, err := fetch.Pull(t.Context(), Puller{}, r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return text(t, r, s), s
}

// text of the one file of a snapshot.
func text(t testing.TB, r *fetch.Request, s *fetch.Snapshot) string {
	t.Helper()
	if len(s.Files) != 1 {
		t.Fatalf("the files are %v", s.Files)
	}
	raw, err := os.ReadFile(filepath.Join(r.Dir, fetch.FilesDir, s.Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(bytes.Count(out, []byte("\n"))); n != s.Files[0].Records {
		t.Errorf("%d lines, and the snapshot says %d records", n, s.Files[0].Records)
	}
	return string(out)
}

// refused pulls a request that must fail with the class, and whose message holds a text.
// Nothing of it may be staged.
func refused(t testing.TB, r *fetch.Request, class fail.Class, part string) error {
	t.Helper()
	_, err := fetch.Pull(t.Context(), Puller{}, r)
	if err == nil {
		t.Fatalf("the pull succeeded; it should fail: %s", part)
	}
	e := said(err)
	if fail.ClassOf(err) != class || !strings.Contains(e, part) {
		t.Errorf("class %d: %s\nwant class %d: …%s…", fail.ClassOf(err), e, class, part)
	}
	nothing(t, r)
	return err
}

// nothing: there is neither a snapshot nor a file that could be taken for one.
func nothing(t testing.TB, r *fetch.Request) {
	t.Helper()
	if s, err := fetch.ReadSnapshot(r.Dir); s != nil || err != nil {
		t.Errorf("a snapshot is there: %v %v", s, err)
	}
	files, err := os.ReadDir(filepath.Join(r.Dir, fetch.FilesDir))
	if err == nil && len(files) > 0 {
		t.Errorf("files are there: %v", files)
	}
	parts, _ := filepath.Glob(filepath.Join(r.Dir, ".part-*"))
	if len(parts) > 0 {
		t.Errorf("parts of files are there: %v", parts)
	}
}

type fatal interface{ Fatalf(string, ...any) }

func decode(t fatal, text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func unquoted(t fatal, text string) string {
	var out string
	decode(t, text, &out)
	return out
}
