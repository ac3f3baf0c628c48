package rehearsal

import (
	"database/sql"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// absence is one item of a requeue queue and what later nights found.
type absence struct {
	night       int
	date, run   string
	id          sql.NullString // operation id as found
	key         string         // tells operations of all nights apart
	file        string
	record      int64
	verdict     string
	reference   int64 // reference time of the run, microseconds
	attempts    sql.NullInt64
	observeOnly bool
	idle        bool // observe only or deferred: nobody was to act on it

	seen    []sighting
	effects []effectOf
}

// sighting is the operation in a later night.
type sighting struct {
	attempts sql.NullInt64
	last     sql.NullInt64 // last attempt, microseconds
}

// effectOf is a result under the keys of the operation in a later night. Results that
// finally failed, copies, and rows out of scope are none.
type effectOf struct {
	night, run   string
	source, file string
	record       int64
	verdict      string
	status       string        // canonical (rules.Status), unmapped, or ""
	at           sql.NullInt64 // microseconds
	key          string        // record id: equal on the records of one effect
}

func (e effectOf) time() string {
	if !e.at.Valid {
		return ""
	}
	return instant(e.at.Int64)
}

// exists tells that the result says of an effect that it is there, or was.
func (e effectOf) exists() bool {
	switch rules.Status(e.status) {
	case rules.Succeeded, rules.Reversed, rules.Refunded:
		return true
	}
	return false
}

// fate of an absence, from the least to the worst.
type fate int

const (
	notSeen fate = iota
	held
	sentAgain
	unclear
	contradicted
)

// How an absence is contradicted.
type How string

// Ways.
const (
	Existed How = "existed"         // the effect is dated before the reference time
	Late    How = "came_late"       // it came later, without a new attempt
	Several How = "several_effects" // the operation has more than one
)

type judgement struct {
	fate fate
	how  How
	by   effectOf
}

// judge sets the absence against what was found. It is a pure function; clocks may be
// apart by skew, which counts against the absence.
func (a *absence) judge(skew time.Duration) judgement {
	if len(a.effects) == 0 {
		if len(a.seen) == 0 {
			return judgement{fate: notSeen}
		}
		return judgement{fate: held}
	}
	var first *effectOf // the earliest effect; one without a time comes first
	distinct := map[string]bool{}
	surplus := false
	for i := range a.effects {
		e := &a.effects[i]
		if !e.exists() {
			continue
		}
		distinct[e.key] = true
		surplus = surplus || e.verdict == "divergent/duplicate_effect" || e.verdict == "duplicate/surplus_effect"
		if first == nil || first.at.Valid && (!e.at.Valid || e.at.Int64 < first.at.Int64) {
			first = e
		}
	}
	switch {
	case first == nil:
		return judgement{fate: unclear} // pending, unknown: the provider has something
	case first.at.Valid && first.at.Int64 < a.reference:
		return judgement{contradicted, Existed, *first}
	case len(distinct) > 1 || surplus:
		return judgement{contradicted, Several, *first}
	}
	return a.late(*first, skew.Microseconds())
}

// late judges an effect that is not dated before the reference time: was there a new
// attempt to which it belongs?
func (a *absence) late(e effectOf, skew int64) judgement {
	attempt, counted := int64(0), false // the first attempt after the reference time that a night shows
	known := false                      // some night says when the last attempt was
	for _, s := range a.seen {
		if s.last.Valid {
			known = true
			if s.last.Int64 > a.reference && (attempt == 0 || s.last.Int64 < attempt) {
				attempt = s.last.Int64
			}
		}
		if s.attempts.Valid && a.attempts.Valid && s.attempts.Int64 > a.attempts.Int64 {
			counted = true
		}
	}
	switch {
	case attempt != 0 && e.at.Valid && e.at.Int64 >= attempt-skew && e.at.Int64 >= a.reference+skew:
		return judgement{fate: sentAgain, by: e}
	case attempt != 0, !known && counted:
		return judgement{fate: unclear, by: e}
	case len(a.seen) == 0 && !a.idle:
		return judgement{fate: unclear, by: e} // somebody may have acted on it
	}
	return judgement{contradicted, Late, e}
}
