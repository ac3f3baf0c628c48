package ready

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

// TestGuide: the delivery of docs/sources-arrival.md makes the sources of its job ready,
// and none of them is before.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/sources-arrival.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string) []byte {
		b := regexp.MustCompile("(?s)```" + kind + "\n(.*?)```").FindSubmatch(text)
		if b == nil {
			t.Fatalf("the guide has no %s", kind)
		}
		return b[1]
	}
	job, err := rules.Parse(block("yaml"), "job.yaml")
	if err != nil || len(job.Warnings) > 0 {
		t.Fatal(err, job)
	}
	bound, err := job.Bind("2026-11-29", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	look := func(want bool) {
		t.Helper()
		for _, side := range rules.Sides {
			in := &bound.Inputs[side][0]
			w := &Watch{Input: in, Open: func(context.Context) (fetch.Store, string, error) { return fetch.Local{Base: dir}, in.Path, nil }}
			v, err := w.Look(t.Context(), time.Now())
			if err != nil || v.Ready() != want {
				t.Errorf("%s: %v, %+v", in.Path, err, v)
			}
		}
	}
	look(false)
	c := exec.Command("sh", "-e", "-c", string(block("sh")))
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	look(true)
}
