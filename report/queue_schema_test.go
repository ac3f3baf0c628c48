package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// plainSchema compiles the schema as any validator reads it: x-distinct is unknown.
func plainSchema(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("queue.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("queue.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The published schema is that of the fields, so that neither moves alone.
func TestQueueSchemaIsOfTheFields(t *testing.T) {
	saved := queueSchemaFile
	queueSchemaFile = nil
	want := QueueSchema(nil)
	queueSchemaFile = saved
	if *update {
		if err := os.WriteFile("queue.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, QueueSchema(nil)) {
		t.Error("queue.schema.json is not that of QueueFields; run the test with -update, and look at the difference")
	}
}

// docs/queues.md holds the reference that follows from the code.
func TestQueueReferenceIsOfTheFields(t *testing.T) {
	const name = "../docs/queues.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- fields: from report/queue_fields.go -->\n", "<!-- end of fields -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no lines %q and %q", name, begin, end)
	}
	want := before + begin + queueReference() + end + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is not that of QueueFields; run the test with -update", name)
	}
}

// What is written has the columns of the contract, in both views.
func TestColumnsOfTheQueues(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Operations.LocalRef = []string{"entity"}
	w.load()
	w.build()
	for view, confirm := range map[string]bool{"report_items": false, "report_items_confirm": true} {
		rows, err := w.db.Query(t.Context(), "SELECT column_name, column_type FROM (DESCRIBE "+view+")")
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for rows.Next() {
			var name, typ string
			if err := rows.Scan(&name, &typ); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(typ, "ENUM") {
				typ = "VARCHAR"
			}
			got = append(got, name+" "+typ)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		for _, f := range QueueFields {
			if !confirm || f.Confirm {
				want = append(want, f.Name+" "+f.Kind.sqlType())
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s has\n%s\nwant\n%s", view, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// withState declares the field state of the register.
func withState(w *world) {
	w.in.Bound.Operations.Fields = append(w.in.Bound.Operations.Fields, rules.Field{Name: "state", Column: "state", Type: rules.Text})
}

// goodItems are items of each acting queue as the program writes them.
func goodItems() map[string]object {
	base := func(queue, class, reason string) object {
		o := object{}
		for _, f := range QueueFields {
			switch {
			case queue == "confirm" && !f.Confirm:
			case !f.Always:
				o[f.Name] = nil
			case f.Kind == kindBool:
				o[f.Name] = false
			case f.Kind == kindTexts:
				o[f.Name] = []any{}
			case f.Kind == kindObject:
				o[f.Name] = object{}
			default:
				o[f.Name] = "x"
			}
		}
		o["schema_version"], o["item_id"], o["case_id"] = json.Number("1"), strings.Repeat("0a", 16), strings.Repeat("0b", 16)
		o["queue"], o["class"], o["reason"], o["operation_id"], o["idempotency_key"] = queue, class, reason, "op-1", "k-1"
		o["expected_state"], o["o_record"], o["effects_seen"] = "pending", json.Number("1"), json.Number("0")
		return o
	}
	requeue := base("requeue", "absent", "no_result")
	for k, v := range map[string]any{"next_state": "retry_scheduled", "next_state_final": false, "next_attempt_at": "2026-11-30T03:00:30.186000Z",
		"expires_at": "2026-12-01T15:39:52Z", "recheck_key": "k-1", "recheck_since": "2026-11-29T03:34:21Z"} {
		requeue[k] = v
	}
	compensate := base("compensate", "duplicate", "surplus_effect")
	for k, v := range map[string]any{"next_state": "compensated", "next_state_final": true, "remote_id": "ch-b", "keep_remote_id": "ch-a",
		"undo_keep": []any{"ch-b", "ch-a"}, "business_operation": "refund_charge", "effects_seen": json.Number("2")} {
		compensate[k] = v
	}
	confirm := base("confirm", "correct", "equal")
	confirm["next_state"], confirm["next_state_final"] = "confirmed", true
	closing := base("close", "not_applicable", "never_sent")
	closing["next_state"], closing["next_state_final"] = "not_applicable", true
	review := base("review", "ambiguous", "several_candidates")
	return map[string]object{"requeue": requeue, "compensate": compensate, "confirm": confirm, "close": closing, "review": review}
}

// An item that would be unsafe to act on is not valid, whichever validator reads it.
func TestUnsafeItemsAreInvalid(t *testing.T) {
	job := &rules.Job{States: rules.States{Final: []string{"done"}}}
	general, own := plainSchema(t, QueueSchema(nil)), plainSchema(t, QueueSchema(job))
	for queue, item := range goodItems() {
		for _, s := range []*jsonschema.Schema{general, own} {
			if err := s.Validate(item); err != nil {
				t.Fatalf("%s: %v", queue, err)
			}
		}
	}
	for _, c := range []struct {
		queue, field string
		value        any
	}{
		{"requeue", "next_state", "confirmed"}, {"requeue", "next_state", "succeeded"}, {"requeue", "next_state_final", true},
		{"requeue", "next_state_final", nil}, {"requeue", "next_state", nil}, {"requeue", "next_state", ""},
		{"requeue", "idempotency_key", nil}, {"requeue", "idempotency_key", ""}, {"requeue", "idempotency_key", " "},
		{"requeue", "class", "ambiguous"}, {"requeue", "refused", "lease"}, {"requeue", "effects_seen", json.Number("1")},
		{"requeue", "effects_seen", nil}, {"requeue", "expires_at", nil}, {"requeue", "next_attempt_at", nil}, {"requeue", "deferred", true},
		{"requeue", "recheck_key", nil}, {"requeue", "recheck_since", nil}, {"requeue", "expires_at", "tomorrow"}, {"close", "next_state", nil},
		{"confirm", "expected_state", nil}, {"requeue", "expected_state", nil}, {"close", "expected_state", nil}, {"compensate", "expected_state", nil},
		{"requeue", "expected_state", ""}, {"confirm", "next_state", nil}, {"confirm", "class", "divergent"}, {"close", "class", "absent"},
		{"compensate", "remote_id", nil}, {"compensate", "remote_id", ""}, {"compensate", "keep_remote_id", nil},
		{"compensate", "undo_keep", []any{"ch-a", "ch-a"}}, {"compensate", "undo_keep", []any{"ch-b"}}, {"compensate", "undo_keep", nil},
		{"compensate", "business_operation", nil}, {"compensate", "class", "correct"},
		{"review", "next_state", "retry_scheduled"}, {"requeue", "queue", "send"}, {"requeue", "item_id", "1"}, {"requeue", "schema_version", json.Number("2")},
		{"requeue", "local_ref", nil}, {"requeue", "observe_only", nil},
	} {
		item := goodItems()[c.queue]
		item[c.field] = c.value
		if general.Validate(item) == nil {
			t.Errorf("%s with %s = %v is valid", c.queue, c.field, c.value)
		}
	}
	for queue, good := range goodItems() {
		for name := range good {
			item := goodItems()[queue]
			delete(item, name)
			if general.Validate(item) == nil {
				t.Errorf("%s without %s is valid", queue, name)
			}
		}
	}
	item := goodItems()["requeue"]
	item["next_state"] = "done"
	if own.Validate(item) == nil {
		t.Error("a requeue to a final state of the job is valid under the schema of the job")
	}
}

// distinct is the keyword x-distinct.
type distinct struct{ fields []string }

func (d distinct) Validate(c *jsonschema.ValidatorContext, v any) {
	seen := map[any]bool{}
	o, _ := v.(object)
	for _, f := range d.fields {
		if x := o[f]; x != nil && seen[x] {
			c.AddError(&kind.Not{})
		} else {
			seen[x] = true
		}
	}
}

// A validator that knows x-distinct refuses a compensation of the effect to keep.
func TestKeptEffectIsNotUndone(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(QueueSchema(nil)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertVocabs()
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: "https://recon-batch.invalid/distinct", Compile: func(_ *jsonschema.CompilerContext, o map[string]any) (jsonschema.SchemaExt, error) {
		list, ok := o["x-distinct"].([]any)
		if !ok {
			return nil, nil
		}
		d := distinct{}
		for _, x := range list {
			d.fields = append(d.fields, fmt.Sprint(x))
		}
		return d, nil
	}})
	if err := c.AddResource("queue.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("queue.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	item := goodItems()["compensate"]
	if err := s.Validate(item); err != nil {
		t.Fatal(err)
	}
	item["remote_id"] = item["keep_remote_id"]
	if s.Validate(item) == nil {
		t.Error("the effect to keep can be named as the surplus")
	}
}

// Every item that is written is valid, in each format, with what the job declares for
// people in it.
func TestWrittenItemsAreValid(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Outputs.ConfirmNDJSON = true
	withState(w)
	w.in.Bound.Operations.LocalRef = []string{"entity", "email"}
	w.in.Bound.Redact.Fields = map[string]string{"email": redactMask}
	w.in.Bound.Types = map[string]rules.TypePolicy{"charge": {CompensateWith: "refund_charge", ProofValid: 2 * 3600e9,
		CompensateParameters: map[string]string{"charge": "remote_id", "why": "'duplicate'"},
		Describe:             rules.Describe{Effect: "money is taken", Truth: "psp", ClosesWhen: "a settled charge"}}}
	w.load()
	w.exec(`UPDATE items SET r_rid = 7, remote_id = 'ch-7b', keep_remote_id = 'ch-7a' WHERE queue = 'compensate'`)
	w.exec(`UPDATE items SET set_id = 1 WHERE reason = 'several_candidates'`)
	w.exec(`UPDATE items SET item_id = md5(item_id), case_id = md5(case_id)`)
	s := plainSchema(t, QueueSchema(w.in.Bound.Job))
	items := map[string]map[string]any{}
	for name, data := range files(t, w.deliver(w.build())) {
		if !strings.HasPrefix(name, "queues/") || !strings.HasSuffix(name, ".ndjson") {
			continue
		}
		for line := range strings.Lines(string(data)) {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("%s: %v\n%s", name, err, line)
			}
			item := doc.(object)
			items[fmt.Sprint(item["queue"], " ", item["operation_id"])] = item
		}
	}
	if len(items) != 7 {
		t.Fatalf("%d items", len(items))
	}
	for _, c := range []struct{ item, field, want string }{
		{"confirm op-1", "local_ref", `{"email":"****.org","entity":"order-1"}`},
		{"confirm op-1", "effects_seen", "1"},
		{"confirm op-1", "closes_when", `"a settled charge"`},
		{"confirm op-1", "next_state_final", "false"},
		{"requeue op-6", "local_ref", `{"email":null,"entity":"order-6"}`},
		{"requeue op-6", "effects_seen", "0"},
		{"requeue op-6", "effect", `"money is taken"`},
		{"requeue op-6", "truth", `"psp"`},
		{"requeue op-6", "proof_valid_until", `"2026-08-21T06:00:00Z"`},
		{"requeue op-6", "recheck", `"look again"`},
		{"requeue op-6", "because", `"so the rule says"`},
		{"requeue op-6", "recheck_key", `"k"`},
		{"requeue op-6", "recheck_since", `"2026-08-20T05:55:00Z"`},
		{"requeue op-6", "other_actions", `["review"]`},
		{"compensate op-7", "effects_seen", "2"},
		{"compensate op-7", "effect_remote_ids", `["ch-7a","ch-7b"]`},
		{"compensate op-7", "undo_keep", `["ch-7b","ch-7a"]`},
		{"compensate op-7", "business_operation", `"refund_charge"`},
		{"compensate op-7", "parameters", `{"charge":"ch-7b","why":"duplicate"}`},
		{"review op-5", "advice", `"amount: the operation is right"`},
		{"review op-5", "proof_valid_until", "null"},
		{"review op-8", "effects_seen", "null"},
		{"review op-8", "other_actions", "[]"},
		{"review ", "effects_seen", "1"},
		{"review op-5", "evidence", `[{"file":"operations.csv","record":5,"sha256":"` + strings.Repeat("11", 32) + `","side":"operations","source":"ledger"},{"file":"psp.csv.gz","record":5,"sha256":"` + strings.Repeat("22", 32) + `","side":"results","source":"psp"}]`},
	} {
		got, err := json.Marshal(items[c.item][c.field])
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s is %s, want %s", c.item, c.field, got, c.want)
		}
	}
	if got := items["requeue op-6"]["evidence"].([]any); len(got) != 1 {
		t.Errorf("evidence of the requeue: %v", got)
	}
	if n := len(items["compensate op-7"]["evidence"].([]any)); n != 3 {
		t.Errorf("the compensation rests on %d records, want the operation and both effects", n)
	}
	if n := len(items["review op-8"]["evidence"].([]any)); n != 2 {
		t.Errorf("the unresolved set shows %d records of 2", n)
	}
	var parquet int64
	if err := w.db.Scan(t.Context(), "SELECT count(*) FROM read_parquet("+duck.Literal(w.lastDir+"/queues/requeue.parquet")+") WHERE local_ref['entity'] = 'order-6' AND evidence[1].record = 6", &parquet); err != nil || parquet != 1 {
		t.Errorf("the requeue in Parquet: %d, %v", parquet, err)
	}
}

// An item whose ids are redacted says so, and is valid all the same: nobody is to act
// on it. What is redacted for people alone hides nothing.
func TestRedactedIDsAreHidden(t *testing.T) {
	for field, want := range map[string]string{
		"idempotency_key": "compensate false, confirm false, requeue true, review false",
		"remote_id":       "compensate true, confirm false, requeue false, review false",
		"operation_id":    "compensate true, confirm true, requeue true, review false",
		"state":           "compensate true, confirm true, requeue true, review false",
		"email":           "compensate false, confirm false, requeue false, review false",
	} {
		for _, how := range []string{redactToken, redactMask, redactDrop} {
			w := newWorld(t)
			w.in.Bound.Redact.Fields = map[string]string{field: how}
			withState(w)
			w.load()
			w.exec(`UPDATE items SET item_id = md5(item_id), case_id = md5(case_id)`)
			w.exec(`UPDATE items SET r_rid = 7, remote_id = 'ch-7b', keep_remote_id = 'ch-7a' WHERE queue = 'compensate'`)
			out := files(t, w.deliver(w.build()))
			s := plainSchema(t, QueueSchema(nil))
			for name, data := range out {
				if !strings.HasPrefix(name, "queues/") || !strings.HasSuffix(name, ".ndjson") {
					continue
				}
				for line := range strings.Lines(string(data)) {
					doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
					if err != nil {
						t.Fatal(err)
					}
					if err := s.Validate(doc); err != nil {
						t.Errorf("%s %s: %v\n%s", field, how, err, line)
					}
				}
			}
			var got string
			if err := w.db.Scan(t.Context(), `SELECT string_agg(DISTINCT queue || ' ' || hidden, ', ' ORDER BY queue || ' ' || hidden)
FROM (SELECT queue, hidden FROM report_items WHERE queue <> 'confirm' UNION ALL SELECT queue, hidden FROM report_items_confirm)`, &got); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s %s: %s, want %s", field, how, got, want)
			}
		}
	}
}
