package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
)

// reports is a service that makes reports on demand.
type reports struct {
	*httptest.Server
	mu        sync.Mutex
	created   int
	polled    int
	got       int
	bodies    []string
	waits     int    // looks before it is done
	ends      string // the state that it ends in
	gone      bool   // the first one is not known any more
	text      string
	change    func(state map[string]any)
	elsewhere string // address of the download
	said      []string
}

func newReports(t *testing.T) *reports {
	s := &reports{waits: 2, ends: "finished", text: strings.Repeat("id,amount\nx,1\n", 500)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /reports", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		s.bodies = append(s.bodies, string(body))
		s.created++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"data":{"id":"r/%d"}}`, s.created)
	})
	mux.HandleFunc("GET /reports/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.gone && r.PathValue("id") == "r/1" {
			http.Error(w, "gone", http.StatusNotFound)
			return
		}
		s.polled++
		sum := sha256.Sum256([]byte(s.text))
		state := map[string]any{"status": "running"}
		if s.polled > s.waits {
			state = map[string]any{"status": s.ends, "url": "/files/1?signature=abc", "size": len(s.text), "sha256": strings.ToUpper(hex.EncodeToString(sum[:]))}
			if s.elsewhere != "" {
				state["url"] = s.elsewhere
			}
		}
		if s.change != nil {
			s.change(state)
		}
		json.NewEncoder(w).Encode(state)
	})
	mux.HandleFunc("GET /files/1", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got++
		s.said = append(s.said, r.Header.Get("Authorization"))
		io.WriteString(w, s.text)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

const aReport = `{url: AT/reports, method: POST, body: {kind: settlement, day: "{date}", from: "{from}"}, name: "settlement_{date}.csv",
  window: {from: "{date}T00:00", until: "{date+1}T00:00", form: date}, auth: {bearer: {env: TOKEN}},
  report: {id: data.id, poll: "AT/reports/{id}", status: status, done: [finished], failed: [error], every: 1ms, download: url, bytes: size, sha256: sha256}}`

func TestReport(t *testing.T) {
	t.Setenv("TOKEN", "token-of-the-test")
	s := newReports(t)
	r := request(t, aReport, s.URL)
	snap, err := pull(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Files) != 1 || snap.Files[0].Name != "settlement_2026-11-29.csv" || string(content(t, r, snap.Files[0].Name)) != s.text ||
		snap.Proof != "the service says that the report is finished, and it came whole, with the size that the service stated, with the digest that the service stated" {
		t.Errorf("%+v", snap)
	}
	if s.created != 1 || s.polled != 3 || s.bodies[0] != `{"day":"2026-11-29","from":"2026-11-29","kind":"settlement"}` || s.said[0] != "Bearer token-of-the-test" {
		t.Errorf("created %d, polled %d, body %s, %q", s.created, s.polled, s.bodies, s.said)
	}
}

func TestReportFaults(t *testing.T) {
	t.Setenv("TOKEN", "token-of-the-test")
	other := newReports(t)
	for name, c := range map[string]struct {
		change func(*reports)
		class  fail.Class
		why    string
	}{
		"failed":      {func(s *reports) { s.ends = "error" }, fail.Input, `it is error`},
		"size":        {func(s *reports) { s.change = func(m map[string]any) { m["size"] = 5 } }, fail.Input, `the service says "5"`},
		"digest":      {func(s *reports) { s.change = func(m map[string]any) { m["sha256"] = "00" } }, fail.Input, `the service says "00"`},
		"no digest":   {func(s *reports) { s.change = func(m map[string]any) { delete(m, "sha256") } }, fail.Input, "no digest"},
		"no address":  {func(s *reports) { s.change = func(m map[string]any) { delete(m, "url") } }, fail.Input, "no address"},
		"no state":    {func(s *reports) { s.change = func(m map[string]any) { delete(m, "status") } }, fail.Input, "no state"},
		"other host":  {func(s *reports) { s.elsewhere = other.URL + "/files/1" }, fail.Usage, "not a host that the job names"},
		"never ready": {func(s *reports) { s.waits = 1 << 30 }, fail.Temporary, ""},
	} {
		s := newReports(t)
		c.change(s)
		source := strings.Replace(aReport, "{url", "{limits: {time: 300ms}, url", 1)
		r := request(t, source, s.URL)
		_, err := pull(r)
		want(t, err, c.class, c.why)
		unstaged(t, r)
		// The next run ends as an undisturbed one: with this report where it is still being
		// made, else with another one.
		s.mu.Lock()
		s.change, s.ends, s.elsewhere, s.waits = nil, "finished", "", 0
		s.mu.Unlock()
		r2 := request(t, aReport, s.URL)
		r2.Dir = r.Dir
		snap, err := pull(r2)
		if err != nil || string(content(t, r2, snap.Files[0].Name)) != s.text {
			t.Errorf("%s, then: %v", name, err)
		}
		created := 2
		if c.class == fail.Temporary {
			created = 1
		}
		if s.created != created {
			t.Errorf("%s: %d reports were made", name, s.created)
		}
	}
	if other.got > 0 {
		t.Error("another host was asked")
	}
	// A host that the job names is asked, and gets no credentials.
	s := newReports(t)
	s.elsewhere = other.URL + "/files/1"
	r := request(t, strings.Replace(aReport, "{url", "{hosts: ["+strings.TrimPrefix(other.URL, "http://")+"], url", 1), s.URL)
	if _, err := pull(r); err != nil || other.got != 1 || other.said[0] != "" {
		t.Errorf("%v, asked %d times with %q", err, other.got, other.said)
	}
}

// TestReportResumes: what was asked for is not asked for twice, but where it is gone.
func TestReportResumes(t *testing.T) {
	t.Setenv("TOKEN", "token-of-the-test")
	for _, gone := range []bool{false, true} {
		s := newReports(t)
		s.waits = 0
		front := testproxy.New(t, s.URL)
		front.Rule(func(_ int, r *http.Request) testproxy.Fault {
			if strings.HasPrefix(r.URL.Path, "/files") {
				return testproxy.Fault{Reset: 1000}
			}
			return testproxy.Fault{}
		})
		r := request(t, aReport, front.URL)
		_, err := pull(r)
		want(t, err, fail.Temporary, "/files/1")
		unstaged(t, r)
		front.Rule(nil)
		s.gone = gone
		snap, err := pull(r)
		if err != nil || string(content(t, r, snap.Files[0].Name)) != s.text {
			t.Fatalf("%v", err)
		}
		if created := map[bool]int{false: 1, true: 2}[gone]; s.created != created {
			t.Errorf("gone %v: %d reports were made", gone, s.created)
		}
	}
	// The request for a report is sent once, unless it is declared safe.
	s := newReports(t)
	front := testproxy.New(t, s.URL)
	front.Once(1, testproxy.Fault{Status: 503})
	_, err := pull(request(t, aReport, front.URL))
	want(t, err, fail.Temporary, "503")
	if s.created != 0 || len(front.Log()) != 1 {
		t.Errorf("%d reports, %d requests", s.created, len(front.Log()))
	}
	front.Once(1, testproxy.Fault{Status: 503})
	if _, err := pull(request(t, strings.Replace(aReport, "{url", "{safe: true, url", 1), front.URL)); err != nil {
		t.Error(err)
	}
}
