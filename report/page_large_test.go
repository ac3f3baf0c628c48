package report_test

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/testchrome"
	"github.com/recon-batch/recon-batch/report"
)

// TestLargePageInChromium: with fifty thousand exceptions the page has every one of them
// in at most five megabytes, and filters, sorts, searches and groups them.
func TestLargePageInChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("a run with fifty thousand exceptions")
	}
	b := testchrome.Start(t)
	const n = 50_000
	var operations, results [][]string
	start := time.Date(2026, time.November, 29, 0, 0, 0, 0, time.UTC)
	currencies := []string{"EUR", "USD", "JPY", "GBP"}
	for i := range n + 2000 {
		// Ids as those of the seeded day: a number of ours, a key and an id of theirs with
		// parts that nothing foretells.
		x := uint64(i+1) * 0x9E3779B97F4A7C15
		id, at := fmt.Sprintf("op-5673783e-%07d", i), start.Add(time.Duration(x>>44)*100*time.Millisecond).Format("2006-01-02T15:04:05Z")
		amount, order, currency := fmt.Sprintf("%d.%02d", x>>40%100_000, x>>20%100), fmt.Sprintf("ORD-%07d", i/3), currencies[x>>30%4]
		o := []string{id, fmt.Sprintf("ik-%07d-%08x", i, x*31>>32), "charge", order, "sent", amount, currency, "", at}
		r := []string{id, fmt.Sprintf("ch-%012x", x*37>>16), order, amount, currency, "", "ok", at}
		switch {
		case i >= n: // correct
		case i%5 == 0:
			r = nil
		case i%5 == 1:
			r[6] = "no"
		default:
			r[3] = fmt.Sprintf("%d.00", x>>40%100_000+1+uint64(i%3))
		}
		operations = append(operations, o)
		if r != nil {
			results = append(results, r)
		}
	}
	run := madeDay(t, "ours.csv", "theirs.csv", operations, results)
	if run.s.Board.Of != n || run.s.Board.Showing != n {
		t.Fatalf("the board shows %d of %d", run.s.Board.Showing, run.s.Board.Of)
	}
	page, err := os.ReadFile(strings.TrimPrefix(run.url, "file://"))
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 5<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	t.Logf("the page has %d bytes, its rows uncompressed %d", len(page), len(unpacked(t, page)))
	before := time.Now()
	lap := func(what string) {
		t.Logf("%s: %d ms", what, time.Since(before).Milliseconds())
		before = time.Now()
	}
	p := ready(t, b, run.url, testchrome.Look{})
	lap("opened")
	if got := status(p); got != "Showing 1 to 50 of 50,000" {
		t.Errorf("the board says %q", got)
	}
	choose(p, "board-f-class", "=absent")
	lap("filtered")
	absent := run.rowsOf(func(c report.BoardCause) bool { return c.Class == "absent" })
	if got, want := status(p), fmt.Sprintf("Showing 1 to 50 of %s that fit, of 50,000", report.Grouped(fmt.Sprint(absent))); got != want || absent < n/5 {
		t.Errorf("the board says %q, want %q", got, want)
	}
	choose(p, "board-f-class", "*")
	choose(p, "board-sort", "-amount")
	lap("sorted")
	values, codes := amountsOf(t, p)
	for i := 1; i < len(values); i++ {
		if codes[i] != "EUR" || values[i].Cmp(values[i-1]) > 0 {
			t.Errorf("%s %s stands before %s %s", codes[i-1], values[i-1].FloatString(2), codes[i], values[i].FloatString(2))
		}
	}
	choose(p, "board-sort", "evidence")
	if got := column(p, 9); !strings.Contains(got[0], "record 1") || !slices.IsSortedFunc(got, func(a, b string) int { return recordOf(a) - recordOf(b) }) {
		t.Errorf("by evidence: %q", got)
	}
	lap("sorted by evidence")
	for _, key := range []string{"-entity", "case", "-difference"} {
		choose(p, "board-sort", key)
		lap("sorted by " + key)
	}
	want := operations[12_345]
	p.Click("#board-q")
	p.Key(want[0])
	p.Until(`document.getElementById("board-status").textContent.includes("that fit")`)
	lap("searched")
	if got := status(p); got != "Showing 1 to 1 of 1 that fit, of 50,000" || !strings.HasPrefix(column(p, 2)[0], want[3]) {
		t.Errorf("the search says %q", got)
	}
	p.Eval(`document.querySelector("#board .controls button").click()`, nil)
	choose(p, "board-group", "entity")
	lap("grouped by entity")
	if got := p.Text(`document.querySelector("table.groups caption").innerText`); got != "By entity: the first 200 of 16,667 groups." {
		t.Errorf("the groups say %q", got)
	}
	groupTest(t, p, run)
	lap("grouped")
	// The last page, and a row of it by its link.
	p.Eval(`document.querySelector("#board .controls button").click()`, nil)
	p.Eval(`[...document.querySelectorAll(".pager button")].pop().click()`, nil)
	if got := status(p); got != "Showing 49,951 to 50,000 of 50,000" {
		t.Errorf("the last page says %q", got)
	}
	p.Eval(`[...document.querySelectorAll("button.open")].pop().click()`, nil)
	row := p.Text(`document.querySelector("tr.opened").innerText`)
	q := ready(t, b, run.url+p.Text(`document.querySelector("tr.detail a").getAttribute("href")`), testchrome.Look{})
	lap("opened by a link")
	if got := q.Text(`document.querySelector("tr.opened").innerText`); got != row {
		t.Errorf("the link opens %q, want %q", got, row)
	}
	quiet(t, p)
	quiet(t, q)
}

func recordOf(cell string) int {
	var n int
	m := regexp.MustCompile(`record ([0-9]+)`).FindStringSubmatch(strings.ReplaceAll(cell, "\n", " "))
	if m != nil {
		_, _ = fmt.Sscan(m[1], &n) // digits alone
	}
	return n
}

// unpacked is the JSON of the rows of a page.
func unpacked(t *testing.T, page []byte) []byte {
	t.Helper()
	m := regexp.MustCompile(`(?s)<script type="application/json" id="board-data">(.*?)</script>`).FindSubmatch(page)
	if m == nil {
		t.Fatal("the page has no rows")
	}
	var packed struct{ Deflate string }
	if err := json.Unmarshal(m[1], &packed); err != nil {
		t.Fatal(err)
	}
	if packed.Deflate == "" {
		return m[1]
	}
	data, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed.Deflate))))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
