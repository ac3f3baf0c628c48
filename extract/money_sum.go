package extract

import (
	"math/big"
	"math/bits"
)

// decSum adds decimals exactly. It keeps one 128-bit integer for each number of
// decimals, so that adding is two machine additions, and spills into a fraction
// before one of them could overflow.
type decSum struct {
	byScale [maxDigits + 1]int128
	spilled *big.Rat
}

// int128 is a signed integer in two's complement.
type int128 struct{ hi, lo uint64 }

func (s *decSum) add(d dec) {
	hi, lo := d.hi, d.lo
	if d.neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	t := &s.byScale[d.scale]
	sumLo, carry := bits.Add64(t.lo, lo, 0)
	sumHi, _ := bits.Add64(t.hi, hi, carry)
	// Two addends of one sign and a sum of the other: the sum does not fit.
	if (t.hi^sumHi)&(hi^sumHi)>>63 == 1 {
		s.spill(d.scale)
		t.hi, t.lo = hi, lo
		return
	}
	t.hi, t.lo = sumHi, sumLo
}

// spill moves the integer of one scale into the fraction.
func (s *decSum) spill(scale int) {
	if s.spilled == nil {
		s.spilled = new(big.Rat)
	}
	s.spilled.Add(s.spilled, s.byScale[scale].rat(scale))
	s.byScale[scale] = int128{}
}

// rat gives the sum so far.
func (s *decSum) rat() *big.Rat {
	out := new(big.Rat)
	if s.spilled != nil {
		out.Set(s.spilled)
	}
	for scale, n := range s.byScale {
		if n != (int128{}) {
			out.Add(out, n.rat(scale))
		}
	}
	return out
}

// merge adds another sum.
func (s *decSum) merge(o *decSum) {
	if s.spilled == nil {
		s.spilled = new(big.Rat)
	}
	s.spilled.Add(s.spilled, o.rat())
}

func (n int128) rat(scale int) *big.Rat {
	d := dec{hi: n.hi, lo: n.lo, scale: scale}
	if n.hi>>63 == 1 {
		var borrow uint64
		d.lo, borrow = bits.Sub64(0, n.lo, 0)
		d.hi, _ = bits.Sub64(0, n.hi, borrow)
		d.neg = true
	}
	return d.rat()
}

// ratText writes a fraction of powers of ten as a plain decimal, exact.
func ratText(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return r.RatString()
}
