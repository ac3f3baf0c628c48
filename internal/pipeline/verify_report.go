package pipeline

import (
	"cmp"
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// readSummary reads report.json.
func (v *checker) readSummary() (err error) {
	if !v.has(reportName) {
		return fmt.Errorf("report.json was not published, and every run does")
	}
	v.summary, err = reportOf(v.dir, v.Manifest)
	return err
}

// tally compares counts by name and tells the differences in the order of names.
type tally map[string]int64

func (t tally) differ(what string) (wrong []string) {
	for k, n := range t {
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s are counted wrong by %d", what, k, n))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// report counts again what report.json says about rows and files.
func (v *checker) report() error {
	s, m := v.summary, v.Manifest
	var wrong []string
	if s.RunID != m.RunID || s.ContentDigest != m.ContentDigest || s.JobDigest != m.JobDigest || s.Job != m.Job || s.BusinessDate != m.BusinessDate {
		wrong = append(wrong, "report.json is that of another run")
	}
	rowsT, passes := tally{}, tally{}
	var once int64
	for i, side := range rules.Sides {
		x := s.Sides[i]
		inPeriod, classified := int64(0), int64(0)
		for _, c := range v.counts[side] {
			rowsT[fmt.Sprintf("%s %s/%s %s the period", side, c.class, c.reason, inOrOut(c.inPeriod))] += c.rows
			classified += c.rows
			if c.inPeriod {
				inPeriod += c.rows
			}
			if c.pass != "" {
				passes[string(side)+" of the pass "+c.pass] += c.rows
			}
			if side == rules.Operations && c.inPeriod && c.once == "not_proven" {
				once += c.rows
			}
		}
		for _, c := range x.Counts {
			rowsT[fmt.Sprintf("%s %s/%s %s the period", side, c.Class, c.Reason, inOrOut(c.InPeriod))] -= c.Rows
		}
		var records, control, excluded, rejected int64
		for _, in := range m.Inputs {
			if in.Side == side && in.Status == "staged" {
				records += in.Records
				control += in.Control
				excluded += in.Excluded
				rejected += in.Rejected
			}
		}
		if x.Side != string(side) || x.Records != records || x.Control != control || x.Excluded != excluded || x.Rejected != rejected || x.Classified != classified || x.InPeriod != inPeriod {
			wrong = append(wrong, fmt.Sprintf("%s: %d records, %d control, %d excluded, %d rejected, %d classified, %d in the period; the report says %d, %d, %d, %d, %d, %d", side,
				records, control, excluded, rejected, classified, inPeriod, x.Records, x.Control, x.Excluded, x.Rejected, x.Classified, x.InPeriod))
		}
	}
	for _, p := range s.Passes {
		passes["operations of the pass "+p.Name] -= p.Operations
		passes["results of the pass "+p.Name] -= p.Results
	}
	wrong = append(wrong, rowsT.differ("report.json")...)
	wrong = append(wrong, passes.differ("report.json")...)
	if once != s.OnceNotProven {
		wrong = append(wrong, fmt.Sprintf("%d correct operations in the period are not proven to exist only once, the report says %d (V23)", once, s.OnceNotProven))
	}
	v.add("report", "counts of rows, files and passes", wrong)
	return nil
}

// queueCounts counts the items of every queue again, by verdict, with their refused
// checks and amounts; queues that were withheld have none.
func (v *checker) queueCounts(hidden func(field string) bool) (items int64, wrong []string, err error) {
	counts := tally{}
	err = v.each("queue", nil, func(rows *sql.Rows) error {
		var q, class, reason string
		var n, observed, deferred int64
		if err := rows.Scan(&q, &class, &reason, &n, &observed, &deferred); err != nil {
			return err
		}
		items += n
		counts[q+" items"] += n
		counts[q+" items of "+class+"/"+reason] += n
		counts[q+" items to observe only"] += observed
		counts[q+" deferred items"] += deferred
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	err = v.each("refused", nil, func(rows *sql.Rows) error {
		var q, code string
		var n int64
		err := rows.Scan(&q, &code, &n)
		counts[q+" items refused by "+code] += n
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	for _, q := range v.summary.Queues {
		if !q.Written {
			for _, path := range []string{"queues/" + q.Queue + ".parquet", "queues/" + q.Queue + ".ndjson", "people/" + q.Queue + ".csv"} {
				if v.has(path) {
					wrong = append(wrong, path+" was published although the queue was withheld")
				}
			}
			continue
		}
		counts[q.Queue+" items"] -= q.Items
		counts[q.Queue+" items to observe only"] -= q.ObserveOnly
		counts[q.Queue+" deferred items"] -= q.Deferred
		for _, r := range q.Reasons {
			counts[q.Queue+" items of "+r.Class+"/"+r.Reason] -= r.Items
		}
		for _, r := range q.Refused {
			counts[q.Queue+" items refused by "+r.Code] -= r.Items
		}
	}
	wrong = append(wrong, counts.differ("report.json")...)
	if hidden("amount") || hidden("currency") {
		return items, wrong, nil
	}
	money, err := v.queueMoney()
	return items, append(wrong, money...), err
}

// queueMoney adds up the amounts of the items.
func (v *checker) queueMoney() (wrong []string, err error) {
	sums := map[string]*big.Rat{}
	add := func(q, currency, text string, n int64) error {
		a, ok := new(big.Rat).SetString(text)
		if !ok {
			return fail.New(fail.Integrity, "%q is no amount", text)
		}
		k := q + " items in " + currencyText(currency)
		if sums[k] == nil {
			sums[k] = new(big.Rat)
		}
		sums[k].Add(sums[k], a.Mul(a, new(big.Rat).SetInt64(n)))
		return nil
	}
	err = v.each("money", nil, func(rows *sql.Rows) error {
		var q, currency, text string
		var n int64
		if err := rows.Scan(&q, &currency, &text, &n); err != nil {
			return err
		}
		return add(q, currency, text, n)
	})
	for _, q := range v.summary.Queues {
		for _, m := range q.Amounts {
			if q.Written && err == nil {
				err = add(q.Queue, m.Currency, m.Amount, -1)
			}
		}
	}
	for k, s := range sums {
		if s.Sign() != 0 {
			wrong = append(wrong, fmt.Sprintf("report.json: the amounts of %s differ by %s", k, s.FloatString(2)))
		}
	}
	slices.Sort(wrong)
	return wrong, err
}

// statement adds up the statement of every currency again, exactly: what was read less
// what lies outside the period gives the operations; their sum with the differences of
// every class gives the results. Its lines are those of the counts, and, but for the
// plainly correct rows, the sums of exceptions.parquet.
func (v *checker) statement() error {
	s := v.summary
	var wrong []string
	for _, st := range s.Statement {
		for _, w := range checkStatement(st) {
			wrong = append(wrong, currencyText(st.Currency)+": "+w)
		}
	}
	lines := statementLines(s)
	wrong = append(wrong, linesOfCounts(s, lines)...)
	hidden := slices.ContainsFunc(s.Redacted, func(r report.Redacted) bool { return r.Field == "amount" || r.Field == "currency" })
	if !hidden {
		more, err := v.linesOfRows(lines)
		if err != nil {
			return err
		}
		wrong = append(wrong, more...)
	}
	v.add("statement", plural(int64(len(s.Statement)), "currency", "currencies")+", to the last digit", wrong)
	return nil
}

// lineKey is one side of one line of one currency's statement.
type lineKey struct{ side, currency, class, reason string }

func (k lineKey) String() string {
	return fmt.Sprintf("%s: %s %s/%s", currencyText(k.currency), k.side, k.class, k.reason)
}

type lineSum struct {
	rows   int64
	amount string // "" where no amount is declared
}

func statementLines(s *report.Summary) map[lineKey]lineSum {
	out := map[lineKey]lineSum{}
	for _, st := range s.Statement {
		for _, l := range st.Lines {
			if l.OperationRows > 0 {
				out[lineKey{"operations", st.Currency, l.Class, l.Reason}] = lineSum{l.OperationRows, l.OperationAmount}
			}
			if l.ResultRows > 0 {
				out[lineKey{"results", st.Currency, l.Class, l.Reason}] = lineSum{l.ResultRows, l.ResultAmount}
			}
		}
	}
	return out
}

// sameLine compares a line with what was counted again.
func sameLine(k lineKey, line lineSum, rows int64, amount string) []string {
	var wrong []string
	if line.rows != rows {
		wrong = append(wrong, fmt.Sprintf("%s: %d rows, the statement says %d", k, rows, line.rows))
	}
	if line.amount == "" || amount == "" {
		return wrong
	}
	a, okA := new(big.Rat).SetString(line.amount)
	b, okB := new(big.Rat).SetString(amount)
	if !okA || !okB || a.Cmp(b) != 0 {
		wrong = append(wrong, fmt.Sprintf("%s: %s, the statement says %s", k, amount, line.amount))
	}
	return wrong
}

// linesOfCounts compares the lines with the counts by class, reason and currency.
func linesOfCounts(s *report.Summary, lines map[lineKey]lineSum) (wrong []string) {
	seen := map[lineKey]bool{}
	for _, side := range s.Sides {
		for _, c := range side.Counts {
			if !c.InPeriod || c.Rows == 0 {
				continue
			}
			k := lineKey{side.Side, c.Currency, c.Class, c.Reason}
			seen[k] = true
			wrong = append(wrong, sameLine(k, lines[k], c.Rows, c.Amount)...)
		}
	}
	for k, l := range lines {
		if !seen[k] {
			wrong = append(wrong, fmt.Sprintf("%s: no row is counted, the statement says %d", k, l.rows))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// linesOfRows compares the lines with the rows of exceptions.parquet. A currency that
// the statement does not know was not readable.
func (v *checker) linesOfRows(lines map[lineKey]lineSum) (wrong []string, err error) {
	path, _ := v.path("exceptions.parquet")
	columns, err := v.columns(path)
	if err != nil {
		return nil, err
	}
	codes := []string{"''"}
	for _, st := range v.summary.Statement {
		codes = append(codes, duck.Literal(st.Currency))
	}
	seen := map[lineKey]bool{}
	for _, side := range rules.Sides {
		s := letter(side)
		currency := "''"
		if column := s + "_currency"; slices.Contains(columns, column) {
			currency = fmt.Sprintf("CASE WHEN %[1]s IN (%[2]s) THEN %[1]s ELSE '' END", duck.Ident(column), strings.Join(codes, ", "))
		}
		err := v.each("amounts", duck.Slots{"s": s, "currency": currency}, func(rows *sql.Rows) error {
			k := lineKey{side: string(side)}
			var n int64
			var sum string
			if err := rows.Scan(&k.currency, &k.class, &k.reason, &n, &sum); err != nil {
				return err
			}
			seen[k] = true
			wrong = append(wrong, sameLine(k, lines[k], n, sum)...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for k, l := range lines {
		if !seen[k] && (k.class != "correct" || k.reason != "equal") {
			wrong = append(wrong, fmt.Sprintf("%s: no row among the exceptions, the statement says %d", k, l.rows))
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}

// vacuous tells whether a run has nothing to compare (V38); false where the job does
// not mind, or is not known.
func (v *checker) vacuous() bool {
	if v.job == nil || v.job.MayBeEmpty {
		return false
	}
	linked := slices.ContainsFunc(v.counts[rules.Operations], func(c narrowCount) bool { return c.pass != "" })
	return len(v.counts[rules.Operations]) == 0 || len(v.counts[rules.Results]) == 0 || !linked
}

func currencyText(c string) string { return cmp.Or(c, "no currency") }
