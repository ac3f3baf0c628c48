package api_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/api"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
)

// TestFaults: each fault on each page; once it does no harm, and where it stays the pull
// ends with its class and leaves nothing half staged. The run after that goes on with the
// pages that are there, and ends in the same bytes as an undisturbed one.
func TestFaults(t *testing.T) {
	cut := func(b []byte) []byte { return b[:len(b)/2] } // without a length nobody sees it but who reads it
	for name, c := range map[string]struct {
		fault testproxy.Fault
		once  bool // one time is too much already
		class fail.Class
		why   string
	}{
		"429":           {fault: testproxy.Fault{Status: 429, Header: http.Header{"Retry-After": {"0"}}}, class: fail.Temporary, why: "429"},
		"500":           {fault: testproxy.Fault{Status: 500}, class: fail.Temporary, why: "500"},
		"503":           {fault: testproxy.Fault{Status: 503}, class: fail.Temporary, why: "503"},
		"503 for hours": {fault: testproxy.Fault{Status: 503, Header: http.Header{"Retry-After": {"7200"}}}, once: true, class: fail.Temporary, why: "after the run has to end"},
		"reset":         {fault: testproxy.Fault{Reset: 100}, class: fail.Temporary, why: "cannot be asked"},
		"reset early":   {fault: testproxy.Fault{Reset: -1}, class: fail.Temporary, why: "cannot be asked"},
		"short body":    {fault: testproxy.Fault{Short: 100}, class: fail.Temporary, why: "broke off"},
		"silent":        {fault: testproxy.Fault{Silent: true}, class: fail.Temporary, why: "nothing came"},
		"slow body":     {fault: testproxy.Fault{Slow: 2 * time.Second, Piece: 20}, class: fail.Temporary, why: "nothing came"},
		"cut document":  {fault: testproxy.Fault{Rewrite: cut}, class: fail.Input, why: "ends too early"},
		"not JSON":      {fault: testproxy.Fault{Status: 200, Body: "<html>maintenance</html>"}, once: true, class: fail.Input, why: "it is no JSON"},
		"another shape": {fault: testproxy.Fault{Status: 200, Body: `{"error": "maintenance"}`}, once: true, class: fail.Input, why: "no array at data.items"},
		"two documents": {fault: testproxy.Fault{Rewrite: func(b []byte) []byte { return append(b, b...) }}, once: true, class: fail.Input, why: "text follows"},
		"401":           {fault: testproxy.Fault{Status: 401}, once: true, class: fail.Usage, why: "401"},
		"403 and clock": {fault: testproxy.Fault{Status: 403, Header: http.Header{"Date": {time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)}}}, once: true, class: fail.Temporary, why: "403"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, 35)
			front := testproxy.New(t, p.URL)
			patience := "1m"
			if c.fault.Silent || c.fault.Slow > 0 {
				patience = "500ms"
			}
			source := strings.Replace(styles["cursor total"], "{url", "{allow_private: true, requests: {rate: 1000000/s, attempts: 3, timeout: "+patience+"}, url", 1)
			clean, err := pull(request(t, source, front.URL))
			if err != nil {
				t.Fatal(err)
			}
			asked := front.Log()
			for n := 1; n <= 4; n++ {
				r := request(t, source, front.URL)
				if front.Once(n, c.fault); !c.once {
					if s, err := pull(r); err != nil || files(s) != files(clean) {
						t.Errorf("once, request %d: %v", n, err)
					}
					continue
				}
				_, err := pull(r)
				want(t, err, c.class, c.why)
				unstaged(t, r)
				again(t, r, front, clean, c.class == fail.Input, n-1, asked)
			}
			if c.once {
				return
			}
			for n := 1; n <= 4; n++ {
				r := request(t, source, front.URL)
				front.Rule(func(i int, _ *http.Request) testproxy.Fault {
					if i >= n {
						return c.fault
					}
					return testproxy.Fault{}
				})
				_, err := pull(r)
				want(t, err, c.class, c.why)
				unstaged(t, r)
				// net/http itself asks once more where a connection that was used before ends
				// without an answer.
				used := 0
				if name == "reset early" && n > 1 {
					used = 1
				}
				if got := len(front.Log()); got != n-1+3+used {
					t.Errorf("from request %d on: %d requests", n, got)
				}
				again(t, r, front, clean, c.class == fail.Input, n-1, asked)
			}
		})
	}
}

// again pulls once more into the same folder; kept pages are not asked for.
func again(t *testing.T, r *fetch.Request, front *testproxy.Proxy, clean *fetch.Snapshot, anew bool, kept int, asked []testproxy.Entry) {
	t.Helper()
	front.Rule(nil)
	s, err := pull(r)
	if err != nil || files(s) != files(clean) || s.Proof != clean.Proof {
		t.Errorf("the second run: %v", err)
		return
	}
	if anew { // what does not fit is not gone on from
		kept = 0
	}
	log := front.Log()
	if len(log) != len(asked)-kept {
		t.Errorf("%d requests, %d pages were there of %d", len(log), kept, len(asked))
		return
	}
	for i, e := range log {
		if e.Target != asked[kept+i].Target {
			t.Errorf("asked %s, want %s", e.Target, asked[kept+i].Target)
		}
	}
}

// TestKilled: the puller is killed at every request, before and after its answer; the next
// one goes on, ends in the same bytes, and never asks for a page that is stored.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("API_TEST_DIR"); dir != "" {
		r := request(t, os.Getenv("API_TEST_SOURCE"), os.Getenv("API_TEST_AT"))
		r.Dir = dir
		if _, err := pull(r); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, style := range []string{"offset", "cursor total", "cursor", "slices"} {
		t.Run(style, func(t *testing.T) {
			p := newProvider(t, 35)
			clean, err := pull(request(t, styles[style], p.URL))
			if err != nil {
				t.Fatal(err)
			}
			undisturbed := p.requests()
			for n := 1; n <= len(undisturbed); n++ {
				for _, when := range []string{"before", "after"} {
					var proc atomic.Pointer[os.Process]
					var count atomic.Int64
					started, reaped := make(chan struct{}), make(chan struct{})
					var mu sync.Mutex
					var log []string
					inner := p.Config.Handler
					s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
						<-started
						i := int(count.Add(1))
						// After: the page before is stored, and this one is asked for.
						if i == n && when == "before" || i == n+1 && when == "after" {
							proc.Load().Kill()
							<-reaped
							panic(http.ErrAbortHandler)
						}
						mu.Lock()
						log = append(log, req.URL.RequestURI())
						mu.Unlock()
						inner.ServeHTTP(w, req)
					}))
					dir := t.TempDir()
					cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
					cmd.Env = append(os.Environ(), "API_TEST_DIR="+dir, "API_TEST_SOURCE="+styles[style], "API_TEST_AT="+s.URL)
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					proc.Store(cmd.Process)
					close(started)
					cmd.Wait()
					close(reaped)
					if !cmd.ProcessState.Exited() { // killed
						r := request(t, styles[style], s.URL)
						r.Dir = dir
						if s, _ := fetch.ReadSnapshot(dir); s != nil {
							t.Error("a snapshot is there")
						}
						count.Store(1000)
						got, err := pull(r)
						if err != nil {
							t.Fatalf("request %d, %s: %v", n, when, err)
						}
						if files(got) != strings.ReplaceAll(files(clean), p.URL, s.URL) || got.Proof != clean.Proof {
							t.Errorf("request %d, %s: other bytes\n%s\n%s", n, when, files(got), files(clean))
						}
					} else if when == "before" || n < len(undisturbed) {
						t.Errorf("request %d: the puller was not killed", n)
					}
					s.Close()
					all := make([]string, len(undisturbed))
					for i, u := range undisturbed {
						all[i] = strings.TrimPrefix(u, "GET ")
					}
					slices.Sort(all)
					slices.Sort(log)
					if !slices.Equal(all, log) {
						t.Errorf("request %d, %s: asked\n%s\nundisturbed\n%s", n, when, strings.Join(log, "\n"), strings.Join(all, "\n"))
					}
				}
			}
		})
	}
}

// TestLeft: the list loses its last lines, or a file is damaged; what is not believed is
// asked for again, and a pull of something else begins anew.
func TestLeft(t *testing.T) {
	p := newProvider(t, 35)
	clean, err := pull(request(t, styles["cursor total"], p.URL))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		harm func(dir string) error
		asks int
	}{
		"whole":          {func(string) error { return nil }, 0},
		"list lost":      {func(dir string) error { return os.Remove(filepath.Join(dir, api.PagesFile)) }, 4},
		"list cut":       {func(dir string) error { return shorten(filepath.Join(dir, api.PagesFile), 10) }, 0}, // the page is there whole, and its request is known
		"last file lost": {func(dir string) error { return os.Remove(filepath.Join(dir, "files", "page-000004.json.zst")) }, 1},
		"file damaged":   {func(dir string) error { return shorten(filepath.Join(dir, "files", "page-000002.json.zst"), 1) }, 3},
		"rubbish": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "files", "page-000009.json.zst"), []byte("x"), 0o600)
		}, 0},
		"temporary file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, ".part-1"), []byte("x"), 0o600) }, 0},
	} {
		r := request(t, styles["cursor total"], p.URL)
		if _, err := pull(r); err != nil {
			t.Fatal(err)
		}
		before := len(p.requests())
		if err := os.Remove(filepath.Join(r.Dir, fetch.SnapshotFile)); err != nil {
			t.Fatal(err)
		}
		if err := c.harm(r.Dir); err != nil {
			t.Fatal(err)
		}
		s, err := pull(r)
		if err != nil || files(s) != files(clean) || len(p.requests())-before != c.asks {
			t.Errorf("%s: %v, %d requests", name, err, len(p.requests())-before)
		}
		// A job that asks for something else takes nothing over.
		before = len(p.requests())
		other := request(t, strings.Replace(styles["cursor total"], "size: 10", "size: 20", 1), p.URL)
		other.Dir = r.Dir
		if s, err := pull(other); err != nil || len(s.Files) != 2 || len(p.requests())-before != 2 {
			t.Errorf("%s, other request: %v", name, err)
		}
	}
}

func shorten(path string, by int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()-by)
}

// TestCircle: a cursor that was there before is an error, and so is a page.
func TestCircle(t *testing.T) {
	p := newProvider(t, 35)
	first := p.rows[9]
	p.loop = fmt.Sprintf("c%d_%d", first.At, first.ID)
	r := request(t, styles["cursor"], p.URL)
	_, err := pull(r)
	want(t, err, fail.Input, "in a circle")
	unstaged(t, r)
	if n := len(p.requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	// A service that does not know the parameter gives the first page for ever.
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":{"items":[{"id":1},{"id":2}]}}`)
	}))
	defer s.Close()
	for _, style := range []string{"offset", "page", "last empty"} {
		_, err = pull(request(t, styles[style], s.URL))
		if fail.ClassOf(err) != fail.Input {
			t.Errorf("%s: %v", style, err)
		}
	}
}

// TestStuck: a service whose pages are the same for ever, though each names another next one.
func TestStuck(t *testing.T) {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		fmt.Fprintf(w, `{"data":{"items":[{"id":1}]},"meta":{"next":"c%d"}}`, n)
	}))
	defer s.Close()
	r := request(t, strings.Replace(styles["cursor"], "{url", "{limits: {pages: 50, passes: 2}, url", 1), s.URL)
	_, err := pull(r)
	want(t, err, fail.Input, "has the same records as page 1")
	unstaged(t, r)
	if n != 4 {
		t.Errorf("%d requests", n)
	}
}

// TestTotalThatChanges: a total that moves while pages are read, or that is not reached, is
// asked for again, and refused where it does not end.
func TestTotalThatChanges(t *testing.T) {
	for _, style := range []string{"offset total", "offset stable", "page total", "cursor total", "link"} {
		p := newProvider(t, 35)
		p.before = func(n int) {
			if n == 3 {
				p.rows = p.rows[:30] // five are gone
			}
		}
		r := request(t, styles[style], p.URL)
		s, err := pull(r)
		if err != nil || len(rowsOf(t, r, s)) != 30 || len(s.Notes) != 1 {
			t.Errorf("%s: %v", style, err)
		}
		p = newProvider(t, 35)
		p.before = func(n int) {
			if n%3 == 0 {
				p.rows = p.rows[:len(p.rows)-1]
			}
		}
		r = request(t, styles[style], p.URL)
		_, err = pull(r)
		want(t, err, fail.Input, "it was asked 3 times from the start")
		unstaged(t, r)
		// And the next run begins anew.
		p.before = nil
		if s, err := pull(r); err != nil || len(rowsOf(t, r, s)) != len(p.rows) {
			t.Errorf("%s, then: %v", style, err)
		}
	}
	p := newProvider(t, 35)
	p.total = func(_, rows int) int { return rows + 1 }
	_, err := pull(request(t, styles["cursor total"], p.URL))
	want(t, err, fail.Input, "there are 36 records, 35 came")
}

// TestOrigin: addresses of pages stay where the source is.
func TestOrigin(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer elsewhere.Close()
	p := newProvider(t, 35)
	front := testproxy.New(t, p.URL)
	for _, link := range []string{elsewhere.URL + "/x", "//" + strings.TrimPrefix(elsewhere.URL, "http://") + "/x", "https://" + strings.TrimPrefix(front.URL, "http://") + "/x", "http://user:pass@" + strings.TrimPrefix(front.URL, "http://") + "/x", "file:///etc/passwd"} {
		front.Once(2, testproxy.Fault{Header: http.Header{"Link": {"<" + link + ">; rel=next"}}})
		_, err := pull(request(t, styles["link"], front.URL))
		want(t, err, fail.Input, "not the origin of the source")
		front.Once(2, testproxy.Fault{Rewrite: func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"next":"`), []byte(`"next":"`+link+`?`), 1)
		}})
		_, err = pull(request(t, `{url: AT/cursor, records: data.items, pagination: {style: cursor, next: meta.next, next_is: url}}`, front.URL))
		if err == nil {
			t.Error("followed")
		}
	}
	front.Once(2, testproxy.Fault{Header: http.Header{"Link": {"<x; rel=next"}}})
	_, err := pull(request(t, styles["link"], front.URL))
	want(t, err, fail.Input, "Link header is broken")
}

// TestFullDisk: a disk that is full has its class and leaves nothing half staged; the run
// after that goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT TESTED: a small disk cannot be made: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	p := newProvider(t, 4000)
	for i := range p.rows {
		p.rows[i].Say = fmt.Sprintf("%x", uint64(i)*0x9E3779B97F4A7C15)
	}
	source := strings.Replace(styles["cursor total"], "size: 10", "size: 500", 1)
	clean, err := pull(request(t, source, p.URL))
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, source, p.URL)
	r.Dir = dir
	_, err = pull(r)
	if fail.ClassOf(err) != fail.Resources {
		t.Fatalf("%v", err)
	}
	unstaged(t, r)
	before := len(p.requests())
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	s, err := pull(r)
	if err != nil || files(s) != files(clean) || len(p.requests())-before >= 8 {
		t.Errorf("%v, %d requests", err, len(p.requests())-before)
	}
}

// TestNoSecret: a canary that every way to prove oneself sends is in no file, note or error.
func TestNoSecret(t *testing.T) {
	const canary = "canary/5d1c+77=secret"
	t.Setenv("CANARY", canary)
	t.Setenv("NAME", "reader-of-charges")
	forms := []string{canary, "canary%2F5d1c%2B77%3Dsecret", "canary%2F5d1c+77", "Y2FuYXJ5", `canary\/5d1c`, "5d1c"}
	for name, auth := range map[string]string{
		"basic": "basic: {username: {env: NAME}, password: {env: CANARY}}", "bearer": "bearer: {env: CANARY}", "header": "api_key: {header: X-Key, value: {env: CANARY}}",
		"query": "api_key: {query: key, value: {env: CANARY}}", "hmac": `hmac: {key: {env: CANARY}, string: "{path}", headers: {X-S: "{signature}"}}`,
		"sigv4":  "sigv4: {access_key: {env: NAME}, secret_key: {env: CANARY}, region: here}",
		"oauth2": "oauth2: {token_url: AT/token, client_id: {env: NAME}, client_secret: {env: CANARY}}",
	} {
		p := newProvider(t, 35)
		front := testproxy.New(t, p.URL)
		token := func(_ int, r *http.Request) testproxy.Fault {
			if r.URL.Path == "/token" {
				return testproxy.Fault{Status: 200, Body: `{"access_token":"` + canary + `"}`}
			}
			return testproxy.Fault{}
		}
		for _, style := range []string{"cursor", "link", "offset"} {
			var said strings.Builder
			check := func(r *fetch.Request, s *fetch.Snapshot, err error) {
				t.Helper()
				fmt.Fprintf(&said, "%+v %v", s, err)
				filepath.WalkDir(r.Dir, func(path string, e fs.DirEntry, err error) error {
					if err == nil && e.Type().IsRegular() {
						text, _ := os.ReadFile(path)
						said.Write(text)
						if strings.HasSuffix(path, ".zst") {
							said.Write(content(t, r, filepath.Base(path)))
						}
					}
					return err
				})
				for _, f := range forms {
					if strings.Contains(said.String(), f) {
						t.Errorf("%s, %s: %q is shown", name, style, f)
					}
				}
			}
			source := strings.Replace(styles[style], "{url", "{auth: {"+auth+"}, url", 1)
			front.Rule(token)
			r := request(t, source, front.URL)
			s, err := pull(r)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, style, err)
			}
			check(r, s, err)
			if got := front.Log(); !strings.Contains(fmt.Sprint(got), "canary") && name != "hmac" && name != "sigv4" && name != "basic" {
				t.Errorf("%s: the secret was not sent at all", name)
			}
			// A service that repeats what it got, in a refusal and in a page.
			for _, f := range []testproxy.Fault{{Status: 403, Body: "who is " + canary + " Bearer " + canary}, {Status: 500, Header: http.Header{"X-Request-Id": {canary}}, Body: canary},
				{Rewrite: func(b []byte) []byte { return append([]byte(`{"you":"`+canary+`",`), b[1:]...) }}, {Header: http.Header{"X-Request-Id": {canary}}}} {
				front.Rule(func(n int, r *http.Request) testproxy.Fault {
					if r.URL.Path == "/token" {
						return token(n, r)
					}
					return f
				})
				r := request(t, source, front.URL)
				s, err := pull(r)
				if f.Rewrite != nil {
					want(t, err, fail.Usage, "repeats a secret")
					unstaged(t, r)
				}
				check(r, s, err)
			}
		}
	}
}
