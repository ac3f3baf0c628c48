package report

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"math/big"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

func parseSQL(name string) *duck.Template { return duck.MustParse(sqlFiles, "sql/"+name+".sql") }

var (
	sqlExceptions     = parseSQL("exceptions")
	sqlExceptionsWide = parseSQL("exceptions_wide")
	sqlSeveral        = parseSQL("several")
	sqlSheet          = parseSQL("exceptions_sheet")
	sqlSample         = parseSQL("exceptions_sample")
	sqlItemsWide      = parseSQL("items_wide")
	sqlItemsConfirm   = parseSQL("items_confirm")
	sqlItemMore       = parseSQL("item_more")
	sqlQueueCounts    = parseSQL("queue_counts")
	sqlQueueDistinct  = parseSQL("queue_distinct")
	sqlQueueRefused   = parseSQL("queue_refused")
	sqlLinks          = parseSQL("links")
	sqlSets           = parseSQL("sets")
	sqlDigest         = parseSQL("digest")
	sqlWritten        = parseSQL("written")
	sqlResidual       = parseSQL("residual")
)

// measures is what the engine counts and adds up once classify is done; small,
// whatever the number of rows.
type measures struct {
	verdicts map[rules.Side][]verdictCount
	totals   map[rules.Side][]totalRow
	residual map[rules.Side]residual
	groups   map[int]int64 // by pass
}

// verdictCount counts the rows of one file with one verdict, from row_counts_<side>.
type verdictCount struct {
	file                int
	class, reason, pass string // "" where null
	once                string
	inPeriod            bool
	rows                int64
}

// totalRow is one row of the relation totals.
type totalRow struct {
	inPeriod                bool
	class, reason, currency string
	rows                    int64
	amount                  *big.Rat // nil where the side declares no amount
}

// residual compares the verdicts of residual rows with the rows themselves.
type residual struct {
	rows      int64 // residual rows
	verdicts  int64
	distinct  int64 // row ids among the verdicts
	unmatched int64 // residual rows without a verdict, and the reverse
}

// measure reads the counts and totals.
func measure(ctx context.Context, db *duck.DB) (*measures, error) {
	m := &measures{
		verdicts: map[rules.Side][]verdictCount{},
		totals:   map[rules.Side][]totalRow{},
		residual: map[rules.Side]residual{},
		groups:   map[int]int64{},
	}
	for _, side := range rules.Sides {
		q := fmt.Sprintf(`SELECT file_no, coalesce(CAST(class AS VARCHAR), ''), coalesce(CAST(reason AS VARCHAR), ''),
coalesce(CAST(pass AS VARCHAR), ''), coalesce(CAST(once AS VARCHAR), ''), in_period, CAST(sum(n) AS BIGINT)
FROM row_counts_%s GROUP BY ALL ORDER BY ALL`, side)
		err := each(ctx, db, q, func(rows *sql.Rows) error {
			var c verdictCount
			if err := rows.Scan(&c.file, &c.class, &c.reason, &c.pass, &c.once, &c.inPeriod, &c.rows); err != nil {
				return err
			}
			m.verdicts[side] = append(m.verdicts[side], c)
			return nil
		})
		if err != nil {
			return nil, err
		}
		v, r := "verdicts_"+short(side), "res_"+short(side)
		var x residual
		q = sqlResidual.Render(duck.Slots{"verdicts": v, "residual": r})
		if err := db.Scan(ctx, q, &x.rows, &x.verdicts, &x.distinct, &x.unmatched); err != nil {
			return nil, err
		}
		m.residual[side] = x
	}
	err := each(ctx, db, "SELECT pass, count(*) FROM groups GROUP BY pass", func(rows *sql.Rows) error {
		var pass int
		var n int64
		err := rows.Scan(&pass, &n)
		m.groups[pass] = n
		return err
	})
	if err != nil {
		return nil, err
	}
	const q = `SELECT side, in_period, coalesce(CAST(class AS VARCHAR), ''), coalesce(CAST(reason AS VARCHAR), ''),
coalesce(currency, ''), rows, CAST(amount AS VARCHAR) FROM totals ORDER BY ALL`
	err = each(ctx, db, q, func(rows *sql.Rows) error {
		var side string
		var t totalRow
		var amount sql.NullString
		if err := rows.Scan(&side, &t.inPeriod, &t.class, &t.reason, &t.currency, &t.rows, &amount); err != nil {
			return err
		}
		if amount.Valid {
			var err error
			if t.amount, err = parseExact(amount.String); err != nil {
				return err
			}
		}
		m.totals[rules.Side(side)] = append(m.totals[rules.Side(side)], t)
		return nil
	})
	return m, err
}

// short is the letter of a side in the names of relations.
func short(side rules.Side) string {
	if side == rules.Operations {
		return "o"
	}
	return "r"
}

// each runs a statement and calls f for every row.
func each(ctx context.Context, db *duck.DB, q string, f func(*sql.Rows) error) error {
	rows, err := db.Query(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
