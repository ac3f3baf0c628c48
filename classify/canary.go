package classify

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// canaries finds the planted operations of the job and takes their proposals out of the
// acting queues: nobody may send a planted operation, or undo its effect. It leaves the
// table canaries: no, operation_id, expect, rid, class, reason, in_period; one row for
// each record, and one without rid for a canary that is missing.
func (c *classifier) canaries() error {
	if len(c.job.Canaries) == 0 {
		return nil
	}
	list := make([]string, len(c.job.Canaries))
	for i, x := range c.job.Canaries {
		list[i] = fmt.Sprintf("(%d, %s, %s)", i, duck.Literal(x.OperationID), duck.Literal(x.Expect))
	}
	if err := c.exec("canaries", duck.Slots{"list": strings.Join(list, ", "), "id": "CAST(" + c.o.Raw("operation_id", "VARCHAR") + " AS VARCHAR)"}); err != nil {
		return err
	}
	if err := c.db.Exec(c.ctx, "DELETE FROM residual_items WHERE queue <> 'review' AND o_rid IN (SELECT rid FROM canaries)"); err != nil {
		return err
	}
	if !c.plainWanted() {
		return nil
	}
	return c.db.Exec(c.ctx, "DELETE FROM plain_rows WHERE allowed_failed = 0 AND o_rid IN (SELECT rid FROM canaries)")
}
