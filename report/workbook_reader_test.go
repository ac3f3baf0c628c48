package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thedatashed/xlsxreader"
)

// A library that has no part in writing the workbook reads the same sheets, cells and kinds
// of cells: texts as they are, numbers to their last digit, dates to the second.
func TestWorkbookInAnotherReader(t *testing.T) {
	for name, make := range map[string]func() *world{"a day": func() *world { return newWorld(t).load() }, "hostile": func() *world { return strangeWorld(t) }} {
		t.Run(name, func(t *testing.T) {
			data := make().workbook()
			b := openBook(t, data)
			other, err := xlsxreader.NewReader(data)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(other.Sheets, b.names) {
				t.Fatalf("sheets %q, want %q", other.Sheets, b.names)
			}
			kinds := map[xlsxreader.CellType]int{}
			for _, sheet := range b.names {
				cells := 0
				for row := range other.ReadRows(sheet) {
					if row.Error != nil {
						t.Fatalf("%s: %v", sheet, row.Error)
					}
					for _, c := range row.Cells {
						cells++
						kinds[c.Type]++
						want := b.cell(sheet, c.ColumnIndex(), row.Index)
						if same := c.Type == xlsxreader.TypeDateTime && sameSecond(c.Value, want) ||
							c.Type == xlsxreader.TypeNumerical && c.Value == want && b.number(sheet, c.ColumnIndex(), row.Index) ||
							c.Type == xlsxreader.TypeString && unescaped(c.Value) == want && !b.number(sheet, c.ColumnIndex(), row.Index); !same {
							t.Errorf("%s %s is the %s %q, want %q", sheet, at(t, c.ColumnIndex(), row.Index), c.Type, c.Value, want)
						}
					}
				}
				want := 0
				for _, r := range b.rows[sheet] {
					for _, v := range r {
						if v != "" {
							want++
						}
					}
				}
				if cells != want {
					t.Errorf("%s has %d cells, want %d", sheet, cells, want)
				}
			}
			if kinds[xlsxreader.TypeString] < 300 || kinds[xlsxreader.TypeNumerical] < 100 || kinds[xlsxreader.TypeDateTime] < 15 {
				t.Errorf("kinds of cells: %v", kinds)
			}
		})
	}
}

// unescaped reads the escape of an underscore, which this library leaves to its callers.
func unescaped(text string) string { return strings.ReplaceAll(text, "_x005F_", "_") }

// sameSecond compares a date and time as text with the number of days that it is.
func sameSecond(text, serial string) bool {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	days, errDays := strconv.ParseFloat(serial, 64)
	return err == nil && errDays == nil && math.Abs(at.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Seconds()-days*86400) <= 1.001
}
