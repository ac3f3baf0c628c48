package rules

// Spec returns the description of one side.
func (j *Job) Spec(s Side) *SideSpec {
	if s == Operations {
		return &j.Operations
	}
	return &j.Results
}
