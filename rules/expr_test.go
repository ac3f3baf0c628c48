package rules_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/recon-batch/recon-batch/rules"
	"github.com/recon-batch/recon-batch/rules/exprtest"
)

// TestExpressionErrors: the place of the fault in characters, and the remedy.
func TestExpressionErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
		msg    string
		hint   string
	}{
		{"", 0, "the end where a field", ""},
		{"state", 0, "no condition by itself", "state = …"},
		{"state = 'a", 8, "a quote that does not end", "double a quote"},
		{"stat = 'a'", 0, `no field "stat"`, `"state"`},
		{`state = "a"`, 8, `no field "a"`, "'a'"},
		{"'é' = state AND amount = 'x'", 25, "a text beside a number", "nothing is converted"},
		{"state = 1", 8, "a number beside a text", "type: integer"},
		{"amount = 1e5", 9, "runs into a name", ""},
		{"amount = 1.2.3", 9, "is no number", ""},
		{"amount = " + strings.Repeat("9", 39), 9, "is no number", "38"},
		{"state = NULL", 8, "nothing equals NULL", "IS NULL"},
		{"state IN ('a', NULL)", 15, "nothing equals NULL", ""},
		{"state IN ()", 10, "where a field or a value", ""},
		{"state IN (kind)", 10, "where a literal is needed", ""},
		{"open > true", 5, "no order", "= or <>"},
		{"1 = 1", 0, "names no field", ""},
		{"booked = '2026-02-30'", 9, "no date", "2026-08-20"},
		{"created_at > '2026-08-20'", 13, "no instant", "offset"},
		{"created_at > '2026-08-20T00:00'", 13, "no instant", "offset"},
		{"currency = 'eur'", 11, "equals none", "EUR"},
		{"lower(amount) = 'a'", 6, "lower of a number", ""},
		{"lowr(state) = 'a'", 0, "no function", `"lower"`},
		{"starts_with(amount, 'a')", 12, "something else than a text field", ""},
		{"contains(state, '')", 16, "where the text to look for", ""},
		{"state LIKE kind", 11, "where a pattern", ""},
		{"amount = tiny", 9, "cannot be compared exactly", "scale"},
		{"amount = attempts", 9, "cannot be compared exactly", ""},
		{"free < rest", 7, "cannot be compared exactly", ""},
		{"state = 'a' OR", 14, "the end where", ""},
		{"state = 'a' kind = 'b'", 12, "should end", "AND or OR"},
		{"(state = 'a'", 12, `the end where ")"`, ""},
		{"state = 'a'; DROP TABLE x", 11, "unexpected", ""},
		{"state = 'a' -- x", 12, "unexpected", ""},
		{"state = 'a\x00'", 10, "NUL", ""},
		{strings.Repeat("(", 200) + "state = 'a'", 100, "nested", ""},
		{"NOT " + strings.Repeat("NOT ", 200) + "open", 400, "nested", ""},
	} {
		_, err := rules.ParseExprOver(c.text, exprtest.Fields)
		e, ok := errors.AsType[*rules.ExprError](err)
		if !ok || e.Offset != c.offset || !strings.Contains(e.Msg, c.msg) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%.60q: %+v, want %q at %d, %q", c.text, err, c.msg, c.offset, c.hint)
		}
	}
}

// TestExpressionSQL: fully parenthesised, literals quoted and typed.
func TestExpressionSQL(t *testing.T) {
	for text, want := range map[string]string{
		"state = 'it''s' AND attempts = 0":             `((c.state = 'it''s') AND (c.attempts = CAST('0' AS DECIMAL(38,0))))`,
		"a_x OR NOT a_x AND a_x":                       "", // no such field
		"amount >= 1.005":                              `(c.amount > CAST('1.00' AS DECIMAL(28,2)))`,
		"amount = 1.005":                               `(CASE WHEN (c.amount) IS NULL THEN NULL ELSE false END)`,
		"open OR paid AND NOT open":                    `((c.open) OR ((c.paid) AND (NOT (c.open))))`,
		"'a' < state":                                  `(c.state > 'a')`,
		"booked BETWEEN '2026-08-20' AND '2026-08-21'": `((c.booked >= DATE '2026-08-20') AND (c.booked <= DATE '2026-08-21'))`,
		"created_at >= '1970-01-01T00:00:01Z'":         `(c.created_at >= CAST(1000000 AS BIGINT))`,
		"kind NOT IN ('fee', 'payout')":                `(NOT ((c.kind = 'fee') OR (c.kind = 'payout')))`,
		"LOWER(state) like 'a%'":                       `(translate(c.state, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') LIKE 'a%')`,
		"entity IS NOT NULL":                           "",
		`"state" is not null`:                          `(c.state IS NOT NULL)`,
	} {
		e, err := rules.ParseExprOver(text, exprtest.Fields)
		if want == "" {
			if err == nil {
				t.Errorf("%s parses", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.SQL(func(f string) string { return "c." + f }); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestExpressionNulls: three-valued logic, on the points where a two-valued one
// would differ.
func TestExpressionNulls(t *testing.T) {
	row := map[string]any{"state": nil, "kind": "fee", "amount": apd.New(150, -2), "open": nil, "paid": true}
	for text, want := range map[string]string{
		"state = 'a'": "null", "state <> 'a'": "null", "NOT state = 'a'": "null", "state IN ('a')": "null", "state NOT IN ('a')": "null",
		"state IS NULL": "true", "state IS NOT NULL": "false", "open": "null", "NOT open": "null", "open OR paid": "true", "open AND paid": "null",
		"open AND NOT paid": "false", "state = 'a' OR kind = 'fee'": "true", "state = 'a' AND kind = 'x'": "false", "lower(state) = 'a'": "null",
		"state LIKE '%'": "null", "contains(state, 'a')": "null", "amount = 1.50": "true", "amount = 1.5": "true", "amount BETWEEN 1.5 AND 1.5": "true",
		"amount NOT BETWEEN 2 AND 3": "true", "kind LIKE 'f_e'": "true", "kind LIKE 'F%'": "false",
	} {
		e, err := rules.ParseExprOver(text, exprtest.Fields)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		result, null := e.Eval(func(f string) any { return row[f] })
		got := "false"
		if null {
			got = "null"
		} else if result {
			got = "true"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestExpressionFields(t *testing.T) {
	e, err := rules.ParseExpr("b = 'x' OR (a = 'x' AND lower(b) = 'y')", map[string]rules.FieldType{"a": rules.Text, "b": rules.Text, "c": rules.Text})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Fields(); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Error(got)
	}
}
