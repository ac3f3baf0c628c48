package pipeline

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// The recount: every number of report.json is found again by statements that are written
// here and nowhere else, over the published Parquet files of the run and of the runs before
// it, and over the input files, which the engine reads by itself. Verdicts are taken as
// published: whether they are right, other tests ask.

// counted is a list of objects of report.json, or one object, with the statement that finds
// its numbers again.
type counted struct {
	at     string   // path of the objects, [] for each of a list
	keys   []string // members that name an object; ^ is that of the object around it, ^^ of the one around that
	nums   []string // members that are numbers; a.b is the member b of a
	sql    string   // gives keys, then nums
	subset bool     // the report shows some of what the statement gives
}

// leaf is a number of a document.
type leaf struct {
	pattern string // path without places: sides[].counts[].rows
	path    string
	text    string
}

var numberText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?( %)?$`)

// leaves lists the numbers of a document, and texts that are exact decimals or shares.
func leaves(v any, pattern, path string, f func(leaf)) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			leaves(x[k], strings.TrimPrefix(pattern+"."+k, "."), strings.TrimPrefix(path+"."+k, "."), f)
		}
	case []any:
		for i, y := range x {
			leaves(y, pattern+"[]", fmt.Sprintf("%s[%d]", path, i), f)
		}
	case json.Number:
		f(leaf{pattern, path, x.String()})
	case string:
		if numberText.MatchString(x) {
			f(leaf{pattern, path, x})
		}
	}
}

// objects finds the objects at a path, each with those around it, the innermost first.
func objects(v any, at string, around []map[string]any, f func(m map[string]any, around []map[string]any)) {
	if at == "" {
		if m, ok := v.(map[string]any); ok {
			f(m, around)
		}
		return
	}
	name, rest, _ := strings.Cut(at, ".")
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	around = append([]map[string]any{m}, around...)
	if list, ok := strings.CutSuffix(name, "[]"); ok {
		items, _ := m[list].([]any)
		for _, x := range items {
			objects(x, rest, around, f)
		}
		return
	}
	objects(m[name], rest, around, f)
}

// member is the text of a member of an object, or of one around it; nothing for null.
func member(m map[string]any, around []map[string]any, name string) string {
	for strings.HasPrefix(name, "^") {
		m, around, name = around[0], around[1:], name[1:]
	}
	var v any = m
	for part := range strings.SplitSeq(name, ".") {
		x, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = x[part]
	}
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return plain(x)
	default:
		return plain(fmt.Sprint(x))
	}
}

// plain writes equal numbers alike: 0.00 and 0, 2 % and 2.
func plain(text string) string {
	if !numberText.MatchString(text) {
		return text
	}
	r, ok := new(big.Rat).SetString(strings.TrimSuffix(text, " %"))
	if !ok {
		return text
	}
	return r.RatString()
}

// recounting is one night under recount.
type recounting struct {
	t   *testing.T
	db  *duck.DB
	doc any
}

// rows are the lines that a statement gives, as texts.
func (r *recounting) rows(query string) (out [][]string) {
	r.t.Helper()
	rows, err := r.db.Query(r.t.Context(), "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (\n"+query+"\n)")
	if err != nil {
		r.t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		r.t.Fatal(err)
	}
	for rows.Next() {
		cells, to := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			r.t.Fatal(err)
		}
		line := make([]string, len(names))
		for i, c := range cells {
			line[i] = plain(c.String)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *recounting) exec(query string) {
	r.t.Helper()
	if err := r.db.Exec(r.t.Context(), query); err != nil {
		r.t.Fatalf("%v\n%s", err, query)
	}
}

// wanted are the objects that the files give, as lines of keys and numbers.
func (r *recounting) wanted(c counted) map[string]int {
	r.t.Helper()
	want := map[string]int{}
	for _, line := range r.rows(c.sql) {
		if len(line) != len(c.keys)+len(c.nums) {
			r.t.Fatalf("%s: the statement gives %d columns, %d keys and %d numbers are named", c.at, len(line), len(c.keys), len(c.nums))
		}
		want[strings.Join(line, " | ")]++
	}
	return want
}

// against compares the objects of the document with those that the files give.
func (r *recounting) against(c counted, want map[string]int) (wrong []string) {
	objects(r.doc, c.at, nil, func(m map[string]any, around []map[string]any) {
		var line []string
		for _, name := range slices.Concat(c.keys, c.nums) {
			line = append(line, member(m, around, name))
		}
		text := strings.Join(line, " | ")
		if want[text] == 0 {
			wrong = append(wrong, "report: "+text)
			return
		}
		want[text]--
	})
	for _, text := range slices.Sorted(maps.Keys(want)) {
		if want[text] > 0 && !c.subset {
			wrong = append(wrong, "files:  "+text)
		}
	}
	return wrong
}

// compare finds the numbers of some objects again and returns the patterns that it covers.
func (r *recounting) compare(c counted) (covered []string) {
	r.t.Helper()
	if wrong := r.against(c, r.wanted(c)); len(wrong) > 0 {
		r.t.Errorf("%s (%s)\n%s", c.at, strings.Join(slices.Concat(c.keys, c.nums), " | "), strings.Join(wrong[:min(len(wrong), 12)], "\n"))
	}
	for _, n := range c.nums {
		covered = append(covered, strings.TrimPrefix(c.at+"."+n, "."))
	}
	return covered
}

// TestEveryNumberIsRecounted walks over all numbers and metrics of the reports of several nights: each
// has to be one that is found again, or on the list of those that cannot be, with the
// reason. Each counted number has to occur, and to be other than 0 in some night, so that
// no statement holds for want of something to hold for.
func TestEveryNumberIsRecounted(t *testing.T) {
	nights := recountNights(t, recountDates)
	seen, some, known, metrics := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range nights {
		t.Run(nights[i].date, func(t *testing.T) {
			r := openRecount(t, nights[:i+1])
			for _, c := range r.countedOf() {
				for _, p := range r.compare(c) {
					known[p] = true
				}
			}
			without := map[string]leaf{}
			leaves(r.doc, "", "", func(l leaf) {
				seen[l.pattern] = true
				some[l.pattern] = some[l.pattern] || plain(l.text) != "0"
				if !known[l.pattern] && notCounted[l.pattern] == "" {
					without[l.pattern] = l
				}
			})
			for _, p := range slices.Sorted(maps.Keys(without)) {
				t.Errorf("nothing counts %s again (%s is %s): it needs a statement in countedOf", p, without[p].path, without[p].text)
			}
			recountMetrics(t, r, nights[i].run, metrics)
			fitsSchema(t, r)
			if i == len(nights)-1 {
				r.noticesWrongNumbers()
			}
		})
	}
	for _, c := range countedMetrics {
		if name := strings.TrimSuffix(c.at, "[]"); metrics[name] == zeroMetrics[name] {
			t.Errorf("%s is other than 0 in some night: %t, and listed as always 0: %t", name, metrics[name], zeroMetrics[name])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(notCounted)) {
		if known[p] || !seen[p] {
			t.Errorf("%s is listed as not counted, and is counted (%t), or no report has it (%t)", p, known[p], !seen[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(known)) {
		if !seen[p] || some[p] == onlyZero[p] {
			t.Errorf("%s is counted: some night has it %t, other than 0 %t, and is listed as always 0 %t", p, seen[p], some[p], onlyZero[p])
		}
	}
}

// noticesWrongNumbers changes one number at a time, of each kind the first one, and asks
// whether the recount notices.
func (r *recounting) noticesWrongNumbers() {
	r.t.Helper()
	text, err := json.Marshal(r.doc)
	if err != nil {
		r.t.Fatal(err)
	}
	want := map[string]map[string]int{} // by statement
	byPattern := map[string][]counted{}
	for _, c := range r.countedOf() {
		want[c.sql] = r.wanted(c)
		for _, n := range c.nums {
			p := strings.TrimPrefix(c.at+"."+n, ".")
			byPattern[p] = append(byPattern[p], c)
		}
	}
	done := map[string]bool{}
	leaves(r.doc, "", "", func(l leaf) {
		if done[l.pattern] || notCounted[l.pattern] != "" {
			return
		}
		done[l.pattern] = true
		changed := decodeDocument(r.t, text)
		change(changed, l.path)
		probe := &recounting{t: r.t, doc: changed}
		for _, c := range byPattern[l.pattern] {
			if wrong := probe.against(c, maps.Clone(want[c.sql])); len(wrong) > 0 {
				return
			}
		}
		r.t.Errorf("%s was changed, and nobody noticed", l.path)
	})
	if len(done) < 150 {
		r.t.Errorf("only %d kinds of numbers were changed", len(done))
	}
}

// change adds one to the number at a path.
func change(doc any, path string) {
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	v := doc
	for _, p := range parts[:len(parts)-1] {
		v = step(v, p)
	}
	last := parts[len(parts)-1]
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	more := func(text string) string {
		r, _ := new(big.Rat).SetString(strings.TrimSuffix(text, " %"))
		return r.Add(r, big.NewRat(1, 1)).FloatString(2)
	}
	switch x := m[last].(type) {
	case json.Number:
		m[last] = json.Number(more(x.String()))
	case string:
		m[last] = more(x)
	}
}

func step(v any, part string) any {
	switch x := v.(type) {
	case map[string]any:
		return x[part]
	case []any:
		var i int
		if _, err := fmt.Sscan(part, &i); err == nil {
			return x[i]
		}
	}
	return nil
}

func decodeDocument(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
