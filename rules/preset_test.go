package rules

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"
)

// TestPresetsAreWhole: every preset file says what it is, from where, and what it
// cannot do, and loads with the least that a job has to add.
func TestPresetsAreWhole(t *testing.T) {
	files, err := fs.Glob(presetFiles, "presets/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := presetFiles.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parsePreset(text, f)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if want := "presets/" + p.Name + ".yaml"; f != want {
			t.Errorf("%s has the name %s", f, p.Name)
		}
		if len(p.Limits) == 0 || p.Title == "" {
			t.Errorf("%s: no title, or no known limits", f)
		}
		if p.Side == Results && len(p.Documents) == 0 {
			t.Errorf("%s: no specification that it follows", f)
		}
	}
}

// presetVersions are the digests of the presets. A change of a preset changes what a
// job with its name does: raise its version with it, and put both here.
var presetVersions = map[string]string{
	"acquirer-records@1":            "79c10a2084595c61",
	"adyen-payment-accounting@1":    "5b4f591c66008e32",
	"adyen-settlement-details@1":    "219e0d7170f87174",
	"braintree-transactions@1":      "6007f413378836ca",
	"bullmq-jobs@1":                 "2b705155ae83a5b8",
	"checkout-financial-actions@1":  "d7031fb450f005f4",
	"dlocal-settlement@1":           "5c61dbe780b81984",
	"gocardless-payments@1":         "5a8fec4da34bc91b",
	"gocardless-payout-items@1":     "015eeecb4206d920",
	"ledger-csv@1":                  "9e2d9b76553fe9b2",
	"mollie-payments@1":             "83ff39c25135c0ef",
	"outbox@1":                      "e9835035f3f8ca3a",
	"paypal-settlement@1":           "683f5e1d1784bd96",
	"paypal-transactions@1":         "ad39b613d92f5f00",
	"sidekiq-jobs@1":                "8306d8047a34b616",
	"sqs-dead-letters@1":            "4a626cb1d469766f",
	"square-payments@1":             "f6333ecba75cc07e",
	"square-payout-entries@1":       "4764003d0483c9c7",
	"stripe-balance-transactions@1": "99fc624d8f28ecdb",
	"stripe-itemised@1":             "046217dc7ff12920",
	"symfony-messenger-failed@1":    "fbfd596734500a15",
	"temporal-workflows@1":          "147e58f95c1bcac8",
}

func TestPresetsChangeWithTheirVersion(t *testing.T) {
	for _, p := range Presets() {
		key := p.Name + "@" + strconv.Itoa(p.Version)
		if want := presetVersions[key]; p.Digest[:16] != want {
			t.Errorf("%s has the digest %q, the table says %q: raise its version where it was released", key, p.Digest[:16], want)
		}
	}
}

// presetJob is a job whose results are made from a preset.
const presetJob = `job: presets
operations: {path: o.csv, fields: {operation_id: id, amount: {type: decimal}, currency: {type: currency}}}
results:
  preset: stripe-itemised
  path: r.csv
  coverage: {from: "{date}", until: "{date+1}"}
match: [{pass: operation_id, on: [operation_id]}]
compare: [{field: amount}, {field: currency}]
`

func parsed(t *testing.T, text string) *Job {
	t.Helper()
	job, err := Parse([]byte(text), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// TestJobStandsOverPreset: each key of the job replaces that of the preset, and
// nothing else.
func TestJobStandsOverPreset(t *testing.T) {
	plain := parsed(t, presetJob)
	src := &plain.Results.Sources[0]
	if src.Preset == nil || src.Preset.Name != "stripe-itemised" || src.Preset.Version != 1 || src.Preset.Digest != PresetNamed("stripe-itemised").Digest {
		t.Errorf("the source was made from %+v", src.Preset)
	}
	if c := src.Coverage; c.Proves != SettledOnly || c.Account != "stripe" || c.From != "{date}" {
		t.Errorf("coverage %+v", c)
	}
	change := func(old, new string) *Job {
		t.Helper()
		if !strings.Contains(presetJob, old) {
			t.Fatal(old)
		}
		return parsed(t, strings.Replace(presetJob, old, new, 1))
	}
	field := func(j *Job, name string) Field { return *j.Results.Field(name) }

	j := change("  path: r.csv\n", "  path: r.csv\n  fields: {operation_id: order, amount: {column: gross_amount}, status: {map: {bonus: pending}}}\n")
	if f := field(j, "operation_id"); f.Column != "order" {
		t.Errorf("operation_id %+v", f)
	}
	if f, was := field(j, "amount"), field(plain, "amount"); f.Column != "gross_amount" || f.MajorUnitsOf != was.MajorUnitsOf || f.Exponents["ISK"] != 2 {
		t.Errorf("amount %+v", f)
	}
	if m := field(j, "status").Map; m["bonus"] != Pending || m["charge"] != Succeeded {
		t.Errorf("status map %v", m)
	}
	// One place of a value stands for all places of the preset, one unit for the other.
	j = change("preset: stripe-itemised", "preset: stripe-balance-transactions\n  fields: {remote_id: charge, amount: {major_units_of: currency}}")
	if f := field(j, "remote_id"); f.Column != "charge" || len(f.FirstOf) > 0 {
		t.Errorf("remote_id %+v", f)
	}
	if f := field(j, "amount"); f.MinorUnitsOf != "" || f.MajorUnitsOf != "currency" {
		t.Errorf("amount %+v", f)
	}
	// Another format takes the dialect of the preset's own away.
	j = change("preset: stripe-itemised\n  path: r.csv", "preset: stripe-balance-transactions\n  path: r.ndjson\n  format: ndjson")
	if s := j.Results.Sources[0]; s.Format != FormatNDJSON || s.JSON.Path != "" {
		t.Errorf("%s with path %q", s.Format, s.JSON.Path)
	}
	j = change("  path: r.csv\n", "  path: r.csv\n  effects: none\n  known: none\n  ties: []\n")
	if s := j.Results.Sources[0]; s.Effects != nil || s.Known != nil || len(s.Ties) > 0 {
		t.Errorf("effects %v, known %v, ties %v", s.Effects, s.Known, s.Ties)
	}
	if again := parsed(t, string(j.Effective())); again.Digest() != j.Digest() {
		t.Errorf("the effective job is another one:\n%s", j.Effective())
	}
	// Rules and gates are replaced by their names, and stand once for two sources.
	j = change("match:", "scope: [{rule: stripe-fees, side: results, when: \"kind = 'x'\", reason: mine}]\nmatch:")
	var reasons []string
	for _, r := range j.Scope {
		if r.Name == "stripe-fees" {
			reasons = append(reasons, r.Reason)
		}
	}
	if len(reasons) != 1 || reasons[0] != "mine" || len(j.Scope) != len(plain.Scope) {
		t.Errorf("scope %v of %d and %d rules", reasons, len(j.Scope), len(plain.Scope))
	}
	j = change(`  preset: stripe-itemised
  path: r.csv
  coverage: {from: "{date}", until: "{date+1}"}
`, `  sources:
    - {name: a, preset: stripe-itemised, path: a.csv, coverage: {from: "{date}", until: "{date+1}"}}
    - {name: b, preset: stripe-itemised, path: b.csv, coverage: {from: "{date}", until: "{date+1}"}}
    - {name: c, preset: adyen-settlement-details, path: c.csv, coverage: {from: "{date}", until: "{date+1}"}}
  fields: {operation_id: "payment_metadata[order]"}
`)
	if a, c := j.Results.Sources[0], j.Results.Sources[2]; len(j.Gates) != 3 || j.Results.Survivor == nil ||
		fieldNamed(a.Fields, "operation_id").Column != "payment_metadata[order]" || fieldNamed(c.Fields, "batch").Column != "Batch Number" || !fieldNamed(a.Fields, "batch").Absent() {
		t.Errorf("%d gates, survivor %v, fields %+v and %+v", len(j.Gates), j.Results.Survivor, a.Fields, c.Fields)
	}
	// What the side says of a field stands over every preset of its sources.
	if c := j.Results.Sources[2]; fieldNamed(c.Fields, "operation_id").Column != "payment_metadata[order]" {
		t.Errorf("operation_id of the third source %+v", fieldNamed(c.Fields, "operation_id"))
	}
}

func fieldNamed(fields []Field, name string) Field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return Field{}
}

// TestPresetIsInDigest: version and content of a preset are part of the job, also
// where its keys are written out.
func TestPresetIsInDigest(t *testing.T) {
	job := parsed(t, presetJob)
	text := string(job.Effective())
	for _, want := range []string{
		"name: stripe-itemised # job.yaml:4\n", "version: 1 # job.yaml:4\n", "written_out: true # job.yaml:4\n", "path: r.csv # job.yaml:5\n",
		"column: reporting_category # stripe-itemised@1:", "proves: settled-only # stripe-itemised@1:", "by: remote_id # stripe-itemised@1:", "rule: stripe-fees # stripe-itemised@1:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the effective job lacks %q", want)
		}
	}
	other := parsed(t, strings.Replace(text, PresetNamed("stripe-itemised").Digest, strings.Repeat("0", 64), 1))
	if other.Digest() == job.Digest() {
		t.Error("another preset with the same keys is the same job")
	}
	if again := parsed(t, text); again.Digest() != job.Digest() {
		t.Error("the effective job is another one")
	}
	if pinned := parsed(t, strings.Replace(presetJob, "preset: stripe-itemised", "preset: {name: stripe-itemised, version: 1}", 1)); pinned.Digest() != job.Digest() {
		t.Error("a pinned version is another job")
	}
}

func TestPresetRefusals(t *testing.T) {
	for _, c := range [][3]string{
		{"preset: stripe-itemised", "preset: stripe-itemized", `job.yaml:4:11: results.preset: there is no preset "stripe-itemized" | did you mean "stripe-itemised"?`},
		{"preset: stripe-itemised", "preset: outbox", `job.yaml:4:11: the preset outbox is for operations, not for results | name it at a source of the operations`},
		{"preset: stripe-itemised", "preset: {name: stripe-itemised, version: 2}", `the preset stripe-itemised has version 1 in this release, the job asks for version 2`},
		{"preset: stripe-itemised", "preset: {name: stripe-itemised, digest: abc}", `the preset stripe-itemised is not the one that the job names`},
		{"preset: stripe-itemised", "preset: {name: stripe-itemised, written_out: true}", `keys that are written out name the version and the digest of their preset`},
		{"preset: stripe-itemised", "preset: {}", `results.sources[0].preset has no "name"`},
		{`  coverage: {from: "{date}", until: "{date+1}"}` + "\n", "", `preset stripe-itemised@1:19:13: results.sources[0].coverage needs ` + "`from` and `until`"},
		{"preset: stripe-itemised", "preset: checkout-financial-actions", "the layout has no offset and the field no zone, so that no value could be read"},
	} {
		if !strings.Contains(presetJob, c[0]) {
			t.Fatal(c[0])
		}
		_, err := Parse([]byte(strings.Replace(presetJob, c[0], c[1], 1)), "job.yaml")
		want, hint, _ := strings.Cut(c[2], " | ")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v, want %s", c[1], err, c[2])
		}
	}
}
