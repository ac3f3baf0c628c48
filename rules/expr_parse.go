package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxExprDepth bounds the nesting of an expression.
const maxExprDepth = 100

type exprParser struct {
	tokens []token
	pos    int
	depth  int
	known  []Field
	texts  map[string][]string // field → the only texts that it has
}

func parseExpr(text string, fields []Field) (*Expr, *ExprError) {
	return parseExprWith(text, fields, nil)
}

// parseExprWith refuses a text beside a field that never has it.
func parseExprWith(text string, fields []Field, texts map[string][]string) (e *Expr, err *ExprError) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &exprParser{tokens: tokens, known: fields, texts: texts}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokEnd {
		return nil, fault(t, "join conditions by AND or OR", "%s where the expression should end", t)
	}
	return &Expr{Text: text, root: root}, nil
}

func fault(t token, hint, format string, args ...any) *ExprError {
	return &ExprError{Offset: t.offset, Hint: hint, Msg: fmt.Sprintf(format, args...)}
}

func (p *exprParser) peek() token { return p.tokens[p.pos] }

func (p *exprParser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// accept takes the next token where it is the word.
func (p *exprParser) accept(word string) bool {
	if p.peek().is(word) {
		p.pos++
		return true
	}
	return false
}

func (p *exprParser) expect(word string) *ExprError {
	if !p.accept(word) {
		return fault(p.peek(), "", "%s where %q is needed", p.peek(), word)
	}
	return nil
}

func (p *exprParser) or() (node, *ExprError) { return p.chain("OR", p.and) }

func (p *exprParser) and() (node, *ExprError) { return p.chain("AND", p.not) }

func (p *exprParser) chain(op string, part func() (node, *ExprError)) (node, *ExprError) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	parts := []node{first}
	for p.accept(op) {
		n, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	if len(parts) == 1 {
		return first, nil
	}
	return &logic{or: op == "OR", parts: parts}, nil
}

func (p *exprParser) not() (node, *ExprError) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxExprDepth {
		return nil, fault(p.peek(), "write several rules", "the expression is nested more than %d deep", maxExprDepth)
	}
	if p.accept("NOT") {
		n, err := p.not()
		if err != nil {
			return nil, err
		}
		return &negation{n}, nil
	}
	if p.accept("(") {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	}
	return p.predicate()
}

func (p *exprParser) predicate() (node, *ExprError) {
	start := p.peek()
	if start.kind == tokName && p.tokens[min(p.pos+1, len(p.tokens)-1)].is("(") {
		switch name := strings.ToLower(start.text); name {
		case "starts_with", "contains":
			return p.test(name)
		}
	}
	left, err := p.operand(true)
	if err != nil {
		return nil, err
	}
	op := p.peek()
	negated := false
	if op.is("NOT") {
		p.next()
		op, negated = p.peek(), true
		if !op.is("IN") && !op.is("BETWEEN") && !op.is("LIKE") {
			return nil, fault(op, "NOT IN, NOT BETWEEN, NOT LIKE", "%s after NOT", op)
		}
	}
	switch {
	case op.is("IS"):
		p.next()
		neg := p.accept("NOT")
		if err := p.expect("NULL"); err != nil {
			return nil, err
		}
		f, ok := left.(*fieldRef)
		if !ok {
			return nil, fault(start, "name the field itself", "only a field can be null")
		}
		return &nullTest{f, neg}, nil
	case op.is("IN"):
		p.next()
		return p.in(left, start, negated)
	case op.is("BETWEEN"):
		p.next()
		return p.between(left, start, negated)
	case op.is("LIKE"):
		p.next()
		return p.like(left, start, negated)
	case op.kind == tokSymbol && slices.Contains([]string{"=", "<>", "!=", "<", "<=", ">", ">="}, op.text):
		p.next()
		rightAt := p.peek()
		right, err := p.operand(true)
		if err != nil {
			return nil, err
		}
		return p.comparison(op, left, right, start, rightAt)
	}
	if f, ok := left.(*fieldRef); ok && f.kind() == kindBoolean {
		return &booleanField{f}, nil
	}
	if f, ok := left.(*fieldRef); ok && op.kind == tokEnd {
		return nil, fault(start, "compare it: "+f.field.Name+" = …", "the field %s is %s, no condition by itself", f.field.Name, f.field.Type)
	}
	return nil, fault(op, "operators: = <> < <= > >= IN BETWEEN LIKE IS NULL", "%s where an operator is needed", op)
}

// operand reads a field, a literal, lower(…) or upper(…).
func (p *exprParser) operand(fieldAllowed bool) (operand, *ExprError) {
	t := p.next()
	switch t.kind {
	case tokText:
		return &literal{k: kindText, v: t.text}, nil
	case tokNumber:
		v, err := parseDecimal(t.text)
		if err != nil {
			return nil, fault(t, fmt.Sprintf("digits with an optional point, at most %d of them", maxDigits), "%s is no number", t)
		}
		return &literal{k: kindNumber, v: v}, nil
	case tokName, tokQuotedName:
		if t.kind == tokName {
			switch word := strings.ToLower(t.text); word {
			case "true", "false":
				return &literal{k: kindBoolean, v: word == "true"}, nil
			case "null":
				return nil, fault(t, "write IS NULL or IS NOT NULL", "nothing equals NULL, not even NULL")
			case "lower", "upper":
				if p.peek().is("(") && fieldAllowed {
					return p.letters(word)
				}
			case "and", "or", "not", "in", "is", "between", "like":
				return nil, fault(t, "", "%s where a field or a value is needed", t)
			}
			if p.peek().is("(") {
				functions := []string{"lower", "upper", "starts_with", "contains"}
				return nil, fault(t, didYouMean(strings.ToLower(t.text), functions), "there is no function %s here", t)
			}
		}
		for i := range p.known {
			if p.known[i].Name == t.text {
				if !fieldAllowed {
					return nil, fault(t, "write the value itself", "%s is a field where a literal is needed", t)
				}
				return &fieldRef{&p.known[i]}, nil
			}
		}
		hint := didYouMean(t.text, fieldNames(p.known))
		if !strings.HasPrefix(hint, "did") && t.kind == tokQuotedName {
			hint = "texts are in single quotes: '" + t.text + "'"
		}
		missing := fault(t, hint, "there is no field %s", t)
		missing.field = t.text
		return nil, missing
	}
	return nil, fault(t, "", "%s where a field or a value is needed", t)
}

func (p *exprParser) letters(word string) (operand, *ExprError) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	at := p.peek()
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxExprDepth {
		return nil, fault(at, "", "the expression is nested more than %d deep", maxExprDepth)
	}
	arg, err := p.operand(true)
	if err != nil {
		return nil, err
	}
	if arg.kind() != kindText {
		return nil, fault(at, "it takes a text", "%s of a %s", word, arg.kind())
	}
	return &letterCase{word == "upper", arg}, p.expect(")")
}

// test reads starts_with(x, 'p') or contains(x, 'p').
func (p *exprParser) test(name string) (node, *ExprError) {
	p.next()
	p.next()
	at := p.peek()
	arg, err := p.operand(true)
	if err != nil {
		return nil, err
	}
	if arg.kind() != kindText || !hasField(arg) {
		return nil, fault(at, "it takes a field of type text", "%s of something else than a text field", name)
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	t := p.next()
	if t.kind != tokText || t.text == "" {
		return nil, fault(t, "write it in single quotes", "%s where the text to look for is needed", t)
	}
	return &textTest{name: name, arg: arg, text: t.text}, p.expect(")")
}

func hasField(o operand) bool {
	found := false
	o.fields(func(string) { found = true })
	return found
}

func (p *exprParser) comparison(op token, left, right operand, leftAt, rightAt token) (node, *ExprError) {
	o := op.text
	if o == "!=" {
		o = "<>"
	}
	if !hasField(left) && !hasField(right) {
		return nil, fault(leftAt, "compare a field", "the comparison names no field")
	}
	if !hasField(left) {
		left, right, rightAt = right, left, leftAt
		o = map[string]string{"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}[o]
	}
	right, err := p.fit(left, right, rightAt)
	if err != nil {
		return nil, err
	}
	if left.kind() == kindBoolean && o != "=" && o != "<>" {
		return nil, fault(op, "use = or <>", "true and false have no order")
	}
	if err := comparableNumbers(left, right, o, rightAt); err != nil {
		return nil, err
	}
	return &comparison{op: o, left: left, right: right}, nil
}

// fit checks that the right operand has the type of the left one; a text beside
// a date or timestamp is read as one.
func (p *exprParser) fit(left, right operand, at token) (operand, *ExprError) {
	lit, isLiteral := right.(*literal)
	switch {
	case isLiteral && lit.k == kindText && left.kind() == kindDate:
		t, err := time.Parse(dateLayout, lit.v.(string))
		if err != nil {
			return nil, fault(at, "dates are written '2026-08-20'", "%s is no date", at)
		}
		return &literal{k: kindDate, v: t.Unix() / 86400}, nil
	case isLiteral && lit.k == kindText && left.kind() == kindTimestamp:
		x, err := parseInstantText(lit.v.(string))
		if err != nil || !x.offset {
			return nil, fault(at, "instants are written with their offset: '2026-08-20T04:00:00Z'", "%s is no instant", at)
		}
		return &literal{k: kindTimestamp, v: x.wall.UnixMicro()}, nil
	case left.kind() != right.kind():
		hint := "compare values of one type; nothing is converted"
		if f, ok := left.(*fieldRef); ok && f.field.Type == Text && right.kind() == kindNumber {
			hint = "declare `type: integer` or `type: decimal` for the field, or write the text in quotes"
		}
		return nil, fault(at, hint, "a %s beside a %s", right.kind(), left.kind())
	case isLiteral && lit.k == kindText:
		if f, ok := left.(*fieldRef); ok && f.field.Type == Currency && strings.ToUpper(lit.v.(string)) != lit.v.(string) {
			return nil, fault(at, "write '"+strings.ToUpper(lit.v.(string))+"'", "currencies are in capital letters, so that %s equals none", at)
		}
		if f, ok := left.(*fieldRef); ok && p.texts[f.field.Name] != nil && !slices.Contains(p.texts[f.field.Name], lit.v.(string)) {
			return nil, fault(at, didYouMean(lit.v.(string), p.texts[f.field.Name]), "%s is no %s", at, f.field.Name)
		}
	}
	return right, nil
}

func (p *exprParser) in(left operand, leftAt token, negated bool) (node, *ExprError) {
	if !hasField(left) {
		return nil, fault(leftAt, "compare a field", "the comparison names no field")
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	n := &membership{arg: left, negated: negated}
	for {
		at := p.peek()
		v, err := p.operand(false)
		if err != nil {
			return nil, err
		}
		if v, err = p.fit(left, v, at); err != nil {
			return nil, err
		}
		n.values = append(n.values, v.(*literal))
		if !p.accept(",") {
			break
		}
	}
	return n, p.expect(")")
}

// between is two comparisons: x >= a AND x <= b.
func (p *exprParser) between(left operand, leftAt token, negated bool) (node, *ExprError) {
	if !hasField(left) {
		return nil, fault(leftAt, "compare a field", "the comparison names no field")
	}
	if left.kind() == kindBoolean {
		return nil, fault(leftAt, "use =", "true and false have no order")
	}
	bound := func(op string) (node, *ExprError) {
		at := p.peek()
		v, err := p.operand(false)
		if err != nil {
			return nil, err
		}
		if v, err = p.fit(left, v, at); err != nil {
			return nil, err
		}
		return &comparison{op: op, left: left, right: v}, nil
	}
	low, err := bound(">=")
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := bound("<=")
	if err != nil {
		return nil, err
	}
	var n node = &logic{parts: []node{low, high}}
	if negated {
		n = &negation{n}
	}
	return n, nil
}

func (p *exprParser) like(left operand, leftAt token, negated bool) (node, *ExprError) {
	if left.kind() != kindText || !hasField(left) {
		return nil, fault(leftAt, "it takes a field of type text", "LIKE beside something else than a text field")
	}
	t := p.next()
	if t.kind != tokText {
		return nil, fault(t, "write the pattern in single quotes: 'fee%'", "%s where a pattern is needed", t)
	}
	var n node = &textTest{name: "like", arg: left, text: t.text}
	if negated {
		n = &negation{n}
	}
	return n, nil
}
