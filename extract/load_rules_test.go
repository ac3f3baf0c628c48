package extract

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// controlled declares a file of records D and a trailer T with count and sum.
func controlled(s *rules.Source, _ *rules.Input) {
	s.CSV.Delimiter = '|'
	s.CSV.Header = rules.HeaderRule{None: true}
	s.CSV.Columns = []string{"kind", "operation_id", "amount"}
	s.CSV.Rows = &rules.RowKinds{Field: 1, Header: "H", Record: "D", Trailer: "T"}
	s.Controls = &rules.Controls{Count: inTrailer(2), Sums: []rules.ControlSum{{Field: "amount", At: inTrailer(3)}}}
}

func inTrailer(field int) rules.Position { return rules.Position{In: rules.InTrailer, Field: field} }

func idAndAmount(w *world, side rules.Side) {
	w.fields(side, rules.Field{Name: "operation_id"}, decimalField("amount", 2))
}

// C52a, C52b: a file that is short of its own control totals is refused, with the
// file, both numbers and the line that states one of them.
func TestControls(t *testing.T) {
	const head = "H|20310101\nD|a|10.00\nD|b|5.50\nD|c|1.00\n"
	for _, c := range []struct {
		name, text string
		message    string // "" accepted
	}{
		{"right", head + "T|3|16.50\n", ""},
		{"count", head + "T|4|16.50\n", "right.csv: control count 4 against 3 records read (field 2 of the trailer)"},
		{"count written with zeros", head + "T|0003|16.5\n", ""},
		{"sum", head + "T|3|16.51\n", "right.csv: control sum of amount is 16.51 against 16.5 over the records read (field 3 of the trailer)"},
		{"no number", head + "T|three|16.50\n", "right.csv: field 2 of the trailer should hold a control and is no number"},
		{"no field", head + "T|3\n", "right.csv: the trailer has no field 3, which should hold a control"},
		{"unreadable value", "H|x\nD|a|10.00\nD|b|?\nT|2|15.50\n", "; 1 values of amount cannot be read as declared"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("right.csv", c.text)
			idAndAmount(w, rules.Results)
			w.source(rules.Results, "right.csv", controlled)
			for _, run := range []string{"parsed", "cached"} {
				_, _, err := w.load(rules.Results)
				switch {
				case c.message == "" && err != nil:
					t.Errorf("%s: %v", run, err)
				case c.message != "" && (fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), c.message)):
					t.Errorf("%s: error %v, want %q", run, err, c.message)
				}
			}
		})
	}
}

// V36: with on_reject keep the count ties including rejects, sums are not judged,
// and the file proves nothing for its time. C56: without it the file is refused.
func TestRejects(t *testing.T) {
	w := newWorld(t)
	w.write("right.csv", "H|20310101\nD|a|10.00\nD|b|5.50|extra\nD|c|1.00\nT|3|99.00\n")
	idAndAmount(w, rules.Results)
	w.source(rules.Results, "right.csv", controlled)
	_, _, err := w.load(rules.Results)
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "right.csv: record 2 (line 3)") {
		t.Fatalf("error %v", err)
	}
	w.job.Inputs[rules.Results][0].Source.OnReject = rules.RejectKeep
	rel, rows := w.mustLoad(rules.Results)
	if f := rel.Files[0]; f.Records != 3 || f.Rejected != 1 || len(rows) != 2 || rel.Records != 2 || rows[1].Rec != 3 {
		t.Errorf("file %+v, %d rows", f, len(rows))
	}
	if len(rel.Rejects) != 1 || rel.Rejects[0].Record != 2 || rel.Rejects[0].Line != 3 || string(rel.Rejects[0].Raw) == "" {
		t.Errorf("rejects %+v", rel.Rejects)
	}
	if c := rel.Coverage; len(c) != 1 || c[0].Complete || c[0].From != c[0].Until || len(c[0].Withdrawn) != 1 {
		t.Errorf("a complete source with rejects still proves something: %+v", c)
	}
	w.job.Inputs[rules.Results][0].Source.OnReject = rules.RejectFail
	if _, _, err := w.load(rules.Results); fail.ClassOf(err) != fail.Input {
		t.Errorf("rejects that were kept once are accepted from the cache: %v", err)
	}
}

// The list of bad records ends at ten.
func TestManyRejects(t *testing.T) {
	w := newWorld(t)
	w.write("left.csv", "operation_id,amount\n"+strings.Repeat("a\n", 50))
	idAndAmount(w, rules.Operations)
	w.source(rules.Operations, "left.csv", nil)
	_, _, err := w.load(rules.Operations)
	if err == nil || strings.Count(err.Error(), "record ") != listedRejects || !strings.Contains(err.Error(), "there may be more") {
		t.Errorf("error %v", err)
	}
}

// V35: what a missing or a bad file does, by need.
func TestNeed(t *testing.T) {
	const bad = "operation_id,amount\na\n"
	for _, c := range []struct {
		need    rules.Need
		text    string // "" missing
		class   fail.Class
		status  FileStatus
		finding string
	}{
		{rules.Required, "", fail.Input, "", ""},
		{rules.Required, bad, fail.Input, "", ""},
		{rules.Optional, "", fail.OK, FileMissing, "file_missing"},
		{rules.Optional, bad, fail.OK, FileRefused, "file_refused"},
		{rules.LateOK, "", fail.OK, FileMissing, "file_missing"},
		{rules.LateOK, bad, fail.Input, "", ""},
	} {
		w := newWorld(t)
		if c.text != "" {
			w.write("right.csv", c.text)
		}
		w.write("other.csv", "operation_id,amount\nz,1\n")
		idAndAmount(w, rules.Results)
		w.source(rules.Results, "right.csv", func(s *rules.Source, _ *rules.Input) { s.Need = c.need })
		w.source(rules.Results, "other.csv", nil)
		rel, rows, err := w.load(rules.Results)
		if fail.ClassOf(err) != c.class {
			t.Errorf("%s, %q: error %v", c.need, c.text, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), "right.csv") {
				t.Errorf("the file is not named: %v", err)
			}
			continue
		}
		if rel.Files[0].Status != c.status || len(rows) != 1 || rows[0].FileNo != 1 {
			t.Errorf("%s, %q: %+v, %d rows", c.need, c.text, rel.Files[0], len(rows))
		}
		if !slices.ContainsFunc(rel.Findings, func(f Finding) bool { return f.Code == c.finding && f.File == "right.csv" }) {
			t.Errorf("%s, %q: findings %+v", c.need, c.text, rel.Findings)
		}
		if got := rel.Coverage[0]; got.Complete || len(got.Withdrawn) != 1 {
			t.Errorf("%s, %q: a source without its file proves something: %+v", c.need, c.text, got)
		}
	}
}

// V6: a file of the same content is skipped whole and covers nothing; a file
// without records never is.
func TestSameContent(t *testing.T) {
	w := newWorld(t)
	w.write("day1.csv", "operation_id,amount\na,1.00\n")
	w.write("day2.csv", "operation_id,amount\na,1.00\n")
	w.write("day3.csv", "operation_id,amount\n")
	w.write("day4.csv", "operation_id,amount\n")
	idAndAmount(w, rules.Results)
	day := int64(86_400_000_000)
	for i := range int64(4) {
		w.source(rules.Results, []string{"day1.csv", "day2.csv", "day3.csv", "day4.csv"}[i], func(s *rules.Source, in *rules.Input) {
			from, until := i*day, (i+1)*day
			s.Coverage.Complete, in.From, in.Until = false, &from, &until
		})
	}
	rel, rows := w.mustLoad(rules.Results)
	if len(rows) != 1 || rel.Files[1].Status != FileSkipped || rel.Files[3].Status != FileStaged || rel.Records != 1 {
		t.Errorf("%d rows, files %+v", len(rows), rel.Files)
	}
	if rel.Totals[0].Rows != 1 {
		t.Errorf("a skipped file is in the totals: %+v", rel.Totals)
	}
	if c := rel.Coverage; len(c) != 2 || c[0].Until != day || c[1].From != 2*day || c[1].Until != 4*day {
		t.Errorf("coverage %+v", c)
	}
}

// A copy that the declaration of its own source cannot read is skipped all the same.
func TestSameContentUnreadable(t *testing.T) {
	w := newWorld(t)
	w.write("a.csv", "operation_id,amount\na,1.00\n")
	w.write("b.csv", "operation_id,amount\na,1.00\n")
	idAndAmount(w, rules.Results)
	w.source(rules.Results, "a.csv", nil)
	w.source(rules.Results, "b.csv", func(s *rules.Source, _ *rules.Input) { s.CSV.Delimiter = ';' })
	rel, _ := w.mustLoad(rules.Results)
	if rel.Files[1].Status != FileSkipped {
		t.Errorf("%+v", rel.Files[1])
	}
}

// C54: fewer records than declared.
func TestMinimumRecords(t *testing.T) {
	w := newWorld(t)
	w.write("right.csv", "operation_id,amount\n")
	idAndAmount(w, rules.Results)
	w.source(rules.Results, "right.csv", func(s *rules.Source, _ *rules.Input) { s.MinimumRecords = 1 })
	_, _, err := w.load(rules.Results)
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "right.csv: 0 records, at least 1 are declared") {
		t.Errorf("error %v", err)
	}
	w.job.Inputs[rules.Results][0].Source.Need = rules.Optional
	rel, _ := w.mustLoad(rules.Results)
	if rel.Files[0].Status != FileRefused || rel.Coverage[0].Complete {
		t.Errorf("%+v %+v", rel.Files[0], rel.Coverage)
	}
}

// C99: a key on two pages withdraws the coverage; a stated number of keys is checked.
func TestPages(t *testing.T) {
	w := newWorld(t)
	w.write("right.ndjson", `{"page":1,"operation_id":"p1"}
{"page":1,"operation_id":"p3"}
{"page":2,"operation_id":"p3"}
{"page":2,"operation_id":"p4"}
`)
	w.fields(rules.Results, rules.Field{Name: "operation_id"})
	w.job.Results.TransportColumns = []string{"page"}
	w.source(rules.Results, "right.ndjson", func(s *rules.Source, _ *rules.Input) {
		s.Format = rules.FormatNDJSON
		s.Pages = &rules.Pages{Column: "page", OnOverlap: "withdraw"}
	})
	rel, rows := w.mustLoad(rules.Results)
	if rows[1].V["w1"] != rows[2].V["w1"] || rows[1].V["pg"] != "1" || rows[2].V["pg"] != "2" {
		t.Errorf("the page decides the record: %v %v", rows[1].V, rows[2].V)
	}
	if rel.Coverage[0].Complete || !slices.ContainsFunc(rel.Findings, func(f Finding) bool { return f.Code == "pages_overlap" }) {
		t.Errorf("coverage %+v, findings %+v", rel.Coverage, rel.Findings)
	}
	w.job.Inputs[rules.Results][0].Source.StatedDistinct = map[string]int64{"distinct_keys": 3}
	w.mustLoad(rules.Results)
	w.job.Inputs[rules.Results][0].Source.StatedDistinct["distinct_keys"] = 4
	_, _, err := w.load(rules.Results)
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "3 distinct operation_id read, the snapshot states 4") {
		t.Errorf("error %v", err)
	}
}

// V3: how many records carry the identity keys, and keys that a spreadsheet spoiled.
func TestKeyFindings(t *testing.T) {
	w := newWorld(t)
	w.write("right.csv", "operation_id,amount\n12302025304e022,1\n,2\nx,3\n")
	idAndAmount(w, rules.Results)
	w.source(rules.Results, "right.csv", nil)
	rel, _ := w.mustLoad(rules.Results)
	if len(rel.Findings) != 1 || !strings.Contains(rel.Findings[0].Text, "1 of 3 records of source source1 carry no key of pass operation_id") {
		t.Errorf("findings %+v", rel.Findings)
	}
}

// T21: an identity key that a spreadsheet made a number of links nothing any more,
// so the file is refused, on either side; a business key is told of and left as it
// is.
func TestScientificKeys(t *testing.T) {
	for _, side := range rules.Sides {
		for _, need := range []rules.Need{rules.Required, rules.Optional, rules.LateOK} {
			w := newWorld(t)
			w.write("keys.csv", "operation_id,amount\nx,1\n1.2302025304E+022,1\n2E+5,1\n")
			idAndAmount(w, side)
			w.source(side, "keys.csv", func(s *rules.Source, _ *rules.Input) { s.Need = need })
			rel, _, err := w.load(side)
			if need == rules.Optional {
				if err != nil || rel.Records != 0 || rel.Files[0].Status != FileRefused || len(rel.Coverage[0].Withdrawn) != 1 {
					t.Errorf("%s %s: %v, %+v", side, need, err, rel)
				}
				continue
			}
			e, ok := errors.AsType[*fail.Error](err)
			if !ok || e.Class != fail.Input || e.Hint == "" || !strings.Contains(e.Msg, "keys.csv: record 2: the key of pass operation_id") || !strings.Contains(e.Msg, "2 in all") {
				t.Errorf("%s %s: %v", side, need, err)
			}
		}
	}
	w := newWorld(t)
	w.job.Match[0].Identity = false
	w.write("right.csv", "operation_id,amount\n1.2302025304E+022,1\n")
	idAndAmount(w, rules.Results)
	w.source(rules.Results, "right.csv", nil)
	rel, rows := w.mustLoad(rules.Results)
	if rows[0].V["k0"] != "1.2302025304E+022" {
		t.Errorf("the key was changed: %v", rows[0].V["k0"])
	}
	if len(rel.Findings) != 1 || !strings.Contains(rel.Findings[0].Text, "first in record 1") {
		t.Errorf("findings %+v", rel.Findings)
	}
}

// C94: exactly that file is read, no pattern is expanded, and no link leads out.
func TestFileNames(t *testing.T) {
	for _, name := range []string{"a'b.csv", "a b.csv", "[ab].csv", "*.csv", "-x.csv", `a"b.csv`} {
		w := newWorld(t)
		w.write(name, "operation_id,amount\nthis,1\n")
		w.write("a.csv", "operation_id,amount\nother,2\n")
		idAndAmount(w, rules.Operations)
		w.source(rules.Operations, name, func(s *rules.Source, _ *rules.Input) { s.Literal = true })
		rel, rows := w.mustLoad(rules.Operations)
		if len(rows) != 1 || rows[0].V["k0"] != "this" || rel.Files[0].Name != name {
			t.Errorf("%s: %d rows of %+v", name, len(rows), rel.Files)
		}
	}
}

func TestSymbolicLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(outside, []byte("operation_id,amount\nsecret,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, target string
		ok           bool
	}{
		{"left.csv", outside, false},
		{"left.csv", "../" + filepath.Base(filepath.Dir(outside)) + "/secret.csv", false},
		{"left*.csv", outside, false},
		{"left.csv", "data/inside.csv", true},
	} {
		w := newWorld(t)
		w.write("data/inside.csv", "operation_id,amount\ninside,1\n")
		if err := os.Symlink(c.target, filepath.Join(w.dir, "left.csv")); err != nil {
			t.Fatal(err)
		}
		idAndAmount(w, rules.Operations)
		w.source(rules.Operations, c.path, nil)
		_, rows, err := w.load(rules.Operations)
		switch {
		case c.ok && (err != nil || rows[0].V["k0"] != "inside"):
			t.Errorf("%s → %s: %v", c.path, c.target, err)
		case !c.ok && (fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "left.csv is a symbolic link that leaves its folder")):
			t.Errorf("%s → %s: error %v", c.path, c.target, err)
		}
	}
}

// A pattern gives what it meets in the order of the names, a folder of a matching
// name included, so that it is refused where it is opened; a path outside the job's
// folder is read where it lies.
func TestDiscover(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"in/b.csv", "in/a.csv", "in/sub/c.csv", "in/d.csv/x"} {
		w.write(name, "")
	}
	src := &rules.Source{Name: "s"}
	for _, c := range []struct {
		base, path string
		want       []string
	}{
		{w.dir, "in/*.csv", []string{"in/a.csv", "in/b.csv", "in/d.csv"}},
		{w.dir, "in/*", []string{"in/a.csv", "in/b.csv"}},
		{w.dir, "in/*/c.csv", []string{"in/sub/c.csv"}},
		{w.dir, "in/a.csv", []string{"in/a.csv"}},
		{filepath.Join(w.dir, "in", "sub"), "../?.csv", []string{"a.csv", "b.csv", "d.csv"}},
		{"", filepath.Join(w.dir, "in", "*.csv"), []string{"a.csv", "b.csv", "d.csv"}},
	} {
		found, err := discover(c.base, []rules.Input{{Source: src, Path: c.path}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			if !f.missing {
				got = append(got, f.rel)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.path, got, c.want)
		}
	}
}
