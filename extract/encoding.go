package extract

import (
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// decodeText turns the declared encoding into UTF-8 and takes the byte order mark
// away. Nothing is guessed and nothing replaced: what is not valid in the declared
// encoding becomes bytes that are not valid in UTF-8 either, so that the reader
// finds it in its record (invalidText words it). A byte order mark that does not
// fit the declaration refuses the file.
func decodeText(r io.Reader, encoding, name string) (io.Reader, error) {
	head := make([]byte, 3)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	head = head[:n]
	mark, length := byteOrderMark(head)
	mismatch := func() error {
		return badFile(name, "the file begins with a byte order mark of %s, the declared encoding is %s", mark, encoding).
			WithHint("write encoding: %s, if the file is meant to be so", mark)
	}
	rest := func(skip int) io.Reader {
		if n < 3 {
			return bytes.NewReader(head[skip:])
		}
		return io.MultiReader(bytes.NewReader(head[skip:]), r)
	}
	switch encoding {
	case "", "utf-8":
		if encoding = "utf-8"; mark != "" && mark != encoding {
			return nil, mismatch()
		}
		return rest(length), nil
	case "utf-16":
		if mark != "utf-16le" && mark != "utf-16be" {
			if n == 0 {
				return rest(0), nil
			}
			return nil, badFile(name, "the declared encoding is utf-16, but the file has no byte order mark that tells which").
				WithHint("write encoding: utf-16le or utf-16be")
		}
		return &utf16Reader{r: rest(length), big: mark == "utf-16be", name: name}, nil
	case "utf-16le", "utf-16be":
		if mark != "" && mark != encoding {
			return nil, mismatch()
		}
		return &utf16Reader{r: rest(length), big: encoding == "utf-16be", name: name}, nil
	case "latin-1", "windows-1252":
		if mark != "" {
			return nil, mismatch()
		}
		return newByteReader(rest(0), encoding), nil
	default:
		return nil, fail.New(fail.Usage, "%s: the encoding %q is not known", name, encoding).
			WithHint("write encoding: utf-8, utf-16, utf-16le, utf-16be, latin-1 or windows-1252")
	}
}

// byteOrderMark names the encoding whose mark the file begins with, and gives the
// length of the mark in bytes.
func byteOrderMark(head []byte) (string, int) {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		return "utf-8", 3
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return "utf-16le", 2
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return "utf-16be", 2
	default:
		return "", 0
	}
}

// invalidText words the first fault of a text that is not valid UTF-8, in the
// terms of the encoding that it was decoded from; "" for a valid text.
func invalidText(text []byte, encoding string) string {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		if surrogate(text[i:]) {
			unit := 0xD000 | uint16(text[i+1]&0x3F)<<6 | uint16(text[i+2]&0x3F)
			digits := string([]byte{hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15]})
			if encoding == "utf-16" || encoding == "utf-16le" || encoding == "utf-16be" {
				return "not valid UTF-16 (unpaired surrogate " + digits + ")"
			}
		}
		b := string([]byte{hex[text[i]>>4], hex[text[i]&15]})
		if encoding == "windows-1252" {
			return "not valid windows-1252 (byte " + b + ")"
		}
		return "not valid UTF-8 (byte " + b + ")"
	}
	return ""
}

// surrogate tells whether text begins with the three bytes that utf16Reader
// writes for an unpaired surrogate. UTF-8 has no such bytes (RFC 3629 §3).
func surrogate(text []byte) bool {
	return len(text) >= 3 && text[0] == 0xED && text[1]&0xE0 == 0xA0 && text[2]&0xC0 == 0x80
}

// utf16Reader decodes UTF-16 to UTF-8. An unpaired surrogate becomes its three
// bytes of generalised UTF-8; half a code unit at the end is a cut file.
type utf16Reader struct {
	r    io.Reader
	big  bool
	name string
	in   [32 << 10]byte
	have int // bytes of in that wait for their partner
	out  []byte
	done int // of out, handed over
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for u.done == len(u.out) {
		if u.err != nil {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.out[u.done:])
	u.done += n
	return n, nil
}

func (u *utf16Reader) fill() {
	n, err := u.r.Read(u.in[u.have:])
	u.have += n
	u.out, u.done = u.out[:0], 0
	i := 0
	for ; i+1 < u.have; i += 2 {
		c := u.unit(i)
		if c < 0x80 {
			u.out = append(u.out, byte(c))
			continue
		}
		if c&0xF800 != 0xD800 {
			u.out = utf8.AppendRune(u.out, rune(c))
			continue
		}
		if c < 0xDC00 { // a high surrogate needs its low one
			if i+3 >= u.have {
				if err == nil {
					break
				}
			} else if low := u.unit(i + 2); low&0xFC00 == 0xDC00 {
				u.out = utf8.AppendRune(u.out, utf16.DecodeRune(rune(c), rune(low)))
				i += 2
				continue
			}
		}
		u.out = append(u.out, 0xE0|byte(c>>12), 0x80|byte(c>>6)&0x3F, 0x80|byte(c)&0x3F)
	}
	u.have = copy(u.in[:], u.in[i:u.have])
	if u.err = err; err == io.EOF && u.have > 0 {
		u.err = cutFile(u.name, "UTF-16 with an odd number of bytes")
	}
}

// unit is the code unit at byte i.
func (u *utf16Reader) unit(i int) uint16 {
	if u.big {
		return uint16(u.in[i])<<8 | uint16(u.in[i+1])
	}
	return uint16(u.in[i+1])<<8 | uint16(u.in[i])
}

// byteReader decodes an encoding of one byte a character. A byte without a
// character stays as it is: all of them are continuation bytes, which are not
// valid UTF-8 after a whole character.
type byteReader struct {
	r     io.Reader
	table [256]string
	in    [32 << 10]byte
	out   []byte
	done  int
	err   error
}

func newByteReader(r io.Reader, encoding string) *byteReader {
	b := &byteReader{r: r}
	for i := range b.table {
		char := charmap.ISO8859_1.DecodeByte(byte(i))
		if encoding == "windows-1252" {
			char = charmap.Windows1252.DecodeByte(byte(i))
			switch i {
			case 0x81, 0x8D, 0x8F, 0x90, 0x9D: // no characters in Microsoft's table
				b.table[i] = string([]byte{byte(i)})
				continue
			}
		}
		b.table[i] = string(char)
	}
	return b
}

func (b *byteReader) Read(p []byte) (int, error) {
	for b.done == len(b.out) {
		if b.err != nil {
			return 0, b.err
		}
		var n int
		n, b.err = b.r.Read(b.in[:])
		b.out, b.done = b.out[:0], 0
		for _, c := range b.in[:n] {
			if c < 0x80 {
				b.out = append(b.out, c)
			} else {
				b.out = append(b.out, b.table[c]...)
			}
		}
	}
	n := copy(p, b.out[b.done:])
	b.done += n
	return n, nil
}
