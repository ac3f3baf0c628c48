package bank

import (
	"math/big"
	"strings"
)

// decimal is an exact number: units × 10^-scale. Amounts of all formats have at
// most 18 digits (ISO 20022 ActiveCurrencyAndAmount; MT has 15, BAI2 and Nacha less).
type decimal struct {
	units int64
	scale int
}

const maxDigits = 18

// parseDecimal reads digits with at most one decimal mark: no sign, no groups, no
// exponent. It is false for anything else.
func parseDecimal(s string, mark byte) (decimal, bool) {
	var d decimal
	digits, marked, seen := 0, false, false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if digits > 0 || c != '0' {
				digits++
			}
			if digits > maxDigits {
				return d, false
			}
			seen = true
			d.units = d.units*10 + int64(c-'0')
			if marked {
				d.scale++
			}
		case c == mark && !marked:
			marked = true
		default:
			return d, false
		}
	}
	return d, seen && d.scale <= maxDigits
}

func (d decimal) negate(yes bool) decimal {
	if yes {
		d.units = -d.units
	}
	return d
}

// String writes it with all its decimals: -12.50, 0.00, 7.
func (d decimal) String() string {
	return decimalText(itoa(d.units), d.scale)
}

// decimalText puts the point into the digits of an integer.
func decimalText(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	digits, negative := strings.CutPrefix(digits, "-")
	if n := scale + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	text := digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	if negative {
		return "-" + text
	}
	return text
}

// total is an exact sum of any number of decimals.
type total struct {
	v     big.Int
	scale int
	tmp   big.Int
}

var ten = big.NewInt(10)

// rescale brings the sum to at least n decimals.
func (t *total) rescale(n int) {
	for ; t.scale < n; t.scale++ {
		t.v.Mul(&t.v, ten)
	}
}

func (t *total) add(d decimal) {
	t.rescale(d.scale)
	t.tmp.SetInt64(d.units)
	for s := d.scale; s < t.scale; s++ {
		t.tmp.Mul(&t.tmp, ten)
	}
	t.v.Add(&t.v, &t.tmp)
}

func (t *total) addTotal(o *total) {
	t.rescale(o.scale)
	t.tmp.Set(&o.v)
	for s := o.scale; s < t.scale; s++ {
		t.tmp.Mul(&t.tmp, ten)
	}
	t.v.Add(&t.v, &t.tmp)
}

// addText adds what String wrote; "" is nothing.
func (t *total) addText(s string) {
	whole, fraction, _ := strings.Cut(s, ".")
	var o total
	if o.scale = len(fraction); s == "" {
		return
	}
	if _, ok := o.v.SetString(whole+fraction, 10); !ok {
		panic("bank: " + quote(s) + " is no sum of ours")
	}
	t.addTotal(&o)
}

// is tells whether the sum is the number d.
func (t *total) is(d decimal) bool {
	var diff total
	diff.addTotal(t)
	diff.add(d.negate(true))
	return diff.v.Sign() == 0
}

// equal tells whether two sums are one number.
func (t *total) equal(o *total) bool {
	var a, b total
	a.addTotal(t)
	b.addTotal(o)
	a.rescale(b.scale)
	b.rescale(a.scale)
	return a.v.Cmp(&b.v) == 0
}

func (t *total) String() string { return decimalText(t.v.String(), t.scale) }

// decimal is the sum as one number; false where it has more digits than one.
func (t *total) decimal() (decimal, bool) {
	return decimal{units: t.v.Int64(), scale: t.scale}, t.v.IsInt64()
}

// plus is t + d as text.
func (t *total) plus(d decimal) *total {
	var s total
	s.addTotal(t)
	s.add(d)
	return &s
}
