package testchrome

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the tests of the page rest on notices what it is there for.
func TestNoticesWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.html")
	const bad = `<!doctype html><title>x</title><style>p { color: #999; background: #fff } @media (prefers-color-scheme: dark) { p { background: #000 } } @media print { #wide { display: none } }</style>
<p id="faint">hard to read</p><div id="wide"></div><img src="missing.png"><script>console.error("said so"); window.ran = 1; addEventListener("keydown", e => { window.last = e.key })</script><script>throw new Error("thrown")</script>`
	if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	b := Start(t)
	p := b.Open(t, "file://"+path, Look{})
	p.Until(`document.readyState === "complete"`)
	if r := p.Requests(); len(r) != 1 || !strings.HasSuffix(r[0], "/missing.png") {
		t.Errorf("requests %q", r)
	}
	all := strings.Join(p.Messages(), "\n")
	for _, want := range []string{"said so", "thrown", "missing.png"} {
		if !strings.Contains(all, want) && want != "missing.png" || want == "missing.png" && !strings.Contains(all, "ERR_FILE_NOT_FOUND") {
			t.Errorf("the console says %q, without %s", all, want)
		}
	}
	var ids []string
	for _, v := range p.Axe() {
		ids = append(ids, v.ID)
	}
	for _, want := range []string{"color-contrast", "html-has-lang", "image-alt"} {
		if !slices.Contains(ids, want) {
			t.Errorf("axe-core finds %q, without %s", ids, want)
		}
	}
	p.Key("a")
	if p.Text("window.last") != "a" {
		t.Error("no key arrives")
	}
	p.Dark(true)
	if got := p.Text(`getComputedStyle(document.querySelector("#faint")).backgroundColor`); got != "rgb(0, 0, 0)" {
		t.Errorf("dark is %s", got)
	}
	p.Print(true)
	if got := p.Text(`getComputedStyle(document.querySelector("#wide")).display`); got != "none" {
		t.Errorf("in print the element is %s", got)
	}
	if pdf := p.PDF(); !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("no PDF: %.20q", pdf)
	}
	if q := b.Open(t, "file://"+path, Look{NoScript: true}); q.Text("window.ran") != "undefined" {
		t.Error("a script ran though JavaScript is off")
	}
}

// The version that tests look for is the one that is installed.
func TestVersionIsPinned(t *testing.T) {
	script, err := os.ReadFile("../../scripts/install-axe")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), "\nversion="+AxeVersion+"\n") {
		t.Errorf("scripts/install-axe does not install %s", AxeVersion)
	}
}
