package match_test

import (
	"fmt"
	"testing"

	"github.com/recon-batch/recon-batch/match"
)

// Plain pairs never reach the rules one by one: what differs, is not linked, or
// shares a key with such a row, is residual, and nothing else. Each way of fetching
// the residual rows is asked, since fetching too many gives right verdicts slowly and
// is seen by nobody.
func TestResidualIsWhatIsNotPlain(t *testing.T) {
	for _, c := range []struct {
		name  string
		opt   match.Options
		plain int64
	}{
		{"fingerprints", match.Options{Way: match.Fingerprints}, 1},
		{"wanted, but too many", match.Options{Way: match.Fingerprints, AlsoPlain: "f_entity IS NOT NULL"}, 1},
		{"none wanted", match.Options{Way: match.Fingerprints, AlsoPlain: "f_entity = 'A9'"}, 1},
		{"one by one", match.Options{Way: match.Residual}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, job, operations, results := prepare(t.Context(), t.TempDir())
			defer db.Close()
			got, err := match.Run(t.Context(), db, job, operations, results, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got.PlainPairs != c.plain || got.ResidualOperations != 3-c.plain || got.ResidualResults != 3-c.plain || got.PlainFetched {
				t.Errorf("%+v, want %d plain pairs", *got, c.plain)
			}
		})
	}
}

// With few enough wanted ones, plain operations come along in a relation of their own.
func TestWantedPlainOperationsComeAlong(t *testing.T) {
	var ours, theirs string
	const n = 40
	for i := range n {
		ours += fmt.Sprintf("op-%d,A%d,10.00,EUR\n", i, i)
		amount := "10.00"
		if i%20 == 3 {
			amount = "11.00"
		}
		theirs += fmt.Sprintf("ch-%d,op-%d,A%d,%s,EUR\n", i, i, i, amount)
	}
	db, job, operations, results := prepareWith(t.Context(), t.TempDir(), ours, theirs)
	defer db.Close()
	// A3 is wanted too, and residual: it must not come twice.
	got, err := match.Run(t.Context(), db, job, operations, results, match.Options{Way: match.Fingerprints, AlsoPlain: "f_entity IN ('A3', 'A7', 'A8')"})
	if err != nil {
		t.Fatal(err)
	}
	var along int64
	if err := db.Scan(t.Context(), "SELECT count(*) FROM plain_o WHERE f_entity IN ('A7', 'A8')", &along); err != nil {
		t.Fatal(err)
	}
	var all int64
	if err := db.Scan(t.Context(), "SELECT count(*) FROM plain_o", &all); err != nil {
		t.Fatal(err)
	}
	if got.PlainPairs != n-2 || got.ResidualOperations != 2 || !got.PlainFetched || along != 2 || all != 2 {
		t.Errorf("%+v; %d of %d rows came along, want 2 of 2", *got, along, all)
	}
}
