package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// muchSkew is a difference of clocks that signatures and tokens do not survive.
const muchSkew = 5 * time.Minute

func reader(b []byte) io.Reader {
	if len(b) == 0 {
		return nil
	}
	return bytes.NewReader(b) // whose length net/http knows
}

// errIdle ends a request in which nothing comes.
var errIdle = errors.New("nothing came in time")

// idle ends a context when nothing happens for a time.
type idle struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	after  time.Duration
	t      *time.Timer
}

func newIdle(ctx context.Context, after time.Duration) *idle {
	i := &idle{after: after}
	i.ctx, i.cancel = context.WithCancelCause(ctx)
	i.t = time.AfterFunc(after, func() { i.cancel(errIdle) })
	i.t.Stop()
	return i
}

func (i *idle) begin() { i.t.Reset(i.after) }
func (i *idle) pause() { i.t.Stop() }
func (i *idle) end()   { i.t.Stop(); i.cancel(nil) }

// body is the body of an answer: bounded, and watched.
type body struct {
	r       io.ReadCloser
	idle    *idle
	left    int64
	bounded bool
	over    bool
}

var errLarge = errors.New("the answer is too large")

func (b *body) Read(p []byte) (int, error) {
	if b.over {
		return 0, errLarge
	}
	if b.bounded && int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	b.idle.begin()
	n, err := b.r.Read(p)
	b.idle.pause()
	if b.bounded {
		if int64(n) > b.left {
			b.over = true
			return int(b.left), errLarge
		}
		b.left -= int64(n)
	}
	return n, err
}

func (b *body) Close() error { return b.r.Close() }

// broken gives an error of the network its class. An error of url.Error would quote the
// query; RoundTrip gives none.
func (c *Client) broken(idle *idle, err error, at *url.URL) outcome {
	if what, _, ok := Refusal(err); ok && what != "" {
		r, _ := errors.AsType[*refused](err)
		return c.refusal(r)
	}
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	if errors.As(err, &cert) || errors.As(err, &authority) || errors.As(err, &name) {
		return outcome{err: fail.Wrap(fail.Usage, err, "the source %s: %s does not prove who it is", c.o.Source, c.shown(at)).
			WithHint("name the authority that signed its certificate in tls.ca, or correct the host")}
	}
	var alert tls.AlertError
	if errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls:") {
		return outcome{err: fail.New(fail.Usage, "the source %s: %s refuses the connection: %s", c.o.Source, c.shown(at), c.Secrets.Hide(err.Error())).
			WithHint("see tls.certificate and tls.key, and which versions of TLS the server speaks; 1.2 is the least")}
	}
	if errors.Is(context.Cause(idle.ctx), errIdle) {
		return outcome{again: true, err: fail.New(fail.Temporary, "the source %s: nothing came from %s for %s", c.o.Source, c.shown(at), c.o.Web.Requests.Timeout).
			WithHint("start the run again later, or raise requests.timeout")}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return outcome{again: true, err: fail.New(fail.Temporary, "the source %s: the answer of %s broke off", c.o.Source, c.shown(at)).
			WithHint("start the run again later")}
	}
	return outcome{again: true, err: fail.New(fail.Temporary, "the source %s: %s cannot be asked: %s", c.o.Source, c.shown(at), c.Secrets.Hide(err.Error())).
		WithHint("start the run again later")}
}

// status gives an answer that is no success its class.
func (c *Client) status(res *http.Response, at *url.URL) outcome {
	said, _ := io.ReadAll(io.LimitReader(res.Body, mostExcerpt))
	what := "answers " + res.Status
	if text := c.Secrets.excerpt(said); text != "" {
		what += ": " + text
	}
	make := func(class fail.Class, hint string) error {
		return fail.New(class, "the source %s: %s %s", c.o.Source, c.shown(at), c.Secrets.Hide(what)).WithHint("%s", hint)
	}
	switch s := res.StatusCode; {
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable:
		return outcome{again: true, slower: s == http.StatusTooManyRequests, wait: RetryAfter(res.Header.Get("Retry-After"), c.serverNow()),
			err: make(fail.Temporary, "start the run again later, or lower requests.rate")}
	case s == http.StatusRequestTimeout, s == http.StatusTooEarly, s >= 500 && s != http.StatusNotImplemented && s != http.StatusHTTPVersionNotSupported:
		return outcome{again: true, err: make(fail.Temporary, "start the run again later")}
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		if skew := c.Skew(); skew.Abs() > muchSkew {
			return outcome{unknown: s == http.StatusUnauthorized, err: make(fail.Temporary, "the clock of this machine differs from that of the server by "+skew.Abs().Round(time.Second).String()+"; set it")}
		}
		return outcome{unknown: s == http.StatusUnauthorized, err: make(fail.Usage, "see `auth`, and the rights of the key")}
	}
	return outcome{err: make(fail.Usage, "see URL, method, query and body of the job file")}
}

// RetryAfter reads the header of that name: seconds, or a date (RFC 9110 §10.2.3). Zero
// where it says nothing. A number too large for us is the longest wait.
func RetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	digits := strings.TrimLeft(text, "0123456789") == ""
	if digits {
		if len(text) > 9 {
			return 1<<63 - 1
		}
		n := time.Duration(0)
		for _, d := range text {
			n = n*10 + time.Duration(d-'0')
		}
		return n * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// clock notes what time it is at the server.
func (c *Client) clock(res *http.Response) {
	at, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return
	}
	skew := at.Sub(c.o.Now())
	if skew.Abs() < 2*time.Second { // the header has seconds
		skew = 0
	}
	c.mu.Lock()
	c.skew = skew
	c.mu.Unlock()
}

// serverNow is the time by the clock of the server, by which it says until when to wait.
func (c *Client) serverNow() time.Time { return c.o.Now().Add(c.Skew()) }

// Plain gives the body of an answer without its transport's compression. most bounds the
// bytes that it gives; an answer with more is an error of class Input.
func (c *Client) Plain(res *http.Response, most int64) (io.Reader, error) {
	var r io.Reader = res.Body
	switch e := strings.ToLower(res.Header.Get("Content-Encoding")); e {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(res.Body)
		if err != nil {
			return nil, err
		}
		r = z
	default:
		return nil, fail.New(fail.Input, "the source %s: the answer is compressed by %q, which was not asked for", c.o.Source, e).
			WithHint("set the header Accept-Encoding in the job file to identity or gzip")
	}
	return &plain{r: r, left: most, of: c}, nil
}

type plain struct {
	r    io.Reader
	left int64
	of   *Client
}

func (p *plain) Read(b []byte) (int, error) {
	if int64(len(b)) > p.left+1 {
		b = b[:p.left+1]
	}
	n, err := p.r.Read(b)
	if p.left -= int64(n); p.left < 0 {
		return 0, fail.New(fail.Input, "the source %s: an answer has more bytes than are taken", p.of.o.Source).
			WithHint("ask for smaller pages, or raise limits.page_bytes")
	}
	return n, err
}
