package report

import (
	"archive/zip"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

// A workbook is an archive of XML parts (ECMA-376, transitional). It is written part by
// part into the file: no sheet is ever held in memory, and nothing depends on the clock
// or on the order of a map.

// sheetRows is how many rows a sheet has at most; what follows stands on a continuation
// sheet. A spreadsheet takes 1,048,576. A test makes it small.
var sheetRows = 1_000_000

// book is a workbook that is being written.
type book struct {
	z     *zip.Writer
	parts []bookPart
	open  *sheet
	zone  *time.Location // of the times
	err   error          // the first one; everything after it does nothing
	minor map[string]int // currency → decimals of its minor unit
}

// bookPart is one sheet as it was written.
type bookPart struct {
	name    string
	columns int
	last    int // row
}

// bookPacked is the level of compression: a good part of the gain of the highest one for
// a third of its time.
const bookPacked = 3

func newBook(w io.Writer, zone *time.Location) *book {
	b := &book{z: zip.NewWriter(w), zone: zone, minor: map[string]int{}}
	b.z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, bookPacked) })
	b.part("_rels/.rels", xmlHead+`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>`+
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>`+
		`<Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/extended-properties" Target="docProps/app.xml"/>`+
		`</Relationships>`)
	b.part("xl/styles.xml", bookStyles())
	return b
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// fixedTime is that of every entry of the archive, the first one that the format knows.
var fixedTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// create begins an entry of the archive.
func (b *book) create(name string) io.Writer {
	if b.err != nil {
		return io.Discard
	}
	w, err := b.z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: fixedTime})
	if err != nil {
		b.err = err
		return io.Discard
	}
	return w
}

func (b *book) part(name, text string) { b.wrote(io.WriteString(b.create(name), text)) }

func (b *book) wrote(_ int, err error) {
	if b.err == nil {
		b.err = err
	}
}

// properties of the document. made is an instant of the run, RFC 3339.
func (b *book) properties(title, subject, made string) {
	b.part("docProps/core.xml", xmlHead+`<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"`+
		` xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">`+
		`<dc:title>`+propertyText(title)+`</dc:title><dc:subject>`+propertyText(subject)+`</dc:subject><dc:creator>recon-batch</dc:creator><cp:lastModifiedBy>recon-batch</cp:lastModifiedBy>`+
		`<dcterms:created xsi:type="dcterms:W3CDTF">`+made+`</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">`+made+`</dcterms:modified></cp:coreProperties>`)
	b.part("docProps/app.xml", xmlHead+`<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Application>recon-batch</Application></Properties>`)
}

// close ends the last sheet and writes what names the sheets. It returns the first error
// of all.
func (b *book) close() error {
	b.endSheet()
	var types, rels, sheets, names strings.Builder
	for i, p := range b.parts {
		n := strconv.Itoa(i + 1)
		types.WriteString(`<Override PartName="/xl/worksheets/sheet` + n + `.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`)
		rels.WriteString(`<Relationship Id="rId` + n + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet` + n + `.xml"/>`)
		sheets.WriteString(`<sheet name="` + p.name + `" sheetId="` + n + `" r:id="rId` + n + `"/>`)
		// Names in the order of their texts, then of the sheets, as spreadsheets write them.
		fmt.Fprintf(&names, `<definedName name="_xlnm._FilterDatabase" localSheetId="%d" hidden="1">'%s'!$A$%d:$%s$%d</definedName>`, i, p.name, headRow, columnName(p.columns-1), max(p.last, headRow))
	}
	for i, p := range b.parts {
		fmt.Fprintf(&names, `<definedName name="_xlnm.Print_Titles" localSheetId="%d">'%s'!$1:$%d</definedName>`, i, p.name, headRow)
	}
	// The program that opens the workbook computes the formulas anew; one that does not has the
	// values that are written.
	b.part("xl/workbook.xml", xmlHead+`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">`+
		`<bookViews><workbookView tabRatio="850"/></bookViews><sheets>`+sheets.String()+`</sheets><definedNames>`+names.String()+`</definedNames><calcPr calcId="0" fullCalcOnLoad="1"/></workbook>`)
	b.part("xl/_rels/workbook.xml.rels", xmlHead+`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+rels.String()+
		`<Relationship Id="rId`+strconv.Itoa(len(b.parts)+1)+`" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`)
	b.part("[Content_Types].xml", xmlHead+`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>`+
		types.String()+`<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>`+
		`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>`+
		`<Override PartName="/docProps/app.xml" ContentType="application/vnd.openxmlformats-officedocument.extended-properties+xml"/></Types>`)
	if err := b.z.Close(); b.err == nil {
		b.err = err
	}
	return b.err
}

// columnName is the letters of a column, from 0: A, Z, AA.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// Styles of cells, by their place in the list that bookStyles writes.
const (
	styleNone     = iota
	styleText     // a text that stays one when it is edited
	styleHead     // names of columns
	styleNote     // what a sheet says of itself
	styleCount    // 1,234
	styleNumber   // 1234, of records
	styleDay      // 2026-08-20
	styleInstant  // 2026-08-20 07:00:00
	styleInstant3 // with milliseconds
	styleCheck    // of a check
	styleStrong   // a text that stands out
	styleWrap     // a text over several lines
	styleSum      // 1,234 of a sum
	styleAmount   // of no decimals; those of n decimals follow
)

// maxDecimals is the most decimals that an amount has as a number.
const maxDecimals = 15

const styleTotal = styleAmount + maxDecimals + 1 // the same for sums

// bookStyles is the part xl/styles.xml: one list for every workbook.
func bookStyles() string {
	var formats, xfs strings.Builder
	count := 0
	xf := func(format, font, fill, border int, more string) {
		fmt.Fprintf(&xfs, `<xf numFmtId="%d" fontId="%d" fillId="%d" borderId="%d" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1" applyAlignment="1">%s</xf>`, format, font, fill, border, more)
		count++
	}
	const top, left = `<alignment vertical="top"/>`, `<alignment horizontal="left" vertical="top" indent="1"/>`
	const wrap = `<alignment horizontal="left" vertical="top" wrapText="1" indent="1"/>`
	const instant, instant3, day = 200, 201, 202
	xf(0, 0, 0, 0, "")
	xf(49, 0, 0, 0, left)
	xf(49, 1, 2, 1, `<alignment horizontal="center" vertical="top" wrapText="1"/>`)
	xf(49, 2, 0, 0, top)
	xf(3, 0, 0, 0, top)
	xf(1, 0, 0, 0, top)
	xf(day, 0, 0, 0, left)
	xf(instant, 0, 0, 0, left)
	xf(instant3, 0, 0, 0, left)
	xf(49, 1, 0, 0, `<alignment horizontal="center" vertical="top"/>`)
	xf(49, 1, 0, 0, wrap)
	xf(49, 0, 0, 0, wrap)
	xf(3, 1, 0, 2, top)
	fmt.Fprintf(&formats, `<numFmt numFmtId="%d" formatCode="yyyy\-mm\-dd hh:mm:ss"/><numFmt numFmtId="%d" formatCode="yyyy\-mm\-dd hh:mm:ss.000"/><numFmt numFmtId="%d" formatCode="yyyy\-mm\-dd"/>`, instant, instant3, day)
	decimals := func(i int) int { return 210 + i }
	for i := range maxDecimals + 1 {
		code := "#,##0"
		if i > 0 {
			code += "." + strings.Repeat("0", i)
		}
		fmt.Fprintf(&formats, `<numFmt numFmtId="%d" formatCode="%s"/>`, decimals(i), code)
		xf(decimals(i), 0, 0, 0, top)
	}
	for i := range maxDecimals + 1 {
		xf(decimals(i), 1, 0, 2, top)
	}
	return xmlHead + `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
		fmt.Sprintf(`<numFmts count="%d">%s</numFmts>`, 3+maxDecimals+1, formats.String()) +
		`<fonts count="3"><font><sz val="10"/><name val="Arial"/></font><font><b/><sz val="10"/><name val="Arial"/></font><font><i/><sz val="10"/><color rgb="FF555555"/><name val="Arial"/></font></fonts>` +
		`<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFE4E8EE"/><bgColor indexed="64"/></patternFill></fill></fills>` +
		`<borders count="3"><border><left/><right/><top/><bottom/><diagonal/></border><border><left/><right/><top/><bottom style="thin"><color rgb="FF808080"/></bottom><diagonal/></border>` +
		`<border><left/><right/><top style="thin"><color rgb="FF808080"/></top><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		fmt.Sprintf(`<cellXfs count="%d">%s</cellXfs>`, count, xfs.String()) +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>` +
		`<dxfs count="1"><dxf><font><b/><color rgb="FFFFFFFF"/></font><fill><patternFill patternType="solid"><fgColor rgb="FFB00020"/><bgColor rgb="FFB00020"/></patternFill></fill></dxf></dxfs></styleSheet>`
}
