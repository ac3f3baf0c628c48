package rehearsal

import "math"

// Confidence of the upper bound.
const Confidence = 0.95

// UpperBound is the exact one-sided upper confidence bound of Clopper and Pearson on a
// share of which k of n were seen: the p at which k or fewer have the probability
// 1 − Confidence. 1 where n is 0, or k = n.
func UpperBound(k, n int64) float64 {
	switch {
	case n <= 0 || k >= n:
		return 1
	case k == 0:
		return -math.Expm1(math.Log(1-Confidence) / float64(n))
	}
	// P(X ≤ k) = 1 − I_p(k+1, n−k) falls with p.
	lo, hi := float64(k)/float64(n), 1.0
	for range 200 {
		p := lo + (hi-lo)/2
		if p == lo || p == hi {
			break
		}
		if 1-betaShare(float64(k+1), float64(n-k), p) > 1-Confidence {
			lo = p
		} else {
			hi = p
		}
	}
	return hi // of the two neighbours the one on the safe side
}

// betaShare is the regularised incomplete beta function I_x(a, b) for 0 < x < 1: the
// continued fraction of DLMF 8.17.22 by the method of Lentz, on the side where it
// converges fast.
func betaShare(a, b, x float64) float64 {
	if x > (a+1)/(a+b+2) {
		return 1 - betaShare(b, a, 1-x)
	}
	const tiny, enough = 1e-300, 1e-15
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m <= 100_000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/away(1+even*d), away(1+even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/away(1+odd*d), away(1+odd/c)
		f *= d * c
		if math.Abs(d*c-1) < enough {
			break
		}
	}
	return front * f
}
