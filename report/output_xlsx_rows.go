package report

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// cellKind is how a column of rows is written.
type cellKind int

const (
	cellText    cellKind = iota
	cellCount            // 1,234
	cellNumber           // 1234: of a record
	cellYes              // yes or no
	cellAmount           // a decimal with the minor digits of the row's currency
	cellDecimal          // a decimal as it is
	cellInstant          // an instant as text
	cellDay
)

// rowColumn is a column of a sheet of rows.
type rowColumn struct {
	sheetColumn
	kind cellKind
	sql  string              // expression over the row v
	mask func(string) string // of a text, before people see it; nil none
}

// maskedCell is how many characters of a value are looked through: a number that begins
// among those that are shown has to be whole to be found.
const maskedCell = 2 * maxCell

// cutMasked is cutExpr for a value that is masked afterwards.
func cutMasked(x string) string {
	return fmt.Sprintf("(CASE WHEN length(%[1]s) > %[2]d THEN left(%[1]s, %[2]d) || '… (' || length(%[1]s) || %[3]s ELSE %[1]s END)", x, maskedCell, duck.Literal(cutEnd))
}

// seen is a value of the column as people see it, cut where cutMasked cut it.
func (c rowColumn) seen(v string) string {
	if c.mask == nil {
		return v
	}
	end := strings.LastIndex(v, "… (")
	if end < maskedCell || !strings.HasSuffix(v, cutEnd) || utf8.RuneCountInString(v[:end]) != maskedCell {
		return c.mask(v)
	}
	text := []rune(c.mask(v[:end]))
	return string(text[:min(len(text), maxCell)]) + v[end:]
}

// rowSheet says what rows a sheet shows.
type rowSheet struct {
	columns  []rowColumn // the last column of the sheet, notes, follows them
	currency int         // column with the currency, -1 none
	sums     []int       // amounts that are added up by currency
	whole    string      // where the whole values are, for notes
	record   [2]int      // columns with the operation's and the result's record; the files stand before them; -1 none
	readable int         // of the query: whether the first of sums is readable; -1: all that are decimals
	hidden   []int       // columns that are redacted: a text among them is not explained
}

// rowsDone is what was written.
type rowsDone struct {
	rows     int64
	parts    []sheetSpan
	codes    []string // currencies, in the order of their first row
	sums     map[string][]*sheetSum
	unheld   map[string][]*big.Rat // amounts of more digits than a number has, which are text
	overflow bool                  // more currencies than are added up
}

// maxSumCodes bounds the currencies that a sheet adds up: where a currency is any text,
// they are data.
const maxSumCodes = 50

// rowBatch are the columns of a batch by their types.
type rowBatch struct {
	text  *array.String
	whole *array.Int64
	yes   *array.Boolean
}

// writeRows writes the rows of a query, whose columns are those of the sheet and then
// readable, if there is one.
func (s *sheet) writeRows(ctx context.Context, db *duck.DB, query string, of rowSheet) (*rowsDone, error) {
	done := &rowsDone{sums: map[string][]*sheetSum{}, unheld: map[string][]*big.Rat{}}
	var columns []rowBatch
	err := db.ReadArrow(ctx, query, func(rec arrow.RecordBatch) error {
		columns = columns[:0]
		for i := range int(rec.NumCols()) {
			var c rowBatch
			switch a := rec.Column(i).(type) {
			case *array.String:
				c.text = a
			case *array.Int64:
				c.whole = a
			case *array.Boolean:
				c.yes = a
			default:
				return fail.New(fail.Internal, "column %s of a sheet has the type %s", rec.ColumnName(i), a.DataType())
			}
			columns = append(columns, c)
		}
		for i := range int(rec.NumRows()) {
			s.writeRow(of, columns, i, done)
		}
		if s.b.err != nil {
			return s.b.err
		}
		return ctx.Err()
	})
	s.b.endSheet()
	done.parts = s.parts
	return done, err
}

func (s *sheet) writeRow(of rowSheet, columns []rowBatch, i int, done *rowsDone) {
	done.rows++
	s.begin()
	code := ""
	if of.currency >= 0 && !columns[of.currency].text.IsNull(i) {
		code = columns[of.currency].text.Value(i)
	}
	var note rowNote
	for j, c := range of.columns {
		b := columns[j]
		switch {
		case c.kind == cellCount || c.kind == cellNumber:
			if b.whole.IsNull(i) {
				s.col++
				continue
			}
			s.whole(b.whole.Value(i), styleOf(c.kind))
			continue
		case c.kind == cellYes:
			if b.yes.IsNull(i) {
				s.col++
				continue
			}
			s.text(yesNo(b.yes.Value(i)), styleText)
			continue
		case b.text.IsNull(i):
			s.col++
			continue
		}
		v := c.seen(b.text.Value(i))
		switch c.kind {
		case cellText:
			if s.text(v, styleText) {
				note.cut = append(note.cut, c.name)
			}
		case cellInstant:
			s.instant(v)
		case cellDay:
			s.day(v)
		case cellAmount, cellDecimal:
			s.rowAmount(of, columns, i, j, v, code, &note, done)
		}
	}
	if note.cut != nil || note.texts != nil {
		s.sentence(note.text(of, columns, i), styleText)
	}
	s.end()
}

func styleOf(kind cellKind) int {
	if kind == cellCount {
		return styleCount
	}
	return styleNumber
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// rowAmount writes an amount, and adds it up where the sheet says so.
func (s *sheet) rowAmount(of rowSheet, columns []rowBatch, i, j int, v, code string, note *rowNote, done *rowsDone) {
	place := slices.Index(of.sums, j)
	readable := place != 0 || of.readable < 0 || !columns[of.readable].yes.IsNull(i) && columns[of.readable].yes.Value(i)
	unit := ""
	decimals, _ := exactDecimals(v, 0)
	if of.columns[j].kind == cellAmount {
		unit = code
	}
	switch {
	case slices.Contains(of.hidden, j):
		s.text(v, styleText)
	case !readable || decimals < 0:
		if s.text(v, styleText) {
			note.cut = append(note.cut, of.columns[j].name)
		}
		note.texts = append(note.texts, of.columns[j].name+" is text as found: it cannot be read as an amount")
	case s.amount(v, unit, styleAmount):
		if sum := done.sum(code, place, len(of.sums)); sum != nil {
			sum.add(v, decimals)
		}
	default:
		note.texts = append(note.texts, of.columns[j].name+" is text: it has more than 15 digits")
		if done.sum(code, place, len(of.sums)) != nil {
			r, _ := parseExact(v)
			code = strings.Clone(code) // it is the engine's
			if done.unheld[code] == nil {
				done.unheld[code] = make([]*big.Rat, len(of.sums))
			}
			if at := &done.unheld[code][place]; *at == nil {
				*at = r
			} else {
				(*at).Add(*at, r)
			}
		}
	}
}

// sum is that of a currency; nil where none is made.
func (d *rowsDone) sum(code string, place, n int) *sheetSum {
	if place < 0 {
		return nil
	}
	list, ok := d.sums[code]
	if !ok {
		if len(d.codes) == maxSumCodes {
			d.overflow = true
			return nil
		}
		for range n {
			list = append(list, new(sheetSum))
		}
		code = strings.Clone(code) // it is the engine's
		d.sums[code] = list
		d.codes = append(d.codes, code)
	}
	return list[place]
}

// rowNote is what stands beside a row whose cells do not say all.
type rowNote struct{ cut, texts []string }

// text says where the whole values are.
func (n rowNote) text(of rowSheet, columns []rowBatch, i int) string {
	parts := n.texts
	if n.cut != nil {
		text := "cut: " + strings.Join(n.cut, ", ") + "; whole in " + of.whole
		for k, side := range []string{"operation", "result"} {
			j := of.record[k]
			if j < 1 || columns[j].whole.IsNull(i) || columns[j-1].text.IsNull(i) {
				continue
			}
			text += fmt.Sprintf(", %s %s record %d", side, shown(of.columns[j-1].seen(columns[j-1].text.Value(i))), columns[j].whole.Value(i))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// amountChecks compare what a queue or another sheet shows with amounts of the report.
// shown tells that every row is on the sheet: then nothing else may be missing.
func (d *rowsDone) amountChecks(what, amounts, currencies string, place int, report []Money, shown bool) ([]crossCheck, error) {
	same := map[string]int{}
	for _, m := range report {
		same[strings.ToLower(peopleCell(m.Currency))]++
	}
	var out []crossCheck
	for _, m := range report {
		list, ok := d.sums[m.Currency]
		if !ok && d.overflow || same[strings.ToLower(peopleCell(m.Currency))] > 1 {
			continue // more than are added up, or a spreadsheet would not tell them apart
		}
		sum, decimals, unheld := new(big.Rat), 0, new(big.Rat)
		held := true
		if ok {
			sum, decimals, _ = list[place].value()
			held = list[place].held()
		}
		if r := d.unheld[m.Currency]; r != nil && r[place] != nil {
			unheld = r[place]
		}
		of, err := parseExact(m.Amount)
		if err != nil {
			return nil, err
		}
		decimals = max(decimals, decimalsOf(m.Amount))
		rest := new(big.Rat).Sub(of, sum)
		if shown && rest.Cmp(unheld) != 0 {
			return nil, breach("%s in %s: the rows add up to %s, the report says %s", what, orNone(m.Currency), amountText(new(big.Rat).Add(sum, unheld), m.Currency), m.Amount)
		}
		c := crossCheck{what: what, code: m.Currency, value: m.Amount, decimals: decimals}
		if rest.Sign() != 0 {
			c.rest = rest.FloatString(decimals)
			c.note = "not on the sheet as numbers: rows that are left out, and amounts of more than 15 digits"
		}
		switch {
		case decimals > maxDecimals || !held:
			c.decimals = min(decimals, maxDecimals)
			c.note = tooManyDigits
		default:
			c.formula = sumOfCurrency(d.parts, m.Currency, len(d.codes) == 1 && !d.overflow, amounts, currencies, "")
			if c.formula == nil {
				c.note = noPlainCode
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// selected is the list of the columns of a query.
func selected(columns []rowColumn) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(",\n       ")
		}
		b.WriteString(c.sql + " AS c" + strconv.Itoa(i))
	}
	return b.String()
}

// sheetColumnsOf are the columns of the sheet, with that of the notes.
func sheetColumnsOf(columns []rowColumn) []sheetColumn {
	out := make([]sheetColumn, 0, len(columns)+1)
	for _, c := range columns {
		out = append(out, c.sheetColumn)
	}
	return append(out, sheetColumn{"notes", 60})
}
