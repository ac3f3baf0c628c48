package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlSheetItems      = parseSQL("sheet_items")
	sqlSheetItemsLast  = parseSQL("sheet_items_last")
	sqlSheetExceptions = parseSQL("sheet_exceptions")
)

// queueSheet names the sheet of a queue.
func queueSheet(queue string) string { return strings.ToUpper(queue[:1]) + queue[1:] }

// items writes the items of one queue. A queue that is withheld is not shown: nobody is to
// act on a sheet either.
func (x *workbook) items(ctx context.Context, q Queue) error {
	of, names := x.itemColumns(q.Queue)
	limit := sheetItems
	if q.Queue == "confirm" {
		limit = sheetConfirms
	}
	if !q.Written {
		s := x.sheet(queueSheet(q.Queue), "This queue is withheld, and its items are not shown: nobody is to act on them. The sheet Summary says why.", sheetColumnsOf(of.columns)...)
		s.b.endSheet()
		return nil
	}
	note := fmt.Sprintf("The %s queue: %s, in the order of their ids.", q.Queue, count(q.Items, "item"))
	view, where := "report_items", "queue = "+duck.Literal(q.Queue)
	if q.Queue == "confirm" {
		view, where = "report_items_confirm", "TRUE"
	}
	if q.Items == 0 {
		where = "FALSE"
	}
	if q.Items > limit {
		var last sql.NullString
		if err := x.d.DB.Scan(ctx, sqlSheetItemsLast.Render(duck.Slots{"queue": duck.Literal(q.Queue), "limit": fmt.Sprint(limit)}), &last); err != nil {
			return err
		}
		where += " AND item_id <= " + duck.Literal(last.String)
		note += fmt.Sprintf(" Shown are the first %s; all of them are in queues/%s.parquet, in the same order.", grouped(fmt.Sprint(limit)), q.Queue)
	}
	readable, join := "TRUE", ""
	if _, fixed := amountScale(x.d.In.Bound.Job); fixed && of.readable >= 0 {
		readable, join = "i.value IS NOT NULL", "LEFT JOIN items i ON i.item_id = v.item_id"
	}
	query := sqlSheetItems.Render(duck.Slots{"columns": selected(of.columns), "readable": readable, "join": join, "view": view, "where": where})
	s := x.sheet(queueSheet(q.Queue), note, sheetColumnsOf(of.columns)...)
	done, err := s.writeRows(ctx, x.d.DB, query, of)
	if err != nil {
		return err
	}
	if want := min(q.Items, limit); done.rows != want {
		return breach("the sheet of the %s queue has %d items, and should have %d", q.Queue, done.rows, want)
	}
	if done.rows == 0 {
		return nil
	}
	all, left := done.rows == q.Items, ""
	if !all {
		left = "the sheet shows the first ones"
	}
	x.checks = append(x.checks, countCheck(q.Queue+": items", q.Items, done.rows, done.parts, columnName(slices.Index(names, "item_id")), left))
	if len(of.hidden) > 0 || len(of.sums) == 0 {
		return nil
	}
	list, err := done.amountChecks(q.Queue+": amounts", columnName(of.sums[0]), columnName(of.currency), 0, q.Amounts, all)
	x.checks = append(x.checks, list...)
	return err
}

// itemNames are the fields whose names say little to people.
var itemNames = map[string]string{
	"fields": "differs", "o_source": "operation source", "o_file": "operation file", "o_record": "operation record",
	"r_source": "result source", "r_file": "result file", "r_record": "result record", "set_id": "set",
}

// itemWidths are the widths of the columns, in characters.
var itemWidths = map[string]int{"because": 40, "risk": 30, "advice": 40, "refused": 24, "closes_when": 40, "item_id": 34, "case_id": 34,
	"operation_id": 24, "remote_id": 24, "keep_remote_id": 24, "o_file": 26, "r_file": 26, "amount": 16, "currency": 9, "class": 14, "reason": 28}

// itemColumns are the columns of a queue as people have them (see columnsForPeople), and
// the fields in their order.
func (x *workbook) itemColumns(queue string) (rowSheet, []string) {
	names := columnsForPeople(queue)
	place := func(name string) int { return slices.Index(names, name) }
	of := rowSheet{currency: place("currency"), whole: "queues/" + queue + ".parquet", readable: len(names), record: [2]int{place("o_record"), place("r_record")}}
	masks := peopleItems(x.d.In.Bound.Job, names)
	for i, name := range names {
		k := slices.IndexFunc(QueueFields, func(f QueueField) bool { return f.Name == name })
		c := rowColumn{sheetColumn: sheetColumn{itemNames[name], 14}, sql: "CAST(v." + duck.Ident(name) + " AS VARCHAR)", mask: masks[i]}
		if c.name == "" {
			c.name = strings.ReplaceAll(name, "_", " ")
		}
		if w := itemWidths[name]; w > 0 {
			c.width = w
		}
		switch QueueFields[k].Kind {
		case kindWhole:
			c.kind, c.sql = cellCount, "CAST(v."+duck.Ident(name)+" AS BIGINT)"
			if strings.HasSuffix(name, "_record") || name == "set_id" {
				c.kind = cellNumber
			}
		case kindBool:
			c.kind, c.sql = cellYes, "v."+duck.Ident(name)
		case kindInstant:
			c.kind, c.name, c.width = cellInstant, x.local(c.name), 20
		case kindAmount:
			c.kind, of.sums = cellAmount, []int{i}
			if job := x.d.In.Bound.Job; hidesMoney(job) || !hasAmount(job, rules.Operations) && !hasAmount(job, rules.Results) {
				of.hidden = append(of.hidden, i)
			}
		default:
			switch {
			case name == "currency": // it says which amounts belong together
			case c.mask != nil:
				c.sql = cutMasked(c.sql)
			default:
				c.sql = cutExpr(c.sql)
			}
		}
		of.columns = append(of.columns, c)
	}
	return of, names
}

// exceptions writes the exceptions that need work.
func (x *workbook) exceptions(ctx context.Context) error {
	of := x.exceptionColumns()
	all := x.s.Exceptions.Of
	note := fmt.Sprintf("What needs work in the period: %s, in the order of exceptions.parquet. Fields stand as both sides have them.", count(all, "exception"))
	if all > int64(sheetExceptions) {
		note += fmt.Sprintf(" Shown are the first %s; all of them are in exceptions.parquet.", grouped(fmt.Sprint(sheetExceptions)))
	}
	s := x.sheet("Exceptions", note, sheetColumnsOf(of.columns)...)
	done, err := s.writeRows(ctx, x.d.DB, sqlSheetExceptions.Render(duck.Slots{"columns": selected(of.columns)}), of)
	if err != nil {
		return err
	}
	if want := min(all, int64(sheetExceptions)); done.rows != want {
		return breach("the sheet of exceptions has %d rows, and should have %d", done.rows, want)
	}
	if done.rows == 0 {
		return nil
	}
	left := ""
	if done.rows < all {
		left = "the sheet shows the first ones"
	}
	x.checks = append(x.checks, countCheck("exceptions: rows", all, done.rows, done.parts, columnName(0), left))
	if len(of.hidden) > 0 {
		return nil
	}
	for i, name := range []string{"operation amounts", "result amounts", "differences"} {
		var sums []Money
		for _, code := range done.codes {
			v, _, _ := done.sums[code][i].value()
			if r := done.unheld[code]; r != nil && r[i] != nil {
				v.Add(v, r[i])
			}
			sums = append(sums, Money{Currency: code, Amount: amountText(v, code)})
		}
		slices.SortFunc(sums, func(a, b Money) int { return strings.Compare(a.Currency, b.Currency) })
		list, err := done.amountChecks("exceptions on the sheet: "+name, columnName(of.sums[i]), columnName(of.currency), i, sums, true)
		if err != nil {
			return err
		}
		x.checks = append(x.checks, list...)
	}
	return nil
}

// sheetFields bounds the fields of the job on the sheet of exceptions: a sheet has 16,384
// columns.
const sheetFields = 4000

func (x *workbook) exceptionColumns() rowSheet {
	job := x.d.In.Bound.Job
	needs := needsWorkExpr("v.o_class", "v.o_reason")
	ofOperation := "v.o_class IS NOT NULL AND (v.r_class IS NULL OR " + needs + " AND v.r_class <> 'duplicate')"
	text := func(name, column string, width int) rowColumn {
		return rowColumn{sheetColumn: sheetColumn{name, width}, sql: "CAST(" + column + " AS VARCHAR)"}
	}
	whole := func(name, column string) rowColumn {
		return rowColumn{sheetColumn: sheetColumn{name, 11}, kind: cellNumber, sql: "CAST(" + column + " AS BIGINT)"}
	}
	amount := func(name, column string) rowColumn {
		c := text(name, column, 16)
		c.kind = cellAmount
		return c
	}
	of := rowSheet{whole: "exceptions.parquet", readable: -1, currency: 7, sums: []int{8, 9, 10}, record: [2]int{12, 14}}
	of.columns = []rowColumn{
		text("class", "CASE WHEN "+ofOperation+" THEN v.o_class ELSE v.r_class END", 14), text("reason", "CASE WHEN "+ofOperation+" THEN v.o_reason ELSE v.r_reason END", 28),
		text("operation class", "v.o_class", 17), text("operation reason", "v.o_reason", 28), text("result class", "v.r_class", 14), text("result reason", "v.r_reason", 28),
		text("differs", "v.fields", 16), text("currency", "v.currency", 9),
		amount("operation amount", "v.o_value"), amount("result amount", "v.r_value"), amount("difference", "v.difference"),
		text("operation file", "v.o_file", 26), whole("operation record", "v.o_record"), text("result file", "v.r_file", 26), whole("result record", "v.r_record"),
		text("pass", "v.pass", 18), whole("set", "v.set_id"), whole("candidates", "v.candidates"), text("link", "v.link", 21),
	}
	red := &redactor{fields: job.Redact.Fields, free: newFreeText(job)}
	if hidesMoney(job) {
		of.hidden = append(of.hidden, of.sums...)
	}
	if red.looks("") { // values of fields are masked by the view
		for _, i := range of.record {
			of.columns[i-1].mask = scan.Text
		}
	}
	for _, p := range fieldPairs(job, red) {
		for _, side := range []struct {
			side   rules.Side
			column string
		}{{rules.Operations, p.o}, {rules.Results, p.r}} {
			if side.column == "" || len(of.columns) >= sheetFields {
				continue
			}
			c := text(string(side.side)+" "+p.name, "v."+duck.Ident(side.column), 20)
			switch f := job.Spec(side.side).Field(p.name); {
			case red.redacted(p.name):
			case f.Type == rules.Decimal && p.name == "amount":
				c.kind, c.width = cellAmount, 16
			case f.Type == rules.Decimal:
				c.kind, c.width = cellDecimal, 16
			case f.Type == rules.Timestamp:
				c.kind, c.name = cellInstant, x.local(c.name)
			case f.Type == rules.Date:
				c.kind, c.width = cellDay, 12
			}
			c.sql = cutExpr(c.sql)
			of.columns = append(of.columns, c)
		}
	}
	return of
}
