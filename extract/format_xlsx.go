package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
	"github.com/recon-batch/recon-batch/rules"
)

// xlsxReader reads the rows of one sheet of a workbook (ECMA-376) as stored, row by
// row: the sheet is never in memory as a whole. excelize, which writes our report,
// is no reader for this: its rows are texts that do not tell a number from a text,
// an error or a date, and what tells them loads the sheet.
//
// Numbers are plain decimals of 15 significant digits, which is what a workbook
// holds; dates are ISO 8601 texts. A cell with an error, a formula without a stored
// value, a number that is no date where the format shows one, and a value beyond the
// last named column make their row a reject.
type xlsxReader struct {
	x       *rules.XLSX
	name    string
	lim     Limits
	content *content
	spool   *os.File
	body    io.ReadCloser
	t       *xmlTokens
	strings *xlsxStrings
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
	ended    bool
	control  int64
	trailer  []string
	other    map[int]bool // rows between the records that are none
	first    int          // row of the first record
	last     int          // row of the last one
	notes    []longNumbers
	rec      Record
	done     bool // the sheet is read to its end
	err      error
	stored   []byte
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
	r := &xlsxReader{x: x, name: name, lim: lim, content: content, other: map[int]bool{}}
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
	r.spool = spool
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

func (r *xlsxReader) Header() []string    { return r.header }
func (r *xlsxReader) Trailer() []string   { return r.trailer }
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
			return nil, r.reject("the row kind "+quoteName(r.cellText(r.x.Rows.Field))+" is none of the declared ones", "")
		case rowTrailer, rowTotal:
			r.trailer, r.ended = r.texts(), true
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

// nextRow reads the next row that is stored and in the rows of the area; false at
// the end of the sheet, which is then read to its last byte.
func (r *xlsxReader) nextRow() (bool, error) {
	if r.done {
		return false, nil
	}
	for {
		r.t.Mark()
		tok, err := r.t.next()
		if err == io.EOF {
			if _, err := io.Copy(io.Discard, r.body); err != nil {
				return false, err
			}
			r.done = true
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if tok.Kind != xmlstream.Start {
			continue
		}
		switch string(tok.Name) {
		case "row":
			if r.t.Depth() != 3 {
				continue
			}
			if err := r.readRow(tok); err != nil {
				return false, err
			}
			if r.row.no < r.area.top || !r.inData && r.row.no < r.headRow && len(r.row.cells) == 0 {
				r.control++
				continue
			}
			return true, nil
		case "mergeCell":
			if err := r.checkMerge(attr(tok, "ref")); err != nil {
				return false, err
			}
		}
	}
}

// readRow reads a row to its end.
func (r *xlsxReader) readRow(start *xmlstream.Token) error {
	no := r.at + 1
	if text := attrText(start, "r"); text != nil {
		n := wholeNumber(text)
		if n <= r.at || n > 1<<20 {
			return badFile(r.name, "the rows of the sheet are not in order: row %s after row %d", quoteName(string(text)), r.at).
				WithHint("open the workbook and save it again")
		}
		no = n
	}
	r.at, r.row.no = no, no
	r.row.cells, r.row.text = r.row.cells[:0], r.row.text[:0]
	column := 0
	for {
		tok, err := r.t.next()
		if err != nil {
			return err
		}
		if tok.Kind == xmlstream.End && r.t.Depth() == 2 {
			return nil
		}
		if tok.Kind != xmlstream.Start || string(tok.Name) != "c" {
			continue
		}
		column++
		if ref := attrText(tok, "r"); ref != nil {
			c, row := parseCell(ref)
			if c < column || row != no {
				return badFile(r.name, "the cells of row %d are not in order, at %s", no, quoteName(string(ref))).
					WithHint("open the workbook and save it again")
			}
			column = c
		}
		if column > r.lim.Columns {
			return overLimit(r.name, "columns", int64(r.lim.Columns))
		}
		if err := r.readCell(tok, column); err != nil {
			return err
		}
	}
}

// readCell reads a cell to its end, and keeps it where it is in the area.
func (r *xlsxReader) readCell(start *xmlstream.Token, column int) error {
	style := styleNumber
	if s := wholeNumber(attrText(start, "s")); s >= 0 && s < len(r.styles) {
		style = r.styles[s]
	}
	typ := cellType(attrText(start, "t"))
	row := &r.row
	cell := xlsxCell{column: column, from: len(row.text)}
	var formula, stored bool
	var rich richText
	part := partOther
	for r.t.Depth() > 3 {
		tok, err := r.t.next()
		if err != nil {
			return err
		}
		switch tok.Kind {
		case xmlstream.Start:
			if r.t.Depth() == 5 {
				part = cellPart(tok.Name)
				formula = formula || part == partFormula
				stored = stored || part == partValue || part == partInline
			}
		case xmlstream.Text:
			if part == partValue {
				row.text = append(row.text, tok.Text...)
			}
		}
		if part == partInline {
			row.text = rich.add(row.text, tok)
		}
	}
	if column < r.left() || r.area.right > 0 && column > r.area.right {
		row.text = row.text[:cell.from]
		return nil
	}
	raw := row.text[cell.from:]
	switch {
	case formula && !stored:
		cell.fault = "it has a formula without a stored value; open the workbook in a spreadsheet program and save it"
	case !stored:
		cell.kind = CellNull
	default:
		if err := r.value(&cell, typ, style, raw); err != nil {
			return err
		}
	}
	if cell.end = len(row.text); cell.end == cell.from && cell.kind == CellText && cell.fault == "" {
		cell.kind = CellNull // such as the "" of a formula
	}
	row.cells = append(row.cells, cell)
	return nil
}

// Parts of a cell.
const (
	partOther = iota
	partFormula
	partValue
	partInline
)

func cellPart(name []byte) int {
	switch string(name) {
	case "f":
		return partFormula
	case "v":
		return partValue
	case "is":
		return partInline
	default:
		return partOther
	}
}

// cellType is the type of a cell, as one of the texts that are known where it is one.
func cellType(text []byte) string {
	for _, known := range [...]string{"", "n", "s", "str", "inlineStr", "b", "e", "d"} {
		if string(text) == known {
			return known
		}
	}
	return string(text)
}

// value turns what is stored, the end of the row's text, into a value.
func (r *xlsxReader) value(cell *xlsxCell, typ string, style dateStyle, raw []byte) error {
	row := &r.row
	cell.kind = CellText
	switch typ {
	case "inlineStr", "d":
	case "str":
		row.text = row.text[:cell.from+len(unescapeX(row.text[cell.from:]))]
	case "s":
		i := wholeNumber(raw)
		text, ok, err := r.strings.get(row.text[:cell.from], i)
		if !ok || err != nil {
			return badFile(r.name, "the cell %s refers to the text number %s, which the workbook does not have", cellName(cell.column, row.no), quoteName(string(raw))).
				WithHint("the workbook is damaged: have it sent again")
		}
		row.text = text
	case "b":
		cell.kind = CellBool
		switch string(raw) {
		case "1", "true":
			row.text = append(row.text[:cell.from], "true"...)
		case "0", "false":
			row.text = append(row.text[:cell.from], "false"...)
		default:
			cell.fault = "it should hold true or false"
		}
	case "e":
		cell.fault = "it holds the error " + quoteText(string(raw[:min(len(raw), 40)]))
	case "", "n":
		if len(raw) == 0 {
			cell.kind = CellNull
			return nil
		}
		r.stored = append(r.stored[:0], raw...) // its place is that of the text
		row.text = row.text[:cell.from]
		if style != styleNumber {
			row.text, cell.fault = sheetDate(row.text, r.stored, style, r.from04)
			return nil
		}
		var ok bool
		cell.kind = CellNumber
		if row.text, cell.long, ok = sheetNumber(row.text, r.stored); !ok {
			cell.fault = "it should hold a number"
		}
	default:
		cell.fault = "its type " + quoteName(typ) + " is not known"
	}
	return nil
}

// checkMerge refuses merged cells among the records: a value that stands for several
// rows or columns would be read as one of them, and nothing for the others.
func (r *xlsxReader) checkMerge(ref string) error {
	a, err := parseArea(ref)
	if err != nil {
		return badFile(r.name, "the merged cells %s are no range", quoteName(ref)).WithHint("open the workbook and save it again")
	}
	if r.first == 0 || a.bottom < r.first || a.top > r.last || a.right < r.left() || a.left-r.left() >= len(r.header) {
		return nil
	}
	if a.top == a.bottom {
		covered := false
		for c := max(a.left+1, r.left()); c <= a.right && c-r.left() < len(r.header); c++ {
			covered = true
		}
		if r.other[a.top] || !covered {
			return nil
		}
	}
	return badFile(r.name, "the cells %s among the records are merged: what they hold counts for one row and column only", ref).
		WithHint("undo the merge and fill the cells, or leave those rows out by range, rows or ends_before")
}

// parseArea reads A1:F200, A:F or A3:F; also one cell.
func parseArea(text string) (area, error) {
	if text == "" {
		return area{}, nil
	}
	from, to, two := bytes.Cut([]byte(text), []byte(":"))
	if !two {
		to = from
	}
	a := area{}
	a.left, a.top = parseCell(from)
	a.right, a.bottom = parseCell(to)
	if a.left == 0 || a.right < a.left || a.bottom > 0 && a.bottom < a.top {
		return area{}, errors.New(quoteName(text) + " is no range of cells")
	}
	return a, nil
}

// parseCell reads C12 as column 3 and row 12; a part that is not there is 0.
func parseCell(ref []byte) (column, row int) {
	i := 0
	for ; i < len(ref) && i < 4 && ref[i] >= 'A' && ref[i] <= 'Z'; i++ {
		column = column*26 + int(ref[i]-'A') + 1
	}
	if i == len(ref) {
		return column, 0
	}
	for _, c := range ref[i:] {
		if c < '0' || c > '9' || row > 1<<24 {
			return 0, 0
		}
		row = row*10 + int(c-'0')
	}
	return column, row
}

func columnName(n int) string {
	var b []byte
	for ; n > 0; n = (n - 1) / 26 {
		b = append([]byte{byte('A' + (n-1)%26)}, b...)
	}
	return string(b)
}

func cellName(column, row int) string { return columnName(column) + itoa(row) }
