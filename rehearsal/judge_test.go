package rehearsal

import (
	"database/sql"
	"testing"
	"time"
)

func at(us int64) sql.NullInt64 { return sql.NullInt64{Int64: us, Valid: true} }

// Every branch of the judgement, at its boundary. The reference time is 1000, clocks
// may be 10 apart.
func TestJudge(t *testing.T) {
	ok := func(us int64) effectOf { return effectOf{status: "succeeded", key: "a", at: at(us)} }
	tried := func(us int64) sighting { return sighting{attempts: at(2), last: at(us)} }
	one := at(1)
	for _, c := range []struct {
		name string
		a    absence
		fate fate
		how  How
	}{
		{"nothing", absence{}, notSeen, ""},
		{"seen, nothing found", absence{seen: []sighting{{}}}, held, ""},
		{"dated just before", absence{effects: []effectOf{ok(999)}}, contradicted, Existed},
		{"dated before, sent again since", absence{effects: []effectOf{ok(999)}, seen: []sighting{tried(2000)}}, contradicted, Existed},
		{"dated at the reference time, nobody acted", absence{idle: true, effects: []effectOf{ok(1000)}}, contradicted, Late},
		{"sent again", absence{effects: []effectOf{ok(2000)}, seen: []sighting{tried(2000)}}, sentAgain, ""},
		{"sent again, the provider's clock is behind", absence{effects: []effectOf{ok(1990)}, seen: []sighting{tried(2000)}}, sentAgain, ""},
		{"before the attempt that is seen", absence{effects: []effectOf{ok(1989)}, seen: []sighting{tried(2000)}}, unclear, ""},
		{"the earlier of two attempts", absence{effects: []effectOf{ok(2000)}, seen: []sighting{tried(3000), tried(1995)}}, sentAgain, ""},
		{"too near to the reference time", absence{effects: []effectOf{ok(1009)}, seen: []sighting{tried(1005)}}, unclear, ""},
		{"last attempt at the reference time", absence{effects: []effectOf{ok(2000)}, seen: []sighting{tried(1000)}}, contradicted, Late},
		{"two effects", absence{effects: []effectOf{ok(2000), {status: "succeeded", key: "b", at: at(2001)}}, seen: []sighting{tried(1999)}}, contradicted, Several},
		{"two records of one effect", absence{effects: []effectOf{ok(2000), ok(2001)}, seen: []sighting{tried(1999)}}, sentAgain, ""},
		{"a surplus by its verdict", absence{effects: []effectOf{{status: "succeeded", at: at(2000), verdict: "duplicate/surplus_effect"}}, seen: []sighting{tried(1999)}}, contradicted, Several},
		{"refunded since", absence{effects: []effectOf{{status: "refunded", at: at(900)}}}, contradicted, Existed},
		{"reversed since", absence{effects: []effectOf{{status: "reversed", at: at(900)}}}, contradicted, Existed},
		{"pending", absence{effects: []effectOf{{status: "pending", at: at(900)}}}, unclear, ""},
		{"unmapped", absence{effects: []effectOf{{status: "unmapped", at: at(900)}}}, unclear, ""},
		{"without a time, no attempt", absence{effects: []effectOf{{status: "succeeded"}}, seen: []sighting{tried(500)}}, contradicted, Late},
		{"without a time, an attempt", absence{effects: []effectOf{{status: "succeeded"}}, seen: []sighting{tried(2000)}}, unclear, ""},
		{"no attempt known, more of them counted", absence{attempts: one, effects: []effectOf{ok(2000)}, seen: []sighting{{attempts: at(2)}}}, unclear, ""},
		{"no attempt known, as many counted", absence{attempts: one, effects: []effectOf{ok(2000)}, seen: []sighting{{attempts: at(1)}}}, contradicted, Late},
		{"a result alone, nobody was to act", absence{idle: true, effects: []effectOf{ok(2000)}}, contradicted, Late},
		{"a result alone, somebody may have acted", absence{effects: []effectOf{ok(2000)}}, unclear, ""},
	} {
		c.a.reference = 1000
		if j := c.a.judge(10 * time.Microsecond); j.fate != c.fate || j.how != c.how {
			t.Errorf("%s: %d %q, want %d %q", c.name, j.fate, j.how, c.fate, c.how)
		}
	}
}

func TestMoneyAddsExactly(t *testing.T) {
	a := []Money{{"EUR", "0.10"}, {"USD", "99999999999999999999.99"}}
	got := addMoney(a, []Money{{"USD", "0.01"}, {"EUR", "-0.2"}, {"CHF", "5"}})
	want := []Money{{"CHF", "5"}, {"EUR", "-0.10"}, {"USD", "100000000000000000000.00"}}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
