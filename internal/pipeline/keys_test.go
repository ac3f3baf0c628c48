package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// unasked is a job that undoes effects nobody asked for.
func unasked(t *testing.T) *nights {
	n := newNights(t)
	for _, r := range [][2]string{
		{"operations:\n", "operations:\n  whole_register: true\n"},
		{"remote_id: remote, ", "remote_id: remote, type: kind, "},
		{"    #charge\n", unaskedBlock},
	} {
		if !strings.Contains(n.job, r[0]) {
			t.Fatalf("the job has no %q", r[0])
		}
		n.job = strings.Replace(n.job, r[0], r[1], 1)
	}
	return n
}

const unaskedBlock = `    unexpected: {owner: finance, compensate_with: {operation: refund_charge, parameters: {charge: remote_id}}}
    approvals: {over: {EUR: "5.00"}, approvers: 2}
`

// day writes a night of charges that are as they should be, c0 and more, and effects that
// nobody asked for: id, key and remote id, with blanks between; _ stands for none.
func (n *nights) day(date string, charges []string, effects ...string) {
	n.t.Helper()
	o, r := "id,key,kind,state,amount,currency,n,at\n", "id,key,remote,kind,amount,currency,at\n"
	for _, id := range append([]string{"c0" + date}, charges...) {
		o += fmt.Sprintf("%s,k%s,charge,confirmed,10.00,EUR,1,%sT12:00:00Z\n", id, id, date)
		r += fmt.Sprintf("%s,k%s,x%s,charge,10.00,EUR,%sT12:00:05Z\n", id, id, id, date)
	}
	for _, e := range effects {
		f := strings.Fields(e)
		for i := range f {
			f[i] = strings.Trim(f[i], "_")
		}
		r += fmt.Sprintf("%s,%s,%s,charge,10.00,EUR,%sT12:00:05Z\n", f[0], f[1], f[2], date)
	}
	write(n.t, filepath.Join(n.dir, "ops_"+date+".csv"), o)
	write(n.t, filepath.Join(n.dir, "res_"+date+".csv"), r)
}

// surprises lists the items of effects that nobody asked for: remote id, queue and what
// was refused.
func (n *nights) surprises(res *Result) string {
	n.t.Helper()
	out := []string{}
	for _, q := range []string{"compensate", "review"} {
		for _, x := range n.items(res, q) {
			if x["class"] == "unexpected" {
				out = append(out, strings.TrimSpace(fmt.Sprintf("%v:%s %s", x["remote_id"], q, refusals(x["refused"]))))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func refusals(v any) string {
	var out []string
	if list, ok := v.([]any); ok {
		for _, c := range list {
			if m, ok := c.(map[string]any); ok {
				c = m["code"]
			}
			out = append(out, fmt.Sprint(c))
		}
	} else if v != nil {
		return fmt.Sprint(v)
	}
	return strings.Join(out, ";")
}

func (n *nights) want(res *Result, want string) {
	n.t.Helper()
	if got := n.surprises(res); got != want {
		n.t.Errorf("%s: %s\nwant %s", res.Manifest.BusinessDate, got, want)
	}
}

func formerOf(res *Result) string {
	var out []string
	for _, f := range res.Manifest.Former {
		if what := slices.DeleteFunc(slices.Clone(f.For), func(s string) bool { return s != forKeys && s != forUnknown }); len(what) > 0 {
			out = append(out, f.BusinessDate+" "+strings.Join(what, "+"))
		}
	}
	return strings.Join(out, ", ")
}

func hasKeys(res *Result) bool {
	return slices.ContainsFunc(res.Manifest.Outputs, func(o OutputDigest) bool { return o.Path == keysName && o.Role == "keys" })
}

// V31: an effect that nobody asked for is undone where no former run knows a key of it;
// what the provider or the register of a former night had is known.
func TestKnownBefore(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"}, "c9 kc9 x9")
	first := n.run("2026-11-01", "", Allowed{})
	n.want(first, "x9:compensate")
	item := n.items(first, "compensate")[0]
	if item["owner"] != "finance" || item["business_operation"] != "refund_charge" || item["approvals"] != float64(2) || fmt.Sprint(item["parameters"]) != "map[charge:x9]" {
		t.Errorf("the item is %v", item)
	}
	if formerOf(first) != "" || !hasKeys(first) {
		t.Errorf("read %s, keys %v", formerOf(first), hasKeys(first))
	}
	// c0…, c1, c9 by both keys; and their ids at the provider.
	if got := fmt.Sprint(first.Manifest.Keys); !strings.Contains(got, "{operation_id ") || strings.Count(got, " 3}") != 3 {
		t.Errorf("keys %s", got)
	}

	// New: x8. The provider told of x9 the night before; the register knew c1 and kc0….
	n.day("2026-11-02", nil, "c8 kc8 x8", "c99 kc99 x9", "c1 kc98 x7", "c97 kc02026-11-01 x6", "_ kc96 x5", "c95 kc9 x4")
	second := n.run("2026-11-02", "", Allowed{})
	const want = "x4:review known_before, x5:compensate, x6:review known_before, x7:review known_before, x8:compensate, x9:review known_before"
	n.want(second, want)
	if got := formerOf(second); got != "2026-11-01 keys" {
		t.Errorf("read %s", got)
	}

	again := n.run("2026-11-02", "", Allowed{})
	if !again.NoOp || again.Manifest.RunID != second.Manifest.RunID {
		t.Error("the same night is another run")
	}
	// A revision is asked about what was known before its date, not by its own first run.
	edit(t, n.dir+"/ops_2026-11-02.csv", "confirmed,10.00", "confirmed,10.0")
	third := n.run("2026-11-02", "", Allowed{})
	if third.Manifest.RunID == second.Manifest.RunID || third.Manifest.Supersedes == nil {
		t.Fatal("no revision")
	}
	n.want(third, want)
	// Nor by later dates.
	n.day("2026-10-31", nil, "c8 kc8 x8")
	n.want(n.run("2026-10-31", "", Allowed{}), "x8:compensate")
	// Which is now a former run of the others, and they are other runs.
	fourth := n.run("2026-11-02", "", Allowed{})
	n.want(fourth, strings.Replace(want, "x8:compensate", "x8:review known_before", 1))
	if got := formerOf(fourth); got != "2026-11-01 keys, 2026-10-31 keys" || fourth.Manifest.RunID == third.Manifest.RunID {
		t.Errorf("read %s, run %s", got, fourth.Manifest.RunID)
	}
}

// A former run that does not say what it knew may have known anything, until its date is
// run again.
func TestFormerRunWithoutKeys(t *testing.T) {
	n := unasked(t)
	with := n.job
	n.job = strings.Replace(n.job, unaskedBlock, "", 1)
	n.day("2026-11-01", []string{"c1"})
	first := n.run("2026-11-01", "", Allowed{})
	if hasKeys(first) || first.Manifest.Keys != nil {
		t.Error("a job that undoes nothing publishes keys")
	}
	n.job = with
	n.day("2026-11-02", nil, "c8 kc8 x8", "c1 kc98 x7")
	second := n.run("2026-11-02", "", Allowed{})
	n.want(second, "x7:review known_before, x8:review known_before")
	n.wantExit(second, second.ExitCode, fmt.Sprintf("former_keys_unknown: effects that nobody asked for are not undone: the run %s of 2026-11-01 says nothing of the keys that it read, so that it may know them (V31); run that date again: recon-batch run --business-date 2026-11-01 job.yaml", first.Manifest.RunID))
	if got := formerOf(second); got != "2026-11-01 keys, not known" || !hasKeys(second) {
		t.Errorf("read %s", got)
	}
	n.run("2026-11-01", "", Allowed{}) // what the finding says
	third := n.run("2026-11-02", "", Allowed{})
	n.want(third, "x7:review known_before, x8:compensate")
	for _, f := range third.Summary.Findings {
		if f.Code == "former_keys_unknown" {
			t.Error(f.Text)
		}
	}
	// Keys that are made in another way cannot be compared.
	n.job = strings.Replace(n.job, "fields: {operation_id: id, idempotency_key: key, remote_id", "fields: {operation_id: {column: id, normalise: [ignore_case]}, idempotency_key: key, remote_id", 1)
	if n.job == with {
		t.Fatal("the job did not change")
	}
	n.want(n.run("2026-11-02", "", Allowed{}), "x7:review known_before, x8:review known_before")
	// A column of another name changes nothing of the key.
	n.job = strings.Replace(with, "idempotency_key: key, remote_id", "idempotency_key: ikey, remote_id", 1)
	edit(t, n.dir+"/res_2026-11-02.csv", "id,key,", "id,ikey,")
	n.want(n.run("2026-11-02", "", Allowed{}), "x7:review known_before, x8:compensate")
}

// A run that was put away takes what it knew with it; one whose file was altered stops
// the run that asks it.
func TestFormerRunGone(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"})
	n.day("2026-11-02", nil)
	first := n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-03", nil, "c8 kc8 x8")
	n.want(n.run("2026-11-03", "", Allowed{}), "x8:compensate")
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(n.folder(first), aside); err != nil {
		t.Fatal(err)
	}
	// Verify would tell that the chain has lost a run, which is so.
	path := filepath.Join(n.dir, "job.yaml")
	job, err := rules.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Job: job, BusinessDate: "2026-11-03", Out: filepath.Join(n.dir, "out"), Threads: 1}
	gone, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	n.want(gone, "x8:review known_before")
	n.wantExit(gone, gone.ExitCode, "the run "+first.Manifest.RunID+" of 2026-11-01 says nothing")
	// With its date: then the chain tells, and running the date again helps.
	date := filepath.Dir(n.folder(first))
	if err := os.Rename(date, aside+"-date"); err != nil {
		t.Fatal(err)
	}
	edit(t, n.dir+"/ops_2026-11-03.csv", "confirmed,10.00", "confirmed,10.0")
	if gone, err = Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	n.want(gone, "x8:review known_before")
	if err := os.Rename(aside+"-date", date); err != nil {
		t.Fatal(err)
	}
	edit(t, n.dir+"/ops_2026-11-03.csv", "confirmed,10.0,", "confirmed,10.00,")
	if err := os.Rename(aside, n.folder(first)); err != nil {
		t.Fatal(err)
	}
	back, err := Run(t.Context(), o)
	if err != nil || !back.NoOp || back.Manifest.RunID == gone.Manifest.RunID {
		t.Fatalf("%v %+v", err, back)
	}
	keys := filepath.Join(n.folder(first), keysName)
	text, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(keys, text, 0o644); err != nil {
		t.Fatal(err)
	}
	edit(t, n.dir+"/ops_2026-11-03.csv", "confirmed,10.00", "confirmed,10.0")
	if _, err := Run(t.Context(), o); fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), keysName) {
		t.Errorf("an altered file: %v", err)
	}
}

// A revision that was superseded knew what it knew.
func TestSupersededKnows(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"})
	n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-01", nil)
	n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-02", nil, "c1 kc98 x7", "c8 kc8 x8")
	res := n.run("2026-11-02", "", Allowed{})
	n.want(res, "x7:review known_before, x8:compensate")
	if got := formerOf(res); got != "2026-11-01 keys, 2026-11-01 keys" {
		t.Errorf("read %s", got)
	}
}

// A pilot is a series of its own; what the whole job knew, it knows.
func TestKeysOfOtherSeries(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"})
	n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-02", nil, "c1 kc98 x7", "c8 kc8 x8")
	res := n.run("2026-11-02", "mode: pilot\npilot: {name: first, types: [charge]}", Allowed{Reason: "test", Unobserved: true})
	n.want(res, "x7:review known_before, x8:compensate")
}

// An operation in flight would look like an effect that nobody asked for, where the
// operations are not the whole register; and where the register knows an effect by its id
// at the provider, a former run has it.
func TestRegisterOfUnasked(t *testing.T) {
	n := unasked(t)
	n.job = strings.Replace(n.job, "  whole_register: true\n", "", 1)
	n.day("2026-11-01", nil, "c8 kc8 x8")
	path := filepath.Join(n.dir, "job.yaml")
	write(t, path, n.job)
	if _, err := rules.Load(path); err == nil {
		n.want(n.run("2026-11-01", "", Allowed{}), "x8:review partial_register")
	} else if !strings.Contains(err.Error(), "whole_register") {
		t.Error(err)
	}
	n = unasked(t)
	n.job = strings.Replace(n.job, "fields: {operation_id: id, idempotency_key: key, type: kind, state", "fields: {operation_id: id, idempotency_key: key, remote_id: note, type: kind, state", 1)
	n.day("2026-11-01", nil)
	edit(t, n.dir+"/ops_2026-11-01.csv", "n,at\n", "n,at,note\n")
	edit(t, n.dir+"/ops_2026-11-01.csv", "12:00:00Z\n", "12:00:00Z,x7\n")
	n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-02", nil, "c8 kc8 x8", "c7 kc7 x7")
	edit(t, n.dir+"/ops_2026-11-02.csv", "n,at\n", "n,at,note\n")
	edit(t, n.dir+"/ops_2026-11-02.csv", "12:00:00Z\n", "12:00:00Z,\n")
	n.want(n.run("2026-11-02", "", Allowed{}), "x7:review known_before, x8:compensate")
}

// What a run says of its own keys, of those of former runs and of effects to be undone,
// changed in a published run whose digests were adapted.
func TestVerifyNoticesForgedKeys(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"}, "c9 kc9 x9")
	n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-02", nil, "c8 kc8 x8", "c9 kc9 x9")
	second := n.run("2026-11-02", "", Allowed{})
	n.want(second, "x8:compensate, x9:review known_before")
	forged := t.TempDir()
	db, err := duck.Open(t.Context(), duck.Options{Allowed: []string{forged}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	manifest := func(f forger, change func(m *Manifest)) {
		m, _, err := ReadManifest(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		text, err := encode(m)
		if err == nil {
			err = os.WriteFile(filepath.Join(f.dir, manifestName), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const compensate = "queues/compensate.parquet"
	for name, tc := range map[string]struct {
		forge       func(f forger)
		check, want string
	}{
		"nothing":    {func(forger) {}, "", ""},
		"a key less": {func(f forger) { f.parquet(keysName, "SELECT * FROM old LIMIT 3") }, "keys", "the manifest says"},
		"a key twice": {func(f forger) {
			f.parquet(keysName, "SELECT key, CASE WHEN fingerprint = (SELECT max(fingerprint) FROM old o WHERE o.key = old.key) THEN (SELECT min(fingerprint) FROM old o WHERE o.key = old.key) ELSE fingerprint END AS fingerprint FROM old")
		}, "keys", "do not follow"},
		"out of order": {func(f forger) { f.parquet(keysName, "SELECT * FROM old ORDER BY fingerprint DESC") }, "keys", "do not follow"},
		"another name": {func(f forger) { f.parquet(keysName, "SELECT 'x' AS key, fingerprint FROM old") }, "keys", "of a name that the manifest does not have"},
		"no file": {func(f forger) {
			if err := os.Remove(filepath.Join(f.dir, keysName)); err != nil {
				t.Fatal(err)
			}
		}, "keys", "do not tell the same"},
		"no keys":       {func(f forger) { manifest(f, func(m *Manifest) { m.Keys = nil }) }, "keys", "that are not the 3 of the job"},
		"another form":  {func(f forger) { manifest(f, func(m *Manifest) { m.Keys[0].Form = "0123456789abcdef" }) }, "keys", "that are not the 3 of the job"},
		"asked in vain": {func(f forger) { manifest(f, func(m *Manifest) { m.Former[0].For = []string{forUnknown} }) }, "former", "does not bear out"},
		"undone unknown": {func(f forger) {
			manifest(f, func(m *Manifest) { m.Former[0].For = []string{forUnknown} })
		}, "keys", "it is not known what former runs knew"},
		"undone though known": {func(f forger) {
			f.parquet(compensate, "SELECT * REPLACE ('x9' AS remote_id) FROM old")
		}, "keys", "that a former run knew"},
	} {
		t.Run(name, func(t *testing.T) {
			job := filepath.Join(forged, strings.ReplaceAll(name, " ", "_"), "nights")
			if err := os.CopyFS(job, os.DirFS(filepath.Join(n.dir, "out", "nights"))); err != nil {
				t.Fatal(err)
			}
			f := forger{t: t, dir: filepath.Join(job, "2026-11-02", second.Manifest.RunID), db: db}
			tc.forge(f)
			f.seal()
			v, err := Verify(t.Context(), f.dir)
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, c := range v.Checks {
				if c.Name == tc.check || tc.check == "" && (c.Name == "keys" || c.Name == "former") {
					found += strings.Join(c.Wrong, "\n")
				}
			}
			if tc.check == "" && found != "" || !strings.Contains(found, tc.want) {
				t.Errorf("%s does not say %q: %s", tc.check, tc.want, found)
			}
		})
	}
}

// The explanation judges again, and asks the same former runs.
func TestExplainKnownBefore(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"})
	n.run("2026-11-01", "", Allowed{})
	n.day("2026-11-02", nil, "c8 kc8 x8", "c1 kc98 x7")
	n.want(n.run("2026-11-02", "", Allowed{}), "x7:review known_before, x8:compensate")
	job, err := rules.Load(filepath.Join(n.dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"x8": "compensate", "x7": "review"} {
		_, out, err := Explain(t.Context(), Options{Job: job, BusinessDate: "2026-11-02", Out: filepath.Join(n.dir, "out"), Threads: 1}, "", id)
		if err != nil || len(out) != 1 || len(out[0].Proposals) != 1 {
			t.Fatalf("%s: %v %+v", id, err, out)
		}
		if got := out[0].Proposals[0].Queue; got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// More keys than are told to the reader of the files one by one.
func TestManyAreAsked(t *testing.T) {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"})
	n.run("2026-11-01", "", Allowed{})
	effects := []string{"c1 kc98 x7"}
	for i := range fewAsked + 1 {
		effects = append(effects, fmt.Sprintf("d%d kd%d y%d", i, i, i))
	}
	n.day("2026-11-02", nil, effects...)
	res := n.run("2026-11-02", "", Allowed{})
	got := n.surprises(res)
	if !strings.Contains(got, "x7:review known_before, y0:compensate") || strings.Count(got, ":compensate") != fewAsked+1 {
		t.Errorf("%d are undone: %.200s", strings.Count(got, ":compensate"), got)
	}
}
