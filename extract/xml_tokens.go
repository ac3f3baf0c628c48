package extract

import (
	"errors"
	"io"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/xmlstream"
)

// xmlTokens is a document with the name of its file in its errors.
type xmlTokens struct {
	*xmlstream.Reader
	name string
}

// newXMLTokens reads the document in r. encoding is the one that it must have, ""
// any that it declares.
func newXMLTokens(r io.Reader, encoding, name string, lim Limits) (*xmlTokens, error) {
	x, err := xmlstream.New(r, xmlstream.Options{Encoding: encoding, MaxPart: lim.RecordBytes, MaxDepth: lim.Depth})
	t := &xmlTokens{Reader: x, name: name}
	if err != nil {
		return nil, t.fault(err)
	}
	return t, nil
}

// next gives the next token, or io.EOF behind a whole document.
func (t *xmlTokens) next() (*xmlstream.Token, error) {
	tok, err := t.Next()
	if err != nil {
		return nil, t.fault(err)
	}
	return tok, nil
}

// fault words an error of a document.
func (t *xmlTokens) fault(err error) error {
	var (
		syntax    *xmlstream.SyntaxError
		truncated *xmlstream.TruncatedError
		limit     *xmlstream.LimitError
		encoding  *xmlstream.EncodingError
		doctype   *xmlstream.TypeDefinitionError
	)
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &syntax):
		return badFile(t.name, "broken XML on line %d: %s", syntax.Line, syntax.Msg).
			WithHint("fetch the file again, or ask the sender for a well-formed document")
	case errors.As(err, &truncated) && truncated.Inside != "":
		return cutFile(t.name, "the XML document ends too early, inside %s", quoteName(truncated.Inside))
	case errors.As(err, &truncated):
		return cutFile(t.name, "the XML document ends before its root element does")
	case errors.As(err, &limit):
		return overLimit(t.name, limit.What, limit.Limit)
	case errors.As(err, &encoding):
		return badFile(t.name, "%s", encoding.Msg).WithHint("%s", encoding.Hint)
	case errors.As(err, &doctype):
		return badFile(t.name, "line %d has a document type definition, which is not read", doctype.Line).
			WithHint("have the document sent without <!DOCTYPE …>")
	}
	if e, ok := errors.AsType[*fail.Error](err); ok {
		return e
	}
	return fail.Wrap(fail.Input, err, "%s cannot be read", t.name)
}
