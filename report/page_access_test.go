package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func mustHTML(t *testing.T, s *Summary) []byte {
	t.Helper()
	data, err := HTML(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// What a screen reader goes by: headings in order, landmarks and regions each with a name
// of its own, drawings with a name or none at all, one summary for what opens.
func TestPageIsAccessible(t *testing.T) {
	many := fullSummary(t, "")
	for len(many.Statement) <= statementsOpen {
		x := many.Statement[0]
		x.Currency = fmt.Sprintf("C%02d", len(many.Statement))
		many.Statement = append(many.Statement, x)
	}
	for len(many.Accounts) < 40 {
		x := many.Accounts[0]
		x.Account = fmt.Sprintf("account-%d", len(many.Accounts)/4)
		many.Accounts = append(many.Accounts, x)
	}
	for len(many.Holds) <= holdsOpen {
		many.Holds = append(many.Holds, many.Holds[0])
	}
	for name, s := range map[string]*Summary{"everything": fullSummary(t, ""), "many": many, "nothing": {}, "a day": newWorld(t).load().build()} {
		data := mustHTML(t, s)
		checkPage(t, data)
		doc, err := html.Parse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		level, h1, main := 0, 0, 0
		byID, names := map[string]*html.Node{}, map[string]string{}
		for n := range doc.Descendants() {
			if id := attribute(n, "id"); id != "" {
				byID[id] = n
			}
		}
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			switch n.Data {
			case "h1", "h2", "h3", "h4":
				now := int(n.Data[1] - '0')
				if now > level+1 {
					t.Errorf("%s: the heading %q skips a level", name, textOf(n))
				}
				level = now
				if now == 1 {
					h1++
				}
				if textOf(n) == "" {
					t.Errorf("%s: an empty heading", name)
				}
			case "main":
				main++
			case "svg":
				inside := n.Parent.Data == "svg" || n.Parent.Parent != nil && n.Parent.Parent.Data == "svg"
				if named := attribute(n, "role") == "img" && attribute(n, "aria-label") != ""; !named && attribute(n, "aria-hidden") != "true" && !inside {
					t.Errorf("%s: a drawing without a name", name)
				}
			case "details":
				if n.FirstChild == nil || n.FirstChild.Data != "summary" || textOf(n.FirstChild) == "" {
					t.Errorf("%s: what opens has no summary", name)
				}
			case "table":
				if n.Parent.Data == "div" && (attribute(n.Parent, "role") != "region" || attribute(n.Parent, "tabindex") != "0" || attribute(n.Parent, "aria-label") == "") {
					t.Errorf("%s: a table that scrolls cannot be reached or has no name", name)
				}
			}
			label := attribute(n, "aria-label")
			if id := attribute(n, "aria-labelledby"); id != "" {
				if byID[id] == nil {
					t.Errorf("%s: the name #%s is nowhere", name, id)
					continue
				}
				label = textOf(byID[id])
			}
			if n.Data == "section" || n.Data == "nav" || attribute(n, "role") == "region" {
				if label == "" || names[label] != "" {
					t.Errorf("%s: the name %q of a <%s> is empty or that of a <%s> too", name, label, n.Data, names[label])
				}
				names[label] = n.Data
			}
		}
		if h1 != 1 || main != 1 {
			t.Errorf("%s: %d <h1>, %d <main>", name, h1, main)
		}
	}
}

// Each section says in words that there is nothing.
func TestPageOfNothing(t *testing.T) {
	texts := sectionTexts(t, mustHTML(t, &Summary{}))
	for section, want := range map[string]string{
		"totals": "No row is in the period, and nothing is open.", "holds": "Nothing: no row of the period waits for an obstacle.", "coverage": "No coverage is declared: no absence can be proved.",
		"classes": "No row is in the period.", "changes": "There is no former run to compare with.", "statement": "No row has a currency, and no amount was read.",
		"accounts": "No row is in the period, and no record was rejected or excluded.", "open": "Nothing is open, and nothing was.", "clusters": "None: no group of exceptions is large enough to have one cause.",
		"queues": "The job declares no gate and no limit.", "unresolved": "None: the data tell all rows apart.", "ageing": "No queue has open items.", "trend": "This is the first run of its series",
		"latency": "Not measured: ", "retries": "No operation of the period was attempted more than once", "findings": "None: no warning. Every record could be read.",
	} {
		if !strings.Contains(strings.Join(strings.Fields(texts[section]), " "), want) {
			t.Errorf("%s does not say %q, but %q", section, want, texts[section])
		}
	}
}

// Long lists are cut, and say how much there is and where the rest is.
func TestLongListsAreCut(t *testing.T) {
	s := fullSummary(t, "")
	for i := range 700 {
		f := File{Name: fmt.Sprintf("good-%03d.csv", i), Status: "staged"}
		if i >= 650 {
			f = File{Name: fmt.Sprintf("bad-%03d.csv", i), Status: "refused", Problem: "cut"}
		}
		s.Sides[0].Sources[0].Files = append(s.Sides[0].Sources[0].Files, f)
		s.Accounts = append(s.Accounts, AccountStatement{Account: "plain", Day: fmt.Sprintf("day-%03d", i), Span: "day", Difference: "0.00"})
		s.Findings = append(s.Findings, Finding{Code: "code", Text: fmt.Sprintf("finding-%03d", i)})
	}
	s.Accounts = append(s.Accounts, AccountStatement{Account: "work", Day: "2026-08-20", Span: "day", Difference: "-987654.32"}, AccountStatement{Account: "work", Day: "2026-08-21", Span: "day", ResultsRejected: 1},
		AccountStatement{Account: "work", Day: "2026-08-22", Span: "day", Lines: []AccountLine{{Class: "absent"}}})
	data := mustHTML(t, s)
	checkPage(t, data)
	texts := sectionTexts(t, data)
	for section, wants := range map[string][]string{
		"sources":  {"Showing 500 of 704 files, those with a problem first", "bad-650.csv", "bad-699.csv", "good-000.csv"},
		"accounts": {"Showing 300 of 705, those with a difference or with work first", "-987,654.32", "2026-08-21", "2026-08-22", "day-000"},
		"findings": {"Showing 200 of 702", "finding-000"},
	} {
		for _, want := range wants {
			if !strings.Contains(texts[section], want) {
				t.Errorf("%s does not say %q", section, want)
			}
		}
	}
	for section, not := range map[string]string{"sources": "good-649.csv", "accounts": "day-699", "findings": "finding-699"} {
		if strings.Contains(texts[section], not) {
			t.Errorf("%s shows %q", section, not)
		}
	}
}

// No currency is hidden behind a number of others.
func TestEveryCurrencyIsShown(t *testing.T) {
	s := fullSummary(t, "")
	var list []Money
	for i := range 40 {
		code := fmt.Sprintf("K%02d", i)
		list = append(list, Money{Currency: code, Amount: fmt.Sprintf("%d.25", 4_000_000+i), Items: 1})
		x := s.Statement[0]
		x.Currency = code
		s.Statement = append(s.Statement, x)
	}
	s.Queues[0].Amounts, s.Holds[0].Amounts, s.Clusters[0].Amounts, s.Ageing[0].Amounts, s.Changes.New.Amounts = list, list, list, list, list
	s.Open = append(s.Open, OpenItems{Currency: "ONLY-OPEN", Closing: OpenSum{3, "777123.45"}})
	texts := sectionTexts(t, mustHTML(t, s))
	for _, m := range list {
		for _, section := range []string{"queues", "holds", "clusters", "ageing", "changes"} {
			if !strings.Contains(texts[section], m.Currency+" "+grouped(m.Amount)) {
				t.Errorf("%s does not show %s", section, m.Currency)
			}
		}
		for _, section := range []string{"totals", "statement"} {
			if !strings.Contains(texts[section], m.Currency) {
				t.Errorf("%s does not show %s", section, m.Currency)
			}
		}
	}
	if !strings.Contains(texts["totals"], "ONLY-OPEN") || !strings.Contains(texts["totals"], "777,123.45") {
		t.Error("a currency that has open items alone is hidden")
	}
}

// What is said of a currency at the top is what its statement and its open items say.
func TestCurrencyRows(t *testing.T) {
	s := newWorld(t).load().build()
	texts := map[string]string{}
	for _, r := range currencyRows(s) {
		texts[r.Currency] = fmt.Sprint(r.Statement.Closes, r.Work, r.Open.Items, " ", r.Open.Amount)
	}
	// EUR: 5, 7, 8 and 10 of the operations; of the results the two of 7 apart, as a divergent and
	// a surplus one. USD: an absent operation and an unexpected result.
	if texts["EUR"] != "false [4 5] 4 20.00" || texts["USD"] != "false [1 1] 2 106.90" {
		t.Errorf("%q", texts)
	}
}

// Evidence: where a record stands leads to its file on the page, which has the digest.
func TestEvidenceLeadsToItsFile(t *testing.T) {
	s := newWorld(t).load().build()
	s.Clusters = []Cluster{{Sentence: "x", Examples: []ClusterPair{{Operation: &RowRef{Source: "ledger", File: "operations.csv", Record: 5}, Result: &RowRef{Source: "psp", File: "elsewhere.csv", Record: 6}}}}}
	s.Holds = []Hold{{Code: "missing_file", Side: "results", Source: "psp", File: "late.csv.gz", Rows: 2}}
	doc, err := html.Parse(bytes.NewReader(mustHTML(t, s)))
	if err != nil {
		t.Fatal(err)
	}
	rows, links := map[string]string{}, map[string]string{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "tr" && attribute(n, "id") != "" {
			rows["#"+attribute(n, "id")] = textOf(n)
		}
		if n.Data == "a" {
			links[textOf(n)] = attribute(n, "href")
		}
	}
	for file, digest := range map[string]string{"operations.csv": strings.Repeat("11", 32), "late.csv.gz": "the day has no file", "psp.csv.gz": strings.Repeat("22", 32)} {
		if row := rows[links[file]]; !strings.Contains(row, file) || !strings.Contains(row, digest) {
			t.Errorf("%s leads to %q, which is %q", file, links[file], row)
		}
	}
	if links["elsewhere.csv"] != "" {
		t.Error("a file that is not on the page has a link")
	}
}

// Texts have a contrast of 4.5, drawings of 3, in both schemes (WCAG 1.4.3, 1.4.11).
func TestContrast(t *testing.T) {
	css, err := os.ReadFile("html/report.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d schemes", len(blocks))
	}
	colors := map[string]string{}
	for i, name := range []string{"light", "dark", "print"} {
		if name == "print" {
			colors = map[string]string{}
		}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]+)`).FindAllStringSubmatch(blocks[i][1], -1) {
			colors[m[1]] = m[2]
		}
		for _, pair := range strings.Fields("text/bg text/soft text/good-bg text/warn-bg text/bad-bg mute/bg mute/soft link/bg good/bg warn/bg bad/bg link/soft warn/warn-bg") {
			a, b, _ := strings.Cut(pair, "/")
			if c := contrast(t, colors[a], colors[b]); c < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f", name, pair, c)
			}
		}
		for _, color := range strings.Fields("c1 c2 c3 c4 c5 c6 c7 c8 a1 a2 a3 a4 a5 edge good warn bad") {
			if c := contrast(t, colors[color], colors["bg"]); c < 3 {
				t.Errorf("%s: %s on the background has a contrast of %.2f", name, color, c)
			}
		}
	}
}

// contrast is that of WCAG 2 between two colours.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	light := func(color string) float64 {
		color = strings.TrimPrefix(color, "#")
		if len(color) == 3 {
			color = strings.Repeat(color[:1], 2) + strings.Repeat(color[1:2], 2) + strings.Repeat(color[2:], 2)
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(color[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			x := float64(n) / 255
			if x <= 0.04045 {
				x /= 12.92
			} else {
				x = math.Pow((x+0.055)/1.055, 2.4)
			}
			sum += weight * x
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
