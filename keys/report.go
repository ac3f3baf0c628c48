package keys

import "github.com/recon-batch/recon-batch/rules"

// Report is what was measured.
type Report struct {
	Job          string `json:"job"`
	BusinessDate string `json:"business_date"`
	Operations   int64  `json:"operations"` // staged rows
	Results      int64  `json:"results"`
	Keys         []Key  `json:"keys"` // declared passes in their order, then the others, by what they link
	// LinkedByNone counts the operations that no compared key links one to one.
	LinkedByNone int64     `json:"linked_by_none"`
	Declared     []Step    `json:"declared"`  // the passes of the job in their order
	Suggested    []Step    `json:"suggested"` // another order, for a person to judge
	Disagreeing  []string  `json:"disagreeing"`
	Warnings     []Warning `json:"warnings"`
	Notes        []string  `json:"notes"`
}

// Key is a candidate.
type Key struct {
	Name     string `json:"key"`
	Pass     string `json:"pass,omitempty"` // of a declared one
	On       []Part `json:"on"`
	Identity bool   `json:"identity"` // declared so
	Suggest  bool   `json:"suggest"`
	Group    bool   `json:"group"` // links many rows under one value: it is measured and not compared

	Operations Side  `json:"operations"`
	Results    Side  `json:"results"`
	Common     int64 `json:"common"` // different values that both sides have
	Linked     int64 `json:"linked"` // pairs of rows whose value stands once on each side
	// Rows under a value of both sides that stands more than once on one of them.
	Several          int64 `json:"several_results"`   // operations, one under its value, with several results
	SharedOperations int64 `json:"shared_operations"` // operations that share their value
	// Of the operations that another key links too (not one made of the same fields),
	// counted once for each such key, those to which it gives the same result.
	Compared bool      `json:"compared"`
	Also     int64     `json:"linked_by_others"`
	Agree    int64     `json:"agreeing"`
	Only     int64     `json:"only"` // operations that no other key links, but for those made of the same fields
	Examples []Example `json:"examples"`

	of candidate
}

// Part is a field of each side.
type Part struct {
	Operations string `json:"operations"`
	Results    string `json:"results"`
	Nullable   bool   `json:"nullable,omitempty"`
}

// Side is what a key is on one side, in rows but for Distinct.
type Side struct {
	Rows     int64 `json:"rows"`
	Filled   int64 `json:"filled"`   // with a key
	Unique   int64 `json:"unique"`   // with a key that no other row of the side has
	Distinct int64 `json:"distinct"` // different keys
	Most     int64 `json:"most"`     // under the most frequent key
}

// Example is an operation and the result that the key links it to.
type Example struct {
	Operation Place `json:"operation"`
	Result    Place `json:"result"`
}

// Place is a row: its id as people may see it ("" where it has none), and where it stands.
type Place struct {
	ID     string `json:"id"`
	File   string `json:"file"`
	Record int64  `json:"record"`
}

// Step is a pass of a cascade.
type Step struct {
	Key    string `json:"key"`
	Linked int64  `json:"linked"` // one to one, among the rows that are free
	Free   int64  `json:"free"`   // operations afterwards
	Pass   string `json:"pass"`   // as it would stand under match
	Why    string `json:"why"`
}

// Warning is something about a key that a person should know.
type Warning struct {
	Code string     `json:"code"`
	Key  string     `json:"key"`
	Side rules.Side `json:"side,omitempty"`
	Text string     `json:"text"`
}

// Codes of warnings.
const (
	CodeOneSide     = "filled_on_one_side"
	CodePlaceholder = "placeholder"
	CodeHotValue    = "hot_value"
	CodeNearUnique  = "near_unique"
	CodeScope       = "scope"
)
