package pipeline

import (
	"fmt"
	"strings"
)

// pairs are the correct links in the period with the time from operation to result.
const timedPairs = `(SELECT o.kind AS type, r.created - o.created AS us FROM o JOIN r USING (link) WHERE o.in_period AND o.class = 'correct' AND r.class = 'correct')`

// ranks are percentiles by nearest rank: of n sorted values the one at place ceil(p * n).
func ranks(value string, ps ...string) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("list_sort(list(%s))[CAST(ceil(%s * count(%s)) AS BIGINT)]", value, p, value))
	}
	return strings.Join(out, ", ")
}

const inPeriod = ` FROM o WHERE in_period`

// An operation with two effects stands in two links, and its amount counts in the first.
var countedFound = []counted{
	{at: "exceptions", nums: []string{"showing", "of"}, sql: `SELECT least(count(*), 200), count(*) FROM work`},
	{at: "exceptions.items[]", subset: true, keys: []string{"operation.file", "result.file", "pass", "differs", "currency"},
		nums: []string{"operation.record", "result.record", "link", "set", "candidates", "operation_amount", "result_amount", "difference"}, sql: `
		SELECT o_file, r_file, x.pass, fields, x.currency, o_record, r_record, x.link, set_id, candidates, o.value, r.value,
			CASE WHEN o_record IS NULL OR row_number() OVER (PARTITION BY o_file, o_record ORDER BY r_file, r_record) > 1 THEN r.value WHEN r_record IS NULL THEN -o.value WHEN o.currency = r.currency THEN r.value - o.value END
		FROM work x LEFT JOIN o ON o.file = o_file AND o.record = o_record LEFT JOIN r ON r.file = r_file AND r.record = r_record`},
	{at: "board", nums: []string{"showing", "of", "causes"}, sql: `SELECT least(count(*), 50000), count(*), count(DISTINCT class || '/' || reason || '/' || coalesce(fields, '')) FROM work`},
	{at: "board.by_cause[]", keys: []string{"class", "reason", "differs"}, nums: []string{"rows", "showing"}, sql: `SELECT class, reason, fields, count(*), count(*) FROM work GROUP BY ALL`},
	{at: "board.by_cause[].amounts[]", keys: []string{"^class", "^reason", "^differs", "currency"}, nums: []string{"amount", "items"}, sql: `
		SELECT class, reason, fields, currency, sum(v), count(v) FROM (SELECT *, greatest(abs(o_value), abs(r_value)) AS v FROM work) GROUP BY ALL HAVING count(v) > 0`},
	{at: "board.by_cause[].differences[]", keys: []string{"^class", "^reason", "^differs", "currency"}, nums: []string{"amount", "items"}, sql: `
		SELECT class, reason, fields, currency, sum(difference), count(difference) FROM work GROUP BY ALL HAVING count(difference) > 0`},
	{at: "unresolved", nums: []string{"showing", "of"}, sql: `SELECT least(count(DISTINCT set_id), 50), count(DISTINCT set_id) FROM x WHERE set_id IS NOT NULL`},
	{at: "unresolved.items[]", keys: []string{"first_side", "first.file"}, nums: []string{"set", "operations", "results", "first.record"}, sql: `
		WITH s AS (SELECT set_id, count(DISTINCT o_file || ':' || o_record) AS o, count(DISTINCT r_file || ':' || r_record) AS r, min((o_file, o_record)) FILTER (WHERE o_record IS NOT NULL) AS first_o,
			min((r_file, r_record)) FILTER (WHERE r_record IS NOT NULL) AS first_r FROM x WHERE set_id IS NOT NULL GROUP BY set_id)
		SELECT CASE WHEN o > 0 THEN 'operations' ELSE 'results' END, coalesce(first_o[1], first_r[1]), set_id, o, r, coalesce(first_o[2], first_r[2]) FROM s`},
	// A lot of operations is stated a hundred times too high, and some results have no id.
	{at: "clusters[]", keys: []string{"cause", "what", "class"}, nums: []string{"rows", "of"}, sql: `SELECT cause, what, class, count(*), any_value(total) FROM clustered GROUP BY ALL`},
	{at: "clusters[].amounts[]", keys: []string{"^cause", "currency"}, nums: []string{"amount", "items"}, sql: `SELECT cause, currency, sum(greatest(abs(o_value), abs(r_value))), count(*) FROM clustered GROUP BY ALL`},
	{at: "clusters[].differences[]", keys: []string{"^cause", "currency"}, nums: []string{"amount", "items"}, sql: `SELECT cause, currency, sum(difference), count(difference) FROM clustered GROUP BY ALL`},
	{at: "clusters[].examples[]", keys: []string{"^cause"}, nums: []string{"operation.record", "result.record"}, sql: `
		SELECT cause, o_record, r_record FROM (SELECT *, row_number() OVER (PARTITION BY cause ORDER BY o_record NULLS LAST, r_file, r_record) AS place FROM clustered) WHERE place <= 3`},

	{at: "holds[]", keys: []string{"code", "what"}, nums: []string{"record", "rows"}, sql: `SELECT code, what, record, count(*) FROM held GROUP BY ALL`},
	{at: "holds[].amounts[]", keys: []string{"^code", "^what", "^record", "currency"}, nums: []string{"amount", "items"}, sql: `SELECT code, what, record, currency, sum(value), count(value) FROM held GROUP BY ALL HAVING count(value) > 0`},

	{at: "time_to_confirmation[]", keys: []string{"type", "account"}, nums: []string{"count", "p50_us", "p95_us", "p99_us", "max_us"}, sql: `SELECT type, 'psp', count(us), ` + ranks("us", "0.5", "0.95", "0.99") + `, max(us) FROM ` + timedPairs + ` WHERE us IS NOT NULL GROUP BY type`},
	{at: "work.confirmation[]", keys: []string{"type"}, nums: []string{"links", "p50_us", "p95_us", "p99_us"}, sql: `SELECT type, count(us), ` + ranks("us", "0.5", "0.95", "0.99") + ` FROM ` + timedPairs + ` WHERE us IS NOT NULL GROUP BY type`},
	{at: "retries[]", keys: []string{"error_class", "error_code"}, nums: []string{"operations", "attempts", "confirmed", "share"}, sql: `
		SELECT error_class, error_code, count(*), coalesce(sum(attempts), 0), count(*) FILTER (WHERE class = 'correct'), CAST(round(1.0 * count(*) FILTER (WHERE class = 'correct') / count(*), 6) AS DECIMAL(10,6))` +
		inPeriod + ` AND (attempts > 1 OR error_class IS NOT NULL OR error_code IS NOT NULL) GROUP BY ALL`},
	{at: "work", nums: []string{"oldest_pending_seconds", "attempted", "attempts", "retried", "retried_correct", "resolved", "resolution_median_us", "resolution_longest_us", "manual_replays_failed", "confirmation_of"}, sql: `
		SELECT ((SELECT as_of FROM night) - (SELECT min(created) FROM o WHERE class NOT IN ('correct', 'not_applicable', 'duplicate'))) // 1000000,
			count(*) FILTER (WHERE attempts > 0), coalesce(sum(attempts) FILTER (WHERE attempts > 0), 0), count(*) FILTER (WHERE attempts > 1), count(*) FILTER (WHERE attempts > 1 AND class = 'correct'),
			count(resolved - first_failed), ` + ranks("resolved - first_failed", "0.5") + `, max(resolved - first_failed),
			count(*) FILTER (WHERE class <> 'correct' AND replayed IS NOT NULL AND (last_failed >= replayed OR last_failed IS NULL AND resolved IS NULL)), 1` + inPeriod},
	{at: "work.causes[]", keys: []string{"cause"}, nums: []string{"operations", "retries"}, sql: `SELECT coalesce(error_class, error_code, 'not_stated'), count(*), sum(attempts - 1)` + inPeriod + ` AND attempts > 1 GROUP BY 1`},
	{at: "work.failures[]", keys: []string{"type", "step", "cause"}, nums: []string{"operations"}, sql: `
		SELECT kind, step, coalesce(error_class, error_code), count(*)` + inPeriod + ` AND class NOT IN ('correct', 'not_applicable') AND coalesce(error_class, error_code) IS NOT NULL GROUP BY ALL`},
}

// valuesOfExceptions finds the values of each exception again: every field of either side is
// a column of exceptions.parquet.
func (r *recounting) valuesOfExceptions() counted {
	have := map[string]bool{}
	for _, c := range r.rows("SELECT column_name FROM duckdb_columns() WHERE table_name = 'work'") {
		have[c[0]] = true
	}
	column := func(side, field string) string {
		for _, name := range []string{side + "_field_" + field, side + "_" + field} {
			if have[name] && (strings.Contains(name, "_field_") || field != "class" && field != "reason" && field != "file" && field != "record" && field != "source") {
				return `"` + name + `"`
			}
		}
		return "NULL"
	}
	var out []string
	for _, f := range []string{"operation_id", "idempotency_key", "remote_id", "type", "entity", "state", "status", "sequence", "version", "amount", "currency", "attempts", "error_class", "error_code", "step",
		"created_at", "first_failed_at", "last_failed_at", "last_attempt_at", "resolved_at", "replayed_at", "lease_until", "customer_email"} {
		out = append(out, fmt.Sprintf("SELECT o_record, r_file, r_record, '%s', CAST(%s AS VARCHAR), CAST(%s AS VARCHAR) FROM work", f, column("o", f), column("r", f)))
	}
	return counted{at: "exceptions.items[].values[]", subset: true, keys: []string{"^operation.record", "^result.file", "^result.record", "field"}, nums: []string{"operations", "results"}, sql: strings.Join(out, " UNION ALL ")}
}
