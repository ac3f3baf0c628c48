package extract

import (
	"math/big"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// Relation is one side after extraction: typed, staged columns with provenance,
// what was refused, what the sources prove, and the totals that were added up
// while parsing, apart from the engine that later counts them again.
type Relation struct {
	Side     rules.Side
	Layout   *Layout
	Files    []File // in the order of sources, then of file names; File.No is the index
	Rejects  []Reject
	Coverage []Interval
	Healings []Healing  // what they would prove if one file that takes proof away were whole, by file
	Healed   []Interval // what they would prove if all of them were
	Totals   []Total
	Findings []Finding // warnings for the top of the report
	// What is stated beside the records, and what was counted.
	Controls     []Control
	ControlFiles []ControlFile
	Watermarks   []Watermark // of inputs whose data end before they were declared to
	// Revisions are the files that took the place of former ones, Missing the numbers and
	// parts that no file carries; of sources with an identity.
	Revisions []Revision
	Missing   []MissingFiles
	// Repeated[c] is the path of a Parquet file with one UBIGINT column h: the
	// fingerprint halves (column c: "h0", "h1", … "hx") that more than one row of
	// the side carries. It is a property of the set of files, and cached with it.
	Repeated map[string]string
	Records  int64 // staged rows

	Lookups []Lookup // of the results: what services said about single operations; whoever asked them sets it
}

// File is one physical file of a side.
type File struct {
	No            int // unique per side; row id = No<<40 + rec
	Source        string
	Dir           string // folder below which Path lies
	Path          string // as found
	Name          string // for outputs: base name, or path where files of the source share it
	Date          string // {file_date} where the source has dates, else ""
	Size          int64
	SHA256        string // of the bytes as found
	ContentSHA256 string // of the decompressed bytes
	Staged        string // path of the staged Parquet file; "" for skipped or missing ones
	Cached        bool   // the staged file was there already
	Status        FileStatus
	Problem       string // for refused optional files and skipped ones: why
	Records       int64  // data records read = Staged rows + rejects
	Control       int64  // header, trailer, preamble, total and skipped lines
	Excluded      int64  // records excluded by a declared row kind
	Rejected      int64
	SignedWith    string   // names the keys by which the signatures of its records were checked; "" they have none
	Arrival       *Arrival // nil: its source has no identity
}

// FileStatus tells what became of a file.
type FileStatus string

// File statuses.
const (
	FileStaged  FileStatus = "staged"
	FileSkipped FileStatus = "skipped" // same content as another one (V6)
	FileMissing FileStatus = "missing" // a day without its file, or an absent optional source
	FileRefused FileStatus = "refused" // optional source, could not be read whole
	// FileSuperseded is one of whose report there is a later revision.
	FileSuperseded FileStatus = "superseded"
)

// Reject is a record that could not be cut into its fields (V37).
type Reject struct {
	File   int   // File.No
	Record int64 // from 1
	Line   int64 // physical line where it starts, 0 unknown
	Column string
	Reason string
	Raw    []byte // at most 4 KiB of it
}

// Interval is a time that one account's sources cover whole (V26). Half-open,
// microseconds since the epoch. Files of one account are merged already, and what
// was withdrawn is taken out. An account that proves nothing has one interval with
// From = Until = 0.
type Interval struct {
	Account     string
	Source      string // comma separated names
	Proves      rules.Proves
	Types       []string // empty: all
	Knows       *rules.Expr
	Complete    bool // covers everything
	From, Until int64
	Lag         time.Duration
	Withdrawn   []Gap // times without proof, with the reason: what lies between the intervals of the account, for reports
}

// Gap is a time that is not proved, and why.
type Gap struct {
	From, Until int64
	Reason      string
}

// Total is the sum of the amount field of a side by currency, over all staged
// rows, added up exactly while parsing. Rows without a currency have "".
// Unreadable and empty amounts are counted, not summed.
type Total struct {
	Currency   string
	Rows       int64
	Unreadable int64
	Sum        *big.Rat
}

// Finding is a warning that people should see.
type Finding struct {
	Code   string // one of rules.FindingCodes
	Source string
	File   string
	Text   string
}
