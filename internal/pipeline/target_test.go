package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/internal/testversity"
	"github.com/recon-batch/recon-batch/rules"
)

// bucket is a bucket for runs, and a bad network in front of it.
type bucket struct {
	t     *testing.T
	api   *awss3.Client // past the proxy
	proxy *testproxy.Proxy
	to    string // further keys of the job
	past  string // the same, past the proxy
	name  string
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	server := testversity.Start(t)
	server.Env(t, "RUNS_ACCESS", "RUNS_SECRET")
	b := &bucket{t: t, proxy: testproxy.New(t, server.Endpoint), name: "runs", api: server.Client()}
	b.create()
	keys := func(endpoint string) string {
		return fmt.Sprintf("\noutputs: {publish: \"s3://runs/recon\", s3: {endpoint: %q, allow_private: true, access_key: {env: RUNS_ACCESS}, secret_key: {env: RUNS_SECRET}}}\n", endpoint)
	}
	b.to, b.past = keys(b.proxy.URL), keys(server.Endpoint)
	return b
}

func (b *bucket) create() {
	b.t.Helper()
	if _, err := b.api.CreateBucket(context.Background(), &awss3.CreateBucketInput{Bucket: &b.name}); err != nil {
		b.t.Fatal(err)
	}
}

// objects are all objects by their keys, as texts.
func (b *bucket) objects() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	pages := awss3.NewListObjectsV2Paginator(b.api, &awss3.ListObjectsV2Input{Bucket: &b.name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			b.t.Fatal(err)
		}
		for _, o := range page.Contents {
			if !strings.HasSuffix(*o.Key, "/") { // a folder of the server
				out[*o.Key] = b.object(*o.Key)
			}
		}
	}
	return out
}

func (b *bucket) object(key string) string {
	b.t.Helper()
	o, err := b.api.GetObject(context.Background(), &awss3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		b.t.Fatal(key, err)
	}
	defer o.Body.Close()
	text, err := io.ReadAll(o.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// restore brings the bucket to a state.
func (b *bucket) restore(state map[string]string) {
	b.t.Helper()
	for key := range b.objects() {
		if _, ok := state[key]; !ok {
			if _, err := b.api.DeleteObject(context.Background(), &awss3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	for key, text := range state {
		if b.objects()[key] != text {
			if _, err := b.api.PutObject(context.Background(), &awss3.PutObjectInput{Bucket: &b.name, Key: &key, Body: strings.NewReader(text)}); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// filesUnder are the files of a folder as texts, and its links as what they name, but for
// those that say how long a machine took, and the working files of the program.
func filesUnder(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == timingsName || strings.HasPrefix(e.Name(), ".") {
			if e != nil && e.IsDir() && err == nil && strings.HasPrefix(e.Name(), ".") {
				return filepath.SkipDir
			}
			return err
		}
		if e.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			out[rel], err = os.Readlink(p)
			return err
		}
		text, err := os.ReadFile(p)
		out[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantSame(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if g, ok := got[name]; !ok || g != want[name] {
			t.Errorf("%s: %s is there %v, and another one", what, name, ok)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: there is %s", what, name)
		}
	}
}

// mirrors compares the bucket with the folder: the runs, the pointers and the head.
func (n *nights) mirrors(b *bucket, what string) {
	n.t.Helper()
	local, there := filesUnder(n.t, filepath.Join(n.dir, "out")), b.objects()
	for name, text := range local {
		key := "recon/" + filepath.ToSlash(name)
		switch {
		case strings.Contains(name, "attempts"):
			continue
		case strings.HasSuffix(name, "/"+currentName):
			var p Pointer
			if err := json.Unmarshal([]byte(there[key]), &p); err != nil || p.RunID != text || p.Folder != "s3://runs/"+strings.TrimSuffix(key, currentName)+text+"/" {
				n.t.Errorf("%s: %s is %q, want %s", what, key, there[key], text)
			}
		case strings.HasSuffix(name, "/"+chainName):
			var h head
			var c chain
			if json.Unmarshal([]byte(there[key]), &h) != nil || json.Unmarshal([]byte(text), &c) != nil || h.Runs != c.Runs || !sameRef(h.Last, c.Last) {
				n.t.Errorf("%s: %s is %q, want %q", what, key, there[key], text)
			}
		case there[key] != text:
			n.t.Errorf("%s: %s is not what is here", what, key)
		}
		delete(there, key)
	}
	delete(there, "recon/.conditions")
	if len(there) > 0 {
		n.t.Errorf("%s: the bucket has %v besides", what, slices.Sorted(maps.Keys(there)))
	}
}

func (n *nights) out() string { return filepath.Join(n.dir, "out") }

// lose takes the disk away.
func (n *nights) lose() {
	n.t.Helper()
	if err := os.RemoveAll(n.out()); err != nil {
		n.t.Fatal(err)
	}
}

// options of a night of the job that was written last.
func (n *nights) options(date string) Options {
	n.t.Helper()
	job, err := rules.Load(filepath.Join(n.dir, "job.yaml"))
	if err != nil {
		n.t.Fatal(err)
	}
	return Options{Job: job, BusinessDate: date, Out: n.out(), Threads: 1, Until: time.Now().Add(5 * time.Minute)}
}

const targetLimit = "limits: {blast_radius: {compensate: {baseline: {runs: 4, factor: 9}}}}"

// asksMuch is a job whose runs read all there is of former ones: keys, what was proposed in
// every series, baselines, trend and open items.
func asksMuch(t *testing.T) *nights {
	n := unasked(t)
	n.day("2026-11-01", []string{"c1"}, "c9 kc9 x9")
	n.day("2026-11-02", nil, "c8 kc8 x8", "c99 kc99 x9")
	n.day("2026-11-03", nil, "c7 kc7 x7", "c98 kc98 x8", "c97 kc02026-11-01 x6")
	return n
}

// TestEmptyDisk: on a disk with nothing on it a night comes out byte for byte as on one with
// all nights before it; and so does the bucket.
func TestEmptyDisk(t *testing.T) {
	b, n := newBucket(t), asksMuch(t)
	n.run("2026-11-01", observe+"\n"+targetLimit+b.to, Allowed{})
	pilot := n.run("2026-11-01", pilotCharges+"\n"+targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	n.run("2026-11-02", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	n.day("2026-11-02", nil, "c8 kc8 x8", "c99 kc99 x9", "c6 kc6 x66")
	revised := n.run("2026-11-02", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	if revised.Manifest.Supersedes == nil || revised.Sent == nil || revised.Sent.Runs != 1 {
		t.Fatalf("sent %+v", revised.Sent)
	}
	n.mirrors(b, "after two nights")
	two := b.objects()
	third := n.run("2026-11-03", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	var read []string
	for _, f := range third.Manifest.Former {
		read = append(read, f.Series+" "+f.BusinessDate+" "+strings.Join(f.For, "+"))
	}
	if len(read) != 4 || !strings.Contains(strings.Join(read, "; "), "pilot") {
		t.Fatalf("the third night read %q", read)
	}
	want, three := filesUnder(t, n.out()), b.objects()
	n.mirrors(b, "after three nights")

	b.restore(two)
	n.lose()
	again := n.run("2026-11-03", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	if again.NoOp || len(again.Notes) != 2 || !strings.Contains(again.Notes[0], "brought from s3://runs/recon/nights/: ") || !strings.Contains(again.Notes[0], " of 3 runs, ") || !strings.Contains(again.Notes[1], "/nights@pilot/: ") {
		t.Errorf("no-op %v, notes %q", again.NoOp, again.Notes)
	}
	got := filesUnder(t, n.out())
	for name := range want {
		if !strings.HasPrefix(name, "nights/2026-11-03/") && name != "nights/"+chainName && got[name] == "" {
			delete(want, name) // what no later run reads stays in the bucket
		}
	}
	wantSame(t, "the folder", got, want)
	wantSame(t, "the bucket", b.objects(), three)
	if pathExists(filepath.Join(n.out(), "nights", "2026-11-02", revised.Manifest.RunID, "operations.parquet")) {
		t.Error("the rows of a former night were brought")
	}
	if !pathExists(filepath.Join(n.out(), "nights@pilot", "2026-11-01", pilot.Manifest.RunID, reportName)) {
		t.Error("the runs of the pilot were not brought")
	}

	// What is there already is neither brought nor sent again.
	b.proxy.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{} })
	same := n.run("2026-11-03", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	if !same.NoOp || len(same.Notes) > 0 || same.Sent.Runs != 0 {
		t.Errorf("no-op %v, notes %q, sent %+v", same.NoOp, same.Notes, same.Sent)
	}
	for _, e := range b.proxy.Log() {
		if e.Method == "PUT" {
			t.Errorf("%s %s", e.Method, e.Target)
		}
	}

	// An earlier night, on an empty disk: it is the run that was; and then it is revised as
	// it would be beside the later ones.
	n.lose()
	if back := n.run("2026-11-02", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"}); !back.NoOp || back.Manifest.RunID != revised.Manifest.RunID {
		t.Errorf("no-op %v, run %s", back.NoOp, back.Manifest.RunID)
	}
	n.day("2026-11-02", []string{"c5"}, "c8 kc8 x8")
	late := n.run("2026-11-02", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
	if p := late.Manifest.Previous; p == nil || p.RunID != third.Manifest.RunID {
		t.Errorf("the chain goes on from %v", p)
	}
	// And the third night, for which the revision counts, on what was brought for an earlier one.
	n.run("2026-11-03", targetLimit+b.to, Allowed{Unobserved: true, Reason: "known"})
}
