package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The notes of refused runs are listed in the order in which they happened,
// whatever their ids are.
func TestHistoryListsAttemptsByTime(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "shop", "2026-11-29", "attempts")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for id, since := range map[string]string{
		"0000000000000003": "2026-11-30T04:00:00Z", "0000000000000001": "2026-11-30T05:00:00Z", "0000000000000002": "2026-11-29T23:00:00Z",
	} {
		note := fmt.Sprintf(`{"id": %q, "since": %q, "exit_code": 4}`, id, since)
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(note), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := History(out, "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, r.Since)
	}
	if !slices.IsSorted(got) || len(got) != 3 {
		t.Errorf("listed in the order %v", got)
	}
}
