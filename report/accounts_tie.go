package report

import (
	"fmt"
	"math/big"
)

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
