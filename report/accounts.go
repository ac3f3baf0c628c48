package report

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
	"time"

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
	Name            string `json:"name"` // matched, divergent, absent, unexpected, ambiguous, duplicate, timing, scope
	Class           string `json:"class"`
	Reason          string `json:"reason"`
	OperationRows   int64  `json:"operation_rows"`
	OperationAmount string `json:"operation_amount"`
	ResultRows      int64  `json:"result_rows"`
	ResultAmount    string `json:"result_amount"`
	Difference      string `json:"difference"`
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

// dayRow is a day that statements name, with the instant in microseconds at which it
// begins.
type dayRow struct {
	from      int64
	day, span string
}

// statementDays lists the days, and a step that no day begins within.
func statementDays(job *rules.Bound) (list []dayRow, step int64, err error) {
	zone := job.Zone
	if zone == nil {
		zone = time.UTC
	}
	date, err := time.ParseInLocation(time.DateOnly, job.Date, zone)
	if err != nil {
		return nil, 0, err
	}
	step = 15 * 60 * 1_000_000 // zones begin their days at quarters of hours today; where not, the step is smaller
	y, m, d := date.Date()
	for i := -daysBefore - 1; i <= daysAfter+1; i++ {
		// Where the clocks are put forward at midnight there is none: the day begins with
		// the first second of its date.
		noon := time.Date(y, m, d+i, 12, 0, 0, 0, zone)
		back := sort.Search(24*60*60, func(n int) bool { return noon.Add(-time.Duration(n)*time.Second).Day() != noon.Day() })
		at := noon.Add(-time.Duration(back-1) * time.Second)
		r := dayRow{at.UnixMicro(), time.Date(y, m, d+i, 12, 0, 0, 0, time.UTC).Format(time.DateOnly), "day"}
		switch i {
		case -daysBefore - 1:
			r.from, r.span = math.MinInt64, "before"
		case daysAfter + 1:
			r.span = "after"
		}
		if r.span != "before" {
			for step > 1 && r.from%step != 0 {
				step = gcd(step, r.from)
			}
		}
		list = append(list, r)
	}
	return list, step, nil
}

func gcd(a, b int64) int64 {
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// dayInstant renders the instant, in whole steps, that the day of a staged row goes by:
// that of the period, else the creation. NULL where it is not known.
func dayInstant(job *rules.Bound, side rules.Side, days []dayRow, step int64) string {
	by := "created_at"
	if job.Period != nil {
		by = job.Period.By
	}
	f := job.Spec(side).Field(by)
	switch {
	case f == nil:
	case f.Type == rules.Timestamp:
		col := "s." + duck.Ident("f_"+by)
		return fmt.Sprintf("((%[1]s - ((%[1]s %% %[2]d) + %[2]d) %% %[2]d))", col, step) // rounded down, before 1970 too
	case f.Type == rules.Date: // a date is the day itself, whatever the zone
		col := "s." + duck.Ident("f_"+by)
		starts := make([]string, 0, len(days))
		for _, d := range days[1:] {
			starts = append(starts, fmt.Sprint(d.from))
		}
		first, last := duck.Literal(days[1].day), duck.Literal(days[len(days)-1].day)
		return fmt.Sprintf("(CASE WHEN %[1]s < DATE %[2]s THEN %[4]d WHEN %[1]s > DATE %[3]s THEN %[5]d ELSE [%[6]s][%[1]s - DATE %[2]s + 1] END)",
			col, first, last, days[1].from-1, days[len(days)-1].from, strings.Join(starts, ", "))
	}
	return "CAST(NULL AS BIGINT)"
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
	days, step, err := statementDays(job)
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
		slots["at_"+short(side)] = dayInstant(job, side, days, step)
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

// dayTables makes the small relations report_days and report_account_files.
func dayTables(ctx context.Context, db *duck.DB, in *Input, days []dayRow, names accountNames) error {
	var d, f []string
	for _, r := range days {
		d = append(d, fmt.Sprintf("(%d, %s, %s)", r.from, duck.Literal(r.day), duck.Literal(r.span)))
	}
	for _, file := range in.Results.Files {
		f = append(f, fmt.Sprintf("(%d, %s)", file.No, duck.Literal(names.of[file.Source])))
	}
	stmts := []string{
		"CREATE OR REPLACE TABLE report_days (from_at BIGINT, day VARCHAR, span VARCHAR)",
		"INSERT INTO report_days VALUES " + strings.Join(d, ", "),
		"CREATE OR REPLACE TABLE report_account_files (file_no INTEGER, account VARCHAR)",
	}
	if len(f) > 0 {
		stmts = append(stmts, "INSERT INTO report_account_files VALUES "+strings.Join(f, ", "))
	}
	for _, q := range stmts {
		if err := db.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
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
			Name: lineNames[l.class], Class: l.class, Reason: l.reason,
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

// tieAccounts asserts, on the texts that will be published, that every account statement
// leads from the operations to the results, and that line by line all of a currency are
// the statement of that currency; records that were not read as rows are those of the
// sides.
func tieAccounts(list []AccountStatement, s *Summary) error {
	type key struct{ currency, class, reason string }
	type sums struct {
		rows   [2]int64
		amount [2]*big.Rat
	}
	all := map[key]*sums{}
	at := func(k key) *sums {
		if all[k] == nil {
			all[k] = &sums{amount: [2]*big.Rat{{}, {}}}
		}
		return all[k]
	}
	var read exactTexts
	num := read.number
	var rejected, excluded [2]int64
	for _, a := range list {
		where := fmt.Sprintf("account %q, day %q, currency %q", a.Account, a.Day, a.Currency)
		run, ops, res := num(a.Operations), new(big.Rat), new(big.Rat)
		var rows [2]int64
		for _, l := range a.Lines {
			run.Add(run, num(l.Difference))
			ops.Add(ops, num(l.OperationAmount))
			res.Add(res, num(l.ResultAmount))
			x := at(key{a.Currency, l.Class, l.Reason})
			x.amount[0].Add(x.amount[0], num(l.OperationAmount))
			x.amount[1].Add(x.amount[1], num(l.ResultAmount))
			for i, n := range [2]int64{l.OperationRows, l.ResultRows} {
				x.rows[i] += n
				rows[i] += n
			}
		}
		diff := new(big.Rat).Sub(res, ops)
		if run.Cmp(num(a.Results)) != 0 || ops.Cmp(num(a.Operations)) != 0 || res.Cmp(num(a.Results)) != 0 || diff.Cmp(num(a.Difference)) != 0 {
			return breach("%s: operations %s and the differences by line lead to %s, but the results total is %s", where, a.Operations, amountText(run, a.Currency), a.Results)
		}
		if rows != [2]int64{a.OperationRows, a.ResultRows} {
			return breach("%s: the lines have %d operations and %d results, the statement %d and %d", where, rows[0], rows[1], a.OperationRows, a.ResultRows)
		}
		rejected[0] += a.OperationsRejected
		rejected[1] += a.ResultsRejected
		excluded[0] += a.OperationsExcluded
		excluded[1] += a.ResultsExcluded
	}
	for i, side := range s.Sides {
		if rejected[i] != side.Rejected || excluded[i] != side.Excluded {
			return breach("%s: %d records are rejected and %d excluded, the accounts have %d and %d", side.Side, side.Rejected, side.Excluded, rejected[i], excluded[i])
		}
	}
	for _, st := range s.Statement {
		for _, l := range st.Lines {
			k := key{st.Currency, l.Class, l.Reason}
			x := at(k)
			delete(all, k)
			if x.rows != [2]int64{l.OperationRows, l.ResultRows} || x.amount[0].Cmp(num(l.OperationAmount)) != 0 || x.amount[1].Cmp(num(l.ResultAmount)) != 0 {
				return breach("currency %q, %s/%s: %d operations (%s) and %d results (%s), but the accounts have %d (%s) and %d (%s)", st.Currency, l.Class, l.Reason,
					l.OperationRows, l.OperationAmount, l.ResultRows, l.ResultAmount, x.rows[0], amountText(x.amount[0], st.Currency), x.rows[1], amountText(x.amount[1], st.Currency))
			}
		}
	}
	for k := range all {
		return breach("currency %q, %s/%s: the accounts have rows that the statement has not", k.currency, k.class, k.reason)
	}
	return read.err
}
