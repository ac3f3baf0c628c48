package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFindingCodes: a gate can ask for every code that the program finds, and for no
// other. The codes are read from the sources of the packages that find them.
func TestFindingCodes(t *testing.T) {
	code := regexp.MustCompile(`(?:Code:\s*|\.find\()"([a-z_]+)"`)
	var found []string
	for _, dir := range []string{"../extract", "../match", "../classify", "../internal/pipeline"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if ok, _ := filepath.Match("*_test.go", filepath.Base(f)); ok {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range code.FindAllSubmatch(text, -1) {
				found = append(found, string(m[1]))
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if !slices.Equal(found, FindingCodes) {
		t.Errorf("the program finds %v, gates know %v", found, FindingCodes)
	}
	text, err := os.ReadFile("REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "`" + strings.Join(FindingCodes, "`, `") + "`"; !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("REFERENCE.md does not list the codes of findings: %s", want)
	}
}
