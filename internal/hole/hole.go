// Package hole is how a test takes a check out of the guard, to show that the check is
// needed. Packages classify and report read it, and only classify/guardtest sets it,
// which is for tests alone; internal/arch keeps it so, and outside of a test binary Take
// panics.
package hole

import "testing"

// removed are the bits of the checks that are taken out, and bare tells that the
// promises about proposals are not asked either. Both are set while no run is on.
var (
	removed uint32
	bare    bool
)

// Removed returns the bits of the checks that are taken out: none, but in a test that
// asked for it.
func Removed() uint32 { return removed }

// Bare tells whether the promises about proposals are not asked: never, but in a test
// that wants to see what a missing check does where they would stop the run.
func Bare() bool { return bare }

// Bar leaves the promises about proposals out until restore is called. It panics in a
// program that is no test.
func Bar() (restore func()) {
	Take(0)
	bare = true
	return func() { bare = false }
}

// Take takes checks out, by their bits, until restore is called. It panics in a program
// that is no test.
func Take(bits uint32) (restore func()) {
	if !testing.Testing() {
		panic("the guard has no holes: checks are taken out in tests alone")
	}
	former := removed
	removed |= bits
	return func() { removed = former }
}
