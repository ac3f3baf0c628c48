package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// leads returns what is wrong with an import of the way by which tests take checks out
// of the guard, or "". Imports of tests are not asked.
func leads(from, to string) string {
	switch to {
	case module + "classify/guardtest":
		return "only tests take checks out of the guard"
	case module + "internal/hole":
		if from != "classify" && from != "report" && from != "classify/guardtest" {
			return "only the guard, the contract of the queues and classify/guardtest know of holes"
		}
	}
	return ""
}

// TestGuardHasNoHoles: no program can take a check out of the guard.
func TestGuardHasNoHoles(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	known := false
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		from := strings.TrimPrefix(f[0], module)
		for _, to := range f[1:] {
			known = known || to == module+"internal/hole"
			if why := leads(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, strings.TrimPrefix(to, module), why)
			}
		}
	}
	if !known {
		t.Error("nothing imports internal/hole: the rule was not really tested")
	}
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"internal/pipeline", module + "classify/guardtest", true},
		{"cmd/recon-batch", module + "internal/hole", true},
		{"classify", module + "internal/hole", false},
		{"classify", module + "classify/guardtest", true},
	} {
		if (leads(c.from, c.to) != "") != c.bad {
			t.Errorf("%s imports %s: refused %v", c.from, c.to, !c.bad)
		}
	}
}
