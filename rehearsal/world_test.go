package rehearsal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// The world of these tests: three nights, and for every operation a story of which the
// test knows the end. A night runs before the files of the next one are there.
const jobText = `job: world
mode: observe
as_of: "{date+1}T04:00"
period: {by: created_at, from: "{date}T00:00", until: "{date+1}T00:00"}
operations:
  sources: [{name: orders, path: "ops_{date}.csv", coverage: {from: "{date-1}T00:00", until: "{date+1}T00:00"}}]
  fields: {operation_id: id, idempotency_key: key, type: kind, state: state, amount: {column: amount, type: decimal, scale: 2}, currency: currency, attempts: {column: n, type: integer}, created_at: {column: at, type: timestamp}, last_attempt_at: {column: last, type: timestamp}}
results:
  sources:
    - {name: psp, path: "tx_{file_date}.csv", dates: {from: "{date-1}", until: "{date+1}"}, need: late-ok, coverage: {account: psp, from: "{file_date}T00:00", until: "{file_date+1}T00:00"}}
  fields: {operation_id: id, idempotency_key: key, remote_id: remote, status: {column: status, map: {settled: succeeded, refused: failed, processing: pending}}, amount: {column: amount, type: decimal, scale: 2}, currency: currency, created_at: {column: at, type: timestamp}}
match: [{pass: operation_id, on: [operation_id], identity: true}, {pass: idempotency_key, on: [idempotency_key], identity: true}]
compare: [{field: amount}, {field: currency}, {field: status, expect: succeeded}]
types:
  charge: {window: {expected: 15m, deadline: 2h}, idempotent: true, idempotency_key_ttl: 96h, retry: {max_attempts: 5, max_duration: 90h}, owner: payments, reply_by: 2d}
  refund: {window: {expected: 15m, deadline: 2h}, idempotent: true, idempotency_key_ttl: 96h, retry: {max_attempts: 5, max_duration: 90h}, owner: payments, reply_by: 2d}
outputs: {dir: out}
`

// story is what happens to an operation whose first attempt left nothing behind that
// the night could see.
type story string

const (
	fine     story = "confirmed at once"
	backdate story = "the effect was there, and its record came a day late"
	lateOne  story = "the effect came after the reference time, without a new attempt"
	again    story = "it was sent again, and took effect"
	twice    story = "it was sent again, and both took effect"
	never    story = "nothing ever came"
	refusal  story = "it was sent again, and refused"
	waiting  story = "the provider has it, and has not decided"
	between  story = "the effect came before the attempt that the next export shows"
	gone     story = "no later night has it"
	byKey    story = "the next export has it no more, and a record under its key is dated before"
)

var stories = []story{fine, fine, fine, backdate, lateOne, again, twice, never, refusal, waiting, between, gone, byKey}

const worldNights = 3

type tale struct {
	story
	kind, currency string
	night, cents   int
}

var world struct {
	once  sync.Once
	dir   string
	tales []tale
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(world.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func date(night int) string { return day(night).Format(time.DateOnly) }

func day(night int) time.Time { return time.Date(2026, 11, 2+night, 0, 0, 0, 0, time.UTC) }

func load(t *testing.T, file string) *rules.Job {
	t.Helper()
	job, err := rules.Load(file)
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

// makeWorld runs the nights once; tests work on copies.
func makeWorld(t *testing.T) (dir string, tales []tale) {
	t.Helper()
	world.once.Do(func() {
		var err error
		if world.dir, err = os.MkdirTemp("", "rehearsal-world-"); err != nil {
			t.Fatal(err)
		}
		world.tales = tellStories(t, world.dir)
	})
	if world.tales == nil {
		t.Fatal("the world was not made")
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(world.dir)); err != nil {
		t.Fatal(err)
	}
	return dir, world.tales
}

func tellStories(t *testing.T, dir string) []tale {
	rnd := rand.New(rand.NewPCG(5, 8))
	ops, txs := map[string][]string{}, map[string][]string{}
	utc := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	var tales []tale
	for n := range worldNights {
		for i := range 160 {
			o := tale{story: stories[rnd.IntN(len(stories))], kind: "charge", currency: "EUR", night: n, cents: 100 + rnd.IntN(9000)}
			if rnd.IntN(4) == 0 {
				o.kind = "refund"
			}
			if rnd.IntN(3) == 0 {
				o.currency = "USD"
			}
			tales = append(tales, o)
			id := fmt.Sprintf("o%d-%d", n, i)
			amount := fmt.Sprintf("%d.%02d", o.cents/100, o.cents%100)
			created := day(n).Add(time.Duration(rnd.IntN(20*3600)) * time.Second)
			reference := day(n).Add(28 * time.Hour)
			op := func(night, attempts int, last time.Time) {
				ops[date(night)] = append(ops[date(night)], strings.Join([]string{id, "k-" + id, o.kind, "awaiting_confirmation", amount, o.currency, fmt.Sprint(attempts), utc(created), utc(last)}, ","))
			}
			tx := func(night int, remote, status string, at time.Time) {
				txs[date(night)] = append(txs[date(night)], strings.Join([]string{id, "k-" + id, remote + id, status, amount, o.currency, utc(at)}, ","))
			}
			op(n, 1, created)
			next, attempts := created, 1 // as the next export has it
			resent := reference.Add(time.Duration(3600+rnd.IntN(36000)) * time.Second)
			switch o.story {
			case fine:
				tx(n, "r", "settled", created.Add(3*time.Second))
			case backdate:
				tx(n+1, "r", "settled", created.Add(3*time.Second))
			case lateOne:
				tx(n+1, "r", "settled", resent)
			case again:
				next, attempts = resent, 2
				tx(n+1, "r", "settled", resent.Add(3*time.Second))
			case twice:
				next, attempts = resent, 2
				tx(n+1, "r", "settled", resent.Add(time.Second))
				tx(n+1, "s", "settled", resent.Add(3*time.Second))
			case refusal:
				next, attempts = resent, 2
				tx(n+1, "r", "refused", resent.Add(3*time.Second))
			case waiting:
				tx(n+1, "r", "processing", resent)
			case between:
				next, attempts = resent, 3
				tx(n+1, "r", "settled", resent.Add(-50*time.Minute))
			case byKey:
				tx(n+1, "r", "settled", reference.Add(-time.Second))
			}
			if o.story != gone && o.story != byKey {
				op(n+1, attempts, next)
			}
		}
	}
	write(t, filepath.Join(dir, "job.yaml"), jobText)
	job := load(t, filepath.Join(dir, "job.yaml"))
	for n := range worldNights {
		write(t, filepath.Join(dir, "ops_"+date(n)+".csv"), "id,key,kind,state,amount,currency,n,at,last\n"+strings.Join(ops[date(n)], "\n")+"\n")
		write(t, filepath.Join(dir, "tx_"+date(n)+".csv"), "id,key,remote,status,amount,currency,at\n"+strings.Join(txs[date(n)], "\n")+"\n")
		if _, err := pipeline.Run(context.Background(), pipeline.Options{Job: job, BusinessDate: date(n), Threads: 2}); err != nil {
			t.Fatalf("%s: %v", date(n), err)
		}
	}
	return tales
}

func TestReadiness(t *testing.T) {
	dir, tales := makeWorld(t)
	for _, typ := range []string{"charge", "refund", "*"} {
		want := Readiness{}
		how := map[How]int{}
		for _, o := range tales {
			if o.story == fine || typ != "*" && o.kind != typ {
				continue
			}
			want.Proposed++
			if o.night == worldNights-1 {
				want.NotSeen++
				continue
			}
			switch o.story {
			case gone:
				want.NotSeen++
				continue
			case waiting, between:
				want.Unclear++
				continue
			case again:
				want.SentAgain++
			case backdate, byKey:
				how[Existed]++
			case lateOne:
				how[Late]++
			case twice:
				how[Several]++
			}
			want.Observed++
		}
		want.Contradicted = int64(how[Existed] + how[Late] + how[Several])
		r, err := Ready(context.Background(), pipeline.Options{Job: load(t, filepath.Join(dir, "job.yaml")), Threads: 2}, typ, 30)
		if err != nil {
			t.Fatal(err)
		}
		if r.Proposed != want.Proposed || r.Operations != want.Proposed || r.Observed != want.Observed || r.Contradicted != want.Contradicted ||
			r.SentAgain != want.SentAgain || r.Unclear != want.Unclear || r.NotSeen != want.NotSeen {
			t.Errorf("%s: %+v\nwant %+v", typ, r, want)
		}
		got := map[How]int{}
		for _, a := range r.Against {
			got[a.How]++
			if !a.ObserveOnly || a.Evidence.File == "" || a.Evidence.BusinessDate <= a.BusinessDate {
				t.Errorf("%s: %+v", typ, a)
			}
			if (a.Evidence.Time < a.ReferenceTime) != (a.How == Existed) {
				t.Errorf("%s: %+v is dated on the other side of the reference time", typ, a)
			}
		}
		for _, h := range []How{Existed, Late, Several} {
			if got[h] != how[h] || how[h] == 0 {
				t.Errorf("%s: %d are contradicted since %s, want %d, and some", typ, got[h], h, how[h])
			}
		}
		if len(r.Nights) != worldNights || r.Nights[0].ObserveOnly != r.Nights[0].Proposed || r.UpperBound != UpperBound(want.Contradicted, want.Observed) {
			t.Errorf("%s: %+v", typ, r)
		}
	}
}

func TestReadinessNeedsEveryNight(t *testing.T) {
	dir, _ := makeWorld(t)
	o := pipeline.Options{Job: load(t, filepath.Join(dir, "job.yaml")), Threads: 2}
	_, err := Ready(context.Background(), o, "charges", 30)
	if fail.ClassOf(err) != fail.Usage {
		t.Errorf("a type that the job does not know: %v", err)
	}
	// What is staged is enough; without both, the night is not passed over.
	remove(t, filepath.Join(dir, "tx_"+date(1)+".csv"))
	if _, err := Ready(context.Background(), o, "charge", 30); err != nil {
		t.Errorf("with what is staged: %v", err)
	}
	remove(t, filepath.Join(dir, "out", ".stage"))
	if _, err := Ready(context.Background(), o, "charge", 30); fail.ClassOf(err) != fail.Input || !strings.Contains(err.Error(), date(1)) {
		t.Errorf("without the file of a night: %v", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// fingerprint is the digest of every byte and link below a folder, with the names and
// the times of what was written last.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, p, info.Mode(), info.ModTime().UnixNano())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			fmt.Fprintln(h, to)
			return err
		case e.IsDir():
			return nil
		}
		text, err := os.ReadFile(p)
		fmt.Fprintf(h, "%x\n", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func rejudge(t *testing.T, dir, text string) *WhatIf {
	t.Helper()
	elsewhere := filepath.Join(t.TempDir(), "new.yaml")
	write(t, elsewhere, text)
	w, err := Other(context.Background(), pipeline.Options{Job: load(t, elsewhere), Threads: 2}, load(t, filepath.Join(dir, "job.yaml")), 30)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWhatIf(t *testing.T) {
	dir, tales := makeWorld(t)
	before := fingerprint(t, dir)

	// Under the same rules nothing moves, although files came since that a night would
	// read today.
	w := rejudge(t, dir, jobText)
	if len(w.Moves) != 0 || len(w.Cases) != 0 || w.Cannot != 0 || len(w.Nights) != worldNights {
		t.Errorf("under the same rules: %+v", w)
	}

	// With a longer deadline for charges, what was absent is not due.
	longer := strings.Replace(jobText, "charge: {window: {expected: 15m, deadline: 2h}", "charge: {window: {expected: 15m, deadline: 90h}", 1)
	w = rejudge(t, dir, longer)
	rows, cents := int64(0), map[string]int{}
	for _, o := range tales {
		if o.story != fine && o.kind == "charge" {
			rows++
			cents[o.currency] += o.cents
		}
	}
	var money []Money
	for _, c := range []string{"EUR", "USD"} {
		money = append(money, Money{c, fmt.Sprintf("%d.%02d", cents[c]/100, cents[c]%100)})
	}
	i := slices.IndexFunc(w.Moves, func(m Move) bool { return m.Side == rules.Operations })
	if i < 0 {
		t.Fatalf("no operation moves: %+v", w)
	}
	m := w.Moves[i]
	from, to := Standing{"absent", "no_result", "requeue, observe only"}, Standing{"not_due", "within_window", "none"}
	if m.From != from || m.To != to || m.Rows != rows || !slices.Equal(m.Amounts, money) || len(m.Examples) != 3 {
		t.Errorf("%+v, want %d rows and %v", m, rows, money)
	}
	if len(w.Cases) != 1 || w.Cases[0].From != from.Proposal || w.Cases[0].To != "none" || w.Cases[0].Cases != rows || !slices.Equal(w.Cases[0].Amounts, money) {
		t.Errorf("%+v, want %d cases and %v", w.Cases, rows, money)
	}

	// Another policy moves proposals alone.
	w = rejudge(t, dir, strings.Replace(jobText, "mode: observe\n", "", 1))
	for _, m := range w.Moves {
		if m.From.Class != m.To.Class || m.From.Reason != m.To.Reason || m.From.Proposal != m.To.Proposal+", observe only" {
			t.Errorf("%+v", m)
		}
	}
	if len(w.Moves) == 0 {
		t.Error("no proposal moves")
	}

	if fingerprint(t, dir) != before {
		t.Error("something was written")
	}
}

func TestWhatIfWithoutTheFiles(t *testing.T) {
	dir, _ := makeWorld(t)
	longer := strings.Replace(jobText, "charge: {window: {expected: 15m, deadline: 2h}", "charge: {window: {expected: 15m, deadline: 90h}", 1)
	want := rejudge(t, dir, longer)
	for n := range worldNights {
		remove(t, filepath.Join(dir, "tx_"+date(n)+".csv"))
	}
	write(t, filepath.Join(dir, "ops_"+date(1)+".csv"), "id,key,kind,state,amount,currency,n,at,last\n") // replaced
	staged := rejudge(t, dir, longer)
	if !slices.EqualFunc(staged.Moves, want.Moves, func(a, b Move) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) || staged.Cannot != 0 {
		t.Errorf("from what is staged: %+v\nwant %+v", staged, want)
	}

	// Other fields of the operations ask for their bytes, which one night has no more.
	other := strings.Replace(jobText, "state: state, ", "", 1)
	if w := rejudge(t, dir, other); w.Cannot != 1 || !strings.Contains(w.Nights[1].Cannot, "other bytes") || w.Nights[0].Rows == 0 {
		t.Errorf("under other fields: %+v", w)
	}
	remove(t, filepath.Join(dir, "out", ".stage"))
	w := rejudge(t, dir, longer)
	if w.Cannot != worldNights || len(w.Moves) != 0 {
		t.Errorf("without files and what is staged: %+v", w)
	}
	for i, n := range w.Nights {
		if !strings.Contains(n.Cannot, "tx_") && !(i == 1 && strings.Contains(n.Cannot, "other bytes")) {
			t.Errorf("%+v does not say which file", n)
		}
	}

	// A file of a source that may be missing is not left out in silence.
	optional := strings.Replace(jobText, "need: late-ok", "need: optional", 1)
	if w := rejudge(t, dir, optional); w.Cannot != worldNights {
		t.Errorf("an optional file that is gone: %+v", w)
	}
}
