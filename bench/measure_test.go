package main

import (
	"math"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	s := func(d ...time.Duration) (list []sample) {
		for i, w := range d {
			list = append(list, sample{w, int64(i)})
		}
		return list
	}
	for _, c := range []struct {
		in   []sample
		want time.Duration
	}{{s(3), 3}, {s(9, 1, 5), 5}, {s(8, 2, 4, 100), 6}} {
		if got := median(c.in); got.wall != c.want || got.rss != int64(len(c.in)-1) {
			t.Errorf("median of %v is %v", c.in, got)
		}
	}
}

func TestExponent(t *testing.T) {
	for _, c := range []struct {
		small, large time.Duration
		factor, want float64
	}{{time.Second, 10 * time.Second, 10, 1}, {time.Second, 100 * time.Second, 10, 2}, {time.Second, time.Second, 10, 0}} {
		if got := exponent(c.small, c.large, c.factor); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("from %v to %v: %v, want %v", c.small, c.large, got, c.want)
		}
	}
}
