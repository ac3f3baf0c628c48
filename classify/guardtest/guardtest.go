// Package guardtest takes checks out of the guard, for tests that show what happens
// then: a check whose removal changes nothing is either untested or needless. Programs
// cannot use it: internal/arch refuses the import outside of tests, and there it panics.
package guardtest

import (
	"testing"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/internal/hole"
)

// Without lets the guard pass over the checks until the test ends. Tests that use it
// must not run in parallel with others.
func Without(t testing.TB, c classify.Check) {
	t.Helper()
	t.Cleanup(hole.Take(uint32(c)))
}

// WithoutPromises leaves out what every run asserts of its proposals before it is
// published, until the test ends: a second net, which stops many a run with a check
// taken out before anybody sees what the check is for.
func WithoutPromises(t testing.TB) {
	t.Helper()
	t.Cleanup(hole.Bar())
}

// Checks are all checks of the guard, in the order of their codes.
func Checks() []classify.Check {
	var out []classify.Check
	for c := classify.Check(1); c.Codes() != ""; c <<= 1 {
		out = append(out, c)
	}
	return out
}
