package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notCountedMetrics are the metrics of a run that no statement over its files can find.
var notCountedMetrics = map[string]string{
	"limit_exceeded":         "the limits of these nights are far away (TestBlastRadius)",
	"acting_queues_withheld": "none of these nights withholds a queue (TestWithheldQueues)",
	"queue_written":          "none of these nights withholds a queue (TestWithheldQueues)",
	"coverage_seconds":       "times that the job declares (TestWork)",
	"coverage_gap_seconds":   "times that the job declares (TestWork)",
	"coverage_gaps":          "times that the job declares (TestWork)",
	"build_info":             "always 1, for its labels",
	"series_dropped":         "how many series are left out, which these nights have not enough of (TestSeriesAreCapped)",
}

// zeroMetrics are 0 in all of these nights: both canaries come out as they should, and no
// day closes.
var zeroMetrics = map[string]bool{"canaries_failed": true, "day_closes": true}

// ofPeriod is a ratio of operations of the period, with six digits.
func ofPeriod(count, of string) string {
	return "SELECT CAST(round(1.0 * " + count + " / nullif(" + of + ", 0), 6) AS DECIMAL(18,6))" + inPeriod
}

// countedMetrics is every other metric of a run, in the order of their list. Each has its
// labels, then the value.
var countedMetrics = []counted{
	{at: "business_date_seconds[]", sql: `SELECT CAST(epoch(CAST(date AS TIMESTAMP)) AS BIGINT) FROM night`},
	{at: "exit_code[]", sql: `SELECT CASE WHEN d > 0 THEN 3 ELSE 0 END FROM (SELECT ` + differences + ` AS d)`},
	{at: "day_closes[]", sql: `SELECT CASE WHEN count(*) = 0 THEN 1 ELSE 0 END FROM work`},
	{at: "difference_rows[]", sql: `SELECT ` + differences},
	{at: "gate_failed[]", keys: []string{"gate"}, sql: `SELECT name, CASE WHEN name IN ('divergence', 'divergent-fields') AND TRY_CAST(value AS DOUBLE) > 1 OR name = 'differences' AND TRY_CAST(value AS BIGINT) > 0 OR name = 'stray' AND TRY_CAST(value AS DOUBLE) > 90
		OR name = 'review' AND TRY_CAST(value AS BIGINT) > 1000 OR name = 'unread' AND TRY_CAST(value AS BIGINT) > 5 OR name = 'values' AND TRY_CAST(value AS BIGINT) > 9 OR starts_with(name, 'old') AND TRY_CAST(split_part(value, ' d', 1) AS BIGINT) >= 300 THEN 1 ELSE 0 END
		FROM (` + countedGates + `) g(name, value)`},
	{at: "canaries[]", sql: `SELECT count(DISTINCT op_id) FROM ` + canaryRows},
	{at: "canaries_failed[]", sql: `SELECT count(*) FILTER (WHERE class <> 'correct') FROM ` + canaryRows},
	{at: "source_rows[]", keys: []string{"side", "source"}, sql: `SELECT f.side, f.source, count(b.file) FROM files f LEFT JOIN ` + bothSides + ` b ON b.side = f.side AND b.file = f.file GROUP BY ALL`},
	{at: "rejected_rows[]", keys: []string{"side"}, sql: `SELECT s, (SELECT count(*) FROM rej WHERE side = s) FROM (VALUES ('operations'), ('results')) t(s)`},
	{at: "missing_files[]", keys: []string{"side"}, sql: `SELECT side, count(*) FILTER (WHERE size = 0) FROM files GROUP BY side`},
	{at: "classified_rows[]", keys: []string{"side", "class"}, sql: `SELECT n.side, n.class, count(b.file) FROM (SELECT * FROM (VALUES ('operations'), ('results')) s(side), (VALUES ('correct'), ('divergent'), ('absent'), ('unexpected'), ('ambiguous'), ('duplicate'), ('not_due'), ('not_applicable')) c(class)) n
		LEFT JOIN ` + bothSides + ` b ON b.side = n.side AND b.class = n.class AND b.in_period GROUP BY ALL`},
	{at: "classified_amount[]", keys: []string{"side", "class", "currency"}, sql: `SELECT side, class, coalesce(currency, ''), coalesce(sum(value), 0) FROM ` + bothSides + ` WHERE in_period GROUP BY ALL`},
	{at: "match_ratio[]", sql: ofPeriod("count(*) FILTER (WHERE class = 'correct')", "count(*) FILTER (WHERE class <> 'not_applicable')")},
	{at: "divergence_ratio[]", sql: ofPeriod("count(*) FILTER (WHERE class = 'divergent')", "count(*)")},
	{at: "duplicate_rows[]", keys: []string{"side"}, sql: `SELECT side, count(*) FILTER (WHERE class = 'duplicate' OR reason = 'duplicate_effect') FROM ` + bothSides + ` WHERE in_period GROUP BY side`},
	{at: "once_not_proven_rows[]", sql: `SELECT count(*) FILTER (WHERE once = 'not_proven')` + inPeriod + ` AND class = 'correct'`},
	{at: "open_cases[]", keys: []string{"queue"}, sql: `SELECT queue, count(item_id) FROM ` + queueNames + ` LEFT JOIN q USING (queue) GROUP BY queue`},
	{at: "open_case_amount[]", keys: []string{"queue", "currency"}, sql: `SELECT queue, currency, sum(value) FROM q GROUP BY ALL HAVING count(value) > 0`},
	{at: "oldest_open_case_age_seconds[]", keys: []string{"queue"}, sql: `SELECT queue, coalesce(max(age) FILTER (WHERE NOT waiting AND queue <> 'confirm'), 0) FROM ` + queueNames + ` LEFT JOIN waited USING (queue) GROUP BY queue`},
	{at: "open_cases_by_age[]", keys: []string{"queue", "bucket"}, sql: `SELECT b.queue, b.name, count(w.item_id)
		FROM (SELECT * FROM ` + queueNames + `, (VALUES ('0-1d'), ('1-3d'), ('3-7d'), ('7-30d'), ('30d+'), ('unknown'), ('waiting')) t(name) WHERE queue <> 'confirm') b LEFT JOIN buckets w ON w.queue = b.queue AND w.bucket = b.name GROUP BY ALL`},
	{at: "observe_only_cases[]", keys: []string{"queue"}, sql: `SELECT queue, count(*) FILTER (WHERE observe_only) FROM ` + queueNames + ` LEFT JOIN q USING (queue) GROUP BY queue`},
	{at: "deferred_cases[]", keys: []string{"queue"}, sql: `SELECT queue, count(*) FILTER (WHERE deferred) FROM ` + queueNames + ` LEFT JOIN q USING (queue) GROUP BY queue`},
	{at: "manual_review_items[]", sql: `SELECT count(*) FROM q WHERE queue = 'review'`},
	{at: "oldest_pending_age_seconds[]", sql: `SELECT ((SELECT as_of FROM night) - min(created)) // 1000000 FROM o WHERE class NOT IN ('correct', 'not_applicable', 'duplicate')`},
	{at: "attempted_operations[]", sql: `SELECT count(*) FILTER (WHERE attempts > 0)` + inPeriod},
	{at: "attempts_mean[]", sql: ofPeriod("sum(attempts) FILTER (WHERE attempts > 0)", "count(*) FILTER (WHERE attempts > 0)")},
	{at: "retried_operations[]", sql: `SELECT count(*) FILTER (WHERE attempts > 1)` + inPeriod},
	{at: "retry_success_ratio[]", sql: ofPeriod("count(*) FILTER (WHERE attempts > 1 AND class = 'correct')", "count(*) FILTER (WHERE attempts > 1)")},
	{at: "retries[]", keys: []string{"cause"}, sql: `SELECT coalesce(error_class, error_code, 'not_stated'), sum(attempts - 1)` + inPeriod + ` AND attempts > 1 GROUP BY 1`},
	{at: "failures[]", keys: []string{"workflow", "step", "reason"}, sql: `SELECT kind, step, coalesce(error_class, error_code), count(*)` + inPeriod + ` AND class NOT IN ('correct', 'not_applicable') AND coalesce(error_class, error_code) IS NOT NULL GROUP BY ALL`},
	{at: "confirmation_seconds[]", keys: []string{"type", "percentile"}, sql: `WITH p AS (SELECT type, ` + ranks("us", "0.5", "0.95", "0.99") + ` FROM ` + timedPairs + ` WHERE us IS NOT NULL GROUP BY type), n AS (SELECT * FROM p t(type, a, b, c))
		SELECT type, '50', CAST(a AS DECIMAL(28,6)) / 1000000 FROM n UNION ALL SELECT type, '95', CAST(b AS DECIMAL(28,6)) / 1000000 FROM n UNION ALL SELECT type, '99', CAST(c AS DECIMAL(28,6)) / 1000000 FROM n`},
	{at: "resolution_median_seconds[]", sql: `SELECT CAST(` + ranks("resolved - first_failed", "0.5") + ` AS DECIMAL(28,6)) / 1000000` + inPeriod},
	{at: "resolution_longest_seconds[]", sql: `SELECT CAST(max(resolved - first_failed) AS DECIMAL(28,6)) / 1000000` + inPeriod},
	{at: "resolved_operations[]", sql: `SELECT count(resolved - first_failed)` + inPeriod},
	{at: "manual_replays_failed[]", sql: `SELECT count(*) FILTER (WHERE class <> 'correct' AND replayed IS NOT NULL AND (last_failed >= replayed OR last_failed IS NULL AND resolved IS NULL))` + inPeriod},
	{at: "reason_rows[]", keys: []string{"side", "class", "reason"}, sql: `SELECT side, class, reason, count(*) FROM ` + bothSides + ` WHERE in_period AND NOT (class = 'correct' AND reason = 'equal') GROUP BY ALL`},
}

// metricsOf reads metrics.prom as a document: a list of objects for each metric, of its
// labels but recon_job, and its value.
func metricsOf(t *testing.T, run string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, "metrics.prom"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	label := regexp.MustCompile(`(\w+)="([^"]*)"`)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := regexp.MustCompile(`^recon_batch_(\w+)\{(.*)\} (\S+)\n$`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no metric: %q", line)
		}
		sample := map[string]any{"value": m[3]}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "recon_job" {
				sample[l[1]] = l[2]
			}
		}
		list, _ := out[m[1]].([]any)
		out[m[1]] = append(list, sample)
	}
	return out
}

// recountMetrics finds every metric of a night again, and asks of each whether another value
// would be noticed. It notes the names that have a value other than 0.
func recountMetrics(t *testing.T, r *recounting, run string, some map[string]bool) {
	t.Helper()
	metrics := metricsOf(t, run)
	m := &recounting{t: t, db: r.db, doc: metrics}
	known := map[string]bool{}
	for _, c := range countedMetrics {
		c.nums = []string{"value"}
		m.compare(c)
		name := strings.TrimSuffix(c.at, "[]")
		known[name] = true
		list, _ := metrics[name].([]any)
		for _, x := range list {
			some[name] = some[name] || plain(x.(map[string]any)["value"].(string)) != "0"
		}
		if len(list) > 0 {
			sample := list[0].(map[string]any)
			was := sample["value"]
			sample["value"] = "1234567.25"
			if len(m.against(c, m.wanted(c))) == 0 {
				t.Errorf("%s was changed, and nobody noticed", name)
			}
			sample["value"] = was
		}
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if known[name] == (notCountedMetrics[name] != "") {
			t.Errorf("%s is counted again (%t), and listed as not counted (%t)", name, known[name], notCountedMetrics[name] != "")
		}
	}
}
