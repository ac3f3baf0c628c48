package classify

import (
	"fmt"
	"strings"
)

// situations lists every combination of failed and lifted allowances, and of a failed
// check of safety, under the number that situationSQL gives it.
func situations(s Situation) [32]Situation {
	var out [32]Situation
	for i := range out {
		s.Unsafe, s.AttemptsUsed, s.MoreAttempts, s.DurationOver, s.MoreDuration = i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0, i&16 != 0
		out[i] = s
	}
	return out
}

// situationSQL is the number of the combination, from the bits of failed checks and
// lifted allowances.
func situationSQL(failed, lifted string) string {
	bit := func(col string, mask Check, n int) string {
		return fmt.Sprintf("CASE WHEN %s & %d <> 0 THEN %d ELSE 0 END", col, mask, n)
	}
	all := Check(1)<<len(checkNames) - 1
	return strings.Join([]string{bit(failed, all&^Allowances, 1), bit(failed, Attempts, 2), bit(lifted, Attempts, 4),
		bit(failed, Duration, 8), bit(lifted, Duration, 16)}, " + ")
}

// judgeSQL renders Judge over everything that can occur: the function itself is asked
// for each situation, and what it does not send to a person becomes a branch. The
// columns are wanted, class, kind, situation (situationSQL) and otherwise. It is to be
// put between CASE and ELSE 'review' END.
func judgeSQL() string {
	var b strings.Builder
	branch := func(s Situation, more string) {
		byQueue := map[Queue][]string{}
		for i, x := range situations(s) {
			if q := Judge(x); q != Review {
				byQueue[q] = append(byQueue[q], fmt.Sprint(i))
			}
		}
		for _, q := range append([]Queue{None}, Queues...) {
			if n := byQueue[q]; len(n) > 0 {
				fmt.Fprintf(&b, " WHEN wanted = '%s' AND class = '%s' AND kind = %d%s AND situation IN (%s) THEN '%s'",
					s.Wanted, s.Class, s.Kind, more, strings.Join(n, ", "), q)
			}
		}
	}
	for _, cl := range Classes {
		for _, k := range kinds {
			for _, q := range Queues {
				branch(Situation{Wanted: q, Class: cl, Kind: k, Otherwise: q}, "")
			}
			for _, q := range Queues {
				branch(Situation{Wanted: None, Class: cl, Kind: k, Otherwise: q}, fmt.Sprintf(" AND otherwise = '%s'", q))
			}
		}
	}
	return b.String()
}

var kinds = []Kind{Ordinary, Surplus, Overtaken}

// refusedSQL spells the codes of the failed checks, as Check.Codes does.
func refusedSQL(col string) string {
	var parts []string
	for i, n := range checkNames {
		parts = append(parts, fmt.Sprintf("CASE WHEN (%s >> %d) & 1 = 1 THEN '%s' END", col, i, n.Code))
	}
	return "nullif(concat_ws(';', " + strings.Join(parts, ", ") + "), '')"
}
