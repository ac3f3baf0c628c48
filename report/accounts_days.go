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

// dayGrid is a grid of instants, in microseconds, that every day begins on: steps of a day
// where each has 24 hours, of an hour where the clocks are changed. The wider the steps,
// the fewer groups a side of many rows has.
type dayGrid struct{ origin, step int64 }

// statementDays lists the days, and a grid that each begins on.
func statementDays(job *rules.Bound) (list []dayRow, grid dayGrid, err error) {
	zone := job.Zone
	if zone == nil {
		zone = time.UTC
	}
	date, err := time.ParseInLocation(time.DateOnly, job.Date, zone)
	if err != nil {
		return nil, grid, err
	}
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
		list = append(list, r)
	}
	grid.origin = list[1].from
	for _, r := range list[2:] {
		grid.step = gcd(grid.step, r.from-grid.origin)
	}
	return list, grid, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// dayInstant renders the instant of the grid that the day of a staged row goes by: that of
// the period, else the creation, rounded down. NULL where it is not known.
func dayInstant(job *rules.Bound, side rules.Side, days []dayRow, grid dayGrid) string {
	by := "created_at"
	if job.Period != nil {
		by = job.Period.By
	}
	f := job.Spec(side).Field(by)
	switch {
	case f == nil:
	case f.Type == rules.Timestamp:
		col := "s." + duck.Ident("f_"+by)
		return fmt.Sprintf("(%[1]s - ((%[1]s - %[3]d) %% %[2]d + %[2]d) %% %[2]d)", col, grid.step, grid.origin) // % has the sign of what is divided
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
