// Package exprtest draws expressions and rows for them, so that every user of
// rules.Expr can show that its SQL and its Go say the same.
package exprtest

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/recon-batch/recon-batch/rules"
	"pgregory.net/rapid"
)

// Fields are those that the drawn expressions use: two of each type, and
// decimals with different scales and with none.
var Fields = []rules.Field{
	{Name: "state", Type: rules.Text, Scale: -1},
	{Name: "kind", Type: rules.Text, Scale: -1},
	{Name: "currency", Type: rules.Currency, Scale: -1},
	{Name: "amount", Type: rules.Decimal, Scale: 2},
	{Name: "fee", Type: rules.Decimal, Scale: 4},
	{Name: "tiny", Type: rules.Decimal, Scale: 28},
	{Name: "free", Type: rules.Decimal, Scale: -1},
	{Name: "rest", Type: rules.Decimal, Scale: -1},
	{Name: "attempts", Type: rules.Integer, Scale: -1},
	{Name: "items", Type: rules.Integer, Scale: -1},
	{Name: "open", Type: rules.Boolean, Scale: -1},
	{Name: "paid", Type: rules.Boolean, Scale: -1},
	{Name: "booked", Type: rules.Date, Scale: -1},
	{Name: "due", Type: rules.Date, Scale: -1},
	{Name: "created_at", Type: rules.Timestamp, Scale: -1},
	{Name: "sent_at", Type: rules.Timestamp, Scale: -1},
}

var texts = []string{
	"", " ", "a", "A", "ab", "Ab", "fee", "FEE", "fee_row", "fee%", "payout", "é", "É", "e\u0301", "ß", "İ", "日本", "😀", "it's", `\`, `a\%`,
	"%", "_", "__", "a b", "a\nb", "--", "'; DROP TABLE x; --", "ZZ", "zz", "10", "9",
}

var patterns = []string{"%", "_", "a%", "%b", "%e%", "fee_%", "_e_", "fee\\%", `\`, "%%", "_%_", "é", "_ß", "😀", "it's%", "", "%\n%", "A_", "日_"}

var numbers = []string{
	"0", "1", "-1", "2", "9", "10", "-10", "99", "100", "0.5", "-0.5", "0.01", "-0.01", "0.005", "-0.005", "1.005", "1.00", "1.0001", "-1.0001",
	"12.5", "12.45", "12.50", "-12.5", "-12.45", "99999999999999999999999999.99", "-99999999999999999999999999.99", "99999999999999999999999999.995",
	"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0.0000000000000000000000000001",
	"0.00000000000000000000000000001", "-0.0000000000000000000000000001", "9.9999999999999999999999999999", "10.1", "9.5",
}

var days = []string{"2024-02-29", "2026-08-20", "2026-08-21", "1969-12-31", "1970-01-01", "0001-01-01", "9999-12-31"}

var instants = []string{"2026-08-20T04:00:00Z", "2026-08-20T06:00:00+02:00", "2026-08-20T04:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00Z"}

// Expression draws the text of an expression over Fields that parses.
func Expression(t *rapid.T) string { return expression(t, 3) }

func expression(t *rapid.T, depth int) string {
	if depth > 0 {
		switch rapid.IntRange(0, 5).Draw(t, "shape") {
		case 0:
			return fmt.Sprintf("(%s) AND (%s)", expression(t, depth-1), expression(t, depth-1))
		case 1:
			return fmt.Sprintf("(%s OR %s)", expression(t, depth-1), expression(t, depth-1))
		case 2:
			return "NOT (" + expression(t, depth-1) + ")"
		}
	}
	return predicate(t)
}

var operators = []string{"=", "<>", "!=", "<", "<=", ">", ">="}

func predicate(t *rapid.T) string {
	f := rapid.SampledFrom(Fields).Draw(t, "field")
	not := rapid.SampledFrom([]string{"", "NOT "}).Draw(t, "not")
	lit := func() string { return literal(t, f) }
	value := f.Name
	if f.Type == rules.Text {
		value = rapid.SampledFrom([]string{f.Name, f.Name, "lower(" + f.Name + ")", "upper(" + f.Name + ")"}).Draw(t, "value")
	}
	ops := operators
	if f.Type == rules.Boolean {
		ops = operators[:3]
	}
	op := rapid.SampledFrom(ops).Draw(t, "op")
	switch rapid.IntRange(0, 7).Draw(t, "predicate") {
	case 0:
		return fmt.Sprintf("%s IS %sNULL", f.Name, not)
	case 1:
		list := make([]string, rapid.IntRange(1, 4).Draw(t, "n"))
		for i := range list {
			list[i] = lit()
		}
		return fmt.Sprintf("%s %sIN (%s)", value, not, strings.Join(list, ", "))
	case 2:
		if f.Type != rules.Boolean {
			return fmt.Sprintf("%s %sBETWEEN %s AND %s", value, not, lit(), lit())
		}
		return f.Name
	case 3:
		if f.Type == rules.Text {
			return fmt.Sprintf("%s %sLIKE %s", value, not, quote(rapid.SampledFrom(patterns).Draw(t, "pattern")))
		}
	case 4:
		if f.Type == rules.Text {
			fn := rapid.SampledFrom([]string{"starts_with", "contains"}).Draw(t, "function")
			return fmt.Sprintf("%s(%s, %s)", fn, value, quote(rapid.SampledFrom(texts[1:]).Draw(t, "text")))
		}
	case 5:
		if g, ok := partner[f.Name]; ok {
			if f.Name == "free" {
				op = rapid.SampledFrom(operators[:3]).Draw(t, "equal")
			}
			return fmt.Sprintf("%s %s %s", f.Name, op, g)
		}
	case 6:
		return fmt.Sprintf("%s %s %s", lit(), op, value)
	}
	return fmt.Sprintf("%s %s %s", value, op, lit())
}

// partner is a field that the other may be compared with.
var partner = map[string]string{
	"state": "kind", "amount": "fee", "fee": "amount", "free": "rest", "attempts": "items", "open": "paid", "booked": "due", "created_at": "sent_at",
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func literal(t *rapid.T, f rules.Field) string {
	switch f.Type {
	case rules.Text:
		return quote(rapid.SampledFrom(texts).Draw(t, "text"))
	case rules.Currency:
		return rapid.SampledFrom([]string{"'EUR'", "'USD'", "'JPY'"}).Draw(t, "currency")
	case rules.Decimal, rules.Integer:
		return rapid.SampledFrom(numbers).Draw(t, "number")
	case rules.Boolean:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "boolean")
	case rules.Date:
		return quote(rapid.SampledFrom(days).Draw(t, "day"))
	default:
		return quote(rapid.SampledFrom(instants).Draw(t, "instant"))
	}
}

// Row draws a value, or null, for each of Fields, in the form that Expr.Eval
// takes.
func Row(t *rapid.T) map[string]any {
	row := map[string]any{}
	for _, f := range Fields {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			row[f.Name] = nil
			continue
		}
		row[f.Name] = value(t, f)
	}
	return row
}

func value(t *rapid.T, f rules.Field) any {
	switch f.Type {
	case rules.Text:
		return rapid.SampledFrom(texts).Draw(t, "value")
	case rules.Currency:
		return rapid.SampledFrom([]string{"EUR", "USD", "JPY"}).Draw(t, "value")
	case rules.Boolean:
		return rapid.Bool().Draw(t, "value")
	case rules.Date:
		return rapid.SampledFrom([]int64{0, -1, 19782, 20685, 20686, -719162, 2932896}).Draw(t, "value")
	case rules.Timestamp:
		return rapid.SampledFrom([]int64{0, -1, -1_000_000, 1787198400000000, 1787198400000001, 1787205600000000, 253402300799000000, -62135596800000000}).Draw(t, "value")
	}
	for {
		v, _, err := apd.NewFromString(rapid.SampledFrom(numbers).Draw(t, "value"))
		if err != nil {
			panic(err)
		}
		if Fits(f, v) {
			return v
		}
	}
}

// Fits tells whether a number can be staged in the column of the field.
func Fits(f rules.Field, v *apd.Decimal) bool {
	whole, scale := 28-f.Scale, f.Scale
	switch {
	case f.Type == rules.Integer:
		whole, scale = 38, 0
	case f.Scale < 0:
		return true
	}
	var r apd.Decimal
	r.Reduce(v)
	return r.Exponent >= -int32(scale) && r.NumDigits()+int64(r.Exponent) <= int64(whole)
}

// SQLValue renders a value of Row as it is staged.
func SQLValue(f rules.Field, v any) string {
	if v == nil {
		return "NULL"
	}
	switch x := v.(type) {
	case string:
		return quote(x)
	case bool:
		return fmt.Sprintf("%t", x)
	case int64:
		if f.Type == rules.Date {
			return fmt.Sprintf("CAST(DATE '1970-01-01' + CAST(%d AS INTEGER) AS DATE)", x)
		}
		return fmt.Sprintf("CAST(%d AS BIGINT)", x)
	case *apd.Decimal:
		switch {
		case f.Type == rules.Integer:
			return fmt.Sprintf("CAST('%s' AS DECIMAL(38,0))", x.Text('f'))
		case f.Scale >= 0:
			return fmt.Sprintf("CAST('%s' AS DECIMAL(28,%d))", x.Text('f'), f.Scale)
		default:
			return quote(rules.CanonicalDecimal(x))
		}
	default:
		panic(fmt.Sprintf("exprtest: value of type %T", v))
	}
}
