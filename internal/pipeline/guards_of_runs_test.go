package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// Planted operations guard the run: one that is missing, or comes out otherwise, keeps
// every acting queue back. They are in none themselves, and no gate counts them.
func TestCanaries(t *testing.T) {
	const planted = `canaries:
  - {operation_id: c8, expect: absent}
  - {operation_id: c9, expect: correct}
gates: [{gate: open, fail_when: "differences > 1"}, {gate: absent, fail_when: "count(absent) > 1"}, {gate: share, fail_when: "share(absent) > 50%"}]
`
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-c/8", "c/9")
	res := n.run("2026-11-01", planted, Allowed{})
	n.wantExit(res, fail.OK, "canary: 2 canary operations came out as expected")
	if got := n.ids(res, "requeue"); got != "c1" {
		t.Errorf("requeue holds %s", got)
	}
	if q := res.Summary.Queues[0]; q.Queue != "confirm" || q.Items != 1 {
		t.Errorf("confirm has %d items, the canary is one of them", q.Items)
	}
	if res.Summary.Outcome.Differences != 1 || !strings.Contains(res.Summary.Headline, "1 absent") {
		t.Errorf("%d differences: %s", res.Summary.Outcome.Differences, res.Summary.Headline)
	}
	// 1 of 2 that are not planted; with them it would be 2 of 4, and 1 of 4 with them below the line.
	if g := res.Summary.Gates[2]; g.Value != "50 %" || !strings.Contains(g.Basis, "1 operations of 2") {
		t.Errorf("the share is %s, %s", g.Value, g.Basis)
	}
	// Without work of others the day closes.
	n.files("2026-11-02", "c/0", "-c/8", "c/9")
	if res := n.run("2026-11-02", planted, Allowed{}); !res.Summary.Outcome.Closes {
		t.Errorf("planted work keeps the day open: %s", res.Summary.Headline)
	}
	for date, c := range map[string]struct {
		ops  []string
		want string
	}{
		"2026-11-03": {[]string{"c/0", "-c/1", "c/8", "c/9"}, "the canary c8 should come out as absent, and came out as correct/equal"},
		"2026-11-04": {[]string{"c/0", "-c/1", "-c/8"}, "the canary c9 should come out as correct, and is missing from the operations"},
		"2026-11-05": {[]string{"c/0", "-c/1", "-c/8", "-c/9"}, "the canary c9 should come out as correct, and came out as absent/no_result"},
	} {
		n.files(date, c.ops...)
		res := n.run(date, planted, Allowed{})
		n.wantExit(res, fail.Policy, c.want)
		if n.ids(res, "requeue") != "none" || n.ids(res, "review") == "none" {
			t.Errorf("%s: an acting queue was written, or that for people was not", date)
		}
	}
}

// Nobody is chased by the clock for what a source does not say: a missing file takes due
// date and age off what it leaves undecided, and off nothing else.
func TestOutage(t *testing.T) {
	n := newNights(t)
	n.job = strings.Replace(nightsJob, "RESULTS", `{name: psp, path: "res_{file_date}.csv", dates: {from: "{date-1}", until: "{date}"}, need: late-ok, coverage: {account: psp, from: "{file_date}T00:00", until: "{file_date+1}T00:00"}}`, 1)
	const gate = "gates: [{gate: old, fail_when: \"oldest(review) > 1d\"}]\n"
	line := func(id, at string) string {
		return fmt.Sprintf("%s,k%s,charge,awaiting_confirmation,10.00,EUR,1,%s\n", id, id, at)
	}
	const head = "id,key,kind,state,amount,currency,n,at\n"
	write(t, filepath.Join(n.dir, "ops_2026-11-05.csv"), head+line("c0", "2026-11-05T12:00:00Z")+line("c1", "2026-11-04T12:00:00Z"))
	write(t, filepath.Join(n.dir, "res_2026-11-05.csv"), "id,key,remote,amount,currency,at\nc0,kc0,x0,10.00,EUR,2026-11-05T12:00:01Z\n")
	res := n.run("2026-11-05", gate, Allowed{}) // the file of the 4th is missing
	n.wantExit(res, fail.OK, "outage: 1 item of the review queue waits for a source that proves nothing for its time")
	item := n.items(res, "review")[0]
	if item["operation_id"] != "c1" || item["reason"] != "coverage_incomplete" || item["due_at"] != nil {
		t.Errorf("the item is %v", item)
	}
	// What no source declares to cover at all is not waited for: it keeps its clock.
	write(t, filepath.Join(n.dir, "ops_2026-11-05.csv"), head+line("c0", "2026-11-05T12:00:00Z")+line("c2", "2026-11-02T12:00:00Z"))
	res = n.run("2026-11-05", gate, Allowed{})
	n.wantExit(res, fail.Gate, "gate old failed: 3 d 12 h")
	if item := n.items(res, "review")[0]; item["reason"] != "coverage_incomplete" || item["due_at"] == nil {
		t.Errorf("the item is %v", item)
	}
}

// A revision names the items of the run before it that no longer hold, and why.
func TestWithdrawn(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-c/2", "-c/3", "-c/4")
	first := n.run("2026-11-01", "", Allowed{})
	if first.Manifest.Withdrawn != nil || exists(n.folder(first)+"/"+withdrawnParquet) {
		t.Error("the first run withdraws something")
	}
	withdrawn := func(res *Result) string {
		var out []string
		for _, x := range n.items(res, "withdrawn") {
			now := x["now_queue"]
			if now == nil {
				now = "-"
			}
			out = append(out, fmt.Sprintf("%s:%s:%s:%s", x["queue"], x["operation_id"], x["why"], now))
			if x["run_id"] == res.Manifest.RunID {
				t.Errorf("a withdrawn item names the run that withdraws it")
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	// 1 arrived, 2 with another amount, 3 is gone from the operations, 4 stands.
	n.files("2026-11-01", "c/0", "c/1", "c/2", "-c/4")
	edit(t, n.dir+"/res_2026-11-01.csv", "c2,kc2,xc2,10.00", "c2,kc2,xc2,11.00")
	second := n.run("2026-11-01", "", Allowed{})
	if got, want := withdrawn(second), "requeue:c1:replaced:confirm requeue:c2:replaced:review requeue:c3:gone:-"; got != want {
		t.Errorf("withdrawn: %s\nwant       %s", got, want)
	}
	if w := second.Manifest.Withdrawn; w.Items != 3 || !slices.Equal(w.Why, []WithdrawnCount{{"gone", 1}, {"replaced", 2}}) {
		t.Errorf("counted %+v", w)
	}
	// The next revision only observes; nothing is withdrawn twice.
	third := n.run("2026-11-01", observe, Allowed{})
	if got, want := withdrawn(third), "confirm:c0:observed:- confirm:c1:observed:- requeue:c4:observed:- review:c2:observed:-"; got != want {
		t.Errorf("withdrawn: %s\nwant       %s", got, want)
	}
	if got := withdrawn(n.run("2026-11-01", observe+"\nclock_skew: 6m", Allowed{})); got != "" {
		t.Errorf("observed again: %s is withdrawn", got)
	}
	// Acting queues that are withheld hold nothing back for anybody.
	n.run("2026-11-01", "clock_skew: 7m", Allowed{Reason: "test"})
	withheld := n.run("2026-11-01", "limits: {blast_radius: {confirm: {rows: 1}}}", Allowed{})
	if got, want := withdrawn(withheld), "confirm:c0:withheld:- confirm:c1:withheld:- requeue:c4:withheld:-"; got != want {
		t.Errorf("withdrawn: %s\nwant       %s", got, want)
	}
}

// Operations that a provider with a budget of its own should know go at its rate, and
// no others.
func TestBudgetByAccount(t *testing.T) {
	n := newNights(t)
	n.job = strings.Replace(nightsJob, "RESULTS",
		`{name: psp, path: "res_{date}.csv", coverage: {complete: true, account: psp, types: [charge]}}, {name: bank, path: "bank_{date}.csv", coverage: {complete: true, account: bank, types: [refund]}}`, 1)
	n.files("2026-11-01", "c/0", "-c/1", "-c/2", "-c/3", "-r/1", "-r/2", "-r/3")
	write(t, n.dir+"/bank_2026-11-01.csv", "id,key,remote,amount,currency,at\nother,kother,xother,10.00,EUR,2026-11-01T12:00:00Z\n")
	res := n.run("2026-11-01", "limits: {retry_budget: {rows: 2, per: 1h, by: {psp: {rows: 1, per: 24h}}}}", Allowed{})
	n.wantExit(res, fail.OK, "the retry budget of psp (1 per 1 d) spreads 3 requeues over time, until 2026-11-04T00:00:10Z; 2 of them later than they could")
	at := map[string]any{}
	for _, x := range n.items(res, "requeue") {
		at[fmt.Sprint(x["next_attempt_at"])] = true
	}
	want := []string{"2026-11-02T00:00:10Z", "2026-11-02T00:30:10Z", "2026-11-02T01:00:10Z", "2026-11-03T00:00:10Z", "2026-11-04T00:00:10Z"}
	got := []string{}
	for k := range at {
		got = append(got, k)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("next attempts %v", got)
	}
}

// A release that has ended lifts nothing, and that is said.
func TestExpiredReleaseIsSaid(t *testing.T) {
	const release = `releases:
  - {id: outage-1, when: "amount > 0", attempts: 2, until: "%s", by: ann, approved_by: bob, reason: provider outage}
`
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1")
	ended := n.run("2026-11-01", fmt.Sprintf(release, "2026-11-01T12:00"), Allowed{})
	n.wantExit(ended, fail.OK, "release_expired: the release outage-1 ended at 2026-11-01T12:00:00Z and lifts nothing")
	holds := n.run("2026-11-01", fmt.Sprintf(release, "2026-11-05T12:00"), Allowed{})
	if slices.ContainsFunc(holds.Summary.Findings, func(f report.Finding) bool { return f.Code == "release_expired" }) {
		t.Error("a release that holds is said to have ended")
	}
	if holds.Manifest.RunID == ended.Manifest.RunID {
		t.Error("releases are no part of the run's identity")
	}
}
