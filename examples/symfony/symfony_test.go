// Package symfony holds the tests of the example for Symfony Messenger: those of the
// PHP code, and the whole circle with recon-batch in it.
package symfony

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

// needPHP ends the test where PHP or a package is missing: it fails in CI, and says
// what is missing elsewhere.
func needPHP(t *testing.T) {
	t.Helper()
	out, err := exec.Command("../../scripts/install-php", "--check").CombinedOutput()
	if err == nil {
		return
	}
	text := fmt.Sprintf("the PHP example is not tested:\n%s", out)
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// The tests of the PHP code, once with each database.
func TestPHPUnit(t *testing.T) {
	needPHP(t)
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":     func(*testing.T) string { return "" },
		"postgresql": func(t *testing.T) string { return "pgsql:host=" + postgres(t) + ";user=postgres;dbname=postgres" },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // a deadlock fails, it does not hang
			defer stop()
			cmd := exec.CommandContext(ctx, "phpunit", "--configuration", "phpunit.xml", "--do-not-cache-result")
			cmd.Env = append(os.Environ(), "RECON_TEST_PGSQL="+dsn(t))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("phpunit: %v\n%s", err, out)
			}
			if !bytes.Contains(out, []byte("OK (")) {
				t.Fatalf("phpunit passed, but not every test was run:\n%s", out)
			}
		})
	}
}

// shop is the application of tests/console.php in a folder of its own.
type shop struct {
	t   *testing.T
	dir string
	now string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{t: t, dir: t.TempDir(), now: "2026-11-29T10:00:00Z"}
	for _, d := range []string{"exports", "provider"} {
		if err := os.Mkdir(filepath.Join(s.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	job, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "job.yaml"), job, 0o644); err != nil {
		t.Fatal(err)
	}
	s.run("recon:schema", "--create")
	return s
}

func (s *shop) try(args ...string) (string, error) {
	cmd := exec.Command("php", append([]string{"tests/console.php", "--no-ansi"}, args...)...)
	cmd.Env = append(os.Environ(), "RECON_DIR="+s.dir, "RECON_NOW="+s.now)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *shop) run(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("%s at %s: %v\n%s", strings.Join(args, " "), s.now, err, out)
	}
	return out
}

// work runs workers until nothing waits. One that is killed is followed by another,
// and the broker delivers again what was in flight.
func (s *shop) work() {
	s.t.Helper()
	for range 20 {
		out, err := s.try("worker")
		if err != nil && !strings.Contains(err.Error(), "killed") {
			s.t.Fatalf("worker: %v\n%s", err, out)
		}
		s.run("broker:redeliver")
		if err == nil && s.dump().Waiting == 0 {
			return
		}
	}
	s.t.Fatal("messages are left after twenty workers")
}

type dump struct {
	Register []struct {
		OperationID string  `json:"operation_id"`
		State       string  `json:"state"`
		Attempts    int     `json:"attempts"`
		RemoteID    *string `json:"remote_id"`
	}
	Effects []struct {
		OperationID string `json:"operation_id"`
		Key         string `json:"idempotency_key"`
		Status      string `json:"status"`
	}
	Withdrawn []string // ids of items
	Calls     int
	Waiting   int
}

func (s *shop) dump() dump {
	s.t.Helper()
	var d dump
	if err := json.Unmarshal([]byte(s.run("dump")), &d); err != nil {
		s.t.Fatal(err)
	}
	return d
}

// reconcile exports the register, takes the provider's files of the days, and runs
// recon-batch for the 29th.
func (s *shop) reconcile(days ...string) *pipeline.Result {
	s.t.Helper()
	s.run("recon:export", filepath.Join(s.dir, "exports/operations_2026-11-29.csv"), "--from", "2026-11-29T00:00:00Z", "--until", "2026-11-30T00:00:00Z")
	for _, day := range days {
		s.run("provider:file", filepath.Join(s.dir, "provider/charges_"+day+".csv"), day)
	}
	job, err := rules.Load(filepath.Join(s.dir, "job.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := pipeline.Run(context.Background(), pipeline.Options{Job: job, BusinessDate: "2026-11-29", Threads: 2, Memory: 1 << 30})
	if err != nil {
		s.t.Fatalf("the run ended with %d: %v", fail.ClassOf(err), err)
	}
	if res.ExitCode != fail.OK {
		s.t.Fatalf("the run ended with %d: %s", res.ExitCode, res.Summary.Headline)
	}
	return res
}

// verdicts lists the operations of the exceptions and queues by what the run says.
func items(t *testing.T, run *pipeline.Result, queue string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(run.Dir, "queues", queue+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(b)) {
		var i struct {
			OperationID string  `json:"operation_id"`
			Class       string  `json:"class"`
			Reason      string  `json:"reason"`
			Refused     *string `json:"refused"`
		}
		if err := json.Unmarshal([]byte(line), &i); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(strings.TrimPrefix(i.OperationID, "charge-"), "-v1")
		if queue != "confirm" {
			text += " " + i.Class + "/" + i.Reason
		}
		if i.Refused != nil {
			text += " " + *i.Refused
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// The circle: workers that lose their answers, their calls and their lives; a broker
// that delivers twice; a provider that honours no key. Each operation ends with one
// effect, or with a person where the provider or the code said no.
func TestEachOperationHasOneEffect(t *testing.T) {
	needPHP(t)
	s := newShop(t)
	orders := []string{
		"good/1", "timeout-before/2", "timeout-after/3", "not-sent/4", "refused/5", "bug/6",
		"crash-after/7", "crash-before/8", "timeout-before/9",
	}
	s.run(append([]string{"shop:charge"}, orders...)...)
	s.run("shop:charge", "good/1") // somebody clicks twice
	s.run("broker:duplicate")
	s.work()

	// Before anything is reconciled nothing was called that could have had its effect.
	d := s.dump()
	if d.Calls != len(orders)+1 { // the one that was not sent is called again
		t.Errorf("%d calls, want %d", d.Calls, len(orders)+1)
	}

	s.now = "2026-11-30T01:00:00Z"
	first := s.reconcile("2026-11-29")
	equal(t, "requeue", items(t, first, "requeue"), []string{"crash-before/8 absent/no_result", "timeout-before/2 absent/no_result", "timeout-before/9 absent/no_result"})
	equal(t, "confirm", items(t, first, "confirm"), []string{"crash-after/7", "good/1", "not-sent/4", "timeout-after/3"})
	equal(t, "review", items(t, first, "review"), []string{"bug/6 absent/no_result error_class", "refused/5 absent/failed_at_provider error_class;state"})

	// One of the absent ones gets its effect by hand between the run and the apply.
	s.now = "2026-11-30T04:10:00Z"
	s.run("shop:confirm", "timeout-before/9", "ch_by_hand")
	out := s.run("recon:apply", first.Current)
	for _, want := range []string{"confirm: 4 applied", "requeue: 2 applied, 1 other_state", "requeue charge-timeout-before/9-v1: other_state"} {
		if !strings.Contains(out, want) {
			t.Errorf("the first apply does not say %q:\n%s", want, out)
		}
	}
	out = s.run("recon:apply", first.Current) // the job scheduler started it twice
	if !strings.Contains(out, "requeue: 2 already_applied, 1 other_state") {
		t.Errorf("the second apply says\n%s", out)
	}
	s.run("broker:duplicate")
	s.work()

	s.now = "2026-12-01T01:00:00Z"
	second := s.reconcile("2026-11-29", "2026-11-30")
	if second.Manifest.RunID == first.Manifest.RunID {
		t.Error("the second night found nothing new")
	}
	equal(t, "requeue", items(t, second, "requeue"), nil)
	equal(t, "confirm", items(t, second, "confirm"), []string{"crash-before/8", "timeout-before/2"})
	if out, err := s.try("recon:apply", first.Dir); err == nil || !strings.Contains(out, "was superseded") {
		t.Errorf("a superseded run was applied: %v\n%s", err, out)
	}
	s.now = "2026-12-01T04:10:00Z"
	s.run("recon:apply", second.Current)
	s.work()
	if n := len(s.dump().Withdrawn); n < 3 { // the three requeues of the first night at least
		t.Errorf("%d items of the first run are known to be withdrawn", n)
	}

	effects := map[string]int{}
	for _, e := range s.dump().Effects {
		if e.Status == "settled" {
			effects[e.OperationID]++
		}
		if e.Key != "key-"+e.OperationID {
			t.Errorf("%s was called with the key %s", e.OperationID, e.Key)
		}
	}
	for _, o := range s.dump().Register {
		state, n := "confirmed", 1
		switch o.OperationID {
		case "charge-refused/5-v1":
			state, n = "manual_review", 0
		case "charge-bug/6-v1":
			state, n = "awaiting_confirmation", 0 // with a person: an error that nobody knows
		case "charge-timeout-before/9-v1":
			n = 0 // by hand, outside this provider
		}
		if o.State != state || effects[o.OperationID] != n {
			t.Errorf("%s: %s with %d effects, want %s with %d", o.OperationID, o.State, effects[o.OperationID], state, n)
		}
	}
}
