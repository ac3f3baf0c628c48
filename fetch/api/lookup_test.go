package api_test

import (
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

func TestLookup(t *testing.T) {
	s, asked := books(t)
	front := testproxy.New(t, s.URL)
	puller := api.Puller{Pause: time.Millisecond}
	find := api.Lookup{URL: "AT/find", Query: map[string][]string{"ref": {"{key}"}}, Records: "items", Key: "ref", Exact: true, Lag: time.Minute}
	by := api.Lookup{URL: "AT/by/{key}", One: true, Key: "ref", Absent: []int{404}, Known: "canary", Exact: true, Lag: time.Minute}
	for name, how := range map[string]api.Lookup{"find": find, "by": by} {
		r := request(t, `{url: AT/list, records: items}`, front.URL)
		how.URL = template(how.URL, front.URL)
		front.Rule(nil)
		before, begun := len(asked()), time.Now()
		got, err := puller.Lookup(t.Context(), r, how, []string{"op/1 é", "gone", "op-2", "crossed"})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, a := range got {
			text += fmt.Sprint(a.Key, " ", a.Finding, " ", a.Records, " ", a.File.Name != "", " ", !a.Covers.IsZero(), "; ")
		}
		if text != "op/1 é found 1 true false; gone none 0 true true; op-2 found 1 true false; crossed unknown 0 false false; " {
			t.Errorf("%s: %s", name, text)
		}
		if c := got[1].Covers; c.After(time.Now().Add(-time.Minute)) || c.Before(begun.Add(-time.Minute-3*time.Second)) {
			t.Errorf("%s: covers until %s, asked at %s", name, c, got[1].At)
		}
		want(t, got[3].Err, fail.Input, "another key at ref")
		var stored map[string]any
		if err := json.Unmarshal(content(t, r, got[2].File.Name), &stored); err != nil || len(stored) == 0 {
			t.Errorf("%s: stored %v %v", name, stored, err)
		}
		n := len(asked()) - before
		if extra := map[string]int{"find": 4, "by": 5}[name]; n != extra {
			t.Errorf("%s: %d requests", name, n)
		}
		// What is stored is not asked for again; what is unknown is.
		again, err := puller.Lookup(t.Context(), r, how, []string{"op-2", "gone", "crossed", "new"})
		if err != nil || again[0].File != got[2].File || !again[1].Covers.Equal(got[1].Covers) || again[3].Finding != api.None {
			t.Errorf("%s, again: %v %+v", name, err, again)
		}
		if more := len(asked()) - before - n; more != 2 {
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
			got, err := puller.Lookup(t.Context(), request(t, `{url: AT/list, records: items}`, front.URL), how, []string{"gone", "op-2"})
			if err != nil || got[0].Finding != api.Unknown || got[0].Err == nil || !got[0].Covers.IsZero() || got[1].Finding != api.Found {
				t.Errorf("%s, %s: %v %+v", name, what, err, got)
			}
		}
	}
}

func template(t rules.Template, at string) rules.Template {
	return rules.Template(strings.Replace(string(t), "AT", at, 1))
}

// TestSilence: what is needed before the silence of a service counts.
func TestSilence(t *testing.T) {
	s, _ := books(t)
	front := testproxy.New(t, s.URL)
	puller := api.Puller{Pause: time.Millisecond}
	by := api.Lookup{URL: template(rules.Template("AT/by/{key}"), front.URL), One: true, Absent: []int{404}, Known: "canary", Exact: true}
	// A wrong address says 404 to everything.
	wrong := by
	wrong.URL = template(rules.Template("AT/buy/{key}"), front.URL)
	got, err := puller.Lookup(t.Context(), request(t, `{url: AT/list}`, front.URL), wrong, []string{"gone"})
	if err != nil || got[0].Finding != api.Unknown || !got[0].Covers.IsZero() {
		t.Errorf("%v %+v", err, got)
	}
	want(t, got[0].Err, fail.Input, "the key that it should know is none there")
	none := by
	none.Known = ""
	_, err = puller.Lookup(t.Context(), request(t, `{url: AT/list}`, front.URL), none, []string{"gone"})
	want(t, err, fail.Usage, "so would a wrong address")
	// A search index that does not say how far it lags proves nothing.
	index := by
	index.Exact = false
	got, err = puller.Lookup(t.Context(), request(t, `{url: AT/list}`, front.URL), index, []string{"gone"})
	if err != nil || got[0].Finding != api.None || !got[0].Covers.IsZero() {
		t.Errorf("%v %+v", err, got)
	}
	index.Lag = time.Hour
	got, err = puller.Lookup(t.Context(), request(t, `{url: AT/list}`, front.URL), index, []string{"gone"})
	if err != nil || !got[0].Covers.Equal(got[0].At.Add(-time.Hour)) {
		t.Errorf("%v %+v", err, got)
	}
	// A service whose clock is behind ours has not seen what we think it has.
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Untimely: -time.Hour} })
	got, err = puller.Lookup(t.Context(), request(t, `{url: AT/list}`, front.URL), by, []string{"gone"})
	if err != nil || time.Since(got[0].Covers) < 59*time.Minute {
		t.Errorf("%v %+v", err, got)
	}
	// After many failures in a row nothing is asked any more.
	front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 500} })
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = fmt.Sprint("k", i)
	}
	got, err = puller.Lookup(t.Context(), request(t, `{url: AT/list, allow_private: true, requests: {rate: 100000/s, attempts: 2, failures: 7}}`, front.URL), by, keys)
	if err != nil || len(got) != 50 || got[49].Finding != api.Unknown || len(front.Log()) != 7 {
		t.Errorf("%v, %d requests", err, len(front.Log()))
	}
}

// TestLookupKilled: an answer that came whole is taken over where the list has its request
// alone.
func TestLookupKilled(t *testing.T) {
	s, asked := books(t)
	puller := api.Puller{}
	how := api.Lookup{URL: template(rules.Template("AT/find"), s.URL), Query: map[string][]string{"ref": {"{key}"}}, Records: "items", Exact: true}
	r := request(t, `{url: AT/list}`, s.URL)
	first, err := puller.Lookup(t.Context(), r, how, []string{"op-2", "gone"})
	if err != nil {
		t.Fatal(err)
	}
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
	again, err := puller.Lookup(t.Context(), r, how, []string{"op-2", "gone"})
	if err != nil || len(asked()) != before || again[1].Finding != api.None || again[1].File != first[1].File || !again[1].At.Equal(first[1].At) {
		t.Errorf("%v, %d requests, %+v, before %+v", err, len(asked())-before, again, first)
	}
}
