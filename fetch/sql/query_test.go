package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

const day = "      dates: {from: \"{date-1}\", until: \"{date}\"}\n" +
	"      coverage: {from: \"{file_date}T00:00\", until: \"{file_date+1}T00:00\"}\n"

// TestParameters: what is bound is what the run says, of the type that it is, and never
// part of the text.
func TestParameters(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		d := postgres(t)
		rs := requests(t, d.source("psp", `SELECT :business_date AS d, :file_date AS fd, :from AS f, :until AS u, :business_date::text || ':from' AS txt,
  :own AS own, :n::bigint + 1 AS n, pg_typeof(:from)::text AS kind, :since::date AS since -- :nothing`,
			`parameters: {own: "'; DROP TABLE x; --", n: "9007199254740993", since: "{file_date-1}"}`)+day)
		want := []string{
			`{"d":"2026-08-20","fd":"2026-08-19","f":"2026-08-18T22:00:00.000000Z","u":"2026-08-19T22:00:00.000000Z","txt":"2026-08-20:from",` +
				`"own":"'; DROP TABLE x; --","n":9007199254740994,"kind":"timestamp with time zone","since":"2026-08-18"}` + "\n",
			`{"d":"2026-08-20","fd":"2026-08-20","f":"2026-08-19T22:00:00.000000Z","u":"2026-08-20T22:00:00.000000Z","txt":"2026-08-20:from",` +
				`"own":"'; DROP TABLE x; --","n":9007199254740994,"kind":"timestamp with time zone","since":"2026-08-19"}` + "\n",
		}
		requestsOf := map[string]bool{}
		for i, r := range rs {
			got, s := pulled(t, r)
			if got != want[i] {
				t.Errorf("got  %swant %s", got, want[i])
			}
			if s.From != "2026-08-"+fmt.Sprint(18+i)+"T22:00:00Z" || s.Until != "2026-08-"+fmt.Sprint(19+i)+"T22:00:00Z" {
				t.Errorf("from %s until %s", s.From, s.Until)
			}
			through, err := time.Parse(time.RFC3339, s.Through)
			if err != nil || time.Since(through).Abs() > time.Hour {
				t.Errorf("through %s: %v", s.Through, err)
			}
			requestsOf[s.Request] = true
		}
		if len(requestsOf) != 2 {
			t.Error("two questions have one digest")
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		d := maria(t)
		d.exec("CREATE TABLE a (at TIMESTAMP(6) NOT NULL, dt DATETIME NOT NULL)", "SET time_zone = '+00:00'",
			"INSERT INTO a VALUES ('2026-08-18 22:00:00', '2026-08-18 22:00:00'), ('2026-08-19 21:59:59.999999', '2026-08-19 23:59:59'), ('2026-08-19 22:00:00', '2026-08-20 00:00:00')")
		r := requests(t, d.source("psp", "SELECT at, dt, :business_date AS d, :own AS own, '\\':from' AS txt # :nothing\nFROM a WHERE at >= :from AND at < :until AND DATE(at) <= :file_date",
			`parameters: {own: "\\'; DROP TABLE a; --"}`)+day)[0]
		got, _ := pulled(t, r)
		want := `{"at":"2026-08-18T22:00:00.000000Z","dt":"2026-08-18T22:00:00.000000","d":"2026-08-20","own":"\\'; DROP TABLE a; --","txt":"':from"}` + "\n" +
			`{"at":"2026-08-19T21:59:59.999999Z","dt":"2026-08-19T23:59:59.000000","d":"2026-08-20","own":"\\'; DROP TABLE a; --","txt":"':from"}` + "\n"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestCheck: a good source has no problems; of another all are said at once.
func TestCheck(t *testing.T) {
	both(t, func(t *testing.T, d *db) {
		d.exec("CREATE TABLE charges (id bigint NOT NULL, amount decimal(10,2), at timestamp NULL, local_at timestamp NULL, day date)")
		local := "local_at"
		if d.engine == rules.MySQL {
			d.exec("ALTER TABLE charges MODIFY local_at DATETIME")
		} else {
			d.exec("ALTER TABLE charges ALTER at TYPE timestamptz")
		}
		with := func(fields string) *fetch.Request {
			r := requests(t, d.source("psp", "SELECT * FROM charges WHERE at < :until", "keyset: {columns: [id]}")+wholeDay)[0]
			text := fmt.Sprintf("job: x\ntimezone: Europe/Paris\noperations: {path: o.csv, coverage: complete, fields: {operation_id: id}}\nresults:\n  sources:%s  fields: {%s}\nmatch: [{pass: operation_id, on: [operation_id], identity: true}]\n",
				d.source("psp", "SELECT * FROM charges WHERE at < :until", "keyset: {columns: [id]}")+wholeDay, fields)
			job, err := rules.Parse([]byte(text), "job.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if r.Job, err = job.Bind("2026-08-20", nil); err != nil {
				t.Fatal(err)
			}
			r.Input = &r.Job.Inputs[rules.Results][0]
			return r
		}
		r := with("operation_id: id, amount: {type: decimal}, created_at: {column: at, type: timestamp}, booked: {column: day, type: date}, seen: {column: local_at, type: timestamp, zone: Europe/Paris}")
		if got := (Puller{}).Check(t.Context(), r); got != nil {
			t.Errorf("check: %q", got)
		}
		got := strings.Join(Puller{}.Check(t.Context(), with("operation_id: identity, amount: {column: day, type: decimal}, created_at: {column: "+local+", type: timestamp}")), "\n")
		for _, want := range []string{`no column "identity"`, "the column local_at has times without a zone", "the column day is date, and the field amount decimal"} {
			if !strings.Contains(got, want) {
				t.Errorf("check does not say %q:\n%s", want, got)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(r.Dir, "*")); len(left) > 0 {
			t.Errorf("a check left %v", left)
		}
	})
}

// TestQueryFile: the text of a file beside the job is the query.
func TestQueryFile(t *testing.T) {
	d := postgres(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "q.sql"), []byte("\ufeff-- all\r\nSELECT :business_date AS id;\r\n-- the end"), 0o600); err != nil {
		t.Fatal(err)
	}
	src := strings.Replace(d.source("psp", "X", ""), "query: |\n          X", "query_file: q.sql", 1)
	text := "job: x\noperations: {path: o.csv, coverage: complete, fields: {operation_id: id}}\nresults:\n  sources:" + src + "      coverage: complete\n  fields: {operation_id: id}\nmatch: [{pass: operation_id, on: [operation_id], identity: true}]\n"
	job, err := rules.Parse([]byte(text), filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The effective form says the query itself, so that the digest of the job covers it.
	back, err := rules.ParseEffective(job.Effective(), "job.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, job.Effective())
	}
	if back.Digest() != job.Digest() {
		t.Error("the effective form has another digest")
	}
	bound, err := back.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := requests(t, d.source("psp", "SELECT 1 AS id", ""))[0]
	r.Job, r.Input = bound, &bound.Inputs[rules.Results][0]
	if got, _ := pulled(t, r); got != `{"id":"2026-08-20"}`+"\n" {
		t.Errorf("got %s", got)
	}
}

// TestThrough: the snapshot says what the database knew, by its own clock.
func TestThrough(t *testing.T) {
	d := postgres(t)
	before := time.Now()
	d.exec("CREATE TABLE a (id int)")
	r := requests(t, d.source("psp", "SELECT id FROM a", ""))[0]
	_, s := pulled(t, r)
	at, err := time.Parse(time.RFC3339Nano, s.Through)
	if err != nil || at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("through %s, %v", s.Through, err)
	}
	m := maria(t)
	m.exec("SET GLOBAL read_only = 1")
	defer m.exec("SET GLOBAL read_only = 0")
	_, s = pulled(t, requests(t, m.source("psp", "SELECT 1 AS id", ""))[0])
	if s.Through != "" || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "does not say how far it is behind") {
		t.Errorf("through %q, notes %q", s.Through, s.Notes)
	}
}

// TestSession: how the session is set up, as the server sees it.
func TestSession(t *testing.T) {
	d := postgres(t)
	got, _ := pulled(t, requests(t, d.source("psp", `SELECT current_setting('statement_timeout') AS a, current_setting('lock_timeout') AS b, current_setting('application_name') AS c,
  current_setting('transaction_read_only') AS d, current_setting('transaction_isolation') AS e, current_setting('idle_in_transaction_session_timeout') AS f,
  current_setting('cursor_tuple_fraction') AS g, current_setting('synchronize_seqscans') AS h`, "timeout: 90s\n        lock_timeout: 7s"))[0])
	if want := `{"a":"90s","b":"7s","c":"recon-batch","d":"on","e":"repeatable read","f":"0","g":"1","h":"off"}` + "\n"; strings.ReplaceAll(got, "1min30s", "90s") != want && strings.ReplaceAll(got, `"90000ms"`, `"90s"`) != want {
		t.Errorf("got  %swant %s", got, want)
	}
	m := maria(t)
	got, _ = pulled(t, requests(t, m.source("psp", "SELECT @@max_statement_time AS a, @@lock_wait_timeout AS b, @@session.tx_read_only AS c, @@session.tx_isolation AS d, @@time_zone AS e, @@in_transaction AS f, @@sql_mode AS g",
		"timeout: 90s\n        lock_timeout: 7s"))[0])
	if want := `{"a":90,"b":7,"c":1,"d":"REPEATABLE-READ","e":"+00:00","f":1,"g":"NO_ENGINE_SUBSTITUTION"}` + "\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
