package sql

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// TestGuide: the job of docs/sources-sql.md is pulled as it stands there, but for the
// address of the second server, as the role that it advises.
func TestGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/sources-sql.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(doc)
	role := regexp.MustCompile("(?s)```sql\n(CREATE ROLE .*?;)\n(GRANT .*?;)\n```").FindSubmatch(doc)
	if block == nil || role == nil {
		t.Fatal("the guide has no job, or no role")
	}
	base := t.TempDir()
	job, err := rules.Parse(block[1], filepath.Join(base, "job.yaml"))
	if err != nil || len(job.Warnings) > 0 {
		t.Fatal(err, job)
	}
	pg, my := postgres(t), maria(t)
	pg.exec("DROP ROLE IF EXISTS recon_reader", string(role[1]),
		"CREATE TABLE charges (id text, amount numeric(20,2), currency text, created_at timestamptz, secret text)", string(role[2]),
		"INSERT INTO charges VALUES ('a', 1.50, 'EUR', '2026-08-20 23:59:59.999999 Europe/Paris', 'x'), ('b', 2, 'EUR', '2026-08-21 00:00 Europe/Paris', 'x'), ('c', 3, 'EUR', '2026-08-20 00:00 Europe/Paris', 'x')")
	my.exec("CREATE TABLE entries (reference varchar(20), amount decimal(20,2), currency char(3), booked_on date)",
		"INSERT INTO entries VALUES ('a', 1.5, 'EUR', '2026-08-20'), ('b', 2, 'EUR', '2026-08-21')",
		"CREATE OR REPLACE USER recon_reader IDENTIFIED BY 'a pass/word'", "GRANT SELECT ON "+my.name+".entries TO recon_reader")
	t.Setenv("CHARGES_DSN", "postgres://recon_reader:x@"+pg.proxy.Addr+"/"+pg.name)
	if err := os.Mkdir(filepath.Join(base, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	password := func(text string) {
		if err := os.WriteFile(filepath.Join(base, "secrets", "ledger.password"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	password("a pass/word\n")
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	q := bound.Inputs[rules.Results][0].Source.Remote.SQL
	port, err := strconv.ParseInt(my.port, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	q.Host, q.Port, q.Database = my.host, port, my.name
	request := func(side rules.Side) *fetch.Request {
		return &fetch.Request{
			Job: bound, Side: side, Input: &bound.Inputs[side][0], Dir: t.TempDir(), BaseDir: base, Now: time.Now,
			Note: t.Logf, Progress: func(string, int64, int64) {},
		}
	}
	for side, want := range map[rules.Side]string{
		rules.Operations: `{"operation_id":"a","amount":1.50,"currency":"EUR","created_at":"2026-08-20T21:59:59.999999Z"}` + "\n" +
			`{"operation_id":"c","amount":3.00,"currency":"EUR","created_at":"2026-08-19T22:00:00.000000Z"}` + "\n",
		rules.Results: `{"reference":"a","amount":1.50,"currency":"EUR"}` + "\n",
	} {
		if problems := (Puller{}).Check(t.Context(), request(side)); problems != nil {
			t.Errorf("check: %q", problems)
		}
		if got, _ := pulled(t, request(side)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	password("another")
	refused(t, request(rules.Results), fail.Usage, "correct user and password")
	pg.exec("DROP OWNED BY recon_reader", "DROP ROLE recon_reader")
	my.exec("DROP USER recon_reader")
}
