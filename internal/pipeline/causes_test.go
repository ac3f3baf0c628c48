package pipeline

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

const causesJob = `version: 1
job: causes
timezone: UTC
as_of: "2026-12-01T04:00"
period: {by: created_at, from: "2026-11-30T00:00", until: "2026-12-01T00:00"}
operations:
  sources: [{name: shop, path: ours.csv, coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, type: kind, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency, attempts: {column: n, type: integer}, error_class: class, error_code: code, created_at: {column: at, type: timestamp}}
results:
  sources: [{name: one, path: one.csv, coverage: {account: one, complete: true}}, {name: two, path: two.csv, coverage: {account: two, complete: true}}]
  fields: {operation_id: id, idempotency_key: key, remote_id: remote, amount: {column: amount, type: decimal, scale: 2}, currency: currency, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}, {pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount, tolerance: "0.01"}, {field: currency}]
`

// Times to confirmation and retries are those that a plain count over the rows gives:
// for links under the first key, under the second, within a tolerance, and none for what
// is outside the period, divergent or absent.
func TestTimesAndRetries(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	ours := "id,key,kind,state,amount,currency,n,class,code,at\n"
	theirs := map[string]string{"one": "id,key,remote,amount,currency,at\n", "two": "id,key,remote,amount,currency,at\n"}
	times := map[[2]string][]int64{}
	retried := map[[2]string]report.RetryOutcome{}
	for i := range 400 {
		kind := []string{"charge", "charge", "refund", "1234567890123 4"}[draw.IntN(4)]
		account := []string{"one", "two"}[draw.IntN(2)]
		made := start.Add(time.Duration(draw.IntN(80000)) * time.Second)
		took := time.Duration(draw.IntN(5_000_000)-1_000_000) * time.Microsecond
		n := 1 + draw.IntN(3)
		class := []string{"", "", "none", "transient", "permanent"}[draw.IntN(5)]
		code := ""
		if class == "transient" || class == "permanent" {
			code = []string{"slow", "=cmd|x"}[draw.IntN(2)]
		}
		amount, id, key := "10.00", fmt.Sprint("c", i), fmt.Sprint("k", i)
		fate := i % 10
		correct := true
		switch fate {
		case 6:
			id = "" // only the second key
		case 7:
			amount = "10.01"
		case 8:
			amount, correct = "12.00", false
		case 9:
			correct = false // absent
		case 5:
			made = made.Add(-24 * time.Hour) // not in the period
		}
		ours += fmt.Sprintf("c%d,k%d,%s,awaiting_confirmation,10.00,EUR,%d,%s,%s,%s\n", i, i, kind, n, class, code, made.Format(time.RFC3339))
		if fate != 9 {
			theirs[account] += fmt.Sprintf("%s,%s,x%d,%s,EUR,%s\n", id, key, i, amount, made.Add(took).Format("2006-01-02T15:04:05.000000Z"))
		}
		if fate == 5 {
			continue
		}
		if strings.Contains(kind, " ") {
			kind = "other"
		}
		if correct {
			times[[2]string{kind, account}] = append(times[[2]string{kind, account}], took.Microseconds())
		}
		if class == "none" {
			class = ""
		}
		if strings.HasPrefix(code, "=") {
			code = "other"
		}
		if n > 1 || class != "" {
			r := retried[[2]string{class, code}]
			r.ErrorClass, r.ErrorCode = class, code
			r.Operations++
			r.Attempts += int64(n)
			if correct {
				r.Confirmed++
			}
			r.Share = fmt.Sprintf("%.6f", float64(r.Confirmed)/float64(r.Operations))
			retried[[2]string{class, code}] = r
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "job.yaml"), causesJob)
	write(t, filepath.Join(dir, "ours.csv"), ours)
	for name, text := range theirs {
		write(t, filepath.Join(dir, name+".csv"), text)
	}
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Job: job, BusinessDate: "2026-11-30", Out: filepath.Join(dir, "out"), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	var want []report.LatencyRow
	for k, us := range times {
		slices.Sort(us)
		rank := func(p int) int64 { return us[(len(us)*p+99)/100-1] }
		want = append(want, report.LatencyRow{Type: k[0], Account: k[1], Count: int64(len(us)), P50: rank(50), P95: rank(95), P99: rank(99), Max: us[len(us)-1]})
	}
	slices.SortFunc(want, func(a, b report.LatencyRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Account, b.Account))
	})
	if !slices.Equal(res.Summary.Latency, want) || len(want) != 6 {
		t.Errorf("got  %+v\nwant %+v", res.Summary.Latency, want)
	}
	var outcomes []report.RetryOutcome
	for _, r := range retried {
		outcomes = append(outcomes, r)
	}
	slices.SortFunc(outcomes, func(a, b report.RetryOutcome) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(b.Operations, a.Operations), cmp.Compare(a.ErrorClass, b.ErrorClass), cmp.Compare(a.ErrorCode, b.ErrorCode))
	})
	if !slices.Equal(res.Summary.Retries, outcomes) || len(outcomes) != 5 {
		t.Errorf("got  %+v\nwant %+v", res.Summary.Retries, outcomes)
	}
}
