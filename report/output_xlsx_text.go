package report

import (
	"strings"
	"unicode/utf8"
)

// shownCell is a value as the text of a cell: 200 characters are shown (see cut), and what a
// spreadsheet could take for a formula is neutralised (see peopleCell).
func shownCell(value string) string {
	if len(value) <= maxCell && value != "" && plainStart(value) && plainText(value) {
		return value
	}
	return xmlCharacters.Replace(peopleCell(value))
}

// plainStart tells that a text starts like nothing that is computed.
func plainStart(s string) bool {
	c := s[0] | 0x20 // letters of both cases
	return c >= 'a' && c <= 'z' || s[0] >= '0' && s[0] <= '9'
}

// plainText tells that peopleCell changes nothing in a text that starts plainly.
func plainText(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f || s[i] == ';' {
			return false
		}
	}
	return true
}

// xmlCharacters spells out what is no character of XML: the library would write another one.
var xmlCharacters = strings.NewReplacer("\ufffe", `\u{FFFE}`, "\uffff", `\u{FFFF}`)

// maxSentence is how many characters of a text of ours are shown. A cell takes 32,767; the
// library cuts what is longer without a word.
const maxSentence = 8000

// sentenceText is peopleCell of a text that the program made: it is not cut where a value
// is. The values in it are cut already.
func sentenceText(s string) string {
	if utf8.RuneCountInString(s) > maxSentence {
		s = string([]rune(s)[:maxSentence]) + "…"
	}
	text := xmlCharacters.Replace(visible(s))
	if s != "" && startsFormula(s) {
		return "'" + text
	}
	return text
}
