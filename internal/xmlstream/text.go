package xmlstream

import (
	"bytes"
	"unicode/utf8"
)

// maxName bounds a name in a message, in bytes.
const maxName = 80

func clipName(name []byte) []byte { return name[:min(len(name), maxName)] }

// local is a name without its namespace prefix.
func local(name []byte) []byte {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

// validName tells whether a text is a name (§2.3), its prefix and local part not
// empty; letters outside ASCII are all taken.
func validName(name []byte) bool {
	if len(name) == 0 || name[len(name)-1] == ':' {
		return false
	}
	start := true
	colons := 0
	for _, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
		switch {
		case letter:
		case c == ':' && !start && colons == 0:
			colons++
			start = true
			continue
		case start, (c < '0' || c > '9') && c != '-' && c != '.':
			return false
		}
		start = false
	}
	return true
}

// lineFeeds appends a text with every line end as one line feed (§2.11).
func lineFeeds(b, text []byte) []byte {
	for i, c := range text {
		if c == '\r' {
			if i+1 < len(text) && text[i+1] == '\n' {
				continue
			}
			c = '\n'
		}
		b = append(b, c)
	}
	return b
}

// resolve appends a text with its references replaced. In an attribute white space
// becomes blanks, unless it is written as a reference.
func (x *Reader) resolve(b, text []byte, attribute bool) ([]byte, error) {
	for len(text) > 0 {
		i := bytes.IndexByte(text, '&')
		plain := text
		if i >= 0 {
			plain = text[:i]
		}
		at := len(b)
		b = lineFeeds(b, plain)
		if attribute {
			for j := at; j < len(b); j++ {
				if b[j] == '\n' || b[j] == '\t' {
					b[j] = ' '
				}
			}
		}
		if i < 0 {
			return b, nil
		}
		end := bytes.IndexByte(text[i:], ';')
		if end < 0 || end > 12 {
			return nil, x.broken("an ampersand that begins no reference")
		}
		name := text[i+1 : i+end]
		var ok bool
		if b, ok = reference(b, name); !ok {
			return nil, x.broken("the reference &" + string(name) + "; is not known: only &lt; &gt; &amp; &apos; &quot; and characters by number are read")
		}
		text = text[i+end+1:]
	}
	return b, nil
}

// reference appends the character of a reference (§4.1, §4.6).
func reference(b, name []byte) ([]byte, bool) {
	switch string(name) {
	case "lt":
		return append(b, '<'), true
	case "gt":
		return append(b, '>'), true
	case "amp":
		return append(b, '&'), true
	case "apos":
		return append(b, '\''), true
	case "quot":
		return append(b, '"'), true
	}
	if len(name) < 2 || name[0] != '#' {
		return b, false
	}
	digits, base := name[1:], rune(10)
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	var r rune
	for _, c := range digits {
		var d rune
		switch {
		case c >= '0' && c <= '9':
			d = rune(c - '0')
		case base == 16 && c >= 'a' && c <= 'f':
			d = rune(c-'a') + 10
		case base == 16 && c >= 'A' && c <= 'F':
			d = rune(c-'A') + 10
		default:
			return b, false
		}
		if r = r*base + d; r > utf8.MaxRune {
			return b, false
		}
	}
	legal := r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r < 0xD800 || r >= 0xE000 && r < 0xFFFE || r > 0xFFFF
	if len(digits) == 0 || !legal {
		return b, false
	}
	return utf8.AppendRune(b, r), true
}
