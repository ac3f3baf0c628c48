package compare

import (
	"fmt"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// statusSQL: a side without a status says succeeded, so the result alone decides.
func statusSQL(r string, c rules.Compare) string {
	return fmt.Sprintf("CASE WHEN %s IS NOT DISTINCT FROM %s THEN %d ELSE %d END",
		r, duck.Literal(string(c.Expect)), CodeEqual, CodeDiffers)
}

// OrderSQL is −1 where the result's version is older than the operation's (V21:
// behind), 1 where it is newer, 0 where they are equal, NULL where one is missing or
// the scheme has no order.
func (s Sides) OrderSQL(i int) string {
	c := s.Job.Compare[i]
	if c.As != rules.AsVersion || c.Scheme == rules.VersionOpaque {
		return "CAST(NULL AS INTEGER)"
	}
	o, r := s.column("o", s.Operations, i), s.column("r", s.Results, i)
	return fmt.Sprintf("CASE WHEN %[2]s < %[1]s THEN -1 WHEN %[2]s > %[1]s THEN 1 WHEN %[2]s = %[1]s THEN 0 END", o, r)
}
