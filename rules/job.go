package rules

import (
	"time"
)

// Side names one of the two sides of a job. The names are used everywhere:
// code, columns, messages, documents.
type Side string

// The two sides.
const (
	Operations Side = "operations" // what we intended
	Results    Side = "results"    // what the provider says happened
)

// Sides in their fixed order.
var Sides = [2]Side{Operations, Results}

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Operations {
		return Results
	}
	return Operations
}

// Job is the validated, immutable description of one reconciliation job. Load
// makes it; nothing changes it afterwards. Times that depend on the business
// date are templates until Bind.
type Job struct {
	Version      int
	Name         string
	Zone         *time.Location // the business calendar
	AsOf         Template       // reference time; default: the end of the business date in Zone
	ClockSkew    time.Duration  // default 5 minutes
	Period       *Period        // nil: everything is in the period
	Mode         Mode
	Operations   SideSpec
	Results      SideSpec
	Match        []Pass
	Compare      []Compare
	Scope        []ScopeRule
	Types        map[string]TypePolicy // by operation type; "*" holds the defaults, already merged into the others
	PolicyRules  []PolicyRule          // in order; the first that fits decides
	Calendars    map[string]Calendar
	Releases     []Release
	Pilot        *Pilot // with Mode pilot
	Canaries     []Canary
	Extends      []PolicyFile // what `extends:` read, for the job digest and `config show`
	States       States
	Limits       Limits
	Gates        []Gate
	Unattributed Unattributed
	Redact       Redact
	Outputs      Outputs
	Notify       []Notification
	MayBeEmpty   bool // a vacuous run (V38) is allowed

	File     string    // path as given to Load
	Source   []byte    // the text that was read
	Warnings []Warning // what the job may do but probably does not mean

	given map[string]place // path of a value that the file or a preset states → where
}

// Mode of a run.
type Mode string

// Modes: observe computes everything and marks each queue item observe_only; pilot
// does so for all items but those that Pilot names.
const (
	Enforce   Mode = "enforce"
	Observe   Mode = "observe"
	PilotMode Mode = "pilot"
)

// Period says which rows this run totals (V8). Half-open, decided by the
// operation where there is one.
type Period struct {
	By     string // product field of type timestamp or date, on both sides
	From   Template
	Until  Template
	Reason string // default "out_of_period"
}

// SideSpec is one side: its sources and the product fields they give.
type SideSpec struct {
	Side             Side
	Sources          []Source
	Fields           []Field  // in the declared order; the union over sources, see Source.Fields
	TransportColumns []string // source columns that are no part of the record (V4)
	Profile          Profile  // of the operations: how the register is kept
	WholeRegister    bool     // of the operations: nothing is in flight that the export does not hold (V31)
	LocalRef         []string // of the operations: product fields that every item carries for whoever acts
	Survivor         *Survivor
	KeepEffect       *KeepEffect

	own []string // fields that sources declare and the side does not
}

// Field returns the declared field of that name, or nil.
func (s *SideSpec) Field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// FieldIndex returns the position of the field in Fields, or -1. The position
// is also its bit in the masks of unreadable and ambiguous values.
func (s *SideSpec) FieldIndex(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Source is one place that evidence comes from.
type Source struct {
	Name           string
	Preset         *PresetUse // nil: the job says everything itself
	Path           Template   // may be a glob only where it holds a pattern character and Literal is false
	Literal        bool       // `path: {exact: …}`: no pattern is expanded
	Dates          *DateRange
	Need           Need
	OnReject       OnReject
	Format         Format // csv, tsv, ndjson, json, parquet, typed, fixed, xlsx, xml; never guessed: declared or from the file name's ending
	Compression    Compression
	CSV            CSV
	JSON           JSON
	Zip            *Zip   // where Compression is zip
	Typed          *Typed // typed and fixed
	Fixed          *Fixed
	XLSX           *XLSX
	XML            *XML
	Bank           *Bank
	Coverage       Coverage
	Fields         []Field // fields of SideSpec as this source gives them (same names and order; overridden columns)
	MinimumRecords int64
	Controls       *Controls
	Known          *Known   // nil: nothing is said of what it holds
	Effects        *Effects // nil: each record stands for itself
	Ties           []Tie
	ZeroSums       []ZeroSum
	Pages          *Pages
	StatedDistinct map[string]int64 // stated_total: {distinct_keys: n}
}

// DateRange gives one path for each day, both included ({file_date}).
type DateRange struct{ From, Until Template }

// Need says what happens when a source is missing or bad (V35).
type Need string

// Needs.
const (
	Required Need = "required" // default
	Optional Need = "optional"
	LateOK   Need = "late-ok"
)

// OnReject says what a record that cannot be cut into its fields does (V36).
type OnReject string

// Reject policies.
const (
	RejectFail OnReject = "fail" // default
	RejectKeep OnReject = "keep"
)

// Format of a source.
type Format string

// Formats.
const (
	FormatCSV     Format = "csv"
	FormatNDJSON  Format = "ndjson"
	FormatJSON    Format = "json"
	FormatParquet Format = "parquet"
)

// Compression of a source.
type Compression string

// Compressions; auto follows the file name's ending (.gz, .zst, .zip), never the content.
const (
	CompressionAuto Compression = ""
	CompressionNone Compression = "none"
	CompressionGzip Compression = "gzip"
	CompressionZstd Compression = "zstd"
)

// CSV is a declared dialect (RFC 4180 with deviations named here).
type CSV struct {
	Delimiter   rune   // default ','
	Quote       rune   // default '"'; 0: no quoting
	Encoding    string // utf-8 (default), utf-16, utf-16le, utf-16be, latin-1, windows-1252; a byte order mark is accepted where it fits the declaration
	Header      HeaderRule
	Columns     []string // names in order where Header is none
	HeaderNames string   // exact (default), trim, ignore_case
	Decimal     byte     // default '.'; default for the source's decimal fields
	Group       byte     // 0: none
	Rows        *RowKinds
	EndsBefore  string // first field of the line before which the records end; "" none. An error if it never comes
	SkipLines   string // prefix of lines that are no records; "" none
	EmptyText   string // is_null (default) or quoted_is_text
	NullWords   []string
}

// HeaderRule: first_line, none, or the first line whose first field is FirstField.
type HeaderRule struct {
	None       bool
	FirstField string
}

// RowKinds tells records by the text of one field (V37, control records).
type RowKinds struct {
	Field   int    // counted from 1
	Header  string // "" none
	Record  string // "" : whatever is neither header nor trailer
	Trailer string // exactly one, after the last record, where declared
}

// JSON says where the records are in a JSON document; for ndjson Path is empty.
type JSON struct {
	Path string // dotted path of the array of records, "" for the top
}

// Controls are totals that the file states about itself. Exactly one of the
// positions is set for each: a field of the trailer, or a field of the
// ends_before line. The trailer of a record-typed file or one of fixed width is
// its last footer of the whole file; that of XML is what xml.trailer names.
type Controls struct {
	CountField int // field (from 1) of the trailer or total line; 0 none
	Sums       []ControlSum
	In         string // "trailer" or "total_line"
}

// ControlSum is a stated sum of one product field (over all records read).
type ControlSum struct {
	Field    string
	Position int // field (from 1) of the trailer or total line
}

// Pages: the column with the page of a snapshot; a key that occurs on two pages
// withdraws the coverage of the source (V26).
type Pages struct {
	Column    string
	OnOverlap string // withdraw
}

// Coverage is what a source can prove (V26).
type Coverage struct {
	Complete bool // covers everything: `coverage: complete`
	Declared bool // false: no coverage block; then as Complete for jobs without windows, see docs
	Proves   Proves
	Types    []string // operation types it should know; empty: all
	Account  string   // sources of one account continue each other; default: one account per side
	Knows    *Expr    // which operations the account should know; nil: all
	From     Template // instants in the job's zone; half-open
	Until    Template
	Lag      time.Duration
}

// Proves is what the silence of a source means.
type Proves string

// What silence proves.
const (
	FullLifecycle Proves = "full-lifecycle" // default
	SettledOnly   Proves = "settled-only"
	FailuresOnly  Proves = "failures-only"
	PresenceOnly  Proves = "presence-only"
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

// Gate fails the run (exit 3) when its expression is true.
type Gate struct {
	Name     string
	FailWhen string
	// Parsed form: left is a metric such as share(divergent), count(absent), oldest(review), rejects; "" Kind for the gate "no differences".
	Func  string  // share, count, oldest, rejects, differences
	Arg   string  // class, proposal, or "class/reason"
	Op    string  // >, >=
	Value float64 // share as a fraction, count, or seconds
}

// Unattributed narrows V27.
type Unattributed struct {
	Within      time.Duration // 0: not narrowed
	Contradicts []string      // further fields, such as amount
}

// Redact: how declared personal fields appear in outputs.
type Redact struct {
	KeyFile string
	KeyEnv  string
	Fields  map[string]string // product field → token, mask, drop
}

// Outputs of a run.
type Outputs struct {
	Dir           string
	Formats       []string // parquet, ndjson, html, xlsx, json, md, prom
	Rows          string   // narrow (default) or wide
	ConfirmNDJSON bool
	Metrics       *MetricsSinks // nil: nowhere but in the run's folder
}
