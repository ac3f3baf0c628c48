package extract

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

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
			if tok.Kind == xmlstream.End && r.t.Depth() == 1 {
				r.inTable = false
			}
			continue
		}
		if r.t.Depth() == 2 {
			r.inTable = string(tok.Name) == "sheetData"
			continue
		}
		if r.inTable && (r.t.Depth() != 3 || string(tok.Name) != "row") {
			return false, r.foreign(tok.Name, "the rows of the sheet")
		}
		switch string(tok.Name) {
		case "row":
			if !r.inTable {
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

// foreign is the error of an element that ECMA-376 does not have in that place: rows
// and cells inside of it would be lost in silence.
func (r *xlsxReader) foreign(name []byte, among string) error {
	return badFile(r.name, "an element %s stands among %s", quoteName(string(name)), among).
		WithHint("open the workbook in a spreadsheet program and save it again")
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
	column, inExtension := 0, false
	for {
		tok, err := r.t.next()
		if err != nil {
			return err
		}
		if tok.Kind == xmlstream.End && r.t.Depth() == 2 {
			return nil
		}
		if tok.Kind != xmlstream.Start || inExtension && r.t.Depth() > 4 {
			continue
		}
		if inExtension = string(tok.Name) == "extLst"; inExtension {
			continue
		}
		if string(tok.Name) != "c" {
			return r.foreign(tok.Name, "the cells of row "+strconv.Itoa(no))
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
		// what cells share counts as content of each of them, as if it stood there
		if r.shared += int64(len(text) - cell.from); r.shared > ratioFloor && r.shared/r.lim.Ratio > r.packed {
			return overLimit(r.name, "bytes of content for each compressed byte", r.lim.Ratio)
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
