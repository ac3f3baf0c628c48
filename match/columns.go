package match

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// ColumnSet renders the product fields of one side as SQL over its staged
// columns, under a table alias.
type ColumnSet struct {
	job    *rules.Job
	layout *extract.Layout
	alias  string // with its point, "" none
}

// Columns returns the column set of a side; alias may be empty.
func Columns(job *rules.Job, l *extract.Layout, alias string) ColumnSet {
	if alias != "" {
		alias += "."
	}
	return ColumnSet{job, l, alias}
}

// Has tells whether the field is declared.
func (s ColumnSet) Has(field string) bool {
	return s.job.Spec(s.layout.Side).Field(field) != nil
}

// Raw is the staged column of the field; NULL of the kind asked for where the
// field is not declared: what is missing is unknown.
func (s ColumnSet) Raw(field string, typ string) string {
	if !s.Has(field) {
		return "CAST(NULL AS " + typ + ")"
	}
	return s.alias + duck.Ident("f_"+field)
}

// Field is the value of the field for use in an expression: as Raw, with decimals
// of undeclared scale made numbers.
func (s ColumnSet) Field(field string) string {
	f := s.job.Spec(s.layout.Side).Field(field)
	if f == nil {
		return "NULL"
	}
	col := s.alias + duck.Ident("f_"+field)
	if f.Type == rules.Decimal && f.Scale < 0 {
		return "CAST(" + col + " AS DECIMAL(38,12))"
	}
	return col
}

// InExpr is the value of the field for a rules.Expr, which takes decimals without a
// declared scale as the text that is staged.
func (s ColumnSet) InExpr(field string) string {
	if !s.Has(field) {
		return "NULL"
	}
	return s.alias + duck.Ident("f_"+field)
}

// Column is any other staged column.
func (s ColumnSet) Column(name string) string { return s.alias + duck.Ident(name) }

// Instant is a timestamp field in microseconds; NULL where the field is not declared,
// or is a date, which is no instant.
func (s ColumnSet) Instant(field string) string {
	if f := s.job.Spec(s.layout.Side).Field(field); f == nil || f.Type != rules.Timestamp {
		return "CAST(NULL AS BIGINT)"
	}
	return s.Raw(field, "BIGINT")
}

// Late is the later reading of a timestamp field: for a local time that exists
// twice the second one. NULL where Instant is, and where the field is empty.
func (s ColumnSet) Late(field string) string {
	f := s.job.Spec(s.layout.Side).Field(field)
	if f == nil || f.Type != rules.Timestamp {
		return s.Instant(field)
	}
	return fmt.Sprintf("coalesce(%s, %s)", s.alias+duck.Ident("late_"+field), s.alias+duck.Ident("f_"+field))
}

// Ambiguous is true where the timestamp field holds a local time that exists twice
// or never.
func (s ColumnSet) Ambiguous(field string) string {
	i := s.job.Spec(s.layout.Side).FieldIndex(field)
	if i < 0 {
		return "false"
	}
	return fmt.Sprintf("(%samb >> %d) & 1 = 1", s.alias, i)
}

// Unreadable is true where the field holds a text that is not of its type.
func (s ColumnSet) Unreadable(field string) string {
	i := s.job.Spec(s.layout.Side).FieldIndex(field)
	if i < 0 {
		return "false"
	}
	return fmt.Sprintf("(%sbad >> %d) & 1 = 1", s.alias, i)
}

// Unknown is true where the field holds something that gives no value: a text that
// is not of its type, or a local time that never is. Such a field is not empty, and
// nothing that counts on it being empty may.
func (s ColumnSet) Unknown(field string) string {
	f := s.job.Spec(s.layout.Side).Field(field)
	switch {
	case f == nil:
		return "false"
	case f.Type != rules.Timestamp:
		return "(" + s.Unreadable(field) + ")"
	}
	return fmt.Sprintf("(%s OR %s AND %s IS NULL)", s.Unreadable(field), s.Ambiguous(field), s.Late(field))
}

// ExpectedStatus is the status that a linked result should have.
func ExpectedStatus(job *rules.Job) rules.Status {
	for _, c := range job.Compare {
		if c.As == rules.AsStatus {
			return c.Expect
		}
	}
	return rules.Succeeded
}

// InPeriod is a boolean, never NULL: a row without the time is in the period (its
// own verdict says what is missing).
func InPeriod(job *rules.Bound, s ColumnSet) string {
	if job.Period == nil || !s.Has(job.Period.By) {
		return "true"
	}
	col := s.Raw(job.Period.By, "BIGINT")
	from, until := fmt.Sprint(job.PeriodFrom), fmt.Sprint(job.PeriodUntil)
	if f := s.job.Spec(s.layout.Side).Field(job.Period.By); f.Type == rules.Date {
		// A date lies in the period when its day does, in the job's zone.
		d := func(us int64) string { return duck.Literal(Day(job, us)) }
		from, until = "CAST("+d(job.PeriodFrom)+" AS DATE)", "CAST("+d(job.PeriodUntil)+" AS DATE)"
	}
	return fmt.Sprintf("coalesce(%s >= %s AND %s < %s, true)", col, from, col, until)
}

// PolicyCase renders one value of the policy as a CASE over the type of the
// operation; "*" is the rest, none where the job has no "*".
func PolicyCase(job *rules.Job, s ColumnSet, value func(rules.TypePolicy) string, none string) string {
	rest := none
	if p, ok := job.Types["*"]; ok {
		rest = value(p)
	}
	if !s.Has("type") {
		return rest
	}
	var b strings.Builder
	for _, name := range sortedTypes(job) {
		if name == "*" {
			continue
		}
		if v := value(job.Types[name]); v != rest {
			fmt.Fprintf(&b, " WHEN %s THEN %s", duck.Literal(name), v)
		}
	}
	if b.Len() == 0 {
		return rest
	}
	return "CASE " + s.Raw("type", "VARCHAR") + b.String() + " ELSE " + rest + " END"
}
