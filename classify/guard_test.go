package classify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// acting names the one class from which each acting queue may be reached.
var acting = map[Queue]Class{Requeue: Absent, Compensate: Duplicate, Confirm: Correct, Close: NotApplicable}

// TestJudgeExhaustively goes through the whole state space of the guard: every
// proposal, every class, every combination of failed checks.
func TestJudgeExhaustively(t *testing.T) {
	for _, q := range Queues {
		for _, cl := range Classes {
			for failed := Check(0); failed < 1<<len(checkNames); failed++ {
				got := Judge(q, cl, failed)
				want := Review
				if failed == 0 && acting[q] == cl && q != Review {
					want = q
				}
				if got != want {
					t.Fatalf("%s of %s with %q goes to %s, want %s", q, cl, failed.Codes(), got, want)
				}
			}
		}
	}
}

// Ambiguous is never requeued, whatever the rules say (design.md §3, rule 3).
func TestAmbiguousIsNeverRequeued(t *testing.T) {
	for _, q := range Queues {
		if got := Judge(q, Ambiguous, 0); got != Review {
			t.Errorf("%s of an ambiguous row goes to %s", q, got)
		}
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for i, n := range checkNames {
		if seen[n.Code] || Sentence(n.Code) == "" || strings.HasSuffix(n.Sentence, ".") {
			t.Errorf("check %d: %q %q", i, n.Code, n.Sentence)
		}
		seen[n.Code] = true
		if got := Check(1 << i).Codes(); got != n.Code {
			t.Errorf("bit %d is %q, want %q", i, got, n.Code)
		}
	}
	if got := (KeyLifetime | Attempts | Duration | ErrorClass).Codes(); got != "key_lifetime;attempts;duration;error_class" {
		t.Error(got)
	}
	if last := Check(1) << (len(checkNames) - 1); last != NoRemoteID {
		t.Errorf("the last code has bit %b, the last check %b", last, NoRemoteID)
	}
}

// The SQL that decides in production is made from Judge and Codes; it must say the
// same for every proposal, class and single or double failure.
func TestSQLJudgesAlike(t *testing.T) {
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(t.Context(), fmt.Sprintf(`WITH bits AS (SELECT 0 AS b UNION ALL SELECT CAST(1 << range AS BIGINT) FROM range(%d))
		SELECT wanted, class, failed, CASE%s ELSE 'review' END, coalesce(%s, '')
		FROM (SELECT unnest(['confirm', 'requeue', 'compensate', 'review', 'close']) AS wanted),
		     (SELECT unnest(['%s']) AS class), (SELECT DISTINCT a.b | b.b AS failed FROM bits a, bits b)`,
		len(checkNames), judgeSQL(), refusedSQL("failed"), strings.Join(classNames(), "', '")))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var wanted, class, got, codes string
		var failed int64
		if err := rows.Scan(&wanted, &class, &failed, &got, &codes); err != nil {
			t.Fatal(err)
		}
		n++
		if want := Judge(Queue(wanted), Class(class), Check(failed)); got != string(want) {
			t.Errorf("%s of %s with %d: SQL says %s, the guard %s", wanted, class, failed, got, want)
		}
		if want := Check(failed).Codes(); codes != want {
			t.Errorf("%d: SQL spells %q, the guard %q", failed, codes, want)
		}
	}
	if want := 5 * 8 * (1 + 20 + 190); n != want {
		t.Errorf("%d states, want %d", n, want)
	}
}
