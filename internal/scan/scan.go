package scan

import (
	"slices"
	"strings"
)

// Kind of a find.
type Kind int

// The kinds, in the order in which counts are told.
const (
	Card Kind = iota
	IBAN
	Token
	kinds
)

// Span is a find: the bytes from From until Until of the text, and what stands for them.
type Span struct {
	From, Until int
	Kind        Kind
	Shown       string
}

// Counts of finds by kind.
type Counts [kinds]int64

// Add adds the counts of others.
func (c *Counts) Add(of Counts) {
	for i, n := range of {
		c[i] += n
	}
}

// Sum is the number of all finds.
func (c Counts) Sum() (n int64) {
	for _, x := range c {
		n += x
	}
	return n
}

// shortest is the length of the shortest text that can hold a find: pwd=abcd.
const shortest = 8

// Find lists what a text holds, in its order; no two overlap.
func Find(text string) []Span {
	if len(text) < shortest {
		return nil
	}
	var out []Span
	l := look(text)
	if l.secrets(text) {
		out = findTokens(text)
	}
	if l.digits >= leastCard || l.digits >= 2 && l.longest >= leastIBAN {
		ids := uuids.FindAllStringIndex(text, -1)
		free := func(s Span) bool {
			for _, id := range ids {
				if s.From < id[1] && id[0] < s.Until {
					return false
				}
			}
			return !slices.ContainsFunc(out, func(o Span) bool { return s.From < o.Until && o.From < s.Until })
		}
		// An IBAN may hold blocks of digits that look like a card; it is the longer find.
		for _, list := range [][]Span{findIBANs(text), findCards(text)} {
			for _, s := range list {
				if free(s) {
					out = append(out, s)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Span) int { return a.From - b.From })
	return out
}

// Mask replaces every find by what stands for it. Masking again changes nothing.
func Mask(text string) (string, Counts) {
	var n Counts
	spans := Find(text)
	if len(spans) == 0 {
		return text, n
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.From])
		b.WriteString(s.Shown)
		at = s.Until
		n[s.Kind]++
	}
	b.WriteString(text[at:])
	return b.String(), n
}

// Text is Mask without the counts.
func Text(text string) string {
	out, _ := Mask(text)
	return out
}

// looked is what one look at a text tells: enough to leave almost all of them alone.
type looked struct {
	digits  int // in all
	longest int // letters and digits in all
	equals  bool
	colon   bool
	under   bool
	dash    bool
	dot     bool
	upper   bool
}

func look(text string) looked {
	var l looked
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			l.digits++
			l.longest++
		case c >= 'a' && c <= 'z':
			l.longest++
		case c >= 'A' && c <= 'Z':
			l.longest++
			l.upper = true
		case c == '=':
			l.equals = true
		case c == ':':
			l.colon = true
		case c == '_':
			l.under = true
		case c == '-':
			l.dash = true
		case c == '.':
			l.dot = true
		}
	}
	return l
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

// between is the length of one blank or dash at a place of a text, 0 where none stands.
func between(text string, at int) int {
	if at >= len(text) {
		return 0
	}
	if c := text[at]; c == ' ' || c == '-' {
		return 1
	}
	// Blanks and dashes that do not break a line, and the longer dashes.
	for _, s := range []string{"\u00a0", "\u202f", "\u2007", "\u2010", "\u2011", "\u2012", "\u2013"} {
		if strings.HasPrefix(text[at:], s) {
			return len(s)
		}
	}
	return 0
}
