package api_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestTLSAndExpiredToken: over TLS, with a token that ends between two pages; it is asked
// for anew once, and the pages that are there stay.
func TestTLSAndExpiredToken(t *testing.T) {
	p := newProvider(t, 35)
	tokens, pages := 0, 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			tokens++
			fmt.Fprintf(w, `{"access_token":"token-number-%d","expires_in":3600}`, tokens)
			return
		}
		valid := 1
		if pages >= 2 {
			valid = 2
		}
		if r.Header.Get("Authorization") != fmt.Sprint("Bearer token-number-", valid) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		pages++
		p.cursor(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	source := `{url: AT/cursor, records: data.items, total: meta.total, pagination: {style: cursor, size: 10, next: meta.next}, tls: {ca: {file: ca.pem}}, auth: {oauth2: {token_url: "AT/token", client_id: {env: ID}, client_secret: {env: SECRET}}}}`
	t.Setenv("ID", "id")
	t.Setenv("SECRET", "secret-of-the-test")
	r := request(t, source, s.URL)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(r.BaseDir, "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	snap, err := pull(r)
	if err != nil || len(rowsOf(t, r, snap)) != 35 || tokens != 2 || pages != 4 || snap.Retries != 1 {
		t.Errorf("%v, %d tokens, %d pages, %+v", err, tokens, pages, snap)
	}
	// Without its authority the server is a stranger.
	_, err = pull(request(t, strings.Replace(source, "tls: {ca: {file: ca.pem}}, ", "", 1), s.URL))
	want(t, err, fail.Usage, "does not prove who it is")
}
