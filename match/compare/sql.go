package compare

import (
	"fmt"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// Codes that a comparison gives, in SQL as TINYINT.
const (
	CodeEqual      = 0
	CodeTolerance  = 1 // equal only thanks to the tolerance
	CodeDiffers    = 2
	CodeUnreadable = 3 // V20: a value that is not of its declared type
	CodeAmbiguous  = 4 // V20: a local time that exists twice or never, where it decides
	CodeSkipped    = 5 // only_if_equal: not compared
)

// Sides are the layouts of both sides, whose staged columns the SQL reads under
// the aliases o and r.
type Sides struct {
	Job                 *rules.Job
	Operations, Results *extract.Layout
	// Scale is the number of decimals that holds every value of the compared field
	// where one of the sides has no declared scale.
	Scale map[int]int
}

// SQL renders Job.Compare[i] as an expression over the aliases o and r that gives
// a code. guard is the expression of the code of the field named by only_if_equal;
// "" where there is none.
func (s Sides) SQL(i int, guard string) string {
	c := s.Job.Compare[i]
	code := s.valueSQL(i, c)
	if u := s.unreadable(c); u != "" {
		code = fmt.Sprintf("CASE WHEN %s THEN %d ELSE %s END", u, CodeUnreadable, code)
	}
	if guard != "" {
		code = fmt.Sprintf("CASE WHEN %s > %d THEN %d ELSE %s END", guard, CodeTolerance, CodeSkipped, code)
	}
	return code
}

func (s Sides) valueSQL(i int, c rules.Compare) string {
	o, r := s.column("o", s.Operations, i), s.column("r", s.Results, i)
	switch c.As {
	case rules.AsStatus:
		return statusSQL(r, c)
	case rules.AsDecimal:
		return s.decimalSQL(i, c, o, r)
	case rules.AsInstant:
		return s.instantSQL(c)
	case rules.AsVersion:
		if c.Scheme == rules.VersionTimestamp {
			return s.instantSQL(c)
		}
	}
	return equalSQL(o, r)
}

// column is the comparable value of one side.
func (s Sides) column(alias string, l *extract.Layout, i int) string {
	name := l.CompareColumn(i)
	if name == "" {
		return "NULL"
	}
	return alias + "." + duck.Ident(name)
}

// equalSQL: null equals null and nothing else (V22).
func equalSQL(o, r string) string {
	return fmt.Sprintf("CASE WHEN %s IS NOT DISTINCT FROM %s THEN %d ELSE %d END", o, r, CodeEqual, CodeDiffers)
}

// unreadable is true where either side's field holds what is not of its type.
func (s Sides) unreadable(c rules.Compare) string {
	if c.As == rules.AsStatus {
		return ""
	}
	fields := func(side rules.Side, one string) []string {
		if c.As == rules.AsFingerprint {
			return c.Fields
		}
		return []string{one}
	}
	cond := ""
	add := func(alias string, side rules.Side, names []string) {
		spec := s.Job.Spec(side)
		for _, n := range names {
			i := spec.FieldIndex(n)
			semantic := c.As == rules.AsVersion && c.Scheme == rules.VersionSemantic
			if i < 0 || (spec.Fields[i].Type == rules.Text && !semantic) {
				continue
			}
			if cond != "" {
				cond += " OR "
			}
			cond += fmt.Sprintf("(%s.bad >> %d) & 1 = 1", alias, i)
		}
	}
	add("o", rules.Operations, fields(rules.Operations, c.Operations))
	add("r", rules.Results, fields(rules.Results, c.Results))
	return cond
}
