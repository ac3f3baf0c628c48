package pipeline

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/crypto/ssh"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/kinds"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testsftp"
	"github.com/recon-batch/recon-batch/rules"
)

// readyDay reads its results from a place with files.
const readyDay = `
job: ready
operations:
  path: ops.csv
  coverage: complete
  fields: {operation_id: id, amount: {type: decimal, scale: 2}, currency: {type: currency}}
results:
  path: ADDRESS{date}/*.csv
  PLACE
  ready:
    manifest: {path: "ROOT{date}/all.json", files: files, name: name, size: size, sha256: sha256, md5: md5, records: rows}
    marker: "ROOT{date}/DONE"
    renamed: true
  coverage: complete
  fields: {operation_id: id, amount: {type: decimal, scale: 2}, currency: {type: currency}}
match:
  - {pass: operation_id, on: [operation_id], identity: true}
compare: [{field: amount}, {field: currency}]
outputs: {dir: out, formats: [parquet, ndjson, json]}
`

// delivery is a place that a test writes to, in the folder of the date.
type delivery struct {
	address, root, keys string
	put                 func(name, text string)
	remove              func(name string)
}

// inBucket is a real bucket.
func inBucket(t *testing.T) *delivery {
	b := newBucket(t)
	d := &delivery{address: "s3://" + b.name + "/in/", root: "in/"}
	d.keys = fmt.Sprintf("s3: {endpoint: %q, allow_private: true, access_key: {env: RUNS_ACCESS}, secret_key: {env: RUNS_SECRET}}", b.proxy.URL)
	key := func(name string) *string { k := "in/2020-01-01/" + name; return &k }
	d.put = func(name, text string) {
		if _, err := b.api.PutObject(context.Background(), &awss3.PutObjectInput{Bucket: &b.name, Key: key(name), Body: strings.NewReader(text)}); err != nil {
			t.Fatal(err)
		}
	}
	d.remove = func(name string) {
		if _, err := b.api.DeleteObject(context.Background(), &awss3.DeleteObjectInput{Bucket: &b.name, Key: key(name)}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// onServer is a folder of a real SFTP server.
func onServer(t *testing.T) *delivery {
	s := testsftp.Start(t)
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(s.HostKeys["ed25519"]))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.Root, "in", "2020-01-01")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d := &delivery{address: "sftp://" + s.Addr + s.Root + "/in/", root: s.Root + "/in/"}
	d.keys = fmt.Sprintf("sftp: {user: %s, private_key: {file: %q}, host_keys: [%q], allow_private: true}", s.User, s.Key, ssh.FingerprintSHA256(public))
	d.put = func(name, text string) { write(t, filepath.Join(dir, name), text) }
	d.remove = func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestReadyPlaces: what is in a bucket or on a server is pulled when it is ready and not
// before, with the bytes that are stated; a snapshot keeps by what it was.
func TestReadyPlaces(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *delivery{"s3": inBucket, "sftp": onServer} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			dir := t.TempDir()
			job := filepath.Join(dir, "job.yaml")
			write(t, job, strings.NewReplacer("ADDRESS", d.address, "PLACE", d.keys, "ROOT", d.root).Replace(readyDay))
			const rows = "id,amount,currency\no1,10.00,EUR\no2,20.00,EUR\n"
			write(t, filepath.Join(dir, "ops.csv"), rows)
			options := func() Options {
				j, err := rules.Load(job)
				if err != nil {
					t.Fatal(err)
				}
				return Options{Job: j, BusinessDate: "2020-01-01"}
			}
			late := func(want string) {
				t.Helper()
				_, err := Run(t.Context(), options())
				if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), want) {
					t.Fatalf("%v, want %q", err, want)
				}
			}
			late("all.json is not there; the marker")
			d.put("a.csv", rows)
			d.put("DONE", "")
			list := func(size, digest, sum5 string, n int) string {
				return fmt.Sprintf(`{"files": [{"name": "a.csv", "size": %s, "sha256": "%s", "md5": "%s", "rows": %d}]}`, size, digest, sum5, n)
			}
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(rows)))
			const other = "5f9e8f2a4c4b4b3a7d5c0c7f0e1d2c3b"
			d.put("all.json", list("1", sum, other, 2))
			late("bytes, and 1 in the manifest")
			size := fmt.Sprint(len(rows))
			d.put("all.json", list(size, strings.Repeat("0", 64), other, 2))
			late("another SHA-256")
			d.put("all.json", list(size, sum, other, 2))
			late("another MD5")
			good := fmt.Sprintf("%x", md5.Sum([]byte(rows)))
			d.put("all.json", list(size, sum, good, 3))
			late("the manifest states 3 records against 2 records read")
			d.put("all.json", list(size, sum, good, 2))
			d.put("b.csv", rows)
			late("b.csv is there and is not listed")
			d.remove("b.csv")
			d.put("b.csv.part", rows)
			late("b.csv.part is still being written")
			d.remove("b.csv.part")

			plan, err := MakePlan(t.Context(), options(), false)
			if err != nil || len(plan.Ready) != 1 || !plan.Ready[0].Ready {
				t.Fatalf("%+v, %v", plan, err)
			}
			if list, err := TakeSnapshot(t.Context(), options()); err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			d.remove("a.csv")
			late("a.csv is listed in the manifest")
			o := options()
			o.LastSnapshots = true
			res, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := classes(res); got != "operations correct 2, results correct 2" {
				t.Errorf("the day comes out as %s", got)
			}
			if m := res.Manifest; len(m.Ready) != 1 || !strings.Contains(m.Ready[0].Proof, "lists 1 file by md5, records, sha256, size; the marker ") || m.Ready[0].Files[0].SHA256 != sum {
				t.Errorf("the manifest says %+v", m.Ready)
			}
			// The same from the place itself is the same run.
			d.put("a.csv", rows)
			if again, err := Run(t.Context(), options()); err != nil || !again.NoOp {
				t.Errorf("%v, %+v", err, again)
			}
			// Under other rules the snapshot was not judged.
			write(t, job, strings.Replace(strings.NewReplacer("ADDRESS", d.address, "PLACE", d.keys, "ROOT", d.root).Replace(readyDay), "renamed: true", "stable: 1s", 1))
			o = options()
			o.LastSnapshots = true
			if _, err := Run(t.Context(), o); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "was not taken under its ready rules") {
				t.Errorf("other rules: %v", err)
			}
		})
	}
}

// TestWaitForPlaces: what comes into a bucket or onto a server while a run waits is read,
// rule by rule; a source without rules is waited for until it is there.
func TestWaitForPlaces(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *delivery{"s3": inBucket, "sftp": onServer} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			dir := t.TempDir()
			job := filepath.Join(dir, "job.yaml")
			text := strings.NewReplacer("ADDRESS", d.address, "PLACE", d.keys, "ROOT", d.root).Replace(readyDay)
			i, j := strings.Index(text, "  ready:"), strings.Index(text, "  coverage: complete\n  fields: {operation_id: id, amount: {type: decimal, scale: 2}, currency: {type: currency}}\nmatch")
			const rows = "id,amount,currency\no1,10.00,EUR\n"
			write(t, filepath.Join(dir, "ops.csv"), rows)
			for _, c := range []struct {
				rules string
				steps map[string]func() // by what the run says that it waits for
			}{
				{"", map[string]func(){"there is no file": func() { d.put("a.csv", rows) }}},
				{"  ready: {marker: \"" + d.root + "{date}/DONE\", renamed: true}\n", map[string]func(){
					"DONE is not there": func() { d.put("a.csv.part", rows); d.put("DONE", "") },
					"a.csv.part is":     func() { d.remove("a.csv.part"); d.put("a.csv", rows) },
				}},
			} {
				write(t, job, text[:i]+c.rules+text[j:])
				loaded, err := rules.Load(job)
				if err != nil {
					t.Fatal(err)
				}
				said := map[string]bool{}
				res, err := Run(t.Context(), Options{Job: loaded, BusinessDate: "2020-01-01", WaitForInputs: 5 * time.Minute, Progress: func(e Event) {
					for part, step := range c.steps {
						if e.Kind == Note && strings.HasPrefix(e.Note, "waiting for results.results since ") && strings.Contains(e.Note, part) && !said[part] {
							said[part] = true
							step()
						}
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				if got := classes(res); got != "operations correct 1, results correct 1" || len(said) != len(c.steps) {
					t.Errorf("%s, after %v", got, said)
				}
				d.remove("a.csv")
			}
		})
	}
}

// TestChangedAfterReady: a file that was judged is read as it was judged, or not at all.
func TestChangedAfterReady(t *testing.T) {
	dir := t.TempDir()
	job := filepath.Join(dir, "job.yaml")
	text := strings.NewReplacer("ADDRESS", "in/", "PLACE", "need: required", "ROOT", "in/").Replace(readyDay)
	i, j := strings.Index(text, "    manifest:"), strings.Index(text, "    renamed:")
	write(t, job, text[:i]+text[j:])
	const rows = "id,amount,currency\no1,10.00,EUR\n"
	write(t, filepath.Join(dir, "ops.csv"), rows)
	if err := os.MkdirAll(filepath.Join(dir, "in/2020-01-01"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "in/2020-01-01/a.csv")
	write(t, file, rows)
	run := func(change func()) (*Result, error) {
		j, err := rules.Load(job)
		if err != nil {
			t.Fatal(err)
		}
		return Run(t.Context(), Options{Job: j, BusinessDate: "2020-01-01", Progress: func(e Event) {
			if e.Kind == StageBegins && e.Stage == StageExtract {
				change()
			}
		}})
	}
	_, err := run(func() { write(t, file, rows+"o2,20.00,EUR\n") })
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "a.csv was written to after it was found to be ready") {
		t.Errorf("%v", err)
	}
	write(t, file, rows)
	res, err := run(func() { write(t, filepath.Join(dir, "in/2020-01-01/b.csv"), rows+"o2,20.00,EUR\n") })
	if err != nil {
		t.Fatal(err)
	}
	if got := classes(res); got != "operations correct 1, results correct 1" {
		t.Errorf("a file that came later was read: %s", got)
	}
}

// TestPlacesAreStorers: the rules allow ready rules for the kinds whose places can be
// looked at, and for no others.
func TestPlacesAreStorers(t *testing.T) {
	for _, kind := range []string{rules.FromExec, rules.FromS3, rules.FromSFTP, rules.FromHTTPS, rules.FromSQL, rules.FromAPI, rules.FromLookup, rules.FromListing} {
		_, is := kinds.Of(kind).(fetch.Storer)
		if may := (&rules.Remote{Kind: kind}).Places(); may != is {
			t.Errorf("%s: the rules say %v, the puller %v", kind, may, is)
		}
	}
}
