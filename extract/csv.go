package extract

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// csvReader reads CSV and TSV by a declared dialect. Which lines are no records:
//
//   - what stands above a header that is found by its first field; the header;
//   - lines that begin with skip_lines, at any place where a record could start;
//   - lines of the kinds header and trailer; the total line and all below it;
//   - lines without a single byte. But in a file of exactly one column an empty
//     line is a record with an empty field, as RFC 4180 has it: no row is lost.
//
// A line whose kind is none of the declared ones is a reject, since nothing tells
// what it is.
type csvReader struct {
	d        *rules.CSV
	s        *csvSplitter
	name     string
	header   []string
	hide     bool // messages quote no cell
	declared bool // the columns come from the job, not from a header line
	nulls    map[string]bool
	control  int64
	head     []string // fields of the first header line by rows
	trailer  []string
	trailers [][]string // where there are several
	repeats  bool       // there may be several
	ended    bool       // the trailer or total line has come
	record   int64
	rec      Record
	err      error // sticky
	held     bool  // the record in the splitter is not yet handed out
}

func newCSVReader(dialect *rules.CSV, need []neededColumn, r io.Reader, name string, lim Limits) (*csvReader, error) {
	d := *dialect
	if d.Delimiter == 0 {
		d.Delimiter = ','
	}
	if d.Quote >= utf8.RuneSelf {
		return nil, fail.New(fail.Usage, "%s: the quote %q is not an ASCII character", name, d.Quote)
	}
	if d.EndsBefore != "" && d.Rows != nil && d.Rows.Trailer != "" {
		return nil, fail.New(fail.Usage, "%s: rows.trailer and ends_before are declared together", name).
			WithHint("keep the one that the last line of the file shows")
	}
	c := &csvReader{d: &d, name: name, s: newCSVSplitter(&d, newWindow(r, name, lim), lim)}
	if len(d.NullWords) > 0 {
		c.nulls = map[string]bool{}
		for _, w := range d.NullWords {
			c.nulls[w] = true
		}
	}
	found, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	if len(found) > lim.Columns {
		return nil, overLimit(name, "columns", int64(lim.Columns))
	}
	if c.header, err = bindHeader(found, d.HeaderNames, need, name); err != nil {
		return nil, err
	}
	c.rec.Cells = make([]Cell, len(c.header))
	return c, nil
}

func (c *csvReader) Header() []string    { return c.header }
func (c *csvReader) ControlLines() int64 { return c.control }
func (c *csvReader) Trailer() []string   { return c.trailer }
func (c *csvReader) Head() []string      { return c.head }

// Trailers are all of them, in a file that has one for each value of a field.
func (c *csvReader) Trailers() [][]string { return c.trailers }

// readHeader finds the names of the columns as the declared rule says.
func (c *csvReader) readHeader() ([]string, error) {
	h := c.d.Header
	if h.None {
		return c.declaredHeader()
	}
	for {
		if err := c.passSkipped(); err != nil {
			return nil, err
		}
		first, ok, err := c.s.firstField()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, c.noHeader()
		}
		if h.FirstField == "" && !c.blankAhead() ||
			h.FirstField != "" && headerName(first, c.d.HeaderNames) == headerName(h.FirstField, c.d.HeaderNames) {
			break
		}
		if rows := c.d.Rows; rows != nil && rows.Field == 1 && rows.Header != "" && first == rows.Header {
			if _, err := c.s.next(); err != nil {
				return nil, err
			}
			if c.s.bad == "" {
				c.takeControl()
				continue
			}
		} else if _, err := c.s.skipLine(); err != nil {
			return nil, err
		}
		c.control++
	}
	if _, err := c.s.next(); err != nil {
		return nil, err
	}
	c.control++
	if why := c.s.bad; why != "" {
		return nil, badFile(c.name, "the header on line %d: %s", c.s.line, why)
	}
	if why := invalidText(c.s.raw, c.d.Encoding); why != "" {
		return nil, badFile(c.name, "the header on line %d is %s", c.s.line, why).
			WithHint("correct encoding: in the job file, or have the file written again")
	}
	if c.s.n > len(c.s.fields) {
		return nil, overLimit(c.name, "columns", int64(len(c.s.fields)))
	}
	return fieldTexts(c.s.fields), nil
}

func (c *csvReader) noHeader() error {
	if first := c.d.Header.FirstField; first != "" {
		return badFile(c.name, "no line has the first field %s, which the header should have", quoteName(first)).
			WithHint("correct header: in the job file")
	}
	return badFile(c.name, "the file is empty: it has no header line").
		WithHint("fetch the file again, or write header: none where it has none")
}

// declaredHeader takes the names from the job. Without names the columns are
// bound by position, and the first record tells how many there are.
func (c *csvReader) declaredHeader() ([]string, error) {
	c.declared = true
	if len(c.d.Columns) > 0 {
		return c.d.Columns, nil
	}
	for {
		ok, err := c.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, badFile(c.name, "the file has no record, and the job names no columns").
				WithHint("write csv: {header: none, columns: [...]}")
		}
		if c.s.bad != "" || c.kind() == rowRecord {
			break
		}
		c.takeControl()
	}
	c.held = true
	names := make([]string, c.s.n)
	for i := range names {
		names[i] = itoa(i + 1)
	}
	return names, nil
}

// blankAhead tells whether the next line has no bytes.
func (c *csvReader) blankAhead() bool {
	data := c.s.w.data()
	return len(data) > 0 && (data[0] == c.s.eol || bytes.HasPrefix(data, []byte("\r\n")) || c.s.twice && bytes.HasPrefix(data, []byte("\r\r\n")))
}

// passSkipped passes the lines that skip_lines declares.
func (c *csvReader) passSkipped() error {
	for c.d.SkipLines != "" && c.s.begins(c.d.SkipLines) {
		if c.s.eol == 0 {
			if err := c.s.findLineEnd(); err != nil {
				return err
			}
		}
		if _, err := c.s.skipLine(); err != nil {
			return err
		}
		c.control++
	}
	return c.s.w.err
}

// advance puts the next line that is not skipped or blank into the splitter.
func (c *csvReader) advance() (bool, error) {
	if c.held {
		c.held = false
		return true, nil
	}
	for {
		if err := c.passSkipped(); err != nil {
			return false, err
		}
		ok, err := c.s.next()
		if !ok || err != nil {
			return false, err
		}
		if len(c.s.raw) > 0 || len(c.header) == 1 && !c.ended {
			return true, nil
		}
		c.control++
	}
}

// rowKind is what a well-formed line is.
type rowKind int

const (
	rowRecord rowKind = iota
	rowHeader
	rowTrailer
	rowTotal
	rowUnknown
)

// kind tells what the line in the splitter is, by the declared rules.
func (c *csvReader) kind() rowKind {
	if c.d.EndsBefore != "" && string(c.s.fields[0].text) == c.d.EndsBefore {
		return rowTotal
	}
	rows := c.d.Rows
	if rows == nil || rows.Field < 1 {
		return rowRecord
	}
	var text []byte
	if rows.Field <= len(c.s.fields) {
		text = c.s.fields[rows.Field-1].text
	}
	switch {
	case rows.Trailer != "" && string(text) == rows.Trailer:
		return rowTrailer
	case rows.Header != "" && string(text) == rows.Header:
		return rowHeader
	case rows.Record == "" || string(text) == rows.Record:
		return rowRecord
	default:
		return rowUnknown
	}
}

// takeControl counts a line that is no record, and keeps the trailer.
func (c *csvReader) takeControl() {
	c.control++
	switch c.kind() {
	case rowTrailer, rowTotal:
		c.trailer, c.ended = fieldTexts(c.s.fields), true
		if c.repeats {
			c.trailers = append(c.trailers, c.trailer)
		}
	case rowHeader:
		if c.head == nil {
			c.head = fieldTexts(c.s.fields)
		}
	}
}

func (c *csvReader) Next() (*Record, error) {
	if c.err != nil {
		return nil, c.err
	}
	rec, err := c.next()
	if err != nil {
		if _, ok := err.(*RecordError); !ok {
			c.err = err
		}
		return nil, err
	}
	return rec, nil
}

func (c *csvReader) next() (*Record, error) {
	for {
		ok, err := c.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, c.finish()
		}
		if c.ended && !(c.repeats && c.s.bad == "" && c.kind() == rowTrailer && len(c.trailers) < maxControlGroups) {
			return nil, badFile(c.name, "line %d follows the trailer, which must be the last line", c.s.line).
				WithHint("two files may have been joined, or the trailer's mark occurs in a record")
		}
		if c.s.bad != "" {
			return nil, c.reject(c.s.bad, "")
		}
		if !utf8.Valid(c.s.raw) {
			return nil, c.invalid()
		}
		switch c.kind() {
		case rowRecord:
			return c.cells()
		case rowUnknown:
			return nil, c.reject("the row kind "+c.kindText()+" is none of the declared ones", "")
		case rowTotal:
			c.takeControl()
			return nil, c.passRest()
		default:
			c.takeControl()
		}
	}
}

// kindText shows the kind of the line in a message.
func (c *csvReader) kindText() string {
	if i := c.d.Rows.Field - 1; i < len(c.s.fields) {
		return quoteCell(string(c.s.fields[i].text), c.hide)
	}
	return `""`
}

// cells makes the record of the line in the splitter.
func (c *csvReader) cells() (*Record, error) {
	if c.s.n != len(c.header) {
		if c.declared {
			return nil, c.reject(fmt.Sprintf("%s, %s", plural(c.s.n, "field"), declaredColumns(len(c.header))), "")
		}
		return nil, c.reject(fmt.Sprintf("%s, the header has %d", plural(c.s.n, "field"), len(c.header)), "")
	}
	c.record++
	c.rec.No, c.rec.Line = c.record, c.s.line
	c.rec.whole, c.rec.gap = nil, len(c.s.delim)
	if c.s.plain {
		c.rec.whole = c.s.raw
	}
	quotedText := c.d.EmptyText == "quoted_is_text"
	cells := c.rec.Cells
	for i := range cells {
		f := &c.s.fields[i]
		kind := CellText
		if literal := f.quoted && quotedText; !literal && (len(f.text) == 0 || c.nulls != nil && c.nulls[string(f.text)]) {
			kind = CellNull
		}
		cells[i] = Cell{Text: f.text, Kind: kind}
	}
	return &c.rec, nil
}

func declaredColumns(n int) string {
	if n == 1 {
		return "1 column is declared"
	}
	return itoa(n) + " columns are declared"
}

// reject makes the error of the line in the splitter.
func (c *csvReader) reject(why, column string) error {
	c.record++
	return &RecordError{No: c.record, Line: c.s.line, Column: column, Reason: why, Raw: clip(c.s.raw)}
}

// invalid words a record that is not valid in its encoding, and finds its column.
func (c *csvReader) invalid() error {
	for i, f := range c.s.fields {
		if why := invalidText(f.text, c.d.Encoding); why != "" {
			column := ""
			if i < len(c.header) {
				column = c.header[i]
			}
			return c.reject(why, column)
		}
	}
	return c.reject(invalidText(c.s.raw, c.d.Encoding), "")
}

// OpenEnd tells whether the last line has no line end: it may have been cut there.
func (c *csvReader) OpenEnd() bool { return c.s.open }

// finish is the end of the file: io.EOF, or what is missing.
func (c *csvReader) finish() error {
	switch {
	case c.ended:
		return io.EOF
	case c.d.EndsBefore != "":
		return cutFile(c.name, "the line that begins with the field %s and ends the records never comes", quoteName(c.d.EndsBefore))
	case c.d.Rows != nil && c.d.Rows.Trailer != "":
		return cutFile(c.name, "there is no trailer (row kind %s) after the last record", quoteName(c.d.Rows.Trailer))
	default:
		return io.EOF
	}
}

// passRest passes everything below the total line.
func (c *csvReader) passRest() error {
	for {
		ok, err := c.s.skipLine()
		if err != nil {
			return err
		}
		if !ok {
			return io.EOF
		}
		c.control++
	}
}

// fieldTexts copies the fields of a line.
func fieldTexts(fields []csvField) []string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = string(f.text)
	}
	return texts
}
