package extract

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

// proof makes an input of account a that covers [from, until).
func proof(source string, from, until int64, spoiled, missing string) evidence {
	return evidence{
		source: &rules.Source{Name: source, Coverage: rules.Coverage{Account: "a", Proves: rules.FullLifecycle}},
		from:   &from, until: &until, proved: missing == "", missing: missing, spoiled: spoiled,
	}
}

func TestCoverage(t *testing.T) {
	type span struct{ from, until int64 }
	complete := proof("all", 0, 1, "", "")
	complete.complete = true
	spoiledComplete := complete
	spoiledComplete.spoiled = "3 rejected records"
	nothing := proof("x", 0, 1, "", "")
	nothing.from = nil
	for _, c := range []struct {
		name     string
		in       []evidence
		want     []span
		complete bool
		gaps     int
	}{
		{"files continue each other", []evidence{proof("x", 20, 30, "", ""), proof("y", 10, 20, "", "")}, []span{{10, 30}}, false, 0},
		{"D07 a day without its file", []evidence{proof("x", 0, 10, "", ""), proof("x", 10, 20, "", "no file"), proof("x", 20, 30, "", "")}, []span{{0, 10}, {20, 30}}, false, 1},
		{"another file covers the day", []evidence{proof("x", 0, 10, "", ""), proof("x", 10, 20, "", "no file"), proof("y", 5, 25, "", "")}, []span{{0, 25}}, false, 0},
		{"rejects withdraw their time", []evidence{proof("x", 0, 10, "", ""), proof("x", 10, 20, "rejects", ""), proof("y", 5, 25, "", "")}, []span{{0, 10}, {20, 25}}, false, 1},
		{"everything", []evidence{complete}, []span{{BeginningOfTime, EndOfTime}}, true, 0},
		{"everything but rejects", []evidence{spoiledComplete}, []span{{0, 0}}, false, 1},
		{"everything beside a spoiled file", []evidence{complete, proof("x", 10, 20, "cut", "")}, []span{{BeginningOfTime, 10}, {20, EndOfTime}}, false, 1},
		{"nothing declared", []evidence{nothing}, []span{{0, 0}}, false, 0},
		{"nothing there", []evidence{proof("x", 0, 10, "", "no file")}, []span{{0, 0}}, false, 1},
	} {
		got := coverageOf(c.in)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		for i, w := range c.want {
			if got[i].From != w.from || got[i].Until != w.until || got[i].Complete != c.complete || len(got[i].Withdrawn) != c.gaps || got[i].Account != "a" {
				t.Errorf("%s: interval %d is %+v, want %+v", c.name, i, got[i], w)
			}
		}
	}
}

// Sources of other accounts, or with another meaning of silence, do not continue
// each other.
func TestCoverageGroups(t *testing.T) {
	base := proof("x", 0, 10, "", "")
	for name, change := range map[string]func(*rules.Coverage){
		"account": func(c *rules.Coverage) { c.Account = "b" },
		"proves":  func(c *rules.Coverage) { c.Proves = rules.SettledOnly },
		"types":   func(c *rules.Coverage) { c.Types = []string{"refund"} },
		"knows":   func(c *rules.Coverage) { c.Knows = &rules.Expr{Text: "acquirer = 'psp'"} },
		"lag":     func(c *rules.Coverage) { c.Lag = time.Hour },
	} {
		other := proof("y", 10, 20, "", "")
		change(&other.source.Coverage)
		if got := coverageOf([]evidence{base, other}); len(got) != 2 || got[0].Until != 10 || got[1].From != 10 {
			t.Errorf("another %s: %+v", name, got)
		}
	}
}

// What is spoiled could hold an effect of any operation that its account should
// know: no neighbour in the account proves that time, whatever it declares apart.
func TestCoverageSpoiledAccount(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*rules.Coverage)
		until  int64
	}{
		{"the same", func(*rules.Coverage) {}, 5},
		{"lag", func(c *rules.Coverage) { c.Lag = time.Hour }, 5},
		{"knows", func(c *rules.Coverage) { c.Knows = &rules.Expr{Text: "acquirer = 'psp'"} }, 5},
		{"settlements", func(c *rules.Coverage) { c.Proves = rules.SettledOnly }, 5},
		{"failures are no effects", func(c *rules.Coverage) { c.Proves = rules.FailuresOnly }, 10},
		{"some of the types", func(c *rules.Coverage) { c.Types = []string{"refund", "charge"} }, 5},
		{"other types", func(c *rules.Coverage) { c.Types = []string{"refund"} }, 10},
		{"account", func(c *rules.Coverage) { c.Account = "b" }, 10},
	} {
		whole, cut := proof("x", 0, 10, "", ""), proof("y", 5, 20, "cut", "")
		whole.source.Coverage.Types = []string{"charge"}
		cut.source.Coverage.Types = []string{"charge"}
		c.change(&cut.source.Coverage)
		for _, in := range [][]evidence{{whole, cut}, {cut, whole}} {
			for _, i := range coverageOf(in) {
				if i.Source != "y" && i.From < i.Until && (i.From != 0 || i.Until != c.until) {
					t.Errorf("%s: %+v, want it proved until %d", c.name, i, c.until)
				}
			}
		}
	}
}

// Where a job names no account, no source speaks for another whose file is missing.
func TestCoverageMissingWithoutAccount(t *testing.T) {
	for _, c := range []struct {
		name, account string
		lag           time.Duration
		noFile        bool
		until         int64
	}{
		{"a file is missing", "", 0, true, 5},
		{"a file is missing, another lag", "", time.Hour, true, 5},
		{"a copy was skipped", "", 0, false, 10},
		{"an account continues", "a", 0, true, 10},
	} {
		whole, gone := proof("x", 0, 10, "", ""), proof("y", 5, 20, "", "no file")
		gone.noFile = c.noFile
		whole.source.Coverage.Account, gone.source.Coverage.Account, gone.source.Coverage.Lag = c.account, c.account, c.lag
		if got := coverageOf([]evidence{whole, gone}); got[0].From != 0 || got[0].Until != c.until {
			t.Errorf("%s: %+v, want it proved until %d", c.name, got[0], c.until)
		}
	}
}

// Against a plain model: a moment is proved if a good input covers it and no
// spoiled one does.
func TestCoverageModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []evidence
		for range rapid.IntRange(0, 6).Draw(t, "inputs") {
			from := rapid.Int64Range(0, 12).Draw(t, "from")
			until := from + rapid.Int64Range(0, 6).Draw(t, "length")
			kind := rapid.IntRange(0, 2).Draw(t, "kind")
			in = append(in, proof("x", from, until, []string{"", "spoiled", ""}[kind], []string{"", "", "missing"}[kind]))
		}
		got := coverageOf(in)
		for at := range int64(20) {
			want := false
			for _, e := range in {
				want = want || e.proved && e.spoiled == "" && *e.from <= at && at < *e.until
			}
			for _, e := range in {
				want = want && !(e.spoiled != "" && *e.from <= at && at < *e.until)
			}
			has := 0
			for _, g := range got {
				if g.From <= at && at < g.Until {
					has++
				}
			}
			if has > 1 || (has == 1) != want {
				t.Fatalf("moment %d: in %d intervals, proved %v: %+v", at, has, want, got)
			}
		}
	})
}
