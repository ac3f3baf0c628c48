package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// Options of a client.
type Options struct {
	Source  string           // name of the source, for errors
	Web     *rules.Web       // what the job says
	Origins []*url.URL       // addresses of the job file; their origins may be asked
	BaseDir string           // where secrets given by file begin
	Until   time.Time        // after this instant nothing is tried again; zero: no end
	Now     func() time.Time // nil: time.Now
	Note    func(format string, args ...any)
	Pause   time.Duration // the first wait before a request is sent again is random below it; 0: a second
}

// Client sends the requests of one pull. It may be used by several goroutines.
type Client struct {
	o       Options
	Secrets *Secrets
	rt      *http.Transport
	auth    auth

	sent, again atomic.Int64

	mu   sync.Mutex
	row  int64 // failures in a row
	skew time.Duration
	told map[string]bool // hosts that say that they are asked too often
}

// Call is one request and what becomes of its answer.
type Call struct {
	Method string // GET where empty
	URL    *url.URL
	Header http.Header
	Body   []byte
	Safe   bool  // a POST that may be sent again
	Open   bool  // without credentials
	Direct bool  // a redirect is not followed
	Most   int64 // bytes of the answer's body as it comes; 0: no bound

	// Accept are the statuses whose answers are read; empty: 200 to 299.
	Accept []int

	// Read takes an answer. It is called anew for each attempt, and begins anew, or goes on
	// by what it has changed in Header. The body ends with an error where it breaks off; that
	// error is to be returned. A *fail.Error is final, any other error is a reason to ask again.
	Read func(*http.Response) error

	// Gained tells how many bytes all attempts have brought, where Read goes on: one that
	// brings more is no failure, however it ends. nil where it begins anew.
	Gained func() int64
}

const (
	firstPause   = time.Second
	longestPause = time.Minute
	mostHops     = 3
	mostHeader   = 256 << 10
	enough       = 64 << 10 // bytes that an attempt has to bring to be none that failed
)

// New makes a client and resolves its secrets. The error has class Usage.
func New(o Options) (*Client, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	if o.Pause == 0 {
		o.Pause = firstPause
	}
	c := &Client{o: o, Secrets: &Secrets{}, told: map[string]bool{}}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := c.certificates(config); err != nil {
		return nil, err
	}
	plain, secure := Dial(o.Web.Private, false), Dial(o.Web.Private, true)
	c.rt = &http.Transport{
		Proxy: nil, DialContext: plain, TLSClientConfig: config, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxResponseHeaderBytes: mostHeader, TLSHandshakeTimeout: 30 * time.Second, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 4,
	}
	// Both kinds of connections pass DialContext; TLS begins above it. The one that knows
	// it is for TLS is told by the context of the request.
	c.rt.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(secureKey{}) != nil {
			return secure(ctx, network, address)
		}
		return plain(ctx, network, address)
	}
	var err error
	if c.auth, err = newAuth(c, o.Web.Auth); err != nil {
		return nil, err
	}
	return c, nil
}

type secureKey struct{}

// Close ends idle connections.
func (c *Client) Close() { c.rt.CloseIdleConnections() }

// Counts gives the requests that were sent, and how many of them were sent again.
func (c *Client) Counts() (sent, again int64) { return c.sent.Load(), c.again.Load() }

// Skew is the clock of the server, as its last answer told it, less our own.
func (c *Client) Skew() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skew
}

func (c *Client) shown(u *url.URL) string { return c.Secrets.Shown(u) }

// text resolves a secret of the job and remembers it, so that it is hidden.
func (c *Client) text(s rules.Secret, what string) (string, error) {
	v, err := secret.Text(s, c.o.BaseDir, what)
	if err != nil {
		return "", fail.Wrap(fail.Usage, err, "the source %s", c.o.Source).WithHint("set it, or correct the job file")
	}
	return v, nil
}

// certificates reads those of the job.
func (c *Client) certificates(config *tls.Config) error {
	t := c.o.Web.TLS
	if t == nil {
		return nil
	}
	bad := func(what string) error {
		return fail.New(fail.Usage, "the source %s: %s", c.o.Source, what).WithHint("tls.certificate, tls.key and tls.ca are texts in PEM")
	}
	if t.Certificate.Declared() {
		cert, err := c.text(t.Certificate, "tls.certificate")
		if err != nil {
			return err
		}
		key, err := c.text(t.Key, "tls.key")
		if err != nil {
			return err
		}
		c.Secrets.Add(key)
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err != nil {
			return bad("its certificate and key do not fit each other, or are not PEM") // err may quote the key
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if t.CA.Declared() {
		ca, err := c.text(t.CA, "tls.ca")
		if err != nil {
			return err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return bad("tls.ca holds no certificate")
		}
	}
	return nil
}

// Do sends a request until its answer is read whole, or there is no point in it.
func (c *Client) Do(ctx context.Context, call *Call) error {
	renewed, had := false, int64(0)
	if call.Gained != nil {
		had = call.Gained()
	}
	tries := int64(1)
	if call.repeatable() {
		tries = c.o.Web.Requests.Attempts
	}
	if !c.o.Until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.o.Until.Sub(c.o.Now()), errOver)
		defer cancel()
	}
	for n, first := int64(1), true; ; n, first = n+1, false {
		if err := c.stopped(); err != nil {
			return err
		}
		if err := c.pace(call.URL).wait(ctx); err != nil {
			return c.over(ctx, err, call.URL)
		}
		if c.sent.Add(1); !first {
			c.again.Add(1)
		}
		out := c.once(ctx, call)
		switch {
		case out.err == nil:
			c.succeeded(call.URL)
			return nil
		case ctx.Err() != nil:
			return c.over(ctx, out.err, call.URL)
		case out.unknown && !call.Open && !renewed:
			// 401: once, something else proves who asks. It is no failed attempt.
			renewed = true
			fresh, err := c.auth.renew(ctx, out.generation)
			if err != nil {
				return err
			}
			if fresh {
				n--
				continue
			}
			return out.err
		}
		if !out.again {
			return out.err
		}
		if call.Gained != nil && call.Gained()-had >= enough {
			had, n = call.Gained(), 1 // it goes on, if slowly
			c.succeeded(call.URL)
		} else {
			c.failed(call.URL, out.slower)
		}
		if n >= tries {
			return out.err
		}
		if err := c.stopped(); err != nil {
			return err
		}
		wait := max(c.jitter(n), out.wait)
		if until := c.until(); c.o.Now().Add(wait).After(until) {
			return fail.Wrap(fail.Temporary, out.err, "the next attempt would be in %s, after the run has to end", wait.Round(time.Second)).
				WithHint("start the run again later, or give it more time")
		}
		if err := sleep(ctx, wait); err != nil {
			return c.over(ctx, err, call.URL)
		}
	}
}

// until is the end of the run; where nobody said it no wait is longer than ten minutes.
func (c *Client) until() time.Time {
	if c.o.Until.IsZero() {
		return c.o.Now().Add(10 * time.Minute)
	}
	return c.o.Until
}

// repeatable tells whether a request may be sent again.
func (k *Call) repeatable() bool {
	return k.Method == "" || k.Method == http.MethodGet || k.Method == http.MethodHead || k.Safe
}

var errOver = fmt.Errorf("the time of the run is over")

// over gives the error of a context that ended: ours, where the time was over.
func (c *Client) over(ctx context.Context, err error, u *url.URL) error {
	switch cause := context.Cause(ctx); {
	case cause == errOver, cause == nil: // the wait would have been longer than the time that is left
		return fail.Wrap(fail.Temporary, errOver, "the source %s: %s did not answer in time", c.o.Source, c.shown(u)).
			WithHint("start the run again later, or give it more time")
	default:
		return cause
	}
}

// jitter is a random wait before attempt n+1: up to the first pause, doubled each time.
func (c *Client) jitter(n int64) time.Duration {
	most := longestPause
	if n < 20 {
		most = min(most, c.o.Pause<<(n-1))
	}
	return rand.N(most + 1)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// outcome of one attempt.
type outcome struct {
	err        error
	again      bool          // another attempt may end otherwise
	slower     bool          // we ask too often
	unknown    bool          // 401
	generation int64         // of what proved who asks
	wait       time.Duration // the server wants us to wait
}

// once sends a request once, and follows redirects.
func (c *Client) once(ctx context.Context, call *Call) outcome {
	at, open := call.URL, call.Open
	for hop := 0; ; hop++ {
		if err := c.allowed(at); err != nil {
			return c.refusal(err)
		}
		next, out := c.hop(ctx, call, at, open)
		if next == nil {
			return out
		}
		switch {
		case hop == mostHops:
			return outcome{err: fail.New(fail.Usage, "the source %s: %s redirects more than %d times", c.o.Source, c.shown(call.URL), mostHops).
				WithHint("name the address itself that has the data")}
		case !SameOrigin(call.URL, next):
			return outcome{err: fail.New(fail.Usage, "the source %s: %s redirects to %s, which is not followed", c.o.Source, c.shown(call.URL), c.Secrets.Hide(next.Scheme+"://"+next.Host)).
				WithHint("name the address itself that has the data")}
		}
		at, open = next, true
	}
}

func (c *Client) refusal(err error) outcome {
	what, hint, _ := Refusal(err)
	return outcome{err: fail.New(fail.Usage, "the source %s: %s", c.o.Source, c.Secrets.Hide(what)).WithHint("%s", hint)}
}

// hop sends one request to one address; next is where a redirect leads.
func (c *Client) hop(ctx context.Context, call *Call, at *url.URL, open bool) (next *url.URL, out outcome) {
	if at.Scheme == "https" {
		ctx = context.WithValue(ctx, secureKey{}, true)
	}
	idle := newIdle(ctx, c.o.Web.Requests.Timeout)
	defer idle.end()
	req, err := call.request(idle.ctx, at)
	if err != nil {
		return nil, outcome{err: fail.New(fail.Usage, "the source %s: a request to %s cannot be made", c.o.Source, c.shown(at)).WithHint("see method, headers and URL of the job file")}
	}
	generation := int64(0)
	if !open {
		if generation, err = c.auth.apply(ctx, req, call.Body); err != nil {
			return nil, outcome{err: err}
		}
	}
	idle.begin()
	res, err := c.rt.RoundTrip(req)
	idle.pause()
	if err != nil {
		return nil, c.broken(idle, err, at)
	}
	defer res.Body.Close()
	c.clock(res)
	res.Body = &body{r: res.Body, idle: idle, left: call.Most, bounded: call.Most > 0}
	accepted := res.StatusCode >= 200 && res.StatusCode < 300
	if len(call.Accept) > 0 {
		accepted = slices.Contains(call.Accept, res.StatusCode)
	}
	switch {
	case accepted:
		return nil, c.read(call, res, idle, at)
	case isRedirect(res.StatusCode) && !call.Direct && (req.Method == http.MethodGet || req.Method == http.MethodHead):
		to, err := at.Parse(res.Header.Get("Location"))
		if err != nil || res.Header.Get("Location") == "" {
			return nil, outcome{err: fail.New(fail.Usage, "the source %s: %s redirects to no address", c.o.Source, c.shown(at)).WithHint("name the address itself that has the data")}
		}
		return to, outcome{}
	}
	out = c.status(res, at)
	out.generation = generation
	return nil, out
}

// request makes the request of one attempt.
func (k *Call) request(ctx context.Context, at *url.URL) (*http.Request, error) {
	method := k.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), reader(k.Body))
	if err != nil {
		return nil, err
	}
	for name, v := range k.Header {
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(v)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "recon-batch")
	}
	return req, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// read gives the answer to whoever asked.
func (c *Client) read(call *Call, res *http.Response, idle *idle, at *url.URL) outcome {
	err := call.Read(res)
	if err == nil {
		// What follows what was read tells whether the body was whole.
		_, err = io.Copy(io.Discard, io.LimitReader(res.Body, mostExcerpt))
	}
	if err == nil {
		return outcome{}
	}
	if b := res.Body.(*body); b.over {
		return outcome{err: fail.New(fail.Input, "the source %s: the answer of %s has more than %d bytes", c.o.Source, c.shown(at), call.Most).
			WithHint("ask for smaller pages, or raise the limit")}
	}
	if class := fail.ClassOf(err); class != fail.Internal {
		return outcome{err: err}
	}
	return c.broken(idle, err, at)
}
