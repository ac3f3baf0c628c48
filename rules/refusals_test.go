package rules_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// refusals has every fault of testdata/pairs: line:column: message, then the
// remedy after a bar.
var refusals = map[string][]string{
	"alias_loop": {
		`59:19: the alias *o contains itself | remove the alias`,
	},
	"ambiguous_layouts": {
		`18:50: operations.fields.booked.layout: "01/02/2006" and "02/01/2006" read the same text as different days | declare the one that the source uses`,
	},
	"amount_integer": {
		"14:13: the field amount of the operations is integer, it must be decimal | add `type: decimal`",
		"31:13: the field amount of the results is integer, it must be decimal | add `type: decimal`",
	},
	"amount_without_currency": {
		"41:5: amount is compared, but not its currency: amounts compare only in one currency (V22) | add `- {field: currency}` to compare",
	},
	"attempts_text": {
		"16:15: the field attempts of the operations is text, it must be integer | add `type: integer`",
	},
	"bank_codes": {
		`24:50: the type code 711 is a credit and a debit | keep one of the two`,
		`24:76: results.sources[0].bank.exponents.JPY: "x" is no number of decimals from 0 to 6 | write the decimals of a currency: {JPY: 0}`,
	},
	"bank_intraday_column": {
		"21:7: the source psp is an intraday report: the status of its rows is not that of the column `status` | declare `status: {column: status, map: {BOOK: succeeded, PDNG: pending, PROV: pending}}`",
	},
	"bank_intraday_proves": {
		"24:26: an MT942 is an intraday report: its silence proves nothing | write `proves: presence-only`, or remove it",
	},
	"bank_intraday_status": {
		"21:7: the source psp is an intraday report: the map of its status says that PROV is succeeded | write PROV: pending",
	},
	"bank_key_of_other_format": {
		"24:21: results.sources[0].bank.batch says nothing about bai2 | remove it",
	},
	"bank_of_csv": {
		"24:13: the source is csv, `bank` says nothing about it | remove it, or declare `format: camt` (or mt940, mt942, bai2, pain002, nacha)",
	},
	"bank_status_silence": {
		"11:17: a pain.002 may list only what was refused: the source does not say what its silence means | write `coverage: {proves: presence-only}`; or with its times `proves: failures-only` where it lists what was refused, `proves: full-lifecycle` where it lists every operation",
		"15:17: a pain.002 may list only what was refused: the source does not say what its silence means | write `coverage: {proves: presence-only}`; or with its times `proves: failures-only` where it lists what was refused, `proves: full-lifecycle` where it lists every operation",
		"16:7: a pain.002 may list only what was refused: the source does not say what its silence means | write `coverage: {proves: presence-only}`; or with its times `proves: failures-only` where it lists what was refused, `proves: full-lifecycle` where it lists every operation",
	},
	"bank_rejects": {
		"24:18: the file of a bank is proved as a whole, and has no record that could be left out | remove it",
	},
	"column_not_named": {
		`32:13: the field amount takes the column "gross", which csv.columns of the source psp does not name | did you mean "grosss"?`,
	},
	"columns_with_header": {
		"23:22: names of columns are taken from the header, unless `header: none` is declared | add `header: none`, or remove the names",
	},
	"compare_types": {
		"42:5: currency of the operations is currency and entity of the results is text, which cannot be compared | declare the same `type` on both sides; `as` must fit it",
	},
	"controls_without_trailer": {
		"23:17: the controls stand in a trailer, but no trailer is declared | add `csv: {rows: {field: 1, trailer: T}}`",
	},
	"coverage_by_some": {
		"8:7: the source more declares no coverage, but another source of the operations does | add `coverage: {from: …, until: …}`, or `coverage: complete`",
	},
	"coverage_half": {
		"23:17: results.sources[0].coverage needs `from` and `until` | add both, or `complete: true`",
	},
	"coverage_word": {
		"23:17: results.sources[0].coverage: \"full\" is no coverage | write `complete`, or `{from: …, until: …}`",
	},
	"dates_reversed": {
		"23:38: results.sources[0].dates ends before it begins | both days are included; `from` is the earlier one",
	},
	"dates_without_file_date": {
		"22:13: the source has `dates`, but its path is the same for every day | put {file_date} where the day is in the name",
	},
	"deadline_before_expected": {
		`48:38: the deadline of charge is before a result is expected | the deadline counts from the creation and is the longer of the two`,
	},
	"deadline_past_key": {
		`48:39: the deadline of charge (3d) is not before the end of its idempotency key (3d), so that nothing could be requeued (V39) | shorten the deadline: an absence must be known while the key still protects a requeue`,
	},
	"delimiter_two": {
		`23:24: results.sources[0].csv.delimiter: "||" is not one character | one character, as ";" or "\t"`,
	},
	"duplicate_field": {
		`14:5: the key "entity" is there twice, first in line 12 | keep one of the two`,
	},
	"duplicate_gate": {
		`59:12: two gates are named "divergence" | give each gate a name of its own`,
	},
	"duplicate_key": {
		`60:1: the key "job" is there twice, first in line 1 | keep one of the two`,
	},
	"duplicate_pass": {
		`39:12: two passes are named "operation_id" | give each pass a name of its own`,
	},
	"duplicate_rule": {
		`46:12: two scope rules are named "fees" | give each rule a name of its own`,
	},
	"duplicate_source": {
		`8:14: the operations have two sources named "ours" | give each source of a side a name of its own`,
	},
	"duration": {
		`59:13: clock_skew: "1.5m" is not a duration | durations: 10s, 5m, 6h, 2d, 1h30m`,
	},
	"expect_missing": {
		"43:5: the status of the results has a map, so that it is no text to compare with the operations | write `expect: succeeded`, or remove the map of the status to compare its text",
	},
	"expression_field": {
		`45:40: scope[0].when: there is no field "entty" | did you mean "entity"?`,
	},
	"expression_null": {
		`45:49: scope[0].when: nothing equals NULL, not even NULL | write IS NULL or IS NOT NULL`,
	},
	"expression_quotes": {
		`45:49: scope[0].when: there is no field "fee" | texts are in single quotes: 'fee'`,
	},
	"expression_type": {
		`45:49: scope[0].when: a text beside a number | compare values of one type; nothing is converted`,
	},
	"field_name": {
		`13:5: "State" is no name for a field | lower-case letters, digits and underscores, a letter first, at most 63: order_no`,
	},
	"fee_without_currency": {
		"47:5: fee is compared, but not its currency: amounts compare only in one currency (V22) | add `- {field: fee_currency}` to compare",
	},
	"file_date_without_dates": {
		"22:13: results.sources[0].path: {file_date} is known only in a source with `dates` | add `dates: {from: …, until: …}` to the source, or use {date}",
	},
	"fingerprint_without_currency": {
		"41:5: amount is compared, but not its currency: amounts compare only in one currency (V22) | add `- {field: currency}` to compare",
	},
	"format_pattern": {
		"22:13: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"format_unclear": {
		"22:13: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"gate_class": {
		`58:35: gates[0].fail_when: "divergnt" is neither a class nor a queue | did you mean "divergent"?`,
	},
	"gate_form": {
		`58:35: gates[0].fail_when: "1" is not a percentage | a share is a percentage: 1%`,
	},
	"gate_reason": {
		`58:35: gates[0].fail_when: "no_results" is no reason of absent | did you mean "no_result"?`,
	},
	"identity_refused": {
		"37:56: operation_id is an identity key, declared unique (V3) | remove `identity: false`",
	},
	"instant": {
		`59:8: as_of: "{date+1} 4 am" is no instant | a day or a local time: 2026-08-20, {date+1}T04:00; with an offset an instant anywhere: 2026-08-20T04:00Z`,
	},
	"key_types_differ": {
		"39:39: currency of the operations is currency and currency of the results is text, so that the keys would never be equal | declare the same `type` on both sides",
		"42:5: currency of the operations is currency and currency of the results is text, which cannot be compared | declare the same `type` on both sides; `as` must fit it",
	},
	"knows_of_operations": {
		`23:42: results.sources[0].coverage.knows: there is no field "tipe" | did you mean "type"?`,
	},
	"group_faults": {
		"40:5: match[3] does not say what its groups add up | add `sum: amount`, or `equation: {operations: …, results: …}`",
		"40:5: the pass receipt by identity key comes after the groups of without_sum, which would hold its rows already | let it come after the last pass by identity key",
		"41:5: amount of the operations is added up over all currencies: sums are of one (V16) | add `same: [currency]`; a side whose rows are of one currency has the field as well",
		"41:5: amount of the results is added up over all currencies: sums are of one (V16) | add `same: [currency]`; a side whose rows are of one currency has the field as well",
		"42:63: the field created_at of the operations is timestamp, it has no sum | declare `type: decimal`",
		"42:63: the field created_at of the results is timestamp, it has no sum | declare `type: decimal`",
		"42:92: the field entity of the results is text, it states no number of rows | declare `type: integer`",
		`43:86: "sum(amount) * 2" is no sum of sums | sums of fields, added and taken away: sum(gross) - sum(fee)`,
		`43:114: "sum(amount) + sum(amount)" adds up amount twice | name it once`,
		"44:39: a pass by groups has no `on` | remove it; the key of a group is `group`",
		"44:57: a pass by groups has no `within` | remove it; the key of a group is `group`",
		"44:116: `sum` is an equation already | keep one of the two",
		"45:41: `sum` belongs to a pass by groups | add `group: [payout_id]`, or remove it",
		"46:107: a tolerance by currency needs groups that agree in the currency, and in nothing else | write `same: [currency]`, or one tolerance for all",
		`46:113: "eur" is no code of a currency | write it as EUR`,
	},
	"exec_and_path": {
		"22:13: a source that is pulled by exec has no path | remove it; the files are named by the program",
	},
	"exec_without_program": {
		"22:23: results.sources[0].exec.command is an empty list | name at least one, or leave the key out",
	},
	"exec_secret_in_the_open": {
		"22:63: results.sources[0].exec.env.KEY: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}",
	},
	"exec_name_in_a_folder": {
		"22:43: results.sources[0].exec.name: \"out/psp.csv\" is not the name of a file | a name without slashes that does not begin with a dot, such as charges.csv",
	},
	"exec_without_format": {
		"21:7: the name of the file does not tell its format | add `format: csv` (or tsv, ndjson, json, parquet, typed, fixed, xlsx, xml)",
	},
	"exec_without_time": {
		"22:61: results.sources[0].exec.timeout leaves no time | a time such as 10m",
	},
	"later_scheme": {
		`22:13: sources at gs: are not in this release | copy the files to a folder and name them by their path, or let a program give them: ` + "`exec: {command: […]}`",
	},
	"layout_without_time": {
		`17:63: operations.fields.created_at.layout: "YYYY-MM-DD" has no hour (of 24, or with PM) and minute | a Go layout such as 2006-01-02 15:04:05, YYYY-MM-DD HH:mm:ss, or iso`,
	},
	"layout_without_zone": {
		"17:63: the layout has no offset and the field no zone, so that no value could be read | add `zone: Europe/Paris`, the zone that the source writes in",
	},
	"limit_without_currency": {
		`56:47: limits.blast_radius.requeue.amount is an amount without its currency (V39) | write {EUR: "1000.00"}`,
	},
	"literal_secret": {
		`59:15: redact.key: a secret is never written in the job file | write {file: FILE}, {env: NAME} or {exec: [PROGRAM, ARGUMENT]}`,
	},
	"map_elsewhere": {
		"13:33: only the text field `status` of the results has a map of what its texts mean | compare other fields by `compare: [{field: state, map: {…}}]`",
	},
	"mark_twice": {
		`23:34: decimal and grouping mark are both "," | the decimal mark is a point unless declared`,
	},
	"missing_job": {
		"1:1: the job has no \"job\" | add `job:`: Name of the job: the folder of its runs, and in all outputs. Lower-case letters, digits, hyphens.",
	},
	"missing_key_field": {
		`39:31: neither side declares the field "entiti" | did you mean "entity"?`,
	},
	"missing_match": {
		"1:1: the job has no \"match\" | add `match:`: The passes of the key cascade, in order. A row that one pass claimed is not offered to the next.",
	},
	"no_such_currency": {
		`54:24: types.charge.approvals.over: "Euro" is no currency | three capital letters (ISO 4217): EUR`,
	},
	"not_yaml": {
		`60:1: not YAML: while parsing a flow mapping: did not find expected ',' or '}'`,
	},
	"null_value": {
		`13:5: operations.fields.state has no value | give a value, or leave the key out`,
	},
	"only_if_unknown": {
		`42:38: compare[1].only_if_equal: "amout" is no compared field | did you mean "amount"?`,
	},
	"output_leaves": {
		`59:16: outputs.dir: "out/../../etc" leaves the folder of the job | name a folder below the job file, or an absolute path`,
	},
	"override_type": {
		`23:24: the field amount is decimal with scale 2 in one place and decimal with scale 3 in another | give the other a field name of its own`,
	},
	"period_field": {
		`59:28: booked is a date, so that the period needs whole days | write a day: {date}`,
	},
	"placeholder": {
		`22:13: results.sources[0].path: {dat} is no placeholder | placeholders: {date}, {date-3}, {date+1}, {file_date}, {date:20060102}; {{ and }} stand for braces`,
	},
	"position_zero": {
		`13:12: operations.fields.state: 0 is no position | positions count from 1; a column named by digits is written in quotes: "0012"`,
	},
	"reason_taken": {
		`45:65: scope[0].reason: "no_result" is a reason of another verdict | choose a reason of your own`,
	},
	"review_is_no_acting_queue": {
		`56:18: "review" is no acting queue | known: confirm, requeue, compensate, close`,
	},
	"scale_of_text": {
		"13:20: operations.fields.state.scale says nothing about a field of type text | add `type: decimal`, or remove the key",
	},
	"second_document": {
		"60:1: a job file is one YAML document | remove what follows `---`",
	},
	"share_no_percent": {
		`56:46: limits.blast_radius.requeue.share: "2" is no share | a percentage from 0% to 100%, such as 2%`,
	},
	"state_unknown": {
		`59:18: states.final[0]: "confirmd" is no state | did you mean "confirmed"?`,
	},
	"status_without_map": {
		"43:29: a status is compared by the field `status` of the results and its map, which are not declared | add `map: {…}` to results.fields.status",
	},
	"survivor_no_order": {
		`35:37: the field entity is text, which has no earlier and later | declare it as integer, timestamp or date`,
	},
	"survivor_not_the_id": {
		"35:18: the results declare remote_id, so that records are folded by it and not by entity | write `by: remote_id`, or leave the field remote_id out",
	},
	"threshold_without_currency": {
		`54:23: types.charge.approvals.over is an amount without its currency (V39) | write {EUR: "1000.00"}`,
	},
	"token_without_key": {
		"59:27: redact.fields.entity: a token needs a key | add `key: {file: redact.key}`",
	},
	"tolerance_negative": {
		`41:32: compare[0].tolerance: "-0.01" is no such number | a decimal that is not negative, such as "0.01"`,
	},
	"tolerance_of_text": {
		`42:34: "tolerance" says nothing about a comparison as currency | remove it, or compare by another comparator`,
	},
	"tolerance_of_time": {
		`42:36: compare[1].tolerance: "0.5" is not a duration | durations: 10s, 5m, 6h, 2d, 1h30m`,
	},
	"two_digit_year": {
		`18:50: operations.fields.booked.layout: "DD.MM.YY" has a year of two digits, whose century is a guess | a Go layout such as 2006-01-02 15:04:05, YYYY-MM-DD HH:mm:ss, or iso`,
	},
	"types_without_type": {
		"45:1: policies by type need the field type of the operations | add `type: column` to operations.fields, or write one policy under \"*\"",
	},
	"unknown_column_field": {
		`42:13: neither side declares the field "curency" | did you mean "currency"?`,
	},
	"unknown_comparator": {
		`42:27: compare[1].as: "curency" is not known here | did you mean "currency"?`,
	},
	"unknown_key": {
		`2:1: unknown key "timezome" in the job | did you mean "timezone"?`,
	},
	"unknown_key_nested": {
		`54:17: unknown key "ovr" in types.charge.approvals | did you mean "over"?`,
	},
	"unknown_normalisation": {
		`13:40: operations.fields.state.normalise: the step "nfd" is not known | did you mean "nfc"?`,
	},
	"unknown_status": {
		`29:45: results.fields.status.map.settled: "suceeded" is no outcome | did you mean "succeeded"?`,
	},
	"unknown_type": {
		`14:36: operations.fields.amount.type: "decimel" is not known here | did you mean "decimal"?`,
	},
	"unknown_zone": {
		`2:11: timezone: the time zone "Europe/Pariss" is not known | an IANA name such as Europe/Paris or UTC`,
	},
	"version": {
		"59:10: version 2 of the job file is not known to this release | write `version: 1`",
	},
	"window_without_time": {
		"39:79: the operations declare no field \"created_at\" | add `created_at: column` to operations.fields",
		"48:13: the window of charge needs the field created_at of the operations, of type timestamp | add `created_at: {column: …, type: timestamp}` to operations.fields",
	},
	"within_half_day": {
		`39:75: booked is a date; 1d12h is no number of days | write whole days: 2d`,
	},
	"within_identity": {
		"38:76: `within` belongs to a pass by business key | remove it; an identity key needs no window",
	},
	"within_not_a_time": {
		`39:75: amount is decimal in the operations and decimal in the results, which has no time between | declare it as timestamp, or as date, on both sides`,
	},
	"yes_no": {
		`49:17: types.charge.idempotent is neither true nor false | write true or false`,
	},
	"zone_by_letters": {
		`17:63: operations.fields.created_at.layout: "2006-01-02 15:04 MST" has a zone by its letters, which name several zones | a Go layout such as 2006-01-02 15:04:05, YYYY-MM-DD HH:mm:ss, or iso`,
	},
}

// TestRefusals: each bad file has exactly the faults of the table, its good
// brother loads without a warning, and no file is in no table.
func TestRefusals(t *testing.T) {
	files, err := filepath.Glob("testdata/pairs/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		job, err := rules.Parse(src, "job.yaml")
		name, good := strings.CutSuffix(filepath.Base(path), ".good.yaml")
		if good {
			seen[name]++
			if err == nil && len(job.Warnings) > 0 {
				t.Errorf("%s: %v", path, job.Warnings)
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		name, bad := strings.CutSuffix(filepath.Base(path), ".bad.yaml")
		want, listed := refusals[name]
		if !bad || !listed {
			t.Errorf("%s is in no table", path)
			continue
		}
		seen[name]++
		es, ok := errors.AsType[rules.Errors](err)
		if !ok {
			t.Errorf("%s loads: %v", path, err)
			continue
		}
		if fail.ClassOf(err) != fail.Usage {
			t.Errorf("%s: class %d", path, fail.ClassOf(err))
		}
		var got []string
		for _, e := range es {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%d:%d: %s | %s", e.Line, e.Column, e.Msg, e.Hint), " | "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", path, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	for name := range refusals {
		if seen[name] != 2 {
			t.Errorf("testdata/pairs has no good and bad file for %s", name)
		}
	}
}

// TestErrorText: the place, the line with a caret under the column, the remedy.
func TestErrorText(t *testing.T) {
	_, err := rules.Parse([]byte("job: x\nmatch: 3\ntimezome: UTC\n"), "dir/job.yaml")
	es, ok := errors.AsType[rules.Errors](err)
	if !ok {
		t.Fatal(err)
	}
	const want = `dir/job.yaml:3:1: unknown key "timezome" in the job
    timezome: UTC
    ^
    did you mean "timezone"?`
	texts := strings.Split(es.Error(), "\n\n")
	if !slices.Contains(texts, want) {
		t.Errorf("no such text in\n%s", es.Error())
	}
	if len(texts) != 4 { // no operations, no results, match is no list
		t.Errorf("%d faults:\n%s", len(texts), es.Error())
	}
	if !slices.IsSortedFunc(es, func(a, b rules.Error) int { return a.Line - b.Line }) {
		t.Error("the faults are not in the order of their lines")
	}
}

// TestHostileSource: control characters of the file do not reach the terminal.
func TestHostileSource(t *testing.T) {
	_, err := rules.Parse([]byte("job: x\nbad\u009bkey: \"\u202e\" # \u009b31m\n"), "job.yaml")
	if err == nil || strings.ContainsAny(err.Error(), "\u009b\x1b\u202e") {
		t.Errorf("%q", err)
	}
}

// TestAliases: anchors and merge keys work, and a tower of them is refused fast.
func TestAliases(t *testing.T) {
	good := `
job: x
operations: &side
  path: o.csv
  fields: &f {operation_id: id}
results:
  <<: *side
  path: r.csv
match: [{pass: operation_id, on: [operation_id]}]
`
	job, err := rules.Parse([]byte(good), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if job.Results.Sources[0].Path != "r.csv" || job.Results.Field("operation_id").Column != "id" {
		t.Errorf("merged: %+v", job.Results)
	}
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	if _, err := rules.Parse([]byte(b.String()), "job.yaml"); err == nil {
		t.Error("a tower of aliases loads")
	}
}

// FuzzParse: no text panics, and what loads keeps its digest in the effective form.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/pairs/a*.yaml", "testdata/pairs/e*.yaml", "testdata/pairs/m*.yaml", "testdata/pairs/r*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Add(rules.InitTemplate())
	whole, err := rules.Load("testdata/policy.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Effective())
	f.Add([]byte("job: [\n"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		job, err := rules.Parse(src, "job.yaml")
		if err != nil {
			return
		}
		again, err := rules.Parse(job.Effective(), "job.yaml")
		if err != nil {
			t.Fatalf("the effective form does not load: %v\n%s", err, job.Effective())
		}
		if job.Digest() != again.Digest() {
			t.Fatalf("the effective form is another job:\n%s\n%s", job.Effective(), again.Effective())
		}
	})
}
