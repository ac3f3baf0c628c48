package latency

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// The world of these tests: five nights around the end of summer time, two types, two
// accounts, and a time to confirmation for each operation that the test draws itself.
const jobText = `job: world
timezone: Europe/Paris
as_of: "{date+1}T04:00"
clock_skew: 1m
period: {by: created_at, from: "{date}T00:00", until: "{date+1}T00:00"}
operations:
  sources: [{name: orders, path: "ops_{date}.csv", coverage: {from: "{date-1}T00:00", until: "{date+1}T00:00"}}]
  fields: {operation_id: id, idempotency_key: key, type: kind, amount: {column: amount, type: decimal, scale: 2}, currency: currency, attempts: {column: n, type: integer}, created_at: {column: at, type: timestamp}, last_attempt_at: {column: last, type: timestamp}, lease_until: {column: lease, type: timestamp}}
results:
  sources:
    - {name: fast, path: "fast_{file_date}.csv", dates: {from: "{date-1}", until: "{date+1}"}, need: late-ok, coverage: {account: psp-fast, from: "{file_date}T00:00", until: "{file_date+1}T00:00"}}
    - {name: slow, path: "slow_{file_date}.csv", dates: {from: "{date-1}", until: "{date+1}"}, need: late-ok, coverage: {account: psp-slow, from: "{file_date}T00:00", until: "{file_date+1}T00:00"}}
  fields: {operation_id: id, idempotency_key: key, remote_id: remote, status: {column: status, map: {settled: succeeded, processing: pending}}, amount: {column: amount, type: decimal, scale: 2}, currency: currency, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}, {pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount}, {field: currency}, {field: status, expect: succeeded}]
types:
  charge:
    # what the provider promised
    window: {expected: 10m, deadline: 1h} # of 2019
    owner: payments
    reply_by: 2d
  refund: {owner: finance, reply_by: 2d}
`

// opTruth is an operation and what became of it.
type opTruth struct {
	id, kind, account    string
	created, last, lease time.Time
	result               time.Time
	wrong                bool // another amount: linked, and not correct
	pending              bool // the provider has not decided
}

const nights = 5

func paris(t *testing.T) *time.Location {
	t.Helper()
	z, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// perNight is the number of operations of a night.
const perNight = 420

var shared struct {
	once  sync.Once
	dir   string
	truth []opTruth
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(shared.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// world is made once; no test writes into it.
func world(t *testing.T) (dir string, truth []opTruth) {
	t.Helper()
	shared.once.Do(func() { shared.dir, shared.truth = makeWorld(t) })
	if shared.truth == nil {
		t.Fatal("the world was not made")
	}
	return shared.dir, shared.truth
}

// makeWorld writes the files and runs every night, and returns what happened.
func makeWorld(t *testing.T) (dir string, truth []opTruth) {
	t.Helper()
	dir, err := os.MkdirTemp("", "latency-world-")
	if err != nil {
		t.Fatal(err)
	}
	shared.dir = dir
	zone := paris(t)
	rnd := rand.New(rand.NewPCG(7, 11))
	first := time.Date(2026, 10, 23, 0, 0, 0, 0, zone)
	for d := range nights {
		for i := range perNight {
			o := opTruth{id: fmt.Sprintf("o%d-%d", d, i), kind: "charge", account: "fast"}
			if i%4 == 3 {
				o.kind = "refund"
			}
			if i%3 == 0 {
				o.account = "slow"
			}
			o.created = first.AddDate(0, 0, d).Add(time.Duration(rnd.IntN(23*3600)) * time.Second)
			o.last = o.created.Add(time.Duration(rnd.IntN(90)) * time.Second)
			o.lease = o.last.Add(5 * time.Minute)
			took := time.Duration(1000+rnd.IntN(9000)) * time.Millisecond
			if o.account == "slow" {
				took = time.Duration(60+rnd.IntN(1200)) * time.Second
			}
			switch {
			case i%31 == 5:
				took = time.Duration(2+rnd.IntN(38)) * time.Hour // some are a day or two later
			case i%101 == 7:
				o.last = o.created.Add(6 * time.Hour) // tried again although it had happened
				o.lease = o.last.Add(5 * time.Minute)
				took = -5 * time.Hour
			}
			o.result = o.last.Add(took)
			o.wrong, o.pending = i%89 == 1, i%53 == 3
			truth = append(truth, o)
		}
	}
	files := map[string]*strings.Builder{}
	add := func(name, header, line string) {
		if files[name] == nil {
			files[name] = &strings.Builder{}
			files[name].WriteString(header + "\n")
		}
		files[name].WriteString(line + "\n")
	}
	day := func(at time.Time) string { return at.In(zone).Format(time.DateOnly) }
	utc := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
	for i, o := range truth {
		for n, d := range []string{day(o.created), day(o.created.In(zone).AddDate(0, 0, 1))} {
			last := o.last
			if n == 0 && i%59 == 9 && counts(o, zone) && seenAgain(o, zone) {
				last = o.created // the export of its own day knows an earlier attempt
			}
			add("ops_"+d+".csv", "id,key,kind,amount,currency,n,at,last,lease",
				fmt.Sprintf("%s,k-%s,%s,10.00,EUR,1,%s,%s,%s", o.id, o.id, o.kind, utc(o.created), utc(last), utc(o.lease)))
		}
		amount, status := "10.00", "settled"
		if o.pending {
			status = "processing"
		}
		if o.wrong {
			amount = "11.00"
		}
		add(o.account+"_"+day(o.result)+".csv", "id,key,remote,status,amount,currency,at",
			fmt.Sprintf("%s,k-%s,r%d,%s,%s,EUR,%s", o.id, o.id, i, status, amount, utc(o.result)))
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text.String())
	}
	write(t, filepath.Join(dir, "job.yaml"), jobText)
	job := load(t, dir)
	for d := range nights {
		date := first.AddDate(0, 0, d).Format(time.DateOnly)
		if _, err := pipeline.Run(context.Background(), pipeline.Options{Job: job, BusinessDate: date, Threads: 2}); err != nil {
			t.Fatalf("%s: %v", date, err)
		}
	}
	return dir, truth
}

func load(t *testing.T, dir string) *rules.Job {
	t.Helper()
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rank is the percentile by its definition, with sorting and no engine.
func rank(list []time.Duration, perMille int) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	place := (len(list)*perMille + 999) / 1000
	return list[place-1].Microseconds()
}

func percentilesOf(list []time.Duration) Percentiles {
	if len(list) == 0 {
		return Percentiles{}
	}
	return Percentiles{Links: int64(len(list)), P50: rank(list, 500), P95: rank(list, 950), P99: rank(list, 990), P999: rank(list, 999), Max: slices.Max(list).Microseconds()}
}

// counts tells which operations have a link that counts: the amount agrees, or the
// night that saw it last judged it as one of another day. The last night has no later
// one, and reads the results of the next day but not of the one after it.
func counts(o opTruth, zone *time.Location) bool {
	switch {
	case o.pending:
		return false
	case seenAgain(o, zone):
		return true // as out_of_period
	}
	return !o.wrong && o.result.Before(lastNight(zone).AddDate(0, 0, 2))
}

// seenAgain tells whether a night after its own has the operation.
func seenAgain(o opTruth, zone *time.Location) bool { return o.created.Before(lastNight(zone)) }

func lastNight(zone *time.Location) time.Time {
	return time.Date(2026, 10, 23+nights-1, 0, 0, 0, 0, zone)
}

func TestPercentilesByHand(t *testing.T) {
	dir, truth := world(t)
	zone := paris(t)
	s, err := Suggest(context.Background(), pipeline.Options{Job: load(t, dir), Threads: 2}, 30, 200)
	if err != nil {
		t.Fatal(err)
	}
	type group struct{ kind, account, day string }
	attempt, creation := map[group][]time.Duration{}, map[group][]time.Duration{}
	outlived := map[group]int64{}
	links, late := int64(0), map[string]int64{}
	for _, o := range truth {
		if !counts(o, zone) {
			continue
		}
		links++
		account := "psp-" + o.account
		for _, g := range []group{{o.kind, "", ""}, {o.kind, account, ""}, {o.kind, account, o.created.In(zone).Weekday().String()}} {
			creation[g] = append(creation[g], o.result.Sub(o.created))
			if !o.last.After(o.result.Add(time.Minute)) {
				attempt[g] = append(attempt[g], o.result.Sub(o.last))
			}
		}
		due := o.created.Add(time.Hour)
		if e := o.last.Add(10 * time.Minute); e.After(due) {
			due = e
		}
		if o.result.After(due) {
			late[o.kind]++
		}
		if o.result.After(o.lease) && !o.last.After(o.result.Add(time.Minute)) {
			outlived[group{o.kind, account, ""}]++
		}
	}
	if s.Links != links {
		t.Errorf("%d links, want %d", s.Links, links)
	}
	if len(s.Groups) != len(creation) {
		t.Errorf("%d groups, want %d", len(s.Groups), len(creation))
	}
	for _, g := range s.Groups {
		k := group{g.Type, g.Account, g.Weekday}
		if want := percentilesOf(attempt[k]); g.SinceAttempt != want {
			t.Errorf("%v since the last attempt: %+v, want %+v", k, g.SinceAttempt, want)
		}
		if want := percentilesOf(creation[k]); g.SinceCreation != want {
			t.Errorf("%v since the creation: %+v, want %+v", k, g.SinceCreation, want)
		}
	}
	if len(s.Leases) != 4 {
		t.Errorf("%d leases, want 4", len(s.Leases))
	}
	for _, l := range s.Leases {
		k := group{l.Type, l.Account, ""}
		if l.Outlived != outlived[k] || outlived[k] == 0 {
			t.Errorf("%v: %d outlived their lease, want %d, and some", k, l.Outlived, outlived[k])
		}
		if l.Duration != percentilesOf(attempt[k]) || l.Lease.P50 != (5*time.Minute).Microseconds() || l.Lease.Max != l.Lease.P50 {
			t.Errorf("%v: %+v", k, l)
		}
	}
	charge := s.Proposals[0]
	if charge.Type != "charge" || charge.FalseDeclared == nil || *charge.FalseDeclared != late["charge"] || late["charge"] == 0 {
		t.Errorf("charge: %+v, want %d false alarms", charge, late["charge"])
	}
	checkProposal(t, s, charge, truth, zone)
	refund := s.Proposals[1]
	if refund.Type != "refund" || refund.Declared != nil || refund.FalseDeclared != nil || refund.Proposed == nil {
		t.Errorf("refund: %+v", refund)
	}
}

// checkProposal holds a proposal against its promises, with the times of the truth.
func checkProposal(t *testing.T, s *Suggestion, p Proposal, truth []opTruth, zone *time.Location) {
	t.Helper()
	if p.Proposed == nil {
		t.Fatalf("%s: nothing is proposed: %s", p.Type, p.Why)
	}
	for _, g := range s.Groups {
		if g.Type != p.Type || g.SinceCreation.Links < s.Least {
			continue
		}
		if p.Proposed.Deadline < micros(g.SinceCreation.P999)+time.Minute || p.Proposed.Expected < micros(g.SinceAttempt.P999)+time.Minute {
			t.Errorf("%s %s %s: the proposal %s is shorter than p99.9 (%s, %s) plus the skew", g.Type, g.Account, g.Weekday, p.Proposed.Words,
				micros(g.SinceAttempt.P999), micros(g.SinceCreation.P999))
		}
	}
	late := int64(0)
	for _, o := range truth {
		due := o.created.Add(p.Proposed.Deadline)
		if e := o.last.Add(p.Proposed.Expected); e.After(due) {
			due = e
		}
		if o.kind == p.Type && counts(o, zone) && o.result.After(due) {
			late++
		}
	}
	if p.FalseProposed == nil || *p.FalseProposed != late {
		t.Errorf("%s: false alarms of the proposal %v, want %d", p.Type, p.FalseProposed, late)
	}
}

func TestNothingIsProposedFromFewLinks(t *testing.T) {
	dir, _ := world(t)
	s, err := Suggest(context.Background(), pipeline.Options{Job: load(t, dir), Threads: 2}, 30, perNight*nights+1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Proposals {
		if p.Proposed != nil || !strings.Contains(p.Why, "fewer than 2101") {
			t.Errorf("%+v", p)
		}
	}
	if s.Snippet != "" {
		t.Errorf("a snippet: %s", s.Snippet)
	}
	r, err := Check(context.Background(), pipeline.Options{Job: load(t, dir), Threads: 2}, 30, perNight*nights+1)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range r.Judged {
		if j.Verdict != TooFew && j.Verdict != NoWindow {
			t.Errorf("%+v is judged", j)
		}
	}
}

func TestPatchApplies(t *testing.T) {
	dir, _ := world(t)
	ctx := context.Background()
	o := pipeline.Options{Job: load(t, dir), Threads: 2}
	r, err := Check(ctx, o, 30, 200)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Verdict{}
	for _, j := range r.Judged {
		got[j.Type+" "+j.Account] = j.Verdict
	}
	// One in 31 comes hours later, which is more than one in a hundred.
	if got["charge "] != Left || got["charge psp-slow"] != Left || got["refund "] != NoWindow || !slices.Equal(r.Left, []string{"charge"}) {
		t.Errorf("before: %v", got)
	}
	s, err := Suggest(ctx, o, 30, 200)
	if err != nil {
		t.Fatal(err)
	}
	diff, left, err := Patch(s)
	if err != nil || len(left) > 0 {
		t.Fatalf("%v, left out %v", err, left)
	}
	apply := exec.Command("patch", "-p0", "--fuzz=0")
	apply.Dir = t.TempDir()
	apply.Stdin = strings.NewReader(strings.ReplaceAll(diff, filepath.Join(dir, "job.yaml"), "job.yaml"))
	write(t, filepath.Join(apply.Dir, "job.yaml"), jobText)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, diff)
	}
	text, err := os.ReadFile(filepath.Join(apply.Dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []string{"# what the provider promised", "# of 2019", "owner: payments"} {
		if !strings.Contains(string(text), keep) {
			t.Errorf("the patch took %q away", keep)
		}
	}
	if o.Job, err = rules.Parse(text, filepath.Join(dir, "job.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Proposals {
		if now := o.Job.Types[p.Type]; now.Expected != p.Proposed.Expected || now.Deadline != p.Proposed.Deadline {
			t.Errorf("%s: %s %s after the patch, want %s", p.Type, now.Expected, now.Deadline, p.Proposed.Words)
		}
	}
	if r, err = Check(ctx, o, 30, 200); err != nil || len(r.Left) != 0 {
		t.Errorf("after the patch windows are left: %v %v", r, err)
	}
	again, err := Suggest(ctx, o, 30, 200)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(again.Proposals, func(p Proposal) bool { return p.Why != "the declared window fits" }); i >= 0 {
		t.Errorf("after the patch something else is proposed: %+v", again.Proposals[i])
	}
}

// variant is the job of the world with a text replaced; its paths stay those of the world.
func variant(t *testing.T, dir, was, now string) *rules.Job {
	t.Helper()
	text := strings.Replace(jobText, was, now, 1)
	if text == jobText {
		t.Fatalf("the job has no %q", was)
	}
	job, err := rules.Parse([]byte(text), filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// What would not hold is not proposed, and it is said why.
func TestNoProposalAgainstTheRules(t *testing.T) {
	dir, truth := world(t)
	ctx := context.Background()
	s, err := Suggest(ctx, pipeline.Options{Threads: 2, Job: variant(t, dir, "owner: payments", "owner: payments\n    idempotent: true\n    idempotency_key_ttl: 12h\n    retry: {max_attempts: 3, max_duration: 10h}")}, 30, 200)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Proposals[0]; p.Proposed != nil || !strings.Contains(p.Why, "V39") || strings.Contains(s.Snippet, "charge") {
		t.Errorf("longer than the key lives: %+v", p)
	}

	// A window in business days is measured by its calendar, and left to people.
	calendar := strings.Replace(jobText, "types:\n", "calendars: {bank: {zone: Europe/Paris, weekend: [saturday]}}\ntypes:\n", 1)
	calendar = strings.Replace(calendar, "deadline: 1h}", "deadline: {business_days: 1}, calendar: bank}", 1)
	job, err := rules.Parse([]byte(calendar), filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = Suggest(ctx, pipeline.Options{Threads: 2, Job: job}, 30, 200); err != nil {
		t.Fatal(err)
	}
	p := s.Proposals[0]
	if p.Proposed != nil || !strings.Contains(p.Why, "business days") || p.Declared.Words != "{expected: 10m, deadline: {business_days: 1}}" {
		t.Errorf("business days: %+v", p)
	}
	zone, late := paris(t), int64(0)
	for _, o := range truth {
		// The end of the first business day after the day of the creation.
		end := o.created.In(zone).AddDate(0, 0, 1)
		if end.Weekday() == time.Saturday || o.created.In(zone).Weekday() == time.Saturday {
			end = end.AddDate(0, 0, 1) // what was made on the Saturday counts as of the Sunday
		}
		due := time.Date(end.Year(), end.Month(), end.Day()+1, 0, 0, 0, 0, zone)
		if e := o.last.Add(10 * time.Minute); e.After(due) {
			due = e
		}
		if o.kind == "charge" && counts(o, zone) && o.result.After(due) {
			late++
		}
	}
	if p.FalseDeclared == nil || *p.FalseDeclared != late || late == 0 {
		t.Errorf("false alarms by the calendar: %v, want %d, and some", *p.FalseDeclared, late)
	}

	// Without times there is nothing to measure.
	bare, err := rules.Parse([]byte(strings.Replace(jobText, ", created_at: {column: at, type: timestamp}}\nmatch", "}\nmatch", 1)), filepath.Join(dir, "job.yaml"))
	if err == nil {
		_, err = Suggest(ctx, pipeline.Options{Threads: 2, Job: bare}, 30, 200)
	}
	if err == nil || !strings.Contains(err.Error(), "created_at") {
		t.Errorf("results without a time: %v", err)
	}
}

// A window of a policy file is not changed through the job file.
func TestPatchLeavesPolicyFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "policy.yaml"), "types:\n  charge: {window: {expected: 10m, deadline: 1h}}\n")
	text := "extends: policy.yaml\n" + jobText[:strings.Index(jobText, "types:")] + "types:\n  charge: {owner: a}\n"
	job, err := rules.Parse([]byte(text), filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Suggestion{Measured: &Measured{job: job}, Proposals: []Proposal{{Type: "charge", Proposed: &Window{Expected: time.Minute, Deadline: time.Hour}}}}
	diff, left, err := Patch(s)
	if diff != "" || !slices.Equal(left, []string{"charge"}) || err != nil {
		t.Errorf("%q, left out %v, %v", diff, left, err)
	}
}

func TestRoundUp(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0s", "5s"}, {"1s", "5s"}, {"5s", "5s"}, {"5001ms", "10s"}, {"119s", "2m"}, {"121s", "2m30s"}, {"10m1s", "15m"}, {"2h1s", "2h30m"}, {"13h", "14h"}, {"5d1s", "6d"},
	} {
		d, err := rules.ParseDuration(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := Text(RoundUp(d)); got != c.want {
			t.Errorf("%s is rounded to %s, want %s", c.in, got, c.want)
		}
		if RoundUp(d) < d {
			t.Errorf("%s is rounded down", c.in)
		}
	}
}

// A diff in every form that the types of a job file take.
func TestPatchForms(t *testing.T) {
	head := jobText[:strings.Index(jobText, "types:")]
	w := &Window{Expected: 20 * time.Minute, Deadline: 4 * time.Hour}
	w.Words = words(w.Expected, w.Deadline)
	for _, c := range []struct {
		name, types, want string // want "" where it is left out
	}{
		{"flow", "types:\n  charge: {window: {deadline: 1h, expected: 10m}}\n", "  charge: {window: {deadline: 4h, expected: 20m}}"},
		{"block", "types:\n  charge:\n    window:\n      expected: \"10m\"\n      deadline: '1h' # late\n", "      deadline: 4h # late"},
		{"no window", "types:\n  charge:\n    owner: a\n", "    window: {expected: 20m, deadline: 4h}"},
		{"no window, flow", "types:\n  charge: {owner: a}", "  charge: {window: {expected: 20m, deadline: 4h}, owner: a}"},
		{"no type", "types:\n  refund: {owner: a}\n", "  charge: {window: {expected: 20m, deadline: 4h}}"},
		{"defaults", "types:\n  '*': {window: {expected: 1m, deadline: 2m}}\n  charge: {owner: a}\n", "  charge: {window: {expected: 20m, deadline: 4h}, owner: a}"},
		{"half", "types:\n  charge: {window: {deadline: 1h}}\n", ""},
		{"no types", "outputs: {dir: o}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			job, err := rules.Parse([]byte(head+c.types), "job.yaml")
			if err != nil {
				t.Fatal(err)
			}
			s := &Suggestion{Measured: &Measured{job: job}, Proposals: []Proposal{{Type: "charge", Proposed: w}}}
			diff, left, err := Patch(s)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if diff != "" || len(left) != 1 {
					t.Fatalf("a diff, left out %v:\n%s", left, diff)
				}
				return
			}
			apply := exec.Command("patch", "-p0", "--fuzz=0")
			apply.Dir = t.TempDir()
			apply.Stdin = strings.NewReader(diff)
			write(t, filepath.Join(apply.Dir, "job.yaml"), head+c.types)
			if out, err := apply.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, diff)
			}
			text, _ := os.ReadFile(filepath.Join(apply.Dir, "job.yaml"))
			if !slices.Contains(strings.Split(string(text), "\n"), c.want) {
				t.Errorf("after the patch there is no line %q:\n%s", c.want, text[len(head):])
			}
			after, err := rules.Parse(text, "job.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if p := after.Types["charge"]; cmp.Compare(p.Expected, w.Expected) != 0 || p.Deadline != w.Deadline {
				t.Errorf("%s %s", p.Expected, p.Deadline)
			}
		})
	}
}
