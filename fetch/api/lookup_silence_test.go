package api_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
	"github.com/recon-batch/recon-batch/rules"
)

// lost is a service whose address says 404 to everything.
var lost = testproxy.Fault{Status: http.StatusNotFound, Body: "<html>"}

// lostFrom is a rule: the address is lost from the moment at which it is asked for a path.
func lostFrom(path string) func(int, *http.Request) testproxy.Fault {
	var gone atomic.Bool
	return func(_ int, r *http.Request) testproxy.Fault {
		if strings.HasSuffix(r.URL.Path, path) {
			gone.Store(true)
		}
		if gone.Load() {
			return lost
		}
		return testproxy.Fault{}
	}
}

// TestVouched: silence counts only between two answers of one pull in which the known key was
// found, whatever was stored before.
func TestVouched(t *testing.T) {
	s, _ := books(t)
	front := testproxy.New(t, s.URL)
	const broken = "gone unknown 0 true false; op-2 unknown 0 true false; "

	// The address is lost after the known key was found.
	front.Rule(lostFrom("/gone"))
	r := questions(t, by, front.URL, "gone", "op-2")
	if _, got := lookUp(t, r); findings(got) != broken || !strings.Contains(got.Answers[1].Why, "the key that it should know is none there") {
		t.Errorf("%+v", got)
	}
	// What was stored then says nothing to a pull that goes on.
	front.Rule(nil)
	if err := os.Remove(filepath.Join(r.Dir, fetch.SnapshotFile)); err != nil {
		t.Fatal(err)
	}
	if _, got := lookUp(t, r); findings(got) != "gone none 0 true true; op-2 found 1 true false; " {
		t.Errorf("%+v", got)
	}

	// The known key was found by a pull that failed, and the address is lost since.
	front.Rule(func(_ int, r *http.Request) testproxy.Fault {
		if strings.Contains(r.URL.Path, "gone") {
			return testproxy.Fault{Status: 500}
		}
		return testproxy.Fault{}
	})
	r = questions(t, by, front.URL, "gone", "new")
	r.Input.Source.Need = rules.Required
	if _, err := ask(r); fail.ClassOf(err) != fail.Temporary {
		t.Fatal(err)
	}
	front.Rule(func(int, *http.Request) testproxy.Fault { return lost })
	r.Input.Source.Need = rules.Optional
	if _, got := lookUp(t, r); findings(got) != "gone unknown 0 true false; new unknown 0 true false; " {
		t.Errorf("%+v", got)
	}

	// Many silences are vouched for in turns: the first ones stay when the address is lost.
	keys := make([]string, 150)
	for i := range keys {
		keys[i] = fmt.Sprint("k", i)
	}
	front.Rule(lostFrom("/k120"))
	_, got := lookUp(t, questions(t, by, front.URL, keys...))
	for i, a := range got.Answers {
		if want := map[bool]fetch.Finding{true: fetch.None, false: fetch.Unknown}[i < 100]; a.Finding != want || a.Covers.IsZero() == (want == fetch.None) {
			t.Errorf("%+v, want %s", a, want)
		}
	}
}

// TestNoSilence: an answer without a record that says itself that it is not all, or that lay in a
// cache, is none about the operation.
func TestNoSilence(t *testing.T) {
	s, _ := books(t)
	front := testproxy.New(t, s.URL)
	for body, silent := range map[string]bool{
		`{"items":[]}`: true,
		`{"items":[],"error":null,"errors":[],"has_more":false,"next":null,"meta":{"total":0,"next_cursor":""},"links":{"next":{"href":null}}}`: true,
		`{"items":[],"error":{"code":"backend"}}`:                 false,
		`{"errors":["partial"],"items":[]}`:                       false,
		`{"items":[],"has_more":true}`:                            false,
		`{"items":[],"hasMore":true,"next":null}`:                 false,
		`{"items":[],"meta":{"next_cursor":"x"}}`:                 false,
		`{"items":[],"_links":{"next":{"href":"/p2"}}}`:           false,
		`{"items":[],"LastEvaluatedKey":{"id":{"S":"x"}}}`:        false,
		`{"items":[],"@odata.nextLink":"https://h.example/?p=2"}`: false,
		`{"items":[],"meta":{"pagination":{"total_count":1}}}`:    false,
		`{"items":[],"timed_out":true}`:                           false,
	} {
		front.Rule(func(int, *http.Request) testproxy.Fault { return testproxy.Fault{Status: 200, Body: body} })
		_, got := lookUp(t, questions(t, find, front.URL, "gone"))
		if a := got.Answers[0]; (a.Finding == fetch.None) != silent || a.Covers.IsZero() == silent || (a.Why == "") != silent {
			t.Errorf("%s: %+v", body, a)
		}
	}
	front.Rule(func(int, *http.Request) testproxy.Fault {
		return testproxy.Fault{Status: 200, Body: `{"items":[]}`, Header: http.Header{"Link": {`<https://h.example/?p=2>; rel="next"`}}}
	})
	if _, got := lookUp(t, questions(t, find, front.URL, "gone")); got.Answers[0].Finding != fetch.Unknown {
		t.Errorf("with a further page: %+v", got.Answers[0])
	}
	for age, want := range map[string]time.Duration{"0": 0, "3600": time.Hour, "x": -1, "-1": -1, "99999999999999999999": -1} {
		front.Rule(func(int, *http.Request) testproxy.Fault {
			return testproxy.Fault{Status: 200, Body: `{"items":[]}`, Header: http.Header{"Age": {age}}}
		})
		_, got := lookUp(t, questions(t, find, front.URL, "gone"))
		a := got.Answers[0]
		behind := time.Since(a.Covers) - time.Minute - want
		if want < 0 && a.Finding != fetch.Unknown || want >= 0 && (behind < 0 || behind > time.Minute) {
			t.Errorf("age %s: %+v", age, a)
		}
	}
}

// TestKeysInAddresses: servers say 404 to addresses with %2F and the like before anybody looks
// for a key; that is silence only where the known key is written in the same way.
func TestKeysInAddresses(t *testing.T) {
	s, _ := books(t)
	front := testproxy.New(t, s.URL)
	strict := func(_ int, r *http.Request) testproxy.Fault {
		if strings.Contains(r.URL.EscapedPath(), "%2F") {
			return lost
		}
		return testproxy.Fault{}
	}
	keys := []string{"op/1 é", "gone", "a b"}
	front.Rule(strict)
	_, got := lookUp(t, questions(t, by, front.URL, keys...))
	if findings(got) != "op/1 é unknown 0 false false; gone none 0 true true; a b unknown 0 false false; " || !strings.Contains(got.Answers[0].Why, `the key holds "/"`) {
		t.Errorf("%+v", got)
	}
	// A known key of the same kind shows what the server does.
	alike := strings.Replace(by, "canary", `"op/1 é"`, 1)
	front.Rule(nil)
	if _, got = lookUp(t, questions(t, alike, front.URL, "gone/2", "a b")); findings(got) != "gone/2 none 0 true true; a b none 0 true true; " {
		t.Errorf("%+v", got)
	}
	front.Rule(strict)
	if _, got = lookUp(t, questions(t, alike, front.URL, "gone/2")); findings(got) != "gone/2 unknown 0 true false; " {
		t.Errorf("%+v", got)
	}
}
