package report

import (
	"cmp"
	"math/big"
	"regexp"
	"strings"

	"github.com/bojanz/currency"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// decimalText is what the engine prints for a DECIMAL, and what extract calls
// the canonical form of a number.
var decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// parseExact reads a decimal text; nothing else (no exponent, no fraction).
func parseExact(text string) (*big.Rat, error) {
	if !decimalText.MatchString(text) {
		return nil, fail.New(fail.Internal, "%q is not a decimal number", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fail.New(fail.Internal, "%q is not a decimal number", text)
	}
	return r, nil
}

// amountText prints an exact amount with the minor digits of its currency
// (ISO 4217), and with more only where the amount has more. An unknown currency
// has no minor digits of its own.
func amountText(r *big.Rat, code string) string {
	return r.FloatString(decimals(r, code))
}

// decimals is how many decimals show an amount of the currency exactly.
func decimals(r *big.Rat, code string) int {
	digits, _ := r.FloatPrec() // exact: every amount is a decimal
	if d, ok := currency.GetDigits(code); ok && int(d) > digits {
		digits = int(d)
	}
	return digits
}

// Grouped is a decimal text with commas between thousands, for people: as the report
// prints amounts.
func Grouped(text string) string { return grouped(text) }

// grouped sets commas between thousands, for people: -1234567.50 becomes
// -1,234,567.50. A text that is no decimal stays as it is.
func grouped(text string) string {
	if !decimalText.MatchString(text) {
		return text
	}
	sign, rest := "", text
	if strings.HasPrefix(rest, "-") {
		sign, rest = "-", rest[1:]
	}
	whole, frac, _ := strings.Cut(rest, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if frac != "" {
		b.WriteByte('.')
		b.WriteString(frac)
	}
	return b.String()
}

// exactTexts reads decimal texts of the summary, "" as 0, and keeps the first error.
type exactTexts struct{ err error }

func (x *exactTexts) number(text string) *big.Rat {
	if text == "" {
		return new(big.Rat)
	}
	r, err := parseExact(text)
	if err != nil {
		x.err = cmp.Or(x.err, err)
		return new(big.Rat)
	}
	return r
}

// isZero tells whether a decimal text is zero.
func isZero(text string) bool { return strings.Trim(text, "-0.") == "" }
