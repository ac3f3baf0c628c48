package extract

import (
	"slices"
	"strings"
	"unicode"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// neededColumn is a source column that some product field reads.
type neededColumn struct {
	name     string // "" where the column is bound by position
	position int    // from 1; 0 where the column is bound by name
	field    string // the first product field that reads it, for messages
	kind     rules.FieldType
	optional bool // a file without it gives null
}

// neededColumns lists the columns that must exist, each once, in declared order:
// those of the fields, of their signs and zones, and the page of a snapshot, whose
// overlap could not be seen without it. A column that one field needs and another
// may do without is needed.
func neededColumns(src *rules.Source, fields []rules.Field) []neededColumn {
	var need []neededColumn
	seen := map[neededColumn]bool{}
	add := func(c neededColumn) {
		id := neededColumn{name: c.name, position: c.position}
		if c.position == 0 && c.name == "" {
			return
		}
		if seen[id] {
			if !c.optional {
				at := slices.IndexFunc(need, func(n neededColumn) bool { return n.name == id.name && n.position == id.position })
				need[at].optional = false
			}
			return
		}
		seen[id] = true
		need = append(need, c)
	}
	for _, f := range fields {
		c := neededColumn{position: f.Position, field: f.Name, kind: f.Type, optional: f.Optional}
		if f.Position == 0 {
			c.name = f.Column
		}
		add(c)
		named := func(kind rules.FieldType, names ...string) {
			for _, n := range names {
				add(neededColumn{name: n, field: f.Name, kind: kind, optional: f.Optional})
			}
		}
		named(f.Type, f.FirstOf...)
		named(rules.Text, f.Join...)
		for _, c := range f.Cases {
			named(f.Type, c.Column)
			for _, w := range c.Where {
				named(rules.Text, w.Column)
			}
		}
		for _, w := range f.Where {
			named(rules.Text, w.Column)
		}
		if p := f.DebitCredit; p != nil {
			named(f.Type, p.Debit, p.Credit)
		}
		if f.SignFrom != nil {
			named(rules.Text, f.SignFrom.Column)
		}
		if f.ZoneFrom != nil {
			named(rules.Text, f.ZoneFrom.Column)
		}
	}
	if src.Pages != nil {
		add(neededColumn{name: src.Pages.Column, field: "pages", kind: rules.Text})
	}
	if src.Signature != nil {
		for _, c := range src.Signature.Columns() {
			add(neededColumn{name: c, field: "signature", kind: rules.Text})
		}
	}
	return need
}

// Rules by which declared names meet the names of a header.
const (
	headerTrim       = "trim"
	headerIgnoreCase = "ignore_case"
)

// bindHeader checks that each needed column is there exactly once, and returns
// the header under which the rest of the program knows the columns: a needed
// column has its declared name, any other its name as found, after the rule
// (trimmed, or in lower case), so that files which differ only in that are alike.
func bindHeader(found []string, rule string, need []neededColumn, name string) ([]string, error) {
	header := make([]string, len(found))
	places := map[string][]int{}
	for i, n := range found {
		header[i] = headerName(n, rule)
		places[header[i]] = append(places[header[i]], i)
	}
	bound := map[int]string{}
	for _, c := range need {
		if c.position > 0 {
			if c.position > len(found) && !c.optional {
				return nil, badFile(name, "the field %s reads column %d, but the file has %s", c.field, c.position, plural(len(found), "column")).
					WithHint("the columns are: %s", quoteList(found))
			}
			continue
		}
		at := places[headerName(c.name, rule)]
		switch {
		case len(at) == 0 && c.optional:
			continue
		case len(at) == 0:
			e := badFile(name, "there is no column %s, which the field %s reads", quoteName(c.name), c.field)
			e.Hint = "the columns are: " + quoteList(found)
			if s := closest(c.name, found); s != "" {
				e.Hint = "did you mean " + quoteName(s) + "? " + e.Hint
			}
			return nil, e
		case len(at) > 1:
			var names []string
			for _, i := range at {
				names = append(names, found[i])
			}
			e := badFile(name, "%s (%s) answer to the name %s, which the field %s reads", plural(len(at), "column"), quoteList(names), quoteName(c.name), c.field)
			e.Hint = "name the column by its position, for instance column: " + itoa(at[0]+1)
			if rule == headerTrim || rule == headerIgnoreCase {
				e.Hint += ", or compare header names exactly"
			}
			return nil, e
		}
		if other, ok := bound[at[0]]; ok && other != c.name {
			return nil, fail.New(fail.Usage, "%s: the columns %s and %s of the job are one and the same column of the file", name, quoteName(other), quoteName(c.name)).
				WithHint("write the column the same way everywhere")
		}
		bound[at[0]] = c.name
	}
	for i, n := range bound {
		header[i] = n
	}
	return header, nil
}

// headerName is a column name as the rule compares it.
func headerName(n, rule string) string {
	switch rule {
	case headerTrim:
		return strings.TrimSpace(n)
	case headerIgnoreCase:
		return strings.ToLower(n)
	default:
		return n
	}
}

// closest returns the name that a person most likely meant: equal but for case
// and outer space, or at most two edits away; "" where none is near.
func closest(want string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if strings.EqualFold(strings.TrimSpace(n), strings.TrimSpace(want)) {
			return n
		}
		if d := edits(want, n); d < least && d < len(want) {
			best, least = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short texts; texts that differ by more
// than two in length count as far apart.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y)+2 || len(y) > len(x)+2 || len(x) > 64 {
		return 99
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// quoteList names columns for a message, at most thirty of them.
func quoteList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == 30 {
			b.WriteString(" and " + itoa(len(names)-i) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(n))
	}
	if len(names) == 0 {
		return "none"
	}
	return b.String()
}

// quoteName shows a name from a file in a message: plain where it is a word, in Go
// quotes otherwise, so that blanks and control characters are seen.
func quoteName(n string) string {
	plain := n != "" && len(n) <= 80
	for _, r := range n {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r) {
			plain = false
		}
	}
	if plain {
		return n
	}
	if len(n) > 80 {
		n = n[:80] + "…"
	}
	return quoteText(n)
}
