package compare

import (
	"fmt"

	"github.com/recon-batch/recon-batch/rules"
)

// OrderSQL is −1 where the result's version is older than the operation's (V21:
// behind), 1 where it is newer, 0 where they are equal, NULL where one is missing or
// the scheme has no order, or a local time has no one reading.
func (s Sides) OrderSQL(i int) string {
	c := s.Job.Compare[i]
	if c.As != rules.AsVersion || c.Scheme == rules.VersionOpaque {
		return "CAST(NULL AS INTEGER)"
	}
	o, r := s.column("o", s.Operations, i), s.column("r", s.Results, i)
	certain := ""
	if c.Scheme == rules.VersionTimestamp {
		certain = fmt.Sprintf("WHEN %s OR %s THEN NULL ", s.ambiguous("o", rules.Operations, c.Operations), s.ambiguous("r", rules.Results, c.Results))
	}
	return fmt.Sprintf("CASE "+certain+"WHEN %[2]s < %[1]s THEN -1 WHEN %[2]s > %[1]s THEN 1 WHEN %[2]s = %[1]s THEN 0 END", o, r)
}
