package naive_test

import (
	"testing"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/match/naive"
)

// TestLookupsDecide: in the worlds in which both engines are compared, what services say
// about single operations changes verdicts in every way that it can.
func TestLookupsDecide(t *testing.T) {
	s := newScratch(t)
	seen := map[string]int{}
	for seed := uint64(0); seed < 150; seed++ {
		l := s.load(t, seed)
		if len(l.input.Lookups) == 0 {
			continue
		}
		with, err := naive.Run(l.input)
		if err != nil {
			t.Fatal(err)
		}
		without := l.input
		without.Lookups = []extract.Lookup{{Source: l.input.Lookups[0].Source}}
		before, err := naive.Run(without)
		if err != nil {
			t.Fatal(err)
		}
		for id, v := range with.Operations {
			was := before.Operations[id]
			switch {
			case was.Reason == "coverage_incomplete" && v.Class == naive.Absent:
				seen["silence proves an absence"]++
			case was.Reason == "coverage_incomplete" && v.Reason == "coverage_incomplete":
				seen["silence proves nothing"]++
			case was.Class == naive.Absent && v.Reason == "coverage_incomplete":
				seen["what was found stands against an absence"]++
			case was.Class != v.Class && v.Class != naive.Absent && v.Reason != "unattributed_result" && v.Reason != "outcome_unknown":
				t.Errorf("seed %d, operation %d: %s/%s, without answers %s/%s", seed, id, v.Class, v.Reason, was.Class, was.Reason)
			}
		}
		for id, v := range with.Results {
			if l.relations[1].Files[id>>40].Source == "asked" && v.Reason == "identical_copy" {
				seen["a record of a lookup is a copy"]++
			}
		}
	}
	for _, what := range []string{"silence proves an absence", "silence proves nothing", "what was found stands against an absence", "a record of a lookup is a copy"} {
		if seen[what] == 0 {
			t.Errorf("never: %s (%v)", what, seen)
		}
	}
}
