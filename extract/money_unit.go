package extract

import (
	"github.com/bojanz/currency"

	"github.com/recon-batch/recon-batch/rules"
)

// unit is the unit that a source writes its amounts in, and how many decimals they
// may have: those of the currency's minor unit by ISO 4217, or by the provider's own
// table, and those declared beyond. Nothing is rounded: an amount with more is
// unreadable.
type unit struct {
	of        int // field index of the currency; -1: any number of decimals, in major units
	minor     bool
	exponents map[string]int // the provider's deviations
	extra     int
}

func newUnit(f rules.Field, fieldIndex func(string) int) unit {
	switch {
	case f.MinorUnitsOf != "":
		return unit{of: fieldIndex(f.MinorUnitsOf), minor: true, exponents: f.Exponents, extra: f.ExtraDecimals}
	case f.MajorUnitsOf != "":
		return unit{of: fieldIndex(f.MajorUnitsOf), exponents: f.Exponents, extra: f.ExtraDecimals}
	default:
		return unit{of: -1}
	}
}

// apply gives the amount in major units. It is false where the currency is unknown
// or the amount has more decimals than it may.
func (u *unit) apply(d dec, currency *value) (dec, bool) {
	exponent, ok := u.exponent(currency)
	if !ok {
		return d, false
	}
	if u.minor {
		if d.scale > u.extra {
			return d, false
		}
		return d.minor(exponent)
	}
	return d, d.scale <= exponent+u.extra
}

// exponent finds the decimals of the minor unit of the record's currency.
func (u *unit) exponent(c *value) (int, bool) {
	code := c.code
	if c.null || c.bad {
		return 0, false
	}
	if code == ([3]byte{}) && !currencyCode(c.text, &code) {
		return 0, false
	}
	if n, ok := u.exponents[string(code[:])]; ok {
		return n, true
	}
	return minorExponent(string(code[:]))
}

// minorExponent tells how many decimals the minor unit of a currency has by
// ISO 4217 (USD 2, JPY 0, KWD 3, CLF 4). It is false for codes that the standard
// does not list or gives no minor unit, such as XXX: nothing is assumed.
func minorExponent(code string) (int, bool) {
	n, ok := currency.GetDigits(code)
	return int(n), ok && !noMinorUnit[code]
}

// noMinorUnit lists the codes whose minor unit ISO 4217 marks "N.A.": metals, bond
// market units, fund codes, test codes.
var noMinorUnit = map[string]bool{
	"XAU": true, "XAG": true, "XPD": true, "XPT": true, "XDR": true, "XSU": true, "XUA": true,
	"XBA": true, "XBB": true, "XBC": true, "XBD": true, "XTS": true, "XXX": true,
}

// currencyCode writes three ASCII letters in upper case into b. Anything else is
// no currency: a symbol, a number, a name.
func currencyCode(text []byte, b *[3]byte) bool {
	if len(text) != 3 {
		return false
	}
	for i, c := range text {
		switch {
		case c >= 'A' && c <= 'Z':
			b[i] = c
		case c >= 'a' && c <= 'z':
			b[i] = c - 'a' + 'A'
		default:
			return false
		}
	}
	return true
}
