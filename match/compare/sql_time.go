package compare

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// instantSQL compares instants. A local time that exists twice has two readings: it
// decides nothing only where all readings give one answer. One that never was has
// none, and is always ambiguous.
func (s Sides) instantSQL(c rules.Compare) string {
	o, r := timeColumns("o", c.Operations), timeColumns("r", c.Results)
	single := answerSQL(c, o.value, r.value)
	var pairs []string
	for _, x := range []string{o.value, o.late} {
		for _, y := range []string{r.value, r.late} {
			pairs = append(pairs, answerSQL(c, "coalesce("+x+", "+o.value+")", "coalesce("+y+", "+r.value+")"))
		}
	}
	ao, ar := s.ambiguous("o", rules.Operations, c.Operations), s.ambiguous("r", rules.Results, c.Results)
	return fmt.Sprintf("CASE WHEN NOT (%s OR %s) THEN %s WHEN (%s AND %s IS NULL) OR (%s AND %s IS NULL) THEN %d WHEN greatest(%s) <= %d THEN %s WHEN least(%s) = %d THEN %d ELSE %d END",
		ao, ar, single,
		ao, o.value, ar, r.value, CodeAmbiguous,
		strings.Join(pairs, ", "), CodeTolerance, "greatest("+strings.Join(pairs, ", ")+")",
		strings.Join(pairs, ", "), CodeDiffers, CodeDiffers, CodeAmbiguous)
}

// answerSQL is the code of one reading of each side.
func answerSQL(c rules.Compare, o, r string) string {
	if c.Absolute == "" || c.Absolute == "0" {
		return equalSQL(o, r)
	}
	return fmt.Sprintf("CASE WHEN %[1]s IS NOT DISTINCT FROM %[2]s THEN %[4]d WHEN abs(%[1]s - %[2]s) <= %[3]s THEN %[5]d ELSE %[6]d END",
		o, r, c.Absolute, CodeEqual, CodeTolerance, CodeDiffers)
}

type timeColumn struct{ value, late string }

func timeColumns(alias, field string) timeColumn {
	return timeColumn{alias + "." + duck.Ident("f_"+field), alias + "." + duck.Ident("late_"+field)}
}

// ambiguous is true where the field holds a local time that exists twice or never.
func (s Sides) ambiguous(alias string, side rules.Side, field string) string {
	return fmt.Sprintf("(%s.amb >> %d) & 1 = 1", alias, s.Job.Spec(side).FieldIndex(field))
}
