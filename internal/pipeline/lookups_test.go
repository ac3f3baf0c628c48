package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/rules"
)

// lookupDay is a day whose file of results ends at noon, and a service that knows the rest.
const lookupDay = `
job: ask
clock_skew: 1m
operations:
  path: ops.csv
  coverage: complete
  fields:
    operation_id: id
    idempotency_key: key
    type: kind
    state: state
    attempts: {column: attempts, type: integer}
    error_class: error
    amount: {type: decimal, scale: 2}
    created_at: {column: created, type: timestamp}
results:
  sources:
    - name: file
      path: charges.csv
      coverage: {account: psp, from: "{date}T00:00", until: "{date}T12:00"}
    - name: service
      need: optional
      lookup:
        url: URL/charges
        query: {reference: "{key}"}
        by: [operation_id, idempotency_key]
        records: data
        key: [reference, request]
        exact: true
        auth: {bearer: {env: LOOKUP_TEST_KEY}}
        allow_private: true
        requests: {rate: 100000/s, attempts: 2}
      coverage: {account: psp}
      fields: {amount: {column: money.value}}
  fields:
    remote_id: id
    operation_id: reference
    idempotency_key: request
    status: {column: status, map: {ok: succeeded, no: failed, wait: pending}}
    amount: {type: decimal, scale: 2}
    created_at: {column: booked, type: timestamp}
    updated: {column: updated, type: timestamp}
    remark: {column: remark, optional: true}
  survivor: {by: remote_id, latest: updated}
match:
  - {pass: operation_id, on: [operation_id], identity: true}
  - {pass: idempotency_key, on: [idempotency_key], identity: true}
compare: [{field: amount}, {field: status, expect: succeeded}]
types:
  "*": {window: {deadline: 1h}, owner: payments, reply_by: 2d, idempotent: true, idempotency_key_ttl: 20000d, retry: {max_attempts: 5, max_duration: 15000d, backoff: {initial: 1m}}}
outputs: {dir: out, formats: [parquet, ndjson, json]}
`

const lookupOperations = `id,key,kind,state,amount,created,attempts,error
op-1,k1,card,retry_scheduled,1.00,2024-03-05T08:00:00Z,1,transient
op-2,k2,card,retry_scheduled,2.00,2024-03-05T08:10:00Z,1,transient
op-3,k3,card,retry_scheduled,3.00,2024-03-05T13:00:00Z,1,transient
op-4,k4,card,retry_scheduled,4.00,2024-03-05T13:10:00Z,1,transient
op-5,k5,card,retry_scheduled,5.00,2024-03-05T13:20:00Z,1,transient
op-6,k6,card,retry_scheduled,6.00,2024-03-05T23:50:00Z,1,transient
op-7,k7,card,retry_scheduled,7.00,2024-03-05T08:20:00Z,1,transient
op-8,k8,card,retry_scheduled,8.00,2024-03-05T13:40:00Z,1,transient
`

const lookupCharges = `id,reference,request,status,amount,booked,updated,remark
ch-1,op-1,k1,ok,1.00,2024-03-05T08:00:01Z,2024-03-05T08:00:01Z,as the file says
ch-2,op-2,k2,wait,2.00,2024-03-05T08:10:01Z,2024-03-05T08:10:01Z,as the file says
ch-7,op-7,k7,wait,7.00,2024-03-05T08:20:01Z,2024-03-05T08:20:01Z,as the file says
`

// provider is a service that knows every charge.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	charges map[string]string // reference → charge
	log     []string
}

const lookupKey = "canary-4711-lookup-key"

func newProvider(t *testing.T) *provider {
	t.Setenv("LOOKUP_TEST_KEY", lookupKey)
	charge := func(n, status, day, updated string) string {
		return fmt.Sprintf(`{ "id": "ch-%[1]s", "reference": "op-%[1]s", "request": "k%[1]s", "status": "%[2]s", "money": {"value": "%[1]s.00"}, "booked": "2024-03-05T%[3]sZ", "updated": "2024-03-05T%[4]sZ", "remark": "as the service says" }`, n, status, day, updated)
	}
	p := &provider{charges: map[string]string{
		"op-1": charge("1", "ok", "08:00:01", "08:00:01"),
		"op-2": charge("2", "ok", "08:10:01", "09:30:00"), // it has gone on since
		"op-3": charge("3", "ok", "13:00:01", "13:00:01"),
		"op-7": charge("7", "wait", "08:20:01", "08:20:01"), // the same as in the file
		"k8":   strings.Replace(charge("8", "ok", "13:40:01", "13:40:01"), `"op-8"`, `null`, 1),
	}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		key := r.FormValue("reference")
		p.log = append(p.log, key)
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+lookupKey {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		list := []json.RawMessage{}
		if c, ok := p.charges[key]; ok {
			list = append(list, json.RawMessage(c))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": list})
	}))
	t.Cleanup(p.Close)
	return p
}

// asked gives what the service was asked since it was asked last.
func (p *provider) asked() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := strings.Join(p.log, " ")
	p.log = nil
	return out
}

// know changes what the service knows.
func (p *provider) know(reference, charge string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.charges[reference] = charge
}

// asking is a folder with the day, and what came out last.
type asking struct {
	t    *testing.T
	dir  string
	url  string
	p    *provider
	rows map[string]string // verdicts and queues by operation id
}

func newAsking(t *testing.T) *asking {
	a := &asking{t: t, dir: t.TempDir(), p: newProvider(t)}
	a.url = a.p.URL
	a.job(lookupDay)
	write(t, filepath.Join(a.dir, "ops.csv"), lookupOperations)
	write(t, filepath.Join(a.dir, "charges.csv"), lookupCharges)
	return a
}

func (a *asking) job(text string) {
	write(a.t, filepath.Join(a.dir, "job.yaml"), strings.ReplaceAll(text, "URL", a.url))
}

func (a *asking) options() Options {
	a.t.Helper()
	j, err := rules.Load(filepath.Join(a.dir, "job.yaml"))
	if err != nil {
		a.t.Fatal(err)
	}
	o := Options{Job: j, BusinessDate: "2024-03-05", Until: time.Now().Add(time.Minute)}
	o.Checkpoint = func(ctx context.Context, done Stage, db *duck.DB) error {
		if done != StageReport {
			return nil
		}
		a.rows = map[string]string{}
		rows, err := db.Query(ctx, `SELECT o.f_operation_id, CAST(v.class AS VARCHAR) || '/' || CAST(v.reason AS VARCHAR) ||
			coalesce((SELECT ' ' || string_agg(CAST(i.queue AS VARCHAR), ',') FROM items i WHERE i.o_rid = v.rid), '')
			FROM rows_operations v JOIN operations o ON o.rid = v.rid`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, verdict string
			if err := rows.Scan(&id, &verdict); err != nil {
				return err
			}
			a.rows[id] = verdict
		}
		return rows.Err()
	}
	return o
}

func (a *asking) run(change ...func(*Options)) *Result {
	a.t.Helper()
	o := a.options()
	for _, c := range change {
		c(&o)
	}
	res, err := Run(a.t.Context(), o)
	if err != nil {
		a.t.Fatal(err)
	}
	return res
}

// want compares the verdicts of operations, written as "op-1 correct/equal confirm".
func (a *asking) want(list ...string) {
	a.t.Helper()
	var got []string
	for id, v := range a.rows {
		got = append(got, id+" "+v)
	}
	slices.Sort(got)
	for _, w := range list {
		if !slices.Contains(got, w) {
			a.t.Errorf("not %q, but:\n%s", w, strings.Join(got, "\n"))
			return
		}
	}
}

// TestLookups: what is undecided is asked about, and judged by what is said.
func TestLookups(t *testing.T) {
	a := newAsking(t)
	front := testproxy.New(t, a.p.URL)
	front.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if strings.Contains(r.URL.RawQuery, "op-5") {
			return testproxy.Fault{Status: 500}
		}
		return testproxy.Fault{}
	})
	a.url = front.URL
	a.job(lookupDay)
	res := a.run()
	a.want("op-1 correct/equal confirm", "op-2 correct/equal confirm", "op-3 correct/equal confirm", "op-4 absent/no_result requeue",
		"op-5 ambiguous/coverage_incomplete review", "op-6 not_due/within_window", "op-7 ambiguous/outcome_unknown review", "op-8 correct/equal confirm")
	if got := a.p.asked(); got != "op-2 op-7 op-3 op-4 k4 k5 op-8 k8" {
		t.Errorf("asked: %s", got)
	}
	if got := classes(res); !strings.Contains(got, "results correct 4, results ambiguous 1, results duplicate 2") {
		t.Error(got)
	}
	l := res.Manifest.Lookups
	if len(l) != 1 || l[0].Operations != 6 || l[0].Found != 4 || l[0].None != 4 || l[0].Unknown != 1 || l[0].LeftOut != 0 {
		t.Errorf("%+v", l)
	}
	a.recount(filepath.Join(a.dir, "out/ask/2024-03-05/current"), l[0].Path)
	// The same answers are the same run, whenever they were given.
	same := a.run()
	if !same.NoOp || same.Manifest.RunID != res.Manifest.RunID {
		t.Errorf("asked again: %s %v, before %s", same.Manifest.RunID, same.NoOp, res.Manifest.RunID)
	}
	a.p.asked()
	// From what is stored nobody is asked.
	last := a.run(func(o *Options) { o.LastSnapshots = true })
	if last.Manifest.RunID != res.Manifest.RunID || !last.NoOp {
		t.Errorf("from the snapshots: %s", last.Manifest.RunID)
	}
	p, err := Replay(t.Context(), a.options(), "")
	if err != nil || !p.Reproduced {
		t.Errorf("replayed: %+v %v", p, err)
	}
	for id, text := range map[string][]string{
		"op-4": {"the lookup service, asked by operation_id at ", "nothing there; its silence covers the operation until 2024-03-06T00:01:00Z", "together they prove an absence"},
		"op-5": {"the lookup service, asked by operation_id: unknown: ", "500", "together they do not prove an absence"},
		"op-3": {"asked by operation_id at ", ": found"},
		"op-1": {"the lookup service was not asked about it"},
	} {
		_, list, err := Explain(t.Context(), a.options(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Join(list[0].Coverage, "\n")
		for _, w := range text {
			if !strings.Contains(words, w) {
				t.Errorf("%s: no %q in\n%s", id, w, words)
			}
		}
	}
	if got := a.p.asked(); got != "" {
		t.Errorf("asked again: %s", got)
	}
	// The service answers again.
	front.Rule(nil)
	a.run()
	a.want("op-5 absent/no_result requeue")
	noCanary(t, a.dir)
}

// recount finds the numbers of the report again: in what was asked, and in the statements of the
// rules about it that are written here alone.
func (a *asking) recount(run, asked string) {
	a.t.Helper()
	var doc struct {
		Answers []struct{ Key, Finding, Covers string }
	}
	var page struct {
		Sides []struct {
			Sources []struct {
				Name  string
				Asked *struct{ Operations, Found, None, Unproven, Unknown, LeftOut int64 }
			}
		}
		Findings []struct{ Code, Text string }
	}
	for path, into := range map[string]any{filepath.Join(a.dir, "out", asked): &doc, filepath.Join(run, "report.json"): &page} {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			a.t.Fatal(err)
		}
	}
	got := map[string]int64{}
	for _, x := range doc.Answers {
		if x.Finding == "none" && x.Covers == "" {
			x.Finding = "unproven"
		}
		got[x.Finding]++
	}
	n := 0
	for _, side := range page.Sides {
		for _, src := range side.Sources {
			if s := src.Asked; s != nil {
				n++
				if src.Name != "service" || s.Found != got["found"] || s.None != got["none"] || s.Unproven != got["unproven"] || s.Unknown != got["unknown"] || s.Operations != 6 {
					a.t.Errorf("the report says %+v, asked was %v", *s, got)
				}
			}
		}
	}
	i := slices.IndexFunc(page.Findings, func(f struct{ Code, Text string }) bool { return f.Code == "lookup_incomplete" })
	if n != 1 || i < 0 || !strings.Contains(page.Findings[i].Text, "1 unknown") {
		a.t.Errorf("%d sources, findings %+v", n, page.Findings)
	}
}

// noCanary looks for the secret in every file below a folder.
func noCanary(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), lookupKey) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLookupsThatProveNothing: silence that is not proof leaves an operation undecided.
func TestLookupsThatProveNothing(t *testing.T) {
	for name, c := range map[string]struct{ was, is, op4 string }{
		"not exact":             {"exact: true", "exact: false", "ambiguous/coverage_incomplete review"},
		"within its lag":        {"exact: true", "lag: 20000d", "ambiguous/coverage_incomplete review"},
		"beyond its lag":        {"exact: true", "lag: 1h", "absent/no_result requeue"},
		"one key of two":        {"by: [operation_id, idempotency_key]", "by: [operation_id]", "ambiguous/coverage_incomplete review"},
		"one that is enough":    {"by: [operation_id, idempotency_key]", "by: [operation_id]\n        sufficient: [operation_id]", "absent/no_result requeue"},
		"another account":       {"coverage: {account: psp}\n      fields", "coverage: {account: other}\n      fields", "ambiguous/coverage_incomplete review"},
		"other types":           {"coverage: {account: psp}\n      fields", "coverage: {account: psp, types: [refund]}\n      fields", "ambiguous/coverage_incomplete review"},
		"settlements":           {"coverage: {account: psp}\n      fields", "coverage: {account: psp, proves: settled-only}\n      fields", "ambiguous/coverage_incomplete review"},
		"a known key is found":  {"exact: true", "exact: true\n        known: op-1", "absent/no_result requeue"},
		"no known key is found": {"exact: true", "exact: true\n        known: op-99", "ambiguous/coverage_incomplete review"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsking(t)
			if !strings.Contains(lookupDay, c.was) {
				t.Fatal(c.was)
			}
			a.job(strings.Replace(lookupDay, c.was, c.is, 1))
			a.run()
			a.want("op-4 " + c.op4)
		})
	}
}

// TestRecheckWithinTheLag: what somebody has sent since the run would not be seen by a service
// that lags behind, whatever its silence proved then.
func TestRecheckWithinTheLag(t *testing.T) {
	a := newAsking(t)
	a.job(strings.Replace(lookupDay, "exact: true", "lag: 1h", 1))
	a.run()
	a.want("op-4 absent/no_result requeue")
	r, err := Recheck(t.Context(), a.options(), "", "op-4")
	if err != nil || r.Outcome != CannotSay || !r.DoNotSend || !strings.Contains(r.Why, "would not be seen; ask again after") {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestLookupNotDone: a service that is required and does not answer ends the run; what it
// has answered is not asked for again.
func TestLookupNotDone(t *testing.T) {
	a := newAsking(t)
	front := testproxy.New(t, a.p.URL)
	a.url = front.URL
	a.job(strings.Replace(lookupDay, "need: optional", "need: required", 1))
	front.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if strings.Contains(r.URL.RawQuery, "k4") {
			return testproxy.Fault{Reset: 5}
		}
		return testproxy.Fault{}
	})
	if _, err := Run(t.Context(), a.options()); fail.ClassOf(err) != fail.Temporary {
		t.Fatal(err)
	}
	if list, err := filepath.Glob(filepath.Join(a.dir, "out/ask/2024-03-05/*/manifest.json")); err != nil || len(list) > 0 {
		t.Errorf("published: %v %v", list, err)
	}
	a.p.asked()
	front.Rule(nil)
	res := a.run()
	if got := a.p.asked(); got != "k4" {
		t.Errorf("asked: %s", got)
	}
	a.want("op-4 absent/no_result requeue")
	// An undisturbed run comes out the same.
	other := newAsking(t)
	other.url = front.URL
	other.job(strings.Replace(lookupDay, "need: optional", "need: required", 1))
	if id := other.run().Manifest.RunID; id != res.Manifest.RunID {
		t.Errorf("%s, undisturbed %s", res.Manifest.RunID, id)
	}
}

// TestLookupBounds: what is beyond the limit stays undecided, is counted, and does not depend on
// the order of the file; those that were due first are asked about first.
func TestLookupBounds(t *testing.T) {
	a := newAsking(t)
	limited := strings.Replace(lookupDay, "exact: true", "exact: true\n        limits: {operations: 4}", 1)
	a.job(limited)
	res := a.run()
	if got := a.p.asked(); got != "op-2 op-7 op-3 op-4 k4" {
		t.Errorf("asked: %s", got)
	}
	if l := res.Manifest.Lookups[0]; l.LeftOut != 2 || l.Operations != 4 {
		t.Errorf("%+v", l)
	}
	a.want("op-4 absent/no_result requeue", "op-5 ambiguous/coverage_incomplete review", "op-8 ambiguous/coverage_incomplete review")
	lines := strings.Split(strings.TrimSpace(lookupOperations), "\n")
	slices.Reverse(lines[1:])
	write(t, filepath.Join(a.dir, "ops.csv"), strings.Join(lines, "\n")+"\n")
	again := a.run()
	if got := a.p.asked(); got != "op-2 op-7 op-3 op-4 k4" || again.Manifest.ContentDigest != res.Manifest.ContentDigest {
		t.Errorf("asked: %s", got)
	}
}

// TestLookupSameEffect: one charge in the file and in an answer is one effect, whatever the
// two say; and what is found and cannot be taken ends the run.
func TestLookupSameEffect(t *testing.T) {
	all := strings.Replace(lookupDay, "exact: true", "exact: true\n        ask: [outcome_unknown, coverage_incomplete, no_result, failed_at_provider]", 1)
	for name, c := range map[string]struct{ charge, verdict string }{
		"the same":                 {`{"id": "ch-7", "reference": "op-7", "request": "k7", "status": "wait", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:20:01Z"}`, "ambiguous/outcome_unknown review"},
		"later":                    {`{"id": "ch-7", "reference": "op-7", "request": "k7", "status": "ok", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`, "correct/equal confirm"},
		"earlier":                  {`{"id": "ch-7", "reference": "op-7", "request": "k7", "status": "no", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:00:01Z"}`, "ambiguous/outcome_unknown review"},
		"other at the same time":   {`{"id": "ch-7", "reference": "op-7", "request": "k7", "status": "ok", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:20:01Z"}`, "ambiguous/counterpart_not_unique review"},
		"failed since":             {`{"id": "ch-7", "reference": "op-7", "request": "k7", "status": "no", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`, "absent/failed_at_provider review"},
		"another charge":           {`{"id": "ch-77", "reference": "op-7", "request": "k7", "status": "ok", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`, "divergent/duplicate_effect review,review"},
		"a charge without id":      {`{"id": null, "reference": "op-7", "request": "k7", "status": "ok", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`, "ambiguous/outcome_unknown review"},
		"a charge of another key":  {`{"id": "ch-7", "reference": "op-x", "request": "kx", "status": "ok", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`, "ambiguous/outcome_unknown review"},
		"an amount that is no one": {`{"id": "ch-7", "reference": "op-7", "request": "k7", "status": "ok", "money": {"value": "seven"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`, "divergent/value_unreadable review"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsking(t)
			a.job(all)
			a.p.know("op-7", c.charge)
			a.run()
			a.want("op-7 " + c.verdict)
		})
	}
	t.Run("a placeholder as id", func(t *testing.T) {
		a := newAsking(t)
		a.job(strings.Replace(all, "remote_id: id", `remote_id: {column: id, placeholders: ["0"]}`, 1))
		a.p.know("op-7", `{"id": "0", "reference": "op-7", "request": "k7", "status": "ok", "money": {"value": "7"}, "booked": "2024-03-05T08:20:01Z", "updated": "2024-03-05T08:30:01Z"}`)
		if _, err := Run(t.Context(), a.options()); fail.ClassOf(err) != fail.Input || !containsText(err, "have no remote_id") {
			t.Error(err)
		}
	})
	t.Run("a member twice", func(t *testing.T) {
		a := newAsking(t)
		a.p.know("op-7", `{"id": "ch-7", "reference": "op-7", "status": "wait", "status": "ok"}`)
		if _, err := Run(t.Context(), a.options()); fail.ClassOf(err) != fail.Input || !containsText(err, "what the lookup service has found cannot be read") {
			t.Error(err)
		}
	})
}

// TestLookupOfNothing: a job without lookups asks nothing more of the engine, and where all is
// decided nobody is asked.
func TestLookupOfNothing(t *testing.T) {
	a := newAsking(t)
	a.job(strings.Replace(lookupDay, `until: "{date}T12:00"`, `until: "{date+2}T00:00"`, 1))
	write(t, filepath.Join(a.dir, "charges.csv"), strings.ReplaceAll(lookupCharges, "wait", "ok"))
	res := a.run()
	if got := a.p.asked(); got != "" || res.Manifest.Lookups[0].Operations != 0 {
		t.Errorf("asked: %s", got)
	}
	a.want("op-4 absent/no_result requeue", "op-7 correct/equal confirm")
	// Before anybody was asked, there is nothing to judge by.
	fresh := newAsking(t)
	fresh.run(func(o *Options) { o.LastSnapshots, o.DryRun = true, true })
	fresh.want("op-4 ambiguous/coverage_incomplete review", "op-3 ambiguous/coverage_incomplete review")
	if list, err := filepath.Glob(filepath.Join(fresh.dir, "out/.evidence/ask/*/*/0001")); err != nil || len(list) > 0 || fresh.p.asked() != "" {
		t.Errorf("%v %v", list, err)
	}
	fresh.run(func(o *Options) { o.LastSnapshots = true })
	fresh.want("op-4 ambiguous/coverage_incomplete review")
}

// TestLookupArchived: with its folder gone, what was asked comes out of the archive.
func TestLookupArchived(t *testing.T) {
	a := newAsking(t)
	a.job(lookupDay + "evidence: {dir: kept, keep: 10y}\n")
	a.run()
	if err := os.RemoveAll(filepath.Join(a.dir, "out/.evidence")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(a.dir, "out/.stage")); err != nil {
		t.Fatal(err)
	}
	p, err := Replay(t.Context(), a.options(), "")
	if err != nil || !p.Reproduced {
		t.Errorf("replayed: %+v %v", p, err)
	}
	noCanary(t, a.dir)
}

// TestLookupDamaged: what was asked is believed by its bytes alone.
func TestLookupDamaged(t *testing.T) {
	a := newAsking(t)
	a.run()
	path := filepath.Join(a.dir, "out/.evidence/ask/results.service/2024-03-05/0001/files/asked.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), `"finding": "found"`, `"finding": "none"`, 1))
	if _, err := Replay(t.Context(), a.options(), ""); fail.ClassOf(err) != fail.Input {
		t.Errorf("replayed: %v", err)
	}
	o := a.options()
	o.LastSnapshots = true
	if _, err := Run(t.Context(), o); fail.ClassOf(err) != fail.Integrity {
		t.Errorf("from the snapshots: %v", err)
	}
}

// TestLookupKilledRun: a run that is stopped while it asks goes on where it was.
func TestLookupKilledRun(t *testing.T) {
	a := newAsking(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	front := testproxy.New(t, a.p.URL)
	stop := errors.New("stopped")
	front.Rule(func(n int, _ *http.Request) testproxy.Fault {
		if n == 3 {
			cancel(stop)
			return testproxy.Fault{Reset: 1}
		}
		return testproxy.Fault{}
	})
	a.url = front.URL
	a.job(lookupDay)
	if _, err := Run(ctx, a.options()); err == nil {
		t.Fatal("it was not stopped")
	}
	front.Rule(nil)
	before := strings.Fields(a.p.asked())
	a.run()
	for _, key := range strings.Fields(a.p.asked()) {
		if slices.Contains(before[:2], key) {
			t.Errorf("%s was asked again", key)
		}
	}
	a.want("op-4 absent/no_result requeue")
}

// TestRecheck: just before somebody acts, the service is asked again.
func TestRecheck(t *testing.T) {
	a := newAsking(t)
	front := testproxy.New(t, a.p.URL)
	a.url = front.URL
	a.job(lookupDay)
	res := a.run()
	queues := func() string {
		var b strings.Builder
		list, err := filepath.Glob(filepath.Join(a.dir, "out/ask/2024-03-05/current/queues/*"))
		if err != nil || len(list) == 0 {
			t.Fatal(err)
		}
		for _, path := range list {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
		return b.String()
	}
	before := queues()
	check := func(item, outcome, why string, doNotSend, later bool) *Rechecked {
		t.Helper()
		r, err := Recheck(t.Context(), a.options(), "", item)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != outcome || !strings.Contains(r.Why, why) || r.DoNotSend != doNotSend || r.Temporary != later {
			t.Errorf("%s: %+v", item, r)
		}
		return r
	}
	a.p.asked()
	r := check("op-4", StillStands, "the service has no record of it", false, false)
	if got := a.p.asked(); got != "op-4 k4" || r.RunID != res.Manifest.RunID || r.Was.Queue != "requeue" {
		t.Errorf("asked %s, %+v", got, r)
	}
	if _, err := os.Stat(filepath.Join(a.dir, "out", r.Evidence, "service/snapshot.json")); err != nil {
		t.Error(err)
	}
	check("op-3", StillStands, "the service says what the run was told", false, false)
	check("op-1", StillStands, "the service says what the run was told", false, false)
	// The effect has come since.
	a.p.know("k4", `{"id": "ch-4", "reference": "op-4", "request": "k4", "status": "ok", "money": {"value": "4"}, "booked": "2024-03-06T08:20:01Z", "updated": "2024-03-06T08:20:01Z"}`)
	r = check("op-4", Changed, "it was requeue, absent/no_result, and is confirm, correct/equal now: the service has a record of it", true, false)
	if r.Now.Class != "correct" {
		t.Errorf("%+v", r)
	}
	// By the id of its item, which the queue has.
	item := ""
	queue, err := os.ReadFile(filepath.Join(a.dir, "out/ask/2024-03-05/current/queues/requeue.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(queue)) {
		var x struct {
			ItemID      string `json:"item_id"`
			OperationID string `json:"operation_id"`
		}
		if json.Unmarshal([]byte(line), &x) == nil && x.OperationID == "op-4" {
			item = x.ItemID
		}
	}
	r = check(item, Changed, "is confirm", true, false)
	if r.Item != item || item == "" || !strings.HasPrefix(r.Recheck, "No result under recheck_key") || r.Expires == "" {
		t.Errorf("%+v", r)
	}
	// It has failed there: nobody may take that for nothing.
	a.p.know("k4", `{"id": "ch-4", "reference": "op-4", "request": "k4", "status": "no", "money": {"value": "4"}, "booked": "2024-03-06T08:20:01Z", "updated": "2024-03-06T08:20:01Z"}`)
	check("op-4", Changed, "ambiguous/coverage_incomplete now", true, false)
	// The service does not answer, or not about this.
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 503} })
	check("op-4", CannotSay, "could not be asked", true, true)
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 200, Body: "<html>"} })
	check("op-4", CannotSay, "could not be asked", true, false)
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 200, Body: `{"data": []}`} })
	check("op-1", CannotSay, "although the run had one", false, false)
	if queues() != before {
		t.Error("the queues are other ones")
	}
	for item, want := range map[string]string{"op-99": "no item", "": "no item"} {
		if _, err := Recheck(t.Context(), a.options(), "", item); fail.ClassOf(err) != fail.Usage || !containsText(err, want) {
			t.Errorf("%q: %v", item, err)
		}
	}
	noCanary(t, a.dir)
}
