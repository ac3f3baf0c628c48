package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// golden compares with a file under testdata; -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what it was; look at the difference, and run the test with -update if it is meant:\n%s", name, got)
	}
}

func TestGolden(t *testing.T) {
	s := newWorld(t).load().build()
	var text bytes.Buffer
	if err := Text(&text, s, Place{Dir: "out/card-charges/2026-08-20/r-20260820-0123abcd"}, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.txt", text.Bytes())
	golden(t, "report.md", []byte(Markdown(s)))
	golden(t, "metrics.prom", []byte(Metrics(s)))
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", append(data, '\n'))
}
