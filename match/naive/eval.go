package naive

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/rules"
)

// holds tells whether the expression is true for the row, over its product
// fields. Unknown is not true.
func (w *world) holds(e *rules.Expr, x *row) bool {
	is, _ := e.Eval(x.field)
	return is
}

// plain is the number's digits without an exponent.
func plain(v any) string {
	if d, ok := v.(*apd.Decimal); ok {
		return d.Text('f')
	}
	return fmt.Sprint(v)
}
