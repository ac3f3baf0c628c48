package pipeline

import "strings"

const queueNames = `(VALUES ('confirm'), ('requeue'), ('compensate'), ('review'), ('close')) n(queue)`

// canaryRows are the rows of the planted operations, by the ends of their ids.
const canaryRows = `(SELECT * FROM o WHERE op_id LIKE '%-0000313' OR op_id LIKE '%-0000314')`

const settledClasses = `('correct', 'not_applicable', 'not_due')`

const differences = `(SELECT count(*) FROM ` + bothSides + ` WHERE in_period AND class NOT IN ` + settledClasses + `)`

// share is a share of the operations in the period, canaries aside, in percent.
func share(count string) string {
	return "round(100.0 * " + count + " / (SELECT count(*) - (SELECT count(*) FROM " + canaryRows + " WHERE in_period) FROM o WHERE in_period), 4)"
}

// ageWords writes whole seconds as days and hours.
func ageWords(seconds string) string {
	return strings.ReplaceAll("(SELECT CASE WHEN a // 86400 > 0 THEN (a // 86400) || ' d' || CASE WHEN a % 86400 // 3600 > 0 THEN ' ' || (a % 86400 // 3600) || ' h' ELSE '' END "+
		"ELSE (a // 3600) || ' h' || CASE WHEN a % 3600 // 60 > 0 THEN ' ' || (a % 3600 // 60) || ' min' ELSE '' END END FROM (SELECT $ AS a))", "$", seconds)
}

// threeBefore are the last three nights before.
const threeBefore = `(SELECT date FROM past_run WHERE date < (SELECT date FROM night) ORDER BY date DESC LIMIT 3)`

// countedGates are the measures of the gates.
var countedGates = `
		SELECT 'divergence', CAST(` + share("(SELECT count(*) FROM o WHERE in_period AND class = 'divergent')") + ` AS VARCHAR)
		UNION ALL SELECT 'divergent-fields', CAST((SELECT count(*) FROM o WHERE in_period AND class = 'divergent' AND reason = 'field_differs') AS VARCHAR)
		UNION ALL SELECT 'stray', CAST(` + share("(SELECT count(*) FROM r WHERE in_period AND class = 'unexpected')") + ` AS VARCHAR)
		UNION ALL SELECT 'review', CAST((SELECT count(*) FROM q WHERE queue = 'review') AS VARCHAR)
		UNION ALL SELECT 'old', ` + ageWords("(SELECT max(age) FROM waited WHERE queue = 'review' AND NOT waiting)") + `
		UNION ALL SELECT 'old-absences', ` + ageWords("(SELECT max(age) FROM waited WHERE class = 'absent' AND reason = 'no_result' AND NOT waiting)") + `
		UNION ALL SELECT 'unread', CAST((SELECT count(*) FROM rej) AS VARCHAR)
		UNION ALL SELECT 'differences', CAST(` + differences + ` AS VARCHAR)
		UNION ALL SELECT 'values', CAST((SELECT count(DISTINCT side || source) FROM ` + bothSides + ` WHERE value IS NULL) AS VARCHAR)`

var countedQueues = []counted{
	{at: "outcome", nums: []string{"exit_code", "differences"}, sql: `SELECT CASE WHEN d > 0 THEN 3 ELSE 0 END, d FROM (SELECT ` + differences + ` AS d)`},
	{at: "queues[]", keys: []string{"queue", "oldest_since"}, nums: []string{"items", "observe_only", "deferred", "outage", "oldest_seconds"}, sql: `
		SELECT queue, strftime(make_timestamp(min(since) FILTER (WHERE NOT waiting)), '%Y-%m-%dT%H:%M:%SZ'), count(item_id), count(*) FILTER (WHERE observe_only), count(*) FILTER (WHERE deferred), count(*) FILTER (WHERE waiting), max(age) FILTER (WHERE NOT waiting AND queue <> 'confirm')
		FROM ` + queueNames + ` LEFT JOIN waited USING (queue) GROUP BY queue`},
	{at: "queues[].amounts[]", keys: []string{"^queue", "currency"}, nums: []string{"amount", "items"}, sql: `SELECT queue, currency, sum(value), count(value) FROM q GROUP BY ALL HAVING count(value) > 0`},
	{at: "queues[].observe_only_amounts[]", keys: []string{"^queue", "currency"}, nums: []string{"amount", "items"}, sql: `SELECT queue, currency, sum(value), count(value) FROM q WHERE observe_only GROUP BY ALL HAVING count(value) > 0`},
	{at: "queues[].reasons[]", keys: []string{"^queue", "class", "reason"}, nums: []string{"items", "oldest_seconds"}, sql: `SELECT queue, class, reason, count(*), max(age) FILTER (WHERE NOT waiting AND queue <> 'confirm') FROM waited GROUP BY ALL`},
	{at: "queues[].refused[]", keys: []string{"^queue", "code"}, nums: []string{"items"}, sql: `SELECT queue, code, count(*) FROM (SELECT queue, unnest(string_split(refused, ';')) AS code FROM q WHERE refused <> '') GROUP BY ALL`},
	{at: "ageing[]", keys: []string{"queue", "bucket"}, nums: []string{"from_seconds", "until_seconds", "items"}, sql: `
		SELECT b.queue, b.name, b.f, b.u, count(w.item_id)
		FROM (SELECT * FROM ` + queueNames + `, (VALUES ('0-1d', 0, 86400), ('1-3d', 86400, 259200), ('3-7d', 259200, 604800), ('7-30d', 604800, 2592000), ('30d+', 2592000, NULL), ('unknown', NULL, NULL), ('waiting', NULL, NULL)) t(name, f, u) WHERE queue <> 'confirm') b
		LEFT JOIN buckets w ON w.queue = b.queue AND w.bucket = b.name GROUP BY ALL`},
	{at: "ageing[].amounts[]", keys: []string{"^queue", "^bucket", "currency"}, nums: []string{"amount", "items"}, sql: `SELECT queue, bucket, currency, sum(value), count(value) FROM buckets GROUP BY ALL HAVING count(value) > 0`},
	{at: "proposals[]", keys: []string{"type", "queue"}, nums: []string{"items", "observe_only"}, sql: `SELECT coalesce(type, ''), queue, count(*), count(*) FILTER (WHERE observe_only) FROM q WHERE queue <> 'review' GROUP BY ALL`},
	{at: "described[]", keys: []string{"type"}, nums: []string{"items"}, sql: `SELECT CASE WHEN type IN ('charge', 'refund') THEN type ELSE '*' END, count(*) FROM q GROUP BY 1`},
	{at: "budget[]", keys: []string{"account"}, nums: []string{"items", "deferred"}, sql: `SELECT '', count(*) FILTER (WHERE queue = 'requeue' OR deferred), count(*) FILTER (WHERE deferred) FROM q`},
	{at: "canaries[]", keys: []string{"operation_id"}, nums: []string{"records"}, sql: `SELECT op_id, count(*) FROM ` + canaryRows + ` GROUP BY 1`},
	{at: "aside[]", keys: []string{"class", "reason"}, nums: []string{"rows"}, sql: `SELECT class, reason, count(*) FROM ` + canaryRows + ` WHERE in_period GROUP BY ALL`},

	{at: "gates[]", keys: []string{"name"}, nums: []string{"value"}, sql: countedGates},
	{at: "gates[]", keys: []string{"name", "basis"}, subset: false, sql: `
		WITH n AS (SELECT count(*) FILTER (WHERE class = 'divergent') AS divergent, count(*) - (SELECT count(*) FROM ` + canaryRows + ` WHERE in_period) AS of FROM o WHERE in_period)
		SELECT 'divergence', divergent || ' operations of ' || of || ' operations in the period' FROM n
		UNION ALL SELECT 'stray', (SELECT count(*) FROM r WHERE in_period AND class = 'unexpected') || ' results of ' || of || ' operations in the period' FROM n
		UNION ALL FROM (VALUES ('divergent-fields', 'operations, in the period'), ('review', 'items, in the period'), ('old', 'oldest item of the queue'), ('old-absences', 'oldest item of the class'),
			('unread', 'rejected records of both sides'), ('differences', 'rows in the period that are not correct, not_applicable or not_due'), ('values', 'findings value_unreadable'))`},
	{at: "limits[]", keys: []string{"name"}, nums: []string{"value", "limit"}, sql: `
		WITH n AS (SELECT count(*) FILTER (WHERE queue = 'requeue') AS requeue, count(*) FILTER (WHERE queue = 'compensate') AS compensate FROM q),
		runs AS (SELECT b.name AS queue, date FROM (VALUES ('requeue', 3), ('compensate', 2)) b(name, most), LATERAL (SELECT date, row_number() OVER (ORDER BY date DESC) AS place FROM past_run WHERE date < (SELECT date FROM night)) WHERE place <= most),
		usual AS (SELECT queue, median(n) AS m, count(*) AS runs FROM (SELECT u.queue, u.date, count(p.item_id) AS n FROM runs u LEFT JOIN past_q p ON p.date = u.date AND p.queue = u.queue GROUP BY ALL) GROUP BY queue),
		codes AS (SELECT DISTINCT u.queue, p.currency FROM runs u JOIN past_q p ON p.date = u.date AND p.queue = u.queue),
		money AS (SELECT queue, currency, median(s) AS m FROM (SELECT c.queue, c.currency, u.date, CAST(coalesce(sum(CAST(p.amount AS DECIMAL(28,2))), 0) AS DECIMAL(28,4)) AS s FROM codes c JOIN runs u ON u.queue = c.queue
			LEFT JOIN past_q p ON p.date = u.date AND p.queue = c.queue AND p.currency = c.currency GROUP BY ALL) GROUP BY ALL HAVING m > 0),
		factor AS (FROM (VALUES ('requeue', 1000, 2), ('compensate', 500, 1)) f(queue, f, least)),
		judged AS (SELECT f.*, coalesce(u.runs, 0) >= least AS ok, greatest(coalesce(u.m, 0), 1) AS m FROM factor f LEFT JOIN usual u USING (queue))
		SELECT 'requeue.rows', CAST(requeue AS VARCHAR), '3000' FROM n
		UNION ALL SELECT 'requeue.share', CAST(round(100.0 * requeue / (SELECT count(*) FROM o WHERE in_period), 4) AS VARCHAR), '90' FROM n
		UNION ALL SELECT 'requeue.amount.EUR', CAST((SELECT coalesce(sum(value), 0) FROM q WHERE queue = 'requeue' AND currency = 'EUR') AS VARCHAR), '9000000'
		UNION ALL SELECT 'compensate.amount.EUR', CAST((SELECT coalesce(sum(value), 0) FROM q WHERE queue = 'compensate' AND currency = 'EUR') AS VARCHAR), '50000'
		UNION ALL SELECT queue || '.baseline', CAST((SELECT count(*) FROM q WHERE q.queue = judged.queue) AS VARCHAR), CASE WHEN ok THEN CAST(CAST(f * m AS DECIMAL(28,2)) AS VARCHAR) ELSE 'none' END FROM judged
		UNION ALL SELECT queue || '.baseline.' || currency, CAST((SELECT coalesce(sum(value), 0) FROM q WHERE q.queue = j.queue AND q.currency = money.currency) AS VARCHAR), CAST(CAST(f * money.m AS DECIMAL(28,2)) AS VARCHAR)
		FROM judged j JOIN money USING (queue) WHERE ok`},
	{at: "baseline[].queues[]", keys: []string{"^business_date", "queue"}, nums: []string{"items"}, sql: `
		SELECT n.date, n.queue, count(p.item_id) FROM (SELECT * FROM ` + threeBefore + `, ` + queueNames + ` WHERE queue <> 'review') n LEFT JOIN past_q p ON p.date = n.date AND p.queue = n.queue GROUP BY ALL`},
	{at: "baseline[].queues[].amounts[]", keys: []string{"^^business_date", "^queue", "currency"}, nums: []string{"amount", "items"}, sql: `
		SELECT date, queue, currency, sum(CAST(amount AS DECIMAL(28,2))), count(*) FROM past_q WHERE queue <> 'review' AND date IN ` + threeBefore + ` GROUP BY ALL`},
	{at: "trend[]", keys: []string{"business_date"}, nums: []string{"exit_code", "matched", "of", "match_ratio"}, sql: `
		SELECT date, any_value(exit_code), count(*) FILTER (WHERE class = 'correct'), count(*) FILTER (WHERE class <> 'not_applicable'),
			floor(10000.0 * count(*) FILTER (WHERE class = 'correct') / count(*) FILTER (WHERE class <> 'not_applicable')) / 100
		FROM past_o JOIN past_run USING (date) WHERE in_period GROUP BY date`},
	{at: "trend[].rows[]", keys: []string{"^business_date", "class"}, nums: []string{"operation_rows", "result_rows"}, sql: `
		SELECT d.date, c.class, (SELECT count(*) FROM past_o p WHERE p.date = d.date AND p.class = c.class AND p.in_period), (SELECT count(*) FROM past_r p WHERE p.date = d.date AND p.class = c.class AND p.in_period)
		FROM past_run d, (VALUES ('correct'), ('divergent'), ('absent'), ('unexpected'), ('ambiguous'), ('duplicate'), ('not_due'), ('not_applicable')) c(class)`},
	{at: "trend[].queues[]", keys: []string{"^business_date", "queue"}, nums: []string{"items"}, sql: `
		SELECT n.date, n.queue, count(p.item_id) FROM (SELECT date, queue FROM past_run, ` + queueNames + `) n LEFT JOIN past_q p ON p.date = n.date AND p.queue = n.queue GROUP BY ALL`},
}

// moved are the open items of the night and of the one before, side by side.
const moved = `(SELECT case_id, w.case_id AS was, n.case_id AS now, w.queue AS w_queue, w.class AS w_class, w.reason AS w_reason, n.queue AS n_queue, n.class AS n_class, n.reason AS n_reason,
	coalesce(w.currency, '') AS w_currency, coalesce(n.currency, '') AS n_currency, w.value AS w_value, n.value AS n_value,
	coalesce(w.since, n.since) AS since, CASE WHEN w.case_id IS NULL THEN (SELECT date FROM night) ELSE w.since END AS first_open
	FROM open_was w FULL JOIN open_now n USING (case_id, no))`

var countedOpen = append([]counted{
	{at: "open_items[]", keys: []string{"currency"}, nums: []string{"opening.items", "opening.amount", "new.items", "new.amount", "cleared.items", "cleared.amount", "changed.items", "changed.amount", "closing.items", "closing.amount"}, sql: `
		WITH m AS (SELECT * FROM ` + moved + `), parts AS (
			SELECT w_currency AS c, 'opening' AS part, 1 AS n, coalesce(w_value, 0) AS v FROM m WHERE was IS NOT NULL
			UNION ALL SELECT n_currency, 'closing', 1, coalesce(n_value, 0) FROM m WHERE now IS NOT NULL
			UNION ALL SELECT n_currency, 'new', 1, coalesce(n_value, 0) FROM m WHERE was IS NULL
			UNION ALL SELECT w_currency, 'cleared', 1, coalesce(w_value, 0) FROM m WHERE now IS NULL
			UNION ALL SELECT n_currency, 'changed', 1, coalesce(n_value, 0) FROM m WHERE was IS NOT NULL AND now IS NOT NULL
			UNION ALL SELECT w_currency, 'changed', -1, -coalesce(w_value, 0) FROM m WHERE was IS NOT NULL AND now IS NOT NULL)
		SELECT c, ` + parts("n", "v", "opening", "new", "cleared", "changed", "closing") + ` FROM parts GROUP BY c`},
	{at: "open_items[].carried[]", keys: []string{"^currency", "since", "before"}, nums: []string{"items", "amount"}, sql: `
		SELECT n_currency, first_open, false, count(*), coalesce(sum(n_value), 0) FROM ` + moved + ` WHERE now IS NOT NULL GROUP BY ALL`},
}, countedChanges()...)

// parts sums the items and amounts of each part.
func parts(items, amount string, names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, "coalesce(sum("+items+") FILTER (WHERE part = '"+n+"'), 0), coalesce(sum("+amount+") FILTER (WHERE part = '"+n+"'), 0)")
	}
	return strings.Join(out, ", ")
}

// countedChanges is what became of the open items since the night before.
func countedChanges() (out []counted) {
	same := "w_queue = n_queue AND w_class = n_class AND w_reason = n_reason"
	for _, c := range []struct{ name, where, side string }{
		{"new", "was IS NULL", "n"}, {"gone", "now IS NULL", "w"},
		{"changed_class", "was IS NOT NULL AND now IS NOT NULL AND NOT (" + same + ")", "n"}, {"older", "was IS NOT NULL AND now IS NOT NULL AND " + same, "n"},
	} {
		from := " FROM " + moved + " WHERE " + c.where + ""
		currency, value := c.side+"_currency", c.side+"_value"
		at := "since_former." + c.name
		out = append(out,
			counted{at: at, nums: []string{"items", "showing"}, sql: "SELECT n, least(n, 20) FROM (SELECT count(*) AS n" + from + ") WHERE EXISTS (FROM open_was)"},
			counted{at: at + ".amounts[]", keys: []string{"currency"}, nums: []string{"amount", "items"}, sql: "SELECT " + currency + ", sum(" + value + "), count(" + value + ")" + from + " AND EXISTS (FROM open_was) GROUP BY 1 HAVING count(" + value + ") > 0"},
			counted{at: at + ".samples[]", subset: true, keys: []string{"case_id", "from.queue", "from.class", "from.reason", "to.queue", "to.class", "to.reason", "since", "currency"}, nums: []string{"amount"},
				sql: "SELECT case_id, w_queue, w_class, w_reason, n_queue, n_class, n_reason, first_open, " + currency + ", " + value + from})
	}
	return out
}
