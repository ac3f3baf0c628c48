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
// for each situation. It leaves a proposal as it is wanted or sends it to a person, so
// that a bit for each situation says it all; a branch for each would take more memory
// than the rows. The columns are wanted, class, kind, situation (situationSQL) and
// otherwise; what is none of ours goes to a person.
func judgeSQL() string {
	var masks []string
	mask := func(s Situation) {
		var bits uint32
		for i, x := range situations(s) {
			switch q := Judge(x); q {
			case s.Wanted:
				bits |= 1 << i
			case Review:
			default:
				panic(fmt.Sprintf("the guard makes %s of %+v", q, x))
			}
		}
		masks = append(masks, fmt.Sprint(bits))
	}
	for _, cl := range Classes {
		for _, k := range kinds {
			for _, q := range Queues {
				mask(Situation{Wanted: q, Class: cl, Kind: k, Otherwise: q})
			}
			for _, q := range Queues {
				mask(Situation{Wanted: None, Class: cl, Kind: k, Otherwise: q})
			}
		}
	}
	of := func(col string, names []string) string {
		var b strings.Builder
		for i, n := range names {
			fmt.Fprintf(&b, " WHEN '%s' THEN %d", n, i)
		}
		return "CASE " + col + b.String() + " END"
	}
	queues := queueNames()
	at := fmt.Sprintf("(%s * %d + kind) * %d + CASE WHEN wanted = '%s' THEN %d + %s ELSE %s END",
		of("class", classNames()), len(kinds), 2*len(Queues), None, len(Queues), of("otherwise", queues), of("wanted", queues))
	return fmt.Sprintf("CASE WHEN coalesce(list_extract([%s], %s + 1), 0) >> (%s) & 1 = 1 THEN wanted ELSE '%s' END",
		strings.Join(masks, ", "), at, "situation", Review)
}

func queueNames() []string {
	out := make([]string, len(Queues))
	for i, q := range Queues {
		out[i] = string(q)
	}
	return out
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
