package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxExpression bounds the text of an expression, in bytes.
const maxExpression = 10_000

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokQuotedName // "name": a field, also where it is a keyword
	tokText
	tokNumber
	tokSymbol
)

// token of an expression. Offset counts characters.
type token struct {
	kind   tokenKind
	text   string
	offset int
}

// is tells whether the token is the keyword, in any case, or the symbol.
func (t token) is(word string) bool {
	return t.kind == tokName && strings.EqualFold(t.text, word) || t.kind == tokSymbol && t.text == word
}

func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokText:
		return "'" + t.text + "'"
	default:
		return fmt.Sprintf("%q", t.text)
	}
}

// symbols, the longest first.
var symbols = []string{"<>", "!=", "<=", ">=", "=", "<", ">", "(", ")", ","}

func lex(s string) ([]token, *ExprError) {
	if len(s) > maxExpression {
		return nil, &ExprError{Msg: fmt.Sprintf("the expression is longer than %d bytes", maxExpression), Hint: "write several rules"}
	}
	if !utf8.ValidString(s) {
		return nil, &ExprError{Msg: "the expression is not UTF-8"}
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return nil, &ExprError{Offset: utf8.RuneCountInString(s[:i]), Msg: "a NUL character", Hint: "remove it"}
	}
	var out []token
	i, offset := 0, 0
	emit := func(kind tokenKind, text string, size int) {
		out = append(out, token{kind, text, offset})
		offset += utf8.RuneCountInString(s[i : i+size])
		i += size
	}
next:
	for i < len(s) {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			offset++
		case c == '\'' || c == '"':
			text, size, ok := quoted(s[i:])
			if !ok {
				return nil, &ExprError{Offset: offset, Msg: "a quote that does not end", Hint: "double a quote inside a text: 'it''s'"}
			}
			if c == '"' {
				emit(tokQuotedName, text, size)
			} else {
				emit(tokText, text, size)
			}
		case isDigit(c) || c == '-' && i+1 < len(s) && isDigit(s[i+1]):
			size := 1
			for i+size < len(s) && (isDigit(s[i+size]) || s[i+size] == '.') {
				size++
			}
			if i+size < len(s) && (isLetter(s[i+size]) || s[i+size] == '_') {
				return nil, &ExprError{Offset: offset, Msg: "a number that runs into a name", Hint: "texts are in single quotes; numbers are digits with an optional point"}
			}
			emit(tokNumber, s[i:i+size], size)
		case isLetter(c) || c == '_':
			size := 1
			for i+size < len(s) && (isLetter(s[i+size]) || isDigit(s[i+size]) || s[i+size] == '_') {
				size++
			}
			emit(tokName, s[i:i+size], size)
		default:
			for _, sym := range symbols {
				if strings.HasPrefix(s[i:], sym) {
					emit(tokSymbol, sym, len(sym))
					continue next
				}
			}
			if c == '/' || c == '%' {
				return nil, &ExprError{Offset: offset, Msg: "expressions do not divide: a divisor may be zero", Hint: "compare without division: fee > 10 in place of fee / amount > 0.1, or add the quotient to the export"}
			}
			r, _ := utf8.DecodeRuneInString(s[i:])
			return nil, &ExprError{Offset: offset, Msg: fmt.Sprintf("unexpected %q", r), Hint: "operators: = <> < <= > >= IN BETWEEN LIKE IS NULL AND OR NOT"}
		}
	}
	return append(out, token{kind: tokEnd, offset: offset}), nil
}

// quoted reads a quoted text with its quote doubled inside; size counts bytes.
func quoted(s string) (text string, size int, ok bool) {
	q := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != q {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
