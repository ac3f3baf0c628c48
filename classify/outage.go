package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
)

// outages takes the clock off what waits for a source that proves nothing for its time:
// an item that is undecided because a file is missing, or its proof was withdrawn, gets
// no reply-by date, and its age counts in no gate, since whoever has it can do nothing
// about it. It leaves the table outages: item_id. An item whose time no source declares
// to cover, gap or not, stays as it is: nothing will come for it.
func (c *classifier) outages() error {
	o, r := c.operationOutage(), c.resultOutage()
	if err := c.exec("outages", duck.Slots{"operation": o, "result": r}); err != nil || o == "false" && r == "false" {
		return err
	}
	return c.db.Exec(c.ctx, "UPDATE residual_items SET due_us = NULL WHERE item_id IN (SELECT item_id FROM outages)")
}

// operationOutage is true for an operation whose time of proof (V26) meets a gap of an
// account that should know it.
func (c *classifier) operationOutage() string {
	skew := c.job.ClockSkew.Microseconds()
	var or []string
	for _, iv := range c.res.Coverage {
		for _, g := range iv.Withdrawn {
			x := fmt.Sprintf("(%s AND coalesce(%s - %d < %d AND %s + %d > %d, false))", match.Knows(c.o, []extract.Interval{iv}, iv.Account),
				c.o.Instant("created_at"), skew, g.Until, match.Due(c.job.Job, c.o), skew+iv.Lag.Microseconds(), g.From)
			if !slices.Contains(or, x) {
				or = append(or, x)
			}
		}
	}
	if len(or) == 0 {
		return "false"
	}
	return strings.Join(or, " OR ")
}

// resultOutage is true for a result whose operation (V29) would stand in a gap of the
// operations export.
func (c *classifier) resultOutage() string {
	var longest int64
	for _, p := range c.job.Types {
		longest = max(longest, p.Deadline.Microseconds())
	}
	back := longest + c.job.ClockSkew.Microseconds()
	var or []string
	for _, iv := range c.ops.Coverage {
		for _, g := range iv.Withdrawn {
			x := fmt.Sprintf("coalesce(%s - %d < %d AND %s >= %d, false)", c.r.Instant("created_at"), back, g.Until, c.r.Late("created_at"), g.From)
			if !slices.Contains(or, x) {
				or = append(or, x)
			}
		}
	}
	if len(or) == 0 {
		return "false"
	}
	return strings.Join(or, " OR ")
}
