package doctor

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// byteFacts are what one pass over the content tells.
type byteFacts struct {
	size         int64
	bad          int64    // offset of the first byte that is not valid UTF-8, -1
	high         int64    // bytes from 0x80 on
	c1           int64    // … to 0x9F: letters in windows-1252, controls in latin-1
	nul          [2]int64 // NUL bytes at even and odd offsets
	escape       int64    // other control characters than tab, CR, LF
	lf, crlf, cr int64
	head, tail   []byte
}

// byteWatch takes the content in pieces.
type byteWatch struct {
	byteFacts
	rest []byte // an incomplete character of UTF-8 at the end of the last piece
	last byte
}

func (w *byteWatch) take(p []byte) {
	if room := sampleBytes - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(room, len(p))]...)
	}
	if w.tail = append(w.tail, p...); len(w.tail) > 4*tailBytes {
		w.tail = append(w.tail[:0], w.tail[len(w.tail)-tailBytes-int((w.size+int64(len(p))-tailBytes)&1):]...)
	}
	for i, c := range p {
		switch {
		case c == '\n' && w.last == '\r':
			w.crlf++
			w.cr--
		case c == '\n':
			w.lf++
		case c == '\r':
			w.cr++
		case c == 0:
			w.nul[(w.size+int64(i))&1]++
		case c < 0x20 && c != '\t', c == 0x7F:
			w.escape++
		case c >= 0x80:
			w.high++
			if c < 0xA0 {
				w.c1++
			}
		}
		w.last = c
	}
	w.utf8(p)
	w.size += int64(len(p))
}

// utf8 finds the first byte that is not valid, also where a character lies across
// two pieces.
func (w *byteWatch) utf8(p []byte) {
	if w.bad >= 0 {
		return
	}
	text, at := p, w.size
	if len(w.rest) > 0 {
		text, at = append(w.rest, p...), w.size-int64(len(w.rest))
		w.rest = nil
	}
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 {
			if len(text)-i < utf8.UTFMax && !utf8.FullRune(text[i:]) {
				w.rest = bytes.Clone(text[i:])
				return
			}
			w.bad = at + int64(i)
			return
		}
		i += n
	}
}

// readBytes reads the content once, to its end.
func (l *look) readBytes() error {
	in, err := l.open()
	if err != nil {
		return err
	}
	defer in.Close()
	w := &byteWatch{byteFacts: byteFacts{bad: -1}}
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		w.take(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := l.ctx.Err(); err != nil {
			return err
		}
	}
	if len(w.rest) > 0 && w.bad < 0 {
		w.bad = w.size - int64(len(w.rest))
	}
	l.bytes = w.byteFacts
	return nil
}

// encoding tells facts by mark and validity, and suggests the rest.
func (l *look) encoding() error {
	b := &l.bytes
	suggested := ""
	switch head := b.head; {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		l.d.encoding = "utf-8"
		l.r.remark("encoding", Fact, "", "UTF-8 with a byte order mark")
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		l.d.encoding = "utf-16"
		l.r.remark("encoding", Fact, "its byte order mark", "UTF-16")
	case b.size > 3 && b.nul[1]*3 > b.size && b.nul[0]*20 < b.size:
		l.d.encoding = "utf-16le"
		l.r.remark("encoding", Likely, "every other byte is zero, and there is no byte order mark", "UTF-16, little-endian")
	case b.size > 3 && b.nul[0]*3 > b.size && b.nul[1]*20 < b.size:
		l.d.encoding = "utf-16be"
		l.r.remark("encoding", Likely, "every other byte is zero, and there is no byte order mark", "UTF-16, big-endian")
	case b.nul[0]+b.nul[1] > b.size/100:
		return fail.New(fail.Input, "%s: this is no text: %s of its bytes are zero", l.name, plural(b.nul[0]+b.nul[1], "byte")).
			WithHint("ask its sender what it is")
	case b.bad < 0 && b.high == 0:
		l.d.encoding = "utf-8"
		l.r.remark("encoding", Fact, "no byte beyond ASCII", "ASCII, which is UTF-8 as well")
	case b.bad < 0:
		l.d.encoding = "utf-8"
		l.r.remark("encoding", Fact, "the whole file is valid", "UTF-8")
	default:
		suggested = l.suggestEncoding()
	}
	if b.nul[0]+b.nul[1] > 0 && !strings.HasPrefix(l.d.encoding, "utf-16") {
		l.r.find("nul_bytes", "", "%s in the text: a system wrote binary data, or the file is damaged", plural(b.nul[0]+b.nul[1], "zero byte"))
	}
	if b.escape > 0 && !strings.HasPrefix(l.d.encoding, "utf-16") {
		l.r.find("control_characters", "", "%s, such as escape sequences: outputs show them spelled out", plural(b.escape, "control character"))
	}
	var err error
	if l.text, err = decode(b.head, l.d.encoding, l.name); err != nil {
		return err
	}
	l.whole = b.size <= int64(len(b.head))
	if l.tail, err = decode(b.tail, strings.Replace(l.d.encoding, "utf-16", "utf-16"+l.endian(), 1), l.name); err != nil {
		return err
	}
	if l.whole {
		l.tail = l.text
	} else if i := strings.IndexAny(l.tail, "\r\n"); i >= 0 {
		l.tail = l.tail[i+1:]
	}
	if suggested != "" {
		return fail.New(fail.Input, "%s: the text seems to be %s, which is not read", l.name, suggested).
			WithHint("convert it first: iconv -f %s -t UTF-8 FILE", suggested)
	}
	return nil
}

// endian is what the mark at the start of the file says, for parts without it.
func (l *look) endian() string {
	switch {
	case l.d.encoding != "utf-16":
		return ""
	case l.bytes.head[0] == 0xFF:
		return "le"
	default:
		return "be"
	}
}

// suggestEncoding guesses by the frequencies of letters. It returns the name of an
// encoding that the product does not read, or "".
func (l *look) suggestEncoding() string {
	b := &l.bytes
	guess := chardet.Detect(highLines(b.head))
	name := strings.ToLower(guess.Encoding)
	why := "the byte at " + itoa(b.bad) + " is not valid UTF-8"
	switch {
	case b.c1 == 0 && (name == "" || name == "iso-8859-1" || name == "windows-1252" || name == "ascii" || guess.Confidence < 0.7):
		l.d.encoding = "windows-1252"
		l.r.remark("encoding", Likely, why+"; no byte tells it from latin-1", "windows-1252")
	case name == "windows-1252" || name == "iso-8859-1" || name == "" || guess.Confidence < 0.7:
		l.d.encoding = "windows-1252"
		l.r.remark("encoding", Likely, why, "windows-1252")
	case b.high < 20:
		l.d.encoding = "windows-1252"
		l.r.remark("encoding", Unsure, why+"; by its "+plural(b.high, "letter")+" it could be "+guess.Encoding+" as well", "windows-1252")
	default:
		l.d.encoding = "latin-1"
		l.r.remark("encoding", Unsure, why+", and its letters are those of this encoding", "%s", guess.Encoding)
		return guess.Encoding
	}
	return ""
}

// highLines are the lines of a sample with bytes beyond ASCII: the others say
// nothing of the encoding, and cost time.
func highLines(head []byte) []byte {
	var out []byte
	for line := range bytes.Lines(head) {
		for _, c := range line {
			if c >= 0x80 {
				out = append(out, line...)
				break
			}
		}
		if len(out) > 64<<10 {
			break
		}
	}
	return out
}

// decode reads a part of the content. What is not valid in its encoding stays
// invalid, and is replaced only in what is looked at.
func decode(part []byte, encoding, name string) (string, error) {
	if strings.HasPrefix(encoding, "utf-16") && len(part)%2 == 1 {
		part = part[:len(part)-1]
	}
	r, err := extract.DecodeText(bytes.NewReader(part), encoding, name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}
