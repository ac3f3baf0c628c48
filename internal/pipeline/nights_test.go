package pipeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// nights is a job with small files of several dates. Every operation was made at noon of
// its date, and the night judges it at the end of that date.
type nights struct {
	t   *testing.T
	dir string
	job string // its text; %s stands for further top-level keys
}

const nightsJob = `version: 1
job: nights
timezone: UTC
operations:
  sources: [{name: shop, path: "ops_{date}.csv", coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, type: kind, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency, attempts: {column: n, type: integer}, created_at: {column: at, type: timestamp}}
results:
  sources: [RESULTS]
  fields: {operation_id: id, idempotency_key: key, remote_id: remote, amount: {column: amount, type: decimal, scale: 2}, currency: currency, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}, {pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount}, {field: currency}]
types:
  charge:
    window: {expected: 15m, deadline: 6h}
    idempotent: true
    idempotency_key_ttl: 72h
    retry: {max_attempts: 5, max_duration: 60h, backoff: {initial: 10s, factor: 1, max: 10s}}
    owner: payments
    reply_by: 2d
    #charge
  refund:
    window: {expected: 15m, deadline: 6h}
    idempotent: true
    idempotency_key_ttl: 72h
    retry: {max_attempts: 5, max_duration: 60h, backoff: {initial: 10s, factor: 1, max: 10s}}
    owner: payments
    reply_by: 2d
`

func newNights(t *testing.T) *nights {
	return &nights{t: t, dir: t.TempDir(), job: strings.Replace(nightsJob, "RESULTS", `{name: psp, path: "res_{date}.csv", coverage: complete}`, 1)}
}

// op is one operation of a night: c/1 is the charge 1 that succeeded; -c/1 one that did
// not arrive, -r/1 a refund that did not.
func (n *nights) files(date string, ops ...string) {
	n.t.Helper()
	o, r := "id,key,kind,state,amount,currency,n,at\n", "id,key,remote,amount,currency,at\n"
	for _, op := range ops {
		name, absent := strings.CutPrefix(op, "-")
		kind := map[byte]string{'c': "charge", 'r': "refund"}[name[0]]
		id := strings.ReplaceAll(name, "/", "")
		o += fmt.Sprintf("%s,k%s,%s,awaiting_confirmation,10.00,EUR,1,%sT12:00:00Z\n", id, id, kind, date)
		if !absent {
			r += fmt.Sprintf("%s,k%s,x%s,10.00,EUR,%sT12:00:05Z\n", id, id, id, date)
		}
	}
	write(n.t, filepath.Join(n.dir, "ops_"+date+".csv"), o)
	write(n.t, filepath.Join(n.dir, "res_"+date+".csv"), r)
}

// absent gives so many operations that did not arrive, and one that did.
func absent(count int) []string {
	out := []string{"c/0"}
	for i := range count {
		out = append(out, fmt.Sprintf("-c/%d", i+1))
	}
	return out
}

// run runs a night; more is added to the job, above it.
func (n *nights) run(date, more string, allowed Allowed) *Result {
	n.t.Helper()
	res, err := n.try(date, more, allowed)
	if err != nil {
		n.t.Fatalf("%s: %v", date, err)
	}
	return res
}

func (n *nights) try(date, more string, allowed Allowed) (*Result, error) {
	n.t.Helper()
	path := filepath.Join(n.dir, "job.yaml")
	write(n.t, path, n.job+more+"\n")
	job, err := rules.Load(path)
	if err != nil {
		n.t.Fatal(err)
	}
	res, err := Run(n.t.Context(), Options{Job: job, BusinessDate: date, Out: filepath.Join(n.dir, "out"), Threads: 1, Allowed: allowed})
	if err != nil {
		return nil, err
	}
	v, err := Verify(n.t.Context(), n.folder(res))
	if err != nil {
		n.t.Fatal(err)
	}
	for _, c := range v.Checks {
		if len(c.Wrong) > 0 {
			n.t.Errorf("%s: verify %s: %v", date, c.Name, c.Wrong)
		}
	}
	return res, nil
}

func (n *nights) folder(res *Result) string {
	return filepath.Join(n.dir, "out", folderOf(res.Manifest.Job, res.Manifest.Series), res.Manifest.BusinessDate, res.Manifest.RunID)
}

// items reads a queue; nil where it was not written.
func (n *nights) items(res *Result, queue string) []map[string]any {
	n.t.Helper()
	f, err := os.Open(filepath.Join(n.folder(res), "queues", queue+".ndjson"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		n.t.Fatal(err)
	}
	defer f.Close()
	out := []map[string]any{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		x := map[string]any{}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			n.t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// ids lists the operations of a queue as text, those for observation only in brackets.
func (n *nights) ids(res *Result, queue string) string {
	n.t.Helper()
	list := n.items(res, queue)
	if list == nil {
		return "none"
	}
	byID := map[string]bool{}
	for _, x := range list {
		byID[fmt.Sprint(x["operation_id"])] = x["observe_only"] == true
	}
	var out []string
	for _, id := range sortedNames(byID) {
		if byID[id] {
			id = "(" + id + ")"
		}
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

func sortedNames(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

func (n *nights) wantExit(res *Result, want fail.Class, text string) {
	n.t.Helper()
	said := strings.Join(res.Summary.Outcome.Reasons, "\n")
	for _, f := range res.Summary.Findings {
		said += "\n" + f.Code + ": " + f.Text
	}
	if res.ExitCode != want || !strings.Contains(said, text) {
		n.t.Errorf("%s ended with %d, want %d and %q in:\n%s", res.Manifest.BusinessDate, res.ExitCode, want, text, said)
	}
}

// edit replaces every old in a file.
func edit(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o644); err != nil {
		t.Fatal(err)
	}
}
