package extract

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/recon-batch/recon-batch/rules"
)

// utf16Bytes encodes a text, with or without a byte order mark.
func utf16Bytes(order binary.AppendByteOrder, mark bool, text string) []byte {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xFEFF)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func TestEncodings(t *testing.T) {
	text := "a,b\né,\"€ 😀\n\"\n"
	want := []string{"1@2 é|€ 😀\n", "control 1"}
	le, be := binary.LittleEndian, binary.BigEndian
	cp1252, err := charmap.Windows1252.NewEncoder().String("a,b\né,€Ž\n")
	if err != nil {
		t.Fatal(err)
	}
	lone := func(text string, unit uint16) []byte {
		return bytes.Replace(utf16Bytes(le, true, text), le.AppendUint16(nil, '!'), le.AppendUint16(nil, unit), 1)
	}
	for _, test := range []struct {
		name, encoding string
		in             []byte
		want           []string
	}{
		{"utf-8", "utf-8", []byte(text), want},
		{"utf-8 with mark", "utf-8", []byte("\xEF\xBB\xBF" + text), want},
		{"utf-16 little", "utf-16", utf16Bytes(le, true, text), want},
		{"utf-16 big", "utf-16", utf16Bytes(be, true, text), want},
		{"utf-16 without mark", "utf-16", utf16Bytes(le, false, text), []string{"error x: the declared encoding is utf-16, but the file has no byte order mark that tells which"}},
		{"utf-16le", "utf-16le", utf16Bytes(le, false, text), want},
		{"utf-16le with mark", "utf-16le", utf16Bytes(le, true, text), want},
		{"utf-16be", "utf-16be", utf16Bytes(be, false, text), want},
		{"utf-16be with mark", "utf-16be", utf16Bytes(be, true, text), want},
		{"utf-16le with the other mark", "utf-16le", utf16Bytes(be, true, text), []string{"error x: the file begins with a byte order mark of utf-16be, the declared encoding is utf-16le"}},
		{"utf-16 read as utf-8", "utf-8", utf16Bytes(le, true, text), []string{"error x: the file begins with a byte order mark of utf-16le, the declared encoding is utf-8"}},
		{"utf-16 without mark read as utf-8", "utf-8", utf16Bytes(le, false, "a,b\n1,2\n"), []string{"error x: there is no column a, which the field a reads"}},
		{"utf-8 with mark read as latin-1", "latin-1", []byte("\xEF\xBB\xBFa,b\n"), []string{"error x: the file begins with a byte order mark of utf-8, the declared encoding is latin-1"}},
		{"utf-16 cut", "utf-16", utf16Bytes(le, true, text)[:29], []string{"error x: UTF-16 with an odd number of bytes: the file is cut"}},
		{"utf-16, nothing but the mark", "utf-16", utf16Bytes(le, true, ""), []string{"error x: the file is empty: it has no header line"}},
		{"lone high surrogate", "utf-16", lone("a,b\n1,x!y\n3,4\n", 0xD83D), []string{"reject 1@2 b: not valid UTF-16 (unpaired surrogate D83D)", "2@3 3|4", "control 1"}},
		{"lone low surrogate", "utf-16", lone("a,b\n1,x!y\n3,4\n", 0xDE00), []string{"reject 1@2 b: not valid UTF-16 (unpaired surrogate DE00)", "2@3 3|4", "control 1"}},
		{"high surrogate at the end", "utf-16", lone("a,b\n1,x!", 0xD83D), []string{"reject 1@2 b: not valid UTF-16 (unpaired surrogate D83D)", "control 1"}},
		{"a line feed in another character's bytes", "utf-16", utf16Bytes(le, true, "a,b\nĊ,ఊ\n"), []string{"1@2 Ċ|ఊ", "control 1"}},
		{"latin-1", "latin-1", []byte("a,b\n\xE9,\x80\xFF\n"), []string{"1@2 é|\u0080ÿ", "control 1"}},
		{"windows-1252", "windows-1252", []byte(cp1252), []string{"1@2 é|€Ž", "control 1"}},
		{"windows-1252, no character", "windows-1252", []byte("a,b\n1,\x81\n2,\xE9\x8D\n3,4\n"), []string{"reject 1@2 b: not valid windows-1252 (byte 81)", "reject 2@3 b: not valid windows-1252 (byte 8D)", "3@4 3|4", "control 1"}},
		{"unknown", "ebcdic", []byte("a,b\n"), []string{`error x: the encoding "ebcdic" is not known`}},
		{"two bytes", "utf-8", []byte("a\n"), []string{"error x: there is no column b, which the field b reads"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := csvSource(func(c *rules.CSV) { c.Encoding = test.encoding })
			lines, _ := readAll(src, textFields("a", "b"), test.in, "x")
			check(t, lines, test.want)
		})
	}
}

// Decoding does not depend on how the bytes come: one by one, or many at a time.
func TestDecodeTextInPieces(t *testing.T) {
	text := strings.Repeat("aé€😀\n", 20_000)
	for encoding, in := range map[string][]byte{
		"utf-16le": utf16Bytes(binary.LittleEndian, false, text),
		"utf-16be": utf16Bytes(binary.BigEndian, false, text),
	} {
		for name, r := range map[string]*bytes.Reader{"pieces": bytes.NewReader(in)} {
			d, err := decodeText(iotest.HalfReader(iotest.OneByteReader(r)), encoding, name)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := b.ReadFrom(d); err != nil || b.String() != text {
				t.Errorf("%s: %d bytes, %v; want %d", encoding, b.Len(), err, len(text))
			}
		}
		d, _ := decodeText(bytes.NewReader(in), encoding, "x")
		var b bytes.Buffer
		if _, err := b.ReadFrom(d); err != nil || b.String() != text {
			t.Errorf("%s at once: %d bytes, %v; want %d", encoding, b.Len(), err, len(text))
		}
	}
}
