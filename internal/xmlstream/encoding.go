package xmlstream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// prologBytes is how far a declaration is looked for.
const prologBytes = 1024

// decoded gives the document in r as UTF-8, by its byte order mark, its
// declaration, or the encoding that is wanted (appendix F of the standard).
func decoded(r io.Reader, wanted string) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	mark, skip := "", 0
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		mark, skip = "utf-8", 3
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		mark, skip = "utf-16le", 2
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
		mark, skip = "utf-16be", 2
	case bytes.HasPrefix(head, []byte("<\x00?\x00")):
		mark = "utf-16le"
	case bytes.HasPrefix(head, []byte("\x00<\x00?")):
		mark = "utf-16be"
	}
	if _, err := b.Discard(skip); err != nil {
		return nil, err
	}
	var text io.Reader = b
	switch mark {
	case "utf-16le":
		text = utf16Of(b, unicode.LittleEndian)
	case "utf-16be":
		text = utf16Of(b, unicode.BigEndian)
	}
	if text != io.Reader(b) {
		b = bufio.NewReaderSize(text, 64<<10)
	}
	head, err = b.Peek(prologBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	declared, err := declaration(head)
	if err != nil {
		return nil, err
	}
	if err := agree(mark, declared, wanted); err != nil {
		return nil, err
	}
	name := declared
	if name == "" {
		name = wanted
	}
	if mark != "" || name == "" || name == "utf-8" || name == "utf8" {
		return b, nil
	}
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == nil || strings.HasPrefix(name, "utf-") {
		return nil, &EncodingError{Msg: fmt.Sprintf("the encoding %s is not known", name), Hint: "have the document written in UTF-8"}
	}
	if name == "us-ascii" || name == "ascii" {
		return b, nil // any other byte is not UTF-8 either
	}
	return &known{r: transform.NewReader(b, enc.NewDecoder()), label: name}, nil
}

// utf16Of decodes UTF-16. Half a character, and half a pair, become U+FFFD there,
// which known refuses.
func utf16Of(r io.Reader, order unicode.Endianness) io.Reader {
	var enc encoding.Encoding = unicode.UTF16(order, unicode.IgnoreBOM)
	return &known{r: transform.NewReader(r, enc.NewDecoder()), label: "utf-16"}
}

// agree checks what the document says of itself against its first bytes, and
// against what is wanted.
func agree(mark, declared, wanted string) error {
	same := func(a, b string) bool {
		a, b = strings.Replace(a, "utf8", "utf-8", 1), strings.Replace(b, "utf8", "utf-8", 1)
		return a == b || strings.HasPrefix(a, "utf-16") && strings.HasPrefix(b, "utf-16")
	}
	switch {
	case mark != "" && declared != "" && !same(mark, declared):
		return &EncodingError{Msg: fmt.Sprintf("the document declares the encoding %s, and its first bytes are those of %s", declared, mark), Hint: "have the document written again"}
	case wanted == "":
	case declared != "" && !same(declared, wanted):
		return &EncodingError{Msg: fmt.Sprintf("the document declares the encoding %s, where %s is declared for it", declared, wanted), Hint: "write encoding: " + declared + ", if the document is meant to be so"}
	case mark != "" && !same(mark, wanted):
		return &EncodingError{Msg: fmt.Sprintf("the document begins in %s, where %s is declared for it", mark, wanted), Hint: "write encoding: " + mark + ", if the document is meant to be so"}
	}
	return nil
}

// declaration returns the encoding that an XML declaration states, in lower case;
// "" where there is none.
func declaration(head []byte) (string, error) {
	if !bytes.HasPrefix(head, []byte("<?xml")) || len(head) < 6 || !blank(head[5]) {
		return "", nil
	}
	end := bytes.Index(head, []byte("?>"))
	if end < 0 {
		return "", nil // the reader says what is wrong
	}
	if v := pseudo(head[5:end], "version"); v != "1.0" {
		return "", &SyntaxError{Line: 1, Msg: "the version of XML is " + fmt.Sprintf("%q", v) + ", only 1.0 is read"}
	}
	return strings.ToLower(pseudo(head[5:end], "encoding")), nil
}

// pseudo is a value in a declaration.
func pseudo(text []byte, name string) string {
	for {
		i := bytes.Index(text, []byte(name))
		if i < 0 {
			return ""
		}
		rest := bytes.TrimLeft(text[i+len(name):], " \t\r\n")
		if i > 0 && blank(text[i-1]) && len(rest) > 0 && rest[0] == '=' {
			rest = bytes.TrimLeft(rest[1:], " \t\r\n")
			if len(rest) > 1 && (rest[0] == '"' || rest[0] == '\'') {
				if end := bytes.IndexByte(rest[1:], rest[0]); end >= 0 {
					return string(rest[1 : 1+end])
				}
			}
			return ""
		}
		text = text[i+1:]
	}
}

// known refuses the character that decoders of x/text put in the place of bytes
// which the encoding does not have.
type known struct {
	r     io.Reader
	label string
	tail  [2]byte // end of the piece before: the character may be cut
	err   error
}

func (k *known) Read(p []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.r.Read(p)
	replaced := bytes.Contains(p[:n], []byte("\uFFFD"))
	if n > 0 && !replaced {
		edge := append(append([]byte(nil), k.tail[:]...), p[:min(n, 2)]...)
		replaced = bytes.Contains(edge, []byte("\uFFFD"))
	}
	if replaced {
		k.err = &EncodingError{Msg: "a byte of the document is no character of its encoding " + k.label, Hint: "have the document written again, in UTF-8"}
		return 0, k.err
	}
	for _, c := range p[max(0, n-2):n] {
		k.tail[0], k.tail[1] = k.tail[1], c
	}
	return n, err
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// legal tells whether every character of a text is one of XML (§2.2), and if not,
// what is wrong.
func legal(text []byte) string {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && !blank(c) {
				return fmt.Sprintf("the control character U+%04X", c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("not valid UTF-8 (byte %02X)", c)
		}
		if r == 0xFFFE || r == 0xFFFF {
			return fmt.Sprintf("the character U+%04X", r)
		}
		i += n
	}
	return ""
}
