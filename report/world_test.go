package report

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/pages"
	"github.com/recon-batch/recon-batch/rules"
)

// A world is a scratch database with the relations that match and classify leave
// (match/doc.go, classify/doc.go), written by hand, and the matching Input.
type world struct {
	t       testing.TB
	db      *duck.DB
	out     string // the folder that the engine may write to
	lastDir string // the last folder that deliver wrote
	in      *Input
	rows    map[rules.Side][]row
	link    [][5]any // o_rid, r_rid, pass, settled, link
	item    []string // rows of items, as SQL
	held    []string // rows of obstacles, as SQL
}

// row is one staged row with its verdict. A row is residual unless plain.
type row struct {
	file, rec       int64
	id, key, remote string
	entity, email   string
	amount          string // text as found; "" null
	unreadable      bool
	currency        string
	created         time.Time
	class, reason   string
	pass            int // -1 none
	link            uint64
	once            string
	fields          string
	set             int64
	outside, plain  bool
}

func (r row) rid() int64 { return r.file<<40 + r.rec }

var day = time.Date(2026, 8, 20, 0, 0, 0, 0, time.UTC)

// redactKey is a key for tests.
var redactKey = []byte("0123456789abcdef0123456789abcdef")

func sideSpec(side rules.Side, extra ...rules.Field) rules.SideSpec {
	name, file := "ledger", "operations.csv"
	fields := []rules.Field{
		{Name: "operation_id", Column: "op", Type: rules.Text}, {Name: "idempotency_key", Column: "key", Type: rules.Text},
	}
	if side == rules.Results {
		name, file = "psp", "psp.csv.gz"
		fields = append(fields, rules.Field{Name: "remote_id", Column: "rid", Type: rules.Text})
	}
	fields = append(fields,
		rules.Field{Name: "entity", Column: "order", Type: rules.Text},
		rules.Field{Name: "amount", Column: "amount", Type: rules.Decimal, Scale: 2},
		rules.Field{Name: "currency", Column: "currency", Type: rules.Currency},
		rules.Field{Name: "created_at", Column: "created", Type: rules.Timestamp},
		rules.Field{Name: "email", Column: "mail", Type: rules.Text})
	fields = append(fields, extra...)
	return rules.SideSpec{Side: side, Fields: fields, Sources: []rules.Source{{Name: name, Path: rules.Template(file), Need: rules.Required,
		Coverage: rules.Coverage{Proves: rules.FullLifecycle, Account: name, Types: []string{"charge"}}}}}
}

// newWorld is a small day with one of everything.
func newWorld(t testing.TB) *world {
	job := &rules.Job{
		Version: 1, Name: "card-charges", Zone: zone(t, "Europe/Paris"), Mode: rules.Enforce,
		Period:     &rules.Period{By: "created_at", Reason: "out_of_period"},
		Operations: sideSpec(rules.Operations), Results: sideSpec(rules.Results),
		Match: []rules.Pass{{Name: "operation_id", Identity: true}, {Name: "idempotency_key", Identity: true}, {Name: "business_key"}},
		Gates: []rules.Gate{{Name: "divergence", FailWhen: "share(divergent) > 50%", Func: "share", Arg: "divergent", Op: ">", Value: 0.5}},
	}
	w := &world{t: t, rows: map[rules.Side][]row{}}
	w.in = &Input{
		Bound: &rules.Bound{Job: job, Date: "2026-08-20", AsOfTime: day.Add(28 * time.Hour),
			PeriodFrom: day.UnixMicro(), PeriodUntil: day.Add(24 * time.Hour).UnixMicro()},
		RunID: "r-20260820-0123abcd", JobDigest: strings.Repeat("ab", 32),
		Versions: []Version{{"recon-batch", "0.1.0"}, {"duckdb", "1.5.6"}, {"semantics", "1"}}, RedactKey: redactKey,
	}
	at := func(h int) time.Time { return day.Add(time.Duration(h) * time.Hour) }
	o := func(r row) { w.rows[rules.Operations] = append(w.rows[rules.Operations], r) }
	r := func(r row) { w.rows[rules.Results] = append(w.rows[rules.Results], r) }
	// 1 to 3: plainly correct. 4: later pass. 5: amount differs. 6: absent. 7: two effects.
	// 8: ambiguous with result 9. 9: outside the period. 10: unreadable amount.
	for i := int64(1); i <= 3; i++ {
		o(row{rec: i, id: fmt.Sprint("op-", i), key: fmt.Sprint("k-", i), entity: fmt.Sprint("order-", i), email: "ada@example.org", amount: "10.00", currency: "EUR",
			created: at(int(i)), class: "correct", reason: "equal", link: uint64(i), once: "proven", plain: true})
		r(row{rec: i, id: fmt.Sprint("op-", i), key: fmt.Sprint("k-", i), remote: fmt.Sprint("ch-", i), entity: fmt.Sprint("order-", i), email: "ada@example.org", amount: "10.00", currency: "EUR",
			created: at(int(i)), class: "correct", reason: "equal", link: uint64(i), once: "proven", plain: true})
	}
	o(row{rec: 4, id: "op-4", key: "k-4", entity: "order-4", amount: "20.00", currency: "EUR", created: at(4), class: "correct", reason: "equal", pass: 1, link: 4, once: "not_proven"})
	r(row{rec: 4, key: "k-4", remote: "ch-4", entity: "order-4", amount: "20.00", currency: "EUR", created: at(4), class: "correct", reason: "equal", pass: 1, link: 4, once: "not_proven"})
	o(row{rec: 5, id: "op-5", key: "k-5", entity: "order-5", email: "grace.hopper@example.org", amount: "12.00", currency: "EUR", created: at(5), class: "divergent", reason: "field_differs", link: 1<<63 + 5, fields: "amount"})
	r(row{rec: 5, id: "op-5", key: "k-5", remote: "ch-5", entity: "order-5", email: "grace.hopper@example.org", amount: "12.50", currency: "EUR", created: at(5), class: "divergent", reason: "field_differs", link: 1<<63 + 5, fields: "amount"})
	o(row{rec: 6, id: "op-6", key: "k-6", entity: "order-6", amount: "99.90", currency: "USD", created: at(6), class: "absent", reason: "no_result", pass: -1})
	o(row{rec: 7, id: "op-7", key: "k-7", entity: "order-7", amount: "5.00", currency: "EUR", created: at(7), class: "divergent", reason: "duplicate_effect", link: 7})
	r(row{rec: 6, id: "op-7", key: "k-7", remote: "ch-7a", entity: "order-7", amount: "5.00", currency: "EUR", created: at(7), class: "divergent", reason: "duplicate_effect", link: 7})
	r(row{rec: 7, id: "op-7", key: "k-7", remote: "ch-7b", entity: "order-7", amount: "5.00", currency: "EUR", created: at(7), class: "duplicate", reason: "surplus_effect", link: 7})
	r(row{rec: 8, remote: "ch-8", entity: "order-x", amount: "7.00", currency: "USD", created: at(8), class: "unexpected", reason: "no_operation", pass: -1})
	o(row{rec: 8, id: "op-8", key: "k-8", entity: "order-8", amount: "3.00", currency: "EUR", created: at(8), class: "ambiguous", reason: "several_candidates", pass: -1, set: 1})
	r(row{rec: 9, remote: "ch-9", entity: "order-8", amount: "3.00", currency: "EUR", created: at(8), class: "ambiguous", reason: "several_candidates", pass: -1, set: 1})
	o(row{rec: 9, id: "op-9", key: "k-9", entity: "order-9", amount: "1000000.00", currency: "EUR", created: at(-3), class: "not_applicable", reason: "out_of_period", link: 9, outside: true})
	r(row{rec: 10, id: "op-9", key: "k-9", remote: "ch-9b", entity: "order-9", amount: "1000000.00", currency: "EUR", created: at(-3), class: "not_applicable", reason: "out_of_period", link: 9, outside: true})
	o(row{rec: 10, id: "op-10", key: "k-10", entity: "order-10", amount: "1.2345", unreadable: true, currency: "EUR", created: at(10), class: "divergent", reason: "value_unreadable", link: 10, fields: "amount"})
	r(row{rec: 12, id: "op-10", key: "k-10", remote: "ch-10", entity: "order-10", amount: "1.23", currency: "EUR", created: at(10), class: "divergent", reason: "value_unreadable", link: 10, fields: "amount"})
	w.link = [][5]any{{4, 4, 1, true, "4"}, {5, 5, 0, true, "9223372036854775813"}, {7, 6, 0, true, "7"}, {7, 7, 0, true, "7"}, {10, 12, 0, true, "10"}}
	item := func(id, queue string, o, r any, op, amount, currency, class, reason, fields, refused string) {
		next := map[string]string{"confirm": "'confirmed'", "requeue": "'retry_scheduled'", "compensate": "'compensated'", "review": "NULL"}[queue]
		w.item = append(w.item, fmt.Sprintf(`('%s','case-%s','%s',%v,%v,NULL,'%s','k','ch',NULL,'charge','order',NULL,'%s','%s','awaiting_confirmation',%s,'psp','%s','%s','%s',nullif('%s',''),'rule-1','none',1,%d,%d,0,'payments',NULL,NULL,FALSE,FALSE,NULL,NULL)`,
			id, id, queue, o, r, op, amount, currency, next, class, reason, fields, refused, day.Add(47*time.Hour).UnixMicro(), day.Add(48*time.Hour).UnixMicro()))
	}
	item("i-1", "confirm", 1, 1, "op-1", "10.00", "EUR", "correct", "equal", "", "")
	item("i-2", "requeue", 6, "NULL", "op-6", "99.90", "USD", "absent", "no_result", "", "")
	item("i-3", "review", 5, 5, "op-5", "12.00", "EUR", "divergent", "field_differs", "amount", "")
	item("i-4", "compensate", 7, 7, "op-7", "5.00", "EUR", "duplicate", "surplus_effect", "", "")
	item("i-5", "review", 8, "NULL", "op-8", "3.00", "EUR", "ambiguous", "several_candidates", "", "no_key;attempts")
	item("i-6", "review", "NULL", 8, "", "7.00", "USD", "unexpected", "no_operation", "", "")
	item("i-7", "review", 10, 12, "op-10", "1.2345", "EUR", "divergent", "value_unreadable", "amount", "")
	w.in.Operations = &extract.Relation{Side: rules.Operations, Files: []extract.File{{No: 0, Source: "ledger", Name: "operations.csv", Size: 1234, SHA256: strings.Repeat("11", 32), Status: extract.FileStaged}},
		Coverage: []extract.Interval{{Account: "ledger", Source: "ledger", Proves: rules.FullLifecycle, From: day.UnixMicro(), Until: day.Add(24 * time.Hour).UnixMicro()}}}
	w.in.Results = &extract.Relation{Side: rules.Results, Files: []extract.File{
		{No: 0, Source: "psp", Name: "psp.csv.gz", Size: 999, SHA256: strings.Repeat("22", 32), ContentSHA256: strings.Repeat("33", 32), Status: extract.FileStaged, Control: 2},
		{No: 1, Source: "psp", Name: "late.csv.gz", Date: "2026-08-19", Status: extract.FileMissing, Problem: "the day has no file"}},
		Coverage: []extract.Interval{{Account: "psp", Source: "psp", Proves: rules.FullLifecycle, Types: []string{"charge"}, From: day.UnixMicro(), Until: day.Add(24 * time.Hour).UnixMicro(), Lag: 30 * time.Minute,
			Withdrawn: []extract.Gap{{From: day.Add(20 * time.Hour).UnixMicro(), Until: day.Add(24 * time.Hour).UnixMicro(), Reason: "one record of psp.csv.gz was rejected"}}}},
		Rejects:  []extract.Reject{{File: 0, Record: 11, Line: 13, Reason: "4 fields, the header has 8", Raw: []byte("ch-11;ada@example.org;\xff\x00")}},
		Findings: []extract.Finding{{Code: "file_missing", Source: "psp", Text: "the day 2026-08-19 has no file"}}}
	return w
}

func zone(t testing.TB, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// load fills the database, and the counts and totals of extraction.
func (w *world) load() *world {
	w.t.Helper()
	w.out = w.t.TempDir()
	db, err := duck.Open(w.t.Context(), duck.Options{SpillDir: w.t.TempDir(), Allowed: []string{w.out}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = db.Close() })
	w.db = db
	w.exec("CREATE TYPE verdict_class AS ENUM ('" + strings.Join(classOrder, "','") + "')")
	for _, side := range rules.Sides {
		w.loadSide(side)
	}
	w.exec("CREATE TABLE links (o_rid BIGINT, r_rid BIGINT, pass INTEGER, settled BOOLEAN, link UBIGINT)")
	w.exec("CREATE TABLE groups (grp BIGINT, pass INTEGER)")
	w.exec("CREATE TABLE plain_links (o_rid BIGINT, r_rid BIGINT, pass INTEGER, link UBIGINT)")
	for _, l := range w.link {
		w.exec(fmt.Sprintf("INSERT INTO links VALUES (%v, %v, %v, %v, %v)", l[0], l[1], l[2], l[3], l[4]))
	}
	w.exec(`CREATE TABLE items (item_id VARCHAR, case_id VARCHAR, queue VARCHAR, o_rid BIGINT, r_rid BIGINT, set_id BIGINT,
operation_id VARCHAR, idempotency_key VARCHAR, remote_id VARCHAR, keep_remote_id VARCHAR, type VARCHAR, entity VARCHAR, version VARCHAR,
amount VARCHAR, currency VARCHAR, state VARCHAR, next_state VARCHAR, destination VARCHAR, class VARCHAR, reason VARCHAR, fields VARCHAR,
refused VARCHAR, rule VARCHAR, risk VARCHAR, attempts BIGINT, next_attempt_us BIGINT, expiry_us BIGINT, approvals BIGINT, owner VARCHAR,
due_us BIGINT, candidates BIGINT, observe_only BOOLEAN, deferred BOOLEAN, value DECIMAL(38,2), since_us BIGINT)`)
	for _, i := range w.item {
		w.exec("INSERT INTO items VALUES " + i)
	}
	for _, side := range rules.Sides {
		s := short(side)
		w.exec(fmt.Sprintf("UPDATE items SET since_us = coalesce(since_us, s.f_created_at) FROM staged_%[1]s s WHERE s.rid = items.%[1]s_rid", s))
		if f := w.in.Bound.Job.Spec(side).Field("amount"); f != nil && f.Type == rules.Decimal && f.Scale == 2 {
			w.exec(fmt.Sprintf("UPDATE items SET value = coalesce(value, s.f_amount) FROM staged_%[1]s s WHERE s.rid = items.%[1]s_rid AND (items.o_rid IS NULL OR '%[1]s' = 'o')", s))
		}
	}
	w.exec(`CREATE VIEW items_wide AS SELECT *, 'so the rule says' AS because, CASE WHEN reason = 'field_differs' THEN 'amount: the operation is right' END AS advice,
CAST(NULL AS VARCHAR) AS release, CASE WHEN queue = 'close' THEN reason END AS closing_reason,
CASE WHEN queue <> 'review' THEN 'look again' END AS recheck, CASE WHEN queue = 'requeue' THEN idempotency_key END AS recheck_key,
CASE WHEN queue = 'requeue' THEN since_us - 300000000 END AS recheck_since_us,
CASE WHEN queue = 'compensate' THEN 'refund_charge' END AS business_operation, CAST(NULL AS VARCHAR) AS parameters FROM items`)
	w.exec("CREATE TABLE outages (item_id VARCHAR)")
	w.exec("CREATE TABLE obstacles (o_rid BIGINT, r_rid BIGINT, code VARCHAR, no BIGINT, what VARCHAR)")
	for _, o := range w.held {
		w.exec("INSERT INTO obstacles VALUES " + o)
	}
	w.exec("CREATE TABLE pairs AS SELECT o_rid, r_rid, 'succeeded' AS st FROM links")
	w.exec("CREATE TABLE plain_pass AS SELECT 0 AS pass")
	w.exec(`CREATE TABLE totals AS
SELECT 'operations' AS side, r.in_period, r.class, r.reason, coalesce(s.f_currency, '') AS currency, count(*) AS rows, CAST(sum(CAST(s.f_amount AS DECIMAL(38,2))) AS DECIMAL(38,2)) AS amount
FROM rows_operations r JOIN operations s USING (rid) GROUP BY ALL
UNION ALL SELECT 'results', r.in_period, r.class, r.reason, coalesce(s.f_currency, ''), count(*), CAST(sum(CAST(s.f_amount AS DECIMAL(38,2))) AS DECIMAL(38,2))
FROM rows_results r JOIN results s USING (rid) GROUP BY ALL`)
	return w
}

func (w *world) exec(q string) {
	w.t.Helper()
	if err := w.db.Exec(w.t.Context(), q); err != nil {
		w.t.Fatal(err)
	}
}

// stage writes the staged files of a side: its record numbers, and the links of plain
// pairs as the fingerprints of their first key.
func (w *world) stage(side rules.Side) {
	w.t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "rec", Type: arrow.PrimitiveTypes.Int64}, {Name: "h0", Type: arrow.PrimitiveTypes.Uint64}}, nil)
	cols := pages.Columns(schema, func(arrow.Field) bool { return false })
	rel := w.in.relation(side)
	for i := range rel.Files {
		f := &rel.Files[i]
		if f.Status != extract.FileStaged {
			continue
		}
		rows := slices.DeleteFunc(slices.Clone(w.rows[side]), func(r row) bool { return r.file != int64(f.No) })
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.rec, b.rec) })
		f.Staged = filepath.Join(w.t.TempDir(), "staged.parquet")
		file, err := os.Create(f.Staged)
		if err != nil {
			w.t.Fatal(err)
		}
		out := pages.NewFile(file, extract.StagedBy, cols)
		if len(rows) < 100 {
			out.Limit(1, 1) // many row groups all the same
		}
		encoder := pages.NewEncoder(cols)
		for some := range slices.Chunk(rows, 1+len(rows)/100) {
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			for _, r := range some {
				b.Field(0).(*array.Int64Builder).Append(r.rec)
				b.Field(1).(*array.Uint64Builder).Append(r.link)
			}
			if err := out.Add(encoder.Encode(b.NewRecordBatch()), int64(len(some))); err != nil {
				w.t.Fatal(err)
			}
			b.Release()
		}
		if err := out.Close(); err != nil {
			w.t.Fatal(err)
		}
		file.Close()
	}
}

func (w *world) loadSide(side rules.Side) {
	w.t.Helper()
	spec := w.in.Bound.Spec(side)
	var cols []string
	for _, f := range spec.Fields {
		cols = append(cols, duck.Ident("f_"+f.Name)+" "+string(extract.FieldColumnType(f)))
		if f.Type != rules.Text {
			cols = append(cols, duck.Ident("raw_"+f.Name)+" VARCHAR")
		}
		if f.Type == rules.Timestamp {
			cols = append(cols, duck.Ident("late_"+f.Name)+" BIGINT")
		}
	}
	staged := "staged_" + short(side)
	w.exec(fmt.Sprintf("CREATE TABLE %s (rid BIGINT, file_no INTEGER, rec BIGINT, %s, w1 UBIGINT, w2 UBIGINT)", staged, strings.Join(cols, ", ")))
	w.exec(fmt.Sprintf("CREATE TABLE judged_%s (rid BIGINT, file_no INTEGER, rec BIGINT, class verdict_class, reason VARCHAR, pass VARCHAR, link UBIGINT, once VARCHAR, in_period BOOLEAN, plain BOOLEAN)", short(side)))
	w.exec(fmt.Sprintf("CREATE VIEW %s AS SELECT s.*, CASE WHEN j.plain AND j.class = 'correct' THEN j.link END AS h0 FROM %s s LEFT JOIN judged_%s j ON j.rid = s.rid", side, staged, short(side)))
	w.exec(fmt.Sprintf("CREATE VIEW rows_%s AS SELECT * EXCLUDE (plain) FROM judged_%s", side, short(side)))
	w.exec(fmt.Sprintf("CREATE VIEW row_counts_%[1]s AS SELECT file_no, class, reason, pass, once, in_period, count(*) AS n FROM rows_%[1]s GROUP BY ALL", side))
	w.exec(fmt.Sprintf("CREATE TABLE verdicts_%s (rid BIGINT, class verdict_class, reason VARCHAR, pass INTEGER, link UBIGINT, once BOOLEAN, fields VARCHAR, set_id BIGINT, candidates BIGINT, in_period BOOLEAN)", short(side)))
	w.exec(fmt.Sprintf("CREATE VIEW judged_%s AS SELECT rid, class, reason, pass, link, once, in_period FROM judged_%s WHERE NOT (plain AND class = 'correct')", side, short(side)))
	w.stage(side)
	rel := w.in.relation(side)
	sums := map[string]*extract.Total{}
	rejects := map[int]int64{}
	for _, r := range rel.Rejects {
		rejects[r.File]++
	}
	for i := range rel.Files {
		rel.Files[i].Rejected = rejects[rel.Files[i].No]
		rel.Files[i].Records = rel.Files[i].Rejected
	}
	for _, r := range w.rows[side] {
		var vals []any
		var marks []string
		null := func(s string) any {
			if s == "" {
				return nil
			}
			return s
		}
		for _, f := range spec.Fields {
			var v any
			switch f.Name {
			case "operation_id":
				v = null(r.id)
			case "idempotency_key":
				v = null(r.key)
			case "remote_id":
				v = null(r.remote)
			case "entity", "order":
				v = null(r.entity)
			case "email":
				v = null(r.email)
			case "amount":
				v = null(r.amount)
				if r.unreadable {
					v = nil
				}
			case "currency":
				v = null(r.currency)
			case "created_at":
				v = r.created.UnixMicro()
			}
			vals = append(vals, v)
			marks = append(marks, fmt.Sprintf("CAST(? AS %s)", extract.FieldColumnType(f)))
			if f.Type != rules.Text {
				var raw any
				if f.Name == "amount" && r.unreadable {
					raw = r.amount
				}
				vals = append(vals, raw)
				marks = append(marks, "?")
			}
			if f.Type == rules.Timestamp {
				marks = append(marks, "NULL")
			}
		}
		q := fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, %d, %s, %d, %d)", staged, r.rid(), r.file, r.rec, strings.Join(marks, ", "), uint64(r.rec)*1e15, uint64(r.rec)*3e15)
		if err := w.db.Exec(w.t.Context(), q, vals...); err != nil {
			w.t.Fatal(err)
		}
		pass := "NULL"
		if r.pass >= 0 {
			pass = duck.Literal(w.in.Bound.Match[r.pass].Name)
		}
		link, once := "NULL", "NULL"
		if r.link != 0 {
			link = fmt.Sprint(r.link)
		}
		if r.once != "" {
			once = duck.Literal(r.once)
		}
		w.exec(fmt.Sprintf("INSERT INTO judged_%s VALUES (%d, %d, %d, '%s', '%s', %s, %s, %s, %t, %t)", short(side), r.rid(), r.file, r.rec, r.class, r.reason, pass, link, once, !r.outside, r.plain))
		if !r.plain {
			p, set := "NULL", "NULL"
			if r.pass >= 0 {
				p = fmt.Sprint(r.pass)
			}
			if r.set != 0 {
				set = fmt.Sprint(r.set)
			}
			w.exec(fmt.Sprintf("INSERT INTO verdicts_%s VALUES (%d, '%s', '%s', %s, %s, %s, '%s', %s, NULL, %t)", short(side), r.rid(), r.class, r.reason, p, link,
				map[string]string{"": "NULL", "proven": "TRUE", "not_proven": "FALSE"}[r.once], r.fields, set, !r.outside))
		}
		rel.Records++
		rel.Files[r.file].Records++
		s := sums[r.currency]
		if s == nil {
			s = &extract.Total{Currency: r.currency, Sum: new(big.Rat)}
			sums[r.currency] = s
		}
		s.Rows++
		if a, ok := new(big.Rat).SetString(r.amount); ok && !r.unreadable {
			s.Sum.Add(s.Sum, a)
		} else {
			s.Unreadable++
		}
	}
	for _, code := range slices.Sorted(maps.Keys(sums)) {
		rel.Totals = append(rel.Totals, *sums[code])
	}
	w.residual(side)
}

// residual makes the relation of the residual rows, anew where the staged rows changed.
func (w *world) residual(side rules.Side) {
	w.t.Helper()
	w.exec(fmt.Sprintf("CREATE OR REPLACE TABLE res_%[1]s AS SELECT s.* FROM staged_%[1]s s SEMI JOIN verdicts_%[1]s v ON v.rid = s.rid", short(side)))
}

// build makes the summary.
func (w *world) build() *Summary {
	w.t.Helper()
	s, err := Build(w.t.Context(), w.db, w.in)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// deliver writes every output into a fresh folder that the engine may write to.
func (w *world) deliver(s *Summary) string {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.out, "run")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := Deliver(w.t.Context(), &Delivery{DB: w.db, In: w.in, Summary: s, Dir: dir}); err != nil {
		w.t.Fatal(err)
	}
	w.lastDir = dir
	return dir
}
