package extract

import (
	"bytes"
	"strconv"
)

// semanticOrder writes a SemVer 2.0.0 version as a text whose byte order is the
// precedence of §11: numbers are prefixed with their length, a version without
// pre-release comes after those with one, numeric identifiers before others,
// shorter lists before longer ones. Build metadata has no part in it (§10). It is
// false where the text is no semantic version; a leading v is none.
func semanticOrder(b, text []byte) ([]byte, bool) {
	if i := bytes.IndexByte(text, '+'); i >= 0 {
		if !validIdentifiers(text[i+1:], false) {
			return b, false
		}
		text = text[:i]
	}
	var pre []byte
	hasPre := false
	if i := bytes.IndexByte(text, '-'); i >= 0 {
		text, pre, hasPre = text[:i], text[i+1:], true
		if !validIdentifiers(pre, true) {
			return b, false
		}
	}
	core := bytes.Split(text, []byte{'.'})
	if len(core) != 3 {
		return b, false
	}
	for i, n := range core {
		if !isNumeric(n) || len(n) > 1 && n[0] == '0' {
			return b, false
		}
		if i > 0 {
			b = append(b, '.')
		}
		b = appendSortableNumber(b, n)
	}
	if !hasPre {
		return append(b, '~'), true // after '-'
	}
	b = append(b, '-')
	for id := range bytes.SplitSeq(pre, []byte{'.'}) {
		if isNumeric(id) {
			b = appendSortableNumber(append(b, '1'), id)
		} else {
			b = append(append(b, '2'), id...)
		}
		// '!' sorts before every character of an identifier, so that a prefix and the
		// end of a list come first.
		b = append(b, '!')
	}
	return b, true
}

// appendSortableNumber writes digits so that byte order is numeric order: the
// number of digits, itself led by its own length, then the digits.
func appendSortableNumber(b, digits []byte) []byte {
	n := strconv.Itoa(len(digits))
	b = append(b, byte('a'+len(n)-1))
	return append(append(b, n...), digits...)
}

// validIdentifiers checks dot separated identifiers [0-9A-Za-z-]+; numeric ones of
// a pre-release have no leading zero.
func validIdentifiers(list []byte, preRelease bool) bool {
	for id := range bytes.SplitSeq(list, []byte{'.'}) {
		if len(id) == 0 || preRelease && isNumeric(id) && len(id) > 1 && id[0] == '0' {
			return false
		}
		for _, c := range id {
			if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' {
				return false
			}
		}
	}
	return true
}

func isNumeric(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
