package sftp

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/recon-batch/recon-batch/internal/testpull"
	"github.com/recon-batch/recon-batch/rules"
)

// TestGuide: the SFTP source of docs/sources-files.md is pulled as it stands there, but for the
// server.
func TestGuide(t *testing.T) {
	w := newWorld(t)
	bound := testpull.Guide(t, "../../docs/sources-files.md", "2026-08-20",
		"sftp://files.bank.example:2222/out/", "sftp://"+w.proxy.Addr+"/~/in/",
		"user: recon", "allow_private: true\n    user: "+w.User,
		"SHA256:uNiVztksCsDhcc0u9e8BrrQXVUpKZIDTMczCvj3tD2s", fingerprint(t, w.HostKeys["ed25519"]),
	)
	base := t.TempDir()
	key, err := os.ReadFile(w.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "secrets", "bank.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "charges_2026-08-20-1.csv.gz"
	body := noise(50, 1000)
	w.put(name, body)
	w.put(name+".sha256", []byte(hex.EncodeToString(digestOf(body))+"  "+name+"\n"))
	a := testpull.Of(t, bound, rules.Operations, base)
	a.Whole(t, pulled(t, a), map[string][]byte{name: body})
}
