package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// fieldPair is a product field with its columns of the wide view; "" where a
// side does not have it.
type fieldPair struct{ name, o, r string }

// fieldPairs lists the declared fields of both sides that are not dropped: those
// of the operations, then those that only the results have.
func fieldPairs(job *rules.Job, red *redactor) []fieldPair {
	var out []fieldPair
	for _, f := range job.Operations.Fields {
		if red.dropped(f.Name) {
			continue
		}
		p := fieldPair{name: f.Name, o: fieldColumn(rules.Operations, f.Name)}
		if job.Results.Field(f.Name) != nil {
			p.r = fieldColumn(rules.Results, f.Name)
		}
		out = append(out, p)
	}
	for _, f := range job.Results.Fields {
		if job.Operations.Field(f.Name) == nil && !red.dropped(f.Name) {
			out = append(out, fieldPair{name: f.Name, r: fieldColumn(rules.Results, f.Name)})
		}
	}
	return out
}

// cutExpr is cut in SQL, so that a long cell never leaves the engine for people.
func cutExpr(x string) string {
	return fmt.Sprintf("(CASE WHEN length(%[1]s) > %[2]d THEN left(%[1]s, %[2]d) || '… (' || length(%[1]s) || %[3]s ELSE %[1]s END)", x, maxCell, duck.Literal(cutEnd))
}

// exceptions counts what needs work in the period and reads the sample.
func exceptions(ctx context.Context, db *duck.DB, in *Input, red *redactor) (Exceptions, error) {
	out := Exceptions{Items: []Exception{}}
	if err := db.Scan(ctx, "SELECT count(*) FROM report_exceptions WHERE needs_work", &out.Of); err != nil {
		return out, err
	}
	err := eachException(ctx, db, in.Bound.Job, red, "report_sample_wide", func(e Exception) error {
		out.Items = append(out.Items, e)
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Showing = int64(len(out.Items))
	return out, out.actions(ctx, db, red)
}

// actions says of each row of the sample what is to be done about it.
func (x *Exceptions) actions(ctx context.Context, db *duck.DB, red *redactor) error {
	since := instantText("i.since_us")
	if red.redacted("created_at") || red.redacted("updated_at") {
		since = "CAST(NULL AS VARCHAR)"
	}
	slots := duck.Slots{"owner": cutExpr("CAST(i.owner AS VARCHAR)"), "due": instantText("i.due_us"), "since": since}
	return each(ctx, db, sqlExceptionsActions.Render(slots), func(rows *sql.Rows) error {
		var place int
		var a Action
		var owner, due, began, risk sql.NullString
		if err := rows.Scan(&place, &a.ItemID, &a.Queue, &owner, &due, &began, &risk); err != nil {
			return err
		}
		a.Owner, a.DueAt, a.Since, a.Risk = nullText(owner), nullText(due), nullText(began), nullText(risk)
		x.Items[place-1].Action = &a
		return nil
	})
}

var sqlExceptionsActions = parseSQL("exceptions_actions")

// eachException reads a wide view with places, in their order.
func eachException(ctx context.Context, db *duck.DB, job *rules.Job, red *redactor, view string, f func(Exception) error) error {
	pairs := fieldPairs(job, red)
	cols := []string{"CAST(w.link AS VARCHAR)", "w.pass", "w.set_id", "w.candidates", "w.fields", cutExpr("w.currency"),
		"CAST(w.o_value AS VARCHAR)", "CAST(w.r_value AS VARCHAR)", "CAST(w.difference AS VARCHAR)",
		"w.o_source", "w.o_file", "w.o_record", "w.o_sha256", "w.o_class", "w.o_reason",
		"w.r_source", "w.r_file", "w.r_record", "w.r_sha256", "w.r_class", "w.r_reason"}
	for _, p := range pairs {
		for _, c := range []string{p.o, p.r} {
			if c != "" {
				cols = append(cols, cutExpr("w."+duck.Ident(c)))
			}
		}
	}
	type ref struct {
		source, file, sha, class, reason sql.NullString
		record                           sql.NullInt64
	}
	return each(ctx, db, "SELECT "+strings.Join(cols, ",\n")+"\nFROM "+view+" w ORDER BY w.place", func(rows *sql.Rows) error {
		var link, pass, fields, code, vo, vr, diff sql.NullString
		var set, candidates sql.NullInt64
		var o, r ref
		dest := []any{&link, &pass, &set, &candidates, &fields, &code, &vo, &vr, &diff,
			&o.source, &o.file, &o.record, &o.sha, &o.class, &o.reason,
			&r.source, &r.file, &r.record, &r.sha, &r.class, &r.reason}
		values := make([]sql.NullString, len(cols)-len(dest))
		for i := range values {
			dest = append(dest, &values[i])
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		e := Exception{Link: nullText(link), Pass: nullText(pass), Set: set.Int64, Differs: nullText(fields), Currency: nullText(code), Values: []Value{}}
		if candidates.Valid {
			e.Candidates = &candidates.Int64
		}
		for _, x := range []struct {
			to   *string
			from sql.NullString
		}{{&e.OperationAmount, vo}, {&e.ResultAmount, vr}, {&e.Difference, diff}} {
			if x.from.Valid {
				a, err := parseExact(x.from.String)
				if err != nil {
					return err
				}
				*x.to = amountText(a, e.Currency)
			}
		}
		for _, x := range []struct {
			to   **RowRef
			from ref
		}{{&e.Operation, o}, {&e.Result, r}} {
			if x.from.record.Valid {
				*x.to = &RowRef{Source: x.from.source.String, File: x.from.file.String, Record: x.from.record.Int64,
					SHA256: x.from.sha.String, Class: x.from.class.String, Reason: x.from.reason.String}
			}
		}
		differing := strings.Split(e.Differs, ";")
		i := 0
		take := func(column string) *string {
			if column == "" {
				return nil
			}
			v := values[i]
			i++
			if !v.Valid {
				return nil
			}
			return &v.String
		}
		for _, p := range pairs {
			v := Value{Field: p.name, Operations: take(p.o), Results: take(p.r)}
			v.Differs = slices.Contains(differing, p.name)
			if v.Operations != nil || v.Results != nil || v.Differs {
				e.Values = append(e.Values, v)
			}
		}
		return f(e)
	})
}

// unresolved counts the sets of rows that are ambiguous together, and lists the
// largest.
func unresolved(ctx context.Context, db *duck.DB, in *Input) (Unresolved, error) {
	out := Unresolved{Items: []Set{}}
	const total = `SELECT count(DISTINCT set_id) FROM (SELECT set_id FROM verdicts_o UNION ALL SELECT set_id FROM verdicts_r)`
	if err := db.Scan(ctx, total, &out.Of); err != nil {
		return out, err
	}
	err := each(ctx, db, sqlSets.Render(duck.Slots{"limit": strconv.Itoa(sampleSets)}), func(rows *sql.Rows) error {
		var s Set
		var o, r sql.NullInt64
		if err := rows.Scan(&s.Set, &s.Class, &s.Reason, &s.Operations, &s.Results, &o, &r); err != nil {
			return err
		}
		side, rid := rules.Operations, o
		if !o.Valid {
			side, rid = rules.Results, r
		}
		s.FirstSide = string(side)
		s.First = RowRef{Record: rid.Int64 & (1<<40 - 1), Class: s.Class, Reason: s.Reason}
		for _, f := range in.relation(side).Files {
			if int64(f.No) == rid.Int64>>40 {
				s.First.Source, s.First.File, s.First.SHA256 = f.Source, f.Name, f.SHA256
			}
		}
		out.Items = append(out.Items, s)
		return nil
	})
	out.Showing = int64(len(out.Items))
	return out, err
}
