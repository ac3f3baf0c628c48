package report

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// AccountStatement leads from the operations to the results of one account, day and
// currency, in the period, through named lines:
//
//	operations + Σ lines.difference = results
//
// The sums of all statements of a currency, line by line, are those of Statement; both
// are asserted. The account is that of the results (coverage.account): a result has the
// one of its source, an operation the one that should know it. The day is that of the
// row itself in the zone of the job, so that a pair whose two records lie on different
// days or accounts stands in two statements; what that makes is Shifted.
type AccountStatement struct {
	Account            string        `json:"account"` // "" the only one, or none that should know the operation; several that cannot be told apart are joined by ", "
	Day                string        `json:"day"`     // YYYY-MM-DD; "" rows without a time, and what has no day (rejected, excluded)
	Span               string        `json:"span"`    // day: that one; before: it and all before; after: it and all after
	Currency           string        `json:"currency"`
	Operations         string        `json:"operations"` // "" where no amount is declared, like every amount here
	Lines              []AccountLine `json:"lines"`
	Results            string        `json:"results"`
	Difference         string        `json:"difference"` // results − operations
	Shifted            string        `json:"shifted"`    // of the difference: plainly equal pairs with a record on another day or account
	OperationRows      int64         `json:"operation_rows"`
	ResultRows         int64         `json:"result_rows"`
	OperationsRejected int64         `json:"operations_rejected"` // records that could not be read: no day, no currency, in no sum
	ResultsRejected    int64         `json:"results_rejected"`
	OperationsExcluded int64         `json:"operations_excluded"` // by a declared row kind, in no sum
	ResultsExcluded    int64         `json:"results_excluded"`
}

// AccountLine is one class and reason with its name.
type AccountLine struct {
	Name            string `json:"name"` // matched, divergent, absent, unexpected, ambiguous, duplicate, timing, fees, scope
	Class           string `json:"class"`
	Reason          string `json:"reason"`
	OperationRows   int64  `json:"operation_rows"`
	OperationAmount string `json:"operation_amount"`
	ResultRows      int64  `json:"result_rows"`
	ResultAmount    string `json:"result_amount"`
	Difference      string `json:"difference"`
}

// feeReason is the reason of scope rules that set fees aside, in every preset.
const feeReason = "fee_row"

// lineName names a line: by its class, and fees by their reason.
func lineName(class, reason string) string {
	if class == "not_applicable" && reason == feeReason {
		return "fees"
	}
	return lineNames[class]
}

// lineNames names the lines by class.
var lineNames = map[string]string{
	"correct": "matched", "divergent": "divergent", "absent": "absent", "unexpected": "unexpected", "ambiguous": "ambiguous",
	"duplicate": "duplicate", "not_due": "timing", "not_applicable": "scope",
}

// An account statement names single days from so many before the business date until so
// many after it; what lies beyond is one statement each way.
const (
	daysBefore = 60
	daysAfter  = 3
)

var sqlAccountCells = parseSQL("account_cells")

// accountNames are the accounts of the results by source, where those that should know
// the same operations have one name.
type accountNames struct {
	of   map[string]string // source → name
	expr string            // over the operation, as SQL
}

// accountsOf groups the accounts of the results. An operation has the first that should
// know it, in the order of the job.
func accountsOf(in *Input) accountNames {
	layout := in.Operations.Layout
	if layout == nil {
		layout = &extract.Layout{Side: rules.Operations}
	}
	s := match.Columns(in.Bound.Job, layout, "s")
	out := accountNames{of: map[string]string{}}
	var order, conditions []string
	members := map[string][]string{}
	condition := map[string]string{}
	for _, src := range in.Bound.Results.Sources {
		a := src.Coverage.Account
		if _, ok := condition[a]; ok {
			continue
		}
		order = append(order, a)
		condition[a] = cmp.Or(match.Knows(s, in.Results.Coverage, a), "false")
	}
	for _, a := range order {
		c := condition[a]
		if members[c] == nil {
			conditions = append(conditions, c)
		}
		members[c] = append(members[c], a)
	}
	for _, src := range in.Bound.Results.Sources {
		out.of[src.Name] = strings.Join(members[condition[src.Coverage.Account]], ", ")
	}
	if len(conditions) == 1 {
		out.expr = duck.Literal(strings.Join(members[conditions[0]], ", "))
		return out
	}
	var b strings.Builder
	b.WriteString("CASE")
	for _, c := range conditions {
		fmt.Fprintf(&b, " WHEN %s THEN %s", c, duck.Literal(strings.Join(members[c], ", ")))
	}
	out.expr = b.String() + " ELSE '' END"
	return out
}

// accountCell is what is counted of one account, day and currency.
type accountCell struct {
	account, day, span, currency string
	lines                        []accountLine
}

type accountLine struct {
	class, reason string
	rows          map[rules.Side]int64
	amount        map[rules.Side]*big.Rat
}

// accountCells counts the rows in the period by account, day and currency.
func accountCells(ctx context.Context, db *duck.DB, in *Input) ([]*accountCell, error) {
	job := in.Bound
	days, grid, err := statementDays(job)
	if err != nil {
		return nil, err
	}
	names := accountsOf(in)
	if err := dayTables(ctx, db, in, days, names); err != nil {
		return nil, err
	}
	var typ string
	if err := db.Scan(ctx, "SELECT data_type FROM duckdb_columns() WHERE table_name = 'totals' AND column_name = 'amount'", &typ); err != nil {
		return nil, err
	}
	slots := duck.Slots{"account": names.expr, "type": typ}
	for _, side := range rules.Sides {
		amount := "CAST(NULL AS " + typ + ")"
		if hasAmount(job.Job, side) {
			amount = "s." + duck.Ident("f_amount")
			if job.Spec(side).Field("amount").Scale < 0 { // staged as text
				amount = "CAST(" + amount + " AS " + typ + ")"
			}
		}
		slots["amount_"+short(side)] = amount
		slots["currency_"+short(side)] = currencyExpr(job.Job, side, "s")
		slots["at_"+short(side)] = dayInstant(job, side, days, grid)
	}
	var out []*accountCell
	err = each(ctx, db, sqlAccountCells.Render(slots), func(rows *sql.Rows) error {
		var c accountCell
		var side, class, reason string
		var n int64
		var sum sql.NullString
		if err := rows.Scan(&c.account, &c.day, &c.span, &c.currency, &side, &class, &reason, &n, &sum); err != nil {
			return err
		}
		if len(out) == 0 || !out[len(out)-1].same(&c) {
			out = append(out, &c)
		}
		l := out[len(out)-1].line(class, reason)
		l.rows[rules.Side(side)] += n
		if sum.Valid {
			a, err := parseExact(sum.String)
			if err != nil {
				return err
			}
			l.amount[rules.Side(side)].Add(l.amount[rules.Side(side)], a)
		}
		return nil
	})
	return out, err
}

func (c *accountCell) same(o *accountCell) bool {
	return c.account == o.account && c.day == o.day && c.span == o.span && c.currency == o.currency
}

func (c *accountCell) line(class, reason string) *accountLine {
	for i := range c.lines {
		if c.lines[i].class == class && c.lines[i].reason == reason {
			return &c.lines[i]
		}
	}
	c.lines = append(c.lines, accountLine{class, reason, map[rules.Side]int64{}, map[rules.Side]*big.Rat{rules.Operations: {}, rules.Results: {}}})
	return &c.lines[len(c.lines)-1]
}

// accountStatements makes the statements and asserts that they lead from one side to the
// other, and that they are the statements of the currencies, taken apart.
func accountStatements(ctx context.Context, db *duck.DB, in *Input, s *Summary) ([]AccountStatement, error) {
	cells, err := accountCells(ctx, db, in)
	if err != nil {
		return nil, err
	}
	out := []AccountStatement{}
	for _, c := range cells {
		out = append(out, c.statement(in.Bound.Job, equalAmounts(in.Bound.Job, s, c.currency)))
	}
	out = append(out, unsummed(in, s)...)
	order := func(a, b AccountStatement) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Day, b.Day), cmp.Compare(a.Currency, b.Currency))
	}
	slices.SortStableFunc(out, order)
	out = mergeUnsummed(out)
	return out, tieAccounts(out, s)
}

// equalAmounts tells whether plainly equal pairs have equal amounts: the job compares
// them, and all of the currency together do not differ.
func equalAmounts(job *rules.Job, s *Summary, code string) bool {
	compared := slices.ContainsFunc(job.Compare, func(c rules.Compare) bool {
		return c.Operations == "amount" && c.Results == "amount" && c.Absolute == "" && c.Relative == ""
	})
	for _, st := range s.Statement {
		for _, l := range st.Lines {
			if st.Currency == code && l.Class == "correct" && l.Reason == "equal" {
				return compared && l.Difference != "" && isZero(l.Difference)
			}
		}
	}
	return compared
}

func (c *accountCell) statement(job *rules.Job, equal bool) AccountStatement {
	s := AccountStatement{Account: c.account, Day: c.day, Span: c.span, Currency: c.currency, Lines: []AccountLine{}}
	slices.SortFunc(c.lines, func(a, b accountLine) int {
		return cmp.Or(cmp.Compare(slices.Index(classOrder, a.class), slices.Index(classOrder, b.class)), cmp.Compare(a.reason, b.reason))
	})
	sum := map[rules.Side]*big.Rat{rules.Operations: {}, rules.Results: {}}
	digits := 0
	for _, l := range c.lines {
		for side, a := range l.amount {
			sum[side].Add(sum[side], a)
			digits = max(digits, decimals(a, c.currency))
		}
	}
	money := func(r *big.Rat) string { return r.FloatString(digits) }
	if !hasAmount(job, rules.Operations) && !hasAmount(job, rules.Results) {
		money = func(*big.Rat) string { return "" }
	}
	diff := func(a map[rules.Side]*big.Rat) string {
		return money(new(big.Rat).Sub(a[rules.Results], a[rules.Operations]))
	}
	s.Shifted = money(new(big.Rat))
	for _, l := range c.lines {
		s.Lines = append(s.Lines, AccountLine{
			Name: lineName(l.class, l.reason), Class: l.class, Reason: l.reason,
			OperationRows: l.rows[rules.Operations], OperationAmount: money(l.amount[rules.Operations]),
			ResultRows: l.rows[rules.Results], ResultAmount: money(l.amount[rules.Results]), Difference: diff(l.amount),
		})
		s.OperationRows += l.rows[rules.Operations]
		s.ResultRows += l.rows[rules.Results]
		if l.class == "correct" && l.reason == "equal" {
			s.Shifted = diff(l.amount)
		}
	}
	if !equal { // what an equal pair differs by need not be another day
		s.Shifted = ""
	}
	s.Operations, s.Results, s.Difference = money(sum[rules.Operations]), money(sum[rules.Results]), diff(sum)
	return s
}

// unsummed are the records that have no day and no currency, since they were not read as
// rows, by account. Those of the operations have no account where there are several.
func unsummed(in *Input, s *Summary) []AccountStatement {
	names := accountsOf(in)
	byAccount := map[string]*AccountStatement{}
	at := func(account string) *AccountStatement {
		if byAccount[account] == nil {
			byAccount[account] = &AccountStatement{Account: account, Span: "day", Lines: []AccountLine{}}
		}
		return byAccount[account]
	}
	only := ""
	if distinct := slices.Compact(slices.Sorted(mapValues(names.of))); len(distinct) == 1 {
		only = distinct[0]
	}
	for i, side := range s.Sides {
		for _, src := range side.Sources {
			if src.Rejected == 0 && src.Excluded == 0 {
				continue
			}
			if i == 0 {
				at(only).OperationsRejected += src.Rejected
				at(only).OperationsExcluded += src.Excluded
			} else {
				at(names.of[src.Name]).ResultsRejected += src.Rejected
				at(names.of[src.Name]).ResultsExcluded += src.Excluded
			}
		}
	}
	out := []AccountStatement{}
	zero := "0"
	if !hasAmount(in.Bound.Job, rules.Operations) && !hasAmount(in.Bound.Job, rules.Results) {
		zero = ""
	}
	for _, x := range byAccount {
		x.Operations, x.Results, x.Difference, x.Shifted = zero, zero, zero, zero
		out = append(out, *x)
	}
	return out
}

func mapValues(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// mergeUnsummed joins a statement of rows without day and currency and one of records
// that are no rows.
func mergeUnsummed(list []AccountStatement) []AccountStatement {
	out := list[:0]
	for _, x := range list {
		if n := len(out); n > 0 && out[n-1].Account == x.Account && out[n-1].Day == "" && x.Day == "" && out[n-1].Currency == "" && x.Currency == "" {
			p := &out[n-1]
			if len(p.Lines) == 0 {
				*p, x = x, *p
			}
			p.OperationsRejected += x.OperationsRejected
			p.ResultsRejected += x.ResultsRejected
			p.OperationsExcluded += x.OperationsExcluded
			p.ResultsExcluded += x.ResultsExcluded
			continue
		}
		out = append(out, x)
	}
	return out
}
