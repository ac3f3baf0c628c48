package rules

import (
	"time"
)

// FieldType is the declared type of a product field.
type FieldType string

// Field types. Everything is text unless declared.
const (
	Text      FieldType = "text"
	Decimal   FieldType = "decimal"
	Integer   FieldType = "integer"
	Boolean   FieldType = "boolean"
	Date      FieldType = "date"
	Timestamp FieldType = "timestamp" // an instant
	Currency  FieldType = "currency"  // upper-cased ISO 4217 letters; the raw text stays
)

// Field is a product field: how to get it from a column of the source.
type Field struct {
	Name      string
	Column    string // source column, bound by name
	Position  int    // `column: 3`: by position from 1; 0 by name
	Type      FieldType
	Normalise []Normalise // keys and comparisons of this field
	// other places of the value, in place of Column
	Constant    string       // the value of every record of the source
	FirstOf     []string     // the first of these columns that holds something
	Cases       []FieldCase  // the column of the first case that holds
	Join        []string     // the texts of these columns with / between them
	DebitCredit *DebitCredit // two columns, one of which is filled
	SumOfParts  bool         // no column: Effects of the source fills it
	// what is done with the column
	JSONPath []JSONStep // the way to a member inside the column's JSON text; nil: the text itself
	Optional bool       // a file without the column gives null
	Where    []Where    // all of them must hold, or the value is null
	// decimals
	Scale         int  // -1: any number of decimals; more decimals than declared are unreadable
	DecimalMark   byte // 0: the source's
	GroupMark     byte
	Notation      []string // further spellings of the sign: parentheses, trailing_minus
	SignFrom      *SignFrom
	MinorUnitsOf  string         // product field that holds the currency; the number is in its minor units (ISO 4217)
	MajorUnitsOf  string         // product field that holds the currency, which decides how many decimals the number may have
	Exponents     map[string]int // currency → decimals of its minor unit, where the provider deviates from ISO 4217
	ExtraDecimals int            // decimals beyond the minor unit that the source may state
	// dates and timestamps
	Layouts  []string       // Go layouts; empty: ISO 8601 / RFC 3339 forms
	Zone     *time.Location // for texts without an offset; nil: such a text is unreadable
	ZoneFrom *ZoneFrom      // the zone of each record stands in another column
	// status
	Map map[string]Status // nil: not a mapped status
	// placeholders that mean empty for this field when it is used as a key (V2)
	Placeholders []string
	NumericCells NumericCells // workbooks: what long whole numbers are worth as keys
}

// SignFrom: the sign comes from another column's mark.
type SignFrom struct {
	Column   string
	Positive []string
	Negative []string
}

// DebitCredit names the two columns of an amount: a number in Credit counts as it
// is, one in Debit is taken away. Both filled, other than by zero, is unreadable.
type DebitCredit struct{ Debit, Credit string }

// JSONStep goes one level down in a JSON value: to a member of an object, or to an
// element of an array, counted from 1, or from its end by -1, -2, …
type JSONStep struct {
	Member string
	Index  int // 0: by member
}

// FieldCase gives the value of a field in the records in which all of Where holds;
// a case without any holds always.
type FieldCase struct {
	Column string
	Where  []Where
}

// Where: a column has one of some texts.
type Where struct {
	Column string
	In     []string
}

// ZoneFrom: the zone of a local time comes from another column.
type ZoneFrom struct {
	Column string
	Zones  map[string]string // text of the column → IANA zone
}

// Normalise is one declared step, applied in order to both sides for matching
// and comparing only; outputs keep the text as found.
type Normalise string

// Normalisation steps.
const (
	NormTrim            Normalise = "trim"              // outer blanks and tabs
	NormTrimUnicode     Normalise = "trim_unicode"      // outer Unicode white space
	NormRemoveZeroWidth Normalise = "remove_zero_width" // U+200B..U+200D, U+2060, U+FEFF
	NormNFC             Normalise = "nfc"
	NormIgnoreCase      Normalise = "ignore_case" // Unicode simple case folding
	NormLineEnds        Normalise = "line_ends"   // CRLF and CR to LF
	NormUUID            Normalise = "uuid"        // case, braces and hyphens do not matter; not a UUID: the text itself
)

// A step `strip_prefix:XYZ` is written {strip_prefix: XYZ} in the job file and kept as "strip_prefix:XYZ".

// Status is the canonical outcome of a result (V19).
type Status string

// Canonical statuses.
const (
	Succeeded Status = "succeeded"
	Pending   Status = "pending"
	Failed    Status = "failed" // finally
	Unknown   Status = "unknown"
	Reversed  Status = "reversed"
	Refunded  Status = "refunded"
	Unmapped  Status = "unmapped" // not in the map; never declared
)
