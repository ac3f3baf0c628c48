package pipeline

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// reportDays is a copy of the example of files with an identity.
type reportDays struct {
	t   *testing.T
	dir string
}

func newReportDays(t *testing.T) *reportDays {
	t.Helper()
	d := &reportDays{t, t.TempDir()}
	must(t, os.CopyFS(d.dir, os.DirFS("../../examples/registry")))
	return d
}

func (d *reportDays) options(day string) Options {
	d.t.Helper()
	job, err := rules.Load(filepath.Join(d.dir, "job.yaml"))
	must(d.t, err)
	return Options{Job: job, BusinessDate: "2026-11-" + day, Threads: 2}
}

// run runs a day and returns its folder.
func (d *reportDays) run(day string) (*Result, string) {
	d.t.Helper()
	res, err := Run(d.t.Context(), d.options(day))
	must(d.t, err)
	return res, d.folder(day, res.Manifest.RunID)
}

func (d *reportDays) folder(day, id string) string {
	return filepath.Join(d.dir, "out", "settlements", "2026-11-"+day, id)
}

// arrives puts a file that was late into its place.
func (d *reportDays) arrives(name string) {
	must(d.t, os.Rename(filepath.Join(d.dir, "later", name), filepath.Join(d.dir, "provider", name)))
}

// Every number that a report tells of a revision is found again in the two files.
func TestRevisionsAreRecounted(t *testing.T) {
	d := newReportDays(t)
	// A row comes twice before and once now, one is gone, one has another amount, two came.
	must(t, os.WriteFile(filepath.Join(d.dir, "provider", "psp_2026-11-28.csv"), []byte("kind,id,amount,currency\nD,o280,10.00,EUR\nD,o281,11.00,EUR\nD,x1,1.25,USD\nD,x1,1.25,USD\nD,x2,2.00,USD\nT,2026-11-28,9,\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(d.dir, "later", "psp_2026-11-28_r2.csv"), []byte("kind,id,amount,currency\nD,o280,10.00,EUR\nD,o281,11.50,EUR\nD,o282,12.00,EUR\nD,x1,1.25,USD\nD,x3,3.00,GBP\nT,2026-11-28,9,\n"), 0o600))
	d.arrives("psp_2026-11-28_r2.csv")
	_, run := d.run("28")
	db, err := duck.Open(t.Context(), duck.Options{Allowed: []string{d.dir}})
	must(t, err)
	defer db.Close()
	text, err := os.ReadFile(filepath.Join(run, reportName))
	must(t, err)
	r := &recounting{t: t, db: db, doc: decodeDocument(t, text)}
	for table, name := range map[string]string{"former": "psp_2026-11-28.csv", "now": "psp_2026-11-28_r2.csv"} {
		r.exec("CREATE TABLE " + table + " AS SELECT id, amount, currency, row_number() OVER (PARTITION BY id, amount, currency) AS n FROM read_csv(" +
			duck.Literal(filepath.Join(d.dir, "provider", name)) + ", all_varchar = true) WHERE kind = 'D'")
	}
	known := map[string]bool{}
	for _, c := range []counted{
		{at: "revisions[]", keys: []string{"file", "former"}, nums: []string{"records", "former_records", "added", "gone", "changed"}, sql: `
			WITH gone AS (SELECT id, count(*) AS g FROM (FROM former EXCEPT FROM now) GROUP BY id), came AS (SELECT id, count(*) AS c FROM (FROM now EXCEPT FROM former) GROUP BY id),
			moved AS (SELECT coalesce(g, 0) AS g, coalesce(c, 0) AS c FROM gone FULL JOIN came USING (id))
			SELECT 'provider/psp_2026-11-28_r2.csv', 'provider/psp_2026-11-28.csv', (SELECT count(*) FROM now), (SELECT count(*) FROM former), sum(c - least(g, c)), sum(g - least(g, c)), sum(least(g, c)) FROM moved`},
		{at: "revisions[].sums[]", keys: []string{"currency"}, nums: []string{"former_amount", "amount"}, sql: `
			SELECT currency, (SELECT sum(CAST(amount AS DECIMAL(18,2))) FROM former f WHERE f.currency = c.currency), (SELECT sum(CAST(amount AS DECIMAL(18,2))) FROM now n WHERE n.currency = c.currency)
			FROM (SELECT currency FROM former UNION SELECT currency FROM now) c`},
	} {
		for _, p := range r.compare(c) {
			known[p] = true
		}
	}
	some := map[string]bool{}
	leaves(r.doc, "", "", func(l leaf) {
		if !strings.HasPrefix(l.pattern, "revisions[]") {
			return
		}
		some[l.pattern] = some[l.pattern] || plain(l.text) != "0"
		if !known[l.pattern] {
			t.Errorf("nothing counts %s again", l.path)
		}
	})
	for p := range known {
		if !some[p] {
			t.Errorf("%s is never other than 0", p)
		}
	}
	verified(t, run)
}

// verified checks a run offline.
func verified(t *testing.T, run string) {
	t.Helper()
	v, err := Verify(t.Context(), run)
	must(t, err)
	for _, c := range v.Checks {
		if len(c.Wrong) > 0 {
			t.Errorf("%s: %v", c.Name, c.Wrong)
		}
	}
}

// A date whose file was late has, run again, the verdicts and the content digest that it
// would have had on time; and so has the date that missed it.
func TestLateFilesEndAlike(t *testing.T) {
	late, onTime := newReportDays(t), newReportDays(t)
	onTime.arrives("psp_2026-11-27.csv")
	for _, day := range []string{"26", "27", "28"} {
		late.run(day)
		onTime.run(day)
	}
	late.arrives("psp_2026-11-27.csv")
	_, run := late.run("29")
	m, _, err := ReadManifest(run)
	must(t, err)
	if len(m.Reopen) != 1 || m.Reopen[0].BusinessDate != "2026-11-27" || m.Reopen[0].Why != lateArrived {
		t.Errorf("late: %+v", m.Reopen)
	}
	verified(t, run)
	var reopened []string
	for range 5 { // as long as something is late
		list, err := LateFiles(t.Context(), late.options("29"), "")
		must(t, err)
		if len(list) == 0 {
			break
		}
		day := strings.TrimPrefix(list[len(list)-1].BusinessDate, "2026-11-")
		reopened = append(reopened, day)
		late.run(day)
	}
	if !slices.Equal(reopened, []string{"27", "28"}) {
		t.Errorf("run again: %v", reopened)
	}
	for _, day := range []string{"26", "27", "28"} {
		var of [2]*Manifest
		for i, d := range []*reportDays{late, onTime} {
			_, of[i], err = CurrentRun(filepath.Join(d.dir, "out"), "settlements", "2026-11-"+day)
			must(t, err)
		}
		if of[0].ContentDigest != of[1].ContentDigest || !reflect.DeepEqual(of[0].Counts, of[1].Counts) || !reflect.DeepEqual(of[0].Coverage, of[1].Coverage) {
			t.Errorf("the %s comes out otherwise: %+v and %+v", day, of[0].Counts, of[1].Counts)
		}
		if same := outputOf(of[0], "operations.parquet") == outputOf(of[1], "operations.parquet") && outputOf(of[0], "results.parquet") == outputOf(of[1], "results.parquet"); !same {
			t.Errorf("the rows of the %s have other bytes", day)
		}
	}
}

func outputOf(m *Manifest, path string) string {
	i := slices.IndexFunc(m.Outputs, func(o OutputDigest) bool { return o.Path == path })
	return m.Outputs[i].SHA256
}

// What a run took from others is part of its identity; what it said of late files and
// revisions cannot be changed afterwards; and a run that is judged again asks for those that
// it knew.
func TestWhatIsKnownIsRecorded(t *testing.T) {
	d := newReportDays(t)
	first, former := d.run("26")
	res, run := d.run("28")
	m := res.Manifest
	if len(m.Former) != 1 || m.Former[0].RunID != first.Manifest.RunID || !slices.Contains(m.Former[0].For, forFiles) || len(m.Missing) != 1 {
		t.Errorf("former %+v, missing %+v", m.Former, m.Missing)
	}
	if again, err := Run(t.Context(), d.options("28")); err != nil || !again.NoOp {
		t.Errorf("the same run again: %+v, %v", again, err)
	}
	d.arrives("psp_2026-11-28_r2.csv")
	revised, _ := d.run("28")
	id, err := identityOf(revised.Manifest).id()
	must(t, err)
	for name, forge := range map[string]func(*Manifest){
		"the former file":  func(m *Manifest) { m.Revisions[0].FormerRun, m.Revisions[0].FormerSHA256 = "x", "y" },
		"a late file":      func(m *Manifest) { m.Reopen = append(m.Reopen, Late{BusinessDate: "2026-11-27"}) },
		"the run it knows": func(m *Manifest) { m.Former = nil },
	} {
		forged := *revised.Manifest
		forged.Revisions = slices.Clone(forged.Revisions)
		forge(&forged)
		if other, err := identityOf(&forged).id(); err != nil || other == id {
			t.Errorf("%s is no part of the identity", name)
		}
	}

	explain := func() error {
		_, _, err := Explain(t.Context(), d.options("28"), m.RunID, "o281")
		return err
	}
	must(t, explain())
	must(t, os.Rename(former, former+".away"))
	if err := explain(); fail.ClassOf(err) != fail.Input || !containsText(err, "whose files run "+m.RunID+" of 2026-11-28 knew") {
		t.Errorf("explained without the run that it knew: %v", err)
	}
	must(t, os.Rename(former+".away", former))
	verified(t, run)
}

// A run of an earlier date that was removed or changed would hide that a number is missing
// since; the night ends instead.
func TestFormerRunsAreBelieved(t *testing.T) {
	d := newReportDays(t)
	d.run("26")
	res, last := d.run("28")
	if len(res.Manifest.Missing) != 1 {
		t.Fatalf("missing %+v", res.Manifest.Missing)
	}
	must(t, os.WriteFile(filepath.Join(d.dir, "provider", "psp_2026-11-29.csv"), []byte("kind,id,amount,currency\nD,o290,10.00,EUR\nT,2026-11-29,11,\n"), 0o600))
	refused := func(what, says string) {
		t.Helper()
		if _, err := Run(t.Context(), d.options("29")); fail.ClassOf(err) != fail.Integrity || !containsText(err, says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	date := filepath.Dir(last)
	must(t, os.Rename(date, date+".away"))
	refused("the last run removed", "is not there any more")
	must(t, os.Rename(date+".away", date))
	link, err := os.Readlink(filepath.Join(date, "current"))
	must(t, err)
	must(t, os.Remove(filepath.Join(date, "current")))
	refused("its link removed", "is not there any more")
	must(t, os.Symlink(link, filepath.Join(date, "current")))
	file := filepath.Join(last, manifestName)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(text), "sequence=9", "sequence=10", 1)), 0o600))
	refused("the last run changed", "is not as it was published")
	must(t, os.WriteFile(file, text, 0o600))
	if res, _ := d.run("29"); len(res.Manifest.Missing) != 1 || res.Manifest.Missing[0].From != 10 {
		t.Errorf("missing %+v", res.Manifest.Missing)
	}
}

// Dates that are looked at cost little, and a file that cannot be read stops no run.
func TestLateFilesThatAreNone(t *testing.T) {
	d := newReportDays(t)
	d.run("26")
	if err := os.Symlink("/etc/passwd", filepath.Join(d.dir, "provider", "psp_2026-11-26_link.csv")); err != nil {
		t.Fatal(err)
	}
	must(t, os.Mkdir(filepath.Join(d.dir, "provider", "psp_2026-11-26_folder.csv"), 0o755))
	text, err := os.ReadFile(filepath.Join(d.dir, "provider", "psp_2026-11-26.csv"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(d.dir, "provider", "psp_2026-11-26_copy.csv"), text, 0o600)) // nothing new
	list, err := LateFiles(t.Context(), d.options("29"), "")
	if err != nil || len(list) != 0 {
		t.Errorf("late: %+v, %v", list, err)
	}
	// What ready rules leave out is not late, and what they let pass is.
	for _, name := range []string{"psp_2026-11-26_link.csv", "psp_2026-11-26_folder.csv"} {
		must(t, os.Remove(filepath.Join(d.dir, "provider", name)))
	}
	job, err := os.ReadFile(filepath.Join(d.dir, "job.yaml"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(d.dir, "job.yaml"), []byte(strings.Replace(string(job), "      need: late-ok\n", "      need: late-ok\n      ready: {marker: \"provider/done_{date}\"}\n", 1)), 0o600))
	must(t, os.WriteFile(filepath.Join(d.dir, "provider", "psp_2026-11-26_r2.csv"), []byte(strings.Replace(string(text), "10.00", "10.50", 1)), 0o600))
	if list, err = LateFiles(t.Context(), d.options("29"), ""); err != nil || len(list) != 0 {
		t.Errorf("late before it is ready: %+v, %v", list, err)
	}
	must(t, os.WriteFile(filepath.Join(d.dir, "provider", "done_2026-11-26"), nil, 0o600))
	if list, err = LateFiles(t.Context(), d.options("29"), ""); err != nil || len(list) != 1 || list[0].File != "provider/psp_2026-11-26_r2.csv" {
		t.Errorf("late when it is ready: %+v, %v", list, err)
	}
	if _, err := LateFiles(t.Context(), d.options("29"), "nobody"); fail.ClassOf(err) != fail.Usage {
		t.Errorf("a source that is none: %v", err)
	}
}
