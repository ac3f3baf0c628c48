package extract

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/recon-batch/recon-batch/rules"
)

// xlsxSource is a source of a workbook with the keys of xlsx as a job file has them.
func xlsxSource(t testing.TB, yaml string) *rules.Source {
	t.Helper()
	return sourceOf(t, "format: xlsx\nxlsx: {"+yaml+"}\n")
}

// bookParts are the parts of a workbook with one sheet, as strings; a map of others
// replaces or adds some.
func bookParts(sheet string, others ...string) []string {
	parts := []string{
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook><sheets><sheet name="results" sheetId="1" r:id="rId1" xmlns:r="x"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="x/styles" Target="/xl/styles.xml"/><Relationship Id="rId3" Type="x/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/styles.xml", `<styleSheet><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm:ss"/><numFmt numFmtId="165" formatCode="[h]:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml", `<sst><si><t>id</t></si><si><t>amount</t></si><si><r><t>a</t></r><r><t xml:space="preserve"> b_x0041_</t></r><rPh><t>no</t></rPh></si><si><t/></si></sst>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`,
	}
	for i := 0; i+1 < len(others); i += 2 {
		replaced := false
		for j := 0; j < len(parts); j += 2 {
			if parts[j] == others[i] {
				parts[j+1], replaced = others[i+1], true
			}
		}
		if !replaced {
			parts = append(parts, others[i], others[i+1])
		}
	}
	return parts
}

func book(t testing.TB, sheet string, others ...string) []byte {
	return zipped(t, bookParts(sheet, others...)...)
}

const head = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>`

func TestXLSX(t *testing.T) {
	sheet := head +
		`<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>19.899999999999999</v></c></row>` +
		`<row r="3"><c r="A3"><v>1200345</v></c><c r="B3" s="1"><v>47974</v></c></row>` +
		`<row r="5"><c r="A5" t="inlineStr"><is><t>0048</t></is></c><c r="B5" s="2"><v>47974.5</v></c></row>` +
		`<row r="6"/><row r="7"><c r="B7" s="3"><v>0.25</v></c></row>` +
		`<row><c><v>9.00719925474099E+15</v></c><c t="b"><v>1</v></c></row>` +
		`<row><c t="str"><f>A1</f><v>x_x000D_y</v></c><c><f>1+1</f><v>2</v></c></row>` +
		`<row><c t="d"><v>2031-05-06</v></c><c s="4"><v>1.5</v></c><c/></row>` +
		`<row><c t="s"><v>3</v></c><c t="str"><f>x</f><v></v></c></row>`
	got, r := readAll(xlsxSource(t, ""), textFields("id"), book(t, sheet), "x.xlsx")
	check(t, got, []string{
		"1@2 a bA|#19.9",
		"2@3 #1200345|2031-05-06",
		"3@5 0048|2031-05-06T12:00:00",
		"4@7 ~|06:00:00",
		"5@8 #9007199254740990|?true",
		"6@9 x\ry|#2",
		"7@10 2031-05-06|#1.5",
		"control 3",
	})
	check(t, notesOf(r), []string{"the column id holds 1 whole numbers of 15 digits or more in number cells, first in record 5 (row 8): a workbook keeps 15 digits, the others may be lost"})
}

func TestXLSXRejects(t *testing.T) {
	for _, c := range []struct{ cell, want string }{
		{`<c r="B2" t="e"><v>#REF!</v></c>`, `the cell B2: it holds the error "#REF!"`},
		{`<c r="B2"><f>SUM(A1)</f></c>`, "the cell B2: it has a formula without a stored value; open the workbook in a spreadsheet program and save it"},
		{`<c r="B2"><v>1e</v></c>`, "the cell B2: it should hold a number"},
		{`<c r="B2"><v>NaN</v></c>`, "the cell B2: it should hold a number"},
		{`<c r="B2" s="1"><v>60</v></c>`, "the cell B2: its number is 29 February 1900, a day that never was"},
		{`<c r="B2" s="1"><v>-1</v></c>`, "the cell B2: its number is outside the dates that a workbook has"},
		{`<c r="B2" s="1"><v>2958466</v></c>`, "the cell B2: its number is outside the dates that a workbook has"},
		{`<c r="B2" s="1"><v>0.5</v></c>`, "the cell B2: its number is a time without a day"},
		{`<c r="B2" t="b"><v>2</v></c>`, "the cell B2: it should hold true or false"},
		{`<c r="B2" t="q"><v>2</v></c>`, "the cell B2: its type q is not known"},
	} {
		got, _ := readAll(xlsxSource(t, ""), textFields("id"), book(t, head+`<row r="2"><c r="A2"><v>1</v></c>`+c.cell+`</row><row r="3"><c r="A3"><v>2</v></c></row>`), "x.xlsx")
		check(t, got, []string{"reject 1@2 amount: " + c.want, "2@3 #2|~", "control 1"})
	}
	got, _ := readAll(xlsxSource(t, ""), textFields("id"), book(t, head+`<row r="2"><c r="A2"><v>1</v></c><c r="D2"><v>1</v></c></row>`), "x.xlsx")
	check(t, got[:1], []string{"reject 1@2: the cell D2 has a value, and no column of that place has a name"})
}

func TestXLSXRefusals(t *testing.T) {
	row := `<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>`
	two := `<workbook><sheets><sheet name="results" r:id="rId1"/><sheet name="other" state="hidden" r:id="rId1"/></sheets></workbook>`
	for _, c := range []struct {
		name, keys string
		data       []byte
		want       string
	}{
		{"two sheets", "", book(t, head+row, "xl/workbook.xml", two), "error x.xlsx: the workbook has 2 sheets: results, other"},
		{"no such sheet", "sheet: result", book(t, head+row, "xl/workbook.xml", two), "error x.xlsx: the workbook has no sheet result"},
		{"hidden", "", book(t, head+row, "xl/workbook.xml", strings.Replace(two, `<sheet name="results" r:id="rId1"/>`, "", 1)), "error x.xlsx: the only sheet other is hidden"},
		{"hidden and named", "sheet: other", book(t, head+row, "xl/workbook.xml", two), "control 1"},
		{"no header", "header_row: 3", book(t, head+row), "error x.xlsx: row 3 of the sheet, which should name the columns, is empty"},
		{"text that is not there", "", book(t, head+`<row r="2"><c r="A2" t="s"><v>4</v></c></row>`), "error x.xlsx: the cell A2 refers to the text number 4, which the workbook does not have"},
		{"rows out of order", "", book(t, head+row+row), "error x.xlsx: the rows of the sheet are not in order: row 2 after row 2"},
		{"cells out of order", "", book(t, head+`<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>1</v></c></row>`), "error x.xlsx: the cells of row 2 are not in order, at A2"},
		{"no total", "ends_before: {first_field: Total}", book(t, head+row), "error x.xlsx: the row that begins with the cell Total and ends the records never comes: the file is cut"},
		{"no trailer", "rows: {field: 1, trailer: T}", book(t, head+row), "error x.xlsx: there is no trailer (row kind T) after the last record: the file is cut"},
		{"merged rows", "", book(t, head+row+`</sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells><sheetData>`), "error x.xlsx: the cells A2:A3 among the records are merged: what they hold counts for one row and column only"},
		{"merged columns", "", book(t, head+row+`</sheetData><mergeCells><mergeCell ref="A2:B2"/></mergeCells><sheetData>`), "error x.xlsx: the cells A2:B2 among the records are merged: what they hold counts for one row and column only"},
		{"merged title", "", book(t, head+row+`</sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells><sheetData>`), "control 1"},
		{"merged beyond", "", book(t, head+row+`</sheetData><mergeCells><mergeCell ref="C2:D3"/></mergeCells><sheetData>`), "control 1"},
		{"no workbook", "", zipped(t, "a.csv", "x"), `error x.xlsx: the file is no workbook, or not whole: it has no part "_rels/.rels"`},
		{"old form", "", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and more"), "error x.xlsx: the workbook is encrypted, or of the old form .xls"},
		{"no zip", "", []byte("id,amount\n"), "error x.xlsx: the file is no whole zip archive: it is cut or corrupt: zip: not a valid zip file"},
		{"no sheet part", "", book(t, head+row, "xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/s2.xml"/></Relationships>`), `error x.xlsx: the file is no workbook, or not whole: it has no part "xl/worksheets/s2.xml"`},
		{"empty rows", "skip_empty_rows: false", book(t, head+row+`<row r="5"><c r="A5"><v>1</v></c></row>`), "control 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := readAll(xlsxSource(t, c.keys), textFields("id"), c.data, "x.xlsx")
			check(t, got[len(got)-1:], []string{c.want})
			if c.name == "empty rows" {
				check(t, got[1:3], []string{"reject 2@3: rows 3 to 4 are empty", "3@5 #1|~"})
			}
		})
	}
}

// A title above, a total row with what is below it, and columns outside the range.
func TestXLSXRanges(t *testing.T) {
	sheet := `<row r="1"><c r="A1" t="inlineStr"><is><t>Report</t></is></c></row>` +
		`<row r="3"><c r="B3" t="inlineStr"><is><t>id</t></is></c><c r="C3" t="inlineStr"><is><t>amount</t></is></c><c r="E3" t="inlineStr"><is><t>note</t></is></c></row>` +
		`<row r="4"><c r="A4"><v>1</v></c><c r="B4"><v>11</v></c><c r="C4"><v>1.5</v></c></row>` +
		`<row r="5"><c r="B5"><v>12</v></c><c r="C5"><v>2.5</v></c><c r="F5"><v>9</v></c></row>` +
		`<row r="6"><c r="B6" t="inlineStr"><is><t>Total</t></is></c><c r="C6"><v>4</v></c><c r="D6"><v>2</v></c></row>` +
		`<row r="8"><c r="B8" t="inlineStr"><is><t>printed by x</t></is></c></row>`
	src := xlsxSource(t, `range: "B3:E100", ends_before: {first_field: Total}`)
	got, r := readAll(src, textFields("id"), book(t, sheet), "x.xlsx")
	check(t, got, []string{"1@4 #11|#1.5|~|~", "2@5 #12|#2.5|~|~", "trailer Total|4|2", "control 4"})
	if h := strings.Join(r.Header(), ","); h != "id,amount,column D,note" {
		t.Errorf("header %s", h)
	}
	got, _ = readAll(xlsxSource(t, `header_row: 0, columns: [id, amount], range: "B4:C5"`), textFields("id"), book(t, sheet), "x.xlsx")
	check(t, got, []string{"1@4 #11|#1.5", "2@5 #12|#2.5", "control 4"})
}

// What excelize writes is read back: the writer of another hand.
func TestXLSXOfAnotherWriter(t *testing.T) {
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range [][]any{{"id", "amount", "when", "flag"}, {"a", 12.5, 47974, true}, {"é & <b>", "1,5", nil, false}, {12345678, 0.1 + 0.2, 47974.25, nil}} {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	style, err := f.NewStyle(&excelize.Style{NumFmt: 22})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetCellStyle("Sheet1", "C2", "C4", style); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, _ := readAll(xlsxSource(t, ""), textFields("id"), b.Bytes(), "x.xlsx")
	check(t, got, []string{"1@2 a|#12.5|2031-05-06T00:00:00|?true", "2@3 é & <b>|1,5|~|?false", "3@4 #12345678|#0.3|2031-05-06T06:00:00|~", "control 1"})
}

func TestXLSX1904(t *testing.T) {
	data := book(t, head+`<row r="2"><c r="A2"><v>1</v></c><c r="B2" s="1"><v>46512</v></c></row>`,
		"xl/workbook.xml", `<workbook><workbookPr date1904="1"/><sheets><sheet name="results" r:id="rId1"/></sheets></workbook>`)
	got, _ := readAll(xlsxSource(t, ""), textFields("id"), data, "x.xlsx")
	check(t, got[:1], []string{"1@2 #1|2031-05-06"})
}

func TestSheetNumber(t *testing.T) {
	for stored, want := range map[string]string{
		"1": "1", "1200345.0": "1200345", "19.899999999999999": "19.9", "3.2000000000000002": "3.2", "-0": "0", "1E2": "100", "1.5E-3": "0.0015",
		"9.00719925474099E+15": "9007199254740990 long", "123456789012345": "123456789012345 long", "12345678901234": "12345678901234",
		"1234567890123456789": "1234567890123460000 long", "999999999999999.9": "1000000000000000 long", "0.99999999999999999": "1", "-19.899999999999999": "-19.9",
		"0.1234567890123456": "0.123456789012346", "1E+300": "1E+300 long", "1e": "?", "": "?", "0x10": "?", "Inf": "?", "1_0": "?", "1.2.3": "?",
	} {
		text, long, ok := sheetNumber(nil, []byte(stored))
		got := string(text)
		if long {
			got += " long"
		}
		if !ok {
			got = "?"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", stored, got, want)
		}
	}
}

func TestStyleOf(t *testing.T) {
	for code, want := range map[string]dateStyle{
		"General": styleNumber, "0.00": styleNumber, "0.00E+00": styleNumber, `"day" 0`: styleNumber, "#,##0 [Red]": styleNumber, `0\d`: styleNumber, "[h]:mm:ss": styleNumber, "[mm]:ss": styleNumber,
		"yyyy-mm-dd": styleDate, "d/m/yy": styleDate, "mmm": styleDate, "[$-409]mmmm d, yyyy;@": styleDate, "[Red]dd.mm.": styleDate, `yyyy"年"m"月"`: styleDate,
		"h:mm": styleTime, "mm:ss.0": styleTime, "h:mm AM/PM": styleTime, "yyyy-mm-dd hh:mm": styleDateTime, "m/d/yy h:mm": styleDateTime, "0;[Red]yyyy": styleNumber,
	} {
		if got := styleOf(code); got != want {
			t.Errorf("%s is %d, want %d", code, got, want)
		}
	}
}

func TestSheetDate(t *testing.T) {
	for _, c := range []struct {
		serial string
		style  dateStyle
		want   string
	}{
		{"1", styleDate, "1900-01-01"}, {"59", styleDate, "1900-02-28"}, {"61", styleDate, "1900-03-01"}, {"2958465", styleDate, "9999-12-31"},
		{"45000.123456", styleDate, "2023-03-15T02:57:46.598"}, {"45000.999999999", styleDateTime, "2023-03-16T00:00:00"}, {"45000", styleDateTime, "2023-03-15T00:00:00"},
		{"0.420219907407407", styleTime, "10:05:07"}, {"45000.5", styleTime, "2023-03-15T12:00:00"}, {"0.5", styleDateTime, "12:00:00"},
	} {
		got, why := sheetDate(nil, []byte(c.serial), c.style, false)
		if string(got) != c.want || why != "" {
			t.Errorf("%s is %s (%s), want %s", c.serial, got, why, c.want)
		}
	}
}

// Texts in memory and on disk are the same.
func TestXLSXStringsSpool(t *testing.T) {
	var b strings.Builder
	b.WriteString("<sst>")
	for i := range 1000 {
		fmt.Fprintf(&b, "<si><t>text %d</t></si>", i*i)
	}
	b.WriteString("</sst>")
	for _, limit := range []int{0, 100, 5000, 1 << 20} {
		x, err := newXMLTokens(strings.NewReader(b.String()), "", "x", DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		s := &xlsxStrings{}
		if err := s.read(x, limit); err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if onDisk := s.textFile != nil; onDisk != (limit < 1<<20) {
			t.Errorf("limit %d: on disk %v", limit, onDisk)
		}
		for _, i := range []int{0, 1, 500, 999} {
			if got, ok, err := s.get(nil, i); err != nil || !ok || string(got) != fmt.Sprintf("text %d", i*i) {
				t.Errorf("limit %d, text %d: %q %v %v", limit, i, got, ok, err)
			}
		}
		if _, ok, _ := s.get(nil, 1000); ok {
			t.Error("there is a text behind the last one")
		}
	}
}

// C21, read by itself.
func TestXLSXCase(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "fixtures", "cases", "C21", "right.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := readAll(xlsxSource(t, "sheet: results, header_row: 1"), textFields("operation_id"), data, "right.xlsx")
	check(t, got, []string{"1@2 #1200345|#19.9|2031-05-06", "2@3 0048|#7|2031-05-07", "3@5 #1200346|#3.2|2031-05-08", "4@6 #9007199254740990|#1|2031-05-09", "control 1"})
}
