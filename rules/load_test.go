package rules_test

import (
	"os"
	"path/filepath"
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
		if _, err := rules.Load(path); err != nil {
			t.Errorf("%v", err)
		}
	}
}

func TestExampleLoads(t *testing.T) {
	for _, path := range []string{"testdata/amounts.yaml", "testdata/example.yaml", "testdata/forms.yaml", "testdata/containers.yaml"} {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.Parse(src, path); err != nil {
			t.Errorf("%v", err)
		}
	}
}
