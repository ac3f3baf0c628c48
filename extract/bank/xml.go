package bank

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// xmlPull reads one XML document as a stream, element by element, with names
// without their namespaces: banks use their own for the same messages. Whatever
// lies outside the elements that are asked for is skipped, but must be well formed.
//
// A document type is refused, and with it every entity but the five of the
// standard; so are more than maxDepth nested elements and a token of more than
// maxToken bytes.
type xmlPull struct {
	name  string
	dec   *xml.Decoder
	in    *tokenReader
	open  []string   // local names of the open elements
	full  []xml.Name // with prefixes, for the end tags
	attrs []xml.Attr // of the element that was opened last

	err error
}

func newXMLPull(f io.Reader, name string) *xmlPull {
	p := &xmlPull{name: name, in: newTokenReader(f)}
	p.dec = xml.NewDecoder(p.in)
	p.dec.CharsetReader = p.charset
	return p
}

// charset decodes the encoding that the document declares.
func (p *xmlPull) charset(label string, in io.Reader) (io.Reader, error) {
	label = strings.ToLower(strings.TrimSpace(label))
	switch label {
	case "utf-8", "utf8", "us-ascii", "ascii":
		return in, nil // ASCII is UTF-8; a byte beyond it is found as invalid, or is UTF-8
	case "utf-16", "utf-16le", "utf-16be":
		if p.in.wide {
			return in, nil // decoded by its byte order mark already
		}
		return nil, errors.New("the document declares " + label + " and is not")
	case "latin1", "iso8859-1":
		label = "iso-8859-1"
	case "cp1252":
		label = "windows-1252"
	}
	m := charmaps[label]
	if m == nil {
		return nil, errors.New("the encoding " + quote(label) + " is not known")
	}
	p.in.narrow = newCharmapReader(p.in.rest(), m)
	return p.in, nil
}

// line is the physical line of the last token.
func (p *xmlPull) line() int64 {
	line, _ := p.dec.InputPos()
	return int64(line)
}

func (p *xmlPull) bad(format string, args ...any) error {
	p.err = bad(p.name, p.line(), format, args...)
	return p.err
}

// token returns the next start or end of an element, or text. Everything else is
// passed over.
func (p *xmlPull) token() (xml.Token, error) {
	if p.err != nil {
		return nil, p.err
	}
	for {
		p.in.mark()
		token, err := p.dec.RawToken()
		if err != nil {
			return nil, p.fault(err)
		}
		switch t := token.(type) { // token is returned as it is: t would be copied into a new interface
		case xml.StartElement:
			if len(p.open) == maxDepth {
				return nil, p.bad("more than %d elements inside each other, which is the limit", maxDepth)
			}
			p.open = append(p.open, t.Name.Local)
			p.full = append(p.full, t.Name)
			p.attrs = t.Attr
			return token, nil
		case xml.EndElement:
			n := len(p.open) - 1
			if n < 0 || p.full[n] != t.Name {
				return nil, p.bad("the end of %s does not fit the element that is open", t.Name.Local)
			}
			p.open, p.full = p.open[:n], p.full[:n]
			return token, nil
		case xml.CharData:
			if len(p.open) == 0 {
				if len(bytes.TrimSpace(t)) > 0 {
					return nil, p.bad("there is text outside of the document")
				}
				continue
			}
			return token, nil
		case xml.Directive:
			p.err = bad(p.name, p.line(), "the document has a document type or entities of its own, which are not read").
				WithHint("no ISO 20022 message has one: look at where the file comes from")
			return nil, p.err
		}
	}
}

// fault words an error of the decoder or of the file.
func (p *xmlPull) fault(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case p.in.err != nil:
		p.err = p.in.err
	case err == io.EOF && len(p.open) == 0:
		p.err = io.EOF
	case err == io.EOF, errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		p.err = cut(p.name, p.line(), "the document ends inside of %s", strings.Join(append([]string{"the document"}, p.open...), "/"))
	case errors.As(err, &syntax):
		p.err = bad(p.name, int64(syntax.Line), "no well-formed XML: %s", syntax.Msg)
	default:
		p.err = bad(p.name, p.line(), "no well-formed XML: %v", err)
	}
	return p.err
}

// child returns the name of the next element in the open one, which is then open
// itself; false at the end of the open one.
func (p *xmlPull) child() (string, bool, error) {
	for {
		t, err := p.token()
		if err != nil {
			return "", false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t.Name.Local, true, nil
		case xml.EndElement:
			return "", false, nil
		}
	}
}

// text returns the text of the open element and closes it; elements in it are
// refused, since then it would not be the text of that name.
func (p *xmlPull) text() (string, error) {
	var s string
	for {
		t, err := p.token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			if s == "" {
				s = string(t)
				continue
			}
			if s += string(t); len(s) > maxToken {
				return "", p.bad("a text of more than %d bytes, which is the limit", maxToken)
			}
		case xml.EndElement:
			return strings.TrimSpace(s), nil
		case xml.StartElement:
			return "", p.bad("%s is in %s, which holds text", t.Name.Local, p.open[len(p.open)-2])
		}
	}
}

// skip closes the open element.
func (p *xmlPull) skip() error {
	for depth := len(p.open); len(p.open) >= depth; {
		if _, err := p.token(); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for each child of the open element and closes it; f must close the
// child. A false from f skips it.
func (p *xmlPull) each(f func(name string) (bool, error)) error {
	for {
		name, ok, err := p.child()
		if err != nil || !ok {
			return err
		}
		depth := len(p.open)
		known, err := f(name)
		if err != nil {
			return err
		}
		if !known {
			if err := p.skip(); err != nil {
				return err
			}
		} else if len(p.open) >= depth {
			return fail.New(fail.Internal, "%s: the element %s was left open", p.name, name)
		}
	}
}

// at returns the text of an element by its path below the open one, which it
// closes; the first one where there are several. "A|B" takes either.
func (p *xmlPull) at(path ...string) (string, error) {
	var out string
	err := p.each(func(name string) (bool, error) {
		if out != "" || !oneOf(name, path[0]) {
			return false, nil
		}
		var err error
		if len(path) == 1 {
			out, err = p.text()
		} else {
			out, err = p.at(path[1:]...)
		}
		return true, err
	})
	return out, err
}

func oneOf(name, list string) bool {
	for {
		first, rest, more := strings.Cut(list, "|")
		if name == first {
			return true
		}
		if !more {
			return false
		}
		list = rest
	}
}

// attr is an attribute of the element that was opened last.
func (p *xmlPull) attr(name string) string {
	for _, a := range p.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// document opens the root and its one child, the message; it returns its names:
// that of the message's element and that in the namespace, camt.053.001.08.
func (p *xmlPull) document() (message, version string, err error) {
	root, ok, err := p.child()
	switch {
	case err == io.EOF:
		return "", "", cut(p.name, 0, "the file is empty")
	case err != nil:
		return "", "", err
	case !ok || root != "Document":
		return "", "", p.bad("the document is a %s, not an ISO 20022 Document", quote(root))
	}
	for _, a := range p.attrs {
		if a.Name.Local == "xmlns" || a.Name.Space == "xmlns" {
			if v := versionOf(a.Value); v != "" {
				version = v
			}
		}
	}
	message, ok, err = p.child()
	if err == nil && !ok {
		err = p.bad("the Document is empty")
	}
	return message, version, err
}

// versionOf finds camt.053.001.08 in a namespace such as
// urn:iso:std:iso:20022:tech:xsd:camt.053.001.08.
func versionOf(namespace string) string {
	for _, area := range []string{"camt.", "pain."} {
		i := strings.LastIndex(namespace, area)
		const length = len("camt.053.001.08")
		if i >= 0 && len(namespace) >= i+length {
			return namespace[i : i+length]
		}
	}
	return ""
}

// end reads on to the end of the file: nothing but the end tags may come.
func (p *xmlPull) end() error {
	for {
		t, err := p.token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if s, ok := t.(xml.StartElement); ok {
			return p.bad("%s follows the end of the message", s.Name.Local)
		}
	}
}

// tokenReader gives the bytes of the file one at a time, which is how the decoder
// reads them, and refuses a token of more than maxToken bytes.
type tokenReader struct {
	r      io.Reader
	narrow io.Reader // decodes r where the document declared another encoding
	wide   bool      // r is decoded from UTF-16
	buf    []byte
	pos    int
	end    int
	token  int   // bytes since mark
	err    error // of r, or the limit; io.EOF apart
	eof    bool
}

func newTokenReader(f io.Reader) *tokenReader {
	t := &tokenReader{r: f, buf: make([]byte, 64<<10)}
	var err error
	if t.end, err = io.ReadAtLeast(f, t.buf, 4); err == io.EOF || err == io.ErrUnexpectedEOF {
		t.eof = true
	} else if err != nil {
		t.err = err
	}
	switch head := t.buf[:t.end]; {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		t.pos = 3
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		t.wide = true
		decoder := unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()
		t.r = strictReader{decoder.Reader(t.rest())}
		t.buf = make([]byte, 64<<10)
		t.pos, t.end = 0, 0
	}
	return t
}

// strictReader turns the replacement characters of a decoder into bytes that are
// no UTF-8: what was not valid must not pass as a character.
type strictReader struct{ r io.Reader }

func (s strictReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for i := 0; ; {
		at := bytes.Index(p[i:n], []byte("\uFFFD"))
		if at < 0 {
			return n, err
		}
		i += at
		p[i], p[i+1], p[i+2] = 0xFF, 0xFF, 0xFF
	}
}

// rest gives what was not handed over yet.
func (t *tokenReader) rest() io.Reader {
	ahead := bytes.Clone(t.buf[t.pos:t.end])
	t.pos, t.end = 0, 0
	if t.eof {
		return bytes.NewReader(ahead)
	}
	return io.MultiReader(bytes.NewReader(ahead), t.r)
}

func (t *tokenReader) mark() { t.token = 0 }

func (t *tokenReader) fill() bool {
	for t.err == nil {
		if t.eof && t.narrow == nil {
			return false
		}
		r := t.r
		if t.narrow != nil {
			r = t.narrow
		}
		n, err := r.Read(t.buf)
		t.pos, t.end = 0, n
		switch {
		case err == io.EOF:
			t.eof, t.narrow, t.r = true, nil, nil
		case err != nil:
			t.err = err
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// ReadByte implements io.ByteReader, which the decoder uses without a buffer of
// its own.
func (t *tokenReader) ReadByte() (byte, error) {
	if t.pos == t.end && !t.fill() {
		if t.err != nil {
			return 0, t.err
		}
		return 0, io.EOF
	}
	if t.token++; t.token > maxToken {
		t.err = fail.New(fail.Input, "a tag or text of more than %d bytes, which is the limit", maxToken).
			WithHint("look at the file: one that was made to fill memory looks like this")
		return 0, t.err
	}
	b := t.buf[t.pos]
	t.pos++
	return b, nil
}

// Read is there for the interface that the decoder asks for when the encoding
// changes; it then goes on with ReadByte.
func (t *tokenReader) Read(p []byte) (int, error) {
	if t.pos == t.end && !t.fill() {
		if t.err != nil {
			return 0, t.err
		}
		return 0, io.EOF
	}
	n := copy(p, t.buf[t.pos:t.end])
	t.pos += n
	return n, nil
}
