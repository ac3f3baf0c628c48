package report

import (
	"cmp"
	"slices"

	"github.com/recon-batch/recon-batch/rules"
)

// Past is what a run read of former runs, all of earlier business dates.
type Past struct {
	Former   *FormerOpen  // the open items of the run before; nil where there is none
	Trend    []TrendPoint // of the runs before, oldest first
	Baseline []PastRun    // of the series, the latest first
	Seen     []Seen       // proposals that former runs published, sorted
	Staged   bool         // one of them was observed or piloted, or follows such a run
}

// PastRun is a former run as limits are compared with it.
type PastRun struct {
	BusinessDate string      `json:"business_date"`
	RunID        string      `json:"run_id"`
	Queues       []PastQueue `json:"queues"` // acting ones
}

// PastQueue is a queue of a former run.
type PastQueue struct {
	Queue   string  `json:"queue"`
	Items   int64   `json:"items"`
	Amounts []Money `json:"amounts"`
}

// Seen is a proposal for a type of operation that was published, be it to act upon or
// for observation.
type Seen struct {
	Type  string `json:"type"` // "" items of no operation, or without a type
	Queue string `json:"queue"`
}

// Proposal counts the items of an acting queue for one type of operation.
type Proposal struct {
	Type        string `json:"type"`
	Queue       string `json:"queue"`
	Items       int64  `json:"items"`
	ObserveOnly int64  `json:"observe_only"`
}

func compareSeen(a, b Seen) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(slices.Index(queueOrder, a.Queue), slices.Index(queueOrder, b.Queue)))
}

// MergeSeen joins lists of what was seen, sorted and without repetition.
func MergeSeen(lists ...[]Seen) []Seen {
	out := slices.Concat(lists...)
	slices.SortFunc(out, compareSeen)
	return slices.Compact(append([]Seen{}, out...))
}

// SeenAfter is what was seen once this run is published: what was before, and every
// proposal of a queue that it wrote. A queue that was withheld was seen by nobody.
func SeenAfter(s *Summary) []Seen {
	var here []Seen
	for _, p := range s.Proposals {
		if q := s.queue(p.Queue); q != nil && q.Written && p.Items > 0 {
			here = append(here, Seen{Type: p.Type, Queue: p.Queue})
		}
	}
	return MergeSeen(s.SeenBefore, here)
}

// PastOf takes from a summary what later runs compare with.
func PastOf(s *Summary) PastRun {
	out := PastRun{BusinessDate: s.BusinessDate, RunID: s.RunID, Queues: []PastQueue{}}
	for _, q := range s.Queues {
		if q.Acting {
			out.Queues = append(out.Queues, PastQueue{Queue: q.Queue, Items: q.Items, Amounts: append([]Money{}, q.Amounts...)})
		}
	}
	return out
}

// Unobserved lists the proposals of a run that would be acted on without ever having
// been seen, though the job goes step by step: it was observed before or is piloted, or
// the type says which proposals it enforces.
func Unobserved(s *Summary, job *rules.Job) []Seen {
	out := []Seen{}
	for _, p := range s.Proposals {
		x := Seen{Type: p.Type, Queue: p.Queue}
		if p.Items > p.ObserveOnly && (s.Staged || policyOf(job, p.Type).EnforceDeclared) && !slices.Contains(s.SeenBefore, x) {
			out = append(out, x)
		}
	}
	return out
}

func policyOf(job *rules.Job, typ string) rules.TypePolicy {
	if p, ok := job.Types[typ]; ok {
		return p
	}
	return job.Types["*"]
}
