package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

const checksAndSheets = "outputs: {formats: [parquet, ndjson, json, md, junit, sarif, csv]}"

// What a run writes for build servers and for people stands in the manifest with a role of
// its own, is verified by its digest, and is no machine's queue.
func TestRolesOfOutputs(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", absent(2)...)
	run := n.run("2026-11-01", checksAndSheets, Allowed{})
	roles := map[string]string{}
	for _, o := range run.Manifest.Outputs {
		roles[o.Path] = o.Role
	}
	for path, want := range map[string]string{
		"report.junit.xml": "checks", "report.sarif": "checks", "people/requeue.csv": "queue as people read it", "people/review.csv": "queue as people read it",
		"queues/requeue.ndjson": "acting queue", "report.md": "report", "people/confirm.csv": "",
	} {
		if roles[path] != want {
			t.Errorf("%s has the role %q, want %q", path, roles[path], want)
		}
	}
	edit(t, filepath.Join(n.folder(run), "report.junit.xml"), "nights.queues", "nights.queue")
	v, err := Verify(t.Context(), n.folder(run))
	if err != nil {
		t.Fatal(err)
	}
	if v.OK() || !strings.Contains(strings.Join(v.Checks[0].Wrong, "\n"), "report.junit.xml was changed") {
		t.Errorf("a changed report.junit.xml: %+v", v.Checks[0])
	}
}

// A queue that was withheld has no file for people either: whoever puts one there is found
// out, even with digests that fit.
func TestVerifyNoticesAWithheldQueueForPeople(t *testing.T) {
	n := newNights(t)
	n.files("2026-11-01", absent(4)...)
	run := n.run("2026-11-01", checksAndSheets+"\nlimits: {blast_radius: {requeue: {rows: 1}}}", Allowed{})
	if run.ExitCode != fail.Policy || slices.ContainsFunc(run.Manifest.Outputs, func(o OutputDigest) bool { return o.Path == "people/requeue.csv" }) {
		t.Fatalf("exit %d, outputs %+v", run.ExitCode, run.Manifest.Outputs)
	}
	f := forger{t: t, dir: n.folder(run)}
	review, err := os.ReadFile(filepath.Join(f.dir, "people", "review.csv"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.dir, "people", "requeue.csv"), string(review))
	f.seal()
	v, err := Verify(t.Context(), f.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Checks {
		if strings.Contains(strings.Join(c.Wrong, "\n"), "people/requeue.csv was published although the queue was withheld") {
			return
		}
	}
	t.Errorf("nothing is wrong with people/requeue.csv: %+v", v.Checks)
}
