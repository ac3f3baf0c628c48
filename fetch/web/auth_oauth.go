package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// oauth2 gets tokens by the client credentials grant (RFC 6749 §4.4). There is one
// request for a token at a time, whoever waits for it.
type oauth2 struct {
	c          *Client
	of         *rules.OAuth2Auth
	at         *url.URL
	id, secret string

	mu    sync.Mutex // held while a token is asked for
	gen   int64
	token string
	until time.Time // zero: nobody said
}

// ahead is how long before its end a token is renewed.
const ahead = 30 * time.Second

// mostToken bounds the answer of a token endpoint.
const mostToken = 256 << 10

func newOAuth2(c *Client, of *rules.OAuth2Auth) (auth, error) {
	o := &oauth2{c: c, of: of}
	var err error
	if o.at, err = url.Parse(of.TokenURL); err != nil {
		return nil, fail.New(fail.Usage, "the source %s: auth.oauth2.token_url is no URL", c.o.Source).WithHint("https://host/path")
	}
	if o.id, err = c.text(of.ClientID, "auth.oauth2.client_id"); err != nil {
		return nil, err
	}
	if o.secret, err = c.text(of.ClientSecret, "auth.oauth2.client_secret"); err != nil {
		return nil, err
	}
	c.Secrets.Add(o.secret, url.QueryEscape(o.id)+":"+url.QueryEscape(o.secret))
	c.o.Origins = append(c.o.Origins[:len(c.o.Origins):len(c.o.Origins)], o.at)
	return o, nil
}

func (o *oauth2) apply(ctx context.Context, req *http.Request, _ []byte) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token == "" || !o.until.IsZero() && !o.c.o.Now().Before(o.until) {
		if err := o.ask(ctx); err != nil {
			return 0, err
		}
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	return o.gen, nil
}

func (o *oauth2) renew(ctx context.Context, generation int64) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gen != generation { // another request has renewed it
		return true, nil
	}
	return true, o.ask(ctx)
}

// ask asks for a token. The caller holds the lock.
func (o *oauth2) ask(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(o.of.Scopes) > 0 {
		form.Set("scope", strings.Join(o.of.Scopes, " "))
	}
	if o.of.Audience != "" {
		form.Set("audience", o.of.Audience)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	if o.of.Send == "body" {
		form.Set("client_id", o.id)
		form.Set("client_secret", o.secret)
	} else {
		// RFC 6749 §2.3.1: both are encoded as in forms first.
		r := http.Request{Header: header}
		r.SetBasicAuth(url.QueryEscape(o.id), url.QueryEscape(o.secret))
	}
	var said struct {
		Token   string      `json:"access_token"`
		Type    string      `json:"token_type"`
		Expires json.Number `json:"expires_in"`
	}
	// A request for a token changes nothing and may be sent again.
	err := o.c.Do(ctx, &Call{Method: http.MethodPost, URL: o.at, Header: header, Body: []byte(form.Encode()), Safe: true, Open: true, Most: mostToken,
		Read: func(res *http.Response) error {
			text, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			if json.Unmarshal(text, &said) != nil || said.Token == "" || bad(said.Token) || said.Type != "" && !strings.EqualFold(said.Type, "bearer") {
				return fail.New(fail.Usage, "the source %s: %s gave no bearer token", o.c.o.Source, o.c.shown(o.at)).WithHint("see auth.oauth2.token_url")
			}
			return nil
		}})
	if err != nil {
		return err
	}
	o.c.Secrets.Add(said.Token)
	o.token, o.until = said.Token, time.Time{}
	o.gen++
	if n, err := said.Expires.Int64(); err == nil && n > 0 && n < 1<<31 {
		life := time.Duration(n) * time.Second
		// A short life is used at least by half.
		o.until = o.c.o.Now().Add(max(life-ahead, life/2))
	}
	return nil
}
