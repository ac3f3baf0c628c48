package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/recon-batch/recon-batch/fixtures/world"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/internal/testchrome"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// pageRun is a published run whose page is opened.
type pageRun struct {
	url string // of report.html
	dir string
	s   *report.Summary
}

// runPage runs a job.
func runPage(t *testing.T, job, date string) pageRun {
	t.Helper()
	j, err := rules.Load(job)
	if err != nil {
		t.Fatal(err)
	}
	res, err := pipeline.Run(t.Context(), pipeline.Options{Job: j, BusinessDate: date, Out: filepath.Join(filepath.Dir(job), "out")})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(res.Dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := new(report.Summary)
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return pageRun{url: "file://" + filepath.Join(res.Dir, "report.html"), dir: res.Dir, s: s}
}

// demoPage is a run of a seeded day with every kind of trouble.
func demoPage(t *testing.T) pageRun {
	t.Helper()
	dir := t.TempDir()
	truth, err := world.Generate(dir, world.Shape{Seed: 1, Operations: 5000, Date: time.Date(2026, time.November, 29, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../examples/demo/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(job, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return runPage(t, job, truth.BusinessDate)
}

// ready opens a page and waits until its board is there.
func ready(t *testing.T, b *testchrome.Browser, url string, look testchrome.Look) *testchrome.Page {
	t.Helper()
	p := b.Open(t, url, look)
	if !look.NoScript {
		p.Until(`document.getElementById("board").dataset.ready`)
		if got := p.Text(`document.getElementById("board").dataset.ready`); got != "yes" {
			t.Fatalf("the board is not there: %s", p.Text(`document.getElementById("board").textContent`))
		}
	}
	return p
}

// quiet asserts that the page said nothing on the console and asked for nothing.
func quiet(t *testing.T, p *testchrome.Page) {
	t.Helper()
	if m := p.Messages(); len(m) > 0 {
		t.Errorf("the console says %s", strings.Join(m, "\n"))
	}
	if r := p.Requests(); len(r) > 0 {
		t.Errorf("the page asks for %q", r)
	}
}

// accessible asserts that axe-core finds nothing at all.
func accessible(t *testing.T, p *testchrome.Page, what string) {
	t.Helper()
	for _, v := range p.Axe() {
		t.Errorf("%s: %s", what, v)
	}
}

// choose chooses an option of a control, as a person does.
func choose(p *testchrome.Page, id, value string) {
	p.Eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); if (![...s.options].some(o => o.value === %q)) throw new Error("no option " + %[2]q); s.value = %[2]q; s.dispatchEvent(new Event("change")); })()`, id, value), nil)
}

func status(p *testchrome.Page) string {
	return p.Text(`document.getElementById("board-status").textContent`)
}

// column lists the text of a column of the rows that are shown; the first is 0, the
// verdict 1.
func column(p *testchrome.Page, n int) []string {
	var out []string
	p.Eval(fmt.Sprintf(`[...document.querySelectorAll("table.board > tbody > tr:not(.detail)")].map(r => r.cells[%d].innerText)`, n), &out)
	return out
}

func (r pageRun) rowsOf(fits func(report.BoardCause) bool) (n int64) {
	for _, c := range r.s.Board.ByCause {
		if fits(c) {
			n += c.Rows
		}
	}
	return n
}

func TestPageInChromium(t *testing.T) {
	b := testchrome.Start(t)
	run := demoPage(t)
	all := run.s.Board.Of
	if all < 60 || run.s.Board.Showing != all {
		t.Fatalf("the board has %d rows of %d", run.s.Board.Showing, all)
	}
	t.Run("opens", func(t *testing.T) {
		p := ready(t, b, run.url, testchrome.Look{})
		quiet(t, p)
		if got, want := status(p), fmt.Sprintf("Showing 1 to 50 of %d", all); got != want {
			t.Errorf("the board says %q, want %q", got, want)
		}
		if p.Text(`document.getElementById("board-plain").offsetHeight`) != "0" {
			t.Error("the plain table is shown beside the board")
		}
		p.Shot("wide")
	})
	t.Run("filter", func(t *testing.T) { filterTest(t, ready(t, b, run.url, testchrome.Look{}), run) })
	t.Run("sort", func(t *testing.T) { sortTest(t, ready(t, b, run.url, testchrome.Look{}), run) })
	t.Run("search", func(t *testing.T) { searchTest(t, ready(t, b, run.url, testchrome.Look{})) })
	t.Run("groups", func(t *testing.T) { groupTest(t, ready(t, b, run.url, testchrome.Look{}), run) })
	t.Run("links", func(t *testing.T) { linkTest(t, b, run) })
	t.Run("keyboard", func(t *testing.T) { keyboardTest(t, ready(t, b, run.url, testchrome.Look{})) })
	t.Run("details", func(t *testing.T) { detailTest(t, ready(t, b, run.url, testchrome.Look{}), run) })
	t.Run("looks", func(t *testing.T) { looksTest(t, b, run) })
	t.Run("print", func(t *testing.T) { printTest(t, ready(t, b, run.url, testchrome.Look{}), run) })
	t.Run("no script", func(t *testing.T) {
		p := b.Open(t, run.url, testchrome.Look{NoScript: true})
		quiet(t, p)
		if n := p.Text(`document.querySelectorAll("#board-plain > .scroll > table > tbody > tr:not(.more)").length`); n != fmt.Sprint(len(run.s.Exceptions.Items)) {
			t.Errorf("%s rows are readable, want %d", n, len(run.s.Exceptions.Items))
		}
		if p.Text(`document.getElementById("board").offsetHeight`) != "0" || p.Text(`document.getElementById("board-plain").offsetHeight > 1000`) != "true" {
			t.Error("the plain table is not what is shown")
		}
	})
	t.Run("broken", func(t *testing.T) { brokenTest(t, b, run) })
}

// brokenTest: where the rows cannot be read the page says so, and keeps its plain table.
func brokenTest(t *testing.T, b *testchrome.Browser, run pageRun) {
	page, err := os.ReadFile(strings.TrimPrefix(run.url, "file://"))
	if err != nil {
		t.Fatal(err)
	}
	page = regexp.MustCompile(`(?s)(id="board-data">).*?(</script>)`).ReplaceAll(page, []byte(`$1{"deflate":"AAAA"}$2`))
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	p := b.Open(t, "file://"+path, testchrome.Look{})
	p.Until(`document.getElementById("board").dataset.ready === "failed"`)
	if !strings.Contains(p.Text(`document.getElementById("board").innerText`), "cannot be shown") || p.Text(`document.getElementById("board-plain").offsetHeight > 1000`) != "true" {
		t.Errorf("the page says %q", p.Text(`document.getElementById("board").innerText`))
	}
	accessible(t, p, "the plain table")
	quiet(t, p)
}

func filterTest(t *testing.T, p *testchrome.Page, run pageRun) {
	want := run.rowsOf(func(c report.BoardCause) bool { return c.Class == "absent" })
	choose(p, "board-f-class", "=absent")
	got := column(p, 1)
	if int64(len(got)) != want || slices.ContainsFunc(got, func(v string) bool { return !strings.HasPrefix(v, "absent/") }) {
		t.Errorf("absent shows %q, want %d rows", got, want)
	}
	if s := status(p); s != fmt.Sprintf("Showing 1 to %d of %d that fit, of %d", want, want, run.s.Board.Of) {
		t.Errorf("the board says %q", s)
	}
	choose(p, "board-f-currency", "=JPY")
	for _, v := range column(p, 4) {
		if !strings.HasSuffix(v, "JPY") {
			t.Errorf("JPY shows the amount %q", v)
		}
	}
	choose(p, "board-f-class", "=unexpected")
	choose(p, "board-f-currency", "=CHF")
	if s := status(p); !strings.HasPrefix(s, "Showing 0 of 0") {
		t.Errorf("what nothing fits says %q", s)
	}
	p.Click("#board .controls button")
	if s := status(p); s != fmt.Sprintf("Showing 1 to 50 of %d", run.s.Board.Of) {
		t.Errorf("once cleared the board says %q", s)
	}
	// What each filter offers adds up to all rows.
	for _, f := range []string{"cause", "class", "reason", "queue", "currency", "type", "account", "owner", "age", "risk"} {
		var labels []string
		p.Eval(fmt.Sprintf(`[...document.getElementById("board-f-%s").options].slice(1).map(o => o.textContent)`, f), &labels)
		var n int64
		for _, l := range labels {
			var k int64
			if _, err := fmt.Sscanf(strings.ReplaceAll(l[strings.LastIndex(l, "(")+1:], ",", ""), "%d)", &k); err != nil {
				t.Fatalf("%s: %q: %v", f, l, err)
			}
			n += k
		}
		if n != run.s.Board.Of {
			t.Errorf("the filter %s offers %d rows of %d", f, n, run.s.Board.Of)
		}
	}
}

func searchTest(t *testing.T, p *testchrome.Page) {
	entity := strings.SplitN(column(p, 2)[3], "\n", 2)[0]
	p.Click("#board-q")
	p.Key(entity)
	p.Until(`document.getElementById("board-status").textContent.includes("that fit")`)
	for _, v := range column(p, 2) {
		if !strings.HasPrefix(v, entity) {
			t.Errorf("the search for %s shows %q", entity, v)
		}
	}
	if p.Text(`document.activeElement.id`) != "board-q" {
		t.Error("the search loses the focus")
	}
	p.Key(" nowhere-to-be-found")
	p.Until(`document.getElementById("board-status").textContent.startsWith("Showing 0 of 0")`)
}

func keyboardTest(t *testing.T, p *testchrome.Page) {
	const at = `[...document.querySelectorAll("button.open")].indexOf(document.activeElement)`
	p.Eval(`document.querySelector('#board th button.sort').focus()`, nil)
	p.Key(kb.Enter)
	if p.Text(`document.activeElement.closest("th").getAttribute("aria-sort")`) != "ascending" {
		t.Error("Enter on a heading does not sort, or loses the focus")
	}
	p.Key(" ")
	if p.Text(`document.activeElement.closest("th").getAttribute("aria-sort")`) != "descending" {
		t.Error("Space on a heading does not turn the order")
	}
	// From the last heading Tab leads to the first row.
	p.Eval(`[...document.querySelectorAll('#board th button.sort')].pop().focus()`, nil)
	p.Key(kb.Tab)
	for _, k := range []struct{ key, name, want string }{
		{"", "Tab", "0"}, {kb.ArrowDown, "ArrowDown", "1"}, {kb.ArrowDown, "ArrowDown", "2"}, {kb.ArrowUp, "ArrowUp", "1"}, {kb.End, "End", "49"}, {kb.ArrowDown, "ArrowDown", "49"}, {kb.Home, "Home", "0"},
	} {
		p.Key(k.key)
		if got := p.Text(at); got != k.want {
			t.Errorf("%s leads to row %s, want %s", k.name, got, k.want)
		}
	}
	p.Key(kb.Enter)
	if p.Text(`document.activeElement.getAttribute("aria-expanded") + document.querySelectorAll("tr.detail").length`) != "true1" {
		t.Error("Enter does not open the row")
	}
	p.Key(kb.Escape)
	if p.Text(`document.activeElement.getAttribute("aria-expanded") + document.querySelectorAll("tr.detail").length`) != "false0" {
		t.Error("Escape does not close the row, or loses the focus")
	}
	before := column(p, 9)[0]
	p.Key(kb.PageDown)
	if !strings.HasPrefix(status(p), "Showing 51 to ") || p.Text(at) != "0" || column(p, 9)[0] == before {
		t.Errorf("Page down says %q, row %s", status(p), p.Text(at))
	}
	p.Key(kb.PageUp)
	if !strings.HasPrefix(status(p), "Showing 1 to ") {
		t.Errorf("Page up says %q", status(p))
	}
	quiet(t, p)
}
