package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

const observe, pilotCharges = "mode: observe", "mode: pilot\npilot: {types: [charge]}"

// A job that was observed acts on what it has seen, and on nothing else; whoever lets
// more pass says why. A queue that was withheld was seen by nobody.
func TestEnforcingWhatWasNeverObserved(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1")
	seen := n.run("2026-11-01", observe, Allowed{})
	n.wantExit(seen, fail.OK, "")
	if got := n.ids(seen, "requeue"); got != "(c1)" {
		t.Errorf("observed: requeue holds %s", got)
	}
	// What was observed may be acted on; a new proposal may not.
	n.files("2026-11-02", "c/0", "-c/1")
	n.wantExit(n.run("2026-11-02", "", Allowed{}), fail.OK, "")
	for _, date := range []string{"2026-11-03", "2026-11-04"} { // the second night no more than the first
		n.files(date, "c/0", "-c/1", "-r/1")
		res := n.run(date, "", Allowed{})
		n.wantExit(res, fail.Policy, "requeue was never observed for refund, and would be acted on; observe it first, or say why not: --allow-unobserved --reason TEXT")
		if n.ids(res, "requeue") != "none" || n.ids(res, "confirm") == "none" && !exists(n.folder(res)+"/queues/confirm.parquet") {
			t.Error("more or less than the requeue queue was withheld")
		}
		if !slices.Equal(res.Manifest.Outcome.Queues, []string{"requeue"}) {
			t.Errorf("withheld: %v", res.Manifest.Outcome.Queues)
		}
	}
	res := n.run("2026-11-04", "", Allowed{Reason: "refunds were tested by hand"})
	n.wantExit(res, fail.OK, "acted on without having been observed: requeue for refund; the reason given: refunds were tested by hand")
	if got := n.ids(res, "requeue"); got != "c1 r1" {
		t.Errorf("requeue holds %s", got)
	}
	// From then on it has been seen.
	n.files("2026-11-05", "c/0", "-r/1")
	n.wantExit(n.run("2026-11-05", "", Allowed{}), fail.OK, "")
}

// A job that was never observed, and goes without stages, acts from its first night on,
// and asks no other run what it may do: the page alone looks back.
func TestPlainJobsActAtOnce(t *testing.T) {
	n := newNights(t)
	for _, date := range []string{"2026-11-01", "2026-11-02"} {
		n.files(date, "c/0", "-c/1", "-r/1")
		res := n.run(date, "", Allowed{})
		n.wantExit(res, fail.OK, "")
		if got := n.ids(res, "requeue"); got != "c1 r1" {
			t.Errorf("requeue holds %s", got)
		}
		for _, f := range res.Manifest.Former {
			if slices.ContainsFunc(f.For, func(why string) bool { return why != forTrend && why != forOpen }) {
				t.Errorf("%s is asked for %v", f.BusinessDate, f.For)
			}
		}
	}
}

// `enforce:` of a type names the proposals that are acted on; the others are observed.
// Turned on in a job that acted before, the last nights count as seen.
func TestEnforceByProposal(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-r/1")
	declared := *n
	declared.job = strings.Replace(n.job, "#charge", "enforce: [confirm]", 1)
	first := declared.run("2026-11-01", "", Allowed{})
	n.wantExit(first, fail.Policy, "confirm was never observed for charge")
	if got := n.ids(first, "requeue"); got != "(c1) r1" { // nobody declared stages for refunds
		t.Errorf("requeue holds %s", got)
	}
	n.run("2026-11-01", "", Allowed{})
	n.files("2026-11-02", "c/0", "-c/1", "-r/1")
	res := declared.run("2026-11-02", "", Allowed{})
	n.wantExit(res, fail.OK, "")
	if got := n.ids(res, "requeue"); got != "(c1) r1" {
		t.Errorf("requeue holds %s", got)
	}
	if got := res.Summary.Proposals; !slices.Contains(got, report.Proposal{Type: "charge", Queue: "requeue", Items: 1, ObserveOnly: 1}) {
		t.Errorf("proposals %+v", got)
	}
	none := *n
	none.job = strings.Replace(n.job, "#charge", "enforce: []", 1)
	if got := n.ids(none.run("2026-11-02", "", Allowed{}), "requeue"); got != "(c1) r1" {
		t.Errorf("enforce nothing: requeue holds %s", got)
	}
}

// A pilot has a folder, revisions and a chain of its own, and withdraws nothing of the
// whole job.
func TestPilotIsASeriesOfItsOwn(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-r/1")
	n.run("2026-11-01", observe, Allowed{})
	n.files("2026-11-02", "c/0", "-c/1", "-r/1")
	whole := n.run("2026-11-02", observe, Allowed{})
	pilot := n.run("2026-11-02", pilotCharges, Allowed{})
	n.wantExit(pilot, fail.OK, "")
	if got := n.ids(pilot, "requeue"); got != "c1 (r1)" {
		t.Errorf("requeue holds %s", got)
	}
	if pilot.Manifest.Series != "pilot" || pilot.Manifest.Supersedes != nil || pilot.Manifest.Withdrawn != nil || pilot.Manifest.Previous != nil {
		t.Errorf("the pilot follows the whole job: %+v", pilot.Manifest)
	}
	for folder, want := range map[string]string{"nights": whole.Manifest.RunID, "nights@pilot": pilot.Manifest.RunID} {
		if id, err := os.Readlink(filepath.Join(n.dir, "out", folder, "2026-11-02", "current")); err != nil || id != want {
			t.Errorf("current of %s is %s, %v", folder, id, err)
		}
	}
	// Another one of a later date knows what the pilot did; the whole job does as well.
	n.files("2026-11-03", "c/0", "-c/1", "-r/1")
	n.wantExit(n.run("2026-11-03", pilotCharges, Allowed{}), fail.OK, "")
	n.wantExit(n.run("2026-11-03", "", Allowed{}), fail.OK, "")
}

// A pilot that nobody observed before says why it starts.
func TestPilotThatWasNeverObserved(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", "c/0", "-c/1", "-r/1")
	n.wantExit(n.run("2026-11-01", pilotCharges, Allowed{}), fail.Policy, "requeue was never observed for charge")
	res := n.run("2026-11-01", pilotCharges, Allowed{Reason: "a small one"})
	n.wantExit(res, fail.OK, "")
	if got := n.ids(res, "requeue"); got != "c1 (r1)" {
		t.Errorf("requeue holds %s", got)
	}
}

// A pilot by time holds what was created in it, and one by share the same operations
// every night, and more of them with a larger share.
func TestPilotByTimeAndShare(t *testing.T) {
	n := newNights(t)
	ops := []string{"c/0"}
	for i := range 60 {
		ops = append(ops, fmt.Sprintf("-c/%03d", i))
	}
	chosen := func(date, pilot string) []string {
		res := n.run(date, "mode: pilot\npilot: "+pilot, Allowed{Reason: "test"})
		var out []string
		for _, id := range strings.Fields(n.ids(res, "requeue")) {
			if !strings.HasPrefix(id, "(") {
				out = append(out, id)
			}
		}
		return out
	}
	n.files("2026-11-01", ops...)
	n.files("2026-11-02", ops...)
	quarter := chosen("2026-11-01", "{share: 25%}")
	if len(quarter) < 5 || len(quarter) > 30 {
		t.Errorf("a quarter of 60 are %d", len(quarter))
	}
	if again := chosen("2026-11-02", "{share: 25%}"); !slices.Equal(again, quarter) {
		t.Errorf("the next night chose %v, not %v", again, quarter)
	}
	half := chosen("2026-11-02", "{share: 50%}")
	for _, id := range quarter {
		if !slices.Contains(half, id) {
			t.Errorf("%s is in a quarter and not in a half", id)
		}
	}
	edit(t, n.dir+"/ops_2026-11-01.csv", "c005,kc005,charge,awaiting_confirmation,10.00,EUR,1,2026-11-01T12:00:00Z", "c005,kc005,charge,awaiting_confirmation,10.00,EUR,1,2026-11-01T09:59:59Z")
	if got := chosen("2026-11-01", `{until: "{date}T10:00"}`); !slices.Equal(got, []string{"c005"}) {
		t.Errorf("until ten: %v", got)
	}
	if got := chosen("2026-11-01", `{from: "{date}T12:00"}`); len(got) != 59 || slices.Contains(got, "c005") {
		t.Errorf("from twelve: %d", len(got))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
