package rules

import (
	"fmt"
	"slices"
)

// Expr is a checked expression over the product fields of one side: `when:` and
// `knows:`. There is one parser, and two uses: rendered to SQL, and evaluated in
// Go by the oracle. Three-valued logic as in SQL; a rule applies only where the
// expression is true.
//
//	or        = and { OR and }
//	and       = not { AND not }
//	not       = [ NOT ] ( "(" or ")" | predicate )
//	predicate = value ( "=" | "<>" | "!=" | "<" | "<=" | ">" | ">=" ) value
//	          | value [ NOT ] IN "(" literal { "," literal } ")"
//	          | value [ NOT ] BETWEEN literal AND literal
//	          | value [ NOT ] LIKE text
//	          | value IS [ NOT ] NULL
//	          | starts_with "(" value "," text ")" | contains "(" value "," text ")"
//	          | boolean field
//	value     = field | literal | lower "(" value ")" | upper "(" value ")"
//	literal   = 'text' | number | true | false
//
// Types are checked and never converted. A text beside a date field is read as a
// date ('2026-08-20'), beside a timestamp field as an instant with its offset
// ('2026-08-20T04:00:00Z'). lower and upper change the letters A to Z only, so
// that the result depends on no version of Unicode. Texts are ordered by their
// bytes. In LIKE, % stands for any text and _ for one character; there is no
// escape.
type Expr struct {
	Text string
	root node
}

// ExprError is a fault of an expression.
type ExprError struct {
	Offset int // characters before the fault
	Msg    string
	Hint   string
	field  string // that there is not; ""
}

func (e *ExprError) Error() string { return fmt.Sprintf("%s (at character %d)", e.Msg, e.Offset+1) }

// ParseExpr reads and checks an expression over fields of the given types.
// Decimals are taken as staged without a declared scale, in canonical text; use
// ParseExprOver where scales are known. The error is an *ExprError.
func ParseExpr(text string, fields map[string]FieldType) (*Expr, error) {
	var list []Field
	for name, t := range fields {
		list = append(list, Field{Name: name, Type: t, Scale: -1})
	}
	slices.SortFunc(list, func(a, b Field) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return ParseExprOver(text, list)
}

// ParseExprOver reads and checks an expression over the fields of a side. The
// error is an *ExprError.
func ParseExprOver(text string, fields []Field) (*Expr, error) {
	e, err := parseExpr(text, fields)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// SQL renders the expression for DuckDB, fully parenthesised. col gives the SQL
// of a field's staged column (extract.Layout): VARCHAR for text, currency and
// decimals without a scale, DECIMAL(28,s), DECIMAL(38,0) for integers, BOOLEAN,
// DATE, BIGINT for timestamps. Literals are quoted here; nothing of the
// expression's text is copied unchecked.
func (e *Expr) SQL(col func(field string) string) string { return e.root.sql(col) }

// Eval evaluates the expression for one row. val gives a field's value: nil for
// null, string for text and currency, *apd.Decimal for decimals and integers,
// bool, int64 for timestamps (microseconds since 1970-01-01T00:00:00Z) and dates
// (days since 1970-01-01). null tells that the result is neither true nor false.
func (e *Expr) Eval(val func(field string) any) (result, null bool) {
	t := e.root.eval(val)
	return t == isTrue, t == isNull
}

// Fields are the fields that the expression uses, each once, sorted.
func (e *Expr) Fields() []string {
	seen := map[string]bool{}
	e.root.fields(func(name string) { seen[name] = true })
	out := make([]string, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// String is the text as written.
func (e *Expr) String() string { return e.Text }

// node is a predicate.
type node interface {
	sql(col func(string) string) string
	eval(val func(string) any) truth
	fields(add func(string))
}

// truth is the outcome of a predicate.
type truth uint8

const (
	isFalse truth = iota
	isTrue
	isNull
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

func (t truth) not() truth {
	switch t {
	case isTrue:
		return isFalse
	case isFalse:
		return isTrue
	default:
		return isNull
	}
}

// operand is a value in a predicate.
type operand interface {
	kind() valueKind
	sql(col func(string) string) string
	value(val func(string) any) any
	fields(add func(string))
}

// valueKind is the type of an operand: text covers currency, number covers
// decimals and integers.
type valueKind string

const (
	kindText      valueKind = "text"
	kindNumber    valueKind = "number"
	kindBoolean   valueKind = "boolean"
	kindDate      valueKind = "date"
	kindTimestamp valueKind = "timestamp"
)

func kindOf(t FieldType) valueKind {
	switch t {
	case Decimal, Integer:
		return kindNumber
	case Boolean:
		return kindBoolean
	case Date:
		return kindDate
	case Timestamp:
		return kindTimestamp
	default:
		return kindText
	}
}
