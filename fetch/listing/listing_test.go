package listing_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/kinds"
	"github.com/recon-batch/recon-batch/fetch/listing"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/internal/testsftp"
	"github.com/recon-batch/recon-batch/internal/testversity"
	"github.com/recon-batch/recon-batch/rules"
)

// listed is a request for a listing.
type listed struct {
	*fetch.Request
	t *testing.T
}

// request makes one from the keys of a source, in YAML.
func request(t *testing.T, base, source string) *listed {
	t.Helper()
	job, err := rules.Parse([]byte(`
job: listing
operations: {path: o.csv, fields: {operation_id: id}}
results:
  sources: [{name: docs, `+source+`}]
  fields: {operation_id: name}
match: [{pass: operation_id, on: [operation_id]}]
`), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := job.Bind("2026-08-20", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &listed{t: t, Request: &fetch.Request{
		Job: bound, Side: rules.Results, Input: &bound.Inputs[rules.Results][0], Dir: t.TempDir(), BaseDir: base, Now: time.Now,
		Note: t.Logf, Progress: func(string, int64, int64) {},
	}}
}

func (l *listed) try() (*fetch.Snapshot, string, error) {
	l.t.Helper()
	s, err := fetch.Pull(l.t.Context(), kinds.Of(rules.FromListing), l.Request)
	if err != nil || len(s.Files) == 0 {
		return s, "", err
	}
	text, err := os.ReadFile(filepath.Join(l.Dir, fetch.FilesDir, s.Files[0].Name))
	if err != nil {
		l.t.Fatal(err)
	}
	return s, string(text), nil
}

// wantRecords pulls, and compares the records, in which T stands for the time of a file.
func (l *listed) wantRecords(want ...string) *fetch.Snapshot {
	l.t.Helper()
	s, got, err := l.try()
	if err != nil {
		l.t.Fatal(err)
	}
	if len(s.Files) != 1 || s.Kind != rules.FromListing || s.Proof == "" {
		l.t.Fatalf("snapshot %+v", s)
	}
	if w := strings.Join(want, "\n") + "\n"; len(want) > 0 && got != w || len(want) == 0 && got != "" {
		l.t.Errorf("records\n%swant\n%s", got, w)
	}
	return s
}

func (l *listed) wantRefused(class fail.Class, text string) {
	l.t.Helper()
	_, _, err := l.try()
	if fail.ClassOf(err) != class || !strings.Contains(err.Error(), text) {
		l.t.Errorf("class %d, %v; want %d and %q", fail.ClassOf(err), err, class, text)
	}
	if s, err := fetch.ReadSnapshot(l.Dir); s != nil || err != nil {
		l.t.Errorf("there is a snapshot: %+v, %v", s, err)
	}
}

var at = time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
		t.Fatal(err)
	}
}

const names = `name_pattern: '^(?P<number>[A-Z0-9-]+)(?:_v(?P<edition>\d+))?\.pdf$'`

// TestLocalFolder: the files of a folder are records, in the order of their names.
func TestLocalFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "out", "2026-08-20", "B-2_v3.pdf"), "beta")
	put(t, filepath.Join(dir, "out", "2026-08-20", "A-1.pdf"), "")
	put(t, filepath.Join(dir, "out", "2026-08-20", "readme.pdf"), "x")
	put(t, filepath.Join(dir, "out", "2026-08-20", "notes.txt"), "x")
	put(t, filepath.Join(dir, "out", "2026-08-19", "C-1.pdf"), "x")
	const modified = `"modified":"2026-08-20T10:00:00Z"`
	s := request(t, dir, `path: "out/{date}/*.pdf", listing: {}`).wantRecords(
		`{"name":"A-1.pdf","path":"A-1.pdf","size":0,`+modified+`}`,
		`{"name":"B-2_v3.pdf","path":"B-2_v3.pdf","size":4,`+modified+`}`,
		`{"name":"readme.pdf","path":"readme.pdf","size":1,`+modified+`}`)
	if s.Proof != "two listings in a row with the same 3 files, of the same sizes and versions" || s.Files[0].Records != 3 {
		t.Errorf("proof %q, %d records", s.Proof, s.Files[0].Records)
	}
	// Digests, and names that are taken apart; one does not fit.
	digested := []string{
		`{"name":"A-1.pdf","path":"A-1.pdf","size":0,` + modified + `,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","number":"A-1"}`,
		`{"name":"B-2_v3.pdf","path":"B-2_v3.pdf","size":4,` + modified + `,"digest":"f44e64e75f3948e9f73f8dfa94721c4ce8cbb4f265c4790c702b2d41cfbf2753","number":"B-2","edition":"3"}`,
		`{"name":"readme.pdf","path":"readme.pdf","size":1,` + modified + `,"digest":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","unfit":"the name does not fit name_pattern"}`,
	}
	s = request(t, dir, `path: "out/{date}/*.pdf", listing: {digest: sha256, `+names+`}`).wantRecords(digested...)
	if !strings.HasSuffix(s.Proof, "each was read whole in between") {
		t.Errorf("proof %q", s.Proof)
	}
	digested[2] = strings.Replace(digested[2], "unfit", "left_out", 1)
	s = request(t, dir, `path: "out/{date}/*.pdf", listing: {digest: sha256, other_names: leave_out, `+names+`}`).wantRecords(digested...)
	if len(s.Notes) != 1 || s.Notes[0] != `1 file left out, whose names do not fit name_pattern: ["readme.pdf"]` || s.Files[0].Records != 2 {
		t.Errorf("notes %q, %d records", s.Notes, s.Files[0].Records)
	}
	// Folders are part of the path.
	s = request(t, dir, `path: "out/*/*1.pdf", listing: {name_pattern: '^(?P<day>[^/]+)/(?P<number>[A-Z0-9-]+)\.pdf$'}`).wantRecords(
		`{"name":"C-1.pdf","path":"2026-08-19/C-1.pdf","size":1,`+modified+`,"day":"2026-08-19","number":"C-1"}`,
		`{"name":"A-1.pdf","path":"2026-08-20/A-1.pdf","size":0,`+modified+`,"day":"2026-08-20","number":"A-1"}`)
	if s.Files[0].Name != "listing.ndjson" {
		t.Errorf("the file is %s", s.Files[0].Name)
	}
	request(t, dir, `path: {exact: out/2026-08-20/A-1.pdf}, listing: {}`).wantRecords(`{"name":"A-1.pdf","path":"A-1.pdf","size":0,` + modified + `}`)
	request(t, dir, fmt.Sprintf(`path: {exact: %q}, listing: {}`, filepath.Join(dir, "out/2026-08-20/A-1.pdf"))).wantRecords(`{"name":"A-1.pdf","path":"A-1.pdf","size":0,` + modified + `}`)
}

// TestEmptyAndMissing: a folder without files has no records; one that is not there is no
// folder without files.
func TestEmptyAndMissing(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "out", "notes.txt"), "x")
	request(t, dir, `path: "out/*.pdf", listing: {}`).wantRecords()
	request(t, dir, `path: "none/*.pdf", listing: {may_be_empty: true}`).wantRecords()
	for _, source := range []string{`path: "none/*.pdf", listing: {}`, `path: "out/none.pdf", listing: {}`, `path: {exact: "out/*.pdf"}, listing: {}`} {
		if s, _, err := request(t, dir, source).try(); err != nil || len(s.Files) != 0 {
			t.Errorf("%s: %+v, %v", source, s, err)
		}
	}
}

// TestBadNames: a name that is no text, or that would break a line, is a reject.
func TestBadNames(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "out", "a\nb.pdf"), "x")
	put(t, filepath.Join(dir, "out", "c\xff.pdf"), "x")
	put(t, filepath.Join(dir, "out", "<é>&\u2028.pdf"), "x")
	const rest = `"size":1,"modified":"2026-08-20T10:00:00Z"`
	request(t, dir, `path: "out/*.pdf", listing: {}`).wantRecords(
		`{"name":"<é>&\u2028.pdf","path":"<é>&\u2028.pdf",`+rest+`}`,
		`{"name":"a\nb.pdf","path":"a\nb.pdf",`+rest+`,"unfit":"the name holds a control character"}`,
		`{"name":"c\ufffd.pdf","path":"c\ufffd.pdf",`+rest+`,"unfit":"the name is not UTF-8"}`)
}

// TestLocalFaults: what cannot be listed whole is refused.
func TestLocalFaults(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "secret"), "x")
	put(t, filepath.Join(dir, "out", "a.pdf"), "x")
	link := filepath.Join(dir, "out", "b.pdf")
	if err := os.Symlink(filepath.Join(dir, "..", "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	source := fmt.Sprintf(`path: "%s/out/*.pdf", listing: {digest: sha256}`, dir)
	request(t, dir, source).wantRefused(fail.Input, "b.pdf")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(link, 0o700); err != nil {
		t.Fatal(err)
	}
	request(t, dir, source).wantRefused(fail.Input, "b.pdf")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	request(t, dir, fmt.Sprintf(`path: "%s/out/*.pdf", listing: {digest: sha256, max_bytes: 1}`, dir)).wantRecords(
		`{"name":"a.pdf","path":"a.pdf","size":1,"modified":"2026-08-20T10:00:00Z","digest":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}`)
	put(t, filepath.Join(dir, "out", "c.pdf"), "xy")
	request(t, dir, fmt.Sprintf(`path: "%s/out/*.pdf", listing: {digest: sha256, max_bytes: 2}`, dir)).wantRefused(fail.Input, "are 3 bytes, more than 2")
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "out", "c.pdf"), 0); err != nil {
			t.Fatal(err)
		}
		request(t, dir, source).wantRefused(fail.Input, "c.pdf")
	}
}

// moving is a local folder that changes after it was first listed.
type moving struct {
	fetch.Puller
	base   string
	change func()
	lists  int
}

func (m *moving) Store(context.Context, *fetch.Request) (fetch.Store, string, error) {
	return &movingStore{fetch.Local{Base: m.base}, m}, "out/*.pdf", nil
}

type movingStore struct {
	fetch.Local
	m *moving
}

func (s *movingStore) List(ctx context.Context, pattern string, literal bool) ([]fetch.Entry, error) {
	if s.m.lists++; s.m.lists == 2 {
		s.m.change()
	}
	return s.Local.List(ctx, pattern, literal)
}

// TestMoving: a file that comes, goes or changes while its folder is listed refuses the
// listing.
func TestMoving(t *testing.T) {
	for what, change := range map[string]func(dir string) error{
		"out/b.pdf appeared":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "out", "b.pdf"), nil, 0o600) },
		"out/a.pdf vanished":    func(dir string) error { return os.Remove(filepath.Join(dir, "out", "a.pdf")) },
		"out/a.pdf was changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, "out", "a.pdf"), []byte("yy"), 0o600) },
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "out", "a.pdf"), "x")
		r := request(t, dir, `path: "s3://bucket/out/*.pdf", s3: {region: r}, listing: {digest: sha256}`)
		m := &moving{base: dir, change: func() {
			if err := change(dir); err != nil {
				t.Error(err)
			}
		}}
		u := listing.Puller{Of: func(string) fetch.Puller { return m }}
		if _, err := fetch.Pull(t.Context(), u, r.Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// bucket is a bucket, and a bad network in front of it.
type bucket struct {
	api   *s3.Client
	proxy *testproxy.Proxy
	keys  string
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	server := testversity.Start(t)
	server.Env(t, "TEST_ACCESS", "TEST_SECRET")
	b := &bucket{proxy: testproxy.New(t, server.Endpoint), api: server.Client()}
	b.keys = fmt.Sprintf("s3: {endpoint: %q, allow_private: true, access_key: {env: TEST_ACCESS}, secret_key: {env: TEST_SECRET}}", b.proxy.URL)
	name := "docs"
	if _, err := b.api.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bucket) put(t *testing.T, key, text string) {
	t.Helper()
	name := "docs"
	if _, err := b.api.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &name, Key: &key, Body: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
}

// TestBucket: objects are records over all pages of the listing; what goes wrong on the way is
// refused, or made good by asking again.
func TestBucket(t *testing.T) {
	b := newBucket(t)
	source := `path: "s3://docs/invoices/{date}/*.pdf", ` + b.keys + `, listing: {digest: %s, ` + names + `}`
	if s, _, err := request(t, t.TempDir(), fmt.Sprintf(source, "none")).try(); err != nil || len(s.Files) != 0 {
		t.Errorf("of a prefix without objects nobody knows whether it is one: %+v, %v", s, err)
	}
	request(t, t.TempDir(), strings.Replace(fmt.Sprintf(source, "none"), "{digest", "{may_be_empty: true, digest", 1)).wantRecords()
	const objects = 1003 // more than a page
	for i := range objects {
		b.put(t, fmt.Sprintf("invoices/2026-08-20/N-%04d.pdf", i), fmt.Sprint(i))
	}
	b.put(t, "invoices/2026-08-21/N-1.pdf", "")
	_, text, err := request(t, t.TempDir(), fmt.Sprintf(source, "sha256")).try()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != objects || !slices.IsSorted(lines) || !strings.HasPrefix(lines[7], `{"name":"N-0007.pdf","path":"N-0007.pdf","size":1,"modified":"20`) ||
		!strings.HasSuffix(lines[7], `","version":"8f14e45fceea167a5a36dedd4bea2543","digest":"7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451","number":"N-0007"}`) {
		t.Errorf("%d lines, %s", len(lines), lines[min(7, len(lines)-1)])
	}
	_, etags, err := request(t, t.TempDir(), fmt.Sprintf(source, "etag")).try()
	if err != nil || !strings.Contains(etags, `"version":"8f14e45fceea167a5a36dedd4bea2543","digest":"8f14e45fceea167a5a36dedd4bea2543"`) {
		t.Errorf("%v, %.300s", err, etags)
	}
	list := func(r *http.Request) bool { return r.URL.Query().Get("list-type") == "2" }
	get := func(r *http.Request) bool { return r.Method == "GET" && strings.HasSuffix(r.URL.Path, "N-0007.pdf") }
	for name, c := range map[string]struct {
		of    func(*http.Request) bool
		times int
		f     testproxy.Fault
		class fail.Class
	}{
		"503 of the listing":         {list, 2, testproxy.Fault{Status: 503}, fail.OK},
		"a reset of the listing":     {list, 1, testproxy.Fault{Reset: 500}, fail.OK},
		"500 of the listing, always": {list, 1 << 30, testproxy.Fault{Status: 500}, fail.Temporary},
		"403 of the listing":         {list, 1 << 30, testproxy.Fault{Status: 403, Body: "<Error><Code>AccessDenied</Code></Error>"}, fail.Usage},
		"a reset of an object":       {get, 1, testproxy.Fault{Reset: -1}, fail.OK},
		"an object of another ETag":  {get, 1 << 30, testproxy.Fault{Header: http.Header{"Etag": {`"00000000000000000000000000000000"`}}, Rewrite: func(b []byte) []byte { return b }}, fail.Input},
		"a listing that changes": {list, 1, testproxy.Fault{Rewrite: func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "N-0007.pdf", "N-000X.pdf", 1))
		}}, fail.Input},
	} {
		spoiled := b.proxy.First(c.times, c.of, c.f)
		r := request(t, t.TempDir(), fmt.Sprintf(source, "sha256"))
		if c.class == fail.Temporary {
			r.Until = time.Now().Add(2 * time.Second)
		}
		_, got, err := r.try()
		if fail.ClassOf(err) != c.class || spoiled() == 0 || err == nil && got != text {
			t.Errorf("%s: %d spoiled, class %d, want %d: %v", name, spoiled(), fail.ClassOf(err), c.class, err)
		}
		if err != nil {
			if files, err := os.ReadDir(filepath.Join(r.Dir, fetch.FilesDir)); len(files) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v is staged, %v", name, files, err)
			}
			b.proxy.Rule(nil)
			r.Until = time.Time{}
			if _, got, err := r.try(); err != nil || got != text {
				t.Errorf("%s, again: %v", name, err)
			}
		}
		if err != nil && strings.Contains(err.Error(), os.Getenv("TEST_SECRET")) {
			t.Errorf("%s: the secret is in %v", name, err)
		}
	}
}

// TestCheck: validate --connect lists, and opens the first file.
func TestCheck(t *testing.T) {
	b := newBucket(t)
	b.put(t, "a.pdf", "x")
	r := request(t, t.TempDir(), `path: "s3://docs/*.pdf", `+b.keys+`, listing: {digest: sha256}`)
	if problems := kinds.Of(rules.FromListing).Check(t.Context(), r.Request); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
	b.proxy.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if r.URL.Path == "/docs/a.pdf" {
			return testproxy.Fault{Status: 403, Body: "<Error><Code>AccessDenied</Code></Error>"}
		}
		return testproxy.Fault{}
	})
	if problems := kinds.Of(rules.FromListing).Check(t.Context(), r.Request); len(problems) != 1 || !strings.Contains(problems[0], "allow s3:GetObject") {
		t.Errorf("%q", problems)
	}
}

// TestServer: the files of an SFTP server are records as those of a folder are.
func TestServer(t *testing.T) {
	server := testsftp.Start(t)
	put(t, filepath.Join(server.Root, "in", "B-2_v3.pdf"), "beta")
	put(t, filepath.Join(server.Root, "in", "A-1.pdf"), "")
	if err := os.Chmod(filepath.Join(server.Root, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"B-2_v3.pdf", "A-1.pdf"} {
		if err := os.Chmod(filepath.Join(server.Root, "in", name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source := fmt.Sprintf(`path: "sftp://%s%s/in/*.pdf", sftp: {user: %s, private_key: {file: %q}, host_keys: ["%s"], allow_private: true}, listing: {digest: sha256, `+names+`}`,
		server.Addr, server.Root, server.User, server.Key, server.HostKeys["ed25519"])
	const modified = `"modified":"2026-08-20T10:00:00Z"`
	request(t, t.TempDir(), source).wantRecords(
		`{"name":"A-1.pdf","path":"A-1.pdf","size":0,`+modified+`,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","number":"A-1"}`,
		`{"name":"B-2_v3.pdf","path":"B-2_v3.pdf","size":4,`+modified+`,"digest":"f44e64e75f3948e9f73f8dfa94721c4ce8cbb4f265c4790c702b2d41cfbf2753","number":"B-2","edition":"3"}`)
	empty := strings.Replace(source, "/in/*.pdf", "/in/*.xml", 1)
	if s, _, err := request(t, t.TempDir(), empty).try(); err != nil || len(s.Files) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	request(t, t.TempDir(), strings.Replace(empty, "{digest", "{may_be_empty: true, digest", 1)).wantRecords()
}
