package extract

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/recon-batch/recon-batch/rules"
)

// maxDigits is the number of decimal digits that a value may have, before and
// after the mark together: what DECIMAL(38) and a signed 128-bit integer hold.
const maxDigits = 38

// dec is an exact decimal, ±(hi·2^64 + lo)·10^−scale, always in lowest terms:
// no trailing zero behind the mark, no minus zero, magnitude below 10^38, scale
// 0 to 38. Two decs are equal as values exactly if they are equal as structs.
type dec struct {
	hi, lo uint64
	scale  int
	neg    bool
}

// decimalForm is how a field writes its decimals (rules.Field).
type decimalForm struct {
	mark        byte // between whole and fraction
	group       byte // between groups of exactly three digits; 0 none
	parentheses bool // (12.30) is negative
	trailing    bool // 12.30- is negative
}

func newDecimalForm(f rules.Field, src *rules.Source) decimalForm {
	d := decimalForm{mark: f.DecimalMark, group: f.GroupMark}
	if src != nil {
		if d.mark == 0 {
			d.mark = src.CSV.Decimal
		}
		if d.group == 0 {
			d.group = src.CSV.Group
		}
	}
	if d.mark == 0 {
		d.mark = '.'
	}
	for _, n := range f.Notation {
		switch n {
		case "parentheses":
			d.parentheses = true
		case "trailing_minus":
			d.trailing = true
		}
	}
	return d
}

// parse reads a decimal exactly. Readable are a leading sign, a missing digit
// before or after the mark (.5, 8.), leading and trailing zeros, declared groups
// of exactly three digits, and an exponent (1.50E+2). Everything else is not:
// other marks, blanks, NaN, infinities, hexadecimal, more than 38 digits.
func (f *decimalForm) parse(b []byte) (dec, bool) {
	neg, b, ok := f.sign(b)
	if !ok {
		return dec{}, false
	}
	var (
		d        dec
		digits   int   // significant digits in the coefficient
		pending  int   // zeros after the last of them, not yet in the coefficient
		fraction int64 // digits seen behind the mark
		seen     bool  // any digit at all
		inGroup  = -1  // digits since the last group mark; -1 before the first
		whole    int   // digits before the mark
		behind   bool
		i        int
	)
scan:
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			seen = true
			if behind {
				fraction++
			} else {
				whole++
				if inGroup >= 0 {
					inGroup++
				}
			}
			if c == '0' {
				if digits > 0 {
					pending++
				}
				continue
			}
			digits += pending + 1
			if digits > maxDigits {
				return dec{}, false
			}
			d.shift(pending + 1)
			var carry uint64
			d.lo, carry = bits.Add64(d.lo, uint64(c-'0'), 0)
			d.hi += carry
			pending = 0
		case c == f.mark && !behind:
			if inGroup >= 0 && inGroup != 3 {
				return dec{}, false
			}
			behind = true
		case f.group != 0 && c == f.group && !behind:
			if inGroup < 0 && (whole == 0 || whole > 3) || inGroup >= 0 && inGroup != 3 {
				return dec{}, false
			}
			inGroup = 0
		case c == 'e' || c == 'E':
			break scan
		default:
			return dec{}, false
		}
	}
	if !seen || !behind && inGroup >= 0 && inGroup != 3 {
		return dec{}, false
	}
	var exponent int64
	if i < len(b) {
		if exponent, ok = parseExponent(b[i+1:]); !ok {
			return dec{}, false
		}
	}
	if digits == 0 {
		return dec{}, true // every spelling of zero, minus zero too
	}
	d.neg = neg
	return d.settle(fraction-int64(pending)-exponent, digits)
}

// quick reads what nearly every file writes: an optional minus, up to 18 digits,
// the mark among or before or behind them. It reads them as parse does, and returns
// false for every other text, which is for parse to judge. Where the text, but for
// zeros at its end, is the canonical one, canonical is that part of it.
func (f *decimalForm) quick(b []byte) (d dec, canonical []byte, ok bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		d.neg, digits = true, b[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return dec{}, nil, false
	}
	point := -1
	for i, c := range digits {
		if n := c - '0'; n <= 9 {
			d.lo = d.lo*10 + uint64(n)
		} else if c == f.mark && point < 0 {
			point = i
		} else {
			return dec{}, nil, false
		}
	}
	if point < 0 {
		if len(digits) > 18 {
			return dec{}, nil, false
		}
		point = len(digits)
	} else if len(digits) == 1 {
		return dec{}, nil, false
	}
	if d.lo == 0 {
		return dec{}, nil, true // every spelling of zero, minus zero too
	}
	canonical = b
	if point < len(digits) {
		d.scale = len(digits) - 1 - point
		for d.scale > 0 && canonical[len(canonical)-1] == '0' {
			d.lo /= 10
			d.scale--
			canonical = canonical[:len(canonical)-1]
		}
		if d.scale == 0 {
			canonical = canonical[:len(canonical)-1] // the mark
		}
	}
	if point == 0 || digits[0] == '0' && point > 1 || f.mark != '.' {
		canonical = nil
	}
	return d, canonical, true
}

// settle gives d the scale, which may be negative so far, in lowest terms.
// digits is the number of digits of the coefficient, whose last one is not 0.
func (d dec) settle(scale int64, digits int) (dec, bool) {
	if scale > maxDigits {
		return dec{}, false
	}
	if scale < 0 {
		if int64(digits)-scale > maxDigits {
			return dec{}, false
		}
		d.shift(int(-scale))
		scale = 0
	}
	d.scale = int(scale)
	return d, true
}

// sign takes the sign off the text, in whichever declared notation it is written.
func (f *decimalForm) sign(b []byte) (neg bool, rest []byte, ok bool) {
	if len(b) == 0 {
		return false, nil, false
	}
	switch {
	case b[0] == '-' || b[0] == '+':
		neg, b = b[0] == '-', b[1:]
	case f.parentheses && b[0] == '(' && b[len(b)-1] == ')':
		neg, b = true, b[1:len(b)-1]
	case f.trailing && b[len(b)-1] == '-':
		neg, b = true, b[:len(b)-1]
	}
	return neg, b, len(b) > 0
}

// parseExponent reads the digits behind the E. Values beyond a billion stay
// there: a number other than zero is then out of range whatever its digits, since
// a cell holds fewer than that.
func parseExponent(b []byte) (int64, bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg, b = b[0] == '-', b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n < 1<<40 {
			n = n*10 + int64(c-'0')
		}
	}
	if neg {
		n = -n
	}
	return n, true
}

// pow10 holds 10^0 to 10^19, the powers of ten that a uint64 holds.
var pow10 = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// shift multiplies the coefficient by 10^n; the caller has checked that the
// result has at most 38 digits.
func (d *dec) shift(n int) {
	for n > 0 {
		step := min(n, 19)
		hi, lo := bits.Mul64(d.lo, pow10[step])
		d.hi, d.lo = d.hi*pow10[step]+hi, lo
		n -= step
	}
}

// digits counts the decimal digits of the coefficient; 0 has none.
func (d dec) digits() int {
	if d.hi == 0 {
		// 1233/4096 is a little more than the logarithm of 2: the guess is the number
		// of digits, or one more.
		n := bits.Len64(d.lo) * 1233 >> 12
		if n < len(pow10) && d.lo >= pow10[n] {
			n++
		}
		return n
	}
	var buf [48]byte
	return len(d.appendCoefficient(buf[:0]))
}

func (d dec) isZero() bool { return d.hi|d.lo == 0 }

// appendCoefficient appends the digits of the coefficient without sign and mark.
func (d dec) appendCoefficient(b []byte) []byte {
	if d.hi == 0 {
		return strconv.AppendUint(b, d.lo, 10)
	}
	// 10^38 < 2^127, so the quotient by 10^19 fits one word.
	q, r := bits.Div64(d.hi%pow10[19], d.lo, pow10[19])
	b = strconv.AppendUint(b, q, 10)
	var tail [20]byte
	t := strconv.AppendUint(tail[:0], r, 10)
	for range 19 - len(t) {
		b = append(b, '0')
	}
	return append(b, t...)
}

// appendText appends the canonical text: ^-?(0|[1-9]\d*)(\.\d*[1-9])?$, never "-0".
func (d dec) appendText(b []byte) []byte {
	if d.neg {
		b = append(b, '-')
	}
	if d.scale == 0 {
		return d.appendCoefficient(b)
	}
	var buf [48]byte
	c := d.appendCoefficient(buf[:0])
	if len(c) <= d.scale {
		b = append(b, '0', '.')
		for range d.scale - len(c) {
			b = append(b, '0')
		}
		return append(b, c...)
	}
	b = append(b, c[:len(c)-d.scale]...)
	b = append(b, '.')
	return append(b, c[len(c)-d.scale:]...)
}

func (d dec) String() string { return string(d.appendText(nil)) }

// fixed gives d as a 128-bit integer in units of 10^−scale, of at most precision
// digits. It is false where d has more decimals or more digits: nothing is
// rounded on the way in.
func (d dec) fixed(precision, scale int) (decimal128.Num, bool) {
	if k := scale - d.scale; d.hi == 0 && k >= 0 && k <= 8 && precision >= 28 {
		// 20 digits and 8 more
		hi, lo := bits.Mul64(d.lo, pow10[k])
		n := decimal128.New(int64(hi), lo)
		if d.neg {
			n = n.Negate()
		}
		return n, true
	}
	if d.scale > scale || d.digits()+scale-d.scale > precision && !d.isZero() {
		return decimal128.Num{}, false
	}
	d.shift(scale - d.scale)
	n := decimal128.New(int64(d.hi), d.lo)
	if d.neg {
		n = n.Negate()
	}
	return n, true
}

// minor divides by 10^exponent: an amount in minor units becomes one in major
// units. It is false where the result has more than 38 decimals.
func (d dec) minor(exponent int) (dec, bool) {
	d.scale += exponent
	d = d.reduce()
	return d, d.scale <= maxDigits
}

// reduce brings d to lowest terms.
func (d dec) reduce() dec {
	if d.isZero() {
		return dec{}
	}
	for d.scale > 0 {
		q, r := d.divide(1)
		if r != 0 {
			break
		}
		d.hi, d.lo = q.hi, q.lo
		d.scale--
	}
	return d
}

// divide divides the coefficient by 10^n, n 1 to 19.
func (d dec) divide(n int) (q dec, r uint64) {
	p := pow10[n]
	q.hi = d.hi / p
	q.lo, r = bits.Div64(d.hi%p, d.lo, p)
	return q, r
}

// round rounds to the places behind the mark, halves away from zero or to the
// even neighbour (rules.Round).
func (d dec) round(r *rules.Round) dec {
	drop := d.scale - r.Places
	if drop <= 0 {
		return d
	}
	c := d.big()
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(drop)), nil)
	q, rest := new(big.Int).QuoRem(c.Abs(c), unit, new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(unit) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		if r.Halves != "to_even" || q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	out := dec{neg: d.neg, scale: r.Places}
	var b [16]byte
	q.FillBytes(b[:])
	for i := range 8 {
		out.hi = out.hi<<8 | uint64(b[i])
		out.lo = out.lo<<8 | uint64(b[i+8])
	}
	return out.reduce()
}

// plus adds exactly; false where the sum has more than 38 digits.
func (d dec) plus(o dec) (dec, bool) {
	scale := max(d.scale, o.scale)
	c := new(big.Int).Add(scaled(d, scale), scaled(o, scale))
	out := dec{neg: c.Sign() < 0, scale: scale}
	if c.Abs(c).Cmp(limit38) >= 0 {
		return dec{}, false
	}
	var b [16]byte
	c.FillBytes(b[:])
	out.hi, out.lo = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	return out.reduce(), true
}

// scaled is the coefficient in units of 10^−scale, which is not above d's own.
func scaled(d dec, scale int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale-d.scale)), nil)
	return unit.Mul(unit, d.big())
}

// limit38 is 10^38: coefficients are below it.
var limit38 = new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil)

// big gives the signed coefficient.
func (d dec) big() *big.Int {
	c := new(big.Int).SetUint64(d.hi)
	c.Lsh(c, 64).Or(c, new(big.Int).SetUint64(d.lo))
	if d.neg {
		c.Neg(c)
	}
	return c
}

// rat gives the value as a fraction.
func (d dec) rat() *big.Rat {
	den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.scale)), nil)
	return new(big.Rat).SetFrac(d.big(), den)
}
