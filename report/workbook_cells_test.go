package report

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// sameAmount asserts that a cell is the amount: a number with the minor digits of the
// currency.
func (b *readBook) sameAmount(sheet string, col, row int, amount, format string) {
	b.t.Helper()
	got := b.cell(sheet, col, row)
	if amount == "" {
		if got != "" {
			b.t.Errorf("%s %s is %q, want nothing", sheet, at(b.t, col, row), got)
		}
		return
	}
	x, okX := new(big.Rat).SetString(got)
	y, okY := new(big.Rat).SetString(amount)
	if !okX || !okY || x.Cmp(y) != 0 || !b.number(sheet, col, row) {
		b.t.Errorf("%s %s is %q, want the number %s", sheet, at(b.t, col, row), got, amount)
	}
	if f := b.format(sheet, col, row); f != format {
		b.t.Errorf("%s %s has the format %q, want %q", sheet, at(b.t, col, row), f, format)
	}
}

// rawNumber is a decimal text as a number stands in a cell: what zeros it shows is a matter
// of its format.
func rawNumber(t *testing.T, text string) string {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// format is how a number is shown.
func (b *readBook) format(sheet string, col, row int) string {
	b.t.Helper()
	id, err := b.f.GetCellStyle(sheet, at(b.t, col, row))
	if err != nil {
		b.t.Fatal(err)
	}
	style, err := b.f.GetStyle(id)
	if err != nil {
		b.t.Fatal(err)
	}
	if style.CustomNumFmt != nil {
		return *style.CustomNumFmt
	}
	return fmt.Sprint(style.NumFmt)
}

func (b *readBook) same(sheet string, col, row int, want string) {
	b.t.Helper()
	if got := b.cell(sheet, col, row); got != want {
		b.t.Errorf("%s %s is %q, want %q", sheet, at(b.t, col, row), got, want)
	}
}

// sameInstant asserts that a cell is the date and time of an instant as clocks of the zone
// show it.
func (b *readBook) sameInstant(sheet string, col, row int, instant string, zone *time.Location) {
	b.t.Helper()
	got := b.cell(sheet, col, row)
	if instant == "" {
		b.same(sheet, col, row, "")
		return
	}
	want, err := time.Parse(time.RFC3339Nano, instant)
	if err != nil {
		b.t.Fatal(err)
	}
	serial, err := strconv.ParseFloat(got, 64)
	if err != nil {
		b.t.Errorf("%s %s is %q, want a date", sheet, at(b.t, col, row), got)
		return
	}
	days := math.Floor(serial)
	clock := time.Duration(math.Round((serial-days)*86400e3)) * time.Millisecond
	local := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days)).Add(clock)
	const wall = "2006-01-02 15:04:05.000"
	if got, want := local.Format(wall), want.In(zone).Format(wall); got != want {
		b.t.Errorf("%s %s is %s, want %s", sheet, at(b.t, col, row), got, want)
	}
	if f := b.format(sheet, col, row); !strings.HasPrefix(f, `yyyy\-mm\-dd hh:mm:ss`) {
		b.t.Errorf("%s %s has the format %q", sheet, at(b.t, col, row), f)
	}
}

const euro = "#,##0.00"

// Every cell of the statement is what the summary says.
func TestWorkbookStatement(t *testing.T) {
	w := newWorld(t).load()
	s := w.build()
	b := openBook(t, w.workbook())
	row := firstData
	line := func(currency, name, class, reason string, opRows int64, op string, resRows int64, res, diff string, counts bool) {
		b.same("Statement", 0, row, currency)
		b.same("Statement", 1, row, name)
		b.same("Statement", 2, row, class)
		b.same("Statement", 3, row, reason)
		for i, n := range map[int]int64{4: opRows, 6: resRows} {
			if counts || n > 0 {
				b.same("Statement", i, row, fmt.Sprint(n))
			}
		}
		b.sameAmount("Statement", 5, row, op, euro)
		b.sameAmount("Statement", 7, row, res, euro)
		b.sameAmount("Statement", 8, row, diff, euro)
		row++
	}
	for _, st := range s.Statement {
		line(st.Currency, "operations as read", "", "", 0, st.OperationsRead, 0, "", "", false)
		line(st.Currency, "less operations outside the period", "", "", 0, st.OperationsOutside, 0, "", "", false)
		line(st.Currency, "operations in the period", "", "", st.OperationRows, st.Operations, 0, "", "", false)
		for _, l := range st.Lines {
			line(st.Currency, lineName(l.Class, l.Reason), l.Class, l.Reason, l.OperationRows, l.OperationAmount, l.ResultRows, l.ResultAmount, l.Difference, true)
		}
		line(st.Currency, "sum of the lines", "", "", st.OperationRows, st.Operations, st.ResultRows, st.Results, st.Difference, true)
		line(st.Currency, "results in the period", "", "", 0, "", st.ResultRows, st.Results, st.Difference, false)
		line(st.Currency, "plus results outside the period", "", "", 0, "", 0, st.ResultsOutside, "", false)
		line(st.Currency, "results as read", "", "", 0, "", 0, st.ResultsRead, "", false)
	}
	if got := len(b.rows["Statement"]); got != row-1 || row < 20 {
		t.Errorf("the sheet has %d rows, want %d", got, row-1)
	}
	row = firstData
	for _, a := range s.Accounts {
		b.same("Accounts", 0, row, a.Account)
		b.same("Accounts", 3, row, a.Currency)
		b.same("Accounts", 4, row, "statement")
		if a.Day != "" {
			day, err := time.Parse(time.DateOnly, a.Day)
			if err != nil {
				t.Fatal(err)
			}
			b.same("Accounts", 1, row, fmt.Sprint(int(day.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours()/24)))
		}
		format := euro
		if a.Currency == "" { // what was rejected
			format = "#,##0"
		}
		b.sameAmount("Accounts", 8, row, a.Operations, format)
		b.sameAmount("Accounts", 10, row, a.Results, format)
		b.sameAmount("Accounts", 11, row, a.Difference, format)
		b.sameAmount("Accounts", 12, row, a.Shifted, format)
		row++
		for _, l := range a.Lines {
			b.same("Accounts", 4, row, l.Name)
			b.same("Accounts", 5, row, l.Class)
			b.same("Accounts", 6, row, l.Reason)
			b.same("Accounts", 7, row, fmt.Sprint(l.OperationRows))
			b.sameAmount("Accounts", 8, row, l.OperationAmount, euro)
			b.same("Accounts", 9, row, fmt.Sprint(l.ResultRows))
			b.sameAmount("Accounts", 10, row, l.ResultAmount, euro)
			b.sameAmount("Accounts", 11, row, l.Difference, euro)
			row++
		}
	}
	if got := len(b.rows["Accounts"]); got != row-1 || row < 8 {
		t.Errorf("the sheet Accounts has %d rows, want %d", got, row-1)
	}
}

// rowsOf reads columns of a Parquet file of the run as texts.
func (w *world) rowsOf(dir, name, where, order string, columns []string) [][]sql.NullString {
	w.t.Helper()
	var texts []string
	for _, c := range columns {
		texts = append(texts, "CAST("+duck.Ident(c)+" AS VARCHAR)")
	}
	var out [][]sql.NullString
	err := each(w.t.Context(), w.db, "SELECT "+strings.Join(texts, ", ")+" FROM read_parquet("+duck.Literal(filepath.Join(dir, name))+") WHERE "+where+" ORDER BY "+order, func(rows *sql.Rows) error {
		values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		out = append(out, values)
		return rows.Scan(to...)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// parquet writes the rows of the run alone.
func (w *world) parquet() string {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.out, "rows")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := writeParquet(w.t.Context(), &Delivery{DB: w.db, In: w.in, Summary: w.build(), Dir: dir}); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// Every cell of every queue is what the Parquet file of the queue has.
func TestWorkbookItems(t *testing.T) {
	w := newWorld(t).load()
	s := w.build()
	b := openBook(t, w.workbook())
	dir := w.parquet()
	items := 0
	for _, q := range s.Queues {
		sheet := queueSheet(q.Queue)
		columns := columnsForPeople(q.Queue)
		rows := w.rowsOf(dir, "queues/"+q.Queue+".parquet", "true", "item_id", columns)
		if b.data(sheet) != len(rows) || int64(len(rows)) != q.Items {
			t.Errorf("%s has %d rows, the file %d, the report %d", sheet, b.data(sheet), len(rows), q.Items)
		}
		if got := len(b.rows[sheet][headRow-1]); got != len(columns)+1 {
			t.Errorf("%s has %d columns, want %d and the notes", sheet, got, len(columns))
		}
		for i, r := range rows {
			items++
			row := firstData + i
			for j, name := range columns {
				k := slices.IndexFunc(QueueFields, func(f QueueField) bool { return f.Name == name })
				value := r[j].String
				switch QueueFields[k].Kind {
				case kindBool:
					b.same(sheet, j, row, map[string]string{"": "", "true": "yes", "false": "no"}[value])
				case kindInstant:
					b.sameInstant(sheet, j, row, value, w.in.Bound.Zone)
					if head := b.rows[sheet][headRow-1][j]; !strings.HasSuffix(head, "(Europe/Paris)") {
						t.Errorf("the column %q does not say whose time it is", head)
					}
				case kindAmount:
					if value == "1.2345" { // more decimals than the job declares
						b.same(sheet, j, row, value)
						if b.number(sheet, j, row) || !strings.Contains(b.cell(sheet, len(columns), row), "cannot be read as an amount") {
							t.Errorf("the unreadable amount is a number, or nothing says so: %q", b.rows[sheet][row-1])
						}
						continue
					}
					b.sameAmount(sheet, j, row, value, euro)
				default:
					b.same(sheet, j, row, value)
					if whole := QueueFields[k].Kind == kindWhole; value != "" && b.number(sheet, j, row) != whole {
						t.Errorf("%s %s is a number: %t", sheet, at(t, j, row), !whole)
					}
				}
			}
		}
	}
	if items != len(w.item) {
		t.Errorf("%d items, want %d", items, len(w.item))
	}
}

// Every cell of the exceptions is what exceptions.parquet has.
func TestWorkbookExceptions(t *testing.T) {
	w := newWorld(t)
	w.rows[rules.Operations][5].created = w.rows[rules.Operations][5].created.Add(1234 * time.Millisecond)
	w.load()
	s := w.build()
	b := openBook(t, w.workbook())
	columns := []string{"o_class", "o_reason", "r_class", "r_reason", "fields", "currency", "o_value", "r_value", "difference",
		"o_file", "o_record", "r_file", "r_record", "pass", "set_id", "candidates", "link"}
	fixed := len(columns)
	var kinds []rules.FieldType
	heads := b.rows["Exceptions"][headRow-1]
	for _, side := range rules.Sides {
		for _, f := range w.in.Bound.Spec(side).Fields {
			columns = append(columns, fieldColumn(side, f.Name))
			kinds = append(kinds, f.Type)
		}
	}
	place := make([]int, len(columns))
	for i := range columns {
		place[i] = i + 2 // after class and reason of the row that needs work
		if i >= fixed {
			side, field, _ := strings.Cut(columns[i], "_")
			name := map[string]string{"o": "operations ", "r": "results "}[side] + field
			if kinds[i-fixed] == rules.Timestamp {
				name += " (Europe/Paris)"
			}
			place[i] = slices.Index(heads, name)
		}
	}
	rows := w.rowsOf(w.parquet(), "exceptions.parquet", "in_period AND (o_class NOT IN ('correct', 'not_due', 'not_applicable') OR r_class NOT IN ('correct', 'not_due', 'not_applicable'))",
		"file_row_number", columns)
	if b.data("Exceptions") != len(rows) || int64(len(rows)) != s.Exceptions.Of || len(rows) < 7 {
		t.Fatalf("%d rows, the file has %d, the report %d", b.data("Exceptions"), len(rows), s.Exceptions.Of)
	}
	classes := map[string]bool{}
	for i, r := range rows {
		row := firstData + i
		classes[b.cell("Exceptions", 0, row)+"/"+b.cell("Exceptions", 1, row)] = true
		for j, v := range r {
			kind := rules.Text
			if j >= fixed {
				kind = kinds[j-fixed]
			}
			switch name := columns[j]; {
			case name == "o_amount" && v.String == "1.2345":
				b.sameAmount("Exceptions", place[j], row, v.String, "#,##0.0000")
			case kind == rules.Decimal, strings.HasSuffix(name, "_value"), name == "difference":
				b.sameAmount("Exceptions", place[j], row, v.String, euro)
			case kind == rules.Timestamp:
				b.sameInstant("Exceptions", place[j], row, v.String, w.in.Bound.Zone)
			default:
				b.same("Exceptions", place[j], row, v.String)
			}
		}
	}
	for _, c := range []string{"divergent/field_differs", "absent/no_result", "duplicate/surplus_effect", "unexpected/no_operation", "ambiguous/several_candidates"} {
		if !classes[c] {
			t.Errorf("no row is %s: %v", c, classes)
		}
	}
}

// A number has 15 digits at most; a longer amount is text, says so, and is in no formula.
func TestWorkbookLongAmounts(t *testing.T) {
	b := openBook(t, longWorld(t).workbook())
	b.checkFormulas()
	for row := firstData; row <= len(b.rows["Statement"]); row++ {
		if b.cell("Statement", 1, row) != "operations in the period" {
			continue
		}
		switch b.cell("Statement", 0, row) {
		case "EUR":
			b.sameAmount("Statement", 5, row, "70", euro)
			b.same("Statement", 9, row, agrees)
		case "USD":
			b.same("Statement", 5, row, "12345678901234567.89")
			b.same("Statement", 9, row, "")
			if b.number("Statement", 5, row) || !strings.Contains(b.cell("Statement", 10, row), "more digits") {
				t.Errorf("row %q", b.rows["Statement"][row-1])
			}
		}
	}
	row := b.rows["Requeue"][firstData-1]
	if col := b.column("Requeue", "amount"); row[col] != "12345678901234567.89" || b.number("Requeue", col, firstData) || row[len(row)-1] != "amount is text: it has more than 15 digits" {
		t.Errorf("row %q", row)
	}
	found := false
	for row := firstData; row <= len(b.rows["Checks"]); row++ {
		if b.cell("Checks", 0, row) == "requeue: amounts" {
			found = true
			b.same("Checks", 2, row, "12345678901234567.89")
			b.same("Checks", 4, row, "")
		}
	}
	if !found {
		t.Error("no line of the checks is about the amount")
	}
}

// What exactDecimals takes for a number survives the way through a binary double and the
// 15 digits of a spreadsheet.
func TestExactDecimals(t *testing.T) {
	for _, c := range []struct {
		text     string
		minor    int
		decimals int
		ok       bool
	}{
		{"12.50", 2, 2, true}, {"12.5", 2, 2, true}, {"1200.00", 0, 0, true}, {"-0.125", 2, 3, true}, {"7", 3, 3, true}, {"0.00", 2, 2, true},
		{"9999999999999.99", 2, 2, true}, {"99999999999999.99", 2, 2, false}, {"999999999999999", 0, 0, true}, {"1000000000000000", 0, 0, false},
		{"0.000000000000001", 0, 15, true}, {"0.0000000000000001", 0, 16, false}, {"12.500000000000000000", 2, 2, true}, {"0000000000000000000001", 0, 0, true},
		{"", 0, -1, false}, {"-", 0, -1, false}, {".5", 0, -1, false}, {"5.", 0, -1, false}, {"+5", 0, -1, false}, {"1e5", 0, -1, false}, {"1.2.3", 0, -1, false}, {"1,5", 0, -1, false}, {"=1", 0, -1, false},
	} {
		if decimals, ok := exactDecimals(c.text, c.minor); decimals != c.decimals || ok != c.ok {
			t.Errorf("%q has %d decimals, %t; want %d, %t", c.text, decimals, ok, c.decimals, c.ok)
		}
	}
}

// Times are those of the zone, also where it shifts its clock; what a spreadsheet has no
// date for stays text.
func TestWorkbookTimes(t *testing.T) {
	paris := zone(t, "Europe/Paris")
	var buf strings.Builder
	x := newBook(&buf, t.TempDir(), paris)
	s := x.sheet("Times", "note", sheetColumn{"instant", 20}, sheetColumn{"day", 12})
	times := []string{"2026-08-20T05:00:00Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-10-25T00:30:00Z", "2026-12-31T23:30:00.25Z", "1900-03-01T00:00:00Z", "9999-12-31T22:00:00Z",
		"1900-02-28T12:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:30:00Z", "not a time"}
	for _, v := range times {
		s.begin()
		s.instant(v)
		s.day(v[:min(len(v), 10)])
		s.end()
	}
	if err := errors.Join(x.close(), x.discard()); err != nil {
		t.Fatal(err)
	}
	b := openBook(t, []byte(buf.String()))
	for i, v := range times {
		if i < 7 {
			b.sameInstant("Times", 0, firstData+i, v, paris)
			continue
		}
		b.same("Times", 0, firstData+i, v)
	}
	b.same("Times", 1, firstData, "46254")
	b.same("Times", 1, firstData+8, "0001-01-01")
	if shown, err := b.f.GetCellValue("Times", "A3"); err != nil || shown != "2026-08-20 07:00:00" {
		t.Errorf("the instant is shown as %q, %v", shown, err)
	}
	if shown, err := b.f.GetCellValue("Times", "B3"); err != nil || shown != "2026-08-20" {
		t.Errorf("the day is shown as %q, %v", shown, err)
	}
}
