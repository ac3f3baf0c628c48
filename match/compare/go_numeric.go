package compare

import (
	"math/big"

	"github.com/recon-batch/recon-batch/rules"
)

// numeric compares exact numbers. A tolerance includes its boundary; a relative
// one is a share of the larger absolute value. Where both are declared, one of
// them is enough.
func numeric(o, r any, c rules.Compare) Result {
	a, b := number(o), number(r)
	if a.Cmp(b) == 0 {
		return Equals
	}
	off := new(big.Rat).Sub(b, a)
	off.Abs(off)
	if c.Absolute != "" && off.Cmp(number(c.Absolute)) <= 0 {
		return Tolerance
	}
	if c.Relative != "" {
		larger := new(big.Rat).Abs(a)
		if x := new(big.Rat).Abs(b); x.Cmp(larger) > 0 {
			larger = x
		}
		if off.Cmp(larger.Mul(larger, number(c.Relative))) <= 0 {
			return Tolerance
		}
	}
	return Differs
}
