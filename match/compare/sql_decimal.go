package compare

import (
	"fmt"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// decimalSQL compares exactly. A declared scale is a DECIMAL already; without one
// the canonical text is cast at a scale that holds every value of the run, so that
// nothing is rounded. The tolerance includes its boundary; a relative one is the
// share of the larger absolute value.
func (s Sides) decimalSQL(i int, c rules.Compare, o, r string) string {
	od, rd := s.number(i, s.Operations, o), s.number(i, s.Results, r)
	equal := fmt.Sprintf("%s IS NOT DISTINCT FROM %s", od, rd)
	within := WithinSQL(c.Absolute, c.Relative, od, rd)
	if within == "" {
		return fmt.Sprintf("CASE WHEN %s THEN %d ELSE %d END", equal, CodeEqual, CodeDiffers)
	}
	return fmt.Sprintf("CASE WHEN %s THEN %d WHEN %s THEN %d ELSE %d END", equal, CodeEqual, within, CodeTolerance, CodeDiffers)
}

// WithinSQL is a boolean: two exact numbers differ by at most the tolerances, one of
// which suffices; "" where none is declared. Tolerances are checked decimal texts, "" none.
func WithinSQL(absolute, relative, o, r string) string {
	within := ""
	if absolute != "" {
		within = fmt.Sprintf("abs(%s - %s) <= %s", o, r, decimalLiteral(absolute))
	}
	if relative != "" {
		rel := fmt.Sprintf("abs(%[1]s - %[2]s) <= %[3]s * greatest(abs(%[1]s), abs(%[2]s))", o, r, decimalLiteral(relative))
		if within != "" {
			within += " OR "
		}
		within += rel
	}
	return within
}

// number is the comparable value as a DECIMAL. Both sides must be of one scale
// family, so a text is cast wherever either side is one.
func (s Sides) number(i int, l *extract.Layout, col string) string {
	if scale, ok := s.Scale[i]; ok {
		return fmt.Sprintf("CAST(%s AS DECIMAL(38,%d))", col, scale)
	}
	return col
}

// decimalLiteral writes a checked decimal text as an exact SQL literal.
func decimalLiteral(text string) string {
	scale := 0
	for i := range text {
		if text[i] == '.' {
			scale = len(text) - i - 1
		}
	}
	return fmt.Sprintf("CAST('%s' AS DECIMAL(%d,%d))", text, max(18, scale), scale)
}

// NeedsScale tells whether Job.Compare[i] compares decimals of which a side has no
// declared scale; match finds the scale that holds them all.
func NeedsScale(job *rules.Job, i int) bool {
	c := job.Compare[i]
	if c.As != rules.AsDecimal {
		return false
	}
	o, r := job.Operations.Field(c.Operations), job.Results.Field(c.Results)
	return c.Round != nil || o == nil || r == nil || o.Scale < 0 || r.Scale < 0
}
