package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// corpus are the job files of the small cases.
func corpus(t testing.TB) []string {
	files, err := filepath.Glob("../fixtures/cases/*/job*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no job files of the corpus: %v", err)
	}
	return files
}

func TestCorpusLoads(t *testing.T) {
	for _, path := range corpus(t) {
		if strings.Contains(path, "C21") { // workbooks come with a later release
			if _, err := rules.Load(path); err == nil || !strings.Contains(err.Error(), "not in this release") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if _, err := rules.Load(path); err != nil {
			t.Errorf("%v", err)
		}
	}
}

func TestExampleLoads(t *testing.T) {
	for _, path := range []string{"testdata/example.yaml", "testdata/forms.yaml"} {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.Parse(src, path); err != nil {
			t.Errorf("%v", err)
		}
	}
}
