package api_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/fetch/api"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testproxy"
)

// TestStyles: each style brings all records in order, stored as they came, and says by what
// it is known; a second pull ends in the same bytes.
func TestStyles(t *testing.T) {
	for name, source := range styles {
		for _, n := range []int{0, 1, 9, 10, 11, 35} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				p := newProvider(t, n)
				r := request(t, source, p.URL)
				s, err := pull(r)
				if err != nil {
					t.Fatal(err)
				}
				if got := rowsOf(t, r, s); !reflect.DeepEqual(got, p.rows) && n > 0 {
					t.Errorf("%d rows came of %d", len(got), n)
				}
				if s.Kind != "api" || s.Requests != int64(len(p.requests())) || s.Retries != 0 || len(s.Request) != 64 || !strings.Contains(s.Proof, fmt.Sprint(n, " records")) {
					t.Errorf("%+v", s)
				}
				r2 := request(t, source, p.URL)
				r2.Input.Path = r.Input.Path
				s2, err := pull(r2)
				if err != nil || files(s) != files(s2) || s.Request != s2.Request || s.Proof != s2.Proof {
					t.Errorf("again: %v\n%s%s%s\n%s", err, files(s), files(s2), s.Proof, s2.Proof)
				}
			})
		}
	}
}

func TestProofs(t *testing.T) {
	for name, proof := range map[string]string{
		"offset":       "35 records on 5 pages; the last page has no records; every page was asked for again at the end and had the same records, and no record was on two pages",
		"offset total": "35 records on 4 pages; the last page is short; the service stated this number of records, on each page the same; every page was asked for again at the end and had the same records, and no record was on two pages",
		"cursor":       "35 records on 4 pages; the last page names no next one; the first and the last page of each slice were asked for again at the end and had the same records",
		"link":         "35 records on 4 pages; the last page names no next one; the service stated this number of records, on each page the same",
		"slices":       "35 records on 7 pages of 4 slices; of each, the last page names no next one; the first and the last page of each slice were asked for again at the end and had the same records",
		"one":          "35 records on 1 pages; there is one page; the service stated this number of records, on each page the same",
	} {
		p := newProvider(t, 35)
		s, err := pull(request(t, styles[name], p.URL))
		if err != nil || s.Proof != proof {
			t.Errorf("%s: %v\n%s\n%s", name, err, s.Proof, proof)
		}
	}
}

// TestNames: pages are named in the order of slices and pages.
func TestNames(t *testing.T) {
	p := newProvider(t, 400) // a record a minute
	r := request(t, `{url: AT/cursor, name: "charges_{date}.json", query: {from: "{from}", until: "{until}"}, records: data.items, window: {from: "{date}T00:00", until: "{date+1}T00:00", zone: Europe/Paris, form: unix, step: 12h, overlap: 2h}, pagination: {style: cursor, size: 250, next: meta.next}}`, p.URL)
	s, err := pull(r)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range s.Files {
		names = append(names, f.Name)
	}
	if fmt.Sprint(names) != "[charges_2026-11-29-20261128T210000Z-000001.json.zst charges_2026-11-29-20261128T210000Z-000002.json.zst charges_2026-11-29-20261129T090000Z-000001.json.zst charges_2026-11-29-20261129T210000Z-000001.json.zst]" {
		t.Errorf("%q", names)
	}
	// The window is half-open and in the zone of the provider: from 21:00 UTC of the day
	// before, two hours earlier than midnight in Paris.
	if s.From != "2026-11-28T21:00:00Z" || s.Until != "2026-11-29T23:00:00Z" {
		t.Errorf("from %s until %s", s.From, s.Until)
	}
	if got := p.requests()[0]; !strings.Contains(got, "from=1795899600") || !strings.Contains(got, "until=1795942800") {
		t.Errorf("%s", got)
	}
}

// TestSmallerPages: a service that gives fewer records than it is asked for loses none.
func TestSmallerPages(t *testing.T) {
	for _, name := range []string{"offset", "page", "cursor", "link"} {
		p := newProvider(t, 35)
		p.most = 7
		r := request(t, styles[name], p.URL)
		s, err := pull(r)
		if err != nil || len(rowsOf(t, r, s)) != 35 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A short page is believed to be the last one only where the total is reached.
	p := newProvider(t, 35)
	p.most = 7
	r := request(t, styles["offset total"], p.URL)
	_, err := pull(r)
	want(t, err, fail.Input, "35 records, 7 came")
	unstaged(t, r)
}

// TestSettled: a window that is not closed and settled is refused, by our clock and by that
// of the service.
func TestSettled(t *testing.T) {
	source := `{url: AT/cursor, records: data.items, window: {from: "{date}T00:00", until: "{date+1}T00:00", settle: 2h}, pagination: {style: cursor, next: meta.next}}`
	ready := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	p := newProvider(t, 3)
	for _, c := range []struct {
		now time.Time
		ok  bool
	}{{ready.Add(-time.Second), false}, {ready, true}, {ready.Add(-26 * time.Hour), false}} {
		r := request(t, source, p.URL)
		r.Now, r.Until = func() time.Time { return c.now }, c.now.Add(time.Minute)
		before := len(p.requests())
		_, err := pull(r)
		if !c.ok && len(p.requests()) != before {
			t.Errorf("%s: the service was asked", c.now)
		}
		if c.ok != (err == nil) {
			t.Errorf("%s: %v", c.now, err)
		}
		if !c.ok {
			want(t, err, fail.Input, "settled at 2026-11-30T02:00:00Z")
			unstaged(t, r)
		}
	}
	// By the clock of the service it is not over yet.
	front := testproxy.New(t, p.URL)
	front.Rule(func(int, *http.Request) testproxy.Fault {
		return testproxy.Fault{Header: http.Header{"Date": {ready.Add(-time.Minute).Format(http.TimeFormat)}}}
	})
	r := request(t, source, front.URL)
	r.Now, r.Until = func() time.Time { return ready.Add(time.Hour) }, ready.Add(2*time.Hour)
	_, err := pull(r)
	want(t, err, fail.Input, "by the clock of the service")
	unstaged(t, r)
}

// TestCheck: what does not fit is told before anything is pulled.
func TestCheck(t *testing.T) {
	p := newProvider(t, 35)
	for source, why := range map[string]string{
		styles["cursor total"]: "",
		`{url: AT/cursor, records: data.rows, pagination: {style: cursor, next: meta.next}}`:                       "there is no array at data.rows",
		`{url: AT/cursor, records: data.items, total: meta.totals, pagination: {style: cursor, next: meta.next}}`:  "no whole number at meta.totals",
		`{url: AT/cursor, records: data.items, pagination: {style: cursor, next: meta.next, more: meta.has_more}}`: "says nothing at meta.has_more",
		`{url: AT/last, records: data.items, pagination: {style: cursor, at: after, last: key}}`:                   "no text or number at key",
		`{url: AT/nothing, records: data.items}`:                                                                   "404",
		`{url: AT/cursor, records: data.items, auth: {bearer: {env: ABSENT_IN_TESTS}}}`:                            "ABSENT_IN_TESTS is not set",
		`{url: AT/cursor, method: POST, records: data.items}`:                                                      "",
	} {
		before := len(p.requests())
		got := api.Puller{}.Check(t.Context(), request(t, source, p.URL))
		if why == "" && len(got) > 0 || why != "" && (len(got) != 1 || !strings.Contains(got[0], why)) {
			t.Errorf("%s: %q", source, got)
		}
		if strings.Contains(source, "POST") && len(p.requests()) != before {
			t.Error("a POST was sent that may change something")
		}
	}
}

// TestLimits: what is above the limits is refused.
func TestLimits(t *testing.T) {
	p := newProvider(t, 35)
	for limits, why := range map[string]string{"pages: 3": "more than 3 pages", "rows: 34": "more than 34 records", "bytes: 700": "more than 700 bytes", "page_bytes: 300": "300"} {
		r := request(t, strings.Replace(styles["cursor"], "{url", "{limits: {"+limits+"}, url", 1), p.URL)
		_, err := pull(r)
		want(t, err, fail.Input, why)
		unstaged(t, r)
	}
	r := request(t, strings.Replace(styles["cursor"], "{url", "{limits: {pages: 4, rows: 35}, url", 1), p.URL)
	if _, err := pull(r); err != nil {
		t.Error(err)
	}
}

// TestList: beside the pages is a list of them, with requests, headers, times and digests.
func TestList(t *testing.T) {
	p := newProvider(t, 12)
	r := request(t, styles["link"], p.URL)
	s, err := pull(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, api.PagesFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{s.Request, s.Files[1].SHA256, `"method":"GET"`, p.URL + "/link?limit=10", `"Date":[`, `"Link":[`, `"X-Total-Count":["12"]`, `"time":"20`, `"status":200`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
}
