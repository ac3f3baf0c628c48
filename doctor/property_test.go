package doctor

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// generated is a CSV file in some dialect, with the records that it holds.
type generated struct {
	content []byte
	header  []string
	rows    [][]string
	dialect string
}

// generate writes random records in a random dialect: delimiter, quote, encoding,
// line ends, preamble, total, header.
func generate(rng *rand.Rand) generated {
	var g generated
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	delimiter := pick(",", ";", "\t", "|")
	quote := pick(`"`, `"`, `"`, "'")
	end := pick("\n", "\r\n")
	encoding := pick("utf-8", "utf-8", "bom", "utf-16", "windows-1252")
	mark := "."
	if delimiter == ";" {
		mark = ","
	}
	group := ""
	if mark == "," && rng.IntN(2) == 0 {
		group = "."
	}
	all := rng.IntN(4) == 0
	preamble, total := rng.IntN(4), rng.IntN(3) == 0
	named := rng.IntN(6) > 0
	if !named {
		preamble, total = 0, false
	}
	g.dialect = fmt.Sprintf("%q %s %q %s quoted %v preamble %d total %v header %v", delimiter, quote, end, encoding, all, preamble, total, named)

	names := []string{"op_id", "amount", "currency", "created_at", "note", "status", "gross_fee", "counterparty name"}
	width := 2 + rng.IntN(len(names)-1)
	g.header = names[:width]
	for i := range 3 + rng.IntN(60) {
		row := make([]string, width)
		for c := range row {
			switch names[c] {
			case "op_id":
				row[c] = fmt.Sprintf("op-%04d-%x", i, rng.IntN(1<<20))
			case "amount", "gross_fee":
				whole := strconv.Itoa(rng.IntN(20000) - 5000)
				if n := len(strings.TrimPrefix(whole, "-")); n > 3 && group != "" {
					whole = whole[:len(whole)-3] + group + whole[len(whole)-3:]
				}
				row[c] = whole + mark + fmt.Sprintf("%02d", rng.IntN(100))
			case "currency":
				row[c] = pick("EUR", "USD", "GBP")
			case "created_at":
				row[c] = fmt.Sprintf("2026-11-%02dT%02d:%02d:00Z", 1+rng.IntN(30), rng.IntN(24), rng.IntN(60))
			case "status":
				row[c] = pick("settled", "refused", "", "processing")
			default:
				row[c] = pick("", "plain", "Müller & Söhne", "a, b; c", "say "+quote+"hi"+quote, "zwei Wörter", "x|y", "über\tall", "line"+end+"break")
			}
		}
		g.rows = append(g.rows, row)
	}
	field := func(s string) string {
		if all || strings.Contains(s, delimiter) || strings.Contains(s, quote) || strings.ContainsAny(s, "\r\n") {
			return quote + strings.ReplaceAll(s, quote, quote+quote) + quote
		}
		return s
	}
	var b strings.Builder
	line := func(row []string) {
		for i, s := range row {
			if i > 0 {
				b.WriteString(delimiter)
			}
			b.WriteString(field(s))
		}
		b.WriteString(end)
	}
	for i := range preamble {
		b.WriteString([]string{"Report of transactions", "Account DE02 1203", "made at night"}[i] + end)
	}
	if named {
		line(g.header)
	} else {
		g.header = make([]string, width)
		for i := range g.header {
			g.header[i] = fmt.Sprintf("column_%d", i+1)
		}
	}
	for _, row := range g.rows {
		line(row)
	}
	if total {
		row := make([]string, width)
		row[0], row[1] = "Total", "123"
		line(row)
	}
	switch text := b.String(); encoding {
	case "utf-8":
		g.content = []byte(text)
	case "bom":
		g.content = append([]byte("\xEF\xBB\xBF"), text...)
	case "utf-16":
		g.content = utf16LE(text)
	case "windows-1252":
		out, err := charmap.Windows1252.NewEncoder().Bytes([]byte(text))
		if err != nil {
			panic(err) // the letters are in it
		}
		g.content = out
	}
	return g
}

// TestGeneratedDialects: the fragment of a generated file reads back the records that
// were written, or doctor says that it is not sure. Most are read back.
func TestGeneratedDialects(t *testing.T) {
	const n = 400
	exact := 0
	for seed := range uint64(n) {
		g := generate(rand.New(rand.NewPCG(seed, 1)))
		r := mustLook(t, writeFile(t, "gen.csv", g.content), Options{NoPreset: true})
		checkShown(t, shownText(t, r))
		if r.Fragment == "" {
			if r.Problem == "" {
				t.Errorf("seed %d (%s): neither a fragment nor a problem", seed, g.dialect)
			}
			continue
		}
		header, rows, rejected := readBack(t, r)
		if rejected == 0 && slices.Equal(header, g.header) && slices.EqualFunc(rows, g.rows, slices.Equal) {
			exact++
			continue
		}
		if testing.Verbose() {
			t.Logf("seed %d (%s): %d of %d records, %d rejected: %+v %+v", seed, g.dialect, len(rows), len(g.rows), rejected, r.Findings, r.Remarks)
		}
		unsure := len(r.Findings) > 0 || slices.ContainsFunc(r.Remarks, func(m Remark) bool { return m.Sure == Unsure })
		if !unsure {
			t.Errorf("seed %d (%s): read back as other records without a doubt\n%s\n%s", seed, g.dialect, r.Fragment, bytes.ToValidUTF8(g.content[:min(len(g.content), 400)], []byte("?")))
		}
	}
	if exact*100 < n*95 {
		t.Errorf("%d of %d dialects are read back", exact, n)
	}
	t.Logf("%d of %d dialects are read back", exact, n)
}

// The same file gives the same report.
func TestSameFileSameReport(t *testing.T) {
	g := generate(rand.New(rand.NewPCG(3, 1)))
	path := writeFile(t, "gen.csv", g.content)
	first := shownText(t, mustLook(t, path, Options{}))
	for range 3 {
		if again := shownText(t, mustLook(t, path, Options{})); again != first {
			t.Fatalf("%s\nis not\n%s", again, first)
		}
	}
}
