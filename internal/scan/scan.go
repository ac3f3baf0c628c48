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
	if l.near {
		out = findTokens(text)
	}
	if l.digits >= leastCard || l.digits >= 2 && l.alnum >= leastIBAN {
		// An IBAN may hold blocks of digits that look like a card; it is the longer find.
		for _, list := range [][]Span{findIBANs(text), findCards(text)} {
			for _, s := range list {
				taken := func(o Span) bool { return s.From < o.Until && o.From < s.Until }
				if !slices.ContainsFunc(out, taken) && !insideUUID(text, s) {
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
	digits int  // in all
	alnum  int  // letters and digits in all
	near   bool // three characters in a row begin a word that stands in every token
}

// code gives the characters of the words by which tokens are known five bits, letters
// without their case; 0 all others.
var code = func() (out [256]uint16) {
	for i, c := range []byte("abcdefghijklmnopqrstuvwxyz_.-:/") {
		out[c] = uint16(i + 1)
		if isLetter(c) {
			out[c-'a'+'A'] = uint16(i + 1)
		}
	}
	return out
}()

// begins has the first three characters of those words.
var begins = func() (out [1 << 15]bool) {
	for _, s := range secrets {
		for _, n := range s.near {
			out[code[n[0]]<<10|code[n[1]]<<5|code[n[2]]] = true
		}
	}
	return out
}()

func look(text string) looked {
	var l looked
	three := uint16(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		three = three<<5&(1<<15-1) | code[c]
		l.near = l.near || begins[three]
		switch {
		case isDigit(c):
			l.digits++
			l.alnum++
		case isLetter(c):
			l.alnum++
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
