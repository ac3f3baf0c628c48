package web

import (
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

func newGzip(w io.Writer) *gzip.Writer { return gzip.NewWriter(w) }

// TestOAuth2: a token that ends in mid-run is renewed once, by one request, whoever waits.
func TestOAuth2(t *testing.T) {
	t.Setenv("ID", "client id")
	t.Setenv("SECRET", canary)
	for _, send := range []string{"basic", "body"} {
		var tokens, refused atomic.Int64
		valid := atomic.Int64{}
		valid.Store(1)
		mux := http.NewServeMux()
		mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
			r.ParseForm()
			id, secret, _ := r.BasicAuth()
			if send == "body" {
				id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
			} else if id != "client+id" || secret != "canary-3f9a%2F77%2Bx" {
				t.Errorf("basic %q %q", id, secret)
			} else {
				id, secret = "client id", canary
			}
			if id != "client id" || secret != canary || r.PostForm.Get("grant_type") != "client_credentials" || r.PostForm.Get("scope") != "a b" || r.PostForm.Get("audience") != "for-us" {
				t.Errorf("%v %q %q", r.PostForm, id, secret)
			}
			n := tokens.Add(1)
			fmt.Fprintf(w, `{"access_token":"token-number-%d","token_type":"Bearer","expires_in":3600}`, n)
		})
		mux.HandleFunc("/data", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-number-%d", valid.Load()) {
				refused.Add(1)
				w.WriteHeader(401)
				return
			}
			io.WriteString(w, "data")
		})
		s := httptest.NewServer(mux)
		defer s.Close()
		now := time.Now()
		var mu sync.Mutex
		c := client(t, s.URL, func(o *Options) {
			o.Web.Auth = &rules.WebAuth{OAuth2: &rules.OAuth2Auth{TokenURL: s.URL + "/token", ClientID: rules.Secret{Env: "ID"}, ClientSecret: rules.Secret{Env: "SECRET"}, Scopes: []string{"a", "b"}, Audience: "for-us", Send: send}}
			o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
			o.Until = now.Add(24 * time.Hour)
		})
		all := func() {
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					if text, err := get(t, c, s.URL+"/data", nil); err != nil || text != "data" {
						t.Errorf("%q %v", text, err)
					}
				})
			}
			wg.Wait()
		}
		if all(); tokens.Load() != 1 {
			t.Errorf("%d tokens were asked for at first", tokens.Load())
		}
		valid.Store(2) // the first one is withdrawn
		if all(); tokens.Load() != 2 || refused.Load() == 0 {
			t.Errorf("%d tokens, %d refused", tokens.Load(), refused.Load())
		}
		mu.Lock()
		now = now.Add(time.Hour) // the second one has ended by the clock
		mu.Unlock()
		valid.Store(3)
		was := refused.Load()
		if all(); tokens.Load() != 3 || refused.Load() != was {
			t.Errorf("%d tokens, %d refused more", tokens.Load(), refused.Load()-was)
		}
		mu.Lock()
		now = time.Now() // with a clock that is wrong it would be worth another try
		mu.Unlock()
		valid.Store(1000) // no token will do
		before := tokens.Load()
		_, err := get(t, c, s.URL+"/data", nil)
		want(t, err, fail.Usage, "401")
		if tokens.Load() != before+1 {
			t.Errorf("%d tokens were asked for", tokens.Load()-before)
		}
		if hidden := c.Secrets.Hide("token-number-1"); hidden != "…" {
			t.Errorf("a token is shown: %q", hidden)
		}
	}
}

func TestHMAC(t *testing.T) {
	t.Setenv("KEY", canary)
	t.Setenv("KEY_ID", "key-7")
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r }))
	defer s.Close()
	c := client(t, s.URL, func(o *Options) {
		o.Now, o.Until = func() time.Time { return at }, at.Add(time.Minute)
		o.Web.Auth = &rules.WebAuth{HMAC: &rules.HMACAuth{
			Key: rules.Secret{Env: "KEY"}, KeyID: rules.Secret{Env: "KEY_ID"}, Algorithm: "sha256", Encoding: "hex", Timestamp: "unix",
			String:  "{method}\n{path}\n{query}\n{timestamp}\n{body_sha256}\n{body}",
			Headers: map[string]string{"X-Signature": "v1={signature}", "X-Timestamp": "{timestamp}", "X-Key": "{key_id}"},
		}}
	})
	body := `{"a":"{method}"}` // no placeholder: it is data
	if _, err := get(t, c, s.URL+"/v1/charges?b=2&a=%20x", func(k *Call) { k.Method, k.Body = "POST", []byte(body) }); err != nil {
		t.Fatal(err)
	}
	// Independently of the code: the text that a server would sign.
	sum := sha256.Sum256([]byte(body))
	h := hmac.New(sha256.New, []byte(canary))
	fmt.Fprintf(h, "POST\n/v1/charges\nb=2&a=%%20x\n1796025600\n%s\n%s", hex.EncodeToString(sum[:]), body)
	if want := "v1=" + hex.EncodeToString(h.Sum(nil)); got.Header.Get("X-Signature") != want || got.Header.Get("X-Timestamp") != "1796025600" || got.Header.Get("X-Key") != "key-7" {
		t.Errorf("%v, want %s", got.Header, want)
	}
	// RFC 4231, test case 2.
	headers := signHMAC(&rules.HMACAuth{Algorithm: "sha256", Encoding: "hex", String: "{body}", Headers: map[string]string{"S": "{signature}"}}, "Jefe", httptest.NewRequest("GET", "https://x/", nil), []byte("what do ya want for nothing?"), nil)
	if headers["S"] != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Errorf("RFC 4231: %s", headers["S"])
	}
	for form, text := range map[string]string{"unix": "1796025600", "unix_ms": "1796025600000", "rfc3339": "2026-11-30T08:00:00Z", "http": "Mon, 30 Nov 2026 08:00:00 GMT"} {
		if got := stampAs(at, form); got != text {
			t.Errorf("%s: %s", form, got)
		}
	}
}

// TestSigV4 signs the requests of the aws-sig-v4-test-suite that AWS publishes.
func TestSigV4(t *testing.T) {
	t.Setenv("ACCESS", "AKIDEXAMPLE")
	t.Setenv("SECRET", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	c := client(t, "https://example.amazonaws.com", func(o *Options) {
		o.Now = func() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) }
		o.Web.Auth = &rules.WebAuth{SigV4: &rules.SigV4Auth{AccessKey: rules.Secret{Env: "ACCESS"}, SecretKey: rules.Secret{Env: "SECRET"}, Region: "us-east-1", Service: "service"}}
	})
	for _, v := range []struct{ name, method, target, signature string }{
		{"get-vanilla", "GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"post-vanilla", "POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	} {
		req, err := http.NewRequest(v.method, "https://example.amazonaws.com"+v.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.auth.apply(context.Background(), req, nil); err != nil {
			t.Fatal(err)
		}
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + v.signature
		if got := req.Header.Get("Authorization"); got != want {
			t.Errorf("%s:\n%s\n%s", v.name, got, want)
		}
	}
}

// TestTLS: a certificate of the client, an authority of our own, and the least version.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	authority, key := certificate(t, nil, nil, "authority")
	server, serverKey := certificate(t, authority, key, "127.0.0.1")
	mine, myKey := certificate(t, authority, key, "recon")
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	s.Config.ErrorLog = discard()
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	s.StartTLS()
	defer s.Close()
	file := func(name, kind string, b []byte) rules.Secret {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return rules.Secret{File: path}
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(myKey)
	if err != nil {
		t.Fatal(err)
	}
	full := rules.WebTLS{Certificate: file("cert", "CERTIFICATE", mine.Raw), Key: file("key", "PRIVATE KEY", keyBytes), CA: file("ca", "CERTIFICATE", authority.Raw)}
	if text, err := get(t, client(t, s.URL, func(o *Options) { o.Web.TLS = &full }), s.URL, nil); err != nil || text != "recon" {
		t.Errorf("%q %v", text, err)
	}
	_, err = get(t, client(t, s.URL, func(o *Options) { o.Web.TLS = &rules.WebTLS{CA: full.CA} }), s.URL, nil)
	want(t, err, fail.Usage, "refuses the connection")
	_, err = get(t, client(t, s.URL, nil), s.URL, nil)
	want(t, err, fail.Usage, "does not prove who it is")
	bad := full
	bad.Key = file("other", "PRIVATE KEY", []byte("x"))
	if _, err := New(Options{Source: "psp", Web: &rules.Web{TLS: &bad}}); fail.ClassOf(err) != fail.Usage {
		t.Errorf("a key that does not fit: %v", err)
	}

	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.Config.ErrorLog = discard()
	old.TLS = &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	defer old.Close()
	_, err = get(t, client(t, old.URL, func(o *Options) { o.Web.TLS = &rules.WebTLS{CA: full.CA} }), old.URL, nil)
	if err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
}

func certificate(t *testing.T, parent *x509.Certificate, parentKey *ecdsa.PrivateKey, name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: localAddresses,
	}
	if parent == nil {
		parent, parentKey = of, key
		of.IsCA, of.BasicConstraintsValid, of.KeyUsage = true, true, x509.KeyUsageCertSign
	}
	raw, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}
