package report

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlOpen        = parseSQL("open")
	sqlOpenFormer  = parseSQL("open_former")
	sqlOpenMoves   = parseSQL("open_moves")
	sqlOpenParts   = parseSQL("open_parts")
	sqlOpenCarried = parseSQL("open_carried")
	sqlOpenAges    = parseSQL("open_ages")
	sqlOpenSamples = parseSQL("open_samples")
	sqlOpenFile    = parseSQL("open_file")
)

// OpenFile is the file of a run's open items, which later runs read.
const OpenFile = "open.parquet"

// FormerOpen is where the open items of another run lie.
type FormerOpen struct {
	BusinessDate string
	RunID        string
	File         string            // OpenFile; "" the run wrote none
	Queues       map[string]string // then: its queue files but confirm, by queue
	Closing      []OpenItems       // what its report says of them; nil where it says nothing
}

// rows is the SELECT of the open items. Of a run without a file of them, nobody knows
// since when its items were open: since its date, or before.
func (f *FormerOpen) rows() string {
	if f == nil {
		return "SELECT '' AS case_id, 1 AS no, '' AS queue, '' AS class, '' AS reason, '' AS currency, '' AS amount, '' AS since, false AS since_before WHERE false"
	}
	if f.File != "" {
		return "SELECT case_id, no, queue, class, reason, currency, amount, since, since_before FROM read_parquet(" + duck.Literal(f.File) + ")"
	}
	var parts []string
	for _, q := range queueOrder {
		if path := f.Queues[q]; path != "" {
			parts = append(parts, fmt.Sprintf("SELECT case_id, item_id, %s AS queue, class, reason, currency, amount FROM read_parquet(%s)", duck.Literal(q), duck.Literal(path)))
		}
	}
	if len(parts) == 0 {
		return (*FormerOpen)(nil).rows()
	}
	return fmt.Sprintf("SELECT *, row_number() OVER (PARTITION BY case_id ORDER BY queue, item_id) AS no, %s AS since, true AS since_before FROM (%s)",
		duck.Literal(f.BusinessDate), strings.Join(parts, " UNION ALL "))
}

// opened is the database with report_open, report_former and report_moves, and how its
// amounts are added up.
type opened struct {
	db     *duck.DB
	scale  int
	fits   bool // a DECIMAL(38,scale) holds the sum of all amounts
	hidden bool // amounts or currencies are hidden in the files
}

// openRelations makes report_open of the items.
func openRelations(ctx context.Context, db *duck.DB, job *rules.Job) error {
	slots := duck.Slots{"amount": "CAST(value AS VARCHAR)", "items": "items"}
	if _, fixed := amountScale(job); !fixed {
		slots["items"] = "items_wide"
		slots["amount"] = `CASE WHEN regexp_full_match(amount, '-?[0-9]+(\.[0-9]+)?') THEN amount END`
	}
	return db.Exec(ctx, sqlOpen.Render(slots))
}

// moves compares report_open with the open items of another run.
func moves(ctx context.Context, db *duck.DB, former *FormerOpen, date string, hidden bool) (*opened, error) {
	o := &opened{db: db, hidden: hidden}
	slots := duck.Slots{"currency": "currency", "amount": "amount", "date": duck.Literal(date)}
	if hidden {
		slots["currency"], slots["amount"] = "''", "CAST(NULL AS VARCHAR)"
	}
	for _, q := range []string{sqlOpenFormer.Render(duck.Slots{"former": former.rows()}), sqlOpenMoves.Render(slots)} {
		if err := db.Exec(ctx, q); err != nil {
			return nil, err
		}
	}
	var whole int
	const q = `SELECT coalesce(max(length(split_part(a, '.', 2))), 0), coalesce(max(length(split_part(ltrim(a, '-'), '.', 1))), 0)
FROM (SELECT f_amount AS a FROM report_moves UNION ALL SELECT n_amount FROM report_moves UNION ALL SELECT amount FROM report_open)`
	if err := db.Scan(ctx, q, &o.scale, &whole); err != nil {
		return nil, err
	}
	o.fits = o.scale+whole <= 28 // ten digits are left for the number of items
	if !o.fits {
		o.scale = min(o.scale, 18)
	}
	return o, nil
}

func (o *opened) decimal() string { return fmt.Sprintf("DECIMAL(38,%d)", o.scale) }

// openGroup is a group of items: three names, how many, how many with an amount, and
// their sum.
type openGroup struct {
	a, b, c       string
	items, valued int64
	sum           *big.Rat
}

// groups runs a statement that counts and adds up parts. Where no type of the engine
// holds the sums, the distinct amounts are added up here.
func (o *opened) groups(ctx context.Context, t *duck.Template, slots duck.Slots) ([]openGroup, error) {
	all := duck.Slots{"sum": "CAST(sum(CAST(amount AS " + o.decimal() + ")) AS VARCHAR)", "times": "1", "group": ""}
	if !o.fits {
		all["sum"], all["times"], all["group"] = "amount", "count(*)", ", amount"
	}
	for k, v := range slots {
		all[k] = v
	}
	var out []openGroup
	at := map[[3]string]int{}
	err := each(ctx, o.db, t.Render(all), func(rows *sql.Rows) error {
		var g openGroup
		var sum sql.NullString
		var times int64
		if err := rows.Scan(&g.a, &g.b, &g.c, &g.items, &g.valued, &sum, &times); err != nil {
			return err
		}
		k := [3]string{g.a, g.b, g.c}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, openGroup{a: g.a, b: g.b, c: g.c, sum: new(big.Rat)})
		}
		x := &out[i]
		x.items += g.items
		x.valued += g.valued
		if !sum.Valid {
			return nil
		}
		r, err := parseExact(sum.String)
		if err != nil {
			return err
		}
		x.sum.Add(x.sum, r.Mul(r, new(big.Rat).SetInt64(times)))
		return nil
	})
	return out, err
}

// money is the sum as text, "" where amounts are hidden.
func (o *opened) money(r *big.Rat, code string) string {
	if o.hidden {
		return ""
	}
	return amountText(r, code)
}

func openSlots(limit int) duck.Slots { return duck.Slots{"limit": strconv.Itoa(limit)} }

// hidesMoney tells whether the job redacts amounts or currencies.
func hidesMoney(job *rules.Job) bool {
	return cmp.Or(job.Redact.Fields["amount"], job.Redact.Fields["currency"]) != ""
}
