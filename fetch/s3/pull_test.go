package s3

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestPull: what a pattern names is brought, all of it and nothing else, byte by byte.
func TestPull(t *testing.T) {
	w := newWorld(t)
	want := map[string][]byte{
		"a.csv": []byte("id\n1\n"), "empty.csv": {}, "big.csv": noise(1, 5<<20+17), "ü +%2F.csv": []byte("id\n2\n"), ".hidden.csv": []byte("id\n"),
	}
	for name, body := range want {
		w.put("in/2026-08-20/"+name, body)
	}
	w.put("in/2026-08-20/", nil)
	w.put("in/2026-08-20/a.csv.sig", []byte("x"))
	w.put("in/2026-08-20/deeper/a.csv", []byte("x"))
	w.put("in/2026-08-19/a.csv", []byte("x"))
	a := w.request("s3://evidence/in/{date}/*.csv")
	s := pulled(t, a)
	whole(t, a, s, want)
	for _, l := range w.proxy.requests("LIST") {
		if !strings.Contains(l.query, "delimiter=%2F") || !strings.HasSuffix(l.query, "prefix=in%2F2026-08-20%2F") {
			t.Errorf("folders below are listed too: %s", l.query)
		}
	}
	if s.Kind != "s3" || s.Address != "s3://evidence/in/2026-08-20/*.csv" || s.Requests == 0 || s.Retries != 0 || len(s.Request) != 64 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.Proof, "MD5 in the ETag") {
		t.Error(s.Proof)
	}
	for i, f := range s.Files {
		if i > 0 && s.Files[i-1].Name >= f.Name {
			t.Error("not in the order of the names")
		}
		if f.Address != "s3://evidence/in/2026-08-20/"+f.Name || !strings.HasPrefix(f.Version, "ETag ") || f.Modified == "" {
			t.Errorf("%+v", f)
		}
	}
}

// TestFolders: a pattern of folders keeps their names.
func TestFolders(t *testing.T) {
	w := newWorld(t)
	want := map[string][]byte{"p1/x-1.csv": []byte("1"), "p2/x-1.csv": []byte("2")}
	for name, body := range want {
		w.put("in/"+name, body)
	}
	w.put("in/x-1.csv", []byte("x"))
	w.put("in/p1/y/x-1.csv", []byte("x"))
	w.put("in/q1/x-1.csv", []byte("x"))
	a := w.request("s3://evidence/in/p?/x-[0-9].csv")
	whole(t, a, pulled(t, a), want)
}

// TestExact: a name without a pattern, or one that is taken as it is.
func TestExact(t *testing.T) {
	w := newWorld(t)
	w.put("in/a[1].csv", []byte("id\n1\n"))
	w.put("in/a1.csv", []byte("x"))
	a := w.request(`{exact: "s3://evidence/in/a[1].csv"}`)
	whole(t, a, pulled(t, a), map[string][]byte{"a[1].csv": []byte("id\n1\n")})
	if n := len(w.proxy.requests("LIST")); n != 0 {
		t.Errorf("%d listings for an exact name", n)
	}
	a = w.request("s3://evidence/in/a1.csv")
	whole(t, a, pulled(t, a), map[string][]byte{"a1.csv": []byte("x")})
}

// TestNothing: what is not there gives no files and no error; a bucket that is not there
// is an error.
func TestNothing(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", []byte("x"))
	for _, path := range []string{"s3://evidence/in/b.csv", "s3://evidence/in/*.txt", `{exact: "s3://evidence/in/*.csv"}`} {
		a := w.request(path)
		s := pulled(t, a)
		whole(t, a, s, nil)
		if !strings.Contains(s.Proof, "no object") {
			t.Error(s.Proof)
		}
	}
	for _, path := range []string{"s3://nowhere/a.csv", "s3://nowhere/*.csv"} {
		a := w.request(path)
		_, err := fetch.Pull(context.Background(), quick, a.Request)
		if fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "NoSuchBucket") {
			t.Errorf("%s: %v", path, err)
		}
		if problems := quick.Check(context.Background(), a.Request); len(problems) != 1 || !strings.Contains(problems[0], "correct the name of the bucket") {
			t.Errorf("%s: %q", path, problems)
		}
	}
}

// TestPages: all pages of a listing count.
func TestPages(t *testing.T) {
	w := newWorld(t)
	want := map[string][]byte{}
	var g errgroup.Group
	g.SetLimit(8)
	for i := range 1100 {
		name := fmt.Sprintf("%04d.csv", i)
		want[name] = []byte(name)
		g.Go(func() error { w.put("in/"+name, []byte(name)); return nil })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	a := w.request("s3://evidence/in/*.csv", "parallel: 16")
	whole(t, a, pulled(t, a), want)
	if n := len(w.proxy.requests("LIST")); n != 4 {
		t.Errorf("%d pages", n)
	}
}

// TestVersions: an object is read by its version where the bucket keeps some, and by its
// ETag where the version may not be named.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	w.versions()
	body := noise(2, 3<<20)
	w.put("in/a.csv", []byte("old"))
	w.put("in/a.csv", body)
	var without atomic.Int64
	w.proxy.spoil(func(_ http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		if r.Method == "GET" && kindOf(r) != "LIST" && r.Header.Get("If-Match") == "" {
			without.Add(1)
		}
		return false
	})
	a := w.request("s3://evidence/in/*.csv")
	s := pulled(t, a)
	whole(t, a, s, map[string][]byte{"a.csv": body})
	if without.Load() > 0 {
		t.Error("a part is asked for without its ETag")
	}
	if !strings.Contains(s.Files[0].Version, "VersionId ") {
		t.Errorf("%+v", s.Files[0])
	}
	gets := w.proxy.requests("GET")
	for _, g := range gets {
		if !strings.Contains(g.query, "versionId=") {
			t.Errorf("a part is asked for without its version: %+v", g)
		}
	}
	if len(gets) != 3 {
		t.Errorf("%d parts", len(gets))
	}
	w.proxy.spoil(func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		if r.Method != "GET" || !r.URL.Query().Has("versionId") {
			return false
		}
		answer(rw, 403, "AccessDenied", "Access Denied")
		return true
	})
	a = w.request("s3://evidence/in/*.csv")
	s = pulled(t, a)
	whole(t, a, s, map[string][]byte{"a.csv": body})
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "by its ETag alone") {
		t.Errorf("notes %q", s.Notes)
	}
}

// TestNullVersion: the version "null" is none, since it is overwritten.
func TestNullVersion(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", []byte("id\n1\n"))
	w.proxy.spoil(on("HEAD", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
		rec := taken(r, f)
		rec.Header().Set("X-Amz-Version-Id", "null")
		send(rw, rec, nil)
	}))
	a := w.request("s3://evidence/in/*.csv")
	s := pulled(t, a)
	whole(t, a, s, map[string][]byte{"a.csv": []byte("id\n1\n")})
	if gets := w.proxy.requests("GET"); len(gets) != 1 || strings.Contains(gets[0].query, "versionId") || strings.Contains(s.Files[0].Version, "VersionId") {
		t.Errorf("%+v %+v", gets, s.Files)
	}
}

// TestEncodedListing: keys are decoded where the store says that they are encoded.
func TestEncodedListing(t *testing.T) {
	w := newWorld(t)
	const key = "in/ü +%2F.csv"
	w.put(key, []byte("id\n1\n"))
	w.proxy.spoil(on("LIST", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
		rec := taken(r, f)
		body := strings.ReplaceAll(rec.Body.String(), key, "in/%C3%BC+%2B%252F.csv")
		body = strings.Replace(body, "</ListBucketResult>", "<EncodingType>url</EncodingType></ListBucketResult>", 1)
		rec.Header().Del("Content-Length")
		send(rw, rec, []byte(body))
	}))
	a := w.request("s3://evidence/in/*.csv")
	whole(t, a, pulled(t, a), map[string][]byte{"ü +%2F.csv": []byte("id\n1\n")})
}

// TestSums: what the store keeps of an object is what it is compared with.
func TestSums(t *testing.T) {
	w := newWorld(t)
	body := noise(3, 12<<20+5)
	with := func(a types.ChecksumAlgorithm) func(*s3.PutObjectInput) {
		return func(in *s3.PutObjectInput) { in.ChecksumAlgorithm = a }
	}
	for name, c := range map[string]struct {
		make  func(key string)
		more  string
		proof string
	}{
		"crc64nvme": {func(k string) { w.put(k, body, with(types.ChecksumAlgorithmCrc64nvme)) }, "checksums: when_supported", "checksum CRC64NVME"},
		"crc32":     {func(k string) { w.put(k, body, with(types.ChecksumAlgorithmCrc32)) }, "checksums: when_supported", "checksum CRC32"},
		"crc32c":    {func(k string) { w.put(k, body, with(types.ChecksumAlgorithmCrc32c)) }, "checksums: when_supported", "checksum CRC32C"},
		"sha1":      {func(k string) { w.put(k, body, with(types.ChecksumAlgorithmSha1)) }, "checksums: when_supported", "checksum SHA1"},
		"sha256":    {func(k string) { w.put(k, body, with(types.ChecksumAlgorithmSha256)) }, "checksums: when_supported", "checksum SHA256"},
		"not asked": {func(k string) { w.put(k, body, with(types.ChecksumAlgorithmSha256)) }, "checksums: when_required", "MD5 in the ETag"},
		"parts":     {func(k string) { w.multipart(k, body, 5<<20, "", "") }, "checksums: when_required", "MD5 of parts in the ETag"},
		"parts sha256": {func(k string) {
			w.multipart(k, body, 5<<20, types.ChecksumAlgorithmSha256, types.ChecksumTypeComposite)
		}, "checksums: when_supported", "checksum SHA256 of parts"},
		"parts crc64": {func(k string) {
			w.multipart(k, body, 5<<20, types.ChecksumAlgorithmCrc64nvme, types.ChecksumTypeFullObject)
		}, "checksums: when_supported", "checksum CRC64NVME"},
	} {
		t.Run(name, func(t *testing.T) {
			key := "sums/" + strings.ReplaceAll(name, " ", "-") + ".csv"
			c.make(key)
			a := w.request("s3://evidence/"+key, c.more)
			s := pulled(t, a)
			whole(t, a, s, map[string][]byte{filepath.Base(key): body})
			if !strings.HasSuffix(s.Proof, "whole by "+c.proof) {
				t.Error(s.Proof)
			}
			if len(s.Notes) > 0 || s.Retries > 0 {
				t.Errorf("%q, %d retries", s.Notes, s.Retries)
			}
		})
	}
}

// TestCustomerKey: the key of the customer goes with every request that touches bytes.
func TestCustomerKey(t *testing.T) {
	w := newWorld(t)
	w.put("in/a.csv", noise(4, 2<<20))
	const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	a := w.request("s3://evidence/in/a.csv")
	if err := os.WriteFile(filepath.Join(a.BaseDir, "sse.key"), []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Over http such a key is refused in the job file; what is sent is the same over TLS.
	a.Source().Remote.S3.CustomerKey.File = "sse.key"
	var wrong []string
	w.proxy.spoil(func(_ http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		h := r.Header
		if h.Get("X-Amz-Server-Side-Encryption-Customer-Key") != key || h.Get("X-Amz-Server-Side-Encryption-Customer-Algorithm") != "AES256" || h.Get("X-Amz-Server-Side-Encryption-Customer-Key-Md5") != "KYvwGXoFFJ42a2u2GDWhwQ==" {
			wrong = append(wrong, fmt.Sprint(r.Method, h))
		}
		return false
	})
	_, err := fetch.Pull(context.Background(), quick, a.Request)
	if len(wrong) > 0 || len(w.proxy.requests("HEAD")) == 0 {
		t.Errorf("%v; %q", err, wrong)
	}
	for _, bad := range []string{"short", "c2hvcnQ="} {
		if err := os.WriteFile(filepath.Join(a.BaseDir, "sse.key"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Usage || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestNames: keys that cannot be names of files are refused, by name.
func TestNames(t *testing.T) {
	p := &pull{r: &fetch.Request{}, st: &store{bucket: "evidence"}}
	w := newWorld(t)
	p.r = w.request("s3://evidence/in/*/x.csv").Request
	for _, name := range []string{"../x.csv", "./x.csv", "a/../x.csv", "/x.csv", "a//x.csv", "..", "a\nb.csv", "a\x00.csv", "\xff.csv", strings.Repeat("n", 256)} {
		if err := p.named(&object{key: "in/" + name, name: name, etag: "e"}); err == nil || err.(*fail.Error).Class != fail.Input {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := p.named(&object{key: "in/x.csv", name: "x.csv"}); err == nil || !strings.Contains(err.Error(), "no ETag") {
		t.Errorf("%v", err)
	}
	if t1, t2 := plainETag(new(`"e"`)), plainETag(new(`W/"e"`)); t1 != "e" || t2 != "" {
		t.Errorf("%q, and of a weak one %q", t1, t2)
	}
	if err := p.named(&object{key: "in/a/x.csv", name: "a/x.csv", etag: "e"}); err != nil {
		t.Error(err)
	}
}
