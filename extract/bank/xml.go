package bank

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

// xmlPull goes through one XML document element by element, with names without
// their namespaces: banks use their own for the same messages. Whatever lies outside
// the elements that are asked for is skipped, but must be well formed.
type xmlPull struct {
	name    string
	doc     *xmlstream.Reader
	version string            // camt.053.001.08, "" where the document does not say
	names   map[string]string // names that were seen, so that each is made once
	attrs   []xmlstream.Attr  // of the element that was opened last
	err     error
}

// versionPattern is the message in a namespace such as
// urn:iso:std:iso:20022:tech:xsd:camt.053.001.08.
var versionPattern = regexp.MustCompile(`(camt|pain)\.[0-9]{3}\.[0-9]{3}\.[0-9]{2}`)

// versionBytes is how far the root element, and its namespace, is looked for.
const versionBytes = 4 << 10

func newXMLPull(f io.Reader, name string) *xmlPull {
	p := &xmlPull{name: name, names: map[string]string{}}
	in := bufio.NewReaderSize(f, 64<<10)
	head, _ := in.Peek(versionBytes) // an error comes again where it belongs
	p.version = string(versionPattern.Find(bytes.ReplaceAll(head, []byte{0}, nil)))
	doc, err := xmlstream.New(in, xmlstream.Options{MaxPart: maxToken, MaxDepth: maxDepth})
	if p.doc = doc; err != nil {
		p.fault(err)
	}
	return p
}

// line is the physical line of the last token.
func (p *xmlPull) line() int64 {
	if p.doc == nil {
		return 0
	}
	return p.doc.Line()
}

func (p *xmlPull) bad(format string, args ...any) error {
	p.err = bad(p.name, p.line(), format, args...)
	return p.err
}

// token returns the next start or end of an element, or text, valid until the
// following call.
func (p *xmlPull) token() (*xmlstream.Token, error) {
	if p.err != nil {
		return nil, p.err
	}
	p.doc.Mark()
	t, err := p.doc.Next()
	if err != nil {
		return nil, p.fault(err)
	}
	return t, nil
}

// nameOf is the name of an element as a text, made once.
func (p *xmlPull) nameOf(b []byte) string {
	if s, ok := p.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(p.names) < maxNames {
		p.names[s] = s
	}
	return s
}

// maxNames bounds the names that are kept; the messages have some 1,000.
const maxNames = 4096

// fault words an error of the document or of the file.
func (p *xmlPull) fault(err error) error {
	var (
		syntax    *xmlstream.SyntaxError
		truncated *xmlstream.TruncatedError
		limit     *xmlstream.LimitError
		encoding  *xmlstream.EncodingError
		doctype   *xmlstream.TypeDefinitionError
	)
	switch {
	case errors.As(err, &syntax):
		p.err = bad(p.name, syntax.Line, "no well-formed XML: %s", syntax.Msg)
	case errors.As(err, &truncated) && truncated.Inside != "":
		p.err = cut(p.name, p.line(), "the document ends inside of %s", truncated.Inside)
	case errors.As(err, &truncated):
		p.err = cut(p.name, 0, "the document ends before its root element does")
	case errors.As(err, &limit):
		p.err = bad(p.name, p.line(), "more than %d %s, which is the limit", limit.Limit, strings.Replace(limit.What, "one record", "one tag or text", 1)).
			WithHint("look at the file: one that was made to fill memory looks like this")
	case errors.As(err, &encoding):
		p.err = bad(p.name, 0, "%s", encoding.Msg).WithHint("%s", encoding.Hint)
	case errors.As(err, &doctype):
		p.err = bad(p.name, doctype.Line, "the document has a document type or entities of its own, which are not read").
			WithHint("no ISO 20022 message has one: look at where the file comes from")
	default:
		p.err = err
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
		switch t.Kind {
		case xmlstream.Start:
			p.attrs = t.Attrs
			return p.nameOf(t.Name), true, nil
		case xmlstream.End:
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
		switch t.Kind {
		case xmlstream.Text:
			if s == "" {
				s = string(t.Text)
				continue
			}
			if s += string(t.Text); len(s) > maxToken {
				return "", p.bad("a text of more than %d bytes, which is the limit", maxToken)
			}
		case xmlstream.End:
			return strings.TrimSpace(s), nil
		case xmlstream.Start:
			return "", p.bad("the element %s is in one that holds text", p.nameOf(t.Name))
		}
	}
}

// skip closes the open element.
func (p *xmlPull) skip() error {
	for depth := p.doc.Depth(); p.doc.Depth() >= depth; {
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
		depth := p.doc.Depth()
		known, err := f(name)
		if err != nil {
			return err
		}
		if !known {
			if err := p.skip(); err != nil {
				return err
			}
		} else if p.doc.Depth() >= depth {
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

// attr is an attribute of the element that was opened last; it is gone with the next
// token.
func (p *xmlPull) attr(name string) string {
	for _, a := range p.attrs {
		if string(a.Name) == name {
			return string(a.Value)
		}
	}
	return ""
}

// document opens the root and its one child, the message, and returns its name.
func (p *xmlPull) document() (message string, err error) {
	root, ok, err := p.child()
	switch {
	case err != nil:
		return "", err
	case !ok || root != "Document":
		return "", p.bad("the document is a %s, not an ISO 20022 Document", quote(root))
	}
	message, ok, err = p.child()
	if err == nil && !ok {
		err = p.bad("the Document is empty")
	}
	return message, err
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
		if t.Kind == xmlstream.Start {
			return p.bad("%s follows the end of the message", p.nameOf(t.Name))
		}
	}
}
