package report

import (
	"strconv"
	"strings"
)

// statement writes how each currency gets from the operations to the results, with sums
// that the spreadsheet makes, and a check beside each step.
func (x *workbook) statement() {
	const opRows, op, resRows, res, diff = 4, 5, 6, 7, 8
	s := x.sheet("Statement", "From the operations to the results of each currency through named lines; difference is results - operations. Sums and checks are formulas over the cells.",
		sheetColumn{"currency", 9}, sheetColumn{"line", 30}, sheetColumn{"class", 15}, sheetColumn{"reason", 28}, sheetColumn{"operations", 13}, sheetColumn{"operations amount", 20},
		sheetColumn{"results", 13}, sheetColumn{"results amount", 20}, sheetColumn{"difference", 18}, sheetColumn{checkColumn, 10}, sheetColumn{"notes", 50})
	for _, t := range x.s.Statement {
		s.room(len(t.Lines) + 8)
		d := decimalsOf(t.Operations)
		ops, results, diffs := []string{t.OperationsRead, t.OperationsOutside}, []string{t.ResultsRead, t.ResultsOutside}, []string{t.Operations, t.Results}
		for _, l := range t.Lines {
			ops, results, diffs = append(ops, l.OperationAmount), append(results, l.ResultAmount), append(diffs, l.Difference)
		}
		// Texts are in no sum of a spreadsheet: one of them, and there are no formulas.
		money := t.Operations != "" && d <= maxDecimals && heldSum(ops...) && heldSum(results...) && heldSum(diffs...)
		note := ""
		if t.Operations != "" && !money {
			note = "no formulas over the amounts of " + orNone(shown(t.Currency)) + ": they have more digits than a spreadsheet adds up exactly"
		}
		start := func(line, class, reason string) {
			s.begin()
			s.text(t.Currency, styleText)
			s.sentence(line, styleText)
			s.text(class, styleText)
			s.text(reason, styleText)
		}
		amount := func(text string) { s.amount(text, t.Currency, styleAmount) }
		check := func(condition string) {
			if money {
				s.check(condition)
			} else {
				s.skip(1)
			}
			s.sentence(note, styleText)
			note = ""
			s.end()
		}
		zero := func(expr string) string { return rounded(expr, d) + "=0" }
		start("operations as read", "", "")
		s.skip(1)
		amount(t.OperationsRead)
		s.end()
		read := s.row
		start("less operations outside the period", "", "")
		s.skip(1)
		amount(t.OperationsOutside)
		s.end()
		start("operations in the period", "", "")
		s.whole(t.OperationRows, styleCount)
		amount(t.Operations)
		s.skip(3)
		inside := s.row
		check(zero(s.ref(op, read) + "-" + s.ref(op, read+1) + "-" + s.ref(op, inside)))
		for _, l := range t.Lines {
			start(lineName(l.Class, l.Reason), l.Class, l.Reason)
			s.whole(l.OperationRows, styleCount)
			amount(l.OperationAmount)
			s.whole(l.ResultRows, styleCount)
			amount(l.ResultAmount)
			amount(l.Difference)
			check(zero(s.ref(res, s.row) + "-" + s.ref(op, s.row) + "-" + s.ref(diff, s.row)))
		}
		first, last := inside+1, s.row
		sum := func(col int) string { return "SUM(" + s.rows(col, first, last) + ")" }
		if len(t.Lines) == 0 {
			sum = func(int) string { return "0" }
		}
		start("sum of the lines", "", "")
		total := s.row
		for _, c := range []struct {
			col   int
			rows  int64
			value string
		}{{opRows, t.OperationRows, ""}, {op, 0, t.Operations}, {resRows, t.ResultRows, ""}, {res, 0, t.Results}, {diff, 0, t.Difference}} {
			switch {
			case c.col == opRows || c.col == resRows:
				s.formula(sum(c.col), strconv.FormatInt(c.rows, 10), styleSum)
			case money:
				s.formula(rounded(sum(c.col), d), c.value, styleTotal+max(d, x.minorDigits(t.Currency)))
			default:
				s.skip(1)
			}
		}
		check("AND(" + s.ref(opRows, total) + "=" + s.ref(opRows, inside) + "," + zero(s.ref(op, total)+"-"+s.ref(op, inside)) + ")")
		start("results in the period", "", "")
		s.skip(2)
		s.whole(t.ResultRows, styleCount)
		amount(t.Results)
		amount(t.Difference)
		in := s.row
		check("AND(" + s.ref(resRows, total) + "=" + s.ref(resRows, in) + "," + zero(s.ref(res, total)+"-"+s.ref(res, in)) + "," +
			zero(s.ref(op, inside)+"+"+s.ref(diff, total)+"-"+s.ref(res, in)) + "," + zero(s.ref(diff, total)+"-"+s.ref(diff, in)) + ")")
		start("plus results outside the period", "", "")
		s.skip(3)
		amount(t.ResultsOutside)
		s.end()
		start("results as read", "", "")
		s.skip(3)
		amount(t.ResultsRead)
		s.skip(1)
		if t.Unreadable > 0 {
			note = strings.TrimPrefix(note+"; "+count(t.Unreadable, "amount")+" of both sides cannot be read, counted and in no sum", "; ")
		}
		check(zero(s.ref(res, in) + "+" + s.ref(res, in+1) + "-" + s.ref(res, s.row)))
	}
	x.endSheet()
	x.columnCheck("statement: checks beside the lines", s, 9)
}

// columnCheck counts the checks of a sheet that do not hold: there are none.
func (x *workbook) columnCheck(what string, s *sheet, col int) {
	x.checks = append(x.checks, crossCheck{what: what, value: "0", count: true, note: "counts the checks of the sheet that differ", formula: func(int) string {
		return sumOver(s.parts, func(p sheetSpan) string { return "COUNTIF(" + p.column(columnName(col)) + `,"` + differs + `")` })
	}})
}

// accounts writes the statement of each account, day and currency, and that they add up to
// those of the currencies.
func (x *workbook) accounts() {
	const kind, opRows, op, resRows, res, diff = 4, 7, 8, 9, 10, 11
	s := x.sheet("Accounts", "The statement by account, day ("+x.s.Zone+") and currency. A row of kind statement is followed by the lines that lead from its operations to its results.",
		sheetColumn{"account", 20}, sheetColumn{"day", 11}, sheetColumn{"span", 8}, sheetColumn{"currency", 9}, sheetColumn{"kind", 11}, sheetColumn{"class", 15}, sheetColumn{"reason", 26},
		sheetColumn{"operations", 12}, sheetColumn{"operations amount", 18}, sheetColumn{"results", 12}, sheetColumn{"results amount", 18}, sheetColumn{"difference", 16}, sheetColumn{"of it shifted", 16},
		sheetColumn{"operations rejected", 11}, sheetColumn{"results rejected", 11}, sheetColumn{"operations excluded", 11}, sheetColumn{"results excluded", 11}, sheetColumn{checkColumn, 10})
	numbers := map[string]*[2]sheetSum{} // by currency: of operations and results
	text := map[string]bool{}            // some amount is text
	for _, a := range x.s.Accounts {
		s.room(len(a.Lines) + 1)
		d := decimalsOf(a.Operations)
		all := []string{a.Operations, a.Results, a.Difference}
		for _, l := range a.Lines {
			all = append(all, l.OperationAmount, l.ResultAmount, l.Difference)
		}
		money := a.Operations != "" && d <= maxDecimals && heldSum(all...)
		start := func(kind, class, reason string) {
			s.begin()
			s.text(a.Account, styleText)
			s.day(a.Day)
			s.text(a.Span, styleText)
			s.text(a.Currency, styleText)
			s.text(kind, styleText)
			s.text(class, styleText)
			s.text(reason, styleText)
		}
		numbersOf := func(opRows int64, op string, resRows int64, res, diff string) {
			s.whole(opRows, styleCount)
			s.amount(op, a.Currency, styleAmount)
			s.whole(resRows, styleCount)
			s.amount(res, a.Currency, styleAmount)
			s.amount(diff, a.Currency, styleAmount)
		}
		start("statement", "", "")
		numbersOf(a.OperationRows, a.Operations, a.ResultRows, a.Results, a.Difference)
		s.amount(a.Shifted, a.Currency, styleAmount)
		for _, n := range []int64{a.OperationsRejected, a.ResultsRejected, a.OperationsExcluded, a.ResultsExcluded} {
			s.whole(n, styleCount)
		}
		if n := len(a.Lines); n > 0 {
			row := s.row
			sum := func(col int) string { return "SUM(" + s.rows(col, row+1, row+n) + ")" }
			condition := sum(opRows) + "=" + s.ref(opRows, row) + "," + sum(resRows) + "=" + s.ref(resRows, row)
			if money {
				condition += "," + rounded(sum(op)+"-"+s.ref(op, row), d) + "=0," + rounded(sum(res)+"-"+s.ref(res, row), d) + "=0," +
					rounded(s.ref(op, row)+"+"+sum(diff)+"-"+s.ref(res, row), d) + "=0," + rounded(sum(diff)+"-"+s.ref(diff, row), d) + "=0"
			}
			s.check("AND(" + condition + ")")
		}
		s.end()
		for _, l := range a.Lines {
			start(l.Name, l.Class, l.Reason)
			numbersOf(l.OperationRows, l.OperationAmount, l.ResultRows, l.ResultAmount, l.Difference)
			s.end()
		}
		if a.Operations == "" {
			continue
		}
		if numbers[a.Currency] == nil {
			numbers[a.Currency] = new([2]sheetSum)
		}
		for i, v := range []string{a.Operations, a.Results} {
			n, ok := exactDecimals(v, 0)
			if !ok {
				text[a.Currency] = true
				continue
			}
			numbers[a.Currency][i].add(v, n)
		}
	}
	x.endSheet()
	if len(x.s.Accounts) == 0 {
		return
	}
	x.columnCheck("accounts: checks of the statements", s, 17)
	same := map[string]int{}
	for _, t := range x.s.Statement {
		same[strings.ToLower(peopleCell(t.Currency))]++
	}
	for i, t := range x.s.Statement {
		n := numbers[t.Currency]
		if i >= maxSumCodes || n == nil || text[t.Currency] || same[strings.ToLower(peopleCell(t.Currency))] > 1 {
			continue
		}
		for j, v := range []string{t.Operations, t.Results} {
			d := decimalsOf(v)
			c := crossCheck{what: "accounts: " + []string{"operations", "results"}[j] + " of all statements", code: t.Currency, value: v, decimals: min(d, maxDecimals)}
			if d <= maxDecimals && n[j].held() {
				c.formula = sumOfCurrency(s.parts, t.Currency, len(numbers) == 1, columnName([]int{op, res}[j]), "D", columnName(kind))
				if c.formula == nil {
					c.note = noPlainCode
				}
			} else {
				c.note = tooManyDigits
			}
			x.checks = append(x.checks, c)
		}
	}
}
