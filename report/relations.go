package report

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// freeScale is the number of decimals kept in the engine's sums for amounts
// whose decimals the job does not declare; a longer one counts as unreadable
// there and only there.
const freeScale = 18

// amountScale is the scale at which amounts of both sides are exact, and whether
// the job declares it.
func amountScale(job *rules.Job) (scale int, fixed bool) {
	fixed = true
	for _, side := range rules.Sides {
		f := job.Spec(side).Field("amount")
		switch {
		case f == nil:
		case f.Type == rules.Decimal && f.Scale < 0:
			scale, fixed = freeScale, false
		case f.Type == rules.Decimal:
			scale = max(scale, f.Scale)
		}
	}
	return scale, fixed
}

// valueExpr renders the exact amount of a staged row, DECIMAL(38,scale), or NULL.
func valueExpr(job *rules.Job, side rules.Side, alias string, scale int) string {
	f := job.Spec(side).Field("amount")
	if !hasAmount(job, side) {
		return fmt.Sprintf("CAST(NULL AS DECIMAL(38,%d))", scale)
	}
	value := alias + "." + duck.Ident("f_amount")
	cast := fmt.Sprintf("TRY_CAST(%s AS DECIMAL(38,%d))", value, scale)
	if f.Scale < 0 {
		return fmt.Sprintf(`(CASE WHEN regexp_full_match(%s, '-?[0-9]{1,%d}(\.[0-9]{1,%d})?') THEN %s END)`, value, 38-scale, scale, cast)
	}
	return cast
}

func currencyExpr(job *rules.Job, side rules.Side, alias string) string {
	if f := job.Spec(side).Field("currency"); f != nil && (f.Type == rules.Currency || f.Type == rules.Text) {
		return alias + "." + duck.Ident("f_currency")
	}
	return "CAST(NULL AS VARCHAR)"
}

// needsWorkExpr is needsWork in SQL; false for a missing row.
func needsWorkExpr(class, reason string) string {
	return fmt.Sprintf(`coalesce(%[1]s IN ('divergent', 'absent', 'unexpected', 'ambiguous')
 OR (%[1]s = 'duplicate' AND %[2]s NOT IN ('identical_copy', 'superseded_attempt')), FALSE)`, class, reason)
}

// quietExpr tells verdicts that are no exception: plainly correct, or out of the
// period.
func quietExpr(verdict string, job *rules.Job) string {
	return fmt.Sprintf(`((%[1]s.class = 'correct' AND %[1]s.reason = 'equal') OR (%[1]s.class = 'not_applicable' AND %[1]s.reason = %[2]s AND NOT %[1]s.in_period))`,
		verdict, duck.Literal(periodReason(job)))
}

// periodReason is the reason of rows outside the period.
func periodReason(job *rules.Job) string {
	if job.Period != nil && job.Period.Reason != "" {
		return job.Period.Reason
	}
	return "out_of_period"
}

// makeRelations makes the small tables and the views that outputs read:
// report_files, report_passes, report_exceptions, report_sample, report_board, the ENUM types
// of the narrow rows, and the wide views (see wideViews and itemViews). It may run
// again in the same database.
func makeRelations(ctx context.Context, db *duck.DB, in *Input, red *redactor) error {
	job := in.Bound.Job
	stmts := []string{"DROP VIEW IF EXISTS report_exceptions_wide", "DROP VIEW IF EXISTS report_sample_wide", "DROP VIEW IF EXISTS report_board_wide",
		"DROP VIEW IF EXISTS report_sheet_wide", "DROP VIEW IF EXISTS report_items", "DROP VIEW IF EXISTS report_items_confirm"}
	stmts = append(stmts, fileTables(in)...)
	stmts = append(stmts, passTables(job)...)
	scale, _ := amountScale(job)
	quietO, quietR := quietExpr("vo", job), quietExpr("vr", job)
	stmts = append(stmts,
		sqlSeveral.Render(duck.Slots{"o_quiet": quietO, "r_quiet": quietR}),
		sqlExceptions.Render(duck.Slots{
			"o_currency": currencyExpr(job, rules.Operations, "o"), "r_currency": currencyExpr(job, rules.Results, "r"),
			"o_value": valueExpr(job, rules.Operations, "o", scale), "r_value": valueExpr(job, rules.Results, "r", scale),
			"o_quiet": quietO, "r_quiet": quietR,
			"o_work": needsWorkExpr("j.o_class", "j.o_reason"), "r_work": needsWorkExpr("j.r_class", "j.r_reason"),
		}),
		sqlSample.Render(duck.Slots{"limit": strconv.Itoa(sampleExceptions)}),
		boardTable(boardLimit(in)),
	)
	raw, err := rawColumns(ctx, db, job)
	if err != nil {
		return err
	}
	for _, q := range stmts {
		if err := db.Exec(ctx, q); err != nil {
			return err
		}
	}
	if err := red.lookThrough(ctx, db, job, raw); err != nil {
		return err
	}
	for _, q := range append(wideViews(in, red, raw), itemViews(in, red)...) {
		if err := db.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// fileTables makes report_files, of both sides, and the ENUMs of all names and digests.
func fileTables(in *Input) []string {
	var all []string
	out := []string{}
	sources, files, digests := newNames(), newNames(), newNames()
	for _, side := range rules.Sides {
		for _, f := range in.relation(side).Files {
			sources.add(f.Source)
			files.add(f.Name)
			digests.add(f.SHA256)
			all = append(all, fmt.Sprintf("(%s, %d, %s, %s, %s)", duck.Literal(string(side)), f.No, duck.Literal(f.Source), duck.Literal(f.Name), duck.Literal(f.SHA256)))
		}
	}
	out = append(out,
		"CREATE OR REPLACE TABLE report_files (side VARCHAR, file_no BIGINT, source VARCHAR, file VARCHAR, sha256 VARCHAR)",
		"DROP TYPE IF EXISTS report_source", "DROP TYPE IF EXISTS report_file", "DROP TYPE IF EXISTS report_sha256",
		"CREATE TYPE report_source AS ENUM ("+sources.literals()+")",
		"CREATE TYPE report_file AS ENUM ("+files.literals()+")",
		"CREATE TYPE report_sha256 AS ENUM ("+digests.literals()+")",
	)
	if len(all) > 0 {
		out = append(out, "INSERT INTO report_files VALUES "+strings.Join(all, ", "))
	}
	return out
}

func passTables(job *rules.Job) []string {
	names := newNames()
	rows := []string{}
	for i, p := range job.Match {
		names.add(p.Name)
		rows = append(rows, fmt.Sprintf("(%d, %s)", i, duck.Literal(p.Name)))
	}
	out := []string{
		"CREATE OR REPLACE TABLE report_passes (no INTEGER, name VARCHAR)",
		"DROP TYPE IF EXISTS report_pass",
		"CREATE TYPE report_pass AS ENUM (" + names.literals() + ")",
	}
	if len(rows) > 0 {
		out = append(out, "INSERT INTO report_passes VALUES "+strings.Join(rows, ", "))
	}
	return out
}

// names is an ordered set of texts.
type names struct {
	list []string
	seen map[string]bool
}

func newNames() *names { return &names{seen: map[string]bool{}} }

func (n *names) add(s string) {
	s = strings.ReplaceAll(s, "\x00", "")
	if !n.seen[s] {
		n.seen[s] = true
		n.list = append(n.list, s)
	}
}

func (n *names) literals() string {
	if len(n.list) == 0 {
		return "''"
	}
	out := make([]string, len(n.list))
	for i, s := range n.list {
		out[i] = duck.Literal(s)
	}
	return strings.Join(out, ", ")
}

// ownColumns are the columns of exceptions.parquet that are not product fields.
// A product field of such a name appears as o_field_<name> and r_field_<name>.
var ownColumns = map[string]bool{"rid": true, "source": true, "file": true, "record": true, "class": true, "reason": true,
	"sha256": true, "value": true, "currency_code": true}

// fieldColumn is the column of a product field in the wide outputs.
func fieldColumn(side rules.Side, field string) string {
	if ownColumns[field] || strings.HasPrefix(field, "field_") {
		field = "field_" + field
	}
	return short(side) + "_" + field
}

// nullText reads a nullable text.
func nullText(s sql.NullString) string {
	if s.Valid {
		return s.String
	}
	return ""
}
