package pipeline

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

const holdsJob = `version: 1
job: holds
timezone: UTC
as_of: "2026-12-01T04:00"
operations:
  sources: [{name: shop, path: ours.csv, coverage: complete}]
  fields: {operation_id: id, idempotency_key: key, type: kind, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency, attempts: {column: n, type: integer}, created_at: {column: at, type: timestamp}}
results:
  sources:
    - name: psp
      path: "psp-{file_date}.csv"
      dates: {from: "2026-11-26", until: "2026-11-30"}
      need: late-ok
      on_reject: keep
      coverage: {account: psp, from: "{file_date}T00:00", until: "{file_date+1}T00:00"}
  fields: {operation_id: id, idempotency_key: key, remote_id: remote, amount: {column: amount, type: decimal, scale: 2}, currency: currency, status: {column: status, map: {ok: succeeded, no: failed}}, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}, {pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount}, {field: currency}, {field: status, expect: succeeded}]
REDACT
types:
  charge:
    window: {expected: 15m, deadline: 6h}
    idempotent: true
    idempotency_key_ttl: 72h
    retry: {max_attempts: 5, max_duration: 60h, backoff: {initial: 10s, factor: 1, max: 10s}}
`

// holding is a world with one obstacle of every kind.
type holding struct {
	job    string
	ours   string
	theirs map[string]string // by date; a date without an entry has no file
	n      int
}

// op adds an operation; settled is the status of its result, "" none.
func (h *holding) op(at, kind, amount, currency, attempts, settled string) string {
	h.n++
	id := fmt.Sprint("c", h.n)
	h.ours += fmt.Sprintf("%s,k%s,%s,awaiting_confirmation,%s,%s,%s,%s\n", id, id, kind, amount, currency, attempts, at)
	if settled != "" {
		h.theirs[at[:10]] += fmt.Sprintf("%s,k%s,x%s,%s,%s,%s,%s\n", id, id, id, "10.00", currency, settled, at)
	}
	return id
}

func newHolding() *holding {
	h := &holding{job: strings.Replace(holdsJob, "REDACT\n", "", 1), theirs: map[string]string{}, ours: "id,key,kind,state,amount,currency,n,at\n"}
	for _, d := range []string{"26", "28", "29", "30"} {
		h.theirs["2026-11-"+d] = "id,key,remote,amount,currency,status,at\n"
		h.op("2026-11-"+d+"T01:00:00Z", "charge", "10.00", "EUR", "1", "ok")
	}
	for range 3 {
		h.op("2026-11-27T12:00:00Z", "charge", "11.00", "EUR", "1", "") // the file is missing
	}
	for range 2 {
		h.op("2026-11-28T12:00:00Z", "charge", "12.00", "EUR", "1", "") // a reject
	}
	h.theirs["2026-11-28"] += "ragged,line\n"
	h.op("2026-11-27T22:00:00Z", "charge", "13.00", "EUR", "1", "") // both of them
	for range 2 {
		h.op("2026-11-29T12:00:00Z", "charge", "10.00", "EUR", "1", "odd")
	}
	h.op("2026-11-29T12:00:00Z", "charge", "10.00", "EUR", "1", "=weird|<b>")
	for range 4 {
		h.op("2026-11-29T12:00:00Z", "charge", "100", "JPY", "1", "") // one stray
	}
	h.op("2026-11-27T12:00:00Z", "charge", "100", "JPY", "1", "") // it, and the missing file
	h.op("2026-11-29T14:00:00Z", "charge", "100", "JPY", "1", "") // after it: absent
	h.theirs["2026-11-29"] += ",,sj,100,JPY,ok,2026-11-29T13:00:00Z\n"
	for range 2 {
		h.op("2026-11-29T12:00:00Z", "charge", "5.00", "USD", "1", "") // two strays
	}
	h.op("2026-11-29T13:30:00Z", "charge", "5.00", "USD", "1", "") // the later one alone
	h.theirs["2026-11-29"] += ",,s1,1.00,USD,ok,2026-11-29T13:00:00Z\n,,s2,1.00,USD,ok,2026-11-29T14:00:00Z\n"
	h.op("2026-11-29T12:00:00Z", "charge", "ten", "EUR", "1", "ok")
	h.op("2026-11-29T12:00:00Z", "charge", "14.00", "EUR", "5", "") // attempts
	h.op("2026-11-26T12:00:00Z", "charge", "15.00", "EUR", "1", "") // the key
	h.op("2026-11-26T12:00:00Z", "charge", "15.50", "EUR", "5", "") // the key and the attempts
	h.op("2026-11-29T12:00:00Z", "gift", "10.00", "EUR", "1", "ok") // no policy
	h.op("2026-11-30T22:00:00Z", "charge", "16.00", "EUR", "1", "") // nobody covers the morning
	h.ours += "c901,,charge,awaiting_confirmation,17.00,EUR,1,2026-11-29T12:00:00Z\n"
	h.ours += "c902,k902,charge,awaiting_confirmation,18.00,EUR,1,\n"
	h.ours += ",,charge,awaiting_confirmation,19.00,EUR,1,2026-11-29T12:00:00Z\n"
	return h
}

func (h *holding) run(t *testing.T) *report.Summary {
	t.Helper()
	return h.runWithout(t, "")
}

// runWithout runs with the operations in a file for each date, but for one date that has
// no file; all of them in one file where no date is missing.
func (h *holding) runWithout(t *testing.T, missing string) *report.Summary {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "job.yaml"), h.job)
	if missing == "" {
		write(t, filepath.Join(dir, "ours.csv"), h.ours)
	} else {
		for d := range 5 {
			if date := fmt.Sprintf("2026-11-%d", 26+d); date != missing {
				text := strings.SplitAfter(h.ours, "\n")[0]
				for l := range strings.Lines(h.ours) {
					if strings.Contains(l, date) {
						text += l
					}
				}
				write(t, filepath.Join(dir, "ours"+date+".csv"), text)
			}
		}
	}
	for d, text := range h.theirs {
		write(t, filepath.Join(dir, "psp-"+d+".csv"), text)
	}
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Job: job, BusinessDate: "2026-11-30", Out: filepath.Join(dir, "out"), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return res.Summary
}

func holdLines(s *report.Summary) (out []string) {
	for _, h := range s.Holds {
		var money []string
		for _, m := range h.Amounts {
			money = append(money, m.Amount+" "+m.Currency)
		}
		what := h.What
		if h.File != "" {
			what = fmt.Sprintf("%s:%d", h.File, h.Record)
		}
		out = append(out, fmt.Sprintf("%s %s %d %s", h.Code, what, h.Rows, strings.Join(money, " ")))
	}
	return out
}

// Each obstacle with what it alone holds, the most money of each currency first.
func TestHolds(t *testing.T) {
	s := newHolding().run(t)
	want := []string{
		"stray psp-2026-11-29.csv:5 4 400 JPY",
		"missing_file psp-2026-11-27.csv:0 3 33.00 EUR",
		"stray psp-2026-11-29.csv:7 1 5.00 USD",
		"reject psp-2026-11-28.csv:0 2 24.00 EUR",
		"unmapped_status odd 2 20.00 EUR",
		"unknown_time created_at 1 18.00 EUR",
		"no_key charge 1 17.00 EUR",
		"not_covered  1 16.00 EUR",
		"key_lifetime charge 1 15.00 EUR",
		"attempts charge 1 14.00 EUR",
		"no_policy gift 1 10.00 EUR",
		"unmapped_status =weird|<b> 1 10.00 EUR",
		"unreadable_value amount 1 ",
		"other no_usable_key 1 19.00 EUR",
		"several  5 28.50 EUR 100 JPY 10.00 USD",
	}
	if got := holdLines(s); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if md := report.Markdown(s); !strings.Contains(md, "What holds the rest (showing 5 of 15)") || strings.Contains(md, "<b>") {
		t.Errorf("report.md shows\n%s", md)
	}
	var rows, refused int64
	for _, q := range s.Queues {
		for _, c := range q.Refused {
			refused += c.Items
		}
	}
	for _, h := range s.Holds {
		rows += h.Rows
		if h.Clears == "" || !strings.HasPrefix(h.Command, "recon-batch ") || strings.Contains(h.Command, "%") {
			t.Errorf("%s is cleared by %q, %q", h.Code, h.Clears, h.Command)
		}
	}
	// One operation was refused by two checks.
	if want := undecided(s) + refused - 1; rows != want {
		t.Errorf("%d rows are held, %d are undecided or refused", rows, want)
	}
}

// undecided counts the operations that are not decided or not acted on.
func undecided(s *report.Summary) (n int64) {
	for _, c := range s.Sides[0].Counts {
		if c.Class == "ambiguous" || c.Reason == "value_unreadable" {
			n += c.Rows
		}
	}
	return n
}

// Whoever clears an obstacle finds so many rows decided as its hold has, no more and no
// fewer: clear them one by one and run again.
func TestHoldsAloneBlock(t *testing.T) {
	before := newHolding().run(t)
	for name, c := range map[string]struct {
		code  string
		clear func(*holding)
	}{
		"the stray":        {"stray psp-2026-11-29.csv:5 ", func(h *holding) { h.drop("2026-11-29", ",sj,") }},
		"the later stray":  {"stray psp-2026-11-29.csv:7 ", func(h *holding) { h.drop("2026-11-29", ",s2,") }},
		"the missing file": {"missing_file ", func(h *holding) { h.theirs["2026-11-27"] = "id,key,remote,amount,currency,status,at\n" }},
		"the reject":       {"reject ", func(h *holding) { h.drop("2026-11-28", "ragged") }},
		"the status":       {"unmapped_status odd ", func(h *holding) { h.job = strings.Replace(h.job, "{ok:", "{odd: succeeded, ok:", 1) }},
		"the time": {"unknown_time ", func(h *holding) {
			h.ours = strings.Replace(h.ours, "18.00,EUR,1,", "18.00,EUR,1,2026-11-29T12:00:00Z", 1)
		}},
		"the amount": {"unreadable_value ", func(h *holding) { h.ours = strings.Replace(h.ours, ",ten,", ",10.00,", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			var want int64
			for i, l := range holdLines(before) {
				if strings.HasPrefix(l, c.code) {
					want = before.Holds[i].Rows
				}
			}
			h := newHolding()
			c.clear(h)
			after := h.run(t)
			if got := undecided(before) - undecided(after); got != want || want == 0 {
				t.Errorf("%d rows are decided, the hold has %d\n%s", got, want, strings.Join(holdLines(after), "\n"))
			}
		})
	}
}

// drop takes the lines with a text out of a file.
func (h *holding) drop(date, text string) {
	var keep string
	for l := range strings.Lines(h.theirs[date]) {
		if !strings.Contains(l, text) {
			keep += l
		}
	}
	h.theirs[date] = keep
}

// A redacted status or type does not leak through the holds.
func TestHoldsAreRedacted(t *testing.T) {
	h := newHolding()
	h.job = strings.Replace(holdsJob, "REDACT", "redact: {fields: {status: drop, type: mask}}", 1)
	for _, l := range holdLines(h.run(t)) {
		if strings.Contains(l, "odd") || strings.Contains(l, "weird") || strings.Contains(l, "gift") {
			t.Error(l)
		}
	}
}

// A result that no operation stands for waits for a file of the operations.
func TestHoldsOfResults(t *testing.T) {
	h := newHolding()
	h.job = strings.Replace(h.job, `{name: shop, path: ours.csv, coverage: complete}`,
		`{name: shop, path: "ours{file_date}.csv", dates: {from: "2026-11-26", until: "2026-11-30"}, need: late-ok, coverage: {from: "{file_date}T00:00", until: "{file_date+1}T00:00"}}`, 1)
	h.theirs = map[string]string{"2026-11-29": "id,key,remote,amount,currency,status,at\nz1,kz1,xz1,10.00,EUR,ok,2026-11-29T02:00:00Z\nz2,kz2,xz2,20.00,EUR,ok,2026-11-29T12:00:00Z\n"}
	h.ours = strings.SplitAfter(h.ours, "\n")[0]
	h.op("2026-11-29T12:00:00Z", "charge", "10.00", "EUR", "1", "ok")
	for _, c := range []struct {
		missing string
		want    string
	}{
		{"2026-11-28", "missing_file ours2026-11-28.csv:0 1 10.00 EUR"}, // the first needs the evening before
		{"2026-11-29", "missing_file ours2026-11-29.csv:0 3 40.00 EUR"},
	} {
		got := strings.Join(holdLines(h.runWithout(t, c.missing)), ", ")
		if got != c.want {
			t.Errorf("without %s: %s, want %s", c.missing, got, c.want)
		}
	}
}
