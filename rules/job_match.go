package rules

import (
	"time"
)

// Survivor says which of several records of one record id stands (V5).
type Survivor struct {
	By     string // remote_id, or the identity field where there is none
	Latest string // product field; the greatest value stands, a tie is not resolved
}

// KeepEffect names the good one of several effects (V10).
type KeepEffect struct {
	Earliest string   // product field of the results; or
	Agrees   []string // compared fields that must agree with the operation
}

// Pass is one attempt of the ordered key cascade.
type Pass struct {
	Name     string
	On       []KeyPart
	Identity bool
	Within   []Within // business passes only
	Suggest  bool     // links nothing (V15)
	Group    *Group   `json:",omitempty"` // links all rows under the key, and compares their sums (V16)
}

// KeyPart pairs a product field of each side.
type KeyPart struct {
	Operations string // product field of the operations
	Results    string // product field of the results
	Nullable   bool   // an empty part is a value of its own
}

// Within: two rows are candidates only if the field differs by at most Max.
// Both sides must be timestamps, or both dates (Max in whole days).
type Within struct {
	Field string
	Max   time.Duration
}

// Compare is one compared field.
type Compare struct {
	Name        string // in reports; the field's name
	Operations  string // product field; "" where only the results have it (status with expect)
	Results     string
	As          Comparator
	Absolute    string // decimal text, or for timestamps a duration in microseconds as decimal text; "" none
	Relative    string // share of the larger absolute value, decimal text; "" none
	Round       *Round
	Normalise   []Normalise
	Map         map[string]string // operations text → results text, for AsMapped
	Expect      Status            // for AsStatus
	Scheme      VersionScheme     // for AsVersion
	Fields      []string          // for AsFingerprint: product fields on both sides
	OnlyIfEqual string            // compared only when the named compared field is equal
}

// Comparator names how two values are compared; match/compare has one file each.
type Comparator string

// Comparators.
const (
	AsText        Comparator = "text"
	AsDecimal     Comparator = "decimal"
	AsInteger     Comparator = "integer"
	AsBoolean     Comparator = "boolean"
	AsDate        Comparator = "date"
	AsInstant     Comparator = "instant"
	AsCurrency    Comparator = "currency"
	AsMapped      Comparator = "mapped"
	AsStatus      Comparator = "status"
	AsVersion     Comparator = "version"
	AsFingerprint Comparator = "fingerprint"
)

// VersionScheme orders versions.
type VersionScheme string

// Version schemes. Opaque ones have no order: they are equal or differ.
const (
	VersionInteger   VersionScheme = "integer"
	VersionSemantic  VersionScheme = "semantic"
	VersionTimestamp VersionScheme = "timestamp"
	VersionOpaque    VersionScheme = "opaque"
)

// Round both sides before they are compared.
type Round struct {
	Places int
	Halves string // away_from_zero, to_even
}

// ScopeRule makes rows not_applicable by a documented rule (V7).
type ScopeRule struct {
	Name   string
	Side   Side
	When   *Expr
	Reason string
}
