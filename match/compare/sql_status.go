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
