package pipeline

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fixtures/world"
	"github.com/recon-batch/recon-batch/rules"
)

// recountDates are the nights of the recount. Their operations are the same, so that open
// items stay, come and go.
var recountDates = []string{"2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"}

// recountNight is one night: its files as they were read, and the run that it made.
type recountNight struct {
	date string
	dir  string // exports/ and provider/
	run  string // folder of the run
}

// recountJob is the demo's job with everything that puts numbers into a report.
func recountJob(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/demo/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job := string(text)
	for _, x := range [][2]string{
		{"      path: exports/operations_{date}.csv\n", "      path: exports/operations_{date}.csv\n      on_reject: keep\n"},
		{"    error_class:     last_error_class\n", "    error_class:     last_error_class\n    error_code:      last_error_code\n    step:            step\n" +
			"    last_failed_at:  {column: last_failed_at, type: timestamp}\n    resolved_at:     {column: resolved_at, type: timestamp}\n    replayed_at:     {column: replayed_at, type: timestamp}\n"},
		{"  fields:\n    operation_id:    metadata_op_id\n", "    - {name: archive, path: \"provider/archive_{date}.csv\", need: optional, csv: {delimiter: \";\"}, coverage: {account: archive, types: [voucher], from: \"{date}T00:00\", until: \"{date+1}T00:00\"}}\n" +
			"  fields:\n    operation_id:    metadata_op_id\n"},
		{"    risk: financial\n", "    risk: financial\n    describe: {effect: the money moved, truth: psp, closes_when: a settled row}\n"},
		{"limits:\n  blast_radius: {requeue: {rows: 300, share: 2%}, compensate: {amount: {EUR: \"50000.00\"}}}\n",
			"limits:\n  retry_budget: {rows: 1, per: 40h}\n  blast_radius: {requeue: {rows: 3000, share: 90%, amount: {EUR: \"9000000.00\"}, baseline: {runs: 3, factor: 1000}}, compensate: {amount: {EUR: \"50000.00\"}, baseline: {runs: 2, factor: 500}}}\n"},
		{"  - {gate: divergence, fail_when: \"share(divergent) > 1%\"}\n", "  - {gate: divergence, fail_when: \"share(divergent) > 1%\"}\n" +
			"  - {gate: divergent-fields, fail_when: \"count(divergent/field_differs) > 1\"}\n  - {gate: stray, fail_when: \"share(unexpected) > 90%\"}\n  - {gate: review, fail_when: \"count(review) > 1000\"}\n" +
			"  - {gate: old, fail_when: \"oldest(review) > 300d\"}\n  - {gate: old-absences, fail_when: \"oldest(absent/no_result) > 300d\"}\n  - {gate: unread, fail_when: \"rejects > 5\"}\n" +
			"  - {gate: differences, fail_when: \"differences > 0\"}\n  - {gate: values, fail_when: \"findings(value_unreadable) > 9\"}\n"},
		{"outputs: {dir: out, formats: [parquet, ndjson, html, xlsx, json, md, prom]}", "outputs: {dir: out, formats: [parquet, json, prom, html]}"},
	} {
		if !strings.Contains(job, x[0]) {
			t.Fatalf("the demo's job does not hold %q", x[0])
		}
		job = strings.Replace(job, x[0], x[1], 1)
	}
	return job
}

// recountNights makes and runs the nights.
func recountNights(t *testing.T, dates []string) []recountNight {
	t.Helper()
	base := t.TempDir()
	job := recountJob(t)
	var out []recountNight
	for i, date := range dates {
		dir := filepath.Join(base, strconv.Itoa(i))
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		truth, err := world.Generate(dir, world.Shape{Seed: 1, Operations: 1000, Date: day})
		if err != nil {
			t.Fatal(err)
		}
		changeNight(t, dir, date, i, truth)
		path := filepath.Join(dir, "job.yaml")
		text := job
		if i == 0 { // the job is observed before it acts
			text = strings.Replace(job, "job: card-charges\n", "job: card-charges\nmode: observe\n", 1)
		}
		write(t, path, text+"canaries: ["+canaryOf(t, dir, date, truth, 0)+", "+canaryOf(t, dir, date, truth, 1)+"]\n")
		j, err := rules.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), Options{Job: j, BusinessDate: date, Out: filepath.Join(base, "out"), Threads: 2})
		if err != nil {
			t.Fatalf("%s: %v", date, err)
		}
		out = append(out, recountNight{date, dir, filepath.Join(base, "out", j.Name, date, res.Manifest.RunID)})
	}
	return out
}

// canaryOf names the n-th operation of the lot of orders 201 and up that nothing disturbs.
func canaryOf(t *testing.T, dir, date string, truth *world.Truth, n int) string {
	t.Helper()
	troubled := map[string]bool{}
	for _, r := range truth.Rows {
		if r.Side == "operations" {
			troubled[strconv.Itoa(r.Record)] = true
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "exports", "operations_"+date+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		id, _, _ := strings.Cut(line, ",")
		if strings.HasSuffix(id, fmt.Sprintf("-00003%02d", 13+n)) && !troubled[strconv.Itoa(i)] {
			return "{operation_id: " + id + ", expect: correct}"
		}
	}
	t.Fatalf("no operation for a canary in %s", dir)
	return ""
}

// changeNight changes the files of a night: what it lacks beside the others, a lot of
// operations that are stated a hundred times too high, columns about attempts, and in the
// last night a line that is no record.
func changeNight(t *testing.T, dir, date string, night int, truth *world.Truth) {
	t.Helper()
	order := func(line string) int {
		_, rest, ok := strings.Cut(line, "ORD-")
		if !ok || len(rest) < 7 {
			return -1
		}
		n, err := strconv.Atoi(rest[:7])
		if err != nil {
			return -1
		}
		return n
	}
	lacks := func(side string, n int) bool {
		switch night {
		case 1:
			return n > 0 && n%5 == 0
		case 2:
			return side == "results" && n > 0 && n%97 == 0
		}
		return false
	}
	name := filepath.Join(dir, "exports", "operations_"+date+".csv")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		n := order(line)
		if lacks("operations", n) {
			continue
		}
		cells := strings.Split(line, ",")
		more := []string{"last_error_code", "step", "last_failed_at", "resolved_at", "replayed_at"}
		if i > 0 {
			more = attemptsOf(t, cells, n)
			if night == 3 && n < 200 && n%11 == 0 { // what is open is about more, and some of it in another currency
				cells[6] = "1" + cells[6]
				cells[7] = map[string]string{"EUR": "USD", "USD": "EUR"}[cells[7]]
				if cells[7] == "" {
					cells[7] = "GBP"
				}
			}
			if n >= 500 && n < 520 && len(cells[6]) > 0 {
				cells[6] = strings.Replace(cells[6], ".", "", 1) + ".00"
			}
		}
		b.WriteString(strings.Join(append(cells, more...), ",") + "\n")
	}
	if night == 3 {
		b.WriteString("this line is no record\n")
	}
	write(t, name, b.String())
	files, err := filepath.Glob(filepath.Join(dir, "provider", "transactions_*.csv.gz"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		rewriteTransactions(t, f, func(line string) bool { return !lacks("results", order(line)) })
	}
}

// attemptsOf makes up what the register says of attempts, from the number of the order.
func attemptsOf(t *testing.T, cells []string, n int) []string {
	t.Helper()
	failed := cells[11]
	if failed == "" || n%3 == 0 {
		return []string{"", "", "", "", ""}
	}
	at, err := time.Parse(time.RFC3339, failed)
	if err != nil {
		t.Fatal(err)
	}
	later := func(d time.Duration) string { return at.Add(d).Format(time.RFC3339) }
	more := []string{fmt.Sprintf("E%d", n%4), []string{"authorize", "capture"}[n%2], later(time.Duration(n%50) * time.Second), "", ""}
	switch n % 4 {
	case 1:
		more[3] = later(time.Duration(n) * time.Second)
	case 2:
		more[4] = later(-time.Minute)
	}
	return more
}

// rewriteTransactions keeps lines of a provider's file and states its trailer anew.
func rewriteTransactions(t *testing.T, name string, keep func(line string) bool) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	count, cents := 0, int64(0)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, ";")
		switch {
		case cells[0] == "T":
			line = fmt.Sprintf("T;%d;%d,%02d\n", count, cents/100, cents%100)
		case cells[0] == "D" && !keep(line):
			continue
		case cells[0] == "D":
			n, err := strconv.ParseInt(strings.Replace(cells[9], ",", "", 1), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			count, cents = count+1, cents+n
		}
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
