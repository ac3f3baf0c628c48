package rules

// Containers and record kinds of sources: what the mappings zip, xlsx, fixed,
// typed and xml of a source declare.

// Formats with a mapping of their own.
const (
	FormatTyped Format = "typed" // CSV whose lines are of several kinds
	FormatFixed Format = "fixed" // lines of fixed width
	FormatXLSX  Format = "xlsx"  // a sheet of an Office Open XML workbook (ECMA-376)
	FormatXML   Format = "xml"   // elements of an XML document
)

// CompressionZip is an archive whose declared members are the file.
const CompressionZip Compression = "zip"

// Zip says which members of an archive are data. Names are whole, with /; * ? [
// make a pattern as in paths, in which * does not pass a slash.
type Zip struct {
	Member string   // exact name, or a pattern that one or more members fit
	Ignore []string // names or patterns of members that are no data
}

// XLSX says where the records of a workbook are.
type XLSX struct {
	Sheet         string    // "" where the workbook has one sheet
	HeaderRow     int       // row with the names of the columns, from 1; 0: Columns names them
	Columns       []string  // names in order where HeaderRow is 0
	HeaderNames   string    // exact (default), trim, ignore_case
	Range         string    // "A1:F200", "A:F", "" the whole sheet
	SkipEmptyRows bool      // default true; else such a row is a reject
	Rows          *RowKinds // tells header, record and trailer rows apart, as in CSV
	EndsBefore    string    // first cell of the row before which the records end
	NullWords     []string
}

// Fixed is a file of lines of one width. Columns are byte ranges of the encoded
// line. The kinds of lines are in Source.Typed, whose Field is 0.
type Fixed struct {
	Encoding   string // utf-8 (default), latin-1, windows-1252
	LineLength int    // bytes of each line without its end
	LineEnd    string // any (default): LF or CRLF; none: lines follow each other without ends
	Trim       string // which blanks of a field are padding: both (default), left, right, none
	KindAt     Bytes  // where the record kind is; zero where there is one kind
	Padding    string // kind of lines that only fill the last block, such as 9 of NACHA; "" none
}

// Bytes is a range of bytes of a line, both included, counted from 1.
type Bytes struct{ From, To int }

// Typed says which kinds of lines a file has.
type Typed struct {
	Field  int    // field with the record kind, from 1; 0 in files of fixed width
	Column string // name of the column with the record kind, default record_kind
	First  string // kind of the first line; "" any
	Last   string // kind of the last line: a file that ends otherwise is cut; "" any
	Kinds  []RecordKind
}

// Kind returns the declared kind of that text, or nil.
func (t *Typed) Kind(text string) *RecordKind {
	for i := range t.Kinds {
		if t.Kinds[i].Kind == text {
			return &t.Kinds[i]
		}
	}
	return nil
}

// RecordKind is one kind of line.
type RecordKind struct {
	Kind    string
	As      KindRole
	Columns []string // names of all fields in order, the kind included; empty: a names line gives them
	Ranges  []Bytes  // fixed width: the places of Columns
	Of      []string // names line: the kinds that it names the columns of; empty: all that follow it
	Carry   []Carry  // header: columns that the records after it get
	Since   string   // footer: its records begin at the last line of this header kind; "" at the start of the file
	By      *KindKey // footer: one line for each value of a column
	Count   *KindCount
	Sums    []KindSum
}

// KindRole is what a kind of line is for.
type KindRole string

// Roles. Headers are levels in their declared order: a line of one ends what the
// headers declared after it carry.
const (
	RoleRecord  KindRole = "record" // default
	RoleHeader  KindRole = "header"
	RoleNames   KindRole = "names"
	RoleFooter  KindRole = "footer"
	RoleIgnored KindRole = "ignored"
)

// FieldRef is a field of a line: by position from 1, or by the name of its column.
type FieldRef struct {
	Position int
	Name     string
}

// Carry gives the records after a header line one of its fields as a column.
type Carry struct {
	Column string
	From   FieldRef
}

// KindKey says which of the records a footer line speaks of: those whose Column
// has the text of its field At.
type KindKey struct {
	At     FieldRef
	Column string
}

// KindCount is a stated number of records, or of lines.
type KindCount struct {
	At    FieldRef
	Of    []string // kinds; empty: all records
	Lines bool     // all lines since the scope began, this one included
}

// KindSum is a stated sum of a column over records, as written in the file.
type KindSum struct {
	At        FieldRef
	Column    string
	Of        []string          // kinds; empty: all records
	Where     map[string]string // column → text that the records have
	Minus     map[string]string // column → text of the records that are subtracted
	Tolerance string            // greatest difference that counts as equal, a decimal; "" none
}

// XML says which elements of a document are records. Paths are local names from
// the root, joined by /; a part @name is an attribute. Columns of fields are paths
// below the record's element, such as Amt, Amt/@Ccy, Refs/EndToEndId; "." is its
// own text.
type XML struct {
	Path     string
	Carry    []XMLCarry
	Trailer  []string // paths from the root to totals: trailer.1, trailer.2, … of controls
	Encoding string   // "" as the document declares it
}

// XMLCarry gives the records a column from elsewhere in the document: the last
// value before the end of the record, as long as the elements around it lasts.
type XMLCarry struct {
	Column string
	Path   string
}

// NumericCells says what whole numbers of many digits in number cells of a
// workbook are worth as keys.
type NumericCells string

// A number cell holds 15 significant digits; what had more has lost the rest.
const (
	NumericUnusable NumericCells = ""       // 15 digits and more: no usable key (default)
	NumericUsable   NumericCells = "usable" // keys like others
)
