package pipeline

import (
	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/rules"
)

// Explanation says why a row has its verdict.
type Explanation struct {
	Row       Place       `json:"row"`
	Meaning   string      `json:"meaning"` // the verdict in words
	Pass      string      `json:"pass,omitempty"`
	Once      string      `json:"once,omitempty"`
	InPeriod  bool        `json:"in_period"`
	Values    []Value     `json:"values"`
	Passes    []PassTrace `json:"passes"`
	Partners  []Partner   `json:"partners"`
	Group     *Group      `json:"group,omitempty"` // of a row that a pass by groups has put into one
	Set       *Set        `json:"set"`             // null where the row is in no unresolved set
	Unnamed   *int64      `json:"unattributed_candidates,omitempty"`
	Hint      string      `json:"hint,omitempty"` // which row of the other side it probably belongs to; nothing is linked by it
	Window    []string    `json:"window"`
	Coverage  []string    `json:"coverage"`
	Proposals []Proposal  `json:"proposals"`
	Change    []string    `json:"smallest_change"`

	scope string // the scope rule of the operation, or of the operation that it is linked to
}

// Place names a row and its verdict.
type Place struct {
	Side   rules.Side `json:"side"`
	Source string     `json:"source"`
	File   string     `json:"file"`
	Record int64      `json:"record"`
	SHA256 string     `json:"sha256"` // of the file
	Class  string     `json:"class"`
	Reason string     `json:"reason"`
	Free   *bool      `json:"free,omitempty"` // when the pass ran; of the rows of a pass
	rid    int64
	at     int // the pass that claimed it, never if none
}

// Value of one product field; redacted as the job declares.
type Value struct {
	Field string  `json:"field"`
	Value *string `json:"value"`
}

// PassTrace is what one pass saw under the row's key.
type PassTrace struct {
	Pass       string  `json:"pass"`
	Words      string  `json:"words"`
	Key        string  `json:"key"` // its parts and their values
	Usable     bool    `json:"usable"`
	Tried      bool    `json:"tried"`            // the row was still free when the pass ran
	Same       int64   `json:"rows_of_its_side"` // under the same key, itself included
	Candidates int64   `json:"candidates"`       // rows of the other side under the key, and inside every window
	Free       int64   `json:"free_candidates"`  // those that were still free when the pass ran
	Outside    int64   `json:"outside_window"`   // rows of the other side under the key, outside a window
	Rows       []Place `json:"rows"`             // the first of them
}

// Partner is a row of the other side, linked or a candidate, with every compared field
// and every identity key that one of both carries.
type Partner struct {
	Row    Place        `json:"row"`
	Keys   []FieldTrace `json:"keys"`
	Fields []FieldTrace `json:"fields"`
}

// Group is all rows of both sides that a pass by groups has put together (V16). Of its
// members the first are listed: those of the other side as partners, whose fields were
// compared by their sums alone.
type Group struct {
	Text       string  `json:"text"` // what it adds up to, what it states, and which rows would close it
	Operations int64   `json:"operations"`
	Results    int64   `json:"results"`
	Fellows    []Place `json:"fellows"` // the first other rows of its own side
	Item       string  `json:"item_id,omitempty"`
	Queue      string  `json:"queue,omitempty"`
}

// Set is an unresolved set: rows that the data do not tell apart, judged together.
type Set struct {
	Item       string    `json:"item_id,omitempty"` // the one item of the set
	Queue      string    `json:"queue,omitempty"`
	Operations int64     `json:"operations"` // rows of the whole set
	Results    int64     `json:"results"`
	Candidates []Partner `json:"candidates"` // the first rows of the other side
	Fellows    []Fellow  `json:"fellows"`    // the first other rows of its own side
}

// Fellow is a row of the same side, with the product fields in which it differs.
type Fellow struct {
	Row    Place         `json:"row"`
	Fields []FellowField `json:"fields"`
}

// FellowField is a product field with the values of two rows of one side.
type FellowField struct {
	Field string  `json:"field"`
	Own   *string `json:"own"` // of the row that is explained
	Other *string `json:"other"`
}

// FieldTrace compares one field of a pair.
type FieldTrace struct {
	Field      string  `json:"field"`
	Comparator string  `json:"comparator"`
	Operations *string `json:"operations"`
	Results    *string `json:"results"`
	Result     string  `json:"result"` // equal, within tolerance, differs, unreadable, ambiguous time, not compared
}

// Proposal is a queue item with every check of the guard.
type Proposal struct {
	Item        string       `json:"item_id"`
	Queue       string       `json:"queue"`
	Means       string       `json:"means"` // what is so, and what is to be done, in a sentence
	Rule        string       `json:"rule,omitempty"`
	Checks      []GuardCheck `json:"checks"`
	NextAttempt string       `json:"next_attempt,omitempty"`
	Expiry      string       `json:"expiry,omitempty"`
	ObserveOnly bool         `json:"observe_only,omitempty"`
	Deferred    bool         `json:"deferred,omitempty"`
	Paced       string       `json:"paced,omitempty"` // when it could go; the retry budget lets it go later
	// Why says which rule of the policy fitted, and why those before it did not.
	Why           []string `json:"why,omitempty"`
	Because       string   `json:"because,omitempty"` // the sentence of that rule
	Release       string   `json:"release,omitempty"` // lifted an allowance
	ClosingReason string   `json:"closing_reason,omitempty"`
	Advice        string   `json:"advice,omitempty"`
	Approvals     int64    `json:"approvals,omitempty"` // needed before anybody acts
	// What the policy says of the effect (describe), and what proof closes the item.
	Effect     string         `json:"effect,omitempty"`
	Truth      string         `json:"truth,omitempty"`
	ClosesWhen string         `json:"closes_when"`
	wanted     classify.Queue // what the verdict could have led to
	refused    []string       // codes
}

// GuardCheck is one check of the guard.
type GuardCheck struct {
	Code     string `json:"code"`
	Made     bool   `json:"made"` // false: the job declares nothing that could refuse
	Refused  bool   `json:"refused"`
	Sentence string `json:"sentence"` // what came out of it, in words
}
