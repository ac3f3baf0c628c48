package report

// TrendPoint is one run of the series: the current runs of the last business dates,
// oldest first, this run last. At most 30.
type TrendPoint struct {
	BusinessDate string       `json:"business_date"`
	RunID        string       `json:"run_id"`
	Closes       bool         `json:"closes"`
	ExitCode     int          `json:"exit_code"`
	Rows         []TrendRows  `json:"rows"`        // by class, in the period; every class
	Queues       []TrendQueue `json:"queues"`      // in the order of queues
	Matched      int64        `json:"matched"`     // correct operations in the period
	Of           int64        `json:"of"`          // operations in the period that are not not_applicable
	MatchRatio   string       `json:"match_ratio"` // matched / of in percent, two decimals, rounded down; "" where of is 0
}

// TrendRows counts one class.
type TrendRows struct {
	Class         string `json:"class"`
	OperationRows int64  `json:"operation_rows"`
	ResultRows    int64  `json:"result_rows"`
}

// TrendQueue counts one queue.
type TrendQueue struct {
	Queue string `json:"queue"`
	Items int64  `json:"items"`
}
