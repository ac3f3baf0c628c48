package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// request is what a receiver got.
type request struct {
	header http.Header
	path   string
	method string
	body   []byte
}

// receiver is a server that keeps what it got and answers as told.
func receiver(t *testing.T, answer func(w http.ResponseWriter)) (*httptest.Server, *[]request) {
	t.Helper()
	var got []request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, request{r.Header.Clone(), r.URL.EscapedPath(), r.Method, body})
		if answer != nil {
			answer(w)
		}
	}))
	t.Cleanup(s.Close)
	return s, &got
}

func noteOf(t *testing.T, e *Ending) string {
	t.Helper()
	return strings.Join(Deliver(t.Context(), e), "\n")
}

// TestWebhook: the signature is that of key, time and body, and the body is a message.
func TestWebhook(t *testing.T) {
	s, got := receiver(t, nil)
	e := ended(t)
	key := secretFile(t, e, "hook.key", "0123456789abcdef")
	t.Setenv("HOOK_TOKEN", "t0ken")
	e.Job.Notify = []rules.Notification{{To: rules.ToWebhook, When: []string{rules.OnGateFailed}, Sign: key,
		Endpoint: rules.Endpoint{URL: s.URL + "/in", Token: rules.Secret{Env: "HOOK_TOKEN"}}}}
	if n := noteOf(t, e); n != "" || len(*got) != 1 {
		t.Fatalf("%d requests, notes %s", len(*got), n)
	}
	r := (*got)[0]
	if want := Signature("0123456789abcdef", "1787285106", r.body); r.header.Get("X-Recon-Signature") != want || r.header.Get("X-Recon-Timestamp") != "1787285106" {
		t.Errorf("signed %s at %s, want %s", r.header.Get("X-Recon-Signature"), r.header.Get("X-Recon-Timestamp"), want)
	}
	if r.method != "POST" || r.path != "/in" || r.header.Get("Authorization") != "Bearer t0ken" || r.header.Get("X-Recon-Id") != "card-charges/2026-08-20/0123456789abcdef" {
		t.Errorf("got %+v", r)
	}
	var m Message
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil || m.ExitCode != 3 || m.Queues[1].Items != 3 || m.Money[0].Difference != "-30.00" || !slices.Contains(m.Occasions, "gate_failed") {
		t.Errorf("%v, %+v", err, m)
	}
	for _, p := range personal {
		if bytes.Contains(r.body, []byte(p)) {
			t.Errorf("%s is told", p)
		}
	}
}

// TestSignature is the value of another implementation: printf '%s' '1787285106.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef.
func TestSignature(t *testing.T) {
	const want = "v1=16772e16b1c0abac16755dbc5b2203c3453778d4e4e3e55ca26e0a9740114170"
	if got := Signature("0123456789abcdef", "1787285106", []byte(`{"a":1}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWhoIsTold: only on the occasions that are named, and nobody twice.
func TestWhoIsTold(t *testing.T) {
	s, got := receiver(t, nil)
	tell := func(e *Ending, when ...string) int {
		*got = nil
		e.Job.Notify = []rules.Notification{{To: rules.ToWebhook, When: when, Endpoint: rules.Endpoint{URL: s.URL}}}
		if n := noteOf(t, e); n != "" {
			t.Error(n)
		}
		return len(*got)
	}
	again := ended(t)
	again.Again = true
	for _, c := range []struct {
		e    *Ending
		when []string
		want int
	}{
		{ended(t), []string{rules.OnGateFailed}, 1}, {ended(t), []string{rules.OnFailed, rules.OnWithheld}, 0}, {succeeded(t), []string{rules.OnGateFailed, rules.OnFailed}, 0},
		{succeeded(t), []string{rules.OnAlways}, 1}, {succeeded(t), []string{rules.OnDifferences}, 1}, {refused(t), []string{rules.OnFailed}, 1}, {again, []string{rules.OnAlways}, 0},
	} {
		if n := tell(c.e, c.when...); n != c.want {
			t.Errorf("exit %d, when %q: %d messages, want %d", c.e.ExitCode, c.when, n, c.want)
		}
	}
}

// TestSlack: the text is escaped, and the URL, which is the secret, is in no note.
func TestSlack(t *testing.T) {
	var code atomic.Int32
	code.Store(200)
	s, got := receiver(t, func(w http.ResponseWriter) { w.WriteHeader(int(code.Load())) })
	e := ended(t)
	e.Summary.Gates[0].Name = "a<!channel>&b"
	t.Setenv("SLACK_URL", s.URL+"/services/T0/B0/s3cr3tpart")
	e.Job.Notify = []rules.Notification{{To: rules.ToSlack, When: []string{rules.OnAlways}, Endpoint: rules.Endpoint{URLAt: rules.Secret{Env: "SLACK_URL"}, Hosts: []string{"127.0.0.1"}}}}
	if n := noteOf(t, e); n != "" {
		t.Fatal(n)
	}
	var body struct{ Text string }
	if err := json.Unmarshal((*got)[0].body, &body); err != nil || !strings.Contains(body.Text, "gate failed: a&lt;!channel&gt;&amp;b") || (*got)[0].path != "/services/T0/B0/s3cr3tpart" {
		t.Errorf("%v %s %s", err, (*got)[0].body, (*got)[0].path)
	}
	code.Store(500)
	if n := noteOf(t, e); !strings.Contains(n, "notification 1 by slack: not delivered: 127.0.0.1:") || !strings.Contains(n, "500") || strings.Contains(n, "s3cr3t") {
		t.Errorf("note %q", n)
	}
	s.Close()
	if n := noteOf(t, e); !strings.Contains(n, "not delivered") || strings.Contains(n, "s3cr3t") {
		t.Errorf("note %q", n)
	}
}

// TestPlacesThatAreRefused: hosts that the job does not name, redirects, addresses at
// which nobody listens but the machine itself, and secrets in the open. Nothing arrives.
func TestPlacesThatAreRefused(t *testing.T) {
	elsewhere, stolen := receiver(t, nil)
	redirect, asked := receiver(t, func(w http.ResponseWriter) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	t.Setenv("URL", elsewhere.URL)
	t.Setenv("OPEN", "http://hooks.example.com/x")
	t.Setenv("SECRET", "0123456789abcdef")
	t.Setenv("SHORT", "short")
	at := func(url string, hosts ...string) rules.Endpoint { return rules.Endpoint{URL: url, Hosts: hosts} }
	for want, n := range map[string]rules.Notification{
		"its host is not among the hosts":         {To: rules.ToSlack, Endpoint: rules.Endpoint{URLAt: rules.Secret{Env: "URL"}, Hosts: []string{"hooks.slack.com"}}},
		"a redirect, which is not followed":       {To: rules.ToWebhook, Endpoint: at(redirect.URL), Sign: rules.Secret{Env: "SECRET"}},
		"it is not https":                         {To: rules.ToWebhook, Endpoint: rules.Endpoint{URLAt: rules.Secret{Env: "OPEN"}, Hosts: []string{"hooks.example.com"}}},
		"the address 169.254.169.254 is refused":  {To: rules.ToWebhook, Endpoint: at("http://169.254.169.254/latest")},
		"the address fe80::1 is refused":          {To: rules.ToWebhook, Endpoint: at("http://[fe80::1%25lo]/")},
		"the environment variable NOWHERE is not": {To: rules.ToSlack, Endpoint: rules.Endpoint{URLAt: rules.Secret{Env: "NOWHERE"}, Hosts: []string{"a"}}},
		"secret: the file no.key cannot be read":  {To: rules.ToWebhook, Endpoint: at(elsewhere.URL), Sign: rules.Secret{File: "no.key"}},
		"secret: a key has at least 16 bytes":     {To: rules.ToWebhook, Endpoint: at(elsewhere.URL), Sign: rules.Secret{Env: "SHORT"}},
	} {
		e := ended(t)
		n.When = []string{rules.OnAlways}
		e.Job.Notify = []rules.Notification{n}
		if got := noteOf(t, e); !strings.Contains(got, want) || strings.Contains(got, "0123456789abcdef") {
			t.Errorf("note %q, want %s", got, want)
		}
	}
	if len(*stolen) != 0 || len(*asked) != 1 {
		t.Errorf("%d requests arrived where none may, %d at the one that redirects", len(*stolen), len(*asked))
	}
}

func TestRefuseAddress(t *testing.T) {
	for address, ok := range map[string]bool{"127.0.0.1:80": true, "10.0.0.1:80": true, "[::1]:80": true, "[::ffff:169.254.169.254]:80": false, "224.0.0.1:1": false, "0.0.0.0:1": false, "[ff02::1]:1": false} {
		if err := refuseAddress(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestSlowPlaces: places that take a connection and never answer end together in the
// time that all have, one line each; a place that answers is not held up by them.
func TestSlowPlaces(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, got := receiver(t, nil)
	e := ended(t)
	slow := &rules.Endpoint{URL: "http://" + l.Addr().String()}
	e.Job.Outputs.Metrics = &rules.MetricsSinks{Pushgateway: slow, OTLP: slow}
	e.Job.Notify = []rules.Notification{{To: rules.ToWebhook, When: []string{rules.OnAlways}, Endpoint: *slow}, {To: rules.ToWebhook, When: []string{rules.OnAlways}, Endpoint: rules.Endpoint{URL: s.URL}},
		{To: rules.ToSMTP, When: []string{rules.OnAlways}, Server: l.Addr().String(), From: "a@example.com", Recipients: []string{"b@example.com"}, TLS: "none"}}
	begin := time.Now()
	notes := (&courier{ending: e, patience: 300 * time.Millisecond}).deliver(t.Context())
	if len(notes) != 4 || len(*got) != 1 {
		t.Errorf("%d requests where somebody answers, notes %q", len(*got), notes)
	}
	for _, n := range notes {
		if !strings.HasSuffix(n, "not delivered: no answer within 300ms") {
			t.Errorf("note %q", n)
		}
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s: one after the other?", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range Deliver(ctx, e) {
		if !strings.HasSuffix(n, "the run was stopped") {
			t.Errorf("note %q", n)
		}
	}
	if Patience != 10*time.Second {
		t.Error("places have another time than docs/observability.md says")
	}
}

// TestPanicIsANote: what is told never ends a run that is published.
func TestPanicIsANote(t *testing.T) {
	e := ended(t)
	e.Job.Notify = []rules.Notification{{To: "pigeon", When: []string{rules.OnAlways}}}
	if n := noteOf(t, e); !strings.Contains(n, "notification 1 by pigeon: not delivered: internal error") {
		t.Errorf("note %q", n)
	}
}

// TestOTLP reads what is sent with the types that are generated from the protocol.
func TestOTLP(t *testing.T) {
	answer := `{}`
	s, got := receiver(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, answer) })
	e := ended(t)
	e.Summary.Sides[1].Coverage = []report.Coverage{{Account: "psp\u202e", Complete: true}}
	e.Job.Outputs.Metrics = &rules.MetricsSinks{OTLP: &rules.Endpoint{URL: s.URL + "/v1/metrics"}}
	if n := noteOf(t, e); n != "" {
		t.Fatal(n)
	}
	r := (*got)[0]
	var data metricspb.MetricsData
	if err := protojson.Unmarshal(r.body, &data); err != nil {
		t.Fatalf("%v\n%s", err, r.body)
	}
	if r.path != "/v1/metrics" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s", r.path, r.header)
	}
	found := map[string]float64{}
	for _, m := range data.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		for _, p := range m.GetGauge().DataPoints {
			key := m.Name + m.Unit
			for _, a := range p.Attributes {
				key += "," + a.Key + "=" + a.Value.GetStringValue()
			}
			if p.TimeUnixNano != uint64(e.Ended.UnixNano()) {
				t.Errorf("%s has the time %d", key, p.TimeUnixNano)
			}
			found[key] = p.GetAsDouble()
		}
		if strings.Contains(m.Name, "retry_success") {
			t.Error("what is not known has a point")
		}
	}
	if v := found["recon_batch_match_ratio1,recon_job=card-charges"]; v != 0.7 {
		t.Errorf("the match ratio is %v", v)
	}
	if v := found[`recon_batch_coverage_secondss,recon_job=card-charges,side=results,account=psp\u{202E}`]; v <= 1e300 {
		t.Errorf("complete coverage is %v of %v", v, found)
	}
	answer = `{"partialSuccess":{"rejectedDataPoints":"7","errorMessage":"too old"}}`
	if n := noteOf(t, e); !strings.Contains(n, "took all but 7 points") {
		t.Errorf("note %q", n)
	}
}

// TestPushgatewayRequest: the group has the job and no instance.
func TestPushgatewayRequest(t *testing.T) {
	s, got := receiver(t, nil)
	e := ended(t)
	e.Series = "card-charges@pilot"
	e.Job.Outputs.Metrics = &rules.MetricsSinks{Pushgateway: &rules.Endpoint{URL: s.URL + "/push/"}}
	if n := noteOf(t, e); n != "" {
		t.Fatal(n)
	}
	r := (*got)[0]
	path, _ := url.PathUnescape(r.path)
	if r.method != "POST" || path != "/push/metrics/job/recon-batch/recon_job/card-charges@pilot" || bytes.Contains(r.body, []byte("instance")) {
		t.Errorf("%s %s", r.method, r.path)
	}
}
