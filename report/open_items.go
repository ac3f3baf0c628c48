package report

// An open item is an item of any queue but confirm: work that somebody or something has
// to do. It is the same item in two runs if its case is (case_id); several items of one
// case are counted by their number.

// OpenItems carries the open items of one currency forward from the former run:
//
//	opening + new − cleared + changed = closing
//
// in items and in money. Opening is the closing of the former run, closing is what the
// queues of this one hold; both are asserted.
type OpenItems struct {
	Currency string    `json:"currency"`
	Opening  OpenSum   `json:"opening"` // of the former run; nothing where there is none
	New      OpenSum   `json:"new"`
	Cleared  OpenSum   `json:"cleared"` // in no queue any more
	Changed  OpenSum   `json:"changed"` // items of both runs whose amount is another: the difference; or whose currency is: items too
	Closing  OpenSum   `json:"closing"`
	Carried  []Carried `json:"carried"` // of the closing: by the business date on which the case was first open, oldest first
}

// OpenSum is a number of items with their money. Changed may be negative.
type OpenSum struct {
	Items  int64  `json:"items"`
	Amount string `json:"amount"` // of those with a readable amount; "" where amounts or currencies are hidden
}

// Carried are the open items whose case was first open on one business date. The last
// one has that of the run itself.
type Carried struct {
	Since  string `json:"since"` // YYYY-MM-DD
	Before bool   `json:"before"`
	Items  int64  `json:"items"`
	Amount string `json:"amount"`
}
