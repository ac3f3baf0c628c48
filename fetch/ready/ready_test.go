package ready

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// job has one source of the results with the path and the rules of a test.
const job = `
job: ready
operations: {path: ops.csv, coverage: complete, fields: {operation_id: id}}
results:
  coverage: complete
  fields: {operation_id: id}
  format: csv
  path: %s
  ready: %s
match: [{pass: operation_id, on: [operation_id], identity: true}]
`

// watch gives a watch of a source in dir.
func watch(t *testing.T, dir, path, ready string) *Watch {
	t.Helper()
	j, err := rules.Parse(fmt.Appendf(nil, job, path, ready), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b, err := j.Bind("2026-11-29", nil)
	if err != nil {
		t.Fatal(err)
	}
	in := &b.Inputs[rules.Results][0]
	return &Watch{Input: in, Open: func(context.Context) (fetch.Store, string, error) { return fetch.Local{Base: dir}, in.Path, nil }}
}

// put writes files, given by name and text.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func sum(text string) string {
	d := sha256.Sum256([]byte(text))
	return hex.EncodeToString(d[:])
}

// Each rule finds a delivery ready, or tells what is missing.
func TestRules(t *testing.T) {
	const a, b = "id\n1\n", "id\n2\n"
	list := `{"files": [{"name": "a.csv", "bytes": 5, "sha256": "` + sum(a) + `", "rows": 1}, {"name": "b.csv", "bytes": 5, "sha256": "` + sum(b) + `", "rows": 1}]}`
	whole := `{manifest: {path: "in/{date}/list.json", files: files, name: name, size: bytes, sha256: sha256, records: rows}}`
	both := map[string]string{"in/2026-11-29/a.csv": a, "in/2026-11-29/b.csv": b}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{}
		for k, v := range both {
			out[k] = v
		}
		for k, v := range more {
			if out[k] = v; v == "-" {
				delete(out, k)
			}
		}
		return out
	}
	const pattern = `"in/{date}/*.csv"`
	for _, c := range []struct {
		name, path, rules string
		files             map[string]string
		late              []string // parts, one a reason
		proof             string   // part
		read              string   // names that are read
		gap, unlisted     string
	}{
		{name: "manifest", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list}),
			proof: "the manifest in/2026-11-29/list.json (sha256 " + sum(list)[:12] + ") lists 2 files by records, sha256, size", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "no manifest", path: pattern, rules: whole, files: with(nil), late: []string{"the manifest in/2026-11-29/list.json is not there"}},
		{name: "manifest that is cut", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list[:80]}), late: []string{"no whole JSON document"}},
		{name: "wrong digest", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list, "in/2026-11-29/b.csv": "id\n3\n"}),
			late: []string{"b.csv has another sha256 than the manifest in/2026-11-29/list.json says"}},
		{name: "wrong size", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list, "in/2026-11-29/b.csv": "id\n"}),
			late: []string{"b.csv has 3 bytes, and 5 in the manifest"}},
		{name: "listed and missing", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list, "in/2026-11-29/b.csv": "-"}),
			late: []string{"b.csv is listed in the manifest in/2026-11-29/list.json and is not there"}},
		{name: "not listed", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list, "in/2026-11-29/c.csv": a}),
			late: []string{"in/2026-11-29/c.csv is there and is not listed"}},
		{name: "not listed, ignored", path: pattern, rules: strings.Replace(whole, "files: files,", "files: files, extra: ignore,", 1),
			files: with(map[string]string{"in/2026-11-29/list.json": list, "in/2026-11-29/c.csv": a}), unlisted: "in/2026-11-29/c.csv", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "of another source", path: `"in/{date}/a*.csv"`, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list, "in/2026-11-29/b.csv": "-"}),
			proof: "lists 1 file by", read: "in/2026-11-29/a.csv"},
		{name: "none of the source", path: `"in/{date}/c*.csv"`, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": list}),
			late: []string{"lists no file in/2026-11-29/c*.csv", "there is no file in/2026-11-29/c*.csv"}},
		{name: "entry without digest", path: pattern, rules: whole, files: with(map[string]string{"in/2026-11-29/list.json": `{"files": [{"name": "a.csv", "bytes": 5, "rows": 1}]}`}),
			late: []string{"entry 1 has no SHA-256"}},
		{name: "twice", path: pattern, rules: `{manifest: {path: "in/{date}/list.json"}}`, files: with(map[string]string{"in/2026-11-29/list.json": `["a.csv", "./a.csv"]`}), late: []string{"it lists ./a.csv twice"}},
		{name: "a member twice", path: pattern, rules: `{manifest: {path: "in/{date}/list.json", files: files}}`, files: with(map[string]string{"in/2026-11-29/list.json": `{"files": ["a.csv", "b.csv", "c.csv"], "files": ["a.csv", "b.csv"]}`}), late: []string{"a member is there twice"}},
		{name: "a column twice", path: pattern, rules: `{manifest: {path: "list.csv", name: file, folder: "in/{date}"}}`, files: with(map[string]string{"list.csv": "file,file\nc.csv,a.csv\n"}), late: []string{`it has two columns "file"`}},
		{name: "names alone", path: pattern, rules: `{manifest: {path: "in/{date}/list.json"}}`, files: with(map[string]string{"in/2026-11-29/list.json": `["a.csv", "b.csv"]`}),
			proof: "lists 2 files by their names", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "csv", path: pattern, rules: `{manifest: {path: "list.csv", name: file, size: bytes, folder: "in/{date}"}}`,
			files: with(map[string]string{"list.csv": "file,bytes\na.csv,5\nb.csv,5\n"}), proof: "lists 2 files by size", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "csv that is cut", path: pattern, rules: `{manifest: {path: "list.csv", name: file, size: bytes, folder: "in/{date}"}}`,
			files: with(map[string]string{"list.csv": "file,bytes\na.csv,5\nb.csv,5"}), late: []string{"its last line has no end"}},
		{name: "csv without the column", path: pattern, rules: `{manifest: {path: "list.csv", name: file, size: bytes}}`,
			files: with(map[string]string{"list.csv": "file,size\na.csv,5\n"}), late: []string{`it has no column "bytes"`}},
		{name: "sums", path: pattern, rules: `{manifest: {path: "in/{date}/all.sha256"}}`,
			files: with(map[string]string{"in/2026-11-29/all.sha256": sum(a) + "  ./a.csv\n" + strings.ToUpper(sum(b)) + " *b.csv\n"}), proof: "lists 2 files by sha256", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "sums with tags, of MD5", path: pattern, rules: `{manifest: {path: "in/{date}/all.md5"}}`,
			files: with(map[string]string{"in/2026-11-29/all.md5": "MD5 (a.csv) = c4dc41ab9d5551a6a3ef5b1c1f08d7ef\n", "in/2026-11-29/b.csv": "-"}),
			late:  []string{"a.csv has another md5 than the manifest"}},
		{name: "previous", path: pattern, rules: `{manifest: {path: "in/{date}/list.json", files: files, name: name, previous: {path: "in/{date-1}/list.json", sha256: before}}}`,
			files: with(map[string]string{"in/2026-11-28/list.json": "x", "in/2026-11-29/list.json": `{"before": "` + sum("x") + `", "files": [{"name": "a.csv"}, {"name": "b.csv"}]}`}),
			proof: "in/2026-11-28/list.json, which it follows, is there", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "previous is another one", path: pattern, rules: `{manifest: {path: "in/{date}/list.json", files: files, name: name, previous: {path: "in/{date-1}/list.json", sha256: before}}}`,
			files: with(map[string]string{"in/2026-11-28/list.json": "y", "in/2026-11-29/list.json": `{"before": "` + sum("x") + `", "files": [{"name": "a.csv"}, {"name": "b.csv"}]}`}),
			gap:   "it has another SHA-256", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "previous is missing", path: pattern, rules: `{manifest: {path: "in/{date}/list.json", files: files, name: name, previous: {name: before}}}`,
			files: with(map[string]string{"in/2026-11-29/list.json": `{"before": "list-27.json", "files": [{"name": "a.csv"}, {"name": "b.csv"}]}`}),
			gap:   "the manifest in/2026-11-29/list-27.json, which in/2026-11-29/list.json follows, is not there", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "the first", path: pattern, rules: `{manifest: {path: "in/{date}/list.json", files: files, name: name, previous: {name: before}}}`,
			files: with(map[string]string{"in/2026-11-29/list.json": `{"before": null, "files": [{"name": "a.csv"}, {"name": "b.csv"}]}`}),
			proof: "is the first manifest", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},

		{name: "marker", path: pattern, rules: `{marker: "in/{date}/COMPLETED"}`, files: with(map[string]string{"in/2026-11-29/COMPLETED": ""}),
			proof: "the marker in/2026-11-29/COMPLETED is there", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "marker of alike names", path: pattern, rules: `{marker: "in/{date}/COMPLETED"}`,
			files: with(map[string]string{"in/2026-11-29/COMPLETED.txt": "", "in/2026-11-29/sub/COMPLETED": "", "in/2026-11-29/completed": "", "in/COMPLETED": ""}), late: []string{"the marker in/2026-11-29/COMPLETED is not there"}},
		{name: "marker that is a folder", path: pattern, rules: `{marker: "in/{date}/COMPLETED"}`, files: with(map[string]string{"in/2026-11-29/COMPLETED/x": ""}), late: []string{"not a regular file"}},
		{name: "marker among the files", path: `"in/{date}/*"`, rules: `{marker: "in/{date}/COMPLETED"}`, files: with(map[string]string{"in/2026-11-29/COMPLETED": ""}), read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "marker with a text", path: pattern, rules: `{marker: {path: "in/DONE", content: "done {date}"}}`, files: with(map[string]string{"in/DONE": "done 2026-11-29\n"}), read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "marker with another text", path: pattern, rules: `{marker: {path: "in/DONE", content: "done {date}"}}`, files: with(map[string]string{"in/DONE": "done 2026-11-28\n"}), late: []string{`has another text than "done 2026-11-29"`}},
		{name: "number of files", path: pattern, rules: `{marker: {path: in/DONE, holds: files}}`, files: with(map[string]string{"in/DONE": "2\n"}), proof: "it states their number, 2", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "another number of files", path: pattern, rules: `{marker: {path: in/DONE, holds: files}}`, files: with(map[string]string{"in/DONE": "3\n"}), late: []string{"states 3 files, and 2 are there"}},
		{name: "no number", path: pattern, rules: `{marker: {path: in/DONE, holds: records}}`, files: with(map[string]string{"in/DONE": "many"}), late: []string{"should hold a number of records"}},
		{name: "digest", path: `"in/{date}/a.csv"`, rules: `{marker: {path: in/DONE, holds: sha256}}`, files: with(map[string]string{"in/DONE": sum(a)}), proof: "it states the SHA-256", read: "in/2026-11-29/a.csv"},
		{name: "another digest", path: `"in/{date}/a.csv"`, rules: `{marker: {path: in/DONE, holds: sha256}}`, files: with(map[string]string{"in/DONE": sum(b)}), late: []string{"has another sha256 than the marker in/DONE says"}},
		{name: "digest of two", path: pattern, rules: `{marker: {path: in/DONE, holds: sha256}}`, files: with(map[string]string{"in/DONE": sum(b)}), late: []string{"states one SHA-256, and there are 2 files"}},

		{name: "no temporary name", path: pattern, rules: `{renamed: true}`, files: with(map[string]string{"in/2026-11-29/.keep": "", "in/c.csv.part": ""}), proof: "no file has a temporary name", read: "in/2026-11-29/a.csv in/2026-11-29/b.csv"},
		{name: "temporary name of another source", path: `"in/{date}/a*.csv"`, rules: `{renamed: true}`, files: with(map[string]string{"in/2026-11-29/notes.tmp": "", "in/2026-11-29/.b.csv": ""}), read: "in/2026-11-29/a.csv"},
		{name: "an ending", path: pattern, rules: `{renamed: true}`, files: with(map[string]string{"in/2026-11-29/c.csv.part": ""}), late: []string{"c.csv.part is still being written"}},
		{name: "a point before and letters behind", path: pattern, rules: `{renamed: true}`, files: with(map[string]string{"in/2026-11-29/.c.csv.Xy12": ""}), late: []string{".c.csv.Xy12 is still being written"}},
		{name: "in the place of the ending", path: pattern, rules: `{renamed: true}`, files: with(map[string]string{"in/2026-11-29/c.tmp.tmp": "", "in/2026-11-29/d.tmp": ""}), late: []string{"c.tmp.tmp", "d.tmp is still"}},
		{name: "forms of the job", path: pattern, rules: `{temporary: ["upload-*"]}`, files: with(map[string]string{"in/2026-11-29/upload-c.csv": "", "in/2026-11-29/c.csv.part": ""}), late: []string{"upload-c.csv is still"}},
		{name: "of the exact name", path: `{exact: "in/2026-11-29/a.csv"}`, rules: `{renamed: true}`, files: with(map[string]string{"in/2026-11-29/b.csv.tmp": ""}), read: "in/2026-11-29/a.csv"},

		{name: "all at once", path: pattern, rules: `{marker: in/DONE, renamed: true, manifest: {path: in/list.json}}`, files: with(map[string]string{"in/2026-11-29/c.csv.part": ""}),
			late: []string{"the manifest in/list.json is not there", "the marker in/DONE is not there", "c.csv.part"}},
		{name: "nothing at all", path: pattern, rules: `{renamed: true}`, files: map[string]string{"in/x": ""}, late: []string{"there is no file in/2026-11-29/*.csv"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, c.files)
			w := watch(t, dir, c.path, c.rules)
			defer w.Close()
			v, err := w.Look(t.Context(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Late) != len(c.late) {
				t.Fatalf("late: %q, want %q", v.Late, c.late)
			}
			for i, part := range c.late {
				if !strings.Contains(v.Late[i], part) {
					t.Errorf("late: %q, want %q", v.Late[i], part)
				}
			}
			j := v.Judged
			var read []string
			for i, f := range j.Files {
				read = append(read, f.Name)
				if w.Files()[i].Name != f.Name || f.Size != w.Files()[i].Size {
					t.Errorf("%s is not %s", f.Name, w.Files()[i].Name)
				}
			}
			if len(c.late) == 0 && strings.Join(read, " ") != c.read {
				t.Errorf("reads %q, want %s", read, c.read)
			}
			if !strings.Contains(j.Proof, c.proof) || !strings.Contains(j.Gap, c.gap) || (c.gap == "") != (j.Gap == "") || strings.Join(j.Unlisted, " ") != c.unlisted {
				t.Errorf("proof %q, gap %q, unlisted %q", j.Proof, j.Gap, j.Unlisted)
			}
		})
	}
}

// What is asked of the records is handed on, since only who parses can count them.
func TestStatedRecords(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.csv": "id\n1\n", "list.csv": "file,rows\na.csv,7\n", "DONE": " 7\n"})
	v, err := watch(t, dir, "a.csv", `{manifest: {path: list.csv, name: file, records: rows}, marker: {path: DONE, holds: records}}`).Look(t.Context(), time.Now())
	if err != nil || !v.Ready() {
		t.Fatal(v, err)
	}
	if r := v.Judged.Of("a.csv").Records; r == nil || *r != 7 || v.Judged.Records == nil || *v.Judged.Records != 7 {
		t.Errorf("%+v", v.Judged)
	}
}

// A file is stable when two looks far enough apart saw the same, or when it is old by its
// own time, which is believed with two looks alone, and less the difference of clocks.
func TestStable(t *testing.T) {
	begin := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	type look struct {
		after time.Duration // since the first one
		text  string        // written before it; "" nothing
		ready bool
		again time.Duration
	}
	for _, c := range []struct {
		name  string
		age   time.Duration // of the file at the first look, by its own time
		skew  time.Duration
		looks []look
	}{
		{"new file", 0, 0, []look{{0, "", false, 2 * time.Minute}, {time.Minute, "", false, time.Minute}, {2 * time.Minute, "", true, 0}}},
		{"old file", time.Hour, 0, []look{{0, "", false, time.Second}, {time.Second, "", true, 0}}},
		{"old file, one look later too soon", time.Hour, 0, []look{{0, "", false, time.Second}, {time.Millisecond, "", false, 999 * time.Millisecond}}},
		{"a little old", 90 * time.Second, 0, []look{{0, "", false, 30 * time.Second}, {30 * time.Second, "", true, 0}}},
		{"the other clock may be behind", 4 * time.Minute, 5 * time.Minute, []look{{0, "", false, 2 * time.Minute}, {2 * time.Minute, "", true, 0}}},
		{"time of the future", -time.Hour, 0, []look{{0, "", false, 2 * time.Minute}, {2 * time.Minute, "", true, 0}}},
		{"it grows", 0, 0, []look{{0, "", false, 2 * time.Minute}, {2 * time.Minute, "id\n1\n2\n", false, 2 * time.Minute}, {3 * time.Minute, "", false, time.Minute}, {4 * time.Minute, "", true, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(text string, at time.Time) {
				put(t, dir, map[string]string{"a.csv": text})
				if err := os.Chtimes(filepath.Join(dir, "a.csv"), at, at); err != nil {
					t.Fatal(err)
				}
			}
			write("id\n1\n", begin.Add(-c.age))
			w := watch(t, dir, "a.csv", `{stable: 2m}`)
			w.Skew = c.skew
			for i, l := range c.looks {
				now := begin.Add(l.after)
				if l.text != "" {
					write(l.text, now)
				}
				v, err := w.Look(t.Context(), now)
				if err != nil {
					t.Fatal(err)
				}
				if v.Ready() != l.ready || v.Again != l.again {
					t.Errorf("look %d: ready %v, again in %s (%q)", i+1, v.Ready(), v.Again, v.Late)
				}
			}
		})
	}
}

// What changes after a look is found, whatever it is.
func TestPinned(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"came":           func(dir string) error { return os.WriteFile(filepath.Join(dir, "c.csv"), nil, 0o644) },
		"went away":      func(dir string) error { return os.Remove(filepath.Join(dir, "b.csv")) },
		"was written to": func(dir string) error { return os.WriteFile(filepath.Join(dir, "b.csv"), []byte("id\n99\n"), 0o644) },
		"":               func(string) error { return nil },
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"a.csv": "id\n1\n", "b.csv": "id\n2\n"})
		w := watch(t, dir, `"*.csv"`, `{renamed: true}`)
		if v, err := w.Look(t.Context(), time.Now()); err != nil || !v.Ready() {
			t.Fatal(v, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		err := w.Pinned(t.Context())
		if name == "" && err != nil || name != "" && (fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A look ends with its context, also in the middle of a digest.
func TestLookEnds(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a.csv": "id\n1\n", "a.sha256": sum("id\n1\n") + "  a.csv\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fail.New(fail.Terminate, "terminated"))
	if _, err := watch(t, dir, "a.csv", `{manifest: {path: a.sha256}}`).Look(ctx, time.Now()); fail.ClassOf(err) != fail.Terminate {
		t.Error(err)
	}
	if _, err := Digest(ctx, strings.NewReader("x"), "sha256"); fail.ClassOf(err) != fail.Terminate {
		t.Error(err)
	}
}

// A list may spell a file in a way in which nobody would miss it.
func TestAstray(t *testing.T) {
	for listed, late := range map[string]bool{
		`settled-2.csv`:                  true, // not there
		`SETTLED-2.CSV`:                  true,
		`in/settled-2.csv`:               true,
		`/export/out/settled-2.csv`:      true,
		`in\\settled-2.csv`:              true,
		`C:\\out\\Settled-2.csv`:         true,
		`settled-2.csv.gz`:               true,
		`settled-1.csv.gz`:               false, // listed in both forms
		`refunds-2.csv`:                  false,
		`other/settled-2.csv`:            false,
		`s3://elsewhere/x/refunds-2.csv`: false,
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"in/settled-1.csv": "id\n1\n", "in/list.json": `["settled-1.csv", "` + listed + `"]`})
		w := watch(t, dir, `"in/settled-*.csv"`, `{manifest: {path: in/list.json}}`)
		v, err := w.Look(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if v.Ready() == late || late && len(v.Late) != 1 {
			t.Errorf("%s: %q", listed, v.Late)
		}
	}
	// What lies where it is said to lie is a file of another source.
	dir := t.TempDir()
	put(t, dir, map[string]string{"in/settled-1.csv": "id\n1\n", "in/in/settled-2.csv": "id\n2\n", "in/list.json": `["settled-1.csv", "in/settled-2.csv"]`})
	if v, err := watch(t, dir, `"in/settled-*.csv"`, `{manifest: {path: in/list.json}}`).Look(t.Context(), time.Now()); err != nil || !v.Ready() {
		t.Errorf("%+v, %v", v, err)
	}
}
