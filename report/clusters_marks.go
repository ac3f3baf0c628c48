package report

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// markText is how many characters of a value a mark shows.
const markText = 60

// clusterMarks renders the marks of an exception x with its rows o and r: structs of the
// kind of cause, the value that is the same, and how it is shown.
func clusterMarks(in *Input, red *redactor) []string {
	job := in.Bound.Job
	mark := func(cause int, key, what string) string {
		return fmt.Sprintf("{'c': %d, 'k': CAST(%s AS VARCHAR), 'w': coalesce(CAST(%s AS VARCHAR), '')}", cause, key, what)
	}
	out := []string{mark(causeRatio, "NULL", "''")}
	if !red.redacted("amount") {
		pair := "(x.class = 'divergent' AND x.reason NOT IN ('duplicate_effect', 'status_conflict', 'value_unreadable') AND x.o_value <> 0 AND x.r_value <> 0 AND x.o_value <> x.r_value AND x.difference IS NOT NULL)"
		out = append(out,
			mark(causeRatio, "CASE WHEN "+pair+" THEN "+ratioExpr+" END", "CASE WHEN "+pair+" THEN "+ratioExpr+" END"),
			mark(causeDifference, "CASE WHEN "+pair+" THEN CAST(x.difference AS VARCHAR) || ' ' || coalesce(x.currency, '') END",
				"CASE WHEN x.difference > 0 THEN '+' ELSE '' END || CAST(x.difference AS VARCHAR) || ' ' || coalesce(x.currency, '')"))
	}
	out = append(out, versionMark(job, red, mark)...)
	for _, c := range job.Compare {
		if m := pairMark(job, red, c, mark); m != "" {
			out = append(out, m)
		}
	}
	if f := job.Results.Field("status"); f != nil && f.Type == rules.Text {
		text := "CASE WHEN x.reason IN ('unmapped_status', 'status_conflict', 'outcome_unknown') THEN r." + duck.Ident("f_status") + " END"
		out = append(out, mark(causeStatus, text, hide(red, "status", quoteExpr(text))))
	}
	for _, k := range []struct {
		side       rules.Side
		alias, rid string
	}{{rules.Results, "r", "x.r_rid"}, {rules.Operations, "o", "x.o_rid"}} {
		for _, name := range []string{"operation_id", "idempotency_key", "remote_id"} {
			f := job.Spec(k.side).Field(name)
			if f == nil {
				continue
			}
			missing := fmt.Sprintf("CASE WHEN x.class IN ('absent', 'ambiguous', 'unexpected') AND %s IS NOT NULL AND nullif(CAST(%s.%s AS VARCHAR), '') IS NULL THEN '%s/%s' END",
				k.rid, k.alias, duck.Ident("f_"+name), k.side, name)
			out = append(out, mark(causeKey, missing, fmt.Sprintf("'%s without %s'", k.side, name)))
		}
	}
	out = append(out, placeMarks(in, red, mark)...)
	return out
}

// ratioExpr names the ratio of both amounts: a power of ten or the sign exactly, any
// other to four decimals, where it is not so small that it is none.
const ratioExpr = `(CASE WHEN x.r_value = -x.o_value THEN 'with the sign flipped'
 WHEN TRY(x.r_value = x.o_value * 10) THEN '× 10' WHEN TRY(x.r_value = x.o_value * 100) THEN '× 100' WHEN TRY(x.r_value = x.o_value * 1000) THEN '× 1000'
 WHEN TRY(x.o_value = x.r_value * 10) THEN '÷ 10' WHEN TRY(x.o_value = x.r_value * 100) THEN '÷ 100' WHEN TRY(x.o_value = x.r_value * 1000) THEN '÷ 1000'
 WHEN abs(CAST(x.r_value AS DOUBLE) / CAST(x.o_value AS DOUBLE) - 1) >= 0.001 THEN '× ' || CAST(CAST(round(CAST(x.r_value AS DOUBLE) / CAST(x.o_value AS DOUBLE), 4) AS DECIMAL(30,4)) AS VARCHAR) || ' (to four decimals)' END)`

// versionMark names the jump between the versions of a pair: a number of versions where
// they are numbers, else both.
func versionMark(job *rules.Job, red *redactor, mark func(int, string, string) string) []string {
	o, r := job.Operations.Field("version"), job.Results.Field("version")
	if o == nil || r == nil || o.Type != r.Type || red.redacted("version") || o.Type != rules.Integer && o.Type != rules.Text {
		return nil
	}
	jumped := "x.reason IN ('version_behind', 'version_ahead')"
	a, b := "o."+duck.Ident("f_version"), "r."+duck.Ident("f_version")
	text := quoteExpr(a) + " || ' against ' || " + quoteExpr(b)
	if o.Type == rules.Integer {
		text = fmt.Sprintf("CASE WHEN %[1]s > %[2]s THEN 'behind by ' || CAST(%[1]s - %[2]s AS VARCHAR) WHEN %[2]s > %[1]s THEN 'ahead by ' || CAST(%[2]s - %[1]s AS VARCHAR) END", a, b)
	}
	text = "CASE WHEN " + jumped + " THEN " + text + " END"
	return []string{mark(causeVersion, text, text)}
}

// pairMark names the field and both its values, of fields that have few values: no
// amounts, times or versions.
func pairMark(job *rules.Job, red *redactor, c rules.Compare, mark func(int, string, string) string) string {
	o, r := job.Operations.Field(c.Operations), job.Results.Field(c.Results)
	if o == nil || r == nil || c.As == rules.AsVersion {
		return ""
	}
	for _, f := range []*rules.Field{o, r} {
		if f.Type == rules.Decimal || f.Type == rules.Timestamp {
			return ""
		}
	}
	differs := "list_contains(x.names, " + duck.Literal(c.Name) + ")"
	a, b := fieldText("o", *o), fieldText("r", *r)
	key := fmt.Sprintf("CASE WHEN x.class = 'divergent' AND %s THEN %s || md5(concat_ws(chr(31), coalesce('=' || %s, ''), coalesce('=' || %s, ''))) END", differs, duck.Literal(c.Name+" "), a, b)
	what := duck.Literal(c.Name+" ") + " || " + quoteExpr(a) + " || ' against ' || " + quoteExpr(b)
	if red.redacted(c.Operations) || red.redacted(c.Results) {
		what = duck.Literal(c.Name + " with the same two values")
	}
	return mark(causePair, key, "CASE WHEN "+differs+" THEN "+what+" END")
}

// placeMarks name the minute, the worker, the destination (the node of the provider that an
// operation is sent to) and the account.
func placeMarks(in *Input, red *redactor, mark func(int, string, string) string) []string {
	job := in.Bound.Job
	var out []string
	for _, k := range []struct {
		side        rules.Side
		alias, when string
	}{{rules.Operations, "o", "x.o_rid IS NOT NULL"}, {rules.Results, "r", "x.o_rid IS NULL"}} {
		f := job.Spec(k.side).Field("created_at")
		if f == nil || f.Type != rules.Timestamp || red.redacted("created_at") {
			continue
		}
		at := k.alias + "." + duck.Ident("f_created_at")
		out = append(out, mark(causeMinute, fmt.Sprintf("CASE WHEN %s THEN '%s/' || CAST(%s // 60000000 AS VARCHAR) END", k.when, k.alias, at),
			fmt.Sprintf("strftime(make_timestamp(%s // 60000000 * 60000000), '%%Y-%%m-%%dT%%H:%%MZ')", at)))
	}
	for _, k := range []struct {
		cause int
		name  string
	}{{causeWorker, "lease_holder"}, {causeDestination, "destination"}} {
		f := job.Operations.Field(k.name)
		if f == nil || f.Type != rules.Text {
			continue
		}
		text := "o." + duck.Ident("f_"+k.name)
		out = append(out, mark(k.cause, fmt.Sprintf("CASE WHEN length(%[1]s) BETWEEN 1 AND 200 THEN %[1]s END", text), hide(red, k.name, "left("+text+", "+fmt.Sprint(markText)+")")))
	}
	if names, files := in.accounts(rules.Results); len(names) > 1 {
		out = append(out, mark(causeAccount, "CASE WHEN x.r_rid IS NOT NULL THEN "+accountExpr("(x.r_rid >> 40)", names, files)+" END", "''"))
	}
	return out
}

// hide shows nothing of a redacted field.
func hide(red *redactor, field, expr string) string {
	if red.redacted(field) {
		return "''"
	}
	return expr
}

// quoteExpr shows a value in quotes, cut; a missing one as nothing.
func quoteExpr(expr string) string {
	return strings.ReplaceAll(fmt.Sprintf("coalesce('\"' || left($, %[1]d) || CASE WHEN length($) > %[1]d THEN '…' ELSE '' END || '\"', 'nothing')", markText), "$", expr)
}
