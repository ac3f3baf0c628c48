package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// hintJob is a job whose rows miss each other in every way that hints know.
const hintJob = `version: 1
job: hinted
timezone: UTC
operations:
  sources: [{name: shop, path: ops.csv, coverage: complete}]
  fields: {operation_id: id, provider_ref: ref, entity: customer, amount: {column: amount, type: decimal, scale: 2}, currency: currency, value_date: {column: day, type: date}, created_at: {column: at, type: timestamp}}
results:
  sources: [{name: bank, path: bank.csv, coverage: complete}]
  fields: {remote_id: id, provider_ref: ref, entity: customer, amount: {column: amount, type: decimal, scale: 2}, currency: currency, value_date: {column: day, type: date}, created_at: {column: at, type: timestamp}}
match:
  - {pass: reference, on: [provider_ref], identity: true}
  - {pass: business, on: [entity, currency, amount], within: {value_date: 2d}}
compare: [{field: amount}, {field: currency}, {field: value_date}]
types: {"*": {window: {deadline: 1h}}}
outputs: {dir: out, formats: [parquet, ndjson, json]}
`

const hintOps = `id,ref,customer,amount,currency,day,at
o1,INV-20260001,c1,12.50,EUR,2026-03-04,2026-03-04T08:00:00Z
o2,,c2,125.50,EUR,2026-03-04,2026-03-04T08:00:00Z
o3,,c3,12.50,EUR,2026-03-04,2026-03-04T08:00:00Z
o4,,c4,80.00,EUR,2026-03-04,2026-03-04T08:00:00Z
o5,,c5,33.10,EUR,2026-03-04,2026-03-04T08:00:00Z
o6,,c6,44.20,EUR,2026-03-04,2026-03-04T08:00:00Z
o7,,c7,70.00,EUR,2026-03-04,2026-03-04T08:00:00Z
o8,,c8,7.00,EUR,2026-03-04,2026-03-04T08:00:00Z
`

const hintBank = `id,ref,customer,amount,currency,day,at
r1,INV-20260010,c1,12.50,EUR,2026-03-09,2026-03-04T09:00:00Z
r2,,c2,152.50,EUR,2026-03-04,2026-03-04T09:00:00Z
r3,,c3,1250.00,EUR,2026-03-05,2026-03-04T09:00:00Z
r4,,c4,-80.00,EUR,2026-03-04,2026-03-04T09:00:00Z
r5,,c5,33.10,EUR,2026-04-04,2026-03-04T09:00:00Z
r6,,c6,44.20,EUR,2026-04-03,2026-03-04T09:00:00Z
r7,,c7,71.00,EUR,2026-03-04,2026-03-04T09:00:00Z
r8,,c8,70.00,EUR,2026-03-04,2026-03-04T09:00:00Z
r9,,c8,70.00,EUR,2026-03-04,2026-03-04T09:00:00Z
`

// hinted are the nights of hintJob.
func hinted(t *testing.T) *nights {
	n := &nights{t: t, dir: t.TempDir(), job: hintJob}
	write(t, filepath.Join(n.dir, "ops.csv"), hintOps)
	write(t, filepath.Join(n.dir, "bank.csv"), hintBank)
	return n
}

const hintDate = "2026-03-05"

// advice gives what each item says, by the file and record of its row.
func (n *nights) advice(res *Result) map[string]string {
	out := map[string]string{}
	for _, queue := range []string{"review", "requeue"} {
		for _, item := range n.items(res, queue) {
			text, _ := item["advice"].(string)
			at := fmt.Sprint("ops.csv ", item["o_record"])
			if item["o_record"] == nil {
				at = fmt.Sprint("bank.csv ", item["r_record"])
			}
			out[at] = text
		}
	}
	return out
}

// TestHints: each kind of near miss is said with its calculation, on both rows; explain says the
// same; what is not near, or as near to more than three, says nothing.
func TestHints(t *testing.T) {
	n := hinted(t)
	res := n.run(hintDate, "", Allowed{})
	got := n.advice(res)
	const end = ". A hint, by which nothing is linked."
	becauses := []string{
		"provider_ref: the operation has INV-20260001, the result INV-20260010, one edit apart; they agree in amount and currency, entity",
		"amount: the operation has 125.50, the result 152.50, two digits are swapped: the difference is 27.00 = 9 × 3.00; they agree in entity, value_date",
		"amount: the operation has 12.50, the result 1250.00, 12.50 × 100 = 1250.00; they agree in entity, value_date (days apart: 1)",
		"amount: the operation has 80.00, the result -80.00, the same with the other sign; they agree in entity, value_date",
		"value_date: the operation has 2026-03-04, the result 2026-04-04, a month apart; they agree in amount and currency, entity",
		"value_date: the operation has 2026-03-04, the result 2026-04-03, day and month are swapped; they agree in amount and currency, entity",
	}
	for i, because := range becauses {
		at := fmt.Sprint(i + 1)
		ours := "Probably results bank.csv record " + at + ", because " + because + end
		theirs := "Probably operations ops.csv record " + at + ", because " + because + end
		for place, want := range map[string]string{"ops.csv:" + at: ours, "bank.csv:" + at: theirs} {
			_, explained, err := Explain(t.Context(), n.options(hintDate), "", place)
			if err != nil || len(explained) != 1 || explained[0].Hint != want {
				t.Errorf("explain %s: %+v, %v\nwant %s", place, explained, err, want)
			}
		}
		// Results without identity are in one set with the operations that they could be of.
		if i > 0 {
			ours, theirs = "Probably together: operations ops.csv record "+at+" and results bank.csv record "+at+", because "+because+end, ""
		}
		if got["ops.csv "+at] != ours || got["bank.csv "+at] != theirs {
			t.Errorf("item %s: %q\nand %q\nwant %q\nand %q", at, got["ops.csv "+at], got["bank.csv "+at], ours, theirs)
		}
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "matching.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := "Probably results bank.csv record 2, because " + becauses[1] + end
	if !strings.Contains(strings.Join(strings.Fields(string(guide)), " "), example) {
		t.Errorf("docs/matching.md has no %s", example)
	}
	if text, ok := got["ops.csv 7"]; !ok || text != "" {
		t.Errorf("70.00 and 71.00: %q", text)
	}
	if text := got["ops.csv 8"]; strings.Count(text, "because amount: the operation has 7.00, the result 70.00, 7.00 × 10 = 70.00") != 2 ||
		!strings.Contains(text, "bank.csv record 8,") || !strings.Contains(text, "; operations ops.csv record 8 and results bank.csv record 9,") && !strings.Contains(text, "; operations ops.csv record 8 and results bank.csv record 8,") {
		t.Errorf("two that are as near: %q", text)
	}
	// Two more, and none of them says anything.
	write(t, filepath.Join(n.dir, "bank.csv"), hintBank+"rA,,c8,70.00,EUR,2026-03-04,2026-03-04T09:00:00Z\nrB,,c8,70.00,EUR,2026-03-04,2026-03-04T09:00:00Z\n")
	if text := n.advice(n.run(hintDate, "", Allowed{}))["ops.csv 8"]; text != "" {
		t.Errorf("four that are as near: %q", text)
	}
}

// TestHintsDecideNothing: with and without hints a run has the same verdicts, the same content and
// the same items but for what they say.
func TestHintsDecideNothing(t *testing.T) {
	n := hinted(t)
	on := n.run(hintDate, "", Allowed{})
	off := n.run(hintDate, "hints: off", Allowed{})
	if on.Manifest.RunID == off.Manifest.RunID {
		t.Fatal("the key hints did not arrive")
	}
	if on.Manifest.ContentDigest != off.Manifest.ContentDigest || on.Manifest.ContentDigest == "" {
		t.Errorf("content digests %s and %s", on.Manifest.ContentDigest, off.Manifest.ContentDigest)
	}
	for _, name := range []string{"operations.parquet", "results.parquet"} {
		a, errA := os.ReadFile(filepath.Join(n.folder(on), name))
		b, errB := os.ReadFile(filepath.Join(n.folder(off), name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs (%v, %v)", name, errA, errB)
		}
	}
	said, total := 0, 0
	for _, queue := range []string{"review", "requeue", "compensate", "close"} {
		a, b := n.items(on, queue), n.items(off, queue)
		total += len(a)
		for _, list := range [][]map[string]any{a, b} {
			for _, item := range list {
				if text, _ := item["advice"].(string); text != "" {
					said++
				}
				delete(item, "advice")
				delete(item, "run_id")
			}
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v\nand %v", queue, a, b)
		}
	}
	if total != 9 || said != 8 {
		t.Errorf("%d items, %d of them with a hint", total, said)
	}
}

// TestHintsOfHiddenFields: a hidden field may be what two rows agree in; no near miss of it is told,
// and no value of it. A card number is masked.
func TestHintsOfHiddenFields(t *testing.T) {
	n := hinted(t)
	write(t, filepath.Join(n.dir, "ops.csv"), hintOps+"o9,4111111111111111,c9,5.00,EUR,2026-03-04,2026-03-04T08:00:00Z\n")
	write(t, filepath.Join(n.dir, "bank.csv"), hintBank+"rA,4111111111111112,c9,5.00,EUR,2026-03-09,2026-03-04T09:00:00Z\n")
	all := func(more string) string {
		var b strings.Builder
		for at, text := range n.advice(n.run(hintDate, more, Allowed{})) {
			fmt.Fprintln(&b, at, text)
		}
		return b.String()
	}
	if text := all("redact: {fields: {amount: mask, entity: drop}}"); strings.Contains(text, "amount:") || strings.Contains(text, "12.50") || strings.Contains(text, "c1") ||
		!strings.Contains(text, "they agree in amount and currency, entity") || !strings.Contains(text, "provider_ref: values that are masked, one edit apart") || strings.Contains(text, "41111") {
		t.Error(text)
	}
	if text := all("redact: {fields: {provider_ref: drop, value_date: mask}}"); strings.Contains(text, "INV-") || strings.Contains(text, "2026-") || strings.Contains(text, "day") ||
		!strings.Contains(text, "12.50 × 100") || strings.Contains(text, "edit") {
		t.Error(text)
	}
}

// TestHintsOfMany: where more is left over than is looked at, every item says so and none has
// a hint.
func TestHintsOfMany(t *testing.T) {
	n := hinted(t)
	var b strings.Builder
	b.WriteString(hintOps)
	for i := range 20_000 {
		fmt.Fprintf(&b, "m%[1]d,MANY-%08[1]d,m,%[1]d.00,EUR,2026-03-04,2026-03-04T08:00:00Z\n", i)
	}
	write(t, filepath.Join(n.dir, "ops.csv"), b.String())
	said := map[string]int{}
	for _, text := range n.advice(n.run(hintDate, "", Allowed{})) {
		said[text]++
	}
	if n := said["Hints were not searched for: 20008 operations are left over, more than 20000."]; len(said) != 1 || n < 20_000 {
		t.Errorf("%d items say so; %d different texts", n, len(said))
	}
}
