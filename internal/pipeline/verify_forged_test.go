package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fixtures/world"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// publishedDay runs the demo job on a small generated day, with every kind of trouble
// and a queue of each kind, and returns the folder of the job's runs and the run id.
func publishedDay(t *testing.T) (job, run string) {
	t.Helper()
	dir := t.TempDir()
	day := time.Date(2026, time.November, 29, 0, 0, 0, 0, time.UTC)
	if _, err := world.Generate(dir, world.Shape{Seed: 1, Operations: 2000, Date: day}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../examples/demo/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "job.yaml"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	j, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Job: j, BusinessDate: "2026-11-29", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "out", j.Name), res.Manifest.RunID
}

// forger changes a published run and then gives manifest and chain the digests of what
// it wrote, so that no digest tells.
type forger struct {
	t   *testing.T
	dir string // of the run
	db  *duck.DB
}

// parquet replaces the rows of a published file by those of a statement over old, the
// rows before.
func (f forger) parquet(name, query string) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	ctx := context.Background()
	for _, q := range []string{
		"CREATE OR REPLACE TABLE old AS SELECT * FROM read_parquet(" + duck.Literal(path) + ")",
		"COPY (" + query + ") TO " + duck.Literal(path) + " (FORMAT parquet)",
	} {
		if err := f.db.Exec(ctx, q); err != nil {
			f.t.Fatal(err)
		}
	}
}

// text replaces the first old in a published file.
func (f forger) text(name, old, new string) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		f.t.Fatalf("%s does not hold %q", name, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// document changes a JSON file.
func (f forger) document(name string, change func(doc map[string]any)) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	doc := map[string]any{}
	if err := json.Unmarshal(text, &doc); err != nil {
		f.t.Fatal(err)
	}
	change(doc)
	if text, err = encode(doc); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// seal writes manifest and chain as they would be, had the run published this.
func (f forger) seal() {
	f.t.Helper()
	m, _, err := ReadManifest(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	m.Outputs = nil
	err = filepath.WalkDir(f.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == manifestName || e.Name() == timingsName {
			return err
		}
		rel, err := filepath.Rel(f.dir, p)
		if err != nil {
			return err
		}
		size, sum, err := hashFile(p)
		m.Outputs = append(m.Outputs, OutputDigest{Path: filepath.ToSlash(rel), Role: roleOf(rel), Size: size, SHA256: sum})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := encode(m)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, manifestName), text, 0o644); err != nil {
		f.t.Fatal(err)
	}
	c := &chain{SchemaVersion: ManifestSchema, Runs: 1, Last: &RunRef{BusinessDate: m.BusinessDate, RunID: m.RunID, ManifestSHA256: sha256Hex(text)}}
	if err := c.write(filepath.Dir(filepath.Dir(f.dir))); err != nil {
		f.t.Fatal(err)
	}
}

// Every invariant, broken on purpose in a published file whose digests were adapted in
// manifest and chain. Each forgery is noticed by the check that is named, by its words.
func TestVerifyNoticesForgeries(t *testing.T) {
	published, run := publishedDay(t)
	forged := t.TempDir()
	db, err := duck.Open(t.Context(), duck.Options{Allowed: []string{forged}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	items := "queues/requeue.parquet"
	both := func(f forger, query string) { // both files of a queue alike
		f.parquet(items, query)
		path := duck.Literal(filepath.Join(f.dir, "queues"))
		q := fmt.Sprintf("COPY (SELECT * FROM read_parquet(%s || '/requeue.parquet')) TO %s (FORMAT json)", path, duck.Literal(filepath.Join(f.dir, "queues", "requeue.ndjson")))
		if err := db.Exec(context.Background(), q); err != nil {
			f.t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		forge func(f forger)
		check string
		want  string
	}{
		"nothing": {func(forger) {}, "", ""},
		// Rule 1.
		"a row less": {func(f forger) { f.parquet("operations.parquet", "SELECT * FROM old OFFSET 1") }, "operations", "records read, but"},
		"a row twice": {func(f forger) {
			f.parquet("results.parquet", "SELECT * FROM old UNION ALL (SELECT * FROM old WHERE class = 'absent' OR reason = 'surplus_effect' LIMIT 1)")
		}, "results", "several verdicts"},
		"another verdict": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (CASE WHEN class = 'ambiguous' THEN 'not_due' ELSE CAST(class AS VARCHAR) END AS class) FROM old")
		}, "operations", "cannot have"},
		"another reason": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (CASE WHEN reason = 'no_result' THEN 'failed_at_provider' ELSE CAST(reason AS VARCHAR) END AS reason) FROM old")
		}, "operations", "the manifest counts"},
		"a scope rule that the job has not": {func(f forger) {
			f.parquet("results.parquet", "SELECT * REPLACE (CASE WHEN reason = 'fee_row' THEN 'no_matter' ELSE CAST(reason AS VARCHAR) END AS reason) FROM old")
		}, "results", "not_applicable/no_matter"},
		"another period": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (true AS in_period) FROM old")
		}, "operations", "in the period, the manifest counts"},
		"proven once": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (CASE WHEN once IS NOT NULL THEN 'proven' END AS once) FROM old")
		}, "report", "not proven to exist only once"},
		"once of an absence": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (CASE WHEN class = 'absent' THEN 'proven' ELSE CAST(once AS VARCHAR) END AS once) FROM old")
		}, "operations", "(V23)"},
		"another pass": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (CASE WHEN pass = 'business_key' THEN 'operation_id' ELSE CAST(pass AS VARCHAR) END AS pass) FROM old")
		}, "report", "of the pass business_key"},
		// Rule 2.
		"a rejected record, and no gap": {func(f forger) {
			f.document(manifestName, func(doc map[string]any) {
				in := doc["inputs"].([]any)[1].(map[string]any)
				in["rejected"] = 1
			})
		}, "absence", "was not read whole"},
		// Rule 3.
		"requeue of what is not absent": {func(f forger) {
			both(f, `SELECT * REPLACE ('ambiguous' AS class, 'coverage_incomplete' AS reason,
				(SELECT record FROM read_parquet(`+duck.Literal(filepath.Join(f.dir, "operations.parquet"))+`) WHERE class = 'ambiguous' LIMIT 1) AS o_record) FROM old`)
		}, "queues", "another class than the guard allows"},
		"a verdict in the item alone": {func(f forger) {
			f.parquet("queues/review.parquet", "SELECT * REPLACE (CASE WHEN reason = 'several_candidates' THEN 'keys_disagree' ELSE CAST(reason AS VARCHAR) END AS reason) FROM old")
		}, "queues", "another verdict than the row"},
		"requeue in spite of a refused check": {func(f forger) { both(f, "SELECT * REPLACE ('lease' AS refused) FROM old") }, "queues", "in spite of a refused check"},
		"confirm of what differs": {func(f forger) {
			f.parquet("queues/confirm.parquet", `SELECT * REPLACE (
				(SELECT min(record) FROM read_parquet(`+duck.Literal(filepath.Join(f.dir, "operations.parquet"))+`) WHERE reason = 'field_differs') AS o_record)
				FROM old LIMIT 1`)
		}, "queues", "another class than the guard allows"},
		"compensate of the good effect": {func(f forger) {
			f.parquet("queues/compensate.parquet", `SELECT * REPLACE (
				(SELECT min(record) FROM read_parquet(`+duck.Literal(filepath.Join(f.dir, "results.parquet"))+`) r WHERE r.file = old.r_file AND class = 'correct') AS r_record) FROM old`)
		}, "queues", "another class than the guard allows"},
		"twice to act on one row": {func(f forger) {
			f.parquet("queues/confirm.parquet", "SELECT * FROM old UNION ALL (SELECT * REPLACE ('ff' AS item_id) FROM old LIMIT 1)")
		}, "queues", "1 proposals to act on a row that has another one"},
		"without a key":     {func(f forger) { both(f, "SELECT * REPLACE (NULL AS idempotency_key) FROM old") }, "queues", "under no idempotency key"},
		"another operation": {func(f forger) { both(f, "SELECT * REPLACE ('op-other' AS operation_id) FROM old") }, "queues", "another operation_id than the row"},
		"another key":       {func(f forger) { both(f, "SELECT * REPLACE (idempotency_key || 'x' AS idempotency_key) FROM old") }, "queues", "another idempotency_key than the row"},
		"another effect": {func(f forger) {
			f.parquet("queues/compensate.parquet", "SELECT * REPLACE (keep_remote_id AS remote_id) FROM old")
		}, "queues", "another remote_id than the row"},
		"sent again at once":         {func(f forger) { both(f, "SELECT * REPLACE ('2026-11-29T00:00:00Z' AS next_attempt_at) FROM old") }, "queues", "(V33)"},
		"after the key is forgotten": {func(f forger) { both(f, "SELECT * REPLACE ('2026-11-30T03:00:00.5Z' AS expires_at) FROM old") }, "queues", "(V33)"},
		"in one of its files":        {func(f forger) { f.text("queues/requeue.ndjson", `"operation_id":"op-`, `"operation_id":"op_`) }, "queues", "requeue.ndjson and queues/requeue.parquet"},
		"nobody looks": {func(f forger) {
			f.parquet("queues/review.parquet", "SELECT * FROM old WHERE reason <> 'unattributed_result'")
		}, "queues", "rows that need a person, and no item"},
		"another amount": {func(f forger) { both(f, "SELECT * REPLACE ('1.00' AS amount) FROM old") }, "queues", "the amounts of requeue items in EUR"},
		"an item less":   {func(f forger) { both(f, "SELECT * FROM old OFFSET 1") }, "queues", "requeue items are counted wrong"},
		"observed":       {func(f forger) { both(f, "SELECT * REPLACE (true AS observe_only) FROM old") }, "queues", "requeue items to observe only"},
		// Rule 4.
		"two operations of one link": {func(f forger) {
			f.parquet("operations.parquet", `SELECT * REPLACE (CASE WHEN class = 'correct' THEN (SELECT min(link) FROM old WHERE class = 'correct') ELSE link END AS link) FROM old`)
		}, "links", "links that are not of one operation"},
		"two results by a business key": {func(f forger) {
			f.parquet("results.parquet", `SELECT * REPLACE (CASE WHEN pass = 'business_key' THEN (SELECT min(link) FROM old WHERE pass = 'business_key') ELSE link END AS link) FROM old`)
		}, "links", "links that are not of one operation"},
		"a result with two links": {func(f forger) {
			f.parquet("links.parquet", "SELECT * FROM old UNION ALL (SELECT * REPLACE (link + 1 AS link) FROM old LIMIT 1)")
		}, "links", "under two links, or under another one"},
		"a link of an absence": {func(f forger) {
			f.parquet("operations.parquet", "SELECT * REPLACE (CASE WHEN reason = 'no_result' THEN 1 ELSE link END AS link) FROM old")
		}, "links", "contradict each other"},
		"an effect nobody asked for, linked": {func(f forger) {
			f.parquet("results.parquet", "SELECT * REPLACE (CASE WHEN class = 'unexpected' THEN 1 ELSE link END AS link) FROM old")
		}, "links", "contradict each other"},
		// Rule 5, and the wide rows.
		"one id twice": {func(f forger) { both(f, "SELECT * REPLACE ('0' AS item_id) FROM old") }, "queues", "share their id"},
		"an exception less": {func(f forger) {
			f.parquet("exceptions.parquet", "SELECT * FROM old WHERE o_reason IS DISTINCT FROM 'no_result'")
		}, "exceptions", "operations that exceptions.parquet tells otherwise"},
		"an exception told otherwise": {func(f forger) {
			f.parquet("exceptions.parquet", "SELECT * REPLACE (CASE WHEN r_reason = 'no_operation' THEN 'fee_row' ELSE CAST(r_reason AS VARCHAR) END AS r_reason) FROM old")
		}, "exceptions", "results that exceptions.parquet tells otherwise"},
		"a cent": {func(f forger) {
			f.parquet("exceptions.parquet", "SELECT * REPLACE (CASE WHEN o_reason = 'no_result' THEN o_value + 0.01 ELSE o_value END AS o_value) FROM old")
		}, "statement", "operations absent/no_result"},
		// What report.json says.
		"a line of the statement": {func(f forger) {
			f.document("report.json", func(doc map[string]any) {
				l := doc["statement"].([]any)[0].(map[string]any)["lines"].([]any)[0].(map[string]any)
				l["operation_rows"] = l["operation_rows"].(float64) + 1
			})
		}, "statement", "the lines have"},
		"a gate that passes": {func(f forger) {
			f.document("report.json", func(doc map[string]any) { doc["gates"].([]any)[0].(map[string]any)["value"] = "0 %" })
		}, "outcome", "the gates of the job come out as"},
		"a higher limit": {func(f forger) {
			f.document("report.json", func(doc map[string]any) { doc["limits"].([]any)[0].(map[string]any)["limit"] = "9999" })
		}, "outcome", "the limits of the job come out as"},
		"another exit status": {func(f forger) { f.text(manifestName, `"exit_code": 3`, `"exit_code": 0`) }, "outcome", "the manifest says 0"},
		"withheld queues": {func(f forger) {
			f.document("report.json", func(doc map[string]any) { doc["outcome"].(map[string]any)["withheld"] = true })
		}, "outcome", "should be false"},
		"a closed day": {func(f forger) {
			f.document("report.json", func(doc map[string]any) { doc["outcome"].(map[string]any)["closes"] = true })
		}, "outcome", "the day closes"},
		"a count of the report": {func(f forger) {
			f.document("report.json", func(doc map[string]any) {
				c := doc["sides"].([]any)[1].(map[string]any)["counts"].([]any)[0].(map[string]any)
				c["rows"] = c["rows"].(float64) - 1
			})
		}, "report", "counted wrong by 1"},
		"an open item less":       {func(f forger) { f.parquet("open.parquet", "SELECT * FROM old OFFSET 1") }, "open items", "open items are not those of the queues"},
		"another open amount":     {func(f forger) { f.parquet("open.parquet", "SELECT * REPLACE ('0.01' AS amount) FROM old") }, "open items", "the report says"},
		"open since another date": {func(f forger) { f.parquet("open.parquet", "SELECT * REPLACE ('2026-01-01' AS since) FROM old") }, "open items", "since"},
		"an open item of no money": {func(f forger) {
			f.parquet("open.parquet", "SELECT * FROM old UNION ALL (SELECT * REPLACE ('XXX' AS currency) FROM old LIMIT 1)")
		}, "open items", "of a currency that the report does not have"},
		"a row less of an account": {func(f forger) {
			f.document("report.json", func(doc map[string]any) {
				a := doc["account_statements"].([]any)
				doc["account_statements"] = a[1:]
			})
		}, "open items", "but the accounts have"},
		"an opening": {func(f forger) {
			f.document("report.json", func(doc map[string]any) {
				doc["open_items"].([]any)[0].(map[string]any)["opening"].(map[string]any)["items"] = 7
			})
		}, "open items", "opening, new, cleared and changed lead to"},
		"a trend": {func(f forger) {
			f.document("report.json", func(doc map[string]any) {
				doc["trend"].([]any)[0].(map[string]any)["matched"] = 7
			})
		}, "former", "the trend of the report is not that of the runs"},
		"an input of the report": {func(f forger) {
			f.document("report.json", func(doc map[string]any) { doc["sides"].([]any)[0].(map[string]any)["control"] = 7 })
		}, "report", "the report says"},
		"no such file": {func(f forger) {
			if err := os.Remove(filepath.Join(f.dir, "links.parquet")); err != nil {
				f.t.Fatal(err)
			}
		}, "files", "links.parquet was not published"},
		"no such column": {func(f forger) { f.parquet("exceptions.parquet", "SELECT * EXCLUDE (o_reason) FROM old") }, "files", "o_reason"},
	} {
		if testing.Short() && name != "nothing" && name != "a row less" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			job := filepath.Join(forged, strings.ReplaceAll(name, " ", "_"), filepath.Base(published))
			if err := os.CopyFS(job, os.DirFS(published)); err != nil {
				t.Fatal(err)
			}
			f := forger{t: t, dir: filepath.Join(job, "2026-11-29", run), db: db}
			tc.forge(f)
			f.seal()
			v, err := Verify(t.Context(), f.dir)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]string{}
			for _, c := range v.Checks {
				if len(c.Wrong) > 0 {
					found[c.Name] = strings.Join(c.Wrong, "\n")
				}
			}
			if tc.check == "" {
				if len(found) > 0 {
					t.Fatalf("an untouched run: %v", found)
				}
				return
			}
			if !strings.Contains(found[tc.check], tc.want) {
				t.Errorf("%s does not say %q; wrong are %v: %v", tc.check, tc.want, slices.Sorted(maps.Keys(found)), found)
			}
			for _, quiet := range []string{"digests", "identity", "chain"} {
				if found[quiet] != "" {
					t.Errorf("the forgery was not hidden: %s: %s", quiet, found[quiet])
				}
			}
		})
	}
}
