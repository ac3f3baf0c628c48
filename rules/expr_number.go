package rules

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Numbers are compared exactly, whatever their declared scale. The engine would
// widen DECIMAL(28,2) and a literal with more decimals to a common type, which
// has at most 38 digits and fails or rounds beyond: so a literal is brought to
// the scale of the column here, with the comparison adjusted, and one outside
// the column's range becomes a constant.

// digitsOf are the digits before the point and after it of a staged number; ok
// is false for decimals without a scale, which are canonical text.
func digitsOf(f *Field) (whole, scale int, ok bool) {
	switch {
	case f.Type == Integer:
		return 38, 0, true
	case f.Scale >= 0:
		return 28 - f.Scale, f.Scale, true
	default:
		return 0, 0, false
	}
}

// comparableNumbers refuses a comparison of two number fields that the engine
// cannot make exactly.
func comparableNumbers(left, right operand, op string, at token) *ExprError {
	a, okA := left.(*fieldRef)
	b, okB := right.(*fieldRef)
	if !okA || !okB || left.kind() != kindNumber {
		return nil
	}
	wholeA, scaleA, exactA := digitsOf(a.field)
	wholeB, scaleB, exactB := digitsOf(b.field)
	switch {
	case !exactA && !exactB && (op == "=" || op == "<>"):
		return nil // canonical texts
	case exactA && exactB && max(wholeA, wholeB)+max(scaleA, scaleB) <= 38:
		return nil
	}
	return fault(at, "declare `scale:` for both, at most ten digits apart", "%s (%s) and %s (%s) cannot be compared exactly",
		a.field.Name, typeText(*a.field), b.field.Name, typeText(*b.field))
}

// numberFieldsSQL compares two number fields in a type that holds both.
func numberFieldsSQL(op string, a, b *fieldRef, col func(string) string) string {
	_, scaleA, exact := digitsOf(a.field)
	_, scaleB, _ := digitsOf(b.field)
	if !exact || scaleA == scaleB && a.field.Type == b.field.Type {
		return "(" + a.sql(col) + " " + op + " " + b.sql(col) + ")"
	}
	t := fmt.Sprintf("DECIMAL(38,%d)", max(scaleA, scaleB))
	return fmt.Sprintf("(CAST(%s AS %s) %s CAST(%s AS %s))", a.sql(col), t, op, b.sql(col), t)
}

// numberSQL compares a number field with a literal.
func numberSQL(op string, f *fieldRef, v *apd.Decimal, col func(string) string) string {
	x := f.sql(col)
	whole, scale, exact := digitsOf(f.field)
	if !exact {
		return canonicalSQL(op, x, v)
	}
	below, equal := floorAt(v, scale)
	switch {
	case !equal && op == "=":
		return knownSQL(x, false)
	case !equal && op == "<>":
		return knownSQL(x, true)
	case !equal && op == "<": // x < 1.005 is x <= 1.00 where x has two decimals
		op = "<="
	case !equal && op == ">=":
		op = ">"
	}
	limit := apd.New(1, int32(whole))
	if new(apd.Decimal).Abs(below).Cmp(limit) >= 0 {
		above := !below.Negative // the literal is above every value of the column
		switch op {
		case "=":
			return knownSQL(x, false)
		case "<>":
			return knownSQL(x, true)
		default:
			return knownSQL(x, above == (op[0] == '<'))
		}
	}
	t := fmt.Sprintf("DECIMAL(28,%d)", scale)
	if f.field.Type == Integer {
		t = "DECIMAL(38,0)"
	}
	return fmt.Sprintf("(%s %s CAST('%s' AS %s))", x, op, below.Text('f'), t)
}

// floorAt rounds v down to scale decimals, and tells whether nothing was lost.
// It divides integers itself: apd's Quantize takes a number that is smaller than
// half a unit for zero, whatever the rounding.
func floorAt(v *apd.Decimal, scale int) (*apd.Decimal, bool) {
	n := v.Coeff.MathBigInt()
	if v.Negative {
		n.Neg(n)
	}
	lost := -int64(v.Exponent) - int64(scale) // decimals to take away
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(lost, -lost)), nil)
	if lost <= 0 {
		n.Mul(n, power)
		return decimalOf(n, scale), true
	}
	rest := new(big.Int)
	n.DivMod(n, power, rest) // Euclidean: rounds down, since power is positive
	return decimalOf(n, scale), rest.Sign() == 0
}

func decimalOf(n *big.Int, scale int) *apd.Decimal {
	return apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(n), -int32(scale))
}

// knownSQL is a constant for every value but null.
func knownSQL(x string, result bool) string {
	return fmt.Sprintf("(CASE WHEN (%s) IS NULL THEN NULL ELSE %t END)", x, result)
}

// canonicalSQL compares canonical decimal text with a literal. Of two numbers
// that are not negative, the one with more digits before the point is the
// greater; with equally many, the order of the texts is that of the numbers,
// since canonical texts have no superfluous zeros.
func canonicalSQL(op, x string, v *apd.Decimal) string {
	text := CanonicalDecimal(v)
	equal := fmt.Sprintf("(%s = '%s')", x, text)
	switch op {
	case "=":
		return equal
	case "<>":
		return fmt.Sprintf("(%s <> '%s')", x, text)
	}
	negative := fmt.Sprintf("starts_with(%s, '-')", x)
	order := func(number, than, o string) string {
		whole, _, _ := strings.Cut(than, ".")
		length := fmt.Sprintf("length(split_part(%s, '.', 1))", number)
		return fmt.Sprintf("(%s %s %d OR (%s = %d AND %s %s '%s'))", length, o, len(whole), length, len(whole), number, o, than)
	}
	var strict string
	less := op[0] == '<'
	switch absolute, below := strings.CutPrefix(text, "-"); {
	case !below && less:
		strict = fmt.Sprintf("(%s OR %s)", negative, order(x, text, "<"))
	case !below:
		strict = fmt.Sprintf("((NOT %s) AND %s)", negative, order(x, text, ">"))
	case less:
		strict = fmt.Sprintf("(%s AND %s)", negative, order("substr("+x+", 2)", absolute, ">"))
	default:
		strict = fmt.Sprintf("((NOT %s) OR %s)", negative, order("substr("+x+", 2)", absolute, "<"))
	}
	if len(op) == 2 {
		return fmt.Sprintf("(%s OR %s)", strict, equal)
	}
	return strict
}
