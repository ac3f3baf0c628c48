package rules_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// TestAPISources: what a source over HTTP says about its files, and its defaults.
func TestAPISources(t *testing.T) {
	src, err := os.ReadFile("testdata/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job, err := rules.Parse(src, "api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range append(append([]rules.Source{}, job.Operations.Sources...), job.Results.Sources...) {
		a := s.Remote.API
		got += fmt.Sprintf("%s: %s %s %q; %s %s %d %s\n", s.Name, s.Path, s.Format, s.JSON.Path, a.Pagination.Style, a.Pagination.At, a.Pagination.Size, a.Pagination.Stop)
	}
	const want = `orders: page.json json "data.items"; offset offset 500 total
ledger: page.json json "entries"; page page.number 200 more
psp: charges_{file_date}.json json "data"; cursor starting_after 100 more
next: page.json json "items"; cursor cursor 0 no_next
linked: page.json json ""; link  0 no_next
keyed: page.json json ""; none  0 
settlement: settlement_{date}.csv.gz csv ""; none  0 
statement: statement.ndjson ndjson ""; none  0 
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if a := job.Operations.Sources[1].Remote.API; a.Body != `{"filter":{"amount":{"least":0.10},"from":"{from}","kinds":["charge","refund"],"until":"{until}"},"page":{"number":1}}` || a.Requests.PerSecond() != 100.0/60 {
		t.Errorf("%s %v", a.Body, a.Requests.PerSecond())
	}
	body, err := job.Operations.Sources[1].Remote.API.FillBody("2026-11-29", "", map[string]string{"from": "{until}", "until": `"`})
	if err != nil || fmt.Sprint(body["filter"]) != `map[amount:map[least:0.10] from:{until} kinds:[charge refund] until:"]` {
		t.Errorf("%v %v", body, err)
	}
}

// TestAPIWindow: windows are half-open and in the zone of the provider, whose days have 23
// or 25 hours too.
func TestAPIWindow(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	job := &rules.Job{Zone: time.UTC}
	w := &rules.APIWindow{From: "{date}T00:00", Until: "{date+2}T00:00", Zone: paris, Form: "rfc3339", Step: "1d"}
	for day, want := range map[string]string{
		"2026-10-24": "[2026-10-24T00:00:00+02:00 2026-10-25T00:00:00+02:00) 24h0m0s [2026-10-25T00:00:00+02:00 2026-10-26T00:00:00+01:00) 25h0m0s ",
		"2026-03-28": "[2026-03-28T00:00:00+01:00 2026-03-29T00:00:00+01:00) 24h0m0s [2026-03-29T00:00:00+01:00 2026-03-30T00:00:00+02:00) 23h0m0s ",
	} {
		from, until, err := w.Resolve(job, day, "")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range w.Slices(from, until, w.In(job)) {
			got += fmt.Sprintf("[%s %s) %s ", w.Stamp(s[0], paris, false), w.Stamp(s[1], paris, true), s[1].Sub(s[0]))
		}
		if got != want {
			t.Errorf("%s: %s", day, got)
		}
	}
	// Slices meet: nothing is between two of them, and nothing in both.
	for _, step := range []string{"", "1h", "7h", "36h", "1w", "90m"} {
		w.Step = step
		from, until, err := w.Resolve(job, "2026-10-24", "")
		if err != nil {
			t.Fatal(err)
		}
		at := from
		for _, s := range w.Slices(from, until, paris) {
			if !s[0].Equal(at) || !s[0].Before(s[1]) {
				t.Errorf("%q: a slice from %s to %s behind %s", step, s[0], s[1], at)
			}
			at = s[1]
		}
		if !at.Equal(until) {
			t.Errorf("%q: the slices end at %s", step, at)
		}
	}
	at := time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC) // midnight in Paris
	for _, c := range []struct {
		form           string
		open, included string
	}{
		{"rfc3339", "2026-11-30T00:00:00+01:00", "2026-11-29T23:59:59+01:00"}, {"rfc3339_utc", "2026-11-29T23:00:00Z", "2026-11-29T22:59:59Z"}, {"unix", "1795993200", "1795993199"},
		{"unix_ms", "1795993200000", "1795993199999"}, {"date", "2026-11-30", "2026-11-29"}, {"20060102", "20261130", "20261129"}, {"02.01.2006 15:04:05", "30.11.2026 00:00:00", "29.11.2026 23:59:59"},
	} {
		for included, want := range map[bool]string{false: c.open, true: c.included} {
			w := &rules.APIWindow{Form: c.form, Included: included}
			if got := w.Stamp(at, paris, true); got != want {
				t.Errorf("%s, included %v: %s, want %s", c.form, included, got, want)
			}
			if got := w.Stamp(at, paris, false); got != c.open {
				t.Errorf("%s as a beginning: %s, want %s", c.form, got, c.open)
			}
			if days := c.form == "date" || c.form == "20060102"; w.WholeDays() != days {
				t.Errorf("%s: whole days %v", c.form, w.WholeDays())
			}
		}
	}
}
