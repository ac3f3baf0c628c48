package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlBoard       = parseSQL("board")
	sqlBoardCauses = parseSQL("board_causes")
	sqlBoardItems  = parseSQL("board_items")
	sqlBoardRows   = parseSQL("board_rows")
)

// Board is what report.html shows row by row: the exceptions that need work, in the
// order of their money. The rows themselves are on the page, and all of them in
// exceptions.parquet.
type Board struct {
	Showing int64        `json:"showing"` // rows on the page
	Of      int64        `json:"of"`
	Columns []string     `json:"columns"`  // what the page says of a row beside its fields
	Causes  int64        `json:"causes"`   // how many there are; by_cause has the first ones
	ByCause []BoardCause `json:"by_cause"` // of all rows, those with most rows first
}

// BoardCause counts the exceptions with the same verdict and the same differing fields.
type BoardCause struct {
	Class       string  `json:"class"`
	Reason      string  `json:"reason"`
	Differs     string  `json:"differs"` // names of the fields, joined by ;
	Rows        int64   `json:"rows"`
	Showing     int64   `json:"showing"`     // of them on the page
	Amounts     []Money `json:"amounts"`     // the larger amount of both sides; none where it is redacted
	Differences []Money `json:"differences"` // results − operations; none where the amount is redacted
}

// Bounds of the board: rows, bytes of their JSON in the page, of these uncompressed ones,
// rows of each cause that are shown before more of the largest are, and causes.
const (
	boardRows     = 50_000
	boardBytes    = 9 << 19
	boardPlain    = 2 << 20
	boardRaw      = 48 << 20
	boardExamples = 10
	boardCauses   = 200
)

// boardBounds are the bounds that tests make small.
type boardBounds struct {
	rows  int // of the board
	bytes int // in the page
	plain int // up to so many bytes the rows are plain JSON, beyond they are compressed
	raw   int // uncompressed
}

var boardLimits = boardBounds{boardRows, boardBytes, boardPlain, boardRaw}

// boardLimit is how many rows the board may have: none where no page is written.
func boardLimit(in *Input) int {
	if f := in.Bound.Outputs.Formats; len(f) > 0 && !slices.Contains(f, "html") {
		return 0
	}
	return boardLimits.rows
}

// byOperation tells in SQL whether the operation's verdict names an exception (verdictOf).
func byOperation() string {
	return needsWorkExpr("e.o_class", "e.o_reason") + " AND e.r_class IS DISTINCT FROM 'duplicate'"
}

// boardTable renders the statement that makes report_board with at most so many rows.
func boardTable(limit int) string {
	return sqlBoard.Render(duck.Slots{"by_operation": byOperation(), "limit": strconv.Itoa(limit), "examples": strconv.Itoa(boardExamples)})
}

// board chooses the rows of the board and leaves them in report_board_page, ready for
// the page: as many as there may be, or as fit.
func board(ctx context.Context, db *duck.DB, in *Input, red *redactor, of int64) (Board, error) {
	out := Board{Of: of, Columns: []string{}, ByCause: []BoardCause{}}
	limit := boardLimit(in)
	if limit == 0 {
		return out, out.causes(ctx, db, in, red)
	}
	var t *boardRowset
	var err error
	data, rows := "", 0
	for {
		t, err = readBoard(ctx, db, in, red, int(min(of, int64(limit))))
		if err != nil {
			return Board{}, err
		}
		rows = t.rows
		if !t.cut {
			if data, err = t.encode(of); err != nil {
				return Board{}, err
			}
			if len(data) > boardLimits.bytes {
				// The case finds its item: rather more rows than their items.
				t.drop("item_id")
				if data, err = t.encode(of); err != nil {
					return Board{}, err
				}
			}
			if len(data) <= boardLimits.bytes || rows <= sampleExceptions {
				break
			}
			// What is compressed does not shrink evenly: a little less than in proportion.
			rows = min(rows-1, int(int64(rows)*int64(boardLimits.bytes)/int64(len(data))*19/20))
		}
		limit = max(rows, min(sampleExceptions, limit-1), 1)
		if err = db.Exec(ctx, boardTable(limit)); err != nil {
			return Board{}, err
		}
	}
	for _, q := range []string{"DROP TABLE IF EXISTS report_board_rows", "DROP TABLE IF EXISTS report_board_items", "CREATE OR REPLACE TABLE report_board_page (data VARCHAR)"} {
		if err := db.Exec(ctx, q); err != nil {
			return Board{}, err
		}
	}
	if err := db.Exec(ctx, "INSERT INTO report_board_page VALUES (?)", data); err != nil {
		return Board{}, err
	}
	out.Showing = int64(rows)
	for _, c := range boardColumns(in, red) {
		if !slices.Contains(t.dropped, c.name) {
			out.Columns = append(out.Columns, c.name)
		}
	}
	err = out.causes(ctx, db, in, red)
	return out, err
}

// causes fills the counts and sums by cause.
func (b *Board) causes(ctx context.Context, db *duck.DB, in *Input, red *redactor) error {
	slots := duck.Slots{"by_operation": byOperation(), "currency": red.expr("currency", "currency")}
	var last BoardCause
	hidden := red.redacted("amount")
	return each(ctx, db, sqlBoardCauses.Render(slots), func(rows *sql.Rows) error {
		var c BoardCause
		var code string
		var all, n, showing, valued, differing int64
		var amount, difference sql.NullString
		if err := rows.Scan(&c.Class, &c.Reason, &c.Differs, &all, &code, &n, &showing, &valued, &amount, &differing, &difference); err != nil {
			return err
		}
		if b.Causes == 0 || c.Class != last.Class || c.Reason != last.Reason || c.Differs != last.Differs {
			b.Causes++
			last = c
			if b.Causes <= boardCauses {
				c.Rows, c.Amounts, c.Differences = all, []Money{}, []Money{}
				b.ByCause = append(b.ByCause, c)
			}
		}
		if b.Causes > boardCauses {
			return nil
		}
		at := &b.ByCause[len(b.ByCause)-1]
		at.Showing += showing
		for _, m := range []struct {
			to   *[]Money
			text sql.NullString
			n    int64
		}{{&at.Amounts, amount, valued}, {&at.Differences, difference, differing}} {
			if !m.text.Valid || m.n == 0 || hidden {
				continue
			}
			a, err := parseExact(m.text.String)
			if err != nil {
				return err
			}
			*m.to = append(*m.to, Money{Currency: code, Amount: amountText(a, code), Items: m.n})
		}
		return nil
	})
}

// boardPage is the JSON of the board's rows, as Build left it.
func boardPage(ctx context.Context, db *duck.DB) (string, error) {
	var data string
	err := db.Scan(ctx, "SELECT data FROM report_board_page", &data)
	return data, err
}

// boardColumn is a column of the board: its name on the page and its SQL.
type boardColumn struct{ name, sql string }

// boardColumns are the columns beside the product fields. Texts unless boardNumbers has
// them.
func boardColumns(in *Input, red *redactor) []boardColumn {
	text := func(x string) string { return "CAST(" + x + " AS VARCHAR)" }
	item := func(field string) string { return red.expr(field, text("i."+field)) }
	job := in.Bound.Job
	// What the row itself says comes first: the item of a set is shown by another row of it.
	either := func(field string) string {
		list := ""
		for _, side := range rules.Sides {
			if job.Spec(side).Field(field) != nil && !red.dropped(field) {
				list += "w." + duck.Ident(fieldColumn(side, field)) + ", "
			}
		}
		return cutExpr("coalesce(" + list + item(field) + ")")
	}
	asOf := in.Bound.AsOfTime.UnixMicro()
	age := fmt.Sprintf("CASE WHEN u.item_id IS NULL THEN (%d - i.since_us) // 1000000 END", asOf)
	if red.redacted("created_at") || red.redacted("updated_at") {
		age = "CAST(NULL AS BIGINT)" // with the reference time it would be the instant
	}
	return []boardColumn{
		{"place", "b.place"},
		{"age", age},
		{"bucket", "CASE WHEN u.item_id IS NOT NULL THEN 'waiting' WHEN i.since_us IS NULL THEN 'unknown'" + ageCases(asOf, "i.since_us") + " END"},
		{"due", "i.due_us"},
		{"entity", either("entity")}, {"type", either("type")},
		{"currency", cutExpr("w.currency")},
		{"operation_amount", text("w.o_value")}, {"result_amount", text("w.r_value")}, {"difference", text("w.difference")},
		{"class", text("b.class")}, {"reason", text("b.reason")}, {"differs", "w.fields"},
		{"set", "w.set_id"}, {"candidates", "w.candidates"}, {"pass", text("w.pass")},
		{"operation_file", "b.o_rid >> 40"}, {"operation_record", "w.o_record"},
		{"operation_verdict", text("w.o_class || '/' || w.o_reason")},
		{"result_file", "b.r_rid >> 40"}, {"result_record", "w.r_record"},
		{"result_verdict", text("w.r_class || '/' || w.r_reason")},
		{"queue", text("i.queue")}, {"deferred", "CASE WHEN i.deferred THEN 1 END"}, {"observe_only", "CASE WHEN i.observe_only THEN 1 END"},
		{"business_operation", text("i.business_operation")},
		{"because", cutExpr(text("i.because"))}, {"advice", cutExpr(text("i.advice"))}, {"refused", "i.refused"},
		{"version", either("version")}, {"destination", cutExpr(item("destination"))},
		{"risk", text("i.risk")}, {"owner", cutExpr(text("i.owner"))}, {"approvals", "i.approvals"},
		{"case_id", "i.case_id"}, {"item_id", "i.item_id"},
	}
}

// boardOfItem are the columns with values of product fields that may be those of the item,
// whose texts nobody has looked through.
var boardOfItem = map[string]bool{"entity": true, "type": true, "version": true, "destination": true}

// boardNumbers are the columns of whole numbers.
var boardNumbers = map[string]bool{"place": true, "age": true, "due": true, "set": true, "candidates": true, "operation_file": true, "operation_record": true,
	"result_file": true, "result_record": true, "deferred": true, "observe_only": true, "approvals": true}

// fieldNames lists the names of differing fields.
func fieldNames(differs string) []string {
	if differs == "" {
		return nil
	}
	return strings.Split(differs, ";")
}
