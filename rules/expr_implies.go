package rules

// implies is true where every row that fits a surely fits b as well. What it cannot see
// it answers with false: a rule that is called unreachable is.
func implies(a, b node) bool {
	plain := func(f string) string { return f }
	if a.sql(plain) == b.sql(plain) {
		return true
	}
	if n, ok := a.(*logic); ok && n.or {
		return all(n.parts, func(p node) bool { return implies(p, b) })
	}
	if n, ok := b.(*logic); ok && !n.or {
		return all(n.parts, func(p node) bool { return implies(a, p) })
	}
	if n, ok := b.(*logic); ok && some(n.parts, func(p node) bool { return implies(a, p) }) {
		return true
	}
	if n, ok := a.(*logic); ok {
		return some(n.parts, func(p node) bool { return implies(p, b) })
	}
	return bounded(a, b)
}

func all(list []node, f func(node) bool) bool {
	return !some(list, func(n node) bool { return !f(n) })
}

func some(list []node, f func(node) bool) bool {
	for _, n := range list {
		if f(n) {
			return true
		}
	}
	return false
}

// bounded is implies for two tests of one operand against constants: a names the values
// that it leaves, or a bound, and b allows all of them.
func bounded(a, b node) bool {
	if left, values, ok := named(a); ok {
		return sameTest(left, b) && all(literals(left, values), func(n node) bool { return fitsConstant(n.(*comparison), b) })
	}
	x, ok := a.(*comparison)
	y, same := b.(*comparison)
	if !ok || !same || !sameTest(x.left, b) {
		return false
	}
	v, known := x.right.(*literal)
	w, constant := y.right.(*literal)
	if !known || !constant || v.k != w.k {
		return false
	}
	c := compareValues(v.v, w.v)
	switch x.op {
	case ">":
		return (y.op == ">" || y.op == ">=" || y.op == "<>") && c >= 0
	case ">=":
		return (y.op == ">" || y.op == "<>") && c > 0 || y.op == ">=" && c >= 0
	case "<":
		return (y.op == "<" || y.op == "<=" || y.op == "<>") && c <= 0
	case "<=":
		return (y.op == "<" || y.op == "<>") && c < 0 || y.op == "<=" && c <= 0
	}
	return false
}

// named are the only values with which a test is true.
func named(n node) (operand, []*literal, bool) {
	switch x := n.(type) {
	case *comparison:
		v, ok := x.right.(*literal)
		return x.left, []*literal{v}, ok && x.op == "="
	case *membership:
		return x.arg, x.values, !x.negated
	}
	return nil, nil, false
}

func literals(left operand, values []*literal) []node {
	out := make([]node, len(values))
	for i, v := range values {
		out[i] = &comparison{op: "=", left: left, right: v}
	}
	return out
}

// sameTest tells whether b is a test of the same operand against constants.
func sameTest(left operand, b node) bool {
	var other operand
	switch y := b.(type) {
	case *comparison:
		if _, ok := y.right.(*literal); !ok {
			return false
		}
		other = y.left
	case *membership:
		other = y.arg
	default:
		return false
	}
	f, ok := left.(*fieldRef)
	g, same := other.(*fieldRef)
	return ok && same && f.field.Name == g.field.Name
}

// fitsConstant tells whether b is true where its operand has the value of an equation.
func fitsConstant(equation *comparison, b node) bool {
	return b.eval(func(string) any { return equation.right.(*literal).v }) == isTrue
}
