package report

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var sqlConfirmationTimes = parseSQL("confirmation_times")

// LatencyRow is the time from the creation of the correct operations in the period to
// that of their result, in microseconds: percentiles by nearest rank over the linked
// pairs of which both times are known, or one in Work.ConfirmationOf of them. A clock
// that is behind makes it negative.
type LatencyRow struct {
	Type    string `json:"type"`    // "" none or redacted; other: no plain code
	Account string `json:"account"` // of the results
	Count   int64  `json:"count"`
	P50     int64  `json:"p50_us"`
	P95     int64  `json:"p95_us"`
	P99     int64  `json:"p99_us"`
	Max     int64  `json:"max_us"`
}

// everyLink is up to how many operations every link is measured. To join millions of
// pairs once more would cost as much as to match them: of more operations one link in so
// many is measured that about as many are left. A test makes it small.
var everyLink int64 = 200_000

// oneIn is how many links stand behind each one that is measured.
func oneIn(in *Input) int64 { return max(1, in.Operations.Records/everyLink) }

// confirmationTimes measures every correct pair, by type and account, and by type alone;
// none where a side has no created_at. The types are looked at once they are grouped:
// where one of them is no code, or there are too many, they are made codes first, row by
// row, which costs more.
func confirmationTimes(ctx context.Context, db *duck.DB, in *Input) (all []LatencyRow, byType []Confirmation, err error) {
	job := in.Bound.Job
	if !timed(job) {
		return []LatencyRow{}, []Confirmation{}, nil
	}
	if codeField(job, "type") {
		all, byType, err = confirmationsBy(ctx, db, in, "o."+duck.Ident("f_type"))
		plain := func(l LatencyRow) bool { return l.Type == "" || plainType.MatchString(l.Type) }
		if err != nil || len(all) <= maxTypes && !slices.ContainsFunc(all, func(l LatencyRow) bool { return !plain(l) }) {
			return all, byType, err
		}
	}
	return confirmationsBy(ctx, db, in, codeExpr(job, "type"))
}

// plainType is a type that is surely a code; what codeExpr takes for one besides is made
// one by it.
var plainType = regexp.MustCompile(`^[A-Za-z][A-Za-z_.-]{0,63}$`)

func confirmationsBy(ctx context.Context, db *duck.DB, in *Input, typ string) (all []LatencyRow, byType []Confirmation, err error) {
	all, byType = []LatencyRow{}, []Confirmation{}
	accounts, files := in.accounts(rules.Results)
	sets := "of_type, account"
	if len(accounts) > 1 {
		sets = "GROUPING SETS ((of_type, account), (of_type))"
	}
	plain := "false" // the first pass is by no identity key: there are none
	if in.Bound.Match[0].Identity {
		plain = "r.h0 = o.h0" + sampled(in, "o.h0", " AND ") + sampled(in, "r.h0", " AND ")
	}
	q := sqlConfirmationTimes.Render(duck.Slots{"type": typ, "account": accountExpr("r.file_no", accounts, files), "sets": sets, "limit": fmt.Sprint(maxConfirmations),
		"plain": plain, "link": sampled(in, "l.link", " WHERE ")})
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

// sampled is the condition on the fingerprint of a key by which a link is measured.
func sampled(in *Input, fingerprint, and string) string {
	n := oneIn(in)
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%s%s %% %d = 0", and, fingerprint, n)
}

// maxConfirmations bounds the rows of both lists together: those with the most links.
const maxConfirmations = 2000

// timed tells whether both sides declare when their rows were made.
func timed(job *rules.Job) bool {
	for _, side := range rules.Sides {
		if f := job.Spec(side).Field("created_at"); f == nil || f.Type != rules.Timestamp {
			return false
		}
	}
	return true
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
