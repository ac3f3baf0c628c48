package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCell is how many characters of a value people see; the files for machines
// have it whole.
const maxCell = 200

// A cut value ends in "… (n characters)", at most cutMark characters with a
// number of 20 digits.
const (
	cutEnd  = " characters)"
	cutMark = 3 + 20 + len(cutEnd)
)

// cut shortens a value for people and says how long it was.
func cut(s string) string {
	if len(s) <= maxCell {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= maxCell || (n <= maxCell+cutMark && strings.HasSuffix(s, cutEnd)) {
		return s // short, or cut already
	}
	i := 0
	for range maxCell {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return fmt.Sprintf("%s… (%d%s", s[:i], n, cutEnd)
}

// visible makes a value safe to look at anywhere: control characters, bytes that
// are no UTF-8, and marks that are invisible or turn the direction of text are
// spelled out as an escape. So a terminal sees no escape sequence, and two
// different values never look the same because of a hidden character.
func visible(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= 0x20 && s[i] < 0x7f
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w <= 1:
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteString(s[i : i+w])
		}
		i += w
	}
	return b.String()
}

// hidden tells the characters that do something, or nothing visible, instead of
// showing themselves: Unicode categories Cc, Cf, Cs, Co, Zl and Zp, and the
// blanks that look like a space and are none.
func hidden(r rune) bool {
	if r == ' ' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector)
}

// shown is a value as people see it: cut, then spelled out.
func shown(s string) string { return visible(cut(s)) }

// markdownText makes a value plain text in CommonMark and GFM: entities for
// markup, a backslash before everything that could start a construct, and before
// the full stop of an address that would become a link by itself.
func markdownText(s string) string { return markdownEscape(shown(s)) }

// markdownEscape is markdownText for a text of ours that is not cut.
func markdownEscape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("&#64;")
		case strings.ContainsRune("\\`*_{}[]()#+!|~$^=\"'", r), r == ':' && i+1 < len(s) && s[i+1] != ' ':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteString(`\.`)
		case r == '-' && i == 0:
			b.WriteString(`\-`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
