package rules_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// TestTwelveLines: a job needs only its name, two sides with path and fields,
// and a pass; everything else has the default that job.go states.
func TestTwelveLines(t *testing.T) {
	job := parse(t, `job: tiny
operations:
  path: ours.csv
  fields:
    operation_id: id
    amount: {type: decimal}
results:
  path: theirs.ndjson.gz
  fields: {operation_id: reference, amount: {type: decimal}}
match:
  - {pass: operation_id, on: [operation_id]}
`)
	if job.Version != 1 || job.Zone != time.UTC || job.AsOf != "{date+1}T00:00" || job.ClockSkew != 5*time.Minute || job.Mode != rules.Enforce || job.Period != nil {
		t.Errorf("%+v", job)
	}
	o := job.Operations.Sources[0]
	if o.Name != "operations" || o.Format != rules.FormatCSV || o.Need != rules.Required || o.OnReject != rules.RejectFail || o.Literal {
		t.Errorf("%+v", o)
	}
	if !o.Coverage.Complete || o.Coverage.Declared || o.Coverage.Proves != rules.FullLifecycle {
		t.Errorf("%+v", o.Coverage)
	}
	want := rules.CSV{Delimiter: ',', Quote: '"', Encoding: "utf-8", HeaderNames: "exact", Decimal: '.', EmptyText: "is_null"}
	if !reflect.DeepEqual(o.CSV, want) {
		t.Errorf("%+v", o.CSV)
	}
	if f := job.Operations.Field("amount"); f.Column != "amount" || f.Type != rules.Decimal || f.Scale != -1 {
		t.Errorf("%+v", f)
	}
	if r := job.Results.Sources[0]; r.Format != rules.FormatNDJSON || r.Compression != rules.CompressionAuto {
		t.Errorf("%+v", r)
	}
	if p := job.Match[0]; !p.Identity { // V3: operation_id is an identity key by itself
		t.Errorf("%+v", p)
	}
	if len(job.Compare) != 0 || len(job.Types) != 0 {
		t.Errorf("%+v", job)
	}
	if s := job.States; s.Declared || len(s.All) != 10 || len(s.Final) != 5 || len(s.Transitions["compensated"]) != 6 {
		t.Errorf("%+v", s)
	}
	if job.Outputs.Dir != "out" || job.Outputs.Rows != "narrow" {
		t.Errorf("%+v", job.Outputs)
	}
}

func load(t *testing.T, path string) *rules.Job {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(src))
}

// TestExample reads the values of the annotated example.
func TestExample(t *testing.T) {
	job := load(t, "testdata/example.yaml")
	psp := job.Results.Sources[0]
	if psp.CSV.Delimiter != ';' || psp.CSV.Decimal != ',' || psp.CSV.Rows.Trailer != "T" || psp.CSV.Rows.Field != 1 || psp.Need != rules.LateOK {
		t.Errorf("%+v", psp)
	}
	if c := psp.Controls; c == nil || c.Count.String() != "trailer.2" || !reflect.DeepEqual(c.Sums, []rules.ControlSum{{Field: "amount", At: rules.Position{In: rules.InTrailer, Field: 3}}}) {
		t.Errorf("%+v", c)
	}
	if c := psp.Coverage; c.Lag != 30*time.Minute || c.Account != "psp" || !c.Declared || c.Complete || !reflect.DeepEqual(c.Types, []string{"charge"}) {
		t.Errorf("%+v", c)
	}
	f := job.Results.Field("created_at")
	if f.Zone.String() != "Europe/Amsterdam" || !reflect.DeepEqual(f.Layouts, []string{"2006-01-02 15:04:05"}) {
		t.Errorf("%+v", f)
	}
	if m := job.Results.Field("status").Map; m["refused"] != rules.Failed || len(m) != 3 {
		t.Errorf("%v", m)
	}
	as := []rules.Comparator{rules.AsDecimal, rules.AsCurrency, rules.AsStatus, rules.AsVersion}
	for i, c := range job.Compare {
		if c.As != as[i] || c.Absolute != "" {
			t.Errorf("%+v", c)
		}
	}
	if c := job.Compare[2]; c.Expect != rules.Succeeded || c.Operations != "" || c.Results != "status" {
		t.Errorf("%+v", c)
	}
	if job.Compare[3].Scheme != rules.VersionInteger {
		t.Errorf("%+v", job.Compare[3])
	}
	p := job.Types["charge"]
	if p.Deadline != 6*time.Hour || p.KeyTTL != 72*time.Hour || p.Backoff.Factor != 3 || p.Approvals.Over["EUR"] != "1000" || p.ReplyBy != 48*time.Hour || p.Describe.Truth != "psp" {
		t.Errorf("%+v", p)
	}
	if b := job.Limits.BlastRadius; b["requeue"].Share != 0.02 || b["compensate"].Amount["EUR"] != "10000" || job.Limits.RetryRows != 500 {
		t.Errorf("%+v", job.Limits)
	}
	if g := job.Gates[1]; g.Func != "oldest" || g.Arg != "review" || g.Op != ">" || g.Value != 3*86400 {
		t.Errorf("%+v", g)
	}
	if job.Redact.Key != (rules.Secret{File: "redact.key"}) || job.Redact.Fields["iban"] != "mask" {
		t.Errorf("%+v", job.Redact)
	}
}

// TestForms reads the values of the further forms.
func TestForms(t *testing.T) {
	job := load(t, "testdata/forms.yaml")
	if s := job.Operations.Sources[0]; !s.Literal || s.Path != "left [1].csv" {
		t.Errorf("%+v", s)
	}
	forms, more := job.Results.Sources[0], job.Results.Sources[1]
	if !forms.CSV.Header.None || forms.CSV.SkipLines != "# " || forms.MinimumRecords != 1 || forms.Pages.Column != "page" || forms.StatedDistinct["distinct_keys"] != 7 {
		t.Errorf("%+v", forms)
	}
	if more.JSON.Path != "data.items" || more.Format != rules.FormatJSON || more.Coverage.Proves != rules.SettledOnly || !more.Coverage.Complete {
		t.Errorf("%+v", more)
	}
	// Overrides: same names and order, other columns, what is not said inherited.
	field := func(s rules.Source, name string) rules.Field { return s.Fields[job.Results.FieldIndex(name)] }
	if f := field(more, "operation_id"); f.Column != "operation_id" || len(f.Normalise) != 2 || f.Normalise[1] != "strip_prefix:OP-" {
		t.Errorf("%+v", f)
	}
	if f := field(more, "amount"); f.Column != "amount" || f.MinorUnitsOf != "currency" {
		t.Errorf("%+v", f)
	}
	if !field(more, "branch_id").Absent() || !field(forms, "note").Absent() || field(more, "note").Column != "remark" {
		t.Errorf("absent fields: %+v %+v", field(more, "branch_id"), field(forms, "note"))
	}
	if p := job.Match[1].On[0]; p.Operations != "provider_ref" || p.Results != "remote_id" {
		t.Errorf("%+v", p)
	}
	if !job.Match[0].On[1].Nullable {
		t.Errorf("%+v", job.Match[0])
	}
	if c := job.Compare[0]; c.Relative != "0.01" || c.Round.Places != 2 || c.Round.Halves != "away_from_zero" {
		t.Errorf("%+v", c)
	}
	if c := job.Compare[1]; c.As != rules.AsMapped || c.Map["accepted"] != "settled" {
		t.Errorf("%+v", c)
	}
	if c := job.Compare[2]; c.As != rules.AsInstant || c.Absolute != "60000000" || c.OnlyIfEqual != "status" {
		t.Errorf("%+v", c)
	}
}

// TestTypeDefaults: "*" is merged key by key, what a type says wins, and a type
// that is not listed has the defaults.
func TestTypeDefaults(t *testing.T) {
	job := parse(t, strings.Replace(small(`types:
  "*": {window: {expected: 1h, deadline: 6h}, retry: {max_attempts: 3, backoff: {factor: 4}}, owner: ops}
  charge: {window: {deadline: 8h}, retry: {backoff: {jitter: 0.5}}}`, ""), "{operation_id: id,", "{operation_id: id, type: kind,", 1))
	p, ok := job.Policy("charge")
	if !ok || p.Expected != time.Hour || p.Deadline != 8*time.Hour || p.MaxAttempts != 3 || p.Backoff.Factor != 4 || p.Backoff.Jitter != 0.5 || p.Owner != "ops" || p.Type != "charge" {
		t.Errorf("%+v", p)
	}
	if p, ok := job.Policy("refund"); !ok || p.Type != "refund" || p.Deadline != 6*time.Hour || p.Backoff.Jitter != 0 {
		t.Errorf("%+v", p)
	}
	if _, ok := parse(t, small("", "")).Policy("refund"); ok {
		t.Error("a job without types has a policy")
	}
}

// TestStates: declared states narrow the default transitions.
func TestStates(t *testing.T) {
	s := parse(t, small("states: {all: [pending, confirmed, odd]}", "")).States
	if !s.Declared || !reflect.DeepEqual(s.Final, []string{"confirmed"}) {
		t.Errorf("%+v", s)
	}
	if !reflect.DeepEqual(s.Transitions, map[string][]string{"confirmed": {"pending"}}) {
		t.Errorf("%v", s.Transitions)
	}
}

// TestWarnings: what may be meant is said, and does not stop.
func TestWarnings(t *testing.T) {
	job := parse(t, small(`types: {"*": {owner: ops, reply_by: 2d, idempotent: true, idempotency_key_ttl: 24h, retry: {max_duration: 48h}}}`, ""))
	if len(job.Warnings) != 1 || !strings.Contains(job.Warnings[0].String(), "job.yaml:2:") || !strings.Contains(job.Warnings[0].Msg, "ends after its idempotency key (1d)") {
		t.Errorf("%v", job.Warnings)
	}
	// A type that is never requeued may have any deadline (V39).
	parse(t, small(`types: {"*": {idempotent: false, idempotency_key_ttl: 1h, window: {deadline: 6h}}}`, ""))
}

func TestFormats(t *testing.T) {
	for path, want := range map[string]rules.Format{
		"a.csv": rules.FormatCSV, "A.CSV.GZ": rules.FormatCSV, "a.tsv.zst": rules.FormatCSV, "a.jsonl": rules.FormatNDJSON, "a.ndjson.gz": rules.FormatNDJSON,
		"a.json": rules.FormatJSON, "a_*.parquet": rules.FormatParquet, "dir.csv/a.json": rules.FormatJSON,
	} {
		s := parse(t, small("", `path: "`+path+`"`)).Results.Sources[0]
		if s.Format != want || (s.CSV.Delimiter == '\t') != strings.Contains(path, "tsv") {
			t.Errorf("%s: %+v", path, s)
		}
	}
	if s := parse(t, small("", `path: a.txt, format: tsv`)).Results.Sources[0]; s.Format != rules.FormatCSV || s.CSV.Delimiter != '\t' {
		t.Errorf("%+v", s)
	}
}

func TestTooManyFields(t *testing.T) {
	var b strings.Builder
	for i := range 61 {
		b.WriteString(", f" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ": c")
	}
	src := func(extra string) string {
		return strings.Replace(small("", ""), "booked: {type: date}}\nresults", "booked: {type: date}"+b.String()+extra+"}\nresults", 1)
	}
	parse(t, src("")) // 64
	if _, err := rules.Parse([]byte(src(", one: more")), "job.yaml"); err == nil || !strings.Contains(err.Error(), "the operations have 65 fields, at most 64") {
		t.Error(err)
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "5m": 5 * time.Minute, "2d": 48 * time.Hour, "72h": 72 * time.Hour, "1h30m": 90 * time.Minute, "1w": 168 * time.Hour,
		"500ms": 500 * time.Millisecond, "0s": 0, "36525d": 36525 * 24 * time.Hour,
	} {
		if got, err := rules.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "1.5h", "-1h", "1 h", "5M", "1y", "36526d", "999999999999d", "h", "1h30"} {
		if got, err := rules.ParseDuration(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
