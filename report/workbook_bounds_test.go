package report

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

// makeSmall sets a bound for one test.
func makeSmall[T int | int64](t *testing.T, bound *T, n T) {
	was := *bound
	*bound = n
	t.Cleanup(func() { *bound = was })
}

// A sheet that is full goes on on another one, with its names of columns; what belongs
// together stays together, and sums reach over all of them.
func TestWorkbookContinues(t *testing.T) {
	makeSmall(t, &sheetRows, 17)
	w := hostileWorld(t)
	b := openBook(t, w.workbook())
	b.checkFormulas()
	for _, name := range []string{"Statement", "Exceptions", "Exceptions (2)"} {
		if n := len(b.rows[name]); n < headRow+8 || n > 17 {
			t.Errorf("%s has %d rows", name, n)
		}
	}
	if !slices.Equal(b.rows["Exceptions"][headRow-1], b.rows["Exceptions (2)"][headRow-1]) || !strings.HasPrefix(b.cell("Exceptions (2)", 0, 1), "Continues") {
		t.Errorf("the second sheet starts with %q", b.rows["Exceptions (2)"][:headRow])
	}
	all := 0
	for _, name := range b.names {
		if name == "Exceptions" || strings.HasPrefix(name, "Exceptions (") {
			all += b.data(name)
		}
	}
	if want := w.build().Exceptions.Of; int64(all) != want {
		t.Errorf("%d exceptions on all sheets, want %d", all, want)
	}
	// The block of a currency is not torn: each has its eight lines and its own on one sheet.
	for _, name := range b.names {
		if name != "Statement" && !strings.HasPrefix(name, "Statement (") {
			continue
		}
		first, last := b.cell(name, 1, firstData), b.cell(name, 1, len(b.rows[name]))
		if first != "operations as read" || last != "results as read" {
			t.Errorf("%s is from %q to %q", name, first, last)
		}
	}
	found := false
	b.eachFormula(func(sheet, _, formula, _ string) {
		found = found || strings.HasPrefix(sheet, "Checks") && strings.Contains(formula, "'Exceptions'!I3:I17") && strings.Contains(formula, "+SUMIFS('Exceptions (2)'!I3:")
	})
	if !found {
		t.Error("no sum reaches over both sheets")
	}
}

// Of a long queue the first items are shown, the sheet says where the others are, and the
// checks say how much of the report is not on it.
func TestWorkbookBounds(t *testing.T) {
	makeSmall(t, &sheetItems, 3)
	makeSmall(t, &sheetExceptions, 5)
	w := newWorld(t).load()
	s := w.build()
	b := openBook(t, w.workbook())
	b.checkFormulas()
	if b.data("Review") != 3 || !strings.Contains(b.cell("Review", 0, 1), "4 items") || !strings.Contains(b.cell("Review", 0, 1), "first 3; all of them are in queues/review.parquet") {
		t.Errorf("%d items: %q", b.data("Review"), b.cell("Review", 0, 1))
	}
	if b.data("Exceptions") != 5 || !strings.Contains(b.cell("Exceptions", 0, 1), "Shown are the first 5; all of them are in exceptions.parquet") {
		t.Errorf("%d exceptions: %q", b.data("Exceptions"), b.cell("Exceptions", 0, 1))
	}
	ids := b.column("Review", "item id")
	for i, want := range []string{"i-3", "i-5", "i-6"} {
		b.same("Review", ids, firstData+i, want)
	}
	rest := map[string]string{"review: items/": "1", "exceptions: rows/": fmt.Sprint(s.Exceptions.Of - 5)}
	for row := firstData; row <= len(b.rows["Checks"]); row++ {
		key := b.cell("Checks", 0, row) + "/" + b.cell("Checks", 1, row)
		if got := b.cell("Checks", 3, row); got != rest[key] {
			t.Errorf("%s: %q is not on the sheet, want %q", key, got, rest[key])
		}
		delete(rest, key)
	}
	if len(rest) > 0 {
		t.Errorf("the checks do not say %v", rest)
	}
	// Where money is left out, it is said how much: the item past the bound has one.
	makeSmall(t, &sheetItems, 1)
	b = openBook(t, newWorld(t).load().workbook())
	b.checkFormulas()
	left := map[string]string{}
	for row := firstData; row <= len(b.rows["Checks"]); row++ {
		if b.cell("Checks", 0, row) == "review: amounts" {
			left[b.cell("Checks", 1, row)] = b.cell("Checks", 3, row)
		}
	}
	if left["EUR"] != "3" || left["USD"] != "7" {
		t.Errorf("left out are %v", left)
	}
}

// Currencies that a spreadsheet could take for something else, or for each other, are in no
// formula; amounts show the minor digits of their currency.
func TestWorkbookCurrencies(t *testing.T) {
	w := newWorld(t)
	for i, code := range []string{"*", ">0", "eur", "JPY", "JPY", "", "EUR"} {
		n := int64(200 + i)
		amount := map[string]string{"JPY": "1500.00", "": "-2.50"}[code]
		if amount == "" {
			amount = "4.25"
		}
		r := row{rec: n, id: fmt.Sprint("c-", i), remote: fmt.Sprint("ch-c", i), entity: "order", amount: amount, currency: code, created: day, class: "unexpected", reason: "no_operation", pass: -1}
		w.rows[rules.Results] = append(w.rows[rules.Results], r)
	}
	b := openBook(t, w.load().workbook())
	b.checkFormulas()
	formulas := map[string]bool{}
	codes := []string{}
	for row := firstData; row <= len(b.rows["Checks"]); row++ {
		if b.cell("Checks", 0, row) != "exceptions on the sheet: result amounts" {
			continue
		}
		formula, err := b.f.GetCellFormula("Checks", at(t, 4, row))
		if err != nil {
			t.Fatal(err)
		}
		code := b.cell("Checks", 1, row)
		formulas[code] = formula != ""
		codes = append(codes, code)
	}
	if !formulas["USD"] || !formulas["JPY"] || formulas["*"] || formulas[">0"] || formulas[""] || slices.Contains(codes, "eur") || slices.Contains(codes, "EUR") {
		t.Errorf("formulas %v of %q", formulas, codes)
	}
	amount, currency := b.column("Exceptions", "result amount"), b.column("Exceptions", "currency")
	seen := 0
	for row := firstData; row <= len(b.rows["Exceptions"]); row++ {
		switch b.cell("Exceptions", currency, row) {
		case "JPY":
			b.sameAmount("Exceptions", amount, row, "1500", "#,##0")
			seen++
		case "":
			b.sameAmount("Exceptions", amount, row, "-2.5", "#,##0.0")
			seen++
		}
	}
	if seen != 3 {
		t.Errorf("%d amounts were looked at", seen)
	}
}

// The sums of a sheet are exact, and where it is said that a spreadsheet gets the same, its
// binary numbers do, in whatever order.
func TestSheetSum(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		var x sheetSum
		want, size := new(big.Rat), 0
		float, backwards := 0.0, 0.0
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			text := fmt.Sprint(rapid.Int64Range(0, []int64{9, 99_999, 999_999_999, 99_999_999_999}[rapid.IntRange(0, 3).Draw(t, "length")]).Draw(t, "whole"))
			if n := rapid.IntRange(0, 4).Draw(t, "decimals"); n > 0 {
				text += "." + rapid.StringMatching(fmt.Sprintf("[0-9]{%d}", n)).Draw(t, "decimals")
			}
			return rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + text
		}), 1, 60).Draw(t, "amounts")
		for _, text := range list {
			decimals, ok := exactDecimals(text, 0)
			if !ok {
				continue
			}
			x.add(text, decimals)
			r, _ := new(big.Rat).SetString(text)
			want.Add(want, r)
			size = max(size, decimals)
			f, _ := r.Float64()
			float += f
		}
		for _, text := range slices.Backward(list) {
			if _, ok := exactDecimals(text, 0); ok {
				r, _ := new(big.Rat).SetString(text)
				f, _ := r.Float64()
				backwards += f
			}
		}
		sum, decimals, _ := x.value()
		if sum.Cmp(want) != 0 || decimals > size {
			t.Fatalf("%v add up to %s with %d decimals, want %s", list, sum.RatString(), decimals, want.RatString())
		}
		if !x.held() {
			return
		}
		held++
		for _, f := range []float64{float, backwards} {
			if got := fmt.Sprintf("%.*f", size, f); strings.TrimPrefix(got, "-") != strings.TrimPrefix(want.FloatString(size), "-") {
				t.Fatalf("%v: binary numbers add up to %s, want %s", list, got, want.FloatString(size))
			}
		}
	})
	if held < 10 {
		t.Errorf("%d sums were held against binary numbers", held)
	}
	var x sheetSum
	for range 3000 {
		x.add("999999999999999", 0)
		x.add("-0.000000000000001", 15)
	}
	sum, _, _ := x.value()
	if got, want := sum.FloatString(15), "2999999999999996999.999999999997000"; got != want || x.held() {
		t.Errorf("a long sum is %s, want %s", got, want)
	}
}

// Numbers that each are exact, and whose sum a spreadsheet may not get to the last digit,
// are in no formula.
func TestWorkbookInexactSums(t *testing.T) {
	w := newWorld(t)
	for i := range int64(4) {
		w.rows[rules.Results] = append(w.rows[rules.Results], row{rec: 300 + i, remote: fmt.Sprint("ch-l", i), entity: "order", amount: "2222222222222.22", currency: "CHF", created: day,
			class: "unexpected", reason: "no_operation", pass: -1})
	}
	b := openBook(t, w.load().workbook())
	b.checkFormulas()
	numbers := 0
	for row := firstData; row <= len(b.rows["Exceptions"]); row++ {
		if col := b.column("Exceptions", "result amount"); b.cell("Exceptions", col, row) == "2222222222222.22" && b.number("Exceptions", col, row) {
			numbers++
		}
	}
	if numbers != 4 {
		t.Errorf("%d amounts are numbers", numbers)
	}
	looked := 0
	for _, sheet := range []string{"Statement", "Checks"} {
		for row := firstData; row <= len(b.rows[sheet]); row++ {
			r := strings.Join(b.rows[sheet][row-1], "|")
			if !strings.Contains(r, "8888888888888.88") || strings.HasPrefix(r, "accounts: ") { // there it is one number
				continue
			}
			looked++
			if strings.Contains(r, agrees) || sheet == "Checks" && !strings.HasSuffix(r, tooManyDigits) {
				t.Errorf("%s %d: %s", sheet, row, r)
			}
		}
	}
	if looked < 4 {
		t.Errorf("%d rows have the sum", looked)
	}
}

// Rows lie in temporary files beside the workbook, not in memory, and nothing is left of
// them: neither where it is written nor where it is not.
func TestWorkbookTemporaryFiles(t *testing.T) {
	for _, written := range []bool{true, false} {
		dir := t.TempDir()
		var out bytes.Buffer
		x := newBook(&out, dir, time.UTC)
		s := x.sheet("Rows", "note", slices.Repeat([]sheetColumn{{"column", 12}}, 40)...)
		text := strings.Repeat("x", maxCell)
		for range 2500 {
			s.begin()
			for range 40 {
				s.text(text, styleText)
			}
			s.end()
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("%d temporary files hold the rows, %v", len(files), err)
		}
		if written {
			if err := x.close(); err != nil {
				t.Fatal(err)
			}
			b := openBook(t, out.Bytes())
			if b.data("Rows") != 2500 || b.cell("Rows", 39, firstData+2499) != text {
				t.Errorf("%d rows are written", b.data("Rows"))
			}
		}
		if err := x.discard(); err != nil {
			t.Fatal(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("written %t: %d files are left, %v", written, len(files), err)
		}
	}
}
