package rules

import (
	"time"
)

// Source is one place that evidence comes from.
type Source struct {
	Name           string
	Preset         *PresetUse // nil: the job says everything itself
	Path           Template   // may be a glob only where it holds a pattern character and Literal is false
	Literal        bool       // `path: {exact: …}`: no pattern is expanded
	Remote         *Remote    // nil: files of a local folder
	Dates          *DateRange
	Need           Need
	Ready          *Ready // nil: files are read as they are found
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
	Signature      *Signature // nil: records are not signed
	Known          *Known     // nil: nothing is said of what it holds
	Effects        *Effects   // nil: each record stands for itself
	Ties           []Tie
	ZeroSums       []ZeroSum
	Pages          *Pages
	Identity       *Identity        // nil: a file is known by its content alone
	StatedDistinct map[string]int64 // stated_total: {distinct_keys: n}
	HideCells      bool             // messages quote no cell: the job declares personal fields, and a broken record may have them anywhere
}

// StatesEnd tells whether a file of the source that lost its end would show it: by what it
// states itself, or by what a manifest or marker states of it.
func (s *Source) StatesEnd() bool {
	if s.Controls != nil || s.CSV.EndsBefore != "" || s.CSV.Rows != nil && s.CSV.Rows.Trailer != "" {
		return true
	}
	if s.Ready == nil {
		return false
	}
	m, k := s.Ready.Manifest, s.Ready.Marker
	return m != nil && (m.Form == ManifestSums || m.Size+m.SHA256+m.MD5+m.Records != "") || k != nil && (k.Holds == HoldsRecords || k.Holds == HoldsSHA256)
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
	OpenEnd     bool // the last line may lack its line end
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
	Path    string   // dotted path of the array of records, "" for the top
	Trailer []string `json:",omitempty"` // dotted paths of members around the array: trailer.1, trailer.2, … of controls
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
	Through  *Watermark // nil: the data are taken to reach to Until
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
