// Package testproxy stands between a client and a real server of a test and does what
// networks and servers do on bad days. Only tests import it.
package testproxy

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

// tester is what New needs of a test.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Fault is what becomes of one request. The zero value lets it pass.
type Fault struct {
	Status   int           // answered in the place of the server, which is not asked
	Header   http.Header   // of that answer, or put on that of the server
	Body     string        // of that answer
	Reset    int64         // the connection is reset after so many bytes of the body (from 1); -1: before any answer
	Short    int64         // the connection is closed in good order after so many bytes of the body, of which more were promised
	Silent   bool          // nothing is answered until the client goes away
	Slow     time.Duration // between two pieces of the body
	Piece    int           // bytes of such a piece; 0: 1
	Rewrite  func(body []byte) []byte
	Untimely time.Duration // put on the Date of the answer
}

// Entry is one request as it came.
type Entry struct {
	Method, Target string // the target with its query
	Header         http.Header
	Body           string
	Fault          bool
}

// Proxy is a server in front of another one.
type Proxy struct {
	*httptest.Server

	mu     sync.Mutex
	log    []Entry
	rule   func(n int, r *http.Request) Fault
	done   chan struct{}
	server *url.URL
	client *http.Client
}

// New starts a proxy in front of the server at the address. It ends with the test.
func New(t tester, server string) *Proxy {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := &Proxy{server: u, done: make(chan struct{}), client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DisableCompression: true},
	}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() { close(p.done); p.CloseClientConnections(); p.Close() })
	return p
}

// Rule sets what becomes of requests: n counts those that came since, from 1.
func (p *Proxy) Rule(rule func(n int, r *http.Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log, p.rule = nil, rule
}

// Once makes the n-th request from now on fail, and lets all others pass.
func (p *Proxy) Once(n int, f Fault) {
	p.Rule(func(i int, _ *http.Request) Fault {
		if i == n {
			return f
		}
		return Fault{}
	})
}

// First makes the first requests of a kind from now on fail, at most so many, and lets all
// others pass. It gives how many have failed so far.
func (p *Proxy) First(most int, of func(*http.Request) bool, f Fault) (failed func() int) {
	var mu sync.Mutex
	n := 0
	p.Rule(func(_ int, r *http.Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		if n == most || !of(r) {
			return Fault{}
		}
		n++
		return f
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// Log gives the requests that came since the rule was set.
func (p *Proxy) Log() []Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Entry(nil), p.log...)
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	var f Fault
	if p.rule != nil {
		f = p.rule(len(p.log)+1, r)
	}
	bad := f.Status != 0 || f.Reset != 0 || f.Short != 0 || f.Silent || f.Slow != 0 || f.Rewrite != nil || f.Untimely != 0
	p.log = append(p.log, Entry{Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body), Fault: bad})
	p.mu.Unlock()
	switch {
	case f.Silent:
		select {
		case <-r.Context().Done():
		case <-p.done:
		}
		return
	case f.Reset < 0:
		p.hijack(w, true)
		return
	case f.Status != 0:
		put(w.Header(), f.Header)
		w.WriteHeader(f.Status)
		io.WriteString(w, f.Body)
		return
	}
	res, err := p.ask(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	put(w.Header(), res.Header)
	put(w.Header(), f.Header)
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil && f.Untimely != 0 {
		w.Header().Set("Date", at.Add(f.Untimely).UTC().Format(http.TimeFormat))
	}
	if !bad {
		w.WriteHeader(res.StatusCode)
		io.Copy(w, res.Body)
		return
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if f.Rewrite != nil {
		text = f.Rewrite(text)
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	w.WriteHeader(res.StatusCode)
	p.send(w, text, f)
}

// send writes a body with what is wrong with it.
func (p *Proxy) send(w http.ResponseWriter, text []byte, f Fault) {
	control := http.NewResponseController(w)
	upto := int64(len(text))
	if f.Reset > 0 {
		upto = min(upto, f.Reset)
	}
	if f.Short > 0 {
		upto = min(upto, f.Short)
	}
	piece := len(text)
	if f.Slow > 0 {
		piece = max(f.Piece, 1)
	}
	for rest := text[:upto]; len(rest) > 0; {
		n := min(piece, len(rest))
		if _, err := w.Write(rest[:n]); err != nil {
			return
		}
		if rest = rest[n:]; f.Slow > 0 {
			control.Flush()
			select {
			case <-time.After(f.Slow):
			case <-p.done:
				return
			}
		}
	}
	if f.Reset > 0 || f.Short > 0 {
		control.Flush()
		p.hijack(w, f.Reset > 0)
	}
}

// hijack ends the connection of an answer: by a reset, or in good order.
func (p *Proxy) hijack(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// ask passes a request on.
func (p *Proxy) ask(r *http.Request, body []byte) (*http.Response, error) {
	to := *p.server
	to.Path, to.RawPath, to.RawQuery = r.URL.Path, r.URL.RawPath, r.URL.RawQuery
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), newReader(body))
	if err != nil {
		return nil, err
	}
	put(req.Header, r.Header)
	req.Host = r.Host // so that the addresses in answers lead here again
	return p.client.Do(req)
}

func put(to, from http.Header) {
	for k, v := range from {
		to[k] = append([]string(nil), v...)
	}
}

func newReader(b []byte) io.Reader {
	if len(b) == 0 {
		return nil
	}
	return bytes.NewReader(b)
}
