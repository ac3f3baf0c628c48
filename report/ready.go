package report

import "github.com/recon-batch/recon-batch/rules"

// Ready says by what the files of a source were known to be whole before they were read,
// or that they were not.
type Ready struct {
	Date    string `json:"date,omitempty"`    // of the files; "" the source has no dates
	Proof   string `json:"proof,omitempty"`   // one sentence
	Missing string `json:"missing,omitempty"` // why they were not ready, and then they were not read
	Gap     string `json:"gap,omitempty"`     // why nothing is proved although they were
}

// readyOf lists what the ready rules of a source found; nil where it has none.
func readyOf(in *Input, side rules.Side, source string) []Ready {
	var out []Ready
	for i := range in.Bound.Inputs[side] {
		x := &in.Bound.Inputs[side][i]
		if j := x.Judged; x.Source.Name == source && j != nil {
			r := Ready{Date: x.FileDate, Proof: j.Proof, Missing: j.Missing, Gap: j.Gap}
			if r.Missing != "" {
				r.Proof = ""
			}
			out = append(out, r)
		}
	}
	return out
}
