package rules_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

const redactJob = `job: j
operations: {path: a.csv, fields: {operation_id: id, note: note, order_no: order, amount: {column: amount, type: decimal, scale: 2}, currency: currency}}
results: {path: b.csv, fields: {operation_id: id, memo: memo, amount: {column: amount, type: decimal, scale: 2}, currency: currency}}
match: [{pass: operation_id, on: [operation_id]}]
redact: %s
`

// Fields are hashed, masked or dropped; hash is another word for token. Free text is
// looked through unless the job says otherwise, and so it stays in the effective job.
func TestRedact(t *testing.T) {
	for _, c := range []struct {
		redact string
		want   string
	}{
		{"{key: {env: K}, fields: {note: token, memo: hash, order_no: mask, operation_id: drop}}",
			"map[memo:token note:token operation_id:drop order_no:mask] false []"},
		{"{free_text: off}", "map[] true []"},
		{"{free_text: on}", "map[] false []"},
		{"{exempt: [order_no, memo]}", "map[] false [order_no memo]"},
	} {
		job := parse(t, fmt.Sprintf(redactJob, c.redact))
		r := job.Redact
		if got := fmt.Sprint(r.Fields, r.FreeTextOff, r.Exempt); got != c.want {
			t.Errorf("%s: %s, want %s", c.redact, got, c.want)
		}
		again, err := rules.ParseEffective(job.Effective(), "effective")
		if err != nil {
			t.Errorf("%s: %v", c.redact, err)
			continue
		}
		if again.Redact.FreeTextOff != r.FreeTextOff || !slices.Equal(again.Redact.Exempt, r.Exempt) || fmt.Sprint(again.Redact.Fields) != fmt.Sprint(r.Fields) {
			t.Errorf("%s: the effective job says %+v", c.redact, again.Redact)
		}
	}
}

// What would hide nothing, or hide what cannot be hidden, is refused.
func TestRedactRefused(t *testing.T) {
	for _, c := range []struct{ redact, want string }{
		{"{exempt: [ordr_no]}", `redact.exempt[0]`},
		{"{fields: {nott: mask}}", `neither side declares the field "nott"`},
		{"{exempt: [note], fields: {note: mask}}", "the field note is exempt from a search, and hidden as a whole: mask"},
		{"{free_text: off, exempt: [note]}", "redact.exempt exempts fields from what free_text: off leaves out altogether"},
		{"{free_text: never}", "redact.free_text"},
		{"{fields: {note: hide}}", `"hide" is no way to redact`},
		{"{fields: {note: hash}}", "a token needs a key"},
		{"{fields: {currency: mask}}", "the totals of a report are by currency, which cannot be hidden"},
	} {
		_, err := rules.Parse([]byte(fmt.Sprintf(redactJob, c.redact)), "job.yaml")
		es, ok := errors.AsType[rules.Errors](err)
		if !ok {
			t.Errorf("%s loads: %v", c.redact, err)
			continue
		}
		var all []string
		for _, e := range es {
			all = append(all, e.Path+" "+e.Msg)
		}
		if !strings.Contains(strings.Join(all, "\n"), c.want) {
			t.Errorf("%s: %s, want %s", c.redact, strings.Join(all, "; "), c.want)
		}
	}
}
