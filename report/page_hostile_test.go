package report_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/testchrome"
)

const plainJob = `version: 1
job: board
timezone: UTC
as_of: "2026-12-01T04:00"
operations:
  sources: [{name: shop, path: "OURS", coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, type: kind, entity: order, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency, note: note, created_at: {column: at, type: timestamp}}
results:
  sources: [{name: psp, path: "THEIRS", coverage: complete}]
  fields: {operation_id: id, remote_id: remote, entity: order, amount: {column: amount, type: decimal, scale: 2}, currency: currency, note: note, status: {column: status, map: {ok: succeeded, no: failed}}, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}]
compare: [{field: amount}, {field: currency}, {field: entity}, {field: note}, {field: status, expect: succeeded}]
limits: {blast_radius: {requeue: {rows: 1000000}, compensate: {rows: 1000000}}}
types: {charge: {window: {expected: 15m, deadline: 6h}, owner: payments}}
`

// madeDay writes the files of a job and runs it.
func madeDay(t *testing.T, ours, theirs string, operations, results [][]string) pageRun {
	t.Helper()
	dir := t.TempDir()
	for name, rows := range map[string][][]string{
		ours:   append([][]string{{"id", "key", "kind", "order", "state", "amount", "currency", "note", "at"}}, operations...),
		theirs: append([][]string{{"id", "remote", "order", "amount", "currency", "note", "status", "at"}}, results...),
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := csv.NewWriter(f)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	quoted := func(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, `\`, `\\`), `"`, `\"`) }
	job := filepath.Join(dir, "job.yaml")
	text := strings.NewReplacer("OURS", quoted(ours), "THEIRS", quoted(theirs)).Replace(plainJob)
	if err := os.WriteFile(job, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return runPage(t, job, "2026-11-30")
}

// hostileTexts are what a provider may send, and what must not become anything but text.
var hostileTexts = []string{
	`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `<!--<script>`, `]]>`, `<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `"><iframe srcdoc="<script>alert(1)</script>">`,
	`' onmouseover='alert(1)`, `javascript:alert(1)`, `<a href="javascript:alert(1)">x</a>`, `<style>*{display:none}</style>`, `<base href="https://example.org/">`, `<meta http-equiv=refresh content=0>`,
	`{{.S}}`, `${alert(1)}`, `=HYPERLINK("https://example.org")`, `+1+1`, `@SUM(A1)`, "-2+3", "a\u202egnp.exe", "\u2066x\u2069", "zero\u200bwidth", "line\u2028and\u2029para", "nul\u0000inside",
	"tab\tnewline\nreturn\rbell\a", "\x1b[31mred", "__proto__", "constructor", "toString", "null", "0", "-1", "&lt;b&gt;&amp;", "\\u003cb\\u003e", strings.Repeat("x", 1<<20), strings.Repeat("<b>", 1000),
}

// TestHostilePageInChromium: values of every kind stay text wherever they stand: no script
// runs, no element is made, nothing is asked for.
func TestHostilePageInChromium(t *testing.T) {
	b := testchrome.Start(t)
	var operations, results [][]string
	for i, v := range hostileTexts {
		id, at := fmt.Sprintf("h%03d", i), "2026-11-30T10:00:00Z"
		operations = append(operations, []string{id, "k" + id, "charge", "order-" + id, "sent", "10.00", "EUR", v, at})
		results = append(results, []string{id, "r" + id, "order-" + id, "10.00", "EUR", "other", "ok", at})
		// Where the text is an identity, a type, an entity, a state, a status.
		if len(v) < 2000 {
			operations = append(operations, []string{"o" + v, "k" + v, v, v, v, "10.00", "EUR", "n", at})
			results = append(results, []string{"o" + v, "r" + v, "x" + v, "11.00", "EUR", "n", v, at})
		}
	}
	run := madeDay(t, `a<img src=x onerror=alert(1)>'.csv`, `b"><script>alert(1)<`+"\u202e"+`.csv`, operations, results)
	if run.s.Board.Showing < int64(len(operations)) {
		t.Fatalf("the board has %d rows of %d", run.s.Board.Showing, len(operations))
	}
	p := b.Open(t, "about:blank", testchrome.Look{})
	p.Sentinel()
	p.Go(run.url)
	p.Until(`document.getElementById("board").dataset.ready === "yes"`)
	if p.Text("window.__ran") != "false" {
		t.Fatal("the sentinel is not there, or a script ran")
	}
	choose(p, "board-size", "250")
	for _, group := range []string{"entity", "cause", "type", "account"} {
		choose(p, "board-group", group)
	}
	p.Eval(`document.querySelectorAll("details").forEach(d => { d.open = true; }); for (const b of document.querySelectorAll("button.open")) b.click()`, nil)
	var names []string
	p.Eval(`[...new Set([...document.querySelectorAll("*")].map(e => e.localName))].sort()`, &names)
	for _, bad := range []string{"img", "iframe", "object", "embed", "base", "link", "form", "video", "b", "animate"} {
		if slices.Contains(names, bad) {
			t.Errorf("there is an element <%s>", bad)
		}
	}
	if n := p.Text(`document.scripts.length + "," + document.querySelectorAll("style").length + "," + document.querySelectorAll("meta").length`); n != "2,1,5" {
		t.Errorf("scripts, styles and metas: %s", n)
	}
	var handlers []string
	p.Eval(`[...document.querySelectorAll("*")].flatMap(e => [...e.attributes]).filter(a => a.name.startsWith("on") || a.name === "style" || /^\s*(javascript|data|https?):/i.test(a.value)).map(a => a.name + "=" + a.value).filter(a => !a.startsWith("xmlns"))`, &handlers)
	if len(handlers) > 0 {
		t.Errorf("attributes %q", handlers)
	}
	// Each text is there, whole or cut, with what is hidden spelled out.
	text := p.Text(`[...document.querySelectorAll("tr.detail")].map(r => r.textContent).join("\n")`)
	for _, want := range []string{`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `{{.S}}`, `=HYPERLINK("https://example.org")`, `a\u{202E}gnp.exe`,
		`line\u{2028}and\u{2029}para`, `zero\u{200B}width`, `nul\u{0000}inside`, `tab\tnewline\nreturn\rbell\u{0007}`, `\u{001B}[31mred`, `__proto__`, `constructor`, `(1048576 characters)`, `&lt;b&gt;&amp;`,
		`a<img src=x onerror=alert(1)>'.csv`, `b"><script>alert(1)<\u{202E}.csv`} {
		if !strings.Contains(text, want) {
			t.Errorf("no row says %q", want)
		}
	}
	var hidden []string
	p.Eval(`(document.body.textContent.match(/[\u0000-\u0008\u000b-\u001f\u007f\u200b\u202a-\u202e\u2028\u2029\u2066-\u2069]/g) || []).map(c => c.codePointAt(0).toString(16))`, &hidden)
	if len(hidden) > 0 {
		t.Errorf("hidden characters %q", hidden)
	}
	// A filter, a search and an address made of such a text are text as well.
	for _, v := range []string{`<script>alert(1)</script>`, "__proto__", `"><iframe srcdoc="<script>alert(1)</script>">`} {
		p.Eval(fmt.Sprintf(`location.hash = "#" + new URLSearchParams({entity: %[1]q, q: %[1]q, class: %[1]q, owner: %[1]q, row: %[1]q})`, v), nil)
		p.Until(fmt.Sprintf(`document.getElementById("board-q").value === %q`, v))
	}
	if p.Text("window.__ran") != "false" {
		t.Error("a script ran")
	}
	if p.Text(wide) != "false" {
		t.Error("the page scrolls sideways")
	}
	accessible(t, p, "hostile")
	quiet(t, p)
}
