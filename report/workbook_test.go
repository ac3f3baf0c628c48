package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// A readBook is report.xlsx as it is read. The library is the one that it is written with,
// and its formula engine computes what it only writes; libraries and programs that had no
// part in it read the same (TestWorkbookInAnotherReader, TestWorkbookInLibreOffice).
type readBook struct {
	t     *testing.T
	f     *excelize.File
	rows  map[string][][]string // raw values
	names []string
}

// workbook writes report.xlsx alone.
func (w *world) workbook() []byte {
	w.t.Helper()
	return w.workbookOf(w.build())
}

func (w *world) workbookOf(s *Summary) []byte {
	w.t.Helper()
	dir := w.t.TempDir()
	if err := writeXLSX(w.t.Context(), &Delivery{DB: w.db, In: w.in, Summary: s, Dir: dir}); err != nil {
		w.t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.xlsx"))
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

func openBook(t *testing.T, data []byte) *readBook {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b := &readBook{t: t, f: f, rows: map[string][][]string{}, names: f.GetSheetList()}
	for _, name := range b.names {
		rows, err := f.GetRows(name, excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		b.rows[name] = rows
	}
	return b
}

// at is the address of a cell; the row is the one that people see.
func at(t *testing.T, col, row int) string {
	t.Helper()
	name, err := excelize.CoordinatesToCellName(col+1, row)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// cell is the raw value of a cell.
func (b *readBook) cell(sheet string, col, row int) string {
	rows := b.rows[sheet]
	if row > len(rows) || col >= len(rows[row-1]) {
		return ""
	}
	return rows[row-1][col]
}

func (b *readBook) number(sheet string, col, row int) bool {
	b.t.Helper()
	kind, err := b.f.GetCellType(sheet, at(b.t, col, row))
	if err != nil {
		b.t.Fatal(err)
	}
	return kind == excelize.CellTypeUnset || kind == excelize.CellTypeNumber
}

// column finds a column by its name.
func (b *readBook) column(sheet, name string) int {
	b.t.Helper()
	i := slices.Index(b.rows[sheet][headRow-1], name)
	if i < 0 {
		b.t.Fatalf("%s has no column %s: %q", sheet, name, b.rows[sheet][headRow-1])
	}
	return i
}

// data is how many rows of data a sheet has.
func (b *readBook) data(sheet string) int { return len(b.rows[sheet]) - headRow }

// eachFormula calls f with every formula.
func (b *readBook) eachFormula(f func(sheet, cell, formula, value string)) {
	b.t.Helper()
	for _, sheet := range b.names {
		for i, r := range b.rows[sheet] {
			for j, value := range r {
				formula, err := b.f.GetCellFormula(sheet, at(b.t, j, i+1))
				if err != nil {
					b.t.Fatal(err)
				}
				if formula != "" {
					f(sheet, at(b.t, j, i+1), formula, value)
				}
			}
		}
	}
}

// ourFormula is all that a formula may be made of: functions, addresses, sheets and texts of
// ours.
var ourFormula = regexp.MustCompile(`^([-+=,()*:0-9]|"(agrees|DIFFERS|statement)"|\b(SUM|SUMIFS|ROUND|IF|AND|COUNTA|COUNTIF)\b|\$?[A-Z]{1,3}\$?[0-9]*|'(` +
	strings.Join(sheetNames, "|") + `)( \([0-9]+\))?'!)+$`)

// checkFormulas asserts that formulas are ours alone, that another engine gets the values
// that stand beside them, and that every check agrees.
func (b *readBook) checkFormulas() (formulas, checks int) {
	b.t.Helper()
	b.spoilTextNumbers()
	b.eachFormula(func(sheet, cell, formula, value string) {
		formulas++
		if !ourFormula.MatchString(formula) {
			b.t.Errorf("%s!%s is not made of our parts: %s", sheet, cell, formula)
		}
		got, err := b.f.CalcCellValue(sheet, cell, excelize.Options{RawCellValue: true})
		if err != nil {
			b.t.Errorf("%s!%s: %s: %v", sheet, cell, formula, err)
			return
		}
		if value == agrees || value == differs {
			checks++
			if value != agrees || got != agrees {
				b.t.Errorf("%s!%s says %s, and %s once it is computed: %s", sheet, cell, value, got, formula)
			}
			return
		}
		if !sameNumber(got, value) {
			b.t.Errorf("%s!%s is %s, and %s once it is computed: %s", sheet, cell, value, got, formula)
		}
	})
	return formulas, checks
}

// spoilTextNumbers makes texts that look like numbers other texts: this engine adds them
// up, which spreadsheets do not (see TestWorkbookInLibreOffice).
func (b *readBook) spoilTextNumbers() {
	for _, sheet := range b.names {
		for i, r := range b.rows[sheet] {
			for j, v := range r {
				if decimalText.MatchString(v) && !b.number(sheet, j, i+1) {
					if err := b.f.SetCellStr(sheet, at(b.t, j, i+1), "text "+v); err != nil {
						b.t.Fatal(err)
					}
				}
			}
		}
	}
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

var sheetNames = []string{"Summary", "Statement", "Accounts", "Open items", "Ageing", "Queues", "Confirm", "Requeue", "Compensate", "Review", "Close",
	"Exceptions", "Holds", "Clusters", "Trend", "Sources", "Coverage", "Method", "Checks"}

// Every sheet is there in its order, has a note, names of columns that stay in sight, a
// filter over its data, and formulas that another engine computes alike.
func TestWorkbookSheets(t *testing.T) {
	w := newWorld(t).load()
	data := w.workbook()
	b := openBook(t, data)
	if !slices.Equal(b.names, sheetNames) {
		t.Errorf("sheets %q", b.names)
	}
	for _, name := range b.names {
		panes, err := b.f.GetPanes(name)
		if err != nil || !panes.Freeze || panes.YSplit != headRow || panes.TopLeftCell != "A3" {
			t.Errorf("%s: the names of columns do not stay in sight: %+v, %v", name, panes, err)
		}
		if b.cell(name, 0, 1) == "" || len(b.rows[name][headRow-1]) < 2 || strings.Contains(strings.Join(b.rows[name][headRow-1], "|"), "||") {
			t.Errorf("%s: rows 1 and 2 are %q", name, b.rows[name][:headRow])
		}
	}
	if formulas, checks := b.checkFormulas(); formulas < 20 || checks < 15 {
		t.Errorf("%d formulas, %d checks", formulas, checks)
	}
	if b.cell("Summary", 1, 3) != w.build().Headline {
		t.Errorf("the first line is %q", b.cell("Summary", 1, 3))
	}
	names := map[string]string{}
	for _, n := range b.f.GetDefinedName() {
		names[n.Name+" of "+n.Scope] = n.RefersTo
	}
	for _, name := range b.names {
		filter := fmt.Sprintf("'%s'!$A$%d:$%s$%d", name, headRow, columnName(len(b.rows[name][headRow-1])-1), len(b.rows[name]))
		if got := names["_xlnm._FilterDatabase of "+name]; got != filter {
			t.Errorf("%s: the filter is %s, want %s", name, got, filter)
		}
		if got, want := names["_xlnm.Print_Titles of "+name], fmt.Sprintf("'%s'!$1:$%d", name, headRow); got != want {
			t.Errorf("%s: printed on every page is %q, want %q", name, got, want)
		}
		layout, err := b.f.GetPageLayout(name)
		if err != nil || *layout.Size != 9 || *layout.Orientation != "landscape" || *layout.FitToHeight != 0 {
			t.Errorf("%s: the page is %+v, %v", name, layout, err)
		}
		width, err := b.f.GetColWidth(name, "A")
		if err != nil || width == 0 || width != math.Trunc(width)+0.7 {
			t.Errorf("%s: the first column is %v wide, %v", name, width, err)
		}
		style, err := b.f.GetCellStyle(name, "A2")
		if err != nil {
			t.Fatal(err)
		}
		if head, err := b.f.GetStyle(style); err != nil || !head.Font.Bold || head.Font.Family != "Arial" || head.Font.Size != 10 || !slices.Equal(head.Fill.Color, []string{"E4E8EE"}) {
			t.Errorf("%s: names of columns look like %+v, %v", name, head, err)
		}
		formats, err := b.f.GetConditionalFormats(name)
		if checked := slices.Contains(b.rows[name][headRow-1], checkColumn); err != nil || (len(formats) == 1) != checked {
			t.Errorf("%s: a check that fails looks like %v, %v", name, formats, err)
		}
	}
	if props, err := b.f.GetDocProps(); err != nil || props.Title != w.in.Bound.Name+" 2026-08-20" || props.Creator != "recon-batch" || props.LastModifiedBy != "recon-batch" ||
		props.Created != w.build().AsOf || props.Modified != props.Created {
		t.Errorf("the properties are %+v, %v", props, err)
	}
	if props, err := b.f.GetCalcProps(); err != nil || props.FullCalcOnLoad == nil || !*props.FullCalcOnLoad {
		t.Errorf("whoever opens it does not compute it anew: %+v, %v", props, err)
	}
	for i, p := range unzippedParts(t, data) {
		if !strings.HasPrefix(p.name, "xl/worksheets/") {
			continue
		}
		if !regexp.MustCompile(`<autoFilter ref="\$A\$2:\$[A-Z]+\$[0-9]+"></autoFilter>`).Match(p.data) {
			t.Errorf("part %d, %s, has no filter", i, p.name)
		}
	}
}

// strangeWorld has what is hostile to workbooks besides: an escape of the format, a number
// that is text, and what is no character of XML.
func strangeWorld(t *testing.T) *world {
	was := hostile
	defer func() { hostile = was }()
	hostile = append(append([]string{"_x003D_1+1", "-12.50", "\ufffe\uffff"}, hostile...), "a;=1+1")
	return hostileWorld(t)
}

// Values of strangers stay text: the package is well-formed, no formula holds any of them,
// none starts one in what the workbook is saved as, and what is cut says so and where the
// whole value is.
func TestWorkbookHostile(t *testing.T) {
	data := strangeWorld(t).workbook()
	checkPackage(t, data)
	b := openBook(t, data)
	b.checkFormulas()
	hidden := regexp.MustCompile("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b\ufffe\uffff]")
	seen := map[string]bool{}
	cuts := 0
	for _, sheet := range b.names {
		for i, r := range b.rows[sheet] {
			for j, c := range r {
				seen[c] = true
				if c == "" || sheet != "Method" && sheet != "Summary" && i == 0 {
					continue
				}
				if strings.ContainsRune("=+-@", rune(c[0])) && !decimalText.MatchString(c) {
					t.Errorf("%s %s starts a formula: %q", sheet, at(t, j, i+1), c)
				}
				if m := hidden.FindString(c); m != "" {
					t.Errorf("%s %s holds %q", sheet, at(t, j, i+1), m)
				}
				if len(c) > 1500 {
					t.Errorf("%s %s has %d bytes", sheet, at(t, j, i+1), len(c))
				}
				if strings.HasSuffix(c, "(1048576 characters)") && len(r) > j+1 && sheet == "Exceptions" {
					cuts++
					if note := r[len(r)-1]; !strings.Contains(note, "whole in exceptions.parquet, operation a'\"<b>.csv record 122, result psp.csv.gz record 122") || !strings.Contains(note, b.rows[sheet][headRow-1][j]) {
						t.Errorf("%s %s is cut, and the note is %q", sheet, at(t, j, i+1), note)
					}
				}
			}
		}
	}
	if cuts < 3 {
		t.Errorf("%d cells say that they are cut", cuts)
	}
	for _, v := range []string{`'=HYPERLINK("http://x.example")`, "'@SUM(A1)", "'-2+3", `<script>alert(1)</script>`, "_x003D_1+1", "-12.50", "a;'=1+1", `a\u{202E}gnp.exe`, `\u{FFFE}\u{FFFF}`} {
		if !seen[v] {
			t.Errorf("no cell is %q", v)
		}
	}
}

// A workbook that does not agree with the report is not written, and neither is one
// without a row that the report counts.
func TestWorkbookAgreesOrIsNone(t *testing.T) {
	for name, change := range map[string]func(s *Summary){
		"amount of a queue":    func(s *Summary) { s.queue("requeue").Amounts[0].Amount = "99.91" },
		"items of a queue":     func(s *Summary) { s.queue("review").Items++ },
		"number of exceptions": func(s *Summary) { s.Exceptions.Of++ },
	} {
		w := newWorld(t).load()
		s := w.build()
		change(s)
		d := &Delivery{DB: w.db, In: w.in, Summary: s, Dir: t.TempDir()}
		if err := writeXLSX(t.Context(), d); fail.ClassOf(err) != fail.Integrity {
			t.Errorf("%s: got %v, want a breach", name, err)
		}
		if files, err := os.ReadDir(d.Dir); err != nil || len(files) > 1 {
			t.Errorf("%s: %d files are left, %v", name, len(files), err)
		}
	}
}

// The items of a withheld queue are nowhere in the workbook.
func TestWorkbookWithheldQueue(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Limits.BlastRadius = map[string]rules.BlastLimit{"requeue": {Amount: map[string]string{"USD": "99.89"}}}
	w.load()
	b := openBook(t, w.workbook())
	for _, sheet := range []string{"Confirm", "Requeue", "Compensate", "Close"} {
		if b.data(sheet) != 0 || !strings.Contains(b.cell(sheet, 0, 1), "withheld") {
			t.Errorf("%s: %q", sheet, b.rows[sheet])
		}
	}
	if b.data("Review") == 0 {
		t.Error("review is not shown")
	}
	if b.cell("Queues", 1, 3) != "withheld" {
		t.Errorf("the queue is said to be written: %q", b.rows["Queues"][2])
	}
}

// Where amounts or currencies are hidden, nothing of them is added up or typed.
func TestWorkbookRedacted(t *testing.T) {
	for _, field := range []string{"amount", "currency"} {
		w := newWorld(t)
		w.in.Bound.Redact = rules.Redact{Fields: map[string]string{field: "token"}}
		w.load()
		b := openBook(t, w.workbook())
		b.checkFormulas()
		for row := firstData; row <= len(b.rows["Checks"]); row++ {
			if what := b.cell("Checks", 0, row); strings.Contains(what, "amounts") {
				t.Errorf("%s: %q is checked", field, what)
			}
		}
		col := b.column("Review", field)
		for row := firstData; row <= len(b.rows["Review"]); row++ {
			if v := b.cell("Review", col, row); v != "" && !strings.HasPrefix(v, "tok_") {
				t.Errorf("%s: row %d shows %q", field, row, v)
			}
		}
	}
}

// Free text of people is masked in the sheets of rows as in every other output: also where
// the number lies across the end of what is shown, and in the names of files.
func TestWorkbookFreeText(t *testing.T) {
	const card = "4111111111111111"
	w := newWorld(t)
	w.item[2] = strings.Replace(w.item[2], "'op-5'", "'paid by "+card+" today'", 1)
	w.item[4] = strings.Replace(w.item[4], "'op-8'", "'"+strings.Repeat("x", maxCell-9)+" "+card+strings.Repeat(" y", 300)+"'", 1)
	w.in.Operations.Files[0].Name = "card " + card + ".csv"
	w.load()
	data := w.workbook()
	for _, p := range unzippedParts(t, data) {
		if i := bytes.Index(p.data, []byte(card[:8])); i >= 0 {
			t.Errorf("%s shows %q", p.name, p.data[max(0, i-40):i+20])
		}
	}
	b := openBook(t, data)
	b.checkFormulas()
	ids := b.column("Review", "operation id")
	if got := b.cell("Review", ids, firstData); !strings.HasPrefix(got, "paid by ") || !strings.HasSuffix(got, " today") {
		t.Errorf("the text around a card is %q", got)
	}
	row := b.rows["Review"][firstData]
	if got := row[ids]; !strings.HasPrefix(got, strings.Repeat("x", maxCell-9)+" ") || !strings.HasSuffix(got, "… (808 characters)") {
		t.Errorf("the long text is %q", got)
	}
	if note := row[len(row)-1]; !strings.HasPrefix(note, "cut: operation id; whole in queues/review.parquet, operation card ") {
		t.Errorf("the note is %q", note)
	}
}

// A check says that it differs once a cell is changed: one beside a line, one over sheets,
// and the one on the first sheet with it.
func TestWorkbookChecksCanFail(t *testing.T) {
	data := newWorld(t).load().workbook()
	for _, c := range []struct {
		sheet, column string
		row           int
		check         func(b *readBook) (sheet, cell string)
	}{
		{"Statement", "operations amount", firstData + 3, func(b *readBook) (string, string) {
			return "Statement", at(t, b.column("Statement", checkColumn), firstData+3)
		}},
		{"Accounts", "results amount", firstData + 2, func(b *readBook) (string, string) {
			return "Accounts", at(t, b.column("Accounts", checkColumn), firstData+1)
		}},
		{"Open items", "amount", firstData + 1, func(b *readBook) (string, string) {
			return "Open items", at(t, b.column("Open items", checkColumn), firstData+4)
		}},
		{"Ageing", "items", firstData, func(b *readBook) (string, string) {
			return "Ageing", at(t, b.column("Ageing", checkColumn), firstData+7)
		}},
		{"Requeue", "amount", firstData, func(b *readBook) (string, string) { return "Checks", b.checkOf("requeue: amounts") }},
		{"Exceptions", "difference", firstData, func(b *readBook) (string, string) { return "Checks", b.checkOf("exceptions on the sheet: differences") }},
		{"Sources", "classified", firstData, func(b *readBook) (string, string) {
			return "Sources", at(t, b.column("Sources", checkColumn), firstData)
		}},
	} {
		b := openBook(t, data)
		b.spoilTextNumbers()
		sheet, cell := c.check(b)
		changed := at(t, b.column(c.sheet, c.column), c.row)
		for _, want := range []string{agrees, differs} {
			first := at(t, 7, b.rowOf("Summary", "checks of this workbook"))
			for _, x := range [][2]string{{sheet, cell}, {"Summary", first}} {
				if got, err := b.f.CalcCellValue(x[0], x[1]); err != nil || got != want {
					t.Errorf("%s!%s changed: %s!%s says %q, want %s, %v", c.sheet, changed, x[0], x[1], got, want, err)
				}
			}
			if err := b.f.SetCellValue(c.sheet, changed, 123456.78); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rowOf finds a row by the text of its first cell.
func (b *readBook) rowOf(sheet, first string) int {
	b.t.Helper()
	for i := range b.rows[sheet] {
		if b.cell(sheet, 0, i+1) == first {
			return i + 1
		}
	}
	b.t.Fatalf("%s has no row %q", sheet, first)
	return 0
}

// checkOf is the cell that says whether a line of the sheet Checks agrees.
func (b *readBook) checkOf(what string) string {
	b.t.Helper()
	return at(b.t, b.column("Checks", checkColumn), b.rowOf("Checks", what))
}
