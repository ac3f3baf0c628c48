package classify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// shareParts is how finely the share of a pilot is cut.
const shareParts = 1_000_000

// observed is true for items that nobody is to act on: all of a job that observes, those
// outside of its pilot, and proposals that the type does not enforce. queue is the
// proposal in SQL. The expression is over the operation o; plain is for rows that have
// one for certain, else o may be missing and the result r decides. What cannot be told
// is for observation only.
func (c *classifier) observed(queue string, plain bool) (string, error) {
	if c.job.Mode == rules.Observe {
		return "true", nil
	}
	of := func(s match.ColumnSet, operation bool) (string, error) {
		or := []string{c.notEnforced(s, queue)}
		if c.job.Mode == rules.PilotMode {
			in, err := c.inPilot(s, operation)
			if err != nil {
				return "", err
			}
			or = append(or, "NOT ("+in+")")
		}
		or = slices.DeleteFunc(or, func(x string) bool { return x == "false" })
		if len(or) == 0 {
			return "false", nil
		}
		return "coalesce(" + strings.Join(or, " OR ") + ", true)", nil
	}
	o, err := of(c.o, true)
	if err != nil || plain || o == "false" {
		return o, err
	}
	r, err := of(c.r, false)
	if err != nil {
		return "", err
	}
	return "CASE WHEN o.rid IS NOT NULL THEN " + o + " ELSE " + r + " END", nil
}

// notEnforced is true for proposals that the type of the row does not name in enforce.
func (c *classifier) notEnforced(s match.ColumnSet, queue string) string {
	return match.PolicyCase(c.job.Job, s, func(p rules.TypePolicy) string {
		switch {
		case !p.EnforceDeclared:
			return "false"
		case len(p.Enforce) == 0:
			return queue + " <> 'review'"
		}
		return queue + " NOT IN ('review', " + literals(p.Enforce) + ")"
	}, "false")
}

// inPilot is true for the rows that the pilot names. The share is drawn from the
// operation id alone: an operation stays in the pilot over all runs, and one with a
// larger share holds the smaller one.
func (c *classifier) inPilot(s match.ColumnSet, operation bool) (string, error) {
	p := c.job.Pilot
	if p == nil {
		return "false", nil
	}
	from, until, err := c.job.PilotTimes()
	if err != nil {
		return "", err
	}
	and := []string{"true"}
	if len(p.Types) > 0 {
		and = append(and, "coalesce("+s.Raw("type", "VARCHAR")+" IN ("+literals(p.Types)+"), false)")
	}
	if from != nil {
		and = append(and, fmt.Sprintf("coalesce(%s >= %d, false)", s.Instant("created_at"), from.UnixMicro()))
	}
	if until != nil {
		and = append(and, fmt.Sprintf("coalesce(%s < %d, false)", s.Late("created_at"), until.UnixMicro()))
	}
	switch {
	case p.Share == 0:
	case !operation:
		and = append(and, "false")
	default:
		and = append(and, fmt.Sprintf("coalesce(md5_number_lower('pilot|' || CAST(%s AS VARCHAR)) %% %d < %d, false)",
			s.Raw("operation_id", "VARCHAR"), shareParts, int64(math.Round(p.Share*shareParts))))
	}
	return strings.Join(and, " AND "), nil
}
