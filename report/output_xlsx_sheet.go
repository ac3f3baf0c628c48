package report

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bojanz/currency"
	"github.com/xuri/excelize/v2"
)

// Every sheet has a line that says what it is in row 1, names of columns in row 2, and
// its data below; both rows stay in sight and are printed on every page.
//
// A sheet of up to onePage characters is printed on one page across; a wider one would be too
// small to read.
const (
	onePage = 320

	// rowHeight is that of a row of one line, in points.
	rowHeight = 12.75

	headRow   = 2
	firstData = headRow + 1
)

// sheetColumn is the name of a column, and how wide it is in characters.
type sheetColumn struct {
	name  string
	width int
}

// sheet is a sheet under way: a row is begun, gets its cells from left to right, and is
// ended.
type sheet struct {
	b      *book
	name   string
	note   string
	cols   []sheetColumn
	part   int         // from 1; those after the first are continuations
	parts  []sheetSpan // where data stand
	w      *excelize.StreamWriter
	row    int
	col    int
	lines  int             // of text in the next row, where they are more than one
	height float64         // of the row under way; 0 that of most
	cells  []excelize.Cell // of the row under way
	values []any           // pointers to those that are not empty
	at     []string        // letters of the columns
}

// sheetSpan is a range of data rows of one sheet.
type sheetSpan struct {
	sheet       string
	first, last int
}

// sheet ends the one before and begins another. name and the columns are ours; note may
// hold names of the job, never a value of a row.
func (b *book) sheet(name, note string, cols ...sheetColumn) *sheet {
	b.endSheet()
	s := &sheet{b: b, name: name, note: note, cols: cols, cells: make([]excelize.Cell, len(cols)), values: make([]any, len(cols))}
	for i := range cols {
		s.at = append(s.at, columnName(i))
	}
	b.open = s
	s.start()
	return s
}

// partName is the name of the part of the sheet that is under way.
func (s *sheet) partName() string { return s.parts[len(s.parts)-1].sheet }

// start begins a part of the sheet.
func (s *sheet) start() {
	s.part++
	name, note := s.name, s.note
	if s.part > 1 {
		name, note = s.name+" ("+strconv.Itoa(s.part)+")", "Continues the sheet before. "+s.note
	}
	s.parts = append(s.parts, sheetSpan{name, firstData, headRow})
	s.b.names = append(s.b.names, name)
	s.b.keep(s.view(name))
	s.row = 0
	s.next()
	s.sentence(note, styleNote)
	s.end()
	for i, c := range s.cols {
		s.tall(i, c.name)
	}
	s.next()
	for _, c := range s.cols {
		s.text(c.name, styleHead)
	}
	s.end()
}

// view begins the sheet in the file, with what stands before its rows.
func (s *sheet) view(name string) (err error) {
	f := s.b.f
	if len(s.b.names) == 1 {
		err = f.SetSheetName(f.GetSheetName(0), name)
	} else {
		_, err = f.NewSheet(name)
	}
	if err != nil {
		return err
	}
	width := 0
	for _, c := range s.cols {
		width += c.width
	}
	height := rowHeight
	props := excelize.SheetPropsOptions{DefaultRowHeight: &height}
	if width <= onePage {
		fit := true
		props.FitToPage = &fit
	}
	if err := f.SetSheetProps(name, &props); err != nil {
		return err
	}
	if err := f.SetSheetDimension(name, ""); err != nil { // not known before the rows are
		return err
	}
	if s.w, err = f.NewStreamWriter(name); err != nil {
		return err
	}
	for first := 0; first < len(s.cols); { // neighbours of one width at once: each call goes over all before
		next := first + 1
		for next < len(s.cols) && s.cols[next].width == s.cols[first].width {
			next++
		}
		if err := s.w.SetColWidth(first+1, next, float64(s.cols[first].width)+0.7); err != nil {
			return err
		}
		first = next
	}
	top := "A" + strconv.Itoa(firstData)
	return s.w.SetPanes(&excelize.Panes{Freeze: true, YSplit: headRow, TopLeftCell: top, ActivePane: "bottomLeft",
		Selection: []excelize.Selection{{Pane: "bottomLeft", ActiveCell: top, SQRef: top}}})
}

// finish ends a part of the sheet.
func (s *sheet) finish() {
	s.parts[len(s.parts)-1].last = s.row
	if s.b.err == nil {
		s.b.err = s.ending(s.partName())
	}
}

// ending writes what stands behind the rows, and ends the sheet in the file. The library
// takes all of it until the stream is flushed.
func (s *sheet) ending(name string) error {
	f := s.b.f
	if err := f.AutoFilter(name, "A"+strconv.Itoa(headRow)+":"+s.ref(len(s.cols)-1, s.row), nil); err != nil {
		return err
	}
	for i, c := range s.cols {
		if c.name != checkColumn {
			continue
		}
		if err := f.SetConditionalFormat(name, s.rows(i, firstData, max(s.row, firstData)), []excelize.ConditionalFormatOptions{{Type: "cell", Criteria: "==", Format: &s.b.differs, Value: `"` + differs + `"`}}); err != nil {
			return err
		}
	}
	side, top, bottom, margin := 0.4, 0.5, 0.6, 0.3
	if err := f.SetPageMargins(name, &excelize.PageLayoutMarginsOptions{Left: &side, Right: &side, Top: &top, Bottom: &bottom, Header: &margin, Footer: &margin}); err != nil {
		return err
	}
	a4, across, anyHeight := 9, "landscape", 0
	if err := f.SetPageLayout(name, &excelize.PageLayoutOptions{Size: &a4, Orientation: &across, FitToHeight: &anyHeight}); err != nil {
		return err
	}
	if err := f.SetHeaderFooter(name, &excelize.HeaderFooterOptions{OddFooter: "&L&A&Rpage &P of &N"}); err != nil {
		return err
	}
	return s.w.Flush()
}

// endSheet ends the sheet that is open.
func (b *book) endSheet() {
	if b.open != nil {
		b.open.finish()
		b.open = nil
	}
}

// room makes sure that the next n rows stand on one sheet.
func (s *sheet) room(n int) {
	if s.row+n > sheetRows && s.row > headRow {
		s.finish()
		s.start()
	}
}

// begin begins a row of data, on a continuation sheet where this one is full.
func (s *sheet) begin() {
	s.room(1)
	s.next()
}

func (s *sheet) next() {
	s.row++
	s.col = 0
	clear(s.values)
	s.height = 0
	if s.lines > 1 {
		s.height = float64(13 * s.lines)
	}
	s.lines = 0
}

// tall makes the next row as high as a text needs that is wrapped in a column: not every
// program finds that out by itself.
func (s *sheet) tall(col int, text string) {
	width := s.cols[col].width * 6 / 5                                            // letters are narrower than digits
	s.lines = max(s.lines, min((utf8.RuneCountInString(text)+width-1)/width, 30)) // 409 points at most
}

// end writes the row. It has a style, since the library looks through all columns for one
// for each cell otherwise.
func (s *sheet) end() {
	if s.b.err == nil {
		s.b.err = s.w.SetRow("A"+strconv.Itoa(s.row), s.values, excelize.RowOpts{StyleID: s.b.styles[styleNone], Height: s.height})
	}
}

// skip leaves cells empty.
func (s *sheet) skip(n int) { s.col += n }

// cell writes a cell.
func (s *sheet) cell(style int, value any, formula string) {
	c := &s.cells[s.col]
	*c = excelize.Cell{StyleID: s.b.styles[style], Value: value, Formula: formula}
	s.values[s.col] = c
	s.col++
}

// text writes a value as text that no spreadsheet takes for a formula, and tells whether
// it is cut. An empty one leaves the cell empty.
func (s *sheet) text(value string, style int) (cut bool) {
	if value == "" {
		s.col++
		return false
	}
	s.cell(style, shownCell(value), "")
	return len(value) > maxCell && utf8.RuneCountInString(value) > maxCell
}

// sentence writes a text that the program made, whole.
func (s *sheet) sentence(value string, style int) {
	if value == "" {
		s.col++
		return
	}
	s.cell(style, sentenceText(value), "")
}

// whole writes a whole number. One of more digits than a spreadsheet keeps is text.
func (s *sheet) whole(n int64, style int) {
	if n > 999_999_999_999_999 || n < -999_999_999_999_999 {
		s.text(strconv.FormatInt(n, 10), styleText)
		return
	}
	s.cell(style, n, "")
}

// amount writes a decimal as a number that shows the minor digits of its currency, where
// a spreadsheet keeps it exactly: 15 digits survive the way through a binary double.
// Anything else is text, and ok is false; an empty one leaves the cell empty.
func (s *sheet) amount(text, code string, style int) (ok bool) {
	if text == "" {
		s.col++
		return true
	}
	decimals, ok := exactDecimals(text, s.b.minorDigits(code))
	if point := strings.IndexByte(text, '.'); point >= 0 && decimals >= 0 {
		text = strings.TrimSuffix(text[:min(len(text), point+1+decimals)], ".")
	}
	if !ok {
		s.text(text, styleText)
		return false
	}
	s.cell(style+decimals, s.number(text), "")
	return true
}

// exactDecimals is how many decimals show a decimal text: those of the minor unit, or
// more where it has more that are not zero; -1 for what is no decimal. ok is false for that,
// and for what has more than 15 digits then.
func exactDecimals(text string, minor int) (decimals int, ok bool) {
	i := 0
	if text != "" && text[0] == '-' {
		i = 1
	}
	whole, frac, start := 0, -1, i
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '.' && frac < 0 && i > start:
			frac = 0
		case c < '0' || c > '9':
			return -1, false
		case frac >= 0:
			frac++
			if c != '0' {
				decimals = frac
			}
		case c != '0' || whole > 0:
			whole++
		}
	}
	if i == start || frac == 0 {
		return -1, false
	}
	decimals = max(decimals, minor)
	return decimals, whole+decimals <= 15 && decimals <= maxDecimals
}

// minorDigits are the decimals of the minor unit of a currency (ISO 4217); none of an
// unknown one.
func (b *book) minorDigits(code string) int {
	if code == "" {
		return 0
	}
	n, ok := b.minor[code]
	if !ok {
		if d, known := currency.GetDigits(code); known {
			n = int(d)
		}
		if len(b.minor) < 1000 { // codes may be data
			b.minor[code] = n
		}
	}
	return n
}

// Before March 1900 a spreadsheet counts a day that was not. Years after 9999 it does not
// know.
var (
	firstDay = time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// day writes YYYY-MM-DD as a date; anything else as text.
func (s *sheet) day(text string) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Before(firstDay) || t.After(lastDay) {
		s.text(text, styleText)
		return
	}
	s.cell(styleDay, t, "")
}

// instant writes an RFC 3339 instant as date and time of the book's zone; anything else
// as text.
func (s *sheet) instant(text string) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		s.text(text, styleText)
		return
	}
	t = t.In(s.b.zone)
	_, offset := t.Zone()
	local := t.Unix() + int64(offset)
	if local < firstDay.Unix() || local >= lastDay.Unix()+daySecs {
		s.text(text, styleText)
		return
	}
	style := styleInstant
	if t.Nanosecond() != 0 {
		style = styleInstant3
	}
	s.cell(style, time.Unix(local, int64(t.Nanosecond())).UTC(), "")
}

// formula writes a formula of ours over cells of ours, with the number that it gives.
func (s *sheet) formula(f, value string, style int) {
	s.cell(style, s.number(value), f)
}

// number is a decimal text of 15 digits at most as a number.
func (s *sheet) number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	s.b.keep(err)
	return v
}

// What a check says. A check is written where the values of the report agree, or not at
// all: what does not agree is no workbook.
const (
	agrees      = "agrees"
	differs     = "DIFFERS"
	checkColumn = "check" // name of the columns that have them
)

// check writes a formula that tells whether the condition holds.
func (s *sheet) check(condition string) {
	s.cell(styleCheck, agrees, `IF(`+condition+`,"`+agrees+`","`+differs+`")`)
}

// ref is a cell of the row under way, or of another one of the sheet.
func (s *sheet) ref(col, row int) string { return s.at[col] + strconv.Itoa(row) }

// rows is a column of the sheet from one row to another.
func (s *sheet) rows(col, first, last int) string { return s.ref(col, first) + ":" + s.ref(col, last) }
