// Package hole is how a test takes a check out of the guard, to show that the check is
// needed. Only package classify reads it and only classify/guardtest sets it, which is
// for tests alone; internal/arch keeps it so, and outside of a test binary Take panics.
package hole

import "testing"

// removed are the bits of the checks that are taken out. It is set while no run is on.
var removed uint32

// Removed returns the bits of the checks that are taken out: none, but in a test that
// asked for it.
func Removed() uint32 { return removed }

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
