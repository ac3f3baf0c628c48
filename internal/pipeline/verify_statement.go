package pipeline

import (
	"fmt"
	"math/big"

	"github.com/recon-batch/recon-batch/report"
)

// checkStatement tells which of the ties that report.Statement promises break.
func checkStatement(st report.Statement) []string {
	var wrong []string
	n := func(text string) *big.Rat {
		if text == "" {
			return new(big.Rat)
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%q is no amount", text))
			return new(big.Rat)
		}
		return r
	}
	tie := func(what string, sum *big.Rat, stated string) {
		if sum.Cmp(n(stated)) != 0 {
			wrong = append(wrong, fmt.Sprintf("%s give %s, the report says %s", what, sum.RatString(), stated))
		}
	}
	sum := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
	diff := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

	tie("operations read less those outside the period", diff(n(st.OperationsRead), n(st.OperationsOutside)), st.Operations)
	tie("results read less those outside the period", diff(n(st.ResultsRead), n(st.ResultsOutside)), st.Results)
	operations, results, differences := new(big.Rat), new(big.Rat), new(big.Rat)
	var operationRows, resultRows int64
	for _, l := range st.Lines {
		tie(l.Class+"/"+l.Reason+", results less operations,", diff(n(l.ResultAmount), n(l.OperationAmount)), l.Difference)
		operations, results = sum(operations, n(l.OperationAmount)), sum(results, n(l.ResultAmount))
		differences = sum(differences, n(l.Difference))
		operationRows += l.OperationRows
		resultRows += l.ResultRows
	}
	tie("the lines' operations", operations, st.Operations)
	tie("the lines' results", results, st.Results)
	tie("the lines' differences", differences, st.Difference)
	tie("operations and differences", sum(n(st.Operations), differences), st.Results)
	if operationRows != st.OperationRows || resultRows != st.ResultRows {
		wrong = append(wrong, fmt.Sprintf("the lines have %d and %d rows, the report says %d and %d", operationRows, resultRows, st.OperationRows, st.ResultRows))
	}
	return wrong
}
