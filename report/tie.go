package report

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sort"
	"strings"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Tie asserts conservation (design §3, rule 1) on the relations that classify
// left and on both sides as extraction saw them:
//
//   - per file: records = rejected + classified, and a file that was not staged
//     has no row;
//   - each row has one verdict of the closed list;
//   - the totals relation counts the same rows as the verdicts do (that the rows were
//     written with them, Reproduce asserts);
//   - per side and currency: rows and sum equal what extraction added up on its
//     own while parsing, to the last digit.
//
// The fifth tie, results − operations = Σ differences by class, is asserted on
// the finished statement by Build. The first breach is returned as an error of
// class Integrity with the counts; then nothing may be published.
func Tie(ctx context.Context, db *duck.DB, in *Input) error {
	m, err := measure(ctx, db)
	if err != nil {
		return err
	}
	return m.tie(in)
}

func (m *measures) tie(in *Input) error {
	for _, side := range rules.Sides {
		rel := in.relation(side)
		for _, check := range []func(rules.Side, *extract.Relation) error{m.tieFiles, m.tieVerdicts, m.tieCounts} {
			if err := check(side, rel); err != nil {
				return err
			}
		}
		if !hasAmount(in.Bound.Job, side) {
			continue // extraction has nothing to add up
		}
		if err := m.tieTotals(side, rel); err != nil {
			return err
		}
	}
	return nil
}

// breach is an integrity error with its remedy.
func breach(format string, args ...any) error {
	return fail.New(fail.Integrity, format, args...).
		WithHint("this is a bug: nothing was published; keep the inputs and the job file, and report it with these counts")
}

func (m *measures) tieFiles(side rules.Side, rel *extract.Relation) error {
	classified := map[int]int64{}
	var all int64
	for _, v := range m.verdicts[side] {
		classified[v.file] += v.rows
		all += v.rows
	}
	listed := map[int]int64{}
	for _, r := range rel.Rejects {
		listed[r.File]++
	}
	for _, f := range rel.Files {
		n := classified[f.No]
		delete(classified, f.No)
		if f.Status != extract.FileStaged {
			if n != 0 {
				return breach("%s, source %s, file %s: %d rows are classified, but the file is %s", side, f.Source, f.Name, n, f.Status)
			}
			continue
		}
		if f.Records != f.Rejected+n {
			return breach("%s, source %s, file %s: %d records were read (beside %d control and %d excluded ones), but %d are rejected and %d classified",
				side, f.Source, f.Name, f.Records, f.Control, f.Excluded, f.Rejected, n)
		}
		if listed[f.No] != f.Rejected {
			return breach("%s, source %s, file %s: %d records are rejected, but %d are listed", side, f.Source, f.Name, f.Rejected, listed[f.No])
		}
	}
	for _, no := range slices.Sorted(maps.Keys(classified)) {
		return breach("%s: %d rows belong to file number %d, which was not read", side, classified[no], no)
	}
	if all != rel.Records {
		return breach("%s: %d rows were staged, but %d are classified", side, rel.Records, all)
	}
	return nil
}

func (m *measures) tieVerdicts(side rules.Side, _ *extract.Relation) error {
	for _, v := range m.verdicts[side] {
		if !slices.Contains(classOrder, v.class) || v.reason == "" {
			return breach("%s: %d rows have no verdict of the closed list (class %q, reason %q)", side, v.rows, v.class, v.reason)
		}
	}
	x := m.residual[side]
	if x.verdicts != x.distinct {
		return breach("%s: %d rows have more than one verdict", side, x.verdicts-x.distinct)
	}
	if x.unmatched != 0 || x.rows != x.verdicts {
		return breach("%s: %d rows are to be judged one by one, but %d verdicts were given (%d without a partner)", side, x.rows, x.verdicts, x.unmatched)
	}
	return nil
}

func (m *measures) tieCounts(side rules.Side, _ *extract.Relation) error {
	type key struct {
		inPeriod      bool
		class, reason string
	}
	diff := map[key]int64{}
	for _, v := range m.verdicts[side] {
		diff[key{v.inPeriod, v.class, v.reason}] += v.rows
	}
	for _, t := range m.totals[side] {
		diff[key{t.inPeriod, t.class, t.reason}] -= t.rows
	}
	var broken []string
	for k, n := range diff {
		if n != 0 {
			broken = append(broken, fmt.Sprintf("%s/%s (in the period: %t) by %d", k.class, k.reason, k.inPeriod, n))
		}
	}
	if len(broken) > 0 {
		sort.Strings(broken)
		return breach("%s: rows and totals disagree: %s", side, strings.Join(broken, ", "))
	}
	return nil
}

func (m *measures) tieTotals(side rules.Side, rel *extract.Relation) error {
	type sum struct {
		rows   int64
		amount *big.Rat
	}
	engine := map[string]*sum{}
	at := func(code string) *sum {
		if engine[code] == nil {
			engine[code] = &sum{amount: new(big.Rat)}
		}
		return engine[code]
	}
	for _, t := range m.totals[side] {
		s := at(t.currency)
		s.rows += t.rows
		if t.amount != nil {
			s.amount.Add(s.amount, t.amount)
		}
	}
	parsed := map[string]*sum{}
	for _, t := range rel.Totals {
		s := parsed[t.Currency]
		if s == nil {
			s = &sum{amount: new(big.Rat)}
			parsed[t.Currency] = s
		}
		s.rows += t.Rows
		if t.Sum != nil {
			s.amount.Add(s.amount, t.Sum)
		}
		at(t.Currency)
	}
	codes := make([]string, 0, len(engine))
	for code := range engine {
		codes = append(codes, code)
	}
	sort.Strings(codes)
	for _, code := range codes {
		e, p := engine[code], parsed[code]
		if p == nil {
			p = &sum{amount: new(big.Rat)}
		}
		if e.rows != p.rows {
			return breach("%s, currency %q: extraction counted %d rows, the engine %d", side, code, p.rows, e.rows)
		}
		if e.amount.Cmp(p.amount) != 0 {
			return breach("%s, currency %q: extraction added up %s, the engine %s", side, code, amountText(p.amount, code), amountText(e.amount, code))
		}
	}
	return nil
}

// tieStatement asserts that each statement leads from one read total to the
// other without a remainder. It reads the texts that will be published.
func tieStatement(statements []Statement) error {
	for _, s := range statements {
		if s.Operations == "" {
			continue // no amounts are declared
		}
		var bad error
		num := func(text string) *big.Rat {
			r, err := parseExact(text)
			if err != nil {
				bad = err
				return new(big.Rat)
			}
			return r
		}
		ops := new(big.Rat).Sub(num(s.OperationsRead), num(s.OperationsOutside))
		run := new(big.Rat).Set(ops)
		sumO, sumR := new(big.Rat), new(big.Rat)
		for _, l := range s.Lines {
			run.Add(run, num(l.Difference))
			sumO.Add(sumO, num(l.OperationAmount))
			sumR.Add(sumR, num(l.ResultAmount))
		}
		res := new(big.Rat).Sub(num(s.ResultsRead), num(s.ResultsOutside))
		diff := new(big.Rat).Sub(res, ops)
		ok := ops.Cmp(num(s.Operations)) == 0 && res.Cmp(num(s.Results)) == 0 && run.Cmp(res) == 0 &&
			sumO.Cmp(ops) == 0 && sumR.Cmp(res) == 0 && diff.Cmp(num(s.Difference)) == 0
		if bad != nil {
			return bad
		}
		if !ok {
			return breach("currency %q: operations %s and the differences by class lead to %s, but the results total is %s",
				s.Currency, amountText(ops, s.Currency), amountText(run, s.Currency), amountText(res, s.Currency))
		}
	}
	return nil
}
