package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/fetch/api"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/rules"
)

// books is a service that is asked about single operations.
func books(t *testing.T) (s *httptest.Server, asked func() []string) {
	var mu sync.Mutex
	var log []string
	known := map[string]string{"op/1 é": `{"ref":"op/1 é","n":1}`, "op-2": `{"ref":"op-2","n":2}`, "canary": `{"ref":"canary"}`, "crossed": `{"ref":"other"}`}
	mux := http.NewServeMux()
	note := func(key string) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, key)
	}
	mux.HandleFunc("GET /find", func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("ref")
		note(key)
		if v, ok := known[key]; ok {
			io.WriteString(w, `{"items":[`+v+`]}`)
			return
		}
		io.WriteString(w, `{"items":[]}`)
	})
	mux.HandleFunc("GET /by/{key}", func(w http.ResponseWriter, r *http.Request) {
		note(r.PathValue("key"))
		if v, ok := known[r.PathValue("key")]; ok {
			io.WriteString(w, v)
			return
		}
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
	})
	s = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), log...) }
}

// find and by are the two forms of a lookup; AT is the address.
const (
	find = `{url: AT/find, query: {ref: "{key}"}, by: operation_id, records: items, key: ref, exact: true, lag: 1m`
	by   = `{url: "AT/by/{key}", by: operation_id, one: true, key: ref, absent: 404, known: canary, exact: true, lag: 1m`
)

// questions of one lookup, each by one key.
func questions(t testing.TB, source, at string, keys ...string) *fetch.Request {
	t.Helper()
	if !strings.Contains(source, "requests:") {
		source += ", requests: {rate: 1000000/s, attempts: 3, timeout: 1m}"
	}
	job := declared(t, "need: optional, lookup: "+strings.ReplaceAll(source, "AT/", at+"/")+", allow_private: true}")
	r := requestOf(t, job)
	for _, k := range keys {
		r.Questions = append(r.Questions, []string{k})
	}
	return r
}

// lookUp asks, and gives what was asked.
func lookUp(t testing.TB, r *fetch.Request) (*fetch.Snapshot, *fetch.Asked) {
	t.Helper()
	s, err := ask(r)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := fetch.ReadAsked(filepath.Join(r.Dir, fetch.FilesDir, fetch.AskedFile))
	if err != nil {
		t.Fatal(err)
	}
	return s, asked
}

func ask(r *fetch.Request) (*fetch.Snapshot, error) {
	return fetch.Pull(context.Background(), api.Asker{Pause: time.Millisecond}, r)
}

func findings(a *fetch.Asked) string {
	text := ""
	for _, x := range a.Answers {
		text += fmt.Sprint(x.Key, " ", x.Finding, " ", x.Records, " ", x.File != "", " ", !x.Covers.IsZero(), "; ")
	}
	return text
}

func TestLookup(t *testing.T) {
	s, asked := books(t)
	front := testproxy.New(t, s.URL)
	for name, how := range map[string]string{"find": find, "by": by} {
		front.Rule(nil)
		before, begun := len(asked()), time.Now()
		r := questions(t, how, front.URL, "op/1 é", "gone", "op-2", "crossed", "..")
		snap, got := lookUp(t, r)
		if text := findings(got); text != "op/1 é found 1 true false; gone none 0 true true; op-2 found 1 true false; crossed unknown 0 false false; .. unknown 0 false false; " {
			t.Errorf("%s: %s", name, text)
		}
		if c := got.Answers[1].Covers; c.After(time.Now().Add(-time.Minute)) || c.Before(begun.Add(-time.Minute-3*time.Second)) {
			t.Errorf("%s: covers until %s, asked at %s", name, c, got.Answers[1].At)
		}
		if why := got.Answers[3].Why; !strings.Contains(why, "a record without that key at ref") {
			t.Error(why)
		}
		var stored map[string]any
		if err := json.Unmarshal(content(t, r, got.Answers[2].File), &stored); err != nil || len(stored) == 0 {
			t.Errorf("%s: stored %v %v", name, stored, err)
		}
		// What is read are the records of what was found, in their order.
		if names := snap.Names(); len(names) != 1 || string(content(t, r, names[0])) != "{\"ref\":\"op/1 é\",\"n\":1}\n{\"ref\":\"op-2\",\"n\":2}\n" {
			t.Errorf("%s: %v %s", name, names, content(t, r, names[0]))
		}
		n := len(asked()) - before
		if extra := map[string]int{"find": 4, "by": 6}[name]; n != extra {
			t.Errorf("%s: %d requests", name, n)
		}
		// What is stored is not asked for again by a pull that goes on; what is unknown is, and
		// silence that the known key has to vouch for.
		if err := os.Remove(filepath.Join(r.Dir, fetch.SnapshotFile)); err != nil {
			t.Fatal(err)
		}
		r.Questions = [][]string{{"op-2"}, {"gone"}, {"crossed"}, {"new"}}
		_, again := lookUp(t, r)
		if again.Answers[0] != got.Answers[2] || again.Answers[1].Covers.Equal(got.Answers[1].Covers) != (name == "find") || again.Answers[3].Finding != fetch.None {
			t.Errorf("%s, again: %+v", name, again)
		}
		if more := len(asked()) - before - n; more != map[string]int{"find": 2, "by": 5}[name] {
			t.Errorf("%s, again: %d requests", name, more)
		}
		// An error is unknown, never none; the others are asked for.
		for what, f := range map[string]testproxy.Fault{
			"500": {Status: 500}, "401": {Status: 401}, "reset": {Reset: 5}, "html": {Status: 200, Body: "<html>"}, "no array": {Status: 200, Body: `{"error":1}`}, "null": {Status: 200, Body: "null"},
			"empty": {Status: 200}, "nothing": {Status: 204}, "object": {Status: 200, Body: "{}"}, "redirect": {Status: 302, Header: http.Header{"Location": {"/elsewhere"}}},
		} {
			front.Rule(func(_ int, r *http.Request) testproxy.Fault {
				if strings.Contains(r.URL.String(), "gone") {
					return f
				}
				return testproxy.Fault{}
			})
			r := questions(t, how, front.URL, "gone", "op-2")
			_, got := lookUp(t, r)
			if text := findings(got); text != "gone unknown 0 false false; op-2 found 1 true false; " || got.Answers[0].Why == "" {
				t.Errorf("%s, %s: %s", name, what, text)
			}
			// A source that is required is missing then (V35).
			r = questions(t, how, front.URL, "gone", "op-2")
			r.Input.Source.Need = rules.Required
			class := fail.Input
			switch what {
			case "500", "reset":
				class = fail.Temporary
			case "401", "nothing", "redirect":
				class = fail.Usage
			}
			if _, err := ask(r); fail.ClassOf(err) != class {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			r.Input.Source.Need = rules.LateOK
			if _, err := ask(r); (err == nil) != (class == fail.Temporary) {
				t.Errorf("%s, %s, late-ok: %v", name, what, err)
			}
		}
	}
}

// TestLookupByTurns: an operation is asked about by its keys one after the other, until one
// finds something; each key is asked by once.
func TestLookupByTurns(t *testing.T) {
	s, asked := books(t)
	r := questions(t, find, s.URL)
	r.Questions = [][]string{{"x", "op-2", "never"}, {"x", "y"}, {"op-2"}}
	r.LeftOut = 7
	_, got := lookUp(t, r)
	if text := findings(got); text != "x none 0 true true; op-2 found 1 true false; y none 0 true true; " || got.Operations != 3 || got.LeftOut != 7 {
		t.Errorf("%+v", got)
	}
	if list := asked(); len(list) != 3 {
		t.Error(list)
	}
	// Without a question nothing is asked, and that is a snapshot too.
	r = questions(t, by, s.URL)
	snap, got := lookUp(t, r)
	if len(got.Answers) != 0 || snap.Requests != 0 || len(content(t, r, rules.FoundFile)) != 0 {
		t.Errorf("%+v %+v", snap, got)
	}
}

// TestSilence: what is needed before the silence of a service counts.
func TestSilence(t *testing.T) {
	s, _ := books(t)
	front := testproxy.New(t, s.URL)
	one := func(how string) fetch.Answer {
		t.Helper()
		_, got := lookUp(t, questions(t, how, front.URL, "gone"))
		return got.Answers[0]
	}
	// A wrong address says 404 to everything.
	wrong := one(strings.Replace(by, "/by/", "/buy/", 1))
	if wrong.Finding != fetch.Unknown || !wrong.Covers.IsZero() || !strings.Contains(wrong.Why, "the key that it should know is none there") {
		t.Errorf("%+v", wrong)
	}
	// A search index that does not say how far it lags proves nothing.
	inexact := strings.Replace(by, "exact: true, lag: 1m", "exact: false", 1)
	if a := one(inexact); a.Finding != fetch.None || !a.Covers.IsZero() {
		t.Errorf("%+v", a)
	}
	if a := one(inexact + ", lag: 1h"); !a.Covers.Equal(a.At.Add(-time.Hour)) {
		t.Errorf("%+v", a)
	}
	// A service whose clock is behind ours has not seen what we think it has.
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Untimely: -time.Hour} })
	if a := one(by); time.Since(a.Covers) < 59*time.Minute {
		t.Errorf("%+v", a)
	}
	// After many failures in a row nothing is asked any more.
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 500} })
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = fmt.Sprint("k", i)
	}
	_, got := lookUp(t, questions(t, by+", requests: {rate: 100000/s, attempts: 2, failures: 7}", front.URL, keys...))
	if len(got.Answers) != 50 || got.Answers[49].Finding != fetch.Unknown || len(front.Log()) != 7 {
		t.Errorf("%d requests", len(front.Log()))
	}
	// When the time is over, neither.
	front.Rule(nil)
	r := questions(t, by+", limits: {time: 1ms}", front.URL, "op-2", "gone")
	r.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	if _, got := lookUp(t, r); findings(got) != "op-2 unknown 0 false false; gone unknown 0 false false; " {
		t.Errorf("%+v", got)
	}
}

// TestLookupKilled: an answer that came whole is taken over where the list has its request
// alone.
func TestLookupKilled(t *testing.T) {
	s, asked := books(t)
	r := questions(t, find, s.URL, "op-2", "gone")
	_, first := lookUp(t, r)
	list := filepath.Join(r.Dir, api.PagesFile)
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(list, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(asked())
	_, again := lookUp(t, r)
	if len(asked()) != before || findings(again) != findings(first) || !again.Answers[1].At.Equal(first.Answers[1].At) {
		t.Errorf("%d requests, %+v, before %+v", len(asked())-before, again, first)
	}
}

// TestLookupQuiet: what is said about an answer does not quote the key, which outputs may hide.
func TestLookupQuiet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no", map[string]int{"/by/person-4711": 500, "/by/7": 418}[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	_, got := lookUp(t, questions(t, by, s.URL, "person-4711", "7"))
	for i, want := range []string{"/by/{key} answers 500", "/by/{key} answers 418"} {
		if why := got.Answers[i].Why; !strings.Contains(why, want) || strings.Contains(why, "4711") {
			t.Error(why)
		}
	}
}

// TestLookupSecret: an answer that repeats a secret is not kept, and no text quotes it.
func TestLookupSecret(t *testing.T) {
	const canary = "canary-4711-do-not-write"
	t.Setenv("LOOKUP_KEY", canary)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		if r.FormValue("ref") == "echo" {
			io.WriteString(w, `{"items":[{"ref":"echo","told":"`+canary+`"}]}`)
			return
		}
		io.WriteString(w, `{"items":[]}`)
	}))
	t.Cleanup(s.Close)
	r := questions(t, find+", auth: {bearer: {env: LOOKUP_KEY}}", s.URL, "gone", "echo")
	_, got := lookUp(t, r)
	if findings(got) != "gone none 0 true true; echo unknown 0 false false; " || !strings.Contains(got.Answers[1].Why, "repeats a secret") {
		t.Errorf("%+v", got)
	}
	err := filepath.WalkDir(r.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(filepath.Join(r.Dir, fetch.FilesDir), path)
		if err == nil && strings.Contains(string(content(t, r, name)), canary) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
