package testchrome

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// AxeVersion is the release of axe-core that scripts/install-axe installs.
const AxeVersion = "4.14.1"

// Violation is a rule that a page does not follow.
type Violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"` // minor, moderate, serious or critical
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"` // the elements, as selectors and markup; the first ones
}

func (v Violation) String() string {
	return fmt.Sprintf("%s (%s): %s\n\t%s", v.ID, v.Impact, v.Help, strings.Join(v.Nodes, "\n\t"))
}

// axe is the source of axe-core, which is installed beside the caches of this user and
// is no part of this repository.
func axe(t tester) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("%v", err)
	}
	source, err := os.ReadFile(filepath.Join(cache, "recon-batch", "axe-core-"+AxeVersion, "axe.min.js"))
	if err != nil {
		missing(t, "axe-core "+AxeVersion, "install-axe")
	}
	return string(source)
}

// Axe lists what axe-core finds in the page as it stands: all rules of WCAG 2.2 up to AA
// and best practices.
func (p *Page) Axe() []Violation {
	p.t.Helper()
	p.Eval("typeof axe === 'undefined' && ("+"(() => {"+axe(p.t)+"})(), 0)", nil)
	var out []Violation
	p.Eval(`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"]}).then(r => r.violations.map(v => ({
  id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 5).map(n => n.target.join(" ") + "  " + n.html.slice(0, 200) + "  " + (n.failureSummary || "").replace(/\s+/g, " "))})))`, &out)
	return out
}
