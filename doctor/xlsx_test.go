package doctor

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// TestWorkbook: sheets, hidden ones too, the row of the header, the total below, and
// long numbers in number cells.
func TestWorkbook(t *testing.T) {
	f := excelize.NewFile()
	defer f.Close()
	set := func(sheet, cell string, row ...any) {
		t.Helper()
		if err := f.SetSheetRow(sheet, cell, &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetSheetName("Sheet1", "Settlement"); err != nil {
		t.Fatal(err)
	}
	set("Settlement", "A1", "Settlement report of November")
	set("Settlement", "A3", "op_id", "amount", "currency", "trace_no")
	set("Settlement", "A4", "op-1", 10.5, "EUR", 123456789012345678)
	set("Settlement", "A5", "op-2", 20, "EUR", 123456789012345679)
	set("Settlement", "A6", "op-3", 1.25, "USD", 123456789012345680)
	set("Settlement", "A7", "Total", 31.75)
	for _, name := range []string{"Notes", "Secret"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetSheetVisible("Secret", false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	r := mustLook(t, path, Options{})
	if r.Problem != "" {
		t.Fatalf("%s\n%s", r.Problem, shownText(t, r))
	}
	text := shownText(t, r)
	for _, want := range []string{
		"workbook (XLSX) with 3 sheets: Settlement, Notes, Secret (hidden)",
		"the sheet Secret is hidden",
		"row 3", "Total ends the records",
		"xlsx: {sheet: Settlement, header_row: 3, ends_before: {first_field: Total}}",
		"total_line.2: 31.75, the sum of amount: ties",
		"3 numbers in trace_no have 15 digits and more that end in zeros: a spreadsheet keeps 15, the rest is lost",
		"operation_id: op_id",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if _, rows, _ := readBack(t, r); len(rows) != 3 || r.Records != 3 {
		t.Errorf("%d records read back, the report says %d, the sheet has 3", len(rows), r.Records)
	}
}
