package sql

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// TestRefused: what cannot work is said to be so, with what to do about it.
func TestRefused(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		my := d.engine == rules.MySQL
		d.exec("CREATE TABLE a (id bigint PRIMARY KEY, v varchar(20))", "INSERT INTO a VALUES (1, 'canary-4711')")
		one := func(query, more string) *fetch.Request { return requests(t, d.source("psp", query, more))[0] }
		pick := func(pg, maria string) string {
			if my {
				return maria
			}
			return pg
		}
		refused(t, one("SELECT id FROM nowhere", ""), fail.Usage, "correct the query")
		refused(t, one("SELEC id", ""), fail.Usage, "correct the query")
		refused(t, one("SELECT id, v AS id FROM a", ""), fail.Usage, "name")
		refused(t, one("INSERT INTO a VALUES (2, 'x')", ""), fail.Usage, "psp")
		refused(t, one("UPDATE a SET v = 'x' RETURNING id", ""), fail.Usage, "psp")
		if !my {
			d.exec("CREATE FUNCTION grow() RETURNS int LANGUAGE sql AS $$ INSERT INTO a VALUES (3, 'x') RETURNING 1 $$", "CREATE SEQUENCE s")
			refused(t, one("SELECT grow() AS id", ""), fail.Usage, "read-only")
			refused(t, one("SELECT nextval('s') AS id", ""), fail.Usage, "read-only")
			refused(t, one("SELECT set_config('transaction_read_only', 'off', true) AS id", ""), fail.Usage, "psp")
			refused(t, one("WITH x AS (DELETE FROM a RETURNING id) SELECT id FROM x", ""), fail.Usage, "psp")
		} else {
			d.exec("CREATE FUNCTION grow() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO a VALUES (3, 'x'); RETURN 1; END")
			refused(t, one("SELECT grow() AS id", ""), fail.Usage, "read-only")
			refused(t, one("SELECT id FROM a INTO OUTFILE '/tmp/recon-never'", ""), fail.Usage, "psp")
			d.exec("CREATE TABLE old (id bigint) ENGINE = MyISAM")
			refused(t, one("SELECT id FROM `OLD`", ""), fail.Usage, "has no snapshots")
			pulled(t, one("SELECT id AS older FROM a", ""))
		}
		if n := d.scalar(pick("SELECT count(*)::text FROM a", "SELECT COUNT(*) FROM a")); n != "1" {
			t.Errorf("the table has %s rows: a query wrote", n)
		}
		if !my {
			// The message of the server would quote the value.
			err := refused(t, one("SELECT v::int AS id FROM a", ""), fail.Input, "a value cannot be computed (22P02)")
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the message quotes a row: %v", err)
			}
			refused(t, one("SELECT 1 / (id - 1) AS id FROM a", ""), fail.Input, "a value cannot be computed (22012)")
		}
		d.name = "nowhere"
		refused(t, one("SELECT 1 AS id", ""), fail.Usage, "correct the name of the database")
	})
}

// TestRights: a user that may not read is told what to grant, and a policy that would
// hide rows is an error and no short result.
func TestRights(t *testing.T) {
	d := postgres(t)
	as := func(user string) *fetch.Request {
		return requests(t, strings.Replace(d.source("psp", "SELECT id FROM a", ""), "user: postgres", "user: "+user, 1))[0]
	}
	d.exec("CREATE TABLE a (id bigint)", "INSERT INTO a VALUES (1), (2)", "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN")
	refused(t, as("reader"), fail.Usage, "GRANT SELECT")
	if got := (Puller{}).Check(t.Context(), as("reader")); len(got) != 1 || !strings.Contains(got[0], "GRANT SELECT") {
		t.Errorf("check: %q", got)
	}
	d.exec("GRANT SELECT ON a TO reader")
	if got, _ := pulled(t, as("reader")); strings.Count(got, "\n") != 2 {
		t.Errorf("got %s", got)
	}
	d.exec("ALTER TABLE a ENABLE ROW LEVEL SECURITY", "CREATE POLICY p ON a USING (id = 1)")
	refused(t, as("reader"), fail.Usage, "a policy would hide rows")
	d.exec("DROP OWNED BY reader", "DROP ROLE reader")
	refused(t, as("reader"), fail.Usage, "correct user and password")
}

// TestUnreachable: a server that is not there is temporary, one that does not speak TLS
// where TLS is asked for is not.
func TestUnreachable(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		one := func(more string) *fetch.Request { return requests(t, d.source("psp", "SELECT 1 AS id", more))[0] }
		refused(t, one("tls: {mode: verify}"), fail.Usage, "`tls: {mode: off}`")
		refused(t, one("tls: {ca: nowhere.pem}"), fail.Usage, "nowhere.pem")
		d.port = "1"
		refused(t, one(""), fail.Temporary, "connection refused")
	})
}

// TestSessionIsOurs: a connection string does not set up the session.
func TestSessionIsOurs(t *testing.T) {
	t.Setenv("DSN", "root@tcp(127.0.0.1:1)/x?sql_mode=ANSI_QUOTES")
	refused(t, requests(t, "\n    - name: psp\n      sql: {engine: mysql, dsn: {env: DSN}, query: SELECT 1 AS id}\n")[0], fail.Usage, "sets sql_mode")
}

// TestWaits: a server that comes back before the end of the run is waited for.
func TestWaits(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		r := requests(t, d.source("psp", "SELECT 1 AS id", ""))[0]
		r.Until = time.Now().Add(time.Hour)
		d.proxy.Limit(func(n int) int64 { return map[bool]int64{true: 1}[n <= 4*attempts] })
		pulled(t, r)
		if n := d.proxy.Connections(); n <= 4*attempts {
			t.Errorf("%d connections", n)
		}
		// A check does not wait.
		d.proxy.Limit(func(n int) int64 { return 1 })
		if got := (Puller{}).Check(t.Context(), r); len(got) != 1 || d.proxy.Connections() > 2*attempts {
			t.Errorf("a check: %d connections, %q", d.proxy.Connections(), got)
		}
	})
}

// TestProtected: without a word in the job, nothing goes over a network in the open.
func TestProtected(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for _, c := range []struct {
		dsn, engine string
		tls         bool
	}{
		{"postgres://u:p@db.example.com/x", rules.Postgres, true},
		{"host=db.example.com user=u dbname=x", rules.Postgres, true},
		{"postgres://u:p@db.example.com/x?sslmode=disable", rules.Postgres, false},
		{"postgres://u:p@localhost/x", rules.Postgres, false},
		{"host=/run/postgresql user=u dbname=x", rules.Postgres, false},
		{"u:p@tcp(db.example.com:3306)/x", rules.MySQL, true},
		{"u:p@tcp(127.0.0.1:3306)/x", rules.MySQL, false},
		{"u:p@unix(/run/mysqld/mysqld.sock)/x", rules.MySQL, false},
	} {
		t.Setenv("DSN", c.dsn)
		r := requests(t, "\n    - name: psp\n      sql: {engine: "+c.engine+", dsn: {env: DSN}, query: SELECT 1 AS id}\n")[0]
		got, err := resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		if got.pg != nil && ((got.pg.TLSConfig != nil && got.pg.TLSConfig.ServerName == "db.example.com" && !got.pg.TLSConfig.InsecureSkipVerify) != c.tls || len(got.pg.Fallbacks) != 0 && c.tls) {
			t.Errorf("%s: TLS %v, fallbacks %v", c.dsn, got.pg.TLSConfig, got.pg.Fallbacks)
		}
		if got.my != nil && (got.my.TLS != nil && got.my.TLS.ServerName == "db.example.com") != c.tls {
			t.Errorf("%s: TLS %v", c.dsn, got.my.TLS)
		}
	}
}

// TestSecrets: neither a connection string nor a password is in any message, note or
// file, whatever happens.
func TestSecrets(t *testing.T) {
	const canary = "canary/pw'7f3a"
	both(t, func(t *testing.T, d *db) {
		var seen strings.Builder
		run := func(source string, dir string) {
			t.Helper()
			r := requests(t, source)[0]
			if dir != "" {
				r.BaseDir = dir
			}
			r.Note = func(f string, a ...any) { fmt.Fprintf(&seen, f, a...) }
			_, err := fetch.Pull(t.Context(), Puller{}, r)
			if err != nil {
				seen.WriteString(said(err) + fmt.Sprintf("%+v", err))
			}
			seen.WriteString(strings.Join(Puller{}.Check(t.Context(), r), "\n"))
			name, _ := Puller{}.Group(r)
			seen.WriteString(name)
			_ = filepath.WalkDir(r.Dir, func(path string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					raw, _ := os.ReadFile(path)
					seen.Write(raw)
					if strings.HasSuffix(path, ".zst") {
						s, _ := fetch.ReadSnapshot(r.Dir)
						if s != nil {
							seen.WriteString(text(t, r, s))
						}
					}
				}
				return err
			})
		}
		t.Setenv("CANARY", canary)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "password"), []byte(canary+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		run(d.source("psp", "SELECT 1 AS id", "password: {env: CANARY}"), "")
		run(d.source("psp", "SELECT 1 AS id", "password: {file: password}"), dir)
		for _, query := range []string{"SELECT 1 AS id", "SELECT nowhere", "SELECT '" + canary[:7] + "' AS id", "SELECT 1 AS id, 2 AS id"} {
			for _, dsn := range []string{
				"postgres://postgres:" + canary + "@" + d.proxy.Addr + "/" + d.name + "?sslmode=disable",
				"host=" + d.host + " port=" + d.port + " user=postgres dbname=" + d.name + " password='canary/pw\\'7f3a'",
				"host=nowhere.invalid password=" + canary + " sslmode=bad",
				"root:" + canary + "@tcp(" + d.proxy.Addr + ")/" + d.name,
				"root:" + canary + "@tcp(127.0.0.1:1)/x",
				canary,
				canary + "://@@@/%zz",
			} {
				t.Setenv("DSN", dsn)
				run("\n    - name: psp\n      sql: {engine: "+d.engine+", dsn: {env: DSN}, query: \""+query+"\"}\n", "")
			}
		}
		if seen.Len() < 1000 {
			t.Fatalf("nothing was seen: %s", seen.String())
		}
		for _, part := range []string{canary, "pw'7f3a", "7f3a", "pw%277f3a"} {
			if at := strings.Index(seen.String(), part); at >= 0 {
				t.Errorf("%q is in the open: …%s…", part, seen.String()[max(0, at-200):min(seen.Len(), at+100)])
			}
		}
		t.Setenv("DSN", "")
		refused(t, requests(t, "\n    - name: psp\n      sql: {engine: "+d.engine+", dsn: {env: DSN}, query: SELECT 1 AS id}\n")[0], fail.Usage, "DSN is not set")
	})
}
