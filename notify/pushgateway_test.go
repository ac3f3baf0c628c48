package notify

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/testprom"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// TestPushgateway reads back from a real gateway: success, a refused run, a failed gate,
// an older date; and a series that is no longer there does not stay.
func TestPushgateway(t *testing.T) {
	gateway := testprom.Pushgateway(t)
	push := func(e *Ending) string {
		t.Helper()
		e.Job.Outputs.Metrics = &rules.MetricsSinks{Pushgateway: &rules.Endpoint{URL: gateway}}
		if notes := Deliver(t.Context(), e); len(notes) > 0 {
			t.Fatal(notes)
		}
		res, err := http.Get(gateway + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// want looks for a series by name, one label and value; "" any.
	want := func(text, name, label, value string) {
		t.Helper()
		line := regexp.MustCompile(`(?m)^recon_batch_` + name + `\{[^\n]*` + regexp.QuoteMeta(label) + `[^\n]*\} (\S+)$`).FindStringSubmatch(text)
		if line == nil || line[1] != value {
			t.Errorf("%s with %s is %v, want %s", name, label, line, value)
		}
	}
	e := succeeded(t)
	e.Summary.Limits = []report.Limit{{Name: "requeue.rows", Exceeded: true}}
	text := push(e)
	success := func(text string) {
		t.Helper()
		want(text, "last_success_timestamp_seconds", `recon_job="card-charges"`, "1.787285106e+09")
		want(text, "last_success_business_date_seconds", `instance="",job="recon-batch",recon_job="card-charges"`, "1.787184e+09")
	}
	success(text)
	want(text, "limit_exceeded", `limit="requeue.rows"`, "1")
	want(text, "match_ratio", "", "0.7")

	text = push(refused(t))
	success(text)
	want(text, "last_exit_code", "", "4")
	want(text, "match_ratio", "", "0.7")

	e = ended(t)
	e.BusinessDate, e.Summary.BusinessDate, e.Success, e.Ended = "2026-08-21", "2026-08-21", "2026-08-20", e.Ended.Add(24*time.Hour)
	text = push(e)
	success(text)
	want(text, "gate_failed", `gate="nothing-absent"`, "1")
	want(text, "limit_exceeded", "", "NaN")
	if strings.Contains(text, "requeue.rows") {
		t.Error("a limit that the job has no more is still there")
	}

	e = succeeded(t)
	e.BusinessDate, e.Newest, e.Success = "2026-08-10", false, "2026-08-20"
	text = push(e)
	want(text, "last_success_business_date_seconds", "", "1.787184e+09")
	want(text, "business_date_seconds", "", "1.7872704e+09")

	e = succeeded(t)
	e.Series = "card-charges@pilot"
	want(push(e), "exit_code", `recon_job="card-charges@pilot"`, "0")
	want(push(succeeded(t)), "exit_code", `recon_job="card-charges@pilot"`, "0")
}

// TestPromtoolTakesTheMetrics of every kind of ending, hostile names included.
func TestPromtoolTakesTheMetrics(t *testing.T) {
	e := ended(t)
	e.Summary.Versions = append(e.Summary.Versions, report.Version{Name: "a\"b\\c\nd\u202e", Version: "\xff"})
	for _, e := range []*Ending{succeeded(t), e, refused(t)} {
		testprom.CheckMetrics(t, report.MetricsText(e.Series, e.Families()))
	}
	if out, ok := testprom.Promtool(t, "", "recon_batch_x{ 1\n", "check", "metrics"); ok {
		t.Errorf("promtool takes anything: %s", out)
	}
}
