package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Web is what sources over HTTP have in common: whom they may ask, how they prove who
// they are, and how they behave.
type Web struct {
	Hosts    []string // further hosts that may be asked: host or host:port, lower case
	Private  bool     // private addresses, those of this machine, and http to them
	Auth     *WebAuth // nil: none
	TLS      *WebTLS  // nil: no certificate of our own, the certificate authorities of the system
	Requests WebRequests
}

// WebTLS are files of certificates, in PEM.
type WebTLS struct {
	Certificate Secret // of the client
	Key         Secret
	CA          Secret // in the place of the authorities of the system
}

// WebRequests is how the requests of a source behave.
type WebRequests struct {
	Rate     string        // at most, of one host: 10/s, 100/m, 1000/h
	Attempts int64         // of one request, the first included
	Failures int64         // in a row, after which nothing is asked any more
	Timeout  time.Duration // in which nothing comes: neither an answer nor more of it
}

// PerSecond is the rate as a number.
func (r WebRequests) PerSecond() float64 {
	n, unit, _ := strings.Cut(r.Rate, "/")
	v, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return 0
	}
	return v / map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
}

// WebAuth is how requests prove who asks. Exactly one is set.
type WebAuth struct {
	Basic  *BasicAuth
	Bearer Secret
	Key    *KeyAuth
	OAuth2 *OAuth2Auth
	HMAC   *HMACAuth
	SigV4  *SigV4Auth
}

// BasicAuth is a user with a password (RFC 7617).
type BasicAuth struct{ Username, Password Secret }

// KeyAuth is a fixed text in a header or in the query.
type KeyAuth struct {
	Header, Query string // one of them
	Value         Secret
}

// OAuth2Auth is the client credentials grant (RFC 6749 §4.4).
type OAuth2Auth struct {
	TokenURL     string
	ClientID     Secret
	ClientSecret Secret
	Scopes       []string
	Audience     string
	Send         string // basic, body
}

// HMACAuth signs each request with a key.
type HMACAuth struct {
	Key       Secret
	KeyID     Secret
	Algorithm string            // sha256, sha512, sha1
	Encoding  string            // hex, base64
	Timestamp string            // unix, unix_ms, rfc3339, http
	String    string            // what is signed, with placeholders
	Headers   map[string]string // what is sent, with placeholders
}

// SigV4Auth is Signature Version 4 of AWS.
type SigV4Auth struct {
	AccessKey, SecretKey, SessionToken Secret
	Region, Service                    string
}

// HMACPlaceholders are what the signed text may hold; headers may hold {signature} too.
var HMACPlaceholders = []string{"method", "host", "path", "query", "timestamp", "nonce", "key_id", "body", "body_sha256", "body_sha256_base64"}

const (
	hostPattern = `^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`
	ratePattern = `^[1-9][0-9]{0,6}/(s|m|h)$`
)

// webKeys are the keys of Web, for the shapes of its kinds.
func webKeys() []key {
	return []key{
		{name: "hosts", doc: "Further hosts that answers may send us to: host, or host:port.", def: "the host of the URL alone", value: listValue(patternValue(hostPattern))},
		{name: "allow_private", doc: "Addresses of private networks may be asked, and this machine where the URL names it; http too, to these alone.", def: "false", value: boolValue()},
		{name: "auth", doc: "How requests prove who asks.", def: "not at all", value: shapeValue(webAuthShape)},
		{name: "tls", doc: "Certificates of our own.", def: "none, and the authorities of the system", value: shapeValue(webTLSShape)},
		{name: "requests", doc: "How often and how long is asked.", value: shapeValue(webRequestsShape)},
	}
}

var webRequestsShape = &shape{
	name: "requests", doc: "How often and how long is asked.",
	keys: []key{
		{name: "rate", doc: "Requests to one host, at most: 10/s, 100/m or 1000/h. An answer 429 halves it for a while.", def: "10/s", value: patternValue(ratePattern)},
		{name: "attempts", doc: "How often one request is sent at most. Only GET, HEAD and a POST that is `safe` are sent again.", def: "6", value: intValue(1)},
		{name: "failures", doc: "Failed attempts in a row, of all requests, after which nothing is asked any more.", def: "20", value: intValue(1)},
		{name: "timeout", doc: "How long nothing may come: no answer, or no more of it.", def: "30s", value: durationValue()},
	},
}

var webTLSShape = &shape{
	name: "tls", doc: "Certificates in PEM.",
	keys: []key{
		{name: "certificate", doc: "Of the client (mTLS).", value: shapeValue(secretShape)},
		{name: "key", doc: "The private key of the certificate.", value: shapeValue(secretShape)},
		{name: "ca", doc: "The authorities that the server is known by.", def: "those of the system", value: shapeValue(secretShape)},
	},
}

var webAuthShape = &shape{
	name: "auth", doc: "How requests prove who asks: exactly one of the keys.",
	keys: []key{
		{name: "basic", doc: "User and password.", value: shapeValue(basicAuthShape)},
		{name: "bearer", doc: "A token, sent as `Authorization: Bearer`. After an answer 401 it is read anew once.", value: shapeValue(secretShape)},
		{name: "api_key", doc: "A key in a header or in the query.", value: shapeValue(keyAuthShape)},
		{name: "oauth2", doc: "Client credentials, RFC 6749 section 4.4. After an answer 401 a new token is asked for once.", value: shapeValue(oauth2Shape)},
		{name: "hmac", doc: "Each request is signed with a key.", value: shapeValue(hmacShape)},
		{name: "sigv4", doc: "AWS Signature Version 4.", value: shapeValue(sigv4Shape)},
	},
}

var basicAuthShape = &shape{
	name: "basic", doc: "User and password, RFC 7617.",
	keys: []key{
		{name: "username", doc: "The user.", required: true, value: shapeValue(secretShape)},
		{name: "password", doc: "The password.", def: "empty", value: shapeValue(secretShape)},
	},
}

var keyAuthShape = &shape{
	name: "api_key", doc: "A key in a header or in the query.",
	keys: []key{
		{name: "header", doc: "The header that it is sent in.", value: patternValue(headerPattern)},
		{name: "query", doc: "The parameter that it is sent in. A page that repeats the key is refused, so that no secret is stored; a header is better.", value: textValue()},
		{name: "value", doc: "The key.", required: true, value: shapeValue(secretShape)},
	},
}

const headerPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

var oauth2Shape = &shape{
	name: "oauth2", doc: "Client credentials, RFC 6749 section 4.4.",
	keys: []key{
		{name: "token_url", doc: "Where tokens are.", required: true, value: textValue()},
		{name: "client_id", doc: "The client.", required: true, value: shapeValue(secretShape)},
		{name: "client_secret", doc: "Its secret.", required: true, value: shapeValue(secretShape)},
		{name: "scopes", doc: "What is asked for.", def: "nothing is said", value: listValue(textValue())},
		{name: "audience", doc: "For whom the token is; some servers want it.", def: "nothing is said", value: textValue()},
		{name: "send", doc: "How the client proves itself: basic or body.", def: "basic", value: enumValue("basic", "body")},
	},
}

var hmacShape = &shape{
	name: "hmac", doc: "Each request is signed with a key. Placeholders: {method}, {host}, {path}, {query}, {timestamp}, {nonce}, {key_id}, {body}, {body_sha256}, {body_sha256_base64}, and in headers {signature}.",
	keys: []key{
		{name: "key", doc: "The key.", required: true, value: shapeValue(secretShape)},
		{name: "key_id", doc: "Its name.", def: "none", value: shapeValue(secretShape)},
		{name: "algorithm", doc: "The hash: sha256, sha512 or sha1.", def: "sha256", value: enumValue("sha256", "sha512", "sha1")},
		{name: "encoding", doc: "How the signature is written: hex or base64.", def: "hex", value: enumValue("hex", "base64")},
		{name: "timestamp", doc: "How the time is written: unix, unix_ms, rfc3339 or http.", def: "unix", value: enumValue("unix", "unix_ms", "rfc3339", "http")},
		{name: "string", doc: "What is signed; write it in double quotes with \\n between lines.", required: true, value: textValue()},
		{name: "headers", doc: "What is sent.", required: true, value: mapValue(textValue())},
	},
}

var sigv4Shape = &shape{
	name: "sigv4", doc: "AWS Signature Version 4.",
	keys: []key{
		{name: "access_key", doc: "The access key.", required: true, value: shapeValue(secretShape)},
		{name: "secret_key", doc: "The secret key.", required: true, value: shapeValue(secretShape)},
		{name: "session_token", doc: "The token of temporary credentials.", def: "none", value: shapeValue(secretShape)},
		{name: "region", doc: "Region of the service.", required: true, value: textValue()},
		{name: "service", doc: "Name of the service in signatures.", def: "execute-api", value: textValue()},
	},
}

// web reads the keys that sources over HTTP have in common; o may be nil.
func (d *decoder) web(o *object) Web {
	w := Web{Private: o.boolean("allow_private", false)}
	if o != nil && o.shape.key("hosts") != nil {
		w.Hosts = lowered(o.texts("hosts"))
	}
	for _, h := range w.Hosts {
		if !regexp.MustCompile(hostPattern).MatchString(h) {
			o.fail("hosts", "host or host:port", "%s: %q is no host", o.at("hosts"), h)
		}
	}
	w.Requests = d.webRequests(o)
	if o == nil {
		return w
	}
	if c := o.sub("tls", webTLSShape); c != nil {
		w.TLS = &WebTLS{Certificate: d.secret(c, "certificate"), Key: d.secret(c, "key"), CA: d.secret(c, "ca")}
		if w.TLS.Certificate.Declared() != w.TLS.Key.Declared() {
			d.fail(c.path, "name both", "%s: a certificate is used with its key", c.path)
		}
		if !w.TLS.Certificate.Declared() && !w.TLS.CA.Declared() {
			d.fail(c.path, "name a certificate and its key, or `ca`", "%s says nothing", c.path)
		}
	}
	if c := o.sub("auth", webAuthShape); c != nil {
		w.Auth = d.webAuth(c, w.Private)
	}
	return w
}

func (d *decoder) webRequests(o *object) WebRequests {
	r := WebRequests{Rate: "10/s", Attempts: 6, Failures: 20, Timeout: 30 * time.Second}
	if c := o.sub("requests", webRequestsShape); c != nil {
		r.Rate = c.text("rate", r.Rate)
		if !regexp.MustCompile(ratePattern).MatchString(r.Rate) {
			c.fail("rate", "10/s, 100/m or 1000/h", "%s: %q is no rate", c.at("rate"), r.Rate)
			r.Rate = "10/s"
		}
		r.Attempts = c.integer("attempts", r.Attempts, 1, 100)
		r.Failures = c.integer("failures", r.Failures, 1, 10_000)
		if r.Timeout = c.duration("timeout", r.Timeout); r.Timeout <= 0 {
			c.fail("timeout", "a time such as 30s", "%s leaves no time", c.at("timeout"))
		}
	}
	return r
}

func (d *decoder) webAuth(o *object, private bool) *WebAuth {
	a, n := &WebAuth{}, 0
	for _, k := range webAuthShape.keys {
		if o.has(k.name) {
			n++
		}
	}
	if n != 1 {
		d.fail(o.path, "one of "+strings.Join(webAuthShape.names(), ", "), "%s names %d ways, it takes one", o.path, n)
		return nil
	}
	if c := o.sub("basic", basicAuthShape); c != nil {
		a.Basic = &BasicAuth{Username: d.secret(c, "username"), Password: d.secret(c, "password")}
	}
	a.Bearer = d.secret(o, "bearer")
	if c := o.sub("api_key", keyAuthShape); c != nil {
		a.Key = &KeyAuth{Header: c.text("header", ""), Query: c.text("query", ""), Value: d.secret(c, "value")}
		if (a.Key.Header == "") == (a.Key.Query == "") {
			d.fail(c.path, "`header: X-Api-Key`, or `query: key`", "%s needs a header or a parameter of the query, one of them", c.path)
		}
		d.header(c.at("header"), a.Key.Header)
	}
	if c := o.sub("oauth2", oauth2Shape); c != nil {
		a.OAuth2 = &OAuth2Auth{
			TokenURL: c.text("token_url", ""), ClientID: d.secret(c, "client_id"), ClientSecret: d.secret(c, "client_secret"),
			Scopes: c.texts("scopes"), Audience: c.text("audience", ""), Send: choice(c, "send", "basic", "basic", "body"),
		}
		d.webURL(c.at("token_url"), a.OAuth2.TokenURL, private)
	}
	if c := o.sub("hmac", hmacShape); c != nil {
		a.HMAC = d.hmac(c)
	}
	if c := o.sub("sigv4", sigv4Shape); c != nil {
		a.SigV4 = &SigV4Auth{
			AccessKey: d.secret(c, "access_key"), SecretKey: d.secret(c, "secret_key"), SessionToken: d.secret(c, "session_token"),
			Region: c.text("region", ""), Service: c.text("service", "execute-api"),
		}
	}
	return a
}

func (d *decoder) hmac(c *object) *HMACAuth {
	h := &HMACAuth{
		Key: d.secret(c, "key"), KeyID: d.secret(c, "key_id"), Algorithm: choice(c, "algorithm", "sha256", "sha256", "sha512", "sha1"),
		Encoding: choice(c, "encoding", "hex", "hex", "base64"), Timestamp: choice(c, "timestamp", "unix", "unix", "unix_ms", "rfc3339", "http"),
		String: c.text("string", ""), Headers: map[string]string{},
	}
	d.signed(c.at("string"), h.String, HMACPlaceholders)
	sent := false
	if n := c.node("headers"); n != nil {
		d.free(n, c.at("headers"), func(name string, _, value *yaml.Node, path string) {
			d.header(path, name)
			h.Headers[name], _ = d.scalar(value, path)
			d.signed(path, h.Headers[name], append(slices.Clone(HMACPlaceholders), "signature"))
			sent = sent || strings.Contains(h.Headers[name], "{signature}")
		})
		if !sent {
			c.fail("headers", `X-Signature: "{signature}"`, "%s: no header sends the signature", c.at("headers"))
		}
	}
	return h
}

var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// signed checks the placeholders of a text that is signed or sent.
func (d *decoder) signed(path, text string, known []string) {
	for _, m := range braces.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, m[1]) {
			d.fail(path, "placeholders: {"+strings.Join(known, "}, {")+"}", "%s: {%s} is no placeholder here", path, m[1])
		}
	}
}

// header checks the name of a header.
func (d *decoder) header(path, name string) {
	if name != "" && !regexp.MustCompile(headerPattern).MatchString(name) {
		d.fail(path, "letters, digits and hyphens", "%s: %q is no name of a header", path, name)
	}
}

// webQuery reads the parameters of requests, with the placeholders that are known then.
func (d *decoder) webQuery(o *object, days bool, known []string) map[string][]string {
	out := map[string][]string{}
	if n := o.node("query"); n != nil {
		d.free(n, o.at("query"), func(name string, _, v *yaml.Node, p string) {
			out[name] = d.texts(v, p)
			for _, text := range out[name] {
				d.webTemplate(p, Template(text), days, known)
			}
		})
	}
	return out
}

// webHeaders reads the headers of requests.
func (d *decoder) webHeaders(o *object, days bool, known []string) map[string]Template {
	out := map[string]Template{"Accept": "application/json"}
	if n := o.node("headers"); n != nil {
		d.free(n, o.at("headers"), func(name string, _, v *yaml.Node, p string) {
			d.header(p, name)
			text, _ := d.scalar(v, p)
			if strings.EqualFold(name, "authorization") || strings.EqualFold(name, "cookie") {
				d.fail(p, "secrets go to `auth`", "%s: a secret is never written in the job file", p)
			}
			d.webTemplate(p, Template(text), days, known)
			if strings.EqualFold(name, "accept") {
				name = "Accept"
			}
			out[name] = Template(text)
		})
	}
	return out
}

// webURL checks an address that is asked: https, or http where private addresses are
// allowed, without user and fragment.
func (d *decoder) webURL(path, text string, private bool) {
	if text == "" {
		return
	}
	u, err := CheckURL(text, false)
	switch {
	case err != nil:
		d.fail(path, "https://host/path; secrets go to `auth`", "%s: %s", path, err)
	case u.Scheme != "https" && !private:
		d.fail(path, "write https://…; http goes to private addresses alone, with `allow_private: true`", "%s is not https", path)
	case u.Fragment != "":
		d.fail(path, "remove it", "%s has a fragment, which is not sent", path)
	}
}

// web writes the keys that sources over HTTP have in common.
func (t *tree) web(w *Web) {
	t.texts("hosts", w.Hosts)
	t.boolean("allow_private", w.Private)
	if a := w.Auth; a != nil {
		t.sub("auth", func(t *tree) { t.webAuth(a) })
	}
	if c := w.TLS; c != nil {
		t.sub("tls", func(t *tree) {
			t.secret("certificate", c.Certificate)
			t.secret("key", c.Key)
			t.secret("ca", c.CA)
		})
	}
	t.sub("requests", func(t *tree) {
		t.text("rate", w.Requests.Rate)
		t.integer("attempts", w.Requests.Attempts)
		t.integer("failures", w.Requests.Failures)
		t.duration("timeout", w.Requests.Timeout)
	})
}

func (t *tree) webAuth(a *WebAuth) {
	if b := a.Basic; b != nil {
		t.sub("basic", func(t *tree) {
			t.secret("username", b.Username)
			t.secret("password", b.Password)
		})
	}
	t.secret("bearer", a.Bearer)
	if k := a.Key; k != nil {
		t.sub("api_key", func(t *tree) {
			t.text("header", k.Header)
			t.text("query", k.Query)
			t.secret("value", k.Value)
		})
	}
	if o := a.OAuth2; o != nil {
		t.sub("oauth2", func(t *tree) {
			t.text("token_url", o.TokenURL)
			t.secret("client_id", o.ClientID)
			t.secret("client_secret", o.ClientSecret)
			t.texts("scopes", o.Scopes)
			t.text("audience", o.Audience)
			t.text("send", o.Send)
		})
	}
	if h := a.HMAC; h != nil {
		t.sub("hmac", func(t *tree) {
			t.secret("key", h.Key)
			t.secret("key_id", h.KeyID)
			t.text("algorithm", h.Algorithm)
			t.text("encoding", h.Encoding)
			t.text("timestamp", h.Timestamp)
			t.text("string", h.String)
			textMap(t, "headers", h.Headers)
		})
	}
	if s := a.SigV4; s != nil {
		t.sub("sigv4", func(t *tree) {
			t.secret("access_key", s.AccessKey)
			t.secret("secret_key", s.SecretKey)
			t.secret("session_token", s.SessionToken)
			t.text("region", s.Region)
			t.text("service", s.Service)
		})
	}
}
