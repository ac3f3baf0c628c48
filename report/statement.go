package report

import (
	"math/big"
	"slices"
	"sort"

	"github.com/recon-batch/recon-batch/rules"
)

// needsWork tells whether a verdict keeps the day from closing. Copies and
// former attempts of the same thing do not (V32).
func needsWork(class, reason string) bool {
	if class == "duplicate" {
		return reason != "identical_copy" && reason != "superseded_attempt"
	}
	return !settledClass(class)
}

// hasAmount tells whether a side declares an amount that can be added up: a
// decimal field of that name, as extraction adds it up.
func hasAmount(job *rules.Job, side rules.Side) bool {
	f := job.Spec(side).Field("amount")
	return f != nil && f.Type == rules.Decimal
}

// statements builds the statement of each currency, in the order of codes.
func (m *measures) statements(in *Input) []Statement {
	codes := map[string]bool{}
	for _, side := range rules.Sides {
		for _, t := range m.totals[side] {
			codes[t.currency] = true
		}
		for _, t := range in.relation(side).Totals {
			codes[t.Currency] = true
		}
	}
	sorted := make([]string, 0, len(codes))
	for c := range codes {
		sorted = append(sorted, c)
	}
	sort.Strings(sorted)
	out := make([]Statement, 0, len(sorted))
	for _, c := range sorted {
		out = append(out, m.statement(in, c))
	}
	return out
}

func (m *measures) statement(in *Input, code string) Statement {
	type line struct {
		rows   map[rules.Side]int64
		amount map[rules.Side]*big.Rat
	}
	type key struct{ class, reason string }
	lines := map[key]*line{}
	outside := map[rules.Side]*big.Rat{rules.Operations: {}, rules.Results: {}}
	inside := map[rules.Side]*big.Rat{rules.Operations: {}, rules.Results: {}}
	read := map[rules.Side]*big.Rat{rules.Operations: {}, rules.Results: {}}
	rows := map[rules.Side]int64{}
	s := Statement{Currency: code, Closes: true, Lines: []StatementLine{}}
	for _, side := range rules.Sides {
		for _, t := range in.relation(side).Totals {
			if t.Currency != code {
				continue
			}
			s.Unreadable += t.Unreadable
			if t.Sum != nil {
				read[side].Add(read[side], t.Sum)
			}
		}
		for _, t := range m.totals[side] {
			if t.currency != code {
				continue
			}
			if !t.inPeriod {
				if t.amount != nil {
					outside[side].Add(outside[side], t.amount)
				}
				continue
			}
			k := key{t.class, t.reason}
			l := lines[k]
			if l == nil {
				l = &line{map[rules.Side]int64{}, map[rules.Side]*big.Rat{rules.Operations: {}, rules.Results: {}}}
				lines[k] = l
			}
			l.rows[side] += t.rows
			rows[side] += t.rows
			if t.amount != nil {
				l.amount[side].Add(l.amount[side], t.amount)
				inside[side].Add(inside[side], t.amount)
			}
			if needsWork(t.class, t.reason) {
				s.Closes = false
			}
		}
	}
	keys := make([]key, 0, len(lines))
	for k := range lines {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := slices.Index(classOrder, keys[i].class), slices.Index(classOrder, keys[j].class)
		if a != b {
			return a < b
		}
		return keys[i].reason < keys[j].reason
	})
	// One statement has one number of decimals: those of the currency, or more
	// where an amount has more.
	digits := 0
	for _, r := range []*big.Rat{read[rules.Operations], read[rules.Results], inside[rules.Operations], inside[rules.Results], outside[rules.Operations], outside[rules.Results]} {
		digits = max(digits, decimals(r, code))
	}
	for _, l := range lines {
		digits = max(digits, decimals(l.amount[rules.Operations], code), decimals(l.amount[rules.Results], code))
	}
	money := func(r *big.Rat) string { return r.FloatString(digits) }
	if !hasAmount(in.Bound.Job, rules.Operations) && !hasAmount(in.Bound.Job, rules.Results) {
		money = func(*big.Rat) string { return "" }
	}
	for _, k := range keys {
		l := lines[k]
		s.Lines = append(s.Lines, StatementLine{
			Class: k.class, Reason: k.reason,
			OperationRows: l.rows[rules.Operations], OperationAmount: money(l.amount[rules.Operations]),
			ResultRows: l.rows[rules.Results], ResultAmount: money(l.amount[rules.Results]),
			Difference: money(new(big.Rat).Sub(l.amount[rules.Results], l.amount[rules.Operations])),
		})
	}
	s.OperationsRead, s.ResultsRead = money(read[rules.Operations]), money(read[rules.Results])
	s.OperationsOutside, s.ResultsOutside = money(outside[rules.Operations]), money(outside[rules.Results])
	s.Operations, s.Results = money(inside[rules.Operations]), money(inside[rules.Results])
	s.Difference = money(new(big.Rat).Sub(inside[rules.Results], inside[rules.Operations]))
	s.OperationRows, s.ResultRows = rows[rules.Operations], rows[rules.Results]
	return s
}
