package main

import (
	"fmt"
	"slices"
	"strings"
)

// hiddenFields are the fields of both sides that the job of the canary test declares
// personal: all that the engine knows by name and may be hidden, and free ones of every
// type. Times that the engine measures by are not among them.
var hiddenFields = []string{
	"operation_id", "idempotency_key", "remote_id", "type", "entity", "state", "version", "amount", "destination",
	"error_code", "error_class", "lease_holder", "evidence", "closing_reason", "payload_ref", "content_fingerprint", "replaces", "hold",
	"status", "email", "born", "seen_at", "salary", "phone", "memo", "order_no",
}

const canaryJob = `version: 1
job: canary
timezone: UTC
as_of: "{date+1}T04:00"
period: {by: created_at, from: "{date}T00:00", until: "{date+1}T00:00"}
operations:
  sources:
    - name: shop
      path: ours-{date}.csv
      on_reject: keep
      csv: {rows: {field: 1, record: D, trailer: T}}
      controls: {count: trailer.2}
      known: {columns: [kind_of_row, id, key, remote, type, entity, state, version, amount, currency, destination, code, class, holder, evidence, why, payload, print, replaces, hold, email, born, seen, salary, phone, order, note, created, last, attempts], values: {type: [charge]}}
      coverage: {from: "{date-1}T00:00", until: "{date+1}T04:00"}
  fields:
    operation_id: id
    idempotency_key: key
    remote_id: remote
    type: type
    entity: entity
    state: state
    version: {column: version, type: integer}
    amount: {column: amount, type: decimal, scale: 2}
    currency: {column: currency, type: currency}
    destination: destination
    error_code: code
    error_class: class
    lease_holder: holder
    evidence: evidence
    closing_reason: why
    payload_ref: payload
    content_fingerprint: print
    replaces: replaces
    hold: hold
    email: email
    born: {column: born, type: date}
    seen_at: {column: seen, type: timestamp}
    salary: {column: salary, type: decimal, scale: 2}
    phone: {column: phone, type: integer}
    order_no: order
    note: note
    created_at: {column: created, type: timestamp}
    last_attempt_at: {column: last, type: timestamp}
    attempts: {column: attempts, type: integer}
  local_ref: [order_no, email]
results:
  sources:
    - name: psp
      path: theirs-{date}.csv
      on_reject: keep
      csv: {rows: {field: 1, record: D, trailer: T}}
      controls: {count: trailer.2}
      known: {columns: [kind_of_row, id, key, remote, type, entity, version, amount, currency, status, email, memo, note, created], values: {type: [charge]}}
      coverage: {account: psp, from: "{date-1}T00:00", until: "{date+1}T04:00"}
    - name: api
      path: api-{date}.ndjson
      need: optional
      on_reject: keep
      coverage: {account: api, types: [other], from: "{date-1}T00:00", until: "{date+1}T04:00"}
    - name: bank
      path: bank-{date}.sta
      format: mt940
      need: optional
      fields: {operation_id: customer_ref, idempotency_key: {absent: true}, remote_id: {column: remote_id}, type: {absent: true}, entity: {absent: true}, version: {absent: true}, status: {absent: true}, email: {absent: true}, memo: {absent: true}, note: {absent: true}, created_at: {absent: true}}
      coverage: {account: bank, types: [other], from: "{date-1}T00:00", until: "{date+1}T04:00"}
  fields:
    operation_id: id
    idempotency_key: key
    remote_id: remote
    type: type
    entity: entity
    version: {column: version, type: integer}
    amount: {column: amount, type: decimal, scale: 2}
    currency: {column: currency, type: currency}
    status: {column: status, map: {ok: succeeded, no: failed}}
    email: email
    memo: memo
    note: note
    created_at: {column: created, type: timestamp}
  survivor: {by: remote_id, latest: version}
  keep_effect: {earliest: created_at}
match:
  - {pass: operation_id, on: [operation_id], identity: true}
  - {pass: idempotency_key, on: [idempotency_key], identity: true}
  - {pass: business_key, on: [entity, currency, amount], within: {created_at: 2d}}
compare: [{field: amount}, {field: currency}, {field: status, expect: succeeded}, {field: version, as: version}, {field: email}, {field: type}]
scope:
  - {rule: internal, side: operations, when: "entity = 'internal'", reason: internal}
types:
  "*": {window: {expected: 15m, deadline: 6h}, idempotent: true, idempotency_key_ttl: 72h, retry: {max_attempts: 5, max_duration: 60h}, owner: ops, reply_by: 2d}
  charge: {compensate_with: {operation: refund, parameters: {charge: remote_id, memo: memo}}, once_per: [entity, amount, currency], authority: {amount: operations, email: results}}
policy:
  - {rule: disputed, when: "hold = 'legal'", propose: review, because: a lawyer has it}
gates: [{gate: none, fail_when: "share(divergent) > 99%"}]
limits: {blast_radius: {requeue: {rows: 300, share: 99%}}, retry_budget: {rows: 500, per: 10m}}
REDACT
outputs:
  dir: out
  confirm_ndjson: true
  formats: [parquet, ndjson, html, xlsx, json, md, prom, junit, sarif, csv]
  metrics: {textfile: text, pushgateway: {url: {env: PUSH_URL}, hosts: [HOST]}, otlp: {url: {env: OTLP_URL}, hosts: [HOST]}}
notify:
  - {to: webhook, when: [always], url: {env: HOOK_URL}, hosts: [HOST], secret: {file: hook.key}}
  - {to: slack, when: [always], url: {env: SLACK_URL}, hosts: [HOST]}
  - {to: smtp, when: [always], server: "localhost:1", from: a@example.com, recipients: [b@example.com], username: u, password: {env: SMTP_PASSWORD}, tls: starttls}
`

// canaryWorld makes the files of a business date. secrets are texts that no output may hold.
type canaryWorld struct {
	date         string
	ours, theirs strings.Builder
	nOurs, nRes  int
	n            int
	secrets      map[string]bool // of hidden fields
	free         map[string]bool // card numbers, IBANs and keys in free text
	keys         map[string]bool // card numbers in fields by which rows are joined: files for machines have them
	open         bool            // the job hides no field: every text holds a card number in place of a canary
}

// joins are the fields by which rows are joined, where nothing is masked in the files for
// machines.
var joins = []string{"operation_id", "idempotency_key", "remote_id", "type", "entity", "state", "version", "destination", "payload_ref",
	"content_fingerprint", "replaces", "email", "order_no", "memo"}

// canary is a text that stands nowhere else. A mask keeps the last four characters: what is
// searched for is what stands before them.
func (w *canaryWorld) canary(field string) string {
	if w.open {
		c := w.card()
		if slices.Contains(joins, field) {
			delete(w.free, c)
			w.keys[c] = true
			return c
		}
		return "by card " + c + ", thanks"
	}
	w.n++
	stem := fmt.Sprintf("zq7%sx%04d", strings.ReplaceAll(field, "_", ""), w.n)
	w.secrets[stem] = true
	return stem + "wxyz"
}

// keep puts a value as it is among the secrets.
func (w *canaryWorld) keep(value string) string {
	if !w.open {
		w.secrets[value] = true
	}
	return value
}

// card, iban and token are different each time.
func (w *canaryWorld) card() string {
	w.n++
	body := fmt.Sprintf("4539%011d", 70000000000+w.n*7919)
	for c := '0'; c <= '9'; c++ {
		if sum97(body+string(c), true) {
			w.free[body+string(c)] = true
			return body + string(c)
		}
	}
	panic("no check digit")
}

func (w *canaryWorld) iban() string {
	w.n++
	body := fmt.Sprintf("37040044%010d", 532000000+w.n*7919)
	for c := 2; c <= 98; c++ {
		if s := fmt.Sprintf("DE%02d%s", c, body); sum97(s, false) {
			w.free[s] = true
			return s
		}
	}
	panic("no check digits")
}

func (w *canaryWorld) token() string {
	w.n++
	s := fmt.Sprintf("sk_"+"live_4eC39HqLyjWDarjtT1zq%06d", w.n)
	w.free[s] = true
	return s
}

// sum97 is the check of a card, or of an IBAN; apart from the one of the program.
func sum97(s string, card bool) bool {
	if card {
		sum := 0
		for i := range len(s) {
			d := int(s[i] - '0')
			if (len(s)-i)%2 == 0 {
				d *= 2
			}
			sum += d/10 + d%10
		}
		return sum%10 == 0
	}
	rest := 0
	for _, c := range s[4:] + s[:4] {
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}

// operation is a row of the operations with a canary in every field that is hidden.
type operation struct {
	id, key, remote, typ, entity, state, version, amount, currency, email, order string
	code, class, holder, hold, created, attempts                                 string
}

func (w *canaryWorld) operation() operation {
	return operation{id: w.canary("operation_id"), key: w.canary("idempotency_key"), remote: w.canary("remote_id"), typ: "charge", entity: w.canary("entity"),
		state: "awaiting_confirmation", version: w.number(), amount: w.amount(), currency: "EUR", email: w.canary("email"), order: w.canary("order_no"),
		code: w.canary("error_code"), class: "none", created: w.date + "T08:00:00Z", attempts: "1"}
}

// number is a whole number that stands nowhere else.
func (w *canaryWorld) number() string {
	w.n++
	return w.keep(fmt.Sprintf("5517%07d", w.n*7919%10000000))
}

// typ is a type that no policy names; of a world that is clean there is none, since such
// a type withdraws what its file proves.
func (w *canaryWorld) typ(clean bool) string {
	c := w.canary("type")
	if clean {
		return "charge"
	}
	return c
}

// amount is one that no sum of others is.
func (w *canaryWorld) amount() string {
	w.n++
	return w.keep(fmt.Sprintf("73%04d.%02d", w.n*37%10000, 11+w.n*7%89))
}

func (w *canaryWorld) put(o operation) operation {
	note := "free " + w.card() + " and " + w.iban() + ", " + w.token()
	w.n++
	cells := []string{"D", o.id, o.key, o.remote, o.typ, o.entity, o.state, o.version, o.amount, o.currency, w.canary("destination"), o.code, o.class,
		o.holder, w.canary("evidence"), w.canary("closing_reason"), w.canary("payload_ref"), w.canary("content_fingerprint"), w.canary("replaces"), o.hold, o.email,
		w.keep(fmt.Sprintf("19%02d-%02d-%02d", 30+w.n%60, 1+w.n%12, 1+w.n%28)), w.keep(fmt.Sprintf("19%02d-%02d-%02dT01:%02d:37Z", 71+w.n%20, 1+w.n%12, 1+w.n%28, w.n%60)),
		w.keep(fmt.Sprintf("88%05d.31", w.n*17%100000)), w.keep(fmt.Sprintf("49171%07d", w.n*7919%10000000)), o.order, note, o.created, o.created, o.attempts, ""}
	w.ours.WriteString(quoteCells(cells))
	w.nOurs++
	return o
}

func quoteCells(cells []string) string {
	for i, c := range cells {
		cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
	}
	return strings.Join(cells, ",") + "\n"
}

// result is a row of the results of an operation.
type result struct {
	id, key, remote, typ, entity, version, amount, currency, status, email, created string
}

func (w *canaryWorld) of(o operation) result {
	return result{id: o.id, key: o.key, remote: o.remote, typ: o.typ, entity: o.entity, version: o.version, amount: o.amount, currency: o.currency, status: "ok", email: o.email, created: o.created}
}

func (w *canaryWorld) answer(r result) {
	note := "theirs " + w.card() + " " + w.iban() + " password=" + w.token()
	w.theirs.WriteString(quoteCells([]string{"D", r.id, r.key, r.remote, r.typ, r.entity, r.version, r.amount, r.currency, r.status, r.email, w.canary("memo"), note, r.created}))
	w.nRes++
}

// newCanaryWorld has two rows of every class and reason, so that no sum is one of them. A
// world that is clean has no record that cannot be read: only then is anything proven absent.
func newCanaryWorld(date string, open, clean bool) *canaryWorld {
	w := &canaryWorld{date: date, secrets: map[string]bool{}, free: map[string]bool{}, keys: map[string]bool{}, open: open}
	w.ours.WriteString("kind_of_row,id,key,remote,type,entity,state,version,amount,currency,destination,code,class,holder,evidence,why,payload,print,replaces,hold,email,born,seen,salary,phone,order,note,created,last,attempts," +
		"head " + w.card() + "\n")
	w.theirs.WriteString("kind_of_row,id,key,remote,type,entity,version,amount,currency,status,email,memo,note,created\n")
	for range 2 {
		w.answer(w.of(w.put(w.operation()))) // correct, plain
		for _, change := range []func(o *operation, r *result){
			func(_ *operation, r *result) { r.amount = w.amount() },
			func(_ *operation, r *result) { r.status = w.canary("status") },
			func(_ *operation, r *result) { r.status = "broken " + w.card() + " " + w.token() },
			func(_ *operation, r *result) { r.status = "no" },
			func(_ *operation, r *result) { r.email = w.canary("email") },
			func(_ *operation, r *result) { r.version = w.number() },
			func(_ *operation, r *result) { r.typ = w.typ(clean) },
			func(_ *operation, r *result) { r.amount = w.canary("amount") }, // unreadable
			func(o *operation, r *result) { o.amount = w.canary("amount") },
			func(o *operation, r *result) { r.id, r.key = "", "" }, // by the business key
			func(o *operation, r *result) { o.state = w.canary("state") },
			func(o *operation, r *result) { o.typ = w.typ(clean); r.typ = o.typ },
			func(o *operation, r *result) { o.class = "transient"; r.id = w.canary("operation_id") }, // keys disagree
			func(o *operation, r *result) { o.created, r.created = "2026-11-27T08:00:00Z", "2026-11-27T08:00:00Z" },
			func(o *operation, r *result) { r.created = w.canary("operation_id") }, // an unreadable time, which is not hidden: see below
		} {
			o := w.operation()
			r := w.of(o)
			change(&o, &r)
			if strings.HasPrefix(r.created, "zq7") {
				r.created = date + "T08:00"
			}
			w.put(o)
			w.answer(r)
		}
		// Absent, held, with a critical error, of an unknown type or state, not due, out of scope.
		for _, change := range []func(o *operation){
			func(*operation) {},
			func(o *operation) { o.hold = "legal" },
			func(o *operation) { o.hold = w.canary("hold") },
			func(o *operation) { o.class = "critical" },
			func(o *operation) { o.class = w.canary("error_class") },
			func(o *operation) { o.typ = w.typ(clean) },
			func(o *operation) { o.state = w.canary("state") },
			func(o *operation) { o.state = "processing"; o.holder = w.canary("lease_holder") },
			func(o *operation) { o.created = date + "T23:59:00Z" },
			func(o *operation) { o.entity = "internal" },
			func(o *operation) { o.attempts = "4" },
			func(o *operation) { o.key = "" },
			func(o *operation) { o.id, o.key = "", "" },
		} {
			o := w.operation()
			if o.created == date+"T08:00:00Z" {
				o.created = date + "T10:00:00Z" // after all that could be its effect without saying so
			}
			change(&o)
			w.put(o)
		}
		// Twice at the provider: a surplus effect; a copy; two versions of one record.
		o := w.put(w.operation())
		r := w.of(o)
		w.answer(r)
		r.remote, r.created = w.canary("remote_id"), date+"T09:00:00Z"
		w.answer(r)
		// Twice in the register.
		o = w.put(w.operation())
		w.put(o)
		// Nobody asked for it; two of one business key.
		for range 2 {
			w.answer(w.of(w.operation()))
		}
		o = w.put(w.operation())
		p := w.operation()
		p.entity, p.amount = o.entity, o.amount
		w.put(p)
		r = w.of(o)
		r.id, r.key, r.remote = "", "", w.canary("remote_id")
		w.answer(r)
		// Records that cannot be cut, and of no kind. The values are made in any case, so that
		// the worlds of all dates have the same ones.
		ours := "D," + w.canary("operation_id") + "," + w.card() + "\n" + w.canary("email") + ",x\n"
		theirs := "D," + w.canary("operation_id") + "," + w.iban() + "\n" + w.canary("email") + ",x\n" + "card " + w.card() + ",x\n"
		if !clean {
			w.ours.WriteString(ours)
			w.theirs.WriteString(theirs)
			w.nOurs, w.nRes = w.nOurs+2, w.nRes+3
		}
	}
	return w
}

// files are the files of the date.
func (w *canaryWorld) files() map[string]string {
	return map[string]string{
		"ours-" + w.date + ".csv":   w.ours.String() + fmt.Sprintf("T,%d,%s,%s\n", w.nOurs, w.canary("email"), w.card()),
		"theirs-" + w.date + ".csv": w.theirs.String() + fmt.Sprintf("T,%d,%s,%s\n", w.nRes, w.canary("email"), w.card()),
		// A line that is no JSON, one without the members, and an unreadable number.
		"api-" + w.date + ".ndjson": fmt.Sprintf("{\"id\": \"%s\", \"memo\": %s\n{\"%s\": 1}\n{\"id\": \"%s\", \"amount\": \"%s\", \"currency\": \"EUR\", \"status\": \"%s\", \"created\": \"%s\", \"note\": \"%s\"}\n",
			w.canary("operation_id"), w.canary("memo"), w.canary("email"), w.canary("operation_id"), w.canary("amount"), w.canary("status"), w.date+"T08:00:00Z", w.card()),
		"bank-" + w.date + ".sta": ":20:" + w.canary("email") + "\n:25:" + w.iban() + "\n:28C:1/1\n:60F:C261129EUR0,\n" + w.canary("memo") + "\n:61:" + w.canary("memo") + "\n:62F:C261129EUR0,\n-\n",
	}
}
