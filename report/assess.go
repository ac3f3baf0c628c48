package report

import "github.com/recon-batch/recon-batch/rules"

// Measure evaluates the gates and the blast radius of a job on a summary, as Build
// did. It needs nothing but the counts, queues and amounts that the summary tells, so
// that a published one can be measured again. Error: class Usage for a gate that cannot
// be measured.
func Measure(s *Summary, job *rules.Job) (gates []Gate, limits []Limit, err error) {
	if gates, err = evaluateGates(s, job.Gates); err != nil {
		return nil, nil, err
	}
	limits, err = evaluateLimits(s, job.Limits.BlastRadius)
	return gates, limits, err
}
