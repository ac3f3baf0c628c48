package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// Numbers go on over dates; a number lower than the last one begins anew at 1.
func TestHoles(t *testing.T) {
	at := func(date string, numbers ...int64) (out []numbered) {
		for _, n := range numbers {
			out = append(out, numbered{n: n, path: fmt.Sprint(date, "/", n), file: -1, date: date, key: fmt.Sprint(date, n)})
		}
		return out
	}
	old := func(lists ...[]numbered) []numbered { return slices.Concat(lists...) }
	for _, c := range []struct {
		name         string
		now, earlier []numbered
		want         string
	}{
		{"the first run", at("", 7), nil, ""},
		{"within a run", at("", 9, 7), nil, "8-8 "},
		{"several", at("", 1, 4, 9), nil, "2-3 5-8 "},
		{"goes on", at("", 8), at("d1", 7), ""},
		{"one is missing", at("", 9), at("d1", 7), "8-8 "},
		{"many are missing", at("", 19, 21), at("d1", 7), "8-18 20-20 "},
		{"a gap of earlier dates is theirs", at("", 10), old(at("d1", 7), at("d2", 9)), ""},
		{"the file before is read again", slices.Concat(at("d2", 8), at("", 9)), old(at("d1", 7), at("d2", 8)), ""},
		{"over the gap of the date before", slices.Concat(at("d2", 9), at("", 10)), old(at("d1", 7), at("d2", 9)), "8-8 "},
		{"begins anew", at("", 1), old(at("d1", 364), at("d2", 365)), ""},
		{"begins anew without its first", at("", 3), old(at("d1", 364), at("d2", 365)), "1-2 "},
		{"anew every month", at("", 2), old(at("d1", 29, 30), at("d2", 31)), "1-1 "},
		{"goes on after it began anew", at("", 2), old(at("d1", 365), at("d2", 1)), ""},
		{"missing after it began anew", at("", 4), old(at("d1", 365), at("d2", 1)), "2-3 "},
		{"zero", at("", 1), at("d1", 0), ""},
		{"only what was read before", at("d1", 7), at("d1", 7), ""},
		{"a date without files", nil, at("d1", 7), ""},
	} {
		got := ""
		for _, h := range holes(c.now, c.earlier) {
			got += fmt.Sprintf("%d-%d ", h.from, h.until)
		}
		if got != c.want {
			t.Errorf("%s: missing %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCompareRevisions(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		order int
		ok    bool
	}{
		{"", "1", -1, true}, {"10", "9", 1, true}, {"010", "10", 0, true}, {"b", "a", 1, true}, {"2", "b", 0, false},
		{"99999999999999999999999999", "100000000000000000000000000", -1, true}, {"", "", 0, true},
	} {
		order, ok := compareRevisions(c.a, c.b)
		if ok != c.ok || order > 0 != (c.order > 0) || order < 0 != (c.order < 0) {
			t.Errorf("%q and %q: %d, %t", c.a, c.b, order, ok)
		}
	}
}

// reports declares files psp_*.csv, each with a trailer, of one input that covers a day.
func reports(t *testing.T, identity ...rules.IdentityPart) *world {
	t.Helper()
	w := newWorld(t)
	w.job.Date = "2031-06-10"
	w.fields(rules.Results, rules.Field{Name: "operation_id"}, decimalField("amount", 2), rules.Field{Name: "currency"}, rules.Field{Name: "remote_id"})
	from, until := int64(0), int64(86_400_000_000)
	w.source(rules.Results, "psp_*.csv", func(s *rules.Source, in *rules.Input) {
		s.Name, s.Coverage.Complete = "psp", false
		s.CSV.Rows = &rules.RowKinds{Field: 1, Trailer: "T"}
		s.Identity = &rules.Identity{Parts: identity}
		in.From, in.Until = &from, &until
	})
	return w
}

func inName(part, pattern string) rules.IdentityPart {
	return rules.IdentityPart{Name: part, FileName: pattern}
}

var byTrailer = rules.IdentityPart{Name: rules.PartPeriod, At: inTrailer(2)}

// report writes a file: lines of id, amount and remote id, and the period of the trailer.
func (w *world) report(name, period string, rows ...string) {
	text := "operation_id,amount,currency,remote_id\n"
	for _, r := range rows {
		id, rest, _ := strings.Cut(r, " ")
		amount, remote, _ := strings.Cut(rest, " ")
		text += id + "," + amount + ",EUR," + remote + "\n"
	}
	w.write(name, text+"T,"+period+",,\n")
}

// knowing loads the results with what other runs read.
func (w *world) knowing(earlier, former []Arrived) (*Relation, error) {
	return Load(w.t.Context(), w.db, w.job, rules.Results, Options{StageDir: w.stage, BaseDir: w.dir, Earlier: earlier, Former: former})
}

// arrivedOn is what a run of a date says of the files that it read.
func arrivedOn(date string, rel *Relation) (out []Arrived) {
	for _, f := range rel.Files {
		if f.Status == FileStaged {
			out = append(out, Arrived{Side: rel.Side, Source: f.Source, Path: f.Path, Date: f.Date, BusinessDate: date, RunID: "run-of-" + date, SHA256: f.SHA256, Content: f.ContentSHA256, Records: f.Records, Arrival: f.Arrival})
		}
	}
	return out
}

func codes(rel *Relation) (out []string) {
	for _, f := range rel.Findings {
		out = append(out, f.Code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// proves tells whether the day is proved whole.
func proves(rel *Relation) bool {
	c := rel.Coverage
	return len(c) == 1 && c[0].From == 0 && c[0].Until == 86_400_000_000 && len(c[0].Withdrawn) == 0
}

// Where parts of an identity come from, and what is said where they do not.
func TestIdentityParts(t *testing.T) {
	for _, c := range []struct {
		name, file string
		parts      []rules.IdentityPart
		key, wrong string
	}{
		{"constant and date", "psp_1.csv", []rules.IdentityPart{{Name: rules.PartProvider, Text: "psp"}, {Name: rules.PartPeriod, Text: "{date:20060102}"}}, "provider=psp period=20310610", ""},
		{"name", "psp_20310609_0007.csv", []rules.IdentityPart{inName(rules.PartPeriod, `_(\d{8})_`), inName(rules.PartSequence, `_(\d{4})\.csv$`)}, "period=20310609 sequence=7", ""},
		{"trailer", "psp_1.csv", []rules.IdentityPart{byTrailer}, "period=2031-06-10", ""},
		{"field", "psp_1.csv", []rules.IdentityPart{{Name: rules.PartAccount, Field: "currency"}}, "account=EUR", ""},
		{"hostile name", "psp_a part=9 \"x\"\n_1.csv", []rules.IdentityPart{inName(rules.PartReport, `psp_([\s\S]*)_`), inName(rules.PartPart, `(\d)\.csv`)}, `report="a\x20part=9\x20\"x\"\n" part=1`, ""},
		{"account number", "psp_1.csv", []rules.IdentityPart{{Name: rules.PartAccount, Text: "DE89370400440532013000"}}, "account=sha256:faf7e1c0107370ff6f5d03205da7d8ae", ""},
		{"name that does not fit", "psp_x.csv", []rules.IdentityPart{inName(rules.PartPeriod, `_(\d{8})`)}, "", "psp_x.csv: its period is not in its name, which does not fit _(\\d{8})"},
		{"no number", "psp_x.csv", []rules.IdentityPart{inName(rules.PartSequence, `_(.)\.`)}, "", `psp_x.csv: its sequence is "x", which is no such number`},
		{"part zero", "psp_0.csv", []rules.IdentityPart{inName(rules.PartPart, `_(.)\.`)}, "", `psp_0.csv: its part is "0", which is no such number`},
		{"too great", "psp_99999999999999999999.csv", []rules.IdentityPart{inName(rules.PartSequence, `_(\d+)\.`)}, "", `which is no such number`},
		{"part beyond all", "psp_4of3.csv", []rules.IdentityPart{inName(rules.PartPart, `_(\d)of`), inName(rules.PartParts, `of(\d)`)}, "", `psp_4of3.csv: it is part 4 of 3`},
		{"two values", "psp_1.csv", []rules.IdentityPart{{Name: rules.PartPeriod, Field: "remote_id"}}, "", `psp_1.csv: its period is not one: its records have 2 values of remote_id`},
		{"no trailer field", "psp_1.csv", []rules.IdentityPart{{Name: rules.PartPeriod, At: inTrailer(9)}}, "", `psp_1.csv: its period is not there: it has no trailer.9`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reports(t, c.parts...)
			w.report(c.file, "2031-06-10", "o1 1.00 r1", "o2 2.00 r2")
			rel, err := w.knowing(nil, nil)
			switch {
			case c.wrong != "":
				if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("error %v, want %q", err, c.wrong)
				}
			case err != nil:
				t.Error(err)
			case rel.Files[0].Arrival.Key != c.key:
				t.Errorf("key %s, want %s", rel.Files[0].Arrival.Key, c.key)
			}
		})
	}
}

// T16: a corrected report supersedes the former one whole, and says what has changed; the
// coverage is that of the later one. Where nothing says which is the later one, both are
// refused.
func TestRevisions(t *testing.T) {
	w := reports(t, byTrailer, inName(rules.PartRevision, `_r(\d+)\.csv$`))
	w.report("psp_1.csv", "d", "o1 1.00 r1", "o2 2.00 r2", "o3 3.00 r3", "o3 3.00 r3", "o4 4.00 ")
	w.report("psp_1_r9.csv", "d", "o1 9.00 r1")
	w.report("psp_1_r10.csv", "d", "o1 1.00 r1", "o2 2.50 r2", "o3 3.00 r3", "o5 5.00 r5", "o6 6.00 ")
	rel, err := w.knowing(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rel.Records != 5 || rel.Files[0].Status != FileSuperseded || rel.Files[2].Status != FileSuperseded || rel.Files[1].Status != FileStaged || !proves(rel) {
		t.Errorf("%d records, files %+v, coverage %+v", rel.Records, rel.Files, rel.Coverage)
	}
	if len(rel.Revisions) != 2 {
		t.Fatalf("revisions %+v", rel.Revisions)
	}
	// r2 changed, one of two equal rows of r3 and the row without an id are gone, r5 and
	// another row without an id came.
	if r := rel.Revisions[0]; r.Former != "psp_1.csv" || r.File != "psp_1_r10.csv" || r.Rows != 5 || r.FormerRows != 5 || !r.Compared ||
		r.Added != 2 || r.Gone != 2 || r.Changed != 1 || !slices.Equal(r.Sums, []SumsOf{{"EUR", "13", "17.5"}}) {
		t.Errorf("revision %+v", r)
	}

	// A former run of the date read the first one: the summary says so, from what is staged.
	former := []Arrived{{Side: rules.Results, Source: "psp", Path: "psp_1.csv", RunID: "abc", SHA256: rel.Files[0].SHA256, Content: rel.Files[0].ContentSHA256, Records: 5, Arrival: rel.Files[0].Arrival}}
	w = reports(t, byTrailer)
	w.report("psp_1.csv", "d", "o1 1.00 r1")
	if rel, err = w.knowing(nil, former); err != nil || len(rel.Revisions) != 1 || rel.Revisions[0].Compared || rel.Revisions[0].FormerRows != 5 || rel.Revisions[0].FormerRun != "abc" {
		t.Errorf("nothing is staged of the former one, and it was compared: %+v, %v", rel.Revisions, err)
	}
	w.report("psp_1.csv", "d", "o1 1.00 r1", "o2 2.00 r2", "o3 3.00 r3", "o3 3.00 r3", "o4 4.00 ")
	if _, err = w.knowing(nil, nil); err != nil { // now it is staged
		t.Fatal(err)
	}
	w.report("psp_1.csv", "d", "o1 1.00 r1")
	if rel, err = w.knowing(nil, former); err != nil || !rel.Revisions[0].Compared || rel.Revisions[0].Gone != 4 {
		t.Errorf("what is staged of the former one was not compared: %+v, %v", rel.Revisions, err)
	}

	for _, c := range []struct {
		name    string
		parts   []rules.IdentityPart
		a, b    string
		refused string
	}{
		{"undeclared", []rules.IdentityPart{byTrailer}, "psp_1.csv", "psp_2.csv", "psp_1.csv and psp_2.csv are the same report, period=d, with different contents, and nothing says which is the latest"},
		{"the same", []rules.IdentityPart{byTrailer, inName(rules.PartRevision, `_r(\d+)`)}, "psp_1_r02.csv", "psp_1_r2.csv", "psp_1_r02.csv and psp_1_r2.csv are the same report"},
		{"no order", []rules.IdentityPart{byTrailer, inName(rules.PartRevision, `_r(.+)\.csv`)}, "psp_1_r2.csv", "psp_1_rb.csv", "are the same report"},
	} {
		w := reports(t, c.parts...)
		w.report(c.a, "d", "o1 1.00 r1")
		w.report(c.b, "d", "o1 2.00 r1")
		if _, err := w.knowing(nil, nil); fail.ClassOf(err) != fail.Input || strings.Count(err.Error(), c.refused) != 1 {
			t.Errorf("%s: %v", c.name, err)
		}
		// An optional source goes on without both, and proves nothing.
		w.job.Inputs[rules.Results][0].Source.Need = rules.Optional
		rel, err := w.knowing(nil, nil)
		if err != nil || rel.Records != 0 || proves(rel) || rel.Files[0].Status != FileRefused || rel.Files[1].Status != FileRefused {
			t.Errorf("%s, optional: %+v, %v", c.name, rel, err)
		}
	}
}

// A number that is left out, and a part that is missing, leave the day unproved (T17).
func TestMissingNumbersAndParts(t *testing.T) {
	seq := inName(rules.PartSequence, `_(\d+)\.csv$`)
	part, parts := inName(rules.PartPart, `_(\d{4})of`), inName(rules.PartParts, `of(\d{4})`)
	for _, c := range []struct {
		name    string
		parts   []rules.IdentityPart
		files   []string
		earlier []string
		missing string
	}{
		{"whole", []rules.IdentityPart{seq}, []string{"psp_7.csv", "psp_8.csv"}, []string{"psp_6.csv"}, ""},
		{"within", []rules.IdentityPart{seq}, []string{"psp_7.csv", "psp_9.csv"}, nil, "the sequence number 8 is missing between psp_7.csv and psp_9.csv"},
		{"since the date before", []rules.IdentityPart{seq}, []string{"psp_9.csv"}, []string{"psp_6.csv"}, "the sequence numbers 7 to 8 are missing between psp_6.csv and psp_9.csv"},
		{"all parts", []rules.IdentityPart{part, parts}, []string{"psp_0001of0002.csv", "psp_0002of0002.csv"}, nil, ""},
		{"the last part", []rules.IdentityPart{part, parts}, []string{"psp_0001of0003.csv", "psp_0002of0003.csv"}, nil, "the part 3 is missing after psp_0002of0003.csv"},
		{"the first part", []rules.IdentityPart{part, parts}, []string{"psp_0003of0003.csv"}, nil, "the parts 1 to 2 are missing before psp_0003of0003.csv"},
		{"a part that says another number", []rules.IdentityPart{part, parts}, []string{"psp_0001of0001.csv", "psp_0002of0003.csv"}, nil, "the part 3 is missing after psp_0002of0003.csv"},
		{"parts without their number", []rules.IdentityPart{part}, []string{"psp_0001of0003.csv", "psp_0003of0003.csv"}, nil, "the part 2 is missing between psp_0001of0003.csv and psp_0003of0003.csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := func(files []string, earlier []Arrived) *Relation {
				w := reports(t, c.parts...)
				for i, f := range files {
					w.report(f, "d", fmt.Sprintf("o%d %d.00 %s", i, i+1, f))
				}
				rel, err := w.knowing(earlier, nil)
				if err != nil {
					t.Fatal(err)
				}
				return rel
			}
			var earlier []Arrived
			if c.earlier != nil {
				earlier = arrivedOn("2031-06-09", load(c.earlier, nil))
			}
			rel := load(c.files, earlier)
			if c.missing == "" {
				if len(rel.Missing) != 0 || !proves(rel) {
					t.Errorf("missing %+v, coverage %+v", rel.Missing, rel.Coverage)
				}
				return
			}
			if len(rel.Missing) != 1 || rel.Missing[0].Says() != c.missing || proves(rel) || !strings.Contains(rel.Coverage[0].Withdrawn[0].Reason, c.missing) {
				t.Errorf("missing %+v, coverage %+v", rel.Missing, rel.Coverage)
			}
		})
	}
}

// The file of an earlier date under the name of this one is not the file of this date.
func TestFileOfAnotherDate(t *testing.T) {
	period := rules.IdentityPart{Name: rules.PartPeriod, Text: "{date}"}
	yesterday := func(parts []rules.IdentityPart, name string, rows ...string) []Arrived {
		w := reports(t, parts...)
		w.job.Date = "2031-06-09"
		w.report(name, "d", rows...)
		rel, err := w.knowing(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return arrivedOn("2031-06-09", rel)
	}
	for _, c := range []struct {
		name    string
		parts   []rules.IdentityPart
		former  string // name of yesterday
		rows    []string
		repeats bool
		again   bool
	}{
		{"renamed", []rules.IdentityPart{period}, "psp_0.csv", []string{"o1 1.00 r1"}, false, true},
		{"under the same name", []rules.IdentityPart{period}, "psp_1.csv", []string{"o1 1.00 r1"}, false, true},
		{"renamed, with its own period inside", []rules.IdentityPart{byTrailer}, "psp_0.csv", []string{"o1 1.00 r1"}, false, true},
		{"a day without records", []rules.IdentityPart{period}, "psp_0.csv", nil, false, false},
		{"may repeat", []rules.IdentityPart{period}, "psp_0.csv", []string{"o1 1.00 r1"}, true, false},
		{"of no date", []rules.IdentityPart{{Name: rules.PartProvider, Text: "psp"}}, "psp_0.csv", []string{"o1 1.00 r1"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			earlier := yesterday(c.parts, c.former, c.rows...)
			w := reports(t, c.parts...)
			w.report("psp_1.csv", "d", c.rows...)
			src := w.job.Inputs[rules.Results][0].Source
			src.Identity.MayRepeat = c.repeats
			rel, err := w.knowing(earlier, nil)
			if !c.again {
				if err != nil || rel.Files[0].Status != FileStaged || !proves(rel) {
					t.Errorf("%+v, %v", rel, err)
				}
				return
			}
			if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "psp_1.csv is the file of 2031-06-09 again: "+c.former) {
				t.Errorf("error %v", err)
			}
			src.Need = rules.LateOK
			rel, err = w.knowing(earlier, nil)
			if err != nil || rel.Records != 0 || rel.Files[0].Status != FileSkipped || proves(rel) || !slices.Contains(codes(rel), "file_skipped") {
				t.Fatalf("%+v, %v", rel, err)
			}
			// Beside a file of its own date it is left out, and the day stays unproved.
			src.Need = rules.Required
			w.report("psp_2.csv", "e", "o2 2.00 r2")
			rel, err = w.knowing(earlier, nil)
			if len(c.parts) == 1 && c.parts[0].Name == rules.PartPeriod && c.parts[0].Text != "" {
				// Both would be the report of the date, but one of them is not of it.
				if err != nil || rel.Records != 1 || proves(rel) {
					t.Errorf("%+v, %v", rel, err)
				}
			}
		})
	}
	// The file that nobody has replaced, read again: its records count, and its silence does
	// not, whether it has records or not, until another one has come beside it.
	for _, rows := range [][]string{{"o1 1.00 r1"}, nil} {
		earlier := yesterday([]rules.IdentityPart{byTrailer}, "psp_1.csv", rows...)
		w := reports(t, byTrailer)
		w.report("psp_1.csv", "d", rows...)
		rel, err := w.knowing(earlier, nil)
		if err != nil || rel.Files[0].Status != FileStaged || rel.Records != int64(len(rows)) || proves(rel) ||
			!strings.Contains(rel.Coverage[0].Withdrawn[0].Reason, "psp_1.csv is what run run-of-2031-06-09 read for 2031-06-09") {
			t.Errorf("%+v, %v", rel, err)
		}
		w.report("psp_2.csv", "e", "o2 2.00 r2")
		if rel, err = w.knowing(earlier, nil); err != nil || rel.Records != int64(len(rows))+1 || !proves(rel) {
			t.Errorf("beside a new one: %+v, %v", rel, err)
		}
		w.job.Inputs[rules.Results][0].Source.Identity.MayRepeat = true
		earlier = append(earlier, arrivedOn("2031-06-09", rel)...)
		if rel, err = w.knowing(earlier, nil); err != nil || !proves(rel) {
			t.Errorf("may repeat: %+v, %v", rel, err)
		}
	}
	// A revision of yesterday's report under today's name is evidence, and proves nothing.
	earlier := yesterday([]rules.IdentityPart{byTrailer}, "psp_0.csv", "o1 1.00 r1")
	w := reports(t, byTrailer)
	w.report("psp_1.csv", "d", "o1 1.50 r1")
	rel, err := w.knowing(earlier, nil)
	if err != nil || rel.Records != 1 || proves(rel) || !strings.Contains(rel.Coverage[0].Withdrawn[0].Reason, "psp_1.csv is another revision of the file of 2031-06-09") {
		t.Errorf("%+v, %v", rel, err)
	}
}

// Statements of a bank are known by account and number: over the dates of runs, and where
// one is sent again, corrected.
func TestIdentityOfStatements(t *testing.T) {
	const key = "account=DE02 sequence="
	w := bankWorld(t, bankStatus)
	w.bank("*.xml", rules.FormatCamt, func(s *rules.Source, _ *rules.Input) {
		s.Identity = &rules.Identity{Parts: []rules.IdentityPart{{Name: rules.PartAccount, Statement: "account"}, {Name: rules.PartSequence, Statement: "number"}, inName(rules.PartRevision, `_r(\d+)\.xml$`)}}
	}, 0, 10)
	w.write("1.xml", bankStatement("camt.053", "S1", "1", "2026-11-27", "10", "2", "12"))
	rel, err := w.knowing(nil, nil)
	if err != nil || rel.Files[0].Arrival.Key != key+"1" {
		t.Fatalf("%+v, %v", rel, err)
	}
	earlier := arrivedOn("2026-11-27", rel)

	w.job.Inputs[rules.Results][0].Path = "[3-9]*.xml"
	w.write("3.xml", bankStatement("camt.053", "S3", "3", "2026-11-29", "13", "1", "14"))
	w.write("3_r2.xml", bankStatement("camt.053", "S3", "3", "2026-11-29", "13", "1.50", "14.50"))
	rel, err = w.knowing(earlier, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rel.Records != 1 || rel.Files[0].Status != FileSuperseded || len(rel.Revisions) != 1 || rel.Revisions[0].Changed != 1 {
		t.Errorf("files %+v, revisions %+v", rel.Files, rel.Revisions)
	}
	if len(rel.Missing) != 1 || rel.Missing[0].Says() != "the sequence number 2 is missing between 1.xml and 3_r2.xml" || covered(rel) != "0-0" {
		t.Errorf("missing %+v, covered %s", rel.Missing, covered(rel))
	}

	// A file with two statements is neither of them.
	w.write("4.xml", strings.Replace(bankStatement("camt.053", "S4", "4", "2026-11-30", "14", "1", "15"), "</Stmt>", "</Stmt>"+betweenStatements(bankStatement("camt.053", "S5", "5", "2026-12-01", "15", "1", "16")), 1))
	_, err = w.knowing(earlier, nil)
	wantInputError(t, err, "4.xml: its account is not one: the file holds 2 statements")
}

// betweenStatements is the statement of a message alone.
func betweenStatements(text string) string {
	_, text, _ = strings.Cut(text, "<BkToCstmrStmt>")
	text, _, _ = strings.Cut(text, "</BkToCstmrStmt>")
	return text
}
