package rules

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func toldJob(t *testing.T, change ...string) (*Job, error) {
	t.Helper()
	src, err := os.ReadFile("testdata/observability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(change...).Replace(string(src))
	if len(change) > 0 && text == string(src) {
		t.Fatalf("%q changes nothing", change)
	}
	return Parse([]byte(text), "testdata/observability.yaml")
}

func TestObservability(t *testing.T) {
	job, err := toldJob(t)
	if err != nil {
		t.Fatal(err)
	}
	m := job.Outputs.Metrics
	if m.Textfile != "metrics" || m.Pushgateway.URL != "http://push.example.com:9091" || m.OTLP.URLAt.Env != "OTLP_URL" ||
		m.OTLP.Token.File != "otlp.token" || !slices.Equal(m.OTLP.Hosts, []string{"otlp.example.com:4318"}) {
		t.Errorf("metrics: %+v", m)
	}
	n := job.Notify
	if len(n) != 4 || n[0].Sign.File != "hook.key" || n[0].Token.Env != "HOOK_TOKEN" || n[0].When[0] != OnAlways {
		t.Fatalf("notify: %+v", n)
	}
	if !slices.Equal(n[1].Hosts, []string{"hooks.slack.com"}) || n[1].URLAt.Env != "SLACK_URL" {
		t.Errorf("slack: %+v", n[1])
	}
	if n[2].TLS != "starttls" || len(n[2].Recipients) != 2 || !slices.Equal(n[2].When, []string{OnGateFailed, OnWithheld, OnFailed}) || n[3].TLS != "none" {
		t.Errorf("smtp: %+v %+v", n[2], n[3])
	}
	if !strings.Contains(string(job.Effective()), "url: http://push.example.com:9091 # observability.yaml:11\n") {
		t.Errorf("the short form of a place does not say where it stands:\n%s", job.Effective())
	}
	again, err := ParseEffective(job.Effective(), "job.effective.yaml")
	if err != nil || again.Digest() != job.Digest() {
		t.Errorf("the effective job is another one: %v\n%s", err, job.Effective())
	}
}

// TestObservabilityRefusals: secrets in the open, and places that nobody who reads the
// job file sees.
func TestObservabilityRefusals(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"url: {env: SLACK_URL}", "url: https://hooks.slack.com/services/T0/B0/x", "is a secret"},
		{"secret: {file: hook.key}", "secret: hunter2", "a secret is never written"},
		{"token: {env: HOOK_TOKEN}", "token: {env: A, file: b}", "one of them"},
		{"{url: {env: OTLP_URL}, hosts: [\"OTLP.example.com:4318\"]", "{url: {env: OTLP_URL}", "sees where it goes"},
		{"hosts: [hooks.example.com]", "hosts: [elsewhere.example.com]", "not among hosts"},
		{"url: https://hooks.example.com/recon", "url: http://hooks.example.com/recon", "not https"},
		{"pushgateway: http://push.example.com:9091", "pushgateway: http://ada:pw@push.example.com:9091", "a user or a password"},
		{"pushgateway: http://push.example.com:9091", "pushgateway: file:///etc/passwd", "no http or https URL"},
		{"textfile: metrics", "textfile: ../../etc", "leaves the folder"},
		{"server: mail.example.com:587", "server: mail.example.com", "no host and port"},
		{"from: recon@example.com\n", "from: \"recon@example.com\\r\\nBcc: x@example.com\"\n", "no mail address"},
		{"    password: {env: SMTP_PASSWORD}\n", "", "and not both"},
		{"    password: {env: SMTP_PASSWORD}\n", "    password: {env: SMTP_PASSWORD}\n    tls: none\n", "nothing hides it"},
		{"when: [always]", "when: [allways]", `did you mean "always"`},
		{"to: webhook, url: https://hooks.example.com/recon", "to: webhook", "has no url"},
		{"{to: slack, url: {env: SLACK_URL}", "{to: slack, url: {env: SLACK_URL}, server: \"a:1\"", "means nothing"},
		{"link: https://reports.example.com/out", "link: javascript:alert(1)", "no http or https URL"},
	} {
		_, err := toldJob(t, c.old, c.new)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.new, err, c.want)
		}
	}
}

// TestGuideOfObservability: the job of the guide is one.
func TestGuideOfObservability(t *testing.T) {
	text, err := os.ReadFile("../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, ok := strings.Cut(block, "```")
	src, err := os.ReadFile("testdata/observability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(src), "outputs:")
	job, err := Parse([]byte(head+block), "job.yaml")
	if !ok || err != nil || len(job.Notify) != 3 || job.Outputs.Metrics.OTLP == nil {
		t.Errorf("%t %v", ok, err)
	}
}
