package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var sqlConfirmationTimes = parseSQL("confirmation_times")

// LatencyRow is the time from the creation of the correct operations in the period to
// that of their result, in microseconds: percentiles by nearest rank over every linked
// pair of which both times are known. A clock that is behind makes it negative.
type LatencyRow struct {
	Type    string `json:"type"`    // "" none or redacted; other: no plain code
	Account string `json:"account"` // of the results
	Count   int64  `json:"count"`
	P50     int64  `json:"p50_us"`
	P95     int64  `json:"p95_us"`
	P99     int64  `json:"p99_us"`
	Max     int64  `json:"max_us"`
}

// confirmationTimes measures every correct pair, by type and account, and by type alone;
// none where a side has no created_at.
func confirmationTimes(ctx context.Context, db *duck.DB, in *Input) (all []LatencyRow, byType []Confirmation, err error) {
	all, byType = []LatencyRow{}, []Confirmation{}
	if !timed(in.Bound.Job) {
		return all, byType, nil
	}
	typ, err := typeExpr(ctx, db, in.Bound.Job)
	if err != nil {
		return nil, nil, err
	}
	accounts, files := in.accounts(rules.Results)
	sets := "of_type, account"
	if len(accounts) > 1 {
		sets = "GROUPING SETS ((of_type, account), (of_type))"
	}
	q := sqlConfirmationTimes.Render(duck.Slots{"type": typ, "account": accountExpr("r.file_no", accounts, files), "sets": sets})
	err = each(ctx, db, q, func(rows *sql.Rows) error {
		var l LatencyRow
		var no sql.NullInt64
		if err := rows.Scan(&l.Type, &no, &l.Count, &l.P50, &l.P95, &l.P99, &l.Max); err != nil {
			return err
		}
		if !no.Valid || len(accounts) < 2 {
			byType = append(byType, Confirmation{Type: l.Type, Links: l.Count, P50: l.P50, P95: l.P95, P99: l.P99})
		}
		if no.Valid {
			if int(no.Int64) < len(accounts) {
				l.Account = accounts[no.Int64]
			}
			all = append(all, l)
		}
		return nil
	})
	return all, byType, err
}

// timed tells whether both sides declare when their rows were made.
func timed(job *rules.Job) bool {
	for _, side := range rules.Sides {
		if f := job.Spec(side).Field("created_at"); f == nil || f.Type != rules.Timestamp {
			return false
		}
	}
	return true
}

// typeExpr is codeExpr of the type, spared where every type is a code: to look at the
// few that there are costs less than to look at each row.
func typeExpr(ctx context.Context, db *duck.DB, job *rules.Job) (string, error) {
	expr := codeExpr(job, "type")
	if !codeField(job, "type") {
		return expr, nil
	}
	column := "o." + duck.Ident("f_type")
	var other int64
	err := db.Scan(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT DISTINCT %[1]s FROM operations o) o WHERE %[1]s <> '' AND %[2]s <> %[1]s", column, expr), &other)
	if err != nil || other > 0 {
		return expr, err
	}
	return column, nil
}

// accounts lists the accounts of a side's files, each once and in order, and for each
// file the index of its account.
func (in *Input) accounts(side rules.Side) (names []string, of map[int]int) {
	of = map[int]int{}
	account := func(f extract.File) string {
		for _, src := range in.Bound.Spec(side).Sources {
			if src.Name == f.Source {
				return src.Coverage.Account
			}
		}
		return ""
	}
	for _, f := range in.relation(side).Files {
		if a := account(f); !slices.Contains(names, a) {
			names = append(names, a)
		}
	}
	slices.Sort(names)
	for _, f := range in.relation(side).Files {
		of[f.No] = slices.Index(names, account(f))
	}
	return names, of
}

// accountExpr is the index of the account of a file. One account alone asks nothing.
func accountExpr(fileNo string, names []string, of map[int]int) string {
	if len(names) < 2 {
		return "0"
	}
	var b strings.Builder
	for i := range names {
		var nos []string
		for no, a := range of {
			if a == i {
				nos = append(nos, fmt.Sprint(no))
			}
		}
		slices.Sort(nos)
		fmt.Fprintf(&b, " WHEN %s IN (%s) THEN %d", fileNo, strings.Join(nos, ", "), i)
	}
	return "CASE" + b.String() + " END"
}
