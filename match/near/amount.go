package near

import "strings"

// amount is a decimal as its digits: the value is its sign times digits / 10^scale.
// Digits have no zero in front and, behind the mark, none at the end; zero has none at all.
type amount struct {
	minus  bool
	digits string
	scale  int
}

// parseAmount reads a decimal as the engine writes it: -?digits(.digits)?
func parseAmount(text string) amount {
	digits, minus := strings.CutPrefix(text, "-")
	whole, rest, _ := strings.Cut(digits, ".")
	return amount{minus, whole + rest, len(rest)}.canonical()
}

func (a amount) canonical() amount {
	for a.scale > 0 && strings.HasSuffix(a.digits, "0") {
		a.digits, a.scale = a.digits[:len(a.digits)-1], a.scale-1
	}
	a.digits = strings.TrimLeft(a.digits, "0")
	if a.digits == "" {
		return amount{}
	}
	return a
}

// at writes the digits for a number of decimals, which must not be fewer than it has, with
// a zero before the mark where there is nothing else.
func (a amount) at(scale int) string {
	s := a.digits + strings.Repeat("0", scale-a.scale)
	if len(s) <= scale {
		s = strings.Repeat("0", scale+1-len(s)) + s
	}
	return s
}

// times10 moves the mark; by may be negative.
func (a amount) times10(by int) amount {
	if a.digits == "" {
		return a
	}
	if a.scale -= by; a.scale < 0 {
		a.digits, a.scale = a.digits+strings.Repeat("0", -a.scale), 0
	}
	return a.canonical()
}

// AmountKind is how two amounts that differ come near each other.
type AmountKind int

// Kinds of near misses of amounts.
const (
	AmountFar    AmountKind = iota
	SignFlipped             // the result is the operation with the other sign
	Times10                 // the result is 10 times the operation
	Times100                // 100 times
	Tenth                   // a tenth of it
	Hundredth               // a hundredth
	DigitsTurned            // two neighbouring digits are swapped
)

var shifts = []struct {
	kind AmountKind
	by   int
}{{Times10, 1}, {Times100, 2}, {Tenth, -1}, {Hundredth, -2}}

// amountKind tells how the amount of a result comes near that of an operation; both differ.
func amountKind(o, r amount) AmountKind {
	found := AmountFar
	o.each(func(kind AmountKind, value amount) {
		if found == AmountFar && value == r {
			found = kind
		}
	})
	return found
}

// each calls f for every amount that is near. Digits are swapped at the decimals of
// whichever of both amounts has more: that is one decimal more than a has, at most, since
// a last digit may be swapped with a zero that is not written.
func (a amount) each(f func(AmountKind, amount)) {
	if a.digits == "" {
		return
	}
	turned := a
	turned.minus = !a.minus
	f(SignFlipped, turned)
	for _, s := range shifts {
		f(s.kind, a.times10(s.by))
	}
	digits := []byte(a.at(a.scale + 1))
	for i := 1; i < len(digits); i++ {
		if digits[i] == digits[i-1] || i == 1 && digits[i] == '0' && len(digits) > a.scale+2 {
			continue // the same, or a zero in front, which nobody writes
		}
		digits[i], digits[i-1] = digits[i-1], digits[i]
		f(DigitsTurned, amount{a.minus, string(digits), a.scale + 1}.canonical())
		digits[i], digits[i-1] = digits[i-1], digits[i]
	}
}
