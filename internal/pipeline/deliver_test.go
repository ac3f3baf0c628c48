package pipeline

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/testprom"
	"github.com/recon-batch/recon-batch/notify"
	"github.com/recon-batch/recon-batch/rules"
)

// told is what the textfile of a job of nights says.
func (n *nights) told(name string) string {
	n.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "prom", "recon_batch_nights.prom"))
	if err != nil {
		n.t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^recon_batch_` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(string(text))
	if m == nil {
		return "none"
	}
	return m[1]
}

func (n *nights) wantTold(want map[string]string) {
	n.t.Helper()
	for name, v := range want {
		if got := n.told(name); got != v {
			n.t.Errorf("%s is %s, want %s", name, got, v)
		}
	}
}

const nightsTold = `outputs:
  metrics: {textfile: prom}
gates: [{gate: absent, fail_when: "count(absent) > 3"}]
notify:
  - {to: webhook, url: "URL", when: [gate_failed, failed]}
`

// TestDelivery runs nights end to end: success, a failed gate, a refused run, an older
// date, the same run again; what is delivered says of each what it should, and nothing
// that is delivered changes how a run ends.
func TestDelivery(t *testing.T) {
	var got []notify.Message
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m notify.Message
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		got = append(got, m)
	}))
	defer hook.Close()
	n := newNights(t)
	if err := os.Mkdir(filepath.Join(n.dir, "prom"), 0o755); err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(nightsTold, "URL", hook.URL, 1)
	const success, run = `last_success_business_date_seconds{recon_job="nights"}`, `last_exit_code{recon_job="nights"}`

	dates := []string{"2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20"}
	for i, d := range dates {
		n.files(d, absent(i)...)
		if res := n.run(d, more, Allowed{}); res.ExitCode != fail.OK || len(res.Notes) > 0 {
			t.Fatalf("%s: exit %d, notes %q", d, res.ExitCode, res.Notes)
		}
	}
	n.wantTold(map[string]string{success: "1787184000", run: "0", `former_runs{recon_job="nights"}`: "3", `open_cases_rises{recon_job="nights",queue="requeue"}`: "3",
		`reason_rows_median{recon_job="nights",side="operations",class="absent",reason="no_result"}`: "1", `reason_rows{recon_job="nights",side="operations",class="absent",reason="no_result"}`: "3",
		`match_ratio{recon_job="nights"}`: "0.250000", `stage_rows{recon_job="nights",stage="extract"}`: "5", `attempts_mean{recon_job="nights"}`: "1.000000"})
	if n.told(`run_duration_seconds{recon_job="nights"}`) == "none" || n.told(`peak_rss_bytes{recon_job="nights"}`) == "none" || n.told(`disk_free_bytes{recon_job="nights"}`) == "NaN" {
		t.Error("what the machine says is missing")
	}
	text, err := os.ReadFile(filepath.Join(n.dir, "prom", "recon_batch_nights.prom"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 0 {
		t.Errorf("somebody is told of a night that went well: %+v", got)
	}

	n.files("2026-08-21", absent(4)...)
	if res := n.run("2026-08-21", more, Allowed{}); res.ExitCode != fail.Gate {
		t.Errorf("exit %d", res.ExitCode)
	}
	n.wantTold(map[string]string{success: "1787184000", run: "3", `gate_failed{recon_job="nights",gate="absent"}`: "1", `business_date_seconds{recon_job="nights"}`: "1787270400"})
	if len(got) != 1 || got[0].Occasions[1] != "gate_failed" || got[0].RunID == "" {
		t.Errorf("told %+v", got)
	}

	if _, err := n.try("2026-08-22", more, Allowed{}); fail.ClassOf(err) != fail.Input { // no files
		t.Errorf("got %v", err)
	}
	n.wantTold(map[string]string{success: "1787184000", run: "4", `exit_code{recon_job="nights"}`: "3", `business_date_seconds{recon_job="nights"}`: "1787270400"})
	if len(got) != 2 || got[1].ExitCode != 4 || got[1].Published || got[1].Stage != "extract" || strings.Contains(got[1].Text, "ops_") {
		t.Errorf("told %+v", got)
	}

	if err := os.Remove(filepath.Join(n.dir, "prom", "recon_batch_nights.prom")); err != nil {
		t.Fatal(err)
	}
	told := len(got)
	if res := n.run("2026-08-21", more, Allowed{}); !res.NoOp || len(res.Notes) > 0 {
		t.Errorf("no-op %t, notes %q", res.NoOp, res.Notes)
	}
	n.wantTold(map[string]string{success: "1787184000", `gate_failed{recon_job="nights",gate="absent"}`: "1", `stage_rows{recon_job="nights",stage="extract"}`: "6"})
	if len(got) != told {
		t.Error("the same run is told twice")
	}

	n.files("2026-08-10", absent(0)...)
	n.run("2026-08-10", more, Allowed{}) // a backfill
	n.wantTold(map[string]string{success: "1787184000", run: "0", `business_date_seconds{recon_job="nights"}`: "1787270400"})
	testprom.CheckMetrics(t, string(text))
}

// TestDeadPlaces: places that are dead, or take a connection and never answer, change
// nothing but the notes; a dry run tells nobody.
func TestDeadPlaces(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	l.Close()
	n := newNights(t)
	n.files("2026-08-20", absent(1)...)
	more := `outputs:
  metrics: {textfile: nowhere, pushgateway: "http://` + dead + `", otlp: {url: {env: NO_SUCH_VARIABLE}, hosts: [localhost]}}
notify:
  - {to: webhook, url: "http://` + dead + `", when: [always]}
  - {to: smtp, server: "` + dead + `", from: a@example.com, recipients: [b@example.com], tls: none, when: [always]}
`
	res := n.run("2026-08-20", more, Allowed{})
	if res.ExitCode != fail.OK || len(res.Notes) != 5 {
		t.Errorf("exit %d, notes %q", res.ExitCode, res.Notes)
	}
	for _, note := range res.Notes {
		if !strings.Contains(note, ": not delivered: ") {
			t.Errorf("note %q", note)
		}
	}
	asked := 0
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer hook.Close()
	job := loadNights(t, n, "notify: [{to: webhook, url: \""+hook.URL+"\", when: [always]}]\n")
	if _, err := Run(t.Context(), Options{Job: job, BusinessDate: "2026-08-20", Out: filepath.Join(n.dir, "out"), Threads: 1, DryRun: true}); err != nil || asked != 0 {
		t.Errorf("a dry run: %v, %d messages", err, asked)
	}
	if _, err := Run(t.Context(), Options{Job: job, BusinessDate: "2026-08-20", Out: filepath.Join(n.dir, "out"), Threads: 1}); err != nil || asked != 1 {
		t.Errorf("a run: %v, %d messages", err, asked)
	}
}

func loadNights(t *testing.T, n *nights, more string) *rules.Job {
	t.Helper()
	path := filepath.Join(n.dir, "job.yaml")
	write(t, path, n.job+more)
	job, err := rules.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return job
}
