// Package xmlstream reads XML 1.0 (fifth edition) token by token in bounded memory,
// for data files that strangers send.
//
// It reads less than the standard allows, on purpose: a document type definition is
// refused, so there are no entities but the five of the standard and characters by
// number, nothing is fetched and nothing expands. What it reads, it checks:
// elements nest and there is one root, attributes are unique, every character is
// one of XML and of the declared encoding. Nothing is replaced in silence.
//
// encoding/xml does the same for a tenth of the speed and allocates for each token;
// tests hold the two against each other.
package xmlstream

import "fmt"

// Options of a Reader.
type Options struct {
	// Encoding that the document must have, in lower case; "" the one that it
	// declares, or UTF-8.
	Encoding string
	// MaxPart bounds the bytes between two calls of Mark, in UTF-8.
	MaxPart int
	// MaxDepth bounds nested elements.
	MaxDepth int
}

// Kind of a Token.
type Kind uint8

// Kinds of tokens. An empty element gives a Start and an End.
const (
	Start Kind = iota + 1
	End
	Text
)

// Token is a part of the document, valid until the next call of Next.
type Token struct {
	Kind  Kind
	Name  []byte // Start, End: the local name, without a namespace prefix
	Attrs []Attr // Start: without declarations of namespaces
	Text  []byte // Text: never empty; an element's text may come in several
}

// Attr is an attribute, its white space normalised as in §3.3.3 of the standard.
type Attr struct {
	Name  []byte // local
	Value []byte
}

// SyntaxError is a document that is not well formed.
type SyntaxError struct {
	Line int64
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// TruncatedError is a document that ends too early.
type TruncatedError struct {
	Inside string // the innermost open element, "" outside the root
}

func (e *TruncatedError) Error() string { return "the document ends too early" }

// LimitError is a document that asks for more than Options allow.
type LimitError struct {
	What  string // "bytes in one record", "nested elements"
	Limit int64
}

func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }

// EncodingError is a document whose encoding is another than wanted, unknown, or
// broken by its bytes.
type EncodingError struct {
	Msg  string
	Hint string
}

func (e *EncodingError) Error() string { return e.Msg }

// TypeDefinitionError is a document with <!DOCTYPE …>.
type TypeDefinitionError struct{ Line int64 }

func (e *TypeDefinitionError) Error() string {
	return fmt.Sprintf("line %d has a document type definition", e.Line)
}
