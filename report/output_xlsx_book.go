package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

// A workbook is written by the streaming writer of excelize: the rows of a sheet go to a
// temporary file once they are more than a few megabytes, and into the archive at the end.

// sheetRows is how many rows a sheet has at most; what follows stands on a continuation
// sheet. A spreadsheet takes 1,048,576. A test makes it small.
var sheetRows = 1_000_000

// book is a workbook that is being written.
type book struct {
	f       *excelize.File
	out     io.Writer
	dir     string // of temporary files; "" is that of the system
	names   []string
	open    *sheet
	zone    *time.Location // of the times
	err     error          // the first one; everything after it does nothing
	minor   map[string]int // currency → decimals of its minor unit
	styles  [styleTotal + maxDecimals + 1]int
	differs int // format of a check that does not hold
}

// newBook begins a workbook. Whoever has it discards it in the end, also after close.
func newBook(w io.Writer, dir string, zone *time.Location) *book {
	b := &book{f: excelize.NewFile(excelize.Options{TmpDir: dir}), out: w, dir: dir, zone: zone, minor: map[string]int{}}
	b.makeStyles()
	// The program that opens the workbook computes the formulas anew; one that does not has the
	// values that are written.
	always := true
	b.keep(b.f.SetCalcProps(&excelize.CalcPropsOptions{FullCalcOnLoad: &always}))
	b.f.WorkBook.BookViews.WorkBookView[0].TabRatio = 850
	return b
}

// keep keeps the first error.
func (b *book) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

// properties of the document. made is an instant of the run, RFC 3339: the library has one
// of its own otherwise.
func (b *book) properties(title, subject, made string) {
	b.keep(b.f.SetDocProps(&excelize.DocProperties{Title: shownCell(title), Subject: shownCell(subject), Creator: "recon-batch", LastModifiedBy: "recon-batch", Created: made, Modified: made}))
	b.keep(b.f.SetAppProps(&excelize.AppProperties{Application: "recon-batch"}))
}

// close ends the last sheet and writes the workbook. It returns the first error of all.
func (b *book) close() error {
	b.endSheet()
	for _, name := range b.names {
		b.keep(b.f.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", Scope: name, RefersTo: fmt.Sprintf("'%s'!$1:$%d", name, headRow)}))
	}
	if b.err == nil {
		b.err = b.pack()
	}
	return b.err
}

// discard removes the temporary files.
func (b *book) discard() error { return b.f.Close() }

// columnName is the letters of a column, from 0: A, Z, AA.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// Styles of cells, by their place in book.styles.
const (
	styleNone     = iota // of a row, where it has no cell
	styleText            // a text that stays one when it is edited
	styleHead            // names of columns
	styleNote            // what a sheet says of itself
	styleCount           // 1,234
	styleNumber          // 1234, of records
	styleDay             // 2026-08-20
	styleInstant         // 2026-08-20 07:00:00
	styleInstant3        // with milliseconds
	styleCheck           // of a check
	styleStrong          // a text that stands out
	styleWrap            // a text over several lines
	styleSum             // 1,234 of a sum
	styleAmount          // of no decimals; those of n decimals follow
)

// maxDecimals is the most decimals that an amount has as a number.
const maxDecimals = 15

const styleTotal = styleAmount + maxDecimals + 1 // the same for sums

// makeStyles makes the styles: one list for every workbook, in one font.
func (b *book) makeStyles() {
	const family, size = "Arial", 10.0
	b.keep(b.f.SetDefaultFont(family))
	ten := size
	b.f.Styles.Fonts.Font[0].Sz.Val = &ten
	bold, italic := &excelize.Font{Family: family, Size: size, Bold: true}, &excelize.Font{Family: family, Size: size, Italic: true, Color: "555555"}
	top, left := &excelize.Alignment{Vertical: "top"}, &excelize.Alignment{Horizontal: "left", Vertical: "top", Indent: 1}
	center, heads := &excelize.Alignment{Horizontal: "center", Vertical: "top"}, &excelize.Alignment{Horizontal: "center", Vertical: "top", WrapText: true}
	wrap := &excelize.Alignment{Horizontal: "left", Vertical: "top", WrapText: true, Indent: 1}
	line := func(where string) []excelize.Border {
		return []excelize.Border{{Type: where, Style: 1, Color: "808080"}}
	}
	const general, whole, grouped, text = 0, 1, 3, 49 // formats that every spreadsheet has
	own := func(code string) *string { return &code }
	make := func(place int, s excelize.Style) {
		id, err := b.f.NewStyle(&s)
		b.keep(err)
		b.styles[place] = id
	}
	make(styleNone, excelize.Style{NumFmt: general, Alignment: top})
	make(styleText, excelize.Style{NumFmt: text, Alignment: left})
	make(styleHead, excelize.Style{NumFmt: text, Font: bold, Alignment: heads, Border: line("bottom"), Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"E4E8EE"}}})
	make(styleNote, excelize.Style{NumFmt: text, Font: italic, Alignment: top})
	make(styleCount, excelize.Style{NumFmt: grouped, Alignment: top})
	make(styleNumber, excelize.Style{NumFmt: whole, Alignment: top})
	make(styleDay, excelize.Style{CustomNumFmt: own(`yyyy\-mm\-dd`), Alignment: left})
	make(styleInstant, excelize.Style{CustomNumFmt: own(`yyyy\-mm\-dd hh:mm:ss`), Alignment: left})
	make(styleInstant3, excelize.Style{CustomNumFmt: own(`yyyy\-mm\-dd hh:mm:ss.000`), Alignment: left})
	make(styleCheck, excelize.Style{NumFmt: text, Font: bold, Alignment: center})
	make(styleStrong, excelize.Style{NumFmt: text, Font: bold, Alignment: wrap})
	make(styleWrap, excelize.Style{NumFmt: text, Alignment: wrap})
	make(styleSum, excelize.Style{NumFmt: grouped, Font: bold, Alignment: top, Border: line("top")})
	for i := range maxDecimals + 1 {
		code := "#,##0"
		if i > 0 {
			code += "." + strings.Repeat("0", i)
		}
		make(styleAmount+i, excelize.Style{CustomNumFmt: &code, Alignment: top})
		make(styleTotal+i, excelize.Style{CustomNumFmt: &code, Font: bold, Alignment: top, Border: line("top")})
	}
	id, err := b.f.NewConditionalStyle(&excelize.Style{Font: &excelize.Font{Bold: true, Color: "FFFFFF"}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"B00020"}}})
	b.keep(err)
	b.differs = id
}
