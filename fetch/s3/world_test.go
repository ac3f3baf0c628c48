package s3

import (
	"bytes"
	"context"
	"fmt"
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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/testpull"
	"github.com/recon-batch/recon-batch/internal/testversity"
	"github.com/recon-batch/recon-batch/rules"
)

// world is a server, a proxy in front of it, and a bucket that keeps versions.
type world struct {
	t      testing.TB
	server *testversity.Server
	proxy  *proxy
	api    *s3.Client // past the proxy
	bucket string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, server: testversity.Start(t), bucket: "evidence"}
	w.server.Env(t, "TEST_ACCESS", "TEST_SECRET")
	w.proxy = newProxy(t, w.server.Endpoint)
	w.api = w.server.Client()
	if _, err := w.api.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &w.bucket}); err != nil {
		t.Fatal(err)
	}
	return w
}

// versions lets the bucket keep versions.
func (w *world) versions() {
	w.t.Helper()
	_, err := w.api.PutBucketVersioning(context.Background(), &s3.PutBucketVersioningInput{
		Bucket: &w.bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(key string, body []byte, change ...func(*s3.PutObjectInput)) {
	w.t.Helper()
	in := &s3.PutObjectInput{Bucket: &w.bucket, Key: &key, Body: bytes.NewReader(body)}
	for _, c := range change {
		c(in)
	}
	if _, err := w.api.PutObject(context.Background(), in); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(key string) {
	w.t.Helper()
	if _, err := w.api.DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: &w.bucket, Key: &key}); err != nil {
		w.t.Fatal(err)
	}
}

// multipart uploads an object in parts of a size.
func (w *world) multipart(key string, body []byte, size int, algorithm types.ChecksumAlgorithm, kind types.ChecksumType) {
	w.t.Helper()
	ctx := context.Background()
	up, err := w.api.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &w.bucket, Key: &key, ChecksumAlgorithm: algorithm, ChecksumType: kind})
	if err != nil {
		w.t.Fatal(err)
	}
	var done types.CompletedMultipartUpload
	for i := 0; i*size < len(body); i++ {
		no := aws.Int32(int32(i + 1))
		part, err := w.api.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &w.bucket, Key: &key, UploadId: up.UploadId, PartNumber: no, Body: bytes.NewReader(body[i*size : min(len(body), (i+1)*size)]), ChecksumAlgorithm: algorithm,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		done.Parts = append(done.Parts, types.CompletedPart{
			ETag: part.ETag, PartNumber: no, ChecksumCRC32: part.ChecksumCRC32, ChecksumCRC32C: part.ChecksumCRC32C, ChecksumCRC64NVME: part.ChecksumCRC64NVME, ChecksumSHA256: part.ChecksumSHA256, ChecksumSHA1: part.ChecksumSHA1,
		})
	}
	_, err = w.api.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &w.bucket, Key: &key, UploadId: up.UploadId, MultipartUpload: &done, ChecksumType: kind})
	if err != nil {
		w.t.Fatal(err)
	}
}

const keysOfTheJob = "access_key: {env: TEST_ACCESS}, secret_key: {env: TEST_SECRET}"

// asked is a request of the test, with what was told.
type asked struct {
	*fetch.Request
	mu    sync.Mutex
	notes []string
}

// request asks through the proxy for what a path names, as a job file does; path is YAML,
// and more are keys of s3.
func (w *world) request(path string, more ...string) *asked {
	w.t.Helper()
	keys := append([]string{"endpoint: " + w.proxy.URL, "allow_private: true"}, more...)
	if !slices.ContainsFunc(more, func(k string) bool { return strings.HasPrefix(k, "part_size") }) {
		keys = append(keys, "part_size: 1048576")
	}
	if !slices.ContainsFunc(more, func(k string) bool { return strings.Contains(k, "access_key") || k == "chain: true" }) {
		keys = append(keys, keysOfTheJob)
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return k == "chain: true" })
	text := `
job: s3
operations: {path: o.csv, fields: {operation_id: id}}
results:
  path: ` + path + `
  format: csv
  s3: {` + strings.Join(keys, ", ") + `}
  fields: {operation_id: id}
match: [{pass: operation_id, on: [operation_id]}]
`
	job, err := rules.Parse([]byte(text), "job.yaml")
	if err != nil {
		w.t.Fatalf("%v\n%s", err, text)
	}
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	a := &asked{}
	a.Request = &fetch.Request{
		Job: bound, Side: rules.Results, Input: &bound.Inputs[rules.Results][0], Dir: w.t.TempDir(), BaseDir: w.t.TempDir(), Now: time.Now,
		Note: func(format string, args ...any) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.notes = append(a.notes, fmt.Sprintf(format, args...))
		},
		Progress: func(string, int64, int64) {},
	}
	return a
}

// quick is a puller that waits for nobody.
var quick = Puller{pause: time.Millisecond}

func pulled(t testing.TB, a *asked) *fetch.Snapshot {
	t.Helper()
	s, err := fetch.Pull(context.Background(), quick, a.Request)
	if err != nil {
		t.Fatalf("%v; notes %q", err, a.notes)
	}
	return s
}

// whole compares the files of a snapshot with what was uploaded: name and content.
func whole(t testing.TB, a *asked, s *fetch.Snapshot, want map[string][]byte) {
	t.Helper()
	if len(s.Files) != len(want) {
		t.Errorf("%d files, want %d", len(s.Files), len(want))
	}
	for _, f := range s.Files {
		got, err := os.ReadFile(filepath.Join(a.Dir, fetch.FilesDir, filepath.FromSlash(f.Name)))
		body, listed := want[f.Name]
		if err != nil || !listed || !bytes.Equal(got, body) {
			t.Errorf("%s: %v; listed %v; %d bytes, want %d", f.Name, err, listed, len(got), len(body))
		}
	}
	if _, err := os.Stat(filepath.Join(a.Dir, fetch.PartialDir)); err == nil {
		t.Error("the folder of what is partial stayed")
	}
}

// noise is content that no two parts of share.
var noise = testpull.Noise

// proxy passes requests on to a server, and spoils some of them.
type proxy struct {
	*httptest.Server
	forward *httputil.ReverseProxy

	mu    sync.Mutex
	fault fault
	seen  []seen
}

// seen is a request that came.
type seen struct{ method, path, span, query string }

// fault answers a request in place of the server, and tells whether it did. n counts the
// requests of this method from 0.
type fault func(w http.ResponseWriter, r *http.Request, n int, forward http.Handler) bool

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{}
	p.forward = &httputil.ReverseProxy{
		// The name of the host is signed.
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	n := 0
	for _, s := range p.seen {
		if s.method == kindOf(r) {
			n++
		}
	}
	p.seen = append(p.seen, seen{kindOf(r), r.URL.Path, r.Header.Get("Range"), r.URL.RawQuery})
	f := p.fault
	p.mu.Unlock()
	if f == nil || !f(w, r, n, p.forward) {
		p.forward.ServeHTTP(w, r)
	}
}

// kindOf names a request: LIST, HEAD, GET.
func kindOf(r *http.Request) string {
	if r.URL.Query().Has("list-type") {
		return "LIST"
	}
	return r.Method
}

// spoil sets the fault, and forgets what was seen.
func (p *proxy) spoil(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.seen = f, nil
}

// requests are those of a kind since the last spoil.
func (p *proxy) requests(kind string) []seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []seen
	for _, s := range p.seen {
		if s.method == kind {
			out = append(out, s)
		}
	}
	return out
}

// answer writes an error as S3 does.
func answer(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>`, code, message)
}

// taken is the answer of the server, to be changed before it goes on.
func taken(r *http.Request, forward http.Handler) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	forward.ServeHTTP(rec, r)
	return rec
}

// send writes an answer that was taken, with another body.
func send(w http.ResponseWriter, rec *httptest.ResponseRecorder, body []byte) {
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body)
}

// broken ends an answer after some bytes of its body, by a reset of the connection.
func broken(w http.ResponseWriter, r *http.Request, forward http.Handler, after int) {
	rec := taken(r, forward)
	body := rec.Body.Bytes()
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	// The connection is broken off below, whatever the client took.
	_, _ = w.Write(body[:min(after, len(body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
