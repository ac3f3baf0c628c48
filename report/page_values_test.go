package report

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// sectionOf is where on the page a part of the summary stands, the longest name first
// that fits; "" nowhere, for the reason beside it.
var sectionOf = map[string]string{
	"schema_version": "", // for machines
	"job":            "header", "business_date": "header", "run_id": "header", "as_of": "header", "zone": "header", "period": "header", "headline": "header", "series": "header",
	"job_digest": "method", "mode": "method", "outcome.exit_code": "method", "outcome.reasons": "header", "outcome.withheld_queues": "header", "outcome.differences": "totals",
	"absences": "coverage", "sides": "sources", "sides.coverage": "coverage", "sides.counts": "classes",
	"sides.counts.currency": "", "sides.counts.amount": "", // the lines of the statement say the same by currency
	"sides.sources.types": "sources", "statement": "statement", "account_statements": "accounts", "account_statements.span": "", // said in words
	"open_items": "open", "since_former": "changes", "ageing": "ageing", "ageing.from_seconds": "", "ageing.until_seconds": "", // the bucket is named
	"trend": "trend", "holds": "holds", "clusters": "clusters",
	"clusters.examples.operation.source": "", "clusters.examples.result.source": "", // the link leads to the file, which has them
	"clusters.examples.operation.sha256": "", "clusters.examples.result.sha256": "", "unresolved.items.first.sha256": "", "unresolved.items.first.source": "",
	"time_to_confirmation": "latency", "retries": "retries", "passes": "classes", "once_not_proven": "classes", "queues": "queues", "gates": "queues", "limits": "queues",
	"findings": "findings", "reopen": "findings", "revisions": "findings", "rejects": "findings", "exceptions": "", "board": "", // the board has tests of its own
	"unresolved": "unresolved", "work": "retries", "work.confirmation": "latency", "work.confirmation_of": "latency",
	"overrides": "method", "proposals": "queues", "described": "queues",
	"seen_before": "", "baseline.queues": "", // what later runs compare with
	"baseline": "method", "budget": "queues", "canaries": "queues", "aside": "queues", "redacted": "method", "content_digest": "method", "versions": "method", "next": "method",
}

// sectionFor finds the section of a path.
func sectionFor(path string) (string, bool) {
	for p := path; ; p = p[:strings.LastIndexByte(p, '.')] {
		if s, ok := sectionOf[p]; ok {
			return s, true
		}
		if !strings.Contains(p, ".") {
			return "", false
		}
	}
}

// printed is a value as the page has it.
func printed(p *page, path string, v reflect.Value) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		switch {
		case strings.HasSuffix(name, "_seconds"):
			return ageText(v.Int())
		case strings.HasSuffix(name, "_us"):
			return durationText(v.Int())
		case name == "record" || name == "line" || name == "set" || name == "exit_code":
			return fmt.Sprint(v.Int())
		}
		return grouped(fmt.Sprint(v.Int()))
	case reflect.String:
		switch {
		case fillTimes[name]:
			return p.local(v.String())
		case path == "gates.value":
			return v.String() // with its unit, as it was measured
		case name == "bucket":
			return ageName(v.String())
		case name == "share":
			return shareText(v.String()) + " %"
		}
		return grouped(v.String())
	}
	return ""
}

// sectionTexts are the texts of the page by section, without those of drawings: what a
// chart says stands in a table too.
func sectionTexts(t *testing.T, data []byte) map[string]string {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var text func(n *html.Node, b *strings.Builder)
	text = func(n *html.Node, b *strings.Builder) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && (n.Data == "svg" || n.Data == "script") {
			return
		}
		for c := range n.ChildNodes() {
			text(c, b)
		}
		if n.Type == html.ElementNode && n.Data != "bdi" && n.Data != "code" {
			b.WriteByte(' ')
		}
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "section" && n.Data != "header" {
			continue
		}
		id := n.Data
		for _, a := range n.Attr {
			if a.Key == "aria-labelledby" {
				id = a.Val
			}
		}
		var b strings.Builder
		text(n, &b)
		out[id] = b.String()
	}
	return out
}

// Every value of the summary stands on the page, in its section.
func TestPageShowsEveryValue(t *testing.T) {
	s := fullSummary(t, "")
	data, err := HTML(s)
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, data)
	texts := sectionTexts(t, data)
	p := newPage(s)
	seen := 0
	leaf(reflect.ValueOf(*s), "", func(v reflect.Value, path string) {
		if v.Kind() == reflect.Bool {
			return
		}
		section, ok := sectionFor(path)
		if !ok {
			t.Errorf("%s of the summary has no place on the page: show it, and say where in sectionOf", path)
			return
		}
		if section == "" {
			return
		}
		seen++
		if want := printed(p, path, v); !strings.Contains(texts[section], want) {
			t.Errorf("%s: the section %s does not show %q", path, section, want)
		}
	})
	if seen < 500 {
		t.Errorf("only %d values were looked for", seen)
	}
}

// Whatever stands in a text of the summary, it stays text; and the bytes are the same
// each time.
func TestPageOfHostileSummary(t *testing.T) {
	const hostile = `</title></style></script></svg><script>alert(1)</script><b onclick="x">'"{{.S}}` + "\u202e\x00"
	s := fullSummary(t, hostile)
	data, err := HTML(s)
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, data)
	for section, text := range sectionTexts(t, data) {
		if !strings.Contains(text, `<script>alert(1)</script><b onclick="x">'"{{.S}}\u{202E}\u{0000}text-`) && section != "exceptions" && section != "totals" && section != "ageing" {
			t.Errorf("%s does not show the text", section)
		}
	}
	again, err := HTML(fullSummary(t, hostile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, again) {
		t.Error("the page is another one the second time")
	}
}
