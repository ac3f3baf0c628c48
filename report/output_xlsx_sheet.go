package report

import (
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bojanz/currency"
)

// Every sheet has a line that says what it is in row 1, names of columns in row 2, and
// its data below; both rows stay in sight and are printed on every page.
//
// A sheet of up to onePage characters is printed on one page across; a wider one would be too
// small to read.
const (
	onePage = 320

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
	b     *book
	name  string
	note  string
	cols  []sheetColumn
	part  int         // from 1; those after the first are continuations
	parts []sheetSpan // where data stand
	w     io.Writer
	buf   []byte
	row   int
	label []byte // digits of the row
	col   int
	lines int      // of text in the next row, where they are more than one
	at    [][]byte // letters of the columns
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
	s := &sheet{b: b, name: name, note: note, cols: cols}
	for i := range cols {
		s.at = append(s.at, []byte(columnName(i)))
	}
	b.open = s
	s.start()
	return s
}

// start begins a part of the sheet.
func (s *sheet) start() {
	s.part++
	name, note := s.name, s.note
	if s.part > 1 {
		name, note = s.name+" ("+strconv.Itoa(s.part)+")", "Continues the sheet before. "+s.note
	}
	s.w = s.b.create("xl/worksheets/sheet" + strconv.Itoa(len(s.b.parts)+1) + ".xml")
	s.b.parts = append(s.b.parts, bookPart{name: name, columns: len(s.cols)})
	s.parts = append(s.parts, sheetSpan{name, firstData, headRow})
	s.add(xmlHead + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`)
	width := 0
	for _, c := range s.cols {
		width += c.width
	}
	if width <= onePage {
		s.add(`<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>`)
	}
	s.add(`<sheetViews><sheetView workbookViewId="0"`)
	if len(s.b.parts) == 1 {
		s.add(` tabSelected="1"`)
	}
	s.add(`><pane ySplit="2" topLeftCell="A3" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A3" sqref="A3"/></sheetView></sheetViews><cols>`)
	for i, c := range s.cols {
		n := strconv.Itoa(i + 1)
		s.add(`<col min="` + n + `" max="` + n + `" width="` + strconv.Itoa(c.width) + `.7" customWidth="1"/>`)
	}
	s.add(`</cols><sheetData>`)
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

func (s *sheet) add(text string) { s.buf = append(s.buf, text...) }

// finish ends a part of the sheet.
func (s *sheet) finish() {
	p := &s.b.parts[len(s.b.parts)-1]
	p.last = s.row
	s.parts[len(s.parts)-1].last = s.row
	last := columnName(len(s.cols) - 1)
	s.add(`</sheetData><autoFilter ref="A2:` + last + strconv.Itoa(s.row) + `"/>`)
	for i, c := range s.cols {
		if c.name != checkColumn {
			continue
		}
		s.add(`<conditionalFormatting sqref="` + s.ref(i, firstData) + `:` + s.ref(i, max(s.row, firstData)) + `"><cfRule type="cellIs" dxfId="0" priority="1" operator="equal"><formula>"` + differs + `"</formula></cfRule></conditionalFormatting>`)
	}
	s.add(`<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.6" header="0.3" footer="0.3"/><pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/>` +
		`<headerFooter><oddFooter>&amp;L&amp;A&amp;Rpage &amp;P of &amp;N</oddFooter></headerFooter></worksheet>`)
	s.flush(0)
}

// endSheet ends the sheet that is open.
func (b *book) endSheet() {
	if b.open != nil {
		b.open.finish()
		b.open = nil
	}
}

// flush hands on what is buffered once it is more than so many bytes.
func (s *sheet) flush(atLeast int) {
	if len(s.buf) > atLeast {
		s.b.wrote(s.w.Write(s.buf))
		s.buf = s.buf[:0]
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
	s.label = strconv.AppendInt(s.label[:0], int64(s.row), 10)
	s.buf = append(s.buf, `<row r="`...)
	s.buf = append(s.buf, s.label...)
	if s.lines > 1 {
		s.add(`" ht="` + strconv.Itoa(13*s.lines) + `" customHeight="1`)
	}
	s.lines = 0
	s.buf = append(s.buf, `">`...)
}

// tall makes the next row as high as a text needs that is wrapped in a column: not every
// program finds that out by itself.
func (s *sheet) tall(col int, text string) {
	width := s.cols[col].width * 6 / 5                                            // letters are narrower than digits
	s.lines = max(s.lines, min((utf8.RuneCountInString(text)+width-1)/width, 30)) // 409 points at most
}

func (s *sheet) end() {
	s.buf = append(s.buf, `</row>`...)
	s.flush(1 << 16)
}

// skip leaves cells empty.
func (s *sheet) skip(n int) { s.col += n }

// cell begins a cell up to its style.
func (s *sheet) cell(style int) {
	s.buf = append(s.buf, `<c r="`...)
	s.buf = append(s.buf, s.at[s.col]...)
	s.buf = append(s.buf, s.label...)
	s.buf = append(s.buf, `" s="`...)
	s.buf = strconv.AppendInt(s.buf, int64(style), 10)
	s.col++
}

// text writes a value as text that no spreadsheet takes for a formula, and tells whether
// it is cut. An empty one leaves the cell empty.
func (s *sheet) text(value string, style int) (cut bool) {
	if value == "" {
		s.col++
		return false
	}
	s.cell(style)
	if value[0] == ' ' || value[len(value)-1] == ' ' {
		s.buf = append(s.buf, `" t="inlineStr"><is><t xml:space="preserve">`...)
	} else {
		s.buf = append(s.buf, `" t="inlineStr"><is><t>`...)
	}
	s.buf, cut = appendCellText(s.buf, value)
	s.buf = append(s.buf, `</t></is></c>`...)
	return cut
}

// sentence writes a text that the program made, whole.
func (s *sheet) sentence(value string, style int) {
	if value == "" {
		s.col++
		return
	}
	s.cell(style)
	s.buf = append(s.buf, `" t="inlineStr"><is><t xml:space="preserve">`...)
	s.buf = appendXML(s.buf, sentenceText(value))
	s.buf = append(s.buf, `</t></is></c>`...)
}

// whole writes a whole number. One of more digits than a spreadsheet keeps is text.
func (s *sheet) whole(n int64, style int) {
	if n > 999_999_999_999_999 || n < -999_999_999_999_999 {
		s.text(strconv.FormatInt(n, 10), styleText)
		return
	}
	s.cell(style)
	s.buf = append(s.buf, `"><v>`...)
	s.buf = strconv.AppendInt(s.buf, n, 10)
	s.buf = append(s.buf, `</v></c>`...)
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
	s.cell(style + decimals)
	s.buf = append(s.buf, `"><v>`...)
	s.buf = append(s.buf, text...) // digits, a sign and a point
	s.buf = append(s.buf, `</v></c>`...)
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

// A spreadsheet counts days from 1899-12-30; before March 1900 it counts a day that was
// not. Years after 9999 it does not know.
const dayZero = 25569

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
	s.cell(styleDay)
	s.buf = append(s.buf, `"><v>`...)
	s.buf = strconv.AppendInt(s.buf, t.Unix()/daySecs+dayZero, 10)
	s.buf = append(s.buf, `</v></c>`...)
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
	days, rest := local/daySecs, local%daySecs
	if rest < 0 {
		days, rest = days-1, rest+daySecs
	}
	style := styleInstant
	if t.Nanosecond() != 0 {
		style = styleInstant3
	}
	s.cell(style)
	s.buf = append(s.buf, `"><v>`...)
	s.buf = strconv.AppendFloat(s.buf, float64(days+dayZero)+(float64(rest)+float64(t.Nanosecond())/1e9)/daySecs, 'f', -1, 64)
	s.buf = append(s.buf, `</v></c>`...)
}

// formula writes a formula of ours over cells of ours, with the number that it gives.
func (s *sheet) formula(f, value string, style int) {
	s.cell(style)
	s.buf = append(s.buf, `"><f>`...)
	s.buf = appendXML(s.buf, f)
	s.buf = append(s.buf, `</f><v>`...)
	s.buf = append(s.buf, value...)
	s.buf = append(s.buf, `</v></c>`...)
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
	s.cell(styleCheck)
	s.buf = append(s.buf, `" t="str"><f>`...)
	s.buf = appendXML(s.buf, `IF(`+condition+`,"`+agrees+`","`+differs+`")`)
	s.buf = append(s.buf, `</f><v>`+agrees+`</v></c>`...)
}

// ref is a cell of the row under way, or of another one of the sheet.
func (s *sheet) ref(col, row int) string { return string(s.at[col]) + strconv.Itoa(row) }

// rows is a column of the sheet from one row to another.
func (s *sheet) rows(col, first, last int) string { return s.ref(col, first) + ":" + s.ref(col, last) }
