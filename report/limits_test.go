package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct{ list, want string }{{"7", "7"}, {"9,1,4", "4"}, {"9,1,4,2", "3"}, {"1,2", "1.5"}} {
		var list []*big.Rat
		for _, x := range strings.Split(c.list, ",") {
			r, err := parseExact(x)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		if got := amountText(median(list), ""); got != c.want {
			t.Errorf("%s: %s, want %s", c.list, got, c.want)
		}
	}
}

// pastOf is a run with so many requeues and so much money.
func pastOf(items int64, money ...Money) PastRun {
	return PastRun{Queues: []PastQueue{{Queue: "requeue", Items: items, Amounts: money}, {Queue: "confirm", Items: 1_000_000}}}
}

func TestBaselineLimits(t *testing.T) {
	eur := func(a string) Money { return Money{Currency: "EUR", Amount: a} }
	limits := map[string]rules.BlastLimit{"requeue": {BaselineRuns: 4, BaselineFactor: 1.5}}
	for _, c := range []struct {
		name     string
		past     []PastRun
		exceeded []string
		of       int // limits
	}{
		{"too few", []PastRun{pastOf(1)}, nil, 1},
		{"20 are more than 1.5 × 13", []PastRun{pastOf(13), pastOf(13)}, []string{"requeue.baseline"}, 1},
		{"20 are not more than 1.5 × 14", []PastRun{pastOf(14), pastOf(14)}, nil, 1},
		{"only so many runs count", []PastRun{pastOf(14), pastOf(14), pastOf(14), pastOf(14), pastOf(0), pastOf(0), pastOf(0), pastOf(0), pastOf(0)}, nil, 1},
		{"none is not less than one", []PastRun{pastOf(0), pastOf(0)}, []string{"requeue.baseline"}, 1},
		{"money", []PastRun{pastOf(20, eur("60.00")), pastOf(20, eur("60.00"))}, []string{"requeue.baseline.EUR"}, 2},
		{"enough money", []PastRun{pastOf(20, eur("66.67")), pastOf(20, eur("66.67"))}, nil, 2},
		{"money that most nights did not have", []PastRun{pastOf(20), pastOf(20, eur("1.00")), pastOf(20)}, nil, 1},
	} {
		s := measured()
		s.Baseline = c.past
		got, err := evaluateLimits(s, limits)
		if err != nil {
			t.Fatal(err)
		}
		var exceeded []string
		for _, l := range got {
			if l.Exceeded {
				exceeded = append(exceeded, l.Name)
			}
		}
		if len(got) != c.of || !slices.Equal(exceeded, c.exceeded) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Only what a person named is lifted, and only where it is exceeded.
func TestLiftedLimits(t *testing.T) {
	s := measured()
	s.Overrides = []string{OverrideLimit + "requeue.rows", OverrideLimit + "requeue.share", OverrideReason + "why"}
	got, err := evaluateLimits(s, map[string]rules.BlastLimit{"requeue": {Rows: 1, Share: 0.5, Amount: map[string]string{"EUR": "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	lifted := map[string]bool{}
	for _, l := range got {
		lifted[l.Name] = l.Lifted
	}
	if !lifted["requeue.rows"] || lifted["requeue.share"] || lifted["requeue.amount.EUR"] {
		t.Errorf("got %+v", got)
	}
	s.Limits = got
	w := Withhold(s, &rules.Job{}, "")
	if len(w.All) != 1 || !slices.Equal(w.Queues(), []string{"confirm", "requeue", "compensate", "close"}) {
		t.Errorf("withheld %v for %v", w.Queues(), w.All)
	}
}

// Names of types are data: past a bound those without a policy share the one that they
// have, and no item is lost.
func TestTypesAreFolded(t *testing.T) {
	job := &rules.Job{Types: map[string]rules.TypePolicy{"charge": {}, "*": {}}}
	list := []Proposal{{Type: "charge", Queue: "requeue", Items: 3, ObserveOnly: 1}}
	for i := range maxTypes {
		list = append(list, Proposal{Type: fmt.Sprint("t", i), Queue: "confirm", Items: 2, ObserveOnly: 1})
	}
	want := []Proposal{list[0], {Type: "*", Queue: "confirm", Items: 2 * maxTypes, ObserveOnly: maxTypes}}
	if got := foldTypes(list, job); !slices.Equal(got, want) {
		t.Errorf("got %d: %+v", len(got), got[:2])
	}
	if got := foldTypes(list[:maxTypes], job); len(got) != maxTypes {
		t.Errorf("few types were folded: %d are left", len(got))
	}
}
