package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// openRecount makes the tables of the last of some nights:
//
//	o, r     the rows of both sides: the input files as the engine reads them, with the
//	         published verdict of the record
//	files    the input files with their sizes; lines: every line of them
//	x, l     exceptions.parquet, links.parquet; rej: rejects.parquet
//	q        the items of all queues; open_now, open_was: open.parquet of the night, and
//	         of the one before
//	past_o, past_r, past_q, past_run  the same of all nights, with their date
func openRecount(t *testing.T, nights []recountNight) *recounting {
	t.Helper()
	n := nights[len(nights)-1]
	db, err := duck.Open(t.Context(), duck.Options{Threads: 2, Allowed: []string{filepath.Dir(nights[0].dir)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	text, err := os.ReadFile(filepath.Join(n.run, reportName))
	if err != nil {
		t.Fatal(err)
	}
	r := &recounting{t: t, db: db, doc: decodeDocument(t, text)}
	parquet := func(run, name string) string { return "read_parquet(" + duck.Literal(filepath.Join(run, name)) + ")" }

	r.exec(fmt.Sprintf("CREATE TABLE night AS SELECT %s AS date, epoch_us(TIMESTAMP %s + INTERVAL 27 HOUR) AS as_of", duck.Literal(n.date), duck.Literal(n.date)))
	r.exec("CREATE TABLE lines (side VARCHAR, source VARCHAR, file VARCHAR, no BIGINT, line VARCHAR)")
	r.exec("CREATE TABLE files (side VARCHAR, source VARCHAR, file VARCHAR, size BIGINT)")
	for _, f := range []struct{ side, source, pattern string }{
		{"operations", "payments-db", "exports/operations_*.csv"}, {"results", "psp-files", "provider/transactions_*.csv.gz"}, {"results", "psp-api", "provider/snapshot_*.ndjson"},
	} {
		names, err := filepath.Glob(filepath.Join(n.dir, f.pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(f.pattern, names, err)
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			r.exec(fmt.Sprintf("INSERT INTO files VALUES ('%s', '%s', '%s', %d)", f.side, f.source, filepath.Base(name), info.Size()))
			r.exec(fmt.Sprintf(`INSERT INTO lines SELECT '%s', '%s', '%s', row_number() OVER (), line
				FROM read_csv(%s, columns = {line: 'VARCHAR'}, header = false, auto_detect = false, delim = '\x01', quote = '', escape = '')`, f.side, f.source, filepath.Base(name), duck.Literal(name)))
		}
	}
	r.exec("INSERT INTO files VALUES ('results', 'archive', 'archive_" + n.date + ".csv', 0)")

	// Operations: a header line, then a record a line; what has too few cells is no record.
	r.exec(`CREATE TABLE o_cells AS SELECT source, file, no - 1 AS record, string_split(line, ',') AS c FROM lines WHERE side = 'operations' AND no > 1`)
	instant := func(cell string) string {
		return "epoch_us(try_strptime(nullif(" + cell + ", ''), '%Y-%m-%dT%H:%M:%SZ'))"
	}
	decimal := func(text string) string {
		return "CASE WHEN regexp_full_match(" + text + `, '-?[0-9]+(\.[0-9]{1,2})?') THEN CAST(` + text + " AS DECIMAL(28,2)) END"
	}
	r.exec("CREATE TABLE o AS SELECT v.*, c[1] AS op_id, c[3] AS kind, c[5] AS state, c[7] AS amount, " + decimal("c[7]") + " AS value, c[8] AS currency, CAST(nullif(c[9], '') AS BIGINT) AS attempts, " +
		"nullif(c[10], '') AS error_class, nullif(c[16], '') AS error_code, nullif(c[17], '') AS step, " + instant("c[11]") + " AS created, " + instant("c[12]") + " AS first_failed, " +
		instant("c[18]") + " AS last_failed, " + instant("c[19]") + " AS resolved, " + instant("c[20]") + " AS replayed FROM o_cells JOIN " + parquet(n.run, "operations.parquet") + " v USING (source, file, record)")

	// Results: records between the lines of header and trailer, with the local time of
	// Amsterdam, an hour before UTC in November; and a snapshot in minor units, of which
	// the yen has none.
	r.exec(`CREATE TABLE r_cells AS
		SELECT source, file, row_number() OVER (PARTITION BY file ORDER BY no) AS record, c[2] AS remote, c[6] AS kind, c[7] AS status, replace(c[10], ',', '.') AS amount, c[11] AS currency,
		       epoch_us(strptime(c[12], '%Y-%m-%d %H:%M:%S')) - 3600000000 AS created
		FROM (SELECT *, string_split(line, ';') AS c FROM lines WHERE source = 'psp-files') WHERE c[1] = 'D'
		UNION ALL
		SELECT source, file, no, line->>'id', line->>'object', line->>'status', CAST(CAST(CAST(line->>'amount' AS BIGINT) / CASE WHEN line->>'currency' = 'JPY' THEN 1 ELSE 100 END AS DECIMAL(28,2)) AS VARCHAR), line->>'currency',
		       epoch_us(strptime(line->>'created', '%Y-%m-%dT%H:%M:%SZ'))
		FROM lines WHERE source = 'psp-api'`)
	r.exec("CREATE TABLE r AS SELECT v.*, remote, kind, status, amount, " + decimal("amount") + " AS value, currency, created FROM r_cells JOIN " + parquet(n.run, "results.parquet") + " v USING (source, file, record)")
	for _, side := range []string{"o", "r"} {
		for _, name := range map[string][]string{"o": {"operations.parquet"}, "r": {"results.parquet"}}[side] {
			if got := r.rows("SELECT count(*), (SELECT count(*) FROM " + parquet(n.run, name) + ") FROM " + side); got[0][0] != got[0][1] {
				t.Fatalf("%s: the input files have %s of the %s published rows", side, got[0][0], got[0][1])
			}
		}
	}

	r.exec("CREATE TABLE x AS SELECT * FROM " + parquet(n.run, "exceptions.parquet"))
	r.exec("CREATE TABLE l AS SELECT * FROM " + parquet(n.run, "links.parquet"))
	r.exec("CREATE TABLE rej AS SELECT * FROM " + parquet(n.run, "rejects.parquet"))
	for i, p := range nights {
		create := "CREATE TABLE past_%s AS "
		if i > 0 {
			create = "INSERT INTO past_%s BY NAME "
		}
		date := duck.Literal(p.date)
		r.exec(fmt.Sprintf(create, "o") + "SELECT " + date + " AS date, * FROM " + parquet(p.run, "operations.parquet"))
		r.exec(fmt.Sprintf(create, "r") + "SELECT " + date + " AS date, * FROM " + parquet(p.run, "results.parquet"))
		r.exec(fmt.Sprintf(create, "open") + "SELECT " + date + " AS date, * FROM " + parquet(p.run, "open.parquet"))
		var queues []string
		for _, q := range []string{"confirm", "requeue", "compensate", "review", "close"} {
			queues = append(queues, "SELECT * FROM "+parquet(p.run, "queues/"+q+".parquet"))
		}
		r.exec(fmt.Sprintf(create, "q") + "SELECT " + date + " AS date, * FROM (" + strings.Join(queues, " UNION ALL BY NAME ") + ")")
		m, _, err := ReadManifest(p.run)
		if err != nil {
			t.Fatal(err)
		}
		r.exec(fmt.Sprintf(create, "run") + fmt.Sprintf("SELECT %s AS date, %d AS exit_code", date, m.Outcome.ExitCode))
	}
	r.exec("CREATE VIEW q AS SELECT *, " + decimal("amount") + " AS value FROM past_q WHERE date = (SELECT date FROM night)")
	former := "''"
	if len(nights) > 1 {
		former = duck.Literal(nights[len(nights)-2].date)
	}
	for name, date := range map[string]string{"open_now": duck.Literal(n.date), "open_was": former} {
		r.exec("CREATE TABLE " + name + " AS SELECT *, " + decimal("amount") + " AS value FROM past_open WHERE date = " + date)
	}
	// The time of an item is that of its operation, or of its result where it has none.
	r.exec(`CREATE TABLE aged AS SELECT q.*, coalesce(o.created, r.created) AS since, ((SELECT as_of FROM night) - coalesce(o.created, r.created)) // 1000000 AS age
		FROM q LEFT JOIN o ON o.file = q.o_file AND o.record = q.o_record LEFT JOIN r ON r.file = q.r_file AND r.record = q.r_record`)
	// An item waits where the night proves nothing for its time: what no operation stands
	// for, while a record of the operations could not be read.
	r.exec(`CREATE TABLE waited AS SELECT *, o_record IS NULL AND class = 'ambiguous' AND reason = 'coverage_incomplete' AND EXISTS (FROM rej WHERE side = 'operations') AS waiting FROM aged`)
	r.exec(`CREATE TABLE buckets AS SELECT *, CASE WHEN waiting THEN 'waiting' WHEN since IS NULL THEN 'unknown' WHEN age < 86400 THEN '0-1d' WHEN age < 259200 THEN '1-3d' WHEN age < 604800 THEN '3-7d' WHEN age < 2592000 THEN '7-30d' ELSE '30d+' END AS bucket
		FROM waited WHERE queue <> 'confirm'`)
	// What needs work: the operation says it, or the result where it stands alone.
	r.exec(`CREATE TABLE work AS SELECT *, CASE WHEN o_class IS NULL OR r_class = 'duplicate' THEN r_class ELSE o_class END AS class, CASE WHEN o_class IS NULL OR r_class = 'duplicate' THEN r_reason ELSE o_reason END AS reason FROM x
		WHERE in_period AND (coalesce(o_class, r_class) IN ('divergent', 'absent', 'unexpected', 'ambiguous')
		  OR r_class = 'duplicate' AND r_reason NOT IN ('identical_copy', 'superseded_attempt') OR o_class = 'duplicate' AND o_reason NOT IN ('identical_copy', 'superseded_attempt'))`)
	r.exec(clusteredTable)
	r.exec(heldTable)
	return r
}

// clusteredTable has the two common causes of the nights: operations that are stated a
// hundred times too high, and results without an operation id. A cause needs ten rows.
const clusteredTable = `CREATE TABLE clustered AS
	WITH of AS (SELECT class, count(*) AS total FROM work GROUP BY class),
	marked AS (
		SELECT 'amount_ratio' AS cause, '÷ 100' AS what, w.* FROM work w WHERE class = 'divergent' AND o_value = 100 * r_value
		UNION ALL SELECT 'missing_key', 'results without operation_id', w.* FROM work w WHERE class = 'ambiguous' AND o_record IS NULL AND r_operation_id IS NULL)
	SELECT m.*, total FROM marked m JOIN of USING (class) QUALIFY count(*) OVER (PARTITION BY cause) >= 10`

// heldTable has the rows that are not decided or not acted on, with what holds them: for
// these nights it follows from the reason of the verdict, from the set, and from the one
// check of the guard that refused the item.
const heldTable = `CREATE TABLE held AS
	WITH sets AS (SELECT set_id, any_value(r_record) AS record, count(DISTINCT r_record) AS strays FROM x WHERE set_id IS NOT NULL AND r_record IS NOT NULL GROUP BY set_id),
	placed AS (SELECT o.*, x.set_id FROM o LEFT JOIN x ON x.o_file = o.file AND x.o_record = o.record)
	SELECT CASE WHEN p.reason = 'coverage_incomplete' THEN 'not_covered' WHEN p.reason = 'unmapped_status' THEN 'unmapped_status' WHEN p.reason = 'value_unreadable' THEN 'unreadable_value'
			WHEN p.reason = 'unattributed_result' AND s.strays > 1 THEN 'several' WHEN p.reason = 'unattributed_result' THEN 'stray' ELSE 'other' END AS code,
		CASE p.reason WHEN 'coverage_incomplete' THEN '' WHEN 'unmapped_status' THEN 'on_hold' WHEN 'value_unreadable' THEN 'amount' WHEN 'unattributed_result' THEN '' ELSE p.reason END AS what,
		CASE WHEN p.reason = 'unattributed_result' AND s.strays = 1 THEN s.record END AS record, currency, value
	FROM placed p LEFT JOIN sets s USING (set_id) WHERE in_period AND (class = 'ambiguous' OR reason = 'value_unreadable')
	UNION ALL
	SELECT CASE WHEN contains(refused, ';') THEN 'several' ELSE refused END, CASE WHEN contains(refused, ';') THEN '' ELSE type END, NULL, currency, value FROM q
	WHERE refused <> '' AND class <> 'ambiguous' AND reason <> 'value_unreadable'
	UNION ALL
	SELECT 'reject', (SELECT 'exports/' || any_value(file) || ' has 1 rejected records' FROM rej), NULL, currency, value FROM r WHERE in_period AND class = 'ambiguous' AND reason = 'coverage_incomplete' AND link IS NULL`
