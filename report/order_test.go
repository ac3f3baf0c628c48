package report

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Files of several row groups, written by several threads, are in the order that
// SCHEMA.md promises, although their texts are spelled after the sort.
func TestOrderOfLargeFiles(t *testing.T) {
	for _, redact := range []bool{false, true} {
		w := newWorld(t)
		if redact {
			w.in.Bound.Redact.Fields = map[string]string{"operation_id": redactToken, "currency": redactToken}
		}
		w.load()
		const rows = 150_000
		numbers := fmt.Sprintf("(SELECT 1000 + range AS n FROM range(%d) ORDER BY hash(range))", rows)
		w.exec("INSERT INTO res_o (rid, file_no, rec, f_operation_id, f_amount, f_currency, f_created_at, w1, w2) SELECT n, 0, n, 'op-' || n, n / 100, 'EUR', n, n, n FROM " + numbers)
		w.exec("INSERT INTO verdicts_o (rid, class, reason, in_period) SELECT n, 'absent', 'no_result', TRUE FROM " + numbers)
		w.exec("INSERT INTO judged_o SELECT n, 0, n, 'absent', 'no_result', NULL, NULL, NULL, TRUE, FALSE FROM " + numbers)
		w.exec("INSERT INTO items (item_id, queue, o_rid, class, reason, currency, observe_only, deferred) SELECT md5(CAST(n AS VARCHAR)), CASE WHEN n % 2 = 0 THEN 'confirm' ELSE 'review' END, n, 'absent', 'no_result', 'EUR', FALSE, FALSE FROM " + numbers)
		for n := range int64(rows) {
			w.rows[rules.Operations] = append(w.rows[rules.Operations], row{rec: 1000 + n})
		}
		w.stage(rules.Operations)
		red, err := newRedactor(t.Context(), w.db, w.in.Bound.Job, redactKey)
		if err != nil {
			t.Fatal(err)
		}
		if err := makeRelations(t.Context(), w.db, w.in, red); err != nil {
			t.Fatal(err)
		}
		if err := openRelations(t.Context(), w.db, w.in.Bound.Job); err != nil {
			t.Fatal(err)
		}
		if _, err := moves(t.Context(), w.db, nil, w.in.Bound.Date, false); err != nil {
			t.Fatal(err)
		}
		d := &Delivery{DB: w.db, In: w.in, Dir: w.out, Summary: &Summary{Queues: []Queue{{Queue: "review", Written: true, Items: rows}, {Queue: "confirm", Written: true, Items: rows}}}}
		if err := writeParquet(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			name, key string
			rows      int64
		}{
			{string(rules.Operations) + ".parquet", "record", rows + 10},
			{"exceptions.parquet", "coalesce(o_record, 1e9)", rows + 8},
			{"queues/review.parquet", "item_id", rows/2 + 4},
			{"queues/confirm.parquet", "item_id", rows/2 + 1},
		} {
			var n, wrong int64
			q := fmt.Sprintf(`SELECT count(*), count(*) FILTER (WHERE key < before) FROM (
SELECT %[1]s AS key, lag(%[1]s) OVER (ORDER BY file_row_number) AS before FROM read_parquet(%[2]s, file_row_number = true))`, f.key, duck.Literal(d.path(f.name)))
			if err := w.db.Scan(t.Context(), q, &n, &wrong); err != nil {
				t.Fatal(err)
			}
			if n != f.rows || wrong != 0 {
				t.Errorf("redacted: %t, %s: %d rows, %d of them before a smaller one; want %d rows", redact, f.name, n, wrong, f.rows)
			}
		}
		w.in.Bound.Outputs.ConfirmNDJSON = true
		if err := writeNDJSON(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"review", "confirm"} {
			text, err := os.ReadFile(d.path("queues/" + q + ".ndjson"))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for line := range strings.Lines(string(text)) {
				_, rest, _ := strings.Cut(line, `"item_id":"`)
				id, _, _ := strings.Cut(rest, `"`)
				ids = append(ids, id)
			}
			if len(ids) < rows/2 || !slices.IsSorted(ids) {
				t.Errorf("redacted: %t, %s.ndjson: %d items, in the order of their ids: %t", redact, q, len(ids), slices.IsSorted(ids))
			}
		}
	}
}
