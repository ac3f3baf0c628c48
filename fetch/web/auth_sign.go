package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// newHMAC signs requests by the text that the job declares.
func newHMAC(c *Client, of *rules.HMACAuth) (auth, error) {
	key, err := c.text(of.Key, "auth.hmac.key")
	if err != nil {
		return nil, err
	}
	id, err := c.text(of.KeyID, "auth.hmac.key_id")
	if err != nil {
		return nil, err
	}
	c.Secrets.Add(key)
	return fixed{func(_ context.Context, req *http.Request, body []byte) error {
		at := map[string]string{"key_id": id, "nonce": rand.Text(), "timestamp": stampAs(c.o.Now(), of.Timestamp)}
		for name, text := range signHMAC(of, key, req, body, at) {
			if bad(text) {
				return fail.New(fail.Usage, "the source %s: the header %s would hold a line break", c.o.Source, name).WithHint("see auth.hmac.headers")
			}
			req.Header.Set(name, text)
		}
		return nil
	}}, nil
}

// signHMAC gives the headers of a signed request. known are the values that are not of
// the request itself: key_id, nonce, timestamp.
func signHMAC(of *rules.HMACAuth, key string, req *http.Request, body []byte, known map[string]string) map[string]string {
	sum := sha256.Sum256(body)
	values := map[string]string{
		"method": req.Method, "host": req.URL.Host, "path": req.URL.EscapedPath(), "query": req.URL.RawQuery, "body": string(body),
		"body_sha256": hex.EncodeToString(sum[:]), "body_sha256_base64": base64.StdEncoding.EncodeToString(sum[:]),
	}
	for k, v := range known {
		values[k] = v
	}
	h := hmac.New(map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New, "sha1": sha1.New}[of.Algorithm], []byte(key))
	h.Write([]byte(filled(of.String, values)))
	if of.Encoding == "base64" {
		values["signature"] = base64.StdEncoding.EncodeToString(h.Sum(nil))
	} else {
		values["signature"] = hex.EncodeToString(h.Sum(nil))
	}
	out := map[string]string{}
	for name, text := range of.Headers {
		out[name] = filled(text, values)
	}
	return out
}

// filled replaces placeholders once; what they stand for is not looked into.
func filled(text string, values map[string]string) string {
	var pairs []string
	for k, v := range values {
		pairs = append(pairs, "{"+k+"}", v)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// stampAs writes an instant in one of the forms of the job file.
func stampAs(t time.Time, form string) string {
	switch form {
	case "unix_ms":
		return strconv.FormatInt(t.UnixMilli(), 10)
	case "rfc3339":
		return t.UTC().Format(time.RFC3339)
	case "http":
		return t.UTC().Format(http.TimeFormat)
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// newSigV4 signs requests by Signature Version 4 of AWS.
func newSigV4(c *Client, of *rules.SigV4Auth) (auth, error) {
	var credentials aws.Credentials
	for _, s := range []struct {
		of   rules.Secret
		what string
		to   *string
	}{
		{of.AccessKey, "auth.sigv4.access_key", &credentials.AccessKeyID}, {of.SecretKey, "auth.sigv4.secret_key", &credentials.SecretAccessKey},
		{of.SessionToken, "auth.sigv4.session_token", &credentials.SessionToken},
	} {
		text, err := c.text(s.of, s.what)
		if err != nil {
			return nil, err
		}
		*s.to = text
	}
	c.Secrets.Add(credentials.SecretAccessKey, credentials.SessionToken)
	signer := v4.NewSigner()
	return fixed{func(ctx context.Context, req *http.Request, body []byte) error {
		sum := sha256.Sum256(body)
		if err := signer.SignHTTP(ctx, credentials, req, hex.EncodeToString(sum[:]), of.Service, of.Region, c.o.Now()); err != nil {
			return fail.New(fail.Usage, "the source %s: a request cannot be signed", c.o.Source).WithHint("see auth.sigv4")
		}
		return nil
	}}, nil
}
