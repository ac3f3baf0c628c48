package https

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/recon-batch/recon-batch/internal/testpull"
	"github.com/recon-batch/recon-batch/rules"
)

// TestGuide: the HTTPS source of docs/sources-files.md is pulled as it stands there, but for the
// server and its certificate.
func TestGuide(t *testing.T) {
	w := newWorld(t)
	bound := testpull.Guide(t, "../../docs/sources-files.md", "2026-08-20",
		"https://files.psp.example/reports/", w.URL+"/", "https:\n", "https:\n    allow_private: true\n    tls: {ca: {file: ca.pem}}\n")
	base := t.TempDir()
	w.authority(base)
	if err := os.Mkdir(filepath.Join(base, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "secrets", "psp.token"), []byte("token-of-the-guide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	body := noise(50, 1000)
	w.put("settled_2026-08-20.csv", body)
	w.spoil(func(rw http.ResponseWriter, r *http.Request, _ int, _ http.Handler) bool {
		if r.Header.Get("Authorization") == "Bearer token-of-the-guide" {
			return false
		}
		rw.WriteHeader(http.StatusUnauthorized)
		return true
	})
	a := testpull.Of(t, bound, rules.Results, base)
	whole(t, a, pulled(t, a), "settled_2026-08-20.csv", body)
}
