package extract

import "github.com/bojanz/currency"

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
