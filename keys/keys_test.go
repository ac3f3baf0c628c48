package keys

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/rules"
)

const worldJob = `job: world
operations:
  path: ops.csv
  fields:
    operation_id: {column: id, normalise: [trim, ignore_case]}
    provider_ref: {column: ref}
    seq_no: {column: seq}
    legacy_id: {column: legacy}
    entity: {column: customer, placeholders: ["-"]}
    amount: {column: amount, type: decimal, scale: 2}
    currency: {column: currency, type: currency}
    created_at: {column: day, type: date}
results:
  path: res.csv
  fields:
    remote_id: {column: remote}
    operation_id: {column: id, normalise: [trim, ignore_case]}
    seq_no: {column: seq}
    legacy_id: {column: legacy}
    entity: {column: customer, placeholders: ["-"]}
    amount: {column: amount, type: decimal, scale: 2}
    currency: {column: currency, type: currency}
    created_at: {column: day, type: date}
match:
  - {pass: operation_id, on: [operation_id], identity: true}
  - {pass: business, on: [entity, currency, amount], within: {created_at: 1d}}
  - {pass: batch, group: [created_at], same: [currency], sum: amount}
outputs: {dir: out}
`

// row has the canonical values of the fields of one record, "" where a key links nothing.
type row map[string]string

// world writes both files of n operations and returns what stands in them.
func world(t *testing.T, dir string, n int, seed uint64) (ops, res []row) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	start := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	day := func(i int) string { return start.AddDate(0, 0, i).Format(time.DateOnly) }
	var o, p strings.Builder
	o.WriteString("id,ref,seq,legacy,customer,amount,currency,day\n")
	p.WriteString("remote,id,seq,legacy,customer,amount,currency,day\n")
	line := func(b *strings.Builder, x row, fields ...string) {
		var cells []string
		for _, f := range fields {
			text := x[f]
			switch {
			case f == "operation_id" && text != "" && r.IntN(2) == 0:
				text = " " + strings.ToUpper(text) + " "
			case f == "amount" && strings.HasSuffix(text, "0") && r.IntN(2) == 0:
				text = strings.TrimSuffix(text, "0")
			case f == "entity" && text == "":
				text = "-" // a declared placeholder
			}
			cells = append(cells, text)
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	for i := range n {
		currency := []string{"EUR", "USD"}[i%2]
		d := r.IntN(20)
		x := row{"operation_id": fmt.Sprintf("op-%d", i), "seq_no": fmt.Sprint(1000 + i/2), "legacy_id": fmt.Sprintf("L%d", i),
			"entity": fmt.Sprintf("c%d", r.IntN(n/4)), "amount": fmt.Sprintf("%d.%02d", r.IntN(40)+1, 10*r.IntN(10)), "currency": currency, "created_at": day(d)}
		remote := fmt.Sprintf("rx%d", i)
		switch k := r.IntN(100); {
		case k < 60:
			x["provider_ref"] = remote
		case k < 70:
			x["provider_ref"] = "N/A"
		}
		if r.IntN(30) == 0 {
			x["entity"] = ""
		}
		y := row{"remote_id": remote, "operation_id": x["operation_id"], "seq_no": x["seq_no"], "entity": x["entity"], "amount": x["amount"],
			"currency": currency, "created_at": day(d + r.IntN(3))}
		if k := r.IntN(100); k < 20 {
			y["operation_id"] = ""
		} else if k < 22 {
			y["operation_id"] = fmt.Sprintf("op-%d", r.IntN(n)) // of another operation
		}
		if r.IntN(20) > 0 {
			ops = append(ops, x)
			line(&o, x, "operation_id", "provider_ref", "seq_no", "legacy_id", "entity", "amount", "currency", "created_at")
		}
		if r.IntN(20) > 0 {
			res = append(res, y)
			line(&p, y, "remote_id", "operation_id", "seq_no", "legacy_id", "entity", "amount", "currency", "created_at")
		}
	}
	for name, text := range map[string]string{"ops.csv": o.String(), "res.csv": p.String(), "job.yaml": worldJob} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ops, res
}

func measureWorld(t *testing.T, dir string, o pipeline.Options) *Report {
	t.Helper()
	job, err := rules.Load(filepath.Join(dir, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o.Job, o.BusinessDate = job, "2026-08-20"
	rep, err := Measure(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// stands are the rows under each value of a key, on both sides; free says which rows are looked at.
func stands(k Key, sides [2][]row, free func(s, i int) bool) map[string][2][]int {
	out := map[string][2][]int{}
	for s, rows := range sides {
	next:
		for i, x := range rows {
			var parts []string
			for _, p := range k.On {
				text := x[[]string{p.Operations, p.Results}[s]]
				if text == "" {
					continue next
				}
				parts = append(parts, text)
			}
			if k.Group {
				parts = append(parts, x["currency"])
			}
			if !free(s, i) {
				continue
			}
			at := strings.Join(parts, "\x00")
			v := out[at]
			v[s] = append(v[s], i)
			out[at] = v
		}
	}
	return out
}

// linked are the pairs of rows whose value stands once on each side: operation → result.
func linked(t *testing.T, k Key, sides [2][]row, free func(s, i int) bool) map[int]int {
	out := map[int]int{}
	for _, v := range stands(k, sides, free) {
		if len(v[0]) != 1 || len(v[1]) != 1 {
			continue
		}
		if k.Pass == "business" && apart(t, sides[0][v[0][0]], sides[1][v[1][0]]) > 24*time.Hour {
			continue
		}
		out[v[0][0]] = v[1][0]
	}
	return out
}

func apart(t *testing.T, a, b row) time.Duration {
	x, err := time.Parse(time.DateOnly, a["created_at"])
	y, err2 := time.Parse(time.DateOnly, b["created_at"])
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return y.Sub(x).Abs()
}

func all(int, int) bool { return true }

func fields(k Key) (out []string) {
	for _, p := range k.On {
		out = append(out, p.Operations+"="+p.Results)
	}
	return out
}

// sameFields: every field of one key is one of the other.
func sameFields(a, b Key) bool {
	within := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(f string) bool { return !slices.Contains(y, f) })
	}
	return within(fields(a), fields(b)) || within(fields(b), fields(a))
}

// TestNumbers counts every number of the report again, in plain Go over what the files hold.
func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	ops, res := world(t, dir, 3000, 7)
	sides := [2][]row{ops, res}
	rep := measureWorld(t, dir, pipeline.Options{})
	if rep.Operations != int64(len(ops)) || rep.Results != int64(len(res)) {
		t.Fatalf("%d and %d rows, there are %d and %d", rep.Operations, rep.Results, len(ops), len(res))
	}
	links := map[string]map[int]int{}
	for _, k := range rep.Keys {
		if k.Compared {
			links[k.Name] = linked(t, k, sides, all)
		}
	}
	examples := 0
	for _, k := range rep.Keys {
		want := Key{Name: k.Name, Pass: k.Pass, On: k.On, Identity: k.Identity, Suggest: k.Suggest, Group: k.Group, Compared: k.Compared, Examples: k.Examples, of: k.of}
		want.Operations.Rows, want.Results.Rows = rep.Operations, rep.Results
		for _, v := range stands(k, sides, all) {
			for s, side := range []*Side{&want.Operations, &want.Results} {
				n := int64(len(v[s]))
				side.Filled, side.Most = side.Filled+n, max(side.Most, n)
				side.Distinct += min(n, 1)
				if n == 1 {
					side.Unique++
				}
			}
			switch o, r := len(v[0]), len(v[1]); {
			case o == 0 || r == 0:
				continue
			case o == 1 && r > 1:
				want.Several++
			case o > 1:
				want.SharedOperations += int64(o)
			}
			want.Common++
		}
		want.Linked = int64(len(linked(t, k, sides, all)))
		only := []int{}
		for o, r := range links[k.Name] {
			alone := true
			for _, d := range rep.Keys {
				if other, ok := links[d.Name][o]; ok && !sameFields(k, d) {
					alone = false
					want.Also++
					if other == r {
						want.Agree++
					}
				}
			}
			if alone {
				only = append(only, o)
			}
		}
		want.Only = int64(len(only))
		if !reflect.DeepEqual(k, want) {
			t.Errorf("%s is\n%+v, want\n%+v", k.Name, k, want)
		}
		slices.Sort(only)
		examples += len(only)
		if n := min(len(only), maxExamples); len(k.Examples) != n {
			t.Fatalf("%s has %d examples, want %d", k.Name, len(k.Examples), n)
		}
		for i, e := range k.Examples {
			o := only[i]
			r := links[k.Name][o]
			if !strings.EqualFold(strings.TrimSpace(e.Operation.ID), ops[o]["operation_id"]) || e.Operation.File != "ops.csv" || e.Operation.Record != int64(o)+1 ||
				e.Result != (Place{res[r]["remote_id"], "res.csv", int64(r) + 1}) {
				t.Errorf("%s: example %+v, want operation %d and result %d", k.Name, e, o, r)
			}
		}
	}
	none := rep.Operations
	for o := range ops {
		for _, k := range rep.Keys {
			if _, ok := links[k.Name][o]; ok {
				none--
				break
			}
		}
	}
	if rep.LinkedByNone != none || none == 0 || examples == 0 {
		t.Errorf("%d operations are linked by none, want %d; %d by one key alone", rep.LinkedByNone, none, examples)
	}
	for _, list := range [][]Step{rep.Declared, rep.Suggested} {
		checkCascade(t, rep, list, sides)
	}
}

// checkCascade plays the steps in plain Go.
func checkCascade(t *testing.T, rep *Report, list []Step, sides [2][]row) {
	t.Helper()
	claimed := [2]map[int]bool{{}, {}}
	for _, step := range list {
		i := slices.IndexFunc(rep.Keys, func(k Key) bool { return k.Name == step.Key })
		links := linked(t, rep.Keys[i], sides, func(s, i int) bool { return !claimed[s][i] })
		for o, r := range links {
			claimed[0][o], claimed[1][r] = true, true
		}
		if free := int64(len(sides[0]) - len(claimed[0])); step.Linked != int64(len(links)) || step.Free != free {
			t.Errorf("%s links %d and leaves %d, want %d and %d", step.Key, step.Linked, step.Free, len(links), free)
		}
	}
}

// TestEvidence: the keys that the files were made with are found, and what is wrong with
// the others is said.
func TestEvidence(t *testing.T) {
	dir := t.TempDir()
	world(t, dir, 3000, 7)
	rep := measureWorld(t, dir, pipeline.Options{})
	if k := rep.Keys; k[0].Name != "operation_id" || k[1].Name != "business" || k[2].Name != "batch" || !k[2].Group || k[2].Compared {
		t.Errorf("the declared passes do not come first: %v", names(k))
	}
	for _, want := range []string{"provider_ref = remote_id", "seq_no", "seq_no + currency", "legacy_id"} {
		if !slices.Contains(names(rep.Keys), want) && !slices.Contains(names(rep.Keys), reversed(want)) {
			t.Errorf("%s is no candidate: %v", want, names(rep.Keys))
		}
	}
	if n := len(rep.Suggested); n < 2 || rep.Suggested[0].Linked < rep.Suggested[n-1].Linked || rep.Suggested[n-1].Free >= rep.Declared[len(rep.Declared)-1].Free {
		t.Errorf("suggested: %+v; declared: %+v", rep.Suggested, rep.Declared)
	}
	for _, want := range []Warning{
		{CodePlaceholder, "provider_ref = remote_id", rules.Operations, `"N/A" stands in `},
		{CodeOneSide, "legacy_id", rules.Operations, "only 0 of "},
		{CodeNearUnique, "operation_id", rules.Results, "share it with another row"},
		{CodeScope, "seq_no", rules.Operations, "differ in `currency`"},
		{CodeScope, "seq_no", rules.Results, "differ in `currency`"},
	} {
		if !slices.ContainsFunc(rep.Warnings, func(w Warning) bool {
			return w.Code == want.Code && w.Key == want.Key && w.Side == want.Side && strings.Contains(w.Text, want.Text)
		}) {
			t.Errorf("no warning %+v in %+v", want, rep.Warnings)
		}
	}
	for _, step := range slices.Concat(rep.Suggested, rep.Declared) {
		before, _, _ := strings.Cut(worldJob, "match:")
		text := before + "match:\n  - " + step.Pass + "\noutputs: {dir: out}\n"
		if _, err := rules.Parse([]byte(text), "job.yaml"); err != nil {
			t.Errorf("%s is no pass of a job: %v", step.Pass, err)
		}
	}
}

func names(list []Key) (out []string) {
	for _, k := range list {
		out = append(out, k.Name)
	}
	return out
}

func reversed(name string) string {
	parts := strings.Split(name, " + ")
	slices.Reverse(parts)
	return strings.Join(parts, " + ")
}

// TestNothingIsLeft: neither threads nor memory change a number, and no file is written.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	world(t, dir, 3000, 11)
	t.Setenv("TMPDIR", t.TempDir())
	one := measureWorld(t, dir, pipeline.Options{Threads: 1})
	two := measureWorld(t, dir, pipeline.Options{Threads: 4, Memory: 640 << 20})
	if !reflect.DeepEqual(one, two) {
		t.Error("other threads and less memory give other numbers")
	}
	for of, want := range map[string]int{dir: 3, os.TempDir(): 0} {
		list, err := os.ReadDir(of)
		if err != nil || len(list) != want {
			t.Errorf("%d files are in %s afterwards, %d before (%v)", len(list), of, want, err)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{48 * time.Hour: "2d", 36 * time.Hour: "36h", 90 * time.Minute: "1h30m", 15 * time.Minute: "15m", 90 * time.Second: "1m30s"} {
		if got := durationText(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
