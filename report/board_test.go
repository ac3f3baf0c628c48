package report

import (
	"compress/flate"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

// withBoard sets the bounds of the board for a test.
func withBoard(t *testing.T, b boardBounds) {
	old := boardLimits
	t.Cleanup(func() { boardLimits = old })
	boardLimits = b
}

// troubled is a day with 30 large divergences, 15 small absences and 12 tiny duplicates of
// another currency beside those of newWorld.
func troubled(t *testing.T) *world {
	w := newWorld(t)
	for i := range int64(30) {
		o := row{rec: 100 + i, id: fmt.Sprint("big-", i), key: fmt.Sprint("kb-", i), entity: fmt.Sprint("order-b", i), amount: fmt.Sprintf("%d.00", 5000+i), currency: "EUR", created: day,
			class: "divergent", reason: "field_differs", link: uint64(100 + i), fields: "amount"}
		r := o
		r.remote, r.amount = fmt.Sprint("ch-b", i), fmt.Sprintf("%d.50", 5000+i)
		w.rows[rules.Operations], w.rows[rules.Results] = append(w.rows[rules.Operations], o), append(w.rows[rules.Results], r)
		w.link = append(w.link, [5]any{100 + i, 100 + i, 0, true, 100 + i})
	}
	for i := range int64(15) {
		w.rows[rules.Operations] = append(w.rows[rules.Operations], row{rec: 200 + i, id: fmt.Sprint("gone-", i), key: fmt.Sprint("kg-", i), entity: "order-g", amount: fmt.Sprintf("%d.00", 10+i), currency: "EUR", created: day, class: "absent", reason: "no_operation_like_it", pass: -1})
	}
	return w
}

// shownRows lists what report_board has: class and size, in the order of the places.
func shownRows(t *testing.T, w *world) (out []string) {
	t.Helper()
	err := each(t.Context(), w.db, "SELECT class || ' ' || CAST(greatest(coalesce(abs(o_value), 0), coalesce(abs(r_value), 0)) AS VARCHAR) FROM report_board ORDER BY place", func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Of more rows than there may be the largest are shown, the largest of each cause, and
// the true totals.
func TestBoardShowsTheWorstAndExamples(t *testing.T) {
	withBoard(t, boardBounds{rows: 40, bytes: boardBytes, plain: boardPlain, raw: boardRaw})
	w := troubled(t).load()
	s := w.build()
	if s.Board.Of != s.Exceptions.Of || s.Board.Of != 53 || s.Board.Showing != 40 {
		t.Fatalf("%d of %d are shown, %d exceptions", s.Board.Showing, s.Board.Of, s.Exceptions.Of)
	}
	var rows, showing int64
	for _, c := range s.Board.ByCause {
		rows += c.Rows
		showing += c.Showing
		// A cause with few rows is there as a whole, one with more by its largest.
		if c.Showing < min(c.Rows, boardExamples) {
			t.Errorf("%s/%s %s: %d of %d rows are shown", c.Class, c.Reason, c.Differs, c.Showing, c.Rows)
		}
	}
	if rows != 53 || showing != 40 || s.Board.Causes != int64(len(s.Board.ByCause)) {
		t.Errorf("by cause: %d rows, %d shown, %d causes", rows, showing, s.Board.Causes)
	}
	got := shownRows(t, w)
	for i := range 18 {
		if !slices.Contains(got, fmt.Sprintf("divergent %d.50", 5029-i)) {
			t.Errorf("the divergence of %d.50 is missing: %q", 5029-i, got)
		}
	}
	first := s.Board.ByCause[0]
	if first.Class != "divergent" || first.Rows != 31 || first.Amounts[0].Amount != amountText(big.NewRat(2*(30*5000+435)+30+2*12+1, 2), "EUR") || first.Differences[0].Amount != "15.50" {
		t.Errorf("the first cause is %+v", first)
	}
}

// The rows fit the page: fewer are shown where they do not, and never more bytes than may be.
func TestBoardFitsThePage(t *testing.T) {
	w := troubled(t).load()
	whole := w.build()
	if whole.Board.Showing != 53 {
		t.Fatalf("%d rows are shown", whole.Board.Showing)
	}
	plain, err := boardPage(t.Context(), w.db)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]boardBounds{
		"compressed": {rows: 100, bytes: boardBytes, plain: 1, raw: boardRaw},
		"raw":        {rows: 100, bytes: boardBytes, plain: 1, raw: 6000},
	} {
		t.Run(name, func(t *testing.T) {
			withBoard(t, b)
			s := w.build()
			data, err := boardPage(t.Context(), w.db)
			if err != nil {
				t.Fatal(err)
			}
			if name == "compressed" && (inflate(t, data) != plain || s.Board.Showing != 53) {
				t.Error("what is compressed is something else")
			}
			if name == "raw" && (s.Board.Showing >= 53 || s.Board.Showing == 0) {
				t.Errorf("%d rows are shown", s.Board.Showing)
			}
			var head struct{ Rows, Of int64 }
			if err := json.Unmarshal([]byte(inflate(t, data)), &head); err != nil || head.Rows != s.Board.Showing || head.Of != 53 || int64(len(shownRows(t, w))) != head.Rows {
				t.Errorf("the page has %d of %d rows, the summary says %d: %v", head.Rows, head.Of, s.Board.Showing, err)
			}
			if s.Board.Of != 53 || s.Board.ByCause[0].Rows != 31 {
				t.Errorf("the totals are %d, %d", s.Board.Of, s.Board.ByCause[0].Rows)
			}
		})
	}
}

// Where the bytes do not suffice for all rows, no fewer than the plain table has are shown.
func TestBoardKeepsWithinItsBytes(t *testing.T) {
	withBoard(t, boardBounds{rows: 1000, bytes: 60_000, plain: boardPlain, raw: boardRaw})
	w := newWorld(t)
	for i := range int64(400) {
		w.rows[rules.Operations] = append(w.rows[rules.Operations], row{rec: 1000 + i, id: fmt.Sprint("gone-", i), key: fmt.Sprint("kg-", i), entity: fmt.Sprint("order-", i), amount: fmt.Sprintf("%d.00", 10+i), currency: "EUR", created: day, class: "absent", reason: "no_result", pass: -1})
	}
	w.load()
	s := w.build()
	data, err := boardPage(t.Context(), w.db)
	if err != nil {
		t.Fatal(err)
	}
	if s.Board.Showing >= s.Board.Of || s.Board.Showing < sampleExceptions || len(data) > 60_000 && s.Board.Showing > sampleExceptions {
		t.Errorf("%d bytes for %d of %d rows", len(data), s.Board.Showing, s.Board.Of)
	}
}

func inflate(t *testing.T, data string) string {
	t.Helper()
	var packed struct{ Deflate string }
	if err := json.Unmarshal([]byte(data), &packed); err != nil {
		t.Fatal(err)
	}
	if packed.Deflate == "" {
		return data
	}
	out, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed.Deflate))))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Declared personal fields are hidden on the board, and so is what would tell them.
func TestBoardRedacts(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Redact = rules.Redact{Fields: map[string]string{"email": "token", "amount": "mask", "operation_id": "drop", "entity": "mask", "created_at": "drop"}}
	w.load()
	s := w.build()
	data, err := boardPage(t.Context(), w.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"grace.hopper", "12.50", "99.90", `"op-5"`, "order-5", "2026-08-20T05"} {
		if strings.Contains(data, raw) {
			t.Errorf("the board shows %s", raw)
		}
	}
	if !strings.Contains(data, `"tok_`) || !strings.Contains(data, `"explain_by":["remote_id"]`) {
		t.Errorf("the board has no token, or explains by what is hidden: %.600s", data)
	}
	var page struct {
		Columns map[string]struct{ N []*int64 }
	}
	if err := json.Unmarshal([]byte(data), &page); err != nil {
		t.Fatal(err)
	}
	if age := page.Columns["age"].N; len(age) != int(s.Board.Showing) || slices.ContainsFunc(age, func(n *int64) bool { return n != nil }) {
		t.Error("the age tells an instant that is hidden")
	}
	for _, c := range s.Board.ByCause {
		if len(c.Amounts)+len(c.Differences) > 0 {
			t.Errorf("%s/%s tells amounts: %+v", c.Class, c.Reason, c)
		}
	}
}

// What is to be done about a row is what its item says: that of its set, of the pair, of
// the operation, of the result.
func TestBoardItems(t *testing.T) {
	w := newWorld(t).load()
	w.exec("UPDATE items SET set_id = 1 WHERE item_id = 'i-5'")
	s := w.build()
	data, err := boardPage(t.Context(), w.db)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Rows    int
		Columns map[string]struct {
			N []*int64
			D []string
			I []int
			V []any
		}
	}
	if err := json.Unmarshal([]byte(data), &page); err != nil {
		t.Fatal(err)
	}
	text := func(name string, row int) string {
		c := page.Columns[name]
		if c.I != nil {
			if c.I[row] < 0 {
				return ""
			}
			return c.D[c.I[row]]
		}
		s, _ := c.V[row].(string)
		return s
	}
	number := func(name string, row int) string {
		if n := page.Columns[name].N[row]; n != nil {
			return fmt.Sprint(*n)
		}
		return "-"
	}
	got := map[string]string{}
	for row := range page.Rows {
		got[number("operation_record", row)+"/"+number("result_record", row)] = text("item_id", row) + " " + text("case_id", row) + " " + text("queue", row)
	}
	want := map[string]string{"6/-": "i-2 case-i-2 requeue", "5/5": "i-3 case-i-3 review", "7/6": "i-4 case-i-4 compensate", "7/7": "i-4 case-i-4 compensate",
		"8/-": "i-5 case-i-5 review", "-/9": "i-5 case-i-5 review", "-/8": "i-6 case-i-6 review", "10/12": "i-7 case-i-7 review"}
	for at, w := range want {
		if got[at] != w {
			t.Errorf("row %s has %q, want %q", at, got[at], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows: %q", len(got), got)
	}
	// The sample that is readable without a script says the same.
	for _, e := range s.Exceptions.Items {
		at := fmt.Sprintf("%s/%s", recordOf(e.Operation), recordOf(e.Result))
		if e.Action == nil || !strings.HasPrefix(want[at], e.Action.ItemID+" ") || !strings.HasSuffix(want[at], " "+e.Action.Queue) || e.Action.Since == "" {
			t.Errorf("the row %s of the sample has %+v, want %q", at, e.Action, want[at])
		}
	}
	if len(s.Exceptions.Items) != len(want) {
		t.Errorf("%d rows in the sample", len(s.Exceptions.Items))
	}
}

func recordOf(r *RowRef) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprint(r.Record)
}

// Amounts of the board are those of the summary.
func TestBoardAmounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.IntRange(0, 18).Draw(t, "scale")
		code := rapid.SampledFrom([]string{"EUR", "JPY", "KWD", "", "tok_12"}).Draw(t, "currency")
		digits := fmt.Sprintf("%0*d", scale+1, rapid.Int64Range(0, 1<<60).Draw(t, "digits"))
		text := digits[:len(digits)-scale]
		if scale > 0 {
			text += "." + digits[len(digits)-scale:]
		}
		if rapid.Bool().Draw(t, "negative") && strings.Trim(text, "0.") != "" {
			text = "-" + text
		}
		exact, err := parseExact(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := boardAmount(text, code), amountText(exact, code); got != want {
			t.Errorf("%s %s is %s, want %s", text, code, got, want)
		}
	})
}

// TestNoBoardWithoutPage: rows are ranked for the page alone; the causes are counted anyway.
func TestNoBoardWithoutPage(t *testing.T) {
	with := newWorld(t).load().build().Board
	w := newWorld(t)
	w.in.Bound.Outputs.Formats = []string{"parquet", "json"}
	b := w.load().build().Board
	if b.Showing != 0 || b.Of != with.Of || b.Causes != with.Causes || len(b.ByCause) != len(with.ByCause) || len(b.Columns) != 0 {
		t.Errorf("without a page the board is %+v, with one %+v", b, with)
	}
	for i, c := range b.ByCause {
		if c.Showing != 0 || c.Rows != with.ByCause[i].Rows {
			t.Errorf("cause %d: %+v, with a page %+v", i, c, with.ByCause[i])
		}
	}
}
