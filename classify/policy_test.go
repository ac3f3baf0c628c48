package classify_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/classify"
	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// day is a job with two accounts' worth of policy; the parts marked %s are those that a
// test changes.
const policyJob = `
version: 1
job: policy
as_of: "2026-11-30T04:00:00Z"
may_be_empty: true
operations:
  whole_register: true
  sources: [{name: shop, path: ours.csv, coverage: complete}]
  fields:
    operation_id: id
    idempotency_key: key
    type: kind
    entity: order
    state: state
    version: {column: version, type: integer}
    amount: {column: amount, type: decimal, scale: 2}
    currency: currency
    attempts: {column: n, type: integer}
    error_class: error
    error_code: code
    replaces: replaces
    payload_ref: payload
    payload_expires_at: {column: payload_end, type: timestamp}
    hold: hold
    created_at: {column: at, type: timestamp}
    first_failed_at: {column: failed, type: timestamp}
results:
  sources: [{name: psp, path: theirs.csv, coverage: complete}]
  fields:
    remote_id: charge
    operation_id: id
    idempotency_key: key
    type: kind
    version: {column: version, type: integer}
    amount: {column: amount, type: decimal, scale: 2}
    currency: currency
    created_at: {column: at, type: timestamp}
  keep_effect: {earliest: created_at}
match:
  - {pass: operation_id, on: [operation_id], identity: true}
  - {pass: idempotency_key, on: [idempotency_key], identity: true}
compare: [{field: amount}, {field: currency}, {field: version, as: version}]
types:
  charge:
    window: {expected: 15m, deadline: 6h}
    idempotent: true
    idempotency_key_ttl: 48h
    retry: {max_attempts: 5, max_duration: 20h, backoff: {initial: 10s, factor: 2, max: 1m}}
    errors: {transient: [slow], permanent: [declined], critical: [fraud]}
    authority: {amount: operations, version: results}
    approvals: {over: {EUR: "100.00"}, approvers: 2}
    owner: oncall
    reply_by: 2d
%s
`

const (
	undo = `    compensate_with: {operation: refund_charge, parameters: {charge: remote_id, reason: "'duplicate'"}}
`
	unasked = `    unexpected: {owner: finance, compensate_with: {operation: refund_charge, parameters: {charge: remote_id}}}
`
	ours   = "id,key,kind,order,state,version,amount,currency,n,error,code,replaces,payload,payload_end,hold,at,failed\n"
	theirs = "charge,id,key,kind,version,amount,currency,at\n"
	// other makes results carry both keys, so that an absence means something
	other  = "ch-0,op-0,k-0,charge,1,1.00,EUR,2026-11-29T12:00:01Z\n"
	first  = "op-0,k-0,charge,o-0,confirmed,1,1.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	absent = "op-1,k-1,charge,o-1,pending,1,5.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
)

// shownItem is one item as classification leaves it.
type shownItem map[string]string

// classifiedDay is a day as classification leaves it; its promises hold.
type classifiedDay struct {
	db    *duck.DB
	job   *rules.Bound
	sides [2]*extract.Relation
}

// classified runs the day of policyJob with more policy, operations and results.
func classified(t *testing.T, more, operations, results string, prepare ...func(*rules.Bound, func(string))) *classifiedDay {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"ours.csv": ours + first + operations, "theirs.csv": theirs + other + results, "job.yaml": fmt.Sprintf(policyJob, more)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := &classifiedDay{}
	if d.job, err = job.Bind("2026-11-29", nil); err != nil {
		t.Fatal(err)
	}
	if d.db, err = extract.OpenScratch(t.Context(), extract.ScratchOptions{SpillDir: dir, Allowed: []string{dir}, Threads: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, f := range prepare {
		f(d.job, func(q string) { d.exec(t, q) })
	}
	for i, side := range rules.Sides {
		if d.sides[i], err = extract.Load(t.Context(), d.db, d.job, side, extract.Options{StageDir: filepath.Join(dir, "stage"), BaseDir: dir}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := match.Run(t.Context(), d.db, d.job, d.sides[0], d.sides[1], match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := classify.Run(t.Context(), d.db, d.job, d.sides[0], d.sides[1], m); err != nil {
		t.Fatal(err)
	}
	if err := d.promises(t); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *classifiedDay) exec(t *testing.T, q string) {
	t.Helper()
	if err := d.db.Exec(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func (d *classifiedDay) promises(t *testing.T) error {
	return classify.Promises(t.Context(), d.db, d.job, d.sides[0], d.sides[1])
}

// judge runs a day and returns its items by the id of the operation, or of the effect
// where there is none.
func judge(t *testing.T, more, operations, results string, prepare ...func(*rules.Bound, func(string))) map[string]shownItem {
	t.Helper()
	d := classified(t, more, operations, results, prepare...)
	return itemsOf(t, func(q string) (*sql.Rows, error) { return d.db.Query(t.Context(), q) })
}

func itemsOf(t *testing.T, query func(string) (*sql.Rows, error)) map[string]shownItem {
	t.Helper()
	rows, err := query("SELECT * FROM items_wide ORDER BY item_id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]shownItem{}
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		it := shownItem{}
		for i, n := range names {
			if v := *values[i].(*any); v != nil {
				it[n] = fmt.Sprint(v)
			}
		}
		id := it["operation_id"]
		if id == "" || it["queue"] == "compensate" || it["reason"] == "surplus_effect" {
			id = it["remote_id"]
		}
		out[id] = it
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (it shownItem) line() string {
	return strings.TrimSuffix(it["queue"]+" "+it["refused"], " ")
}

// Each check of V30 that this job can show: without it the operation would be sent.
func TestRequeueChecks(t *testing.T) {
	set := func(change ...string) string {
		s := absent
		for i := 0; i < len(change); i += 2 {
			if !strings.Contains(s, change[i]) {
				t.Fatalf("%s has no %s", s, change[i])
			}
			s = strings.Replace(s, change[i], change[i+1], 1)
		}
		return s
	}
	second := func(id string, change ...string) string {
		s := strings.NewReplacer("op-1", id, "k-1", "k-"+id, "o-1", "o-"+id).Replace(absent)
		return strings.NewReplacer(change...).Replace(s)
	}
	for _, c := range []struct{ name, more, operations, results, want string }{
		{"nothing stands against it", "", absent, "", "requeue"},
		{"no payload", "", set(",p,,,", ",,,,"), "", "review payload"},
		{"a payload that is gone by then", "", set(",p,,,", ",p,2026-11-30T04:00:05Z,,"), "", "review payload"},
		{"a payload that lives", "", set(",p,,,", ",p,2026-11-30T05:00:00Z,,"), "", "requeue"},
		{"the end of the payload cannot be read", "", set(",p,,,", ",p,soon,,"), "", "review payload"},
		{"an irreversible type", "    risk: irreversible\n", absent, "", "review risk"},
		{"a regulated type", "    risk: regulated\n", absent, "", "review risk"},
		{"a code that is transient", "", set("EUR,1,,,", "EUR,1,,slow,"), "", "requeue"},
		{"a code that is permanent", "", set("EUR,1,,,", "EUR,1,,declined,"), "", "review error_class"},
		{"a code that is not listed", "", set("EUR,1,,,", "EUR,1,,odd,"), "", "review error_class"},
		{"a class beside a code", "", set("EUR,1,,,", "EUR,1,transient,odd,"), "", "requeue"},
		{"a type that the job does not name", "", set("charge", "refund"), "", "review not_idempotent;attempts;no_policy"},
		{"on hold", "", set(",p,,,", ",p,,fraud,"), "", "review on_hold"},
		{"the proof ends before", "    proof_valid: 10s\n", absent, "", "review proof_lifetime"},
		{"it was replaced", "", absent + second("op-2", ",EUR,1,,,,", ",EUR,1,,,op-1,"), "", "review sibling_effect"},
		{"it replaces one that has its effect", "", set("EUR,1,,,,", "EUR,1,,,op-0,"), "", "review sibling_effect"},
		{"it replaces one that is absent and stays so", "", set("EUR,1,,,,", "EUR,1,,,op-2,") + second("op-2"), "", "requeue"},
		{"it replaces one that replaces one with an effect", "", set("EUR,1,,,,", "EUR,1,,,op-2,") + second("op-2", "EUR,1,,,,", "EUR,1,,,op-0,"), "", "review sibling_effect"},
		{"it replaces one that nobody knows", "", set("EUR,1,,,,", "EUR,1,,,op-9,"), "", "review sibling_effect"},
		{"another one for the same thing could be sent as well", "    once_per: [amount]\n", absent + second("op-2"), "", "review sibling_effect"},
		{"another one for the same thing is spent", "    once_per: [amount]\n", absent + second("op-2", "EUR,1,", "EUR,5,"), "", "requeue"},
		{"others are linked with it through ones that are absent and stay so", "", set("EUR,1,,,,", "EUR,1,,,op-2,") + second("op-2", "EUR,1,,,,", "EUR,1,,,op-3,") + second("op-3", "EUR,1,,,,", "EUR,1,,,op-4,") + second("op-4", "EUR,1,,,,", "EUR,1,,,op-0,"), "", "review sibling_effect"},
		{"one that nobody knows, behind others", "", set("EUR,1,,,,", "EUR,1,,,op-2,") + second("op-2", "EUR,1,,,,", "EUR,1,,,op-3,") + second("op-3", "EUR,1,,,,", "EUR,1,,,op-9,"), "", "review sibling_effect"},
		{"a circle of replacements", "", set("EUR,1,,,,", "EUR,1,,,op-2,") + second("op-2", "EUR,1,,,,", "EUR,1,,,op-1,"), "", "review sibling_effect"},
		{"it replaces itself", "", set("EUR,1,,,,", "EUR,1,,,op-1,"), "", "requeue"},
		{"another one with an effect that may be for the same thing: its amount is missing", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "o-op-2", "o-1", "5.00,EUR", ",EUR"), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "review sibling_effect"},
		{"… its amount cannot be read", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "o-op-2", "o-1", "5.00,EUR", "many,EUR"), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "review sibling_effect"},
		{"… its currency is missing", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "o-op-2", "o-1", "5.00,EUR", "5.00,"), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "review sibling_effect"},
		{"… its entity is missing", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "o-op-2", ""), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "review sibling_effect"},
		{"… its type is missing", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "o-op-2", "o-1", "charge", ""), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "review sibling_effect"},
		{"… its own amount is missing", "    once_per: [entity, amount, currency]\n", set("5.00,EUR", ",EUR") + second("op-2", "o-op-2", "o-1"), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "review sibling_effect"},
		{"… one of another entity, amount missing, is none", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "5.00,EUR", ",EUR"), "ch-2,op-2,k-op-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n", "requeue"},
		{"two that may be for the same thing could both be sent", "    once_per: [entity, amount, currency]\n", absent + second("op-2", "o-op-2", "o-1", "5.00,EUR", ",EUR"), "", "review sibling_effect"},
		{"another one for the same thing is outside of the period", "    once_per: [entity, amount, currency]\nperiod: {by: created_at, from: \"{date}T00:00\", until: \"{date+1}T00:00\"}\n", absent + second("op-2", "o-op-2", "o-1", "11-29T12:00", "11-30T01:00"), "", "review sibling_effect"},
		{"it replaces one outside of the period", "period: {by: created_at, from: \"{date}T00:00\", until: \"{date+1}T00:00\"}\n", set("EUR,1,,,,", "EUR,1,,,op-2,") + second("op-2", "11-29T12:00", "11-28T01:00"), "", "review sibling_effect"},
		{"one outside of the period is for another thing", "    once_per: [entity, amount, currency]\nperiod: {by: created_at, from: \"{date}T00:00\", until: \"{date+1}T00:00\"}\n", absent + second("op-2", "11-29T12:00", "11-30T01:00"), "", "requeue"},
		{"another list of fields for the other types", "    once_per: [amount, currency, replaces]\n  \"*\": {once_per: [currency]}\n", absent + second("op-2", "charge", "refund", ",pending,1,5.00", ",pending,1,6.00"), "ch-2,op-2,k-op-2,refund,1,6.00,EUR,2026-11-29T12:00:01Z\n", "requeue"},
		{"more attempts than a number holds", "", set("EUR,1,", "EUR,99999999999999999999999,"), "", "review attempts"},
		{"fewer than no attempts", "", set("EUR,1,", "EUR,-1,"), "", "review attempts"},
		{"a newer version", "", absent + second("op-2", "o-op-2,pending,1", "o-1,pending,2"), "", "review newer_version"},
		{"one that may be newer, without a version", "", absent + second("op-2", "o-op-2,pending,1", "o-1,pending,"), "", "review newer_version"},
		{"no version, beside one that has one", "", set("pending,1,", "pending,,") + second("op-2", "o-op-2,pending,1", "o-1,pending,2"), "", "review newer_version"},
		{"no versions at all", "", set("pending,1,", "pending,,") + second("op-2", "o-op-2,pending,1", "o-1,pending,"), "", "requeue"},
		{"spent", "", set("EUR,1,", "EUR,5,"), "", "review attempts"},
		{"too long ago", "", set("12:00:00Z,\n", "12:00:00Z,2026-11-29T06:00:00Z\n"), "", "review duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			more := c.more
			if strings.Contains(more, "once_per") {
				more = strings.Replace(more, "[amount]", "[amount, currency]", 1)
			}
			if got := judge(t, more, c.operations, c.results)["op-1"].line(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A requeue carries its condition as data, ends before its key does, and leads to the
// job's own state.
func TestRequeueCarriesItsCondition(t *testing.T) {
	own := "states:\n  map: {pending: retry_scheduled, confirmed: confirmed, gone: not_applicable}\n"
	it := judge(t, own, absent, "")["op-1"]
	if it["queue"] != "requeue" || it["recheck_key"] != "k-1" || it["recheck_since_us"] != fmt.Sprint(micro("2026-11-29T11:55:00Z")) ||
		!strings.HasPrefix(it["recheck"], "No result under recheck_key since recheck_since") {
		t.Errorf("%v", it)
	}
	if it["next_state"] != "pending" {
		t.Errorf("next state %q", it["next_state"])
	}
	if want := fmt.Sprint(micro("2026-12-01T11:59:59Z")); it["expiry_us"] != want {
		t.Errorf("expires at %s, want %s", it["expiry_us"], want)
	}
	if it := judge(t, "", strings.Replace(absent, ",p,,", ",p,2026-11-30T05:00:00Z,", 1), "")["op-1"]; it["expiry_us"] != fmt.Sprint(micro("2026-11-30T05:00:00Z")) {
		t.Errorf("with a payload that ends: %v", it["expiry_us"])
	}
	// A requeue that would lead to a final state is refused, whatever the transitions are.
	final := func(b *rules.Bound, _ func(string)) {
		b.States.Final = append(b.States.Final, "retry_scheduled")
	}
	if got := judge(t, "", absent, "", final)["op-1"].line(); got != "review state" {
		t.Errorf("a final target: %s", got)
	}
}

// A release lifts attempts and duration for its cohort, until it ends, and nothing else.
func TestReleases(t *testing.T) {
	release := func(when, until string) string {
		return `releases: [{id: outage, when: "` + when + `", attempts: +2, duration: 24h, until: "` + until + `", by: ann, approved_by: bob, reason: outage}]` + "\n"
	}
	spent := strings.Replace(absent, "EUR,1,", "EUR,6,", 1)
	long := strings.Replace(absent, "12:00:00Z,\n", "12:00:00Z,2026-11-29T06:00:00Z\n", 1)
	for _, c := range []struct{ name, more, operation, want string }{
		{"attempts", release("currency = 'EUR'", "2026-12-05T00:00:00Z"), spent, "requeue"},
		{"duration", release("currency = 'EUR'", "2026-12-05T00:00:00Z"), long, "requeue"},
		{"both spent beyond it", release("currency = 'EUR'", "2026-12-05T00:00:00Z"), strings.Replace(spent, "EUR,6,", "EUR,7,", 1), "review attempts"},
		{"another cohort", release("currency = 'USD'", "2026-12-05T00:00:00Z"), spent, "review attempts"},
		{"over at the reference time", release("currency = 'EUR'", "2026-11-30T04:00:00Z"), spent, "review attempts"},
		{"over before the next attempt", release("currency = 'EUR'", "2026-11-30T04:00:10Z"), spent, "review attempts"},
		{"not what is safety", release("currency = 'EUR'", "2026-12-05T00:00:00Z"), strings.Replace(spent, ",p,,,", ",p,,fraud,", 1), "review on_hold"},
		{"not an unknown number", release("currency = 'EUR'", "2026-12-05T00:00:00Z"), strings.Replace(spent, "EUR,6,", "EUR,,", 1), "review attempts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := judge(t, c.more, c.operation, "")["op-1"]
			if it.line() != c.want {
				t.Errorf("%s, want %s", it.line(), c.want)
			}
			if named := it["release"] == "outage"; named != (c.want == "requeue") {
				t.Errorf("release %q", it["release"])
			}
		})
	}
	if it := judge(t, release("currency = 'EUR'", "2026-11-30T06:00:00Z"), spent, "")["op-1"]; it["expiry_us"] != fmt.Sprint(micro("2026-11-30T06:00:00Z")) {
		t.Errorf("the item ends at %s, after its release", it["expiry_us"])
	}
	if it := judge(t, release("currency = 'EUR'", "2026-12-05T00:00:00Z"), absent, "")["op-1"]; it["release"] != "" {
		t.Errorf("a requeue that needs no release names %s", it["release"])
	}
}

func TestOvertaken(t *testing.T) {
	newer := func(state, attempts, payload string) string {
		return "op-2,k-2,charge,o-1," + state + ",2,5.00,EUR," + attempts + ",,,," + payload + ",,,2026-11-29T13:00:00Z,\n"
	}
	done := "ch-2,op-2,k-2,charge,2,5.00,EUR,2026-11-29T13:00:01Z\n"
	for _, c := range []struct{ name, when, operations, results, want, other string }{
		{"review", "review", absent + newer("pending", "1", "p"), "", "review newer_version", "requeue"},
		{"close", "close", absent + newer("pending", "1", "p"), "", "close", "requeue"},
		{"close, and the newest is confirmed", "close", absent + newer("confirmed", "1", "p"), done, "close", ""},
		{"close, but nothing leads there", "close", strings.Replace(absent, "pending", "parked", 1) + newer("pending", "1", "p"), "", "review newer_version;state", "requeue"},
		{"close, but two are the newest", "close", absent + newer("pending", "1", "p") + strings.NewReplacer("op-2", "op-3", "k-2", "k-3").Replace(newer("pending", "1", "p")), "", "review newer_version", "requeue"},
		{"close, but a version cannot be read", "close", absent + newer("pending", "1", "p") + strings.NewReplacer("op-2", "op-3", "k-2", "k-3", ",2,5", ",x,5").Replace(newer("pending", "1", "p")), "", "review newer_version", "review newer_version"},
		{"the newest is sent", "send_newest", absent + newer("pending", "1", "p"), "", "close", "requeue"},
		{"the newest cannot be sent", "send_newest", absent + newer("pending", "5", "p"), "", "review newer_version", "review attempts"},
		{"the newest has its effect", "send_newest", absent + newer("confirmed", "1", "p"), done, "review newer_version", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judge(t, "    when_overtaken: "+c.when+"\n", c.operations, c.results)
			it := got["op-1"]
			if it.line() != c.want {
				t.Errorf("%s, want %s", it.line(), c.want)
			}
			if it["queue"] == "close" && (it["closing_reason"] != "newer_version" || it["next_state"] != "not_applicable" || it["rule"] != "types.charge") {
				t.Errorf("closed as %q to %q by %q", it["closing_reason"], it["next_state"], it["rule"])
			}
			if o := got["op-2"].line(); o != c.other {
				t.Errorf("the newest: %s, want %s", o, c.other)
			}
		})
	}
}

func TestConfirmAndCloseNeedAPolicy(t *testing.T) {
	row := "op-1,k-1,refund,o-1,pending,1,5.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	effect := "ch-1,op-1,k-1,refund,1,5.00,EUR,2026-11-29T12:00:01Z\n"
	scope := "scope: [{rule: drafts, side: operations, when: \"entity = 'o-1'\", reason: draft}]\n"
	for _, c := range []struct{ name, more, results, want string }{
		{"confirm", "", effect, "review no_policy"},
		{"close", scope, "", "review no_policy"},
		{"a plain pair of a listed type", "  refund: {owner: x, reply_by: 1d}\n", effect, "confirm"},
		{"a policy for the rest", "  \"*\": {owner: x, reply_by: 1d}\n", effect, "confirm"},
		{"close by a listed type", "  refund: {owner: x, reply_by: 1d}\n" + scope, "", "close"},
	} {
		if got := judge(t, c.more, row, c.results)["op-1"].line(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
