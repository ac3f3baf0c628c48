package web

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// auth puts on a request what proves who asks.
type auth interface {
	// apply changes the request; body is what it sends. generation counts how often what
	// it put there was renewed.
	apply(ctx context.Context, req *http.Request, body []byte) (generation int64, err error)
	// renew is called after an answer 401 to a request that was made in that generation.
	// It tells whether the next request proves itself by something else.
	renew(ctx context.Context, generation int64) (bool, error)
}

// fixed is what never changes.
type fixed struct {
	put func(ctx context.Context, req *http.Request, body []byte) error
}

func (f fixed) apply(ctx context.Context, req *http.Request, body []byte) (int64, error) {
	return 0, f.put(ctx, req, body)
}

func (f fixed) renew(context.Context, int64) (bool, error) { return false, nil }

func newAuth(c *Client, a *rules.WebAuth) (auth, error) {
	switch {
	case a == nil:
		return fixed{func(context.Context, *http.Request, []byte) error { return nil }}, nil
	case a.OAuth2 != nil:
		return newOAuth2(c, a.OAuth2)
	case a.HMAC != nil:
		return newHMAC(c, a.HMAC)
	case a.SigV4 != nil:
		return newSigV4(c, a.SigV4)
	}
	return newTexts(c, a)
}

// texts are credentials that are sent as they are. After an answer 401 they are read
// anew, since whoever rotates a secret changes its file.
type texts struct {
	c   *Client
	a   *rules.WebAuth
	mu  sync.Mutex
	gen int64
	now [2]string
}

func newTexts(c *Client, a *rules.WebAuth) (auth, error) {
	t := &texts{c: c, a: a}
	var err error
	if t.now, err = t.read(); err != nil {
		return nil, err
	}
	return t, nil
}

// read gives the secrets: user and password, or one of them.
func (t *texts) read() (out [2]string, err error) {
	get := func(i int, s rules.Secret, what string) {
		if err != nil {
			return
		}
		if out[i], err = t.c.text(s, what); err == nil && s.Declared() && bad(out[i]) {
			err = fail.New(fail.Usage, "the source %s: %s holds a line break or another control character", t.c.o.Source, what).WithHint("write it on one line")
		}
	}
	switch a := t.a; {
	case a.Basic != nil:
		get(0, a.Basic.Username, "auth.basic.username")
		get(1, a.Basic.Password, "auth.basic.password")
		if err == nil {
			t.c.Secrets.Add(out[1], out[0]+":"+out[1])
		}
	case a.Key != nil:
		get(1, a.Key.Value, "auth.api_key.value")
		t.c.Secrets.Add(out[1])
	default:
		get(1, a.Bearer, "auth.bearer")
		t.c.Secrets.Add(out[1])
	}
	return out, err
}

// bad tells whether a text cannot stand in a header.
func bad(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c == 0x7f {
			return true
		}
	}
	return false
}

func (t *texts) apply(_ context.Context, req *http.Request, _ []byte) (int64, error) {
	t.mu.Lock()
	now, generation := t.now, t.gen
	t.mu.Unlock()
	switch a := t.a; {
	case a.Basic != nil:
		req.SetBasicAuth(now[0], now[1])
	case a.Key != nil && a.Key.Header != "":
		req.Header.Set(a.Key.Header, now[1])
	case a.Key != nil:
		q := req.URL.Query()
		q.Set(a.Key.Query, now[1])
		u := *req.URL
		u.RawQuery = q.Encode()
		req.URL = &u
	default:
		req.Header.Set("Authorization", "Bearer "+now[1])
	}
	return generation, nil
}

func (t *texts) renew(_ context.Context, generation int64) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gen != generation {
		return true, nil
	}
	now, err := t.read()
	if err != nil {
		return false, err
	}
	if now == t.now {
		return false, nil
	}
	t.now = now
	t.gen++
	return true, nil
}

// WithoutKey takes the key of the source out of an address that an answer named, so that
// no secret is stored with it. It is put on again with the request.
func (c *Client) WithoutKey(u *url.URL) *url.URL {
	a := c.o.Web.Auth
	if a == nil || a.Key == nil || a.Key.Query == "" || !u.Query().Has(a.Key.Query) {
		return u
	}
	q := u.Query()
	q.Del(a.Key.Query)
	v := *u
	v.RawQuery = q.Encode()
	return &v
}
