package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

const storedDay = `
job: stored
operations:
  sources: [{name: shop, path: ops.csv, coverage: complete}]
  fields: {operation_id: id, created_at: {column: at, type: timestamp}}
results:
  sources:
    - name: psp
      exec: {command: [./export, "{date}"], name: psp.csv}
      coverage: {from: "{date}T00:00", until: "{date+1}T00:00"}
  fields: {operation_id: id, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}]
outputs: {dir: out}
`

// storedJob writes a job with a program as a source, whose path begins in the folder of
// the job file, and gives how it is loaded.
func storedJob(t *testing.T) (dir string, load func() Options) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "job.yaml"), storedDay)
	write(t, filepath.Join(dir, "ops.csv"), "id,at\na,2020-01-01T10:00:00Z\nb,2020-01-01T10:00:00Z\nc,2020-01-01T10:00:00Z\n")
	write(t, filepath.Join(dir, "export"), "#!/bin/sh\nprintf 'id,at\\na,2020-01-01T10:00:00Z\\nb,2020-01-01T10:00:00Z\\nc,2020-01-01T10:00:00Z\\n'\n")
	if err := os.Chmod(filepath.Join(dir, "export"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, func() Options {
		job, err := rules.Load(filepath.Join(dir, "job.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return Options{Job: job, BusinessDate: "2020-01-01", Until: time.Now().Add(time.Minute)}
	}
}

// TestStoredSnapshots: a snapshot is judged later only where it is what was pulled, and
// for what the job claims. Everything else would prove absences.
func TestStoredSnapshots(t *testing.T) {
	snapshot := func(from, to string) func(*testing.T, string, string) {
		return func(t *testing.T, _, pull string) { edit(t, filepath.Join(pull, fetch.SnapshotFile), from, to) }
	}
	job := func(from, to string) func(*testing.T, string, string) {
		return func(t *testing.T, dir, _ string) { edit(t, filepath.Join(dir, "job.yaml"), from, to) }
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir, pull string)
		class  fail.Class
		says   string
	}{
		"as it was":       {func(*testing.T, string, string) {}, fail.OK, ""},
		"less is claimed": {job(`"{date+1}T00:00"`, `"{date}T22:00"`), fail.OK, ""},
		"another rule":    {job(`outputs:`, "compare: [{field: created_at}]\noutputs:"), fail.OK, ""},
		"a cut file": {func(t *testing.T, _, pull string) {
			write(t, filepath.Join(pull, "files/psp.csv"), "id,at\na,2020-01-01T10:00:00Z\n")
		}, fail.Integrity, "psp.csv"},
		"a file that is gone": {func(t *testing.T, _, pull string) { must(t, os.Remove(filepath.Join(pull, "files/psp.csv"))) }, fail.Integrity, "psp.csv"},
		"a link": {func(t *testing.T, _, pull string) {
			must(t, os.Rename(filepath.Join(pull, "files/psp.csv"), filepath.Join(pull, "x")))
			must(t, os.Symlink("../x", filepath.Join(pull, "files/psp.csv")))
		}, fail.Integrity, "psp.csv"},
		"a name that leads out": {snapshot(`"name": "psp.csv"`, `"name": "../../psp.csv"`), fail.Integrity, "../../psp.csv"},
		"another date":          {snapshot(`"business_date": "2020-01-01"`, `"business_date": "2019-12-31"`), fail.Integrity, "2019-12-31"},
		"another source":        {snapshot(`"source": "psp"`, `"source": "bank"`), fail.Integrity, "bank"},
		"another side":          {snapshot(`"side": "results"`, `"side": "operations"`), fail.Integrity, "psp"},
		"another job":           {snapshot(`"job": "stored"`, `"job": "other"`), fail.Integrity, "other"},
		"another command":       {job(`[./export, "{date}"]`, `[./export, "{date}", all]`), fail.Usage, "another declaration"},
		"more is claimed":       {job(`from: "{date}T00:00"`, `from: "{date-1}T00:00"`), fail.Usage, "shorter coverage"},
		"later is claimed":      {job(`until: "{date+1}T00:00"`, `until: "{date+2}T00:00"`), fail.Usage, "shorter coverage"},
		"all is claimed":        {job(`coverage: {from: "{date}T00:00", until: "{date+1}T00:00"}`, `coverage: complete`), fail.Usage, "shorter coverage"},
		"no declaration":        {snapshot(`"declared": "`, `"declares": "`), fail.Usage, "another declaration"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, load := storedJob(t)
			if _, err := TakeSnapshot(t.Context(), load()); err != nil {
				t.Fatal(err)
			}
			c.change(t, dir, filepath.Join(dir, "out", evidenceName, "stored", "results.psp", "2020-01-01", "0001"))
			write(t, filepath.Join(dir, "export"), "#!/bin/sh\nexit 1\n") // nobody is asked
			o := load()
			o.LastSnapshots = true
			res, err := Run(t.Context(), o)
			if fail.ClassOf(err) != c.class || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("class %d: %v", fail.ClassOf(err), err)
			}
			if err == nil && !strings.HasPrefix(classes(res), "operations correct 3") {
				t.Errorf("it comes out as %s", classes(res))
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPullsAtOnce: a folder in which somebody is pulling is nobody else's, whatever the
// job says; one that was cut short is gone on with, and nothing is left in it but what
// the snapshot names.
func TestPullsAtOnce(t *testing.T) {
	dir, load := storedJob(t)
	home := filepath.Join(dir, "out", evidenceName, "stored", "results.psp", "2020-01-01")
	write(t, filepath.Join(dir, "export"), "#!/bin/sh\nexit 1\n")
	if _, err := TakeSnapshot(t.Context(), load()); fail.ClassOf(err) != fail.Input {
		t.Fatalf("a program that fails: %v", err)
	}
	f := &fetching{note: t.Logf}
	job, err := load().Job.Bind("2020-01-01", nil)
	if err != nil {
		t.Fatal(err)
	}
	held, release, err := f.folder(home, []string{filepath.Join(home, "0001")}, declaration(job, &job.Inputs[rules.Results][0]))
	if err != nil || filepath.Base(held) != "0001" {
		t.Fatalf("gone on in %s, %v", held, err)
	}
	for _, declared := range []string{declaration(job, &job.Inputs[rules.Results][0]), "another"} {
		other, free, err := f.folder(home, []string{held}, declared)
		if err != nil || other == held {
			t.Fatalf("a second pull goes to %s, %v", other, err)
		}
		free()
		if _, err := os.Stat(filepath.Join(held, begunName)); err != nil {
			t.Error(err)
		}
		must(t, os.RemoveAll(other))
	}
	release()

	write(t, filepath.Join(dir, "export"), "#!/bin/sh\nprintf 'id,at\\n'\n")
	if _, err := TakeSnapshot(t.Context(), load()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		entries, err := os.ReadDir(filepath.Join(home, "0001", fetch.FilesDir))
		if err != nil || len(entries) != 1 {
			t.Errorf("files %v, %v", entries, err)
		}
		// The next pull shares the file with this one.
		if _, err := TakeSnapshot(t.Context(), load()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestArchiveBesideOutputs: an archive in the output folder is refused before anything is
// parsed, on whatever way it leads there: it would share folders and locks with the runs.
func TestArchiveBesideOutputs(t *testing.T) {
	for place, class := range map[string]fail.Class{
		"out": fail.Usage, "out/stored": fail.Usage, "out/stored/2020-01-01": fail.Usage, "out/kept": fail.Usage,
		"x/../out/kept": fail.Usage, "alias/kept": fail.Usage, "outer": fail.OK, ".": fail.OK,
	} {
		dir, load := storedJob(t)
		must(t, os.Mkdir(filepath.Join(dir, "out"), 0o755))
		must(t, os.Symlink("out", filepath.Join(dir, "alias")))
		edit(t, filepath.Join(dir, "job.yaml"), "outputs: {dir: out}", "outputs: {dir: out}\nevidence: {dir: "+place+"}")
		_, err := Run(t.Context(), load())
		if fail.ClassOf(err) != class {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestPullsFollowNoLink: nothing is pulled to where a link in the folder of the evidence
// leads: one on the way refuses the pull, one in a pull that was cut short goes with it.
func TestPullsFollowNoLink(t *testing.T) {
	const home = "out/.evidence/stored/results.psp/2020-01-01"
	for _, link := range []string{
		"out/.evidence", "out/.evidence/stored", "out/.evidence/stored/results.psp", home,
		home + "/0001", home + "/0001/files", home + "/0001/partial", home + "/0001/files/psp.csv",
	} {
		dir, load := storedJob(t)
		target := t.TempDir()
		if strings.Contains(link, "0001/") {
			write(t, filepath.Join(dir, "export"), "#!/bin/sh\nexit 1\n")
			if _, err := TakeSnapshot(t.Context(), load()); fail.ClassOf(err) != fail.Input {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "export"), "#!/bin/sh\nprintf 'id,at\\n'\n")
		}
		path := filepath.Join(dir, filepath.FromSlash(link))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.RemoveAll(path))
		must(t, os.Symlink(target, path))
		want := fail.Usage
		if strings.Contains(link, "0001") {
			want = fail.OK
		}
		if _, err := TakeSnapshot(t.Context(), load()); fail.ClassOf(err) != want {
			t.Errorf("%s: %v", link, err)
		}
		if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
			t.Errorf("%s: written to where it leads: %v, %v", link, entries, err)
		}
	}
}
