package report_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/testchrome"
	"github.com/recon-batch/recon-batch/report"
)

// amountsOf reads the column of amounts: exact values and currencies.
func amountsOf(t *testing.T, p *testchrome.Page) (values []*big.Rat, currencies []string) {
	t.Helper()
	for _, cell := range column(p, 4) {
		text, currency, _ := strings.Cut(cell, "\n")
		v := new(big.Rat)
		if text == "" {
			v = nil
		} else if _, ok := v.SetString(strings.ReplaceAll(text, ",", "")); !ok {
			t.Fatalf("the amount %q", cell)
		}
		values, currencies = append(values, v), append(currencies, strings.TrimSpace(currency))
	}
	return values, currencies
}

// sortTest: each order is the one that its name says, exactly, and its turn; amounts of
// different currencies are not compared.
func sortTest(t *testing.T, p *testchrome.Page, run pageRun) {
	choose(p, "board-size", "250")
	for _, falling := range []bool{false, true} {
		choose(p, "board-sort", map[bool]string{false: "amount", true: "-amount"}[falling])
		values, currencies := amountsOf(t, p)
		if int64(len(values)) != run.s.Board.Of {
			t.Fatalf("%d rows are shown", len(values))
		}
		if !slices.IsSorted(currencies) {
			t.Errorf("currencies are mixed: %q", currencies)
		}
		for i := 1; i < len(values); i++ {
			switch {
			case currencies[i] != currencies[i-1] || values[i] == nil:
			case values[i-1] == nil:
				t.Errorf("an amount that is unknown stands before %s", values[i].FloatString(2))
			case falling && values[i].Cmp(values[i-1]) > 0, !falling && values[i].Cmp(values[i-1]) < 0:
				t.Errorf("falling %v: %s stands before %s", falling, values[i-1].FloatString(2), values[i].FloatString(2))
			}
		}
	}
	var keys []string
	p.Eval(`[...document.getElementById("board-sort").options].map(o => o.value)`, &keys)
	if len(keys) < 30 {
		t.Errorf("there are %d orders", len(keys))
	}
	rows := map[string]bool{}
	for _, key := range keys {
		choose(p, "board-sort", key)
		shown := column(p, 9)
		slices.Sort(shown)
		rows[strings.Join(shown, "|")] = true
	}
	if len(rows) != 1 {
		t.Error("an order loses rows")
	}
	p.Click(`#board th:nth-child(3) button`) // entity
	got := column(p, 2)
	for i, cell := range got {
		got[i], _, _ = strings.Cut(cell, "\n")
	}
	if !slices.IsSorted(got) || p.Text(`document.querySelector("#board th:nth-child(3)").getAttribute("aria-sort")`) != "ascending" {
		t.Errorf("by entity: %q", got)
	}
	p.Click(`#board th:nth-child(3) button`)
	back := column(p, 2)
	if first, _, _ := strings.Cut(back[0], "\n"); first != got[len(got)-1] || p.Text(`document.querySelector("#board th:nth-child(3)").getAttribute("aria-sort")`) != "descending" {
		t.Errorf("by entity, turned: %q", back)
	}
	if n := p.Text(`document.querySelectorAll("#board [aria-sort]").length`); n != "1" {
		t.Errorf("%s headings say that they sort", n)
	}
}

// groupTest: the groups by cause are the totals that the summary tells, to the last minor
// unit, and lead to their rows.
func groupTest(t *testing.T, p *testchrome.Page, run pageRun) {
	choose(p, "board-group", "cause")
	var got [][]string
	p.Eval(`[...document.querySelectorAll("table.groups > tbody > tr")].map(r => [...r.cells].map(c => c.innerText.trim()))`, &got)
	money := func(list []report.Money) string {
		var out []string
		for _, m := range list {
			out = append(out, strings.TrimSpace(m.Currency+" "+report.Grouped(m.Amount)))
		}
		return strings.Join(out, "\n")
	}
	want := map[string][]string{}
	for _, c := range run.s.Board.ByCause {
		name := c.Class + "/" + c.Reason
		if c.Differs != "" {
			name += ": " + strings.ReplaceAll(c.Differs, ";", ", ")
		}
		want[name] = []string{report.Grouped(fmt.Sprint(c.Rows)), money(c.Amounts), money(c.Differences)}
	}
	if len(got) != len(want) {
		t.Errorf("%d groups, want %d", len(got), len(want))
	}
	for _, g := range got {
		if w := want[g[0]]; !slices.Equal(w, g[1:4]) {
			t.Errorf("%s: %q, want %q", g[0], g[1:4], w)
		}
	}
	choose(p, "board-group", "entity")
	p.Eval(`document.querySelector("table.groups button").focus()`, nil)
	entity := p.Text(`document.querySelector("table.groups th[scope=row]").innerText`)
	p.Key("\r")
	for _, v := range column(p, 2) {
		if !strings.HasPrefix(v, entity+"\n") {
			t.Errorf("only %s shows %q", entity, v)
		}
	}
	if p.Text(`document.activeElement.id`) != "board-group" {
		t.Error("the focus is lost with the group")
	}
}

// linkTest: what is chosen stands in the address, and the address brings it back; a row's
// link opens the row wherever it is.
func linkTest(t *testing.T, b *testchrome.Browser, run pageRun) {
	p := ready(t, b, run.url, testchrome.Look{})
	choose(p, "board-f-class", "=ambiguous")
	choose(p, "board-sort", "-age")
	choose(p, "board-group", "owner")
	choose(p, "board-size", "25")
	p.Eval(`document.getElementById("board-q").value = "review"; document.getElementById("board-q").dispatchEvent(new Event("input"))`, nil)
	p.Until(`location.hash.includes("q=review")`)
	all := func(p *testchrome.Page) string {
		return status(p) + strings.Join(column(p, 9), "|") + p.Text(`document.querySelector("table.groups").innerText`) + p.Text(`[...document.querySelectorAll("#board select, #board input")].map(x => x.value).join()`)
	}
	q := ready(t, b, run.url+p.Text("location.hash"), testchrome.Look{})
	if all(p) != all(q) {
		t.Errorf("the link %s shows\n%s\nwant\n%s", p.Text("location.hash"), all(q), all(p))
	}

	p = ready(t, b, run.url, testchrome.Look{})
	choose(p, "board-sort", "evidence")
	last := `[...document.querySelectorAll("button.open")].pop()`
	p.Eval(last+".click()", nil)
	row, link := p.Text(last+".closest('tr').innerText"), p.Text(`document.querySelector("tr.detail a").getAttribute("href")`)
	if !strings.HasPrefix(link, "#row=") || !strings.Contains(p.Text("location.hash"), link[1:]) {
		t.Errorf("the row's link is %q, the address %q", link, p.Text("location.hash"))
	}
	for _, hash := range []string{link, "#class=unexpected&currency=CHF&" + link[1:]} {
		q = ready(t, b, run.url+hash, testchrome.Look{})
		if n := p.Text(`document.querySelectorAll("tr.detail").length`); n != "1" {
			t.Fatalf("%s opens %s rows", hash, n)
		}
		if got := q.Text(`document.querySelector("tr.opened").innerText`); got != row {
			t.Errorf("%s opens %q, want %q", hash, got, row)
		}
		if q.Text(`(r => r.top >= 0 && r.top < innerHeight)(document.querySelector("tr.opened").getBoundingClientRect())`) != "true" {
			t.Errorf("%s does not scroll to the row", hash)
		}
		if q.Text(`document.activeElement === document.querySelector("tr.opened button.open")`) != "true" {
			t.Errorf("%s leaves the focus at %s", hash, q.Text("document.activeElement.outerHTML"))
		}
	}
	// A link inside the page does the same, and one to a section leaves the board alone.
	q.Eval(`location.hash = "#class=absent"`, nil)
	q.Until(`document.getElementById("board-status").textContent.includes("that fit")`)
	before := status(q)
	q.Eval(`location.hash = "#method"`, nil)
	q.Until(`location.hash === "#method"`)
	if status(q) != before {
		t.Errorf("a link to a section changes the board: %q", status(q))
	}
	for _, bad := range []string{"#row=nothing", "#page=99999", "#sort=nonsense", "#class=nonsense", "#q=%E0%A4%A", "#size=1000000", "#="} {
		quiet(t, ready(t, b, run.url+bad, testchrome.Look{}))
	}
}

// detailTest: an opened row tells both values, the evidence with its digest, and a command
// that explains it.
func detailTest(t *testing.T, p *testchrome.Page, run pageRun) {
	files := map[string]string{}
	for _, side := range run.s.Sides {
		for _, src := range side.Sources {
			for _, f := range src.Files {
				files[f.Name] = f.SHA256
			}
		}
	}
	choose(p, "board-size", "250")
	p.Eval(`for (const b of document.querySelectorAll("button.open")) b.click()`, nil)
	var tables [][][]string // of each row the fields, then the evidence
	p.Eval(`[...document.querySelectorAll("tr.detail table")].map(t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.innerText)))`, &tables)
	if int64(len(tables)) != 2*run.s.Board.Of {
		t.Fatalf("%d tables in %d rows", len(tables), run.s.Board.Of)
	}
	for i, table := range tables {
		for _, cells := range table {
			if i%2 == 1 && (files[cells[3]] == "" || files[cells[3]] != cells[5]) {
				t.Errorf("evidence %q, want the digest %s", cells, files[cells[3]])
			}
			if i%2 == 0 && cells[3] == "differs" && cells[1] == cells[2] {
				t.Errorf("both values of what differs are %q", cells)
			}
		}
	}
	// The file of each leads to where the page tells of it, and the board stays as it is.
	var leads []bool
	p.Eval(`[...document.querySelectorAll("tr.detail a[href^='#file-']")].map(a => { const to = document.querySelector(a.getAttribute("href")); return !!to && to.textContent.includes(a.textContent) && to.textContent.includes(a.closest("tr").cells[5].textContent); })`, &leads)
	if len(leads) < int(run.s.Board.Of) || slices.Contains(leads, false) {
		t.Errorf("%d files lead to their source: %v", len(leads), leads)
	}
	// The page and the summary say the same of the rows that both have.
	differing := 0
	for i, table := range tables {
		if i%2 == 0 && i/2 < len(run.s.Exceptions.Items) {
			e := run.s.Exceptions.Items[i/2]
			for _, cells := range table {
				for _, v := range e.Values {
					said := func(x *string) string {
						if x == nil {
							return "nothing"
						}
						return *x
					}
					if v.Field == cells[0] && (said(v.Operations) != cells[1] || said(v.Results) != cells[2] || v.Differs != (cells[3] == "differs")) {
						t.Errorf("row %d says %q, the summary %s, %s", i/2, cells, said(v.Operations), said(v.Results))
					}
					if v.Field == cells[0] && v.Differs {
						differing++
					}
				}
			}
		}
	}
	if differing == 0 {
		t.Error("nothing differs in any row")
	}
	var commands []string
	p.Eval(`[...document.querySelectorAll("tr.detail .explain code")].map(c => c.textContent)`, &commands)
	plain := regexp.MustCompile(`^recon-batch explain --business-date 2026-11-29 job\.yaml [A-Za-z0-9_.:/@-]+$`)
	if int64(len(commands)) != run.s.Board.Of || slices.ContainsFunc(commands, func(c string) bool { return !plain.MatchString(c) }) {
		t.Errorf("%d commands: %q", len(commands), commands)
	}
	p.Click("tr.detail .explain button")
	p.Until(`/copied|marked/.test(document.querySelector("tr.detail .explain [role=status]").textContent)`)
	quiet(t, p)
}

const wide = `document.documentElement.scrollWidth > document.documentElement.clientWidth`

// looksTest: nothing scrolls sideways, and axe-core finds nothing, in light and in dark,
// with everything open.
func looksTest(t *testing.T, b *testchrome.Browser, run pageRun) {
	for _, look := range []struct {
		name string
		look testchrome.Look
	}{{"wide", testchrome.Look{}}, {"wide dark", testchrome.Look{Dark: true, Width: 1280, Height: 900}}, {"narrow", testchrome.Look{Width: 390, Height: 844}}, {"narrow dark", testchrome.Look{Dark: true, Width: 390, Height: 844}}} {
		p := ready(t, b, run.url, look.look)
		if p.Text(wide) != "false" {
			t.Errorf("%s: the page scrolls sideways", look.name)
		}
		if dark := p.Text(`getComputedStyle(document.body).backgroundColor`) != "rgb(255, 255, 255)"; dark != look.look.Dark {
			t.Errorf("%s: dark is %t", look.name, dark)
		}
		if look.name == "wide" {
			accessible(t, p, look.name)
		}
		choose(p, "board-group", "cause")
		choose(p, "board-size", "25")
		p.Eval(`document.querySelectorAll("details").forEach(d => { d.open = true; }); [...document.querySelectorAll("button.open")].slice(0, 3).forEach(b => b.click())`, nil)
		if p.Text(wide) != "false" {
			t.Errorf("%s, all open: the page scrolls sideways", look.name)
		}
		accessible(t, p, look.name+", all open")
		p.Shot(strings.ReplaceAll(look.name, " ", "-") + "-open")
		quiet(t, p)
	}
}

// printTest: on paper there are no controls, nothing is wider than the sheet, and every
// row that is chosen is there.
func printTest(t *testing.T, p *testchrome.Page, run pageRun) {
	pages := func() int { return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(p.PDF(), -1)) }
	whole := pages()
	choose(p, "board-f-class", "=unexpected")
	if few := pages(); whole == 0 || few == 0 || few >= whole {
		t.Errorf("%d pages with all rows, %d with few", whole, few)
	}
	choose(p, "board-f-class", "*")
	p.Eval(`dispatchEvent(new Event("beforeprint"))`, nil)
	p.Print(true)
	p.Size(703, 973) // A4 within the margins of the page
	if n := len(column(p, 1)); int64(n) != run.s.Board.Of {
		t.Errorf("%d rows are printed of %d", n, run.s.Board.Of)
	}
	var shown []string
	p.Eval(`[...document.querySelectorAll("nav, #board .controls, #board .pager, button.open")].filter(e => e.offsetHeight > 0).map(e => e.outerHTML.slice(0, 80))`, &shown)
	if len(shown) > 0 {
		t.Errorf("on paper there is %q", shown)
	}
	if got := p.Text(`getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", got)
	}
	var cut []string
	p.Eval(`(() => { return [...document.querySelectorAll("main *")].filter(e => e.getClientRects().length && ["hidden", "auto", "scroll", "clip"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && !e.classList.contains("unseen")).map(e => e.outerHTML.slice(0, 120)); })()`, &cut)
	if len(cut) > 0 {
		t.Errorf("on paper is cut: %q", cut)
	}
	// Nor does anything stand beyond the edge of the sheet.
	p.Eval(`[...document.querySelectorAll("main table, main p, main svg, main dl")].filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1).map(e => Math.round(e.getBoundingClientRect().right) + " " + e.innerText.slice(0, 90))`, &cut)
	if len(cut) > 0 {
		t.Errorf("beyond the sheet: %q", cut)
	}
	p.Shot("print")
}
