package extract

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// xlsxReader reads the rows of one sheet of a workbook (ECMA-376) as stored, row by
// row: the sheet is never in memory as a whole. excelize is no reader for this: its rows
// are texts that do not tell a number from a text, an error or a date, and what tells
// them loads the sheet.
//
// Numbers are plain decimals of 15 significant digits, which is what a workbook
// holds; dates are ISO 8601 texts. A cell with an error, a formula without a stored
// value, a number that is no date where the format shows one, and a value beyond the
// last named column make their row a reject.
type xlsxReader struct {
	x       *rules.XLSX
	hide    bool // messages quote no cell
	name    string
	lim     Limits
	content *content
	spool   *os.File
	body    io.ReadCloser
	t       *xmlTokens
	strings *xlsxStrings
	shared  int64 // bytes of shared texts in the cells so far
	packed  int64 // bytes of the workbook
	styles  []dateStyle
	from04  bool
	area    area
	headRow int
	nulls   map[string]bool

	header   []string
	needed   []bool // by column of the header
	row      xlsxRow
	at       int // the last row that was read, 0 none
	held     bool
	inData   bool
	inTable  bool // the element sheetData is open
	ended    bool
	repeats  bool // there may be several trailers
	control  int64
	trailer  []string
	trailers [][]string   // where there is one for each value of a field
	head     []string     // of the first header row by rows
	other    map[int]bool // rows between the records that are none
	first    int          // row of the first record
	last     int          // row of the last one
	notes    []longNumbers
	rec      Record
	done     bool // the sheet is read to its end
	err      error
	stored   []byte
	outside  outsideRows
	emptyRow int // first of the empty rows that have not been told of; 0 none
}

// area is a part of a sheet, all included, from 1; 0 is without bound.
type area struct{ left, top, right, bottom int }

// xlsxRow is a row as stored.
type xlsxRow struct {
	no    int
	cells []xlsxCell
	text  []byte
}

// xlsxCell is one cell; its text is in that of the row.
type xlsxCell struct {
	column    int // from 1
	kind      CellKind
	from, end int
	fault     string
	long      bool // a whole number of 15 digits and more
}

func openXLSX(src *rules.Source, need []neededColumn, f io.Reader, name string, lim Limits) (fileReader, error) {
	x := src.XLSX
	if x == nil {
		x = &rules.XLSX{HeaderRow: -1, SkipEmptyRows: true}
	}
	content, err := openContent(f, src.Compression, name, lim)
	if err != nil {
		return nil, err
	}
	r := &xlsxReader{x: x, hide: src.HideCells, repeats: src.Controls.Repeats(), name: name, lim: lim, content: content, other: map[int]bool{}}
	if err := r.open(need, f); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *xlsxReader) open(need []neededColumn, f io.Reader) error {
	plain := plainFile(f)
	if r.content.kind != "" {
		plain = nil
	}
	file, size, spool, err := randomAccess(r.content, plain, r.name, r.lim)
	if err != nil {
		return err
	}
	r.spool, r.packed = spool, size
	book, err := openBook(file, size, r.name, r.lim)
	if err != nil {
		return err
	}
	sheet, err := book.sheet(r.x.Sheet)
	if err != nil {
		return err
	}
	if r.styles, err = book.dateStyles(); err != nil {
		return err
	}
	if r.strings, err = book.readStrings(); err != nil {
		return err
	}
	r.from04 = book.from1904
	if r.area, err = parseArea(r.x.Range); err != nil {
		return fail.New(fail.Usage, "%s: %v", r.name, err).WithHint("write range: A1:F200")
	}
	if len(r.x.NullWords) > 0 {
		r.nulls = map[string]bool{}
		for _, w := range r.x.NullWords {
			r.nulls[w] = true
		}
	}
	if r.body, err = book.open(sheet.part); err != nil {
		return err
	}
	if r.t, err = newXMLTokens(r.body, "", r.name+"/"+sheet.part, r.lim); err != nil {
		return err
	}
	found, err := r.readHeader()
	if err != nil {
		return err
	}
	if len(found) > r.lim.Columns {
		return overLimit(r.name, "columns", int64(r.lim.Columns))
	}
	if r.header, err = bindHeader(found, r.x.HeaderNames, need, r.name); err != nil {
		return err
	}
	r.needed = make([]bool, len(r.header))
	for _, c := range need {
		at := c.position - 1
		if c.position == 0 {
			at = slices.Index(r.header, c.name)
		}
		if at >= 0 && at < len(r.header) {
			r.needed[at] = c.kind == rules.Text || c.kind == rules.Integer || r.needed[at]
		}
	}
	r.notes = make([]longNumbers, len(r.header))
	r.rec.Cells = make([]Cell, len(r.header))
	return nil
}

// readHeader finds the names of the columns.
func (r *xlsxReader) readHeader() ([]string, error) {
	r.headRow = r.x.HeaderRow
	if r.headRow < 0 {
		r.headRow = max(r.area.top, 1)
	}
	if r.headRow == 0 {
		r.inData = true
		return r.x.Columns, nil
	}
	for {
		ok, err := r.nextRow()
		if err != nil {
			return nil, err
		}
		if !ok || r.row.no > r.headRow || r.row.no == r.headRow && r.empty() {
			return nil, badFile(r.name, "row %d of the sheet, which should name the columns, is empty", r.headRow).
				WithHint("correct xlsx: {header_row: …} in the job file")
		}
		r.control++
		if r.row.no < r.headRow {
			continue
		}
		var names []string
		for _, c := range r.row.cells {
			if c.fault != "" {
				return nil, badFile(r.name, "the cell %s in the header: %s", cellName(c.column, r.row.no), c.fault)
			}
			if c.kind == CellNull {
				continue
			}
			for len(names) < c.column-r.left() {
				names = append(names, "column "+columnName(len(names)+r.left()))
			}
			names = append(names, string(r.row.text[c.from:c.end]))
		}
		r.inData = true
		return names, nil
	}
}

func (r *xlsxReader) left() int { return max(r.area.left, 1) }

func (r *xlsxReader) Header() []string  { return r.header }
func (r *xlsxReader) Trailer() []string { return r.trailer }
func (r *xlsxReader) Head() []string    { return r.head }

// Trailers are all of them, in a sheet that has one for each value of a field.
func (r *xlsxReader) Trailers() [][]string { return r.trailers }

func (r *xlsxReader) ControlLines() int64 { return r.control }
func (r *xlsxReader) Digests() Digests    { return r.content.digests() }

// Close lets go of the part that is read and removes temporary files.
func (r *xlsxReader) Close() error {
	if r.body != nil {
		r.body.Close()
	}
	if r.strings != nil {
		r.strings.close()
	}
	r.content.Close()
	if r.spool != nil {
		r.spool.Close()
		os.Remove(r.spool.Name())
		r.spool = nil
	}
	if r.err == nil {
		r.err = fail.New(fail.Internal, "%s: read after close", r.name)
	}
	return nil
}

func (r *xlsxReader) Next() (*Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.next()
	if err != nil {
		if _, ok := err.(*RecordError); !ok {
			r.err = err
		}
		return nil, err
	}
	return rec, nil
}

func (r *xlsxReader) next() (*Record, error) {
	for {
		if !r.held {
			before := r.at
			ok, err := r.nextRow()
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, r.finish()
			}
			if !r.x.SkipEmptyRows && before > 0 && r.row.no > before+1 && r.emptyRow == 0 {
				r.emptyRow = before + 1
			}
		}
		r.held = false
		if r.area.bottom > 0 && r.row.no > r.area.bottom {
			// Below the row that ends the records stands what is no table, by declaration.
			if !r.empty() && !(r.ended && r.x.EndsBefore != "") {
				r.outside.add(outsideRows{1, int64(r.row.no)})
			}
			r.control++
			continue
		}
		if r.empty() {
			r.control++
			if !r.x.SkipEmptyRows && r.emptyRow == 0 {
				r.emptyRow = r.row.no
			}
			continue
		}
		if r.ended {
			if r.x.EndsBefore != "" {
				r.control++
				continue // below the total row stands what is no table
			}
			if r.repeats && r.kind() == rowTrailer && len(r.trailers) < maxControlGroups {
				r.trailers = append(r.trailers, r.texts())
				r.control++
				r.other[r.row.no] = true
				continue
			}
			return nil, badFile(r.name, "row %d follows the trailer, which must be the last row", r.row.no).
				WithHint("the trailer's mark may occur in a record")
		}
		if r.emptyRow > 0 && r.emptyRow < r.row.no {
			from := r.emptyRow
			r.emptyRow, r.held = 0, true
			r.rec.No++
			return nil, &RecordError{No: r.rec.No, Line: int64(from), Reason: fmt.Sprintf("rows %d to %d are empty", from, r.row.no-1)}
		}
		r.emptyRow = 0
		switch r.kind() {
		case rowRecord:
			if r.first == 0 {
				r.first = r.row.no
			}
			r.last = r.row.no
			return r.record()
		case rowUnknown:
			r.last = r.row.no
			return nil, r.reject("the row kind "+quoteCell(r.cellText(r.x.Rows.Field), r.hide)+" is none of the declared ones", "")
		case rowTrailer, rowTotal:
			r.trailer, r.ended = r.texts(), true
			if r.repeats {
				r.trailers = append(r.trailers, r.trailer)
			}
		case rowHeader:
			if r.head == nil {
				r.head = r.texts()
			}
		}
		r.control++
		if r.other[r.row.no] = true; len(r.other) > 1<<20 {
			return nil, overLimit(r.name, "rows that are no records", 1<<20)
		}
	}
}

// empty tells whether the row has no value.
func (r *xlsxReader) empty() bool {
	return !slices.ContainsFunc(r.row.cells, func(c xlsxCell) bool { return c.kind != CellNull || c.fault != "" })
}

// kind tells what the row is, by the declared rules.
func (r *xlsxReader) kind() rowKind {
	if r.x.EndsBefore != "" && r.cellText(1) == r.x.EndsBefore {
		return rowTotal
	}
	rows := r.x.Rows
	if rows == nil {
		return rowRecord
	}
	switch text := r.cellText(rows.Field); {
	case rows.Trailer != "" && text == rows.Trailer:
		return rowTrailer
	case rows.Header != "" && text == rows.Header:
		return rowHeader
	case rows.Record == "" || text == rows.Record:
		return rowRecord
	default:
		return rowUnknown
	}
}

// cellText is the text of a cell by its place in the columns that are read, from 1.
func (r *xlsxReader) cellText(place int) string {
	for _, c := range r.row.cells {
		if c.column == r.left()+place-1 {
			return string(r.row.text[c.from:c.end])
		}
	}
	return ""
}

func (r *xlsxReader) texts() []string {
	var out []string
	for _, c := range r.row.cells {
		for len(out) < c.column-r.left() {
			out = append(out, "")
		}
		out = append(out, string(r.row.text[c.from:c.end]))
	}
	return out
}

// record makes the record of the row at hand.
func (r *xlsxReader) record() (*Record, error) {
	clear(r.rec.Cells)
	for i := range r.row.cells {
		c := &r.row.cells[i]
		at := c.column - r.left()
		if at >= len(r.header) {
			if c.kind == CellNull && c.fault == "" {
				continue
			}
			return nil, r.reject("the cell "+cellName(c.column, r.row.no)+" has a value, and no column of that place has a name", "")
		}
		if c.fault != "" {
			return nil, r.reject("the cell "+cellName(c.column, r.row.no)+": "+c.fault, r.header[at])
		}
		text := r.row.text[c.from:c.end:c.end]
		kind := c.kind
		if kind == CellText && r.nulls != nil && r.nulls[string(text)] {
			kind = CellNull
		}
		r.rec.Cells[at] = Cell{Text: text, Kind: kind}
		if c.long && r.needed[at] {
			r.notes[at].add(r.rec.No+1, r.row.no)
		}
	}
	r.rec.No++
	r.rec.Line = int64(r.row.no)
	return &r.rec, nil
}

func (r *xlsxReader) reject(why, column string) error {
	r.rec.No++
	return &RecordError{No: r.rec.No, Line: int64(r.row.no), Column: column, Reason: why, Raw: clip([]byte(strings.Join(r.texts(), "\t")))}
}

// finish is the end of the sheet: io.EOF, or what is missing.
func (r *xlsxReader) finish() error {
	switch {
	case r.ended:
	case r.x.EndsBefore != "":
		return cutFile(r.name, "the row that begins with the cell %s and ends the records never comes", quoteName(r.x.EndsBefore))
	case r.x.Rows != nil && r.x.Rows.Trailer != "":
		return cutFile(r.name, "there is no trailer (row kind %s) after the last record", quoteName(r.x.Rows.Trailer))
	}
	return io.EOF
}

// longNumbers counts whole numbers of many digits in a column.
type longNumbers struct {
	count, record int64
	row           int
}

func (l *longNumbers) add(record int64, row int) {
	if l.count++; l.count == 1 {
		l.record, l.row = record, row
	}
}

// Outside are the rows below the range that have values in its columns.
func (r *xlsxReader) Outside() outsideRows { return r.outside }

// Notes are what people should know of the file, once it is read.
func (r *xlsxReader) Notes() []string {
	var out []string
	for i, n := range r.notes {
		if n.count > 0 {
			out = append(out, fmt.Sprintf("the column %s holds %d whole numbers of 15 digits or more in number cells, first in record %d (row %d): a workbook keeps 15 digits, the others may be lost",
				quoteName(r.header[i]), n.count, n.record, n.row))
		}
	}
	return out
}
