package classify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/rules"
)

func micro(text string) int64 {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UnixMicro()
}

// nobodyKnew says that former runs were asked, and know nothing but these keys.
func nobodyKnew(but ...string) func(*rules.Bound, func(string)) {
	return func(_ *rules.Bound, exec func(string)) {
		exec("CREATE TABLE " + classify.FormerKeys + " (pass INTEGER, key VARCHAR)")
		for _, k := range but {
			exec("INSERT INTO " + classify.FormerKeys + " VALUES (0, '" + k + "')")
		}
	}
}

// V31: the surplus effect is named, never the good one; holds, states and parameters
// bar it.
func TestCompensateSurplus(t *testing.T) {
	operation := "op-1,k-1,charge,o-1,confirmed,1,500.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	twice := "ch-1,op-1,k-1,charge,1,500.00,EUR,2026-11-29T12:00:01Z\nch-2,op-1,k-1,charge,1,500.00,EUR,2026-11-29T12:00:09Z\n"
	got := judge(t, undo, operation, twice)
	it := got["ch-2"]
	if it.line() != "compensate" || it["keep_remote_id"] != "ch-1" || it["business_operation"] != "refund_charge" ||
		it["parameters"] != `{"charge":"ch-2","reason":"duplicate"}` || it["approvals"] != "2" || it["next_state"] != "compensated" {
		t.Errorf("%v", it)
	}
	if _, ok := got["ch-1"]; ok {
		t.Error("the good effect has an item")
	}
	for _, c := range []struct{ name, more, operation, results, want string }{
		{"on hold", undo, strings.Replace(operation, ",p,,,", ",p,,dispute,", 1), twice, "review on_hold"},
		{"an unknown state", undo, strings.Replace(operation, "confirmed", "parked", 1), twice, "review state"},
		{"no target", undo + "states: {map: {pending: pending, confirmed: confirmed}}\n", operation, twice, "review state"},
		{"an empty parameter", strings.Replace(undo, "remote_id", "entity_ref", 1), operation, twice, "review no_parameter"},
		{"no business operation", "", operation, twice, "review no_business_operation"},
		{"no policy", undo, strings.Replace(operation, "charge", "refund", 1), twice, "review no_business_operation;no_policy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			more := c.more
			if strings.Contains(more, "entity_ref") { // a field that is there and empty
				more = strings.Replace(more, "entity_ref", "version", 1)
				c.results = strings.Replace(c.results, "ch-2,op-1,k-1,charge,1,", "ch-2,op-1,k-1,charge,,", 1)
			}
			if got := judge(t, more, c.operation, c.results)["ch-2"].line(); sortedCodes(got) != sortedCodes(c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func sortedCodes(s string) string {
	queue, codes, _ := strings.Cut(s, " ")
	list := strings.Split(codes, ";")
	for i := range list {
		for j := range i {
			if list[i] < list[j] {
				list[i], list[j] = list[j], list[i]
			}
		}
	}
	return queue + " " + strings.Join(list, ";")
}

// V31: an effect that nobody asked for is undone only where the policy says so, the
// operations are the whole register, and former runs were asked and know nothing of it;
// or where a rule names its case.
func TestCompensateUnexpected(t *testing.T) {
	effect := "ch-9,op-9,k-9,charge,1,500.00,EUR,2026-11-29T12:00:01Z\n"
	partial := func(b *rules.Bound, _ func(string)) { b.Operations.WholeRegister = false }
	nameless := func(b *rules.Bound, _ func(string)) {
		p := b.Types["charge"]
		u := *p.Unexpected
		u.Owner = ""
		p.Unexpected = &u
		b.Types["charge"] = p
	}
	it := judge(t, unasked, "", effect, nobodyKnew())["ch-9"]
	if it.line() != "compensate" || it["owner"] != "finance" || it["business_operation"] != "refund_charge" || it["parameters"] != `{"charge":"ch-9"}` ||
		it["approvals"] != "2" || it["next_state"] != "" || it["keep_remote_id"] != "" {
		t.Errorf("%v", it)
	}
	rule := func(when string) string {
		return undo + "policy: [{rule: by-hand, when: \"" + when + "\", propose: compensate, owner: ann, because: looked at}]\n"
	}
	id := it["case_id"]
	for _, c := range []struct {
		name, more, results, want string
		prepare                   []func(*rules.Bound, func(string))
	}{
		{"no block", undo, effect, "review", []func(*rules.Bound, func(string)){nobodyKnew()}},
		{"a key that a former run knows", unasked, effect, "review known_before", []func(*rules.Bound, func(string)){nobodyKnew("op-9")}},
		{"another key", unasked, effect, "compensate", []func(*rules.Bound, func(string)){nobodyKnew("op-8")}},
		{"nobody asked former runs", unasked, effect, "review known_before", nil},
		{"a part of the register", unasked, effect, "review partial_register", []func(*rules.Bound, func(string)){nobodyKnew(), partial}},
		{"nobody answers for it", unasked, effect, "review no_owner", []func(*rules.Bound, func(string)){nobodyKnew(), nameless}},
		{"no id at the provider", unasked, strings.Replace(effect, "ch-9", "", 1), "review no_remote_id;no_parameter", []func(*rules.Bound, func(string)){nobodyKnew()}},
		{"of a type without policy", unasked, strings.Replace(effect, "charge", "refund", 1), "review", []func(*rules.Bound, func(string)){nobodyKnew()}},
		{"a rule that names the case", rule("case_id = '" + id + "'"), effect, "compensate", nil},
		{"a rule that names it among others", rule("case_id IN ('x', '" + id + "') AND class = 'unexpected'"), effect, "compensate", nil},
		{"a rule that names no case", rule("class = 'unexpected'"), effect, "review no_owner;known_before", nil},
		{"a rule for every case but one", rule("case_id <> 'x'"), effect, "review no_owner;known_before", nil},
		{"a rule for whatever has a case", rule("case_id IS NOT NULL"), effect, "review no_owner;known_before", nil},
		{"a rule by a pattern", rule("case_id LIKE '" + id[:2] + "%'"), effect, "review no_owner;known_before", nil},
		{"a rule that names the case of what nothing undoes", strings.Replace(rule("case_id = '"+id+"'"), undo, "", 1), effect, "review no_business_operation", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judge(t, c.more, "", c.results, c.prepare...)
			item, ok := got["ch-9"]
			if !ok {
				item = got[""]
			}
			if sortedCodes(item.line()) != sortedCodes(c.want) {
				t.Errorf("%s, want %s", item.line(), c.want)
			}
			if strings.HasPrefix(c.more, undo+"policy") && item["queue"] == "compensate" && (item["owner"] != "ann" || item["rule"] != "by-hand" || item["because"] != "looked at") {
				t.Errorf("%v", item)
			}
		})
	}
}

// The rules of the job: the first that fits wins, the guard judges what it proposes, and
// none drops reviews only.
func TestPolicyRules(t *testing.T) {
	pair := "op-1,k-1,charge,o-1,pending,1,5.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	effect := "ch-1,op-1,k-1,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n"
	differs := strings.Replace(effect, "5.00", "6.00", 1)
	rule := func(list ...string) string { return "policy:\n  - " + strings.Join(list, "\n  - ") + "\n" }
	for _, c := range []struct{ name, more, operation, results, want, name2 string }{
		{"no rule fits", rule(`{rule: a, when: "amount > 9", propose: review}`), absent, "", "requeue", "types.charge"},
		{"the first that fits", rule(`{rule: a, when: "amount > 9", propose: requeue}`, `{rule: b, when: "amount > 4", propose: review}`, `{rule: c, propose: requeue}`), absent, "", "review", "b"},
		{"what the verdict does not allow", rule(`{rule: a, when: "class = 'absent'", propose: confirm}`), absent, "", "review class", "a"},
		{"a requeue of what differs", rule(`{rule: a, when: "class = 'divergent'", propose: requeue}`), pair, differs, "review class", "a"},
		{"what the guard refuses all the same", rule(`{rule: a, when: "proposal = 'requeue'", propose: requeue}`), strings.Replace(absent, ",p,,,", ",p,,legal,", 1), "", "review on_hold", "a"},
		{"a review is dropped", rule(`{rule: a, when: "class = 'divergent'", propose: none}`), pair, differs, "", ""},
		{"an absence that would be sent is not", rule(`{rule: a, when: "class = 'absent'", propose: none}`), absent, "", "review class", "a"},
		{"a confirmation is not", rule(`{rule: a, when: "class = 'correct'", propose: none}`), pair, effect, "review class", "a"},
		{"by a field of the result", rule(`{rule: a, when: "r_amount > 5.5", propose: none}`), pair, differs, "", ""},
		{"a plain pair by its result", rule(`{rule: a, when: "r_remote_id = 'ch-1'", propose: review}`), pair, effect, "review", "a"},
		{"a plain pair that no rule fits", rule(`{rule: a, when: "r_remote_id = 'ch-2'", propose: review}`), pair, effect, "confirm", "types.charge"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it, ok := judge(t, c.more, c.operation, c.results)["op-1"]
			if !ok {
				if c.want != "" {
					t.Errorf("no item, want %s", c.want)
				}
				return
			}
			if it.line() != c.want || it["rule"] != c.name2 {
				t.Errorf("%s by %s, want %s by %s", it.line(), it["rule"], c.want, c.name2)
			}
		})
	}
	it := judge(t, rule(`{rule: a, when: "amount > 4", propose: review, owner: finance, because: "over four"}`), absent, "")["op-1"]
	if it["owner"] != "finance" || it["because"] != "over four" {
		t.Errorf("%v", it)
	}
	if it := judge(t, "", absent, "")["op-1"]; it["owner"] != "oncall" || it["because"] != "" {
		t.Errorf("without a rule: %v", it)
	}
}

// Fields with a declared authority say what is to be done.
func TestAdvice(t *testing.T) {
	pair := "op-1,k-1,charge,o-1,pending,2,5.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	for _, c := range []struct{ effect, want string }{
		{"ch-1,op-1,k-1,charge,2,6.00,EUR,2026-11-29T12:00:01Z\n", "amount: the operation is right, send it again"},
		{"ch-1,op-1,k-1,charge,1,6.00,EUR,2026-11-29T12:00:01Z\n", "amount: the operation is right, send it again; version: the result is right, correct it locally"},
		{"ch-1,op-1,k-1,charge,2,5.00,USD,2026-11-29T12:00:01Z\n", ""},
		{"ch-1,op-1,k-1,charge,2,5.00,EUR,2026-11-29T12:00:01Z\n", ""},
	} {
		if got := judge(t, "", pair, c.effect)["op-1"]["advice"]; got != c.want {
			t.Errorf("%s: %q, want %q", c.effect, got, c.want)
		}
	}
}
