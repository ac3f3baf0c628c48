package classify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// acting names the rows from which each acting queue may be reached.
var acting = map[Queue]map[Class]Kind{
	Requeue:    {Absent: Ordinary},
	Compensate: {Duplicate: Surplus, Unexpected: Ordinary},
	Confirm:    {Correct: Ordinary},
	Close:      {NotApplicable: Ordinary, Absent: Overtaken},
}

var everyQueue = append([]Queue{None}, Queues...)

// every goes through the whole state space of the guard.
func every(f func(Situation)) (n int) {
	for _, wanted := range everyQueue {
		for _, class := range Classes {
			for _, kind := range kinds {
				for _, otherwise := range everyQueue {
					for _, s := range situations(Situation{Wanted: wanted, Class: class, Kind: kind, Otherwise: otherwise}) {
						n++
						f(s)
					}
				}
			}
		}
	}
	return n
}

// TestJudgeExhaustively goes through the whole closed state of the guard: every
// proposal, class and kind of row, with every combination of failed checks and of what
// releases lift.
func TestJudgeExhaustively(t *testing.T) {
	seen := map[Situation]bool{}
	n := every(func(s Situation) {
		seen[s] = true
		clean := !s.Unsafe && (!s.AttemptsUsed || s.MoreAttempts) && (!s.DurationOver || s.MoreDuration)
		kind, may := acting[s.Wanted][s.Class]
		want := Review
		switch {
		case s.Wanted == None && s.Otherwise == Review && clean:
			want = None
		case may && kind == s.Kind && clean:
			want = s.Wanted
		}
		if got := Judge(s); got != want {
			t.Fatalf("%+v goes to %s, want %s", s, got, want)
		}
	})
	if want := 6 * 8 * 3 * 6 * 32; n != want || len(seen) != want {
		t.Errorf("%d situations, %d of them different, want %d", n, len(seen), want)
	}
}

// What fails leads to the same situation whatever fails besides: each check alone, and
// with every other one; and a release lifts allowances only.
func TestFailing(t *testing.T) {
	for a := range checkNames {
		for b := range checkNames {
			for l := range checkNames {
				failed, lifted := Check(1<<a|1<<b), Check(1<<l)
				s := Situation{Wanted: Requeue, Class: Absent}.Failing(failed, lifted)
				left := failed
				if lifted == Attempts || lifted == Duration {
					left &^= lifted
				}
				want := Review
				if left == 0 {
					want = Requeue
				}
				if got := Judge(s); got != want {
					t.Errorf("%s with %s lifted: %s, want %s", failed.Codes(), lifted.Codes(), got, want)
				}
			}
		}
	}
	if got := Judge(Situation{Wanted: Requeue, Class: Absent}.Failing(0, 0)); got != Requeue {
		t.Errorf("without a failed check: %s", got)
	}
}

// Ambiguous is never requeued, whatever the rules say (design.md §3, rule 3).
func TestAmbiguousIsNeverRequeued(t *testing.T) {
	every(func(s Situation) {
		if got := Judge(s); s.Class == Ambiguous && got != Review && got != None {
			t.Errorf("%+v goes to %s", s, got)
		}
	})
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
		asked := false
		for _, q := range Queues {
			for _, cl := range Classes {
				asked = asked || Check(1<<i).Asked(q, cl)
			}
		}
		if !asked && Check(1<<i) != WrongClass {
			t.Errorf("%s is asked of no proposal", n.Code)
		}
	}
	if got := (KeyLifetime | Attempts | Duration | ErrorClass).Codes(); got != "key_lifetime;attempts;duration;error_class" {
		t.Error(got)
	}
	if last := Check(1) << (len(checkNames) - 1); last != KnownBefore {
		t.Errorf("the last code has bit %b, the last check %b", last, KnownBefore)
	}
}

// The SQL that decides in production is made from Judge and Codes; it must say the
// same for every proposal, class and kind, with every single and double failure, and
// with every single check lifted.
func TestSQLJudgesAlike(t *testing.T) {
	db, err := duck.Open(t.Context(), duck.Options{SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list := func(names ...string) string { return "['" + strings.Join(names, "', '") + "']" }
	var queues []string
	for _, q := range everyQueue {
		queues = append(queues, string(q))
	}
	rows, err := db.Query(t.Context(), fmt.Sprintf(`WITH bits AS (SELECT 0 AS b UNION ALL SELECT CAST(1 << range AS BIGINT) FROM range(%d))
		SELECT wanted, class, kind, otherwise, failed, lifted, %s, coalesce(%s, '')
		FROM (SELECT *, %s AS situation FROM (SELECT unnest(%s) AS wanted), (SELECT unnest(%s) AS class), range(3) k(kind), (SELECT unnest(%s) AS otherwise),
		     (SELECT DISTINCT a.b | b.b AS failed FROM bits a, bits b), (SELECT b AS lifted FROM bits WHERE b IN (0, %d, %d, %d)))
		WHERE wanted = 'none' OR otherwise = 'review'`,
		len(checkNames), judgeSQL(), refusedSQL("failed"), situationSQL("failed", "lifted"), list(queues...), list(classNames()...), list(queues...), Attempts, Duration, Payload))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var wanted, class, otherwise, got, codes string
		var kind uint8
		var failed, lifted int64
		if err := rows.Scan(&wanted, &class, &kind, &otherwise, &failed, &lifted, &got, &codes); err != nil {
			t.Fatal(err)
		}
		n++
		s := Situation{Wanted: Queue(wanted), Class: Class(class), Kind: Kind(kind), Otherwise: Queue(otherwise)}.Failing(Check(failed), Check(lifted))
		if want := Judge(s); got != string(want) {
			t.Errorf("%+v: SQL says %s, the guard %s", s, got, want)
		}
		if want := Check(failed).Codes(); codes != want {
			t.Errorf("%d: SQL spells %q, the guard %q", failed, codes, want)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	k := len(checkNames)
	if want := (5 + 6) * 8 * 3 * (1 + k + k*(k-1)/2) * 4; n != want {
		t.Errorf("%d states, want %d", n, want)
	}
}
