package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// TestOutputsGuide: the job of docs/outputs-s3.md runs as it stands there, but for the address
// of the store, and the bucket then holds what the guide says.
func TestOutputsGuide(t *testing.T) {
	b := newBucket(t)
	b.name = "finance"
	b.create()
	text, err := os.ReadFile("../../docs/outputs-s3.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(?:yaml)?\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) < 2 {
		t.Fatal("the guide has no job and no tree")
	}
	const endpoint = "endpoint: https://store.example:9000"
	src, tree := string(blocks[0][1]), string(blocks[1][1])
	if job, err := rules.Parse([]byte(src), "job.yaml"); err != nil || len(job.Warnings) > 0 || !strings.Contains(src, endpoint) {
		t.Fatal(err, job)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "job.yaml"), strings.Replace(src, endpoint, "endpoint: "+b.proxy.URL+"\n    allow_private: true", 1))
	t.Setenv("RUNS_ACCESS_KEY", os.Getenv("RUNS_ACCESS"))
	write(t, filepath.Join(dir, "secrets", "runs.key"), os.Getenv("RUNS_SECRET")+"\n")
	for _, date := range []string{"2026-11-28", "2026-11-29"} {
		write(t, filepath.Join(dir, "ours_"+date+".csv"), "id,amount\na,1.00\n")
		write(t, filepath.Join(dir, "psp_"+date+".csv"), "reference,amount\na,1.00\n")
		job, err := rules.Load(filepath.Join(dir, "job.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(t.Context(), Options{Job: job, BusinessDate: date, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		tree = strings.ReplaceAll(tree, date+"/<run>", fmt.Sprintf("%s/%s", date, res.Manifest.RunID))
	}
	there := b.objects()
	if !strings.Contains(there["recon/charges/2026-11-29/current"], `"folder":"s3://finance/recon/charges/2026-11-29/`) {
		t.Errorf("current is %q", there["recon/charges/2026-11-29/current"])
	}
	for line := range strings.Lines(tree) {
		line = strings.TrimSpace(line)
		found := there[line] != ""
		for key := range there {
			if before, more := strings.CutSuffix(line, "…"); more && strings.HasPrefix(key, before) {
				found = true
			}
		}
		if !found {
			t.Errorf("the bucket has no %s", line)
		}
	}
	if len(there) < 20 {
		t.Errorf("the bucket has %d objects", len(there))
	}
}
