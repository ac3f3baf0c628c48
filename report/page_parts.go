package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// currencyRow says of one currency whether it closes, and what is open.
type currencyRow struct {
	Currency  string
	Statement *Statement // nil: no row of the period has the currency
	At        string     // anchor of its statement
	Work      [2]int64   // rows in the period that need work: operations, results
	Open      OpenSum    // items
}

// currencyRows lists all currencies, those of the statement first.
func currencyRows(s *Summary) []currencyRow {
	var out []currencyRow
	for i := range s.Statement {
		t := &s.Statement[i]
		out = append(out, currencyRow{Currency: t.Currency, Statement: t, At: fmt.Sprintf("statement-%d", i+1)})
	}
	at := func(code string) *currencyRow {
		i := slices.IndexFunc(out, func(r currencyRow) bool { return r.Currency == code })
		if i < 0 {
			out, i = append(out, currencyRow{Currency: code}), len(out)
		}
		return &out[i]
	}
	for _, o := range s.Open {
		at(o.Currency).Open = o.Closing
	}
	for i, side := range s.Sides[:min(len(s.Sides), 2)] {
		for _, c := range side.Counts {
			if c.InPeriod && needsWork(c.Class, c.Reason) {
				at(c.Currency).Work[i] += c.Rows
			}
		}
	}
	return out
}

// verdictMoney is a line of the statement of a currency.
type verdictMoney struct {
	Currency string
	StatementLine
}

// verdictAmounts lists the money of a verdict, every currency of it.
func verdictAmounts(s *Summary, class, reason string) []verdictMoney {
	var out []verdictMoney
	for _, t := range s.Statement {
		for _, l := range t.Lines {
			if l.Class == class && l.Reason == reason && l.Difference != "" {
				out = append(out, verdictMoney{t.Currency, l})
			}
		}
	}
	return out
}

// holdNames name the obstacles; all others are checks of the guard.
var holdNames = map[string]string{
	"stray": "a stray result", "missing_file": "a missing file", "cut_file": "a file that is cut", "copied_file": "a copied file",
	"reject": "rejected records", "doubtful_file": "a doubtful file", "not_covered": "a time that nothing covers",
	"unmapped_status": "a status that is not mapped", "unknown_time": "a time that is not known", "unreadable_value": "values that cannot be read",
	"attempts": "used-up attempts", "duration": "used-up time", "key_lifetime": "an expired idempotency key", "no_key": "no idempotency key",
	"no_policy": "no policy", "budget": "the budget of retries", "several": "several obstacles", "other": "no obstacle of a known kind",
	"more": "all other obstacles",
}

// holdName is an obstacle in words.
func holdName(code string) string { return cmp.Or(holdNames[code], "the check "+code) }

// holdsAlone tells whether the obstacle is one, so that its rows wait for nothing else.
func holdsAlone(code string) bool { return code != "several" && code != "other" && code != "more" }

// said cuts a text of ours at its backticks: what stands between two is code.
type saidPart struct {
	Text string
	Code bool
}

func saidParts(text string) []saidPart {
	var out []saidPart
	for i, p := range strings.Split(text, "`") {
		if p != "" {
			out = append(out, saidPart{p, i%2 == 1})
		}
	}
	return out
}

// place is where a record stands, with the anchor of its file on the page.
type place struct {
	Side, File, At string
	Record         int64
	SHA256         string
}

// fileKey names a file of a side.
type fileKey struct{ side, source, name string }

// fileRow is a file as the page lists it.
type fileRow struct {
	Source, At string
	File
}

// filesShown is how many files of a side are listed, those with a problem first.
const filesShown = 500

// fileRows lists the files of each side, and where each of them stands on the page.
func fileRows(s *Summary) (rows [][]fileRow, at map[fileKey]string, of []int) {
	at = map[fileKey]string{}
	for _, side := range s.Sides {
		var list []fileRow
		for _, src := range side.Sources {
			for _, f := range src.Files {
				list = append(list, fileRow{Source: src.Name, File: f})
			}
		}
		of = append(of, len(list))
		if len(list) > filesShown {
			slices.SortStableFunc(list, func(a, b fileRow) int {
				good := func(f fileRow) int {
					if f.Status == "staged" && f.Rejected == 0 {
						return 1
					}
					return 0
				}
				return cmp.Compare(good(a), good(b))
			})
			list = list[:filesShown]
		}
		for i := range list {
			list[i].At = fmt.Sprintf("file-%s-%d", side.Side, i+1)
			k := fileKey{side.Side, list[i].Source, list[i].Name}
			if at[k] == "" {
				at[k] = list[i].At
			}
		}
		rows = append(rows, list)
	}
	return rows, at, of
}

// accountPart are the statements of one account.
type accountPart struct {
	Account    string
	Statements []AccountStatement
	Days       int
}

// statementsShown is how many statements by account the page has; those that lead from
// one sum to another come first.
const statementsShown = 300

// accountParts groups the statements.
func accountParts(s *Summary) (parts []accountPart, shownRows int) {
	list := s.Accounts
	if len(list) > statementsShown {
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(plainly(list[a]), plainly(list[b])) })
		order = order[:statementsShown]
		slices.Sort(order)
		list = make([]AccountStatement, 0, statementsShown)
		for _, i := range order {
			list = append(list, s.Accounts[i])
		}
	}
	for _, a := range list {
		if len(parts) == 0 || parts[len(parts)-1].Account != a.Account {
			parts = append(parts, accountPart{Account: a.Account})
		}
		p := &parts[len(parts)-1]
		if n := len(p.Statements); n == 0 || p.Statements[n-1].Day != a.Day || p.Statements[n-1].Span != a.Span {
			p.Days++
		}
		p.Statements = append(p.Statements, a)
	}
	return parts, len(list)
}

// plainly is 1 where all rows of a statement are settled and its sums are equal, else 0.
func plainly(a AccountStatement) int {
	if a.Difference != "" && !isZero(a.Difference) || a.OperationsRejected+a.ResultsRejected > 0 {
		return 0
	}
	for _, l := range a.Lines {
		if needsWork(l.Class, l.Reason) {
			return 0
		}
	}
	return 1
}

// dayText is the day of a statement in words.
func dayText(a AccountStatement) string {
	switch {
	case a.Day == "":
		return "no day"
	case a.Span == "before":
		return a.Day + " and before"
	case a.Span == "after":
		return a.Day + " and after"
	}
	return a.Day
}

// lineText is a line of a statement: its name, and the verdict behind it.
func lineText(class, reason string) string {
	name := cmp.Or(lineName(class, reason), class)
	if name == class {
		return class + ", " + shown(reason)
	}
	return name + " (" + class + ", " + shown(reason) + ")"
}
