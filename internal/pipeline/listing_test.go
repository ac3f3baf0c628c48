package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// TestListingGuide: the job of docs/sources-listings.md runs as it stands there: documents are
// results, by their names and digests.
func TestListingGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/sources-listings.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("the guide has no job")
	}
	dir := t.TempDir()
	run := func(more string) (*Result, error) {
		t.Helper()
		write(t, filepath.Join(dir, "job.yaml"), string(block[1])+more)
		job, err := rules.Load(filepath.Join(dir, "job.yaml"))
		if err != nil || len(job.Warnings) > 0 {
			t.Fatal(err, job.Warnings)
		}
		return Run(t.Context(), Options{Job: job, BusinessDate: "2026-08-20", Threads: 1})
	}
	document := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, "documents", "2026-08-20", name)
		write(t, path, text)
		at := time.Date(2026, 8, 20, 10, 30, 0, 0, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	issued := "number,kind,sha256,created_at\n"
	for i, text := range []string{"one", "two", "three"} {
		issued += fmt.Sprintf("INV-%d,invoice,%s,2026-08-20T10:00:00Z\n", i+1, sha256Hex([]byte(text)))
	}
	write(t, filepath.Join(dir, "issued_2026-08-20.csv"), issued)

	// No folder: a missing source. An empty one: no document at all, and nobody acts on it.
	if _, err := run(""); fail.ClassOf(err) != fail.Input {
		t.Errorf("without the folder: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "documents", "2026-08-20"), 0o700); err != nil {
		t.Fatal(err)
	}
	empty, err := run("")
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(empty); empty.ExitCode != fail.Policy || got != "operations absent 3" || !strings.Contains(empty.Manifest.Outcome.Withheld, "V38") {
		t.Errorf("an empty folder: %d, %s, %q", empty.ExitCode, got, empty.Manifest.Outcome.Withheld)
	}

	document("INV-1.pdf", "one")
	document("INV-2.pdf", "2")
	document("INV-9.pdf", "nine")
	res, err := run("")
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(res); got != "operations correct 1, operations divergent 1, operations absent 1, results correct 1, results divergent 1, results unexpected 1" {
		t.Errorf("the day comes out as %s", got)
	}
	if s := res.Manifest.Snapshots; len(s) != 1 || s[0].Kind != rules.FromListing || s[0].Address != "documents/2026-08-20/*.pdf" {
		t.Errorf("snapshots %+v", s)
	}
	again, err := run("")
	if err != nil || !again.NoOp {
		t.Errorf("the same files are another run: %v", err)
	}

	// A name that does not fit is a reject, or left out and counted, as the job says.
	document("draft.pdf", "x")
	if _, err := run(""); fail.ClassOf(err) != fail.Input || !containsText(err, "the name does not fit name_pattern") {
		t.Errorf("a name that does not fit: %v", err)
	}
	job := string(block[1])
	block[1] = []byte(strings.Replace(job, "  coverage: complete\n  fields:\n", "  on_reject: keep\n  coverage: complete\n  fields:\n", 1))
	kept, err := run("")
	if err != nil {
		t.Fatal(err)
	}
	if in := kept.Manifest.Inputs[1]; in.Rejected != 1 || in.Records != 4 || in.Control != 0 {
		t.Errorf("kept: %+v", in)
	}
	if got := classes(kept); !strings.Contains(got, "operations ambiguous 1") {
		t.Errorf("a reject proves absences: %s", got)
	}
	block[1] = []byte(strings.Replace(job, "    digest: sha256\n", "    digest: sha256\n    other_names: leave_out\n", 1))
	left, err := run("")
	if err != nil {
		t.Fatal(err)
	}
	if in := left.Manifest.Inputs[1]; in.Rejected != 0 || in.Records != 3 || in.Control != 1 {
		t.Errorf("left out: %+v", in)
	}
	if got := classes(left); got != classes(res) {
		t.Errorf("left out, the day comes out as %s", got)
	}
	if said := strings.Join(left.Notes, "\n"); !strings.Contains(said, `1 file left out, whose names do not fit name_pattern: ["draft.pdf"]`) {
		t.Errorf("notes %s", said)
	}
	v, err := Verify(t.Context(), filepath.Join(dir, "out", "invoices", "2026-08-20", left.Manifest.RunID))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Checks {
		if len(c.Wrong) > 0 {
			t.Errorf("verify %s: %v", c.Name, c.Wrong)
		}
	}
}
