package bank

import (
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// placeholders are texts that banks write where there is no reference (T20).
var placeholders = map[string]bool{
	"NOTPROVIDED": true, "NONREF": true, "NOTAVAILABLE": true, "NOT PROVIDED": true, "-": true, "0": true,
}

// reference gives a reference as it is, "" for a placeholder.
func reference(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= len("NOTAVAILABLE") && placeholders[strings.ToUpper(s)] {
		return ""
	}
	return s
}

// charmaps are the declared encodings of one byte a character.
var charmaps = map[string]*charmap.Charmap{
	"latin-1": charmap.ISO8859_1, "iso-8859-1": charmap.ISO8859_1, "iso-8859-15": charmap.ISO8859_15,
	"iso-8859-2": charmap.ISO8859_2, "windows-1252": charmap.Windows1252, "windows-1250": charmap.Windows1250,
	"cp850": charmap.CodePage850, "cp852": charmap.CodePage852,
}

// charmapReader decodes an encoding of one byte a character to UTF-8. A byte that
// has no character there becomes a byte that is not valid UTF-8, so that whoever
// reads the text finds it: nothing is replaced.
type charmapReader struct {
	r     io.Reader
	table [256]string
	in    [32 << 10]byte
	out   []byte
	done  int
	err   error
}

func newCharmapReader(r io.Reader, m *charmap.Charmap) *charmapReader {
	c := &charmapReader{r: r}
	for i := range c.table {
		char := m.DecodeByte(byte(i))
		if c.table[i] = string(char); char == '\uFFFD' {
			c.table[i] = "\xFF"
		}
	}
	if m == charmap.Windows1252 {
		for _, b := range []byte{0x81, 0x8D, 0x8F, 0x90, 0x9D} { // no characters in Microsoft's table
			c.table[b] = "\xFF"
		}
	}
	return c
}

func (c *charmapReader) Read(p []byte) (int, error) {
	for c.done == len(c.out) {
		if c.err != nil {
			return 0, c.err
		}
		var n int
		n, c.err = c.r.Read(c.in[:])
		c.out, c.done = c.out[:0], 0
		for _, b := range c.in[:n] {
			if b < 0x80 {
				c.out = append(c.out, b)
			} else {
				c.out = append(c.out, c.table[b]...)
			}
		}
	}
	n := copy(p, c.out[c.done:])
	c.done += n
	return n, nil
}
