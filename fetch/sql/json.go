package sql

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// appendText appends a text as JSON. Bytes that are not UTF-8 stay, so that the reader
// of the file sees and refuses them.
func appendText(dst, v []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range v {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, v[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, v[from:]...)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// appendNumber appends the digits of a number as they are. What is no number of JSON
// (NaN, Infinity) is text, which nobody reads as a number.
func appendNumber(dst, v []byte) []byte {
	if len(v) == 0 || v[len(v)-1] < '0' || v[len(v)-1] > '9' {
		return appendText(dst, v)
	}
	return append(dst, v...)
}

// appendBytes appends bytes in the form of PostgreSQL, \x00ff.
func appendBytes(dst, v []byte) []byte {
	dst = append(dst, `"\\x`...)
	dst = hex.AppendEncode(dst, v)
	return append(dst, '"')
}

// appendJSON appends a document without its white space: its members can be addressed.
// One that is none (MariaDB keeps JSON as text) is text.
func appendJSON(dst, v []byte) []byte {
	b := bytes.NewBuffer(dst)
	if !utf8.Valid(v) || json.Compact(b, v) != nil {
		return appendText(dst, v)
	}
	return b.Bytes()
}

// head is what stands before the value of each column, commas and braces included.
func heads(cols []column) [][]byte {
	out := make([][]byte, len(cols))
	for i, c := range cols {
		start := byte(',')
		if i == 0 {
			start = '{'
		}
		out[i] = append(appendText([]byte{start}, []byte(c.name)), ':')
	}
	return out
}

const usPerDay = 24 * 3600 * 1_000_000

// appendDay appends a day, counted from 1970-01-01, of the proleptic Gregorian calendar.
// A year before 1 is not one that the form has: it is written as PostgreSQL does, with BC
// behind it, which the second result tells.
func appendDay(dst []byte, days int64) ([]byte, bool) {
	// https://howardhinnant.github.io/date_algorithms.html#civil_from_days
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	y := yoe + era*400
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	if m <= 2 {
		y++
	}
	bc := y <= 0
	if bc {
		y = 1 - y
	}
	dst = appendPadded(dst, y, 4)
	dst = append(dst, '-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
	return dst, bc
}

// appendPadded appends a number with zeros before it, up to a width.
func appendPadded(dst []byte, n int64, width int) []byte {
	var b [20]byte
	i := len(b)
	for n > 0 || width > 0 {
		i--
		b[i] = byte('0' + n%10)
		n /= 10
		width--
	}
	return append(dst, b[i:]...)
}

// appendClock appends a time of day in microseconds, with six decimals.
func appendClock(dst []byte, us int64) []byte {
	s := us / 1_000_000
	h, m, sec := s/3600, s/60%60, s%60
	dst = append(dst, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':', byte('0'+sec/10), byte('0'+sec%10), '.')
	return appendPadded(dst, us%1_000_000, 6)
}

// epoch2000 is 2000-01-01, from which PostgreSQL counts, in days from 1970-01-01.
var epoch2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400

// appendMoment appends the text of an instant or of a time without zone, as a server
// writes it (2026-08-20 10:00:00.5, +00 behind it for an instant): T between day and
// time, six decimals, Z. What does not have this form (infinity, BC, a second offset)
// stays as it is.
func appendMoment(dst, v []byte, instant bool) []byte {
	at := bytes.IndexByte(v, ' ')
	if at < 0 || len(v) < at+9 || bytes.IndexByte(v[at+1:], ' ') >= 0 || instant && !bytes.HasSuffix(v, []byte("+00")) {
		return appendText(dst, v)
	}
	clock := v[at+1:]
	if instant {
		clock = clock[:len(clock)-3]
	}
	if len(clock) < 8 || len(clock) > 15 || len(clock) > 8 && clock[8] != '.' {
		return appendText(dst, v)
	}
	dst = append(dst, '"')
	dst = append(dst, v[:at]...)
	dst = append(dst, 'T')
	dst = append(dst, clock[:8]...)
	dst = append(dst, '.')
	if len(clock) > 9 {
		dst = append(dst, clock[9:]...)
	}
	for n := max(len(clock), 9); n < 15; n++ {
		dst = append(dst, '0')
	}
	if instant {
		dst = append(dst, 'Z')
	}
	return append(dst, '"')
}
