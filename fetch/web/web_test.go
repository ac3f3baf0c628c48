package web

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/rules"
)

const canary = "canary-3f9a/77+x"

func settings() *rules.Web {
	return &rules.Web{Private: true, Requests: rules.WebRequests{Rate: "100000/s", Attempts: 4, Failures: 50, Timeout: time.Minute}}
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func client(t *testing.T, at string, change func(*Options)) *Client {
	t.Helper()
	o := Options{Source: "psp", Web: settings(), Origins: []*url.URL{parsed(t, at)}, Pause: time.Millisecond, Until: time.Now().Add(time.Minute)}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// get reads an answer whole.
func get(t *testing.T, c *Client, at string, change func(*Call)) (string, error) {
	t.Helper()
	var text []byte
	call := &Call{URL: parsed(t, at), Read: func(res *http.Response) (err error) {
		text, err = io.ReadAll(res.Body)
		return err
	}}
	if change != nil {
		change(call)
	}
	err := c.Do(context.Background(), call)
	return string(text), err
}

func want(t *testing.T, err error, class fail.Class, holds string) {
	t.Helper()
	e, ok := errors.AsType[*fail.Error](err)
	if !ok || e.Class != class || !strings.Contains(e.Error(), holds) || e.Hint == "" {
		t.Errorf("error %v (class %d), want class %d with %q and a hint", err, fail.ClassOf(err), class, holds)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		host, address   string
		private, secure bool
		ok              bool
	}{
		{"api.example", "93.184.216.34:443", false, true, true},
		{"api.example", "93.184.216.34:80", true, false, false}, // http stays inside
		{"api.example", "10.1.2.3:443", false, true, false},
		{"api.example", "10.1.2.3:80", true, false, true},
		{"api.example", "[fd12::1]:443", false, true, false},
		{"api.example", "[fd12::1]:443", true, true, true},
		{"api.example", "100.64.0.1:443", false, true, false},
		{"api.example", "127.0.0.1:443", true, true, false}, // a name that points here
		{"api.example", "[::1]:443", true, true, false},
		{"api.example", "[::ffff:127.0.0.1]:443", true, true, false},
		{"localhost", "127.0.0.1:443", false, true, false},
		{"localhost", "127.0.0.1:443", true, true, true},
		{"127.0.0.1", "127.0.0.1:80", true, false, true},
		{"::1", "[::1]:80", true, false, true},
		{"169.254.169.254", "169.254.169.254:80", true, false, false},
		{"x", "[::ffff:169.254.169.254]:80", true, false, false},
		{"x", "[fe80::1%eth0]:443", true, true, false},
		{"x", "[fd00:ec2::254]:80", true, false, false},
		{"x", "[64:ff9b::a9fe:a9fe]:443", true, true, false},
		{"x", "[2002:a9fe:a9fe::]:443", true, true, false},
		{"x", "100.100.100.200:80", true, false, false},
		{"x", "224.0.0.1:443", true, true, false},
		{"x", "[ff02::1]:443", true, true, false},
		{"x", "0.0.0.0:443", true, true, false},
		{"x", "[::]:443", true, true, false},
		{"x", "255.255.255.255:443", true, true, false},
	} {
		err := CheckAddress(c.host, c.address, c.private, c.secure)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// The check is where the address is dialled.
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, err := get(t, client(t, s.URL, func(o *Options) { o.Web.Private = false }), s.URL, nil)
	want(t, err, fail.Usage, "is not https")
	_, err = get(t, client(t, "http://93.184.216.34", nil), "http://93.184.216.34/", nil)
	want(t, err, fail.Usage, "asked by https alone")
	_, err = Dial(false, true)(context.Background(), "tcp", strings.Replace(s.Listener.Addr().String(), "127.0.0.1", "localhost", 1))
	if _, hint, ok := Refusal(err); !ok || !strings.Contains(hint, "allow_private") {
		t.Errorf("dialled: %v", err)
	}
}

func TestHosts(t *testing.T) {
	c := client(t, "https://api.example/v1", func(o *Options) { o.Web.Hosts = []string{"files.example", "cdn.example:8443"} })
	for at, ok := range map[string]bool{
		"https://api.example/v2?x": true, "https://API.example:443/": true, "https://api.example:8443/": false, "http://api.example/": false,
		"https://api.example.evil/": false, "https://files.example/a": true, "https://files.example:444/a": false, "https://cdn.example:8443/": true,
		"https://cdn.example/": false, "https://user@api.example/": false, "ftp://api.example/": false, "https://evil/": false,
	} {
		if err := c.allowed(parsed(t, at)); (err == nil) != ok {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestFaultsAreTriedAgain(t *testing.T) {
	whole := strings.Repeat("0123456789", 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, whole) }))
	defer s.Close()
	p := testproxy.New(t, s.URL)
	for name, f := range map[string]testproxy.Fault{
		"429": {Status: 429}, "500": {Status: 500}, "502": {Status: 502}, "503": {Status: 503, Header: http.Header{"Retry-After": {"0"}}}, "504": {Status: 504}, "408": {Status: 408},
		"reset before": {Reset: -1}, "reset in mid-body": {Reset: 5000}, "short body": {Short: 5000}, "silent": {Silent: true}, "slow body": {Slow: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			short := func(o *Options) {
				if f.Silent || f.Slow > 0 {
					o.Web.Requests.Timeout = 200 * time.Millisecond
				}
			}
			c := client(t, p.URL, short)
			p.Rule(func(n int, _ *http.Request) testproxy.Fault {
				if n < 4 {
					return f
				}
				return testproxy.Fault{}
			})
			text, err := get(t, c, p.URL, nil)
			if err != nil || text != whole {
				t.Errorf("%d bytes, %v", len(text), err)
			}
			if sent, again := c.Counts(); sent != 4 || again != 3 || len(p.Log()) != 4 {
				t.Errorf("sent %d, again %d, came %d", sent, again, len(p.Log()))
			}
			// And when it does not end.
			p.Rule(func(int, *http.Request) testproxy.Fault { return f })
			_, err = get(t, client(t, p.URL, short), p.URL, nil)
			want(t, err, fail.Temporary, p.URL)
			if n := len(p.Log()); n != 4 {
				t.Errorf("asked %d times", n)
			}
			// A POST is sent once, unless it is declared safe.
			for safe, times := range map[bool]int{false: 1, true: 4} {
				p.Rule(func(int, *http.Request) testproxy.Fault { return f })
				_, err = get(t, client(t, p.URL, short), p.URL, func(k *Call) { k.Method, k.Body, k.Safe = "POST", []byte("{}"), safe })
				want(t, err, fail.Temporary, p.URL)
				if n := len(p.Log()); n != times {
					t.Errorf("a POST, safe %v, was sent %d times", safe, n)
				}
			}
		})
	}
}

func TestWhatIsRefusedForGood(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	p := testproxy.New(t, s.URL)
	for _, status := range []int{400, 401, 403, 404, 405, 409, 410, 422, 501} {
		p.Rule(func(int, *http.Request) testproxy.Fault {
			return testproxy.Fault{Status: status, Body: "no such cursor\x1b[31m " + canary}
		})
		c := client(t, p.URL, nil)
		c.Secrets.Add(canary)
		_, err := get(t, c, p.URL+"/x?key="+url.QueryEscape(canary), nil)
		want(t, err, fail.Usage, fmt.Sprint(status))
		if text := err.Error(); !strings.Contains(text, "no such cursor") || strings.Contains(text, "canary") || strings.Contains(text, "\x1b") {
			t.Errorf("%q", text)
		}
		if len(p.Log()) != 1 {
			t.Errorf("%d: asked %d times", status, len(p.Log()))
		}
	}
	// A clock that is wrong may be right later.
	p.Rule(func(int, *http.Request) testproxy.Fault {
		return testproxy.Fault{Status: 403, Header: http.Header{"Date": {time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)}}}
	})
	_, err := get(t, client(t, p.URL, nil), p.URL, nil)
	want(t, err, fail.Temporary, "403")
	if e, _ := errors.AsType[*fail.Error](err); !strings.Contains(e.Hint, "clock") {
		t.Errorf("hint %q", e.Hint)
	}
	// Accepted statuses are read.
	p.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 404, Body: "none"} })
	if text, err := get(t, client(t, p.URL, nil), p.URL, func(k *Call) { k.Accept = []int{200, 404} }); err != nil || text != "none" {
		t.Errorf("%q %v", text, err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	for text, d := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "Mon, 30 Nov 2026 08:00:30 GMT": 30 * time.Second, "Monday, 30-Nov-26 08:00:30 GMT": 30 * time.Second,
		"Mon, 30 Nov 2026 07:00:00 GMT": 0, "soon": 0, "-5": 0, "1.5": 0, "99999999999999999999": 1<<63 - 1,
	} {
		if got := RetryAfter(text, now); got != d {
			t.Errorf("%q: %s, want %s", text, got, d)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }))
	defer s.Close()
	p := testproxy.New(t, s.URL)
	for _, h := range []string{"3600", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), "99999999999999999999"} {
		p.Rule(func(int, *http.Request) testproxy.Fault {
			return testproxy.Fault{Status: 503, Header: http.Header{"Retry-After": {h}}}
		})
		_, err := get(t, client(t, p.URL, nil), p.URL, nil)
		want(t, err, fail.Temporary, "after the run has to end")
		if len(p.Log()) != 1 {
			t.Errorf("%s: asked %d times", h, len(p.Log()))
		}
		// Without an end of the run no wait is longer than ten minutes.
		_, err = get(t, client(t, p.URL, func(o *Options) {
			o.Until = time.Time{}
			o.Now = func() time.Time { return time.Now().Add(-time.Minute) }
		}), p.URL, nil)
		want(t, err, fail.Temporary, "")
	}
	// What fits is waited for.
	p.Once(1, testproxy.Fault{Status: 429, Header: http.Header{"Retry-After": {"1"}}})
	began := time.Now()
	if _, err := get(t, client(t, p.URL, nil), p.URL, nil); err != nil || time.Since(began) < time.Second {
		t.Errorf("waited %s: %v", time.Since(began), err)
	}
}

func TestSlowDownAndCircuit(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }))
	defer s.Close()
	p := testproxy.New(t, s.URL)
	told := 0
	c := client(t, p.URL, func(o *Options) { o.Note = func(string, ...any) { told++ } })
	at := parsed(t, p.URL)
	p.Once(1, testproxy.Fault{Status: 429})
	if _, err := get(t, c, p.URL, nil); err != nil {
		t.Fatal(err)
	}
	if other := client(t, p.URL, nil); other.pace(at) != c.pace(at) {
		t.Error("two clients ask one host, each at the full rate")
	}
	if l := c.pace(at).l.Limit(); l != 50000 {
		t.Errorf("after 429 the rate is %v", l)
	}
	if told != 1 {
		t.Errorf("people were told %d times", told)
	}
	for range 2 * calmNeeded {
		if _, err := get(t, c, p.URL, nil); err != nil {
			t.Fatal(err)
		}
	}
	if l := c.pace(at).l.Limit(); l <= 60000 || l > 100000 {
		t.Errorf("after a calm time the rate is %v", l)
	}
	for range 20 {
		c.pace(at).slower()
	}
	if l := c.pace(at).l.Limit(); l < 100000/64.0 {
		t.Errorf("the rate fell to %v", l)
	}
	c = client(t, p.URL, func(o *Options) { o.Web.Requests.Failures = 6 })
	p.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 500} })
	_, err := get(t, c, p.URL, nil)
	want(t, err, fail.Temporary, "500")
	_, err = get(t, c, p.URL, nil)
	want(t, err, fail.Temporary, "nothing is asked any more")
	_, err = get(t, c, p.URL, nil)
	want(t, err, fail.Temporary, "nothing is asked any more")
	if n := len(p.Log()); n != 6 {
		t.Errorf("asked %d times", n)
	}
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("another host was asked") }))
	defer other.Close()
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/one":
			http.Redirect(w, r, "/two", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other.URL+"/x?y", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusMovedPermanently)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		default:
			io.WriteString(w, "here")
		}
	}))
	defer s.Close()
	t.Setenv("TOKEN", canary)
	token := func(o *Options) { o.Web.Auth = &rules.WebAuth{Bearer: rules.Secret{Env: "TOKEN"}} }
	text, err := get(t, client(t, s.URL, token), s.URL+"/one", nil)
	if err != nil || text != "here" || fmt.Sprint(seen) != "[/one Bearer "+canary+" /two ]" {
		t.Errorf("%q %v %q", text, err, seen)
	}
	for _, c := range []struct{ path, why string }{{"/away", "redirects to " + other.URL}, {"/loop", "more than 3 times"}, {"/nowhere", "to no address"}} {
		_, err := get(t, client(t, s.URL, token), s.URL+c.path, nil)
		want(t, err, fail.Usage, c.why)
	}
	_, err = get(t, client(t, s.URL, token), s.URL+"/one", func(k *Call) { k.Method, k.Body = "POST", []byte("x") })
	want(t, err, fail.Usage, "302")
}

func TestCapsAndCompression(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", r.URL.Query().Get("e"))
		if b, err := base64.StdEncoding.DecodeString(r.URL.Query().Get("b")); err == nil && len(b) > 0 {
			w.Write(b)
			return
		}
		for range 1000 {
			w.Write(make([]byte, 1000))
		}
	}))
	defer s.Close()
	if text, err := get(t, client(t, s.URL, nil), s.URL, func(k *Call) { k.Most = 1_000_000 }); err != nil || len(text) != 1_000_000 {
		t.Errorf("%d %v", len(text), err)
	}
	_, err := get(t, client(t, s.URL, nil), s.URL, func(k *Call) { k.Most = 999_999 })
	want(t, err, fail.Input, "more than 999999 bytes")
	c := client(t, s.URL, nil)
	read := func(at string, most int64) (n int, err error) {
		_, err = get(t, c, s.URL+at, func(k *Call) {
			k.Read = func(res *http.Response) error {
				r, err := c.Plain(res, most)
				if err != nil {
					return err
				}
				text, err := io.ReadAll(r)
				n = len(text)
				return err
			}
		})
		return n, err
	}
	var z strings.Builder
	gz := newGzip(&z)
	gz.Write(make([]byte, 100_000))
	gz.Close()
	b := "&b=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(z.String())))
	if n, err := read("?e=gzip"+b, 100_000); err != nil || n != 100_000 {
		t.Errorf("%d %v", n, err)
	}
	_, err = read("?e=gzip"+b, 99_999)
	want(t, err, fail.Input, "more bytes than are taken")
	_, err = read("?e=br"+b, 100)
	want(t, err, fail.Input, `"br"`)
	cut := "&b=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(z.String()[:z.Len()/2])))
	_, err = read("?e=gzip"+cut, 100_000)
	want(t, err, fail.Temporary, "broke off")
}

func TestAuthTexts(t *testing.T) {
	var got http.Header
	var query string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got, query = r.Header, r.URL.RawQuery }))
	defer s.Close()
	t.Setenv("KEY", canary)
	t.Setenv("WHO", "someone")
	t.Setenv("BROKEN", "a\nb")
	key := rules.Secret{Env: "KEY"}
	for name, c := range map[string]struct {
		auth   rules.WebAuth
		header string
		value  string
		query  string
	}{
		"basic":  {rules.WebAuth{Basic: &rules.BasicAuth{Username: rules.Secret{Env: "WHO"}, Password: key}}, "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("someone:"+canary)), "a=b"},
		"bearer": {rules.WebAuth{Bearer: key}, "Authorization", "Bearer " + canary, "a=b"},
		"header": {rules.WebAuth{Key: &rules.KeyAuth{Header: "X-Key", Value: key}}, "X-Key", canary, "a=b"},
		"query":  {rules.WebAuth{Key: &rules.KeyAuth{Query: "key", Value: key}}, "Authorization", "", "a=b&key=" + url.QueryEscape(canary)},
	} {
		cl := client(t, s.URL, func(o *Options) { o.Web.Auth = &c.auth })
		if _, err := get(t, cl, s.URL+"/?a=b", nil); err != nil {
			t.Fatal(err)
		}
		if got.Get(c.header) != c.value || query != c.query {
			t.Errorf("%s: %v %q", name, got, query)
		}
		for _, text := range []string{canary, url.QueryEscape(canary), c.value, c.query} {
			if text != "" && strings.Contains(cl.Secrets.Hide(text), "canary") {
				t.Errorf("%s: %q is shown", name, text)
			}
		}
	}
	if _, err := New(Options{Source: "psp", Web: &rules.Web{Auth: &rules.WebAuth{Bearer: rules.Secret{Env: "ABSENT_IN_TESTS"}}}}); fail.ClassOf(err) != fail.Usage {
		t.Errorf("a secret that is not there: %v", err)
	}
	if _, err := New(Options{Source: "psp", Web: &rules.Web{Auth: &rules.WebAuth{Bearer: rules.Secret{Env: "BROKEN"}}}}); fail.ClassOf(err) != fail.Usage || strings.Contains(err.Error(), "a\nb") {
		t.Errorf("a secret of two lines: %v", err)
	}
}

// TestRotatedSecret: a token that is refused is read anew once.
func TestRotatedSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("old-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "Bearer new-token" {
			w.WriteHeader(401)
		}
	}))
	defer s.Close()
	c := client(t, s.URL, func(o *Options) { o.Web.Auth = &rules.WebAuth{Bearer: rules.Secret{File: file}} })
	_, err := get(t, c, s.URL, nil)
	want(t, err, fail.Usage, "401")
	if asked != 1 {
		t.Errorf("the same token was sent %d times", asked)
	}
	if err := os.WriteFile(file, []byte("new-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, c, s.URL, nil); err != nil || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if sent, again := c.Counts(); sent != 3 || again != 1 {
		t.Errorf("sent %d, again %d", sent, again)
	}
	// Also where attempts had failed before.
	failing := 1
	rotating := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case failing > 0:
			failing--
			w.WriteHeader(500)
		case r.Header.Get("Authorization") != "Bearer newest-token":
			os.WriteFile(file, []byte("newest-token"), 0o600)
			w.WriteHeader(401)
		}
	}))
	defer rotating.Close()
	c = client(t, rotating.URL, func(o *Options) { o.Web.Auth = &rules.WebAuth{Bearer: rules.Secret{File: file}} })
	if _, err := get(t, c, rotating.URL, nil); err != nil {
		t.Error(err)
	}
	if sent, again := c.Counts(); sent != 3 || again != 2 {
		t.Errorf("sent %d, again %d", sent, again)
	}
}
