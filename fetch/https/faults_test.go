package https

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// on spoils the requests of a method, from the first to the last of them (counted from 0).
func on(method string, first, last int, do func(w http.ResponseWriter, r *http.Request, files http.Handler)) fault {
	return func(w http.ResponseWriter, r *http.Request, n int, files http.Handler) bool {
		if r.Method != method || n < first || n > last {
			return false
		}
		do(w, r, files)
		return true
	}
}

const always = 1 << 30

// says answers with a status.
func says(status int, headers ...string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, "said the server")
	}
}

// sent answers with some bytes of what the server has, and then as end says.
func sent(n int, end func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, files http.Handler) {
		rec := httptest.NewRecorder()
		files.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:min(n, rec.Body.Len())]) // a client that has gone is one of the cases
		end(w)
	}
}

func reset(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // a client that has gone needs no reset
	panic(http.ErrAbortHandler)
}

// TestFaults: what goes wrong at the server or on the way ends in its class, leaves nothing
// half, and the next pull brings what an undisturbed one does.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	w.etag = true
	body, other := noise(10, 3<<20+1), noise(11, 3<<20+1)
	forbidden := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the forbidden host was asked") }))
	defer forbidden.Close()
	put := func(content []byte, then func(http.ResponseWriter, *http.Request, http.Handler)) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(rw http.ResponseWriter, r *http.Request, files http.Handler) {
			w.putAt("a.csv", content, noon.Add(time.Hour))
			if then == nil {
				files.ServeHTTP(rw, r)
			} else {
				then(rw, r, files)
			}
		}
	}
	every := func(seed uint64) func(http.ResponseWriter, *http.Request, http.Handler) {
		var n atomic.Uint64
		return func(rw http.ResponseWriter, r *http.Request, files http.Handler) {
			put(noise(seed+n.Add(1), 1000), nil)(rw, r, files)
		}
	}
	for name, c := range map[string]struct {
		fault fault
		class fail.Class // OK: the pull goes on to its end
		says  string     // in the error and its remedy
		ends  []byte     // as the server has it in the end; nil: body
	}{
		"429":                    {on("GET", 0, 1, says(429, "Retry-After", "0")), fail.OK, "", nil},
		"429 of HEAD":            {on("HEAD", 0, 1, says(429, "Retry-After", "0")), fail.OK, "", nil},
		"500":                    {on("GET", 0, 2, says(500)), fail.OK, "", nil},
		"503 with Retry-After":   {on("GET", 0, 0, says(503, "Retry-After", "0")), fail.OK, "", nil},
		"503 for an hour":        {on("GET", 0, always, says(503, "Retry-After", "3600")), fail.Temporary, "after the run has to end", nil},
		"500 without end":        {on("GET", 0, always, says(500)), fail.Temporary, "500", nil},
		"503 of every HEAD":      {on("HEAD", 0, always, says(503)), fail.Temporary, "503", nil},
		"401":                    {on("HEAD", 0, always, says(401)), fail.Usage, "401", nil},
		"403 of GET":             {on("GET", 0, always, says(403)), fail.Usage, "403", nil},
		"403 of HEAD alone":      {on("HEAD", 0, always, says(403)), fail.OK, "", nil},
		"reset in mid-body":      {on("GET", 0, 5, sent(300<<10, reset)), fail.OK, "", nil},
		"reset after each piece": {on("GET", 0, always, sent(100<<10, reset)), fail.OK, "", nil},
		"every body is reset":    {on("GET", 0, always, sent(10, reset)), fail.Temporary, "broke off", nil},
		"short body": {on("GET", 0, 1, func(rw http.ResponseWriter, r *http.Request, files http.Handler) {
			sent(200<<10, func(http.ResponseWriter) {})(rw, r, files)
		}), fail.OK, "", nil},
		"short body with a length that fits": {on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, _ http.Handler) {
			rw.Header().Set("Content-Length", "1000")
			_, _ = rw.Write(body[:1000]) // the pull says how it ended
		}), fail.Input, "was changed while it was read", nil},
		"slow body": {on("GET", 0, 0, func(rw http.ResponseWriter, r *http.Request, _ http.Handler) {
			rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
			for b := range slices.Chunk(body, 100<<10) {
				_, _ = rw.Write(b)                         // the pull says how it ended
				_ = http.NewResponseController(rw).Flush() // likewise
				time.Sleep(time.Millisecond)
			}
		}), fail.OK, "", nil},
		"wrong ETag once":   {on("GET", 0, 0, says(200, "Etag", `"another"`)), fail.OK, "", nil},
		"wrong ETag always": {on("GET", 0, always, says(200, "Etag", `"another"`)), fail.Input, "was changed while it was read", nil},
		"ranges are ignored": {on("GET", 0, 1, func(rw http.ResponseWriter, r *http.Request, files http.Handler) {
			r.Header.Del("Range")
			sent(2<<20, reset)(rw, r, files)
		}), fail.OK, "", nil},
		"another part": {func(rw http.ResponseWriter, r *http.Request, n int, files http.Handler) bool {
			switch {
			case r.Method != "GET":
				return false
			case n == 0:
				sent(2<<20, reset)(rw, r, files)
			default:
				rw.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(body)-1, len(body)))
				says(206)(rw, r, files)
			}
			return true
		}, fail.Usage, "does not answer with the part", nil},
		"changed before GET": {on("GET", 0, 0, put(other, nil)), fail.OK, "", other},
		"changed in mid-body": {func(rw http.ResponseWriter, r *http.Request, n int, files http.Handler) bool {
			switch {
			case r.Method != "GET" || n > 1:
				return false
			case n == 0:
				sent(2<<20, reset)(rw, r, files)
			default:
				put(other, nil)(rw, r, files)
			}
			return true
		}, fail.OK, "", other},
		"shorter in mid-body": {func(rw http.ResponseWriter, r *http.Request, n int, files http.Handler) bool {
			switch {
			case r.Method != "GET" || n > 1:
				return false
			case n == 0:
				sent(2<<20, reset)(rw, r, files)
			default:
				put(other[:1000], nil)(rw, r, files)
			}
			return true
		}, fail.OK, "", other[:1000]},
		"changed after it was read": {on("HEAD", 1, 1, put(other, nil)), fail.OK, "", other},
		"changed again and again":   {on("HEAD", 0, always, every(100)), fail.Input, "was changed while it was read", nil},
		"deleted before GET":        {on("GET", 0, always, says(404)), fail.Input, "was deleted while it was read", nil},
		"deleted after it was read": {func(rw http.ResponseWriter, r *http.Request, n int, _ http.Handler) bool {
			if r.Method == "HEAD" && n > 0 || r.Header.Get("Range") == "bytes=0-0" {
				rw.WriteHeader(404)
				return true
			}
			return false
		}, fail.OK, "", []byte{}},
		"redirect on the server": {func(rw http.ResponseWriter, r *http.Request, _ int, files http.Handler) bool {
			if r.URL.Path != "/a.csv" || r.Header.Get("X-Moved") != "" {
				r.URL.Path = "/a.csv"
				return false
			}
			http.Redirect(rw, r, "/moved/a.csv", http.StatusFound)
			return true
		}, fail.OK, "", nil},
		"redirect to a forbidden host": {on("GET", 0, always, func(rw http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(rw, r, forbidden.URL, http.StatusFound)
		}), fail.Usage, "which is not followed", nil},
		"redirect to metadata": {on("HEAD", 0, always, func(rw http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(rw, r, "http://169.254.169.254/latest", http.StatusFound)
		}), fail.Usage, "which is not followed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w.put("a.csv", body)
			w.spoil(c.fault)
			defer w.spoil(nil)
			a := w.request("a.csv")
			a.Until = time.Now().Add(time.Minute)
			s, err := fetch.Pull(context.Background(), quick, a.Request)
			if fail.ClassOf(err) != c.class {
				t.Fatalf("class %d, want %d: %v", fail.ClassOf(err), c.class, err)
			}
			if err == nil {
				if len(c.ends) == 0 && c.ends != nil {
					if len(s.Files) != 0 {
						t.Errorf("%+v", s.Files)
					}
					return
				}
				want := body
				if c.ends != nil {
					want = c.ends
				}
				whole(t, a, s, "a.csv", want)
				return
			}
			e, _ := errors.AsType[*fail.Error](err)
			if text := e.Error() + " | " + e.Hint; !strings.Contains(text, c.says) || !strings.Contains(text, "the source results: ") || e.Hint == "" {
				t.Errorf("%s\nlacks %q", text, c.says)
			}
			a.Nothing(t, map[string][]byte{"a.csv": body})
			w.put("a.csv", body)
			w.spoil(nil)
			s = pulled(t, a)
			whole(t, a, s, "a.csv", body)
			undisturbed := w.request("a.csv")
			if u := pulled(t, undisturbed); !slices.Equal(u.Files, s.Files) || u.Proof != s.Proof || u.Request != s.Request {
				t.Errorf("an undisturbed pull differs:\n%+v\n%+v", s, u)
			}
		})
	}
}

// TestRest: what came before an answer broke off is not asked for again, on the condition that
// the content is the same; by a time alone only where that names the content.
func TestRest(t *testing.T) {
	w := newWorld(t)
	body := noise(12, 2<<20)
	for _, c := range []struct {
		name string
		etag bool
		at   time.Time
		span string
	}{
		{"ETag", true, noon, "bytes=1048576-"},
		{"time", false, noon, "bytes=1048576-"},
		{"young time", false, time.Now(), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.etag = c.etag
			w.putAt("a.csv", body, c.at)
			w.spoil(on("GET", 0, 0, sent(1<<20, reset)))
			a := w.request("a.csv")
			whole(t, a, pulled(t, a), "a.csv", body)
			g := w.requests("GET")
			if len(g) != 2 || g[1].span != c.span || (g[1].by == "") != (c.span == "") {
				t.Errorf("%+v", g)
			}
		})
	}
}

// TestToken: a token that expires in mid-pull is replaced, once; one that stays refused is
// a fault of the job.
func TestToken(t *testing.T) {
	w := newWorld(t)
	body := noise(13, 3<<20)
	w.put("a.csv", body)
	t.Setenv("HTTPS_TEST_ID", "reader")
	t.Setenv("HTTPS_TEST_SECRET", "the-secret-of-the-test")
	var tokens atomic.Int64
	good := func() string { return fmt.Sprint("Bearer token-", tokens.Load()) }
	serve := func(expire func(n int) bool) fault {
		return func(rw http.ResponseWriter, r *http.Request, n int, files http.Handler) bool {
			switch {
			case r.URL.Path == "/token":
				fmt.Fprintf(rw, `{"access_token":"token-%d","token_type":"bearer","expires_in":3600}`, tokens.Add(1))
			case r.Method == "GET" && expire(n), r.Header.Get("Authorization") != good():
				says(401)(rw, r, files)
			case n == 0 && r.Method == "GET":
				sent(1<<20, reset)(rw, r, files)
			default:
				return false
			}
			return true
		}
	}
	keys := "auth: {oauth2: {token_url: " + w.URL + "/token, client_id: {env: HTTPS_TEST_ID}, client_secret: {env: HTTPS_TEST_SECRET}}}"
	w.spoil(serve(func(n int) bool { return n == 1 }))
	a := w.request("a.csv", keys)
	whole(t, a, pulled(t, a), "a.csv", body)
	if tokens.Load() != 2 {
		t.Errorf("%d tokens", tokens.Load())
	}
	for _, g := range w.requests("GET")[2:] {
		if g.span != "bytes=1048576-" || g.auth != "Bearer token-2" {
			t.Errorf("%+v", g)
		}
	}
	w.spoil(serve(func(n int) bool { return n > 0 }))
	a = w.request("a.csv", keys)
	if _, err := fetch.Pull(context.Background(), quick, a.Request); fail.ClassOf(err) != fail.Usage || !strings.Contains(err.Error(), "401") {
		t.Error(err)
	}
	w.spoil(nil)
	w.spoil(serve(func(n int) bool { return false }))
	whole(t, a, pulled(t, a), "a.csv", body)
}

// TestSecrets: what a server says of the secrets, and it may say them all, reaches no file, no
// note and no error; a file that holds one is refused.
func TestSecrets(t *testing.T) {
	w := newWorld(t)
	const canary = "canary-of-https/77+x"
	t.Setenv("HTTPS_TEST_TOKEN", canary)
	for name, c := range map[string]struct {
		fault fault
		class fail.Class
	}{
		"in an error": {on("HEAD", 0, always, func(rw http.ResponseWriter, r *http.Request, f http.Handler) {
			http.Error(rw, r.Header.Get("Authorization"), http.StatusUnauthorized)
		}), fail.Usage},
		"in a redirect": {on("HEAD", 0, always, says(302, "Location", "https://"+canary+".example/")), fail.Usage},
		"in the file": {on("GET", 0, always, func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
			fmt.Fprint(rw, strings.Repeat("x", 3<<20)+canary)
		}), fail.Usage},
		"in a checksum": {func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
			if strings.HasSuffix(r.URL.Path, ".sha256") {
				fmt.Fprint(rw, canary)
				return true
			}
			return false
		}, fail.Input},
	} {
		w.put("a.csv", noise(14, 3<<20+len(canary)))
		w.spoil(c.fault)
		a := w.request("a.csv", "auth: {bearer: {env: HTTPS_TEST_TOKEN}}", "checksum: {suffix: .sha256}")
		if name != "in a checksum" {
			a.Source().Remote.HTTPS.Checksum.Suffix = ""
		}
		_, err := fetch.Pull(context.Background(), quick, a.Request)
		if fail.ClassOf(err) != c.class {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e, _ := errors.AsType[*fail.Error](err)
		if got := w.requests("HEAD"); len(got) == 0 || got[0].auth != "Bearer "+canary {
			t.Errorf("%s: the secret was not sent: %+v", name, got)
		}
		a.Secret(t, canary, err, e.Hint, quick.Check(context.Background(), a.Request))
	}
}
