package report

import "testing"

// Of a large side one link in so many is measured, chosen by the fingerprint of its key:
// links 1, 2, 3 (plain) and 4 (by the second key) of the world.
func TestTimesAreSampled(t *testing.T) {
	defer func(n int64) { everyLink = n }(everyLink)
	for one, want := range map[int64]int64{1: 4, 2: 2, 3: 1, 10: 0} {
		w := newWorld(t).load()
		everyLink = w.in.Operations.Records / one
		if got := oneIn(w.in); got != one {
			t.Fatalf("one in %d, want one in %d", got, one)
		}
		s := w.build()
		var links int64
		for _, l := range s.Latency {
			links += l.Count
		}
		if links != want || s.Work.ConfirmationOf != one {
			t.Errorf("one in %d: %d links are measured, one in %d; want %d", one, links, s.Work.ConfirmationOf, want)
		}
	}
}
