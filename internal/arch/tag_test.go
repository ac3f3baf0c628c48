package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// A build that forgot the tag ends with one line that names it, not with what the
// driver lacks without it.
func TestBuildWithoutTheTag(t *testing.T) {
	out, err := exec.Command("go", "build", "-tags=", module+"internal/duck").CombinedOutput()
	if err == nil {
		t.Fatal("it builds: the tag is needed no more, and arrow_missing.go and CONTRIBUTING.md say that it is")
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], "needs_build_tag_duckdb_arrow") { // the first names the package
		t.Errorf("it ends with\n%s", out)
	}
}
