package rehearsal

import (
	"math/big"
	"slices"
	"strings"
)

// addMoney adds up decimal texts by currency, exactly; the result is in the order of
// the currencies.
func addMoney(a, b []Money) []Money {
	out := slices.Clone(a)
	for _, m := range b {
		i := slices.IndexFunc(out, func(o Money) bool { return o.Currency == m.Currency })
		if i < 0 {
			out = append(out, m)
			continue
		}
		out[i].Amount = addDecimals(out[i].Amount, m.Amount)
	}
	slices.SortFunc(out, func(x, y Money) int { return strings.Compare(x.Currency, y.Currency) })
	return out
}

// addDecimals adds two decimal texts of the engine, which have as many digits behind
// the point as the column.
func addDecimals(a, b string) string {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY {
		panic("rehearsal: " + a + " or " + b + " is no decimal") // the engine wrote them
	}
	return x.Add(x, y).FloatString(max(decimals(a), decimals(b)))
}

func decimals(text string) int {
	_, part, _ := strings.Cut(text, ".")
	return len(part)
}
