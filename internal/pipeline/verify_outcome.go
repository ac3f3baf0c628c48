package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// outcome measures gates and limits again and derives the exit status from them.
func (v *checker) outcome() error {
	s, m := v.summary, v.Manifest
	var wrong []string
	differences, open := int64(0), int64(0)
	for _, side := range s.Sides {
		for _, c := range side.Counts {
			switch {
			case !c.InPeriod || c.Rows == 0 || slices.Contains([]string{"correct", "not_applicable", "not_due"}, c.Class):
			default:
				differences += c.Rows
				if c.Class != "duplicate" || (c.Reason != "identical_copy" && c.Reason != "superseded_attempt") {
					open += c.Rows
				}
			}
		}
	}
	for _, a := range s.Aside { // canaries, see canaries
		if !slices.Contains([]string{"correct", "not_applicable", "not_due"}, a.Class) {
			differences -= a.Rows
			if a.Class != "duplicate" || (a.Reason != "identical_copy" && a.Reason != "superseded_attempt") {
				open -= a.Rows
			}
		}
	}
	closes := open == 0
	if differences != s.Outcome.Differences || closes != s.Outcome.Closes {
		wrong = append(wrong, fmt.Sprintf("%d differences, and that the day closes is %t; the report says %d and %t", differences, closes, s.Outcome.Differences, s.Outcome.Closes))
	}
	if v.job != nil {
		gates, limits, err := report.Measure(s, v.job)
		if err != nil {
			return err
		}
		if !slices.Equal(gates, s.Gates) {
			wrong = append(wrong, fmt.Sprintf("the gates of the job come out as %+v, the report says %+v", gates, s.Gates))
		}
		if !slices.Equal(limits, s.Limits) {
			wrong = append(wrong, fmt.Sprintf("the limits of the job come out as %+v, the report says %+v", limits, s.Limits))
		}
	}
	exit := fail.OK
	if slices.ContainsFunc(s.Gates, func(g report.Gate) bool { return g.Failed }) {
		exit = fail.Gate
	}
	withheld := s.Outcome.WithheldQueues
	if v.job != nil {
		vacuous := ""
		if v.vacuous() {
			vacuous = "nothing is linked (V38)"
		}
		why := report.Withhold(s, v.job, vacuous)
		if !slices.Equal(why.Queues(), withheld) {
			wrong = append(wrong, fmt.Sprintf("the queues %v were withheld; limits, canaries, what was seen before, and whether anything is linked (V38) give %v: %s",
				withheld, why.Queues(), strings.Join(why.Reasons(), "; ")))
		}
	}
	if len(withheld) > 0 {
		exit = fail.Policy
	}
	if s.Outcome.Withheld != (len(withheld) > 0) {
		wrong = append(wrong, fmt.Sprintf("that acting queues are withheld is %t, and should be %t", s.Outcome.Withheld, len(withheld) > 0))
	}
	if !slices.Equal(m.Outcome.Queues, withheld) {
		wrong = append(wrong, fmt.Sprintf("the report withholds %v, the manifest %v", withheld, m.Outcome.Queues))
	}
	if m.Outcome.ExitCode != exit || fail.Class(s.Outcome.ExitCode) != exit || (m.Outcome.Withheld != "") != s.Outcome.Withheld {
		wrong = append(wrong, fmt.Sprintf("gates, limits and queues give the exit status %d, the manifest says %d, the report %d", exit, m.Outcome.ExitCode, s.Outcome.ExitCode))
	}
	for _, q := range s.Queues {
		if want := !q.Acting || !slices.Contains(withheld, q.Queue); q.Written != want || (want && !v.has("queues/"+q.Queue+".parquet")) {
			wrong = append(wrong, fmt.Sprintf("the %s queue: written is %t, and should be %t", q.Queue, q.Written, want))
		}
	}
	slices.Sort(wrong)
	v.add("outcome", fmt.Sprintf("%s, %s, exit status %d", plural(int64(len(s.Gates)), "gate", "gates"), plural(int64(len(s.Limits)), "limit", "limits"), m.Outcome.ExitCode), wrong)
	return nil
}
