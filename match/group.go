package match

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// groupPass is V16: all free rows of both sides under one key are one group. No pass by
// identity key comes after it (rules), so that V12 has nothing to ask of its rows.
func (c *cascade) groupPass(i int) error {
	pass := fmt.Sprint(i)
	columns, bounds, differ := "", "", ""
	for _, j := range c.identity() {
		k := key(j)
		columns += ", " + k
		bounds += fmt.Sprintf(", min(%[1]s) AS lo_%[1]s, max(%[1]s) AS hi_%[1]s", k)
		// Some value of one side differs from some value of the other, unless both have a
		// single one, the same.
		differ += fmt.Sprintf(" OR coalesce(o.lo_%[1]s <> r.hi_%[1]s OR o.hi_%[1]s <> r.lo_%[1]s, false)", k)
	}
	same := "''"
	if len(c.job.Match[i].Group.Same) > 0 {
		same = fmt.Sprintf("s%d", i)
	}
	for _, n := range both {
		err := c.exec("group_free", duck.Slots{"table": n.free, "k": key(i), "same": same, "columns": columns,
			"counts": c.counts(n), "contested": n.contested, "marks": n.marks, "link_rid": n.link})
		if err != nil {
			return err
		}
	}
	if err := c.exec("group_pass", duck.Slots{"bounds": bounds, "differ": differ}); err != nil {
		return err
	}
	if err := c.exec("group_links", duck.Slots{"pass": pass}); err != nil {
		return err
	}
	for _, n := range both {
		if err := c.exec("group_claims", duck.Slots{"side": duck.Literal(string(n.side)), "free": n.free}); err != nil {
			return err
		}
		if err := c.exec("group_marks", duck.Slots{"marks": n.marks, "free": n.free, "other": other(n).free, "pass": pass}); err != nil {
			return err
		}
		if err := c.exec("group_edges", duck.Slots{"marks": n.marks, "free": n.free, "bit": n.bit, "pass": pass}); err != nil {
			return err
		}
	}
	return nil
}

// counts is true for rows whose amount belongs into a sum: a result that finally failed
// is no effect (V10), and an operation under a scope rule should have none (V7).
func (c *cascade) counts(n names) string {
	if n.side == rules.Results {
		if c.res.Layout.HasStatus() {
			return "st <> " + duck.Literal(string(rules.Failed))
		}
		return "true"
	}
	if reason := ScopeReason(c.job.Job, Columns(c.job.Job, c.ops.Layout, ""), rules.Operations); reason != "" {
		return "(" + strings.TrimSpace(reason) + ") IS NULL"
	}
	return "true"
}
