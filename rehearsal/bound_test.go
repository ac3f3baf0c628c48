package rehearsal

import (
	"math"
	"math/big"
	"testing"
)

// atMost is P(X ≤ k) for n draws at share p, added up with 300 bits.
func atMost(k, n int64, p float64) float64 {
	const bits = 300
	bp := new(big.Float).SetPrec(bits).SetFloat64(p)
	bq := new(big.Float).SetPrec(bits).Sub(big.NewFloat(1), bp)
	power := func(x *big.Float, e int64) *big.Float {
		out := new(big.Float).SetPrec(bits).SetInt64(1)
		for range e {
			out.Mul(out, x)
		}
		return out
	}
	sum := new(big.Float).SetPrec(bits)
	for i := int64(0); i <= k; i++ {
		t := new(big.Float).SetPrec(bits).SetInt(new(big.Int).Binomial(n, i))
		t.Mul(t, power(bp, i)).Mul(t, power(bq, n-i))
		sum.Add(sum, t)
	}
	f, _ := sum.Float64()
	return f
}

// The bound is where k or fewer have the probability of 5 %, added up the slow way.
func TestUpperBoundIsExact(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 10, 59, 100, 999, 2000} {
		for _, k := range []int64{0, 1, 2, 5, n / 2, n - 1} {
			if k < 0 || k >= n {
				continue
			}
			p := UpperBound(k, n)
			if got := atMost(k, n, p); math.Abs(got-0.05) > 1e-9 {
				t.Errorf("%d of %d: at the bound %.6f the probability is %.12f, want 0.05", k, n, p, got)
			}
		}
	}
}

func TestUpperBoundKnown(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		want float64
	}{
		{0, 0, 1}, {0, 1, 0.95}, {0, 10, 0.2588656}, {1, 10, 0.3941633}, {0, 59, 0.0495076}, {5, 5, 1}, {0, 1_000_000, 2.995728e-6},
	} {
		if got := UpperBound(c.k, c.n); math.Abs(got-c.want) > 1e-6*math.Max(c.want, 0.1) {
			t.Errorf("%d of %d: %.9f, want %.9f", c.k, c.n, got, c.want)
		}
	}
	// The rule of three is the approximation for none of n, and never below the bound.
	for _, n := range []int64{10, 100, 10_000} {
		if got, three := UpperBound(0, n), 3/float64(n); got > three || got < three*0.85 {
			t.Errorf("none of %d: %.9f is not near the rule of three, %.9f", n, got, three)
		}
	}
	if got := UpperBound(400, 2_000_000); got < 0.0002 || got > 0.00022 {
		t.Errorf("400 of 2,000,000: %.9f", got)
	}
}
