package rules

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

var impliesFields = []Field{{Name: "kind", Type: Text, Scale: -1}, {Name: "n", Type: Integer, Scale: 0}, {Name: "open", Type: Boolean}}

func TestImplies(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"n > 5", "n > 1", true}, {"n > 1", "n > 5", false}, {"n >= 1", "n > 1", false}, {"n > 1", "n >= 1", true}, {"n < 1", "n <= 1", true},
		{"n <= 1", "n < 1", false}, {"n = 3", "n > 1", true}, {"n = 1", "n > 1", false}, {"n > 1", "n <> 1", true}, {"n >= 1", "n <> 1", false},
		{"n > 1 AND kind = 'a'", "n > 1", true}, {"n > 1", "n > 1 AND kind = 'a'", false}, {"kind = 'a'", "kind IN ('a', 'b')", true},
		{"kind IN ('a', 'c')", "kind IN ('a', 'b')", false}, {"kind IN ('a', 'b')", "kind = 'a' OR kind = 'b'", true},
		{"kind = 'a'", "n > 1 OR kind = 'a'", true}, {"kind = 'a' OR n > 3", "n > 1 OR kind = 'a'", true}, {"kind = 'a' OR n > 0", "n > 1 OR kind = 'a'", false},
		{"kind = 'a'", "kind <> 'b'", true}, {"kind = 'a'", "kind NOT IN ('b', 'c')", true}, {"kind <> 'a'", "kind = 'b'", false}, {"kind = 'a'", "lower(kind) = 'a'", false},
		{"open AND n > 2", "open", true}, {"NOT open", "open", false}, {"kind IS NULL", "kind = 'a'", false}, {"n > 1 AND n < 5", "n < 9", true},
	} {
		a, b := condition(t, c.a), condition(t, c.b)
		if got := implies(a.root, b.root); got != c.want {
			t.Errorf("%s implies %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func condition(t *testing.T, text string) *Expr {
	t.Helper()
	e, err := ParseExprOver(text, impliesFields)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// Whatever is called implied is: no row fits the one without fitting the other.
func TestImpliedRulesAreNeverReached(t *testing.T) {
	var atoms []string
	for _, v := range []int{1, 2, 3} {
		for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
			atoms = append(atoms, fmt.Sprintf("n %s %d", op, v))
		}
	}
	atoms = append(atoms, "kind = 'a'", "kind <> 'a'", "kind IN ('a', 'b')", "kind NOT IN ('a', 'b')", "kind IS NULL", "kind IS NOT NULL", "open", "NOT open", "NOT n > 2", "n IN (1, 3)", "n NOT IN (2)")
	all := append([]string{}, atoms...)
	for i, a := range atoms {
		for _, b := range atoms[i+1:] {
			if (i+len(b))%3 == 0 { // a third of the pairs is enough of each form
				all = append(all, a+" AND "+b, a+" OR "+b, "NOT ("+a+" AND "+b+")")
			}
		}
	}
	var rows []map[string]any
	for _, kind := range []any{nil, "a", "b", "c"} {
		for _, n := range []any{nil, 0, 1, 2, 3, 4} {
			for _, open := range []any{nil, true, false} {
				row := map[string]any{"kind": kind, "open": open, "n": nil}
				if v, ok := n.(int); ok {
					row["n"] = apd.New(int64(v), 0)
				}
				rows = append(rows, row)
			}
		}
	}
	fits := make([][]bool, len(all))
	exprs := make([]*Expr, len(all))
	for i, text := range all {
		exprs[i] = condition(t, text)
		for _, row := range rows {
			yes, null := exprs[i].Eval(func(f string) any { return row[f] })
			fits[i] = append(fits[i], yes && !null)
		}
	}
	found := 0
	for i := range all {
		for j := range all {
			if !implies(exprs[i].root, exprs[j].root) {
				continue
			}
			found++
			for k := range rows {
				if fits[i][k] && !fits[j][k] {
					t.Fatalf("%s is said to imply %s; not so for %v", all[i], all[j], rows[k])
				}
			}
		}
	}
	if found < 10*len(all) {
		t.Errorf("only %d of %d pairs were found implied", found, len(all)*len(all))
	}
}
