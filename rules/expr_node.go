package rules

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
)

// logic is a chain of AND, or of OR.
type logic struct {
	or    bool
	parts []node
}

func (n *logic) sql(col func(string) string) string {
	texts := make([]string, len(n.parts))
	for i, p := range n.parts {
		texts[i] = p.sql(col)
	}
	if n.or {
		return "(" + strings.Join(texts, " OR ") + ")"
	}
	return "(" + strings.Join(texts, " AND ") + ")"
}

func (n *logic) eval(val func(string) any) truth {
	decides := isFalse
	if n.or {
		decides = isTrue
	}
	out := decides.not()
	for _, p := range n.parts {
		switch p.eval(val) {
		case decides:
			return decides
		case isNull:
			out = isNull
		}
	}
	return out
}

func (n *logic) fields(add func(string)) {
	for _, p := range n.parts {
		p.fields(add)
	}
}

// negation is NOT.
type negation struct{ of node }

func (n *negation) sql(col func(string) string) string { return "(NOT " + n.of.sql(col) + ")" }
func (n *negation) eval(val func(string) any) truth    { return n.of.eval(val).not() }
func (n *negation) fields(add func(string))            { n.of.fields(add) }

// nullTest is IS NULL or IS NOT NULL.
type nullTest struct {
	field   *fieldRef
	negated bool
}

func (n *nullTest) sql(col func(string) string) string {
	if n.negated {
		return "(" + n.field.sql(col) + " IS NOT NULL)"
	}
	return "(" + n.field.sql(col) + " IS NULL)"
}

func (n *nullTest) eval(val func(string) any) truth {
	return truthOf((n.field.value(val) == nil) != n.negated)
}
func (n *nullTest) fields(add func(string)) { n.field.fields(add) }

// booleanField is a boolean field as a condition.
type booleanField struct{ field *fieldRef }

func (n *booleanField) sql(col func(string) string) string { return "(" + n.field.sql(col) + ")" }

func (n *booleanField) eval(val func(string) any) truth {
	v := n.field.value(val)
	if v == nil {
		return isNull
	}
	return truthOf(v.(bool))
}
func (n *booleanField) fields(add func(string)) { n.field.fields(add) }

// comparison of a value with a field on the left.
type comparison struct {
	op          string // = <> < <= > >=
	left, right operand
}

func (n *comparison) sql(col func(string) string) string {
	if n.left.kind() == kindNumber {
		f := n.left.(*fieldRef)
		if l, ok := n.right.(*literal); ok {
			return numberSQL(n.op, f, l.v.(*apd.Decimal), col)
		}
		return numberFieldsSQL(n.op, f, n.right.(*fieldRef), col)
	}
	return "(" + n.left.sql(col) + " " + n.op + " " + n.right.sql(col) + ")"
}

func (n *comparison) eval(val func(string) any) truth {
	a, b := n.left.value(val), n.right.value(val)
	if a == nil || b == nil {
		return isNull
	}
	c := compareValues(a, b)
	switch n.op {
	case "=":
		return truthOf(c == 0)
	case "<>":
		return truthOf(c != 0)
	case "<":
		return truthOf(c < 0)
	case "<=":
		return truthOf(c <= 0)
	case ">":
		return truthOf(c > 0)
	default:
		return truthOf(c >= 0)
	}
}

func (n *comparison) fields(add func(string)) {
	n.left.fields(add)
	n.right.fields(add)
}

// compareValues orders two values of one kind; the parser has checked that.
func compareValues(a, b any) int {
	switch x := a.(type) {
	case string:
		return strings.Compare(x, b.(string))
	case *apd.Decimal:
		return x.Cmp(b.(*apd.Decimal))
	case int64:
		return cmp.Compare(x, b.(int64))
	case bool:
		if x == b.(bool) {
			return 0
		}
		return 1
	default:
		panic(fmt.Sprintf("rules: an expression was given a value of type %T", a))
	}
}

// membership is IN.
type membership struct {
	arg     operand
	values  []*literal
	negated bool
}

func (n *membership) sql(col func(string) string) string {
	// A chain of comparisons, not IN: numbers need theirs adjusted one by one.
	parts := make([]string, len(n.values))
	for i, v := range n.values {
		parts[i] = (&comparison{op: "=", left: n.arg, right: v}).sql(col)
	}
	text := "(" + strings.Join(parts, " OR ") + ")"
	if n.negated {
		return "(NOT " + text + ")"
	}
	return text
}

func (n *membership) eval(val func(string) any) truth {
	a := n.arg.value(val)
	if a == nil {
		return isNull
	}
	out := isFalse
	for _, v := range n.values {
		if compareValues(a, v.v) == 0 {
			out = isTrue
		}
	}
	if n.negated {
		return out.not()
	}
	return out
}
func (n *membership) fields(add func(string)) { n.arg.fields(add) }

// textTest is LIKE, starts_with or contains.
type textTest struct {
	name string // like, starts_with, contains
	arg  operand
	text string
}

func (n *textTest) sql(col func(string) string) string {
	if n.name == "like" {
		return "(" + n.arg.sql(col) + " LIKE " + quoteText(n.text) + ")"
	}
	return "(" + n.name + "(" + n.arg.sql(col) + ", " + quoteText(n.text) + "))"
}

func (n *textTest) eval(val func(string) any) truth {
	v := n.arg.value(val)
	if v == nil {
		return isNull
	}
	switch n.name {
	case "like":
		return truthOf(like(v.(string), n.text))
	case "starts_with":
		return truthOf(strings.HasPrefix(v.(string), n.text))
	default:
		return truthOf(strings.Contains(v.(string), n.text))
	}
}
func (n *textTest) fields(add func(string)) { n.arg.fields(add) }

// like matches % (any text) and _ (one character) without an escape. It goes
// back to the last % only, so that its time is at most the product of the
// lengths.
func like(s, pattern string) bool {
	var backS, backP = -1, -1
	i, j := 0, 0
	for i < len(s) {
		if j < len(pattern) && pattern[j] == '%' {
			backS, backP = i, j
			j++
			continue
		}
		if j < len(pattern) {
			r, n := utf8.DecodeRuneInString(s[i:])
			q, m := utf8.DecodeRuneInString(pattern[j:])
			if q == '_' || q == r {
				i, j = i+n, j+m
				continue
			}
		}
		if backP < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[backS:])
		backS += n
		i, j = backS, backP+1
	}
	return strings.Trim(pattern[j:], "%") == ""
}

// fieldRef is a field.
type fieldRef struct{ field *Field }

func (o *fieldRef) kind() valueKind                    { return kindOf(o.field.Type) }
func (o *fieldRef) sql(col func(string) string) string { return col(o.field.Name) }
func (o *fieldRef) value(val func(string) any) any     { return val(o.field.Name) }
func (o *fieldRef) fields(add func(string))            { add(o.field.Name) }

// literal is a constant. v is string, *apd.Decimal, bool, or int64 for instants
// (microseconds) and dates (days).
type literal struct {
	k valueKind
	v any
}

func (o *literal) kind() valueKind            { return o.k }
func (o *literal) value(func(string) any) any { return o.v }
func (o *literal) fields(func(string))        {}

func (o *literal) sql(func(string) string) string {
	switch v := o.v.(type) {
	case string:
		return quoteText(v)
	case bool:
		return fmt.Sprintf("%t", v)
	case *apd.Decimal:
		panic("rules: a number is rendered by its comparison")
	case int64:
		if o.k == kindDate {
			return "DATE '" + time.Unix(v*86400, 0).UTC().Format(dateLayout) + "'"
		}
		return fmt.Sprintf("CAST(%d AS BIGINT)", v)
	default:
		panic(fmt.Sprintf("rules: literal of type %T", o.v))
	}
}

// quoteText quotes a text for SQL. The lexer refuses NUL.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// letterCase is lower or upper, over the letters A to Z.
type letterCase struct {
	upper bool
	arg   operand
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func (o *letterCase) kind() valueKind         { return kindText }
func (o *letterCase) fields(add func(string)) { o.arg.fields(add) }

func (o *letterCase) sql(col func(string) string) string {
	from, to := upperLetters, lowerLetters
	if o.upper {
		from, to = to, from
	}
	return fmt.Sprintf("translate(%s, '%s', '%s')", o.arg.sql(col), from, to)
}

func (o *letterCase) value(val func(string) any) any {
	v := o.arg.value(val)
	if v == nil {
		return nil
	}
	from, to := byte('A'), byte('a')
	if o.upper {
		from, to = to, from
	}
	b := []byte(v.(string))
	for i, c := range b {
		if c >= from && c < from+26 {
			b[i] = c - from + to
		}
	}
	return string(b)
}
