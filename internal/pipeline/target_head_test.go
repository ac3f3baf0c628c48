package pipeline

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// A bucket that has lost its head does not begin anew on an empty disk, where nobody would miss
// what former runs proposed.
func TestLostHead(t *testing.T) {
	b, n := newBucket(t), newNights(t)
	n.files("2026-11-01", absent(1)...)
	n.files("2026-11-02", absent(2)...)
	n.run("2026-11-01", b.to, Allowed{})
	whole := b.objects()
	lost := map[string]string{}
	for key, text := range whole {
		if !strings.HasSuffix(key, "/nights/chain.json") {
			lost[key] = text
		}
	}
	n.lose()
	b.restore(lost)
	if _, err := Run(t.Context(), n.options("2026-11-02")); fail.ClassOf(err) != fail.Conflict || !containsText(err, "nights/chain.json is gone, and runs that were published are there") {
		t.Errorf("without the head: %v", err)
	}
	wantSame(t, "the bucket", b.objects(), lost)
	b.restore(whole)
	if res := n.run("2026-11-02", b.to, Allowed{}); res.Manifest.Previous == nil || res.Manifest.Previous.BusinessDate != "2026-11-01" {
		t.Errorf("it follows %+v", res.Manifest.Previous)
	}
}
