package report

import (
	"strings"
	"unicode/utf8"
)

// Kinds of bytes in the text of a cell.
const (
	bytePlain  = iota
	byteMarkup // & < >
	byteOther  // control characters, and what is no ASCII
	byteEscape // _, which may begin an escape of the format
)

var byteKinds = func() (kinds [256]byte) {
	for i := range kinds {
		switch {
		case i < 0x20 || i >= 0x7f:
			kinds[i] = byteOther
		case strings.IndexByte("&<>", byte(i)) >= 0:
			kinds[i] = byteMarkup
		case i == '_':
			kinds[i] = byteEscape
		}
	}
	return kinds
}()

// appendCellText appends a value as the text of a cell, as XML, and tells whether it is
// cut: 200 characters are shown (see cut). What a spreadsheet could take for a formula is
// neutralised (see peopleCell).
func appendCellText(b []byte, value string) (_ []byte, cut bool) {
	if len(value) <= maxCell && plainStart(value) {
		i := 0
		for i < len(value) && byteKinds[value[i]] == bytePlain {
			i++
		}
		if i == len(value) {
			return append(b, value...), false
		}
	}
	cut = len(value) > maxCell && utf8.RuneCountInString(value) > maxCell
	return appendXML(b, peopleCell(value)), cut
}

// plainStart tells that a text starts like nothing that is computed.
func plainStart(s string) bool {
	c := s[0] | 0x20 // letters of both cases
	return c >= 'a' && c <= 'z' || s[0] >= '0' && s[0] <= '9'
}

// maxSentence is how many characters of a text of ours are shown. A cell takes 32,767.
const maxSentence = 8000

// sentenceText is peopleCell of a text that the program made: it is not cut where a value
// is. The values in it are cut already.
func sentenceText(s string) string {
	if utf8.RuneCountInString(s) > maxSentence {
		s = string([]rune(s)[:maxSentence]) + "…"
	}
	if s != "" && startsFormula(s) {
		return "'" + visible(s)
	}
	return visible(s)
}

// appendXML appends a text without control characters as XML. What looks like an escape
// of the format, _x0041_, is escaped itself: a reader would turn it into another text.
func appendXML(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '&':
			b = append(b, "&amp;"...)
		case c == '<':
			b = append(b, "&lt;"...)
		case c == '>':
			b = append(b, "&gt;"...)
		case c == '_' && escapeAt(s[i:]):
			b = append(b, "_x005F_"...)
		case c == 0xEF && i+2 < len(s) && s[i+1] == 0xBF && s[i+2] >= 0xBE: // no character of XML
			b = append(b, `\u{FFF`...)
			b = append(b, s[i+2]-0xBE+'E', '}')
			i += 2
		default:
			b = append(b, c)
		}
	}
	return b
}

// escapeAt tells whether a text starts with _xHHHH_.
func escapeAt(s string) bool {
	if len(s) < 7 || s[1]|0x20 != 'x' || s[6] != '_' {
		return false
	}
	for _, c := range []byte(s[2:6]) {
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// propertyText is a text of the job as XML.
func propertyText(s string) string { return string(appendXML(nil, peopleCell(s))) }
