package pipeline

import (
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// A night is compared with the nights before it: their median, without those that were
// withheld, and of other series none.
func TestBaseline(t *testing.T) {
	const limit = "limits: {blast_radius: {requeue: {baseline: {runs: 4, factor: 2}}}}"
	n := newNights(t)
	for i, date := range []string{"2026-11-01", "2026-11-02"} {
		n.files(date, absent(i+1)...)
	}
	n.wantExit(n.run("2026-11-01", limit, Allowed{}), fail.OK, "the limit requeue.baseline is not judged: 0 former runs, and at least 2 are needed")
	n.wantExit(n.run("2026-11-02", limit, Allowed{}), fail.OK, "not judged: 1 former run")
	n.files("2026-11-03", absent(4)...) // the median of 1 and 2 is 1.5: 3 are allowed
	third := n.run("2026-11-03", limit, Allowed{})
	n.wantExit(third, fail.Policy, "exceeds its limit of baseline: 4, the limit is 3 (2 × 1.5, the median of 2 former runs); to lift it for this run alone: --allow-blast-radius requeue.baseline --reason TEXT")
	if n.ids(third, "requeue") != "none" || n.ids(third, "review") == "none" {
		t.Error("the requeue queue was written, or that for people was not")
	}
	if len(third.Manifest.Former) != 2 || third.Manifest.Former[0].BusinessDate != "2026-11-02" || !slices.Equal(third.Manifest.Former[0].For, []string{"baseline", "trend", "open"}) {
		t.Errorf("read: %+v", third.Manifest.Former)
	}
	// What nobody let pass does not become usual.
	n.files("2026-11-04", absent(4)...)
	n.wantExit(n.run("2026-11-04", limit, Allowed{}), fail.Policy, "the median of 2 former runs")
	// Lifted, with a reason, for this run alone: it is recorded, and another run.
	lifted := n.run("2026-11-04", limit, Allowed{Limits: []string{"requeue.baseline", "requeue.baseline.EUR"}, Reason: "outage made good"})
	n.wantExit(lifted, fail.OK, "the limit requeue.baseline was lifted for this run: 4, the limit is 3; the reason given: outage made good")
	if n.ids(lifted, "requeue") != "c1 c2 c3 c4" {
		t.Errorf("requeue holds %s", n.ids(lifted, "requeue"))
	}
	want := []string{"allow-blast-radius=requeue.baseline", "allow-blast-radius=requeue.baseline.EUR", "reason=outage made good"}
	if !slices.Equal(lifted.Manifest.Overrides, want) || !slices.Equal(lifted.Summary.Overrides, want) {
		t.Errorf("recorded: %q and %q", lifted.Manifest.Overrides, lifted.Summary.Overrides)
	}
	if lifted.Manifest.Supersedes == nil {
		t.Error("the lifted run is the one that was withheld")
	}
	// What a person let pass is usual from then on: the median of 1, 2 and 4.
	n.files("2026-11-05", absent(4)...)
	n.wantExit(n.run("2026-11-05", limit, Allowed{}), fail.OK, "")
	// Later dates say nothing about earlier ones, and the same run is the same again.
	if again := n.run("2026-11-02", limit, Allowed{}); !again.NoOp {
		t.Error("a later date changed an earlier run")
	}
}

// Money in a currency has a baseline of its own, and only one of the two needs to be
// exceeded.
func TestBaselineOfMoney(t *testing.T) {
	const limit = "limits: {blast_radius: {requeue: {baseline: {runs: 2, factor: 3}}}}"
	n := newNights(t)
	n.files("2026-11-01", absent(2)...)
	n.run("2026-11-01", limit, Allowed{})
	n.files("2026-11-02", absent(2)...)
	edit(t, n.dir+"/ops_2026-11-02.csv", "10.00,EUR", "50.00,EUR")
	edit(t, n.dir+"/res_2026-11-02.csv", "10.00,EUR", "50.00,EUR")
	n.wantExit(n.run("2026-11-02", limit, Allowed{}), fail.Policy, "exceeds its limit of baseline in EUR: 100.00, the limit is 60.00 (3 × 20.00, the median of 1 former run)")
}

// Limits count what is acted on: not what is for observation only, unless all is.
func TestLimitsCountWhatIsActedOn(t *testing.T) {
	const limit = "limits: {blast_radius: {requeue: {rows: 1, amount: {EUR: \"15\"}}}}\n"
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-r/1", "-r/2")
	n.wantExit(n.run("2026-11-01", limit, Allowed{}), fail.Policy, "exceeds its limit of rows: 3, the limit is 1")
	n.wantExit(n.run("2026-11-01", limit+"mode: observe", Allowed{}), fail.Policy, "exceeds its limit of amount in EUR: 30.00, the limit is 15.00")
	pilot := n.run("2026-11-01", limit+"mode: pilot\npilot: {types: [charge]}", Allowed{Reason: "first night"})
	n.wantExit(pilot, fail.OK, "")
	if got := n.ids(pilot, "requeue"); got != "c1 (r1) (r2)" {
		t.Errorf("requeue holds %s", got)
	}
}

func TestAllowedIsRefused(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", absent(2)...)
	const limit = "limits: {blast_radius: {requeue: {rows: 1, baseline: {runs: 2, factor: 3}}}}"
	for _, c := range []struct {
		allowed Allowed
		more    string
		want    string
	}{
		{Allowed{Limits: []string{"requeue.rows"}}, limit, "needs --reason"},
		{Allowed{Unobserved: true}, limit, "needs --reason"},
		{Allowed{Limits: []string{"requeue.row"}, Reason: "x"}, limit, "its limits are requeue.rows, requeue.baseline, requeue.baseline.CUR"},
		{Allowed{Limits: []string{"confirm.rows"}, Reason: "x"}, limit, "no limit of that name"},
		{Allowed{Limits: []string{"requeue.baseline.CUR"}, Reason: "x"}, limit, ""},
		{Allowed{Limits: []string{"requeue.rows"}, Reason: "x"}, "", "nothing needs to be allowed"},
		{Allowed{Reason: "two\nlines"}, limit, "control character"},
		{Allowed{Reason: "\u200b"}, limit, "says nothing"},
		{Allowed{Limits: []string{"requeue.rows"}, Reason: " … -"}, limit, "says nothing"},
		{Allowed{Reason: strings.Repeat("x", 501)}, limit, "501 bytes"},
	} {
		_, err := n.try("2026-11-01", c.more, c.allowed)
		if c.want == "" {
			continue
		}
		if fail.ClassOf(err) != fail.Usage || !containsText(err, c.want) {
			t.Errorf("%+v: got %v, want a usage error about %q", c.allowed, err, c.want)
		}
	}
	// One limit that is lifted lifts no other, and not what was never observed.
	res := n.run("2026-11-01", "limits: {blast_radius: {requeue: {rows: 1, share: 1%}}}", Allowed{Limits: []string{"requeue.rows"}, Reason: "x"})
	n.wantExit(res, fail.Policy, "exceeds its limit of share")
}
