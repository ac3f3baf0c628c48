package pipeline

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

const clustersJob = `version: 1
job: clusters
timezone: UTC
as_of: "2026-12-01T04:00"
operations:
  sources: [{name: shop, path: ours.csv, coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, type: kind, state: state, version: {column: version, type: integer}, amount: {column: amount, type: decimal, scale: 2}, currency: currency, lease_holder: worker, destination: node, created_at: {column: at, type: timestamp}}
results:
  sources: [{name: one, path: one.csv, coverage: {account: one, complete: true}}, {name: two, path: two.csv, coverage: {account: two, complete: true}}]
  fields: {operation_id: id, idempotency_key: key, remote_id: remote, version: {column: version, type: integer}, amount: {column: amount, type: decimal, scale: 2}, currency: currency, status: {column: status, map: {ok: succeeded}}, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}, {pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount}, {field: currency}, {field: status, expect: succeeded}, {field: version, as: version}]
`

// clustered is one operation of a day with its result, as the files have them.
type clustered struct {
	worker, node, account       string
	version, theirs             int
	amount, settled, status, at string
	noOperation, noResult       bool
}

// TestClustersOfRuns: whatever a job declares that operations may have in common is found as
// their likely cause, in a run of real files: the version jump, the text of a status, the
// worker, the destination, the account, the minute of results. Where as many others at the same
// place are well, the place is no cause.
func TestClustersOfRuns(t *testing.T) {
	start := time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)
	// One of seven operations has the trouble; the others are well, elsewhere or, where there is a crowd, at the same place.
	for name, c := range map[string]struct {
		trouble  func(i int, x *clustered)
		crowd    func(i int, x *clustered)
		redact   string
		cause    string
		sentence string
	}{
		"version":     {trouble: func(i int, x *clustered) { x.theirs = x.version + 2 }, cause: "version_jump", sentence: "30 of 30 divergences: version ahead by 2, all from one.csv after record 1"},
		"status":      {trouble: func(i int, x *clustered) { x.status = "limbo" }, cause: "status_text", sentence: `30 of 30 undecided rows: status "limbo", all from one.csv after record 1`},
		"no status":   {trouble: func(i int, x *clustered) { x.status = "limbo" }, redact: "status", cause: "status_text", sentence: `30 of 30 undecided rows: the same status, all from one.csv after record 1`},
		"worker":      {trouble: func(i int, x *clustered) { x.noResult, x.worker = true, "w-7" }, cause: "worker", sentence: "30 of 30 absences: all held by the worker w-7, all from ours.csv after record 1"},
		"no worker":   {trouble: func(i int, x *clustered) { x.noResult, x.worker = true, "w-7" }, redact: "lease_holder", cause: "worker", sentence: "30 of 30 absences: all held by one worker, all from ours.csv after record 1"},
		"busy worker": {trouble: func(i int, x *clustered) { x.noResult, x.worker = true, "w-7" }, crowd: func(i int, x *clustered) { x.worker = "w-7" }},
		"node":        {trouble: func(i int, x *clustered) { x.noResult, x.node = true, "node-b" }, cause: "destination", sentence: "30 of 30 absences: all sent to the destination node-b, all from ours.csv after record 1"},
		"no node":     {trouble: func(i int, x *clustered) { x.noResult, x.node = true, "node-b" }, redact: "destination", cause: "destination", sentence: "30 of 30 absences: all sent to one destination, all from ours.csv after record 1"},
		"busy node":   {trouble: func(i int, x *clustered) { x.noResult, x.node = true, "node-b" }, crowd: func(i int, x *clustered) { x.node = "node-b" }},
		"account": {trouble: func(i int, x *clustered) { x.account, x.settled = "two", fmt.Sprintf("%d.%02d", 3*i*i+100, i) }, crowd: func(i int, x *clustered) { x.account = []string{"two", "one"}[i%2] }, cause: "account",
			sentence: "30 of 30 divergences: all of the account two, all from two.csv after record 1"},
		"minute": {trouble: func(i int, x *clustered) { x.noOperation, x.at = true, "2026-11-30T09:15:07Z" }, cause: "minute",
			sentence: "30 of 30 unexpected effects: all in the minute 2026-11-30T09:15Z, all from one.csv after record 1"},
	} {
		ours := "id,key,kind,state,version,amount,currency,worker,node,at\n"
		theirs := map[string]string{"one": "id,key,remote,version,amount,currency,status,at\n", "two": "id,key,remote,version,amount,currency,status,at\n"}
		for i := range 210 {
			x := clustered{worker: fmt.Sprint("w-", 100+i), node: fmt.Sprint("node-", 100+i), account: "one", version: 1 + i%5, amount: fmt.Sprintf("%d.00", 10+i), status: "ok",
				at: start.Add(time.Duration(i) * 4 * time.Minute).Format(time.RFC3339)}
			x.theirs, x.settled = x.version, x.amount
			if i%7 == 1 {
				c.trouble(i, &x)
			} else if c.crowd != nil {
				c.crowd(i, &x)
			}
			if !x.noOperation {
				ours += fmt.Sprintf("c%d,k%d,charge,awaiting_confirmation,%d,%s,EUR,%s,%s,%s\n", i, i, x.version, x.amount, x.worker, x.node, x.at)
			}
			if !x.noResult {
				theirs[x.account] += fmt.Sprintf("c%d,k%d,x%d,%d,%s,EUR,%s,%s\n", i, i, i, x.theirs, x.settled, x.status, x.at)
			}
		}
		dir := t.TempDir()
		job := clustersJob
		if c.redact != "" {
			job += "redact: {fields: {" + c.redact + ": mask}}\n"
		}
		write(t, filepath.Join(dir, "job.yaml"), job)
		write(t, filepath.Join(dir, "ours.csv"), ours)
		for name, text := range theirs {
			write(t, filepath.Join(dir, name+".csv"), text)
		}
		loaded, err := rules.Load(filepath.Join(dir, "job.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), Options{Job: loaded, BusinessDate: "2026-11-30", Out: filepath.Join(dir, "out"), Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, x := range res.Summary.Clusters {
			got = append(got, x.Cause+": "+x.Sentence)
			if c.redact != "" && x.What != "" {
				t.Errorf("%s: a redacted value is shown: %q", name, x.What)
			}
		}
		if c.cause != "" {
			want = append(want, c.cause+": "+c.sentence)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
