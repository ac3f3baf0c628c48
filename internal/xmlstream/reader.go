package xmlstream

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// windowStart is the first size of the window in bytes.
const windowStart = 64 << 10

// Reader reads one document.
type Reader struct {
	r        io.Reader
	opt      Options
	buf      []byte
	pos, end int
	eof      bool
	lines    int64 // line feeds before pos
	used     int   // bytes since Mark
	stack    []byte
	starts   []int // in stack, of the names of open elements
	root     bool  // the root has begun
	closing  bool  // the element that just began is empty: its end comes next
	first    bool  // nothing was read yet
	tok      Token
	attrs    []span
	attrBuf  []Attr
	names    map[string]bool // of many attributes of one element
	text     []byte          // texts with references, values of attributes
	err      error
}

// span is an attribute in the text of a tag, its value where it was put.
type span struct{ nameFrom, nameEnd, from, end int }

// New begins to read a document. Errors are those of r, or of this package.
func New(r io.Reader, opt Options) (*Reader, error) {
	text, err := decoded(r, opt.Encoding)
	if err != nil {
		return nil, err
	}
	return &Reader{r: text, opt: opt, buf: make([]byte, windowStart), first: true}, nil
}

// Mark begins a part whose bytes are bounded.
func (x *Reader) Mark() { x.used = 0 }

// Depth is the number of open elements.
func (x *Reader) Depth() int { return len(x.starts) }

// Line is the line of the last token's end, from 1.
func (x *Reader) Line() int64 { return x.lines + 1 }

// Next returns the next token, or io.EOF behind a whole document.
func (x *Reader) Next() (*Token, error) {
	if x.err != nil {
		return nil, x.err
	}
	if x.err = x.next(); x.err != nil {
		return nil, x.err
	}
	return &x.tok, nil
}

func (x *Reader) next() error {
	if x.closing {
		x.closing = false
		x.tok.Kind, x.tok.Attrs = End, nil
		x.pop()
		return nil
	}
	for {
		c, ok, err := x.at(0)
		if err != nil {
			return err
		}
		if !ok {
			if len(x.starts) > 0 || !x.root {
				return x.truncated()
			}
			return io.EOF
		}
		var given bool
		if c == '<' {
			given, err = x.markup()
		} else {
			given, err = x.chars()
		}
		if given || err != nil {
			return err
		}
	}
}

// more brings further bytes into view.
func (x *Reader) more() (bool, error) {
	if x.eof {
		return false, nil
	}
	if x.used+x.end-x.pos > x.opt.MaxPart {
		return false, &LimitError{"bytes in one record", int64(x.opt.MaxPart)}
	}
	if x.pos > 0 {
		x.end = copy(x.buf, x.buf[x.pos:x.end])
		x.pos = 0
	}
	if x.end == len(x.buf) {
		x.buf = append(x.buf, make([]byte, len(x.buf))...)
	}
	before := x.end
	for x.end == before {
		n, err := x.r.Read(x.buf[x.end:])
		x.end += n
		if errors.Is(err, io.EOF) {
			x.eof = true
			break
		}
		if err != nil {
			return false, err
		}
	}
	return x.end > before, nil
}

// at shows byte i from pos.
func (x *Reader) at(i int) (byte, bool, error) {
	for x.pos+i >= x.end {
		ok, err := x.more()
		if err != nil {
			return 0, false, err
		}
		if !ok {
			return 0, false, nil
		}
	}
	return x.buf[x.pos+i], true, nil
}

// find gives the place of a text behind place from, counted from pos; -1 where the
// document ends before.
func (x *Reader) find(mark string, from int) (int, error) {
	seen := from
	for {
		if x.pos+seen <= x.end {
			if i := bytes.Index(x.buf[x.pos+seen:x.end], []byte(mark)); i >= 0 {
				return seen + i, nil
			}
			seen = max(from, x.end-x.pos-len(mark)+1)
		}
		ok, err := x.more()
		if err != nil {
			return -1, err
		}
		if !ok {
			return -1, nil
		}
	}
}

// take moves on by n bytes and returns them.
func (x *Reader) take(n int) ([]byte, error) {
	x.first = false
	part := x.buf[x.pos : x.pos+n]
	x.pos += n
	if x.used += n; x.used > x.opt.MaxPart {
		return nil, &LimitError{"bytes in one record", int64(x.opt.MaxPart)}
	}
	x.lines += int64(bytes.Count(part, []byte{'\n'}))
	if why := legal(part); why != "" {
		return nil, x.broken(why)
	}
	return part, nil
}

// chars reads text up to the next markup.
func (x *Reader) chars() (bool, error) {
	i, err := x.find("<", 0)
	if err != nil {
		return false, err
	}
	if i < 0 {
		if len(x.starts) > 0 {
			return false, x.truncated()
		}
		i = x.end - x.pos
	}
	part, err := x.take(i)
	if err != nil {
		return false, err
	}
	if len(x.starts) == 0 {
		if len(bytes.Trim(part, " \t\r\n")) > 0 {
			return false, x.broken("text outside the root element")
		}
		return false, nil
	}
	if bytes.Contains(part, []byte("]]>")) {
		return false, x.broken("]]> outside a CDATA section")
	}
	if i := bytes.IndexAny(part, "&\r"); i >= 0 {
		x.text = x.text[:0]
		if x.text, err = x.resolve(x.text, part, false); err != nil {
			return false, err
		}
		part = x.text
	}
	x.tok = Token{Kind: Text, Text: part}
	return len(part) > 0, nil
}

// markup reads what begins with a bracket.
func (x *Reader) markup() (bool, error) {
	c, ok, err := x.at(1)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, x.truncated()
	}
	switch c {
	case '/':
		return true, x.endTag()
	case '?':
		return false, x.instruction()
	case '!':
		return x.declared()
	default:
		return true, x.startTag()
	}
}

func (x *Reader) instruction() error {
	first := x.first
	i, err := x.find("?>", 2)
	if err != nil {
		return err
	}
	if i < 0 {
		return x.truncated()
	}
	part, err := x.take(i + 2)
	if err != nil {
		return err
	}
	name := part[2:i]
	for j, c := range name {
		if blank(c) {
			name = name[:j]
			break
		}
	}
	if !validName(name) {
		return x.broken("a processing instruction without a name")
	}
	if bytes.EqualFold(name, []byte("xml")) && !first {
		return x.broken("an XML declaration that is not at the start")
	}
	return nil
}

// declared reads a comment or a CDATA section. Anything else is a part of a
// document type definition.
func (x *Reader) declared() (bool, error) {
	if ok, err := x.begins("<!--"); err != nil || ok {
		if err != nil {
			return false, err
		}
		i, err := x.find("--", 4)
		if err != nil {
			return false, err
		}
		c, ok, err := x.at(i + 2)
		if err != nil {
			return false, err
		}
		if i < 0 || !ok {
			return false, x.truncated()
		}
		if _, err := x.take(i + 3); err != nil {
			return false, err
		}
		if c != '>' {
			return false, x.broken("-- inside a comment")
		}
		return false, nil
	}
	ok, err := x.begins("<![CDATA[")
	if err != nil {
		return false, err
	}
	if !ok {
		if x.eof && x.end-x.pos < len("<![CDATA[") {
			return false, x.truncated()
		}
		return false, &TypeDefinitionError{x.Line()}
	}
	i, err := x.find("]]>", 9)
	if err != nil {
		return false, err
	}
	if i < 0 {
		return false, x.truncated()
	}
	part, err := x.take(i + 3)
	if err != nil {
		return false, err
	}
	if len(x.starts) == 0 {
		return false, x.broken("text outside the root element")
	}
	part = part[9:i]
	if bytes.IndexByte(part, '\r') >= 0 {
		x.text = lineFeeds(x.text[:0], part)
		part = x.text
	}
	x.tok = Token{Kind: Text, Text: part}
	return len(part) > 0, nil
}

func (x *Reader) begins(text string) (bool, error) {
	if _, _, err := x.at(len(text) - 1); err != nil {
		return false, err
	}
	return bytes.HasPrefix(x.buf[x.pos:x.end], []byte(text)), nil
}

func (x *Reader) endTag() error {
	i, err := x.find(">", 2)
	if err != nil {
		return err
	}
	if i < 0 {
		return x.truncated()
	}
	part, err := x.take(i + 1)
	if err != nil {
		return err
	}
	name := bytes.TrimRight(part[2:i], " \t\r\n")
	n := len(x.starts) - 1
	if n < 0 || !bytes.Equal(x.stack[x.starts[n]:], name) {
		if !validName(name) {
			return x.broken("an end tag without a name")
		}
		return x.broken("the end of " + string(local(clipName(name))) + " fits no start")
	}
	x.tok = Token{Kind: End, Name: local(name)}
	x.pop()
	return nil
}

func (x *Reader) pop() {
	n := len(x.starts) - 1
	x.stack, x.starts = x.stack[:x.starts[n]], x.starts[:n]
}

// startTag reads the start of an element, or an empty one.
func (x *Reader) startTag() error {
	end, err := x.tagEnd()
	if err != nil {
		return err
	}
	if end < 0 {
		return x.truncated()
	}
	part, err := x.take(end + 1)
	if err != nil {
		return err
	}
	body := part[1:end]
	if x.closing = body[len(body)-1:][0] == '/'; x.closing {
		body = body[:len(body)-1]
	}
	n := 0
	for n < len(body) && !blank(body[n]) {
		n++
	}
	name := body[:n]
	if !validName(name) {
		return x.broken("an element without a valid name")
	}
	if len(x.starts) == 0 && x.root {
		return x.broken("a second root element")
	}
	if len(x.starts) >= x.opt.MaxDepth {
		return &LimitError{"nested elements", int64(x.opt.MaxDepth)}
	}
	if err := x.attributes(body, n); err != nil {
		return err
	}
	x.root = true
	x.starts = append(x.starts, len(x.stack))
	x.stack = append(x.stack, name...)
	x.tok = Token{Kind: Start, Name: local(name), Attrs: x.attrBuf}
	return nil
}

// tagEnd finds the bracket that ends a tag, which does not stand in quotes.
func (x *Reader) tagEnd() (int, error) {
	i, quote := 1, byte(0)
	for {
		data := x.buf[x.pos:x.end]
		for ; i < len(data); i++ {
			c := data[i]
			switch {
			case quote != 0:
				k := bytes.IndexByte(data[i:], quote)
				if k < 0 {
					i = len(data) - 1
					continue
				}
				i, quote = i+k, 0
			case c == '>':
				if i == 1 || i == 2 && data[1] == '/' {
					return -1, x.broken("an element without a valid name")
				}
				return i, nil
			case c == '<':
				return -1, x.broken("a bracket inside a tag")
			case c == '"' || c == '\'':
				quote = c
			}
		}
		ok, err := x.more()
		if err != nil || !ok {
			return -1, err
		}
	}
}

// attributes reads those of a tag, from behind its name.
func (x *Reader) attributes(body []byte, i int) error {
	x.attrs, x.attrBuf, x.text = x.attrs[:0], x.attrBuf[:0], x.text[:0]
	for i < len(body) {
		from := i
		for i < len(body) && blank(body[i]) {
			i++
		}
		if i == len(body) {
			break
		}
		if i == from {
			return x.broken("no blank between two attributes")
		}
		name := i
		for i < len(body) && body[i] != '=' && !blank(body[i]) {
			i++
		}
		end := i
		for i < len(body) && blank(body[i]) {
			i++
		}
		if i == len(body) || body[i] != '=' || !validName(body[name:end]) {
			return x.broken("an attribute without a name or value")
		}
		i++
		for i < len(body) && blank(body[i]) {
			i++
		}
		if i == len(body) || body[i] != '"' && body[i] != '\'' {
			return x.broken("the value of an attribute is not in quotes")
		}
		close := bytes.IndexByte(body[i+1:], body[i])
		if close < 0 {
			return x.broken("the value of an attribute does not end")
		}
		value := body[i+1 : i+1+close]
		i += close + 2
		if bytes.IndexByte(value, '<') >= 0 {
			return x.broken("a bracket in the value of an attribute")
		}
		if x.repeated(body, name, end) {
			return x.broken("the attribute " + string(clipName(body[name:end])) + " is there twice")
		}
		at := len(x.text)
		var err error
		if x.text, err = x.resolve(x.text, value, true); err != nil {
			return err
		}
		x.attrs = append(x.attrs, span{name, end, at, len(x.text)})
	}
	for _, a := range x.attrs {
		name := body[a.nameFrom:a.nameEnd]
		if bytes.HasPrefix(name, []byte("xmlns")) && (len(name) == 5 || name[5] == ':') {
			continue
		}
		x.attrBuf = append(x.attrBuf, Attr{Name: local(name), Value: x.text[a.from:a.end:a.end]})
	}
	return nil
}

// manyAttrs is how many attributes are compared one with another; a hostile element
// has a million of them.
const manyAttrs = 32

// repeated tells whether an attribute before has the name body[from:end].
func (x *Reader) repeated(body []byte, from, end int) bool {
	if len(x.attrs) < manyAttrs {
		return slices.ContainsFunc(x.attrs, func(a span) bool {
			return bytes.Equal(body[a.nameFrom:a.nameEnd], body[from:end])
		})
	}
	if len(x.attrs) == manyAttrs {
		x.names = make(map[string]bool, 2*manyAttrs)
		for _, a := range x.attrs {
			x.names[string(body[a.nameFrom:a.nameEnd])] = true
		}
	}
	if x.names[string(body[from:end])] {
		return true
	}
	x.names[string(body[from:end])] = true
	return false
}

func (x *Reader) truncated() error {
	e := &TruncatedError{}
	if n := len(x.starts); n > 0 {
		e.Inside = string(local(clipName(x.stack[x.starts[n-1]:])))
	}
	return e
}

func (x *Reader) broken(why string) error { return &SyntaxError{x.Line(), why} }
