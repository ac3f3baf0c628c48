package bank

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixture is a file of testdata/files with every feature of its format.
type fixture struct {
	name   string
	format Format
	data   []byte
}

// fixtures are all files of testdata/files; the second part of a name is the format.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	paths, err := filepath.Glob("testdata/files/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var out []fixture
	for _, p := range paths {
		name := filepath.Base(p)
		if strings.HasSuffix(name, ".rows") {
			continue
		}
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fixture{name, Format(strings.Split(name, ".")[1]), data})
	}
	if len(out) < 8 {
		t.Fatalf("only %d fixtures", len(out))
	}
	return out
}

// golden writes rows and facts for people: filled columns only.
func golden(f Format, rows []Row, facts *Facts) string {
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "line %d\n", rows[i].Line)
		for _, c := range Columns(f) {
			if v := rows[i].Values[c]; v != "" {
				fmt.Fprintf(&b, "  %s: %s\n", c, v)
			}
		}
	}
	fmt.Fprintf(&b, "message %s, %d structure records, %d skipped, provisional %q\n", facts.Message, facts.Control, facts.Skipped, facts.Provisional)
	for _, s := range facts.Statements {
		fmt.Fprintf(&b, "%s: first %v last %v, opening %q on %q, closing %q on %q, %d entries\n", s.Name(), s.First, s.Last, s.Opening, s.From, s.Closing, s.Until, s.Entries)
	}
	for _, n := range facts.Notes {
		fmt.Fprintf(&b, "note (withdraws %v): %s\n", n.Withdraw, n.Text)
	}
	return b.String()
}

// Every feature of every format, row by row.
func TestFiles(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			rows, facts := mustRead(t, f.format, string(f.data), Options{})
			got := golden(f.format, rows, facts)
			path := filepath.Join("testdata/files", f.name+".rows")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("rows differ from %s (go test -update writes it):\n%s", path, got)
			}
			// a column that is filled and not listed would be lost
			for i := range rows {
				listed := map[Column]bool{}
				for _, c := range Columns(f.format) {
					listed[c] = true
				}
				for c, v := range rows[i].Values {
					if v != "" && !listed[Column(c)] {
						t.Errorf("row %d fills %s, which is no column of %s", i, Column(c), f.format)
					}
				}
			}
		})
	}
}

// Each column is filled by one of the fixtures, in each format that has it.
func TestEveryColumnIsFilled(t *testing.T) {
	filled := map[Format]map[Column]bool{}
	for _, f := range fixtures(t) {
		rows, _ := mustRead(t, f.format, string(f.data), Options{})
		if filled[f.format] == nil {
			filled[f.format] = map[Column]bool{}
		}
		for i := range rows {
			for c, v := range rows[i].Values {
				filled[f.format][Column(c)] = filled[f.format][Column(c)] || v != ""
			}
		}
	}
	for f, has := range filled {
		for _, c := range Columns(f) {
			if !has[c] {
				t.Errorf("no fixture of %s fills %s", f, c)
			}
		}
	}
}
