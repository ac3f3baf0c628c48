package naive

import (
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// holdsText evaluates the few forms of expression that the benches use: terms
// FIELD = 'x' and FIELD IN ('x', 'y'), joined by AND.
func holdsText(e *rules.Expr, x *row) bool {
	for _, term := range strings.Split(e.Text, " AND ") {
		field, values, ok := strings.Cut(term, " = ")
		if !ok {
			field, values, _ = strings.Cut(term, " IN ")
		}
		var list []string
		for _, v := range strings.Split(strings.Trim(values, "()"), ", ") {
			list = append(list, strings.Trim(v, "'"))
		}
		v := x.field(field)
		if v == nil || !slices.Contains(list, plain(v)) {
			return false
		}
	}
	return true
}
