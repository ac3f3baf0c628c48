package report

// Changes is what became of the open items since another run (see OpenItems): the
// current run of the latest earlier business date of the series, or the first of the two
// that `runs diff` compares. A superseded revision of the same date is not looked at.
type Changes struct {
	BusinessDate string `json:"business_date"` // of the former run
	RunID        string `json:"run_id"`
	New          Change `json:"new"`           // open now, not then
	Gone         Change `json:"gone"`          // open then, not now
	Changed      Change `json:"changed_class"` // open in both, with another queue, class or reason
	Older        Change `json:"older"`         // open in both, the same
}

// Change counts one kind of change.
type Change struct {
	Items   int64          `json:"items"`
	Amounts []Money        `json:"amounts"` // by currency, as of this run, or of the former one for what is gone
	Showing int64          `json:"showing"`
	Samples []ChangeSample `json:"samples"` // the largest amounts of each currency take turns
}

// ChangeSample is one open item.
type ChangeSample struct {
	CaseID   string     `json:"case_id"`
	From     *OpenState `json:"from"` // null: it was not open
	To       *OpenState `json:"to"`   // null: it is open no more
	Since    string     `json:"since"`
	Currency string     `json:"currency"`
	Amount   string     `json:"amount"` // "" none that is readable, or hidden
}

// OpenState is where an open item stands.
type OpenState struct {
	Queue  string `json:"queue"`
	Class  string `json:"class"`
	Reason string `json:"reason"`
}
