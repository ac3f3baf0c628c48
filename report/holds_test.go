package report

import "testing"

// TestEveryHoldSaysWhatClearsIt: each check of the guard, and each obstacle that a run is
// told to be repeated for, has words of its own.
func TestEveryHoldSaysWhatClearsIt(t *testing.T) {
	codes := refusedCodes()
	if len(codes) < 25 {
		t.Fatalf("only %d checks", len(codes))
	}
	for _, code := range append(codes, again...) {
		if clearing[code] == "" {
			t.Errorf("nothing says what clears %s", code)
		}
	}
}
