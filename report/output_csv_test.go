package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

// readPeople reads a file for people as a program does: strictly by RFC 4180.
func readPeople(t testing.TB, data []byte) [][]string {
	t.Helper()
	text, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	if !ok || bytes.Contains(text, []byte(byteOrderMark)) {
		t.Error("a byte order mark stands elsewhere than at the start")
	}
	if n := bytes.Count(text, []byte("\n")); n != bytes.Count(text, []byte("\r\n")) || !bytes.HasSuffix(text, []byte("\r\n")) {
		t.Error("a line does not end with CR LF")
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// lenientCells cuts a file into cells as spreadsheets do, whatever they take for the
// separator: a quote counts only at the start of a cell, and what follows the closing
// one belongs to the cell.
func lenientCells(text string, separator byte) (cells []string) {
	var b strings.Builder
	quoted, start := false, true
	end := func() {
		cells = append(cells, b.String())
		b.Reset()
		start = true
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '"' && i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		case quoted && c == '"':
			quoted = false
		case quoted:
			b.WriteByte(c)
		case start && c == '"':
			quoted, start = true, false
		case c == separator, c == '\n', c == '\r':
			end()
		default:
			b.WriteByte(c)
			start = false
		}
	}
	end()
	return cells
}

// dangerous is the rule of OWASP, written for the test: no cell may begin with one of
// these, blanks and quotes before it aside, unless all of it is a plain number.
func dangerous(cell string) bool {
	if regexp.MustCompile(`^-?\d+(\.\d+)?$`).MatchString(cell) {
		return false
	}
	rest := strings.TrimLeft(cell, " \"\t\r\n\u00a0\u3000")
	return rest != "" && strings.ContainsRune("=+-@\uFF1D\uFF0B\uFF0D\uFF20", []rune(rest)[0])
}

func TestPeopleCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "12.00": "12.00", "-12.00": "-12.00", "-0.5": "-0.5", "op-1": "op-1", "2026-08-20T00:00:00Z": "2026-08-20T00:00:00Z",
		"=1+1": "'=1+1", "+1": "'+1", "+49 30 1": "'+49 30 1", "-1+1": "'-1+1", "-": "'-", "-.5": "'-.5", "-1e5": "'-1e5", "@x": "'@x", "\t=1": `'\t=1`, "\r1": `'\r1`, "\nx": `'\nx`,
		"\uFF1D1": "'\uFF1D1", "\uFF0B1": "'\uFF0B1", "\uFF0D1": "'\uFF0D1", "\uFF20x": "'\uFF20x", "\uFE62x": "'\uFE62x",
		" =1": "' =1", ` "=1`: `' "=1`, "a;=1": "a;'=1", "a; \"-1": "a;' \"-1", "a;b": "a;b", "a=b": "a=b", "a\nb": `a\nb`, "x\u202ey": `x\u{202E}y`, "'=1": "'=1",
		strings.Repeat("1", 300):       strings.Repeat("1", 200) + "… (300 characters)",
		"-" + strings.Repeat("1", 300): "'-" + strings.Repeat("1", 199) + "… (301 characters)",
	} {
		if got := peopleCell(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// hostileText draws what values may be made of.
func hostileText() *rapid.Generator[string] {
	pieces := append([]string{"=", "+", "-", "@", "\t", "\r", "\n", "\r\n", "\"", "'", ";", ",", "|", " ", "\u00a0", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20", "\uFEFF", "\x00", "\xff", "\u202e",
		"1", "-1", "12.50", "A1", "cmd|' /C calc'!A0", "ä", "…", ".", ";=1", "\";=1", "\",\"=1"}, hostile[:len(hostile)-1]...)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 8).Draw(t, "pieces"), "")
	})
}

// Whatever the values are, a program reads back the neutralised text, and no spreadsheet
// finds a cell that begins a formula, whichever separator it takes.
func TestPeopleCSVProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		w := peopleCSV(&b)
		columns := rapid.IntRange(2, 4).Draw(t, "columns")
		var want [][]string
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			cells := []string{"absent"} // the first column of a file is one of ours
			for range columns - 1 {
				cell := peopleCell(hostileText().Draw(t, "value"))
				if strings.ContainsAny(cell, "\t\r\n\x00") {
					t.Fatalf("the cell %q holds a control character", cell)
				}
				cells = append(cells, cell)
			}
			if err := w.Write(cells); err != nil {
				t.Fatal(err)
			}
			want = append(want, cells)
		}
		w.Flush()
		got, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("read %q, written %q: %v", got, want, err)
		}
		for _, separator := range []byte(",;\t") {
			for _, c := range lenientCells(b.String(), separator) {
				if dangerous(c) {
					t.Fatalf("separated by %q the cell %q begins a formula, in\n%s", separator, c, b.String())
				}
			}
		}
	})
}

func TestPeopleQueues(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Outputs.ConfirmNDJSON = true
	w.load()
	out := filesOf(t, w, "csv")
	items := map[string]int{"close": 0, "compensate": 1, "confirm": 1, "requeue": 1, "review": 4}
	for queue, n := range items {
		rows := readPeople(t, out["people/"+queue+".csv"])
		if len(rows) != n+1 || !slices.Equal(rows[0], columnsForPeople(queue)) {
			t.Errorf("%s: %q", queue, rows)
		}
	}
	review := readPeople(t, out["people/review.csv"])
	cell := func(row int, column string) string { return review[row][slices.Index(review[0], column)] }
	if cell(1, "item_id") != "i-3" || cell(1, "amount") != "12.00" || cell(1, "currency") != "EUR" || cell(1, "class") != "divergent" || cell(1, "o_record") != "5" || cell(1, "observe_only") != "false" || cell(4, "amount") != "1.2345" {
		t.Errorf("review: %q", review)
	}
	// Every column is a field of the contract, once.
	for _, c := range peopleColumns {
		if n := len(slices.DeleteFunc(slices.Clone(QueueFields), func(f QueueField) bool { return f.Name != c })); n != 1 {
			t.Errorf("the column %s is %d fields", c, n)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(peopleColumns)))) != len(peopleColumns) {
		t.Error("a column stands twice")
	}
}

// The confirm queue is written on request alone, and a queue that is withheld never.
func TestPeopleQueuesLeftOut(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Limits.BlastRadius = map[string]rules.BlastLimit{"requeue": {Amount: map[string]string{"USD": "99.89"}}}
	w.in.Bound.Outputs.ConfirmNDJSON = true
	w.load()
	out := filesOf(t, w, "csv")
	var got []string
	for _, n := range sortedNames(out) {
		if strings.HasPrefix(n, "people/") {
			got = append(got, n)
		}
	}
	if !slices.Equal(got, []string{"people/review.csv"}) {
		t.Errorf("withheld: %q", got)
	}
	w = newWorld(t).load()
	if _, ok := filesOf(t, w, "csv")["people/confirm.csv"]; ok {
		t.Error("people/confirm.csv was written unasked")
	}
}

// docs/report-outputs.md lists the columns as they are.
func TestPeopleColumnsAreDocumented(t *testing.T) {
	const name = "../docs/report-outputs.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- columns: from report/output_csv.go -->\n", "<!-- end of columns -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no place for the columns", name)
	}
	want := before + begin + "  `" + strings.Join(peopleColumns, "`, `") + "`\n" + end + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s lists other columns; run the test with -update", name)
	}
}

// Values of rows reach the file neutralised and whole otherwise.
func TestHostileQueue(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i, v := range hostile {
		w.item = append(w.item, strings.NewReplacer("'op-5'", "'"+strings.ReplaceAll(v, "'", "''")+"'", "i-3", fmt.Sprintf("z-%02d-%d", i, r.IntN(9))).Replace(w.item[2]))
	}
	w.load()
	rows := readPeople(t, filesOf(t, w, "csv")["people/review.csv"])
	at := slices.Index(rows[0], "operation_id")
	for i, v := range hostile {
		if got := rows[5+i][at]; got != peopleCell(v) || dangerous(got) {
			t.Errorf("%.40q: the cell is %.60q", v, got)
		}
	}
}
