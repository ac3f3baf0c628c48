package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/rules"
)

// TestGuide: the job of docs/sources-api.md is pulled as it stands there, but for the hosts.
func TestGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/sources-api.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(doc)
	if m == nil {
		t.Fatal("the guide has no job")
	}
	p := newProvider(t, 150)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token" && r.Header.Get("Authorization") != "":
			io.WriteString(w, `{"access_token":"token-of-the-guide"}`)
		case r.URL.Path == "/v1/orders" && r.Header.Get("X-Api-Key") == "key-of-the-guide":
			p.offset(w, r)
		case r.URL.Path == "/v1/charges" && r.Header.Get("Authorization") == "Bearer token-of-the-guide":
			p.cursor(w, r)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	text := regexp.MustCompile(`https://[a-z.]+example`).ReplaceAllString(string(m[1]), s.URL)
	text = strings.ReplaceAll(text, "  api:\n", "  api:\n    allow_private: true\n")
	job, err := rules.Parse([]byte(text), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHOP_KEY", "key-of-the-guide")
	t.Setenv("PSP_ID", "recon")
	base := t.TempDir()
	if err := os.MkdirAll(base+"/secrets", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(base+"/secrets/psp.key", []byte("secret-of-the-guide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bound, err := job.Bind("2026-11-29", nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	for side, files := range map[rules.Side]int{rules.Operations: 3, rules.Results: 5} {
		r := &fetch.Request{
			Job: bound, Side: side, Input: &bound.Inputs[side][0], Dir: t.TempDir(), BaseDir: base, Until: now.Add(time.Minute), Now: func() time.Time { return now },
			Note: t.Logf, Progress: func(string, int64, int64) {},
		}
		snap, err := pull(r)
		if err != nil || len(snap.Files) != files || len(rowsOf(t, r, snap)) != 150 {
			t.Errorf("%s: %v %+v", side, err, snap)
		}
	}
}
