package https

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5" //nolint:gosec // what servers state
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestPull: the file comes as it is, pinned by ETag or time.
func TestPull(t *testing.T) {
	w := newWorld(t)
	body := noise(1, 3<<20+7)
	w.put("a.csv", body)
	for _, etag := range []bool{false, true} {
		w.etag = etag
		w.spoil(nil)
		a := w.request("a.csv")
		s := pulled(t, a)
		whole(t, a, s, "a.csv", body)
		f := s.Files[0]
		if f.SHA256 != hex.EncodeToString(digestOf(body)) || f.Modified != "2026-08-20T12:00:00Z" || (f.Version != "") != etag || f.Address != w.URL+"/a.csv" {
			t.Errorf("%+v", f)
		}
		if by := map[bool]string{false: "its time", true: "its ETag"}[etag]; !strings.Contains(s.Proof, "it fits its length; "+by) {
			t.Error(s.Proof)
		}
		if n := len(w.requests("GET")); n != 1 || s.Requests != 3 || s.Retries != 0 {
			t.Errorf("%d times GET, %d requests, %d again", n, s.Requests, s.Retries)
		}
	}
}

// TestMissing: a file that is not there is no file and no error; one that came earlier does
// not stay.
func TestMissing(t *testing.T) {
	w := newWorld(t)
	for _, status := range []int{http.StatusNotFound, http.StatusGone} {
		w.spoil(func(rw http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
			rw.WriteHeader(status)
			return true
		})
		if s := pulled(t, w.request("a.csv")); len(s.Files) != 0 || s.Proof == "" {
			t.Errorf("%+v", s)
		}
	}
	// An empty one is a file.
	w.put("a.csv", nil)
	w.spoil(nil)
	a := w.request("a.csv")
	whole(t, a, pulled(t, a), "a.csv", nil)
}

// TestWithoutHead: a server that answers no HEAD is asked for the first byte.
func TestWithoutHead(t *testing.T) {
	w := newWorld(t)
	body := noise(2, 100_000)
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusForbidden, http.StatusNotFound, http.StatusNotImplemented} {
		for _, ranges := range []bool{true, false} {
			w.put("a.csv", body)
			w.spoil(func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
				if !ranges {
					r.Header.Del("Range")
				}
				if r.Method == "HEAD" {
					rw.WriteHeader(status)
				}
				return r.Method == "HEAD"
			})
			a := w.request("a.csv")
			whole(t, a, pulled(t, a), "a.csv", body)
			w.put("a.csv", nil)
			a = w.request("a.csv")
			whole(t, a, pulled(t, a), "a.csv", nil)
		}
	}
}

// TestChecksum: the file beside the file says its digest, in the forms that there are.
func TestChecksum(t *testing.T) {
	w := newWorld(t)
	body := noise(3, 5000)
	w.put("a.csv", body)
	sum := hex.EncodeToString(digestOf(body))
	for text, says := range map[string]string{
		sum:                                      "",
		sum + "  a.csv\n":                        "",
		strings.ToUpper(sum) + " *out/a.csv\r\n": "",
		"SHA256 (a.csv) = " + sum + "\n":         "",
		strings.Repeat("0", 64) + "  b.csv\n" + sum + "  a.csv\n": "",
		strings.Repeat("0", 64) + "  b.csv\n":                     "says digests of other files alone",
		strings.Repeat("0", 64) + "  a.csv\n":                     "was read twice and does not fit its checksum (.sha256)",
		"":                                                        "says no digest",
		"<html>not here</html>":                                   "is no list of SHA-256 digests",
		sum + "\n" + strings.Repeat("0", 64) + "\n":               "says two digests of one file",
	} {
		w.put("a.csv.sha256", []byte(text))
		a := w.request("a.csv", "checksum: {suffix: .sha256}")
		s, err := fetch.Pull(context.Background(), quick, a.Request)
		if says == "" {
			if err != nil || !strings.Contains(s.Proof, "the checksum beside it") {
				t.Errorf("%q: %v %+v", text, err, s)
			}
		} else if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := fetch.Pull(context.Background(), quick, w.request("a.csv", "checksum: {suffix: .sum}").Request)
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "a.csv.sum is not there") {
		t.Error(err)
	}
}

// TestDigests: what the server states of the file is compared, what it states of anything
// else is not.
func TestDigests(t *testing.T) {
	w := newWorld(t)
	body := noise(4, 5000)
	w.put("a.csv", body)
	right, wrong := base64.StdEncoding.EncodeToString(digestOf(body)), base64.StdEncoding.EncodeToString(make([]byte, 32))
	sum5 := md5.Sum(body)
	for name, c := range map[string]struct{ header, value, fits string }{
		"repr":           {"Repr-Digest", "sha-256=:" + right + ":", "Repr-Digest sha-256"},
		"several":        {"Repr-Digest", "unixsum=:AA==:, sha-256=:" + right + ":;q=1", "Repr-Digest sha-256"},
		"old":            {"Digest", "SHA-256=" + right, "Digest sha-256"},
		"content":        {"Content-Digest", "sha-256=:" + right + ":", "Content-Digest sha-256"},
		"md5":            {"Content-MD5", base64.StdEncoding.EncodeToString(sum5[:]), "Content-MD5"},
		"wrong repr":     {"Repr-Digest", "sha-256=:" + wrong + ":", ""},
		"wrong old":      {"Digest", "sha-256=" + wrong, ""},
		"wrong content":  {"Content-Digest", "sha-256=:" + wrong + ":", ""},
		"wrong md5":      {"Content-MD5", base64.StdEncoding.EncodeToString(make([]byte, 16)), ""},
		"no digest":      {"Repr-Digest", "sha-256=" + wrong, "its length;"},
		"none we know":   {"Repr-Digest", "crc99=:" + wrong + ":", "its length;"},
		"of other sizes": {"Repr-Digest", "sha-512=:" + wrong + ":", "its length;"},
	} {
		w.spoil(func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
			rw.Header().Set(c.header, c.value)
			return false
		})
		a := w.request("a.csv")
		s, err := fetch.Pull(context.Background(), quick, a.Request)
		if c.fits != "" {
			if err != nil || !strings.Contains(s.Proof, c.fits) {
				t.Errorf("%s: %v %+v", name, err, s)
			}
		} else if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "was read twice and does not fit its "+http.CanonicalHeaderKey(c.header)) && !strings.Contains(err.Error(), "does not fit its Content-MD5") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEncoding: what is stored is the file, not a form in which it was sent.
func TestEncoding(t *testing.T) {
	w := newWorld(t)
	body := bytes.Repeat([]byte("id;amount\n"), 100_000)
	var z bytes.Buffer
	g := gzip.NewWriter(&z)
	if _, err := g.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	says := func(encoding string) fault {
		return func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
			if r.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("Accept-Encoding %q", r.Header.Get("Accept-Encoding"))
			}
			rw.Header().Set("Content-Encoding", encoding)
			http.ServeContent(rw, r, "x.bin", noon, bytes.NewReader(z.Bytes()))
			return true
		}
	}
	w.spoil(says("gzip"))
	a := w.request("a.csv.gz")
	whole(t, a, pulled(t, a), "a.csv.gz", z.Bytes())
	a = w.request("a.csv")
	whole(t, a, pulled(t, a), "a.csv", body)
	w.spoil(says("br"))
	if _, err := fetch.Pull(context.Background(), quick, w.request("a.csv").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), `compressed by "br"`) {
		t.Error(err)
	}
	// One that ends too early is not whole, whatever its length says.
	cut := z.Bytes()[:z.Len()-9]
	w.spoil(func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		rw.Header().Set("Content-Encoding", "gzip")
		http.ServeContent(rw, r, "x.bin", noon, bytes.NewReader(cut))
		return true
	})
	if _, err := fetch.Pull(context.Background(), quick, w.request("a.csv").Request); fail.ClassOf(err) != fail.Temporary {
		t.Error(err)
	}
}

// TestWithoutLength: an answer without a length is whole where its end is marked, and nothing
// where it ends with the connection.
func TestWithoutLength(t *testing.T) {
	w := newWorld(t)
	body := noise(5, 100_000)
	chunked := func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		_ = http.NewResponseController(rw).Flush() // so that no length is known
		_, _ = rw.Write(body)                      // what is missing is seen by the pull
		return true
	}
	w.spoil(chunked)
	a := w.request("a.csv")
	s := pulled(t, a)
	whole(t, a, s, "a.csv", body)
	if !strings.Contains(s.Proof, "the end that the answer marked; whether it was changed") {
		t.Error(s.Proof)
	}
	closing := func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		c, b, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return true
		}
		defer c.Close()
		fmt.Fprint(b, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
		if r.Method == "GET" {
			_, _ = b.Write(body)
		}
		_ = b.Flush() // what is missing is seen by the pull
		return true
	}
	w.spoil(closing)
	if _, err := fetch.Pull(context.Background(), quick, w.request("a.csv").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "tells whether it came whole") {
		t.Error(err)
	}
	w.put("a.csv.sha256", []byte(hex.EncodeToString(digestOf(body))))
	w.spoil(func(rw http.ResponseWriter, r *http.Request, n int, f http.Handler) bool {
		return !strings.HasSuffix(r.URL.Path, ".sha256") && closing(rw, r, n, f)
	})
	a = w.request("a.csv", "checksum: {suffix: .sha256}")
	whole(t, a, pulled(t, a), "a.csv", body)
}

// TestTooMuch: what is more than the job takes is refused before it is asked for, or as soon
// as it is seen.
func TestTooMuch(t *testing.T) {
	w := newWorld(t)
	w.put("a.csv", noise(6, 5000))
	w.spoil(nil)
	_, err := fetch.Pull(context.Background(), quick, w.request("a.csv", "max_bytes: 4999").Request)
	if fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "5000 bytes, more than 4999") || len(w.requests("GET")) > 0 {
		t.Error(err)
	}
	w.spoil(func(rw http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		_ = http.NewResponseController(rw).Flush() // so that no length is known
		_, _ = rw.Write(make([]byte, 5000))        // the client goes away
		return true
	})
	if _, err = fetch.Pull(context.Background(), quick, w.request("a.csv", "max_bytes: 4999").Request); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), "more than 4999") {
		t.Error(err)
	}
}

// TestCheck: reachability and rights are told before a night depends on them.
func TestCheck(t *testing.T) {
	w := newWorld(t)
	a := w.request("a.csv")
	if p := quick.Check(context.Background(), a.Request); p != nil || !strings.Contains(a.Told(), "is not there now") {
		t.Errorf("%q %q", p, a.Told())
	}
	w.put("a.csv", noise(7, 5000))
	w.spoil(nil)
	a = w.request("a.csv")
	if p := quick.Check(context.Background(), a.Request); p != nil || !strings.Contains(a.Told(), "has 5000 bytes now") {
		t.Errorf("%q %q", p, a.Told())
	}
	if g := w.requests("GET"); len(g) != 1 || g[0].span != "bytes=0-0" {
		t.Errorf("%+v", g)
	}
	w.spoil(func(rw http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		rw.WriteHeader(403)
		return true
	})
	if p := quick.Check(context.Background(), a.Request); len(p) != 1 || !strings.Contains(p[0], "403") {
		t.Errorf("%q", p)
	}
	if p := quick.Check(context.Background(), requestAt(t, w.URL+"/a.csv").Request); len(p) != 1 || !strings.Contains(p[0], "does not prove who it is") {
		t.Errorf("%q", p)
	}
}
