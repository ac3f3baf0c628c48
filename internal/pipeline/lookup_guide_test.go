package pipeline

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLookupGuide: the job of docs/sources-lookups.md does what the guide says, but for the
// host of its provider.
func TestLookupGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/sources-lookups.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(doc)
	if m == nil {
		t.Fatal("the guide has no job")
	}
	t.Setenv("PSP_TOKEN", "token-of-the-guide")
	known := map[string]string{
		"order-0001": `{"id": "ch-1", "order": "order-0001", "request": "r-1", "updated": "2024-03-05T09:00:00Z", "booked": "2024-03-05T09:00:00Z"}`,
		"r-3":        `{"id": "ch-3", "order": null, "request": "r-3", "updated": "2024-03-05T20:00:00Z", "booked": "2024-03-05T20:00:00Z"}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/charges" || r.Header.Get("Authorization") != "Bearer token-of-the-guide" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data": [`+known[r.FormValue("q")]+`]}`)
	}))
	t.Cleanup(s.Close)
	a := &asking{t: t, dir: t.TempDir()}
	a.job(strings.NewReplacer("https://api.psp.example", s.URL, "        by: [", "        allow_private: true\n        by: [").Replace(string(m[1])))
	write(t, filepath.Join(a.dir, "orders.csv"), `order,request,created
order-1,r-1,2024-03-05T08:59:00Z
order-2,r-2,2024-03-05T19:00:00Z
order-3,r-3,2024-03-05T19:30:00Z
`)
	write(t, filepath.Join(a.dir, "settled.csv"), `id,order,request,updated,booked
ch-1,order-1,r-1,2024-03-05T09:00:00Z,2024-03-05T09:00:00Z
`)
	res := a.run()
	a.want("order-1 correct/equal", "order-2 absent/no_result review", "order-3 correct/equal")
	if l := res.Manifest.Lookups; len(l) != 1 || l[0].Operations != 2 || l[0].Found != 1 || l[0].None != 3 {
		t.Errorf("%+v", l)
	}
}
