package rules

import (
	"fmt"
	"strings"
)

// SQLText is a query cut at its parameters, so that nobody has to look into its text
// again: what lies between them goes to the server as it is written.
type SQLText []SQLPart

// SQLPart is text of a query, or the name of a parameter. A colon in a literal, in a
// quoted name, in a comment, in a cast (::) or before a digit or a blank is text.
type SQLPart struct {
	Text string // "" for a parameter
	Name string // "" for text
}

// Engines of SQL databases.
const (
	Postgres = "postgres"
	MySQL    = "mysql" // MariaDB too
)

// sqlError is why a text is no query that may be sent.
type sqlError struct {
	msg, hint string
}

func (e *sqlError) Error() string { return e.msg }

// parseSQL cuts the text of one query. It knows as much of the language as it takes to
// tell a parameter from anything else, and refuses what would make that uncertain: an
// open quote, a second statement, a comment that MySQL executes, marks for parameters
// that are not ours. MySQL is meant with backslash escapes and with " as a quote of
// texts, which is what the session sets.
func parseSQL(engine, text string) (SQLText, *sqlError) {
	l := &sqlLexer{s: text, mysql: engine == MySQL}
	if err := l.run(); err != nil {
		return nil, err
	}
	l.flush(len(text))
	return l.out, nil
}

type sqlLexer struct {
	s     string
	mysql bool
	i     int
	from  int // of the text that is not in out yet
	out   SQLText
	ended bool // by a semicolon
}

// flush takes the text up to a byte over.
func (l *sqlLexer) flush(to int) {
	if to > l.from {
		l.out = append(l.out, SQLPart{Text: l.s[l.from:to]})
	}
	l.from = to
}

func (l *sqlLexer) run() *sqlError {
	words := false
	for l.i < len(l.s) {
		c := l.s[l.i]
		if l.blank(c) {
			l.i++
			continue
		}
		comment, err := l.comment()
		if err != nil {
			return err
		}
		if comment {
			continue
		}
		if l.ended {
			return &sqlError{"a second statement follows the first", "one query a source; make two sources of them"}
		}
		if c == ';' {
			// Sent inside of other text, a semicolon would end too early.
			l.flush(l.i)
			l.i++
			l.from, l.ended = l.i, true
			continue
		}
		words = true
		if err := l.token(c); err != nil {
			return err
		}
	}
	if !words {
		return &sqlError{"the query is empty", "write the SELECT that gives the rows"}
	}
	return nil
}

func (l *sqlLexer) blank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

// comment passes a comment, if one begins here.
func (l *sqlLexer) comment() (bool, *sqlError) {
	rest := l.s[l.i:]
	switch {
	case l.mysql && rest[0] == '#', strings.HasPrefix(rest, "--") && (!l.mysql || len(rest) == 2 || rest[2] <= ' '):
		end := strings.IndexByte(rest, '\n')
		if !l.mysql {
			end = strings.IndexAny(rest, "\r\n")
		}
		if end < 0 {
			end = len(rest)
		}
		// Text of ours may follow the query.
		if end == len(rest) {
			l.flush(l.i)
			l.from = len(l.s)
		}
		l.i += end
		return true, nil
	case !strings.HasPrefix(rest, "/*"):
		return false, nil
	case l.mysql && (strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")):
		return false, &sqlError{"a comment that the server executes", "write what is in it into the query, or take it out"}
	}
	depth, i := 1, 2
	for depth > 0 {
		switch {
		case i+1 >= len(rest):
			return false, &sqlError{"a comment is never closed", "close it with */"}
		case rest[i] == '*' && rest[i+1] == '/':
			depth--
			i += 2
		case !l.mysql && rest[i] == '/' && rest[i+1] == '*':
			depth++
			i += 2
		default:
			i++
		}
	}
	l.i += i
	return true, nil
}

// token passes what is no blank and no comment.
func (l *sqlLexer) token(c byte) *sqlError {
	switch {
	case c == '\'':
		return l.quoted(c, l.mysql)
	case c == '"':
		return l.quoted(c, l.mysql)
	case c == '`' && l.mysql:
		return l.quoted(c, false)
	case c == '$' && !l.mysql:
		return l.dollar()
	case c == '?' && l.mysql:
		return &sqlError{"a ? stands for a parameter without a name", "write the parameter with its name, as :business_date"}
	case c == ':':
		l.colon()
	case wordByte(c):
		start := l.i
		for l.i < len(l.s) && (wordByte(l.s[l.i]) || l.s[l.i] == '$') {
			l.i++
		}
		word := l.s[start:l.i]
		if !l.mysql && (word == "e" || word == "E") && l.i < len(l.s) && l.s[l.i] == '\'' {
			return l.escaped()
		}
	default:
		l.i++
	}
	return nil
}

// wordByte tells whether a byte belongs to a name or number. Bytes of characters beyond
// ASCII do.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func nameStart(c byte) bool { return wordByte(c) && (c < '0' || c > '9') && c < 0x80 }

// quoted passes a quoted text or name. A doubled quote is one of its characters, and so
// is whatever follows a backslash, where it escapes.
func (l *sqlLexer) quoted(q byte, escapes bool) *sqlError {
	for l.i++; l.i < len(l.s); l.i++ {
		switch c := l.s[l.i]; {
		case c == '\\' && escapes:
			l.i++
		case c != q:
		case l.i+1 < len(l.s) && l.s[l.i+1] == q:
			l.i++
		default:
			l.i++
			return nil
		}
	}
	return &sqlError{fmt.Sprintf("a quote (%c) is never closed", q), "close it; inside of a text a quote is doubled"}
}

// escaped passes a text of PostgreSQL with escapes (E'…'). One that goes on after a line
// end would have to be known as such, with comments between its parts.
func (l *sqlLexer) escaped() *sqlError {
	if err := l.quoted('\'', true); err != nil {
		return err
	}
	rest := l.s[l.i:]
	for {
		rest = strings.TrimLeft(rest, " \t\n\r\f\v")
		if !strings.HasPrefix(rest, "--") {
			break
		}
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if strings.HasPrefix(rest, "'") {
		return &sqlError{"a text with escapes (E'…') is followed by another text", "write it as one text, or join the parts with ||"}
	}
	return nil
}

// dollar passes a text in dollars ($$…$$, $tag$…$tag$).
func (l *sqlLexer) dollar() *sqlError {
	end := l.i + 1
	for end < len(l.s) && wordByte(l.s[end]) {
		end++
	}
	first := end > l.i+1 && l.s[l.i+1] >= '0' && l.s[l.i+1] <= '9'
	if first {
		return &sqlError{l.s[l.i:end] + " stands for a parameter without a name", "write the parameter with its name, as :business_date"}
	}
	if end == len(l.s) || l.s[end] != '$' {
		l.i = end
		return nil
	}
	tag := l.s[l.i : end+1]
	n := strings.Index(l.s[end+1:], tag)
	if n < 0 {
		return &sqlError{"a text in dollars (" + tag + ") is never closed", "close it by the same mark"}
	}
	l.i = end + 1 + n + len(tag)
	return nil
}

// colon passes a colon: a cast, an assignment, part of a slice, or a parameter.
func (l *sqlLexer) colon() {
	rest := l.s[l.i:]
	if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, ":=") {
		l.i += 2
		return
	}
	if len(rest) == 1 || !nameStart(rest[1]) {
		l.i++
		return
	}
	end := 1
	for end < len(rest) && wordByte(rest[end]) {
		end++
	}
	l.flush(l.i)
	l.out = append(l.out, SQLPart{Name: rest[1:end]})
	l.i += end
	l.from = l.i
}

// Uses tells whether the query holds a parameter.
func (t SQLText) Uses(name string) bool {
	for _, p := range t {
		if p.Name == name && name != "" {
			return true
		}
	}
	return false
}

// Names are those of the parameters, each once, in the order of the text.
func (t SQLText) Names() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range t {
		if p.Name != "" && !seen[p.Name] {
			seen[p.Name] = true
			out = append(out, p.Name)
		}
	}
	return out
}
