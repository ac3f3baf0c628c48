package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recon-batch/recon-batch/fetch"
	source "github.com/recon-batch/recon-batch/fetch/s3"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testversity"
	"github.com/recon-batch/recon-batch/rules"
)

// world is a server with a bucket, and a proxy in front of it.
type world struct {
	t      *testing.T
	server *testversity.Server
	api    *s3.Client // past the proxy
	url    string     // of the proxy
	bucket string

	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool // true: answered
	puts  []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, server: testversity.Start(t), bucket: "runs"}
	w.server.Env(t, "TEST_ACCESS", "TEST_SECRET")
	w.api = w.server.Client()
	if _, err := w.api.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &w.bucket}); err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(w.server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	p := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		f := w.fault
		if r.Method == "PUT" {
			w.puts = append(w.puts, r.URL.Path)
		}
		w.mu.Unlock()
		if f == nil || !f(rw, r, forward) {
			forward.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(p.Close)
	w.url = p.URL
	return w
}

func (w *world) spoil(f func(http.ResponseWriter, *http.Request, http.Handler) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault, w.puts = f, nil
}

func (w *world) target(sums rules.S3Checksums) *Target {
	w.t.Helper()
	target, err := Open(context.Background(), source.Place{
		Who: "the outputs", Address: "s3://runs/out/charges", Pause: time.Millisecond,
		Keys: &rules.S3{
			Endpoint: w.url, PathStyle: true, AllowPrivate: true, Parallel: 4, PartSize: 1 << 20, Most: 1 << 40, Checksums: sums,
			AccessKey: rules.Secret{Env: "TEST_ACCESS"}, SecretKey: rules.Secret{Env: "TEST_SECRET"},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return target
}

// object reads an object past the proxy; "" where there is none.
func (w *world) object(key string) string {
	w.t.Helper()
	out, err := w.api.GetObject(context.Background(), &s3.GetObjectInput{Bucket: &w.bucket, Key: &key})
	if err != nil {
		return ""
	}
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func (w *world) put(key, text string) {
	w.t.Helper()
	if _, err := w.api.PutObject(context.Background(), &s3.PutObjectInput{Bucket: &w.bucket, Key: &key, Body: strings.NewReader(text)}); err != nil {
		w.t.Fatal(err)
	}
}

var files = map[string]string{
	"report.json": `{"run":1}`, "queues/requeue.ndjson": strings.Repeat("{}\n", 100_000), "queues/empty.ndjson": "", "manifest.json": "{}",
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	current = "2026-08-20/current"
	pointer = "out/charges/" + current
)

func pointerTo(run string) string { return `{"run_id":"` + run + `"}` + "\n" }

// listed are the files of a folder.
func listed(t *testing.T, dir string) []File {
	t.Helper()
	var out []File
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		size, sum, err := fetch.HashFile(p)
		out = append(out, File{Path: filepath.ToSlash(rel), Size: size, SHA256: sum})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// publish sends a run, and lets the pointer name it.
func publish(t *testing.T, target *Target, dir, run, version string) error {
	ctx := context.Background()
	if err := target.Conditions(ctx); err != nil {
		return err
	}
	if err := target.Send(ctx, dir, "2026-08-20/"+run, listed(t, dir)); err != nil {
		return err
	}
	_, err := target.Swap(ctx, current, []byte(pointerTo(run)), version)
	return err
}

// whole compares a published run with its files.
func (w *world) whole(run string) {
	w.t.Helper()
	for name, text := range files {
		if w.object("out/charges/2026-08-20/"+run+"/"+name) != text {
			w.t.Errorf("%s of %s is another one", name, run)
		}
	}
	if w.object(pointer) != pointerTo(run) {
		w.t.Errorf("the pointer is %q", w.object(pointer))
	}
}

// TestPublish: all files, then the pointer; again nothing new; then another run in its place.
func TestPublish(t *testing.T) {
	for _, sums := range []rules.S3Checksums{rules.ChecksumsSupported, rules.ChecksumsRequired} {
		t.Run(string(sums), func(t *testing.T) {
			w := newWorld(t)
			target, dir := w.target(sums), folder(t, files)
			if p, version, err := target.Read(context.Background(), current); p != nil || version != "" || err != nil {
				t.Fatal(p, version, err)
			}
			w.spoil(nil)
			if err := publish(t, target, dir, "r1", ""); err != nil {
				t.Fatal(err)
			}
			w.whole("r1")
			if last := w.puts[len(w.puts)-1]; last != "/runs/"+pointer {
				t.Errorf("%s is written after the pointer", last)
			}
			if err := publish(t, target, dir, "r1", ""); err != nil {
				t.Errorf("the same again: %v", err)
			}
			p, version, err := target.Read(context.Background(), current)
			if err != nil || string(p) != pointerTo("r1") || version == "" {
				t.Fatal(p, version, err)
			}
			if err := publish(t, target, dir, "r2", version); err != nil {
				t.Fatal(err)
			}
			w.whole("r2")
			for _, old := range []string{version, ""} {
				if err := publish(t, target, dir, "r3", old); fail.ClassOf(err) != fail.Conflict {
					t.Errorf("a pointer that is another one by now is replaced: %v", err)
				}
			}
			w.whole("r2")
			w.put("out/charges/2026-08-20/r4/report.json", "another")
			_, version, _ = target.Read(context.Background(), current)
			if err := publish(t, target, dir, "r4", version); fail.ClassOf(err) != fail.Conflict || !strings.Contains(err.Error(), "r4/report.json has another content") {
				t.Errorf("%v", err)
			}
			w.whole("r2")
		})
	}
}

// TestOneWins: of runs that saw the same pointer one is published.
func TestOneWins(t *testing.T) {
	w := newWorld(t)
	dir := folder(t, map[string]string{"report.json": "{}"})
	const runs = 12
	errs := make([]error, runs)
	var all sync.WaitGroup
	for i := range runs {
		target := w.target(rules.ChecksumsRequired)
		all.Go(func() { errs[i] = publish(t, target, dir, fmt.Sprint("r", i), "") })
	}
	all.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Errorf("%d and %d are both published", won, i)
		case err == nil:
			won = i
		case fail.ClassOf(err) != fail.Conflict:
			t.Errorf("%d: %v", i, err)
		}
	}
	if won < 0 || !strings.Contains(w.object(pointer), fmt.Sprintf(`"run_id":"r%d"`, won)) {
		t.Errorf("%d won, the pointer is %s", won, w.object(pointer))
	}
}

// TestConditionsIgnored: a store that ignores conditions is refused before anything of a
// run is written.
func TestConditionsIgnored(t *testing.T) {
	for _, header := range []string{"If-None-Match", "If-Match"} {
		t.Run(header, func(t *testing.T) {
			w := newWorld(t)
			w.spoil(func(rw http.ResponseWriter, r *http.Request, _ http.Handler) bool {
				if r.Method != "PUT" || r.Header.Get(header) == "" {
					return false
				}
				// As a store does that does not know the header. The signature is for it, so the
				// object is written with another one.
				body, err := io.ReadAll(r.Body)
				key := strings.TrimPrefix(r.URL.Path, "/runs/")
				if err == nil {
					_, err = w.api.PutObject(context.Background(), &s3.PutObjectInput{Bucket: &w.bucket, Key: &key, Body: bytes.NewReader(body)})
				}
				if err != nil {
					rw.WriteHeader(500)
				}
				return true
			})
			err := publish(t, w.target(rules.ChecksumsRequired), folder(t, files), "r1", "")
			if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "the outputs: ") || !strings.Contains(err.Error(), "ignores "+header) {
				t.Fatal(err)
			}
			for name := range files {
				if w.object("out/charges/2026-08-20/r1/"+name) != "" {
					t.Errorf("%s is written", name)
				}
			}
			if w.object(pointer) != "" {
				t.Error("the pointer is written")
			}
		})
	}
}

// TestFaults: what goes wrong ends in its class, no reader sees anything of the run, and
// publishing again makes it good.
func TestFaults(t *testing.T) {
	code := func(status int, code string) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>said the store</Message></Error>", code)
		}
	}
	// The request is carried out, and its answer lost.
	lost := func(_ http.ResponseWriter, r *http.Request, f http.Handler) {
		f.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	cut := func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.CopyN(io.Discard, r.Body, 100)
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		of    string // end of the path of the requests
		times int
		do    func(http.ResponseWriter, *http.Request, http.Handler)
		class fail.Class
	}{
		"503 of a file":                   {"requeue.ndjson", 3, code(503, "SlowDown"), fail.OK},
		"409 of a file":                   {"requeue.ndjson", 3, code(409, "ConditionalRequestConflict"), fail.OK},
		"a file is cut":                   {"requeue.ndjson", 2, cut, fail.OK},
		"the answer to a file is lost":    {"requeue.ndjson", 2, lost, fail.OK},
		"the answer to the pointer, lost": {"current", 1, lost, fail.OK},
		"500 of the pointer":              {"current", 3, code(500, "InternalError"), fail.OK},
		"409 of the pointer":              {"current", 3, code(409, "ConditionalRequestConflict"), fail.OK},
		"503 without end":                 {"requeue.ndjson", 1 << 30, code(503, "SlowDown"), fail.Temporary},
		"403":                             {"requeue.ndjson", 1 << 30, code(403, "AccessDenied"), fail.Usage},
		"403 of the pointer":              {"current", 1 << 30, code(403, "AccessDenied"), fail.Usage},
		"500 of the pointer without end":  {"current", 1 << 30, code(500, "InternalError"), fail.Temporary},
		"no bucket":                       {"requeue.ndjson", 1 << 30, code(404, "NoSuchBucket"), fail.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n, dir := 0, folder(t, files)
			var mu sync.Mutex
			w.spoil(func(rw http.ResponseWriter, r *http.Request, f http.Handler) bool {
				mu.Lock()
				defer mu.Unlock()
				if r.Method != "PUT" || !strings.HasSuffix(r.URL.Path, c.of) {
					return false
				}
				if n++; n > c.times {
					return false
				}
				c.do(rw, r, f)
				return true
			})
			err := publish(t, w.target(rules.ChecksumsRequired), dir, "r1", "")
			if fail.ClassOf(err) != c.class {
				t.Fatalf("class %d, want %d: %v", fail.ClassOf(err), c.class, err)
			}
			if n == 0 {
				t.Fatal("nothing was spoiled")
			}
			if err != nil {
				if w.object(pointer) != "" {
					t.Error("the pointer is written")
				}
				w.spoil(nil)
				if err := publish(t, w.target(rules.ChecksumsRequired), dir, "r1", ""); err != nil {
					t.Fatal(err)
				}
			}
			w.whole("r1")
		})
	}
}

// TestAltered: a file that is not what it was when the run was published is not sent.
func TestAltered(t *testing.T) {
	w := newWorld(t)
	dir := folder(t, files)
	list := listed(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "report.json"), []byte(`{"run":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := w.target(rules.ChecksumsRequired).Send(context.Background(), dir, "2026-08-20/r1", list)
	if fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), "report.json is not what was published") || w.object("out/charges/2026-08-20/r1/report.json") != "" {
		t.Errorf("%v", err)
	}
}

// TestLost: a run of which a file is not here is not sent as if it were whole.
func TestLost(t *testing.T) {
	w := newWorld(t)
	dir := folder(t, files)
	list := append(listed(t, dir), File{Path: "operations.parquet", Size: 1})
	err := w.target(rules.ChecksumsRequired).Send(context.Background(), dir, "2026-08-20/r1", list)
	if fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), "operations.parquet is not here") {
		t.Errorf("%v", err)
	}
}

// TestBring: what was sent comes back, and nothing else.
func TestBring(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	target, dir := w.target(rules.ChecksumsSupported), folder(t, files)
	list := listed(t, dir)
	if err := publish(t, target, dir, "r1", ""); err != nil {
		t.Fatal(err)
	}
	bring := func() (string, error) {
		there, err := target.List(ctx, "2026-08-20/")
		if err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		return to, target.Bring(ctx, "2026-08-20/r1", to, list, there)
	}
	to, err := bring()
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(t, to); !slices.Equal(got, list) {
		t.Errorf("brought %v, want %v", got, list)
	}
	key := "out/charges/2026-08-20/r1/queues/requeue.ndjson"
	for name, change := range map[string]func(){
		"has another size":          func() { w.put(key, "{}\n") },
		"is not what was published": func() { w.put(key, strings.Repeat("[]\n", 100_000)) },
		"is missing": func() {
			if _, err := w.api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &w.bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		if _, err := bring(); fail.ClassOf(err) != fail.Integrity || !strings.Contains(err.Error(), key+" "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEncryption: the store is told how to encrypt what is written.
func TestEncryption(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	said := map[string]bool{}
	w.spoil(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if r.Method == "PUT" {
			mu.Lock()
			defer mu.Unlock()
			said[r.Header.Get("X-Amz-Server-Side-Encryption")+" "+r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id")] = true
		}
		return false
	})
	target := w.target(rules.ChecksumsRequired)
	target.b.Keys().Encrypt, target.b.Keys().KMSKey = "aws:kms", "alias/recon"
	if err := publish(t, target, folder(t, files), "r1", ""); err != nil {
		t.Fatal(err)
	}
	w.whole("r1")
	if len(said) != 1 || !said["aws:kms alias/recon"] {
		t.Errorf("the store is told %v", said)
	}
}
