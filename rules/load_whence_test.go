package rules

import (
	"strings"
	"testing"
)

// whenceJob has one field and one source that are changed.
const whenceJob = `job: whence
operations: {path: o.csv, fields: {operation_id: id, amount: {type: decimal}, currency: {type: currency}}}
results:
  path: r.csv
  SOURCE
  fields:
    operation_id: id
    kind: kind
    remote_id: charge
    currency: {type: currency}
    amount: {type: decimal}
    fee: {type: decimal}
    x: FIELD
match: [{pass: operation_id, on: [operation_id]}]
`

func whence(source, field string) string {
	if source == "" {
		source = "coverage: complete"
	}
	return strings.NewReplacer("SOURCE", source, "FIELD", field).Replace(whenceJob)
}

// TestWhenceRefusals: what contradicts itself in places, units and proofs is said at
// load, with the place and the remedy.
func TestWhenceRefusals(t *testing.T) {
	effects := "effects: {by: [remote_id], role: kind, main: [charge], parts: [{role: fee, add: {amount: fee}}]}"
	for _, c := range []struct{ source, field, want string }{
		{"", "{column: a, constant: b}", "13:30: results.fields.x says by column and by constant where its values are | keep one of the two"},
		{"", "{first_of: [a, b], join: [a, b]}", "says by first_of and by join where its values are | keep one of the two"},
		{"", "{constant: b, json_path: c}", "json_path goes into a column, which constant is not | name the one column that holds JSON"},
		{"", "{column: a, json_path: [b, 0]}", `results.fields.x.json_path: 0 is no element | a member named by digits is written in quotes: "0"`},
		{"", "{column: a, json_path: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]}", "has more than 16 steps"},
		{"", "{constant: b, optional: true}", "results.fields.x is the same in every record, whatever columns a file has | remove it"},
		{"", "{type: decimal, debit_credit: {debit: a, credit: a}}", "debit and credit are one column | for one column with a mark beside it write sign_from"},
		{"", "{type: decimal, debit_credit: {debit: a, credit: b}, sign_from: {column: c, positive: C, negative: D}}", "the sign of results.fields.x is said by debit_credit and by sign_from"},
		{"", "{debit_credit: {debit: a, credit: b}}", "results.fields.x.debit_credit says nothing about a field of type text | add `type: decimal`"},
		{"", "{join: [a, b], type: integer}", "results.fields.x.join joins texts, and is integer"},
		{"", "{type: decimal, minor_units_of: currency, major_units_of: currency}", "results.fields.x is in minor and in major units"},
		{"", "{type: decimal, exponents: {ISK: 2}}", "the field does not say whose decimals these are | add `minor_units_of: currency`"},
		{"", "{type: decimal, minor_units_of: currency, exponents: {isk: 2}}", `"isk" is no currency | three capital letters: ISK`},
		{"", "{type: decimal, minor_units_of: currency, exponents: {ISK: 9}}", "is not a whole number from 0 to 8"},
		{"", "{type: decimal, major_units_of: kind_of_money}", `the results declare no field "kind_of_money"`},
		{"", "{type: decimal, minor_units_of: amount}", "amount is decimal, it holds no currency"},
		{"", "{type: timestamp, zone: UTC, zone_from: {column: z, zones: {CET: Europe/Paris}}}", "results.fields.x has one zone, and a zone for each record | keep one of the two"},
		{"", "{type: timestamp, zone_from: {column: z, zones: {CET: Europe/Pariss}}}", `the time zone "Europe/Pariss" is not known`},
		{"", "{type: timestamp, zone_from: {column: z, zones: {}}}", "results.fields.x.zone_from.zones is empty"},
		{"", "{type: date, layout: unix}", `"unix" is an instant, not a day`},
		{"", "{type: timestamp, layout: [unix, unix_ms]}", `"unix" and "unix_ms" read the same text as different days`},
		{"", "{type: decimal, sum_of_parts: true}", "nothing fills the field x of the source results | add it to `effects`"},
		{"", "{cases: [{column: a, wher: {k: v}}]}", `unknown key "wher" in results.fields.x.cases[0] | did you mean "where"?`},
		{effects + "\n  on_reject: keep", "x", "a rejected record could be a part of an effect, whose sum would then be wrong | leave `on_reject: keep` away"},
		{"effects: {by: [remote_id], role: kind, main: [charge], parts: [{role: charge}]}", "x", `the role "charge" is there twice | give each record one role`},
		{"effects: {by: [remote_id], role: amount, main: [charge], parts: [{role: fee}]}", "x", "the field amount is decimal, it must be text"},
		{"effects: {by: [charge_id], role: kind, main: [charge], parts: [{role: fee, add: {amount: fees}}]}", "x", `the results declare no field "fees" | did you mean "fee"?`},
		{"effects: {by: [remote_id], role: kind, currency: money, main: [charge], parts: [{role: fee}]}", "x", "adds amounts up, and the results declare no field money"},
		{"ties: [{total: fee}]", "x", "results.sources[0].ties[0]: the total of what? | add `plus: [amount]`"},
		{"ties: [{total: fee, plus: [kind]}]", "x", "the field kind is text, it must be decimal"},
		{"zero_sums: [{field: kind}]", "x", "the field kind is text, it must be decimal"},
		{"known: {values: {amount: [a]}}", "x", "the field amount is decimal, it must be text"},
	} {
		_, err := Parse([]byte(whence(c.source, c.field)), "job.yaml")
		want, hint, _ := strings.Cut(c.want, " | ")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s %s: %v, want %s", c.source, c.field, err, c.want)
		}
	}
	for _, c := range [][2]string{
		{effects, "{cases: [{column: a, where: {k: [v, w]}}, {column: b}]}"}, {"", "{column: 3, json_path: a}"}, {"", `{column: a, json_path: ["0", -1]}`},
		{"", "{type: timestamp, layout: [iso, unix]}"}, {"", "{type: timestamp, layout: iso_nano}"}, {"", "{column: a, where: {k: v}, optional: true}"},
	} {
		job, err := Parse([]byte(whence(c[0], c[1])), "job.yaml")
		if err != nil {
			t.Errorf("%s: %v", c[1], err)
			continue
		}
		if again, err := Parse(job.Effective(), "job.yaml"); err != nil || again.Digest() != job.Digest() {
			t.Errorf("%s: the effective job is another one: %v\n%s", c[1], err, job.Effective())
		}
	}
}
