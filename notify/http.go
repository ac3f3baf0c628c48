package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/recon-batch/recon-batch/rules"
)

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 10

// address gives the URL of an endpoint, checked anew where it is a secret. extra says
// that something secret is sent beside the token.
func (c *courier) address(e *rules.Endpoint, extra bool) (*url.URL, error) {
	text, secret := e.URL, extra || e.Token.Declared()
	if e.URLAt.Declared() {
		var err error
		if text, err = c.secret(e.URLAt, "url"); err != nil {
			return nil, err
		}
		secret = true
	}
	u, err := rules.CheckURL(text, secret)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if !e.Allows(u) {
		return nil, errors.New("url: its host is not among the hosts of the job")
	}
	return u, nil
}

// post sends a body and returns the answer, cut. An error names the host at most: the
// rest of the URL may be a secret.
func (c *courier) post(ctx context.Context, e *rules.Endpoint, u *url.URL, contentType string, body []byte, headers map[string]string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "recon-batch")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	token, err := c.secret(e.Token, "token")
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := c.client()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // without the URL
		}
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return nil, fmt.Errorf("%s answers with a redirect, which is not followed (%s)", u.Host, res.Status)
	case res.StatusCode >= 300:
		return nil, fmt.Errorf("%s answers %s", u.Host, res.Status)
	}
	return answer, err
}

// client follows no redirect and dials no link-local address, whatever a name resolves to.
func (c *courier) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer().DialContext, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots}, MaxResponseHeaderBytes: mostAnswer,
		},
	}
}

func dialer() *net.Dialer {
	return &net.Dialer{Timeout: Patience, Control: func(_, address string, _ syscall.RawConn) error { return refuseAddress(address) }}
}

// refuseAddress refuses addresses at which no receiver is: link-local, among them the
// metadata services of clouds, multicast and unspecified ones.
func refuseAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, "%")
	a, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	if a = a.Unmap(); a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return fmt.Errorf("the address %s is refused", a)
	}
	return nil
}
