package pipeline

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testpg"
	"github.com/recon-batch/recon-batch/rules"
)

// remoteDay asks a database for the operations of a date and a service for the results.
const remoteDay = `
job: remote
operations:
  exec: {command: [sh, -c, "cat ops.csv"], name: ops.csv}
  coverage: complete
  fields:
    operation_id: id
    type: kind
    amount: {type: decimal, scale: 2}
    created_at: {type: timestamp}
results:
  sources:
    - name: ledger
      sql:
        engine: postgres
        dsn: {env: REMOTE_TEST_DSN}
        query: SELECT reference, amount::text AS amount, booked FROM entries WHERE booked >= :from AND booked < :until
      coverage: {from: "{date}T00:00", until: "{date+1}T00:00"}
    - name: service
      api:
        url: URL/charges
        allow_private: true
        records: items
        total: total
        pagination: {style: page, at: page, first: 1, size: 1, limit: per_page, stable: true}
      coverage: {account: service, types: [service], from: "{date}T00:00", until: "{date+1}T00:00"}
  fields:
    operation_id: reference
    amount: {type: decimal, scale: 2}
    created_at: {column: booked, type: timestamp}
` + remoteJudged

// remoteJudged is the part of a job that does not depend on where its sides come from.
const remoteJudged = `match:
  - {pass: operation_id, on: [operation_id], identity: true}
compare: [{field: amount}]
types:
  "*": {window: {deadline: 1h}, owner: payments, reply_by: 2d}
outputs: {dir: out, formats: [parquet, ndjson, json]}
`

// TestRunFromServers: a run over a database and a service is that of their rows; what the
// database cannot know yet proves no absence; and without both the run comes out of the
// snapshots again, byte for byte.
func TestRunFromServers(t *testing.T) {
	dsn := testpg.Start(t)
	t.Setenv("REMOTE_TEST_DSN", dsn)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"CREATE TABLE entries (reference text, amount numeric(12,2), booked timestamptz)",
		"INSERT INTO entries VALUES ('op-1', 10.00, '2020-01-01T10:00:00Z'), ('op-1', 10.00, '2090-01-01T10:00:00Z'), ('op-3', 30.01, '2020-01-01T11:00:00Z'), ('op-8', 1, '2020-01-02T00:00:00Z')",
	} {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		items := map[string]string{"1": `{"reference":"op-4","amount":"40.00","booked":"2020-01-01T10:00:00Z"}`, "2": `{"reference":"op-9","amount":"90.00","booked":"2020-01-01T10:00:00Z"}`}[r.URL.Query().Get("page")]
		fmt.Fprintf(w, `{"items":[%s],"total":2}`, items)
	}))
	defer service.Close()

	dir := t.TempDir()
	job := filepath.Join(dir, "job.yaml")
	write(t, job, strings.ReplaceAll(remoteDay, "URL", service.URL))
	load := func() Options {
		j, err := rules.Load(job)
		if err != nil {
			t.Fatal(err)
		}
		return Options{Job: j, BusinessDate: "2020-01-01", Until: time.Now().Add(time.Minute)}
	}
	day := func(date string) string {
		return "id,kind,amount,created_at\n" + strings.ReplaceAll("op-1,card,10.00,DT10:00:00Z\nop-2,card,20.00,DT10:00:00Z\nop-3,card,30.00,DT10:00:00Z\nop-4,service,40.00,DT10:00:00Z\n", "D", date)
	}
	write(t, filepath.Join(dir, "ops.csv"), day("2020-01-01"))
	if problems, n, err := Connect(t.Context(), load()); err != nil || n != 3 || len(problems) > 0 {
		t.Fatalf("%d asked, %q, %v", n, problems, err)
	}
	res, err := Run(t.Context(), load())
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(res); got != "operations correct 2, operations divergent 1, operations absent 1, results correct 2, results divergent 1, results unexpected 1" {
		t.Errorf("the day comes out as %s", got)
	}
	if len(res.Manifest.Snapshots) != 3 {
		t.Fatalf("snapshots %+v", res.Manifest.Snapshots)
	}
	for _, s := range res.Manifest.Snapshots {
		if s.Proof == "" || s.SHA256 == "" || strings.Contains(s.Address, "password") {
			t.Errorf("snapshot %+v", s)
		}
	}

	// In 2090 the database knows nothing yet: its silence proves no absence.
	future := load()
	future.BusinessDate = "2090-01-01"
	write(t, filepath.Join(dir, "ops.csv"), day("2090-01-01"))
	late, err := Run(t.Context(), future)
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(late); !strings.HasPrefix(got, "operations correct 2, operations ambiguous 2, ") {
		t.Errorf("the day to come comes out as %s", got)
	}

	// Nobody is there any more.
	write(t, filepath.Join(dir, "ops.csv"), day("2020-01-01"))
	n := asked.Load()
	service.Close()
	t.Setenv("REMOTE_TEST_DSN", "postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	gone := load()
	gone.Until = time.Now().Add(time.Second)
	if _, err := Run(t.Context(), gone); fail.ClassOf(err) != fail.Temporary {
		t.Errorf("without servers: %v", err)
	}
	again := load()
	again.LastSnapshots = true
	write(t, filepath.Join(dir, "ops.csv"), "id\n")
	same, err := Run(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	if !same.NoOp || same.Manifest.RunID != res.Manifest.RunID {
		t.Errorf("from the snapshots: run %s, no-op %v, want %s", same.Manifest.RunID, same.NoOp, res.Manifest.RunID)
	}
	p, err := Replay(t.Context(), load(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !p.Reproduced {
		t.Errorf("replayed: %+v", p)
	}
	if asked.Load() != n {
		t.Error("the service was asked again")
	}
}

// classes lists the rows of a run by side and class.
func classes(res *Result) string {
	count := map[string]int64{}
	var names []string
	for _, c := range res.Manifest.Counts {
		name := string(c.Side) + " " + c.Class
		if count[name] == 0 {
			names = append(names, name)
		}
		count[name] += c.Rows
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, count[n])
	}
	return strings.Join(names, ", ")
}
