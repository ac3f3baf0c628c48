package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// What a run says of former ones, of what was let pass, of canaries and of withdrawn
// items is checked against those things themselves.
func TestVerifyNoticesForgedPolicy(t *testing.T) {
	n := newNights(t)
	const more = "limits: {blast_radius: {requeue: {rows: 1, baseline: {runs: 1, factor: 5}}}}\ncanaries: [{operation_id: c9, expect: correct}]"
	lift := Allowed{Limits: []string{"requeue.rows"}, Reason: "test"}
	n.files("2026-11-01", "c/0", "-c/1", "-c/2", "c/9")
	n.run("2026-11-01", more+"\nmode: observe", lift)
	n.files("2026-11-02", "c/0", "-c/1", "-c/2", "-c/3", "c/9")
	n.run("2026-11-02", more, lift)
	n.files("2026-11-02", "c/0", "c/1", "-c/2", "-c/3", "c/9")
	run := n.run("2026-11-02", more, lift)
	if run.Manifest.Withdrawn == nil || len(run.Manifest.Former) == 0 || run.ExitCode != 0 {
		t.Fatalf("nothing to forge: %+v", run.Manifest)
	}
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir(), Allowed: []string{n.dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	report := func(change func(doc map[string]any)) func(forger) {
		return func(f forger) { f.document(reportName, change) }
	}
	for name, tc := range map[string]struct {
		forge       func(f forger)
		check, want string // "" nothing is wrong
	}{
		"nothing":             {func(forger) {}, "", ""},
		"no override":         {report(func(d map[string]any) { d["overrides"] = []any{} }), "former", "the command line changed"},
		"other stages":        {report(func(d map[string]any) { d["staged"] = false }), "former", "series and stages"},
		"more seen":           {report(func(d map[string]any) { d["seen_before"] = []any{} }), "former", "former runs published"},
		"another baseline":    {report(func(d map[string]any) { first(d, "baseline")["run_id"] = "0" }), "former", "other numbers"},
		"a limit not lifted":  {report(func(d map[string]any) { first(d, "limits")["lifted"] = false }), "outcome", "the limits of the job come out as"},
		"a queue is withheld": {report(func(d map[string]any) { d["outcome"].(map[string]any)["withheld_queues"] = []any{"requeue"} }), "outcome", "give []"},
		"another canary":      {report(func(d map[string]any) { first(d, "canaries")["operation_id"] = "c0" }), "canaries", "not those of the job"},
		"a canary that fails": {report(func(d map[string]any) { first(d, "canaries")["class"] = "absent" }), "canaries", "not those of the job"},
		"more set aside":      {report(func(d map[string]any) { first(d, "aside")["rows"] = 2 }), "canaries", "2 rows are set aside, the canaries have 1"},
		"a canary to act on": {func(f forger) {
			f.parquet("queues/confirm.parquet", "SELECT * REPLACE ('c9' AS operation_id) FROM old")
		}, "canaries", "in an acting queue"},
		"an item less is withdrawn": {func(f forger) {
			f.parquet(withdrawnParquet, "SELECT * FROM old LIMIT 0")
		}, "withdrawn", "0 items are withdrawn"},
		"another item is withdrawn": {func(f forger) {
			f.parquet(withdrawnParquet, "SELECT * REPLACE ('c7' AS operation_id) FROM old")
		}, "withdrawn", "not those that the superseded run and this one give"},
		"both files differ": {func(f forger) { f.text(withdrawnNDJSON, `"replaced"`, `"gone"`) }, "withdrawn", "both files tell differently"},
		"what stands is withdrawn": {func(f forger) {
			requeue := duck.Literal(filepath.Join(f.dir, "queues", "requeue.parquet"))
			f.parquet(withdrawnParquet, "FROM old UNION ALL (SELECT item_id, case_id, 'requeue', operation_id, run_id, 'gone', NULL, NULL FROM read_parquet("+requeue+") LIMIT 1)")
		}, "withdrawn", "stand in the same queue of this run"},
		"withdrawn by nobody": {func(f forger) {
			f.document(manifestName, func(d map[string]any) { delete(d, "withdrawn") })
		}, "withdrawn", "the manifest withdraws nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			job := filepath.Join(n.dir, "forged", strings.ReplaceAll(name, " ", "_"), "nights")
			if err := os.CopyFS(job, os.DirFS(filepath.Join(n.dir, "out", "nights"))); err != nil {
				t.Fatal(err)
			}
			f := forger{t: t, dir: filepath.Join(job, "2026-11-02", run.Manifest.RunID), db: db}
			tc.forge(f)
			f.seal()
			v, err := Verify(t.Context(), f.dir)
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, c := range v.Checks {
				if len(c.Wrong) > 0 && (tc.check == "" && c.Name != "chain" || c.Name == tc.check) { // seal writes a chain of one run
					found += c.Name + ": " + strings.Join(c.Wrong, "\n")
				}
			}
			if tc.check == "" && found != "" || !strings.Contains(found, tc.want) {
				t.Errorf("%s does not say %q: %s", tc.check, tc.want, found)
			}
		})
	}
}

// first is the first object of a list.
func first(doc map[string]any, list string) map[string]any {
	return doc[list].([]any)[0].(map[string]any)
}

// Requeues that go faster than the budget allows are noticed in the published queue.
func TestVerifyNoticesAStorm(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", absent(4)...)
	run := n.run("2026-11-01", "limits: {retry_budget: {rows: 2, per: 1h}}", Allowed{})
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir(), Allowed: []string{n.dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f := forger{t: t, dir: n.folder(run), db: db}
	f.parquet("queues/requeue.parquet", "SELECT * REPLACE (min(next_attempt_at) OVER () AS next_attempt_at) FROM old")
	f.seal()
	v, err := Verify(t.Context(), f.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Checks {
		if c.Name == "queues" && strings.Contains(strings.Join(c.Wrong, "\n"), "2 items that would send more at a time than the retry budget allows") {
			return
		}
	}
	t.Errorf("nothing is wrong with four at a time, where two an hour are allowed: %+v", v.Checks)
}
