package rules

// Spec returns the description of one side.
func (j *Job) Spec(s Side) *SideSpec {
	if s == Operations {
		return &j.Operations
	}
	return &j.Results
}

// Policy returns the policy of a type of operation: its own, or the defaults of
// all types. false: the job says nothing about it.
func (j *Job) Policy(operationType string) (TypePolicy, bool) {
	if p, ok := j.Types[operationType]; ok && operationType != "*" {
		return p, true
	}
	p, ok := j.Types["*"]
	p.Type = operationType
	return p, ok
}
