package match_test

import (
	"testing"

	"github.com/recon-batch/recon-batch/match"
)

// Plain pairs never reach the rules one by one: what differs, is not linked, or
// shares a key with such a row, is residual, and nothing else. Fetching too
// many gives right verdicts slowly and is seen by nobody.
func TestResidualIsWhatIsNotPlain(t *testing.T) {
	for _, c := range []struct {
		name  string
		opt   match.Options
		plain int64
	}{
		{"fingerprints", match.Options{Way: match.Fingerprints}, 1},
		{"one by one", match.Options{Way: match.Residual}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, job, operations, results := prepare(t.Context(), t.TempDir())
			defer db.Close()
			got, err := match.Run(t.Context(), db, job, operations, results, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got.PlainPairs != c.plain || got.ResidualOperations != 3-c.plain || got.ResidualResults != 3-c.plain {
				t.Errorf("%+v, want %d plain pairs", *got, c.plain)
			}
		})
	}
}
