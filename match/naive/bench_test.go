package naive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// A bench is a small world written as two tables of text, staged in memory. It
// is a second, simple reading of extract.Layout: what the tests say does not
// hang on the extraction.
type bench struct {
	job *rules.Job
	in  Input
}

// day is the reference time of the benches.
var day = time.Date(2031, 6, 11, 4, 0, 0, 0, time.UTC)

// newJob is a job with two identity passes and a business pass, one type of
// operation with windows, and complete coverage on both sides.
func newJob() *rules.Job {
	text := func(names ...string) (out []rules.Field) {
		for _, n := range names {
			out = append(out, rules.Field{Name: n, Type: rules.Text})
		}
		return out
	}
	typed := func(t rules.FieldType, names ...string) (out []rules.Field) {
		for _, n := range names {
			out = append(out, rules.Field{Name: n, Type: t, Scale: -1})
		}
		return out
	}
	key := func(names ...string) (out []rules.KeyPart) {
		for _, n := range names {
			out = append(out, rules.KeyPart{Operations: n, Results: n})
		}
		return out
	}
	open := []string{"pending", "processing", "awaiting_confirmation", "retry_scheduled"}
	policy := rules.TypePolicy{
		Type: "charge", HasWindow: true, Expected: 15 * time.Minute, Deadline: 6 * time.Hour,
		Idempotent: true, KeyTTL: 24 * time.Hour, MaxAttempts: 5, MaxDuration: 20 * time.Hour,
		Backoff:        rules.Backoff{Initial: 10 * time.Second, Factor: 3, Max: time.Hour, Jitter: 0.2},
		CompensateWith: "refund_charge",
	}
	voucher, email := policy, policy
	voucher.CompensateWith = ""
	email.Idempotent = false
	job := &rules.Job{
		Name: "bench", Zone: time.UTC, ClockSkew: 5 * time.Minute,
		Match: []rules.Pass{
			{Name: "operation_id", On: key("operation_id"), Identity: true},
			{Name: "idempotency_key", On: key("idempotency_key"), Identity: true},
			{Name: "business_key", On: key("entity", "currency", "amount"), Within: []rules.Within{{Field: "created_at", Max: 48 * time.Hour}}},
		},
		Compare: []rules.Compare{
			{Name: "amount", Operations: "amount", Results: "amount", As: rules.AsDecimal},
			{Name: "currency", Operations: "currency", Results: "currency", As: rules.AsText},
			{Name: "version", Operations: "version", Results: "version", As: rules.AsVersion, Scheme: rules.VersionInteger},
			{Name: "status", Results: "status", As: rules.AsStatus, Expect: rules.Succeeded},
		},
		Types: map[string]rules.TypePolicy{"charge": policy, "refund": policy, "voucher": voucher, "email": email},
		States: rules.States{
			All:   append(slices.Clone(open), "confirmed", "manual_review", "compensated", "not_applicable"),
			Final: []string{"confirmed", "compensated", "not_applicable", "cancelled", "superseded"},
			Transitions: map[string][]string{
				"confirmed":       append(slices.Clone(open), "manual_review"),
				"retry_scheduled": open, "not_applicable": open, "compensated": append(slices.Clone(open), "confirmed", "manual_review"),
			},
		},
	}
	job.Operations = rules.SideSpec{
		Side:    rules.Operations,
		Sources: []rules.Source{{Name: "db", Coverage: rules.Coverage{Complete: true}}},
		Fields: slices.Concat(
			text("operation_id", "idempotency_key", "type", "entity", "state", "currency", "error_class"),
			typed(rules.Integer, "version", "attempts"), typed(rules.Decimal, "amount"),
			typed(rules.Timestamp, "created_at", "first_failed_at", "last_attempt_at", "lease_until"),
		),
	}
	job.Results = rules.SideSpec{
		Side:    rules.Results,
		Sources: []rules.Source{{Name: "psp", Coverage: rules.Coverage{Complete: true}}},
		Fields: slices.Concat(
			text("operation_id", "idempotency_key", "remote_id", "type", "entity", "currency", "kind"),
			typed(rules.Integer, "version"), typed(rules.Decimal, "amount"), typed(rules.Timestamp, "created_at"),
			[]rules.Field{{Name: "status", Type: rules.Text, Map: map[string]rules.Status{
				"settled": rules.Succeeded, "refused": rules.Failed, "processing": rules.Pending,
				"uncertain": rules.Unknown, "charged_back": rules.Reversed,
			}}},
		),
	}
	return job
}

// newBench stages the two tables: a header line of product fields, then rows.
// Columns that the job does not declare belong to the record all the same (V4).
// A leading "!" makes a value unreadable; "EARLY|LATE" is a local time that
// exists twice, "never" one that the zone skips.
func newBench(job *rules.Job, operations, results string) *bench {
	b := &bench{job: job}
	b.in = Input{
		Job:                &rules.Bound{Job: job, AsOfTime: day},
		OperationsCoverage: []extract.Interval{{Complete: true, Proves: rules.FullLifecycle}},
		ResultsCoverage:    []extract.Interval{{Complete: true, Proves: rules.FullLifecycle}},
	}
	b.in.Operations = b.stage(rules.Operations, operations)
	b.in.Results = b.stage(rules.Results, results)
	return b
}

func (b *bench) stage(side rules.Side, table string) []Row {
	records, err := csv.NewReader(strings.NewReader(strings.TrimSpace(table))).ReadAll()
	if err != nil {
		panic(err)
	}
	var out []Row
	for i, rec := range records[min(1, len(records)):] {
		cells := map[string]string{}
		for j, name := range records[0] {
			cells[name] = rec[j]
		}
		out = append(out, b.row(side, int64(i+1), cells))
	}
	return out
}

func (b *bench) row(side rules.Side, rec int64, cells map[string]string) Row {
	spec := b.job.Spec(side)
	v := map[string]any{}
	var bad, amb uint64
	for i, f := range spec.Fields {
		text := cells[f.Name]
		switch {
		case text == "":
		case strings.HasPrefix(text, "!"):
			bad |= 1 << i
		case text == "never":
			amb |= 1 << i
		case strings.Contains(text, "|"):
			early, late, _ := strings.Cut(text, "|")
			v["f_"+f.Name], v["late_"+f.Name] = instant(early), instant(late)
			amb |= 1 << i
		default:
			v["f_"+f.Name] = typedValue(f.Type, text)
		}
		if f.Map != nil {
			v["st"] = string(rules.Unmapped)
			if s, ok := f.Map[text]; ok {
				v["st"] = string(s)
			}
		}
	}
	v["bad"], v["amb"] = bad, amb
	for i, p := range b.job.Match {
		if key, ok := keyOf(side, p, v); ok {
			v[fmt.Sprintf("k%d", i)] = key
		}
	}
	id := "remote_id"
	if side == rules.Operations {
		id = "operation_id"
	}
	if x, ok := v["f_"+id].(string); ok {
		v["kx"] = x
	}
	var whole []string
	for name, text := range cells {
		if !slices.Contains(spec.TransportColumns, name) && text != "" {
			whole = append(whole, fmt.Sprintf("%q=%q", name, text))
		}
	}
	slices.Sort(whole)
	sum := sha256.Sum256([]byte(strings.Join(whole, ",")))
	v["w1"], v["w2"] = binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])
	return Row{RID: rec, Rec: rec, V: v}
}

func keyOf(side rules.Side, p rules.Pass, v map[string]any) (string, bool) {
	var parts []string
	for _, part := range p.On {
		name := part.Operations
		if side == rules.Results {
			name = part.Results
		}
		x := v["f_"+name]
		if x == nil && !part.Nullable {
			return "", false
		}
		parts = append(parts, fmt.Sprintf("%q", fmt.Sprint(x)))
	}
	return strings.Join(parts, ","), true
}

func typedValue(t rules.FieldType, text string) any {
	switch t {
	case rules.Decimal, rules.Integer:
		d, _, err := apd.NewFromString(text)
		if err != nil {
			panic(err)
		}
		d.Reduce(d)
		return d
	case rules.Timestamp:
		return instant(text)
	case rules.Date:
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			panic(err)
		}
		return d.Unix() / (24 * 60 * 60)
	}
	return text
}

func instant(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t, err = time.Parse("02T15:04", text) // day of the month of the benches
		if err != nil {
			panic(err)
		}
		t = t.AddDate(2031-t.Year(), 5, 0)
	}
	return t.UnixMicro()
}

// rule is an expression over fields of the benches.
func rule(text string) *rules.Expr {
	e, err := rules.ParseExpr(text, map[string]rules.FieldType{
		"state": rules.Text, "attempts": rules.Integer, "kind": rules.Text, "entity": rules.Text,
	})
	if err != nil {
		panic(err)
	}
	return e
}

func (b *bench) run(t *testing.T) *Outcome {
	t.Helper()
	out, err := Run(b.in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// line is one verdict as the tests write it: row, class/reason, partners, fields.
func line(side string, id int64, v Verdict) string {
	var partners []string
	for _, p := range v.Partners {
		partners = append(partners, fmt.Sprint(p))
	}
	s := fmt.Sprintf("%s%d %s/%s %s %s", side, id, v.Class, v.Reason, strings.Join(partners, ";"), strings.Join(v.Fields, ";"))
	return strings.Join(strings.Fields(s), " ")
}

func (o *Outcome) lines() string {
	var out []string
	for _, s := range []struct {
		name string
		rows map[int64]Verdict
	}{{"o", o.Operations}, {"r", o.Results}} {
		var ids []int64
		for id := range s.rows {
			ids = append(ids, id)
		}
		for _, id := range sorted(ids) {
			out = append(out, line(s.name, id, s.rows[id]))
		}
	}
	return strings.Join(out, "\n")
}

// expect compares all verdicts with the table of lines.
func (b *bench) expect(t *testing.T, want string) *Outcome {
	t.Helper()
	out := b.run(t)
	var lines []string
	for _, l := range strings.Split(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	if got := out.lines(); got != strings.Join(lines, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
	return out
}
