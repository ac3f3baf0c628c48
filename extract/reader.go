package extract

// A Reader cuts one file into its physical records. Each format has one, in
// format_<name>.go; openReader chooses by the declared format. It works on the
// decompressed, hashed byte stream and decodes the declared encoding to UTF-8.
//
// Next returns io.EOF after the last record, a *RecordError for a record that
// cannot be cut into its fields (the next call goes on with the record after
// it), and any other error when the file as a whole is at fault (cut, corrupt,
// missing columns): nothing after it can be trusted.
type Reader interface {
	// Header returns the names of the columns, in order; for formats without a
	// fixed header (NDJSON) the product fields' columns, in declared order.
	Header() []string
	// Next returns the next record, valid until the following call.
	Next() (*Record, error)
	// Trailer returns the fields of the trailer or total line, once io.EOF was
	// returned; nil where none is declared.
	Trailer() []string
	// ControlLines counts preamble, header, trailer, total and skipped lines.
	ControlLines() int64
}

// Record is one data record.
type Record struct {
	No    int64  // from 1; rejects count
	Line  int64  // physical line where it starts, from 1; 0 for formats without lines
	Cells []Cell // one per column of Header
	// Extra holds members that Header does not name (NDJSON, JSON): they belong to
	// the record (V4) although no product field reads them. Sorted by name.
	Extra []NamedCell
	// whole holds the texts of all cells in their order, each but the last followed
	// by gap bytes; nil where they do not lie so.
	whole []byte
	gap   int
}

// Cell is one value as found.
type Cell struct {
	Text []byte // UTF-8; of a JSON number the digits as written
	Kind CellKind
}

// NamedCell is a cell with its column.
type NamedCell struct {
	Name string
	Cell
}

// CellKind tells null, text and number apart, as far as the format does.
type CellKind uint8

// Cell kinds. A CSV field of no characters is CellNull or CellText by the
// declared empty_text rule.
const (
	CellNull CellKind = iota
	CellText
	CellNumber
	CellBool
)

// RecordError is a record that could not be cut into its fields (V37).
type RecordError struct {
	No     int64
	Line   int64
	Column string // "" where the whole record is at fault
	Reason string // "4 fields, the header has 3"
	Raw    []byte // at most 4 KiB
}

func (e *RecordError) Error() string { return e.Reason }
