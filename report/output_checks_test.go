package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// checkedWorld is a day with every kind of outcome of every kind of check.
func checkedWorld(t *testing.T) *world {
	w := newWorld(t)
	b := w.in.Bound
	b.Gates = []rules.Gate{
		{Name: "divergence", FailWhen: "share(divergent) > 50%", Func: "share", Arg: "divergent", Op: ">", Value: 0.5},
		{Name: "absences", FailWhen: "count(absent) > 0", Func: "count", Arg: "absent", Op: ">"},
		{Name: "old reviews", FailWhen: "oldest(review) > 3d", Func: "oldest", Arg: "review", Op: ">", Value: 259200},
		{Name: "old closings", FailWhen: "oldest(close) > 3d", Func: "oldest", Arg: "close", Op: ">", Value: 259200},
	}
	b.Limits.BlastRadius = map[string]rules.BlastLimit{
		"requeue":    {Rows: 100, Amount: map[string]string{"USD": "99.89"}},
		"compensate": {Rows: 100, Amount: map[string]string{"EUR": "1"}, BaselineRuns: 6, BaselineFactor: 3},
	}
	w.in.Overrides = []string{OverrideLimit + "compensate.amount.EUR", OverrideReason + "looked at"}
	b.Canaries = []rules.Canary{{OperationID: "op-1", Expect: "correct"}, {OperationID: "op-6", Expect: "correct"}, {OperationID: "op-99", Expect: "correct"}}
	b.Operations.Sources[0].Controls = &rules.Controls{Count: rules.Position{In: rules.InTrailer, Field: 2}}
	b.Results.Sources = append(b.Results.Sources,
		rules.Source{Name: "acquirer", Need: rules.Optional, Controls: &rules.Controls{Count: rules.Position{In: rules.InTrailer, Field: 2}}, Coverage: rules.Coverage{Proves: rules.FullLifecycle, Account: "acquirer"}},
		rules.Source{Name: "archive", Need: rules.Optional, Coverage: rules.Coverage{Proves: rules.FullLifecycle, Account: "archive"}})
	w.in.Results.Files = append(w.in.Results.Files,
		extract.File{No: 2, Source: "acquirer", Name: "a.csv", Status: extract.FileRefused, Problem: "the trailer states 7 records, it has 6"},
		extract.File{No: 3, Source: "archive", Name: "b.csv", Status: extract.FileMissing, Problem: "there is no such file"})
	w.load()
	w.exec("UPDATE items SET since_us = NULL WHERE queue = 'review'")
	w.exec("CREATE TABLE canaries AS SELECT * FROM (VALUES (0, 1, 'correct', 'equal', true), (1, 6, 'absent', 'no_result', true), (2, NULL, NULL, NULL, NULL)) t(no, rid, class, reason, in_period)")
	return w
}

// How every check of that day has to come out.
var checkedOutcomes = map[string]string{
	"gates/divergence": "passed", "gates/absences": "failure", "gates/old reviews": "error", "gates/old closings": "skipped",
	"limits/requeue.rows": "passed", "limits/requeue.amount.USD": "failure", "limits/compensate.rows": "passed",
	"limits/compensate.amount.EUR": "skipped", "limits/compensate.baseline": "skipped",
	"queues/confirm": "failure", "queues/requeue": "failure", "queues/compensate": "failure", "queues/close": "failure",
	"canaries/op-1": "passed", "canaries/op-6": "failure", "canaries/op-99": "failure",
	"sources/operations ledger: files are there": "passed", "sources/operations ledger: read whole": "passed",
	"sources/operations ledger: stated totals": "passed", "sources/operations ledger: every record could be read": "passed",
	"sources/results psp: files are there": "failure", "sources/results psp: read whole": "passed",
	"sources/results psp: stated totals": "skipped", "sources/results psp: every record could be read": "failure",
	"sources/results acquirer: files are there": "passed", "sources/results acquirer: read whole": "failure",
	"sources/results acquirer: stated totals": "error", "sources/results acquirer: every record could be read": "error",
	"sources/results archive: files are there": "skipped", "sources/results archive: read whole": "skipped",
	"sources/results archive: stated totals": "skipped", "sources/results archive: every record could be read": "skipped",
}

// filesOf writes one form or several, beside those that are always written.
func filesOf(t *testing.T, w *world, formats ...string) map[string][]byte {
	t.Helper()
	w.in.Bound.Outputs.Formats = formats
	return files(t, w.deliver(w.build()))
}

func TestJUnit(t *testing.T) {
	w := checkedWorld(t)
	text := filesOf(t, w, "junit")["report.junit.xml"]
	got := map[string]string{}
	for _, suite := range checkJUnit(t, text).Suites {
		for _, c := range suite.Cases {
			how := "passed"
			switch {
			case c.Failure != nil:
				how = "failure"
			case c.Error != nil:
				how = "error"
			case c.Skipped != nil:
				how = "skipped"
			}
			got[strings.TrimPrefix(suite.Name, "card-charges.")+"/"+c.Name] = how
		}
	}
	for name, want := range checkedOutcomes {
		if got[name] != want {
			t.Errorf("%s: %q, want %s", name, got[name], want)
		}
	}
	if len(got) != len(checkedOutcomes) {
		t.Errorf("%d cases, want %d: %q", len(got), len(checkedOutcomes), slices.Sorted(maps.Keys(got)))
	}
	for _, s := range []string{`message="1 (operations, in the period): it fails when count(absent) &gt; 0"`, "a.csv: the trailer states 7 records, it has 6",
		`message="it should come out as correct, and is missing from the operations"`, `message="exceeded, and lifted for this run: 5.00, the limit is 1.00"`} {
		if !bytes.Contains(text, []byte(s)) {
			t.Errorf("%s is not in\n%s", s, text)
		}
	}
}

// A run that does not end with 0 has a case that failed, whatever it ended for: a build
// server never shows it as green.
func TestNothingFailsUnseen(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"gate": func(w *world) { w.in.Bound.Gates[0].Value = 0 },
		"limit": func(w *world) {
			w.in.Bound.Limits.BlastRadius = map[string]rules.BlastLimit{"requeue": {Amount: map[string]string{"USD": "99.89"}}}
		},
		"nothing linked": func(w *world) {
			for _, side := range rules.Sides {
				for i := range w.rows[side] {
					w.rows[side][i].pass = -1
				}
			}
		},
		"never observed": func(w *world) { w.in.Past.Staged = true },
	} {
		w := newWorld(t)
		w.in.Bound.Gates[0].Value = 1
		prepare(w)
		s := w.load().build()
		checks := checksOf(s, w.in.Bound.Job)
		failed := slices.ContainsFunc(checks, func(c check) bool { return c.How == checkFailed && c.Group != "sources" })
		if s.Exit() == 0 || !failed {
			t.Errorf("%s: the run ends with %d, and a case failed: %t", name, s.Exit(), failed)
		}
	}
}

// A missing day takes proof away from a source, optional or not: only an optional source
// that is not there at all is left out.
func TestMissingDayOfAnOptionalSource(t *testing.T) {
	spec := &rules.Source{Need: rules.Optional}
	missing, staged := File{Name: "a.csv", Status: "missing"}, File{Name: "b.csv", Status: "staged"}
	for _, c := range []struct {
		files []File
		spec  rules.Source
		want  outcomeOf
	}{
		{[]File{missing}, *spec, checkSkipped},
		{[]File{missing, staged}, *spec, checkFailed},
		{[]File{missing}, rules.Source{Need: rules.Required}, checkFailed},
		{[]File{missing}, rules.Source{Need: rules.Optional, Dates: &rules.DateRange{}}, checkFailed},
		{[]File{staged}, *spec, checkPassed},
	} {
		if got := sourceChecks("results", Source{Name: "s", Files: c.files}, &c.spec)[0]; got.How != c.want {
			t.Errorf("%v, need %s: %s, want %s", c.files, c.spec.Need, got.How, c.want)
		}
	}
}

func TestDetailIsBounded(t *testing.T) {
	var list []File
	for i := range 500 {
		list = append(list, File{Name: fmt.Sprint(i), Status: "refused", Problem: "cut"})
	}
	got := sourceChecks("results", Source{Name: "s", Files: list}, &rules.Source{})[1]
	if len(got.Detail) != maxDetail+1 || got.Detail[maxDetail] != "… and 490 more" {
		t.Errorf("%d lines, the last is %q", len(got.Detail), got.Detail[len(got.Detail)-1])
	}
}

// checkJUnit asserts that a text is what junit.xsd says, by reading it strictly: known
// elements and attributes alone, in their places, and counts that are those of the cases.
// xmllint validates against the schema itself.
func checkJUnit(t *testing.T, text []byte) *junitSuites {
	t.Helper()
	if !bytes.HasPrefix(text, []byte(`<?xml version="1.0" encoding="UTF-8"?>`+"\n")) {
		t.Errorf("no XML declaration: %.60q", text)
	}
	children := map[string][]string{"": {"testsuites"}, "testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "error", "skipped"}}
	counts := []string{"name", "tests", "failures", "errors", "skipped"}
	attributes := map[string][]string{"testsuites": counts, "testsuite": counts, "testcase": {"classname", "name"}, "failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"}}
	d := xml.NewDecoder(bytes.NewReader(text))
	path := []string{""}
	inCase := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("report.junit.xml is no XML: %v\n%s", err, text)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			if parent := path[len(path)-1]; !slices.Contains(children[parent], x.Name.Local) || x.Name.Space != "" {
				t.Errorf("<%s> in <%s>", x.Name.Local, parent)
			}
			var names []string
			for _, a := range x.Attr {
				if names = append(names, a.Name.Local); a.Value == "" {
					t.Errorf("<%s %s> is empty", x.Name.Local, a.Name.Local)
				}
			}
			if !slices.Equal(names, attributes[x.Name.Local]) {
				t.Errorf("<%s> has the attributes %q, want %q", x.Name.Local, names, attributes[x.Name.Local])
			}
			if x.Name.Local == "testcase" {
				inCase = 0
			} else if path[len(path)-1] == "testcase" {
				if inCase++; inCase > 1 {
					t.Error("a case came out in two ways")
				}
			}
			path = append(path, x.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if p := path[len(path)-1]; len(bytes.TrimSpace(x)) > 0 && p != "failure" && p != "error" && p != "skipped" {
				t.Errorf("text in <%s>: %q", p, x)
			}
		}
	}
	var out junitSuites
	if err := xml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	var sum [4]int
	for _, s := range out.Suites {
		n := [4]int{len(s.Cases)}
		names := map[string]bool{}
		for _, c := range s.Cases {
			for i, why := range []*junitWhy{c.Failure, c.Error, c.Skipped} {
				if why != nil {
					n[i+1]++
				}
			}
			if names[c.Name] || c.Class != s.Name {
				t.Errorf("%s: the case %q of %q occurs twice, or is of another suite", s.Name, c.Name, c.Class)
			}
			names[c.Name] = true
		}
		if n != [4]int{s.Tests, s.Failures, s.Errors, s.Skipped} {
			t.Errorf("%s says %d, %d, %d, %d; its cases say %d", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, n)
		}
		for i := range sum {
			sum[i] += n[i]
		}
	}
	if sum != [4]int{out.Tests, out.Failures, out.Errors, out.Skipped} {
		t.Errorf("all suites have %d, the file says %d, %d, %d, %d", sum, out.Tests, out.Failures, out.Errors, out.Skipped)
	}
	xmllint(t, text)
	return &out
}

// xmllint validates a text against junit.xsd itself. Where the program is missing the test
// says so; with CI=true it fails.
func xmllint(t *testing.T, text []byte) {
	t.Helper()
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		const how = "junit.xsd itself is NOT TESTED: xmllint is missing: run scripts/install-xmllint, as root on Debian"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Log(how)
		return
	}
	schema, err := filepath.Abs("junit.xsd")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lint, "--noout", "--nonet", "--schema", schema, "-")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%s", err, out)
	}
}

// checkSARIF asserts the schema, and what a schema cannot say: indexes lead to what
// they name, ids of rules are unique.
func checkSARIF(t *testing.T, text []byte) *sarifRun {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := plainSchema(t, SARIFSchema).Validate(doc); err != nil {
		t.Fatalf("report.sarif: %v", err)
	}
	var log sarifLog
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	run := &log.Runs[0]
	known, prints := map[string]bool{}, map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if known[r.ID] {
			t.Errorf("the rule %q occurs twice", r.ID)
		}
		known[r.ID] = true
	}
	for _, r := range run.Results {
		if r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("the index %d is not that of the rule %q", r.RuleIndex, r.RuleID)
		}
		if f := r.Fingerprints["reconBatch/v1"]; prints[f] {
			t.Errorf("two results have the fingerprint %s: %q", f, r.Message.Text)
		} else {
			prints[f] = true
		}
		for _, l := range r.Locations {
			if i := l.Physical.Artifact.Index; i != nil && run.Artifacts[*i].Location.URI != l.Physical.Artifact.URI {
				t.Errorf("the artifact %d is %s, not %s", *i, run.Artifacts[*i].Location.URI, l.Physical.Artifact.URI)
			}
		}
	}
	return run
}

func TestSARIF(t *testing.T) {
	w := checkedWorld(t)
	run := checkSARIF(t, filesOf(t, w, "sarif")["report.sarif"])
	var got []string
	for _, r := range run.Results {
		got = append(got, r.Level+" "+r.RuleID)
	}
	want := []string{"error gates/absences", "error gates/old reviews", "error limits/requeue.amount.USD",
		"error queues/confirm", "error queues/requeue", "error queues/compensate", "error queues/close", "error canaries", "error canaries",
		"warning sources/files_are_there", "warning sources/every_record_could_be_read",
		"warning sources/read_whole", "warning sources/stated_totals", "warning sources/every_record_could_be_read",
		"warning findings/file_missing", "warning findings/limit_lifted", "warning findings/baseline_short", "warning rejects"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	reject := run.Results[len(run.Results)-1]
	place := reject.Locations[0]
	if a := run.Artifacts[*place.Physical.Artifact.Index]; place.Physical.Artifact.URI != "psp.csv.gz" || a.Hashes["sha-256"] != strings.Repeat("22", 32) ||
		place.Physical.Region.StartLine != 13 || place.Logical[0].Full != "results/psp/psp.csv.gz/record 11" || reject.Message.Text != "record 11: 4 fields, the header has 8" {
		t.Errorf("the reject stands at %+v: %q", place, reject.Message.Text)
	}
	if run.Invocations[0].ExitCode != 9 || !run.Invocations[0].Successful || run.Automation.ID != "card-charges/2026-08-20" {
		t.Errorf("invocation %+v of %q", run.Invocations[0], run.Automation.ID)
	}
	if n := len(run.Tool.Driver.Rules); n != 4+5+4+1+4+3+1 {
		t.Errorf("%d rules: also what passed was asked", n)
	}
}

// What is too much is left out, and said to be.
func TestSARIFIsBounded(t *testing.T) {
	s := newWorld(t).load().build()
	for i := range maxResults + 10 {
		s.Findings = append(s.Findings, Finding{Code: "file_missing", File: fmt.Sprint(i), Text: "x"})
	}
	s.Rejects.Of = 812
	text, err := json.Marshal(sarif(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	run := checkSARIF(t, text)
	var notes []string
	for _, n := range run.Invocations[0].Notifications {
		notes = append(notes, n.Message.Text)
	}
	if len(run.Results) != maxResults || !slices.Equal(notes, []string{"12 more results are not shown: report.json has them", "1 of 812 rejected records are shown: rejects.parquet has all of them"}) {
		t.Errorf("%d results, notes %q", len(run.Results), notes)
	}
}

// Names of the job, of files and of rows that try to leave their place stay text.
func TestHostileNamesOfChecks(t *testing.T) {
	names := append([]string{"\uFFFE\uFFFF", "\x00\x0b", "bad\u0085", "]]>", "a & <b> \"c\"", "\ud7ff\ue000"}, hostile...)
	w := newWorld(t)
	w.in.Bound.Name = names[3]
	for i, n := range names {
		w.in.Bound.Gates = append(w.in.Bound.Gates, rules.Gate{Name: fmt.Sprint(i, n), FailWhen: n, Func: "differences", Op: ">"})
		w.in.Findings = append(w.in.Findings, extract.Finding{Code: "bank_note", Source: "psp", File: "../" + n, Text: fmt.Sprint(i, n)})
		w.in.Results.Files = append(w.in.Results.Files, extract.File{No: 2 + i, Source: "psp", Name: "//" + n + "/..", Status: extract.FileRefused, Problem: n})
	}
	w.load()
	out := filesOf(t, w, "junit", "sarif")
	j := checkJUnit(t, out["report.junit.xml"])
	found := 0
	for _, c := range j.Suites[0].Cases {
		for i, n := range names {
			if c.Name == fmt.Sprint(i)+shown(n) && len(n) < 1<<20 && i > 0 {
				found++
			}
		}
	}
	if found < len(names)-3 { // the ones that are cut or spelled further
		t.Errorf("%d of %d gates stand there under their names", found, len(names))
	}
	for _, c := range []string{`name="0\u{FFFE}\u{FFFF}"`, `name="1\u{0000}\u{000B}"`, `name="2bad\u{0085}"`, "name=\"5\ud7ff\\u{E000}\""} {
		if !strings.Contains(string(out["report.junit.xml"]), c) {
			t.Errorf("%s is not there", c)
		}
	}
	run := checkSARIF(t, out["report.sarif"])
	if len(run.Results) < 2*len(names) {
		t.Errorf("%d results", len(run.Results))
	}
}

func TestRelativeURI(t *testing.T) {
	for name, want := range map[string]string{
		"a.csv": "a.csv", "/abs/x.csv": "abs/x.csv", "//host/x": "host/x", "../x": "%2E%2E/x", "a/./b": "a/%2E/b", "file:x": "file%3Ax", "a b#?.csv": "a%20b%23%3F.csv", "ä": "%C3%A4", `C:\x`: "C%3A%5Cx", "%41": "%2541",
	} {
		if got := relativeURI(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
