package rules_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// policyJob is a job with the fields of a register, before what is added to it.
const policyJob = `job: p
timezone: Europe/Paris
operations:
  path: o.csv
  coverage: complete
  fields:
    operation_id: id
    idempotency_key: key
    type: kind
    entity: entity
    state: state
    class: shelf
    amount: {type: decimal, scale: 2}
    currency: {type: currency}
    attempts: {type: integer}
    created_at: {type: timestamp}
results:
  path: r.csv
  coverage: {complete: true, account: psp}
  fields: {operation_id: id, remote_id: rid, amount: {type: decimal, scale: 2}, currency: {type: currency}, version: {type: integer}}
match: [{pass: operation_id, on: [operation_id]}]
compare: [{field: amount}, {field: currency}]
`

func loadJob(t *testing.T, path string) *rules.Job {
	t.Helper()
	job, err := rules.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// TestPolicyValues: the whole policy of testdata/policy.yaml, with what its files say.
func TestPolicyValues(t *testing.T) {
	job := loadJob(t, "testdata/policy.yaml")
	if len(job.Warnings) > 0 {
		t.Errorf("warnings: %v", job.Warnings)
	}
	c := job.Types["charge"]
	for what, ok := range map[string]bool{
		"window":   c.HasWindow && c.Expected == 15*time.Minute && c.ExpectedDays == 0 && c.Deadline == 0 && c.DeadlineDays == 2 && c.Calendar == "banking",
		"retry":    c.MaxAttempts == 5 && c.MaxDuration == 120*time.Hour && c.KeyTTL == 240*time.Hour,
		"errors":   reflect.DeepEqual(c.Errors, map[string]rules.ErrorClass{"timeout": "transient", "503": "transient", "card_declined": "permanent", "reset": "ambiguous", "fraud": "critical"}),
		"undo":     c.CompensateWith == "refund_charge" && reflect.DeepEqual(c.CompensateParameters, map[string]string{"charge": "remote_id", "reason": "'duplicate'"}),
		"strays":   reflect.DeepEqual(c.Unexpected, &rules.UnexpectedPolicy{Owner: "finance", CompensateWith: "refund_charge", CompensateParameters: map[string]string{"charge": "remote_id"}}),
		"truth":    reflect.DeepEqual(c.Authority, map[string]rules.Side{"amount": rules.Operations, "version": rules.Results}),
		"overtake": c.WhenOvertaken == "send_newest" && job.Types["refund"].WhenOvertaken == "review",
		"enforce":  c.EnforceDeclared && slices.Equal(c.Enforce, []string{"confirm", "close"}),
		"people":   c.Owner == "payments-oncall" && c.ReplyBy == 48*time.Hour && job.Types["refund"].Owner == "operations",
		"once per": slices.Equal(c.OncePer, []string{"entity", "amount", "currency"}) && job.Types["refund"].OncePer == nil,
		"words":    c.Describe.ClosesWhen == "a settled row or a decision with its reference",
	} {
		if !ok {
			t.Errorf("%s: %+v", what, c)
		}
	}
	if r := job.Types["refund"]; r.ExpectedDays != 1 || r.DeadlineDays != 3 || r.Risk != "irreversible" || !r.EnforceDeclared || r.Enforce == nil || len(r.Enforce) != 0 {
		t.Errorf("%+v", r)
	}
	banking := rules.Calendar{
		Name: "banking", Zone: "Europe/Paris", Weekend: []time.Weekday{time.Sunday, time.Saturday},
		Holidays: []string{"2026-12-24", "2026-12-25", "2027-01-01"}, CutOff: 17 * time.Hour,
	}
	if !reflect.DeepEqual(job.Calendars["banking"], banking) {
		t.Errorf("%+v", job.Calendars)
	}
	if o := job.Operations; o.Profile != rules.Register || !o.WholeRegister || !slices.Equal(o.LocalRef, []string{"order_no", "batch"}) {
		t.Errorf("%+v", o)
	}
	if p := job.Pilot; job.Mode != rules.PilotMode || !reflect.DeepEqual(p, &rules.Pilot{Name: "first-store", Types: []string{"charge", "refund"}, From: "{date}T00:00", Until: "{date}T12:00", Share: 0.1}) {
		t.Errorf("%s %+v", job.Mode, p)
	}
	var names []string
	for _, r := range job.PolicyRules {
		names = append(names, r.Name+" "+r.Propose+" "+r.Owner)
	}
	if !slices.Equal(names, []string{"big-refund review finance", "scripted close ", "disputes review "}) {
		t.Errorf("%q", names)
	}
	if len(job.Releases) != 2 || job.Releases[1].ID != "late-november" || job.Releases[1].Attempts != 0 || job.Releases[1].Duration != 24*time.Hour {
		t.Errorf("%+v", job.Releases)
	}
	if r := job.Releases[0]; r.Attempts != 2 || !r.Until.Equal(time.Date(2026, 12, 4, 23, 0, 0, 0, time.UTC)) || r.By != "ann" || r.ApprovedBy != "bob" || r.Reason != "provider outage" || r.When == nil {
		t.Errorf("%+v", r)
	}
	if !reflect.DeepEqual(job.Canaries, []rules.Canary{{OperationID: "canary-1", Expect: "absent"}, {OperationID: "canary-2", Expect: "correct"}}) {
		t.Errorf("%+v", job.Canaries)
	}
	l := job.Limits
	if l.RetryRows != 500 || l.RetryBy["psp"] != (rules.RetryBudget{Rows: 100, Per: 10 * time.Minute}) || l.BlastRadius["requeue"].BaselineRuns != 14 || l.BlastRadius["requeue"].BaselineFactor != 3 {
		t.Errorf("%+v", l)
	}
	if len(job.Extends) != 2 || job.Extends[0].Path != "policies/shared.yaml" || job.Extends[1].Path != "policies/payments.yaml" || len(job.Extends[0].SHA256) != 64 {
		t.Errorf("%+v", job.Extends)
	}
}

// TestPolicyWarnings: what may be meant is said, with its place and a remedy.
func TestPolicyWarnings(t *testing.T) {
	answer := ", owner: ops, reply_by: 2d"
	for _, c := range []struct{ add, place, msg, hint string }{
		{"types: {charge: {idempotent: true}}", "23:17", "it has no owner and no reply_by", "`mode: observe`"},
		{"types: {charge: {compensate_with: undo, owner: ops}}", "23:17", "it has no reply_by", "`reply_by: 2d`"},
		{"types: {charge: {window: {deadline: 6h, calendar: c}}}\ncalendars: {c: {}}", "23:51", "the calendar c changes nothing", "business_days"},
		{"types: {charge: {unexpected: {owner: fin, compensate_with: undo}" + answer + "}}", "23:30", "go to review", "whole_register: true"},
		{"types: {charge: {errors: {transient: [a]}}}", "23:26", "no field error_code", "error_code: column"},
		{"types: {charge: {idempotent: true, idempotency_key_ttl: 5d, window: {deadline: {business_days: 2}, calendar: c}" + answer + "}}\ncalendars: {c: {}}", "23:80", "over a weekend 2 business days are up to 5 days", "shorten the deadline"},
		{"policy:\n  - {rule: all, propose: review}\n  - {rule: late, when: \"amount > 1\", propose: close}", "25:5", "the rule late is never reached: all fits always", "move it"},
		{"policy:\n  - {rule: all, when: true, propose: review}\n  - {rule: late, when: \"amount > 1\", propose: close}", "25:5", "the rule late is never reached: all fits always", "move it"},
		{"policy:\n  - {rule: one, when: \"amount > 1\", propose: review}\n  - {rule: two, when: \"( amount>1 )\", propose: close}", "25:5", "the rule two is never reached: one has the same condition", "move it"},
		{"policy:\n  - {rule: one, when: \"amount > 1\", propose: review}\n  - {rule: two, when: \"amount > 5 AND currency = 'EUR'\", propose: close}", "25:5", "the rule two is never reached: one fits whatever it fits", "move it"},
		{"policy: [{rule: one, when: \"class = 'absent'\", propose: review}]", "23:28", "class is what the run found, not the field class", "another name"},
		{"states: {all: [pending, odd], targets: {confirm: odd}}", "23:50", `no transition leads to "odd"`, "transitions"},
	} {
		job := parse(t, policyJob+c.add)
		if len(job.Warnings) != 1 {
			t.Errorf("%s: %d warnings: %v", c.add, len(job.Warnings), job.Warnings)
			continue
		}
		w := job.Warnings[0]
		if !strings.HasPrefix(w.String(), "job.yaml:"+c.place+": warning: ") || !strings.Contains(w.Msg, c.msg) || !strings.Contains(w.Hint, c.hint) {
			t.Errorf("%s: %s | %s", c.add, w, w.Hint)
		}
	}
	noEntity := strings.Replace(policyJob, "    entity: entity\n", "", 1) + "types: {charge: {idempotent: true, risk: financial" + answer + "}}"
	if job := parse(t, noEntity); len(job.Warnings) != 1 || !strings.Contains(job.Warnings[0].Msg, "paid again") || job.Types["charge"].OncePer != nil {
		t.Errorf("%v %v", job.Warnings, job.Types["charge"].OncePer)
	}
	for _, quiet := range []string{
		"types: {charge: {idempotent: true, idempotency_key_ttl: 121h, window: {deadline: {business_days: 2}, calendar: c}" + answer + "}}\ncalendars: {c: {}}",
		"mode: observe\ntypes: {charge: {idempotent: true}}",
		"types: {charge: {window: {deadline: 6h}}}",
		"policy:\n  - {rule: one, when: \"amount > 1\", propose: review}\n  - {rule: two, when: \"amount > 0\", propose: close}\n  - {rule: rest, propose: review}",
	} {
		if job := parse(t, policyJob+quiet); len(job.Warnings) != 0 {
			t.Errorf("%s: %v", quiet, job.Warnings)
		}
	}
}

// TestPolicyNeedsFields: what a key of the policy goes by has to be a field.
func TestPolicyNeedsFields(t *testing.T) {
	for _, c := range []struct{ without, add, place, msg string }{
		{"    operation_id: id\n", "canaries: [{operation_id: a, expect: absent}]", "22:11", "canaries are found by the field operation_id"},
		{"    operation_id: id\n", "mode: pilot\npilot: {share: 5%}", "23:16", "a share is chosen by the field operation_id"},
		{"    type: kind\n", "mode: pilot\npilot: {types: [a]}\ntypes: {\"*\": {effect_is: settlement}}", "23:16", "a pilot by type needs the field type"},
		{"    created_at: {type: timestamp}\n", "mode: pilot\npilot: {until: \"{date}\"}", "23:16", "a pilot by time needs the field created_at"},
		{"    created_at: {type: timestamp}\n", "types: {\"*\": {window: {deadline: {business_days: 1}, calendar: c}}}\ncalendars: {c: {}}", "22:23", "needs the field created_at"},
		{"", "calendars: {c: {holidays_file: ../days.txt}}", "23:32", "leaves the folder of the job"},
		{"", `calendars: {c: {holidays_file: 'x\..\..\days.txt'}}`, "23:32", "leaves the folder of the job"},
		{"", "extends: {name: a.yaml}", "23:11", `unknown key "name"`},
		{"", "extends: [[a.yaml]]", "23:11", "names no file"},
		{"", "extends: []", "23:10", "extends is an empty list"},
	} {
		src := policyJob
		if c.without != "" {
			src = strings.Replace(src, c.without, "", 1)
			if strings.Contains(c.without, "operation_id") {
				src = strings.NewReplacer("fields: {operation_id: id, ", "fields: {idempotency_key: key, ", "{pass: operation_id, on: [operation_id]}", "{pass: idempotency_key, on: [idempotency_key]}").Replace(src)
			}
		}
		_, err := rules.Parse([]byte(src+c.add+"\n"), "job.yaml")
		es, ok := errors.AsType[rules.Errors](err)
		if !ok || !slices.ContainsFunc(es, func(e rules.Error) bool {
			return strings.HasPrefix(e.Error(), "job.yaml:"+c.place+": ") && strings.Contains(e.Msg, c.msg) && e.Hint != ""
		}) {
			t.Errorf("%s: %v", c.add, err)
		}
	}
}

// TestStatesOfProfiles: targets are always there, for the default sets too, and a map
// carries final states, transitions and targets over to the job's own texts.
func TestStatesOfProfiles(t *testing.T) {
	s := parse(t, policyJob).States
	want := map[string]string{"confirm": "confirmed", "requeue": "retry_scheduled", "close": "not_applicable", "compensate": "compensated"}
	if s.Declared || !reflect.DeepEqual(s.Targets, want) {
		t.Errorf("%+v", s)
	}
	r := loadJob(t, "testdata/recovery.yaml").States
	if r.Declared || !slices.Equal(r.Final, []string{"succeeded", "ignored"}) ||
		!reflect.DeepEqual(r.Targets, map[string]string{"confirm": "succeeded", "requeue": "ready_for_replay", "close": "ignored"}) ||
		!reflect.DeepEqual(r.Transitions, map[string][]string{"succeeded": {"quarantined", "ready_for_replay"}, "ready_for_replay": {"quarantined"}, "ignored": {"quarantined", "ready_for_replay"}}) {
		t.Errorf("%+v", r)
	}
	m := parse(t, policyJob+"states: {map: {new: pending, sent: processing, ok: confirmed, void: not_applicable}}").States
	if !slices.Equal(m.All, []string{"new", "sent", "ok", "void"}) || !slices.Equal(m.Final, []string{"ok", "void"}) ||
		!reflect.DeepEqual(m.Targets, map[string]string{"confirm": "ok", "close": "void"}) ||
		!reflect.DeepEqual(m.Transitions, map[string][]string{"ok": {"new", "sent"}, "void": {"new", "sent"}}) {
		t.Errorf("%+v", m)
	}
	d := loadJob(t, "testdata/policy.yaml").States
	if d.Targets["confirm"] != "done" || len(d.Named) != 4 {
		t.Errorf("%+v", d)
	}
	if x := d.Named[0]; x.To != "again" || x.Owner != "scheduler" || x.Condition != "the absence is proven and the key is valid" || !slices.Equal(d.Transitions["again"], []string{"waiting", "sent"}) {
		t.Errorf("%+v", x)
	}
	if len(d.Transitions["paid"]) != 0 {
		t.Errorf("a transition that is not declared is legal: %v", d.Transitions)
	}
}

// TestRecoveryQueue: the names of a dead-letter store stand for the standard fields,
// unless those are declared as well.
func TestRecoveryQueue(t *testing.T) {
	job := loadJob(t, "testdata/recovery.yaml")
	if len(job.Warnings) > 0 {
		t.Errorf("%v", job.Warnings)
	}
	for ours, column := range map[string]string{
		"operation_id": "error_id", "type": "workflow", "error_code": "reason_code", "attempts": "attempt_count", "payload_ref": "payload_reference",
		"remote_id": "external_reference", "event_id": "event_id", "step": "step", "summary": "summary", "operator": "operator", "resolved_at": "resolved_at",
	} {
		f := job.Operations.Field(ours)
		if f == nil || f.Column != column {
			t.Errorf("%s: %+v", ours, f)
		}
	}
	if job.Operations.Field("attempts").Type != rules.Integer || job.Operations.Field("error_id") != nil {
		t.Errorf("%+v", job.Operations.Fields)
	}
	src, err := os.ReadFile("testdata/recovery.yaml")
	if err != nil {
		t.Fatal(err)
	}
	both := parse(t, strings.Replace(string(src), "    error_id: error_id\n", "    error_id: error_id\n    operation_id: op\n", 1))
	if f := both.Operations.Field("error_id"); f == nil || both.Operations.Field("operation_id").Column != "op" {
		t.Errorf("%+v", both.Operations.Fields)
	}
	head, _, _ := strings.Cut(string(src), "types:")
	plain := parse(t, strings.NewReplacer("  profile: recovery_queue\n", "", "[remote_id]", "[idempotency_key, {operations: external_reference, results: remote_id}]").Replace(head))
	if plain.Operations.Field("workflow") == nil || plain.Operations.Field("type") != nil {
		t.Errorf("a register renames fields: %+v", plain.Operations.Fields)
	}
}

// TestRuleFields: rules see the operations, what the run found, and the results.
func TestRuleFields(t *testing.T) {
	job := parse(t, policyJob)
	types := map[string]rules.FieldType{}
	for _, f := range job.RuleFields() {
		if _, ok := types[f.Name]; ok {
			t.Errorf("%s is there twice", f.Name)
		}
		types[f.Name] = f.Type
	}
	for name, want := range map[string]rules.FieldType{
		"amount": rules.Decimal, "class": rules.Text, "reason": rules.Text, "proposal": rules.Text, "case_id": rules.Text,
		"r_amount": rules.Decimal, "r_version": rules.Integer, "r_remote_id": rules.Text,
	} {
		if types[name] != want {
			t.Errorf("%s is %q", name, types[name])
		}
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExtendsOrder: a later file wins over an earlier, the job over all; rules and
// releases come in the same order.
func TestExtendsOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"p/a.yaml":        "extends: sub/base.yaml\ntypes: {charge: {export_age: 1h, proof_valid: 1h, window: {deadline: 1h}}}\npolicy: [{rule: a, when: \"amount > 1\", propose: review}]\n",
		"p/b.yaml":        "types: {charge: {proof_valid: 2h, window: {expected: 2m, deadline: 2h}}}\npolicy: [{rule: b, when: \"amount > 2\", propose: review}]\n",
		"p/sub/base.yaml": "extends: ../../top.yaml\ntypes: {\"*\": {effect_is: settlement}, charge: {export_age: 9h}}\npolicy: [{rule: base, when: \"amount > 3\", propose: review}]\n",
		"top.yaml":        "types: {charge: {describe: {truth: psp}}}\n",
		"job.yaml":        policyJob + "extends: [p/a.yaml, p/b.yaml]\ntypes: {charge: {window: {deadline: 3h}}}\npolicy: [{rule: own, when: \"amount > 4\", propose: review}]\n",
	})
	job := loadJob(t, filepath.Join(dir, "job.yaml"))
	c := job.Types["charge"]
	if c.ExportAge != time.Hour || c.ProofValid != 2*time.Hour || c.Expected != 2*time.Minute || c.Deadline != 3*time.Hour || c.EffectIs != "settlement" || c.Describe.Truth != "psp" {
		t.Errorf("%+v", c)
	}
	var names, files []string
	for _, r := range job.PolicyRules {
		names = append(names, r.Name)
	}
	for _, f := range job.Extends {
		files = append(files, f.Path)
	}
	if !slices.Equal(names, []string{"own", "b", "a", "base"}) || !slices.Equal(files, []string{"top.yaml", "p/sub/base.yaml", "p/a.yaml", "p/b.yaml"}) {
		t.Errorf("%q %q", names, files)
	}
	text := string(job.Effective())
	for _, want := range []string{"expected: 2m # p/b.yaml:1\n", "deadline: 3h # job.yaml:24\n", "truth: psp # top.yaml:1\n", "sha256: ", "written_out: true"} {
		if !strings.Contains(text, want) {
			t.Errorf("the effective job lacks %q\n%s", want, text)
		}
	}
}

// TestDigestCoversPolicyFiles: every byte of a file that was read counts, a comment
// too, and a holiday in a file of its own.
func TestDigestCoversPolicyFiles(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"policy.yaml":       "calendars: {c: {holidays_file: days/holidays.txt}}\n",
		"days/holidays.txt": "2026-12-25\n",
		"job.yaml":          policyJob + "extends: policy.yaml\n",
	}
	write(t, dir, files)
	first := loadJob(t, filepath.Join(dir, "job.yaml"))
	if !slices.Equal(first.Calendars["c"].Holidays, []string{"2026-12-25"}) {
		t.Errorf("%+v", first.Calendars)
	}
	for name, add := range map[string]string{"policy.yaml": "# a comment\n", "days/holidays.txt": "2026-12-26\n"} {
		write(t, dir, map[string]string{name: files[name] + add})
		if loadJob(t, filepath.Join(dir, "job.yaml")).Digest() == first.Digest() {
			t.Errorf("the digest does not cover %s", name)
		}
		write(t, dir, map[string]string{name: files[name]})
	}
	if loadJob(t, filepath.Join(dir, "job.yaml")).Digest() != first.Digest() {
		t.Error("the same files have two digests")
	}
	// The effective job stands alone: it loads where no policy file is, and one that
	// names a file is refused.
	for _, src := range []string{"extends: policy.yaml\n", "calendars: {c: {holidays_file: days/holidays.txt}}\n"} {
		if _, err := rules.ParseEffective([]byte(policyJob+src), filepath.Join(dir, "job.yaml")); err == nil || !strings.Contains(err.Error(), "an effective job stands alone") {
			t.Errorf("%s: %v", src, err)
		}
	}
	again, err := rules.ParseEffective(first.Effective(), filepath.Join(t.TempDir(), "effective.yaml"))
	if err != nil || again.Digest() != first.Digest() {
		t.Errorf("%v\n%s", err, first.Effective())
	}
}

// TestPlacesInPolicyFiles: a fault names the file that it is in, its line and a caret.
func TestPlacesInPolicyFiles(t *testing.T) {
	dir := t.TempDir()
	check := func(want, policy string) {
		t.Helper()
		write(t, dir, map[string]string{"policies/p.yaml": policy, "job.yaml": policyJob + "extends: policies/p.yaml\n"})
		_, err := rules.Load(filepath.Join(dir, "job.yaml"))
		es, ok := errors.AsType[rules.Errors](err)
		if !ok || len(es) != 1 {
			t.Fatalf("%v", err)
		}
		if got := strings.ReplaceAll(es[0].Error(), filepath.ToSlash(dir), "DIR"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	check(`DIR/policies/p.yaml:2:27: policy[0].when: there is no field "amunt"
    policy: [{rule: a, when: "amunt > 1", propose: review}]
                              ^
    did you mean "amount"?`, "# Rules.\npolicy: [{rule: a, when: \"amunt > 1\", propose: review}]\n")
	check(`DIR/policies/p.yaml:1:24: types.charge.risk: "finance" is not known here
    types: {charge: {risk: finance}}
                           ^
    known: none, customer-visible, financial, irreversible, regulated`, "types: {charge: {risk: finance}}\n")
	check(`DIR/policies/p.yaml:1:9: not YAML: while parsing a flow node: did not find expected node content
    types: {]
            ^`, "types: {]\n")
	check(`DIR/policies/p.yaml: the policy file is empty
    remove it from `+"`extends:`", "null\n")
	// One of them would win unseen when the files are merged.
	check(`DIR/policies/p.yaml:1:45: the key "requeue" is there twice, first in line 1
    limits: {blast_radius: {requeue: {rows: 1}, requeue: {rows: 100}}}
                                                ^
    keep one of the two`, "limits: {blast_radius: {requeue: {rows: 1}, requeue: {rows: 100}}}\n")
	check(`DIR/policies/p.yaml:3:3: the key "charge" is there twice, first in line 2
      charge: {owner: b}
      ^
    keep one of the two`, "types:\n  charge: {owner: a}\n  charge: {owner: b}\n")
}

// TestExtendsBounds: what is no plain small file is not read, and files that reach
// each other by many ways end.
func TestExtendsBounds(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"job.yaml": policyJob + "extends: f0.yaml\n", "f9.yaml": "types: {}\n"}
	for i := range 9 {
		next := "f" + string(rune('1'+i)) + ".yaml"
		files["f"+string(rune('0'+i))+".yaml"] = "extends: [" + next + ", ./" + next + "]\n"
	}
	write(t, dir, files)
	if _, err := rules.Load(filepath.Join(dir, "job.yaml")); err == nil || !strings.Contains(err.Error(), "more than 64 policy files") {
		t.Errorf("%v", err)
	}
	write(t, dir, map[string]string{"job.yaml": policyJob + "extends: folder\n", "folder/x": ""})
	if _, err := rules.Load(filepath.Join(dir, "job.yaml")); err == nil || !strings.Contains(err.Error(), "it is no plain file") {
		t.Errorf("%v", err)
	}
	write(t, dir, map[string]string{"job.yaml": policyJob + "extends: big.yaml\n", "big.yaml": strings.Repeat("#", 1<<20+1)})
	if _, err := rules.Load(filepath.Join(dir, "job.yaml")); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("%v", err)
	}
	// An absolute path is read, and what it names stands beside it.
	other := t.TempDir()
	write(t, other, map[string]string{"a.yaml": "extends: b/b.yaml\n", "b/b.yaml": "types: {charge: {export_age: 1h}}\n"})
	write(t, dir, map[string]string{"job.yaml": policyJob + "extends: " + filepath.Join(other, "a.yaml") + "\n"})
	if job := loadJob(t, filepath.Join(dir, "job.yaml")); job.Types["charge"].ExportAge != time.Hour {
		t.Errorf("%+v", job.Types)
	}
	write(t, other, map[string]string{"a.yaml": "extends: ../x.yaml\n"})
	if _, err := rules.Load(filepath.Join(dir, "job.yaml")); err == nil || !strings.Contains(err.Error(), "leaves the folder") {
		t.Errorf("%v", err)
	}
}

// A release is approved by somebody else, however the name is written, and says why.
func TestReleaseNames(t *testing.T) {
	for _, c := range []struct{ by, approved, reason, want string }{
		{"ann", "bob", "outage", ""},
		{"ann", " Ann ", "outage", "approved by the person who asks for it"},
		{"ann", "an\\u200bn", "outage", "approved by the person who asks for it"},
		{"ann", "ａｎｎ", "outage", "approved by the person who asks for it"},
		{"Zo\\u00eb", "Zoe\\u0308", "outage", "approved by the person who asks for it"},
		{"\\u200b", "bob", "outage", "releases[0].by says nothing"},
		{"ann", " ", "outage", "releases[0].approved_by says nothing"},
		{"ann", "bob", " - ", "releases[0].reason says nothing"},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"job.yaml": policyJob + "releases: [{id: r, when: \"amount > 1\", attempts: +1, until: \"2027-01-01\", by: \"" + c.by + "\", approved_by: \"" + c.approved + "\", reason: \"" + c.reason + "\"}]\n"})
		_, err := rules.Load(filepath.Join(dir, "job.yaml"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
