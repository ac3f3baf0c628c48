package match

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/extract"
)

func interval(gaps [][2]int64) extract.Interval {
	iv := extract.Interval{From: 0, Until: 100}
	for _, g := range gaps {
		iv.Withdrawn = append(iv.Withdrawn, extract.Gap{From: g[0], Until: g[1]})
	}
	return iv
}

// judgeHot must say for each row what writing out all pairs would say: no
// candidate, exactly this one, or several; and whether there is a contradicted one.
func TestHotGroupsCountLikePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		later := rapid.IntRange(0, 1).Draw(t, "later")
		windows := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 2).Draw(t, "windows")
		var g [2][]hotRow
		for side := range g {
			n := rapid.IntRange(0, 12).Draw(t, "rows")
			for i := range n {
				r := hotRow{rid: int64(i + 1), filled: rapid.IntRange(0, 3).Draw(t, "filled")}
				for range later {
					r.later = append(r.later, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key"))
				}
				for range windows {
					r.t = append(r.t, rapid.Int64Range(0, 12).Draw(t, "time"))
				}
				g[side] = append(g[side], r)
			}
		}
		for _, contradicted := range []bool{false, true} {
			want := map[[2]int64]bool{} // all pairs
			for _, o := range g[0] {
				for _, r := range g[1] {
					if inWindows(o, r, windows) && contradicts(o, r) == contradicted {
						want[[2]int64{o.rid, r.rid}] = true
					}
				}
			}
			got := map[[2]int64]bool{}
			out := &pairsFound{got}
			judgeHot(contradicted, windows, &g, out.add)
			for p := range got {
				if !want[p] {
					t.Fatalf("%v is no candidate", p)
				}
			}
			enough := 2
			if contradicted {
				enough = 1
			}
			for side := range g {
				for _, r := range g[side] {
					w, n := count(want, side, r.rid), count(got, side, r.rid)
					if min(w, enough) > n {
						t.Fatalf("side %d row %d: %d candidates found, it has %d", side, r.rid, n, w)
					}
				}
			}
		}
	})
}

type pairsFound struct{ m map[[2]int64]bool }

func (p *pairsFound) add(o, r int64, _ bool) { p.m[[2]int64{o, r}] = true }

func count(pairs map[[2]int64]bool, side int, rid int64) int {
	n := 0
	for p := range pairs {
		if p[side] == rid {
			n++
		}
	}
	return n
}

// The number of an unresolved set is its least row, whatever the order of edges.
func TestForest(t *testing.T) {
	edges := [][2]int64{{4, -9}, {10, -9}, {10, 3}, {7, 8}, {-5, 8}, {-5, -6}, {12, -6}}
	want := map[int64]int64{3: 3, 4: 3, 10: 3, 7: 7, 8: 7, 12: 7}
	rapid.Check(t, func(t *rapid.T) {
		f := forest{}
		for _, e := range rapid.Permutation(edges).Draw(t, "edges") {
			f.union(e[0], e[1])
		}
		for node, set := range want {
			if got := f.root(node); got != set {
				t.Fatalf("row %d is in set %d, want %d", node, got, set)
			}
		}
	})
}

func TestSegmentsCutGaps(t *testing.T) {
	for _, c := range []struct {
		gaps [][2]int64
		want string
	}{
		{nil, "[{false 0 100 0}]"},
		{[][2]int64{{20, 30}}, "[{false 0 20 0} {false 30 100 0}]"},
		{[][2]int64{{40, 60}, {20, 50}}, "[{false 0 20 0} {false 60 100 0}]"},
		{[][2]int64{{-5, 10}, {90, 200}}, "[{false 10 90 0}]"},
		{[][2]int64{{0, 100}}, "[]"},
	} {
		if got := fmt.Sprint(segments(interval(c.gaps))); got != c.want {
			t.Errorf("gaps %v: %s, want %s", c.gaps, got, c.want)
		}
	}
}
