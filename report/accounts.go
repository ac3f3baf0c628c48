package report

// AccountStatement leads from the operations to the results of one account, day and
// currency, in the period, through named lines:
//
//	operations + Σ lines.difference = results
//
// The sums of all statements of a currency, line by line, are those of Statement; both
// are asserted. The account is that of the results (coverage.account): a result has the
// one of its source, an operation the one that should know it. The day is that of the
// row itself in the zone of the job, so that a pair whose two records lie on different
// days or accounts stands in two statements; what that makes is Shifted.
type AccountStatement struct {
	Account            string        `json:"account"` // "" the only one, or none that should know the operation; several that cannot be told apart are joined by ", "
	Day                string        `json:"day"`     // YYYY-MM-DD; "" rows without a time, and what has no day (rejected, excluded)
	Span               string        `json:"span"`    // day: that one; before: it and all before; after: it and all after
	Currency           string        `json:"currency"`
	Operations         string        `json:"operations"` // "" where no amount is declared, like every amount here
	Lines              []AccountLine `json:"lines"`
	Results            string        `json:"results"`
	Difference         string        `json:"difference"` // results − operations
	Shifted            string        `json:"shifted"`    // of the difference: plainly equal pairs with a record on another day or account
	OperationRows      int64         `json:"operation_rows"`
	ResultRows         int64         `json:"result_rows"`
	OperationsRejected int64         `json:"operations_rejected"` // records that could not be read: no day, no currency, in no sum
	ResultsRejected    int64         `json:"results_rejected"`
	OperationsExcluded int64         `json:"operations_excluded"` // by a declared row kind, in no sum
	ResultsExcluded    int64         `json:"results_excluded"`
}

// AccountLine is one class and reason with its name.
type AccountLine struct {
	Name            string `json:"name"` // matched, divergent, absent, unexpected, ambiguous, duplicate, timing, scope
	Class           string `json:"class"`
	Reason          string `json:"reason"`
	OperationRows   int64  `json:"operation_rows"`
	OperationAmount string `json:"operation_amount"`
	ResultRows      int64  `json:"result_rows"`
	ResultAmount    string `json:"result_amount"`
	Difference      string `json:"difference"`
}

// lineNames names the lines by class.
var lineNames = map[string]string{
	"correct": "matched", "divergent": "divergent", "absent": "absent", "unexpected": "unexpected", "ambiguous": "ambiguous",
	"duplicate": "duplicate", "not_due": "timing", "not_applicable": "scope",
}
