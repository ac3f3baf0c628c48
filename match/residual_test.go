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

// A pair under the second identity key is plain where the result lacks the first one
// and nothing else touches either row; else both of its rows are residual.
func TestPairsUnderTheSecondKeyArePlain(t *testing.T) {
	for _, c := range []struct {
		name, ours, theirs string
		plain              int64 // pairs
		second             int64 // of them under the second key
	}{
		{"first key", "a,ka,1.00\n", "r1,a,ka,1.00\n", 1, 0},
		{"second key alone", "a,ka,1.00\n", "r1,,ka,1.00\n", 1, 1},
		{"no first key on either side", ",ka,1.00\n", "r1,,ka,1.00\n", 1, 1},
		{"other amount", "a,ka,1.00\n", "r1,,ka,2.00\n", 0, 0},
		{"other first key", "a,ka,1.00\n", "r1,b,ka,1.00\n", 0, 0},
		{"first key elsewhere", "a,ka,1.00\n", "r1,,ka,1.00\nr2,a,,1.00\n", 0, 0},
		{"second key twice in the results", "a,ka,1.00\n", "r1,,ka,1.00\nr2,,ka,1.00\n", 0, 0},
		{"second key twice in the operations", "a,ka,1.00\nb,ka,1.00\n", "r1,,ka,1.00\n", 0, 0},
		{"first key twice in the operations", "a,ka,1.00\na,kb,1.00\n", "r1,,ka,1.00\n", 0, 0},
		{"record id twice", "a,ka,1.00\nb,kb,1.00\n", "r1,,ka,1.00\nr1,,kb,1.00\n", 0, 0},
		{"beside a first pair", "a,ka,1.00\nb,kb,1.00\n", "r1,,ka,1.00\nr2,b,kb,1.00\n", 2, 1},
		{"a second key on a pair of the first", "a,ka,1.00\nb,,1.00\n", "r1,,ka,1.00\nr2,b,ka,1.00\n", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, job, operations, results := prepareJob(t.Context(), t.TempDir(), `
job: two-keys
operations:
  path: ours.csv
  fields: {operation_id: id, idempotency_key: key, amount: {type: decimal, scale: 2}}
results:
  path: theirs.csv
  fields: {remote_id: charge, operation_id: id, idempotency_key: key, amount: {type: decimal, scale: 2}}
match:
  - {pass: operation_id, on: [operation_id]}
  - {pass: idempotency_key, on: [idempotency_key]}
compare: [{field: amount}]
`, "id,key,amount\n"+c.ours, "charge,id,key,amount\n"+c.theirs)
			defer db.Close()
			got, err := match.Run(t.Context(), db, job, operations, results, match.Options{Way: match.Fingerprints})
			if err != nil {
				t.Fatal(err)
			}
			var second int64
			if err := db.Scan(t.Context(), "SELECT count(*) FROM plain_links", &second); err != nil {
				t.Fatal(err)
			}
			if got.PlainPairs != c.plain || second != c.second {
				t.Errorf("%d plain pairs, %d under the second key; want %d and %d", got.PlainPairs, second, c.plain, c.second)
			}
		})
	}
}
