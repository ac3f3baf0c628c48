package xmlstream

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var wide = Options{MaxPart: 1 << 20, MaxDepth: 50}

// tokens writes a document as lines of text: <name attr="value", text, >name.
// Texts that follow each other are one.
func tokens(r io.Reader, opt Options) (string, error) {
	x, err := New(r, opt)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	text := ""
	flush := func() {
		if text != "" {
			fmt.Fprintf(&b, "%q\n", text)
		}
		text = ""
	}
	for {
		tok, err := x.Next()
		if err == io.EOF {
			flush()
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		switch tok.Kind {
		case Start:
			flush()
			b.WriteString("<" + string(tok.Name))
			for _, a := range tok.Attrs {
				fmt.Fprintf(&b, " %s=%q", a.Name, a.Value)
			}
			b.WriteString("\n")
		case End:
			flush()
			b.WriteString(">" + string(tok.Name) + "\n")
		case Text:
			text += string(tok.Text)
		}
	}
}

// standard is the same by encoding/xml.
func standard(data []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var b strings.Builder
	text := ""
	flush := func() {
		if text != "" {
			fmt.Fprintf(&b, "%q\n", text)
		}
		text = ""
	}
	depth := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			flush()
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		switch v := tok.(type) {
		case xml.StartElement:
			flush()
			depth++
			b.WriteString("<" + v.Name.Local)
			for _, a := range v.Attr {
				if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
					continue
				}
				fmt.Fprintf(&b, " %s=%q", a.Name.Local, a.Value)
			}
			b.WriteString("\n")
		case xml.EndElement:
			flush()
			depth--
			b.WriteString(">" + v.Name.Local + "\n")
		case xml.CharData:
			if depth > 0 {
				text += string(v)
			}
		}
	}
}

const document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- one --><?style x?>\n<b:a xmlns:b='urn:x' xmlns=\"urn:y\" id = 'x &lt; \"y\"' b:n=\"2\">\r\n" +
	"text &amp; &#233;&#xE9; <c/><d  e='1' ></d >\r<![CDATA[<not> & a tag]]> é ]]&gt;<e>1</e><e>2</e></b:a>\n<!-- end -->\n"

func TestTokens(t *testing.T) {
	want := "<a id=\"x < \\\"y\\\"\" n=\"2\"\n\"\\ntext & éé \"\n<c\n>c\n<d e=\"1\"\n>d\n\"\\n<not> & a tag é ]]>\"\n<e\n\"1\"\n>e\n<e\n\"2\"\n>e\n>a\n"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(document), "in bytes": iotest.OneByteReader(strings.NewReader(document))} {
		got, err := tokens(r, wide)
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	if got, err := standard([]byte(document)); err != nil || got != want {
		t.Errorf("encoding/xml reads it otherwise: %v\n%s", err, got)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "*xmlstream.TruncatedError",
		"<a>":                            "*xmlstream.TruncatedError",
		"<a><b></a></b>":                 "the end of a fits no start",
		"</a>":                           "the end of a fits no start",
		"<a/><b/>":                       "a second root element",
		"x<a/>":                          "text outside the root element",
		"<a/>x":                          "text outside the root element",
		"<a/><![CDATA[x]]>":              "text outside the root element",
		"<a b='1' b='2'/>":               "the attribute b is there twice",
		"<a b='1'c='2'/>":                "no blank between two attributes",
		"<a b/>":                         "an attribute without a name or value",
		"<a b=1/>":                       "the value of an attribute is not in quotes",
		"<a b='<'/>":                     "a bracket in the value of an attribute",
		"<a <b/>":                        "a bracket inside a tag",
		"<1/>":                           "an element without a valid name",
		"< a/>":                          "an element without a valid name",
		"<>":                             "an element without a valid name",
		"</>":                            "an end tag without a name",
		"<a>]]></a>":                     "]]> outside a CDATA section",
		"<a>&b;</a>":                     "the reference &b; is not known",
		"<a>&amp</a>":                    "an ampersand that begins no reference",
		"<a>&#0;</a>":                    "the reference &#0; is not known",
		"<a>&#xD800;</a>":                "the reference &#xD800; is not known",
		"<a>\x01</a>":                    "the control character U+0001",
		"<a>\xff</a>":                    "not valid UTF-8 (byte FF)",
		"<a>\uFFFE</a>":                  "the character U+FFFE",
		"<!-- a -- b --><a/>":            "-- inside a comment",
		"<!DOCTYPE a><a/>":               "*xmlstream.TypeDefinitionError",
		"<a><!ENTITY x 'y'></a>":         "*xmlstream.TypeDefinitionError",
		" <?xml version='1.0'?><a/>":     "an XML declaration that is not at the start",
		"<?xml version='1.1'?><a/>":      "only 1.0 is read",
		"<? x?><a/>":                     "a processing instruction without a name",
		"<a" + strings.Repeat(">", 1):    "*xmlstream.TruncatedError",
		strings.Repeat("<a>", 51):        "*xmlstream.LimitError",
		"<a>" + strings.Repeat("x", 2e6): "*xmlstream.LimitError",
	} {
		_, err := tokens(strings.NewReader(text), wide)
		if err == nil || !strings.Contains(err.Error(), want) && fmt.Sprintf("%T", err) != want {
			t.Errorf("%.40q: %v (%T), want %s", text, err, err, want)
		}
	}
}

func TestLine(t *testing.T) {
	_, err := tokens(strings.NewReader("<a>\n<b>\n\n</c></a>"), wide)
	var s *SyntaxError
	if !errors.As(err, &s) || s.Line != 4 {
		t.Errorf("%v", err)
	}
}

// manyAttributes is an element with n attributes, of which the last has the name of
// number again.
func manyAttributes(n, again int) string {
	var b strings.Builder
	b.WriteString("<a")
	for i := range n - 1 {
		fmt.Fprintf(&b, " b%d='%d'", i, i)
	}
	fmt.Fprintf(&b, " b%d='x'/>", again)
	return b.String()
}

func TestRepeatedAttribute(t *testing.T) {
	for _, n := range []int{2, manyAttrs, manyAttrs + 1, manyAttrs + 2, 1000} {
		for _, again := range []int{0, n / 2, n - 2} {
			_, err := tokens(strings.NewReader(manyAttributes(n, again)), wide)
			if want := fmt.Sprintf("the attribute b%d is there twice", min(again, n-2)); err == nil || !strings.Contains(err.Error(), want) {
				if again <= n-2 {
					t.Errorf("%d attributes: %v, want %s", n, err, want)
				}
			}
		}
		got, err := tokens(strings.NewReader(manyAttributes(n, n)+"\n"), wide)
		if err != nil || strings.Count(got, "=") != n {
			t.Errorf("%d attributes: %v, %d of them", n, err, strings.Count(got, "="))
		}
	}
}

// A million attributes in one element must not be compared each with each other.
func TestAttributesInTime(t *testing.T) {
	took := func(n int) time.Duration {
		from := time.Now()
		if _, err := tokens(strings.NewReader(manyAttributes(n, n)), Options{MaxPart: 64 << 20, MaxDepth: 10}); err != nil {
			t.Fatal(err)
		}
		return time.Since(from)
	}
	if small, large := took(10_000), took(160_000); large > 100*max(small, 5*time.Millisecond) {
		t.Errorf("16 times the attributes took %v instead of %v", large, small)
	}
}

// Every cut is noticed.
func TestTruncated(t *testing.T) {
	text := strings.TrimRight(document, "\n")
	end := strings.Index(text, "</b:a>") + len("</b:a>")
	for i := range end {
		var cut *TruncatedError
		if _, err := tokens(strings.NewReader(text[:i]), wide); !errors.As(err, &cut) {
			var s *SyntaxError
			if errors.As(err, &s) && strings.Contains(s.Msg, "UTF-8") {
				continue // inside a character
			}
			t.Errorf("cut at byte %d (%q): %v", i, text[max(0, i-10):i], err)
		}
	}
}

// Memory does not grow with the document.
func TestAllocatesNothingPerToken(t *testing.T) {
	allocations := func(n int) float64 {
		data := []byte("<a>" + strings.Repeat("<b c='1 &lt; 2'>x &amp; y</b>\n", n) + "</a>")
		return testing.AllocsPerRun(3, func() {
			x, err := New(bytes.NewReader(data), wide)
			for err == nil {
				x.Mark()
				_, err = x.Next()
			}
			if err != io.EOF {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(100), allocations(10_000); many > few+3 {
		t.Errorf("%v allocations for 100 elements, %v for 10,000", few, many)
	}
}

// compare holds the two readers against each other: whatever ours takes, the other
// takes too and reads the same.
func compare(t *testing.T, data []byte) {
	t.Helper()
	got, err := tokens(bytes.NewReader(data), wide)
	if err != nil {
		return
	}
	if i := bytes.Index(data, []byte("encoding")); i >= 0 || bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF")) || bytes.Contains(data[:min(8, len(data))], []byte{0}) {
		return // the other one reads UTF-8 alone
	}
	want, err := standard(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
	if err != nil {
		t.Fatalf("%q is read as\n%s\nand encoding/xml says %v", data, got, err)
	}
	if blanks(got) != blanks(want) {
		t.Fatalf("%q is read as\n%s\nand by encoding/xml as\n%s", data, got, want)
	}
}

// blanks makes white space alike: ours normalises that of attributes.
func blanks(s string) string { return strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ").Replace(s) }

func TestFlippedBytesLikeStandard(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const bytesOfMarkup = "<>&;/='\" \n!?[]-:ax1\xC3\xA9\x00"
	for range 20_000 {
		data := []byte(document)
		for range 1 + rng.IntN(3) {
			data[rng.IntN(len(data))] = bytesOfMarkup[rng.IntN(len(bytesOfMarkup))]
		}
		compare(t, data)
	}
}

func FuzzLikeStandard(f *testing.F) {
	for _, s := range []string{document, "<a/>", "<a b='1'>x</a>", "<a><![CDATA[x]]></a>", "<!DOCTYPE a><a/>", "<a>&#65;</a>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data) })
}

func BenchmarkReader(b *testing.B) {
	data := []byte("<a>" + strings.Repeat("<row id=\"1\"><amount currency=\"EUR\">10.00</amount><ref>op_000000000001</ref></row>\n", 10_000) + "</a>")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		x, err := New(bytes.NewReader(data), wide)
		for err == nil {
			x.Mark()
			_, err = x.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}
