package naive

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

const corpus = "../../fixtures/cases"

// TestCorpus runs the oracle on those cases of the corpus that show rules of
// matching, verdicts and guard, with their jobs written out in Go.
func TestCorpus(t *testing.T) {
	business := func(job *rules.Job, passes ...int) {
		var match []rules.Pass
		for _, i := range passes {
			match = append(match, job.Match[i])
		}
		job.Match = match
	}
	charge := map[string]string{
		"op_id": "operation_id", "metadata_op_id": "operation_id", "idem_key": "idempotency_key", "kind": "type",
		"order_no": "entity", "charge_id": "remote_id", "gross": "amount", "booked_at": "created_at",
		"row_type": "kind", "last_error": "error_class",
	}
	noVersion := func(job *rules.Job) { job.Compare = slices.Delete(job.Compare, 2, 3) }
	at := func(b *bench, text string) { b.in.Job.AsOfTime = time.UnixMicro(instant(text)) }
	span := func(from, until string) extract.Interval {
		return extract.Interval{From: instant(from), Until: instant(until), Proves: rules.FullLifecycle}
	}
	cases := []struct {
		id      string
		columns map[string]string
		job     func(*rules.Job)
		bench   func(*bench)
	}{
		{id: "C07", columns: map[string]string{}, job: func(job *rules.Job) {
			business(job, 0)
			dropField(job, rules.Results, "remote_id", "status")
			job.Compare = job.Compare[:1]
		}},
		{id: "C10", columns: map[string]string{"provider_id": "remote_id", "status": "status"}, job: func(job *rules.Job) {
			business(job, 1)
			job.Results.Survivor = &rules.Survivor{By: "remote_id", Latest: "version"}
			job.Results.Field("status").Map = map[string]rules.Status{"succeeded": rules.Succeeded, "failed": rules.Failed}
			dropField(job, rules.Operations, "operation_id")
			for i := range job.Compare {
				job.Compare[i].OnlyIfEqual = ""
			}
		}},
		{id: "C72", columns: map[string]string{"booked_at": "entity", "bank_ref": ""}, job: func(job *rules.Job) {
			business(job, 2)
			job.Match[0].Within = nil
			dropField(job, rules.Results, "remote_id", "status")
			job.Compare = nil
		}},
		{id: "C74", columns: map[string]string{}, job: func(job *rules.Job) {
			business(job, 0, 1)
			dropField(job, rules.Results, "remote_id", "status")
			job.Compare = job.Compare[:1]
		}},
		{id: "C75", columns: map[string]string{"provider_ref": "idempotency_key", "operation_id": "operation_id"}, job: func(job *rules.Job) {
			business(job, 1, 2)
			job.Match[1].On = job.Match[1].On[1:]
			job.Match[1].Within[0].Max = 8 * 24 * time.Hour
			dropField(job, rules.Results, "remote_id", "status")
			job.Compare = job.Compare[:2]
			job.Types = nil
		}},
		{id: "C85", columns: map[string]string{"updated_at": "created_at", "status": "kind"}, job: func(job *rules.Job) {
			business(job, 0)
			dropField(job, rules.Results, "remote_id", "status")
			job.Operations.Fields = append(job.Operations.Fields, rules.Field{Name: "kind", Type: rules.Text})
			job.Compare = []rules.Compare{
				{Name: "status", Operations: "kind", Results: "kind", As: rules.AsText}, job.Compare[2],
				{Name: "updated_at", Operations: "created_at", Results: "created_at", As: rules.AsInstant, Absolute: "1000000"},
			}
		}},
		{id: "D01", columns: charge, job: func(job *rules.Job) { business(job, 0); noVersion(job) }},
		{id: "D03", columns: charge, job: func(job *rules.Job) { business(job, 0); noVersion(job) }, bench: func(b *bench) {
			i := span("2031-06-08T00:00:00Z", "2031-06-11T03:00:00Z")
			i.Lag = 30 * time.Minute
			b.in.ResultsCoverage = []extract.Interval{i}
		}},
		{id: "D05", columns: charge, job: noVersion, bench: func(b *bench) {
			b.in.OperationsCoverage = []extract.Interval{span("2031-06-08T00:00:00Z", "2031-06-11T00:00:00Z")}
		}},
		{id: "D07", columns: charge, job: func(job *rules.Job) {
			business(job, 0)
			noVersion(job)
			p := job.Types["charge"]
			p.KeyTTL, p.MaxDuration = 120*time.Hour, 96*time.Hour
			job.Types["charge"] = p
		}, bench: func(b *bench) {
			at(b, "2031-06-12T04:00:00Z")
			early, late := span("2031-06-08T00:00:00Z", "2031-06-10T00:00:00Z"), span("2031-06-11T00:00:00Z", "2031-06-12T00:00:00Z")
			early.Lag, late.Lag = 30*time.Minute, 30*time.Minute
			b.in.ResultsCoverage = []extract.Interval{early, late}
		}},
		{id: "D09", columns: charge, job: func(job *rules.Job) {
			business(job, 0, 2)
			noVersion(job)
			job.Scope = []rules.ScopeRule{
				{Side: rules.Operations, When: rule("state = 'cancelled' AND attempts = 0"), Reason: "cancelled"},
				{Side: rules.Operations, When: rule("state = 'superseded'"), Reason: "superseded"},
				{Side: rules.Results, When: rule("kind IN ('fee', 'payout')"), Reason: "fee_row"},
			}
		}},
		{id: "D10", columns: charge, job: func(job *rules.Job) {
			business(job, 0, 1)
			job.Results.KeepEffect = &rules.KeepEffect{Earliest: "created_at"}
		}},
		{id: "D11", columns: charge, job: func(job *rules.Job) { business(job, 0, 1) }},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			job := newJob()
			c.job(job)
			b := newBench(job, readCase(t, c.columns, c.id, "left.csv"), "")
			files, err := filepath.Glob(filepath.Join(corpus, c.id, "right*.csv"))
			if err != nil {
				t.Fatal(err)
			}
			number := map[string]int64{}
			for no, path := range files {
				name := filepath.Base(path)
				number[name] = int64(no) << 40
				for _, r := range b.stage(rules.Results, readCase(t, c.columns, c.id, name)) {
					r.RID, r.FileNo = r.RID+int64(no)<<40, no
					b.in.Results = append(b.in.Results, r)
				}
			}
			if c.bench != nil {
				c.bench(b)
			}
			out := b.run(t)
			checkVerdicts(t, out, filepath.Join(corpus, c.id, "expected.csv"), number)
			checkProposals(t, out, filepath.Join(corpus, c.id, "proposals.csv"))
		})
	}
}

// dropField takes fields out of a side, with their comparisons.
func dropField(job *rules.Job, side rules.Side, names ...string) {
	spec := job.Spec(side)
	spec.Fields = slices.DeleteFunc(spec.Fields, func(f rules.Field) bool { return slices.Contains(names, f.Name) })
}

// readCase gives a file of the corpus with its columns renamed to product fields.
func readCase(t *testing.T, columns map[string]string, id, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus, id, name))
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), "\n")
	names := strings.Split(head, ",")
	for i, n := range names {
		if to, ok := columns[n]; ok && to != "" {
			names[i] = to
		}
	}
	return strings.Join(names, ",") + "\n" + rest
}

func readCSV(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, rec := range records[1:] {
		m := map[string]string{}
		for i, name := range records[0] {
			m[name] = rec[i]
		}
		out = append(out, m)
	}
	return out
}

// checkVerdicts compares with the table of the case. files gives the row id that
// comes before the first record of a file of the results.
func checkVerdicts(t *testing.T, out *Outcome, path string, files map[string]int64) {
	t.Helper()
	id := func(file, record string) (n int64) {
		fmt.Sscan(record, &n)
		return files[file] + n
	}
	want := 0
	for _, m := range readCSV(t, path) {
		want++
		side, rows := "o", out.Operations
		if m["side"] == "results" {
			side, rows = "r", out.Results
		}
		var v Verdict
		for _, p := range strings.FieldsFunc(m["partners"], func(r rune) bool { return r == ';' }) {
			file, record, ok := strings.Cut(p, ":")
			if !ok {
				file, record = "right.csv", p
			}
			v.Partners = append(v.Partners, id(file, record))
		}
		v.Class, v.Reason, v.Fields = Class(m["class"]), m["reason"], strings.Split(m["fields"], ";")
		rid := id(m["file"], m["record"])
		if got, want := line(side, rid, rows[rid]), line(side, rid, v); got != want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", m["file"], m["record"], got, want)
		}
	}
	if got := len(out.Operations) + len(out.Results); got != want {
		t.Errorf("%d verdicts for %d records", got, want)
	}
}

func checkProposals(t *testing.T, out *Outcome, path string) {
	t.Helper()
	for _, m := range readCSV(t, path) {
		var n int64
		fmt.Sscan(m["record"], &n)
		p := out.Proposals[n]
		refused := strings.FieldsFunc(m["refused_checks"], func(r rune) bool { return r == ';' })
		slices.Sort(refused)
		got := slices.Sorted(slices.Values(p.Refused))
		if string(p.Queue) != m["proposal"] || !slices.Equal(got, refused) {
			t.Errorf("operation %d: got %s %v, want %s %v", n, p.Queue, p.Refused, m["proposal"], refused)
		}
	}
}
