package extract

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// effectsJob has results whose records are parts of effects.
const effectsJob = `job: effects
operations: {path: o.csv, fields: {operation_id: id, amount: {type: decimal}, currency: {type: currency}}}
results:
  path: r.csv
  coverage: {from: "2031-03-10", until: "2031-03-11"}
  known: {columns: [id, kind, note], values: {kind: [charge, reversal, fee, leg, step, early]}}
  effects:
    by: [remote_id]
    role: kind
    main: [charge]
    parts:
      - {role: reversal, add: {amount: amount, net: net}}
      - {role: fee, add: {amount: fee}}
      - {role: leg, add: {amount: converted}, other_currency: trace}
      - {role: step}
      - {role: early}
  ties: [{total: net, plus: [amount], minus: [cost]}]
  zero_sums: [{field: net, per: [currency]}]
  fields:
    operation_id: op
    remote_id: id
    kind: kind
    amount: {column: amount, type: decimal}
    written: {column: amount, type: decimal}
    fee: {type: decimal, sum_of_parts: true}
    converted: {type: decimal, sum_of_parts: true}
    cost: {type: decimal}
    net: {type: decimal}
    currency: {type: currency}
match: [{pass: operation_id, on: [operation_id], identity: true}]
compare: [{field: amount}, {field: currency}]
`

const effectsHeader = "id,op,kind,amount,cost,net,currency\n"

// loadEffects stages one file of results and shows each staged row.
func loadEffects(t *testing.T, job, data string) (*Relation, []string, error) {
	t.Helper()
	j, err := rules.Parse([]byte(job), "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := j.Bind("2031-03-10", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r.csv"), []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	stage, err := os.MkdirTemp(scratch.dir, "stage")
	if err != nil {
		t.Fatal(err)
	}
	rel, err := Load(context.Background(), scratch.db, bound, rules.Results, Options{StageDir: stage, BaseDir: dir})
	if err != nil {
		return nil, nil, err
	}
	var rows []string
	q := "SELECT rec, coalesce(f_remote_id, '-'), coalesce(f_amount, '-'), coalesce(f_written, '-'), coalesce(f_fee, '-'), coalesce(f_converted, '-'), bad FROM " +
		rel.Layout.Relation(rel.Files[0].Staged) + " ORDER BY rec"
	result, err := scratch.db.Query(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for result.Next() {
		var rec, bad int64
		var id, amount, written, fee, converted string
		if err := result.Scan(&rec, &id, &amount, &written, &fee, &converted, &bad); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%d %s %s (%s) fee %s converted %s", rec, id, amount, written, fee, converted)
		if bad != 0 {
			text += " bad"
		}
		rows = append(rows, text)
	}
	return rel, rows, result.Err()
}

// T18: several records are one effect. Its main record has the sums, wherever it
// stands in the file; the parts keep what they wrote beside; totals stay as they
// were; every record is a row.
func TestT18PartsOfOneEffect(t *testing.T) {
	data := effectsHeader +
		"c1,op-1,reversal,-40.00,,,EUR\n" + // before its charge
		"c1,op-1,charge,100.00,,,EUR\n" +
		"c1,op-1,reversal,-10.00,,,EUR\n" +
		"c1,,fee,-1.25,,,EUR\n" +
		"c2,op-2,charge,20.00,,,EUR\n" +
		"c2,op-2,leg,-20.00,,,EUR\n" +
		"c2,op-2,leg,22.00,,,USD\n" + // the other side of a conversion adds nothing
		"c3,op-3,reversal,-5.00,,,EUR\n" + // its charge is in another file
		"c4,op-4,charge,7.00,,,EUR\n" +
		"c4,op-4,early,7.00,,,EUR\n" + // steps of a payment: the charge stands for it
		"c5,op-5,early,8.00,,,EUR\n" + // … and without one the later step
		"c5,op-5,step,8.00,,,EUR\n" +
		",op-6,fee,-3.00,,,EUR\n" // a part of nothing
	rel, rows, err := loadEffects(t, effectsJob, data)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 - - (-40) fee - converted -",
		"2 c1 50 (100) fee -1.25 converted -",
		"3 - - (-10) fee - converted -",
		"4 - - (-1.25) fee - converted -",
		"5 c2 20 (20) fee - converted -20",
		"6 - - (-20) fee - converted -",
		"7 c2 22 (22) fee - converted -",
		"8 c3 -5 (-5) fee - converted -",
		"9 c4 7 (7) fee - converted -",
		"10 - 7 (7) fee - converted -",
		"11 - 8 (8) fee - converted -",
		"12 c5 8 (8) fee - converted -",
		"13 - -3 (-3) fee - converted -",
	}
	if got, want := strings.Join(rows, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("rows:\n%s\nwant:\n%s", got, want)
	}
	if rel.Records != 13 || len(rel.Rejects) != 0 {
		t.Errorf("%d records, %d rejects", rel.Records, len(rel.Rejects))
	}
	// What went to other fields than the amount is in no total of amounts.
	for _, total := range rel.Totals {
		if want := map[string]string{"EUR": "92", "USD": "22"}[total.Currency]; ratText(total.Sum) != want {
			t.Errorf("%s sums to %s, want %s", total.Currency, ratText(total.Sum), want)
		}
	}
}

func TestEffectsRefused(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"two main records", "c1,op-1,charge,100.00,,,EUR\nc1,op-1,charge,90.00,,,EUR\nc1,op-1,reversal,-40.00,,,EUR\n",
			"r.csv: record 3 is part of an effect: records 1 and 2 could both stand for it"},
		{"another currency", "c1,op-1,charge,100.00,,,EUR\nc1,op-1,reversal,-40.00,,,USD\n",
			"r.csv: record 2 is part of an effect: record 2 is a part of it in another currency"},
		{"a broken equation", "c1,op-1,charge,100.00,3.00,97.00,EUR\nc2,op-2,charge,100.00,3.00,96.00,EUR\nc3,,charge,1,0,-193,EUR\n",
			"r.csv: record 2: net is not amount − cost; so it is in 2 records"},
		{"a sum that is not zero", "c1,op-1,charge,100.00,,100.00,EUR\nc2,,fee,,,-99.99,EUR\n",
			"r.csv: the sum of net is 0.01 over 2 records, it must be zero for each currency"},
		{"a sum that is not zero for one currency", "c1,op-1,charge,,,100.00,EUR\nc2,,charge,,,-100.00,EUR\nc3,,charge,,,100,USD\nc4,,charge,,,-99.99,USD\n",
			"r.csv: the sum of net is 0.01 over 2 records, it must be zero for each currency"},
	} {
		_, _, err := loadEffects(t, effectsJob, effectsHeader+c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// A part that cannot be read makes the effect unreadable, not smaller.
func TestUnreadablePart(t *testing.T) {
	_, rows, err := loadEffects(t, effectsJob, effectsHeader+"c1,op-1,charge,100.00,,,EUR\nc1,op-1,reversal,4O.00,,,EUR\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "1 c1 - (100) fee - converted - bad|2 - - (-) fee - converted - bad"
	if got := strings.Join(rows, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// T3 and T25: a column or a kind that is not known is said aloud; a kind withdraws
// the coverage of its source.
func TestT25UnknownKindsAndColumns(t *testing.T) {
	for _, c := range []struct {
		name, data string
		codes      []string
		complete   bool
	}{
		{"all known", effectsHeader + "c1,op-1,charge,1,,,EUR\n", nil, true},
		{"a new column", "extra," + effectsHeader + "x,c1,op-1,charge,1,,,EUR\n", []string{"unknown_column"}, true},
		{"other order", "currency,net,cost,amount,kind,op,id\nEUR,,,1,charge,op-1,c1\n", nil, true},
		{"a new kind", effectsHeader + "c1,op-1,bonus,1,,,EUR\n", []string{"unknown_kind", "coverage_withdrawn"}, false},
		{"no kind", effectsHeader + "c1,op-1,,1,,,EUR\n", []string{"unknown_kind", "coverage_withdrawn"}, false},
	} {
		rel, _, err := loadEffects(t, effectsJob, c.data)
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, f := range rel.Findings {
			codes = append(codes, f.Code)
		}
		if strings.Join(codes, " ") != strings.Join(c.codes, " ") {
			t.Errorf("%s: %v", c.name, rel.Findings)
		}
		if covered := len(rel.Coverage) > 0 && rel.Coverage[0].Until > rel.Coverage[0].From; covered != c.complete {
			t.Errorf("%s: covered %v, want %v: %+v", c.name, covered, c.complete, rel.Coverage)
		}
	}
}

// Decimals add exactly, to the last digit that fits.
func TestPlus(t *testing.T) {
	form := decimalForm{mark: '.'}
	read := func(s string) dec {
		d, ok := form.parse([]byte(s))
		if !ok {
			t.Fatal(s)
		}
		return d
	}
	nines := strings.Repeat("9", 38)
	for _, c := range [][3]string{
		{"1.5", "2.50", "4"}, {"1.5", "-1.5", "0"}, {"0.1", "0.02", "0.12"}, {"-7", "10", "3"}, {nines, "-1", nines[:37] + "8"},
		{nines, "1", ""}, {nines, "0.1", ""}, {"-" + nines, "-1", ""}, {"0", "0", "0"},
		{"12345678901234567890.5", "0.5", "12345678901234567891"},
	} {
		got, ok := read(c[0]).plus(read(c[1]))
		if ok != (c[2] != "") || ok && (got.String() != c[2] || got != read(c[2])) {
			t.Errorf("%s + %s = %s (%v), want %s", c[0], c[1], got, ok, c[2])
		}
	}
}
