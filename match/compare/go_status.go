package compare

import "github.com/recon-batch/recon-batch/rules"

// status compares the canonical status of the result (column st) with the
// expected one; the operations have no value of their own (V19).
func status(r any, c rules.Compare) Result {
	if s, ok := r.(string); ok && rules.Status(s) == c.Expect {
		return Equals
	}
	return Differs
}
