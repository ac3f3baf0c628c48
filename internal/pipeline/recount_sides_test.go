package pipeline

import "slices"

// notCounted are the numbers that the published files do not hold, with the reason.
var notCounted = map[string]string{
	"schema_version":                 "version of the form of report.json",
	"versions[].version":             "versions of the components: the semantics have a whole number",
	"sides[].coverage[].lag_seconds": "declared by the job, and printed as it stands there",
	"budget[].rows":                  "declared by the job, and printed as it stands there",
	"budget[].moved":                 "how many go later than they could: the own time of an item is not published",
	"budget[].per_seconds":           "declared by the job, and printed as it stands there",
}

// onlyZero are the numbers that are 0 in all of these nights: their sources have no kind of
// record that is left out, and no result that cannot be read; their job has no pass by groups
// (TestGroupItems counts those).
var onlyZero = map[string]bool{
	"passes[].groups": true, "sides[].excluded": true, "sides[].sources[].excluded": true, "sides[].sources[].files[].excluded": true,
	"account_statements[].operations_excluded": true, "account_statements[].results_excluded": true, "account_statements[].results_rejected": true,
}

// countedOf is everything that is counted again.
func (r *recounting) countedOf() []counted {
	return slices.Concat(countedSides, countedStatements, countedQueues, countedOpen, countedFound, []counted{r.valuesOfExceptions()})
}

// all rows of both sides, once as operations and once as results.
const bothSides = `(SELECT 'operations' AS side, source, file, record, class, reason, pass, in_period, value, currency, created FROM o
	UNION ALL SELECT 'results', source, file, record, class, reason, pass, in_period, value, currency, created FROM r)`

var countedSides = []counted{
	{at: "sides[]", keys: []string{"side"}, nums: []string{"records", "control", "excluded", "rejected", "classified", "in_period"}, sql: `
		SELECT side, count(*) + any_value(j.n), any_value(c.n), 0, any_value(j.n), count(*), count(*) FILTER (WHERE in_period) FROM ` + bothSides + ` b
		JOIN (SELECT s AS side, (SELECT count(*) FROM rej WHERE rej.side = s) AS n FROM (VALUES ('operations'), ('results')) t(s)) j USING (side)
		JOIN (SELECT side, count(*) FILTER (WHERE side = 'operations' AND no = 1 OR source = 'psp-files' AND line NOT LIKE 'D;%') AS n FROM lines GROUP BY side) c USING (side)
		GROUP BY side`},
	{at: "sides[].sources[]", keys: []string{"^side", "name"}, nums: []string{"records", "control", "excluded", "rejected", "classified"}, sql: `
		SELECT f.side, f.source, count(b.file) + (SELECT count(*) FROM rej WHERE rej.side = f.side AND rej.source = f.source),
			(SELECT count(*) FILTER (WHERE n.side = 'operations' AND no = 1 OR n.source = 'psp-files' AND line NOT LIKE 'D;%') FROM lines n WHERE n.side = f.side AND n.source = f.source), 0,
			(SELECT count(*) FROM rej WHERE rej.side = f.side AND rej.source = f.source), count(b.file)
		FROM files f LEFT JOIN ` + bothSides + ` b ON b.side = f.side AND b.file = f.file GROUP BY f.side, f.source`},
	{at: "sides[].sources[].files[]", keys: []string{"^^side", "^name", "name"}, nums: []string{"size", "records", "control", "excluded", "rejected", "classified"}, sql: `
		SELECT f.side, f.source, f.file, f.size, count(b.file) + (SELECT count(*) FROM rej WHERE rej.file = f.file),
			(SELECT count(*) FILTER (WHERE n.side = 'operations' AND no = 1 OR n.source = 'psp-files' AND line NOT LIKE 'D;%') FROM lines n WHERE n.file = f.file), 0,
			(SELECT count(*) FROM rej WHERE rej.file = f.file), count(b.file)
		FROM files f LEFT JOIN ` + bothSides + ` b ON b.side = f.side AND b.file = f.file GROUP BY f.side, f.source, f.file, f.size`},
	// The trailer of each file of the provider, and the records above it.
	{at: "sides[].sources[].controls[]", keys: []string{"^^side", "^name", "file", "total"}, nums: []string{"stated", "counted"}, sql: `
		WITH t AS (SELECT side, source, file, split_part(line, ';', 2) AS n, CAST(replace(split_part(line, ';', 3), ',', '.') AS DECIMAL(18, 2)) AS v FROM lines WHERE source = 'psp-files' AND line LIKE 'T;%')
		SELECT side, source, file, 'count', CAST(n AS DECIMAL(18, 2)), (SELECT count(*) FROM lines d WHERE d.file = t.file AND d.line LIKE 'D;%') FROM t
		UNION ALL SELECT side, source, file, 'sum', v, (SELECT coalesce(sum(value), 0) FROM r WHERE r.file = t.file) FROM t`},
	{at: "sides[].counts[]", keys: []string{"^side", "class", "reason", "currency", "in_period"}, nums: []string{"rows", "amount"}, sql: `
		SELECT side, class, reason, currency, in_period, count(*), sum(value) FROM ` + bothSides + ` GROUP BY ALL`},
	{at: "passes[]", keys: []string{"name"}, nums: []string{"groups", "operations", "results"}, sql: `
		SELECT pass, (SELECT count(DISTINCT link) FROM o WHERE pass = 'payout' AND o.pass = b.pass), count(*) FILTER (WHERE side = 'operations'), count(*) FILTER (WHERE side = 'results') FROM ` + bothSides + ` b WHERE pass IS NOT NULL GROUP BY pass`},
	// The sentence at the top.
	{keys: []string{"headline"}, sql: `
		WITH n AS (SELECT side, class, count(*) AS n FROM ` + bothSides + ` WHERE in_period AND class NOT IN ('correct', 'not_applicable', 'not_due') AND NOT (class = 'duplicate' AND reason IN ('identical_copy', 'superseded_attempt')) GROUP BY ALL),
		classes AS (SELECT string_agg(n || ' ' || class, ', ' ORDER BY place) AS t FROM (SELECT class, place, max(n) AS n FROM n
			JOIN (VALUES ('divergent', 1, 'operations'), ('absent', 2, 'operations'), ('unexpected', 3, 'results'), ('ambiguous', 4, 'operations'), ('duplicate', 5, 'results')) o(class, place, s) USING (class) WHERE side = s GROUP BY ALL)),
		money AS (SELECT string_agg(currency || ' ' || CASE WHEN currency = 'JPY' THEN format('{:,.0f}', CAST(d AS DOUBLE)) ELSE format('{:,.2f}', CAST(d AS DOUBLE)) END, ', ' ORDER BY currency) AS t
			FROM (SELECT currency, sum(CASE WHEN side = 'operations' THEN -value ELSE value END) AS d FROM ` + bothSides + ` WHERE in_period GROUP BY currency) WHERE d <> 0)
		SELECT 'A gate failed. The day does not close: ' || classes.t || '; results − operations is ' || money.t || ', every part of it named; ' || (SELECT count(*) FROM ` + bothSides + ` WHERE value IS NULL) || ' amounts cannot be read and are in no sum.' FROM classes, money`},
	{nums: []string{"once_not_proven"}, sql: `SELECT count(*) FROM o WHERE in_period AND class = 'correct' AND once = 'not_proven'`},
	{at: "rejects", nums: []string{"showing", "of"}, sql: `SELECT least(count(*), 50), count(*) FROM rej`},
	{at: "rejects.items[]", keys: []string{"side", "source", "file"}, nums: []string{"record", "line"}, sql: `
		SELECT n.side, n.source, n.file, n.no - 1, n.no FROM lines n JOIN rej USING (side, source, file) WHERE n.line = 'this line is no record' AND rej.record = n.no - 1 AND rej.line = n.no`},
}

var countedStatements = []counted{
	{at: "statement[]", keys: []string{"currency"}, nums: []string{"operations_read", "operations_outside", "operations", "results", "results_outside", "results_read", "difference", "operation_rows", "result_rows", "unreadable"}, sql: `
		WITH s AS (SELECT *, side = 'operations' AS op, coalesce(value, 0) AS v FROM ` + bothSides + `)
		SELECT currency, sum(v) FILTER (WHERE op), coalesce(sum(v) FILTER (WHERE op AND NOT in_period), 0), coalesce(sum(v) FILTER (WHERE op AND in_period), 0),
			coalesce(sum(v) FILTER (WHERE NOT op AND in_period), 0), coalesce(sum(v) FILTER (WHERE NOT op AND NOT in_period), 0), sum(v) FILTER (WHERE NOT op),
			coalesce(sum(CASE WHEN op THEN -v ELSE v END) FILTER (WHERE in_period), 0),
			count(*) FILTER (WHERE op AND in_period), count(*) FILTER (WHERE NOT op AND in_period), count(*) FILTER (WHERE value IS NULL)
		FROM s GROUP BY currency`},
	{at: "statement[].lines[]", keys: []string{"^currency", "class", "reason"}, nums: []string{"operation_rows", "operation_amount", "result_rows", "result_amount", "difference"}, sql: `
		WITH s AS (SELECT *, side = 'operations' AS op, coalesce(value, 0) AS v FROM ` + bothSides + ` WHERE in_period)
		SELECT currency, class, reason, count(*) FILTER (WHERE op), coalesce(sum(v) FILTER (WHERE op), 0), count(*) FILTER (WHERE NOT op), coalesce(sum(v) FILTER (WHERE NOT op), 0),
			sum(CASE WHEN op THEN -v ELSE v END)
		FROM s GROUP BY ALL`},
	// The day is that of Paris, an hour before UTC in November. There is one account.
	{at: "account_statements[]", keys: []string{"account", "day", "currency"}, nums: []string{"operations", "results", "difference", "shifted", "operation_rows", "result_rows", "operations_rejected", "results_rejected", "operations_excluded", "results_excluded"}, sql: `
		WITH s AS (SELECT *, side = 'operations' AS op, coalesce(value, 0) AS v, strftime(make_timestamp(created + 3600000000), '%Y-%m-%d') AS day FROM ` + bothSides + ` WHERE in_period)
		SELECT 'psp', coalesce(day, ''), currency, coalesce(sum(v) FILTER (WHERE op), 0), coalesce(sum(v) FILTER (WHERE NOT op), 0), sum(CASE WHEN op THEN -v ELSE v END),
			coalesce(sum(CASE WHEN op THEN -v ELSE v END) FILTER (WHERE class = 'correct' AND reason = 'equal'), 0),
			count(*) FILTER (WHERE op), count(*) FILTER (WHERE NOT op), 0, 0, 0, 0
		FROM s GROUP BY ALL
		UNION ALL SELECT '', '', '', 0, 0, 0, 0, 0, 0, count(*) FILTER (WHERE side = 'operations'), count(*) FILTER (WHERE side = 'results'), 0, 0 FROM rej HAVING count(*) > 0`},
	{at: "account_statements[].lines[]", keys: []string{"^account", "^day", "^currency", "class", "reason"}, nums: []string{"operation_rows", "operation_amount", "result_rows", "result_amount", "difference"}, sql: `
		WITH s AS (SELECT *, side = 'operations' AS op, coalesce(value, 0) AS v, strftime(make_timestamp(created + 3600000000), '%Y-%m-%d') AS day FROM ` + bothSides + ` WHERE in_period)
		SELECT 'psp', coalesce(day, ''), currency, class, reason, count(*) FILTER (WHERE op), coalesce(sum(v) FILTER (WHERE op), 0), count(*) FILTER (WHERE NOT op), coalesce(sum(v) FILTER (WHERE NOT op), 0),
			sum(CASE WHEN op THEN -v ELSE v END)
		FROM s GROUP BY ALL`},
}
