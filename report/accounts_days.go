package report

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// dayRow is a day that statements name, with the instant in microseconds at which it
// begins.
type dayRow struct {
	from      int64
	day, span string
}

// statementDays lists the days, and a step that no day begins within.
func statementDays(job *rules.Bound) (list []dayRow, step int64, err error) {
	zone := job.Zone
	if zone == nil {
		zone = time.UTC
	}
	date, err := time.ParseInLocation(time.DateOnly, job.Date, zone)
	if err != nil {
		return nil, 0, err
	}
	step = 15 * 60 * 1_000_000 // zones begin their days at quarters of hours today; where not, the step is smaller
	y, m, d := date.Date()
	for i := -daysBefore - 1; i <= daysAfter+1; i++ {
		// Where the clocks are put forward at midnight there is none: the day begins with
		// the first second of its date.
		noon := time.Date(y, m, d+i, 12, 0, 0, 0, zone)
		back := sort.Search(24*60*60, func(n int) bool { return noon.Add(-time.Duration(n)*time.Second).Day() != noon.Day() })
		at := noon.Add(-time.Duration(back-1) * time.Second)
		r := dayRow{at.UnixMicro(), time.Date(y, m, d+i, 12, 0, 0, 0, time.UTC).Format(time.DateOnly), "day"}
		switch i {
		case -daysBefore - 1:
			r.from, r.span = math.MinInt64, "before"
		case daysAfter + 1:
			r.span = "after"
		}
		if r.span != "before" {
			for step > 1 && r.from%step != 0 {
				step = gcd(step, r.from)
			}
		}
		list = append(list, r)
	}
	return list, step, nil
}

func gcd(a, b int64) int64 {
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// dayInstant renders the instant, in whole steps, that the day of a staged row goes by:
// that of the period, else the creation. NULL where it is not known.
func dayInstant(job *rules.Bound, side rules.Side, days []dayRow, step int64) string {
	by := "created_at"
	if job.Period != nil {
		by = job.Period.By
	}
	f := job.Spec(side).Field(by)
	switch {
	case f == nil:
	case f.Type == rules.Timestamp:
		col := "s." + duck.Ident("f_"+by)
		return fmt.Sprintf("((%[1]s - ((%[1]s %% %[2]d) + %[2]d) %% %[2]d))", col, step) // rounded down, before 1970 too
	case f.Type == rules.Date: // a date is the day itself, whatever the zone
		col := "s." + duck.Ident("f_"+by)
		starts := make([]string, 0, len(days))
		for _, d := range days[1:] {
			starts = append(starts, fmt.Sprint(d.from))
		}
		first, last := duck.Literal(days[1].day), duck.Literal(days[len(days)-1].day)
		return fmt.Sprintf("(CASE WHEN %[1]s < DATE %[2]s THEN %[4]d WHEN %[1]s > DATE %[3]s THEN %[5]d ELSE [%[6]s][%[1]s - DATE %[2]s + 1] END)",
			col, first, last, days[1].from-1, days[len(days)-1].from, strings.Join(starts, ", "))
	}
	return "CAST(NULL AS BIGINT)"
}

// dayTables makes the small relations report_days and report_account_files.
func dayTables(ctx context.Context, db *duck.DB, in *Input, days []dayRow, names accountNames) error {
	var d, f []string
	for _, r := range days {
		d = append(d, fmt.Sprintf("(%d, %s, %s)", r.from, duck.Literal(r.day), duck.Literal(r.span)))
	}
	for _, file := range in.Results.Files {
		f = append(f, fmt.Sprintf("(%d, %s)", file.No, duck.Literal(names.of[file.Source])))
	}
	stmts := []string{
		"CREATE OR REPLACE TABLE report_days (from_at BIGINT, day VARCHAR, span VARCHAR)",
		"INSERT INTO report_days VALUES " + strings.Join(d, ", "),
		"CREATE OR REPLACE TABLE report_account_files (file_no INTEGER, account VARCHAR)",
	}
	if len(f) > 0 {
		stmts = append(stmts, "INSERT INTO report_account_files VALUES "+strings.Join(f, ", "))
	}
	for _, q := range stmts {
		if err := db.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
